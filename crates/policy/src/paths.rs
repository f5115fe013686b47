use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::fmt;

/// What may be seen and changed below the project: the path patterns of every member of an authority, as gitignore patterns
/// relative to the project's root.
#[derive(Clone, Default)]
pub struct PathRules {
    hidden: Vec<Gitignore>,
    shown: Vec<Gitignore>,
    write_forbidden: Vec<Gitignore>,
    write_granted: Vec<Gitignore>,
    write_narrowed: Vec<Gitignore>,
}

impl PathRules {
    /// Whether a path relative to the project may be seen.
    ///
    /// A directory is shown when something below it may be, so that a path to it can be walked.
    #[must_use]
    pub fn may_read(&self, path: &str, is_directory: bool) -> bool {
        if self.hidden.iter().any(|set| matches(set, path, is_directory)) {
            return false;
        }
        is_directory || self.shown.iter().all(|set| matches(set, path, false))
    }

    /// Whether a path relative to the project may be created, changed or removed.
    ///
    /// What makes other programs run something, or decides over this one, is never written, whatever is granted: the
    /// repository's own directory, tool settings, skills, and files that shells and editors run.
    #[must_use]
    pub fn may_write(&self, path: &str) -> bool {
        !is_protected(path)
            && self.may_read(path, false)
            && self.write_granted.iter().any(|set| matches(set, path, false))
            && self.write_narrowed.iter().all(|set| matches(set, path, false))
            && !self.write_forbidden.iter().any(|set| matches(set, path, false))
    }

    /// Whether anything may be written at all.
    #[must_use]
    pub fn grants_writing(&self) -> bool {
        !self.write_granted.is_empty() && self.write_narrowed.iter().all(|set| !set.is_empty())
    }

    /// Whether every path may be seen, which spares a check of each.
    #[must_use]
    pub fn shows_everything(&self) -> bool {
        self.hidden.is_empty() && self.shown.is_empty()
    }

    pub(crate) fn hide(&mut self, patterns: &[String]) {
        // A hiding pattern that cannot be read hides everything.
        self.hidden.extend(compile(patterns, "**"));
    }

    pub(crate) fn show_only(&mut self, patterns: &[String]) {
        self.shown.push(set(patterns, None));
    }

    pub(crate) fn forbid_writes(&mut self, patterns: &[String]) {
        self.write_forbidden.extend(compile(patterns, "**"));
    }

    pub(crate) fn grant_writes(&mut self, patterns: &[String]) {
        if !patterns.is_empty() {
            self.write_granted.push(set(patterns, None));
        }
    }

    pub(crate) fn narrow_writes(&mut self, patterns: &[String]) {
        self.write_narrowed.push(set(patterns, None));
    }
}

/// Names that are never written, at any depth and in any case of their letters.
const PROTECTED: &[&str] = &[
    ".agents",
    ".bash_profile",
    ".bashrc",
    ".claude",
    ".direnv",
    ".envrc",
    ".git",
    ".gitattributes",
    ".gitconfig",
    ".githooks",
    ".gitmodules",
    ".husky",
    ".idea",
    ".mcp.json",
    ".profile",
    ".skillgate",
    ".vscode",
    ".zshrc",
];

/// Whether a path is one that no grant to write reaches.
pub(crate) fn is_protected(path: &str) -> bool {
    path.split('/').any(|part| {
        let part = part.to_ascii_lowercase();
        PROTECTED.binary_search(&part.as_str()).is_ok()
    })
}

fn compile(patterns: &[String], instead_of_unreadable: &str) -> Option<Gitignore> {
    (!patterns.is_empty()).then(|| set(patterns, Some(instead_of_unreadable)))
}

/// A pattern that begins with `!` would turn a gitignore list around; it is taken as unreadable.
fn set(patterns: &[String], instead_of_unreadable: Option<&str>) -> Gitignore {
    let mut builder = GitignoreBuilder::new("");
    for pattern in patterns {
        let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
        // Not patterns below the project: turned around, from the root of the system, the home, or above.
        let elsewhere =
            pattern.starts_with(['!', '~']) || pattern.starts_with("//") || pattern.split('/').any(|part| part == "..");
        // A name may begin with what would be a comment in a gitignore file.
        let escaped = if pattern.starts_with('#') { format!("\\{pattern}") } else { pattern.to_owned() };
        let readable = !elsewhere && builder.add_line(None, &escaped).is_ok();
        if let (false, Some(instead)) = (readable, instead_of_unreadable) {
            // `**` always parses.
            let _ignored_on_purpose = builder.add_line(None, instead);
        }
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

fn matches(set: &Gitignore, path: &str, is_directory: bool) -> bool {
    let path = path.trim_start_matches('/');
    !path.is_empty() && set.matched_path_or_any_parents(path, is_directory).is_ignore()
}

impl fmt::Debug for PathRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PathRules")
            .field("hidden", &self.hidden.len())
            .field("shown", &self.shown.len())
            .field("write_granted", &self.write_granted.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(patterns: &[&str]) -> Vec<String> {
        patterns.iter().map(|pattern| (*pattern).to_owned()).collect()
    }

    #[test]
    fn hidden_paths_are_hidden_with_everything_below() {
        let mut rules = PathRules::default();
        assert!(rules.may_read("a", false) && rules.shows_everything());
        rules.hide(&list(&[".env", "/secret/", "#h"]));
        for (path, visible) in [
            ("#h", false),
            (".env", false),
            ("a/.env", false),
            (".envrc", true),
            ("secret/x", false),
            ("a/secret/x", true),
        ] {
            assert_eq!(rules.may_read(path, false), visible, "{path}");
        }
    }

    #[test]
    fn a_pattern_that_cannot_be_read_hides_everything_and_grants_nothing() {
        for bad in ["!x", "[z-a]", "{", "//etc/x", "~/x", "a/../x"] {
            let mut rules = PathRules::default();
            rules.hide(&list(&[bad]));
            assert!(!rules.may_read("a", false), "{bad}");
            let mut rules = PathRules::default();
            rules.grant_writes(&list(&[bad]));
            assert!(!rules.may_write("a"), "{bad}");
        }
    }

    #[test]
    fn protected_names_are_never_written() {
        assert!(PROTECTED.is_sorted());
        let mut rules = PathRules::default();
        rules.grant_writes(&list(&["**"]));
        for path in [".git/hooks/x", "a/.GIT/config", ".claude/settings.json", ".mcp.json", "sub/.envrc"] {
            assert!(!rules.may_write(path), "{path}");
        }
        assert!(rules.may_write("git/hooks/x") && rules.may_write("claude.md"));
    }

    #[test]
    fn writing_needs_a_grant_that_no_member_takes_away() {
        let mut rules = PathRules::default();
        assert!(!rules.may_write("out/x") && !rules.grants_writing());
        rules.grant_writes(&list(&["out/**"]));
        assert!(rules.may_write("out/x") && !rules.may_write("src/x"));
        rules.narrow_writes(&list(&["out/a*"]));
        assert!(rules.may_write("out/a1") && !rules.may_write("out/x"));
        rules.forbid_writes(&list(&["a1"]));
        assert!(!rules.may_write("out/a1"));
        rules.narrow_writes(&[]);
        assert!(!rules.grants_writing());
    }
}
