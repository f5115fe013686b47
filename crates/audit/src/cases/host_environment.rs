//! Group F: what a program is given beside its vector.

use crate::case::{Act, Case, Group, Target};
use crate::native::{Answers, PROBES, UNAVAILABLE};
use crate::trial::{Setting, Trial, Trouble};
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use std::time::Duration;

const HOST: &[Target] = &[Target::Host];
const LIMIT: Duration = Duration::from_secs(30);

/// Variables by which programs are made to run something else, or to say what they should not.
const HOSTILE: &[&str] = &[
    "BASH_ENV",
    "BASH_FUNC_x%%",
    "CDPATH",
    "CLASSPATH",
    "DYLD_INSERT_LIBRARIES",
    "EDITOR",
    "ENV",
    "FPATH",
    "GCONV_PATH",
    "GEM_HOME",
    "GEM_PATH",
    "GIT_ASKPASS",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIR",
    "GIT_EDITOR",
    "GIT_EXEC_PATH",
    "GIT_EXTERNAL_DIFF",
    "GIT_PAGER",
    "GIT_PROXY_COMMAND",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_TEMPLATE_DIR",
    "GLIBC_TUNABLES",
    "HTTPS_PROXY",
    "IFS",
    "JAVA_TOOL_OPTIONS",
    "LD_AUDIT",
    "LD_BIND_NOW",
    "LD_DEBUG",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "LD_PROFILE",
    "LESSOPEN",
    "LOCALDOMAIN",
    "LUA_INIT",
    "MALLOC_TRACE",
    "MANPAGER",
    "NLSPATH",
    "NODE_OPTIONS",
    "NODE_PATH",
    "NPM_CONFIG_PREFIX",
    "PAGER",
    "PERL5DB",
    "PERL5LIB",
    "PERL5OPT",
    "PROMPT_COMMAND",
    "PS4",
    "PYTHONHOME",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "RUBYLIB",
    "RUBYOPT",
    "RUST_BACKTRACE",
    "SECRET_TOKEN",
    "SHELLOPTS",
    "SSH_ASKPASS",
    "SSH_AUTH_SOCK",
    "TERMINFO",
    "VISUAL",
    "XDG_CONFIG_HOME",
];
/// The whole environment of a run.
const GIVEN: &[&str] = &["CLAUDE_PROJECT_DIR", "HOME", "LANG", "PATH", "TZ"];

pub(super) const CASES: &[Case] = &[
    Case {
        id: 66,
        title: "hostile variables of the parent",
        group: Group::Environment,
        targets: HOST,
        attempt: "run a program below a parent whose environment has sixty variables that make programs run others, and a secret",
        control: "without a sandbox all of them arrive",
        denial: "the program's environment is the fixed list, exactly",
        sources: &["CVE-2014-6271", "CVE-2026-22708", "GHSA-j425-whc4-4jgc"],
        limit: LIMIT,
        act: Act::BelowAParent(variables),
    },
    Case {
        id: 67,
        title: "descriptors of the parent",
        group: Group::Environment,
        targets: HOST,
        attempt: "run a program below a parent that has a directory, a socket and a pipe open for its children",
        control: "without a sandbox all of them arrive",
        denial: "descriptors 0, 1 and 2, and no other",
        sources: &["CVE-2024-21626"],
        limit: LIMIT,
        act: Act::BelowAParent(descriptors),
    },
    Case {
        id: 68,
        title: "programs of the same name",
        group: Group::Environment,
        targets: HOST,
        attempt: "a program of the granted name lies in the project and in a directory that the search path names first",
        control: "without a sandbox that program is the one that is run",
        denial: "the program that the host named is run",
        sources: &["class: search path and shadowed programs"],
        limit: LIMIT,
        act: Act::Here(shadowed),
    },
];

/// The command with a probe before it, which does something to its process and becomes the command.
pub(super) fn instead_of(trial: &Trial<'_>, words: &[&str], command: &Command) -> Command {
    let probes = trial.ground.probes.as_deref().unwrap_or_else(|| std::path::Path::new(PROBES));
    #[expect(clippy::disallowed_methods, reason = "the suite's own program, which becomes the parent of the run")]
    let mut first = Command::new(probes);
    first.args(words).arg(command.get_program()).args(command.get_args()).current_dir(trial.field.project());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => drop(first.env(name, value)),
            None => drop(first.env_remove(name)),
        }
    }
    first
}

/// Runs a program in the sandbox below a parent that this makes.
pub(super) fn below(
    trial: &Trial<'_>,
    words: &[&str],
    parent: impl FnOnce(Command) -> Command,
) -> Result<Answers, Trouble> {
    let Some(command) = trial.subject.process(trial.probes()?, &trial.field.project(), words) else {
        return Err(Trouble::Broken("the backend cannot be run in a process of its own".to_owned()));
    };
    let output = parent(command).stdin(Stdio::null()).output()?;
    if output.status.code() == Some(UNAVAILABLE) {
        let reason = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(Trouble::Unavailable { stage: "run".to_owned(), reason });
    }
    Ok(Answers::read(&String::from_utf8_lossy(&output.stdout)))
}

fn hostile(mut command: Command) -> Command {
    // The search path and the home stay: without them the parent itself would not start.
    for name in HOSTILE {
        command.env(name, format!("hostile-{name}"));
    }
    // The loader of the parent reads these two, and nothing may be loaded into it.
    command.env("LD_PRELOAD", "").env("LD_AUDIT", "");
    command
}

fn variables(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let inside = below(trial, &["environment"], hostile)?;
    let found: BTreeSet<&str> = inside.labels().collect();
    let given: BTreeSet<&str> = GIVEN.iter().copied().collect();
    let shown = |names: &BTreeSet<&str>| names.iter().copied().collect::<Vec<_>>().join(" ");
    trial.denied("names of the program's variables", &shown(&given), shown(&found));
    let values: String = inside.labels().map(|name| inside.of(name)).collect();
    let clean = !values.contains("hostile-");
    trial.denied_when("values", "nothing of the parent's", clean, &values);
    let output = hostile(trial.unconfined(&["environment"])?).output()?;
    let outside = Answers::read(&String::from_utf8_lossy(&output.stdout));
    let missing: Vec<&str> = HOSTILE.iter().copied().filter(|name| !outside.of(name).starts_with("ok")).collect();
    trial.control("missing without a sandbox", "", missing.join(" "));
    Ok(())
}

fn descriptors(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    // A probe opens them without the flag that would close them, and becomes the parent.
    let leaking = |command: Command| instead_of(trial, &["leak"], &command);
    let inside = below(trial, &["descriptors"], leaking)?;
    let outside = leaking(trial.unconfined(&["descriptors"])?).stdin(Stdio::null()).output()?;
    let outside = Answers::read(&String::from_utf8_lossy(&outside.stdout));
    trial.denied("descriptors", "ok:0 1 2", inside.of("descriptors"));
    let count = outside.value("descriptors").split(' ').count();
    trial.control_when("descriptors without a sandbox", "at least seven", count >= 7, outside.of("descriptors"));
    Ok(())
}

fn shadowed(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let shadow = "#!/bin/sh\nprintf 'shadow\\tok\\n'\n";
    for place in [format!("project/{PROBES}"), format!("project/bin/{PROBES}")] {
        trial.field.write(&place, shadow)?;
        std::fs::set_permissions(trial.field.path(&place), std::fs::Permissions::from_mode(0o755))?;
    }
    let path = format!(".:{}:/usr/bin:/bin", trial.field.text("project/bin"));
    let setting: Setting = trial.with_probes()?.variable("PATH", &path);
    let inside = trial.inside_with(&["nothing"], &setting)?;
    trial.denied("what was run", "ok", inside.answers.of("nothing"));
    trial.denied("the program of the same name", "no answer", inside.answers.of("shadow"));
    #[expect(
        clippy::disallowed_methods,
        reason = "finds the program as everybody does, to show that it would be found"
    )]
    let output = Command::new("/bin/sh")
        .args(["-c", PROBES])
        .env("PATH", &path)
        .current_dir(trial.field.project())
        .stdin(Stdio::null())
        .output()?;
    let outside = Answers::read(&String::from_utf8_lossy(&output.stdout));
    trial.control("what is run without a sandbox", "ok", outside.of("shadow"));
    Ok(())
}
