//! The matcher: it goes on as long as it can, and else back to the last place where there was a choice.

use super::class::{is_word, same_folded};
use super::compile::{Op, Program};
use super::parse::Assertion;
use std::ops::Range;

/// Steps that one search may take.
const MAX_STEPS: u64 = 20_000_000;
/// Assertions inside each other.
const MAX_DEPTH: usize = 100;

/// Looking for a match took too many steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TooComplex;

/// A match: the whole and the groups, which may have taken part or not.
pub(crate) type Found = Vec<Option<Range<usize>>>;

/// Where to go back to.
enum Choice {
    Try(usize, usize),
    /// A slot gets back what it held.
    Restore(usize, Option<usize>),
}

impl Program {
    /// The first match that begins at a place or after it.
    pub(crate) fn find(&self, text: &[char], from: usize) -> Result<Option<Found>, TooComplex> {
        let mut run = Run { ops: &self.ops, text, from, steps: 0, slots: vec![None; self.slots] };
        for start in from..=text.len() {
            run.slots.fill(None);
            if let Some(end) = run.run(0, start, 0)? {
                let group = |index: usize| Some(run.slots[2 * index]?..run.slots[2 * index + 1]?);
                let groups = (1..=self.names.len()).map(group);
                return Ok(Some(std::iter::once(Some(start..end)).chain(groups).collect()));
            }
        }
        Ok(None)
    }
}

struct Run<'r> {
    ops: &'r [Op],
    text: &'r [char],
    from: usize,
    steps: u64,
    slots: Vec<Option<usize>>,
}

impl Run<'_> {
    /// Runs from a step and a place up to a `Match`; gives the place there.
    fn run(&mut self, step: usize, place: usize, depth: usize) -> Result<Option<usize>, TooComplex> {
        if depth > MAX_DEPTH {
            return Err(TooComplex);
        }
        let mut choices = vec![Choice::Try(step, place)];
        while let Some(choice) = choices.pop() {
            let (mut step, mut at) = match choice {
                Choice::Try(step, at) => (step, at),
                Choice::Restore(slot, before) => {
                    self.slots[slot] = before;
                    continue;
                }
            };
            loop {
                self.steps += 1;
                if self.steps > MAX_STEPS {
                    return Err(TooComplex);
                }
                let here = self.text.get(at).copied();
                let next = match &self.ops[step] {
                    Op::Match => return Ok(Some(at)),
                    Op::Char(wanted, fold) => {
                        let is = |c: char| c == *wanted || (*fold && same_folded(c, *wanted));
                        here.filter(|c| is(*c)).map(|_| (step + 1, at + 1))
                    }
                    Op::Set(class, fold) => {
                        let is = |c: char| if *fold { class.contains_folded(c) } else { class.contains(c) };
                        here.filter(|c| is(*c)).map(|_| (step + 1, at + 1))
                    }
                    Op::Any { newline } => here.filter(|c| *newline || *c != '\n').map(|_| (step + 1, at + 1)),
                    Op::Assert(assertion) => self.holds(*assertion, at).then_some((step + 1, at)),
                    Op::Split(first, second) => {
                        choices.push(Choice::Try(*second, at));
                        Some((*first, at))
                    }
                    Op::Jump(to) => Some((*to, at)),
                    Op::Save(slot) => {
                        choices.push(Choice::Restore(*slot, self.slots[*slot]));
                        self.slots[*slot] = Some(at);
                        Some((step + 1, at))
                    }
                    Op::Moved(slot) => Some((if self.slots[*slot] == Some(at) { step + 2 } else { step + 1 }, at)),
                    Op::Back(group, fold) => self.repeats(*group, *fold, at).map(|after| (step + 1, after)),
                    Op::Atomic(end) => {
                        let before = self.slots.clone();
                        let end = *end;
                        let after = self.run(step + 1, at, depth + 1)?;
                        self.keep(before, &mut choices, after.is_some());
                        after.map(|after| (end, after))
                    }
                    Op::Look { behind, negated, end } => {
                        let (behind, negated, end) = (*behind, *negated, *end);
                        let before = self.slots.clone();
                        let found = if behind {
                            self.behind(step + 1, at, depth + 1)?
                        } else {
                            self.run(step + 1, at, depth + 1)?.is_some()
                        };
                        self.keep(before, &mut choices, found && !negated);
                        (found != negated).then_some((end, at))
                    }
                };
                match next {
                    Some(next) => (step, at) = next,
                    None => break,
                }
            }
        }
        Ok(None)
    }

    /// After a part that is not gone back into: its groups stay, but are given back when what is before it is tried anew.
    fn keep(&mut self, before: Vec<Option<usize>>, choices: &mut Vec<Choice>, stays: bool) {
        if !stays {
            self.slots = before;
            return;
        }
        for (slot, old) in before.into_iter().enumerate() {
            if self.slots[slot] != old {
                choices.push(Choice::Restore(slot, old));
            }
        }
    }

    /// Whether a part matches up to a place.
    fn behind(&mut self, step: usize, at: usize, depth: usize) -> Result<bool, TooComplex> {
        for start in (0..=at).rev() {
            let whole = self.text;
            self.text = &whole[..at];
            let end = self.run(step, start, depth);
            self.text = whole;
            if end? == Some(at) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn holds(&self, assertion: Assertion, at: usize) -> bool {
        let end = self.text.len();
        let word = || is_word(at.checked_sub(1).and_then(|at| self.text.get(at))) != is_word(self.text.get(at));
        match assertion {
            Assertion::Start => at == 0,
            Assertion::End => at == end,
            Assertion::SoftEnd => at == end || (at + 1 == end && self.text[at] == '\n'),
            Assertion::LineStart => at == 0 || (self.text[at - 1] == '\n' && at < end),
            Assertion::LineEnd => at == end || self.text[at] == '\n',
            Assertion::Word => word(),
            Assertion::NotWord => !word(),
            Assertion::SearchStart => at == self.from,
        }
    }

    /// Where the text of a group ends when it stands at a place once more.
    fn repeats(&self, group: usize, fold: bool, at: usize) -> Option<usize> {
        let wanted = &self.text[self.slots[2 * group]?..self.slots[2 * group + 1]?];
        let here = self.text.get(at..at + wanted.len())?;
        let same = |(one, other): (&char, &char)| one == other || (fold && same_folded(*one, *other));
        here.iter().zip(wanted).all(same).then_some(at + wanted.len())
    }
}
