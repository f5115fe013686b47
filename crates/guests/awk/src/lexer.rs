//! The words of a program.

use crate::number;
use crate::{Fault, wrong};
use std::rc::Rc;

/// One word.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Token {
    Number(f64),
    /// A string, its escapes taken.
    String(Rc<[u8]>),
    /// A regular expression, as written.
    Regex(Vec<u8>),
    Name(String),
    /// A name with `(` right behind it.
    Call(String),
    /// A word that the language knows.
    Word(&'static str),
    /// A sign.
    Sign(&'static str),
    Newline,
    End,
}

/// Words of the language.
const WORDS: &[&str] = &[
    "BEGIN", "END", "break", "continue", "delete", "do", "else", "exit", "for", "func", "function", "getline", "if",
    "in", "next", "nextfile", "print", "printf", "return", "while",
];

/// Functions that are built in.
pub(crate) const FUNCTIONS: &[&str] = &[
    "atan2", "close", "cos", "exp", "fflush", "index", "int", "length", "log", "match", "mktime", "rand", "sin",
    "split", "sprintf", "sqrt", "srand", "strftime", "sub", "gsub", "substr", "system", "systime", "tolower",
    "toupper",
];

/// Signs, the longer ones first.
const SIGNS: &[&str] = &[
    "++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "==", "<=", ">=", "!=", ">>", "&&", "||", "!~", "{", "}", "(", ")",
    "[", "]", ";", ",", "+", "-", "*", "/", "%", "^", "!", ">", "<", "|", "?", ":", "~", "$", "=",
];

/// Reads all words, with the line each stands on.
///
/// # Errors
/// What is no word.
pub(crate) fn read(program: &[u8]) -> Result<Vec<(Token, usize)>, Fault> {
    let mut lexer = Lexer { text: program, at: 0, line: 1, tokens: Vec::new() };
    while lexer.next()? {}
    let line = lexer.line;
    lexer.tokens.push((Token::Newline, line));
    lexer.tokens.push((Token::End, line));
    Ok(lexer.tokens)
}

struct Lexer<'t> {
    text: &'t [u8],
    at: usize,
    line: usize,
    tokens: Vec<(Token, usize)>,
}

impl Lexer<'_> {
    fn push(&mut self, token: Token) {
        self.tokens.push((token, self.line));
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn next(&mut self) -> Result<bool, Fault> {
        let Some(byte) = self.peek() else { return Ok(false) };
        match byte {
            b' ' | b'\t' | b'\r' => self.at += 1,
            b'\n' => {
                self.push(Token::Newline);
                self.at += 1;
                self.line += 1;
            }
            b'\\' if matches!(self.text.get(self.at + 1), Some(b'\n')) => {
                self.at += 2;
                self.line += 1;
            }
            b'\\' if self.text[self.at + 1..].starts_with(b"\r\n") => {
                self.at += 3;
                self.line += 1;
            }
            b'#' => {
                while self.peek().is_some_and(|byte| byte != b'\n') {
                    self.at += 1;
                }
            }
            b'"' => self.string()?,
            b'/' if self.begins_operand() => self.regex()?,
            b'0'..=b'9' => self.number(),
            b'.' if self.text.get(self.at + 1).is_some_and(u8::is_ascii_digit) => self.number(),
            byte if byte.is_ascii_alphabetic() || byte == b'_' => self.name(),
            _ => {
                let rest = &self.text[self.at..];
                let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(sign.as_bytes())) else {
                    return wrong(format!("line {}: unexpected character '{}'", self.line, char::from(byte)));
                };
                self.at += sign.len();
                self.push(Token::Sign(sign));
            }
        }
        Ok(true)
    }

    /// Whether an operand may begin here, so that `/` is no division.
    fn begins_operand(&self) -> bool {
        !matches!(
            self.tokens.last().map(|(token, _)| token),
            Some(
                Token::Number(_)
                    | Token::String(_)
                    | Token::Regex(_)
                    | Token::Name(_)
                    | Token::Sign(")" | "]" | "$" | "++" | "--")
            )
        )
    }

    fn number(&mut self) {
        // What begins with `0x` is a number only in input.
        let rest = &self.text[self.at..];
        let decimal = rest.iter().position(|byte| matches!(byte, b'x' | b'X')).unwrap_or(rest.len());
        let (value, length) = number::prefix(&rest[..decimal]);
        self.at += length.max(1);
        self.push(Token::Number(value));
    }

    fn name(&mut self) {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            self.at += 1;
        }
        let name = String::from_utf8_lossy(&self.text[start..self.at]).into_owned();
        let token = match WORDS.iter().find(|word| **word == name) {
            Some(&"func") => Token::Word("function"),
            Some(word) => Token::Word(word),
            None if self.peek() == Some(b'(') => Token::Call(name),
            None => Token::Name(name),
        };
        self.push(token);
    }

    fn string(&mut self) -> Result<(), Fault> {
        let start = self.at + 1;
        let mut end = start;
        loop {
            match self.text.get(end) {
                None | Some(b'\n') => return wrong(format!("line {}: runaway string constant", self.line)),
                Some(b'"') => break,
                Some(b'\\') => {
                    if self.text.get(end + 1) == Some(&b'\n') {
                        self.line += 1;
                    }
                    end += 2;
                }
                Some(_) => end += 1,
            }
        }
        let text = unescaped(&self.text[start..end]);
        self.at = end + 1;
        self.push(Token::String(text.into()));
        Ok(())
    }

    fn regex(&mut self) -> Result<(), Fault> {
        let start = self.at + 1;
        let (mut end, mut in_set) = (start, false);
        loop {
            match self.text.get(end) {
                None | Some(b'\n') => return wrong(format!("line {}: runaway regular expression", self.line)),
                Some(b'/') if !in_set => break,
                Some(b'\\') => end += 1,
                Some(b'[') if !in_set => {
                    in_set = true;
                    // A `]` right at the beginning of a set is one of its characters.
                    end += usize::from(self.text.get(end + 1) == Some(&b'^'));
                    end += usize::from(self.text.get(end + 1) == Some(&b']'));
                }
                Some(b'[') if self.text.get(end + 1) == Some(&b':') => {
                    let close = self.text[end + 2..].windows(2).position(|pair| pair == b":]");
                    end += close.map_or(0, |at| at + 3);
                }
                Some(b']') => in_set = false,
                Some(_) => {}
            }
            end += 1;
        }
        let text = self.text[start..end].to_vec();
        self.at = end + 1;
        self.push(Token::Regex(text));
        Ok(())
    }
}

/// A string constant without its escapes; one that is none keeps its backslash.
pub(crate) fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        at += 1;
        if *byte != b'\\' {
            out.push(*byte);
            continue;
        }
        let Some(next) = text.get(at) else {
            out.push(b'\\');
            break;
        };
        at += 1;
        match next {
            b'"' => out.push(b'"'),
            b'\\' => out.push(b'\\'),
            b'a' => out.push(7),
            b'b' => out.push(8),
            b'f' => out.push(12),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'v' => out.push(11),
            b'\n' => {}
            b'0'..=b'7' => {
                let mut value = u32::from(next - b'0');
                for _ in 0..2 {
                    let Some(digit) = text.get(at).filter(|byte| matches!(byte, b'0'..=b'7')) else { break };
                    value = value * 8 + u32::from(digit - b'0');
                    at += 1;
                }
                out.push(value.to_le_bytes()[0]);
            }
            b'x' if text.get(at).is_some_and(u8::is_ascii_hexdigit) => {
                let mut value = 0;
                for _ in 0..2 {
                    let Some(digit) = text.get(at).and_then(|byte| char::from(*byte).to_digit(16)) else { break };
                    value = value * 16 + digit;
                    at += 1;
                }
                out.push(value.to_le_bytes()[0]);
            }
            other => out.extend_from_slice(&[b'\\', *other]),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(program: &str) -> Vec<Token> {
        let tokens = read(program.as_bytes()).expect("these are words");
        tokens.into_iter().map(|(token, _)| token).take_while(|token| *token != Token::Newline).collect()
    }

    #[test]
    fn a_slash_divides_behind_an_operand() {
        assert_eq!(kinds("a / b / c").len(), 5);
        assert_eq!(kinds("x ~ /[/]\\/a/")[2], Token::Regex(b"[/]\\/a".to_vec()));
        assert_eq!(kinds("/[[:alpha:]/]+/")[0], Token::Regex(b"[[:alpha:]/]+".to_vec()));
        assert_eq!(kinds("f(x) g")[0], Token::Call("f".to_owned()));
    }

    #[test]
    fn escapes_are_taken() {
        for (text, expected) in [(r#"a\tb\"\/\q"#, "a\tb\"\\/\\q"), (r"\x41\101\1011", "AAA1"), ("\\", "\\")] {
            assert_eq!(unescaped(text.as_bytes()), expected.as_bytes(), "{text}");
        }
        assert!(read(b"\"abc").is_err() && read(b"/abc").is_err() && read(b"@").is_err());
    }
}
