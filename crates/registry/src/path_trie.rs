use globset::{GlobBuilder, GlobMatcher};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Alternatives that the braces of one pattern may stand for.
const MAX_ALTERNATIVES: usize = 1_000;

/// Braces inside one another.
const MAX_DEPTH: usize = 64;

/// Parts of one pattern between slashes.
const MAX_PARTS: usize = 128;

/// Why a pattern matches nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PatternFault {
    /// It is no glob.
    #[error("it is no pattern: a bracket or a range in it is wrong")]
    Unreadable,
    /// Braces are not closed, or closed without being opened.
    #[error("its braces do not match")]
    Braces,
    /// It stands for too many patterns.
    #[error("its braces stand for more than {MAX_ALTERNATIVES} patterns")]
    TooManyAlternatives,
    /// It has too many parts.
    #[error("it has more than {MAX_PARTS} parts between slashes")]
    TooManyParts,
    /// The patterns of all skills together are too many.
    #[error("the patterns of all skills together are too many")]
    TooManyPatterns,
}

/// Globs over paths, as a tree over their parts. A path walks through it once, whatever the number of globs.
#[derive(Clone, Debug)]
pub(crate) struct PathTrie {
    nodes: Vec<Node>,
    /// Globs in the tree, each alternative counted.
    globs: usize,
}

#[derive(Clone, Debug, Default)]
struct Node {
    literal: HashMap<Box<str>, usize>,
    /// `*TEXT` and `TEXT*`, by the length of the text and then by it: as many lookups as there are lengths.
    suffix: BTreeMap<usize, HashMap<Box<str>, usize>>,
    prefix: BTreeMap<usize, HashMap<Box<str>, usize>>,
    any: Option<usize>,
    /// `**`: any number of parts, none included.
    recursive: Option<usize>,
    other: Vec<(Box<str>, GlobMatcher, usize)>,
    /// Whether this node is behind a `**`, and stays for every part.
    stays: bool,
    ends: Vec<usize>,
}

impl Default for PathTrie {
    fn default() -> Self {
        Self { nodes: vec![Node::default()], globs: 0 }
    }
}

impl PathTrie {
    /// Adds a glob from the root under a number. When it cannot be added, nothing of it is found.
    pub(crate) fn insert(&mut self, glob: &str, number: usize, most: usize) -> Result<(), PatternFault> {
        let mut paths = Vec::new();
        for alternative in alternatives(glob)? {
            if self.globs + paths.len() >= most {
                return Err(PatternFault::TooManyPatterns);
            }
            paths.push(parts(&alternative)?);
        }
        self.globs += paths.len();
        for path in paths {
            let end = path.into_iter().fold(0, |node, part| self.step(node, part));
            if self.nodes[end].ends.last() != Some(&number) {
                self.nodes[end].ends.push(number);
            }
        }
        Ok(())
    }

    /// Calls `found` with the number of every glob that matches the path, possibly more than once.
    pub(crate) fn find<'p>(&self, path: impl Iterator<Item = &'p str>, mut found: impl FnMut(usize)) {
        let mut states: Vec<usize> = Vec::new();
        let mut seen: HashSet<usize> = HashSet::new();
        self.enter(0, &mut states, &mut seen);
        let mut next: Vec<usize> = Vec::new();
        for part in path {
            next.clear();
            seen.clear();
            for &state in &states {
                self.follow(state, part, |node| self.enter(node, &mut next, &mut seen));
            }
            std::mem::swap(&mut states, &mut next);
            if states.is_empty() {
                return;
            }
        }
        states.iter().flat_map(|state| &self.nodes[*state].ends).for_each(|number| found(*number));
    }

    fn enter(&self, node: usize, states: &mut Vec<usize>, seen: &mut HashSet<usize>) {
        let mut entered = Some(node);
        while let Some(node) = entered {
            if !seen.insert(node) {
                return;
            }
            states.push(node);
            entered = self.nodes[node].recursive;
        }
    }

    fn follow(&self, state: usize, part: &str, mut enter: impl FnMut(usize)) {
        let node = &self.nodes[state];
        if node.stays {
            enter(state);
        }
        if let Some(&next) = node.literal.get(part) {
            enter(next);
        }
        if let Some(next) = node.any {
            enter(next);
        }
        for (&length, texts) in node.suffix.range(..=part.len()) {
            if let Some(&next) = part.get(part.len() - length..).and_then(|end| texts.get(end)) {
                enter(next);
            }
        }
        for (&length, texts) in node.prefix.range(..=part.len()) {
            if let Some(&next) = part.get(..length).and_then(|beginning| texts.get(beginning)) {
                enter(next);
            }
        }
        for (_, glob, next) in &node.other {
            if glob.is_match(part) {
                enter(*next);
            }
        }
    }

    /// The node behind `part`, which is made if it is not there.
    fn step(&mut self, node: usize, part: Part) -> usize {
        let fresh = self.nodes.len();
        let from = &mut self.nodes[node];
        let stays = matches!(part, Part::Recursive);
        let next = match part {
            Part::Recursive if from.stays => node,
            Part::Recursive => *from.recursive.get_or_insert(fresh),
            Part::Any => *from.any.get_or_insert(fresh),
            Part::Literal(text) => *from.literal.entry(text).or_insert(fresh),
            Part::Suffix(text) => *from.suffix.entry(text.len()).or_default().entry(text).or_insert(fresh),
            Part::Prefix(text) => *from.prefix.entry(text.len()).or_default().entry(text).or_insert(fresh),
            Part::Other(text, matcher) => match from.other.iter().find(|(known, ..)| *known == text) {
                Some(&(_, _, next)) => next,
                None => {
                    from.other.push((text, matcher, fresh));
                    fresh
                }
            },
        };
        if next == fresh {
            self.nodes.push(Node { stays, ..Node::default() });
        }
        next
    }
}

/// One part of a glob between slashes.
enum Part {
    Recursive,
    Any,
    Literal(Box<str>),
    Suffix(Box<str>),
    Prefix(Box<str>),
    Other(Box<str>, GlobMatcher),
}

fn parts(glob: &str) -> Result<Vec<Part>, PatternFault> {
    let mut parts =
        glob.split('/').filter(|part| !part.is_empty() && *part != ".").map(part).collect::<Result<Vec<_>, _>>()?;
    if parts.len() > MAX_PARTS {
        return Err(PatternFault::TooManyParts);
    }
    // What is behind the last `**` is in a directory, never the directory itself.
    if matches!(parts.last(), Some(Part::Recursive)) {
        parts.push(Part::Any);
    }
    Ok(parts)
}

fn part(text: &str) -> Result<Part, PatternFault> {
    if text == "**" {
        return Ok(Part::Recursive);
    }
    let mut collapsed = text.to_owned();
    while collapsed.contains("**") {
        collapsed = collapsed.replace("**", "*");
    }
    let is_plain = |text: &str| !text.contains(['*', '?', '[', ']', '\\']);
    Ok(match collapsed.as_str() {
        "*" => Part::Any,
        text if is_plain(text) => Part::Literal(text.into()),
        text => match (text.strip_prefix('*'), text.strip_suffix('*')) {
            (Some(end), _) if is_plain(end) => Part::Suffix(end.into()),
            (_, Some(beginning)) if is_plain(beginning) => Part::Prefix(beginning.into()),
            _ => {
                let glob = GlobBuilder::new(text).literal_separator(true).backslash_escape(true).build();
                Part::Other(text.into(), glob.map_err(|_| PatternFault::Unreadable)?.compile_matcher())
            }
        },
    })
}

/// The patterns that the braces of one pattern stand for. Braces are plain in a bracket and behind a backslash, as elsewhere.
fn alternatives(glob: &str) -> Result<Vec<String>, PatternFault> {
    let mut rest = glob.chars();
    let (all, end) = sequence(&mut rest, 0)?;
    match end {
        None => Ok(all),
        Some(_) => Err(PatternFault::Braces),
    }
}

/// Reads to the end, or at a depth to the comma or brace that ends the alternative, which is given back.
fn sequence(chars: &mut std::str::Chars<'_>, depth: usize) -> Result<(Vec<String>, Option<char>), PatternFault> {
    let mut all = vec![String::new()];
    let push = |all: &mut Vec<String>, text: &str| all.iter_mut().for_each(|alternative| alternative.push_str(text));
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                let escaped = chars.next().ok_or(PatternFault::Unreadable)?;
                push(&mut all, &format!("\\{escaped}"));
            }
            '[' => {
                let class = class(chars.as_str()).ok_or(PatternFault::Unreadable)?;
                push(&mut all, &format!("[{class}"));
                *chars = chars.as_str()[class.len()..].chars();
            }
            '{' if depth < MAX_DEPTH => {
                let mut inner = Vec::new();
                loop {
                    let (alternative, end) = sequence(chars, depth + 1)?;
                    inner.extend(alternative);
                    match end {
                        Some(',') => {}
                        Some(_) => break,
                        None => return Err(PatternFault::Braces),
                    }
                }
                if inner.len().saturating_mul(all.len()) > MAX_ALTERNATIVES {
                    return Err(PatternFault::TooManyAlternatives);
                }
                all = all.iter().flat_map(|before| inner.iter().map(move |after| format!("{before}{after}"))).collect();
            }
            '{' => return Err(PatternFault::TooManyAlternatives),
            '}' => return if depth > 0 { Ok((all, Some(c))) } else { Err(PatternFault::Braces) },
            ',' if depth > 0 => return Ok((all, Some(c))),
            c => push(&mut all, c.encode_utf8(&mut [0; 4])),
        }
    }
    Ok((all, None))
}

/// A character class whose bracket was passed, to its end.
fn class(rest: &str) -> Option<&str> {
    let inner = rest.strip_prefix(['!', '^']).unwrap_or(rest);
    let first = inner.chars().next().map_or(0, char::len_utf8);
    let end = inner.get(first..)?.find(']')?;
    rest.get(..=rest.len() - inner.len() + first + end)
}

#[cfg(test)]
mod tests {
    use super::{PathTrie, PatternFault};

    fn matches(glob: &str, path: &str) -> bool {
        let mut trie = PathTrie::default();
        trie.insert(glob, 7, 100).unwrap_or_else(|fault| panic!("{glob}: {fault}"));
        let mut found = false;
        trie.find(path.split('/'), |number| found = number == 7);
        found
    }

    #[test]
    fn parts_match_as_in_globs() {
        for (glob, yes, no) in [
            ("*.md", "a.md", "x/a.md"),
            ("**/*.md", "a.md", "a.mdx"),
            ("**/*.md", "x/y/a.md", "x/y.md/a"),
            ("src/**", "src/a/b", "src"),
            ("src/**/test/*.rs", "src/test/a.rs", "src/test/b/a.rs"),
            ("src/**/test/*.rs", "src/a/b/test/a.rs", "src/a/tests/a.rs"),
            ("a*", "abc", "ba"),
            ("a?c", "abc", "abbc"),
            ("[ab].c", "a.c", "c.c"),
            ("\\[a].c", "[a].c", "a.c"),
            ("{a,b/{c,d}}/x", "b/d/x", "b/x"),
            ("a{,b}", "a", "ac"),
            ("x[{,}]y", "x{y", "xy"),
            ("./a//b", "a/b", "a"),
            ("**/**/a", "a", "b"),
            ("a**b", "axb", "a/b"),
            ("**/a", "a", "a/b"),
            ("日*", "日本", "本日"),
        ] {
            assert!(matches(glob, yes), "{glob} matches {yes}");
            assert!(!matches(glob, no), "{glob} does not match {no}");
        }
    }

    #[test]
    fn what_cannot_match_is_a_fault() {
        let insert = |glob: &str| PathTrie::default().insert(glob, 0, 100);
        assert_eq!(insert("[1/**"), Err(PatternFault::Unreadable));
        assert_eq!(insert("[z-a]"), Err(PatternFault::Unreadable));
        assert_eq!(insert("a\\"), Err(PatternFault::Unreadable));
        assert_eq!(insert("{a,b"), Err(PatternFault::Braces));
        assert_eq!(insert("a}"), Err(PatternFault::Braces));
        assert_eq!(insert(&"{a,b}".repeat(30)), Err(PatternFault::TooManyAlternatives));
        assert_eq!(insert(&"{".repeat(100_000)), Err(PatternFault::TooManyAlternatives));
        assert_eq!(insert(&"a/".repeat(129)), Err(PatternFault::TooManyParts));
        assert_eq!(PathTrie::default().insert("{a,b,c}", 0, 2), Err(PatternFault::TooManyPatterns));
    }

    #[test]
    fn a_fault_leaves_nothing_behind() {
        let mut trie = PathTrie::default();
        assert!(trie.insert("{a,[z-a]}", 0, 100).is_err());
        trie.find(["a"].into_iter(), |_| panic!("half a pattern is found"));
    }
}
