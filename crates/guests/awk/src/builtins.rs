//! The functions of the language.

use crate::evaluate::Target;
use crate::fields::Separator;
use crate::format::formatted;
use crate::input::Source;
use crate::interpreter::{Interpreter, Local};
use crate::random::Random;
use crate::syntax::{Builtin, Expression, Place, Regex, Variable, special};
use crate::value::Value;
use crate::{Fault, unsupported};
use guest_files::civil::{self, Civil};

/// A length as a number.
fn count(count: usize) -> Value {
    Value::Number(f64::from(u32::try_from(count).unwrap_or(u32::MAX)))
}

fn whole(value: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
    let value = value as i64;
    value
}

impl<'p> Interpreter<'p> {
    pub(crate) fn builtin(&mut self, builtin: Builtin, arguments: &'p [Expression]) -> Result<Value, Fault> {
        Ok(match (builtin, arguments) {
            (Builtin::Atan2, [y, x]) => Value::Number(self.number(y)?.atan2(self.number(x)?)),
            (Builtin::Cos, [x]) => Value::Number(self.number(x)?.cos()),
            (Builtin::Sin, [x]) => Value::Number(self.number(x)?.sin()),
            (Builtin::Exp, [x]) => Value::Number(self.number(x)?.exp()),
            (Builtin::Log, [x]) => Value::Number(self.number(x)?.ln()),
            (Builtin::Sqrt, [x]) => Value::Number(self.number(x)?.sqrt()),
            (Builtin::Int, [x]) => Value::Number(self.number(x)?.trunc()),
            (Builtin::Rand, _) => Value::Number(self.random.fraction()),
            (Builtin::Srand, seed) => {
                let seed = match seed.first() {
                    Some(seed) => self.evaluate(seed)?,
                    None => Value::Number(now()),
                };
                // Text is no seed, also when it looks like a number.
                let number = if let Value::Number(number) = seed { whole(number).rem_euclid(1 << 32) } else { 1 };
                self.random = Random::seeded(u32::try_from(number).unwrap_or_default());
                std::mem::replace(&mut self.seed, seed)
            }
            (Builtin::Systime, _) => Value::Number(now()),
            (Builtin::Mktime, [date]) => Value::Number(moment(&self.text(date)?)),
            (Builtin::Strftime, [format, time @ ..]) => {
                let format = self.text(format)?;
                let time = time.first().map_or_else(|| Ok(now()), |time| self.number(time))?;
                let text = civil::formatted(&String::from_utf8_lossy(&format), (whole(time), 0));
                match text {
                    Ok(text) => Value::text_of(text.into_bytes()),
                    Err(directive) => return unsupported(format!("{directive} in strftime")),
                }
            }
            (Builtin::Length, []) => {
                let joint = self.global_text(special::OFS);
                let conversion = self.conversion.clone();
                count(self.record.whole(&joint, &conversion).text(&conversion).len())
            }
            (Builtin::Length, [text, ..]) => count(self.text(text)?.len()),
            (Builtin::Index, [text, wanted]) => {
                let (text, wanted) = (self.text(text)?, self.text(wanted)?);
                let at = (0..=text.len()).find(|at| text[*at..].starts_with(&wanted));
                count(at.map_or(0, |at| at + 1))
            }
            (Builtin::Substr, [text, start, length @ ..]) => {
                let text = self.text(text)?;
                let start = whole(self.number(start)?);
                let length = match length.first() {
                    Some(length) => whole(self.number(length)?),
                    None => i64::MAX,
                };
                Value::text_of(part(&text, start, length))
            }
            (Builtin::Sprintf, values) => {
                let mut out = Vec::new();
                self.sprintf(values, &mut out)?;
                Value::text_of(out)
            }
            (Builtin::ToLower, [text]) => Value::text_of(self.text(text)?.to_ascii_lowercase()),
            (Builtin::ToUpper, [text]) => Value::text_of(self.text(text)?.to_ascii_uppercase()),
            (Builtin::Close, [name]) => {
                let name = self.text(name)?;
                let written = self.outputs.close(&name);
                let read = self.sources.remove(&*name).is_some();
                let closed = written.unwrap_or(read);
                Value::Number(if closed { 0.0 } else { -1.0 })
            }
            (Builtin::Flush, _) => Value::Number(if self.outputs.flush() { 0.0 } else { -1.0 }),
            // The parser counts arguments.
            _ => Value::Nothing,
        })
    }

    pub(crate) fn sprintf(&mut self, values: &'p [Expression], out: &mut Vec<u8>) -> Result<(), Fault> {
        let Some((format, values)) = values.split_first() else { return Ok(()) };
        let format = self.text(format)?;
        let values = values.iter().map(|value| self.evaluate(value)).collect::<Result<Vec<_>, Fault>>()?;
        formatted(out, &format, &values, &self.conversion)
    }

    pub(crate) fn length_of(&mut self, variable: Variable) -> Result<Value, Fault> {
        let is_array = match variable {
            Variable::Global(place) => self.arrays[place].borrow().len() > 0,
            Variable::Local(place) => {
                matches!(self.frames.last().and_then(|frame| frame.get(place)), Some(Local::Array(_)))
            }
        };
        if is_array {
            return Ok(count(self.array(variable)?.borrow().len()));
        }
        let value = match variable {
            Variable::Global(place) => self.globals[place].clone(),
            Variable::Local(place) => match self.frames.last().and_then(|frame| frame.get(place)) {
                Some(Local::Value(value)) => value.clone(),
                _ => Value::Nothing,
            },
        };
        Ok(count(value.text(&self.conversion).len()))
    }

    pub(crate) fn split(
        &mut self,
        text: &'p Expression,
        array: Variable,
        separator: Option<&'p Regex>,
    ) -> Result<Value, Fault> {
        let text = self.text(text)?;
        let separator = match separator {
            None => self.separator.clone(),
            Some(Regex::Known(matcher)) => Separator::Regex(matcher.clone()),
            Some(Regex::Value(value)) => Separator::of(&*self.text(value)?)?,
        };
        let parts = separator.split(&text)?;
        let number = count(parts.len());
        self.array(array)?.borrow_mut().fill(parts);
        Ok(number)
    }

    pub(crate) fn find(&mut self, text: &'p Expression, regex: &'p Regex) -> Result<Value, Fault> {
        let text = self.text(text)?;
        let found = self.regex(regex)?.find(&text, 0)?;
        let (start, length) = match found {
            Some(found) => (count(found.start + 1), count(found.len())),
            None => (Value::Number(0.0), Value::Number(-1.0)),
        };
        self.globals[special::RSTART] = start.clone();
        self.globals[special::RLENGTH] = length;
        Ok(start)
    }

    pub(crate) fn substitute(
        &mut self,
        all: bool,
        regex: &'p Regex,
        replacement: &'p Expression,
        place: Option<&'p Place>,
    ) -> Result<Value, Fault> {
        let matcher = self.regex(regex)?;
        let replacement = pieces(&self.text(replacement)?);
        let target = place.map_or(Ok(Target::Field(0)), |place| self.target(place))?;
        let text = self.get(&target)?;
        let text = text.text(&self.conversion);
        let (mut out, mut at, mut changes) = (Vec::with_capacity(text.len()), 0, 0);
        let mut last_end = None;
        while at <= text.len()
            && let Some(found) = matcher.find(&text, at)?
        {
            out.extend_from_slice(&text[at..found.start]);
            // What is empty right behind a match is none.
            if !(found.is_empty() && last_end == Some(found.start)) {
                changes += 1;
                for piece in &replacement {
                    out.extend_from_slice(piece.as_deref().unwrap_or(&text[found.clone()]));
                }
            }
            last_end = Some(found.end);
            at = found.end;
            if found.is_empty() {
                out.extend(text.get(at));
                at += 1;
            }
            if !all {
                break;
            }
        }
        out.extend_from_slice(text.get(at..).unwrap_or_default());
        if changes > 0 {
            self.set(&target, Value::text_of(out))?;
        }
        Ok(count(changes))
    }

    pub(crate) fn getline(&mut self, place: Option<&'p Place>, file: Option<&'p Expression>) -> Result<Value, Fault> {
        let record = match file {
            None => {
                let record = self.next_record()?;
                if record.is_some() {
                    self.count_record();
                }
                record
            }
            Some(file) => {
                let name = self.text(file)?;
                let separator = self.record_separator.clone();
                if !self.sources.contains_key(&*name) {
                    let Ok(source) = Source::open(&name) else { return Ok(Value::Number(-1.0)) };
                    self.sources.insert(name.to_vec(), source);
                }
                match self.sources.get_mut(&*name).map(|source| source.record(&separator)) {
                    Some(Ok(record)) => record,
                    _ => return Ok(Value::Number(-1.0)),
                }
            }
        };
        let Some(record) = record else { return Ok(Value::Number(0.0)) };
        let target = place.map_or(Ok(Target::Field(0)), |place| self.target(place))?;
        self.set(&target, Value::Input(record.into()))?;
        Ok(Value::Number(1.0))
    }
}

/// Seconds since 1970.
fn now() -> f64 {
    f64::from(u32::try_from(civil::now().0).unwrap_or(u32::MAX))
}

/// The moment of `YYYY MM DD HH MM SS`; -1 for what is none.
fn moment(text: &[u8]) -> f64 {
    let text = String::from_utf8_lossy(text);
    let parts: Vec<i64> = text.split_ascii_whitespace().map_while(|part| part.parse().ok()).collect();
    let small = |part: i64| u32::try_from(part).unwrap_or(u32::MAX);
    let seconds = match parts[..] {
        [year, month, day, hour, minute, second, ..] => {
            Civil::seconds(year, small(month), small(day), (small(hour), small(minute), small(second)))
        }
        _ => None,
    };
    seconds.map_or(-1.0, |seconds| {
        #[expect(clippy::cast_precision_loss, reason = "dates are far below where whole numbers end")]
        let seconds = seconds as f64;
        seconds
    })
}

/// `substr` as mawk 1.3.4 cuts: a start before the text makes the part longer by what it lies before.
fn part(text: &[u8], start: i64, length: i64) -> Vec<u8> {
    let (start, length) = if start < 1 { (1, length.saturating_sub(start)) } else { (start, length) };
    let from = usize::try_from(start - 1).unwrap_or(usize::MAX).min(text.len());
    let length = usize::try_from(length).unwrap_or(0);
    text[from..from.saturating_add(length).min(text.len())].to_vec()
}

/// The pieces of a replacement; `None` is what was matched.
fn pieces(text: &[u8]) -> Vec<Option<Vec<u8>>> {
    let (mut pieces, mut piece) = (Vec::new(), Vec::new());
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        at += 1;
        match (byte, text.get(at)) {
            (b'\\', Some(next @ (b'&' | b'\\'))) => {
                at += 1;
                piece.push(*next);
            }
            (b'&', _) => {
                pieces.push(Some(std::mem::take(&mut piece)));
                pieces.push(None);
            }
            (byte, _) => piece.push(*byte),
        }
    }
    pieces.push(Some(piece));
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_cut_as_mawk_cuts_them() {
        for (start, length, expected) in
            [(2, i64::MAX, "ello"), (0, 2, "he"), (-1, 3, "hell"), (2, -1, ""), (9, 2, ""), (4, 9, "lo")]
        {
            assert_eq!(part(b"hello", start, length), expected.as_bytes(), "{start} {length}");
        }
    }

    #[test]
    fn replacements_fall_into_pieces() {
        let text = |text: &str| Some(text.as_bytes().to_vec());
        assert_eq!(pieces(b"[&]"), [text("["), None, text("]")]);
        assert_eq!(pieces(br"\&\\&x\y"), [text("&\\"), None, text(r"x\y")]);
    }
}
