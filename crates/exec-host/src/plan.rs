//! From what is granted to a plan. Pure: what has to be known about the machine comes with the request.

use crate::examine::Examined;
use crate::program::NativeProgram;
use crate::system::System;
use skillgate_core::Limits;
use skillgate_sandbox::{
    Action, GeneratedFile, Identity, Link, Mount, MountKind, Plan, PlanError, ProcessLimits, Program, RunUser,
    ScratchLimits, WritableDirectory,
};

/// The home of every run, which is private to it.
pub(crate) const HOME: &str = "/home/skillgate";
/// What is the same for every program.
const ENVIRONMENT: [(&str, &str); 4] =
    [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("HOME", HOME), ("LANG", "C.UTF-8"), ("TZ", "UTC")];
/// What the runtime says about the place of things; taken from the command's own environment.
const PLACES: [&str; 3] = ["CLAUDE_PROJECT_DIR", "CLAUDE_SKILL_DIR", "CLAUDE_PLUGIN_ROOT"];
/// Files and directories that a run may make.
const SCRATCH_INODES: u64 = 16_384;
const STACK_BYTES: u64 = 8 << 20;
/// Descriptors that a program needs besides the files it works with: streams, libraries while it is loaded, directories.
const OPEN_FILES_BESIDE: u64 = 64;

/// A directory that the command is shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SeenDirectory {
    /// Its absolute path, here and inside.
    pub path: String,
    /// Which directory it was when it was approved.
    pub identity: Identity,
    /// Paths below it that a rule hides, relative to it.
    pub hidden: Vec<String>,
}

/// Everything that a plan follows from.
#[derive(Clone, Debug)]
pub struct PlanRequest<'a> {
    /// What of the machine every program is shown.
    pub system: &'a System,
    /// The program.
    pub program: &'a NativeProgram,
    /// The vector that was approved.
    pub vector: Vec<String>,
    /// Where it starts.
    pub directory: &'a str,
    /// What it is shown besides the system; nothing when it sees streams only.
    pub seen: Vec<SeenDirectory>,
    /// Absolute paths below what it is shown that it may write.
    pub writable: Vec<String>,
    /// The command's environment, of which only what the runtime says itself is passed.
    pub environment: &'a [(String, String)],
    /// The bounds of the run.
    pub limits: &'a Limits,
    /// A number that is another one for each run.
    pub number: u32,
}

/// Why there is no plan for a request.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanFault {
    /// The program needs a network.
    #[error("`{0}` needs the network, as the policy says, and there is none in the host sandbox yet")]
    Network(String),
    /// The pieces contradict each other.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

/// The plan of one run.
///
/// # Errors
/// [`PlanFault`]: nothing may be started.
pub fn plan_for(request: PlanRequest<'_>, path: &str, identity: Identity) -> Result<Plan, PlanFault> {
    let examined = Examined { path: path.to_owned(), identity };
    plan(request, &examined)
}

pub(crate) fn plan(request: PlanRequest<'_>, examined: &Examined) -> Result<Plan, PlanFault> {
    let PlanRequest { program, limits, .. } = request;
    if program.needs_network() {
        return Err(PlanFault::Network(program.name().to_owned()));
    }
    let uid = request.system.users.pick(request.number);
    let bounds = program.bounds(limits);
    let mut plan = Plan {
        user: RunUser { uid, gid: uid },
        private: vec!["/tmp".to_owned(), HOME.to_owned()],
        mounts: Vec::new(),
        links: Vec::new(),
        files: files(&request.seen),
        writable: Vec::new(),
        scratch: ScratchLimits { bytes: bounds.file_bytes, inodes: SCRATCH_INODES },
        directory: if request.seen.is_empty() { "/".to_owned() } else { request.directory.to_owned() },
        limits: ProcessLimits {
            memory_bytes: bounds.memory_bytes,
            cpu_seconds: bounds.wall_ms.div_ceil(1000),
            file_bytes: bounds.file_bytes,
            open_files: u64::from(limits.open_files) + OPEN_FILES_BESIDE,
            processes: bounds.processes.into(),
            stack_bytes: STACK_BYTES,
        },
        action: Action::Run(Program {
            path: examined.path.clone(),
            identity: Some(examined.identity),
            vector: request.vector.clone(),
            environment: environment(&request),
        }),
        fault: None,
    };
    for link in &request.system.links {
        plan.links.push(Link { path: link.0.clone(), to: link.1.clone() });
    }
    plan.mounts = mounts(&request, examined);
    for path in request.writable {
        plan.writable.push(WritableDirectory { path, executable: program.may_run_project_files() });
    }
    plan.validate()?;
    Ok(plan)
}

/// The system, what the command is shown, and the program itself; what is mounted below something comes after it.
fn mounts(request: &PlanRequest<'_>, examined: &Examined) -> Vec<Mount> {
    let system = request.system.directories.iter().map(|path| Mount::system(path));
    let files = request.system.files.iter().map(|path| Mount {
        kind: MountKind::File,
        executable: false,
        ..Mount::system(path)
    });
    let mut mounts: Vec<Mount> = system.chain(files).collect();
    mounts.extend(request.seen.iter().map(|seen| Mount {
        identity: Some(seen.identity),
        executable: request.program.may_run_project_files(),
        owned: true,
        hidden: seen.hidden.clone(),
        ..Mount::system(&seen.path)
    }));
    // A program elsewhere is shown alone: what else is in its directory nobody named.
    let shown = |mount: &Mount| {
        mount.executable && examined.path.strip_prefix(&mount.target).is_some_and(|rest| rest.starts_with('/'))
    };
    if !mounts.iter().any(shown) {
        mounts.push(Mount {
            kind: MountKind::File,
            identity: Some(examined.identity),
            ..Mount::system(&examined.path)
        });
    }
    mounts.sort_by_key(|mount| mount.target.matches('/').count());
    mounts
}

/// The fixed list, and what the policy lets through to this program. Nothing else that a command's author set.
fn environment(request: &PlanRequest<'_>) -> Vec<(String, String)> {
    let pair = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    let mut environment: Vec<_> = ENVIRONMENT.into_iter().map(pair).collect();
    let places = request.environment.iter().filter(|(name, _)| PLACES.contains(&name.as_str()));
    for (name, value) in places.chain(request.program.passed()) {
        // The fixed values stand, also against the policy.
        if environment.iter().all(|(taken, _)| taken != name) {
            environment.push((name.clone(), value.clone()));
        }
    }
    environment
}

/// The files that programs expect and that must not be the machine's own.
fn files(seen: &[SeenDirectory]) -> Vec<GeneratedFile> {
    let file = |path: &str, content: String| GeneratedFile { path: path.to_owned(), content };
    let mut files = vec![
        file("/etc/passwd", format!("skillgate:x:1000:1000::{HOME}:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n")),
        file("/etc/group", "skillgate:x:1000:\nnogroup:x:65534:\n".to_owned()),
        file("/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n".to_owned()),
        file("/etc/hosts", "127.0.0.1 localhost\n".to_owned()),
    ];
    // A project that belongs to somebody else on the machine is this run's by the host's word. Only these directories, and only
    // for what the system does not show as the run's user's anyway.
    let safe: String = seen.iter().map(|seen| format!("\tdirectory = {}\n", quoted(&seen.path))).collect();
    if !safe.is_empty() {
        files.push(file(&format!("{HOME}/.gitconfig"), format!("[safe]\n{safe}")));
    }
    files
}

/// A path as a value in git's configuration.
fn quoted(path: &str) -> String {
    let mut text = String::from("\"");
    for c in path.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            c => text.push(c),
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests;
