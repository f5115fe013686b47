//! Matching: the leftmost match, and of those the longest.

use crate::regex_syntax::translate;
use crate::{Fault, wrong};
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::meta;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input, MatchKind};
use std::cell::RefCell;
use std::ops::Range;

/// Bytes that an expression may take once it is compiled.
const MAX_COMPILED: usize = 8 << 20;

/// A compiled expression.
#[derive(Debug)]
pub(crate) struct Matcher {
    /// Finds where a match begins.
    first: meta::Regex,
    /// Finds where the longest that begins there ends.
    longest: DFA,
    cache: RefCell<Cache>,
}

impl Matcher {
    /// Compiles an expression of awk.
    ///
    /// # Errors
    /// What is wrong with it, or what is not supported.
    pub(crate) fn compile(text: &[u8]) -> Result<Self, Fault> {
        let pattern = translate(text)?;
        let config = syntax::Config::new().unicode(false).utf8(false).dot_matches_new_line(true);
        let too_large = || Fault::Wrong(format!("regular expression is too large: {}", String::from_utf8_lossy(text)));
        let first = meta::Regex::builder()
            .syntax(config)
            .configure(meta::Config::new().utf8_empty(false).nfa_size_limit(Some(MAX_COMPILED)))
            .build(&pattern)
            .map_err(|_| too_large())?;
        let longest = DFA::builder()
            .syntax(config)
            .configure(DFA::config().match_kind(MatchKind::All).skip_cache_capacity_check(true))
            .thompson(regex_automata::nfa::thompson::Config::new().utf8(false).nfa_size_limit(Some(MAX_COMPILED)))
            .build(&pattern)
            .map_err(|_| too_large())?;
        let cache = RefCell::new(longest.create_cache());
        Ok(Self { first, longest, cache })
    }

    pub(crate) fn is_match(&self, text: &[u8]) -> bool {
        self.first.is_match(text)
    }

    /// The leftmost, longest match at or behind a place.
    pub(crate) fn find(&self, text: &[u8], from: usize) -> Result<Option<Range<usize>>, Fault> {
        let input = Input::new(text).range(from..);
        let Some(found) = self.first.find(input) else { return Ok(None) };
        let input = Input::new(text).range(found.start()..).anchored(Anchored::Yes);
        match self.longest.try_search_fwd(&mut self.cache.borrow_mut(), &input) {
            Ok(end) => Ok(Some(found.start()..end.map_or(found.end(), |end| end.offset()))),
            Err(error) => wrong(format!("a regular expression cannot be matched: {error}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_of_the_leftmost_matches_is_found() {
        for (pattern, text, expected) in [
            ("ab|abcd", "xabcd", Some(1..5)),
            ("(a|ab)(c|bcd)", "abcd", Some(0..4)),
            ("a*(ab)*", "aab", Some(0..3)),
            ("x*", "aaa", Some(0..0)),
            ("b$", "ab\nb", Some(3..4)),
            ("^b", "ab", None),
            ("a.c", "a\nc", Some(0..3)),
            ("[^a]", "\u{e9}", Some(0..1)),
        ] {
            let matcher = Matcher::compile(pattern.as_bytes()).expect(pattern);
            assert_eq!(matcher.find(text.as_bytes(), 0), Ok(expected), "{pattern}");
        }
    }
}
