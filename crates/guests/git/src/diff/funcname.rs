//! The line behind `@@`: in which function a hunk lies.

use crate::failure::{Outcome, unsupported};
use bstr::ByteSlice as _;
use regex::bytes::Regex;

/// Bytes of such a line that are shown.
const SHOWN: usize = 80;

/// How such lines are found in a file.
#[derive(Debug)]
pub(crate) enum Finder {
    /// A line that begins with a letter, `_` or `$`.
    Default,
    /// The patterns of a driver; one with `!` excludes.
    Patterns(Vec<(bool, Regex)>),
}

/// The built-in drivers whose patterns are known here: name, patterns (one a line, `!` first excludes), without regard to case.
const DRIVERS: [(&str, &str, bool); 8] = [
    ("golang", "^[ \t]*(func[ \t]*.*(\\{[ \t]*)?)\n^[ \t]*(type[ \t].*(struct|interface)[ \t]*(\\{[ \t]*)?)", false),
    ("html", "^[ \t]*(<[Hh][1-6]([ \t].*)?>.*)$", false),
    ("markdown", "^ {0,3}#{1,6}[ \t].*", false),
    ("python", "^[ \t]*((class|(async[ \t]+)?def)[ \t].*)$", false),
    ("ruby", "^[ \t]*((class|module|def)[ \t].*)$", false),
    (
        "rust",
        "^[\t ]*((pub(\\([^\\)]+\\))?[\t ]+)?((async|const|unsafe|extern([\t ]+\"[^\"]+\"))[\t ]+)?(struct|enum|union|mod|trait|fn|impl|macro_rules!)[< \t]+[^;]*)$",
        false,
    ),
    ("css", "![:;][[:space:]]*$\n^[:[@.#]?[_a-z0-9].*$", true),
    (
        "bash",
        "^[ \t]*((([a-zA-Z_][a-zA-Z0-9_]*[ \t]*\\([ \t]*\\))|(function[ \t]+[a-zA-Z_][a-zA-Z0-9_]*(([ \t]*\\([ \t]*\\))|([ \t]+))))[ \t]*((\\{|\\(\\(?|\\[\\[).*)?)$",
        false,
    ),
];

/// Names of built-in drivers whose patterns are not known here.
const OTHERS: [&str; 18] = [
    "ada", "bibtex", "cpp", "csharp", "dts", "elixir", "fortran", "fountain", "java", "kotlin", "matlab", "objc",
    "pascal", "perl", "php", "scheme", "tex", "r",
];

impl Finder {
    /// The finder of a driver; `pattern` is what the configuration says of it (`xfuncname`).
    pub(crate) fn of_driver(name: &str, pattern: Option<&str>) -> Outcome<Self> {
        let known = DRIVERS.iter().find(|(driver, ..)| *driver == name);
        let (patterns, icase) = match (pattern, known) {
            (Some(pattern), _) => (pattern, false),
            (None, Some((_, patterns, icase))) => (*patterns, *icase),
            (None, None) if OTHERS.contains(&name) => return unsupported(format_args!("the diff driver '{name}'")),
            (None, None) => return Ok(Self::Default),
        };
        let mut compiled = Vec::new();
        for line in patterns.lines() {
            let (excludes, pattern) = line.strip_prefix('!').map_or((false, line), |pattern| (true, pattern));
            match regex::bytes::RegexBuilder::new(pattern).case_insensitive(icase).unicode(false).build() {
                Ok(regex) => compiled.push((excludes, regex)),
                Err(_) => return unsupported(format_args!("the pattern of the diff driver '{name}'")),
            }
        }
        Ok(Self::Patterns(compiled))
    }

    /// What is shown of the line, when it is such a line.
    fn of<'l>(&self, line: &'l [u8]) -> Option<&'l [u8]> {
        match self {
            Self::Default => {
                let first = line.first()?;
                (first.is_ascii_alphabetic() || matches!(first, b'_' | b'$'))
                    .then(|| line[..line.len().min(SHOWN)].trim_ascii_end())
            }
            Self::Patterns(patterns) => {
                let text = line.strip_suffix(b"\n").unwrap_or(line);
                for (excludes, pattern) in patterns {
                    let Some(found) = pattern.captures(text) else { continue };
                    if *excludes {
                        return None;
                    }
                    let shown = found.get(1).or_else(|| found.get(0))?.as_bytes();
                    return Some(shown[..shown.len().min(SHOWN)].trim_end());
                }
                None
            }
        }
    }

    /// The nearest such line at or above line `from`, not at or above `limit`.
    pub(crate) fn above<'l>(&self, lines: &[&'l [u8]], from: Option<usize>, limit: Option<usize>) -> Option<&'l [u8]> {
        let start = limit.map_or(0, |limit| limit + 1);
        (start..=from?).rev().find_map(|at| self.of(lines.get(at)?))
    }
}
