//! Looking into values and changing what is in them.

use crate::error::{Stop, Valued};
use crate::value::{Object, Value};
use std::ops::Range;
use std::rc::Rc;

/// Elements that an array may grow to by assigning far behind its end.
const MAX_INDEX: usize = 536_870_911;

fn cannot_index(value: &Value, key: &Value) -> Stop {
    match key {
        Value::Text(key) => format!("Cannot index {} with string \"{key}\"", value.kind()).into(),
        key => format!("Cannot index {} with {}", value.kind(), key.kind()).into(),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a number beyond the integers becomes the nearest")]
fn integer(number: f64) -> i64 {
    number as i64
}

/// What lies under a key.
pub(crate) fn get(value: &Value, key: &Value) -> Valued {
    match (value, key) {
        (Value::Object(object), Value::Text(key)) => Ok(object.get(key).cloned().unwrap_or_default()),
        (Value::Array(values), Value::Number(number)) => {
            if number.value.is_nan() {
                return Ok(Value::Null);
            }
            let mut at = integer(number.value.floor());
            if at < 0 {
                at += i64::try_from(values.len()).unwrap_or(i64::MAX);
            }
            Ok(usize::try_from(at).ok().and_then(|at| values.get(at)).cloned().unwrap_or_default())
        }
        (Value::Null, Value::Text(_) | Value::Number(_)) => Ok(Value::Null),
        (Value::Array(values), Value::Object(bounds)) => {
            let range = slice(values.len(), bounds)?;
            Ok(Value::from(values[range].to_vec()))
        }
        (Value::Text(text), Value::Object(bounds)) => {
            let count = text.chars().count();
            let range = slice(count, bounds)?;
            Ok(Value::from(text.chars().skip(range.start).take(range.len()).collect::<String>()))
        }
        (Value::Null, Value::Object(_)) => Ok(Value::Null),
        (Value::Array(values), Value::Array(wanted)) => Ok(indices_of(values, wanted)),
        (value, key) => Err(cannot_index(value, key)),
    }
}

/// The places where an array stands in another.
pub(crate) fn indices_of(values: &[Value], wanted: &[Value]) -> Value {
    if wanted.is_empty() {
        return Value::from(Vec::new());
    }
    let found = values.windows(wanted.len()).enumerate().filter(|(_, window)| *window == wanted);
    Value::from(found.map(|(at, _)| Value::from(at)).collect::<Vec<_>>())
}

/// The bounds of a slice of something with a length.
fn slice(length: usize, bounds: &Object) -> Result<Range<usize>, Stop> {
    let wrong = || Stop::from("Array/string slice indices must be integers");
    #[expect(clippy::cast_precision_loss, reason = "lengths are far below 2^53")]
    let size = length as f64;
    if bounds.get("start").is_none() || bounds.get("end").is_none() {
        return Err(wrong());
    }
    let bound = |name: &str, default: f64, round: fn(f64) -> f64| match bounds.get(name) {
        None | Some(Value::Null) => Ok(default),
        Some(Value::Number(number)) => {
            let at = if number.value < 0.0 { number.value + size } else { number.value };
            Ok(round(at.clamp(0.0, size)))
        }
        Some(_) => Err(wrong()),
    };
    let from = bound("start", 0.0, f64::floor)?;
    let to = bound("end", size, f64::ceil)?.max(from);
    let place = |at: f64| usize::try_from(integer(at)).unwrap_or(0).min(length);
    Ok(place(from)..place(to))
}

/// What lies under a path.
pub(crate) fn get_path(value: &Value, path: &[Value]) -> Valued {
    let mut value = value.clone();
    for key in path {
        if matches!(value, Value::Null) {
            return Ok(Value::Null);
        }
        value = get(&value, key)?;
    }
    Ok(value)
}

/// Puts a value under a path.
pub(crate) fn set_path(value: Value, path: &[Value], new: Value) -> Valued {
    change_path(value, path, &mut |_| Ok(new.clone()))
}

/// Changes what lies under a path, in place where nothing else holds it.
fn change_path(value: Value, path: &[Value], change: &mut dyn FnMut(Value) -> Valued) -> Valued {
    let Some((key, rest)) = path.split_first() else { return change(value) };
    match (value, key) {
        (value @ (Value::Object(_) | Value::Null), Value::Text(key)) => {
            let mut object = match value {
                Value::Object(object) => object,
                _ => Rc::new(Object::default()),
            };
            let members = Rc::make_mut(&mut object);
            let old = members.take(key);
            members.insert(Rc::clone(key), change_path(old, rest, change)?);
            Ok(Value::Object(object))
        }
        (value @ (Value::Array(_) | Value::Null), Value::Number(number)) => {
            let mut array = match value {
                Value::Array(array) => array,
                _ => Rc::default(),
            };
            let values = Rc::make_mut(&mut array);
            if number.value.is_nan() {
                return Err("Cannot set array element at NaN index".into());
            }
            let mut at = integer(number.value.floor());
            if at < 0 {
                at += i64::try_from(values.len()).unwrap_or(i64::MAX);
            }
            let Ok(at) = usize::try_from(at) else { return Err("Out of bounds negative array index".into()) };
            if at > MAX_INDEX {
                return Err("Array index too large".into());
            }
            if at >= values.len() {
                values.resize(at + 1, Value::Null);
            }
            let old = std::mem::take(&mut values[at]);
            values[at] = change_path(old, rest, change)?;
            Ok(Value::Array(array))
        }
        (value @ (Value::Array(_) | Value::Null), Value::Object(bounds)) => {
            let mut array = match value {
                Value::Array(array) => array,
                _ => Rc::default(),
            };
            let range = slice(array.len(), bounds)?;
            let old = if array.is_empty() && rest.is_empty() {
                Value::Null
            } else {
                Value::from(array[range.clone()].to_vec())
            };
            let Value::Array(new) = change_path(old, rest, change)? else {
                return Err("A slice of an array can only be assigned another array".into());
            };
            Rc::make_mut(&mut array).splice(range, new.iter().cloned());
            Ok(Value::Array(array))
        }
        (Value::Text(_), Value::Object(_)) => Err("Cannot update string slices".into()),
        (Value::Array(_), Value::Array(_)) => Err("Cannot update field at array index of array".into()),
        (value, key) => Err(cannot_index(&value, key)),
    }
}

/// Deletes what lies under several paths.
pub(crate) fn delete_paths(value: Value, paths: &[Value]) -> Valued {
    let mut paths: Vec<&Value> = paths.iter().collect();
    paths.sort();
    let mut value = value;
    // The last first, so that no place moves before it is deleted.
    for path in paths.into_iter().rev() {
        let Value::Array(path) = path else { return Err("Path must be specified as an array".into()) };
        value = delete_path(value, path)?;
    }
    Ok(value)
}

fn delete_path(value: Value, path: &[Value]) -> Valued {
    match path {
        [] => Ok(Value::Null),
        [key] => delete(value, key),
        [key, rest @ ..] => {
            let inner = get(&value, key)?;
            if matches!(inner, Value::Null) {
                return Ok(value);
            }
            let new = delete_path(inner, rest)?;
            set_path(value, std::slice::from_ref(key), new)
        }
    }
}

fn delete(value: Value, key: &Value) -> Valued {
    match (value, key) {
        (Value::Null, _) => Ok(Value::Null),
        (Value::Object(mut object), Value::Text(key)) => {
            Rc::make_mut(&mut object).remove(key);
            Ok(Value::Object(object))
        }
        (Value::Array(mut array), Value::Number(number)) => {
            let mut at = integer(number.value.floor());
            if at < 0 {
                at += i64::try_from(array.len()).unwrap_or(i64::MAX);
            }
            if let Some(at) = usize::try_from(at).ok().filter(|at| *at < array.len()) {
                Rc::make_mut(&mut array).remove(at);
            }
            Ok(Value::Array(array))
        }
        (Value::Array(mut array), Value::Object(bounds)) => {
            let range = slice(array.len(), bounds)?;
            Rc::make_mut(&mut array).drain(range);
            Ok(Value::Array(array))
        }
        (Value::Object(_), Value::Object(_)) => Err("Cannot delete slice from object".into()),
        (Value::Object(_), key) => Err(format!("Cannot delete {} field of object", key.kind()).into()),
        (Value::Array(_), key) => Err(format!("Cannot delete {} element of array", key.kind()).into()),
        (value, _) => Err(format!("Cannot delete fields from {}", value.kind()).into()),
    }
}
