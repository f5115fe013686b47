//! Every committed input of the fuzzers, replayed: what a fuzzer once found does not come back.

#![expect(
    clippy::disallowed_methods,
    reason = "the corpus is read from the repository, not through the code under test"
)]

use skillgate_tests::fuzzing::TARGETS;
use std::collections::BTreeSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// Bytes that the whole corpus may have: it is read by every run of the tests.
const MAX_CORPUS: u64 = 300 * 1024;

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz")
}

fn names(directory: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(directory).unwrap_or_else(|error| unreachable!("{}: {error}", directory.display()));
    entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name in UTF-8")).collect()
}

#[test]
fn every_input_of_the_corpus_keeps_the_invariants() {
    let mut failed = Vec::new();
    for target in TARGETS {
        let directory = workspace().join("corpus").join(target.name);
        let inputs = names(&directory);
        assert!(!inputs.is_empty(), "{} has no input", target.name);
        for input in inputs {
            let bytes = fs::read(directory.join(&input)).expect("a file of the corpus");
            if catch_unwind(AssertUnwindSafe(|| (target.run)(&bytes))).is_err() {
                failed.push(format!("{}/{input}", target.name));
            }
        }
    }
    assert!(failed.is_empty(), "{failed:?}; the messages above say why");
}

#[test]
fn targets_binaries_and_corpus_are_the_same_set() {
    let targets: BTreeSet<String> = TARGETS.iter().map(|target| target.name.to_owned()).collect();
    assert_eq!(names(&workspace().join("corpus")), targets);
    let programs = names(&workspace().join("fuzz_targets"));
    assert_eq!(programs, targets.iter().map(|name| format!("{name}.rs")).collect());
    let manifest = fs::read_to_string(workspace().join("Cargo.toml")).expect("the manifest of the fuzzers");
    for target in &targets {
        let program = fs::read_to_string(workspace().join(format!("fuzz_targets/{target}.rs"))).expect("a program");
        assert!(program.contains(&format!("skillgate_fuzz::{target}(data)")), "{target}: {program}");
        assert!(manifest.contains(&format!("name = \"{target}\"\npath = \"fuzz_targets/{target}.rs\"\n")), "{target}");
    }
    assert_eq!(manifest.matches("[[bin]]").count(), targets.len());
    for dictionary in names(&workspace().join("dictionaries")) {
        assert!(dictionary.strip_suffix(".dict").is_some_and(|name| targets.contains(name)), "{dictionary}");
    }
}

#[test]
fn the_corpus_is_small() {
    let sizes = TARGETS.iter().flat_map(|target| {
        let directory = workspace().join("corpus").join(target.name);
        names(&directory).into_iter().map(move |input| directory.join(input).metadata().expect("a file").len())
    });
    let total: u64 = sizes.sum();
    assert!(total <= MAX_CORPUS, "{total} bytes; minimise what was added");
}
