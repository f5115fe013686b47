//! Moments as dates. The sandbox's time zone is UTC.

/// A moment as a calendar and a clock show it, in UTC.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Civil {
    /// The year.
    pub year: i64,
    /// 1 to 12.
    pub month: u32,
    /// 1 to 31.
    pub day: u32,
    /// 0 to 23.
    pub hour: u32,
    /// 0 to 59.
    pub minute: u32,
    /// 0 to 59.
    pub second: u32,
    /// 0 is Sunday.
    pub weekday: u32,
    /// 0 is the first of January.
    pub day_of_year: u32,
}

const SECONDS_PER_DAY: i64 = 86_400;
const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const FULL_MONTHS: [&str; 12] = [
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
const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

impl Civil {
    /// The date of so many seconds since 1970.
    #[must_use]
    pub fn of(seconds: i64) -> Self {
        let days = seconds.div_euclid(SECONDS_PER_DAY);
        let clock = seconds.rem_euclid(SECONDS_PER_DAY);
        // Years that begin in March, in eras of 400 years, so that a leap day is the last of its year.
        let shifted = days + 719_468;
        let era = shifted.div_euclid(146_097);
        let day_of_era = shifted.rem_euclid(146_097);
        let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_march_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let march_month = (5 * day_of_march_year + 2) / 153;
        let day = day_of_march_year - (153 * march_month + 2) / 5 + 1;
        let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        let small = |value: i64| u32::try_from(value).unwrap_or_default();
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        // March is the sixtieth day of a year, counted from zero the fifty-ninth.
        let day_of_year = if month > 2 { day_of_march_year + 59 + i64::from(leap) } else { day_of_march_year - 306 };
        Self {
            year,
            month: small(month),
            day: small(day),
            hour: small(clock / 3_600),
            minute: small(clock / 60 % 60),
            second: small(clock % 60),
            weekday: small((days + 4).rem_euclid(7)),
            day_of_year: small(day_of_year),
        }
    }

    /// The month's name, three letters.
    #[must_use]
    pub fn month_name(&self) -> &'static str {
        self.month.checked_sub(1).and_then(|month| MONTHS.get(month as usize)).copied().unwrap_or_default()
    }

    /// Seconds since 1970 of a date and a clock; `None` for a date that is in no calendar.
    #[must_use]
    pub fn seconds(year: i64, month: u32, day: u32, (hour, minute, second): (u32, u32, u32)) -> Option<i64> {
        if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 60 {
            return None;
        }
        let (month, march_year) = (i64::from(month), year - i64::from(month <= 2));
        let era = march_year.div_euclid(400);
        let year_of_era = march_year.rem_euclid(400);
        let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + i64::from(day) - 1;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        let days = era.checked_mul(146_097)? + day_of_era - 719_468;
        let clock = i64::from(hour) * 3_600 + i64::from(minute) * 60 + i64::from(second);
        let seconds = days.checked_mul(SECONDS_PER_DAY)?.checked_add(clock)?;
        // The 31st of a shorter month is a day of the next one.
        (second == 60 || Self::of(seconds).day == day).then_some(seconds)
    }
}

/// The time as `ls -l` shows it: with the clock when it is not older than half a year, else with the year.
#[must_use]
pub fn listed(moment: (i64, u32), now: (i64, u32)) -> String {
    let date = Civil::of(moment.0);
    if is_recent(moment, now) {
        format!("{} {:2} {:02}:{:02}", date.month_name(), date.day, date.hour, date.minute)
    } else {
        format!("{} {:2}  {:4}", date.month_name(), date.day, date.year)
    }
}

/// Half of a mean year, seconds.
const HALF_A_YEAR: i64 = 31_556_952 / 2;

/// Whether a moment lies in the half year before now. The clock of the sandbox shows whole seconds, so that what was written in
/// this one is not in the future.
#[must_use]
pub fn is_recent(moment: (i64, u32), now: (i64, u32)) -> bool {
    moment.0 <= now.0 && (now.0 - HALF_A_YEAR, now.1) < moment
}

/// Now, as the clock of the system has it.
#[must_use]
pub fn now() -> (i64, u32) {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    (i64::try_from(since.as_secs()).unwrap_or(i64::MAX), since.subsec_nanos())
}

/// A moment in a format of `strftime`.
///
/// # Errors
/// The directive that is not supported.
pub fn formatted(format: &str, (seconds, nanoseconds): (i64, u32)) -> Result<String, String> {
    let date = Civil::of(seconds);
    let mut out = String::new();
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let letter = chars.next().ok_or("%")?;
        let name = |names: &[&'static str], at: u32| names.get(at as usize).copied().unwrap_or_default();
        out.push_str(&match letter {
            'Y' => date.year.to_string(),
            'y' => format!("{:02}", date.year.rem_euclid(100)),
            'C' => format!("{:02}", date.year.div_euclid(100)),
            'm' => format!("{:02}", date.month),
            'd' => format!("{:02}", date.day),
            'e' => format!("{:2}", date.day),
            'H' => format!("{:02}", date.hour),
            'k' => format!("{:2}", date.hour),
            'I' => format!("{:02}", (date.hour + 11) % 12 + 1),
            'l' => format!("{:2}", (date.hour + 11) % 12 + 1),
            'p' => if date.hour < 12 { "AM" } else { "PM" }.to_owned(),
            'M' => format!("{:02}", date.minute),
            'S' => format!("{:02}", date.second),
            'N' => format!("{nanoseconds:09}"),
            's' => seconds.to_string(),
            'j' => format!("{:03}", date.day_of_year + 1),
            'b' | 'h' => date.month_name().to_owned(),
            'B' => name(&FULL_MONTHS, date.month.saturating_sub(1)).to_owned(),
            'a' => name(&DAYS, date.weekday).get(..3).unwrap_or_default().to_owned(),
            'A' => name(&DAYS, date.weekday).to_owned(),
            'u' => (if date.weekday == 0 { 7 } else { date.weekday }).to_string(),
            'w' => date.weekday.to_string(),
            'F' => format!("{}-{:02}-{:02}", date.year, date.month, date.day),
            'T' => format!("{:02}:{:02}:{:02}", date.hour, date.minute, date.second),
            'R' => format!("{:02}:{:02}", date.hour, date.minute),
            'D' => format!("{:02}/{:02}/{:02}", date.month, date.day, date.year.rem_euclid(100)),
            'z' => "+0000".to_owned(),
            'Z' => "UTC".to_owned(),
            'n' => "\n".to_owned(),
            't' => "\t".to_owned(),
            '%' => "%".to_owned(),
            other => return Err(format!("%{other}")),
        });
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01 00:00:00 Thu 001"),
            (951_782_400, "2000-02-29 00:00:00 Tue 060"),
            (951_868_799, "2000-02-29 23:59:59 Tue 060"),
            (951_868_800, "2000-03-01 00:00:00 Wed 061"),
            (1_798_761_599, "2026-12-31 23:59:59 Thu 365"),
            (4_107_542_400, "2100-03-01 00:00:00 Mon 060"),
            (-1, "1969-12-31 23:59:59 Wed 365"),
        ] {
            assert_eq!(formatted("%F %T %a %j", (seconds, 0)).as_deref(), Ok(text));
        }
        for seconds in [0, 951_782_400, 951_868_799, 1_798_761_599, -1] {
            let date = Civil::of(seconds);
            let clock = (date.hour, date.minute, date.second);
            assert_eq!(Civil::seconds(date.year, date.month, date.day, clock), Some(seconds));
        }
        assert_eq!(Civil::seconds(2026, 2, 29, (0, 0, 0)), None);
        assert_eq!(formatted("%Q", (0, 0)), Err("%Q".to_owned()));
    }
}
