//! Scripts, read with the words of GNU's sed for what is wrong in them.

use super::script::{Action, Address, Command, Last, Script, When};
use super::source::{Chunk, Source};
use super::{STATUS_PANIC, STATUS_USAGE};
use std::collections::HashMap;

/// Why a script is not taken, in the words to print.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Refusal {
    Wrong(String, i32),
    Unsupported(String),
}

/// How regular expressions are read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) extended: bool,
    /// `-z`.
    pub(super) null_data: bool,
    /// `--sandbox`: no command that reads or writes a file.
    pub(super) sandbox: bool,
}

/// The version whose scripts are read.
const VERSION: &[u32] = &[4, 9];

/// Reads a script.
pub(super) fn parse(chunks: Vec<Chunk>, settings: Settings) -> Result<Script, Refusal> {
    let mut reader = Reader {
        source: Source::new(chunks),
        settings,
        script: Script::default(),
        blocks: Vec::new(),
        labels: HashMap::new(),
        jumps: Vec::new(),
    };
    reader.script.quiet = reader.source.begins_with_quiet_mark();
    loop {
        while reader.command()? {}
        if !reader.source.next_chunk() {
            break;
        }
    }
    reader.finish()
}

pub(super) struct Reader {
    pub(super) source: Source,
    pub(super) settings: Settings,
    script: Script,
    /// Blocks that are open.
    blocks: Vec<usize>,
    labels: HashMap<String, usize>,
    /// Branches and the labels they want.
    jumps: Vec<(usize, String)>,
}

pub(super) type Read<T> = Result<T, Refusal>;

impl Reader {
    pub(super) fn wrong<T>(&self, message: &str) -> Read<T> {
        Err(Refusal::Wrong(self.source.complaint(message), STATUS_USAGE))
    }

    pub(super) fn unsupported<T>(&self, what: &str) -> Read<T> {
        Err(Refusal::Unsupported(what.to_owned()))
    }

    /// Reads one command; `false` at the end of the chunk.
    fn command(&mut self) -> Read<bool> {
        let mut c = loop {
            match self.source.next() {
                None => return Ok(false),
                Some(c) if c == ';' || c.is_ascii_whitespace() => {}
                Some(c) => break Some(c),
            }
        };
        let (mut first, mut last) = (None, None);
        if let Some(address) = self.address(c)? {
            let Last::Address(address) = address else {
                return self.wrong("invalid usage of +N or ~N as first address");
            };
            first = Some(address);
            c = self.source.next_nonblank();
            if c == Some(',') {
                let after = self.source.next_nonblank();
                last = self.address(after)?;
                if last.is_none() {
                    return self.wrong("unexpected `,'");
                }
                c = self.source.next_nonblank();
            }
            let zero = matches!(first, Some(Address::Line(0)));
            if zero && !matches!(last, Some(Last::Address(Address::Matches(_)))) {
                return self.wrong("invalid usage of line address 0");
            }
        }
        let mut negated = false;
        if c == Some('!') {
            negated = true;
            c = self.source.next_nonblank();
            if c == Some('!') {
                return self.wrong("multiple `!'s");
            }
        }
        let addresses = usize::from(first.is_some()) + usize::from(last.is_some());
        let at = self.script.commands.len();
        let action = self.action(c, addresses, at)?;
        self.script.commands.push(Command { first, last, negated, action });
        Ok(true)
    }

    fn address(&mut self, c: Option<char>) -> Read<Option<Last>> {
        let Some(c) = c else { return Ok(None) };
        let address = match c {
            '/' | '\\' => {
                let delimiter = if c == '\\' { self.source.next() } else { Some(c) };
                let Some(text) = self.delimited(delimiter, true)? else {
                    return self.wrong("unterminated address regex");
                };
                let (mut fold_case, mut multi_line) = (false, false);
                loop {
                    match self.source.next_nonblank() {
                        Some('I') => fold_case = true,
                        Some('M') => multi_line = true,
                        Some(_) => {
                            self.source.back();
                            break;
                        }
                        None => break,
                    }
                }
                Address::Matches(self.regex(&text, fold_case, multi_line)?)
            }
            '0'..='9' => {
                let number = self.integer(c);
                match self.source.next_nonblank() {
                    Some('~') => {
                        let step = self.source.next_nonblank();
                        match self.optional_integer(step) {
                            0 => Address::Line(number),
                            step => Address::Step(number, step),
                        }
                    }
                    Some(_) => {
                        self.source.back();
                        Address::Line(number)
                    }
                    None => Address::Line(number),
                }
            }
            '+' | '~' => {
                let digit = self.source.next_nonblank();
                let number = self.optional_integer(digit);
                return Ok(Some(if c == '+' { Last::More(number) } else { Last::Multiple(number) }));
            }
            '$' => Address::LastLine,
            _ => return Ok(None),
        };
        Ok(Some(Last::Address(address)))
    }

    /// A number whose first digit was taken.
    pub(super) fn integer(&mut self, first: char) -> u64 {
        let mut number = u64::from(first.to_digit(10).unwrap_or(0));
        while let Some(digit) = self.source.peek().and_then(|c| c.to_digit(10)) {
            self.source.next();
            number = number.saturating_mul(10).saturating_add(u64::from(digit));
        }
        number
    }

    fn optional_integer(&mut self, c: Option<char>) -> u64 {
        match c {
            Some(c) if c.is_ascii_digit() => self.integer(c),
            Some(_) => {
                self.source.back();
                0
            }
            None => 0,
        }
    }

    fn action(&mut self, c: Option<char>, addresses: usize, at: usize) -> Read<Action> {
        let Some(c) = c else { return self.wrong("missing command") };
        let simple = match c {
            '{' => {
                self.blocks.push(at);
                return Ok(Action::Block(0));
            }
            '}' => {
                let Some(open) = self.blocks.pop() else { return self.wrong("unexpected `}'") };
                if addresses > 0 {
                    return self.wrong("} doesn't want any addresses");
                }
                self.end_of_command()?;
                self.script.commands[open].action = Action::Block(at);
                return Ok(Action::Nothing);
            }
            '#' => {
                if addresses > 0 {
                    return self.wrong("comments don't accept any addresses");
                }
                while self.source.next().is_some_and(|c| c != '\n') {}
                return Ok(Action::Nothing);
            }
            ':' => {
                if addresses > 0 {
                    return self.wrong(": doesn't want any addresses");
                }
                let label = self.label();
                if label.is_empty() {
                    return self.wrong("\":\" lacks a label");
                }
                self.labels.insert(label, at);
                return Ok(Action::Nothing);
            }
            'b' | 't' | 'T' => {
                let label = self.label();
                self.jumps.push((at, label));
                let when = match c {
                    'b' => When::Always,
                    't' => When::Replaced,
                    _ => When::NotReplaced,
                };
                return Ok(Action::Branch(when, usize::MAX));
            }
            'a' | 'i' | 'c' => {
                let text = self.text()?;
                return Ok(match c {
                    'a' => Action::Append(text),
                    'i' => Action::Insert(text),
                    _ => Action::Change(text),
                });
            }
            'q' | 'Q' => {
                if addresses > 1 {
                    return self.wrong("command only uses one address");
                }
                let digit = self.source.next_nonblank();
                let status = i32::try_from(self.optional_integer(digit)).unwrap_or(i32::MAX);
                Action::Quit { print: c == 'q', status }
            }
            'l' => match self.source.next_nonblank() {
                Some(digit) if digit.is_ascii_digit() => {
                    Action::Show(Some(usize::try_from(self.integer(digit)).unwrap_or(usize::MAX)))
                }
                Some(_) => {
                    self.source.back();
                    Action::Show(None)
                }
                None => Action::Show(None),
            },
            'r' | 'R' | 'w' | 'W' => {
                if self.settings.sandbox {
                    return self.wrong("e/r/w commands disabled in sandbox mode");
                }
                let name = self.file_name()?;
                return Ok(match c {
                    'r' => Action::ReadFile(name),
                    'R' => Action::ReadLine(name),
                    'w' => Action::Write(self.written(name)),
                    _ => Action::WriteLine(self.written(name)),
                });
            }
            'e' if self.settings.sandbox => return self.wrong("e/r/w commands disabled in sandbox mode"),
            'e' => return self.unsupported("the command e, which runs programs,"),
            'v' => {
                let wanted: Vec<u32> = self.label().split('.').map(|part| part.parse().unwrap_or(0)).collect();
                if wanted.as_slice() > VERSION {
                    return self.wrong("expected newer version of sed");
                }
                Action::Nothing
            }
            's' => return self.substitution(),
            'y' => self.translation()?,
            '=' => Action::Number,
            'd' => Action::Delete,
            'D' => Action::DeleteLine,
            'F' => Action::FileName,
            'g' => Action::Get,
            'G' => Action::GetAppend,
            'h' => Action::Hold,
            'H' => Action::HoldAppend,
            'n' => Action::Next,
            'N' => Action::NextAppend,
            'p' => Action::Print,
            'P' => Action::PrintLine,
            'x' => Action::Exchange,
            'z' => Action::Zap,
            c => return self.wrong(&format!("unknown command: `{c}'")),
        };
        self.end_of_command()?;
        Ok(simple)
    }

    pub(super) fn end_of_command(&mut self) -> Read<()> {
        match self.source.next_nonblank() {
            Some('}' | '#') => {
                self.source.back();
                Ok(())
            }
            None | Some('\n' | ';') => Ok(()),
            Some('\r') if self.source.peek() == Some('\n') => Ok(()),
            Some(_) => self.wrong("extra characters after command"),
        }
    }

    /// The label after `:`, `b`, `t` or `T`.
    fn label(&mut self) -> String {
        self.source.skip_blanks();
        let mut label = String::new();
        while let Some(c) = self.source.peek().filter(|c| !c.is_ascii_whitespace() && !";}".contains(*c)) {
            label.push(c);
            self.source.next();
        }
        label
    }

    pub(super) fn file_name(&mut self) -> Read<String> {
        self.source.skip_blanks();
        let mut name = String::new();
        while let Some(c) = self.source.next().filter(|c| *c != '\n') {
            name.push(c);
        }
        if name.is_empty() { self.wrong("missing filename in r/R/w/W commands") } else { Ok(name) }
    }

    /// The index of a file that is written.
    pub(super) fn written(&mut self, name: String) -> usize {
        let files = &mut self.script.written;
        files.iter().position(|known| *known == name).unwrap_or_else(|| {
            files.push(name);
            files.len() - 1
        })
    }

    fn finish(mut self) -> Read<Script> {
        if !self.blocks.is_empty() {
            return Err(Refusal::Wrong("sed: -e expression #1, char 0: unmatched `{'".to_owned(), STATUS_USAGE));
        }
        let end = self.script.commands.len();
        for (at, label) in self.jumps {
            let target = match label.is_empty() {
                true => end,
                false => *self.labels.get(&label).ok_or_else(|| {
                    Refusal::Wrong(format!("sed: can't find label for jump to `{label}'"), STATUS_PANIC)
                })?,
            };
            if let Action::Branch(_, to) = &mut self.script.commands[at].action {
                *to = target;
            }
        }
        Ok(self.script)
    }
}
