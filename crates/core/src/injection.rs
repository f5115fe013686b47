use crate::Span;
use serde::Serialize;

/// How an injection is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum InjectionForm {
    /// `` !`cmd` ``
    Inline,
    /// A fence opened with ```` ```! ````.
    Block,
}

/// A shell program in a skill's text, with the places where values of the invocation go.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Injection {
    /// The program exactly as the author wrote it.
    pub source: String,
    /// The whole injection in the body, delimiters included.
    pub span: Span,
    /// Where `source` starts in the body.
    pub source_start: usize,
    /// Inline or block.
    pub form: InjectionForm,
    /// Placeholders inside `source`, in order, not overlapping.
    pub holes: Vec<Hole>,
}

/// A placeholder inside an injection. Its value is data: it never becomes an operator, a substitution or a redirection.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Hole {
    /// The placeholder's bytes in the injection's source.
    pub span: Span,
    /// The value that goes there.
    pub value: HoleValue,
    /// Whether the placeholder keeps its text inside single quotes (a position there belongs to the command).
    pub literal_in_single_quotes: bool,
}

/// The value of a [`Hole`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum HoleValue {
    /// A bare `$ARGUMENTS`: each entry is one word; inside double quotes they are the typed text as one word.
    Words {
        /// The arguments split as a shell splits them.
        words: Vec<String>,
        /// The arguments as typed.
        text: String,
    },
    /// Exactly one word.
    Word(String),
    /// An index or name without a value: nothing, as an unset parameter in a shell.
    Missing,
}
