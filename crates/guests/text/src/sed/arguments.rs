//! What follows the letter of a command: texts, regular expressions, replacements.

use super::escape;
use super::parse::{Read, Reader};
use super::script::{Action, Piece, Regex, Substitution};
use crate::posix::{Dialect, Expression, ExpressionError};
use std::rc::Rc;

/// The flags of `s` that are no file.
#[derive(Default)]
struct Flags {
    fold_case: bool,
    multi_line: bool,
    global: bool,
    print: bool,
    number: Option<u64>,
}

impl Reader {
    /// The text of `a`, `i` or `c`.
    pub(super) fn text(&mut self) -> Read<Vec<u8>> {
        let mut text = Vec::new();
        match self.source.next_nonblank() {
            None => return self.wrong("expected \\ after `a', `c' or `i'"),
            Some('\\') => {
                let here = self.source.place();
                self.source.skip_blanks();
                match self.source.peek() {
                    Some('\n') => drop(self.source.next()),
                    // On the same line: a backslash keeps the blanks that follow it.
                    Some(_) => self.source.go_to(here),
                    None if self.source.next_chunk() => {}
                    None => return Ok(text),
                }
            }
            Some(_) => self.source.back(),
        }
        loop {
            match self.source.next() {
                None | Some('\n') => break,
                Some('\\') => match self.source.peek() {
                    Some(_) => match escape::byte(self.source.rest()) {
                        Some((byte, taken)) => {
                            text.push(byte);
                            self.source.skip(taken);
                        }
                        None => self.source.next().into_iter().for_each(|c| escape::push(&mut text, c)),
                    },
                    None if self.source.next_chunk() => text.push(b'\n'),
                    None => break,
                },
                Some(c) => escape::push(&mut text, c),
            }
        }
        text.push(b'\n');
        Ok(text)
    }

    /// The text up to a delimiter, which a backslash and the delimiter stand for; `None` without its end.
    pub(super) fn delimited(&mut self, delimiter: Option<char>, regex: bool) -> Read<Option<Vec<char>>> {
        let Some(delimiter) = delimiter else { return Ok(None) };
        if !delimiter.is_ascii() {
            return self.wrong("delimiter character is not a single-byte character");
        }
        let mut text = Vec::new();
        loop {
            match self.source.next() {
                None => return Ok(None),
                Some('\n') => {
                    self.source.back();
                    return Ok(None);
                }
                Some(c) if c == delimiter => return Ok(Some(text)),
                Some('[') if regex => {
                    let Some(taken) = escape::brackets(self.source.rest()) else {
                        while self.source.peek().is_some_and(|c| c != '\n') {
                            self.source.next();
                        }
                        return Ok(None);
                    };
                    text.push('[');
                    text.extend_from_slice(&self.source.rest()[..taken]);
                    self.source.skip(taken);
                }
                Some('\\') => match self.source.next() {
                    None => return Ok(None),
                    Some('n') if regex && delimiter != 'n' => text.push('\n'),
                    Some('\n') if regex => text.push('\n'),
                    Some(c) if c == delimiter && (regex || c != '&') => text.push(c),
                    Some(c) => text.extend(['\\', c]),
                },
                Some(c) => text.push(c),
            }
        }
    }

    /// A regular expression; an empty one is the last that was used.
    pub(super) fn regex(&self, text: &[char], fold_case: bool, multi_line: bool) -> Read<Regex> {
        if text.is_empty() {
            if fold_case || multi_line {
                return self.wrong("cannot specify modifiers on empty regexp");
            }
            return Ok(Regex::Last);
        }
        if multi_line && self.settings.null_data {
            return self.unsupported("the flag M together with -z");
        }
        let Some(pattern) = escape::pattern(text) else {
            return self.unsupported("an escape for a byte above 127 in an expression");
        };
        let dialect = Dialect {
            fixed: false,
            extended: self.settings.extended,
            fold_case,
            newline_is_ordinary: !multi_line,
            multi_line,
            strict: true,
        };
        match Expression::new(&pattern, dialect) {
            Ok(expression) => Ok(Regex::Given(Rc::new(expression))),
            Err(ExpressionError::Wrong(message)) => self.wrong(&message),
            Err(ExpressionError::Unsupported(what)) => self.unsupported(&what),
        }
    }

    pub(super) fn substitution(&mut self) -> Read<Action> {
        const UNTERMINATED: &str = "unterminated `s' command";
        let delimiter = self.source.next();
        if matches!(delimiter, Some('\n' | '\\')) {
            return self.wrong(UNTERMINATED);
        }
        let Some(pattern) = self.delimited(delimiter, true)? else { return self.wrong(UNTERMINATED) };
        let Some(replacement) = self.delimited(delimiter, false)? else { return self.wrong(UNTERMINATED) };
        let replacement = escape::replacement(&replacement);
        let mut flags = Flags::default();
        let written = self.flags(&mut flags)?;
        let regex = self.regex(&pattern, flags.fold_case, flags.multi_line)?;
        if let Regex::Given(expression) = &regex {
            let groups = replacement.iter().filter_map(|piece| match piece {
                Piece::Group(group) => Some(*group),
                _ => None,
            });
            let most = groups.max().unwrap_or(0);
            if most > expression.groups() {
                return self.wrong(&format!("invalid reference \\{most} on `s' command's RHS"));
            }
        }
        let Flags { global, print, number, .. } = flags;
        let from = number.unwrap_or(1);
        Ok(Action::Substitute(Box::new(Substitution { regex, replacement, global, print, from, written })))
    }

    /// The flags of `s`; gives the file of `w`.
    fn flags(&mut self, flags: &mut Flags) -> Read<Option<usize>> {
        loop {
            match self.source.next_nonblank() {
                Some('i' | 'I') => flags.fold_case = true,
                Some('m' | 'M') => flags.multi_line = true,
                Some('e') if self.settings.sandbox => return self.wrong("e/r/w commands disabled in sandbox mode"),
                Some('e') => return self.unsupported("the flag e of s, which runs programs,"),
                Some('p') if flags.print => return self.wrong("multiple `p' options to `s' command"),
                Some('p') => flags.print = true,
                Some('g') if flags.global => return self.wrong("multiple `g' options to `s' command"),
                Some('g') => flags.global = true,
                Some('w') if self.settings.sandbox => return self.wrong("e/r/w commands disabled in sandbox mode"),
                Some('w') => {
                    let name = self.file_name()?;
                    return Ok(Some(self.written(name)));
                }
                Some('0'..='9') if flags.number.is_some() => {
                    return self.wrong("multiple number options to `s' command");
                }
                Some(digit @ '0'..='9') => {
                    let number = self.integer(digit);
                    if number == 0 {
                        return self.wrong("number option to `s' command may not be zero");
                    }
                    flags.number = Some(number);
                }
                Some('}' | '#') => {
                    self.source.back();
                    return Ok(None);
                }
                Some('\r') if self.source.peek() == Some('\n') => {}
                None | Some('\n' | ';') => return Ok(None),
                Some(_) => return self.wrong("unknown option to `s'"),
            }
        }
    }

    pub(super) fn translation(&mut self) -> Read<Action> {
        const UNTERMINATED: &str = "unterminated `y' command";
        let delimiter = self.source.next();
        let Some(from) = self.delimited(delimiter, false)? else { return self.wrong(UNTERMINATED) };
        let Some(to) = self.delimited(delimiter, false)? else { return self.wrong(UNTERMINATED) };
        let (Some(from), Some(to)) = (escape::characters(&from), escape::characters(&to)) else {
            return self.unsupported("an escape for a byte above 127 in y");
        };
        if from.len() != to.len() {
            return self.wrong("strings for `y' command are different lengths");
        }
        Ok(Action::Translate(from.into_iter().zip(to).collect()))
    }
}
