use skillgate_core::Span;

use crate::error::{SyntaxError, SyntaxErrorKind};

/// A place in a program where data is put in when it runs: an argument placeholder of an injection.
///
/// The bytes under `span` are the author's spelling of the placeholder. The parser never reads them; it emits
/// [`WordPart::Hole`](crate::WordPart::Hole) instead, or refuses the place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Hole {
    /// The placeholder's bytes in the source; never empty.
    pub span: Span,
    /// How many words the value may become.
    pub kind: HoleKind,
    /// What the placeholder means between single quotes.
    pub in_single_quotes: SingleQuoteRule,
}

/// How many words the value of a hole may become where it is not quoted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum HoleKind {
    /// Exactly one word, also when it is empty.
    Word,
    /// Any number of words, as the caller split them; one word where the hole is quoted.
    Words,
}

/// What a placeholder between single quotes means.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SingleQuoteRule {
    /// The text stays as written: `awk '{print $1}'`.
    Literal,
    /// The value is put in, as between double quotes.
    Substitute,
}

/// Checks what the parser relies on: holes are sorted, apart, not empty and cut no character.
pub(crate) fn check(source: &str, holes: &[Hole]) -> Result<(), SyntaxError> {
    let mut free = 0;
    for hole in holes {
        let Span { start, end } = hole.span;
        if start < free || start >= end || hole.span.slice(source).is_none() {
            return Err(SyntaxError { kind: SyntaxErrorKind::InvalidHoles, span: hole.span });
        }
        free = end;
    }
    Ok(())
}
