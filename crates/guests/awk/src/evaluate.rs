//! Statements and expressions.

use crate::array::{Array, Key};
use crate::fields::Separator;
use crate::input::RecordSeparator;
use crate::interpreter::{Flow, Interpreter, Local};
use crate::syntax::{Arithmetic, Comparison, Expression, Place, Redirect, Regex, Statement, Variable, special};
use crate::value::{Text, Value};
use crate::{Fault, number, wrong};
use std::cell::RefCell;
use std::cmp::Ordering;
use std::rc::Rc;

/// A place whose subscripts are evaluated.
#[derive(Debug)]
pub(crate) enum Target {
    Variable(Variable),
    Element(Rc<RefCell<Array>>, Key),
    Field(usize),
}

impl<'p> Interpreter<'p> {
    pub(crate) fn statement(&mut self, statement: &'p Statement) -> Result<Flow, Fault> {
        match statement {
            Statement::Expression(expression) => {
                self.evaluate(expression)?;
            }
            Statement::Print { values, formatted, target } => self.print(values, *formatted, target.as_ref())?,
            Statement::If(condition, then, otherwise) => {
                let chosen = if self.is_true(condition)? { then } else { otherwise };
                return self.block(chosen);
            }
            Statement::While(condition, body) => {
                while self.is_true(condition)? {
                    match self.block(body)? {
                        Flow::On | Flow::Continue => {}
                        Flow::Break => break,
                        flow => return Ok(flow),
                    }
                }
            }
            Statement::DoWhile(body, condition) => loop {
                match self.block(body)? {
                    Flow::On | Flow::Continue => {}
                    Flow::Break => break,
                    flow => return Ok(flow),
                }
                if !self.is_true(condition)? {
                    break;
                }
            },
            Statement::For { first, condition, step, body } => {
                if let Some(first) = first {
                    self.evaluate(first)?;
                }
                loop {
                    if let Some(condition) = condition
                        && !self.is_true(condition)?
                    {
                        break;
                    }
                    match self.block(body)? {
                        Flow::On | Flow::Continue => {}
                        Flow::Break => break,
                        flow => return Ok(flow),
                    }
                    if let Some(step) = step {
                        self.evaluate(step)?;
                    }
                }
            }
            Statement::ForIn(variable, array, body) => {
                let keys = self.array(*array)?.borrow_mut().keys();
                for key in keys {
                    self.set_variable(*variable, Value::Text(key))?;
                    match self.block(body)? {
                        Flow::On | Flow::Continue => {}
                        Flow::Break => break,
                        flow => return Ok(flow),
                    }
                }
            }
            Statement::Delete(array, None) => self.array(*array)?.borrow_mut().clear(),
            Statement::Delete(array, Some(subscripts)) => {
                let key = self.key(subscripts)?;
                self.array(*array)?.borrow_mut().delete(&key);
            }
            Statement::Next => return Ok(Flow::Next),
            Statement::NextFile => return Ok(Flow::NextFile),
            Statement::Exit(status) => {
                if let Some(status) = status {
                    let status = self.evaluate(status)?.number();
                    #[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
                    let status = status as i64;
                    self.status = i32::from(status.to_le_bytes()[0]);
                }
                return Ok(Flow::Exit);
            }
            Statement::Return(value) => {
                let value = value.as_ref().map_or(Ok(Value::Nothing), |value| self.evaluate(value))?;
                return Ok(Flow::Return(value));
            }
            Statement::Break => return Ok(Flow::Break),
            Statement::Continue => return Ok(Flow::Continue),
        }
        // A function that ended the program leaves no other trace in an expression.
        Ok(if self.ends { Flow::Exit } else { Flow::On })
    }

    fn print(
        &mut self,
        values: &'p [Expression],
        formatted: bool,
        target: Option<&'p (Redirect, Expression)>,
    ) -> Result<(), Fault> {
        let mut line = Vec::new();
        if formatted {
            let printed = self.sprintf(values, &mut line);
            if printed.is_err() && target.is_none() {
                self.outputs.standard.put(&line);
            }
            printed?;
        } else if values.is_empty() {
            line.extend_from_slice(&self.whole_record());
        } else {
            for (index, value) in values.iter().enumerate() {
                let value = self.evaluate(value)?;
                if index > 0 {
                    line.extend_from_slice(&self.global_text(special::OFS));
                }
                match value {
                    Value::Number(value) => {
                        let format = self.global_text(special::OFMT);
                        line.extend_from_slice(&number::text(value, &format));
                    }
                    value => line.extend_from_slice(&value.text(&self.conversion)),
                }
            }
        }
        if !formatted {
            line.extend_from_slice(&self.global_text(special::ORS));
        }
        match target {
            None => self.outputs.standard.put(&line),
            Some((redirect, name)) => {
                let name = self.text(name)?;
                self.outputs.write(&name, *redirect, &line)?;
            }
        }
        Ok(())
    }

    pub(crate) fn print_record(&mut self) -> Result<(), Fault> {
        self.print(&[], false, None)
    }

    fn whole_record(&mut self) -> Text {
        let joint = self.global_text(special::OFS);
        let conversion = self.conversion.clone();
        self.record.whole(&joint, &conversion).text(&conversion)
    }

    pub(crate) fn global_text(&self, place: usize) -> Text {
        self.globals[place].text(&self.conversion)
    }

    pub(crate) fn is_true(&mut self, expression: &'p Expression) -> Result<bool, Fault> {
        Ok(self.evaluate(expression)?.is_true())
    }

    pub(crate) fn text(&mut self, expression: &'p Expression) -> Result<Text, Fault> {
        let value = self.evaluate(expression)?;
        Ok(value.text(&self.conversion))
    }

    pub(crate) fn number(&mut self, expression: &'p Expression) -> Result<f64, Fault> {
        Ok(self.evaluate(expression)?.number())
    }

    pub(crate) fn evaluate(&mut self, expression: &'p Expression) -> Result<Value, Fault> {
        Ok(match expression {
            Expression::Number(number) => Value::Number(*number),
            Expression::Text(text) => Value::Text(text.clone()),
            Expression::Matches(matcher) => {
                let record = self.whole_record();
                Value::flag(matcher.is_match(&record))
            }
            Expression::Place(place) => {
                let target = self.target(place)?;
                return self.get(&target);
            }
            Expression::Group(inner) => return self.evaluate(inner),
            Expression::Assign(place, operator, value) => return self.assign(place, *operator, value),
            Expression::Step(place, by, before) => {
                let target = self.target(place)?;
                let old = self.get(&target)?.number();
                self.set(&target, Value::Number(old + by))?;
                Value::Number(if *before { old } else { old + by })
            }
            Expression::Condition(parts) => {
                let [condition, then, otherwise] = &**parts;
                let chosen = if self.is_true(condition)? { then } else { otherwise };
                return self.evaluate(chosen);
            }
            Expression::And(parts) => Value::flag(self.is_true(&parts[0])? && self.is_true(&parts[1])?),
            Expression::Or(parts) => Value::flag(self.is_true(&parts[0])? || self.is_true(&parts[1])?),
            Expression::Not(inner) => Value::flag(!self.is_true(inner)?),
            Expression::Negative(inner) => Value::Number(-self.number(inner)?),
            Expression::Positive(inner) => Value::Number(self.number(inner)?),
            Expression::Arithmetic(operator, parts) => {
                let (left, right) = (self.number(&parts[0])?, self.number(&parts[1])?);
                Value::Number(calculated(*operator, left, right))
            }
            Expression::Concatenate(parts) => {
                let (left, right) = (self.text(&parts[0])?, self.text(&parts[1])?);
                Value::Text([&*left, &*right].concat().into())
            }
            Expression::Compare(comparison, parts) => {
                let (left, right) = (self.evaluate(&parts[0])?, self.evaluate(&parts[1])?);
                let order = left.compare(&right, &self.conversion);
                Value::flag(holds(*comparison, order))
            }
            Expression::Match(wanted, text, regex) => {
                let text = self.text(text)?;
                let matcher = self.regex(regex)?;
                Value::flag(matcher.is_match(&text) == *wanted)
            }
            Expression::Contains(array, subscripts) => {
                let key = self.key(subscripts)?;
                Value::flag(self.array(*array)?.borrow_mut().contains(&key))
            }
            Expression::Call(function, arguments) => return self.call(*function, arguments),
            Expression::Builtin(builtin, arguments) => return self.builtin(*builtin, arguments),
            Expression::Split(text, array, separator) => return self.split(text, *array, separator.as_ref()),
            Expression::Substitute(all, regex, replacement, place) => {
                return self.substitute(*all, regex, replacement, place.as_deref());
            }
            Expression::Find(text, regex) => return self.find(text, regex),
            Expression::LengthOf(variable) => return self.length_of(*variable),
            Expression::Getline(place, file) => return self.getline(place.as_deref(), file.as_deref()),
        })
    }

    fn assign(
        &mut self,
        place: &'p Place,
        operator: Option<Arithmetic>,
        value: &'p Expression,
    ) -> Result<Value, Fault> {
        let target = self.target(place)?;
        let mut value = self.evaluate(value)?;
        if let Some(operator) = operator {
            let old = self.get(&target)?.number();
            value = Value::Number(calculated(operator, old, value.number()));
        }
        self.set(&target, value.clone())?;
        Ok(value)
    }

    pub(crate) fn regex(&mut self, regex: &'p Regex) -> Result<std::rc::Rc<crate::regex::Matcher>, Fault> {
        match regex {
            Regex::Known(matcher) => Ok(matcher.clone()),
            Regex::Value(value) => {
                let text = self.text(value)?;
                self.matcher(&text)
            }
        }
    }

    pub(crate) fn key(&mut self, subscripts: &'p [Expression]) -> Result<Key, Fault> {
        if let [only] = subscripts {
            let value = self.evaluate(only)?;
            return Ok(Key::of(&value, &self.conversion));
        }
        let mut key = Vec::new();
        for (index, subscript) in subscripts.iter().enumerate() {
            let part = self.text(subscript)?;
            if index > 0 {
                key.extend_from_slice(&self.joint);
            }
            key.extend_from_slice(&part);
        }
        Ok(Key::Text(key.into()))
    }

    fn field_number(&mut self, index: &'p Expression) -> Result<usize, Fault> {
        let number = self.number(index)?;
        if number < 0.0 {
            return wrong(format!("run time error: negative field index ${number}"));
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
        let number = number as usize;
        Ok(number)
    }

    /// What a place is now; its subscripts are evaluated once.
    pub(crate) fn target(&mut self, place: &'p Place) -> Result<Target, Fault> {
        Ok(match place {
            Place::Variable(variable) => Target::Variable(*variable),
            Place::Element(array, subscripts) => {
                let key = self.key(subscripts)?;
                Target::Element(self.array(*array)?, key)
            }
            Place::Field(index) => Target::Field(self.field_number(index)?),
        })
    }

    pub(crate) fn get(&mut self, target: &Target) -> Result<Value, Fault> {
        match target {
            Target::Variable(Variable::Global(special::NF)) => {
                let count = self.record.count(&self.conversion)?;
                Ok(Value::Number(f64::from(u32::try_from(count).unwrap_or(u32::MAX))))
            }
            Target::Variable(Variable::Global(place)) => Ok(self.globals[*place].clone()),
            Target::Variable(Variable::Local(place)) => match self.frames.last().and_then(|frame| frame.get(*place)) {
                Some(Local::Value(value)) => Ok(value.clone()),
                _ => wrong("an array is used as a value"),
            },
            Target::Element(array, key) => Ok(array.borrow_mut().get(key).clone()),
            Target::Field(0) => {
                let joint = self.global_text(special::OFS);
                let conversion = self.conversion.clone();
                Ok(self.record.whole(&joint, &conversion))
            }
            Target::Field(index) => self.record.field(*index, &self.conversion),
        }
    }

    pub(crate) fn set(&mut self, target: &Target, value: Value) -> Result<(), Fault> {
        match target {
            Target::Variable(variable) => self.set_variable(*variable, value),
            Target::Element(array, key) => {
                *array.borrow_mut().get(key) = value;
                Ok(())
            }
            Target::Field(0) => {
                self.record.set(value, &self.separator);
                Ok(())
            }
            Target::Field(index) => self.record.set_field(*index, value, &self.conversion),
        }
    }

    pub(crate) fn set_variable(&mut self, variable: Variable, value: Value) -> Result<(), Fault> {
        match variable {
            Variable::Global(place) => self.set_global(place, value),
            Variable::Local(place) => match self.frames.last_mut().and_then(|frame| frame.get_mut(place)) {
                Some(Local::Value(local)) => {
                    *local = value;
                    Ok(())
                }
                _ => wrong("an array is used as a value"),
            },
        }
    }

    /// Sets a global variable, and what those of the language stand for.
    pub(crate) fn set_global(&mut self, place: usize, value: Value) -> Result<(), Fault> {
        match place {
            special::NF => {
                let count = value.number();
                if count < 0.0 {
                    return wrong("run time error: negative value assigned to NF");
                }
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
                let count = count as usize;
                self.record.set_count(count, &self.conversion)?;
            }
            special::FS => self.separator = Separator::of(&value.text(&self.conversion))?,
            special::RS => self.record_separator = RecordSeparator::of(&value.text(&self.conversion))?,
            special::CONVFMT => self.conversion = value.text(&self.conversion),
            special::SUBSEP => self.joint = value.text(&self.conversion),
            _ => {}
        }
        self.globals[place] = value;
        Ok(())
    }
}

fn calculated(operator: Arithmetic, left: f64, right: f64) -> f64 {
    match operator {
        Arithmetic::Add => left + right,
        Arithmetic::Subtract => left - right,
        Arithmetic::Multiply => left * right,
        Arithmetic::Divide => left / right,
        Arithmetic::Remainder => left % right,
        Arithmetic::Power => left.powf(right),
    }
}

/// A comparison with what is not a number at all holds only as a difference.
fn holds(comparison: Comparison, order: Option<Ordering>) -> bool {
    match comparison {
        Comparison::Less => order == Some(Ordering::Less),
        Comparison::LessOrEqual => order.is_some_and(Ordering::is_le),
        Comparison::Equal => order == Some(Ordering::Equal),
        Comparison::NotEqual => order != Some(Ordering::Equal),
        Comparison::Greater => order == Some(Ordering::Greater),
        Comparison::GreaterOrEqual => order.is_some_and(Ordering::is_ge),
    }
}
