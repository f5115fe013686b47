//! Whether and where a line matches.

use super::TROUBLE;
use super::request::{Matching, Syntax};
use crate::posix::{Around, Dialect, Expression, ExpressionError, TooComplex};
use std::ops::Range;

/// All patterns as one.
#[derive(Debug)]
pub(super) struct Matcher {
    expression: Option<Expression>,
    invert: bool,
}

impl Matcher {
    pub(super) fn new(patterns: &[Vec<u8>], matching: &Matching) -> Result<Self, ExpressionError> {
        // A byte that is no text cannot be in a line that is text.
        let patterns: Vec<&str> = patterns.iter().filter_map(|pattern| std::str::from_utf8(pattern).ok()).collect();
        let dialect = Dialect {
            fixed: matching.syntax == Syntax::Fixed,
            extended: matching.syntax == Syntax::Extended,
            fold_case: matching.fold_case,
            newline_is_ordinary: false,
            multi_line: false,
            strict: false,
        };
        let around = match (matching.whole_lines, matching.words) {
            (true, _) => Around::Whole,
            (false, true) => Around::Words,
            (false, false) => Around::Anything,
        };
        let expression = match patterns.is_empty() {
            true => None,
            false => Some(Expression::any_of(&patterns, dialect, around)?),
        };
        Ok(Self { expression, invert: matching.invert })
    }

    /// Whether a line is selected.
    pub(super) fn selects(&self, line: &[u8]) -> bool {
        self.expression.as_ref().is_some_and(|expression| found(expression.is_match(line))) != self.invert
    }

    /// The parts of a selected line that `-o` shows: none when lines without a match are selected.
    pub(super) fn matches_shown(&self, line: &[u8]) -> Vec<Range<usize>> {
        if self.invert { Vec::new() } else { self.matches(line) }
    }

    /// Every match of a line that is not empty, the leftmost first and each as long as it can be.
    pub(super) fn matches(&self, line: &[u8]) -> Vec<Range<usize>> {
        let mut ranges = Vec::new();
        let Some(expression) = &self.expression else { return ranges };
        let mut at = 0;
        while at <= line.len() {
            let Some(range) = found(expression.find(line, at)) else { break };
            if range.is_empty() {
                at = range.end + 1;
                continue;
            }
            at = range.end;
            ranges.push(range);
        }
        ranges
    }
}

/// What was found. A pattern that cannot be looked for ends the command: any answer would be a wrong one.
fn found<T>(result: Result<T, TooComplex>) -> T {
    match result {
        Ok(found) => found,
        Err(TooComplex) => {
            eprintln!("skillgate: grep: a pattern that takes so many steps on a line is not supported");
            std::process::exit(TROUBLE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matcher(pattern: &str, words: bool) -> Matcher {
        let matching = Matching {
            syntax: Syntax::Extended,
            fold_case: false,
            words,
            whole_lines: false,
            invert: false,
            separator: b'\n',
        };
        Matcher::new(&[pattern.as_bytes().to_vec()], &matching).expect("a pattern")
    }

    #[test]
    fn matches_are_the_leftmost_and_longest() {
        for (pattern, line, expected) in [
            ("a|ab", "xabab", vec![1..3, 3..5]),
            ("(a|ab)(c|bcd)", "abcd", vec![0..4]),
            ("b*", "abba", vec![1..3]),
            ("é|éa", "éa", vec![0..3]),
            ("x", "abc", vec![]),
            ("^a", "aa", vec![0..1]),
            (r"(.)\1", "abba", vec![1..3]),
        ] {
            assert_eq!(matcher(pattern, false).matches(line.as_bytes()), expected, "{pattern} on {line}");
        }
        assert!(matcher("foo", true).selects(b"a foo b") && !matcher("foo", true).selects(b"foot"));
        assert!(matcher("a", true).selects("é a".as_bytes()) && !matcher("a", true).selects("éa".as_bytes()));
    }
}
