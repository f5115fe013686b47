//! Extended regular expressions of awk, over bytes, in the syntax of the library that matches them.

use crate::{Fault, unsupported, wrong};
use std::fmt::Write as _;

/// Groups inside each other that are still taken.
const MAX_DEPTH: usize = 200;

/// Translates an expression.
///
/// # Errors
/// What is wrong with it, or what is not supported.
pub(crate) fn translate(text: &[u8]) -> Result<String, Fault> {
    let mut translation = Translation { text, at: 0, out: String::new(), depth: 0 };
    translation.alternatives()?;
    if translation.at < text.len() {
        return translation.fails("unmatched ')'");
    }
    Ok(translation.out)
}

struct Translation<'t> {
    text: &'t [u8],
    at: usize,
    out: String,
    depth: usize,
}

/// Puts one byte that stands for itself.
fn literal(out: &mut String, byte: u8) {
    if byte.is_ascii_alphanumeric() {
        out.push(char::from(byte));
    } else {
        // Writing to a string does not fail.
        let _ = write!(out, "\\x{byte:02X}");
    }
}

impl Translation<'_> {
    fn fails<T>(&self, what: &str) -> Result<T, Fault> {
        wrong(format!("regular expression compile failed ({what})\n{}", String::from_utf8_lossy(self.text)))
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn alternatives(&mut self) -> Result<(), Fault> {
        self.out.push_str("(?:");
        let mut several = false;
        loop {
            let before = self.out.len();
            self.sequence()?;
            let more = self.peek() == Some(b'|');
            several |= more;
            if several && self.out.len() == before {
                return self.fails("missing operand");
            }
            if !more {
                break;
            }
            self.at += 1;
            self.out.push('|');
        }
        self.out.push(')');
        Ok(())
    }

    fn sequence(&mut self) -> Result<(), Fault> {
        let mut repeatable = false;
        while let Some(byte) = self.peek() {
            let next = self.text.get(self.at + 1).copied();
            match byte {
                b'|' => break,
                b')' if self.depth > 0 => break,
                b'*' | b'+' | b'?' if !repeatable => return self.fails("missing operand"),
                b'*' | b'+' | b'?' => {
                    self.at += 1;
                    self.out.push(char::from(byte));
                    // One more sign would be a modifier for the library, and means the repetition again.
                    while let Some(again) = self.peek().filter(|byte| matches!(byte, b'*' | b'+' | b'?')) {
                        self.at += 1;
                        self.wrap_last(char::from(again));
                    }
                    continue;
                }
                b'(' => {
                    self.at += 1;
                    self.depth += 1;
                    if self.depth > MAX_DEPTH {
                        return self.fails("nested too deeply");
                    }
                    if self.peek() == Some(b')') {
                        return self.fails("missing operand");
                    }
                    self.alternatives()?;
                    self.depth -= 1;
                    if self.peek() != Some(b')') {
                        return self.fails("missing ')'");
                    }
                    self.at += 1;
                }
                b'.' => {
                    self.at += 1;
                    self.out.push('.');
                }
                b'[' => self.set()?,
                b'^' => {
                    self.at += 1;
                    self.out.push_str("\\A");
                    repeatable = false;
                    continue;
                }
                b'$' => {
                    self.at += 1;
                    self.out.push_str("\\z");
                    repeatable = false;
                    continue;
                }
                b'{' if repeatable && next.is_some_and(|next| next.is_ascii_digit()) => {
                    // mawk 1.3.4 before 20200717 takes it as it stands, all others as a repetition.
                    return unsupported("{} as a repetition in a regular expression");
                }
                b'\\' => {
                    self.at += 1;
                    let byte = self.escape();
                    literal(&mut self.out, byte);
                }
                byte => {
                    self.at += 1;
                    literal(&mut self.out, byte);
                }
            }
            repeatable = true;
        }
        Ok(())
    }

    /// Repeats once more what was repeated last: the same as any number of times, unless both signs are the same.
    fn wrap_last(&mut self, again: char) {
        if let Some(last) = self.out.pop() {
            self.out.push(if last == again { last } else { '*' });
        }
    }

    /// The byte of an escape, its backslash passed.
    fn escape(&mut self) -> u8 {
        let Some(byte) = self.peek() else { return b'\\' };
        self.at += 1;
        match byte {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'f' => 12,
            b'v' => 11,
            b'a' => 7,
            b'b' => 8,
            b'0'..=b'7' => {
                let mut value = u32::from(byte - b'0');
                for _ in 0..2 {
                    let Some(digit) = self.peek().filter(|byte| matches!(byte, b'0'..=b'7')) else { break };
                    value = value * 8 + u32::from(digit - b'0');
                    self.at += 1;
                }
                value.to_le_bytes()[0]
            }
            byte => byte,
        }
    }

    /// A set between brackets.
    fn set(&mut self) -> Result<(), Fault> {
        self.at += 1;
        let mut members = [false; 256];
        let negated = self.peek() == Some(b'^');
        self.at += usize::from(negated);
        let mut first = true;
        loop {
            let Some(byte) = self.peek() else { return self.fails("missing ']'") };
            if byte == b']' && !first {
                self.at += 1;
                break;
            }
            first = false;
            if byte == b'['
                && matches!(self.text.get(self.at + 1), Some(b':'))
                && let Some(length) = self.text[self.at + 2..].windows(2).position(|pair| pair == b":]")
            {
                let name = &self.text[self.at + 2..self.at + 2 + length];
                let Some(class) = class(name) else { return self.fails("unknown character class") };
                (0..=u8::MAX).filter(class).for_each(|byte| members[usize::from(byte)] = true);
                self.at += length + 4;
                continue;
            }
            let low = self.member();
            let ranges = self.peek() == Some(b'-') && self.text.get(self.at + 1).is_some_and(|byte| *byte != b']');
            if ranges {
                self.at += 1;
                let high = self.member();
                (low..=high).for_each(|byte| members[usize::from(byte)] = true);
            } else {
                members[usize::from(low)] = true;
            }
        }
        let wanted: Vec<u8> = (0..=u8::MAX).filter(|byte| members[usize::from(*byte)] != negated).collect();
        if wanted.is_empty() {
            // Nothing is in it, so it never matches.
            self.out.push_str("[^\\x00-\\xFF]");
            return Ok(());
        }
        self.out.push('[');
        for byte in wanted {
            literal(&mut self.out, byte);
        }
        self.out.push(']');
        Ok(())
    }

    fn member(&mut self) -> u8 {
        let byte = self.peek().unwrap_or_default();
        self.at += 1;
        if byte == b'\\' { self.escape() } else { byte }
    }
}

fn class(name: &[u8]) -> Option<fn(&u8) -> bool> {
    Some(match name {
        b"alpha" => u8::is_ascii_alphabetic,
        b"digit" => u8::is_ascii_digit,
        b"alnum" => u8::is_ascii_alphanumeric,
        b"upper" => u8::is_ascii_uppercase,
        b"lower" => u8::is_ascii_lowercase,
        b"space" => |byte| matches!(byte, b' ' | 9..=13),
        b"blank" => |byte| matches!(byte, b' ' | b'\t'),
        b"punct" => u8::is_ascii_punctuation,
        b"print" => |byte| matches!(byte, 32..=126),
        b"graph" => u8::is_ascii_graphic,
        b"cntrl" => u8::is_ascii_control,
        b"xdigit" => u8::is_ascii_hexdigit,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_translated_or_refused() {
        for (text, expected) in [
            ("a.b", "(?:a.b)"),
            ("^a|b$", "(?:\\Aa|b\\z)"),
            ("(ab)*c+", "(?:(?:ab)*c+)"),
            ("[b-d]", "(?:[bcd])"),
            ("[]x]", "(?:[\\x5Dx])"),
            ("a**", "(?:a*)"),
            ("a+?", "(?:a*)"),
            ("\\.\\/", "(?:\\x2E\\x2F)"),
            ("{a", "(?:\\x7Ba)"),
            ("a)", "(?:a\\x29)"),
            ("", "(?:)"),
        ] {
            assert_eq!(translate(text.as_bytes()).as_deref(), Ok(expected), "{text}");
        }
        for text in ["(", "*a", "a|*", "a|", "|a", "(|a)", "[a", "()", "[[:no:]]"] {
            assert!(matches!(translate(text.as_bytes()), Err(Fault::Wrong(_))), "{text}");
        }
        assert!(matches!(translate(b"a{2}"), Err(Fault::Unsupported(_))));
        assert!(translate("(".repeat(100_000).as_bytes()).is_err());
    }
}
