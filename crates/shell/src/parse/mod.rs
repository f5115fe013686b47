//! The parser: one pass over the bytes, recursive descent with a counter, no backtracking.

mod arithmetic;
mod command;
mod compound;
mod conditional;
mod cursor;
mod here_document;
mod parameter;
mod quote;
mod redirect;
mod substitution;
mod word;

use crate::ast::Program;
use crate::error::{SyntaxError, SyntaxErrorKind};
use crate::hole::{self, Hole};
use cursor::Parser;
use skillgate_core::Span;

/// The most levels of nesting that [`ParseOptions`] accepts, so that a caller's limit cannot exhaust a 2 MiB stack.
pub const MAX_NESTING: usize = 64;

/// The bounds of [`parse`]. There is no default: the caller's policy decides.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ParseOptions {
    max_bytes: usize,
    max_depth: usize,
}

impl ParseOptions {
    /// At most `max_bytes` bytes of source and `max_depth` levels of compound commands, substitutions, expansions,
    /// quotes and arithmetic operators inside each other. More than [`MAX_NESTING`] levels count as [`MAX_NESTING`].
    #[must_use]
    pub const fn new(max_bytes: usize, max_depth: usize) -> Self {
        Self { max_bytes, max_depth: if max_depth > MAX_NESTING { MAX_NESTING } else { max_depth } }
    }

    /// The longest source in bytes.
    #[must_use]
    pub const fn max_bytes(&self) -> usize {
        self.max_bytes
    }

    /// The deepest nesting in levels.
    #[must_use]
    pub const fn max_depth(&self) -> usize {
        self.max_depth
    }
}

/// Parses a whole program.
///
/// A line may end with LF or CRLF; both are one newline, also inside quotes and here-documents. `holes` are the places
/// where data is put in; see [`Hole`].
///
/// # Errors
///
/// A [`SyntaxError`] with a span of `source`: what does not parse, exceeds a bound, is not supported, or would read the
/// value of a hole as syntax.
pub fn parse(source: &str, holes: &[Hole], options: &ParseOptions) -> Result<Program, SyntaxError> {
    if source.len() > options.max_bytes {
        let kind = SyntaxErrorKind::TooLarge { bytes: source.len(), limit: options.max_bytes };
        return Err(SyntaxError { kind, span: Span::new(0, source.len()) });
    }
    hole::check(source, holes)?;
    check_characters(source)?;
    let mut parser = Parser::new(source, holes, options.max_depth);
    let program = parser.list()?;
    parser.expect_end("a command")?;
    parser.finish_here_documents()?;
    Ok(program)
}

/// Parses an arithmetic expression that is nothing but arithmetic: expansions in it are refused.
pub(crate) fn parse_arithmetic_text(
    text: &str,
    max_depth: usize,
) -> Result<crate::arithmetic::ArithmeticExpr, SyntaxError> {
    check_characters(text)?;
    let mut parser = Parser::new(text, &[], max_depth.min(MAX_NESTING));
    parser.pure_arithmetic = true;
    let expr = parser.arithmetic_expression()?;
    parser.expect_end("an arithmetic operator")?;
    Ok(expr)
}

/// Refuses NUL and a carriage return that does not begin a line end. After this, CR always means a line end.
fn check_characters(source: &str) -> Result<(), SyntaxError> {
    let bytes = source.as_bytes();
    for (i, byte) in bytes.iter().enumerate() {
        let character = match byte {
            0 => '\0',
            b'\r' if bytes.get(i + 1) != Some(&b'\n') => '\r',
            _ => continue,
        };
        let kind = SyntaxErrorKind::InvalidCharacter { character };
        return Err(SyntaxError { kind, span: Span::new(i, i + 1) });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The work that `parse` does, in bytes looked at.
    fn work(source: &str, holes: &[Hole]) -> usize {
        let mut parser = Parser::new(source, holes, 64);
        // Whether it parses does not matter here.
        let _ = parser.list().is_ok_and(|_| parser.finish_here_documents().is_ok());
        parser.work.get()
    }

    #[test]
    fn work_grows_with_the_source_and_no_faster() {
        type Family = (&'static str, fn(usize) -> String);
        let families: [Family; 18] = [
            ("here-documents on lines", |n| "cat <<E\n$x\nE\n".repeat(n)),
            ("here-documents on one line", |n| format!("cat {}\n{}", "<<E ".repeat(n), "a\nE\n".repeat(n))),
            ("here-documents without end", |n| format!("cat {}\n{}", "<<E ".repeat(n), "a\n".repeat(n))),
            ("joined lines", |n| format!("cat <<E\n{}E\n", "a\\\n".repeat(n))),
            ("backslashes", |n| format!("cat <<E\n{}\nE\n", "\\".repeat(n))),
            ("literal dollars", |n| format!("echo {}", "a$.".repeat(n))),
            ("equals signs", |n| format!("echo {}-{}", "a".repeat(n), "=".repeat(n))),
            ("names", |n| format!("{}=", "a".repeat(n))),
            ("digits", |n| "1".repeat(n)),
            ("backquotes", |n| "`a` ".repeat(n)),
            ("escaped backquotes", |n| "`\\`a\\`` ".repeat(n)),
            ("comments", |n| "# a\n".repeat(n)),
            ("open brackets", |n| "[".repeat(n)),
            ("tildes", |n| format!("x={}", "~a:".repeat(n))),
            ("continuations", |n| format!("a{}", "\\\n".repeat(n))),
            ("sums", |n| format!("echo $((1{}))", "+1*1".repeat(n))),
            ("tests", |n| format!("[[ a{} ]]", " && a || b".repeat(n))),
            ("quotes", |n| "'a'\"b\"".repeat(n)),
        ];
        for (name, family) in families {
            let (half, whole) = (work(&family(20_000), &[]), work(&family(40_000), &[]));
            assert!(half > 0, "{name}: nothing was counted");
            assert!(whole <= 2 * half + 1000, "{name}: {half} for a half, {whole} for the whole");
        }
    }

    /// What a hostile program costs: the bytes that are looked at, a small multiple of what there is to look at.
    #[test]
    fn bad_input_is_refused_with_its_place_in_a_bounded_number_of_steps() {
        const MANY: usize = 100_000;
        let nested = [
            "(",
            "((",
            "( ",
            "$(",
            "\"$(",
            "${x:-",
            "${x#",
            "$((",
            "[[ (",
            "[[ ( ",
            "{ ",
            "`",
            "\"`",
            "<(",
            "if ",
            "while ",
            "until ",
            "for x in a; do ",
            "case a in a) ",
            "f() { ",
            "! ",
            "x=$(",
            "cat <<E $(",
            "a=(",
            "${",
            "'",
            "\"",
            "$'",
            "{",
            "[",
            "a && ",
            "a | ",
            "$((1+",
            "$((a[",
            "a[",
            "1>",
            "<<",
        ];
        let mut sources: Vec<(String, String)> =
            nested.iter().map(|open| (format!("{MANY} times {open:?}"), open.repeat(MANY))).collect();
        sources.extend(nested.iter().map(|open| (format!("{open:?} after a command"), format!("a; b\n{open}"))));
        sources.push(("1 MiB of words".to_owned(), "a ".repeat(1 << 19) + ")"));
        sources.push(("1 MiB of one word".to_owned(), "a".repeat(1 << 20) + ")"));
        sources.push(("40,000 here-documents without end".to_owned(), "cat <<E\n$x\n".repeat(40_000)));
        sources.push(("40,000 here-documents on one line".to_owned(), format!("cat {}\nE\n", "<<E ".repeat(40_000))));
        sources.push(("a descriptor of 20 digits".to_owned(), "a 12345678901234567890>b".to_owned()));
        sources.push(("a descriptor of 100,000 digits".to_owned(), "a ".to_owned() + &"1".repeat(MANY) + ">b"));
        sources.push(("NUL".to_owned(), "a\0b".to_owned()));
        for (name, source) in &sources {
            let parsed = super::parse(source, &[], &ParseOptions::new(usize::MAX, MAX_NESTING));
            // A few of these are flat and mean something; what counts is that they are read in a bounded number of steps.
            if let Err(error) = parsed {
                assert!(error.span.slice(source).is_some(), "{name}: {error:?}");
                assert!(!error.to_string().is_empty(), "{name}");
            }
            let steps = work(source, &[]);
            assert!(steps <= 8 * source.len() + 1000, "{name}: {steps} steps for {} bytes", source.len());
        }
        let too_long = "a ".repeat(1 << 19);
        let error = super::parse(&too_long, &[], &ParseOptions::new(256 * 1024, 64)).expect_err("1 MiB");
        assert_eq!(error.kind, SyntaxErrorKind::TooLarge { bytes: 1 << 20, limit: 256 * 1024 });
    }

    #[test]
    fn work_grows_with_the_number_of_holes_and_no_faster() {
        let measure = |n: usize| {
            let source = format!("cat <<E\n{}E\n", "$1 a\n".repeat(n));
            let hole = |i| Hole {
                span: Span::new(8 + 5 * i, 10 + 5 * i),
                kind: crate::HoleKind::Word,
                in_single_quotes: crate::SingleQuoteRule::Literal,
            };
            let holes: Vec<Hole> = (0..n).map(hole).collect();
            assert!(parse(&source, &holes, &ParseOptions::new(1 << 20, 64)).is_ok());
            work(&source, &holes)
        };
        assert!(measure(40_000) <= 2 * measure(20_000) + 1000);
    }
}
