//! Generated programs in the capability shell: what runs is what was checked, nothing runs of a program that is refused, and
//! a narrower grant narrows what runs.
//!
//! `cargo xtask peers` compares the same kind of programs with bash. `SKILLGATE_LONG` makes it ten times as many,
//! `SKILLGATE_SEED` repeats a run.

#![expect(clippy::print_stdout, reason = "a run ends with what it did")]

use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use skillgate_exec::{Bound, Mounts, Program, RunError, Stop};
use skillgate_policy::{Authority, Effect, Gate, builtin_limits};
use skillgate_tests::generated::{DIRECTORY, FILES, program};
use skillgate_tests::memory::{COMMANDS, MemoryRun, run_in_memory};
use skillgate_tests::{Tree, host};
use std::cell::Cell;
use std::sync::Arc;

/// Programs that one run has to get to its end, of each hundred: were more refused, it would say little.
const RAN: u32 = 60;

struct Place {
    tree: Tree,
    mounts: Arc<Mounts>,
    all: Gate,
    one: Gate,
}

impl Place {
    fn new() -> Self {
        let tree = Tree::new("");
        for (name, text) in FILES {
            tree.write(&format!("{DIRECTORY}/{name}"), text.as_bytes());
        }
        let mounts = Mounts::open_ambient(Some(&tree.path("")), &[]).expect("the tree opens");
        let gate = |rule| Gate::new(Authority::of(host(&[(Effect::Allow, rule)])));
        Self { tree, mounts, all: gate("Bash"), one: gate("Bash(args:*)") }
    }

    fn run(&self, program: &Program, gate: &Gate) -> MemoryRun {
        // Generated programs can double a text many times.
        let limits = builtin_limits().lowered_by("output_bytes", 65_536).expect("it is lower");
        run_in_memory(program, gate, (&self.mounts, DIRECTORY), limits, COMMANDS)
    }

    /// Whether the program ran to its end under a grant of every command.
    fn check(&self, text: &str) -> Result<bool, TestCaseError> {
        let program = match Program::from_text(text, &builtin_limits()) {
            Ok(program) => program,
            Err(error) => {
                prop_assert!(error.span.slice(text).is_some(), "{text:?}: {error:?}");
                return Ok(false);
            }
        };
        let all = self.run(&program, &self.all);
        all.ran_what_was_checked().map_err(TestCaseError::fail)?;
        if let Err(RunError::Stopped { stop: Stop::Bound(Bound::Output(_) | Bound::Variables(_)), .. }) = all.result {
            return Ok(false);
        }
        if all.result.is_err() {
            prop_assert!(
                all.vectors.is_empty() && all.stdout.is_empty(),
                "{text:?} was refused in its middle: {all:?}"
            );
        }
        let one = self.run(&program, &self.one);
        one.ran_what_was_checked().map_err(TestCaseError::fail)?;
        let stranger = one.vectors.iter().find(|vector| !matches!(vector[0].as_str(), "args" | "cat" | "printf"));
        prop_assert!(stranger.is_none(), "{text:?}: {stranger:?} ran under a grant of `args`");
        if let Err(error) = &one.result {
            let known = matches!(error, RunError::Refused(_) | RunError::Stopped { stop: Stop::Bound(_), .. });
            prop_assert!(known, "{text:?}: {error}");
        }
        Ok(all.result.is_ok())
    }
}

#[test]
fn what_runs_is_what_was_checked() {
    let long = std::env::var_os("SKILLGATE_LONG").is_some();
    let cases: u32 = if long { 100_000 } else { 10_000 };
    let seed: u64 = std::env::var("SKILLGATE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let place = Place::new();
    let before = place.tree.names();
    let ran = Cell::new(0_u32);
    let outcome = runner.run(&program(), |text| {
        ran.set(ran.get() + u32::from(place.check(&text)?));
        Ok(())
    });
    println!("generated programs: {} of {cases} ran, SKILLGATE_SEED={seed}", ran.get());
    assert!(outcome.is_ok(), "SKILLGATE_SEED={seed}: {}", outcome.err().map_or_else(String::new, |e| e.to_string()));
    assert!(ran.get() >= cases / 100 * RAN, "only {} of {cases} programs ran", ran.get());
    assert_eq!(place.tree.names(), before, "no program wrote anything");
}
