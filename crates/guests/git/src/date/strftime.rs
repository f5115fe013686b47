//! `--date=format:…`, in the C locale.

use super::civil::{Civil, MONTHS, WEEKDAYS};
use std::fmt::Write as _;

pub(super) fn format(format: &str, at: &Civil, seconds: i64, zone: &str, zone_name: &str) -> String {
    let mut out = String::new();
    let mut characters = format.chars();
    while let Some(character) = characters.next() {
        if character != '%' {
            out.push(character);
            continue;
        }
        let Some(conversion) = characters.next() else {
            out.push('%');
            break;
        };
        if conversion == '-' {
            // GNU's "no padding".
            let Some(conversion) = characters.next() else { break };
            let mut padded = String::new();
            convert(&mut padded, conversion, at, seconds, zone, zone_name);
            let trimmed = padded.trim_start_matches(['0', ' ']);
            out.push_str(if trimmed.is_empty() { "0" } else { trimmed });
            continue;
        }
        convert(&mut out, conversion, at, seconds, zone, zone_name);
    }
    out
}

fn twelve(hour: i64) -> i64 {
    match hour % 12 {
        0 => 12,
        hour => hour,
    }
}

/// The ISO 8601 year and week.
fn iso_week(at: &Civil) -> (i64, i64) {
    let weekday = i64::try_from((at.weekday + 6) % 7).unwrap_or_default();
    let week = (at.day_of_year - weekday + 10) / 7;
    let leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let weeks_of = |year: i64| {
        let first = Civil::of(super::civil::seconds(year, 1, 1, 0, 0, 0)).weekday;
        if first == 4 || (first == 3 && leap(year)) { 53 } else { 52 }
    };
    if week < 1 {
        (at.year - 1, weeks_of(at.year - 1))
    } else if week > weeks_of(at.year) {
        (at.year + 1, 1)
    } else {
        (at.year, week)
    }
}

fn convert(out: &mut String, conversion: char, at: &Civil, seconds: i64, zone: &str, zone_name: &str) {
    let Civil { year, month, day, hour, minute, second, weekday, day_of_year } = *at;
    let (month_name, weekday_name) = (MONTHS[month - 1], WEEKDAYS[weekday]);
    let sunday = i64::try_from(weekday).unwrap_or_default();
    // Writing to a String cannot fail.
    let _ = match conversion {
        'Y' => write!(out, "{year}"),
        'C' => write!(out, "{:02}", year / 100),
        'y' => write!(out, "{:02}", year.rem_euclid(100)),
        'm' => write!(out, "{month:02}"),
        'd' => write!(out, "{day:02}"),
        'e' => write!(out, "{day:2}"),
        'H' => write!(out, "{hour:02}"),
        'k' => write!(out, "{hour:2}"),
        'I' => write!(out, "{:02}", twelve(hour)),
        'l' => write!(out, "{:2}", twelve(hour)),
        'M' => write!(out, "{minute:02}"),
        'S' => write!(out, "{second:02}"),
        'p' => write!(out, "{}", if hour < 12 { "AM" } else { "PM" }),
        'P' => write!(out, "{}", if hour < 12 { "am" } else { "pm" }),
        'b' | 'h' => write!(out, "{}", &month_name[..3]),
        'B' => write!(out, "{month_name}"),
        'a' => write!(out, "{}", &weekday_name[..3]),
        'A' => write!(out, "{weekday_name}"),
        'u' => write!(out, "{}", if sunday == 0 { 7 } else { sunday }),
        'w' => write!(out, "{sunday}"),
        'j' => write!(out, "{:03}", day_of_year + 1),
        'U' => write!(out, "{:02}", (day_of_year + 7 - sunday) / 7),
        'W' => write!(out, "{:02}", (day_of_year + 7 - (sunday + 6) % 7) / 7),
        'V' => write!(out, "{:02}", iso_week(at).1),
        'G' => write!(out, "{}", iso_week(at).0),
        'g' => write!(out, "{:02}", iso_week(at).0.rem_euclid(100)),
        'F' => write!(out, "{year}-{month:02}-{day:02}"),
        'D' | 'x' => write!(out, "{month:02}/{day:02}/{:02}", year.rem_euclid(100)),
        'T' | 'X' => write!(out, "{hour:02}:{minute:02}:{second:02}"),
        'R' => write!(out, "{hour:02}:{minute:02}"),
        'r' => write!(out, "{:02}:{minute:02}:{second:02} {}", twelve(hour), if hour < 12 { "AM" } else { "PM" }),
        'c' => {
            write!(out, "{} {} {day:2} {hour:02}:{minute:02}:{second:02} {year}", &weekday_name[..3], &month_name[..3])
        }
        's' => write!(out, "{seconds}"),
        'z' => write!(out, "{zone}"),
        'Z' => write!(out, "{zone_name}"),
        'n' => writeln!(out),
        't' => write!(out, "\t"),
        '%' => write!(out, "%"),
        other => write!(out, "%{other}"),
    };
}
