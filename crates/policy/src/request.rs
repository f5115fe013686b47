use serde::Serialize;
use skillgate_core::Span;

/// Who would run a command.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Provider {
    /// The capability shell itself.
    BuiltIn,
    /// A component that ships with Skillgate.
    Shipped,
    /// A component that the host's policy names.
    ThirdParty,
    /// A program of the machine that the host's policy names.
    Native,
    /// Nobody: the shell answers 127.
    Nobody,
}

/// How a word of a vector came to be.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Provenance {
    /// The author wrote it.
    Author,
    /// It holds an argument of the invocation.
    Argument,
    /// It holds the result of a pathname expansion or a substitution, which nobody wrote.
    Expansion,
}

/// One word of a vector that is to run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Word {
    /// The word.
    pub text: String,
    /// How it came to be.
    pub provenance: Provenance,
}

/// A command that is about to run: its whole vector.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CommandRequest {
    /// The vector, the command's name first.
    pub words: Vec<Word>,
    /// Who would run it.
    pub provider: Provider,
}

impl CommandRequest {
    /// A vector that an author wrote in full.
    #[must_use]
    pub fn from_author(words: &[&str], provider: Provider) -> Self {
        let word = |text: &&str| Word { text: (*text).to_owned(), provenance: Provenance::Author };
        Self { words: words.iter().map(word).collect(), provider }
    }

    pub(crate) fn known(&self) -> Vec<Known<'_>> {
        self.words.iter().map(|word| Known::Text(&word.text)).collect()
    }
}

/// A word as far as it is known before anything runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Known<'a> {
    /// The word.
    Text(&'a str),
    /// Any number of words.
    Unknown,
}

/// A command as far as the author's text tells it, before anything runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sketch {
    /// The words; `Err` holds the place of one that is known only later and may become any number of words.
    pub words: Vec<Result<String, Span>>,
    /// Who would run it, when its name is known.
    pub provider: Option<Provider>,
    /// The command in the program's text.
    pub span: Span,
}

impl Sketch {
    pub(crate) fn known(&self) -> Vec<Known<'_>> {
        self.words.iter().map(|word| word.as_ref().map_or(Known::Unknown, |text| Known::Text(text))).collect()
    }
}
