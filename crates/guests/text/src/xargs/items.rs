//! The items of the input, one by one.

use super::{Request, Separator};
use std::fmt;
use std::io::{BufReader, Read};

/// Bytes one item may have.
const MAX_ITEM: usize = 1 << 20;

/// One item.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) text: Vec<u8>,
    /// Whether a line of the input ends with it.
    pub(super) ends_line: bool,
}

/// Why the input cannot be read on.
#[derive(Debug)]
pub(super) enum ReadError {
    Unmatched(u8),
    TooLong,
    System(std::io::Error),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Unmatched(quote) => {
                let kind = if *quote == b'"' { "double" } else { "single" };
                write!(f, "unmatched {kind} quote; by default quotes are special to xargs unless you use the -0 option")
            }
            ReadError::TooLong => f.write_str("argument line too long"),
            ReadError::System(error) => f.write_str(&crate::output::reason(error)),
        }
    }
}

pub(super) struct Items<'r> {
    bytes: std::io::Bytes<BufReader<Box<dyn Read>>>,
    /// A byte that was looked at and not taken.
    peeked: Option<u8>,
    request: &'r Request,
    ended: bool,
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | 11 | 12 | b'\r')
}

impl<'r> Items<'r> {
    pub(super) fn new(input: BufReader<Box<dyn Read>>, request: &'r Request) -> Self {
        Self { bytes: input.bytes(), peeked: None, request, ended: false }
    }

    fn byte(&mut self) -> Result<Option<u8>, ReadError> {
        if let Some(byte) = self.peeked.take() {
            return Ok(Some(byte));
        }
        self.bytes.next().transpose().map_err(ReadError::System)
    }

    /// The next item; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Item>, ReadError> {
        if self.ended {
            return Ok(None);
        }
        let item = match self.request.separator {
            Separator::Byte(separator) => self.separated(separator)?,
            Separator::Blanks => self.quoted()?,
        };
        let is_end = |item: &Item| self.request.end.as_deref() == Some(item.text.as_slice());
        let item = item.filter(|item| self.request.separator != Separator::Blanks || !is_end(item));
        self.ended = item.is_none();
        Ok(item)
    }

    fn separated(&mut self, separator: u8) -> Result<Option<Item>, ReadError> {
        let mut text = Vec::new();
        while let Some(byte) = self.byte()? {
            if byte == separator {
                return Ok(Some(Item { text, ends_line: true }));
            }
            push(&mut text, byte)?;
        }
        Ok((!text.is_empty()).then_some(Item { text, ends_line: true }))
    }

    /// An item between blanks, or with `-I` a line without the blanks before it; quotes and backslashes take the meaning of
    /// what they stand before.
    fn quoted(&mut self) -> Result<Option<Item>, ReadError> {
        let whole_lines = self.request.replaced.is_some();
        let mut text = Vec::new();
        let mut begun = false;
        let mut quote = None;
        loop {
            let Some(byte) = self.byte()? else {
                return match quote {
                    Some(quote) => Err(ReadError::Unmatched(quote)),
                    None => Ok(begun.then_some(Item { text, ends_line: true })),
                };
            };
            match (quote, byte) {
                (Some(quote), b'\n') => return Err(ReadError::Unmatched(quote)),
                (Some(open), byte) if open == byte => quote = None,
                (Some(_), byte) => push(&mut text, byte)?,
                (None, b'\'' | b'"') => {
                    begun = true;
                    quote = Some(byte);
                }
                (None, b'\\') => {
                    begun = true;
                    if let Some(next) = self.byte()? {
                        push(&mut text, next)?;
                    }
                }
                (None, b'\n') if begun => return Ok(Some(Item { text, ends_line: true })),
                (None, b'\n') => {}
                (None, byte) if is_blank(byte) && !begun => {}
                (None, byte) if is_blank(byte) && !whole_lines => {
                    return self.after_blank().map(|ends_line| Some(Item { text, ends_line }));
                }
                (None, byte) => {
                    begun = true;
                    push(&mut text, byte)?;
                }
            }
        }
    }

    /// Passes the blanks after an item. A line that ends in a blank goes on on the next one.
    fn after_blank(&mut self) -> Result<bool, ReadError> {
        while let Some(byte) = self.byte()? {
            if byte != b'\n' && !is_blank(byte) {
                self.peeked = Some(byte);
                break;
            }
        }
        Ok(false)
    }
}

fn push(text: &mut Vec<u8>, byte: u8) -> Result<(), ReadError> {
    if text.len() == MAX_ITEM {
        return Err(ReadError::TooLong);
    }
    text.push(byte);
    Ok(())
}
