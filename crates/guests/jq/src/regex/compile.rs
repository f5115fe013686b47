//! Patterns as programs for the matcher.

use super::Refusal;
use super::class::Class;
use super::parse::{Assertion, Kind, Names, Node};

/// A step of the matcher.
#[derive(Clone, Debug)]
pub(super) enum Op {
    Char(char, bool),
    Set(Class, bool),
    Any {
        newline: bool,
    },
    Assert(Assertion),
    /// The first place is tried before the second.
    Split(usize, usize),
    Jump(usize),
    /// Notes the place in a slot.
    Save(usize),
    /// Skips the jump back that follows when the place is the one that a slot holds.
    Moved(usize),
    Back(usize, bool),
    /// What follows up to the `Match` before the place must match here, without going back into it.
    Atomic(usize),
    Look {
        behind: bool,
        negated: bool,
        end: usize,
    },
    Match,
}

/// A compiled pattern.
#[derive(Debug)]
pub(crate) struct Program {
    pub(super) ops: Vec<Op>,
    /// The names of the groups.
    pub(crate) names: Names,
    /// Slots: two for each group, and one for each repetition that may go round in a circle.
    pub(super) slots: usize,
}

/// Steps that a pattern may have.
const MAX_OPS: usize = 200_000;

pub(super) fn program(node: &Node, names: Names) -> Result<Program, Refusal> {
    let slots = 2 * (names.len() + 1);
    let mut compiler = Compiler { ops: Vec::new(), slots };
    compiler.node(node)?;
    compiler.push(Op::Match)?;
    Ok(Program { ops: compiler.ops, names, slots: compiler.slots })
}

struct Compiler {
    ops: Vec<Op>,
    slots: usize,
}

impl Compiler {
    fn push(&mut self, op: Op) -> Result<usize, Refusal> {
        if self.ops.len() >= MAX_OPS {
            return Err(Refusal::Unsupported("so large a pattern".to_owned()));
        }
        self.ops.push(op);
        Ok(self.ops.len() - 1)
    }

    fn node(&mut self, node: &Node) -> Result<(), Refusal> {
        match node {
            Node::Char(c, fold) => drop(self.push(Op::Char(*c, *fold))?),
            Node::Set(class, fold) => drop(self.push(Op::Set(class.clone(), *fold))?),
            Node::Any { newline } => drop(self.push(Op::Any { newline: *newline })?),
            Node::Assert(assertion) => drop(self.push(Op::Assert(*assertion))?),
            Node::Back(group, fold) => drop(self.push(Op::Back(*group, *fold))?),
            Node::Cat(nodes) => nodes.iter().try_for_each(|node| self.node(node))?,
            Node::Group(inner, index) => {
                self.push(Op::Save(2 * index))?;
                self.node(inner)?;
                self.push(Op::Save(2 * index + 1))?;
            }
            Node::Or(nodes) => {
                let mut jumps = Vec::new();
                for (at, node) in nodes.iter().enumerate() {
                    if at + 1 == nodes.len() {
                        self.node(node)?;
                        continue;
                    }
                    let split = self.push(Op::Split(0, 0))?;
                    self.node(node)?;
                    jumps.push(self.push(Op::Jump(0))?);
                    self.ops[split] = Op::Split(split + 1, self.ops.len());
                }
                let end = self.ops.len();
                jumps.into_iter().for_each(|jump| self.ops[jump] = Op::Jump(end));
            }
            Node::Atomic(inner) => self.atomic(inner)?,
            Node::Look { node, behind, negated } => {
                let look = self.push(Op::Match)?;
                self.node(node)?;
                self.push(Op::Match)?;
                self.ops[look] = Op::Look { behind: *behind, negated: *negated, end: self.ops.len() };
            }
            Node::Repeat { node, least, most, kind: Kind::Possessive } => {
                let greedy = Node::Repeat { node: node.clone(), least: *least, most: *most, kind: Kind::Greedy };
                self.atomic(&greedy)?;
            }
            Node::Repeat { node, least, most, kind } => self.repeat(node, *least, *most, *kind == Kind::Lazy)?,
        }
        Ok(())
    }

    fn atomic(&mut self, inner: &Node) -> Result<(), Refusal> {
        let atomic = self.push(Op::Match)?;
        self.node(inner)?;
        self.push(Op::Match)?;
        self.ops[atomic] = Op::Atomic(self.ops.len());
        Ok(())
    }

    fn split(&mut self, at: usize, body: usize, after: usize, lazy: bool) {
        self.ops[at] = if lazy { Op::Split(after, body) } else { Op::Split(body, after) };
    }

    fn repeat(&mut self, node: &Node, least: u32, most: Option<u32>, lazy: bool) -> Result<(), Refusal> {
        (0..least).try_for_each(|_| self.node(node))?;
        let Some(most) = most else {
            let slot = self.slots;
            self.slots += 1;
            let split = self.push(Op::Split(0, 0))?;
            self.push(Op::Save(slot))?;
            self.node(node)?;
            // A round that took nothing is the last.
            self.push(Op::Moved(slot))?;
            self.push(Op::Jump(split))?;
            let after = self.ops.len();
            self.split(split, split + 1, after, lazy);
            return Ok(());
        };
        let mut splits = Vec::new();
        for _ in least..most {
            splits.push(self.push(Op::Split(0, 0))?);
            self.node(node)?;
        }
        let after = self.ops.len();
        splits.into_iter().for_each(|split| self.split(split, split + 1, after, lazy));
        Ok(())
    }
}
