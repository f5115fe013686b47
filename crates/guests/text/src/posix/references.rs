//! Patterns with back-references: every way to match is tried, and the longest is kept.

use super::search::{Match, TooComplex};
use super::syntax::{Node, Pattern};
use super::text::{character, contains, holds};

/// Steps that one search may take.
const MAX_STEPS: u64 = 20_000_000;
/// How deep the search may go; each round of a repeated group is some levels.
const MAX_DEPTH: usize = 1_000;

/// The steps that are left.
#[derive(Debug)]
pub(super) struct Steps {
    left: u64,
}

impl Steps {
    pub(super) fn new() -> Self {
        Self { left: MAX_STEPS }
    }
}

/// The longest match at a place; of several as long, the first that is found when repetitions are tried the longest first.
pub(super) fn longest(
    pattern: &Pattern,
    fold_case: bool,
    text: &[u8],
    start: usize,
    steps: &mut Steps,
) -> Result<Option<Match>, TooComplex> {
    let mut search = Search { text, fold_case, groups: vec![None; pattern.groups + 1], best: None, steps, depth: 0 };
    search.go(&Task::Node(&pattern.node, &Task::Done), start)?;
    let Search { best, .. } = search;
    Ok(best.map(|(end, mut groups)| {
        groups[0] = Some(start..end);
        groups
    }))
}

/// What is still to be matched.
enum Task<'p> {
    Done,
    Node(&'p Node, &'p Task<'p>),
    Rest(&'p [Node], &'p Task<'p>),
    /// More rounds of a repetition, the last of which began at a place.
    Rounds(&'p Node, u32, Option<u32>, Option<usize>, &'p Task<'p>),
    /// A group that began at a place ends.
    Close(usize, usize, &'p Task<'p>),
}

struct Search<'t> {
    text: &'t [u8],
    fold_case: bool,
    groups: Match,
    best: Option<(usize, Match)>,
    steps: &'t mut Steps,
    depth: usize,
}

impl Search<'_> {
    fn go(&mut self, task: &Task<'_>, at: usize) -> Result<(), TooComplex> {
        self.steps.left = self.steps.left.checked_sub(1).ok_or(TooComplex)?;
        if self.depth == MAX_DEPTH {
            return Err(TooComplex);
        }
        self.depth += 1;
        let done = self.step(task, at);
        self.depth -= 1;
        done
    }

    fn step(&mut self, task: &Task<'_>, at: usize) -> Result<(), TooComplex> {
        match task {
            Task::Done => {
                if self.best.as_ref().is_none_or(|(end, _)| at > *end) {
                    self.best = Some((at, self.groups.clone()));
                }
                Ok(())
            }
            Task::Rest(nodes, next) => match nodes.split_first() {
                None => self.go(next, at),
                Some((node, rest)) => self.go(&Task::Node(node, &Task::Rest(rest, next)), at),
            },
            Task::Close(index, start, next) => {
                let before = self.groups[*index].replace(*start..at);
                self.go(next, at)?;
                self.groups[*index] = before;
                Ok(())
            }
            Task::Rounds(node, least, most, began, next) => {
                let stuck = *began == Some(at) && *least == 0;
                if *most != Some(0) && !stuck {
                    let more = Task::Rounds(node, least.saturating_sub(1), most.map(|most| most - 1), Some(at), next);
                    self.go(&Task::Node(node, &more), at)?;
                }
                if *least == 0 { self.go(next, at) } else { Ok(()) }
            }
            Task::Node(node, next) => self.node(node, next, at),
        }
    }

    fn node(&mut self, node: &Node, next: &Task<'_>, at: usize) -> Result<(), TooComplex> {
        match node {
            Node::Char(wanted) => match character(self.text, at) {
                Some((c, after)) if c == *wanted => self.go(next, after),
                _ => Ok(()),
            },
            Node::Set(set) => match character(self.text, at) {
                Some((c, after)) if contains(set, c) => self.go(next, after),
                _ => Ok(()),
            },
            Node::Look(look) if holds(*look, self.text, at) => self.go(next, at),
            Node::Look(_) => Ok(()),
            Node::Group(inner, index) => self.go(&Task::Node(inner, &Task::Close(*index, at, next)), at),
            Node::Cat(nodes) => self.go(&Task::Rest(nodes, next), at),
            Node::Or(nodes) => nodes.iter().try_for_each(|node| self.go(&Task::Node(node, next), at)),
            Node::Repeat(inner, least, most) if matches!(**inner, Node::Char(_) | Node::Set(_)) => {
                self.characters(inner, (*least, *most), next, at)
            }
            Node::Repeat(inner, least, most) => self.go(&Task::Rounds(inner, *least, *most, None, next), at),
            Node::Back(index) => {
                let Some(range) = self.groups[*index].clone() else { return Ok(()) };
                match self.repeats(range, at) {
                    Some(after) => self.go(next, after),
                    None => Ok(()),
                }
            }
        }
    }

    /// As many characters as there are, then one less each time.
    fn characters(
        &mut self,
        node: &Node,
        (least, most): (u32, Option<u32>),
        next: &Task<'_>,
        at: usize,
    ) -> Result<(), TooComplex> {
        let takes = |c: char| match node {
            Node::Char(wanted) => c == *wanted,
            Node::Set(set) => contains(set, c),
            _ => false,
        };
        let mut places = vec![at];
        let mut last = at;
        while most.is_none_or(|most| places.len() <= most as usize) {
            match character(self.text, last) {
                Some((c, after)) if takes(c) => last = after,
                _ => break,
            }
            places.push(last);
        }
        places.iter().skip(least as usize).rev().try_for_each(|place| self.go(next, *place))
    }

    /// Where the text of a group ends when it stands at a place once more.
    fn repeats(&self, range: std::ops::Range<usize>, at: usize) -> Option<usize> {
        let wanted = &self.text[range];
        if !self.fold_case {
            return self.text[at..].starts_with(wanted).then(|| at + wanted.len());
        }
        let (mut here, mut there) = (at, 0);
        while there < wanted.len() {
            let ((one, after), (other, next)) = (character(self.text, here)?, character(wanted, there)?);
            if one != other && one.to_lowercase().ne(other.to_lowercase()) {
                return None;
            }
            (here, there) = (after, next);
        }
        Some(here)
    }
}
