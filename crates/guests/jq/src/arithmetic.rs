//! The binary operators.

use crate::ast::Operator;
use crate::error::{Stop, Valued};
use crate::value::{Object, Value};
use std::rc::Rc;

fn cannot(left: &Value, right: &Value, verb: &str) -> Stop {
    format!("{} and {} cannot be {verb}", left.described(), right.described()).into()
}

/// Bytes that a string may be repeated to.
const MAX_TEXT: usize = 256 << 20;

/// Applies an operator.
pub(crate) fn apply(operator: Operator, left: Value, right: Value) -> Valued {
    Ok(match operator {
        Operator::Add => return add(left, right),
        Operator::Subtract => return subtract(left, &right),
        Operator::Multiply => return multiply(left, right),
        Operator::Divide => return divide(&left, &right),
        Operator::Modulo => return modulo(&left, &right),
        Operator::Equal => Value::Bool(left == right),
        Operator::NotEqual => Value::Bool(left != right),
        Operator::Less => Value::Bool(left < right),
        Operator::LessOrEqual => Value::Bool(left <= right),
        Operator::Greater => Value::Bool(left > right),
        Operator::GreaterOrEqual => Value::Bool(left >= right),
    })
}

pub(crate) fn add(left: Value, right: Value) -> Valued {
    Ok(match (left, right) {
        (Value::Null, other) | (other, Value::Null) => other,
        (Value::Number(left), Value::Number(right)) => Value::from(left.value + right.value),
        (Value::Text(left), Value::Text(right)) => Value::from(format!("{left}{right}")),
        (Value::Array(mut left), Value::Array(right)) => {
            Rc::make_mut(&mut left).extend(right.iter().cloned());
            Value::Array(left)
        }
        (Value::Object(mut left), Value::Object(right)) => {
            let members = Rc::make_mut(&mut left);
            right.entries().iter().for_each(|(key, value)| members.insert(Rc::clone(key), value.clone()));
            Value::Object(left)
        }
        (left, right) => return Err(cannot(&left, &right, "added")),
    })
}

fn subtract(left: Value, right: &Value) -> Valued {
    Ok(match (left, right) {
        (Value::Number(left), Value::Number(right)) => Value::from(left.value - right.value),
        (Value::Array(left), Value::Array(right)) => {
            Value::from(left.iter().filter(|value| !right.contains(value)).cloned().collect::<Vec<_>>())
        }
        (left, right) => return Err(cannot(&left, right, "subtracted")),
    })
}

fn multiply(left: Value, right: Value) -> Valued {
    Ok(match (left, right) {
        (Value::Number(left), Value::Number(right)) => Value::from(left.value * right.value),
        (Value::Text(text), Value::Number(times)) | (Value::Number(times), Value::Text(text)) => {
            return repeat(&text, times.value);
        }
        (Value::Object(left), Value::Object(right)) => Value::Object(merged(left, &right)),
        (left, right) => return Err(cannot(&left, &right, "multiplied")),
    })
}

fn repeat(text: &str, times: f64) -> Valued {
    if times < 0.0 || times.is_nan() {
        return Ok(Value::Null);
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "too many repetitions are refused next"
    )]
    let count = times as usize;
    if count.saturating_mul(text.len()) > MAX_TEXT {
        return Err("Repeat string result too long".into());
    }
    Ok(Value::from(text.repeat(count)))
}

/// Two objects as one, those in them too.
fn merged(mut left: Rc<Object>, right: &Object) -> Rc<Object> {
    let members = Rc::make_mut(&mut left);
    for (key, value) in right.entries() {
        let new = match (members.take(key), value) {
            (Value::Object(old), Value::Object(new)) => Value::Object(merged(old, new)),
            (_, new) => new.clone(),
        };
        members.insert(Rc::clone(key), new);
    }
    left
}

fn divide(left: &Value, right: &Value) -> Valued {
    Ok(match (left, right) {
        (Value::Number(_), Value::Number(divisor)) if divisor.value == 0.0 => {
            return Err(cannot(left, right, "divided because the divisor is zero"));
        }
        (Value::Number(left), Value::Number(right)) => Value::from(left.value / right.value),
        (Value::Text(text), Value::Text(separator)) => split(text, separator),
        _ => return Err(cannot(left, right, "divided")),
    })
}

/// The parts of a text between separators.
pub(crate) fn split(text: &str, separator: &str) -> Value {
    let parts: Vec<Value> = match (text, separator) {
        ("", _) => Vec::new(),
        (text, "") => text.chars().map(|c| Value::from(c.to_string())).collect(),
        (text, separator) => text.split(separator).map(Value::from).collect(),
    };
    Value::from(parts)
}

#[expect(clippy::cast_possible_truncation, reason = "the nearest integer, as jq takes it")]
fn modulo(left: &Value, right: &Value) -> Valued {
    let (Value::Number(one), Value::Number(other)) = (left, right) else {
        return Err(cannot(left, right, "divided"));
    };
    if one.value.is_nan() || other.value.is_nan() {
        return Ok(Value::from(f64::NAN));
    }
    let divisor = (other.value as i64).unsigned_abs();
    if divisor == 0 {
        return Err(cannot(left, right, "divided (remainder) because the divisor is zero"));
    }
    let value = one.value as i64;
    let rest = value.unsigned_abs() % divisor;
    #[expect(clippy::cast_precision_loss, reason = "jq counts in doubles too")]
    let rest = rest as f64;
    Ok(Value::from(if value < 0 { -rest } else { rest }))
}
