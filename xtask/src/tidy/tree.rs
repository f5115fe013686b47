//! Rules about which files exist and what no file may contain.

use super::{Finding, finding};
use std::collections::{BTreeMap, BTreeSet};

/// What lies at the top of the repository; nothing else does.
const TOP: &[&str] = &[
    ".cargo",
    ".ci",
    ".config",
    ".gitattributes",
    ".gitignore",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "SECURITY.md",
    "clippy.toml",
    "crates",
    "deny.toml",
    "docs",
    "guest-examples",
    "rust-toolchain.toml",
    "rustfmt.toml",
    "tests",
    "wit",
    "xtask",
];
/// The largest file in git, in bytes.
const LARGEST: u64 = 1 << 20;
/// Words that belong to one machine. Written in two halves, so that this file does not contain them.
const MACHINE_WORDS: &[&str] = &[concat!("/wo", "rk/"), HOME, concat!("index.crates", ".io")];
/// In Rust a made-up home directory is a usual example.
const HOME: &str = concat!("/ho", "me/");
/// Files in which such a path is an example, by the beginning of their path, each with its reason.
const EXAMPLES: &[(&str, &str)] = &[];

pub(super) fn top_level<'a>(paths: impl Iterator<Item = &'a str>) -> Vec<Finding> {
    let top: BTreeSet<&str> = paths.filter_map(|path| path.split('/').next()).collect();
    let extra = top.into_iter().filter(|name| !TOP.contains(name));
    extra.map(|name| finding(name, 1, "top-level", "nothing else lies at the top: move or delete it")).collect()
}

pub(super) fn large_files(files: &BTreeMap<String, u64>) -> Vec<Finding> {
    let large = files.iter().filter(|(_, size)| **size > LARGEST);
    large
        .map(|(path, size)| finding(path, 1, "size", format!("{size} bytes: git holds no file over {LARGEST}")))
        .collect()
}

pub(super) fn machine_paths(path: &str, text: &str) -> Vec<Finding> {
    if EXAMPLES.iter().any(|(beginning, _)| path.starts_with(beginning)) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (at, line) in text.lines().enumerate() {
        for word in MACHINE_WORDS.iter().filter(|word| **word != HOME || !path.ends_with(".rs")) {
            let begins = |start: usize| {
                let before = line.get(..start).and_then(|before| before.chars().next_back());
                // Within a longer path (`src/…`) the same letters are no absolute path.
                !word.starts_with('/') || !before.is_some_and(|c| c.is_alphanumeric() || "._-/*}".contains(c))
            };
            if line.match_indices(word).any(|(start, _)| begins(start)) {
                findings.push(finding(
                    path,
                    at + 1,
                    "machine",
                    format!("`{word}` belongs to one machine: take it out"),
                ));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strangers_at_the_top_are_found() {
        assert!(top_level(["Cargo.toml", "crates/core/src/lib.rs", "docs/a.md"].into_iter()).is_empty());
        let found = top_level(["notes.txt", "tools/a", "tools/b"].into_iter());
        assert_eq!(found.iter().map(|it| it.path.as_str()).collect::<Vec<_>>(), ["notes.txt", "tools"]);
    }

    #[test]
    fn large_files_are_found() {
        let files = [("a".to_owned(), LARGEST), ("b".to_owned(), LARGEST + 1)].into();
        assert_eq!(large_files(&files).iter().map(|it| it.path.as_str()).collect::<Vec<_>>(), ["b"]);
    }

    #[test]
    fn machine_paths_are_found() {
        for word in MACHINE_WORDS {
            let text = format!("fine\nat {word}x\n");
            assert_eq!(machine_paths("a.md", &text).iter().map(|it| it.line).collect::<Vec<_>>(), [2], "{word}");
        }
        let inside = format!("src{}x and ..{}x\n", MACHINE_WORDS[0], MACHINE_WORDS[1]);
        assert!(machine_paths("a.md", &inside).is_empty());
        assert!(machine_paths("a.rs", &format!("a {HOME}b")).is_empty());
    }
}
