//! `cargo xtask tidy`: the rules of this repository that no compiler checks.
//!
//! Every rule is a function from text to findings, so that a test can show that it finds something. Start at [`findings`].

mod code;
mod crates;
mod generated;
mod modules;
mod source;
mod tree;

use crate::process::{cargo, output};
use crate::{Outcome, Root};
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::process::Command;

/// One thing to put right.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    path: String,
    line: usize,
    rule: &'static str,
    message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}: {}", self.path, self.line, self.rule, self.message)
    }
}

/// A finding about `path`; lines count from one.
fn finding(path: &str, line: usize, rule: &'static str, message: impl Into<String>) -> Finding {
    Finding { path: path.to_owned(), line, rule, message: message.into() }
}

/// What the rules look at: the repository's own files, by their path below the root, and its packages.
struct Repository {
    /// Every file that git knows or would add, with its size in bytes.
    files: BTreeMap<String, u64>,
    /// The ones that are text.
    texts: BTreeMap<String, String>,
    packages: Vec<crates::Package>,
}

pub(crate) fn run(root: &Root, _: &[String]) -> Outcome {
    let repository = Repository::read(root)?;
    let findings = findings(&repository);
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => {
            println!("tidy: {} files, {} packages", repository.files.len(), repository.packages.len());
            Ok(())
        }
        count => Err(format!("{count} findings")),
    }
}

/// Writes the generated parts of files anew and returns the paths of those that changed.
pub(crate) fn write_generated(root: &Root) -> Outcome<Vec<String>> {
    let repository = Repository::read(root)?;
    let mut changed = Vec::new();
    for (path, text) in generated::renewed(&repository.texts, &repository.packages) {
        fs::write(root.join(&path), text).map_err(|error| format!("cannot write {path}: {error}"))?;
        changed.push(path);
    }
    Ok(changed)
}

fn findings(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(tree::top_level(repository.files.keys().map(String::as_str)));
    findings.extend(tree::large_files(&repository.files));
    findings.extend(crates::arrows(&repository.packages));
    findings.extend(crates::owners(&repository.packages));
    findings.extend(modules::forgotten(&repository.texts, &repository.packages));
    findings.extend(generated::stale(&repository.texts, &repository.packages));
    for (path, text) in &repository.texts {
        findings.extend(tree::machine_paths(path, text));
        if path.ends_with(".rs") {
            findings.extend(source::rules(path, text));
        }
        if path.ends_with("Cargo.toml") {
            findings.extend(crates::lints_inherited(path, text));
        }
    }
    findings.sort();
    findings
}

impl Repository {
    fn read(root: &Root) -> Outcome<Self> {
        let mut git = Command::new("git");
        git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(&root.directory);
        let mut files = BTreeMap::new();
        let mut texts = BTreeMap::new();
        for path in String::from_utf8_lossy(&output(&mut git)?).split_terminator('\0') {
            let full = root.join(path);
            // A file that git still lists may be gone from the tree, and a fixture may be a link or a FIFO: neither is read.
            let Some(meta) = fs::symlink_metadata(&full).ok().filter(fs::Metadata::is_file) else { continue };
            files.insert(path.to_owned(), meta.len());
            if let Ok(text) = fs::read(&full).map_err(drop).and_then(|bytes| String::from_utf8(bytes).map_err(drop)) {
                texts.insert(path.to_owned(), text);
            }
        }
        let arguments = ["metadata", "--format-version", "1", "--no-deps", "--locked"];
        let packages = crates::read(&output(&mut cargo(root, arguments))?, &root.directory)?;
        Ok(Self { files, texts, packages })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_reads_like_a_compiler_message() {
        let found = finding("crates/core/src/lib.rs", 3, "header", "begin with `//!`");
        assert_eq!(found.to_string(), "crates/core/src/lib.rs:3: header: begin with `//!`");
    }

    #[test]
    fn every_rule_of_a_repository_is_asked() {
        let repository = Repository {
            files: [("notes.txt".to_owned(), 2 << 20), ("crates/x/src/lib.rs".to_owned(), 1)].into(),
            texts: ["lib", "lost"].map(|name| (format!("crates/x/src/{name}.rs"), "fn f() {}\n".to_owned())).into(),
            packages: vec![crates::Package::made("skillgate-x", "crates/x", &["wasmtime"])],
        };
        let rules: Vec<_> = findings(&repository).iter().map(|found| found.rule).collect();
        for rule in ["top-level", "size", "crates", "owner", "forgotten", "header", "unsafe"] {
            assert!(rules.contains(&rule), "{rule} is not among {rules:?}");
        }
    }
}
