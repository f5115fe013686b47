//! `skillgate pack list|remove|enable|disable`

use super::inspect::{granted, signatures};
use super::{PackFailure, existing, human, in_force, store_with};
use crate::args::{Format, Global};
use crate::exit::{Failure, Status};
use crate::output::{PackEntryOutput, PackListOutput, PackSourceOutput, PackStateOutput};
use crate::text;
use skillgate_bundle::InstalledPack;
use skillgate_policy::file::Policy;

pub(super) fn list(global: &Global) -> Result<Status, Failure> {
    let policy = in_force(global)?;
    let installed = match existing(global, &policy)? {
        Some(store) => store.installed().map_err(PackFailure::from)?,
        None => Vec::new(),
    };
    let output = PackListOutput { packs: installed.iter().map(|pack| entry(&policy, pack)).collect() };
    if global.format == Format::Json {
        text::json(&output)?;
    } else {
        text::human(&human::listed(&output));
    }
    let broken = output.packs.iter().any(|pack| pack.state == "broken");
    Ok(if broken { Status::Findings } else { Status::Done })
}

fn entry(policy: &Policy, installed: &InstalledPack) -> PackEntryOutput {
    let locked = &installed.locked;
    let pack = installed.pack.as_ref();
    let state = match pack {
        Err(_) => "broken",
        Ok(_) if locked.enabled => "enabled",
        Ok(_) => "disabled",
    };
    PackEntryOutput {
        name: locked.name.clone(),
        version: locked.version.clone(),
        digest: locked.digest.to_string(),
        state: state.to_owned(),
        reason: pack.err().map(ToString::to_string),
        skills: locked.skills.clone(),
        signatures: pack.map(|pack| signatures(policy, pack)).unwrap_or_default(),
        granted: pack.ok().and_then(|pack| granted(policy, pack)),
        source: PackSourceOutput::of(&locked.source),
        previous: locked.previous.as_ref().map(|previous| previous.version.clone()),
    }
}

pub(super) fn remove(global: &Global, name: &str) -> Result<Status, Failure> {
    let policy = in_force(global)?;
    let removed = store_with(global, &policy, name)?.remove(name).map_err(PackFailure::from)?;
    shown(global, &PackStateOutput::of(&removed, "removed"))
}

pub(super) fn switch(global: &Global, name: &str, enabled: bool) -> Result<Status, Failure> {
    let policy = in_force(global)?;
    let pack = store_with(global, &policy, name)?.set_enabled(name, enabled).map_err(PackFailure::from)?;
    shown(global, &PackStateOutput::of(&pack, if enabled { "enabled" } else { "disabled" }))
}

fn shown(global: &Global, output: &PackStateOutput) -> Result<Status, Failure> {
    if global.format == Format::Json {
        text::json(output)?;
    } else {
        text::human(&format!("{} {} is {}\n", output.name, output.version, output.state));
    }
    Ok(Status::Done)
}
