//! The tasks a person needs in this repository: `cargo xtask help`.
//!
//! Must not: depend on anything heavy or on another crate of the workspace. Each task prints what it does, and long steps
//! say how long they usually take. Start at [`TASKS`].

#![forbid(unsafe_code)]
#![allow(clippy::disallowed_methods, reason = "it works on the repository's own files, for a developer")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this is a terminal program")]

mod agree;
mod bench;
mod demo;
mod docs;
mod examples;
mod faults;
mod files;
mod fuzz;
mod guests;
mod packaged;
mod peers;
mod process;
mod setup;
mod test;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What a task or a step of it ends with: nothing, or the message for the person who called it.
type Outcome<T = ()> = Result<T, String>;

/// A task: its name, its options, what it does, and its code.
struct Task {
    name: &'static str,
    options: &'static [&'static str],
    /// Everything behind the name goes to the program that the task runs.
    passes_arguments: bool,
    about: &'static str,
    run: fn(&Root, &[String]) -> Outcome,
}

const TASKS: &[Task] = &[
    Task {
        name: "demo",
        options: &[],
        passes_arguments: false,
        about: "set up, build, and run the skills of a sample project through the sandbox",
        run: demo::run,
    },
    Task {
        name: "test",
        options: &["--long", "--faults"],
        passes_arguments: false,
        about: "set up, then every check and every test (--long: the long form of the property tests; --faults: only that a sandbox stage that fails ends the run)",
        run: test::run,
    },
    Task {
        name: "tidy",
        options: &[],
        passes_arguments: false,
        about: "the rules of this repository that no compiler checks",
        run: tidy::run,
    },
    Task {
        name: "guests",
        options: &["--check"],
        passes_arguments: false,
        about: "build the command components into crates/packs/assets (--check: twice, and compare the bytes)",
        run: guests::run,
    },
    Task {
        name: "bench",
        options: &[],
        passes_arguments: true,
        about: "run the benchmarks, which print ratios; arguments go to the benchmark program",
        run: bench::run,
    },
    Task { name: "fuzz", options: &[], passes_arguments: true, about: fuzz::ABOUT, run: fuzz::run },
    Task { name: "agree", options: &[], passes_arguments: true, about: agree::ABOUT, run: agree::run },
    Task { name: "peers", options: &["--long"], passes_arguments: false, about: peers::ABOUT, run: peers::run },
    Task {
        name: "packaged",
        options: &[],
        passes_arguments: false,
        about: packaged::ABOUT,
        run: |root, _| guests::build(root).and_then(|()| packaged::run(root)),
    },
    Task {
        name: "docs",
        options: &[],
        passes_arguments: false,
        about: "build the API documentation and write the generated parts of docs/",
        run: docs::run,
    },
];

const STATUS_USAGE: u8 = 2;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    let arguments: Vec<String> = arguments.collect();
    if matches!(name.as_str(), "help" | "--help" | "-h") {
        println!("{}", usage());
        return ExitCode::SUCCESS;
    }
    let Some(task) = TASKS.iter().find(|task| task.name == name) else {
        if !name.is_empty() {
            eprintln!("xtask: there is no task `{name}`\n");
        }
        eprintln!("{}", usage());
        return ExitCode::from(STATUS_USAGE);
    };
    let unknown = arguments.iter().find(|argument| !task.options.contains(&argument.as_str()));
    if let Some(unknown) = unknown.filter(|_| !task.passes_arguments) {
        eprintln!("xtask: {name} does not know `{unknown}`\n\n{}", usage());
        return ExitCode::from(STATUS_USAGE);
    }
    match Root::find().and_then(|root| (task.run)(&root, &arguments)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {name}: {message}");
            ExitCode::FAILURE
        }
    }
}

fn usage() -> String {
    let mut text = String::from("usage: cargo xtask TASK [OPTION]…\n\n");
    for task in TASKS {
        text.push_str(&format!("  {:<8} {}\n", task.name, task.about));
    }
    text.push_str("  help     this list");
    text
}

/// Where the repository and its build output are.
#[derive(Debug)]
struct Root {
    directory: PathBuf,
    target: PathBuf,
}

impl Root {
    /// The root that this program was built from, and the build directory cargo uses for it.
    fn find() -> Outcome<Self> {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("xtask lies in no directory")?.to_owned();
        let target = match std::env::var_os("CARGO_TARGET_DIR") {
            Some(target) => std::path::absolute(target).map_err(|error| format!("CARGO_TARGET_DIR: {error}"))?,
            None => directory.join("target"),
        };
        Ok(Self { directory, target })
    }

    fn join(&self, path: &str) -> PathBuf {
        self.directory.join(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usage_lists_every_task() {
        let usage = usage();
        for task in TASKS {
            assert!(usage.contains(task.name), "{}", task.name);
        }
    }
}
