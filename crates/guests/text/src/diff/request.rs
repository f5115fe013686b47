//! The command line.

use crate::options::{Argument, Spec, Takes, read};
use crate::output::{path, reason};

const fn flag(short: u8, long: &'static str) -> Spec {
    Spec { short: if short == 0 { None } else { Some(short) }, long, takes: Takes::Nothing }
}

const fn value(short: u8, long: &'static str) -> Spec {
    Spec { short: if short == 0 { None } else { Some(short) }, long, takes: Takes::Value }
}

const fn maybe(long: &'static str) -> Spec {
    Spec { short: None, long, takes: Takes::MaybeValue }
}

const OPTIONS: &[Spec] = &[
    flag(0, "normal"),
    // Names with a dash are the short forms that are not the same as a long one.
    flag(b'u', "-u"),
    value(b'U', "-U"),
    maybe("unified"),
    flag(b'c', "-c"),
    value(b'C', "-C"),
    maybe("context"),
    flag(b'q', "brief"),
    flag(b's', "report-identical-files"),
    flag(b'r', "recursive"),
    flag(b'N', "new-file"),
    flag(b'a', "text"),
    flag(b'i', "ignore-case"),
    flag(b'b', "ignore-space-change"),
    flag(b'w', "ignore-all-space"),
    flag(b'Z', "ignore-trailing-space"),
    flag(b'B', "ignore-blank-lines"),
    flag(b'd', "minimal"),
    flag(b'p', "show-c-function"),
    value(b'x', "exclude"),
    value(b'X', "exclude-from"),
    value(b'L', "label"),
    maybe("color"),
    value(0, "horizon-lines"),
    flag(0, "strip-trailing-cr"),
    flag(b'v', "version"),
    flag(b'e', "ed"),
    flag(b'f', "forward-ed"),
    flag(b'n', "rcs"),
    flag(b'y', "side-by-side"),
    value(b'F', "show-function-line"),
    value(b'I', "ignore-matching-lines"),
    flag(b'E', "ignore-tab-expansion"),
    flag(b't', "expand-tabs"),
    flag(b'T', "initial-tab"),
    flag(b'l', "paginate"),
    flag(b'P', "unidirectional-new-file"),
    value(b'S', "starting-file"),
    value(b'D', "ifdef"),
    value(b'W', "width"),
    flag(b'H', "speed-large-files"),
    flag(0, "help"),
    value(0, "from-file"),
    value(0, "to-file"),
    flag(0, "ignore-file-name-case"),
    flag(0, "no-dereference"),
    flag(0, "no-ignore-file-name-case"),
    value(0, "changed-group-format"),
    value(0, "line-format"),
    value(0, "new-group-format"),
    value(0, "new-line-format"),
    value(0, "old-group-format"),
    value(0, "old-line-format"),
    value(0, "unchanged-group-format"),
    value(0, "unchanged-line-format"),
    value(0, "palette"),
    flag(0, "left-column"),
    flag(0, "suppress-blank-empty"),
    flag(0, "suppress-common-lines"),
    value(0, "tabsize"),
];

/// Lines before and after a change when nothing says otherwise.
const CONTEXT: usize = 3;

/// The form of the output.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Form {
    #[default]
    Normal,
    Unified,
    Context,
}

/// What is asked for.
#[derive(Debug, Default)]
pub(super) struct Settings {
    pub(super) form: Form,
    /// Lines of context.
    pub(super) context: usize,
    /// Lines beside the changes that are compared although both files begin or end with them.
    pub(super) horizon: usize,
    pub(super) functions: bool,
    pub(super) brief: bool,
    pub(super) identical: bool,
    pub(super) recursive: bool,
    pub(super) new_file: bool,
    pub(super) text: bool,
    pub(super) fold_case: bool,
    pub(super) space_change: bool,
    pub(super) all_space: bool,
    pub(super) trailing_space: bool,
    pub(super) blank_lines: bool,
    pub(super) strip_cr: bool,
    pub(super) minimal: bool,
    pub(super) exclude: Vec<Vec<u8>>,
    pub(super) labels: Vec<Vec<u8>>,
    /// The options as they were given, for the line before a file's changes.
    pub(super) given: String,
}

/// Why a command line is not taken, in the words to print.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Refusal {
    Wrong(String),
    Version,
}

impl From<String> for Refusal {
    fn from(text: String) -> Self {
        Self::Wrong(text)
    }
}

fn usage(message: &str) -> Refusal {
    Refusal::Wrong(format!("diff: {message}\ndiff: Try 'diff --help' for more information."))
}

fn unsupported(option: &str) -> Refusal {
    Refusal::Wrong(format!("skillgate: diff: {option} is not supported"))
}

/// Reads the command line.
pub(super) fn request(arguments: Vec<Vec<u8>>) -> Result<(Settings, [Vec<u8>; 2]), Refusal> {
    let mut settings = Settings { given: given(&arguments), ..Settings::default() };
    let (mut operands, mut form, mut context) = (Vec::new(), None, None);
    for argument in read(arguments, OPTIONS, true).map_err(|text| usage(&text))? {
        match argument {
            Argument::Operand(operand) => operands.push(operand),
            Argument::Digit(_) => return Err(unsupported("-NUM")),
            Argument::Option(name, value) => {
                let wanted = match name {
                    "normal" => Form::Normal,
                    "-u" | "-U" | "unified" => Form::Unified,
                    "-c" | "-C" | "context" => Form::Context,
                    name => {
                        settings.set(name, value)?;
                        continue;
                    }
                };
                if form.replace(wanted).is_some_and(|form| form != wanted) {
                    return Err(usage("conflicting output style options"));
                }
                let lines = match value {
                    None => None,
                    Some(text) => Some(length(&text)?),
                };
                context = context.max(lines);
            }
        }
    }
    settings.form = form.unwrap_or_default();
    if settings.functions && form.is_none() {
        settings.form = Form::Context;
    }
    if settings.form != Form::Normal {
        settings.context = context.unwrap_or(CONTEXT);
        settings.horizon = settings.horizon.max(settings.context);
    }
    match <[Vec<u8>; 2]>::try_from(operands) {
        Ok(operands) => Ok((settings, operands)),
        Err(operands) if operands.len() < 2 => {
            let last =
                operands.last().map_or_else(|| "diff".to_owned(), |last| String::from_utf8_lossy(last).into_owned());
            Err(usage(&format!("missing operand after '{last}'")))
        }
        Err(operands) => Err(usage(&format!("extra operand '{}'", String::from_utf8_lossy(&operands[2])))),
    }
}

fn length(text: &[u8]) -> Result<usize, Refusal> {
    let text = String::from_utf8_lossy(text);
    text.parse().map_err(|_| usage(&format!("invalid context length '{text}'")))
}

impl Settings {
    fn set(&mut self, name: &'static str, value: Option<Vec<u8>>) -> Result<(), Refusal> {
        match name {
            "brief" => self.brief = true,
            "report-identical-files" => self.identical = true,
            "recursive" => self.recursive = true,
            "new-file" => self.new_file = true,
            "text" => self.text = true,
            "ignore-case" => self.fold_case = true,
            "ignore-space-change" => self.space_change = true,
            "ignore-all-space" => self.all_space = true,
            "ignore-trailing-space" => self.trailing_space = true,
            "ignore-blank-lines" => self.blank_lines = true,
            "strip-trailing-cr" => self.strip_cr = true,
            "minimal" => self.minimal = true,
            "show-c-function" => self.functions = true,
            "exclude" => self.exclude.extend(value),
            "exclude-from" => self.exclude.extend(patterns(&value.unwrap_or_default())?),
            "label" => self.labels.extend(value),
            "color" if matches!(value.as_deref(), Some(b"never" | b"auto")) => {}
            // Output is never a terminal.
            "color" if value.is_none() => {}
            "color" => return Err(unsupported("--color=always")),
            "horizon-lines" => {
                let text = value.unwrap_or_default();
                let text = String::from_utf8_lossy(&text);
                let lines = text.parse().map_err(|_| usage(&format!("invalid horizon length '{text}'")))?;
                self.horizon = self.horizon.max(lines);
            }
            "version" => return Err(Refusal::Version),
            name => return Err(unsupported(&format!("--{name}"))),
        }
        Ok(())
    }

    /// Whether lines count as equal that are not.
    pub(super) fn ignores(&self) -> bool {
        self.fold_case
            || self.space_change
            || self.all_space
            || self.trailing_space
            || self.blank_lines
            || self.strip_cr
    }

    /// Whether the missing newline of a last line is ignored too.
    pub(super) fn ignores_line_ends(&self) -> bool {
        self.space_change || self.all_space || self.trailing_space
    }

    /// What of a line is compared.
    pub(super) fn key(&self, line: &[u8]) -> Vec<u8> {
        let complete = line.ends_with(b"\n");
        let body = line.strip_suffix(b"\n").unwrap_or(line);
        let mut key = Vec::with_capacity(line.len());
        let end = body.iter().rposition(|byte| !is_space(*byte)).map_or(0, |at| at + 1);
        if self.all_space {
            key.extend(body.iter().filter(|byte| !is_space(**byte)));
        } else if self.space_change {
            for byte in &body[..end] {
                let space = is_space(*byte);
                if !(space && key.last() == Some(&b' ')) {
                    key.push(if space { b' ' } else { *byte });
                }
            }
        } else if self.trailing_space {
            key.extend_from_slice(&body[..end]);
        } else {
            key.extend_from_slice(body);
        }
        if self.fold_case {
            key.make_ascii_lowercase();
        }
        if complete || self.ignores_line_ends() {
            key.push(b'\n');
        }
        key
    }

    /// Whether a line counts as blank.
    pub(super) fn is_blank(&self, line: &[u8]) -> bool {
        let body = line.strip_suffix(b"\n").unwrap_or(line);
        if self.ignores_line_ends() { body.iter().all(|byte| is_space(*byte)) } else { body.is_empty() }
    }
}

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b
}

/// The patterns of a file, one a line.
fn patterns(name: &[u8]) -> Result<Vec<Vec<u8>>, Refusal> {
    let text = std::fs::read(path(name))
        .map_err(|error| format!("diff: {}: {}", String::from_utf8_lossy(name), reason(&error)))?;
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    Ok(lines.map(<[u8]>::to_vec).collect())
}

/// The options of a command line with their values, quoted as for a shell, each after a space.
fn given(arguments: &[Vec<u8>]) -> String {
    let mut out = String::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if word == b"--" {
            break;
        }
        if word.len() < 2 || !word.starts_with(b"-") {
            continue;
        }
        let value = if takes_the_next(word) { words.next() } else { None };
        for word in std::iter::once(word).chain(value) {
            out.push(' ');
            out.push_str(&quoted(&String::from_utf8_lossy(word)));
        }
    }
    out
}

/// Whether the value of an option is the next word.
fn takes_the_next(word: &[u8]) -> bool {
    if let Some(name) = word.strip_prefix(b"--") {
        let mut near = OPTIONS.iter().filter(|spec| spec.long.as_bytes().starts_with(name));
        return near.next().is_some_and(|spec| spec.takes == Takes::Value);
    }
    let letters = &word[1..];
    let takes = |letter: &u8| OPTIONS.iter().any(|spec| spec.short == Some(*letter) && spec.takes == Takes::Value);
    letters.iter().position(takes).is_some_and(|at| at + 1 == letters.len())
}

fn quoted(word: &str) -> String {
    let special = |c: char| " \t\n!\"$&'()*;<=>?[\\^`|".contains(c);
    if word.is_empty() || word.contains(special) || word.starts_with(['#', '~']) {
        return format!("'{}'", word.replace('\'', "'\\''"));
    }
    word.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<Vec<u8>> {
        line.split(' ').map(|word| word.as_bytes().to_vec()).collect()
    }

    #[test]
    fn keys_leave_out_what_is_ignored() {
        let key = |settings: Settings| settings.key(b" A  b \n");
        assert_eq!(key(Settings { all_space: true, ..Settings::default() }), b"Ab\n");
        assert_eq!(key(Settings { trailing_space: true, ..Settings::default() }), b" A  b\n");
        assert_eq!(key(Settings { space_change: true, fold_case: true, ..Settings::default() }), b" a b\n");
    }

    #[test]
    fn options_are_read_and_those_that_are_not_supported_are_named() {
        let refused = |line: &str| match request(words(line)) {
            Err(Refusal::Wrong(text)) => text,
            other => format!("{other:?}"),
        };
        assert_eq!(refused("-y a b"), "skillgate: diff: --side-by-side is not supported");
        assert_eq!(refused("-3 a b"), "skillgate: diff: -NUM is not supported");
        assert!(refused("-u -c a b").starts_with("diff: conflicting output style options"));
        let (settings, _) = request(words("-ru -U 5 -x *.o a b")).expect("the line is right");
        assert_eq!((settings.form, settings.context, settings.horizon), (Form::Unified, 5, 5));
        assert_eq!(settings.given, " -ru -U 5 -x '*.o'");
    }
}
