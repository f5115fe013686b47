//! Regular expressions.

use super::{Native, native};
use crate::error::{Stop, Valued};
use crate::regex::{self, Flags, Found, Refusal, TooComplex};
use crate::value::{Object, Value};
use std::ops::Range;

pub(super) const NATIVES: &[Native] =
    &[native("_match", 3, |_, input, arguments| run(input, &arguments[0], &arguments[1], arguments[2].is_true()))];

/// What a modifier string asks for.
#[derive(Default)]
struct Modifiers {
    flags: Flags,
    global: bool,
    /// Empty matches do not count.
    not_empty: bool,
}

fn modifiers(value: &Value) -> Result<Modifiers, Stop> {
    let mut modifiers = Modifiers::default();
    let text = match value {
        Value::Null => return Ok(modifiers),
        Value::Text(text) => text,
        other => return Err(format!("{} is not a string", other.described()).into()),
    };
    for letter in text.chars() {
        match letter {
            'g' => modifiers.global = true,
            'i' => modifiers.flags.ignore_case = true,
            'x' => modifiers.flags.extended = true,
            // Anchors are those of a single line anyway.
            's' => {}
            'p' => modifiers.flags.dot_all = true,
            'n' => modifiers.not_empty = true,
            'l' => return Err(Stop::Unsupported("the modifier l, for the longest match,".to_owned())),
            _ => return Err(format!("{text} is not a valid modifier string").into()),
        }
    }
    Ok(modifiers)
}

fn run(input: &Value, pattern: &Value, flags: &Value, test: bool) -> Valued {
    let Value::Text(text) = input else {
        return Err(format!("{} cannot be matched, as it is not a string", input.described()).into());
    };
    let Value::Text(pattern) = pattern else {
        return Err(format!("{} cannot be matched, as it is not a string", pattern.described()).into());
    };
    let Modifiers { flags, global, not_empty } = modifiers(flags)?;
    let program = regex::compile(pattern, flags).map_err(|refusal| match refusal {
        Refusal::Wrong(message) => Stop::from(format!("Regex failure: {message}")),
        Refusal::Unsupported(what) => Stop::Unsupported(what),
    })?;
    let chars: Vec<char> = text.chars().collect();
    let mut matches = Vec::new();
    let mut at = 0;
    while at <= chars.len() {
        let found = program
            .find(&chars, at)
            .map_err(|TooComplex| Stop::Unsupported("a pattern that takes so many steps on a text".to_owned()))?;
        let Some(found) = found else { break };
        let Some(whole) = found[0].clone() else { break };
        at = if whole.is_empty() { whole.end + 1 } else { whole.end };
        if not_empty && whole.is_empty() {
            continue;
        }
        if test {
            return Ok(Value::Bool(true));
        }
        matches.push(shown(&chars, &found, &program.names));
        if !global {
            break;
        }
    }
    Ok(if test { Value::Bool(false) } else { Value::from(matches) })
}

fn part(chars: &[char], range: &Range<usize>) -> Vec<(std::rc::Rc<str>, Value)> {
    let text: String = chars[range.clone()].iter().collect();
    if range.is_empty() {
        // The members of an empty group stand in another order.
        return vec![
            ("offset".into(), Value::from(range.start)),
            ("string".into(), Value::from(text)),
            ("length".into(), Value::from(0_usize)),
        ];
    }
    vec![
        ("offset".into(), Value::from(range.start)),
        ("length".into(), Value::from(range.len())),
        ("string".into(), Value::from(text)),
    ]
}

fn shown(chars: &[char], found: &Found, names: &[Option<String>]) -> Value {
    let whole = found[0].clone().unwrap_or_default();
    let capture = |(range, name): (&Option<Range<usize>>, &Option<String>)| {
        let mut members = match range {
            // With an empty match every group is that.
            _ if whole.is_empty() => part(chars, &whole),
            Some(range) => part(chars, range),
            None => vec![
                ("offset".into(), Value::from(-1.0)),
                ("string".into(), Value::Null),
                ("length".into(), Value::from(0_usize)),
            ],
        };
        members.push(("name".into(), name.as_deref().map_or(Value::Null, Value::from)));
        Value::from(Object::from_iter(members))
    };
    let captures: Vec<Value> = found[1..].iter().zip(names).map(capture).collect();
    let text: String = chars[whole.clone()].iter().collect();
    let members: [(std::rc::Rc<str>, Value); 4] = [
        ("offset".into(), Value::from(whole.start)),
        ("length".into(), Value::from(whole.len())),
        ("string".into(), Value::from(text)),
        ("captures".into(), Value::from(captures)),
    ];
    Value::from(Object::from_iter(members))
}
