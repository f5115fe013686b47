//! Which files of a directory a rule hides: they are covered in the sandbox.

use skillgate_exec::Mount;
use skillgate_policy::PathRules;
use std::collections::HashSet;
use std::io;

/// Names that are looked at, in all directories together.
const MAX_ENTRIES: usize = 100_000;
/// Files that are covered.
const MAX_HIDDEN: usize = 512;

/// Paths below a mount that the rules hide, relative to it. What lies in a hidden directory is not listed by itself.
pub(crate) fn hidden(mount: &Mount, rules: &PathRules) -> io::Result<Vec<String>> {
    let mut hidden = Vec::new();
    if rules.shows_everything() {
        return Ok(hidden);
    }
    let everything = PathRules::default();
    let mut looked_at = 0;
    let mut open = vec![String::new()];
    while let Some(directory) = open.pop() {
        let below = mount.below(&directory);
        let shown: HashSet<String> = below.entries(rules, MAX_ENTRIES)?.into_iter().map(|(name, _)| name).collect();
        for (name, kind) in below.entries(&everything, MAX_ENTRIES)? {
            looked_at += 1;
            let path = if directory.is_empty() { name.clone() } else { format!("{directory}/{name}") };
            if !shown.contains(&name) {
                hidden.push(path);
            } else if kind.is_dir() {
                open.push(path);
            }
        }
        if looked_at > MAX_ENTRIES || hidden.len() > MAX_HIDDEN {
            return Err(io::Error::other(format!(
                "rules hide files of `{}`, and it holds more than {MAX_ENTRIES} names or {MAX_HIDDEN} of them are hidden",
                mount.path()
            )));
        }
    }
    hidden.sort();
    Ok(hidden)
}
