//! Regular expressions as Oniguruma takes them in Perl's syntax: matching goes back over what it tried, within a bound.

mod class;
mod compile;
mod parse;
mod run;

pub(crate) use compile::Program;
pub(crate) use run::{Found, TooComplex};

/// The options of a pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Flags {
    pub(crate) ignore_case: bool,
    /// White space and comments mean nothing.
    pub(crate) extended: bool,
    /// A dot matches a newline too.
    pub(crate) dot_all: bool,
    /// `^` and `$` match beside every newline.
    pub(crate) multi_line: bool,
}

/// Why a pattern is not taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Refusal {
    /// In Oniguruma's words.
    Wrong(String),
    /// Oniguruma does it, and this one does not.
    Unsupported(String),
}

/// Compiles a pattern.
pub(crate) fn compile(pattern: &str, flags: Flags) -> Result<Program, Refusal> {
    let (node, names) = parse::parse(pattern, flags)?;
    compile::program(&node, names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pattern: &str, text: &str) -> Option<Vec<Option<String>>> {
        let program = compile(pattern, Flags::default()).expect(pattern);
        let chars: Vec<char> = text.chars().collect();
        let groups = program.find(&chars, 0).expect("it is simple")?;
        let text = |range: std::ops::Range<usize>| chars[range].iter().collect();
        Some(groups.into_iter().map(|group| group.map(text)).collect())
    }

    #[test]
    fn patterns_match_as_in_perl() {
        for (pattern, text, expected) in [
            ("a|ab", "xab", Some(vec![Some("a")])),
            ("a+?", "aaa", Some(vec![Some("a")])),
            ("(a)(b)?", "ac", Some(vec![Some("a"), Some("a"), None])),
            (r"(\w)\1", "abba", Some(vec![Some("bb"), Some("b")])),
            (r"(?<y>\d{4})-(?<m>\d\d)", "on 2024-05", Some(vec![Some("2024-05"), Some("2024"), Some("05")])),
            ("foo(?=bar)", "foobar", Some(vec![Some("foo")])),
            ("(?<!x)y", "xyy", Some(vec![Some("y")])),
            ("(?<=x)y", "yxy", Some(vec![Some("y")])),
            ("a++a", "aaa", None),
            ("(?i)É", "é", Some(vec![Some("é")])),
            ("[^a-c&&b-d]", "bcd", Some(vec![Some("d")])),
            ("[[:alpha:]]+", "12ab", Some(vec![Some("ab")])),
            (r"\bfoo\b", "a foo b", Some(vec![Some("foo")])),
            ("(a*)*", "b", Some(vec![Some(""), Some("")])),
            (".", "\n", None),
            ("a$", "a\n", Some(vec![Some("a")])),
            (r"\x41\u0042\t", "AB\t", Some(vec![Some("AB\t")])),
        ] {
            let expected =
                expected.map(|groups| groups.into_iter().map(|group| group.map(str::to_owned)).collect::<Vec<_>>());
            assert_eq!(found(pattern, text), expected, "{pattern} on {text}");
        }
    }

    #[test]
    fn wrong_patterns_are_refused() {
        for pattern in ["(", "a)", "[a", "*a", r"\k<x>", "(?<>a)", r"a\"] {
            assert!(compile(pattern, Flags::default()).is_err(), "{pattern}");
        }
    }
}
