//! Parts of files that are generated from something else, committed, and compared.

use super::crates::{CRATES, Package};
use super::{Finding, finding};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What makes the text of a generated part.
type Generator = fn(&[Package]) -> String;

/// A generated part: its file, its name, and what makes it. It stands between two comments that bear the name.
const PARTS: &[(&str, &str, Generator)] = &[("docs/ARCHITECTURE.md", "crates", crate_table)];

/// Parts that differ from what their generator makes, or that are missing from their file.
pub(super) fn stale(texts: &BTreeMap<String, String>, packages: &[Package]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, name, generator) in PARTS {
        let Some(text) = texts.get(*path) else { continue };
        match replaced(text, name, &generator(packages)) {
            Some(renewed) if renewed == *text => {}
            Some(_) => findings.push(finding(path, 1, "generated", format!("`{name}` is old: run `cargo xtask docs`"))),
            None => {
                let message = format!("put `{}` and `{}` where the part belongs", begin(name), end(name));
                findings.push(finding(path, 1, "generated", message));
            }
        }
    }
    findings
}

/// The files whose generated parts change, with their new text.
pub(super) fn renewed(texts: &BTreeMap<String, String>, packages: &[Package]) -> Vec<(String, String)> {
    let mut files = BTreeMap::new();
    for (path, name, generator) in PARTS {
        let text = files.get(*path).or_else(|| texts.get(*path));
        if let Some(renewed) = text.and_then(|text| replaced(text, name, &generator(packages))) {
            files.insert((*path).to_owned(), renewed);
        }
    }
    files.into_iter().filter(|(path, text)| texts.get(path) != Some(text)).collect()
}

fn begin(name: &str) -> String {
    format!("<!-- generated: {name} -->")
}

fn end(name: &str) -> String {
    format!("<!-- end: {name} -->")
}

fn replaced(text: &str, name: &str, part: &str) -> Option<String> {
    let (before, rest) = text.split_once(&begin(name))?;
    let (_, after) = rest.split_once(&end(name))?;
    Some(format!("{before}{}\n{part}{}{after}", begin(name), end(name)))
}

/// The crates that exist, what each is, and what it may use.
fn crate_table(packages: &[Package]) -> String {
    let mut table = String::from("\n| crate | what it is | may use |\n|---|---|---|\n");
    for (folder, may_use) in CRATES {
        let Some(package) = packages.iter().find(|it| it.directory.rsplit('/').next() == Some(folder)) else {
            continue;
        };
        let existing = |name: &&&str| packages.iter().any(|it| it.directory.rsplit('/').next() == Some(**name));
        let arrows = match *may_use {
            [] => "–".to_owned(),
            ["*"] => "all".to_owned(),
            some => some.iter().filter(existing).copied().collect::<Vec<_>>().join(", "),
        };
        // Writing to a String cannot fail.
        let _ = writeln!(table, "| `{}` | {} | {arrows} |", package.directory, package.description);
    }
    table.push('\n');
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(document: &str) -> BTreeMap<String, String> {
        [("docs/ARCHITECTURE.md".to_owned(), document.to_owned())].into()
    }

    #[test]
    fn an_old_part_is_found_and_renewed() {
        let packages = [Package::made("skillgate-core", "crates/core", &[])];
        let old = texts("a\n<!-- generated: crates -->\nold\n<!-- end: crates -->\nb\n");
        assert_eq!(stale(&old, &packages).len(), 1);
        let [(_, renewed)] = &renewed(&old, &packages)[..] else { unreachable!("one file") };
        assert!(renewed.contains("| `crates/core` |") && renewed.starts_with("a\n") && renewed.ends_with("\nb\n"));
        assert_eq!(stale(&texts(renewed), &packages), []);
    }

    #[test]
    fn a_missing_part_is_found() {
        assert_eq!(stale(&texts("nothing\n"), &[]).iter().map(|it| it.rule).collect::<Vec<_>>(), ["generated"]);
    }
}
