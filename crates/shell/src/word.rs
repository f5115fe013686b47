use skillgate_core::Span;

use crate::arithmetic::ArithmeticExpr;
use crate::ast::List;
use crate::braces;

/// One word before expansion.
///
/// A word with no parts is what an empty operand, an empty assignment or an empty brace alternative leaves: it gives no
/// field. `''` and `""` have a part, and give one empty field.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Word {
    /// The parts in order.
    pub parts: Vec<WordPart>,
    /// The whole word.
    pub span: Span,
}

/// A part of a word. The parts keep what was quoted, so that the evaluator knows which characters are pattern characters.
#[derive(Clone, PartialEq, Debug)]
pub enum WordPart {
    /// Text that is not quoted; glob and brace characters in it are active. The span covers exactly this text, except
    /// inside a backquoted substitution with backslashes.
    Literal {
        /// The text as written.
        text: String,
        /// Where it stands.
        span: Span,
    },
    /// Quoted text, after quote removal: `'…'`, `\x`, `$'…'`, and the text between double quotes or in a here-document.
    Quoted {
        /// The text that it stands for.
        text: String,
        /// Where it stands, with the quoting characters.
        span: Span,
    },
    /// `"…"`. Every part in it is quoted: no field splitting, no globbing; `"$@"` gives one field each.
    DoubleQuoted {
        /// [`WordPart::Quoted`] and expansions; empty for `""`.
        parts: Vec<WordPart>,
        /// With the quotes.
        span: Span,
    },
    /// `$x`, `${x…}`.
    Parameter(Box<Parameter>),
    /// `$(…)` or backquotes. When the backquoted text has backslashes to remove, every span inside is that of the
    /// whole substitution.
    Substitution {
        /// The commands.
        list: List,
        /// With the delimiters.
        span: Span,
    },
    /// `$((…))`.
    Arithmetic {
        /// The expression.
        expr: ArithmeticExpr,
        /// With the delimiters.
        span: Span,
    },
    /// A tilde prefix where the shell expands one: `~` or `~user`, without the slash.
    Tilde {
        /// The login name; `None` for `~`.
        user: Option<String>,
        /// The prefix.
        span: Span,
    },
    /// An argument placeholder; its value is data.
    Hole {
        /// Index into the holes given to [`parse`](crate::parse()).
        index: usize,
        /// True: the value is exactly one piece of text, never split and never a pattern. False (only as part of an
        /// argument, a `for` word, or the operand of an unquoted `${x:-…}`): as many literal words as its kind says.
        quoted: bool,
        /// The placeholder in the source.
        span: Span,
    },
}

/// A parameter expansion.
#[derive(Clone, PartialEq, Debug)]
pub struct Parameter {
    /// What is expanded.
    pub name: ParameterName,
    /// What is done with its value.
    pub operation: ParameterOperation,
    /// From the `$` on.
    pub span: Span,
}

/// The name of a parameter.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum ParameterName {
    /// A variable.
    Variable(String),
    /// `$0`, `$1`, `${10}`.
    Positional(u32),
    /// `$@` and its like.
    Special(Special),
}

/// The special parameters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Special {
    /// `$?`: the last exit status.
    Status,
    /// `$#`: the number of positional parameters.
    Count,
    /// `$@`: the positional parameters.
    At,
    /// `$*`: the positional parameters, joined when quoted.
    Star,
    /// `$!`: the last background process.
    Background,
    /// `$$`: the shell's process number.
    Process,
    /// `$-`: the option letters.
    Options,
}

impl Special {
    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        Some(match byte {
            b'?' => Self::Status,
            b'#' => Self::Count,
            b'@' => Self::At,
            b'*' => Self::Star,
            b'!' => Self::Background,
            b'$' => Self::Process,
            b'-' => Self::Options,
            _ => return None,
        })
    }
}

/// What a parameter expansion does with the value. Operand words keep white space as written.
#[derive(Clone, PartialEq, Debug)]
pub enum ParameterOperation {
    /// `$x`, `${x}`.
    Value,
    /// `${#x}`.
    Length,
    /// `${x:-w}`, `${x-w}`, `${x:=w}`, `${x:?w}`, `${x:+w}` and so on.
    Unset {
        /// Which of the four.
        rule: UnsetRule,
        /// True with the colon: an empty value counts as unset.
        or_empty: bool,
        /// The operand. Between double quotes its text is [`WordPart::Quoted`].
        word: Word,
    },
    /// `${x#p}`, `${x##p}`, `${x%p}`, `${x%%p}`.
    Remove {
        /// Which end.
        side: RemoveSide,
        /// True for the doubled operator.
        longest: bool,
        /// The pattern; its quoting counts also between double quotes.
        pattern: Word,
    },
    /// `${x/p/r}`, `${x//p/r}`, `${x/#p/r}`, `${x/%p/r}`.
    Replace {
        /// Which matches.
        scope: ReplaceScope,
        /// The pattern.
        pattern: Word,
        /// The replacement; no parts when it is left out.
        replacement: Word,
    },
    /// `${x:offset}`, `${x:offset:length}`.
    Substring {
        /// The offset; negative counts from the end.
        offset: ArithmeticExpr,
        /// The length, if given.
        length: Option<ArithmeticExpr>,
    },
    /// `${x^}`, `${x^^}`, `${x,}`, `${x,,}`.
    Case {
        /// True for `^`.
        upper: bool,
        /// True for the doubled operator: every character, not only the first.
        all: bool,
    },
}

/// What happens when a parameter is unset.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnsetRule {
    /// `-`: use the operand.
    Default,
    /// `=`: assign the operand.
    Assign,
    /// `?`: fail with the operand as message.
    Fail,
    /// `+`: use the operand when the parameter is *set*.
    Alternative,
}

/// The end of a value that a pattern is removed from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RemoveSide {
    /// `#`.
    Prefix,
    /// `%`.
    Suffix,
}

/// Which matches `${x/p/r}` replaces.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ReplaceScope {
    /// `/`: the first.
    First,
    /// `//`: all.
    All,
    /// `/#`: one at the beginning.
    Prefix,
    /// `/%`: one at the end.
    Suffix,
}

impl WordPart {
    /// Where the part stands.
    #[must_use]
    pub fn span(&self) -> Span {
        match self {
            Self::Literal { span, .. }
            | Self::Quoted { span, .. }
            | Self::DoubleQuoted { span, .. }
            | Self::Substitution { span, .. }
            | Self::Arithmetic { span, .. }
            | Self::Tilde { span, .. }
            | Self::Hole { span, .. } => *span,
            Self::Parameter(parameter) => parameter.span,
        }
    }
}

impl Word {
    /// The text after quote removal, when nothing in the word is expanded: no parameter, substitution, arithmetic,
    /// tilde, hole or brace expansion. Glob characters may be in it; ask [`Word::has_glob`].
    #[must_use]
    pub fn known_text(&self) -> Option<String> {
        let mut text = String::new();
        known(&self.parts, &mut text)?;
        if braces::has_braces(self) { None } else { Some(text) }
    }

    /// [`Word::known_text`] of a word without active glob characters: the one field that the word becomes.
    #[must_use]
    pub fn as_literal(&self) -> Option<String> {
        if self.has_glob() { None } else { self.known_text() }
    }

    /// Whether unquoted text holds `*`, `?`, or a `[` with a later `]`.
    #[must_use]
    pub fn has_glob(&self) -> bool {
        let mut bracket = false;
        for part in &self.parts {
            let WordPart::Literal { text, .. } = part else { continue };
            for byte in text.bytes() {
                match byte {
                    b'*' | b'?' => return true,
                    b'[' => bracket = true,
                    b']' if bracket => return true,
                    _ => {}
                }
            }
        }
        false
    }

    /// The text of a word that is nothing but unquoted text; reserved words and operators are found with it.
    pub(crate) fn plain_text(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [WordPart::Literal { text, .. }] => Some(text),
            _ => None,
        }
    }
}

fn known(parts: &[WordPart], text: &mut String) -> Option<()> {
    for part in parts {
        match part {
            WordPart::Literal { text: piece, .. } | WordPart::Quoted { text: piece, .. } => text.push_str(piece),
            // One level only: the parser puts nothing but text and expansions between double quotes.
            WordPart::DoubleQuoted { parts, .. } => {
                for inner in parts {
                    let WordPart::Quoted { text: piece, .. } = inner else { return None };
                    text.push_str(piece);
                }
            }
            WordPart::Parameter(_)
            | WordPart::Substitution { .. }
            | WordPart::Arithmetic { .. }
            | WordPart::Tilde { .. }
            | WordPart::Hole { .. } => return None,
        }
    }
    Some(())
}
