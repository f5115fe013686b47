//! From words to the tree: names, functions, and what both parts of the parser share. `statements` and `expressions` hold the
//! grammar.

use crate::lexer::{self, Token};
use crate::syntax::{Function, Program, Variable, special};
use crate::{Fault, wrong};
use std::collections::{HashMap, HashSet};

/// Parts inside each other that are still read.
const MAX_DEPTH: usize = 60;

/// The words, and what is known of the names so far.
pub(crate) struct Parser {
    tokens: Vec<(Token, usize)>,
    at: usize,
    depth: usize,
    pub(crate) globals: Vec<String>,
    by_name: HashMap<String, usize>,
    /// Functions by name: their places, and the bodies once they are read.
    pub(crate) functions: HashMap<String, usize>,
    pub(crate) bodies: Vec<Option<Function>>,
    function_names: Vec<String>,
    /// The parameters of the function that is read, and which function it is.
    pub(crate) parameters: Vec<String>,
    pub(crate) current: Option<usize>,
    /// Variables that are used as arrays.
    arrays: HashSet<Owned>,
    /// Variables that are used as single values.
    scalars: HashSet<Owned>,
    /// A variable alone as an argument: it is what the parameter is.
    passed: Vec<(Owned, usize, usize)>,
    /// Functions with how many arguments they are called.
    calls: Vec<(usize, usize)>,
    pub(crate) loops: usize,
    pub(crate) in_begin_or_end: bool,
    /// Whether `>` is a redirection where it stands.
    pub(crate) in_print: bool,
}

/// A variable of the whole program, or of one function.
type Owned = (Option<usize>, usize);

/// Reads a program.
///
/// # Errors
/// What is wrong, with its line, or what is not supported.
pub(crate) fn parse(program: &[u8]) -> Result<Program, Fault> {
    let mut parser = Parser {
        tokens: lexer::read(program)?,
        at: 0,
        depth: 0,
        globals: Vec::new(),
        by_name: HashMap::new(),
        functions: HashMap::new(),
        bodies: Vec::new(),
        function_names: Vec::new(),
        parameters: Vec::new(),
        current: None,
        arrays: HashSet::new(),
        scalars: HashSet::new(),
        passed: Vec::new(),
        calls: Vec::new(),
        loops: 0,
        in_begin_or_end: false,
        in_print: false,
    };
    for name in special::NAMES {
        parser.global(name);
    }
    for array in [special::ENVIRON, special::ARGV] {
        parser.arrays.insert((None, array));
    }
    let mut program = parser.items()?;
    let mut functions = Vec::new();
    for (body, name) in parser.bodies.iter_mut().zip(&parser.function_names) {
        match body.take() {
            Some(function) => functions.push(function),
            None => return wrong(format!("function {name} never defined")),
        }
    }
    parser.resolve(&mut functions)?;
    program.functions = functions;
    program.globals = std::mem::take(&mut parser.globals);
    Ok(program)
}

impl Parser {
    pub(crate) fn peek(&self) -> &Token {
        self.tokens.get(self.at).map_or(&Token::End, |(token, _)| token)
    }

    pub(crate) fn peek_after(&self, ahead: usize) -> &Token {
        self.tokens.get(self.at + ahead).map_or(&Token::End, |(token, _)| token)
    }

    pub(crate) fn take(&mut self) -> Token {
        let token = self.peek().clone();
        self.at += 1;
        token
    }

    /// Where the parser stands, to come back to.
    pub(crate) fn place(&self) -> usize {
        self.at
    }

    pub(crate) fn go_back(&mut self, place: usize) {
        self.at = place;
    }

    pub(crate) fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Token::Sign(found) if *found == sign)
    }

    pub(crate) fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Word(found) if *found == word)
    }

    pub(crate) fn takes_sign(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
        self.at += usize::from(found);
        found
    }

    pub(crate) fn takes_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += usize::from(found);
        found
    }

    pub(crate) fn expect(&mut self, sign: &'static str) -> Result<(), Fault> {
        if self.takes_sign(sign) { Ok(()) } else { self.unexpected() }
    }

    /// That the next word may not stand where it does.
    pub(crate) fn unexpected<T>(&self) -> Result<T, Fault> {
        let line = self.tokens.get(self.at).or(self.tokens.last()).map_or(1, |(_, line)| *line);
        let shown = match self.peek() {
            Token::Number(number) => number.to_string(),
            Token::String(text) => String::from_utf8_lossy(text).into_owned(),
            Token::Regex(text) => format!("/{}/", String::from_utf8_lossy(text)),
            Token::Name(name) | Token::Call(name) => name.clone(),
            Token::Word(word) => (*word).to_owned(),
            Token::Sign(sign) => (*sign).to_owned(),
            Token::Newline | Token::End => "end of line".to_owned(),
        };
        wrong(format!("line {line}: syntax error at or near {shown}"))
    }

    pub(crate) fn skip_newlines(&mut self) {
        while *self.peek() == Token::Newline {
            self.at += 1;
        }
    }

    pub(crate) fn skip_ends(&mut self) {
        while *self.peek() == Token::Newline || self.is_sign(";") {
            self.at += 1;
        }
    }

    /// Reads one level deeper, as far as there may be levels.
    pub(crate) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        if self.depth == MAX_DEPTH {
            return wrong("the program is nested too deeply");
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn global(&mut self, name: &str) -> usize {
        if let Some(place) = self.by_name.get(name) {
            return *place;
        }
        self.globals.push(name.to_owned());
        self.by_name.insert(name.to_owned(), self.globals.len() - 1);
        self.globals.len() - 1
    }

    /// The variable of a name.
    pub(crate) fn variable(&mut self, name: &str) -> Result<Variable, Fault> {
        if let Some(place) = self.parameters.iter().position(|parameter| parameter == name) {
            return Ok(Variable::Local(place));
        }
        if self.functions.contains_key(name) {
            return wrong(format!("type error in {name}: it is a function"));
        }
        Ok(Variable::Global(self.global(name)))
    }

    fn owned(&self, variable: Variable) -> Owned {
        match variable {
            Variable::Global(place) => (None, place),
            Variable::Local(place) => (self.current, place),
        }
    }

    /// The variable of a name that is used as an array.
    pub(crate) fn array(&mut self, name: &str) -> Result<Variable, Fault> {
        let variable = self.variable(name)?;
        Ok(self.must_be_array(variable))
    }

    /// Notes that a variable is used as an array.
    pub(crate) fn must_be_array(&mut self, variable: Variable) -> Variable {
        let owned = self.owned(variable);
        self.arrays.insert(owned);
        variable
    }

    pub(crate) fn is_scalar(&mut self, variable: Variable) {
        let owned = self.owned(variable);
        self.scalars.insert(owned);
    }

    /// Notes that a variable is an argument of a function.
    pub(crate) fn pass(&mut self, variable: Variable, function: usize, argument: usize) {
        let owned = self.owned(variable);
        self.passed.push((owned, function, argument));
    }

    pub(crate) fn called(&mut self, function: usize, arguments: usize) {
        self.calls.push((function, arguments));
    }

    /// The place of a function, which may be defined later.
    pub(crate) fn function(&mut self, name: &str) -> usize {
        if let Some(place) = self.functions.get(name) {
            return *place;
        }
        self.bodies.push(None);
        self.function_names.push(name.to_owned());
        self.functions.insert(name.to_owned(), self.bodies.len() - 1);
        self.bodies.len() - 1
    }

    /// What each variable is: what is passed for an array is one, and so is what gets one.
    fn resolve(&mut self, functions: &mut [Function]) -> Result<(), Fault> {
        let mut grows = true;
        while grows {
            grows = false;
            for (variable, function, argument) in &self.passed {
                let parameter = (Some(*function), *argument);
                if self.arrays.contains(&parameter) {
                    grows |= self.arrays.insert(*variable);
                } else if self.arrays.contains(variable) {
                    grows |= self.arrays.insert(parameter);
                }
            }
        }
        if let Some((owner, place)) = self.arrays.intersection(&self.scalars).next() {
            let name = match owner {
                None => self.globals.get(*place).cloned().unwrap_or_default(),
                Some(function) => {
                    format!("a parameter of {}", functions.get(*function).map_or("", |f| f.name.as_str()))
                }
            };
            return wrong(format!("type error in {name}: it is an array and a value"));
        }
        for (place, function) in functions.iter_mut().enumerate() {
            for (argument, is_array) in function.arrays.iter_mut().enumerate() {
                *is_array = self.arrays.contains(&(Some(place), argument));
            }
        }
        for (function, arguments) in &self.calls {
            if let Some(function) = functions.get(*function).filter(|function| *arguments > function.arrays.len()) {
                return wrong(format!("too many arguments in call to {}", function.name));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_read_or_refused() {
        for program in [
            "BEGIN { x = 1; if (x) print; else print 2 }",
            "{ a[$1]++ } END { for (k in a) print k, a[k] }",
            "function f(a, b) { b[1] = a; return a } BEGIN { f(1) }",
            "NR==1, /x/ { next }",
            "BEGIN { print (1)(2) > \"/dev/stderr\" }",
            "BEGIN { while ((getline line < \"f\") > 0) n++ }",
            "/a/;/b/",
            "BEGIN{if((1,2) in a);else print}",
            "BEGIN { do x++; while (x < 3)\nprint x }",
        ] {
            assert!(parse(program.as_bytes()).is_ok(), "{program}: {:?}", parse(program.as_bytes()).err());
        }
        for program in [
            "BEGIN { print 1",
            "BEGIN { f() }",
            "BEGIN { return }",
            "BEGIN { next }",
            "BEGIN { x[1] = 1; x = 2 }",
            "BEGIN { print 1, }",
            "function f(a, a) {} BEGIN {}",
            "BEGIN { break }",
            "BEGIN { print substr(\"x\") }",
            "BEGIN { 1 = 2 }",
        ] {
            assert!(matches!(parse(program.as_bytes()), Err(Fault::Wrong(_))), "{program}");
        }
        for program in [
            "BEGIN { system(\"ls\") }",
            "BEGIN { print | \"cat\" }",
            "BEGIN { \"date\" | getline }",
            "BEGIN { if (0) print > \"x\"; print 1 | \"sh\" }",
        ] {
            assert!(matches!(parse(program.as_bytes()), Err(Fault::Unsupported(_))), "{program}");
        }
        let deep = format!("BEGIN {{ print {}1{} }}", "(".repeat(100_000), ")".repeat(100_000));
        assert!(matches!(parse(deep.as_bytes()), Err(Fault::Wrong(_))));
    }

    #[test]
    fn an_array_is_one_wherever_it_is_passed() {
        let program = parse(b"function f(x) { g(x) } function g(y) { y[1] = 2 } BEGIN { f(z) }").expect("a program");
        assert!(program.functions.iter().all(|function| function.arrays == [true]));
        assert_eq!(program.begin.len(), 1);
    }
}
