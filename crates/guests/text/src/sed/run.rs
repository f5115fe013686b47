//! Runs a script over its inputs.

use super::input::{Broken, Input, Line, Next};
use super::request::Request;
use super::script::{Action, Address, Regex, Script, When};
use super::select::Range;
use super::sink::Sink;
use super::{STATUS_MISSING, STATUS_PANIC};
use crate::posix::{Expression, TooComplex};
use guest_command::output::{path, reason};
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read as _};
use std::rc::Rc;

/// Why a script ends early.
#[derive(Debug)]
pub(super) enum Fault {
    /// In GNU's words, with the status.
    Wrong(String, i32),
    TooComplex,
}

impl From<TooComplex> for Fault {
    fn from(_: TooComplex) -> Self {
        Self::TooComplex
    }
}

impl From<Broken> for Fault {
    fn from(Broken(message): Broken) -> Self {
        Self::Wrong(message, STATUS_PANIC)
    }
}

/// What is written before the next line is read.
enum Queued<'s> {
    Text(&'s [u8]),
    File(&'s str),
    Line(Line),
}

/// A file of `w`.
enum Written {
    File(Sink),
    /// Standard output, which keeps the account of a missing newline twice.
    Standard {
        missing_newline: bool,
    },
}

/// How one run over the script ended.
enum Turn {
    /// At its end: the pattern space is printed.
    Done,
    /// The pattern space is not printed.
    Deleted,
    /// The script runs again without a line being read.
    Again,
    Quit(i32),
}

pub(super) struct Machine<'s> {
    pub(super) script: &'s Script,
    request: &'s Request,
    pub(super) input: Input,
    delimiter: u8,
    pub(super) pattern: Line,
    hold: Line,
    pub(super) line: u64,
    pub(super) ranges: Vec<Range>,
    queue: Vec<Queued<'s>>,
    replaced: bool,
    last_regex: Option<Rc<Expression>>,
    standard: Sink,
    /// What the file that is edited becomes.
    edited: Option<(String, Sink)>,
    written: Vec<Written>,
    read: HashMap<&'s str, Option<BufReader<File>>>,
}

/// Runs the script and gives the status.
pub(super) fn run(script: &Script, request: &Request) -> Result<i32, Fault> {
    let written: Result<Vec<Written>, String> = script
        .written
        .iter()
        .map(|name| match name.as_str() {
            "/dev/stdout" => Ok(Written::Standard { missing_newline: false }),
            name => Sink::create(name).map(Written::File),
        })
        .collect();
    let separate = request.separate || request.in_place.is_some();
    let delimiter = if request.null_data { 0 } else { b'\n' };
    let mut machine = Machine {
        script,
        request,
        input: Input::new(request.files.clone(), separate, request.in_place.is_some(), delimiter),
        delimiter,
        pattern: Line::default(),
        hold: Line { text: Vec::new(), ended: true },
        line: 0,
        ranges: Vec::new(),
        queue: Vec::new(),
        replaced: false,
        last_regex: None,
        standard: Sink::standard(),
        edited: None,
        written: written.map_err(|message| Fault::Wrong(message, STATUS_PANIC))?,
        read: HashMap::new(),
    };
    machine.reset_ranges();
    let status = machine.all();
    machine.standard.flush();
    status
}

impl<'s> Machine<'s> {
    fn all(&mut self) -> Result<i32, Fault> {
        let mut status = 0;
        while self.read_line()? {
            self.replaced = false;
            loop {
                let turn = self.turn()?;
                if matches!(turn, Turn::Done) && !self.quiet() {
                    self.print_pattern();
                }
                match turn {
                    Turn::Done | Turn::Deleted => break,
                    Turn::Again => self.write_queue()?,
                    Turn::Quit(code) => {
                        status = code;
                        self.write_queue()?;
                        self.finish_edited()?;
                        return Ok(self.status(status));
                    }
                }
            }
        }
        self.finish_edited()?;
        Ok(self.status(status))
    }

    fn status(&self, status: i32) -> i32 {
        match status {
            0 if self.input.uneditable => STATUS_PANIC,
            0 if self.input.trouble => STATUS_MISSING,
            status => status,
        }
    }

    fn quiet(&self) -> bool {
        self.request.quiet || self.script.quiet
    }

    fn out(&mut self) -> &mut Sink {
        match &mut self.edited {
            Some((_, sink)) => sink,
            None => &mut self.standard,
        }
    }

    fn print_pattern(&mut self) {
        let (text, ended, delimiter) = (std::mem::take(&mut self.pattern.text), self.pattern.ended, self.delimiter);
        self.out().line(&text, ended, delimiter);
        self.pattern.text = text;
    }

    /// Reads the next line into the pattern space; `false` at the end of the input.
    fn read_line(&mut self) -> Result<bool, Fault> {
        self.write_queue()?;
        loop {
            match self.input.next()? {
                Next::Line(line) => {
                    self.pattern = line;
                    self.line += 1;
                    return Ok(true);
                }
                Next::End => return Ok(false),
                Next::File => {
                    self.finish_edited()?;
                    self.line = 0;
                    self.hold = Line { text: Vec::new(), ended: true };
                    self.reset_ranges();
                    if self.request.in_place.is_some() {
                        self.edited = Some((self.input.name.clone(), Sink::memory()));
                    }
                }
            }
        }
    }

    fn reset_ranges(&mut self) {
        let commands = self.script.commands.iter();
        let begins = |first: &Option<Address>| matches!(first, Some(Address::Line(0)));
        self.ranges =
            commands.map(|command| if begins(&command.first) { Range::Inside(None) } else { Range::Before }).collect();
    }

    /// Puts what a file was edited to in its place.
    fn finish_edited(&mut self) -> Result<(), Fault> {
        let Some((name, mut sink)) = self.edited.take() else { return Ok(()) };
        let place = path(name.as_bytes());
        let say = |error: std::io::Error| {
            Fault::Wrong(format!("sed: couldn't edit {name}: {}", reason(&error)), STATUS_PANIC)
        };
        if let Some(suffix) = self.request.in_place.as_ref().filter(|suffix| !suffix.is_empty()) {
            let content = std::fs::read(&place).map_err(say)?;
            std::fs::write(path(backup(&name, suffix).as_bytes()), content).map_err(say)?;
        }
        std::fs::write(&place, sink.take()).map_err(say)
    }

    fn write_queue(&mut self) -> Result<(), Fault> {
        let delimiter = self.delimiter;
        for queued in std::mem::take(&mut self.queue) {
            match queued {
                Queued::Text(text) => self.out().text(text, delimiter),
                Queued::Line(line) => self.out().line(&line.text, line.ended, delimiter),
                Queued::File(name) => {
                    let mut text = Vec::new();
                    // A file that cannot be read adds nothing.
                    let _ = match name {
                        "/dev/stdin" => std::io::stdin().lock().read_to_end(&mut text),
                        name => File::open(path(name.as_bytes())).and_then(|mut file| file.read_to_end(&mut text)),
                    };
                    self.out().text(&text, delimiter);
                }
            }
        }
        Ok(())
    }

    pub(super) fn expression(&mut self, regex: &Regex) -> Result<Rc<Expression>, Fault> {
        if let Regex::Given(expression) = regex {
            self.last_regex = Some(Rc::clone(expression));
        }
        self.last_regex.clone().ok_or_else(|| {
            Fault::Wrong(
                "sed: -e expression #1, char 0: no previous regular expression".to_owned(),
                super::STATUS_USAGE,
            )
        })
    }

    fn turn(&mut self) -> Result<Turn, Fault> {
        let script = self.script;
        let mut at = 0;
        while let Some(command) = script.commands.get(at) {
            let selected = self.selects(at)? != command.negated;
            at += 1;
            if !selected {
                if let Action::Block(end) = command.action {
                    at = end;
                }
                continue;
            }
            match self.act(&command.action, at - 1)? {
                Step::On => {}
                Step::To(target) => at = target,
                Step::End(turn) => return Ok(turn),
            }
        }
        Ok(Turn::Done)
    }

    fn act(&mut self, action: &'s Action, at: usize) -> Result<Step, Fault> {
        let delimiter = self.delimiter;
        match action {
            Action::Block(_) | Action::Nothing => {}
            Action::Append(text) => self.queue.push(Queued::Text(text)),
            Action::Insert(text) => self.put_text(text),
            Action::Change(text) => {
                if !matches!(self.ranges[at], Range::Inside(_)) || self.script.commands[at].negated {
                    self.put_text(text);
                }
                return Ok(Step::End(Turn::Deleted));
            }
            Action::Branch(when, target) => {
                let taken = match when {
                    When::Always => true,
                    When::Replaced => std::mem::take(&mut self.replaced),
                    When::NotReplaced => !std::mem::take(&mut self.replaced),
                };
                if taken {
                    return Ok(Step::To(*target));
                }
            }
            Action::Delete => return Ok(Step::End(Turn::Deleted)),
            Action::DeleteLine => match memchr::memchr(delimiter, &self.pattern.text) {
                None => return Ok(Step::End(Turn::Deleted)),
                Some(end) => {
                    self.pattern.text.drain(..=end);
                    return Ok(Step::End(Turn::Again));
                }
            },
            Action::Quit { print, status } => {
                if *print && !self.quiet() {
                    self.print_pattern();
                    self.out().text(b"", delimiter);
                }
                if !print {
                    self.queue.clear();
                }
                return Ok(Step::End(Turn::Quit(*status)));
            }
            Action::Show(width) => {
                let width = width.unwrap_or(self.request.width);
                let shown = super::show::shown(&self.pattern.text, width, delimiter);
                self.out().text(&shown, delimiter);
            }
            Action::Number => {
                let number = self.line.to_string();
                self.out().line(number.as_bytes(), true, delimiter);
            }
            Action::FileName => {
                let name = self.input.name.clone();
                self.out().line(name.as_bytes(), true, delimiter);
            }
            Action::Get => self.pattern = self.hold.clone(),
            Action::GetAppend => {
                self.pattern.text.push(delimiter);
                self.pattern.text.extend_from_slice(&self.hold.text);
                self.pattern.ended = self.hold.ended;
            }
            Action::Hold => self.hold = self.pattern.clone(),
            Action::HoldAppend => {
                self.hold.text.push(delimiter);
                self.hold.text.extend_from_slice(&self.pattern.text);
                self.hold.ended = self.pattern.ended;
            }
            Action::Exchange => std::mem::swap(&mut self.pattern, &mut self.hold),
            Action::Next => {
                let last = self.input.is_last()?;
                if !self.quiet() {
                    self.print_pattern();
                }
                if last || !self.read_line()? {
                    return Ok(Step::End(Turn::Deleted));
                }
            }
            Action::NextAppend => {
                if self.input.is_last()? {
                    // Without another line it is printed as it is.
                    if !self.quiet() {
                        self.print_pattern();
                    }
                    return Ok(Step::End(Turn::Deleted));
                }
                let before = std::mem::take(&mut self.pattern.text);
                if !self.read_line()? {
                    return Ok(Step::End(Turn::Deleted));
                }
                let after = std::mem::replace(&mut self.pattern.text, before);
                self.pattern.text.push(delimiter);
                self.pattern.text.extend_from_slice(&after);
            }
            Action::Print => self.print_pattern(),
            Action::PrintLine => {
                let line = self.first_line();
                self.out().line(&line.text, line.ended, delimiter);
            }
            Action::Zap => self.pattern.text.clear(),
            Action::ReadFile(name) => self.queue.push(Queued::File(name)),
            Action::ReadLine(name) => self.queue_line(name),
            Action::Write(file) => self.write(*file, self.pattern.clone()),
            Action::WriteLine(file) => self.write(*file, self.first_line()),
            Action::Substitute(command) => {
                if self.substitute(command)? {
                    self.replaced = true;
                    if command.print {
                        self.print_pattern();
                    }
                    if let Some(file) = command.written {
                        self.write(file, self.pattern.clone());
                    }
                }
            }
            Action::Translate(pairs) => self.translate(pairs),
        }
        Ok(Step::On)
    }

    fn queue_line(&mut self, name: &'s str) {
        let delimiter = self.delimiter;
        let reader =
            self.read.entry(name).or_insert_with(|| File::open(path(name.as_bytes())).ok().map(BufReader::new));
        let Some(reader) = reader else { return };
        let mut text = Vec::new();
        if reader.read_until(delimiter, &mut text).is_ok_and(|read| read > 0) {
            if text.last() == Some(&delimiter) {
                text.pop();
            }
            self.queue.push(Queued::Line(Line { text, ended: true }));
        }
    }

    /// Writes the text of `i` or `c`, which ends as lines do.
    fn put_text(&mut self, text: &[u8]) {
        let delimiter = self.delimiter;
        match text.strip_suffix(b"\n") {
            Some(line) => self.out().line(line, true, delimiter),
            None => self.out().text(text, delimiter),
        }
    }

    /// The first line of the pattern space.
    fn first_line(&self) -> Line {
        match memchr::memchr(self.delimiter, &self.pattern.text) {
            Some(end) => Line { text: self.pattern.text[..end].to_vec(), ended: true },
            None => self.pattern.clone(),
        }
    }

    /// Writes to a file of `w`.
    fn write(&mut self, file: usize, line: Line) {
        let Line { text, ended } = line;
        let delimiter = self.delimiter;
        match &mut self.written[file] {
            Written::File(sink) => sink.line(&text, ended, delimiter),
            Written::Standard { missing_newline } => {
                self.standard.line_of_another(&text, ended, delimiter, missing_newline);
            }
        }
    }

    fn translate(&mut self, pairs: &[(char, char)]) {
        let mut out = Vec::with_capacity(self.pattern.text.len());
        let mut rest = self.pattern.text.as_slice();
        while !rest.is_empty() {
            let (c, size) = bstr::decode_utf8(rest);
            match c.and_then(|c| pairs.iter().find(|(from, _)| *from == c)) {
                Some((_, to)) => super::escape::push(&mut out, *to),
                None => out.extend_from_slice(&rest[..size]),
            }
            rest = &rest[size..];
        }
        self.pattern.text = out;
    }
}

/// What follows a command.
enum Step {
    On,
    To(usize),
    End(Turn),
}

/// The name of a backup: `*` stands for the file's own name, and a slash makes it a path of its own.
fn backup(name: &str, suffix: &str) -> String {
    let (directory, base) = match name.rsplit_once('/') {
        Some((directory, base)) => (format!("{directory}/"), base),
        None => (String::new(), name),
    };
    let made = if suffix.contains('*') { suffix.replace('*', base) } else { format!("{base}{suffix}") };
    if made.contains('/') { made } else { format!("{directory}{made}") }
}
