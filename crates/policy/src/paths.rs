use crate::host::path_patterns;
use crate::pattern::ToolPattern;
use crate::rule::Rule;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::fmt;

/// Tools whose patterns are about reading a path.
pub(crate) const READS: &[&str] = &["Read"];

/// Tools whose patterns are about changing a path. A rule about one of them is a rule about all.
pub(crate) const WRITES: &[&str] = &["Write", "Edit", "MultiEdit", "NotebookEdit"];

/// What a path pattern is relative to, and how the file system takes names.
///
/// A pattern is gitignore's: `*.md` at any depth, `/src/**` and `src/x` from the project's root. `//etc/x` is a path of the
/// machine, `~/x` one of the home, and a pattern that begins with the project's own path means that path. Where the root or the
/// home is not known, a pattern that needs it grants nothing, and takes everything when it takes away.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PathBase {
    root: Option<String>,
    home: Option<String>,
    folds_case: bool,
}

#[expect(clippy::derivable_impls, reason = "how names are taken depends on the system it is compiled for")]
impl Default for PathBase {
    fn default() -> Self {
        Self { root: None, home: None, folds_case: cfg!(any(target_os = "macos", target_os = "ios", windows)) }
    }
}

impl PathBase {
    /// The project's root, absolute.
    #[must_use]
    pub fn root(mut self, root: impl Into<String>) -> Self {
        self.root = Some(without_end(root.into()));
        self
    }

    /// The user's home, absolute.
    #[must_use]
    pub fn home(mut self, home: impl Into<String>) -> Self {
        self.home = Some(without_end(home.into()));
        self
    }

    /// Whether the file system takes `A` and `a` for the same name. Patterns that take away then match every case; those that
    /// grant match as they are written. That of the system unless set.
    #[must_use]
    pub fn folds_case(mut self, folds_case: bool) -> Self {
        self.folds_case = folds_case;
        self
    }
}

impl PathBase {
    /// A path as one below the project; `None` when it leads out of it, or nowhere.
    pub(crate) fn below(&self, path: &str) -> Option<String> {
        let path = path.replace('\\', "/");
        let relative = match &self.root {
            Some(root) if path.starts_with('/') || path.starts_with(root.as_str()) => {
                path.strip_prefix(root.as_str())?.strip_prefix('/')?.to_owned()
            }
            _ if path.starts_with('/') || path.starts_with('~') => return None,
            _ => path,
        };
        let mut parts: Vec<&str> = Vec::new();
        for part in relative.split('/') {
            match part {
                "" | "." => {}
                ".." => drop(parts.pop()?),
                part => parts.push(part),
            }
        }
        (!parts.is_empty()).then(|| parts.join("/"))
    }
}

fn without_end(path: String) -> String {
    path.replace('\\', "/").trim_end_matches('/').to_owned()
}

/// What may be seen and changed below the project: the path patterns of every member of an authority.
#[derive(Clone, Default)]
pub struct PathRules {
    base: PathBase,
    hidden: Vec<PathSet>,
    /// The rules of the host behind what is hidden, for whoever asks why.
    hiding: Vec<(PathSet, Rule)>,
    read_asked: Vec<PathSet>,
    shown: Vec<PathSet>,
    write_forbidden: Vec<PathSet>,
    write_asked: Vec<PathSet>,
    write_granted: Vec<PathSet>,
    write_narrowed: Vec<PathSet>,
    read_pre_approved: Vec<PathSet>,
    write_pre_approved: Vec<PathSet>,
}

impl PathRules {
    pub(crate) fn new(base: PathBase) -> Self {
        Self { base, ..Self::default() }
    }

    /// Whether a path relative to the project may be seen.
    ///
    /// A directory is shown when something below it may be, so that a path to it can be walked.
    #[must_use]
    pub fn may_read(&self, path: &str, is_directory: bool) -> bool {
        let matches = |set: &PathSet| set.matches(path, is_directory);
        if self.hidden.iter().any(matches) {
            return false;
        }
        if self.read_asked.iter().any(matches) && !all_of(&self.read_pre_approved, path, is_directory) {
            return false;
        }
        is_directory || self.shown.iter().all(matches)
    }

    /// Whether a path relative to the project may be created, changed or removed.
    ///
    /// What makes other programs run something, or decides over this one, is never written, whatever is granted: the
    /// repository's own directory, tool settings, skills, and files that shells and editors run.
    #[must_use]
    pub fn may_write(&self, path: &str) -> bool {
        let matches = |set: &PathSet| set.matches(path, false);
        if is_protected(path) || !self.may_read(path, false) || self.write_forbidden.iter().any(matches) {
            return false;
        }
        let asked = self.write_asked.iter().any(matches);
        ((self.write_granted.iter().any(matches) && !asked) || all_of(&self.write_pre_approved, path, false))
            && self.write_narrowed.iter().all(matches)
    }

    /// Whether anything may be written at all.
    #[must_use]
    pub fn grants_writing(&self) -> bool {
        let pre_approved =
            !self.write_pre_approved.is_empty() && !self.write_pre_approved.iter().any(PathSet::is_empty);
        (!self.write_granted.is_empty() || pre_approved) && !self.write_narrowed.iter().any(PathSet::is_empty)
    }

    /// Whether every path may be seen, which spares a check of each.
    #[must_use]
    pub fn shows_everything(&self) -> bool {
        self.hidden.is_empty() && self.read_asked.is_empty() && self.shown.is_empty()
    }

    /// The rule of the host that keeps a path relative to the project from being seen; `None` when none does.
    #[must_use]
    pub fn hidden_by(&self, path: &str, is_directory: bool) -> Option<&Rule> {
        let hides = |(set, _): &&(PathSet, Rule)| !self.may_read(path, is_directory) && set.matches(path, is_directory);
        self.hiding.iter().filter(hides).map(|(_, rule)| rule).max_by_key(|rule| rule.effect())
    }

    /// Remembers which rule it is that hides what it names.
    pub(crate) fn hidden_for(&mut self, rule: &Rule) {
        let patterns = path_patterns(std::iter::once(rule.pattern()), READS);
        self.hiding.extend(PathSet::taking(&patterns, &self.base).map(|set| (set, rule.clone())));
    }

    pub(crate) fn hide(&mut self, patterns: &[String]) {
        self.hidden.extend(PathSet::taking(patterns, &self.base));
    }

    pub(crate) fn ask_to_show(&mut self, patterns: &[String]) {
        self.read_asked.extend(PathSet::taking(patterns, &self.base));
    }

    pub(crate) fn forbid_writes(&mut self, patterns: &[String]) {
        self.write_forbidden.extend(PathSet::taking(patterns, &self.base));
    }

    pub(crate) fn ask_to_write(&mut self, patterns: &[String]) {
        self.write_asked.extend(PathSet::taking(patterns, &self.base));
    }

    pub(crate) fn grant_writes(&mut self, patterns: &[String]) {
        if !patterns.is_empty() {
            self.write_granted.push(PathSet::granting(patterns, &self.base));
        }
    }

    /// Leaves what a list of patterns lets through. A list that names no reading at all is about commands, which see what their
    /// own grant shows them; writing has to be named.
    pub(crate) fn only<'a>(&mut self, patterns: impl Iterator<Item = &'a ToolPattern> + Clone) {
        let reads = path_patterns(patterns.clone(), READS);
        if !reads.is_empty() {
            self.shown.push(PathSet::granting(&reads, &self.base));
        }
        self.write_narrowed.push(PathSet::granting(&path_patterns(patterns, WRITES), &self.base));
    }

    /// Answers the asks about paths that all of several lists hold.
    pub(crate) fn pre_approve(&mut self, reads: &[Vec<String>], writes: &[Vec<String>]) {
        let sets = |lists: &[Vec<String>]| lists.iter().map(|list| PathSet::granting(list, &self.base)).collect();
        (self.read_pre_approved, self.write_pre_approved) = (sets(reads), sets(writes));
    }
}

fn all_of(sets: &[PathSet], path: &str, is_directory: bool) -> bool {
    !sets.is_empty() && sets.iter().all(|set| set.matches(path, is_directory))
}

/// Several patterns: those relative to the project, and those from the root of the machine.
#[derive(Clone)]
pub(crate) struct PathSet {
    relative: Gitignore,
    absolute: Gitignore,
    /// The project's root without its first slash.
    root: String,
}

impl PathSet {
    /// What takes away. A pattern that cannot be read takes everything.
    pub(crate) fn taking(patterns: &[String], base: &PathBase) -> Option<Self> {
        (!patterns.is_empty()).then(|| Self::of(patterns, base, true))
    }

    /// What grants. A pattern that cannot be read grants nothing.
    pub(crate) fn granting(patterns: &[String], base: &PathBase) -> Self {
        Self::of(patterns, base, false)
    }

    pub(crate) fn of(patterns: &[String], base: &PathBase, takes: bool) -> Self {
        let (mut relative, mut absolute) = (GitignoreBuilder::new(""), GitignoreBuilder::new(""));
        for builder in [&mut relative, &mut absolute] {
            // Both are options of a builder that was just made.
            let _cannot_fail = builder.case_insensitive(takes && base.folds_case).map(|_| ());
        }
        for pattern in patterns {
            let readable = match Reach::of(pattern, base) {
                Reach::Project(pattern) => add(&mut relative, &pattern),
                Reach::Machine(pattern) => add(&mut absolute, &pattern),
                Reach::Unknown => false,
            };
            if !readable && takes {
                add(&mut relative, "**");
            }
        }
        let build = |builder: &GitignoreBuilder| builder.build().unwrap_or_else(|_| Gitignore::empty());
        let root = base.root.as_deref().unwrap_or_default().trim_start_matches('/').to_owned();
        Self { relative: build(&relative), absolute: build(&absolute), root }
    }

    fn is_empty(&self) -> bool {
        self.relative.is_empty() && self.absolute.is_empty()
    }

    /// Whether a path relative to the project, or a directory above it, matches.
    pub(crate) fn matches(&self, path: &str, is_directory: bool) -> bool {
        let path = path.trim_start_matches('/');
        if path.is_empty() {
            return false;
        }
        self.relative.matched_path_or_any_parents(path, is_directory).is_ignore()
            || (!self.absolute.is_empty()
                && self.absolute.matched_path_or_any_parents(format!("{}/{path}", self.root), is_directory).is_ignore())
    }
}

/// What the text of a path pattern is about.
enum Reach {
    /// Paths below the project.
    Project(String),
    /// Paths of the machine.
    Machine(String),
    /// Cannot be told, or would turn the list around.
    Unknown,
}

impl Reach {
    fn of(pattern: &str, base: &PathBase) -> Self {
        let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
        if pattern.starts_with('!') || pattern.split('/').any(|part| part == "..") {
            return Reach::Unknown;
        }
        let Some(root) = &base.root else {
            let elsewhere = pattern.starts_with("//") || pattern.starts_with('~');
            return if elsewhere { Reach::Unknown } else { Reach::Project(pattern.to_owned()) };
        };
        if let Some(rest) = pattern.strip_prefix('~') {
            return match (&base.home, rest.starts_with('/') || rest.is_empty()) {
                (Some(home), true) => Reach::Machine(format!("{home}{rest}")),
                _ => Reach::Unknown,
            };
        }
        if pattern.starts_with("//") {
            return Reach::Machine(pattern[1..].to_owned());
        }
        let below = pattern.strip_prefix(root.as_str()).filter(|rest| rest.is_empty() || rest.starts_with('/'));
        match below {
            Some(_) if !root.is_empty() => Reach::Machine(pattern.to_owned()),
            _ => Reach::Project(pattern.to_owned()),
        }
    }
}

fn add(builder: &mut GitignoreBuilder, pattern: &str) -> bool {
    // A name may begin with what would be a comment in a gitignore file.
    let escaped = if pattern.starts_with('#') { format!("\\{pattern}") } else { pattern.to_owned() };
    builder.add_line(None, &escaped).is_ok()
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

/// Whether a path is one that no grant to write reaches. Names count as the file systems of all platforms may take them:
/// without regard to case, to invisible characters, to dots and blanks at their end, and to a stream behind a colon.
pub(crate) fn is_protected(path: &str) -> bool {
    path.split('/').any(|part| {
        let part = skillgate_core::without_invisible(part).to_lowercase();
        let part = part.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']);
        PROTECTED.binary_search(&part).is_ok() || part == "git~1"
    })
}

impl fmt::Debug for PathRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PathRules")
            .field("hidden", &self.hidden.len())
            .field("shown", &self.shown.len())
            .field("write_granted", &self.write_granted.len())
            .field("base", &self.base)
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
        for path in [
            ".git/hooks/x",
            "a/.GIT/config",
            ".claude/settings.json",
            ".mcp.json",
            "sub/.envrc",
            ".g\u{200c}it/config",
            ".git./config",
            ".git /config",
            ".git::$INDEX_ALLOCATION/config",
            "GIT~1/config",
        ] {
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
        let narrow = |rules: &mut PathRules, patterns: &[&str]| {
            let patterns: Vec<ToolPattern> =
                patterns.iter().map(|text| ToolPattern::parse(text).expect("a pattern")).collect();
            rules.only(patterns.iter());
        };
        narrow(&mut rules, &["Write(out/a*)"]);
        assert!(rules.may_write("out/a1") && !rules.may_write("out/x"));
        rules.forbid_writes(&list(&["a1"]));
        assert!(!rules.may_write("out/a1"));
        narrow(&mut rules, &[]);
        assert!(!rules.grants_writing());
    }

    #[test]
    fn patterns_from_the_root_of_the_machine_need_the_project_to_be_placed() {
        let base = || PathBase::default().root("/home/me/proj/").home("/home/me");
        let seen = |pattern: &str, path: &str| {
            let mut rules = PathRules::new(base());
            rules.hide(&list(&[pattern]));
            let mut granted = PathRules::new(base());
            granted.grant_writes(&list(&[pattern]));
            (!rules.may_read(path, false), granted.may_write(path))
        };
        for (pattern, path, matches) in [
            // gitignore's meaning: a slash at the beginning is the project's root.
            ("/src/x", "src/x", true),
            ("/src/x", "a/src/x", false),
            ("/etc/x", "etc/x", true),
            // Two slashes, or the project's own path: the machine's root.
            ("//etc/x", "etc/x", false),
            ("//home/me/proj/src/**", "src/x", true),
            ("//home/me/proj/src/**", "x", false),
            ("//home/me/proj", "src/x", true),
            ("//home/me", "src/x", true),
            ("//home/*/proj/*.rs", "a.rs", true),
            ("//home/*/proj/*.rs", "src/a.rs", false),
            ("//**/proj/a", "a", true),
            ("//**/a", "src/a", true),
            ("/home/me/proj/src/**", "src/x", true),
            ("/home/me/project/**", "src/x", false),
            ("~/proj/src/**", "src/x", true),
            ("~/other/**", "src/x", false),
        ] {
            assert_eq!(seen(pattern, path), (matches, matches), "{pattern} on {path}");
        }
        assert_eq!(seen("~bob/x", "x"), (true, false));
    }

    #[test]
    fn names_are_taken_in_every_case_where_the_file_system_takes_them_so() {
        for folds in [false, true] {
            let mut rules = PathRules::new(PathBase::default().folds_case(folds));
            rules.hide(&list(&[".env", "Secret/**"]));
            rules.grant_writes(&list(&["out/**"]));
            assert!(!rules.may_read(".env", false));
            assert_eq!(rules.may_read(".ENV", false), !folds);
            assert_eq!(rules.may_read("sECRET/x", false), !folds);
            assert!(rules.may_write("out/x") && !rules.may_write("OUT/x"), "what grants is taken as written");
        }
    }

    #[test]
    fn an_ask_about_a_path_is_a_refusal_until_every_list_answers_it() {
        let mut rules = PathRules::default();
        rules.ask_to_show(&list(&["notes/**"]));
        rules.ask_to_write(&list(&["out/**"]));
        rules.grant_writes(&list(&["out/a"]));
        assert!(!rules.may_read("notes/a", false) && !rules.may_write("out/a"));
        rules.pre_approve(&[list(&["notes/**"]), list(&["notes/a"])], &[list(&["out/**"]), list(&["out/b"])]);
        assert!(rules.may_read("notes/a", false) && !rules.may_read("notes/b", false));
        assert!(rules.may_write("out/b") && !rules.may_write("out/a"));
        rules.forbid_writes(&list(&["b"]));
        assert!(!rules.may_write("out/b"));
    }
}
