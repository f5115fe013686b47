//! What a script is made of.

use crate::posix::Expression;
use std::rc::Rc;

/// Commands in order; blocks and branches are jumps to an index.
#[derive(Debug, Default)]
pub(super) struct Script {
    pub(super) commands: Vec<Command>,
    /// The files that `w` names, each opened once before anything runs.
    pub(super) written: Vec<String>,
    /// `#n` on the first line.
    pub(super) quiet: bool,
}

/// One command with its addresses.
#[derive(Debug)]
pub(super) struct Command {
    pub(super) first: Option<Address>,
    pub(super) last: Option<Last>,
    pub(super) negated: bool,
    pub(super) action: Action,
}

#[derive(Clone, Debug)]
pub(super) enum Address {
    Line(u64),
    /// `first~step`.
    Step(u64, u64),
    LastLine,
    Matches(Regex),
}

/// The second address of a range.
#[derive(Clone, Debug)]
pub(super) enum Last {
    Address(Address),
    /// `+N`.
    More(u64),
    /// `~N`.
    Multiple(u64),
}

/// A regular expression, or the last one that was used.
#[derive(Clone, Debug)]
pub(super) enum Regex {
    Given(Rc<Expression>),
    Last,
}

#[derive(Debug)]
pub(super) enum Action {
    /// `{`: where to go on when the addresses do not select the line.
    Block(usize),
    /// A label, a comment or a `}`.
    Nothing,
    Append(Vec<u8>),
    Insert(Vec<u8>),
    Change(Vec<u8>),
    /// `b`, `t`, `T`.
    Branch(When, usize),
    Delete,
    DeleteLine,
    /// `q` and `Q`.
    Quit {
        print: bool,
        status: i32,
    },
    Show(Option<usize>),
    Number,
    FileName,
    Get,
    GetAppend,
    Hold,
    HoldAppend,
    Exchange,
    Next,
    NextAppend,
    Print,
    PrintLine,
    Zap,
    ReadFile(String),
    ReadLine(String),
    Write(usize),
    WriteLine(usize),
    Substitute(Box<Substitution>),
    /// `y`: pairs of characters.
    Translate(Vec<(char, char)>),
}

/// When a branch is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum When {
    Always,
    Replaced,
    NotReplaced,
}

#[derive(Debug)]
pub(super) struct Substitution {
    pub(super) regex: Regex,
    pub(super) replacement: Vec<Piece>,
    pub(super) global: bool,
    pub(super) print: bool,
    /// The first match that is replaced, counted from one.
    pub(super) from: u64,
    pub(super) written: Option<usize>,
}

/// A piece of a replacement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Piece {
    Text(Vec<u8>),
    /// A group, 0 for the whole match.
    Group(usize),
    Case(Case),
}

/// `\U`, `\L`, `\E`, and for one character `\u`, `\l`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Case {
    Upper,
    Lower,
    AsIs,
    UpperNext,
    LowerNext,
}
