//! What a machine runs: names are resolved to places in its environment.

use crate::ast::Operator;
use crate::builtins::Native;
use crate::value::Value;
use std::rc::Rc;

/// A step of a program.
#[derive(Debug)]
pub(crate) enum Ir {
    Identity,
    Literal(Value),
    /// A variable: how many entries of the environment lie over it, and which of the variables bound together it is.
    Variable(usize, usize),
    Index(Box<Ir>, Box<Ir>),
    Slice(Box<Ir>, Box<Ir>, Box<Ir>),
    Iterate(Box<Ir>),
    Collect(Box<Ir>),
    Object(Vec<(Ir, Ir)>),
    Pipe(Box<Ir>, Box<Ir>),
    Comma(Box<Ir>, Box<Ir>),
    Binary(Operator, Box<Ir>, Box<Ir>),
    And(Box<Ir>, Box<Ir>),
    Or(Box<Ir>, Box<Ir>),
    Alternative(Box<Ir>, Box<Ir>),
    /// `|=`.
    Modify(Box<Ir>, Box<Ir>),
    Reduce(Box<Fold>),
    Foreach(Box<Fold>, Option<Box<Ir>>),
    If(Box<Ir>, Box<Ir>, Box<Ir>),
    Try(Box<Ir>, Option<Box<Ir>>),
    Label(Box<Ir>),
    Break(usize),
    Bind(Box<Ir>, Patterns, Box<Ir>),
    Define(Rc<Function>, Box<Ir>),
    /// A function of the environment.
    Call(usize, Vec<Ir>),
    /// A function of the prelude, by its number.
    CallGlobal(usize, Vec<Ir>),
    /// An argument that is a program.
    CallArgument(usize),
    Native(&'static Native, Vec<Ir>),
    Format(Rc<str>, Box<Ir>),
    Path(Box<Ir>),
    GetPath(Box<Ir>),
    Limit(Box<Ir>, Box<Ir>),
    Range(Box<Ir>, Box<Ir>),
    Inputs,
    Empty,
}

/// `reduce` and `foreach`.
#[derive(Debug)]
pub(crate) struct Fold {
    pub(crate) source: Ir,
    pub(crate) patterns: Patterns,
    pub(crate) init: Ir,
    pub(crate) update: Ir,
}

/// Patterns of which the first that fits is taken.
#[derive(Debug)]
pub(crate) struct Patterns {
    pub(crate) patterns: Vec<Pattern>,
    /// The variables of all of them.
    pub(crate) variables: usize,
}

#[derive(Debug)]
pub(crate) enum Pattern {
    Variable(usize),
    Array(Vec<Pattern>),
    Object(Vec<(Ir, Option<usize>, Option<Pattern>)>),
}

#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) body: Ir,
}
