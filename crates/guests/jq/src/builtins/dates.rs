//! Times: seconds since 1970, and the broken-down form `[year, month, day, hours, minutes, seconds, weekday, day of year]`, months
//! and days of the year counted from zero. The zone is UTC.

use super::{Native, native};
use crate::dates::{self, Broken};
use crate::error::{Stop, Valued};
use crate::value::Value;

pub(super) const NATIVES: &[Native] = &[
    native("now", 0, |_, _, _| {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Ok(Value::from(since.as_secs_f64()))
    }),
    native("gmtime", 0, |_, input, _| gmtime(input, "gmtime")),
    native("localtime", 0, |_, input, _| gmtime(input, "localtime")),
    native("mktime", 0, |_, input, _| {
        if !matches!(input, Value::Array(_)) {
            return Err("mktime requires array inputs".into());
        }
        let broken = broken(input).ok_or_else(|| Stop::from("mktime requires parsed datetime inputs"))?;
        #[expect(clippy::cast_precision_loss, reason = "seconds are far below 2^53")]
        Ok(Value::from(broken.seconds() as f64))
    }),
    native("strftime", 1, |_, input, arguments| format(input, &arguments[0], "strftime")),
    native("strflocaltime", 1, |_, input, arguments| format(input, &arguments[0], "strflocaltime")),
    native("strptime", 1, |_, input, arguments| {
        let (Value::Text(text), Value::Text(format)) = (input, &arguments[0]) else {
            return Err("strptime/1 requires string inputs and arguments".into());
        };
        match dates::parse(text, format) {
            Ok(Some(broken)) => Ok(shown(&broken, broken.second.into())),
            Ok(None) => Err(format!("date \"{text}\" does not match format \"{format}\"").into()),
            Err(letter) => Err(Stop::Unsupported(format!("the conversion %{letter} of strptime"))),
        }
    }),
];

fn gmtime(input: &Value, name: &str) -> Valued {
    let Some(time) = input.number() else { return Err(format!("{name}() requires a number").into()) };
    #[expect(clippy::cast_possible_truncation, reason = "times beyond are refused by nobody")]
    let whole = time.floor() as i64;
    let broken = Broken::of(whole);
    Ok(shown(&broken, f64::from(broken.second) + (time - time.floor())))
}

fn shown(broken: &Broken, seconds: f64) -> Value {
    #[expect(clippy::cast_precision_loss, reason = "years are far below 2^53")]
    let year = broken.year as f64;
    let numbers = [
        year,
        broken.month.into(),
        broken.day.into(),
        broken.hour.into(),
        broken.minute.into(),
        seconds,
        broken.weekday.into(),
        broken.day_of_year.into(),
    ];
    Value::from(numbers.map(Value::from).to_vec())
}

#[expect(clippy::cast_possible_truncation, reason = "fractions of a field do not count")]
fn broken(value: &Value) -> Option<Broken> {
    let Value::Array(fields) = value else { return None };
    let numbers: Option<Vec<f64>> = fields.iter().take(8).map(Value::number).collect();
    let numbers = numbers.filter(|numbers| numbers.len() == 8)?;
    Some(Broken {
        year: numbers[0] as i64,
        month: numbers[1] as i32,
        day: numbers[2] as i32,
        hour: numbers[3] as i32,
        minute: numbers[4] as i32,
        second: numbers[5] as i32,
        weekday: numbers[6] as i32,
        day_of_year: numbers[7] as i32,
    })
}

fn format(input: &Value, format: &Value, name: &str) -> Valued {
    let wrong = || Stop::from(format!("{name}/1 requires parsed datetime inputs"));
    let time = match input {
        Value::Number(_) => broken(&gmtime(input, name)?),
        other => broken(other),
    };
    let time = time.ok_or_else(wrong)?;
    let Value::Text(format) = format else { return Err(format!("{name}/1 requires a string format").into()) };
    dates::format(&time, format)
        .map(Value::from)
        .map_err(|letter| Stop::Unsupported(format!("the conversion %{letter} of {name}")))
}
