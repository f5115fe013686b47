//! Times as git prints and reads them. The sandbox's zone is UTC.

mod approximate;
mod civil;
mod exact;
mod strftime;

pub(crate) use civil::Civil;

use crate::failure::{Failure, Outcome, unsupported};
use crate::person::Signature;

/// How a time is printed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) enum Style {
    #[default]
    Normal,
    Relative,
    Iso,
    IsoStrict,
    Rfc,
    Short,
    Raw,
    Unix,
    Format(String),
}

/// A style, and whether times are shown in the zone of the sandbox.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Mode {
    pub(crate) style: Style,
    pub(crate) local: bool,
}

impl Mode {
    pub(crate) fn of(style: Style) -> Self {
        Self { style, local: false }
    }

    /// Reads the argument of `--date`.
    pub(crate) fn parse(text: &str) -> Outcome<Self> {
        if let Some(format) = text.strip_prefix("format:") {
            return Ok(Self::of(Style::Format(format.to_owned())));
        }
        if let Some(format) = text.strip_prefix("format-local:") {
            return Ok(Self { style: Style::Format(format.to_owned()), local: true });
        }
        let text = text.strip_prefix("auto:").map_or(text, |_| "default");
        let (name, local) = match text.strip_suffix("-local") {
            Some(name) => (name, true),
            None => (text, text == "local"),
        };
        let style = match name {
            "default" | "local" | "normal" => Style::Normal,
            "relative" => Style::Relative,
            "iso" | "iso8601" => Style::Iso,
            "iso-strict" | "iso8601-strict" => Style::IsoStrict,
            "rfc" | "rfc2822" => Style::Rfc,
            "short" => Style::Short,
            "raw" => Style::Raw,
            "unix" => Style::Unix,
            "human" => return unsupported("--date=human"),
            _ => return Err(Failure::Fatal(format!("unknown date format {text}"))),
        };
        Ok(Self { style, local })
    }
}

/// Seconds since 1970, by the clock of the sandbox.
pub(crate) fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.ok().and_then(|since| i64::try_from(since.as_secs()).ok()).unwrap_or_default()
}

/// The moment that a person's words mean (`yesterday`, `2 weeks ago`, `2026-01-02`).
pub(crate) fn parse(text: &str, now: i64) -> i64 {
    exact::parse(text).unwrap_or_else(|| approximate::parse(text, now))
}

/// `+0100` as written, of a zone number.
fn zone(zone: i32) -> String {
    format!("{}{:04}", if zone < 0 { '-' } else { '+' }, zone.unsigned_abs())
}

fn offset(zone: i32) -> i64 {
    let minutes = i64::from(zone / 100 * 60 + zone % 100);
    minutes * 60
}

/// The time of a signature.
pub(crate) fn format(who: &Signature, mode: &Mode) -> String {
    let (seconds, tz) = (who.seconds, if mode.local { 0 } else { who.zone });
    if mode.style == Style::Relative {
        return relative(seconds, now());
    }
    let civil = Civil::of(seconds + offset(tz));
    let Civil { year, month, day, hour, minute, second, .. } = civil;
    let (weekday, name) = (&civil::WEEKDAYS[civil.weekday][..3], &civil::MONTHS[month - 1][..3]);
    match &mode.style {
        Style::Normal => {
            let text = format!("{weekday} {name} {day} {hour:02}:{minute:02}:{second:02} {year}");
            if mode.local { text } else { format!("{text} {}", zone(tz)) }
        }
        Style::Iso => format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} {}", zone(tz)),
        Style::IsoStrict => {
            let text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
            if tz == 0 {
                return format!("{text}Z");
            }
            let written = zone(tz);
            format!("{text}{}:{}", &written[..3], &written[3..])
        }
        Style::Rfc => format!("{weekday}, {day} {name} {year} {hour:02}:{minute:02}:{second:02} {}", zone(tz)),
        Style::Short => format!("{year:04}-{month:02}-{day:02}"),
        Style::Raw => format!("{seconds} {}", zone(tz)),
        Style::Unix => seconds.to_string(),
        Style::Format(format) => {
            strftime::format(format, &civil, seconds, &zone(tz), if mode.local { "UTC" } else { "" })
        }
        Style::Relative => unreachable!("handled above"),
    }
}

fn relative(seconds: i64, now: i64) -> String {
    let some = |count: i64, unit: &str| format!("{count} {unit}{}", if count == 1 { "" } else { "s" });
    let Some(mut span) = now.checked_sub(seconds).filter(|span| *span >= 0) else { return "in the future".into() };
    if span < 90 {
        return format!("{} ago", some(span, "second"));
    }
    span = (span + 30) / 60;
    if span < 90 {
        return format!("{} ago", some(span, "minute"));
    }
    span = (span + 30) / 60;
    if span < 36 {
        return format!("{} ago", some(span, "hour"));
    }
    span = (span + 12) / 24;
    if span < 14 {
        return format!("{} ago", some(span, "day"));
    }
    if span < 70 {
        return format!("{} ago", some((span + 3) / 7, "week"));
    }
    if span < 365 {
        return format!("{} ago", some((span + 15) / 30, "month"));
    }
    if span < 1825 {
        let months = (span * 12 * 2 + 365) / (365 * 2);
        let years = some(months / 12, "year");
        return if months % 12 == 0 {
            format!("{years} ago")
        } else {
            format!("{years}, {} ago", some(months % 12, "month"))
        };
    }
    format!("{} ago", some((span + 183) / 365, "year"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64, zone: i32) -> Signature {
        Signature { seconds, zone, ..Signature::default() }
    }

    #[test]
    fn styles() {
        let who = at(1_767_229_200, -330);
        for (name, expected) in [
            ("default", "Wed Dec 31 21:30:00 2025 -0330"),
            ("local", "Thu Jan 1 01:00:00 2026"),
            ("iso", "2025-12-31 21:30:00 -0330"),
            ("iso-strict", "2025-12-31T21:30:00-03:30"),
            ("iso-strict-local", "2026-01-01T01:00:00Z"),
            ("rfc", "Wed, 31 Dec 2025 21:30:00 -0330"),
            ("short", "2025-12-31"),
            ("raw", "1767229200 -0330"),
            ("unix", "1767229200"),
            ("format:%Y/%m/%d %H:%M %j", "2025/12/31 21:30 365"),
        ] {
            assert_eq!(format(&who, &Mode::parse(name).expect("a style")), expected, "{name}");
        }
    }

    #[test]
    fn relative_times() {
        for (span, expected) in [
            (1, "1 second ago"),
            (120, "2 minutes ago"),
            (86_400, "24 hours ago"),
            (86_400 * 13, "13 days ago"),
            (86_400 * 30, "4 weeks ago"),
            (86_400 * 100, "3 months ago"),
            (86_400 * 400, "1 year, 1 month ago"),
            (86_400 * 365 * 7, "7 years ago"),
            (-5, "in the future"),
        ] {
            assert_eq!(relative(1_000_000_000 - span, 1_000_000_000), expected);
        }
    }

    #[test]
    fn words() {
        // Thursday, 1 January 2026, 12:00:00.
        let now = 1_767_268_800;
        for (text, expected) in [
            ("1767225600 +0100", 1_767_225_600),
            ("@5", 5),
            ("2026-01-01 01:00:00 +0000", 1_767_229_200),
            ("2026-01-01T01:00:00Z", 1_767_229_200),
            ("Thu, 1 Jan 2026 01:00:00 +0000", 1_767_229_200),
            ("2025-12-31", now - 86_400),
            ("yesterday", now - 86_400),
            ("2 weeks ago", now - 14 * 86_400),
            ("2.weeks.ago", now - 14 * 86_400),
            ("1 month ago", now - 31 * 86_400),
            ("1 year ago", now - 365 * 86_400),
            ("3 days", now - 3 * 86_400),
            ("last monday", now - 3 * 86_400),
            ("midnight", now - 12 * 3_600),
            ("noon yesterday", now - 86_400),
            ("now", now),
        ] {
            assert_eq!(parse(text, now), expected, "{text}");
        }
    }
}
