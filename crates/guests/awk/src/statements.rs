//! The grammar of rules and statements.

use crate::lexer::Token;
use crate::parser::Parser;
use crate::syntax::{Expression, Function, Pattern, Program, Redirect, Rule, Statement};
use crate::{Fault, unsupported, wrong};

/// Where an item that is read belongs.
enum Item {
    Begin(Vec<Statement>),
    End(Vec<Statement>),
    Rule(Rule),
    Function,
}

impl Parser {
    pub(crate) fn items(&mut self) -> Result<Program, Fault> {
        let mut program = Program {
            begin: Vec::new(),
            rules: Vec::new(),
            end: Vec::new(),
            has_end: false,
            functions: Vec::new(),
            globals: Vec::new(),
        };
        loop {
            self.skip_ends();
            if *self.peek() == Token::End {
                return Ok(program);
            }
            match self.item()? {
                Item::Begin(statements) => program.begin.extend(statements),
                Item::End(statements) => {
                    program.has_end = true;
                    program.end.extend(statements);
                }
                Item::Rule(rule) => program.rules.push(rule),
                Item::Function => {}
            }
        }
    }

    fn item(&mut self) -> Result<Item, Fault> {
        let begins = self.takes_word("BEGIN");
        if begins || self.takes_word("END") {
            self.in_begin_or_end = true;
            let statements = self.braced()?;
            self.in_begin_or_end = false;
            return Ok(if begins { Item::Begin(statements) } else { Item::End(statements) });
        }
        if self.takes_word("function") {
            self.definition()?;
            return Ok(Item::Function);
        }
        let pattern = if self.is_sign("{") {
            Pattern::Every
        } else {
            let first = self.expression()?;
            if self.takes_sign(",") {
                self.skip_newlines();
                Pattern::Range(first, self.expression()?)
            } else {
                Pattern::When(first)
            }
        };
        let action = if self.is_sign("{") {
            Some(self.braced()?)
        } else if *self.peek() == Token::Newline || self.is_sign(";") {
            None
        } else {
            return self.unexpected();
        };
        Ok(Item::Rule(Rule { pattern, action }))
    }

    fn definition(&mut self) -> Result<(), Fault> {
        let (Token::Name(name) | Token::Call(name)) = self.take() else {
            let place = self.place();
            self.go_back(place - 1);
            return self.unexpected();
        };
        let function = self.function(&name);
        if self.bodies[function].is_some() {
            return wrong(format!("function {name} is defined twice"));
        }
        self.expect("(")?;
        let mut parameters = Vec::new();
        while !self.takes_sign(")") {
            if !parameters.is_empty() {
                self.expect(",")?;
                self.skip_newlines();
            }
            let Token::Name(parameter) = self.take() else {
                let place = self.place();
                self.go_back(place - 1);
                return self.unexpected();
            };
            if parameters.contains(&parameter) {
                return wrong(format!("{parameter} is duplicated in argument list"));
            }
            parameters.push(parameter);
        }
        self.skip_newlines();
        let arrays = vec![false; parameters.len()];
        self.parameters = parameters;
        self.current = Some(function);
        let body = self.braced();
        self.parameters.clear();
        self.current = None;
        self.bodies[function] = Some(Function { name, arrays, body: body? });
        Ok(())
    }

    fn braced(&mut self) -> Result<Vec<Statement>, Fault> {
        self.expect("{")?;
        let mut statements = Vec::new();
        loop {
            self.skip_ends();
            if self.takes_sign("}") {
                return Ok(statements);
            }
            if *self.peek() == Token::End {
                return wrong("missing } near end of file");
            }
            statements.extend(self.deeper(Self::statement)?);
        }
    }

    /// What a condition or a loop holds.
    fn body(&mut self) -> Result<Vec<Statement>, Fault> {
        self.skip_newlines();
        if self.takes_sign(";") {
            return Ok(Vec::new());
        }
        self.deeper(Self::statement)
    }

    fn loop_body(&mut self) -> Result<Vec<Statement>, Fault> {
        self.loops += 1;
        let body = self.body();
        self.loops -= 1;
        body
    }

    /// A statement; several for a block.
    fn statement(&mut self) -> Result<Vec<Statement>, Fault> {
        if self.is_sign("{") {
            return self.braced();
        }
        if self.takes_word("if") {
            let condition = self.condition()?;
            let then = self.body()?;
            let place = self.place();
            self.skip_ends();
            let otherwise = if self.takes_word("else") {
                self.body()?
            } else {
                self.go_back(place);
                Vec::new()
            };
            return Ok(vec![Statement::If(condition, then, otherwise)]);
        }
        if self.takes_word("while") {
            let condition = self.condition()?;
            return Ok(vec![Statement::While(condition, self.loop_body()?)]);
        }
        if self.takes_word("for") {
            return self.for_loop().map(|statement| vec![statement]);
        }
        let statement = if self.takes_word("do") {
            let body = self.loop_body()?;
            self.skip_ends();
            if !self.takes_word("while") {
                return self.unexpected();
            }
            Statement::DoWhile(body, self.condition()?)
        } else {
            self.simple()?
        };
        self.end()?;
        Ok(vec![statement])
    }

    fn condition(&mut self) -> Result<Expression, Fault> {
        self.expect("(")?;
        let condition = self.expression()?;
        self.expect(")")?;
        Ok(condition)
    }

    /// What a simple statement ends with.
    fn end(&mut self) -> Result<(), Fault> {
        if self.is_sign("}") || self.takes_sign(";") {
            return Ok(());
        }
        match self.peek() {
            Token::Newline => {
                self.take();
                Ok(())
            }
            Token::End => Ok(()),
            _ => self.unexpected(),
        }
    }

    fn ends_here(&self) -> bool {
        matches!(self.peek(), Token::Newline | Token::End) || self.is_sign(";") || self.is_sign("}")
    }

    fn for_loop(&mut self) -> Result<Statement, Fault> {
        self.expect("(")?;
        if let (Token::Name(variable), Token::Word("in"), Token::Name(array), Token::Sign(")")) =
            (self.peek().clone(), self.peek_after(1).clone(), self.peek_after(2).clone(), self.peek_after(3).clone())
        {
            (0..4).for_each(|_| drop(self.take()));
            let variable = self.variable(&variable)?;
            self.is_scalar(variable);
            let array = self.array(&array)?;
            return Ok(Statement::ForIn(variable, array, self.loop_body()?));
        }
        let part = |parser: &mut Self, end: &'static str| {
            parser.skip_newlines();
            let expression = if parser.is_sign(end) { None } else { Some(parser.expression()?) };
            parser.expect(end)?;
            Ok::<_, Fault>(expression)
        };
        let first = part(self, ";")?;
        let condition = part(self, ";")?;
        let step = part(self, ")")?;
        Ok(Statement::For { first, condition, step, body: self.loop_body()? })
    }

    fn simple(&mut self) -> Result<Statement, Fault> {
        if let Token::Word(word) = self.peek() {
            let word = *word;
            let known = self.place();
            self.take();
            match word {
                "print" | "printf" => return self.print(word == "printf"),
                "next" | "nextfile" if self.in_begin_or_end => return wrong(format!("improper use of {word}")),
                "next" => return Ok(Statement::Next),
                "nextfile" => return Ok(Statement::NextFile),
                "break" | "continue" if self.loops == 0 => return wrong(format!("{word} outside of a loop")),
                "break" => return Ok(Statement::Break),
                "continue" => return Ok(Statement::Continue),
                "exit" => {
                    let status = if self.ends_here() { None } else { Some(self.expression()?) };
                    return Ok(Statement::Exit(status));
                }
                "return" if self.current.is_none() => return wrong("return outside function body"),
                "return" => {
                    let value = if self.ends_here() { None } else { Some(self.expression()?) };
                    return Ok(Statement::Return(value));
                }
                "delete" => {
                    let Token::Name(name) = self.take() else {
                        self.go_back(known + 1);
                        return self.unexpected();
                    };
                    let array = self.array(&name)?;
                    let key = if self.takes_sign("[") { Some(self.subscripts()?) } else { None };
                    return Ok(Statement::Delete(array, key));
                }
                _ => self.go_back(known),
            }
        }
        Ok(Statement::Expression(self.expression()?))
    }

    fn print(&mut self, formatted: bool) -> Result<Statement, Fault> {
        let values = self.printed()?;
        if formatted && values.is_empty() {
            return self.unexpected();
        }
        let target = if self.takes_sign(">") {
            Some((Redirect::Write, self.redirection()?))
        } else if self.takes_sign(">>") {
            Some((Redirect::Append, self.redirection()?))
        } else if self.is_sign("|") {
            return unsupported("a pipe to a command");
        } else {
            None
        };
        Ok(Statement::Print { values, formatted, target })
    }

    fn redirection(&mut self) -> Result<Expression, Fault> {
        let outer = std::mem::replace(&mut self.in_print, true);
        let target = self.concatenation();
        self.in_print = outer;
        target
    }

    /// The values of `print`. Parentheses around all of them are not those of an expression.
    fn printed(&mut self) -> Result<Vec<Expression>, Fault> {
        if self.ends_here() || self.is_sign(">") || self.is_sign(">>") || self.is_sign("|") {
            return Ok(Vec::new());
        }
        let place = self.place();
        if self.takes_sign("(") {
            let outer = std::mem::replace(&mut self.in_print, false);
            let values = self.list(")");
            self.in_print = outer;
            if let Ok(values) = values
                && (self.ends_here() || self.is_sign(">") || self.is_sign(">>") || self.is_sign("|"))
            {
                return Ok(values);
            }
            self.go_back(place);
        }
        let outer = std::mem::replace(&mut self.in_print, true);
        let mut values = Vec::new();
        let result = loop {
            match self.expression() {
                Ok(value) => values.push(value),
                Err(fault) => break Err(fault),
            }
            if !self.takes_sign(",") {
                break Ok(values);
            }
            self.skip_newlines();
        };
        self.in_print = outer;
        result
    }

    /// Expressions between commas, up to a sign, which is taken.
    pub(crate) fn list(&mut self, end: &'static str) -> Result<Vec<Expression>, Fault> {
        let mut list = Vec::new();
        self.skip_newlines();
        while !self.takes_sign(end) {
            if !list.is_empty() {
                self.expect(",")?;
                self.skip_newlines();
            }
            list.push(self.expression()?);
            self.skip_newlines();
        }
        Ok(list)
    }
}
