//! What a program is made of, with names as they were written.

use crate::value::Value;
use std::rc::Rc;

/// An expression.
#[derive(Clone, Debug)]
pub(crate) enum Term {
    Identity,
    /// `..`.
    RecurseDefault,
    Literal(Value),
    /// A string, whose parts in `\( )` are put in by a format.
    Text(Option<Rc<str>>, Vec<TextPart>),
    /// `@name` alone.
    Format(Rc<str>),
    Index(Box<Term>, Box<Term>),
    Slice(Box<Term>, Option<Box<Term>>, Option<Box<Term>>),
    Iterate(Box<Term>),
    Array(Option<Box<Term>>),
    Object(Vec<(Term, Term)>),
    Negate(Box<Term>),
    Pipe(Box<Term>, Box<Term>),
    Comma(Box<Term>, Box<Term>),
    Binary(Operator, Box<Term>, Box<Term>),
    And(Box<Term>, Box<Term>),
    Or(Box<Term>, Box<Term>),
    Alternative(Box<Term>, Box<Term>),
    Assign(Box<Term>, Box<Term>),
    /// `|=`.
    Update(Box<Term>, Box<Term>),
    /// `+=` and its like.
    UpdateWith(Operator, Box<Term>, Box<Term>),
    UpdateAlternative(Box<Term>, Box<Term>),
    Reduce(Box<Term>, Vec<Pattern>, Box<Term>, Box<Term>),
    Foreach(Box<Term>, Vec<Pattern>, Box<Term>, Box<Term>, Option<Box<Term>>),
    If(Box<Term>, Box<Term>, Option<Box<Term>>),
    Try(Box<Term>, Option<Box<Term>>),
    Label(Rc<str>, Box<Term>),
    Break(Rc<str>, usize),
    As(Box<Term>, Vec<Pattern>, Box<Term>),
    Define(Rc<Definition>, Box<Term>),
    /// The name of a function, its arguments, and where it stands.
    Call(Rc<str>, Vec<Term>, usize),
    /// A variable and where it stands.
    Variable(Rc<str>, usize),
    /// `$__loc__`, at a place.
    Location(usize),
}

#[derive(Clone, Debug)]
pub(crate) enum TextPart {
    Text(Rc<str>),
    Program(Term),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A member of a pattern: its key, the variable that `$name` binds as well, and the pattern of its value.
pub(crate) type Member = (Term, Option<Rc<str>>, Option<Pattern>);

/// What a value is taken apart by.
#[derive(Clone, Debug)]
pub(crate) enum Pattern {
    Variable(Rc<str>),
    Array(Vec<Pattern>),
    Object(Vec<Member>),
}

/// `def`.
#[derive(Debug)]
pub(crate) struct Definition {
    pub(crate) name: Rc<str>,
    /// Names, with a dollar sign where the argument is a value.
    pub(crate) parameters: Vec<Rc<str>>,
    pub(crate) body: Term,
}
