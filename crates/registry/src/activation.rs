use crate::path_trie::{PathTrie, PatternFault};
use crate::{Catalogue, Entry, State};
use skillgate_core::{Guarded, Profile};
use std::collections::BTreeMap;

/// Patterns of all skills together, with braces counted as what they stand for. What is beyond matches nothing.
const MAX_PATTERNS: usize = 100_000;

/// The `paths` of all skills that wait for a file to be touched, in one matcher: what a path costs grows with its own parts, not
/// with the number of skills.
///
/// Under the profile `claude` an entry is a glob from the project's root (`*.md` is a file in the root); else it is a line of a
/// `.gitignore` (`*.md` at any depth, a directory means what is in it, `!` takes back).
#[derive(Clone, Debug, Default)]
pub struct PathActivation {
    trie: PathTrie,
    /// What each pattern of the trie is.
    patterns: Vec<Pattern>,
    skills: Vec<Waiting>,
    faults: Vec<ActivationFault>,
}

#[derive(Clone, Debug)]
struct Pattern {
    skill: usize,
    negated: bool,
}

#[derive(Clone, Debug)]
struct Waiting {
    qualified_name: String,
}

/// An entry of `paths` that matches nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ActivationFault {
    /// The skill it is an entry of.
    pub qualified_name: String,
    /// The entry.
    pub pattern: String,
    /// Why it matches nothing.
    pub reason: PatternFault,
}

impl PathActivation {
    /// The skills of `catalogue` that wait.
    #[must_use]
    pub fn of(catalogue: &Catalogue, profile: Profile) -> Self {
        Self::among(catalogue, profile, |_| true)
    }

    /// Those skills of `catalogue` that wait and are `meant`.
    #[must_use]
    pub fn among(catalogue: &Catalogue, profile: Profile, meant: impl Fn(&Entry) -> bool) -> Self {
        let waits = |entry: &&Entry| *entry.state() == State::Conditional && meant(entry);
        Self::made(catalogue.entries().iter().map(AsRef::as_ref).filter(waits), profile)
    }

    /// This skill alone, whether it still waits or not, so that it can be told which files are its own.
    #[must_use]
    pub fn explaining(entry: &Entry, profile: Profile) -> Self {
        Self::made(std::iter::once(entry), profile)
    }

    fn made<'e>(entries: impl Iterator<Item = &'e Entry>, profile: Profile) -> Self {
        let mut activation = Self::default();
        for entry in entries {
            let Guarded::Present(paths) = entry.skill().frontmatter.paths() else { continue };
            let skill = activation.skills.len();
            activation.skills.push(Waiting { qualified_name: entry.qualified_name().to_owned() });
            for path in &paths.value {
                activation.add(skill, &path.value, profile);
            }
        }
        activation
    }

    /// How many skills wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.skills.len()
    }

    /// Whether none waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.skills.is_empty()
    }

    /// The entries that match nothing, in the order of the skills.
    #[must_use]
    pub fn faults(&self) -> &[ActivationFault] {
        &self.faults
    }

    /// The qualified names of the skills whose `paths` name this file, in the order of the catalogue.
    ///
    /// The file is given from the project's root, with `/` between the parts; one that leads out of it is named by nothing.
    #[must_use]
    pub fn matching(&self, file: &str) -> Vec<&str> {
        if file.split('/').any(|part| matches!(part, "" | "." | "..")) {
            return Vec::new();
        }
        // Patterns are numbered in the order of the entries, and the last entry that matches decides.
        let mut decided: BTreeMap<usize, usize> = BTreeMap::new();
        self.trie.find(file.split('/'), |pattern| {
            let last = decided.entry(self.patterns[pattern].skill).or_insert(pattern);
            *last = (*last).max(pattern);
        });
        let matching = decided.into_iter().filter(|(_, pattern)| !self.patterns[*pattern].negated);
        matching.map(|(skill, _)| self.skills[skill].qualified_name.as_str()).collect()
    }

    fn add(&mut self, skill: usize, text: &str, profile: Profile) {
        let (negated, globs) = match profile {
            Profile::Claude => (false, vec![text.to_owned()]),
            _ => gitignore(text),
        };
        for glob in globs {
            let pattern = self.patterns.len();
            let added = self.trie.insert(&glob, pattern, MAX_PATTERNS);
            self.patterns.push(Pattern { skill, negated });
            if let Err(reason) = added {
                let qualified_name = self.skills[skill].qualified_name.clone();
                self.faults.push(ActivationFault { qualified_name, pattern: text.to_owned(), reason });
                return;
            }
        }
    }
}

/// A line of a `.gitignore` as globs from the root, and whether it takes back. A comment or an empty line is none.
fn gitignore(line: &str) -> (bool, Vec<String>) {
    let line = without_trailing_blanks(line);
    if line.starts_with('#') {
        return (false, Vec::new());
    }
    let (negated, line) = line.strip_prefix('!').map_or((false, line), |rest| (true, rest));
    let line = line.strip_prefix('\\').filter(|rest| rest.starts_with(['!', '#'])).unwrap_or(line);
    let (directory, line) = line.strip_suffix('/').map_or((false, line), |rest| (true, rest));
    if line.is_empty() {
        return (negated, Vec::new());
    }
    let glob = match line.strip_prefix('/') {
        Some(anchored) => anchored.to_owned(),
        None if line.contains('/') => line.to_owned(),
        None => format!("**/{line}"),
    };
    let everything = glob == "**" || glob.ends_with("/**");
    let globs = match (directory, everything) {
        (true, true) => vec![format!("{glob}/*/**")],
        (true, false) => vec![format!("{glob}/**")],
        (false, true) => vec![glob],
        (false, false) => vec![format!("{glob}/**"), glob],
    };
    (negated, globs)
}

fn without_trailing_blanks(line: &str) -> &str {
    let trimmed = line.trim_end_matches([' ', '\t', '\r']);
    // A blank behind a backslash is meant.
    let escapes = trimmed.len() - trimmed.trim_end_matches('\\').len();
    if escapes % 2 == 1 && trimmed.len() < line.len() { &line[..=trimmed.len()] } else { trimmed }
}
