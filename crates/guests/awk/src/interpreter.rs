//! The interpreter: what it holds, and the order in which a program's parts run.

use crate::array::Array;
use crate::fields::{Record, Separator};
use crate::input::{RecordSeparator, Source};
use crate::lexer::unescaped;
use crate::options::{Request, assignment};
use crate::output::Outputs;
use crate::parser;
use crate::random::Random;
use crate::regex::Matcher;
use crate::syntax::{Pattern, Program, Statement, Variable, special};
use crate::value::{Text, Value};
use crate::{Fault, wrong};
use guest_command::output::reason;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsString;
use std::hash::{BuildHasher as _, RandomState};
use std::rc::Rc;

/// Expressions that are kept compiled.
const MAX_MATCHERS: usize = 256;

/// What a variable of a function holds.
#[derive(Clone, Debug)]
pub(crate) enum Local {
    Value(Value),
    Array(Rc<RefCell<Array>>),
}

/// What happens after a statement.
#[derive(Debug)]
pub(crate) enum Flow {
    On,
    Break,
    Continue,
    Next,
    NextFile,
    Exit,
    Return(Value),
}

/// A running program.
pub(crate) struct Interpreter<'p> {
    pub(crate) program: &'p Program,
    pub(crate) globals: Vec<Value>,
    pub(crate) arrays: Vec<Rc<RefCell<Array>>>,
    /// The variables of the functions that are running.
    pub(crate) frames: Vec<Vec<Local>>,
    pub(crate) record: Record,
    pub(crate) separator: Separator,
    pub(crate) record_separator: RecordSeparator,
    /// The values of `CONVFMT` and `SUBSEP`, which are needed often.
    pub(crate) conversion: Text,
    pub(crate) joint: Text,
    pub(crate) outputs: Outputs,
    pub(crate) sources: HashMap<Vec<u8>, Source>,
    main: MainInput,
    matchers: HashMap<Text, Rc<Matcher>>,
    pub(crate) random: Random,
    pub(crate) seed: Value,
    pub(crate) status: i32,
    /// Whether a function ended the program.
    pub(crate) ends: bool,
}

/// The files of the command line, one after the other.
struct MainInput {
    source: Option<Source>,
    /// The operand that comes next.
    next: i64,
    any_file: bool,
    ended: bool,
}

/// Runs a program and gives its status.
///
/// # Errors
/// What is wrong with the program, or went wrong.
pub(crate) fn run(request: Request) -> Result<i32, Fault> {
    let program = parser::parse(&request.program)?;
    let mut interpreter = Interpreter::new(&program);
    let result = interpreter.prepare(&request).and_then(|()| interpreter.whole_program());
    let flushed = interpreter.outputs.flush();
    result?;
    if !flushed {
        return wrong("write failure");
    }
    Ok(interpreter.status)
}

impl<'p> Interpreter<'p> {
    fn new(program: &'p Program) -> Self {
        let text = |text: &str| Value::text_of(text.as_bytes());
        let mut globals = vec![Value::Nothing; program.globals.len()];
        for place in [special::NF, special::NR, special::FNR, special::RSTART] {
            globals[place] = Value::Number(0.0);
        }
        globals[special::RLENGTH] = Value::Number(-1.0);
        for (place, value) in [
            (special::FS, " "),
            (special::OFS, " "),
            (special::ORS, "\n"),
            (special::RS, "\n"),
            (special::SUBSEP, "\u{1c}"),
            (special::CONVFMT, "%.6g"),
            (special::OFMT, "%.6g"),
        ] {
            globals[place] = text(value);
        }
        let seed = RandomState::new().hash_one(0).to_le_bytes()[0];
        Self {
            program,
            arrays: program.globals.iter().map(|_| Rc::default()).collect(),
            globals,
            frames: Vec::new(),
            record: Record::new(),
            separator: Separator::Blanks,
            record_separator: RecordSeparator::Byte(b'\n'),
            conversion: b"%.6g"[..].into(),
            joint: b"\x1c"[..].into(),
            outputs: Outputs::new(),
            sources: HashMap::new(),
            main: MainInput { source: None, next: 1, any_file: false, ended: false },
            matchers: HashMap::new(),
            random: Random::seeded(u32::from(seed)),
            seed: Value::Number(f64::from(seed)),
            status: 0,
            ends: false,
        }
    }

    fn prepare(&mut self, request: &Request) -> Result<(), Fault> {
        use crate::array::Key;
        let name = std::env::args_os().next().map(OsString::into_encoded_bytes).unwrap_or_default();
        let name = name.rsplit(|byte| *byte == b'/').next().unwrap_or_default().to_vec();
        let mut operands = self.arrays[special::ARGV].borrow_mut();
        for (place, word) in (0..).zip(std::iter::once(&name).chain(&request.operands)) {
            *operands.get(&Key::Number(place)) = Value::Input(word.as_slice().into());
        }
        drop(operands);
        let count = u32::try_from(request.operands.len() + 1).unwrap_or(u32::MAX);
        self.globals[special::ARGC] = Value::Number(f64::from(count));
        let mut environment = self.arrays[special::ENVIRON].borrow_mut();
        for (name, value) in std::env::vars_os() {
            let key = Key::Text(name.into_encoded_bytes().into());
            *environment.get(&key) = Value::Input(value.into_encoded_bytes().into());
        }
        drop(environment);
        if let Some(separator) = &request.separator {
            self.set_global(special::FS, Value::text_of(unescaped(separator)))?;
        }
        for (name, value) in &request.assignments {
            self.assign_by_name(name, value)?;
        }
        Ok(())
    }

    /// An assignment of the command line. A name that the program does not know makes no difference.
    fn assign_by_name(&mut self, name: &str, value: &[u8]) -> Result<(), Fault> {
        if self.program.functions.iter().any(|function| function.name == name) {
            return wrong(format!("cannot assign to {name}: it is a function"));
        }
        match self.program.globals.iter().position(|global| global == name) {
            Some(place) => self.set_global(place, Value::Input(unescaped(value).into())),
            None => Ok(()),
        }
    }

    fn whole_program(&mut self) -> Result<(), Fault> {
        let program = self.program;
        let ended = matches!(self.block(&program.begin)?, Flow::Exit);
        if !ended && (!program.rules.is_empty() || program.has_end) {
            self.records()?;
        }
        // An exit before the end still runs what stands there.
        self.ends = false;
        self.block(&program.end).map(drop)
    }

    /// Runs the rules on every record, or until the program ends.
    fn records(&mut self) -> Result<(), Fault> {
        let program = self.program;
        let mut inside = vec![false; program.rules.len()];
        while let Some(record) = self.next_record()? {
            self.count_record();
            self.record.set(Value::Input(record.into()), &self.separator);
            for (rule, inside) in program.rules.iter().zip(&mut inside) {
                if !self.applies(&rule.pattern, inside)? {
                    continue;
                }
                let flow = match &rule.action {
                    Some(action) => self.block(action)?,
                    None => {
                        self.print_record()?;
                        Flow::On
                    }
                };
                match flow {
                    Flow::Next => break,
                    Flow::NextFile => {
                        self.main.source = None;
                        break;
                    }
                    Flow::Exit => return Ok(()),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn applies(&mut self, pattern: &'p Pattern, inside: &mut bool) -> Result<bool, Fault> {
        match pattern {
            Pattern::Every => Ok(true),
            Pattern::When(condition) => self.is_true(condition),
            Pattern::Range(first, last) => {
                if !*inside {
                    *inside = self.is_true(first)?;
                    if !*inside {
                        return Ok(false);
                    }
                }
                *inside = !self.is_true(last)?;
                Ok(true)
            }
        }
    }

    pub(crate) fn block(&mut self, statements: &'p [Statement]) -> Result<Flow, Fault> {
        for statement in statements {
            match self.statement(statement)? {
                Flow::On => {}
                flow => return Ok(flow),
            }
        }
        Ok(Flow::On)
    }

    pub(crate) fn count_record(&mut self) {
        for place in [special::NR, special::FNR] {
            self.globals[place] = Value::Number(self.globals[place].number() + 1.0);
        }
    }

    /// The next record of the files of the command line.
    pub(crate) fn next_record(&mut self) -> Result<Option<Vec<u8>>, Fault> {
        loop {
            if self.main.source.is_none() && !self.next_file()? {
                return Ok(None);
            }
            let separator = self.record_separator.clone();
            let Some(source) = &mut self.main.source else { return Ok(None) };
            if let Some(record) = source.record(&separator)? {
                return Ok(Some(record));
            }
            self.main.source = None;
        }
    }

    /// Opens the next file; `false` when there is none.
    fn next_file(&mut self) -> Result<bool, Fault> {
        use crate::array::Key;
        if self.main.ended {
            return Ok(false);
        }
        #[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
        while self.main.next < self.globals[special::ARGC].number() as i64 {
            let key = Key::Number(self.main.next);
            self.main.next += 1;
            let operand = {
                let mut operands = self.arrays[special::ARGV].borrow_mut();
                if operands.contains(&key) { operands.get(&key).text(&self.conversion) } else { continue }
            };
            if operand.is_empty() {
                continue;
            }
            if let Some((name, value)) = assignment(&operand) {
                self.assign_by_name(&name, &value)?;
                continue;
            }
            self.open_main(&operand)?;
            return Ok(true);
        }
        self.main.ended = true;
        if self.main.any_file {
            return Ok(false);
        }
        self.main.source = Some(Source::new(Box::new(std::io::stdin().lock())));
        Ok(true)
    }

    fn open_main(&mut self, name: &Text) -> Result<(), Fault> {
        let source = Source::open(name).map_err(|error| {
            Fault::Wrong(format!("cannot open {} ({})", String::from_utf8_lossy(name), reason(&error)))
        })?;
        self.main.source = Some(source);
        self.main.any_file = true;
        self.globals[special::FILENAME] = Value::Text(Rc::clone(name));
        self.globals[special::FNR] = Value::Number(0.0);
        Ok(())
    }

    /// The compiled form of a text.
    pub(crate) fn matcher(&mut self, text: &Text) -> Result<Rc<Matcher>, Fault> {
        if let Some(matcher) = self.matchers.get(text) {
            return Ok(Rc::clone(matcher));
        }
        let matcher = Rc::new(Matcher::compile(text)?);
        if self.matchers.len() == MAX_MATCHERS {
            self.matchers.clear();
        }
        self.matchers.insert(Rc::clone(text), Rc::clone(&matcher));
        Ok(matcher)
    }

    pub(crate) fn array(&self, variable: Variable) -> Result<Rc<RefCell<Array>>, Fault> {
        match variable {
            Variable::Global(place) => Ok(Rc::clone(&self.arrays[place])),
            Variable::Local(place) => match self.frames.last().and_then(|frame| frame.get(place)) {
                Some(Local::Array(array)) => Ok(Rc::clone(array)),
                _ => wrong("a value is used as an array"),
            },
        }
    }
}
