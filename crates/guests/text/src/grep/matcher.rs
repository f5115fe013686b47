//! Whether and where a line matches.

use super::expression::{ExpressionError, translate};
use super::request::Matching;
use regex_automata::meta::Regex;
use regex_automata::nfa::thompson;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input, MatchKind, hybrid, meta};
use std::cell::RefCell;
use std::ops::Range;

/// Bytes that the compiled patterns may take.
const MAX_COMPILED: usize = 8 << 20;

/// All patterns as one.
#[derive(Debug)]
pub(super) struct Matcher {
    regex: Option<Regex>,
    /// Finds the longest match at a place, as POSIX wants it; the other finds the leftmost alternative.
    longest: Option<(hybrid::dfa::DFA, RefCell<hybrid::dfa::Cache>)>,
    invert: bool,
}

impl Matcher {
    pub(super) fn new(patterns: &[Vec<u8>], matching: &Matching) -> Result<Self, ExpressionError> {
        let mut alternatives = Vec::new();
        for pattern in patterns {
            // A byte that is no text cannot be in a line that is text.
            let Ok(pattern) = std::str::from_utf8(pattern) else { continue };
            let translated = translate(pattern, matching.syntax)?;
            alternatives.push(match (matching.whole_lines, matching.words) {
                (true, _) => format!("^(?:{translated})$"),
                (false, true) => format!(r"\b{{start-half}}(?:{translated})\b{{end-half}}"),
                (false, false) => format!("(?:{translated})"),
            });
        }
        if alternatives.is_empty() {
            return Ok(Self { regex: None, longest: None, invert: matching.invert });
        }
        let text = alternatives.join("|");
        let options =
            syntax::Config::new().case_insensitive(matching.fold_case).utf8(false).dot_matches_new_line(false);
        let too_big = |_| ExpressionError::Wrong("Regular expression too big".to_owned());
        let regex = meta::Builder::new()
            .syntax(options)
            .configure(meta::Config::new().nfa_size_limit(Some(MAX_COMPILED)).utf8_empty(false))
            .build(&text)
            .map_err(too_big)?;
        let longest = hybrid::dfa::Builder::new()
            .syntax(options)
            .thompson(thompson::Config::new().nfa_size_limit(Some(MAX_COMPILED)).utf8(false))
            .configure(
                hybrid::dfa::Config::new()
                    .match_kind(MatchKind::All)
                    .skip_cache_capacity_check(true)
                    .unicode_word_boundary(true),
            )
            .build(&text)
            .ok();
        let longest = longest.map(|dfa| {
            let cache = dfa.create_cache();
            (dfa, RefCell::new(cache))
        });
        Ok(Self { regex: Some(regex), longest, invert: matching.invert })
    }

    /// Whether a line is selected.
    pub(super) fn selects(&self, line: &[u8]) -> bool {
        self.regex.as_ref().is_some_and(|regex| regex.is_match(line)) != self.invert
    }

    /// The parts of a selected line that `-o` shows: none when lines without a match are selected.
    pub(super) fn matches_shown(&self, line: &[u8]) -> Vec<Range<usize>> {
        if self.invert { Vec::new() } else { self.matches(line) }
    }

    /// Every match of a line that is not empty, the leftmost first and each as long as it can be.
    pub(super) fn matches(&self, line: &[u8]) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let Some(regex) = &self.regex else { return found };
        let mut at = 0;
        while at <= line.len() {
            let Some(first) = regex.find(Input::new(line).range(at..)) else { break };
            let range = first.start()..self.end_of_longest(line, first.start()).unwrap_or(first.end()).max(first.end());
            if range.is_empty() {
                at = range.end + 1;
                continue;
            }
            at = range.end;
            found.push(range);
        }
        found
    }

    fn end_of_longest(&self, line: &[u8], start: usize) -> Option<usize> {
        let (dfa, cache) = self.longest.as_ref()?;
        let input = Input::new(line).range(start..).anchored(Anchored::Yes);
        let found = dfa.try_search_fwd(&mut cache.borrow_mut(), &input).ok()??;
        Some(found.offset())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grep::request::Syntax;

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
        ] {
            assert_eq!(matcher(pattern, false).matches(line.as_bytes()), expected, "{pattern} on {line}");
        }
        assert!(matcher("foo", true).selects(b"a foo b") && !matcher("foo", true).selects(b"foot"));
        assert!(matcher("a", true).selects("é a".as_bytes()) && !matcher("a", true).selects("éa".as_bytes()));
    }
}
