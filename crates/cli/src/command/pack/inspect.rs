//! `skillgate pack inspect|verify|diff`

use super::{PackFailure, build, existing, human, in_force, source, store_with};
use crate::args::{Format, Global, PackDiffVerb, PackInspectVerb, PackNaming, PackVerifyVerb};
use crate::exit::{Failure, Status};
use crate::output::{
    PackDiffOutput, PackFileOutput, PackInspectOutput, PackInstalledOutput, PackSignatureOutput, PackSkillOutput,
    PackSourceOutput, PackVerifyOutput,
};
use crate::text;
use skillgate_bundle::{Pack, PackDiff, PackStore};
use skillgate_policy::file::{Day, KeyStanding, Policy, PublicKey};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

pub(super) fn inspect(global: &Global, verb: &PackInspectVerb) -> Result<Status, Failure> {
    let policy = in_force(global)?;
    let (imported, from) = source::read(&verb.from, &verb.naming)?;
    let pack = &imported.pack;
    pack.check_signatures().map_err(|error| PackFailure::Signature { path: verb.from.clone().into(), error })?;
    let installed = match existing(global, &policy)? {
        Some(store) => installed(&store, pack)?,
        None => None,
    };
    let info = &pack.manifest().pack;
    let output = PackInspectOutput {
        name: info.name.clone(),
        version: info.version.clone(),
        description: info.description.clone(),
        minimum_version: info.minimum_version.clone(),
        digest: pack.digest().to_string(),
        source: PackSourceOutput::of(&from),
        bytes: pack.manifest().files.iter().map(|file| file.bytes).sum(),
        skills: PackSkillOutput::all(pack),
        files: PackFileOutput::all(pack),
        signatures: signatures(&policy, pack),
        granted: granted(&policy, pack),
        installed,
    };
    if global.format == Format::Json {
        text::json(&output)?;
    } else {
        text::human(&human::inspected(&output));
    }
    Ok(Status::Done)
}

fn installed(store: &PackStore, pack: &Pack) -> Result<Option<PackInstalledOutput>, Failure> {
    let lock = store.lock_file().map_err(PackFailure::from)?;
    let Some(locked) = lock.get(&pack.manifest().pack.name) else { return Ok(None) };
    let now = store.get(&locked.name).map_err(PackFailure::from)?;
    Ok(Some(PackInstalledOutput {
        version: locked.version.clone(),
        digest: locked.digest.to_string(),
        diff: now.pack.ok().map(|now| PackDiffOutput::of(&PackDiff::between(&now, pack))),
    }))
}

/// The signatures of a pack, and whether the policy lets each count today.
pub(super) fn signatures(policy: &Policy, pack: &Pack) -> Vec<PackSignatureOutput> {
    let signature = |signature: &skillgate_bundle::Signature| {
        let key = PublicKey::of_bytes(signature.key.to_bytes());
        let named = policy.keys.iter().find(|(_, signer)| signer.value.public == key);
        let standing = match policy.standing(&key, today()) {
            KeyStanding::Counts => "counts",
            KeyStanding::Unknown => "unknown",
            KeyStanding::Expired(_) => "expired",
            KeyStanding::Revoked => "revoked",
        };
        PackSignatureOutput {
            key: signature.key.to_string(),
            id: named.map(|(id, _)| id.clone()),
            standing: standing.to_owned(),
        }
    };
    pack.signatures().iter().map(signature).collect()
}

/// What the policy grants the signers of a pack today; `None`: text only.
pub(super) fn granted(policy: &Policy, pack: &Pack) -> Option<Vec<String>> {
    let keys: Vec<PublicKey> =
        pack.signatures().iter().map(|signature| PublicKey::of_bytes(signature.key.to_bytes())).collect();
    let grant = policy.granted_to_signers(&keys, today())?;
    Some(grant.allow.iter().map(|pattern| pattern.text().to_owned()).collect())
}

fn today() -> Day {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Day::of_unix_seconds(since.as_secs())
}

pub(super) fn verify(global: &Global, verb: &PackVerifyVerb) -> Result<Status, Failure> {
    let policy = in_force(global)?;
    let path = Path::new(&verb.pack);
    let is_name = !verb.pack.contains(['/', '.']) && !path.is_file();
    let read: Result<Pack, PackFailure> = if is_name {
        let store = store_with(global, &policy, &verb.pack)?;
        store.get(&verb.pack).map_err(PackFailure::from)?.pack.map_err(PackFailure::from)
    } else {
        match build::read(path) {
            Ok(pack) => match pack.check_signatures() {
                Ok(_) => Ok(pack),
                Err(error) => Err(PackFailure::Signature { path: path.to_path_buf(), error }),
            },
            Err(Failure::Pack(failure)) => Err(*failure),
            Err(other) => return Err(other),
        }
    };
    let output = PackVerifyOutput {
        pack: verb.pack.clone(),
        holds: read.is_ok(),
        reason: read.as_ref().err().map(ToString::to_string),
        digest: read.as_ref().ok().map(|pack| pack.digest().to_string()),
        files: read.as_ref().map_or(0, |pack| pack.manifest().files.len()),
        signatures: read.as_ref().map(|pack| signatures(&policy, pack)).unwrap_or_default(),
    };
    if global.format == Format::Json {
        text::json(&output)?;
    } else {
        text::human(&human::verified(&output));
    }
    Ok(if output.holds { Status::Done } else { Status::Findings })
}

pub(super) fn diff(global: &Global, verb: &PackDiffVerb) -> Result<Status, Failure> {
    let naming = PackNaming::default();
    let (old, _) = source::read(&verb.old, &naming)?;
    let (new, _) = source::read(&verb.new, &naming)?;
    let diff = PackDiff::between(&old.pack, &new.pack);
    let output = PackDiffOutput::of(&diff);
    if global.format == Format::Json {
        text::json(&output)?;
    } else if diff.is_empty() {
        text::human("Nothing is different.\n");
    } else {
        text::human(&human::difference(&output));
    }
    Ok(if diff.is_empty() { Status::Done } else { Status::Findings })
}
