//! A shell program through plan and evaluation with a backend in memory: bounded, and nothing runs that was not approved.
//!
//! The first byte of the input chooses the grant and the second lowers a limit; the rest is the program.

use crate::memory::{COMMANDS, MemoryRun, run_in_memory};
use skillgate_core::Limits;
use skillgate_exec::{Bound, Mounts, Program, RunError, Stop};
use skillgate_policy::{Authority, Effect, Gate, Host, Place, Rule, builtin_limits};

/// Grants, from every command to none.
const GRANTS: [&[&str]; 4] = [&["Bash"], &["Bash(args:*)"], &["Bash(args:*)", "Bash(fail 1)", "Read"], &[]];
/// Limits that are lowered, and how far.
const LOWERED: [(&str, u64); 7] = [
    ("output_bytes", 512),
    ("commands", 5),
    ("loop_turns", 20),
    ("depth", 6),
    ("pipeline_stages", 3),
    ("glob_results", 16),
    ("source_bytes", 200),
];
/// What no run exceeds, so that an input takes no longer than it has to.
const MODEST: [(&str, u64); 5] =
    [("wall_ms_injection", 2_000), ("output_bytes", 65_536), ("commands", 200), ("loop_turns", 2_000), ("depth", 24)];

/// Runs the program in `data`.
pub fn tree_to_evaluation(data: &[u8]) {
    let [grant, limit, source @ ..] = data else { return };
    let source = String::from_utf8_lossy(source);
    let patterns = GRANTS[usize::from(*grant) % GRANTS.len()];
    let lowered = LOWERED.get(usize::from(*limit) % (LOWERED.len() + 1));
    let limits = MODEST
        .iter()
        .chain(lowered)
        .fold(builtin_limits(), |limits, (name, number)| limits.clone().lowered_by(name, *number).unwrap_or(limits));
    let program = match Program::from_text(&source, &limits) {
        Ok(program) => program,
        Err(error) => {
            assert!(error.span.slice(&source).is_some(), "{error:?}");
            return;
        }
    };
    let rules = patterns.iter().filter_map(|text| Rule::parse(Effect::Allow, text, Place::Host).ok());
    let gate = Gate::new(Authority::of(Host::granting(rules)));
    let run = run_in_memory(&program, &gate, (&Mounts::none(), ""), limits.clone(), COMMANDS);
    what_ran_was_approved(&run, patterns);
    limits_hold(&run, &limits);
}

fn what_ran_was_approved(run: &MemoryRun, patterns: &[&str]) {
    if let Err(what) = run.ran_what_was_checked() {
        unreachable!("{what}");
    }
    for vector in &run.vectors {
        let granted = match vector[0].as_str() {
            _ if patterns.contains(&"Bash") => true,
            "args" => patterns.contains(&"Bash(args:*)"),
            "fail" => patterns.contains(&"Bash(fail 1)") && vector[1..] == ["1"],
            // A filter that sees its streams only.
            "cat" | "printf" => !patterns.is_empty(),
            _ => false,
        };
        assert!(granted, "{vector:?} ran under {patterns:?}");
    }
}

fn limits_hold(run: &MemoryRun, limits: &Limits) {
    assert!(run.vectors.len() as u64 <= limits.commands, "{} commands", run.vectors.len());
    assert!(run.stdout.len() as u64 <= limits.output_bytes);
    if let Err(RunError::Stopped { stop: Stop::Bound(bound), .. }) = &run.result {
        // Every one names the number that was in force, but a mistake that makes a run wait until its time is over is one.
        assert!(!bound.to_string().is_empty() && !matches!(bound, Bound::WallTime(_)), "{bound}");
    }
}
