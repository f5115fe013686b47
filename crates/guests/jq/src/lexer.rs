//! The words of a program.

use std::rc::Rc;

/// A word, and where it begins.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Word {
    pub(crate) token: Token,
    pub(crate) at: usize,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Token {
    /// A name, which may be a keyword.
    Name(Rc<str>),
    /// `.name`.
    Field(Rc<str>),
    /// `$name`.
    Variable(Rc<str>),
    /// `@name`.
    Format(Rc<str>),
    Number(Rc<str>),
    Text(Vec<Part>),
    /// An operator or a bracket.
    Sign(&'static str),
    End,
}

/// A part of a string.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Part {
    Text(Rc<str>),
    /// `\( )`: the words between.
    Program(Vec<Word>),
}

/// What is wrong, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Wrong {
    pub(crate) message: String,
    pub(crate) at: usize,
    /// It is no mistake: jq does it, and this one does not.
    pub(crate) unsupported: bool,
}

impl Wrong {
    pub(crate) fn new(message: impl Into<String>, at: usize) -> Self {
        Self { message: message.into(), at, unsupported: false }
    }

    pub(crate) fn unsupported(what: impl Into<String>, at: usize) -> Self {
        Self { message: what.into(), at, unsupported: true }
    }
}

const SIGNS: &[&str] = &[
    "?//", "//=", "!=", "==", "//", "|=", "+=", "-=", "*=", "/=", "%=", "<=", ">=", "..", ".", "?", "=", ";", ",", ":",
    "|", "+", "-", "*", "/", "%", "$", "<", ">", "(", ")", "[", "]", "{", "}",
];
/// Strings in strings that are still read.
const MAX_DEPTH: usize = 100;

/// The words of a program, with an end behind them.
pub(crate) fn words(program: &str) -> Result<Vec<Word>, Wrong> {
    let mut lexer = Lexer { text: program, at: 0 };
    let mut words = Vec::new();
    while let Some(word) = lexer.next(0)? {
        words.push(word);
    }
    words.push(Word { token: Token::End, at: program.len() });
    Ok(words)
}

struct Lexer<'p> {
    text: &'p str,
    at: usize,
}

impl<'p> Lexer<'p> {
    fn rest(&self) -> &'p str {
        &self.text[self.at..]
    }

    fn take_while(&mut self, is: impl Fn(char) -> bool) -> &'p str {
        let rest = self.rest();
        let end = rest.find(|c| !is(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn skip_blanks(&mut self) {
        loop {
            self.take_while(|c| " \t\r\n".contains(c));
            if !self.rest().starts_with('#') {
                return;
            }
            self.take_while(|c| c != '\n');
        }
    }

    fn name(&mut self) -> &'p str {
        let start = self.at;
        self.take_while(is_name);
        while self.rest().starts_with("::") && self.rest()[2..].starts_with(is_first_of_name) {
            self.at += 2;
            self.take_while(is_name);
        }
        &self.text[start..self.at]
    }

    fn next(&mut self, depth: usize) -> Result<Option<Word>, Wrong> {
        self.skip_blanks();
        let at = self.at;
        let mut chars = self.rest().chars();
        let Some(c) = chars.next() else { return Ok(None) };
        let second = chars.next();
        let token = match c {
            '"' => {
                self.at += 1;
                Token::Text(self.string(depth)?)
            }
            '.' if second.is_some_and(is_first_of_name) => {
                self.at += 1;
                Token::Field(self.take_while(is_name).into())
            }
            '$' if second.is_some_and(is_first_of_name) => {
                self.at += 1;
                Token::Variable(self.name().into())
            }
            '@' => {
                self.at += 1;
                if self.take_while(is_name).is_empty() {
                    return Err(Wrong::new("syntax error, unexpected INVALID_CHARACTER", at));
                }
                Token::Format(self.text[at..self.at].into())
            }
            c if is_first_of_name(c) => Token::Name(self.name().into()),
            c if c.is_ascii_digit() || (c == '.' && second.is_some_and(|c| c.is_ascii_digit())) => {
                self.number();
                Token::Number(self.text[at..self.at].into())
            }
            _ => match SIGNS.iter().find(|sign| self.rest().starts_with(**sign)) {
                Some(sign) => {
                    self.at += sign.len();
                    Token::Sign(sign)
                }
                None => return Err(Wrong::new("syntax error, unexpected INVALID_CHARACTER", at)),
            },
        };
        Ok(Some(Word { token, at }))
    }

    fn number(&mut self) {
        let digit = |c: char| c.is_ascii_digit();
        self.take_while(digit);
        if self.rest().starts_with('.') {
            self.at += 1;
            self.take_while(digit);
        }
        let rest = self.rest();
        if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
            let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            if digits.starts_with(digit) {
                self.at += rest.len() - digits.len();
                self.take_while(digit);
            }
        }
    }

    /// A string after its opening quote.
    fn string(&mut self, depth: usize) -> Result<Vec<Part>, Wrong> {
        let start = self.at;
        let unfinished = || Wrong::new("syntax error, unexpected end of file", start);
        if depth > MAX_DEPTH {
            return Err(Wrong::unsupported("a program nested so deeply", start));
        }
        let (mut parts, mut raw) = (Vec::new(), String::new());
        loop {
            let Some(c) = self.rest().chars().next() else { return Err(unfinished()) };
            self.at += c.len_utf8();
            match c {
                '"' => {
                    self.flush(&mut raw, &mut parts)?;
                    return Ok(parts);
                }
                '\\' if self.rest().starts_with('(') => {
                    self.at += 1;
                    self.flush(&mut raw, &mut parts)?;
                    parts.push(Part::Program(self.interpolated(depth, &unfinished)?));
                }
                '\\' => {
                    let Some(next) = self.rest().chars().next() else { return Err(unfinished()) };
                    self.at += next.len_utf8();
                    raw.extend(['\\', next]);
                }
                c => raw.push(c),
            }
        }
    }

    /// The words up to the parenthesis that ends an interpolation.
    fn interpolated(&mut self, depth: usize, unfinished: &impl Fn() -> Wrong) -> Result<Vec<Word>, Wrong> {
        let (mut words, mut open) = (Vec::new(), 0_usize);
        loop {
            let Some(word) = self.next(depth + 1)? else { return Err(unfinished()) };
            match word.token {
                Token::Sign("(") => open += 1,
                Token::Sign(")") if open == 0 => {
                    words.push(Word { token: Token::End, at: word.at });
                    return Ok(words);
                }
                Token::Sign(")") => open -= 1,
                _ => {}
            }
            words.push(word);
        }
    }

    fn flush(&self, raw: &mut String, parts: &mut Vec<Part>) -> Result<(), Wrong> {
        if raw.is_empty() {
            return Ok(());
        }
        let text = crate::reader::unescaped(std::mem::take(raw).as_bytes());
        let text = text.map_err(|message| Wrong::new(format!("{message} (while parsing '{}')", self.text), self.at))?;
        parts.push(Part::Text(text.into()));
        Ok(())
    }
}

fn is_first_of_name(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}
