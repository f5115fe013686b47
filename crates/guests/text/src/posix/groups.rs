//! Which part of a match each group took, as the C library decides it: of the ways to match the whole with its known bounds,
//! the first when alternatives are tried in their order and repetitions the longest first.
//!
//! For a part and a place, [`Ends::of`] gives every place where a match of the part may end, the preferred first, each computed
//! once. The way is then chosen from the outside in.

use super::search::{Match, TooComplex};
use super::syntax::Node;
use super::text::{character, contains, holds};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

/// Places that may be computed for one match.
const MAX_PLACES: usize = 4 << 20;

/// Whether a matcher that takes the first way to match finds the same groups when its bounds are right: only where a repetition
/// may have an empty round do the rules differ.
pub(super) fn are_decided(node: &Node) -> bool {
    match node {
        Node::Char(_) | Node::Set(_) | Node::Look(_) => true,
        Node::Group(inner, _) => are_decided(inner),
        Node::Cat(nodes) | Node::Or(nodes) => nodes.iter().all(are_decided),
        Node::Back(_) => false,
        Node::Repeat(inner, ..) => !may_be_empty(inner) && are_decided(inner),
    }
}

fn may_be_empty(node: &Node) -> bool {
    match node {
        Node::Char(_) | Node::Set(_) => false,
        Node::Look(_) | Node::Back(_) => true,
        Node::Group(inner, _) => may_be_empty(inner),
        Node::Cat(nodes) => nodes.iter().all(may_be_empty),
        Node::Or(nodes) => nodes.iter().any(may_be_empty),
        Node::Repeat(inner, least, _) => *least == 0 || may_be_empty(inner),
    }
}

/// Where the longest match at a place ends.
pub(super) fn end(node: &Node, text: &[u8], start: usize) -> Result<Option<usize>, TooComplex> {
    let mut ends = Ends::new(text, text.len());
    Ok(ends.of(node, start)?.iter().copied().max())
}

/// The groups of a match whose bounds are known.
pub(super) fn captures(node: &Node, count: usize, text: &[u8], whole: Range<usize>) -> Result<Match, TooComplex> {
    let mut found: Match = vec![None; count + 1];
    found[0] = Some(whole.clone());
    let mut ends = Ends::new(text, whole.end);
    ends.assign(node, whole.start, whole.end, &mut found)?;
    Ok(found)
}

/// The places where a part that begins at a place may end, the preferred first.
type Places = Rc<[usize]>;

/// How many rounds of a repetition are over, as far as it matters, and where the next begins.
type Round = (u32, usize);

struct Ends<'t> {
    text: &'t [u8],
    limit: usize,
    known: HashMap<(*const Node, usize), Places>,
    computed: usize,
}

impl<'t> Ends<'t> {
    fn new(text: &'t [u8], limit: usize) -> Self {
        Self { text, limit, known: HashMap::new(), computed: 0 }
    }

    fn of(&mut self, node: &Node, at: usize) -> Result<Places, TooComplex> {
        let key = (std::ptr::from_ref(node), at);
        if let Some(known) = self.known.get(&key) {
            return Ok(Rc::clone(known));
        }
        let places = match node {
            Node::Char(_) | Node::Set(_) => self.step(node, at).into_iter().collect(),
            Node::Look(look) => {
                if holds(*look, self.text, at) {
                    vec![at]
                } else {
                    Vec::new()
                }
            }
            Node::Group(inner, _) => return self.of(inner, at),
            Node::Cat(nodes) => {
                let mut places = vec![at];
                for node in nodes {
                    places = self.after(node, &places)?;
                }
                places
            }
            Node::Or(nodes) => {
                let mut places = Vec::new();
                for node in nodes {
                    places.extend_from_slice(&self.of(node, at)?);
                }
                first_of_each(places)
            }
            Node::Repeat(inner, 0, None) if matches!(**inner, Node::Char(_) | Node::Set(_)) => {
                let mut places: Vec<usize> = std::iter::successors(Some(at), |at| self.step(inner, *at)).collect();
                places.reverse();
                places
            }
            Node::Repeat(inner, least, most) => {
                let rounds = self.rounds(inner, at, (*least, *most))?;
                first_of_each(rounds.into_iter().filter(|(done, _)| done >= least).map(|(_, at)| at).collect())
            }
            // Patterns with references have a matcher of their own.
            Node::Back(_) => Vec::new(),
        };
        self.computed += places.len() + 1;
        if self.computed > MAX_PLACES {
            return Err(TooComplex);
        }
        let places: Places = places.into();
        self.known.insert(key, Rc::clone(&places));
        Ok(places)
    }

    /// The place after one character.
    fn step(&self, node: &Node, at: usize) -> Option<usize> {
        let (c, after) = character(self.text, at)?;
        let takes = match node {
            Node::Char(wanted) => c == *wanted,
            Node::Set(set) => contains(set, c),
            _ => false,
        };
        (takes && after <= self.limit).then_some(after)
    }

    /// The places after a part that begins at any of some places.
    fn after(&mut self, node: &Node, places: &[usize]) -> Result<Vec<usize>, TooComplex> {
        let mut next = Vec::new();
        for place in places {
            next.extend_from_slice(&self.of(node, *place)?);
        }
        Ok(first_of_each(next))
    }

    /// Where a round of a repetition can lead: to the next, without going round in a circle.
    fn next_rounds(
        &mut self,
        inner: &Node,
        (done, at): Round,
        (least, most): (u32, Option<u32>),
    ) -> Result<Vec<Round>, TooComplex> {
        if most == Some(done) {
            return Ok(Vec::new());
        }
        // Beyond the rounds that must be and without a limit, all are alike.
        let after = if most.is_none() { (done + 1).min(least) } else { done + 1 };
        let ends = self.of(inner, at)?;
        Ok(ends.iter().filter(|end| **end > at || done < least).map(|end| (after, *end)).collect())
    }

    /// Every state of a repetition, those it leads to before it, the preferred first.
    fn rounds(&mut self, inner: &Node, at: usize, times: (u32, Option<u32>)) -> Result<Vec<Round>, TooComplex> {
        let mut order = Vec::new();
        let mut seen = HashSet::from([(0, at)]);
        let mut stack = vec![((0, at), self.next_rounds(inner, (0, at), times)?.into_iter())];
        while let Some((round, next)) = stack.last_mut() {
            let Some(child) = next.next() else {
                order.push(*round);
                stack.pop();
                continue;
            };
            if seen.insert(child) {
                let next = self.next_rounds(inner, child, times)?.into_iter();
                self.computed += 1;
                if self.computed > MAX_PLACES {
                    return Err(TooComplex);
                }
                stack.push((child, next));
            }
        }
        Ok(order)
    }

    /// Finds the groups in a part that matches from one place to another.
    fn assign(&mut self, node: &Node, from: usize, to: usize, found: &mut Match) -> Result<(), TooComplex> {
        match node {
            Node::Char(_) | Node::Set(_) | Node::Look(_) | Node::Back(_) => Ok(()),
            Node::Group(inner, index) => {
                found[*index] = Some(from..to);
                self.assign(inner, from, to, found)
            }
            Node::Or(nodes) => {
                for node in nodes {
                    if self.of(node, from)?.contains(&to) {
                        return self.assign(node, from, to, found);
                    }
                }
                Ok(())
            }
            Node::Cat(nodes) => self.sequence(nodes, from, to, found),
            Node::Repeat(inner, least, most) => self.repetition(inner, (*least, *most), from, to, found),
        }
    }

    /// Parts one after the other.
    fn sequence(&mut self, nodes: &[Node], from: usize, to: usize, found: &mut Match) -> Result<(), TooComplex> {
        let mut reached = vec![vec![from]];
        for node in nodes {
            let places = self.after(node, &reached[reached.len() - 1])?;
            reached.push(places);
        }
        // From the end on: the places from which the rest can be matched.
        let mut good = vec![HashSet::from([to])];
        for (node, places) in nodes.iter().zip(&reached).rev() {
            let mut kept = HashSet::new();
            for place in places {
                let ends = self.of(node, *place)?;
                if ends.iter().any(|end| good.last().is_some_and(|good| good.contains(end))) {
                    kept.insert(*place);
                }
            }
            good.push(kept);
        }
        good.reverse();
        let mut at = from;
        for (node, good) in nodes.iter().zip(&good[1..]) {
            let ends = self.of(node, at)?;
            let Some(end) = ends.iter().find(|end| good.contains(end)).copied() else { return Ok(()) };
            self.assign(node, at, end, found)?;
            at = end;
        }
        Ok(())
    }

    /// The rounds of a repetition, none of them empty that need not be.
    fn repetition(
        &mut self,
        inner: &Node,
        times: (u32, Option<u32>),
        from: usize,
        to: usize,
        found: &mut Match,
    ) -> Result<(), TooComplex> {
        if from == to {
            // The one empty round that a group can tell of.
            if times.1 != Some(0) && self.of(inner, from)?.contains(&to) {
                return self.assign(inner, from, to, found);
            }
            return Ok(());
        }
        let mut good = HashSet::new();
        for round in self.rounds(inner, from, times)? {
            let ends_here = round.1 == to && round.0 >= times.0;
            if ends_here || self.next_rounds(inner, round, times)?.iter().any(|next| good.contains(next)) {
                good.insert(round);
            }
        }
        let mut round = (0, from);
        while round.1 != to {
            let next = self.next_rounds(inner, round, times)?;
            let Some(next) = next.into_iter().find(|next| good.contains(next)) else { return Ok(()) };
            self.assign(inner, round.1, next.1, found)?;
            round = next;
        }
        Ok(())
    }
}

/// The places without those that came before.
fn first_of_each(places: Vec<usize>) -> Vec<usize> {
    if places.len() < 2 {
        return places;
    }
    let mut seen = HashSet::new();
    places.into_iter().filter(|place| seen.insert(*place)).collect()
}

#[cfg(test)]
mod tests {
    use crate::posix::{Dialect, Expression};

    #[test]
    fn groups_are_the_first_way_to_the_longest_match() {
        let dialect = Dialect {
            fixed: false,
            extended: true,
            fold_case: false,
            newline_is_ordinary: true,
            multi_line: false,
            strict: true,
        };
        for (pattern, text, expected) in [
            ("(a|ab)(c|bcd)(d*)", "abcd", vec![Some(0..4), Some(0..1), Some(1..4), Some(4..4)]),
            ("(a|ab)(bc|c)?", "abc", vec![Some(0..3), Some(0..1), Some(1..3)]),
            ("(a*)*", "aab", vec![Some(0..2), Some(0..2)]),
            ("(a*)*", "b", vec![Some(0..0), Some(0..0)]),
            ("(a*)(ab)*(b*)", "abb", vec![Some(0..3), Some(0..1), None, Some(1..3)]),
            ("(a?)(ab)?", "ab", vec![Some(0..2), Some(0..0), Some(0..2)]),
            ("(a|b)*", "abc", vec![Some(0..2), Some(1..2)]),
            ("x(y)?z", "xz", vec![Some(0..2), None]),
            (r"(.)(.)\2\1", "xabbay", vec![Some(1..5), Some(1..2), Some(2..3)]),
        ] {
            let found = Expression::new(pattern, dialect).expect(pattern).captures(text.as_bytes(), 0);
            assert_eq!(found, Ok(Some(expected)), "{pattern} on {text}");
        }
    }
}
