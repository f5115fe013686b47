//! What is printed of one input.

use super::matcher::Matcher;
use crate::output::Output;
use std::collections::VecDeque;

/// How selected lines are shown.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) names: bool,
    /// Only names of inputs with (or without) selected lines.
    pub(super) list: Option<bool>,
    pub(super) count: bool,
    pub(super) line_numbers: bool,
    pub(super) offsets: bool,
    pub(super) only_matching: bool,
    pub(super) quiet: bool,
    pub(super) null_names: bool,
    pub(super) before: usize,
    pub(super) after: usize,
    pub(super) max_count: Option<u64>,
    pub(super) group_separator: Option<Vec<u8>>,
    pub(super) stdin_label: Vec<u8>,
    pub(super) separator: u8,
}

impl Default for Layout {
    fn default() -> Self {
        Self {
            names: false,
            list: None,
            count: false,
            line_numbers: false,
            offsets: false,
            only_matching: false,
            quiet: false,
            null_names: false,
            before: 0,
            after: 0,
            max_count: None,
            group_separator: Some(b"--".to_vec()),
            stdin_label: b"(standard input)".to_vec(),
            separator: b'\n',
        }
    }
}

/// One input while it is searched, and what is kept between inputs.
#[derive(Debug)]
pub(super) struct Printer<'p> {
    layout: &'p Layout,
    output: &'p mut Output,
    /// Whether any group of context lines was printed, so that the next is separated.
    grouped: bool,
}

/// What a search of one input gave.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Found {
    pub(super) selected: u64,
    /// Lines were selected of something that is no text.
    pub(super) hidden: bool,
}

impl<'p> Printer<'p> {
    pub(super) fn new(layout: &'p Layout, output: &'p mut Output) -> Self {
        Self { layout, output, grouped: false }
    }

    pub(super) fn flush(&mut self) {
        self.output.flush();
    }

    /// Searches a text. `binary`: selected lines are counted and not shown.
    pub(super) fn search(&mut self, name: &[u8], text: &[u8], matcher: &Matcher, binary: bool) -> Found {
        let layout = self.layout;
        let shows = !layout.quiet && !layout.count && layout.list.is_none();
        let only_whether = layout.quiet || layout.list.is_some();
        let mut found = Found::default();
        let mut before: VecDeque<(u64, usize, &[u8])> = VecDeque::new();
        let (mut number, mut start, mut after_left) = (0_u64, 0, 0);
        let mut last_printed = 0;
        while start < text.len() {
            if layout.max_count.is_some_and(|most| found.selected >= most) && after_left == 0 {
                break;
            }
            let end = memchr::memchr(layout.separator, &text[start..]).map_or(text.len(), |at| start + at);
            let line = &text[start..end];
            number += 1;
            let exhausted = layout.max_count.is_some_and(|most| found.selected >= most);
            if !exhausted && matcher.selects(line) {
                found.selected += 1;
                if only_whether {
                    break;
                }
                if binary && shows {
                    found.hidden = true;
                    break;
                }
                if shows {
                    let context = layout.before > 0 || layout.after > 0;
                    let first = before.front().map_or(number, |(number, ..)| *number);
                    // Also between inputs, where the numbers begin again.
                    if context && self.grouped && (last_printed == 0 || first > last_printed + 1) {
                        self.separate();
                    }
                    for (number, offset, line) in before.drain(..) {
                        self.line(name, number, offset, line, b'-', None);
                    }
                    self.line(name, number, start, line, b':', Some(matcher));
                    self.grouped |= context;
                    last_printed = number;
                    after_left = layout.after;
                }
            } else if exhausted || after_left > 0 {
                if after_left > 0 && shows {
                    after_left -= 1;
                    self.line(name, number, start, line, b'-', None);
                    last_printed = number;
                }
            } else if layout.before > 0 && shows {
                if before.len() == layout.before {
                    before.pop_front();
                }
                before.push_back((number, start, line));
            }
            start = end + 1;
        }
        found
    }

    fn separate(&mut self) {
        if let Some(separator) = &self.layout.group_separator {
            self.output.put(separator);
            self.output.put(b"\n");
        }
    }

    /// What stands before a line or a count.
    fn name(&mut self, name: &[u8], mark: u8) {
        self.output.put(name);
        self.output.put(if self.layout.null_names { b"\0" } else { std::slice::from_ref(&mark) });
    }

    fn prefix(&mut self, name: &[u8], number: u64, offset: usize, mark: u8) {
        if self.layout.names {
            self.name(name, mark);
        }
        if self.layout.line_numbers {
            self.output.put(format!("{number}{}", char::from(mark)).as_bytes());
        }
        if self.layout.offsets {
            self.output.put(format!("{offset}{}", char::from(mark)).as_bytes());
        }
    }

    fn line(&mut self, name: &[u8], number: u64, offset: usize, line: &[u8], mark: u8, matcher: Option<&Matcher>) {
        if self.layout.only_matching {
            // Context lines have no matching part.
            let Some(matcher) = matcher else { return };
            for range in matcher.matches_shown(line) {
                self.prefix(name, number, offset + range.start, mark);
                self.output.put(&line[range]);
                self.output.put(&[self.layout.separator]);
            }
            return;
        }
        self.prefix(name, number, offset, mark);
        self.output.put(line);
        self.output.put(&[self.layout.separator]);
    }

    /// What is said of an input after its search.
    pub(super) fn summary(&mut self, name: &[u8], found: Found) {
        let layout = self.layout;
        if layout.quiet {
            return;
        }
        if layout.count {
            if layout.names {
                self.name(name, b':');
            }
            self.output.put(format!("{}\n", found.selected).as_bytes());
        }
        if layout.list == Some(found.selected > 0) {
            self.output.put(name);
            self.output.put(if layout.null_names { b"\0" } else { b"\n" });
        }
    }
}
