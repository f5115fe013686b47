//! Functions of any values, and those that reach the outside.

use super::{Native, native};
use crate::error::Stop;
use crate::formats;
use crate::paths;
use crate::value::Value;
use crate::{arithmetic, reader, writer};

pub(super) const NATIVES: &[Native] = &[
    native("_flatten", 1, |_, input, arguments| {
        let mut flat = Vec::new();
        flatten(input, arguments[0].number().unwrap_or(0.0), &mut flat)?;
        Ok(Value::from(flat))
    }),
    native("_input", 0, |host, _, _| host.next_input()?.ok_or_else(|| Stop::from("break"))),
    native("_negate", 0, |_, input, _| match input {
        Value::Number(number) => Ok(Value::from(-number.value)),
        other => Err(format!("{} cannot be negated", other.described()).into()),
    }),
    native("contains", 1, |_, input, arguments| contains(input, &arguments[0]).map(Value::Bool)),
    native("debug", 0, |host, input, _| {
        host.tell(&format!("[\"DEBUG:\",{}]\n", writer::compact(input)));
        Ok(input.clone())
    }),
    native("delpaths", 1, |_, input, arguments| match &arguments[0] {
        Value::Array(paths) => paths::delete_paths(input.clone(), paths),
        _ => Err("Paths must be specified as an array".into()),
    }),
    native("error", 1, |_, _, arguments| Err(Stop::Error(arguments[0].clone()))),
    native("format", 1, |_, input, arguments| match &arguments[0] {
        Value::Text(name) => formats::format(&format!("@{name}"), input).map(Value::from).map_err(Stop::from),
        other => Err(format!("{} is not a valid format", other.described()).into()),
    }),
    native("halt", 0, |_, _, _| Err(Stop::Halt(0))),
    native("halt_error", 1, |host, input, arguments| {
        let Some(status) = arguments[0].number() else {
            return Err(format!("{} halt_error/1: number required", input.described()).into());
        };
        match input {
            Value::Null => {}
            Value::Text(text) => host.tell(text),
            other => host.tell(&format!("{}\n", writer::compact(other))),
        }
        #[expect(clippy::cast_possible_truncation, reason = "a status beyond 255 is cut by the system anyway")]
        Err(Stop::Halt(status as i32))
    }),
    native("has", 1, |_, input, arguments| match (input, &arguments[0]) {
        (Value::Object(object), Value::Text(key)) => Ok(Value::Bool(object.get(key).is_some())),
        #[expect(clippy::cast_precision_loss, reason = "lengths are far below 2^53")]
        (Value::Array(values), Value::Number(at)) => {
            Ok(Value::Bool(at.value >= 0.0 && at.value.trunc() < values.len() as f64))
        }
        (input, key) => Err(format!("Cannot check whether {} has a {} key", input.kind(), key.kind()).into()),
    }),
    native("input_filename", 0, |host, _, _| Ok(host.file_name().map_or(Value::Null, Value::from))),
    native("input_line_number", 0, |host, _, _| Ok(Value::from(host.line()))),
    native("keys", 0, |_, input, _| keys(input, true)),
    native("keys_unsorted", 0, |_, input, _| keys(input, false)),
    native("length", 0, |_, input, _| match input {
        Value::Null => Ok(Value::from(0_usize)),
        Value::Number(number) => Ok(Value::from(number.value.abs())),
        Value::Text(text) => Ok(Value::from(text.chars().count())),
        Value::Array(values) => Ok(Value::from(values.len())),
        Value::Object(object) => Ok(Value::from(object.len())),
        Value::Bool(_) => Err(format!("{} has no length", input.described()).into()),
    }),
    native("not", 0, |_, input, _| Ok(Value::Bool(!input.is_true()))),
    native("setpath", 2, |_, input, arguments| match &arguments[0] {
        Value::Array(path) => paths::set_path(input.clone(), path, arguments[1].clone()),
        _ => Err("Path must be specified as an array".into()),
    }),
    native("stderr", 0, |host, input, _| {
        match input {
            Value::Text(text) => host.tell(text),
            other => host.tell(&writer::compact(other)),
        }
        Ok(input.clone())
    }),
    native("fromjson", 0, |_, input, _| match input {
        Value::Text(text) => parsed(text),
        other => Err(format!("{} cannot be parsed as JSON", other.described()).into()),
    }),
    native("tojson", 0, |_, input, _| Ok(Value::from(writer::compact(input)))),
    native("tonumber", 0, |_, input, _| match input {
        Value::Number(_) => Ok(input.clone()),
        Value::Text(text) => match parsed(text)? {
            number @ Value::Number(_) => Ok(number),
            other => Err(format!("{} cannot be parsed as a number", other.described()).into()),
        },
        other => Err(format!("{} cannot be parsed as a number", other.described()).into()),
    }),
    native("tostring", 0, |_, input, _| Ok(Value::from(formats::text(input)))),
    native("type", 0, |_, input, _| Ok(Value::from(input.kind()))),
    native("split", 1, |_, input, arguments| match (input, &arguments[0]) {
        (Value::Text(text), Value::Text(separator)) => Ok(arithmetic::split(text, separator)),
        _ => Err("split input and separator must be strings".into()),
    }),
];

fn keys(input: &Value, sorted: bool) -> Result<Value, Stop> {
    match input {
        Value::Object(object) => {
            let mut keys: Vec<_> = object.entries().iter().map(|(key, _)| std::rc::Rc::clone(key)).collect();
            if sorted {
                keys.sort_by(|one, other| one.as_bytes().cmp(other.as_bytes()));
            }
            Ok(Value::from(keys.into_iter().map(Value::Text).collect::<Vec<_>>()))
        }
        Value::Array(values) => Ok(Value::from((0..values.len()).map(Value::from).collect::<Vec<_>>())),
        other => Err(format!("{} has no keys", other.described()).into()),
    }
}

/// The one value that a text holds.
fn parsed(text: &str) -> Result<Value, Stop> {
    let wrong = |what: &str| Stop::from(format!("{what} (while parsing '{text}')"));
    let mut values = reader::all(text.as_bytes()).map_err(|what| wrong(&what))?;
    match (values.pop(), values.is_empty()) {
        (Some(value), true) => Ok(value),
        (Some(_), false) => Err(wrong("Unexpected extra JSON values")),
        (None, _) => Err(wrong("Expected JSON value")),
    }
}

fn contains(whole: &Value, part: &Value) -> Result<bool, Stop> {
    Ok(match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            for (key, value) in part.entries() {
                match whole.get(key) {
                    Some(found) if contains(found, value)? => {}
                    _ => return Ok(false),
                }
            }
            true
        }
        (Value::Array(whole), Value::Array(part)) => {
            for value in part.iter() {
                let mut found = false;
                for candidate in whole.iter() {
                    found = found || (candidate.kind() == value.kind() && contains(candidate, value)?);
                }
                if !found {
                    return Ok(false);
                }
            }
            true
        }
        (Value::Text(whole), Value::Text(part)) => whole.contains(&**part),
        (whole, part) if whole.kind() == part.kind() => whole == part,
        (whole, part) => {
            let (whole, part) = (whole.described(), part.described());
            return Err(format!("{whole} and {part} cannot have their containment checked").into());
        }
    })
}

/// Appends what is in a value, and in what is in it down to a depth.
fn flatten(value: &Value, depth: f64, flat: &mut Vec<Value>) -> Result<(), Stop> {
    let elements: Vec<&Value> = match value {
        Value::Array(values) => values.iter().collect(),
        Value::Object(object) => object.entries().iter().map(|(_, value)| value).collect(),
        Value::Null => return Err("Cannot iterate over null (null)".into()),
        other => return Err(format!("Cannot iterate over {}", other.described()).into()),
    };
    for element in elements {
        if matches!(element, Value::Array(_)) && depth > 0.0 {
            flatten(element, depth - 1.0, flat)?;
        } else {
            flat.push(element.clone());
        }
    }
    Ok(())
}
