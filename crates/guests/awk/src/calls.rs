//! Calls of the program's own functions.

use crate::interpreter::{Flow, Interpreter, Local};
use crate::syntax::{Expression, Place};
use crate::value::Value;
use crate::{Fault, wrong};
use std::rc::Rc;

/// Functions that may run inside each other.
const MAX_CALLS: usize = 200;

impl<'p> Interpreter<'p> {
    pub(crate) fn call(&mut self, function: usize, arguments: &'p [Expression]) -> Result<Value, Fault> {
        let program = self.program;
        let function = &program.functions[function];
        if self.frames.len() >= MAX_CALLS {
            return wrong(format!("function call nesting too deep in {}", function.name));
        }
        let mut frame = Vec::with_capacity(function.arrays.len());
        for (index, is_array) in function.arrays.iter().enumerate() {
            frame.push(match (arguments.get(index), is_array) {
                (None, true) => Local::Array(Rc::default()),
                (None, false) => Local::Value(Value::Nothing),
                (Some(Expression::Place(place)), true) if matches!(**place, Place::Variable(_)) => match **place {
                    Place::Variable(variable) => Local::Array(self.array(variable)?),
                    _ => Local::Array(Rc::default()),
                },
                (Some(_), true) => {
                    return wrong(format!("type error in arg({}) in call to {}", index + 1, function.name));
                }
                (Some(argument), false) => Local::Value(self.evaluate(argument)?),
            });
        }
        self.frames.push(frame);
        let flow = self.block(&function.body);
        self.frames.pop();
        match flow? {
            Flow::Return(value) => Ok(value),
            // The statement around ends with it.
            Flow::Exit => {
                self.ends = true;
                Ok(Value::Nothing)
            }
            Flow::Next | Flow::NextFile => wrong(format!("next is not supported in function {}", function.name)),
            _ => Ok(Value::Nothing),
        }
    }
}
