//! Stage `landlock`: a second wall behind the mounts. Everything the kernel's version knows is handled, and what is not named
//! here is refused.

use super::failure::Failure;
use super::sys;
use crate::fault::injected;
use crate::plan::Plan;
use crate::stage::{Stage, Unavailable};
use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, PathBeneath, PathFd,
    RestrictionStatus, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope,
};

/// The least that is enough: V3 controls truncation, without which a file could be emptied.
const LEAST: ABI = ABI::V3;
/// From here on TCP is controlled too.
const WITH_NETWORK: ABI = ABI::V4;
/// From here on abstract sockets and signals are.
const WITH_SCOPES: ABI = ABI::V6;

pub(super) fn restrict(plan: &Plan) -> Result<String, Failure> {
    injected(plan, Stage::Landlock)?;
    let unavailable = |reason: String| Failure::from(Unavailable::new(Stage::Landlock, reason));
    let version = sys::landlock_abi()
        .map_err(|errno| unavailable(format!("the kernel has no Landlock, or it is switched off: {errno}")))?;
    let abi = ABI::from(version);
    if abi < LEAST {
        return Err(unavailable(format!("the kernel has Landlock {version}; {LEAST} or later is needed (Linux 6.2)")));
    }
    let status = apply(plan, abi).map_err(|error| unavailable(error.to_string()))?;
    if status.ruleset != RulesetStatus::FullyEnforced || !status.no_new_privs {
        return Err(unavailable(format!("the rules are not fully enforced: {:?}", status.ruleset)));
    }
    let beyond = match (abi >= WITH_NETWORK, abi >= WITH_SCOPES) {
        (_, true) => "files, TCP, abstract sockets and signals",
        (true, false) => "files and TCP",
        (false, false) => "files",
    };
    Ok(format!("fully enforced at ABI {abi}: {beyond}"))
}

fn apply(plan: &Plan, abi: ABI) -> Result<RestrictionStatus, RulesetError> {
    let mut ruleset =
        Ruleset::default().set_compatibility(CompatLevel::HardRequirement).handle_access(AccessFs::from_all(abi))?;
    if abi >= WITH_NETWORK {
        ruleset = ruleset.handle_access(AccessNet::from_all(abi))?;
    }
    if abi >= WITH_SCOPES {
        ruleset = ruleset.scope(Scope::from_all(abi))?;
    }
    let mut created = ruleset.create()?;
    for (path, access) in rules(plan, abi) {
        // A place may have been hidden, or be gone with the file that it was; then there is nothing to allow.
        let Ok(place) = PathFd::new(&path) else { continue };
        created = created.add_rule(PathBeneath::new(place, access))?;
    }
    created.restrict_self()
}

/// What is allowed, and where.
fn rules(plan: &Plan, abi: ABI) -> Vec<(String, BitFlags<AccessFs>)> {
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    let execute = |executable| if executable { AccessFs::Execute.into() } else { BitFlags::EMPTY };
    // What makes a device is of no use, and belongs to no private directory.
    let write = (AccessFs::from_all(abi) & !AccessFs::from_read(abi)) & !(AccessFs::MakeBlock | AccessFs::MakeChar);
    let mut rules = Vec::new();
    for mount in &plan.mounts {
        let access = if mount.kind == crate::plan::MountKind::File { AccessFs::ReadFile.into() } else { read };
        rules.push((mount.target.clone(), access | execute(mount.executable)));
    }
    for path in &plan.private {
        rules.push((path.clone(), read | write));
    }
    for writable in &plan.writable {
        rules.push((writable.path.clone(), read | write | execute(writable.executable)));
    }
    for file in &plan.files {
        rules.push((file.path.clone(), AccessFs::ReadFile.into()));
    }
    rules.push(("/proc".to_owned(), read));
    // Names of directories, which hold nothing that is not meant to be seen.
    rules.push(("/".to_owned(), AccessFs::ReadDir.into()));
    for device in ["null", "zero", "full"] {
        rules.push((format!("/dev/{device}"), AccessFs::ReadFile | AccessFs::WriteFile));
    }
    rules.push(("/dev/urandom".to_owned(), AccessFs::ReadFile.into()));
    rules
}
