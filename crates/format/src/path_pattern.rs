//! Whether an entry of `paths` can be a pattern at all.

use std::ops::RangeInclusive;

/// Patterns that the braces of one pattern may stand for.
const MAX_ALTERNATIVES: u32 = 1_000;

/// Braces inside one another.
const MAX_DEPTH: usize = 64;

/// Why an entry of `paths` matches nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PathPatternProblem {
    /// A character class is never closed.
    #[error("`[` is never closed")]
    OpenClass,
    /// A range of characters runs backwards.
    #[error("the range `{0}-{1}` runs backwards")]
    Range(char, char),
    /// Braces are never closed.
    #[error("`{{` is never closed")]
    OpenBraces,
    /// Braces are closed that were never opened.
    #[error("`}}` closes nothing")]
    ClosingBrace,
    /// The braces stand for too many patterns.
    #[error("its braces stand for more than {MAX_ALTERNATIVES} patterns")]
    TooManyAlternatives,
    /// The text ends with the sign that escapes the next character.
    #[error("a backslash at the end escapes nothing")]
    Escape,
}

impl PathPatternProblem {
    /// What the author can do.
    #[must_use]
    pub fn help(self) -> &'static str {
        match self {
            PathPatternProblem::OpenClass => "close it, or write `\\[` for the character itself",
            PathPatternProblem::Range(..) => "put the smaller character first",
            PathPatternProblem::OpenBraces => "close them, or write `\\{` for the character itself",
            PathPatternProblem::ClosingBrace => "open them, or write `\\}` for the character itself",
            PathPatternProblem::TooManyAlternatives => "write fewer alternatives, or `*`",
            PathPatternProblem::Escape => "remove it",
        }
    }
}

/// Why the entry of `paths` matches nothing, and only this entry: it spoils no other. The braces are counted, never expanded, in
/// one pass over the text.
///
/// ```
/// use skillgate_format::{PathPatternProblem, path_pattern_problem};
///
/// assert_eq!(path_pattern_problem("src/**/*.{ts,tsx}"), None);
/// assert_eq!(path_pattern_problem("[1/**"), Some(PathPatternProblem::OpenClass));
/// ```
#[must_use]
pub fn path_pattern_problem(pattern: &str) -> Option<PathPatternProblem> {
    let mut braces = Braces::default();
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.next().is_none() => return Some(PathPatternProblem::Escape),
            '[' => {
                let (length, problem) = class(chars.as_str());
                if problem.is_some() {
                    return problem;
                }
                chars = chars.as_str()[length..].chars();
            }
            '{' => braces.open(),
            ',' => braces.next(),
            '}' if !braces.close() => return Some(PathPatternProblem::ClosingBrace),
            _ => {}
        }
        if braces.too_many() {
            return Some(PathPatternProblem::TooManyAlternatives);
        }
    }
    (!braces.outer.is_empty()).then_some(PathPatternProblem::OpenBraces)
}

/// Passes over a character class whose bracket was passed: the bytes to its end, or what is wrong with it.
fn class(rest: &str) -> (usize, Option<PathPatternProblem>) {
    let inner = rest.strip_prefix(['!', '^']).unwrap_or(rest);
    let skipped = rest.len() - inner.len();
    // A bracket in the first place is itself.
    let first = inner.chars().next().map_or(0, char::len_utf8);
    let Some(length) = inner.get(first..).and_then(|rest| rest.find(']')) else {
        return (0, Some(PathPatternProblem::OpenClass));
    };
    let members = &inner[..first + length];
    (
        skipped + members.len() + 1,
        backwards(members).map(|range| PathPatternProblem::Range(*range.start(), *range.end())),
    )
}

fn backwards(members: &str) -> Option<RangeInclusive<char>> {
    let mut chars = members.chars();
    while let Some(from) = chars.next() {
        let mut ahead = chars.clone();
        if let (Some('-'), Some(to)) = (ahead.next(), ahead.next()) {
            if from > to {
                return Some(from..=to);
            }
            chars = ahead;
        }
    }
    None
}

/// Counts what nested braces stand for.
#[derive(Debug)]
struct Braces {
    /// Of each level around: what was before the braces in its alternative, and the alternatives before that one.
    outer: Vec<(u32, u32)>,
    /// What this alternative stands for so far.
    current: u32,
    /// What the alternatives of this level before it stand for.
    before: u32,
}

impl Default for Braces {
    fn default() -> Self {
        Self { outer: Vec::new(), current: 1, before: 0 }
    }
}

impl Braces {
    fn open(&mut self) {
        self.outer.push((self.current, self.before));
        (self.current, self.before) = (1, 0);
    }

    /// A comma begins an alternative, inside braces.
    fn next(&mut self) {
        if !self.outer.is_empty() {
            self.before = self.before.saturating_add(self.current);
            self.current = 1;
        }
    }

    fn close(&mut self) -> bool {
        let Some((current, before)) = self.outer.pop() else { return false };
        self.current = self.before.saturating_add(self.current).saturating_mul(current);
        self.before = before;
        true
    }

    fn too_many(&self) -> bool {
        self.outer.len() > MAX_DEPTH || self.before.saturating_add(self.current) > MAX_ALTERNATIVES
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use PathPatternProblem::{ClosingBrace, Escape, OpenBraces, OpenClass, Range, TooManyAlternatives};

    #[test]
    fn a_pattern_has_closed_brackets_and_few_alternatives() {
        for (pattern, expected) in [
            ("", None),
            ("src/**/*.{ts,tsx}", None),
            ("[1/**", Some(OpenClass)),
            ("a[]", Some(OpenClass)),
            ("a[", Some(OpenClass)),
            ("a[!", Some(OpenClass)),
            ("a[]]", None),
            ("a[!]]b", None),
            ("[a-z]", None),
            ("[z-a]", Some(Range('z', 'a'))),
            ("[!0-9z-a]", Some(Range('z', 'a'))),
            ("[-a]", None),
            ("[ä-ü]x", None),
            ("\\[1/**", None),
            ("[\\[]", None),
            ("a\\", Some(Escape)),
            ("{a", Some(OpenBraces)),
            ("{a,{b}", Some(OpenBraces)),
            ("a}", Some(ClosingBrace)),
            ("\\{a", None),
            ("{a,[}]}", None),
            ("a,b", None),
            ("{a,b,{c,d}{e,f}}", None),
        ] {
            assert_eq!(path_pattern_problem(pattern), expected, "{pattern}");
        }
    }

    #[test]
    fn alternatives_are_counted_and_not_made() {
        let ten = "{a,b,c,d,e,f,g,h,i,j}";
        assert_eq!(path_pattern_problem(&ten.repeat(3)), None, "1,000");
        assert_eq!(path_pattern_problem(&format!("{{x,{}}}", ten.repeat(3))), Some(TooManyAlternatives), "1,001");
        assert_eq!(path_pattern_problem(&"{a,b}".repeat(30)), Some(TooManyAlternatives));
        assert_eq!(path_pattern_problem(&"{".repeat(100_000)), Some(TooManyAlternatives));
        assert_eq!(path_pattern_problem(&format!("{}{}", "{".repeat(64), "}".repeat(64))), None);
        assert_eq!(path_pattern_problem(&",".repeat(5_000)), None, "outside of braces a comma is a comma");
    }
}
