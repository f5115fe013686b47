//! Compiling and running a program on its inputs.

use crate::compile::{self, Program};
use crate::error::Stop;
use crate::host::Host;
use crate::input::{Inputs, reason};
use crate::lexer::Wrong;
use crate::machine::Machine;
use crate::options::{End, Request, STATUS_USAGE};
use crate::value::{Object, Value};
use crate::writer;
use std::collections::HashMap;
use std::io::{self, BufWriter, Write as _};

/// Status after an error of a program.
const STATUS_ERROR: i32 = 5;
/// Status of a program that is wrong.
const STATUS_COMPILE: i32 = 3;
/// Status of a false or null last result, and of no result, when the status is asked for.
const STATUS_FALSE: i32 = 1;
const STATUS_NOTHING: i32 = 4;
/// Status when the reader of the output went away.
const STATUS_BROKEN_PIPE: i32 = 141;

/// Runs what was asked for and gives the status.
pub(crate) fn run(request: &Request) -> i32 {
    let program = match compile::compile(&request.program, &variables(request)) {
        Ok(program) => program,
        Err(wrong) => return refuse(&wrong, &request.program),
    };
    let mut run = Run {
        request,
        program: &program,
        host: Host { inputs: Inputs::new(request) },
        out: BufWriter::with_capacity(1 << 16, io::stdout().lock()),
        status: 0,
        last: None,
    };
    let halted = if request.null_input { run.one(Value::Null) } else { run.all() };
    if let Err(error) = run.out.flush() {
        return write_failure(&error);
    }
    if let Some(status) = halted {
        return status;
    }
    if run.status != 0 {
        return run.status;
    }
    match run.last {
        _ if run.host.inputs.failed => STATUS_USAGE,
        _ if !request.exit_status => 0,
        None => STATUS_NOTHING,
        Some(true) => 0,
        Some(false) => STATUS_FALSE,
    }
}

fn write_failure(error: &io::Error) -> i32 {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return STATUS_BROKEN_PIPE;
    }
    eprintln!("jq: error: writing output failed: {}", reason(error));
    STATUS_USAGE
}

fn unsupported(what: &str) -> i32 {
    eprintln!("skillgate: jq: {what} is not supported");
    STATUS_USAGE
}

/// Tells what is wrong in a program.
fn refuse(wrong: &[Wrong], text: &str) -> i32 {
    if let Some(wrong) = wrong.iter().find(|wrong| wrong.unsupported) {
        return unsupported(&wrong.message);
    }
    for wrong in wrong {
        let line = 1 + text.as_bytes()[..wrong.at.min(text.len())].iter().filter(|byte| **byte == b'\n').count();
        let hint = if wrong.message.starts_with("syntax error") { " (Unix shell quoting issues?)" } else { "" };
        eprintln!("jq: error: {}{hint} at <top-level>, line {line}:\n{text}", wrong.message);
    }
    let plural = if wrong.len() == 1 { "" } else { "s" };
    eprintln!("jq: {} compile error{plural}", wrong.len());
    STATUS_COMPILE
}

struct Run<'r> {
    request: &'r Request,
    program: &'r Program,
    host: Host,
    out: BufWriter<io::StdoutLock<'static>>,
    status: i32,
    /// Whether the last result was neither false nor null.
    last: Option<bool>,
}

impl Run<'_> {
    /// Runs the program on every input; the status if it ends early.
    fn all(&mut self) -> Option<i32> {
        loop {
            match self.host.inputs.next() {
                None => return None,
                Some(Ok(value)) => {
                    if let Some(status) = self.one(value) {
                        return Some(status);
                    }
                }
                Some(Err(text)) => {
                    let _written = self.out.flush();
                    eprintln!("jq: parse error: {text}");
                    return Some(STATUS_ERROR);
                }
            }
        }
    }

    fn one(&mut self, input: Value) -> Option<i32> {
        let mut machine = Machine::new(self.program, &mut self.host, input);
        let output = &self.request.output;
        loop {
            match machine.next() {
                None => return None,
                Some(Ok(value)) => {
                    let mut text = String::new();
                    match &value {
                        Value::Text(raw) if output.raw && !output.style.ascii => text.push_str(raw),
                        value => writer::write(&mut text, value, output.style, 0),
                    }
                    if output.end == End::Nul && text.contains('\0') {
                        let _written = self.out.flush();
                        let message = "Cannot dump a string containing NUL with --raw-output0 option";
                        eprintln!("jq: error (at {}): {message}", machine.host().inputs.place());
                        self.status = STATUS_ERROR;
                        return None;
                    }
                    match output.end {
                        End::Newline => text.push('\n'),
                        End::Nul => text.push('\0'),
                        End::Nothing => {}
                    }
                    if let Err(error) = self.out.write_all(text.as_bytes()) {
                        return Some(write_failure(&error));
                    }
                    self.last = Some(value.is_true());
                }
                Some(Err(stop)) => {
                    let _written = self.out.flush();
                    match stop {
                        Stop::Error(error) => {
                            tell(&error, &machine.host().inputs.place());
                            self.status = STATUS_ERROR;
                            return None;
                        }
                        Stop::Halt(status) => return Some(status),
                        Stop::Unsupported(what) => return Some(unsupported(&what)),
                    }
                }
            }
        }
    }
}

fn tell(error: &Value, place: &str) {
    match error {
        Value::Text(text) => eprintln!("jq: error (at {place}): {text}"),
        other => eprintln!("jq: error (at {place}) (not a string): {}", writer::compact(other)),
    }
}

/// The global variables: those of the command line, `$ARGS` and `$ENV`.
fn variables(request: &Request) -> HashMap<String, Value> {
    let named: Object = request.named.iter().map(|(name, value)| (name.as_str().into(), value.clone())).collect();
    let positional = Value::from(request.positional.clone());
    let arguments = [("positional".into(), positional), ("named".into(), Value::from(named))];
    let environment: Object = std::env::vars_os()
        .map(|(name, value)| (name.to_string_lossy().into(), Value::from(value.to_string_lossy().as_ref())))
        .collect();
    let mut all: HashMap<String, Value> = request.named.iter().cloned().collect();
    all.insert("ARGS".to_owned(), Value::from(Object::from_iter(arguments)));
    all.insert("ENV".to_owned(), Value::from(environment));
    all
}
