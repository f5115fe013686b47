//! The command line.

use guest_command::options::{self, Argument, Spec, Takes};
use guest_command::output::{path, reason};
use std::io::Read as _;

/// What is searched for, where, and what is printed.
#[derive(Debug, Default)]
pub(crate) struct Request {
    pub(crate) patterns: Vec<String>,
    pub(crate) paths: Vec<Vec<u8>>,
    pub(crate) case: Case,
    pub(crate) fixed: bool,
    pub(crate) words: bool,
    pub(crate) whole_lines: bool,
    pub(crate) invert: bool,
    pub(crate) output: Output,
    pub(crate) layout: Layout,
    pub(crate) filter: Filter,
    pub(crate) binary: Binary,
    pub(crate) no_messages: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Case {
    #[default]
    Sensitive,
    Insensitive,
    /// Insensitive unless a pattern has a capital letter.
    Smart,
}

/// What is printed of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Output {
    #[default]
    Lines,
    Count,
    CountMatches,
    PathsWithMatch,
    PathsWithoutMatch,
    /// Nothing; the status says it.
    Quiet,
    /// The files themselves; nothing is searched for.
    Files,
    /// The types that `-t` knows.
    Types,
}

/// How lines are printed.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    /// Whether paths stand before lines, where the command line says so.
    pub(crate) names: Option<bool>,
    pub(crate) line_numbers: Option<bool>,
    pub(crate) columns: bool,
    pub(crate) offsets: bool,
    pub(crate) heading: bool,
    pub(crate) only_matching: bool,
    pub(crate) per_match: bool,
    pub(crate) trim: bool,
    pub(crate) null: bool,
    pub(crate) include_zero: bool,
    pub(crate) before: usize,
    pub(crate) after: usize,
    pub(crate) separator: Option<Vec<u8>>,
    pub(crate) replacement: Option<Vec<u8>>,
    pub(crate) max_count: Option<u64>,
    pub(crate) max_columns: Option<u64>,
}

/// Which files are searched.
#[derive(Debug, Default)]
pub(crate) struct Filter {
    pub(crate) globs: Vec<(String, bool)>,
    pub(crate) ignore_glob_case: bool,
    pub(crate) types: Vec<(String, bool)>,
    pub(crate) hidden: bool,
    pub(crate) no_ignore: bool,
    pub(crate) no_ignore_vcs: bool,
    pub(crate) no_ignore_parents: bool,
    pub(crate) no_require_git: bool,
    pub(crate) follow: bool,
    pub(crate) sorted: bool,
    pub(crate) reversed: bool,
    pub(crate) max_depth: Option<usize>,
    pub(crate) max_size: Option<u64>,
}

/// What is done with files that hold a NUL.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Binary {
    /// They are left when it is found, unless they were named.
    #[default]
    Auto,
    /// `--binary`: as if they were named.
    Named,
    /// `-a`: as text.
    Text,
}

/// Why a command line is not taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Refusal {
    Wrong(String),
    Unsupported(String),
}

const fn flag(short: u8, long: &'static str) -> Spec {
    Spec { short: if short == 0 { None } else { Some(short) }, long, takes: Takes::Nothing }
}

const fn value(short: u8, long: &'static str) -> Spec {
    Spec { short: if short == 0 { None } else { Some(short) }, long, takes: Takes::Value }
}

const OPTIONS: &[Spec] = &[
    value(b'A', "after-context"),
    value(b'B', "before-context"),
    value(b'C', "context"),
    value(b'E', "encoding"),
    flag(b'F', "fixed-strings"),
    flag(b'H', "with-filename"),
    flag(b'I', "no-filename"),
    flag(b'L', "follow"),
    value(b'M', "max-columns"),
    flag(b'N', "no-line-number"),
    flag(b'P', "pcre2"),
    flag(b'S', "smart-case"),
    value(b'T', "type-not"),
    flag(b'U', "multiline"),
    flag(b'V', "version"),
    flag(b'a', "text"),
    flag(b'b', "byte-offset"),
    flag(b'c', "count"),
    value(b'd', "max-depth"),
    value(0, "maxdepth"),
    value(b'e', "regexp"),
    value(b'f', "file"),
    value(b'g', "glob"),
    flag(b'h', "help"),
    flag(b'i', "ignore-case"),
    value(b'j', "threads"),
    flag(b'l', "files-with-matches"),
    value(b'm', "max-count"),
    flag(b'n', "line-number"),
    flag(b'o', "only-matching"),
    flag(b'p', "pretty"),
    flag(b'q', "quiet"),
    value(b'r', "replace"),
    flag(b's', "case-sensitive"),
    value(b't', "type"),
    flag(b'u', "unrestricted"),
    flag(b'v', "invert-match"),
    flag(b'w', "word-regexp"),
    flag(b'x', "line-regexp"),
    flag(b'z', "search-zip"),
    flag(b'0', "null"),
    flag(b'.', "hidden"),
    flag(0, "binary"),
    flag(0, "block-buffered"),
    value(0, "color"),
    value(0, "colors"),
    flag(0, "column"),
    value(0, "context-separator"),
    flag(0, "count-matches"),
    flag(0, "crlf"),
    flag(0, "debug"),
    value(0, "engine"),
    flag(0, "files"),
    flag(0, "files-without-match"),
    flag(0, "glob-case-insensitive"),
    flag(0, "heading"),
    value(0, "iglob"),
    value(0, "ignore-file"),
    flag(0, "include-zero"),
    flag(0, "json"),
    flag(0, "line-buffered"),
    value(0, "max-filesize"),
    flag(0, "mmap"),
    flag(0, "multiline-dotall"),
    flag(0, "no-binary"),
    flag(0, "no-column"),
    flag(0, "no-config"),
    flag(0, "no-context-separator"),
    flag(0, "no-heading"),
    flag(0, "no-hidden"),
    flag(0, "no-ignore"),
    flag(0, "no-ignore-global"),
    flag(0, "no-ignore-messages"),
    flag(0, "no-ignore-parent"),
    flag(0, "no-ignore-vcs"),
    flag(0, "no-messages"),
    flag(0, "no-mmap"),
    flag(0, "no-require-git"),
    flag(0, "null-data"),
    flag(0, "passthru"),
    value(0, "path-separator"),
    value(0, "pre"),
    value(0, "pre-glob"),
    value(0, "sort"),
    value(0, "sortr"),
    flag(0, "stats"),
    flag(0, "trim"),
    value(0, "type-add"),
    value(0, "type-clear"),
    flag(0, "type-list"),
    flag(0, "vimgrep"),
];

pub(crate) fn read(arguments: Vec<Vec<u8>>) -> Result<Request, Refusal> {
    let mut request = Request::default();
    request.layout.separator = Some(b"--".to_vec());
    let mut given: Option<Vec<String>> = None;
    let mut unrestricted = 0;
    for argument in options::read(arguments, OPTIONS, false).map_err(Refusal::Wrong)? {
        match argument {
            Argument::Operand(operand) => request.paths.push(operand),
            Argument::Digit(_) => {}
            Argument::Option("unrestricted", _) => unrestricted += 1,
            Argument::Option(name, None) => request.switch(name)?,
            Argument::Option("regexp", Some(value)) => given.get_or_insert_default().push(text("regexp", value)?),
            Argument::Option("file", Some(value)) => given.get_or_insert_default().extend(pattern_file(&value)?),
            Argument::Option(name, Some(value)) => request.set(name, text(name, value)?)?,
        }
    }
    request.filter.no_ignore |= unrestricted > 0;
    request.filter.hidden |= unrestricted > 1;
    if unrestricted > 2 {
        request.binary = Binary::Named;
    }
    if matches!(request.output, Output::Files | Output::Types) {
        return Ok(request);
    }
    request.patterns = match given {
        Some(patterns) => patterns,
        None if request.paths.is_empty() => {
            let missing = "the following required arguments were not provided:\n  <PATTERN>";
            return Err(Refusal::Wrong(missing.to_owned()));
        }
        None => vec![text("pattern", request.paths.remove(0))?],
    };
    if request.output == Output::Count && request.layout.only_matching {
        request.output = Output::CountMatches;
    }
    Ok(request)
}

impl Request {
    fn switch(&mut self, name: &'static str) -> Result<(), Refusal> {
        let (layout, filter) = (&mut self.layout, &mut self.filter);
        match name {
            "fixed-strings" => self.fixed = true,
            "with-filename" => layout.names = Some(true),
            "no-filename" => layout.names = Some(false),
            "follow" => filter.follow = true,
            "line-number" => layout.line_numbers = Some(true),
            "no-line-number" => layout.line_numbers = Some(false),
            "smart-case" => self.case = Case::Smart,
            "ignore-case" => self.case = Case::Insensitive,
            "case-sensitive" => self.case = Case::Sensitive,
            "text" => self.binary = Binary::Text,
            "binary" => self.binary = Binary::Named,
            "no-binary" => self.binary = Binary::Auto,
            "byte-offset" => layout.offsets = true,
            "count" => self.output = Output::Count,
            "count-matches" => self.output = Output::CountMatches,
            "files-with-matches" => self.output = Output::PathsWithMatch,
            "files-without-match" => self.output = Output::PathsWithoutMatch,
            "quiet" => self.output = Output::Quiet,
            "files" => self.output = Output::Files,
            "type-list" => self.output = Output::Types,
            "only-matching" => layout.only_matching = true,
            "invert-match" => self.invert = true,
            "word-regexp" => (self.words, self.whole_lines) = (true, false),
            "line-regexp" => (self.words, self.whole_lines) = (false, true),
            "null" => layout.null = true,
            "hidden" => filter.hidden = true,
            "no-hidden" => filter.hidden = false,
            "column" => layout.columns = true,
            "no-column" => layout.columns = false,
            "glob-case-insensitive" => filter.ignore_glob_case = true,
            "heading" => layout.heading = true,
            "no-heading" => layout.heading = false,
            "include-zero" => layout.include_zero = true,
            "no-context-separator" => layout.separator = None,
            "no-ignore" => filter.no_ignore = true,
            "no-ignore-parent" => filter.no_ignore_parents = true,
            "no-ignore-vcs" => filter.no_ignore_vcs = true,
            "no-require-git" => filter.no_require_git = true,
            "no-messages" => self.no_messages = true,
            "trim" => layout.trim = true,
            "vimgrep" => {
                layout.per_match = true;
                layout.columns = true;
                layout.names.get_or_insert(true);
            }
            // Nothing here is a terminal, no file is mapped, and there is no configuration.
            "block-buffered" | "line-buffered" | "mmap" | "no-mmap" | "no-config" | "no-ignore-global"
            | "no-ignore-messages" => {}
            name => return Err(Refusal::Unsupported(format!("--{name}"))),
        }
        Ok(())
    }

    fn set(&mut self, name: &'static str, value: String) -> Result<(), Refusal> {
        let (layout, filter) = (&mut self.layout, &mut self.filter);
        match name {
            "after-context" => layout.after = number(name, &value)?,
            "before-context" => layout.before = number(name, &value)?,
            "context" => {
                layout.after = number(name, &value)?;
                layout.before = layout.after;
            }
            "max-columns" => layout.max_columns = Some(number(name, &value)?).filter(|most| *most > 0),
            "max-count" => layout.max_count = Some(number(name, &value)?),
            "max-depth" | "maxdepth" => filter.max_depth = Some(number(name, &value)?),
            "max-filesize" => filter.max_size = Some(size(&value)?),
            "glob" => filter.globs.push((value, false)),
            "iglob" => filter.globs.push((value, true)),
            "type" => filter.types.push((value, true)),
            "type-not" => filter.types.push((value, false)),
            "replace" => layout.replacement = Some(value.into_bytes()),
            "context-separator" => layout.separator = Some(value.into_bytes()),
            "sort" | "sortr" if value == "none" => filter.sorted = false,
            "sort" | "sortr" if value == "path" => (filter.sorted, filter.reversed) = (true, name == "sortr"),
            "color" if matches!(value.as_str(), "never" | "auto") => {}
            // One file after the other is as good as several at once.
            "threads" => drop(number::<usize>(name, &value)?),
            "engine" if matches!(value.as_str(), "default" | "auto") => {}
            "color" | "engine" | "sort" | "sortr" => return Err(Refusal::Unsupported(format!("--{name} {value}"))),
            name => return Err(Refusal::Unsupported(format!("--{name}"))),
        }
        Ok(())
    }
}

fn text(name: &str, value: Vec<u8>) -> Result<String, Refusal> {
    String::from_utf8(value).map_err(|_| Refusal::Unsupported(format!("a {name} that is not UTF-8")))
}

fn number<N: std::str::FromStr>(name: &str, value: &str) -> Result<N, Refusal> {
    value
        .parse()
        .map_err(|_| Refusal::Wrong(format!("error parsing flag --{name}: value is not a valid number: {value}")))
}

/// A size such as `10K`.
fn size(value: &str) -> Result<u64, Refusal> {
    let digits = value.trim_end_matches(['K', 'M', 'G']);
    let unit: u64 = match &value[digits.len()..] {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return Err(Refusal::Wrong(format!("invalid format for size '{value}'"))),
    };
    let number: u64 = number("max-filesize", digits)?;
    number.checked_mul(unit).ok_or_else(|| Refusal::Wrong(format!("size too big in '{value}'")))
}

fn pattern_file(name: &[u8]) -> Result<Vec<String>, Refusal> {
    let mut patterns = String::new();
    let read = if name == b"-" {
        std::io::stdin().lock().read_to_string(&mut patterns)
    } else {
        std::fs::File::open(path(name)).and_then(|mut file| file.read_to_string(&mut patterns))
    };
    read.map_err(|error| Refusal::Wrong(format!("{}: {}", String::from_utf8_lossy(name), reason(&error))))?;
    Ok(patterns.lines().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &str) -> Result<Request, Refusal> {
        read(words.split_whitespace().map(|word| word.as_bytes().to_vec()).collect())
    }

    #[test]
    fn what_is_asked_for_is_read() {
        let request = parsed("-in -tjs -g !*.min.js --glob=src/** -C2 -A 1 TODO src").expect("a request");
        assert_eq!((request.patterns, request.paths), (vec!["TODO".to_owned()], vec![b"src".to_vec()]));
        assert_eq!((request.case, request.layout.line_numbers), (Case::Insensitive, Some(true)));
        assert_eq!((request.layout.before, request.layout.after), (2, 1));
        assert_eq!(request.filter.types, [("js".to_owned(), true)]);
        assert_eq!(request.filter.globs.len(), 2);
        let request = parsed("-uu -e a -e b c").expect("a request");
        assert_eq!((request.patterns.len(), request.paths.len()), (2, 1));
        assert!(request.filter.no_ignore && request.filter.hidden);
        assert_eq!(parsed("--files -g *.rs").map(|request| request.output).expect("a request"), Output::Files);
        assert_eq!(parsed("-co x").map(|request| request.output).expect("a request"), Output::CountMatches);
    }

    #[test]
    fn what_is_not_supported_is_named() {
        for (words, name) in [
            ("-P x", "--pcre2"),
            ("--json x", "--json"),
            ("-U x", "--multiline"),
            ("-z x", "--search-zip"),
            ("--sort modified x", "--sort modified"),
            ("--color=always x", "--color always"),
            ("--pre cat x", "--pre"),
        ] {
            assert_eq!(parsed(words).expect_err(words), Refusal::Unsupported(name.to_owned()));
        }
        assert!(matches!(parsed("-A x y"), Err(Refusal::Wrong(_))));
        assert!(matches!(parsed("--nosuch x"), Err(Refusal::Wrong(_))));
        assert!(matches!(parsed(""), Err(Refusal::Wrong(_))));
    }
}
