//! The times of a file, and moments as arguments name them.

use super::expression::Number;
use guest_files::civil::Civil;
use guest_files::{Moment, Status};

/// Which time of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stamp {
    Accessed,
    Modified,
    Changed,
}

impl Stamp {
    pub(super) fn of(self, status: &Status) -> Moment {
        match self {
            Stamp::Accessed => status.accessed,
            Stamp::Modified => status.modified,
            Stamp::Changed => status.changed,
        }
    }

    /// The time that a letter of `-newerXY` or of a format names.
    pub(super) fn named(letter: u8) -> Option<Self> {
        match letter {
            b'a' | b'A' => Some(Stamp::Accessed),
            b'm' | b'T' => Some(Stamp::Modified),
            b'c' | b'C' => Some(Stamp::Changed),
            _ => None,
        }
    }
}

/// `-mtime N` and its like: how long ago, counted from the start of the command.
#[derive(Clone, Copy, Debug)]
pub(super) struct Age {
    pub(super) stamp: Stamp,
    pub(super) count: Number,
    /// Seconds of one unit: a day or a minute.
    pub(super) unit: u64,
    pub(super) now: Moment,
}

const MINUTE: u64 = 60;

impl Age {
    pub(super) fn holds(&self, status: &Status) -> bool {
        let then = self.stamp.of(status);
        // A file of the future is as old as one of now.
        let borrowed = i64::from(then.1 > self.now.1);
        let age = u64::try_from(self.now.0.saturating_sub(then.0).saturating_sub(borrowed)).unwrap_or(0);
        if self.unit != MINUTE {
            return self.count.holds(age / self.unit);
        }
        // Minutes are compared with their fractions: a file of 61 seconds is more than one minute old.
        match self.count {
            Number::Exactly(wanted) => age.div_ceil(MINUTE) == wanted,
            Number::Above(limit) => age > limit.saturating_mul(MINUTE),
            Number::Below(limit) => age < limit.saturating_mul(MINUTE),
        }
    }
}

/// A moment as `-newermt` names it: a date with or without a clock, `@SECONDS`, or so many units ago. `None` for another form.
pub(super) fn moment(text: &str, now: Moment) -> Option<Moment> {
    let text = text.trim();
    if let Some(seconds) = text.strip_prefix('@') {
        return seconds.parse().ok().map(|seconds| (seconds, 0));
    }
    match text {
        "now" | "today" => return Some(now),
        "yesterday" => return Some((now.0 - 86_400, now.1)),
        "tomorrow" => return Some((now.0 + 86_400, now.1)),
        _ => {}
    }
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    if let [count, unit, "ago"] = words[..] {
        let count: i64 = count.parse().ok()?;
        let seconds = match unit.strip_suffix('s').unwrap_or(unit) {
            "second" | "sec" => 1,
            "minute" | "min" => 60,
            "hour" => 3_600,
            "day" => 86_400,
            "week" => 604_800,
            _ => return None,
        };
        return Some((now.0.checked_sub(count.checked_mul(seconds)?)?, now.1));
    }
    let (date, clock) = text.split_once([' ', 'T']).unwrap_or((text, "00:00"));
    let clock = clock.strip_suffix('Z').or_else(|| clock.strip_suffix(" UTC")).unwrap_or(clock);
    let parts: Vec<&str> = date.split('-').collect();
    let [year, month, day] = parts[..] else { return None };
    if year.len() != 4 {
        return None;
    }
    let mut clock = clock.split(':').map(|part| part.parse::<u32>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next().unwrap_or(Some(0))?);
    let seconds = Civil::seconds(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?, (hour, minute, second))?;
    clock.next().is_none().then_some((seconds, 0))
}

#[cfg(test)]
mod tests {
    use super::moment;

    #[test]
    fn moments_are_read() {
        let now = (1_000_000, 5);
        for (text, expected) in [
            ("@12", Some((12, 0))),
            ("1970-01-02", Some((86_400, 0))),
            ("1970-01-02 00:01", Some((86_460, 0))),
            ("1970-01-02T00:00:01Z", Some((86_401, 0))),
            ("2 days ago", Some((827_200, 5))),
            ("yesterday", Some((913_600, 5))),
            ("next week", None),
            ("1970-13-02", None),
            ("70-01-02", None),
        ] {
            assert_eq!(moment(text, now), expected, "{text}");
        }
    }
}
