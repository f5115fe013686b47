//! The command line, as jq reads it: the first operand is the program, the others are files or arguments.

use crate::reader;
use crate::value::Value;
use crate::writer::{Indent, Style};
use std::collections::VecDeque;

/// Status of a wrong command line, of input that cannot be read, and of what is not supported.
pub(crate) const STATUS_USAGE: i32 = 2;

/// What one run is asked to do.
#[derive(Debug, Default)]
pub(crate) struct Request {
    pub(crate) program: String,
    pub(crate) files: Vec<String>,
    pub(crate) null_input: bool,
    pub(crate) raw_input: bool,
    pub(crate) slurp: bool,
    pub(crate) exit_status: bool,
    pub(crate) output: Output,
    /// Variables by name, without the dollar sign, the first of a name first.
    pub(crate) named: Vec<(String, Value)>,
    pub(crate) positional: Vec<Value>,
}

/// How results are written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Output {
    pub(crate) style: Style,
    /// Strings are written as they are.
    pub(crate) raw: bool,
    /// What follows each result.
    pub(crate) end: End,
}

/// What follows a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum End {
    #[default]
    Newline,
    Nothing,
    Nul,
}

/// What the command line asks for.
#[derive(Debug)]
pub(crate) enum Asked {
    Run(Box<Request>),
    Version,
}

const LETTERS: &[(char, &str)] = &[
    ('a', "ascii-output"),
    ('c', "compact-output"),
    ('C', "color-output"),
    ('e', "exit-status"),
    ('f', "from-file"),
    ('h', "help"),
    ('j', "join-output"),
    ('L', "library-path"),
    ('M', "monochrome-output"),
    ('n', "null-input"),
    ('r', "raw-output"),
    ('R', "raw-input"),
    ('s', "slurp"),
    ('S', "sort-keys"),
    ('V', "version"),
];

/// Options of jq that this one does not have.
const UNSUPPORTED: &[&str] = &[
    "stream",
    "stream-errors",
    "seq",
    "color-output",
    "library-path",
    "argfile",
    "debug-dump-disasm",
    "debug-trace",
    "build-configuration",
    "binary",
];

/// Whether operands after the program are files or arguments.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    Files,
    Strings,
    Json,
}

struct Reading {
    queue: VecDeque<String>,
    request: Request,
    program: Option<String>,
    from_file: bool,
    rest: Rest,
    version: bool,
}

/// Reads the arguments after the name.
///
/// # Errors
/// What to print, for status 2.
pub(crate) fn read(arguments: Vec<String>) -> Result<Asked, String> {
    let mut reading = Reading {
        queue: arguments.into(),
        request: Request::default(),
        program: None,
        from_file: false,
        rest: Rest::Files,
        version: false,
    };
    let mut options = true;
    while let Some(argument) = reading.queue.pop_front() {
        if options && argument == "--" {
            options = false;
        } else if let Some(long) = argument.strip_prefix("--").filter(|_| options) {
            reading.option(long)?;
        } else if options
            && argument.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()))
        {
            for letter in argument[1..].chars() {
                let Some((_, long)) = LETTERS.iter().find(|(known, _)| *known == letter) else {
                    return Err(unknown(&argument));
                };
                reading.option(long)?;
            }
        } else {
            reading.operand(argument)?;
        }
    }
    if reading.version {
        return Ok(Asked::Version);
    }
    reading.finish()
}

fn unknown(argument: &str) -> String {
    format!(
        "jq: Unknown option {argument}\nUse jq --help for help with command-line options,\nor see the jq manpage, or online docs  at https://jqlang.github.io/jq"
    )
}

impl Reading {
    fn option(&mut self, name: &str) -> Result<(), String> {
        let request = &mut self.request;
        let style = &mut request.output.style;
        match name {
            "ascii-output" => style.ascii = true,
            "compact-output" => style.indent = Indent::None,
            "exit-status" => request.exit_status = true,
            "from-file" => self.from_file = true,
            "join-output" => (request.output.raw, request.output.end) = (true, End::Nothing),
            "raw-output0" => (request.output.raw, request.output.end) = (true, End::Nul),
            "monochrome-output" | "unbuffered" => {}
            "null-input" => request.null_input = true,
            "raw-output" => request.output.raw = true,
            "raw-input" => request.raw_input = true,
            "slurp" => request.slurp = true,
            "sort-keys" => style.sorted = true,
            "tab" => style.indent = Indent::Tab,
            "indent" => {
                let count = self.values("indent", "one parameter", 1)?.remove(0);
                let count: i64 = count.parse().unwrap_or(0);
                style_indent(&mut self.request.output.style, count)?;
            }
            "args" => self.rest = Rest::Strings,
            "jsonargs" => self.rest = Rest::Json,
            "arg" | "argjson" | "slurpfile" | "rawfile" => return self.variable(name),
            "version" => self.version = true,
            "help" => {
                return Err(
                    "Usage: jq [OPTIONS] FILTER [FILES...]\nThe options are listed in docs/commands/jq.md.".to_owned()
                );
            }
            name if UNSUPPORTED.contains(&name) => return Err(format!("skillgate: jq: --{name} is not supported")),
            name => return Err(unknown(&format!("--{name}"))),
        }
        Ok(())
    }

    fn values(&mut self, option: &str, takes: &str, count: usize) -> Result<Vec<String>, String> {
        let values: Vec<String> = (0..count).map_while(|_| self.queue.pop_front()).collect();
        let example = match option {
            "indent" => "--indent n",
            "argjson" => "--argjson varname text",
            "arg" => "--arg varname value",
            "slurpfile" => "--slurpfile varname filename",
            _ => "--rawfile varname filename",
        };
        if values.len() < count {
            return Err(format!(
                "jq: --{option} takes {takes} (e.g. {example})\nUse jq --help for help with command-line options,\nor see the jq manpage, or online docs  at https://jqlang.github.io/jq"
            ));
        }
        Ok(values)
    }

    fn variable(&mut self, option: &str) -> Result<(), String> {
        let mut values = self.values(option, "two parameters", 2)?;
        let (text, name) = (values.remove(1), values.remove(0));
        let value = match option {
            "arg" => Value::from(text),
            "argjson" => reader::single(text.as_bytes())
                .ok_or_else(|| format!("jq: invalid JSON text passed to --argjson\nUse jq --help for help with command-line options,\nor see the jq manpage, or online docs  at https://jqlang.github.io/jq"))?,
            option => {
                let bad = |why: &str| format!("jq: Bad JSON in --{option} {name} {text}: {why}");
                let bytes = std::fs::read(&text)
                    .map_err(|error| bad(&format!("Could not open {text}: {}", crate::input::reason(&error))))?;
                if option == "rawfile" {
                    Value::from(String::from_utf8_lossy(&bytes).into_owned())
                } else {
                    Value::from(reader::all(&bytes).map_err(|why| bad(&why))?)
                }
            }
        };
        if !self.request.named.iter().any(|(known, _)| *known == name) {
            self.request.named.push((name, value));
        }
        Ok(())
    }

    fn operand(&mut self, text: String) -> Result<(), String> {
        if self.program.is_none() {
            self.program = Some(text);
            return Ok(());
        }
        match self.rest {
            Rest::Files => self.request.files.push(text),
            Rest::Strings => self.request.positional.push(Value::from(text)),
            Rest::Json => {
                let value = reader::single(text.as_bytes())
                    .ok_or("jq: invalid JSON text passed to --jsonargs\nUse jq --help for help with command-line options,\nor see the jq manpage, or online docs  at https://jqlang.github.io/jq")?;
                self.request.positional.push(value);
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Asked, String> {
        self.request.program = match self.program {
            Some(path) if self.from_file => std::fs::read_to_string(&path)
                .map_err(|error| format!("jq: Could not open {path}: {}", crate::input::reason(&error)))?,
            Some(program) => program,
            None if self.from_file => return Err("jq: --from-file takes a file".to_owned()),
            None => ".".to_owned(),
        };
        Ok(Asked::Run(Box::new(self.request)))
    }
}

fn style_indent(style: &mut Style, count: i64) -> Result<(), String> {
    style.indent = match count {
        0 => Indent::None,
        1..=7 => Indent::Spaces(usize::try_from(count).unwrap_or(0)),
        count if count < 0 => return Err("jq: --indent takes a number between -1 and 7".to_owned()),
        _ => return Err("jq: --indent takes a number between -1 and 7".to_owned()),
    };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn operands_are_a_program_then_files_or_arguments() {
        let Ok(Asked::Run(request)) = read(words("-nr --arg a 1 .x f --args g -c --jsonargs 2")) else {
            panic!("the line is right");
        };
        assert_eq!((request.program.as_str(), request.files.as_slice()), (".x", ["f".to_owned()].as_slice()));
        assert_eq!(request.positional.len(), 2);
        assert_eq!(request.named.len(), 1);
        assert!(request.null_input && request.output.raw && request.output.style.indent == Indent::None);
    }

    #[test]
    fn what_is_not_supported_is_named() {
        assert_eq!(read(words("--stream .")).err().as_deref(), Some("skillgate: jq: --stream is not supported"));
        assert!(read(words("--zoo .")).is_err());
        assert!(read(words("--arg a")).is_err());
    }
}
