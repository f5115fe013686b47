//! Attacks on the command policy, each with a canary that never runs and a control in which it does.
//!
//! A command that is granted stands in a program beside `canary`, which is offered by the backend and not granted. What must
//! hold is that `canary` never runs and that every vector that ran was approved; where the shell evaluates a construct itself,
//! the command in it is decided. The control grants every command to the same program.

mod boundaries;
mod builtins;
mod carriers;
mod quirks;
mod redirections;
mod separators;

use skillgate_exec::{Mounts, Program, ProgramError, RunError};
use skillgate_policy::{Authority, Effect, Gate, RefusalReason, builtin_limits};
use skillgate_tests::memory::{COMMANDS, MemoryRun, run_in_memory};
use skillgate_tests::{Tree, host};
use std::sync::Arc;

/// What became of a program.
#[derive(Debug)]
enum Ended {
    /// It is no program that the capability shell runs, whatever is granted.
    NoProgram(ProgramError),
    Ran(MemoryRun),
}

impl Ended {
    fn vectors(&self) -> &[Vec<String>] {
        match self {
            Ended::NoProgram(_) => &[],
            Ended::Ran(run) => &run.vectors,
        }
    }

    fn ran(&self, command: &str) -> bool {
        self.vectors().iter().any(|vector| vector[0] == command)
    }

    fn refusal(&self) -> Option<&RefusalReason> {
        match self {
            Ended::Ran(MemoryRun { result: Err(RunError::Refused(refusal)), .. }) => Some(&refusal.reason),
            _ => None,
        }
    }
}

/// The files that programs see, and the mounts of them.
struct Place {
    tree: Tree,
    mounts: Arc<Mounts>,
}

impl Place {
    fn of(files: &str) -> Self {
        let tree = Tree::new(files);
        let mounts = Mounts::open_ambient(Some(&tree.path("")), &[]).expect("the tree opens");
        Self { tree, mounts }
    }

    /// Runs a program under these rules, over the commands of the memory backend and `more`.
    fn run(&self, source: &str, allow: &[&str], more: &[&str]) -> Ended {
        let rules: Vec<_> = allow.iter().map(|text| (Effect::Allow, *text)).collect();
        let gate = Gate::new(Authority::of(host(&rules)));
        match Program::from_text(source, &builtin_limits()) {
            Err(error) => {
                assert!(error.span.slice(source).is_some(), "{source:?}: {error:?}");
                Ended::NoProgram(error)
            }
            Ok(program) => {
                let offered = [COMMANDS, &["canary"], more].concat();
                let run = run_in_memory(&program, &gate, (&self.mounts, ""), builtin_limits(), &offered);
                run.ran_what_was_checked().unwrap_or_else(|what| unreachable!("{source:?}: {what}"));
                Ended::Ran(run)
            }
        }
    }
}

/// The canary is refused before anything runs, and under a grant of every command it runs.
fn canary_is_refused_early(programs: &[&str]) {
    let place = Place::of("=== a.md\ntext\n");
    for source in programs {
        let ended = place.run(source, &["Bash(args:*)"], &[]);
        assert_eq!(ended.refusal(), Some(&RefusalReason::NotGranted), "{source:?}: {ended:?}");
        assert_eq!(ended.vectors(), [] as [Vec<String>; 0], "{source:?}: something ran before the refusal");
        let control = place.run(source, &["Bash"], &[]);
        assert!(control.ran("canary"), "{source:?}: the control did not run it: {control:?}");
    }
}

/// The canary is refused when its vector exists, and under a grant of every command it runs.
fn canary_is_refused_late(programs: &[&str]) {
    let place = Place::of("=== a.md\ntext\n");
    for source in programs {
        let ended = place.run(source, &["Bash(args:*)"], &[]);
        assert!(ended.refusal().is_some() && !ended.ran("canary"), "{source:?}: {ended:?}");
        let control = place.run(source, &["Bash"], &[]);
        assert!(control.ran("canary"), "{source:?}: the control did not run it: {control:?}");
    }
}

/// The construct is not part of the language, whatever is granted; the control is the program without it.
fn is_no_program(programs: &[(&str, &str)]) {
    let place = Place::of("=== a.md\ntext\n");
    for (source, without) in programs {
        for allow in [&["Bash(args:*)"][..], &["Bash"]] {
            let ended = place.run(source, allow, &[]);
            assert!(matches!(ended, Ended::NoProgram(_)), "{source:?} under {allow:?}: {ended:?}");
        }
        let control = place.run(without, &["Bash"], &[]);
        assert!(!control.vectors().is_empty(), "{without:?}: {control:?}");
    }
}

/// What looks like the canary is text: these vectors run, under the grant of one command as under one of every command.
fn is_text(programs: &[(&str, &[&[&str]])]) {
    let place = Place::of("=== a.md\ntext\n");
    for (source, vectors) in programs {
        for allow in [&["Bash(args:*)"][..], &["Bash"]] {
            let ended = place.run(source, allow, &[]);
            assert_eq!(ended.vectors(), *vectors, "{source:?} under {allow:?}: {ended:?}");
        }
    }
}

#[test]
fn the_canary_runs_where_it_is_granted_and_nowhere_else() {
    let place = Place::of("");
    assert!(place.run("canary", &["Bash(canary)"], &[]).ran("canary"));
    for allow in [&["Bash(args:*)"][..], &["Read"], &["Bash(canaryx:*)"]] {
        let ended = place.run("canary", allow, &[]);
        assert!(ended.refusal().is_some() && !ended.ran("canary"), "{allow:?}: {ended:?}");
    }
}
