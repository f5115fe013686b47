//! Complete dates: a moment with its time, as programs write them.

use super::civil::{MONTHS, seconds};

/// The moment, `None` when the text is not complete.
pub(super) fn parse(text: &str) -> Option<i64> {
    let text = text.trim();
    raw(text).or_else(|| iso(text)).or_else(|| with_month_name(text))
}

/// `@SECONDS [ZONE]`, or at least nine digits.
fn raw(text: &str) -> Option<i64> {
    let marked = text.strip_prefix('@');
    let mut words = marked.unwrap_or(text).split_whitespace();
    let number = words.next()?;
    let long_enough = marked.is_some() || (number.len() >= 9 && number.bytes().all(|byte| byte.is_ascii_digit()));
    let value = number.parse().ok().filter(|_| long_enough)?;
    match (words.next(), words.next()) {
        (None, _) => Some(value),
        (Some(word), None) => zone(word).map(|_| value),
        _ => None,
    }
}

/// Seconds east of Greenwich.
fn zone(text: &str) -> Option<i64> {
    if matches!(text, "Z" | "z" | "UTC" | "GMT" | "UT") {
        return Some(0);
    }
    let (sign, digits) = match text.split_at_checked(1)? {
        ("+", digits) => (1, digits.replace(':', "")),
        ("-", digits) => (-1, digits.replace(':', "")),
        _ => return None,
    };
    let number: i64 = digits.parse().ok().filter(|_| matches!(digits.len(), 2 | 4))?;
    let minutes = if digits.len() == 2 { number * 60 } else { number / 100 * 60 + number % 100 };
    Some(sign * minutes * 60)
}

/// `HH:MM[:SS[.fraction]]`.
fn time(text: &str) -> Option<(i64, i64, i64)> {
    let mut parts = text.split(':');
    let hour: i64 = parts.next()?.parse().ok()?;
    let minute: i64 = parts.next()?.parse().ok()?;
    let second = parts.next().unwrap_or("0");
    let second: i64 = second.split_once('.').map_or(second, |(whole, _)| whole).parse().ok()?;
    (parts.next().is_none() && hour < 25 && minute < 60 && second <= 60).then_some((hour, minute, second))
}

/// `YYYY-MM-DD HH:MM:SS [ZONE]`, also with `T` and without the space before the zone.
fn iso(text: &str) -> Option<i64> {
    let (date, rest) = text.split_once(['T', ' '])?;
    let separator = ['-', '/', '.'].into_iter().find(|separator| date.contains(*separator))?;
    let mut parts = date.split(separator);
    let year: i64 = parts.next().filter(|year| year.len() == 4)?.parse().ok()?;
    let month: i64 = parts.next()?.parse().ok().filter(|month| (1..=12).contains(month))?;
    let day: i64 = parts.next()?.parse().ok().filter(|day| (1..=31).contains(day))?;
    let rest = rest.trim();
    let end = rest.find(['+', '-', 'Z', 'z', ' ']).unwrap_or(rest.len());
    let (hour, minute, second) = time(&rest[..end])?;
    let zone = match rest[end..].trim() {
        "" => 0,
        written => zone(written)?,
    };
    parts.next().is_none().then(|| seconds(year, month, day, hour, minute, second) - zone)
}

/// `Thu, 1 Jan 2026 01:00:00 +0000` and `Thu Jan 1 01:00:00 2026 +0000`.
fn with_month_name(text: &str) -> Option<i64> {
    let (mut year, mut month, mut day, mut clock, mut east) = (None, None, None, None, 0);
    for word in text.split_whitespace().map(|word| word.trim_end_matches(',')) {
        if word.contains(':') {
            clock = Some(time(word)?);
        } else if let Ok(number) = word
            .parse::<i64>()
            .map_err(drop)
            .and_then(|number| if word.starts_with(['+', '-']) { Err(()) } else { Ok(number) })
        {
            if word.len() == 4 {
                year = Some(number);
            } else {
                day = Some(number).filter(|day| (1..=31).contains(day));
            }
        } else if let Some(found) = zone(word) {
            east = found;
        } else if let Some(at) =
            MONTHS.iter().position(|name| word.len() >= 3 && name.to_lowercase().starts_with(&word.to_lowercase()))
        {
            month = i64::try_from(at + 1).ok();
        } else if !super::civil::WEEKDAYS
            .iter()
            .any(|name| word.len() >= 3 && name.to_lowercase().starts_with(&word.to_lowercase()))
        {
            return None;
        }
    }
    let (hour, minute, second) = clock?;
    Some(seconds(year?, month?, day?, hour, minute, second) - east)
}
