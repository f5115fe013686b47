//! Which lines a command's addresses select.

use super::run::{Fault, Machine};
use super::script::{Address, Last};

/// Where the lines of a range begin and end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Range {
    Before,
    /// In it, up to a line when that is known.
    Inside(Option<u64>),
    /// It does not begin again when it begins with a line number.
    After,
}

impl Machine<'_> {
    fn address(&mut self, address: &Address) -> Result<bool, Fault> {
        Ok(match address {
            Address::Line(number) => self.line == *number,
            Address::Step(first, step) => self.line >= *first && (self.line - first) % step == 0,
            Address::LastLine => self.input.is_last()?,
            Address::Matches(regex) => {
                let expression = self.expression(regex)?;
                expression.is_match(&self.pattern.text)?
            }
        })
    }

    /// Whether the addresses of a command select the current line.
    pub(super) fn selects(&mut self, at: usize) -> Result<bool, Fault> {
        let command = &self.script.commands[at];
        let Some(first) = &command.first else { return Ok(true) };
        let Some(last) = &command.last else { return self.address(first) };
        let line = self.line;
        if let Range::Inside(end) = self.ranges[at] {
            return Ok(match last {
                Last::Address(Address::Line(end)) => {
                    if line >= *end {
                        self.ranges[at] = Range::After;
                    }
                    line <= *end
                }
                Last::More(_) | Last::Multiple(_) => {
                    if end.is_none_or(|end| line >= end) {
                        self.ranges[at] = Range::After;
                    }
                    true
                }
                Last::Address(address) => {
                    if self.address(address)? {
                        self.ranges[at] = Range::After;
                    }
                    true
                }
            });
        }
        match first {
            Address::Line(number) => {
                if self.ranges[at] == Range::After || line < *number {
                    return Ok(false);
                }
                if let Last::Address(Address::Line(end)) = last
                    && line > *end
                {
                    self.ranges[at] = Range::After;
                    return Ok(line == *number);
                }
            }
            first => {
                if !self.address(first)? {
                    return Ok(false);
                }
            }
        }
        let end = match last {
            Last::Address(Address::Line(end)) => Some(*end),
            Last::More(more) => Some(line.saturating_add(*more)),
            Last::Multiple(0) => Some(line),
            // A line that is a multiple itself begins a range up to the next.
            Last::Multiple(multiple) => Some((line / multiple + 1).saturating_mul(*multiple)),
            Last::Address(_) => None,
        };
        self.ranges[at] = if end.is_some_and(|end| end <= line) { Range::After } else { Range::Inside(end) };
        Ok(true)
    }
}
