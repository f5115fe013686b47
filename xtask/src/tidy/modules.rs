//! Files that no build looks at: a test nobody runs, a module nobody declared.

use super::code::code_only;
use super::crates::Package;
use super::{Finding, finding};
use std::collections::{BTreeMap, BTreeSet};

/// Every `.rs` file of a package that no target reaches through `mod` declarations or `include!`.
pub(super) fn forgotten(texts: &BTreeMap<String, String>, packages: &[Package]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in packages {
        let inside = format!("{}/", package.directory);
        // A workspace inside another is in no list of packages; its manifest is there.
        let manifests = texts.keys().filter_map(|path| path.strip_suffix("Cargo.toml")).map(str::to_owned);
        let nested: Vec<_> = packages.iter().map(|it| format!("{}/", it.directory)).chain(manifests).collect();
        let files: BTreeSet<&str> = texts
            .keys()
            .map(String::as_str)
            .filter(|path| path.ends_with(".rs") && path.starts_with(&inside))
            // A fixture is data, and a package inside another (tests of the workspace) looks after itself.
            .filter(|path| !path.contains("/fixtures/") && !path.contains("/cases/"))
            .filter(|path| !nested.iter().any(|other| other.len() > inside.len() && path.starts_with(other)))
            .collect();
        let reached = reached(texts, &package.targets);
        for path in files {
            let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
            let below = directory.strip_prefix(&inside).unwrap_or_default();
            // A directory that a test names as a string holds the inputs of that test.
            let is_input = below.contains('/')
                && reached.iter().any(|file| texts.get(*file).is_some_and(|text| text.contains(below)));
            if !reached.contains(path) && !is_input {
                let message = "no target reaches this file: declare it with `mod`, name it in Cargo.toml, or delete it";
                findings.push(finding(path, 1, "forgotten", message));
            }
        }
    }
    findings
}

fn reached<'a>(texts: &'a BTreeMap<String, String>, roots: &'a [String]) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut waiting: Vec<(&str, bool)> = roots.iter().map(|root| (root.as_str(), true)).collect();
    while let Some((path, is_root)) = waiting.pop() {
        let Some((path, text)) = texts.get_key_value(path) else { continue };
        if !reached.insert(path.as_str()) {
            continue;
        }
        for candidate in mentioned(path, is_root, text) {
            if let Some((path, _)) = texts.get_key_value(&candidate) {
                waiting.push((path, false));
            }
        }
    }
    reached
}

/// The files that `mod`, `#[path]` and `include!` in `text` could mean.
fn mentioned(path: &str, is_root: bool, text: &str) -> Vec<String> {
    let (directory, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.trim_end_matches(".rs");
    let below = if is_root || stem == "mod" { directory.to_owned() } else { format!("{directory}/{stem}") };
    let mut files = Vec::new();
    for (line, code) in text.lines().zip(code_only(text).lines()) {
        let code = code.trim();
        let declared = code.strip_prefix("pub ").unwrap_or(code);
        let declared = match declared.strip_prefix("pub(") {
            Some(rest) => rest.split_once(") ").map_or(rest, |(_, rest)| rest),
            None => declared,
        };
        if let Some(name) = declared.strip_prefix("mod ").and_then(|rest| rest.strip_suffix(';')) {
            let name = name.trim().trim_start_matches("r#");
            files.push(format!("{below}/{name}.rs"));
            files.push(format!("{below}/{name}/mod.rs"));
        }
        if code.starts_with("#[path") || code.contains("include!(") {
            files.extend(line.split('"').nth(1).map(|name| join(directory, name)));
        }
    }
    files
}

/// `name` as seen from `directory`, with `..` taken out.
fn join(directory: &str, name: &str) -> String {
    let mut parts: Vec<&str> = directory.split('/').collect();
    for part in name.split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The forgotten files of a package `crates/a` with a library, and with the integration test `tests/it.rs`.
    fn forgotten_among(files: &[(&str, &str)]) -> Vec<String> {
        let texts = files.iter().map(|(path, text)| (format!("crates/a/{path}"), (*text).to_owned())).collect();
        let mut package = Package::made("skillgate-a", "crates/a", &[]);
        package.targets.push("crates/a/tests/it.rs".to_owned());
        forgotten(&texts, &[package]).into_iter().map(|found| found.path.replace("crates/a/", "")).collect()
    }

    #[test]
    fn declared_files_are_reached() {
        let files = [
            ("src/lib.rs", "mod one;\npub(crate) mod two;\n#[path = \"odd name.rs\"]\nmod three;\n"),
            ("src/one.rs", "pub mod deep;\n"),
            ("src/one/deep.rs", ""),
            ("src/two/mod.rs", "mod leaf;\n"),
            ("src/two/leaf.rs", ""),
            ("src/odd name.rs", ""),
            ("tests/it.rs", "mod part;\nfn f() { t.compile_fail(\"tests/ui/*.rs\"); }\n"),
            ("tests/part/mod.rs", ""),
            ("tests/ui/no_way.rs", ""),
            ("tests/fixtures/x/src/main.rs", ""),
            ("fuzz/Cargo.toml", "[workspace]\n"),
            ("fuzz/fuzz_targets/one.rs", ""),
        ];
        assert_eq!(forgotten_among(&files), Vec::<String>::new());
    }

    #[test]
    fn forgotten_files_are_found() {
        let files = [
            ("src/lib.rs", "// mod one;\nmod two { }\n"),
            ("src/one.rs", ""),
            ("src/two.rs", ""),
            ("tests/it.rs", ""),
            ("tests/other.rs", ""),
            ("tests/ui/no_way.rs", ""),
        ];
        assert_eq!(forgotten_among(&files), ["src/one.rs", "src/two.rs", "tests/other.rs", "tests/ui/no_way.rs"]);
    }
}
