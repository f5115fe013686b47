//! Days and years.

pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
pub(super) const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// A moment on the calendar.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Civil {
    pub(crate) year: i64,
    /// From 1.
    pub(crate) month: usize,
    pub(crate) day: i64,
    pub(crate) hour: i64,
    pub(crate) minute: i64,
    pub(crate) second: i64,
    /// Sunday is 0.
    pub(crate) weekday: usize,
    /// From 0.
    pub(crate) day_of_year: i64,
}

const DAY: i64 = 86_400;

/// The number of the day since 1970; months beyond the year count on.
pub(super) fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year + (month - 1).div_euclid(12);
    let month = (month - 1).rem_euclid(12) + 1;
    let shifted = if month <= 2 { year - 1 } else { year };
    let era = shifted.div_euclid(400);
    let of_era = shifted - era * 400;
    let of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Seconds since 1970; every field may be out of its range.
pub(super) fn seconds(year: i64, month: i64, day: i64, hour: i64, minute: i64, second: i64) -> i64 {
    days(year, month, day) * DAY + hour * 3_600 + minute * 60 + second
}

impl Civil {
    pub(crate) fn of(seconds: i64) -> Self {
        // Beyond these years nobody commits, and the arithmetic below stays in range.
        let seconds = seconds.clamp(-60_000_000_000_000, 60_000_000_000_000);
        let (day, of_day) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
        let shifted = day + 719_468;
        let era = shifted.div_euclid(146_097);
        let of_era = shifted - era * 146_097;
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * of_year + 2) / 153;
        let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        Self {
            year,
            month: usize::try_from(month).unwrap_or(1),
            day: of_year - (153 * shifted_month + 2) / 5 + 1,
            hour: of_day / 3_600,
            minute: of_day / 60 % 60,
            second: of_day % 60,
            weekday: usize::try_from((day + 4).rem_euclid(7)).unwrap_or_default(),
            day_of_year: day - days(year, 1, 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Civil, seconds};

    #[test]
    fn there_and_back() {
        for at in (-4_000_000_000..5_000_000_000).step_by(12_345_677) {
            let Civil { year, month, day, hour, minute, second, .. } = Civil::of(at);
            assert_eq!(seconds(year, month as i64, day, hour, minute, second), at);
        }
    }
}
