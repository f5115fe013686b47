//! `-regex`: a regular expression for the whole path.

use crate::posix::{Around, Dialect, Expression, ExpressionError, TooComplex};

/// How a pattern is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Syntax {
    /// Emacs': as a basic one, but `+` and `?` repeat as they stand, and there are no intervals.
    #[default]
    Emacs,
    Basic,
    Extended,
}

impl Syntax {
    /// The syntax that `-regextype` names.
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "emacs" | "findutils-default" => Some(Syntax::Emacs),
            "posix-basic" | "ed" | "sed" | "grep" => Some(Syntax::Basic),
            "posix-extended" | "egrep" | "posix-egrep" => Some(Syntax::Extended),
            _ => None,
        }
    }
}

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct PathExpression(Expression);

/// Status when a pattern cannot be looked for.
const TROUBLE: i32 = 2;

impl PathExpression {
    pub(super) fn new(pattern: &str, syntax: Syntax, fold_case: bool) -> Result<Self, ExpressionError> {
        let dialect = Dialect {
            fixed: false,
            extended: syntax == Syntax::Extended,
            fold_case,
            newline_is_ordinary: true,
            multi_line: false,
            strict: false,
        };
        let pattern = if syntax == Syntax::Emacs { basic(pattern) } else { pattern.to_owned() };
        Expression::any_of(&[&pattern], dialect, Around::Whole).map(Self)
    }

    /// Whether all of a path matches. A pattern that takes too long ends the command: any answer would be a wrong one.
    pub(super) fn matches(&self, path: &[u8]) -> bool {
        self.0.is_match(path).unwrap_or_else(|TooComplex| {
            eprintln!("skillgate: find: a pattern that takes so many steps on a path is not supported");
            std::process::exit(TROUBLE)
        })
    }
}

/// An Emacs pattern as a basic one.
fn basic(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '+' | '?' => out.extend(['\\', c]),
            '\\' => match chars.next() {
                Some(plain @ ('+' | '?' | '{' | '}')) => out.push(plain),
                Some(other) => out.extend(['\\', other]),
                None => out.push('\\'),
            },
            '[' => {
                out.push('[');
                // A bracket that stands first is one of the characters.
                for first in ['^', ']'] {
                    out.extend(chars.next_if_eq(&first));
                }
                for c in chars.by_ref() {
                    out.push(c);
                    if c == ']' {
                        break;
                    }
                }
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_path_has_to_match() {
        for (pattern, syntax, path, expected) in [
            (".*\\.js", Syntax::Emacs, "./a.js", true),
            (".*\\.js", Syntax::Emacs, "./a.jsx", false),
            ("a\\.js", Syntax::Emacs, "./a.js", false),
            (".*\\.\\(js\\|ts\\)", Syntax::Emacs, "./a.ts", true),
            (".*/a+b?", Syntax::Emacs, "./aaa", true),
            (".*/a\\+", Syntax::Emacs, "./a+", true),
            (".*/[+]+", Syntax::Emacs, "./++", true),
            (".*\\.(js|ts)$", Syntax::Extended, "./a.ts", true),
            (".*/a{2}", Syntax::Extended, "./aa", true),
            (".*/a+", Syntax::Basic, "./a+", true),
        ] {
            let expression = PathExpression::new(pattern, syntax, false).expect(pattern);
            assert_eq!(expression.matches(path.as_bytes()), expected, "{pattern} on {path}");
        }
        assert!(PathExpression::new(".*README.*", Syntax::Emacs, true).expect("a pattern").matches(b"./readme.md"));
    }
}
