//! `skillgate pack install|update|outdated`

use super::{PackFailure, existing, human, in_force, source, store, store_with};
use crate::args::{Format, Global, PackInstallVerb, PackUpdateVerb};
use crate::exit::{Failure, Status};
use crate::output::{PackChangeOutput, PackDiffOutput, PackInstallOutput, PackOutdatedEntryOutput, PackOutdatedOutput};
use crate::text;
use skillgate_bundle::{Change, Consent, ImportOptions, LockedPack, Outcome, Pack, PackSource, PackStore, StoreError};

pub(super) fn install(global: &Global, verb: &PackInstallVerb) -> Result<Status, Failure> {
    let policy = in_force(global)?;
    let (imported, from) = source::read(&verb.from, &verb.naming)?;
    let change = if verb.accept { Change::Accepted } else { Change::Refused };
    let consent = Consent { unsigned: verb.allow_unsigned, change };
    let store = store(global, &policy)?;
    let (output, refused) = installed(&store, &imported.pack, from, consent);
    shown(global, vec![output])?;
    match refused {
        None => Ok(Status::Done),
        Some(error) => Err(PackFailure::from(error).into()),
    }
}

pub(super) fn update(global: &Global, verb: &PackUpdateVerb) -> Result<Status, Failure> {
    let policy = in_force(global)?;
    let Some(store) = existing(global, &policy)? else {
        return match &verb.name {
            Some(name) => store_with(global, &policy, name).map(|_| Status::Done),
            None => shown(global, Vec::new()).map(|()| Status::Done),
        };
    };
    let lock = store.lock_file().map_err(PackFailure::from)?;
    if verb.rollback {
        let name = verb.name.as_deref().unwrap_or_default();
        let back = store.roll_back(name).map_err(PackFailure::from)?;
        shown(global, vec![changed(&back, "rolled-back")])?;
        return Ok(Status::Done);
    }
    let chosen: Vec<LockedPack> = match &verb.name {
        Some(name) => vec![store.get(name).map_err(PackFailure::from)?.locked],
        None => lock.packs,
    };
    let change = if verb.accept { Change::Accepted } else { Change::ByItsSigner };
    let (mut outputs, mut first) = (Vec::new(), None);
    for pack in chosen {
        // An unsigned pack stays what it is: its text, and nothing runs.
        let consent = Consent { unsigned: pack.keys.is_empty(), change };
        let (output, failure) = match source::read_with(&pack.source.location, &naming_of(&pack)) {
            Ok((imported, from)) => {
                let (output, refused) = installed(&store, &imported.pack, from, consent);
                (output, refused.map(|error| Failure::from(PackFailure::from(error))))
            }
            Err(failure) => {
                let reason = Some(failure.to_string());
                (PackChangeOutput { reason, ..changed(&pack, "failed") }, Some(failure))
            }
        };
        outputs.push(output);
        first = first.or(failure);
    }
    shown(global, outputs)?;
    first.map_or(Ok(Status::Done), Err)
}

/// How a pack is made of files again that was made of files: under the name it has.
fn naming_of(pack: &LockedPack) -> ImportOptions {
    let is_pack = pack.source.kind.ends_with("pack");
    ImportOptions { name: (!is_pack).then(|| pack.name.clone()), ..ImportOptions::default() }
}

fn installed(
    store: &PackStore,
    pack: &Pack,
    from: PackSource,
    consent: Consent,
) -> (PackChangeOutput, Option<StoreError>) {
    let info = &pack.manifest().pack;
    let output = |outcome: &str| PackChangeOutput {
        name: info.name.clone(),
        outcome: outcome.to_owned(),
        version: Some(info.version.clone()),
        digest: Some(pack.digest().to_string()),
        skills: pack.manifest().skills.iter().map(|skill| skill.name.clone()).collect(),
        diff: None,
        reason: None,
    };
    match store.install(pack, from, consent) {
        Ok(Outcome::Installed) => (output("installed"), None),
        Ok(Outcome::Replaced(diff)) => {
            (PackChangeOutput { diff: Some(PackDiffOutput::of(&diff)), ..output("replaced") }, None)
        }
        Ok(_) => (output("unchanged"), None),
        Err(error) => {
            let diff = match &error {
                StoreError::Drift { diff, .. } => diff.as_ref().map(|diff| PackDiffOutput::of(diff)),
                _ => None,
            };
            let refused = PackChangeOutput {
                version: None,
                digest: None,
                skills: Vec::new(),
                diff,
                reason: Some(error.to_string()),
                ..output("refused")
            };
            (refused, Some(error))
        }
    }
}

fn changed(pack: &LockedPack, outcome: &str) -> PackChangeOutput {
    PackChangeOutput {
        name: pack.name.clone(),
        outcome: outcome.to_owned(),
        version: Some(pack.version.clone()),
        digest: Some(pack.digest.to_string()),
        skills: pack.skills.clone(),
        diff: None,
        reason: None,
    }
}

fn shown(global: &Global, packs: Vec<PackChangeOutput>) -> Result<(), Failure> {
    let output = PackInstallOutput { packs };
    if global.format == Format::Json {
        text::json(&output)?;
    } else {
        text::human(&human::changed(&output));
    }
    Ok(())
}

pub(super) fn outdated(global: &Global) -> Result<Status, Failure> {
    let policy = in_force(global)?;
    let lock = match existing(global, &policy)? {
        Some(store) => store.lock_file().map_err(PackFailure::from)?,
        None => skillgate_bundle::LockFile::default(),
    };
    let entry = |pack: &LockedPack| {
        let read = source::read_with(&pack.source.location, &naming_of(pack));
        let (state, found, reason) = match &read {
            Err(failure) => ("unreachable", None, Some(failure.to_string())),
            Ok((imported, _)) => {
                let found = &imported.pack.manifest().pack;
                let state = match imported.pack.digest() == pack.digest {
                    true => "current",
                    false if found.version == pack.version => "changed",
                    false => "newer",
                };
                (state, Some(found.version.clone()), None)
            }
        };
        PackOutdatedEntryOutput {
            name: pack.name.clone(),
            version: pack.version.clone(),
            state: state.to_owned(),
            found,
            reason,
        }
    };
    let output = PackOutdatedOutput { packs: lock.packs.iter().map(entry).collect() };
    if global.format == Format::Json {
        text::json(&output)?;
    } else {
        text::human(&human::outdated(&output));
    }
    let current = output.packs.iter().all(|pack| pack.state == "current");
    Ok(if current { Status::Done } else { Status::Findings })
}
