//! Compiled expressions, and where they match.

use super::syntax::{Dialect, ExpressionError, Node, Pattern, parse, wrong};
use super::{groups, lower, references};
use regex_automata::meta::Regex;
use regex_automata::nfa::thompson;
use regex_automata::util::captures::Captures;
use regex_automata::{Anchored, Input, MatchKind, hybrid, meta};
use regex_syntax::hir::{Hir, Look};
use std::cell::RefCell;
use std::ops::Range;

/// Bytes that a compiled expression may take.
const MAX_COMPILED: usize = 8 << 20;

/// A match: the whole and the groups, which may have taken part or not.
pub(crate) type Match = Vec<Option<Range<usize>>>;

/// Looking for a match took too many steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TooComplex;

/// What a match is asked to have around it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Around {
    #[default]
    Anything,
    /// No word character on either side.
    Words,
    /// The ends of the text.
    Whole,
}

/// One expression, or several of which any may match.
#[derive(Debug)]
pub(crate) struct Expression {
    patterns: Vec<Pattern>,
    automata: Option<Automata>,
    fold_case: bool,
}

#[derive(Debug)]
struct Automata {
    /// Finds where the leftmost match begins.
    leftmost: Regex,
    /// Finds the longest match at a place; the other finds the first alternative's.
    longest: Option<(hybrid::dfa::DFA, RefCell<hybrid::dfa::Cache>)>,
    /// Whether the other's groups are right when its bounds are.
    decided: bool,
}

impl Expression {
    /// Compiles one pattern.
    pub(crate) fn new(pattern: &str, dialect: Dialect) -> Result<Self, ExpressionError> {
        Self::any_of(&[pattern], dialect, Around::Anything)
    }

    /// Compiles patterns of which any may match.
    pub(crate) fn any_of(patterns: &[&str], dialect: Dialect, around: Around) -> Result<Self, ExpressionError> {
        let read: Result<Vec<Pattern>, ExpressionError> =
            patterns.iter().map(|pattern| parse(pattern, dialect)).collect();
        let mut patterns = read?;
        for pattern in &mut patterns {
            surround(pattern, around);
        }
        let automata = match patterns.iter().any(|pattern| pattern.has_references) {
            true => None,
            false => Some(Automata::new(&patterns)?),
        };
        Ok(Self { patterns, automata, fold_case: dialect.fold_case })
    }

    /// How many groups there are.
    pub(crate) fn groups(&self) -> usize {
        self.patterns.first().map_or(0, |pattern| pattern.groups)
    }

    /// Whether an empty match may stand inside of a character.
    pub(crate) fn is_by_bytes(&self) -> bool {
        self.patterns.iter().all(|pattern| pattern.by_bytes)
    }

    /// Whether a text matches anywhere.
    pub(crate) fn is_match(&self, text: &[u8]) -> Result<bool, TooComplex> {
        match &self.automata {
            Some(automata) => Ok(automata.leftmost.is_match(text)),
            None => Ok(self.find(text, 0)?.is_some()),
        }
    }

    /// The leftmost longest match that begins at a place or after it, without its groups.
    pub(crate) fn find(&self, text: &[u8], from: usize) -> Result<Option<Range<usize>>, TooComplex> {
        let Some(automata) = &self.automata else {
            return Ok(self.with_references(text, from)?.and_then(|found| found.into_iter().next().flatten()));
        };
        let Some(first) = automata.leftmost.find(Input::new(text).range(from..)) else { return Ok(None) };
        let end = match automata.end(text, first.start()) {
            Some(end) => end,
            None => {
                let ends = self.patterns.iter().map(|pattern| groups::end(&pattern.node, text, first.start()));
                ends.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().max().unwrap_or(first.end())
            }
        };
        Ok(Some(first.start()..end.max(first.end())))
    }

    /// The leftmost longest match that begins at a place or after it, with the groups of the first pattern.
    pub(crate) fn captures(&self, text: &[u8], from: usize) -> Result<Option<Match>, TooComplex> {
        let (Some(automata), [pattern]) = (&self.automata, self.patterns.as_slice()) else {
            return self.with_references(text, from);
        };
        let Some(range) = self.find(text, from)? else { return Ok(None) };
        if pattern.groups == 0 {
            return Ok(Some(vec![Some(range)]));
        }
        if automata.decided {
            let mut found: Captures = automata.leftmost.create_captures();
            automata
                .leftmost
                .search_captures(&Input::new(text).range(range.start..).anchored(Anchored::Yes), &mut found);
            if found.get_match().is_some_and(|whole| whole.range() == range) {
                return Ok(Some(
                    (0..=pattern.groups).map(|group| found.get_group(group).map(|it| it.range())).collect(),
                ));
            }
        }
        groups::captures(&pattern.node, pattern.groups, text, range).map(Some)
    }

    fn with_references(&self, text: &[u8], from: usize) -> Result<Option<Match>, TooComplex> {
        let mut steps = references::Steps::new();
        for start in from..=text.len() {
            if start < text.len() && text[start] & 0xC0 == 0x80 {
                continue;
            }
            let mut best: Option<Match> = None;
            for pattern in &self.patterns {
                let found = references::longest(pattern, self.fold_case, text, start, &mut steps)?;
                let end = |found: &Option<Match>| found.as_ref().and_then(|it| it[0].as_ref().map(|range| range.end));
                if end(&found) > end(&best) {
                    best = found;
                }
            }
            if best.is_some() {
                return Ok(best);
            }
        }
        Ok(None)
    }
}

fn surround(pattern: &mut Pattern, around: Around) {
    let (before, after) = match around {
        Around::Anything => return,
        Around::Words => (Look::WordStartHalfUnicode, Look::WordEndHalfUnicode),
        Around::Whole => (Look::Start, Look::End),
    };
    let inner = std::mem::replace(&mut pattern.node, Node::Cat(Vec::new()));
    pattern.node = Node::Cat(vec![Node::Look(before), inner, Node::Look(after)]);
}

impl Automata {
    fn new(patterns: &[Pattern]) -> Result<Self, ExpressionError> {
        let groups = patterns.len() == 1 && patterns[0].groups > 0;
        let lowered: Option<Vec<Hir>> = patterns.iter().map(|pattern| lower::hir(&pattern.node, groups)).collect();
        let Some(lowered) = lowered else { return wrong("Regular expression too big") };
        let hir = Hir::alternation(lowered);
        let leftmost = meta::Builder::new()
            .configure(meta::Config::new().nfa_size_limit(Some(MAX_COMPILED)).utf8_empty(false))
            .build_from_hir(&hir);
        let Ok(leftmost) = leftmost else { return wrong("Regular expression too big") };
        let nfa = thompson::Compiler::new()
            .configure(
                thompson::Config::new()
                    .nfa_size_limit(Some(MAX_COMPILED))
                    .utf8(false)
                    .which_captures(thompson::WhichCaptures::None),
            )
            .build_from_hir(&hir);
        let longest = nfa.ok().and_then(|nfa| {
            let dfa = hybrid::dfa::Builder::new()
                .configure(
                    hybrid::dfa::Config::new()
                        .match_kind(MatchKind::All)
                        .skip_cache_capacity_check(true)
                        .unicode_word_boundary(true),
                )
                .build_from_nfa(nfa)
                .ok()?;
            let cache = dfa.create_cache();
            Some((dfa, RefCell::new(cache)))
        });
        let decided = patterns.iter().all(|pattern| groups::are_decided(&pattern.node));
        Ok(Self { leftmost, longest, decided })
    }

    /// Where the longest match at a place ends; `None` when the automaton cannot tell.
    fn end(&self, text: &[u8], start: usize) -> Option<usize> {
        let (dfa, cache) = self.longest.as_ref()?;
        let input = Input::new(text).range(start..).anchored(Anchored::Yes);
        let found = dfa.try_search_fwd(&mut cache.borrow_mut(), &input).ok()??;
        Some(found.offset())
    }
}
