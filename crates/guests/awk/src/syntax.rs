//! The tree of a program.

use crate::regex::Matcher;
use crate::value::Text;
use std::rc::Rc;

/// A program, its names resolved.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) begin: Vec<Statement>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) end: Vec<Statement>,
    pub(crate) has_end: bool,
    pub(crate) functions: Vec<Function>,
    /// The names of the global variables, those of the language first.
    pub(crate) globals: Vec<String>,
}

/// A pattern with its action.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) pattern: Pattern,
    /// `None` prints the record.
    pub(crate) action: Option<Vec<Statement>>,
}

#[derive(Debug)]
pub(crate) enum Pattern {
    Every,
    When(Expression),
    /// From one record to another.
    Range(Expression, Expression),
}

/// A function of the program.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: String,
    /// Whether each parameter is an array.
    pub(crate) arrays: Vec<bool>,
    pub(crate) body: Vec<Statement>,
}

/// A variable by its place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Variable {
    Global(usize),
    Local(usize),
}

#[derive(Debug)]
pub(crate) enum Statement {
    Expression(Expression),
    /// Values, where they go, and `printf`'s format first when there is one.
    Print {
        values: Vec<Expression>,
        formatted: bool,
        target: Option<(Redirect, Expression)>,
    },
    If(Expression, Vec<Statement>, Vec<Statement>),
    While(Expression, Vec<Statement>),
    DoWhile(Vec<Statement>, Expression),
    For {
        first: Option<Expression>,
        condition: Option<Expression>,
        step: Option<Expression>,
        body: Vec<Statement>,
    },
    ForIn(Variable, Variable, Vec<Statement>),
    Delete(Variable, Option<Vec<Expression>>),
    Next,
    NextFile,
    Exit(Option<Expression>),
    Return(Option<Expression>),
    Break,
    Continue,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Redirect {
    Write,
    Append,
}

#[derive(Debug)]
pub(crate) enum Expression {
    Number(f64),
    Text(Text),
    /// A regular expression alone: whether the record matches.
    Matches(Rc<Matcher>),
    Place(Box<Place>),
    /// In parentheses: no place to assign to.
    Group(Box<Expression>),
    Assign(Box<Place>, Option<Arithmetic>, Box<Expression>),
    /// By how much; whether the value is that before.
    Step(Box<Place>, f64, bool),
    Condition(Box<[Expression; 3]>),
    And(Box<[Expression; 2]>),
    Or(Box<[Expression; 2]>),
    Not(Box<Expression>),
    Negative(Box<Expression>),
    Positive(Box<Expression>),
    Arithmetic(Arithmetic, Box<[Expression; 2]>),
    Concatenate(Box<[Expression; 2]>),
    Compare(Comparison, Box<[Expression; 2]>),
    /// Whether it does match, as far as wanted.
    Match(bool, Box<Expression>, Regex),
    Contains(Variable, Vec<Expression>),
    Call(usize, Vec<Expression>),
    Builtin(Builtin, Vec<Expression>),
    Split(Box<Expression>, Variable, Option<Regex>),
    /// For all; the expression, the replacement, and where.
    Substitute(bool, Regex, Box<Expression>, Option<Box<Place>>),
    Find(Box<Expression>, Regex),
    LengthOf(Variable),
    Getline(Option<Box<Place>>, Option<Box<Expression>>),
}

/// What can be assigned to.
#[derive(Debug)]
pub(crate) enum Place {
    Variable(Variable),
    Element(Variable, Vec<Expression>),
    Field(Expression),
}

/// A regular expression that is known, or that a value gives.
#[derive(Debug)]
pub(crate) enum Regex {
    Known(Rc<Matcher>),
    Value(Box<Expression>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Comparison {
    Less,
    LessOrEqual,
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Builtin {
    Atan2,
    Close,
    Cos,
    Exp,
    Flush,
    Index,
    Int,
    Length,
    Log,
    Mktime,
    Rand,
    Sin,
    Sprintf,
    Sqrt,
    Srand,
    Strftime,
    Substr,
    Systime,
    ToLower,
    ToUpper,
}

/// The variables of the language, by their places among the globals.
pub(crate) mod special {
    pub(crate) const NF: usize = 0;
    pub(crate) const NR: usize = 1;
    pub(crate) const FNR: usize = 2;
    pub(crate) const FS: usize = 3;
    pub(crate) const OFS: usize = 4;
    pub(crate) const ORS: usize = 5;
    pub(crate) const RS: usize = 6;
    pub(crate) const FILENAME: usize = 7;
    pub(crate) const SUBSEP: usize = 8;
    pub(crate) const RSTART: usize = 9;
    pub(crate) const RLENGTH: usize = 10;
    pub(crate) const CONVFMT: usize = 11;
    pub(crate) const OFMT: usize = 12;
    pub(crate) const ENVIRON: usize = 13;
    pub(crate) const ARGV: usize = 14;
    pub(crate) const ARGC: usize = 15;

    /// Their names, in order.
    pub(crate) const NAMES: [&str; 16] = [
        "NF", "NR", "FNR", "FS", "OFS", "ORS", "RS", "FILENAME", "SUBSEP", "RSTART", "RLENGTH", "CONVFMT", "OFMT",
        "ENVIRON", "ARGV", "ARGC",
    ];
}
