//! Setting and deleting by paths, as jq does: a missing container is made, and deleting keeps the order of the rest.

use crate::message::type_of;
use jaq_json::{Map, Num, Val};

/// Elements that an array may be given by setting one.
const MAX_INDEX: usize = 536_870_911;

fn fail<T>(text: String) -> Result<T, String> {
    Err(text)
}

fn index_of(key: &Val) -> Option<isize> {
    match key {
        #[expect(clippy::cast_possible_truncation, reason = "an index beyond the range saturates and is out of bounds")]
        Val::Num(Num::Float(value)) => Some(value.floor() as isize),
        Val::Num(value) => value.as_isize(),
        _ => None,
    }
}

fn bounds(slice: &Map, length: usize) -> Result<(usize, usize), String> {
    let bound = |name: &str, default: usize| match slice.get(&Val::utf8_str(name.to_owned().into_bytes())) {
        None | Some(Val::Null) => Ok(default),
        Some(value) => match index_of(value) {
            Some(at) if at < 0 => Ok(length.saturating_sub(at.unsigned_abs())),
            Some(at) => Ok(at.unsigned_abs().min(length)),
            None => fail("Start and end indices of an array slice must be numbers".to_owned()),
        },
    };
    let (from, to) = (bound("start", 0)?, bound("end", length)?);
    Ok((from, to.max(from)))
}

/// Whether a value is the empty path's.
fn cannot<T>(value: &Val, key: &Val) -> Result<T, String> {
    match key {
        Val::TStr(text) => fail(format!("Cannot index {} with \"{}\"", type_of(value), String::from_utf8_lossy(text))),
        key => fail(format!("Cannot index {} with {}", type_of(value), type_of(key))),
    }
}

/// The value with another one at a path.
pub(crate) fn set(value: Val, path: &[Val], new: Val) -> Result<Val, String> {
    let Some((key, rest)) = path.split_first() else { return Ok(new) };
    match (value, key) {
        (Val::Null, Val::TStr(_)) => set(Val::obj(Map::default()), path, new),
        (Val::Null, Val::Num(_) | Val::Obj(_)) => set(std::iter::empty().collect(), path, new),
        (Val::Obj(mut map), Val::TStr(_)) => {
            let map_mut = jaq_json::Rc::make_mut(&mut map);
            let slot = map_mut.entry(key.clone()).or_insert(Val::Null);
            let old = std::mem::take(slot);
            *slot = set(old, rest, new)?;
            Ok(Val::Obj(map))
        }
        (Val::Arr(mut values), Val::Num(_)) => {
            let length = values.len();
            let at = match index_of(key) {
                Some(at) if at < 0 => match length.checked_sub(at.unsigned_abs()) {
                    Some(at) => at,
                    None => return fail("Out of bounds negative array index".to_owned()),
                },
                Some(at) => at.unsigned_abs(),
                None => return fail("Array index too large".to_owned()),
            };
            if at > MAX_INDEX {
                return fail("Array index too large".to_owned());
            }
            let values_mut = jaq_json::Rc::make_mut(&mut values);
            if at >= length {
                values_mut.resize(at + 1, Val::Null);
            }
            let old = std::mem::take(&mut values_mut[at]);
            values_mut[at] = set(old, rest, new)?;
            Ok(Val::Arr(values))
        }
        (Val::Arr(mut values), Val::Obj(slice)) => {
            let (from, to) = bounds(slice, values.len())?;
            let old: Val = values[from..to].iter().cloned().collect();
            let Val::Arr(inner) = set(old, rest, new)? else {
                return fail("A slice of an array can only be assigned another array".to_owned());
            };
            jaq_json::Rc::make_mut(&mut values).splice(from..to, inner.iter().cloned());
            Ok(Val::Arr(values))
        }
        (value, key) => cannot(&value, key),
    }
}

/// The value without what the paths lead to.
pub(crate) fn delete(mut value: Val, mut paths: Vec<Val>) -> Result<Val, String> {
    // From the end, so that a deletion moves nothing that a later one names.
    paths.sort();
    for path in paths.iter().rev() {
        let Val::Arr(path) = path else { return fail("Path must be specified as an array".to_owned()) };
        value = delete_one(value, path)?;
    }
    Ok(value)
}

fn delete_one(value: Val, path: &[Val]) -> Result<Val, String> {
    let Some((key, rest)) = path.split_first() else { return Ok(Val::Null) };
    match (value, key) {
        (Val::Null, _) => Ok(Val::Null),
        (Val::Obj(mut map), Val::TStr(_)) => {
            let map_mut = jaq_json::Rc::make_mut(&mut map);
            if rest.is_empty() {
                map_mut.shift_remove(key);
            } else if let Some(slot) = map_mut.get_mut(key) {
                *slot = delete_one(std::mem::take(slot), rest)?;
            }
            Ok(Val::Obj(map))
        }
        (Val::Arr(mut values), Val::Num(_)) => {
            let at = index_of(key).and_then(|at| {
                if at < 0 { values.len().checked_sub(at.unsigned_abs()) } else { Some(at.unsigned_abs()) }
            });
            if let Some(at) = at.filter(|at| *at < values.len()) {
                let values_mut = jaq_json::Rc::make_mut(&mut values);
                if rest.is_empty() {
                    values_mut.remove(at);
                } else {
                    values_mut[at] = delete_one(std::mem::take(&mut values_mut[at]), rest)?;
                }
            }
            Ok(Val::Arr(values))
        }
        (Val::Arr(mut values), Val::Obj(slice)) => {
            let (from, to) = bounds(slice, values.len())?;
            if rest.is_empty() {
                jaq_json::Rc::make_mut(&mut values).drain(from..to);
                return Ok(Val::Arr(values));
            }
            let inner = delete_one(values[from..to].iter().cloned().collect(), rest)?;
            set(Val::Arr(values), &path[..1], inner)
        }
        (value, Val::TStr(_) | Val::Num(_)) => fail(format!("Cannot delete field at {} index of {}", if matches!(key, Val::Num(_)) { "array" } else { "object" }, type_of(&value))),
        (value, key) => cannot(&value, key),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::single;
    use crate::writer::compact;

    fn json(text: &str) -> Val {
        single(text.as_bytes()).unwrap_or_default()
    }

    fn list(text: &str) -> Vec<Val> {
        match json(text) {
            Val::Arr(values) => values.to_vec(),
            _ => Vec::new(),
        }
    }

    #[test]
    fn values_are_set_and_deleted() {
        for (value, path, expected) in [
            ("null", r#"["a","b"]"#, Ok(r#"{"a":{"b":9}}"#)), ("[1]", "[2]", Ok("[1,null,9]")), ("[1,2]", "[-1]", Ok("[1,9]")),
            (r#"{"b":1,"a":2}"#, r#"["b"]"#, Ok(r#"{"b":9,"a":2}"#)), ("1", r#"["a"]"#, Err("Cannot index number with \"a\"")),
        ] {
            let set = set(json(value), &list(path), json("9"));
            assert_eq!(set.as_ref().map(compact), expected.map(str::to_owned).map_err(|text| text.to_owned()).as_ref().map(String::clone));
        }
        let deleted = delete(json(r#"{"c":1,"b":[1,2,3],"a":3}"#), list(r#"[["c"],["b",0],["b",1],["x","y"]]"#));
        assert_eq!(deleted.map(|value| compact(&value)).as_deref(), Ok(r#"{"b":[3],"a":3}"#));
    }
}
