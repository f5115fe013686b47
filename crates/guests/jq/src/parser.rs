//! Programs, read into their tree.

use crate::ast::{Definition, Member, Operator, Pattern, Term, TextPart};
use crate::lexer::{Part, Token, Word, Wrong, words};
use crate::value::Value;
use std::rc::Rc;

const KEYWORDS: &[&str] = &[
    "__loc__", "and", "as", "catch", "def", "elif", "else", "end", "foreach", "if", "import", "include", "label",
    "module", "or", "reduce", "then", "try",
];
/// Nesting of a program that is still read.
const MAX_DEPTH: usize = 300;

/// A program that was read: definitions and an expression.
pub(crate) fn program(text: &str) -> Result<Term, Wrong> {
    let mut parser = Parser { words: words(text)?, at: 0, depth: 0 };
    for word in ["import", "include", "module"] {
        if parser.is_name(word) {
            return Err(Wrong::unsupported(format!("{word}, which is for modules,"), parser.here()));
        }
    }
    let definitions = parser.definitions()?;
    let body = match parser.peek() {
        Token::End if definitions.is_empty() => Term::Identity,
        Token::End => return Err(Wrong::new("Top-level program not given (try \".\")", 0)),
        _ => parser.pipe()?,
    };
    parser.end()?;
    Ok(definitions.into_iter().rev().fold(body, |body, definition| Term::Define(definition, Box::new(body))))
}

/// The definitions of a text.
pub(crate) fn definitions(text: &str) -> Result<Vec<Rc<Definition>>, Wrong> {
    let mut parser = Parser { words: words(text)?, at: 0, depth: 0 };
    let definitions = parser.definitions()?;
    parser.end()?;
    Ok(definitions)
}

struct Parser {
    words: Vec<Word>,
    at: usize,
    depth: usize,
}

type Read<T> = Result<T, Wrong>;

/// To which side equal operators group.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
    Neither,
}

/// How strongly a binary operator binds.
fn binding(token: &Token) -> Option<(u8, Side)> {
    Some(match token {
        Token::Sign("|") => (PIPE, Side::Right),
        Token::Sign(",") => (2, Side::Left),
        Token::Sign("//") => (3, Side::Right),
        Token::Sign("=" | "|=" | "+=" | "-=" | "*=" | "/=" | "%=" | "//=") => (4, Side::Neither),
        Token::Name(name) if &**name == "or" => (5, Side::Left),
        Token::Name(name) if &**name == "and" => (6, Side::Left),
        Token::Sign("==" | "!=" | "<" | "<=" | ">" | ">=") => (7, Side::Neither),
        Token::Sign("+" | "-") => (8, Side::Left),
        Token::Sign("*" | "/" | "%") => (PRODUCT, Side::Left),
        _ => return None,
    })
}

const PIPE: u8 = 1;
const PRODUCT: u8 = 9;

fn joined(token: &Token, left: Term, right: Term) -> Term {
    let (left, right) = (Box::new(left), Box::new(right));
    let Token::Sign(sign) = token else {
        let is_or = matches!(token, Token::Name(name) if &**name == "or");
        return if is_or { Term::Or(left, right) } else { Term::And(left, right) };
    };
    let operator = match *sign {
        "," => return Term::Comma(left, right),
        "//" => return Term::Alternative(left, right),
        "=" => return Term::Assign(left, right),
        "|=" => return Term::Update(left, right),
        "//=" => return Term::UpdateAlternative(left, right),
        "+=" => return Term::UpdateWith(Operator::Add, left, right),
        "-=" => return Term::UpdateWith(Operator::Subtract, left, right),
        "*=" => return Term::UpdateWith(Operator::Multiply, left, right),
        "/=" => return Term::UpdateWith(Operator::Divide, left, right),
        "%=" => return Term::UpdateWith(Operator::Modulo, left, right),
        "+" => Operator::Add,
        "-" => Operator::Subtract,
        "*" => Operator::Multiply,
        "/" => Operator::Divide,
        "%" => Operator::Modulo,
        "==" => Operator::Equal,
        "!=" => Operator::NotEqual,
        "<" => Operator::Less,
        "<=" => Operator::LessOrEqual,
        ">" => Operator::Greater,
        ">=" => Operator::GreaterOrEqual,
        _ => return Term::Pipe(left, right),
    };
    Term::Binary(operator, left, right)
}

impl Parser {
    fn peek(&self) -> &Token {
        &self.words[self.at].token
    }

    fn here(&self) -> usize {
        self.words[self.at].at
    }

    fn next(&mut self) -> Token {
        let token = self.words[self.at].token.clone();
        self.at = (self.at + 1).min(self.words.len() - 1);
        token
    }

    fn is(&self, sign: &str) -> bool {
        matches!(self.peek(), Token::Sign(here) if *here == sign)
    }

    fn is_name(&self, name: &str) -> bool {
        matches!(self.peek(), Token::Name(here) if &**here == name)
    }

    fn take(&mut self, sign: &str) -> bool {
        let found = self.is(sign);
        if found {
            self.next();
        }
        found
    }

    fn take_name(&mut self, name: &str) -> bool {
        let found = self.is_name(name);
        if found {
            self.next();
        }
        found
    }

    fn expect(&mut self, sign: &str) -> Read<()> {
        if self.take(sign) { Ok(()) } else { self.unexpected() }
    }

    fn expect_name(&mut self, name: &str) -> Read<()> {
        if self.take_name(name) { Ok(()) } else { self.unexpected() }
    }

    fn end(&self) -> Read<()> {
        if self.peek() == &Token::End { Ok(()) } else { self.unexpected() }
    }

    fn unexpected<T>(&self) -> Read<T> {
        let shown = match self.peek() {
            Token::Name(name) if KEYWORDS.contains(&&**name) => (**name).to_owned(),
            Token::Name(_) => "IDENT".to_owned(),
            Token::Field(_) => "FIELD".to_owned(),
            Token::Variable(_) => "BINDING".to_owned(),
            Token::Format(_) => "FORMAT".to_owned(),
            Token::Number(_) => "LITERAL".to_owned(),
            Token::Text(_) => "QQSTRING_START".to_owned(),
            Token::Sign(sign) if sign.len() == 1 => format!("'{sign}'"),
            Token::Sign(sign) => (*sign).to_owned(),
            Token::End => "end of file".to_owned(),
        };
        Err(Wrong::new(format!("syntax error, unexpected {shown}"), self.here()))
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth == MAX_DEPTH {
            return Err(Wrong::unsupported("a program nested so deeply", self.here()));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn definitions(&mut self) -> Read<Vec<Rc<Definition>>> {
        let mut definitions = Vec::new();
        while self.is_name("def") {
            definitions.push(self.definition()?);
        }
        Ok(definitions)
    }

    fn pipe(&mut self) -> Read<Term> {
        self.binary(PIPE)
    }

    fn boxed(&mut self) -> Read<Box<Term>> {
        self.pipe().map(Box::new)
    }

    fn binary(&mut self, least: u8) -> Read<Term> {
        self.deeper(|parser| {
            if parser.is_name("def") {
                let definition = parser.definition()?;
                return Ok(Term::Define(definition, parser.boxed()?));
            }
            let mut left = parser.operand()?;
            let mut before = None;
            while let Some((strength, side)) = binding(parser.peek()) {
                if strength < least {
                    break;
                }
                if side == Side::Neither && before == Some(strength) {
                    return parser.unexpected();
                }
                let token = parser.next();
                let right = parser.binary(if side == Side::Right { strength } else { strength + 1 })?;
                left = joined(&token, left, right);
                before = Some(strength);
            }
            Ok(left)
        })
    }

    fn operand(&mut self) -> Read<Term> {
        if self.take("-") {
            return Ok(negated(self.binary(PRODUCT)?));
        }
        if self.take_name("label") {
            let Token::Variable(name) = self.peek().clone() else { return self.unexpected() };
            self.next();
            self.expect("|")?;
            return Ok(Term::Label(name, self.boxed()?));
        }
        let term = self.postfix()?;
        if self.take_name("as") {
            let patterns = self.patterns()?;
            self.expect("|")?;
            return Ok(Term::As(Box::new(term), patterns, self.boxed()?));
        }
        Ok(term)
    }

    /// A term with what follows it directly.
    fn postfix(&mut self) -> Read<Term> {
        if self.take_name("try") {
            let body = self.tried()?;
            let catch = if self.take_name("catch") { Some(Box::new(self.tried()?)) } else { None };
            return Ok(Term::Try(Box::new(body), catch));
        }
        let mut term = self.term()?;
        loop {
            match self.peek().clone() {
                Token::Field(name) => {
                    self.next();
                    term = Term::Index(Box::new(term), Box::new(Term::Literal(Value::Text(name))));
                }
                Token::Sign(".") => match self.words.get(self.at + 1).map(|word| &word.token) {
                    Some(Token::Text(_) | Token::Format(_)) => {
                        self.next();
                        let key = self.term()?;
                        term = Term::Index(Box::new(term), Box::new(key));
                    }
                    Some(Token::Sign("[")) => drop(self.next()),
                    _ => return self.unexpected(),
                },
                Token::Sign("[") => {
                    self.next();
                    term = self.brackets(term)?;
                }
                Token::Sign("?") => {
                    self.next();
                    term = Term::Try(Box::new(term), None);
                }
                _ => return Ok(term),
            }
        }
    }

    fn tried(&mut self) -> Read<Term> {
        if self.take("-") {
            return Ok(negated(self.deeper(Self::postfix)?));
        }
        self.deeper(Self::postfix)
    }

    /// After the `[` behind a term.
    fn brackets(&mut self, term: Term) -> Read<Term> {
        let target = Box::new(term);
        if self.take("]") {
            return Ok(Term::Iterate(target));
        }
        if self.take(":") {
            let to = Some(self.boxed()?);
            self.expect("]")?;
            return Ok(Term::Slice(target, None, to));
        }
        let key = self.boxed()?;
        if self.take(":") {
            let to = if self.is("]") { None } else { Some(self.boxed()?) };
            self.expect("]")?;
            return Ok(Term::Slice(target, Some(key), to));
        }
        self.expect("]")?;
        Ok(Term::Index(target, key))
    }

    fn term(&mut self) -> Read<Term> {
        let at = self.here();
        if let Token::Name(name) = self.peek().clone() {
            return self.named(&name, at);
        }
        if self.peek() == &Token::End {
            return self.unexpected();
        }
        let before = self.at;
        Ok(match self.next() {
            Token::Number(text) => match crate::reader::number(&text) {
                Some(value) => Term::Literal(value),
                None => return Err(Wrong::new("syntax error, unexpected LITERAL", at)),
            },
            Token::Text(parts) => self.text(None, parts)?,
            Token::Format(format) => match self.peek().clone() {
                Token::Text(parts) => {
                    self.next();
                    self.text(Some(format), parts)?
                }
                _ => Term::Format(format),
            },
            Token::Field(name) => Term::Index(Box::new(Term::Identity), Box::new(Term::Literal(Value::Text(name)))),
            Token::Variable(name) if &*name == "__loc__" => Term::Location(at),
            Token::Variable(name) => Term::Variable(name, at),
            Token::Sign("..") => Term::RecurseDefault,
            Token::Sign(".") => match self.peek().clone() {
                Token::Text(_) | Token::Format(_) => {
                    let key = self.term()?;
                    Term::Index(Box::new(Term::Identity), Box::new(key))
                }
                Token::Sign("[") => {
                    self.next();
                    self.brackets(Term::Identity)?
                }
                _ => Term::Identity,
            },
            Token::Sign("(") => {
                let inner = self.pipe()?;
                self.expect(")")?;
                inner
            }
            Token::Sign("[") if self.take("]") => Term::Array(None),
            Token::Sign("[") => {
                let inner = self.boxed()?;
                self.expect("]")?;
                Term::Array(Some(inner))
            }
            Token::Sign("{") => self.object()?,
            _ => {
                self.at = before;
                return self.unexpected();
            }
        })
    }

    fn named(&mut self, name: &Rc<str>, at: usize) -> Read<Term> {
        if KEYWORDS.contains(&&**name) && !matches!(&**name, "if" | "reduce" | "foreach") {
            return self.unexpected();
        }
        self.next();
        match &**name {
            "if" => self.condition(),
            "reduce" | "foreach" => {
                let source = Box::new(self.deeper(Self::postfix)?);
                self.expect_name("as")?;
                let patterns = self.patterns()?;
                self.expect("(")?;
                let init = self.boxed()?;
                self.expect(";")?;
                let update = self.boxed()?;
                let extract = if &**name == "foreach" && self.take(";") { Some(self.boxed()?) } else { None };
                self.expect(")")?;
                Ok(match &**name {
                    "reduce" => Term::Reduce(source, patterns, init, update),
                    _ => Term::Foreach(source, patterns, init, update, extract),
                })
            }
            "break" if matches!(self.peek(), Token::Variable(_)) => match self.next() {
                Token::Variable(name) => Ok(Term::Break(name, at)),
                _ => self.unexpected(),
            },
            _ => {
                let mut arguments = Vec::new();
                if self.take("(") {
                    loop {
                        arguments.push(self.pipe()?);
                        if !self.take(";") {
                            break;
                        }
                    }
                    self.expect(")")?;
                }
                Ok(Term::Call(Rc::clone(name), arguments, at))
            }
        }
    }

    /// After `if` or `elif`.
    fn condition(&mut self) -> Read<Term> {
        self.deeper(|parser| {
            let condition = parser.boxed()?;
            parser.expect_name("then")?;
            let then = parser.boxed()?;
            if parser.take_name("elif") {
                return Ok(Term::If(condition, then, Some(Box::new(parser.condition()?))));
            }
            let otherwise = if parser.take_name("else") { Some(parser.boxed()?) } else { None };
            parser.expect_name("end")?;
            Ok(Term::If(condition, then, otherwise))
        })
    }

    fn text(&mut self, format: Option<Rc<str>>, parts: Vec<Part>) -> Read<Term> {
        let mut read = Vec::new();
        for part in parts {
            read.push(match part {
                Part::Text(text) => TextPart::Text(text),
                Part::Program(words) => {
                    let mut inner = Self { words, at: 0, depth: self.depth };
                    let term = inner.deeper(Self::pipe)?;
                    inner.end()?;
                    TextPart::Program(term)
                }
            });
        }
        Ok(match read.as_slice() {
            [] => Term::Literal(Value::from("")),
            [TextPart::Text(text)] => Term::Literal(Value::Text(Rc::clone(text))),
            _ => Term::Text(format, read),
        })
    }

    /// After `{`.
    fn object(&mut self) -> Read<Term> {
        let mut entries = Vec::new();
        if self.take("}") {
            return Ok(Term::Object(entries));
        }
        loop {
            let (key, default) = self.member_key()?;
            let value = match default {
                _ if self.take(":") => self.member()?,
                Some(default) => default,
                None => return self.unexpected(),
            };
            entries.push((key, value));
            if !self.take(",") {
                break;
            }
        }
        self.expect("}")?;
        Ok(Term::Object(entries))
    }

    /// The key of a member, and its value when none follows.
    fn member_key(&mut self) -> Read<(Term, Option<Term>)> {
        let (at, before) = (self.here(), self.at);
        let literal = |name: &Rc<str>| Term::Literal(Value::Text(Rc::clone(name)));
        let own = |key: &Term| Some(Term::Index(Box::new(Term::Identity), Box::new(key.clone())));
        Ok(match self.next() {
            Token::Name(name) => (literal(&name), own(&literal(&name))),
            Token::Variable(name) if &*name == "__loc__" => (literal(&name), Some(Term::Location(at))),
            Token::Variable(name) if self.is(":") => (Term::Variable(name, at), None),
            Token::Variable(name) => (literal(&name), Some(Term::Variable(name, at))),
            Token::Number(_) => {
                self.at = before;
                (self.term()?, None)
            }
            Token::Text(_) | Token::Format(_) => {
                self.at = before;
                let key = self.term()?;
                let value = own(&key);
                (key, value)
            }
            Token::Sign("(") => {
                let key = self.pipe()?;
                self.expect(")")?;
                (key, None)
            }
            _ => {
                self.at = before;
                return self.unexpected();
            }
        })
    }

    /// The value of a member: terms with `|` between them and nothing else.
    fn member(&mut self) -> Read<Term> {
        self.deeper(|parser| {
            if parser.take("-") {
                return Ok(negated(parser.member()?));
            }
            let left = parser.postfix()?;
            if parser.take("|") {
                return Ok(Term::Pipe(Box::new(left), Box::new(parser.member()?)));
            }
            Ok(left)
        })
    }

    fn patterns(&mut self) -> Read<Vec<Pattern>> {
        let mut patterns = vec![self.pattern()?];
        while self.take("?//") {
            patterns.push(self.pattern()?);
        }
        Ok(patterns)
    }

    fn pattern(&mut self) -> Read<Pattern> {
        self.deeper(|parser| match parser.peek().clone() {
            Token::Variable(name) => {
                parser.next();
                Ok(Pattern::Variable(name))
            }
            Token::Sign("[") => {
                parser.next();
                let mut patterns = vec![parser.pattern()?];
                while parser.take(",") {
                    patterns.push(parser.pattern()?);
                }
                parser.expect("]")?;
                Ok(Pattern::Array(patterns))
            }
            Token::Sign("{") => {
                parser.next();
                let mut entries = vec![parser.pattern_member()?];
                while parser.take(",") {
                    entries.push(parser.pattern_member()?);
                }
                parser.expect("}")?;
                Ok(Pattern::Object(entries))
            }
            _ => parser.unexpected(),
        })
    }

    fn pattern_member(&mut self) -> Read<Member> {
        let before = self.at;
        let (key, variable) = match self.next() {
            Token::Variable(name) => (Term::Literal(Value::Text(Rc::clone(&name))), Some(name)),
            Token::Name(name) => (Term::Literal(Value::Text(name)), None),
            Token::Text(_) | Token::Format(_) => {
                self.at = before;
                (self.term()?, None)
            }
            Token::Sign("(") => {
                let key = self.pipe()?;
                self.expect(")")?;
                (key, None)
            }
            _ => {
                self.at = before;
                return self.unexpected();
            }
        };
        if variable.is_some() && !self.is(":") {
            return Ok((key, variable, None));
        }
        self.expect(":")?;
        Ok((key, variable, Some(self.pattern()?)))
    }

    fn definition(&mut self) -> Read<Rc<Definition>> {
        self.expect_name("def")?;
        let Token::Name(name) = self.peek().clone() else { return self.unexpected() };
        self.next();
        let mut parameters = Vec::new();
        if self.take("(") {
            loop {
                match self.peek().clone() {
                    Token::Name(name) => parameters.push(name),
                    Token::Variable(name) => parameters.push(format!("${name}").into()),
                    _ => return self.unexpected(),
                }
                self.next();
                if !self.take(";") {
                    break;
                }
            }
            self.expect(")")?;
        }
        self.expect(":")?;
        let body = self.deeper(Self::pipe)?;
        self.expect(";")?;
        Ok(Rc::new(Definition { name, parameters, body }))
    }
}

/// A term with a minus before it. A number is the number itself, without its digits.
fn negated(term: Term) -> Term {
    match term {
        Term::Literal(Value::Number(number)) => Term::Literal(Value::from(-number.value)),
        term => Term::Negate(Box::new(term)),
    }
}
