//! Functions that order values.

use super::{Native, native};
use crate::error::Stop;
use crate::value::Value;

pub(super) const NATIVES: &[Native] = &[
    native("_sort_by", 1, |_, input, arguments| {
        let pairs = sorted(input, &arguments[0], "sorted")?;
        Ok(Value::from(pairs.into_iter().map(|(_, value)| value).collect::<Vec<_>>()))
    }),
    native("_group_by", 1, |_, input, arguments| {
        Ok(Value::from(groups(input, &arguments[0])?.into_iter().map(Value::from).collect::<Vec<_>>()))
    }),
    native("_unique_by", 1, |_, input, arguments| {
        let groups = groups(input, &arguments[0])?;
        Ok(Value::from(groups.into_iter().filter_map(|group| group.into_iter().next()).collect::<Vec<_>>()))
    }),
    native("_min_by", 1, |_, input, arguments| extreme(input, &arguments[0], false)),
    native("_max_by", 1, |_, input, arguments| extreme(input, &arguments[0], true)),
    native("sort", 0, |_, input, _| {
        let Value::Array(values) = input else {
            return Err(format!("{} cannot be sorted, as it is not an array", input.described()).into());
        };
        let mut values = values.to_vec();
        values.sort();
        Ok(Value::from(values))
    }),
    native("bsearch", 1, |_, input, arguments| {
        let Value::Array(values) = input else {
            return Err(format!("{} cannot be searched from", input.described()).into());
        };
        #[expect(clippy::cast_precision_loss, reason = "lengths are far below 2^53")]
        Ok(match values.binary_search(&arguments[0]) {
            Ok(_) => Value::from(values.partition_point(|value| *value < arguments[0])),
            Err(at) => Value::from(-1.0 - at as f64),
        })
    }),
];

fn sorted(input: &Value, keys: &Value, verb: &str) -> Result<Vec<(Value, Value)>, Stop> {
    let (Value::Array(values), Value::Array(keys)) = (input, keys) else {
        return Err(format!("{} cannot be {verb}, as it is not an array", input.described()).into());
    };
    let mut pairs: Vec<(Value, Value)> = keys.iter().cloned().zip(values.iter().cloned()).collect();
    pairs.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(pairs)
}

fn groups(input: &Value, keys: &Value) -> Result<Vec<Vec<Value>>, Stop> {
    let mut groups: Vec<(Value, Vec<Value>)> = Vec::new();
    for (key, value) in sorted(input, keys, "grouped")? {
        match groups.last_mut() {
            Some((known, group)) if *known == key => group.push(value),
            _ => groups.push((key, vec![value])),
        }
    }
    Ok(groups.into_iter().map(|(_, group)| group).collect())
}

/// The first of the least values, or the last of the greatest.
fn extreme(input: &Value, keys: &Value, greatest: bool) -> Result<Value, Stop> {
    let (Value::Array(values), Value::Array(keys)) = (input, keys) else {
        let input = input.described();
        return Err(format!("{input} and {input} cannot be iterated over").into());
    };
    let mut best: Option<(&Value, &Value)> = None;
    for (key, value) in keys.iter().zip(values.iter()) {
        let better = best.is_none_or(|(known, _)| if greatest { key >= known } else { key < known });
        if better {
            best = Some((key, value));
        }
    }
    Ok(best.map(|(_, value)| value.clone()).unwrap_or_default())
}
