use std::fmt;

use skillgate_core::Span;
use thiserror::Error;

/// Why a text is not a program that Skillgate runs, and where.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{kind}")]
pub struct SyntaxError {
    /// What is wrong.
    pub kind: SyntaxErrorKind,
    /// Where: bytes of the source. Inside a backquoted substitution with backslashes, the span of the substitution.
    pub span: Span,
}

/// What is wrong with a program.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum SyntaxErrorKind {
    /// The source is longer than [`ParseOptions`](crate::ParseOptions) allows.
    #[error("the program has {bytes} bytes and the limit is {limit}; move it into a script file")]
    TooLarge {
        /// Size of the source in bytes.
        bytes: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// Nesting is deeper than [`ParseOptions`](crate::ParseOptions) allows.
    #[error("nested deeper than {limit} levels; use variables or functions to flatten it")]
    TooDeep {
        /// The limit in levels.
        limit: usize,
    },
    /// The holes are not sorted, overlap, are empty, or leave the source.
    #[error("the placeholders must be sorted, apart, not empty and inside the program")]
    InvalidHoles,
    /// A character that no program may hold: NUL, or a carriage return that is not part of a line end.
    #[error("{character:?} is not allowed in a program; remove it, or write it as an escape of `printf`")]
    InvalidCharacter {
        /// The character.
        character: char,
    },
    /// Something else was expected here.
    #[error("found {found} where {expected} was expected")]
    UnexpectedToken {
        /// What is there, shortened.
        found: String,
        /// What would be accepted.
        expected: &'static str,
    },
    /// The end came before something was closed; the span is its beginning.
    #[error("this {0} is never closed")]
    Unterminated(&'static str),
    /// A construct that is shell, but not part of the language that is supported.
    #[error(
        "{0} is not supported; write it with the supported constructs, or put it into a script for another interpreter"
    )]
    Unsupported(&'static str),
    /// A placeholder where its value could be read as syntax.
    #[error("the value of placeholder {index} would be read as {place}; put it into double quotes as an argument")]
    UnsafeHole {
        /// Index into the holes given to [`parse`](crate::parse()).
        index: usize,
        /// What its value would be read as.
        place: HolePlace,
    },
    /// The number of a file descriptor is not one.
    #[error("`{0}` is not a file descriptor; use 0, 1 or 2, a file, or `-` to close")]
    InvalidFileDescriptor(String),
    /// What stands between `${` and `}` is not an expansion.
    #[error("bad substitution: {0}")]
    BadSubstitution(&'static str),
    /// An arithmetic expression does not parse.
    #[error("bad arithmetic: {0}")]
    BadArithmetic(&'static str),
}

/// What the value of a hole would be read as, where it is refused.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum HolePlace {
    /// The name of a command, or a part of it.
    Command,
    /// The name of a variable, in an assignment, a `for` or an expansion.
    Name,
    /// The name of a function.
    Function,
    /// Arithmetic, where a text is evaluated.
    Arithmetic,
    /// The operator or the descriptor of a redirection.
    Redirection,
    /// The delimiter of a here-document.
    Delimiter,
    /// The body of a here-document that is taken literally.
    QuotedHereDocument,
    /// An operator of `[[ … ]]`.
    Operator,
    /// A backquoted substitution with backslashes, where the text is unescaped first.
    Backquotes,
    /// An escape: after a backslash, or in `$'…'`.
    Escape,
}

impl fmt::Display for HolePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Command => "the name of a command",
            Self::Name => "the name of a variable",
            Self::Function => "the name of a function",
            Self::Arithmetic => "arithmetic",
            Self::Redirection => "a redirection",
            Self::Delimiter => "the delimiter of a here-document",
            Self::QuotedHereDocument => "literal text of a here-document with a quoted delimiter",
            Self::Operator => "an operator of `[[ ]]`",
            Self::Backquotes => "escaped text in backquotes",
            Self::Escape => "an escape sequence",
        })
    }
}
