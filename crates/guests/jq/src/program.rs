//! Compiling and running a program.

use crate::functions::{self, Data, Kind};
use crate::input::{Inputs, Place};
use crate::options::{End, Request, STATUS_USAGE};
use crate::{formats, message, rewrite, writer};
use jaq_core::compile::Undefined;
use jaq_core::load::{Arena, File, Loader};
use jaq_core::{Compiler, Ctx, Filter, Vars};
use jaq_json::{Map, Val};
use jaq_std::input::RcIter;
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
    let variables = variables(request);
    let names: Vec<String> = variables.iter().map(|(name, _)| format!("${name}")).collect();
    let filter = match compile(&request.program, &names) {
        Ok(filter) => filter,
        Err(text) => {
            eprintln!("{text}");
            return STATUS_COMPILE;
        }
    };
    let place = Place::default();
    let inputs: Box<dyn Iterator<Item = Result<Val, String>> + '_> = Box::new(Inputs::new(request, &place));
    let inputs = RcIter::new(inputs);
    let data = Data { lut: &filter.lut, inputs: &inputs, place: &place };
    let values: Vec<Val> = variables.into_iter().map(|(_, value)| value).collect();
    let mut run = Run { request, filter: &filter, data: &data, values, out: BufWriter::new(io::stdout().lock()), status: 0, last: None };
    let halted = if request.null_input { run.one(Val::Null) } else { run.all() };
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
        _ if place.failed.get() => STATUS_USAGE,
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
    eprintln!("jq: error: writing output failed: {}", crate::input::reason(error));
    STATUS_USAGE
}

struct Run<'r> {
    request: &'r Request,
    filter: &'r Filter<Kind>,
    data: &'r Data<'r>,
    values: Vec<Val>,
    out: BufWriter<io::StdoutLock<'static>>,
    status: i32,
    /// Whether the last result was neither false nor null.
    last: Option<bool>,
}

impl Run<'_> {
    /// Runs the program on every input; the status if it ends early.
    fn all(&mut self) -> Option<i32> {
        let mut inputs = self.data.inputs;
        while let Some(input) = inputs.next() {
            match input {
                Ok(value) => {
                    if let Some(status) = self.one(value) {
                        return Some(status);
                    }
                }
                Err(text) => {
                    let _written = self.out.flush();
                    eprintln!("parse error: {text}");
                    return Some(STATUS_USAGE);
                }
            }
        }
        None
    }

    fn one(&mut self, input: Val) -> Option<i32> {
        let context = Ctx::<Kind>::new(self.data, Vars::new(self.values.clone()));
        for result in self.filter.id.run((context, input)) {
            match result.map_err(|exception| exception.get_err()) {
                Ok(value) => {
                    if let Err(error) = self.write(&value) {
                        return Some(write_failure(&error));
                    }
                    self.last = Some(!matches!(value, Val::Null | Val::Bool(false)));
                }
                Err(Ok(error)) => {
                    self.tell(&error.into_val());
                    self.status = STATUS_ERROR;
                    break;
                }
                Err(Err(exception)) => return Some(exception.get_halt().unwrap_or(STATUS_ERROR)),
            }
        }
        None
    }

    fn write(&mut self, value: &Val) -> io::Result<()> {
        let output = &self.request.output;
        let mut text = String::new();
        match value {
            Val::TStr(bytes) if output.raw && !output.style.ascii => self.out.write_all(bytes)?,
            value => writer::write(&mut text, value, output.style, 0),
        }
        match output.end {
            End::Newline => text.push('\n'),
            End::Nul => text.push('\0'),
            End::Nothing => {}
        }
        self.out.write_all(text.as_bytes())
    }

    fn tell(&mut self, error: &Val) {
        let _written = self.out.flush();
        let place = self.data.place.shown();
        match error {
            Val::TStr(_) => eprintln!("jq: error (at {place}): {}", message::in_jqs_words(&formats::text(error))),
            other => eprintln!("jq: error (at {place}) (not a string): {}", writer::compact(other)),
        }
    }
}

/// The global variables: those of the command line, `$ARGS` and `$ENV`.
fn variables(request: &Request) -> Vec<(String, Val)> {
    let key = |text: &str| Val::utf8_str(text.to_owned().into_bytes());
    let named: Map = request.named.iter().map(|(name, value)| (key(name), value.clone())).collect();
    let positional = request.positional.iter().cloned().collect();
    let arguments = [(key("positional"), positional), (key("named"), Val::obj(named))].into_iter().collect();
    let environment: Map = std::env::vars_os()
        .map(|(name, value)| (key(&name.to_string_lossy()), key(&value.to_string_lossy())))
        .collect();
    let mut all = request.named.clone();
    all.push(("ARGS".to_owned(), Val::obj(arguments)));
    all.push(("ENV".to_owned(), Val::obj(environment)));
    all
}

fn compile(program: &str, names: &[String]) -> Result<Filter<Kind>, String> {
    let code = rewrite::rewrite(program).map_err(|(text, at)| {
        let line = 1 + program.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count();
        format!("jq: error: {text} (Unix shell quoting issues?) at <top-level>, line {line}:\n{program}\njq: 1 compile error")
    })?;
    let arena = Arena::default();
    let loader = Loader::new(functions::definitions());
    let file = File { code: code.as_str(), path: () };
    let modules = loader
        .load(&arena, file)
        .map_err(|_| format!("jq: error: syntax error at <top-level>:\n{program}\njq: 1 compile error"))?;
    let compiler = Compiler::default().with_funs(functions::functions()).with_global_vars(names.iter().map(String::as_str));
    compiler.compile(modules).map_err(|errors| {
        let mut lines: Vec<String> = Vec::new();
        for (name, what) in errors.into_iter().flat_map(|(_, undefined)| undefined) {
            let name = match what {
                Undefined::Filter(arity) => format!("{name}/{arity}"),
                _ => name.to_owned(),
            };
            lines.push(format!("jq: error: {name} is not defined at <top-level>, line 1:\n{program}"));
        }
        let plural = if lines.len() == 1 { "" } else { "s" };
        format!("{}\njq: {} compile error{plural}", lines.join("\n"), lines.len())
    })
}
