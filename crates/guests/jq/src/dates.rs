//! Calendar times in UTC, printed and read as the C library does in the locale C.

/// A broken-down time, as C's `struct tm`: months, weekdays and days of the year are counted from zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Broken {
    pub(crate) year: i64,
    pub(crate) month: i32,
    pub(crate) day: i32,
    pub(crate) hour: i32,
    pub(crate) minute: i32,
    pub(crate) second: i32,
    pub(crate) weekday: i32,
    pub(crate) day_of_year: i32,
}

const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS: [&str; 12] = [
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
const DAY: i64 = 86_400;

/// Days from 1970 to a date. Months may lie outside of their year.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year + month.div_euclid(12);
    let month = month.rem_euclid(12);
    // Years begin in March, so that the leap day is their last.
    let (year, month) = if month < 2 { (year - 1, month + 10) } else { (year, month - 2) };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * month + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The year, month and day of a day since 1970.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 2 } else { month - 10 };
    (era * 400 + year + i64::from(month < 2), month, day)
}

fn small(value: i64) -> i32 {
    i32::try_from(value).unwrap_or(i32::MAX)
}

impl Broken {
    /// The time of a second since 1970.
    pub(crate) fn of(seconds: i64) -> Self {
        let (day, rest) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
        let (year, month, of_month) = civil(day);
        Self {
            year,
            month: small(month),
            day: small(of_month),
            hour: small(rest / 3600),
            minute: small(rest / 60 % 60),
            second: small(rest % 60),
            weekday: small((day + 4).rem_euclid(7)),
            day_of_year: small(day - days(year, 0, 1)),
        }
    }

    /// The second since 1970. Fields may lie outside of their bounds.
    pub(crate) fn seconds(&self) -> i64 {
        let day = days(self.year, self.month.into(), self.day.into());
        day * DAY + i64::from(self.hour) * 3600 + i64::from(self.minute) * 60 + i64::from(self.second)
    }

    /// The week of a year that begins with the first day of the week in it.
    fn week(&self, first: i32) -> i32 {
        (self.day_of_year + 7 - (self.weekday + 7 - first) % 7) / 7
    }

    /// The year and the week as ISO 8601 counts them.
    fn iso_week(&self) -> (i64, i32) {
        let monday_based = (self.weekday + 6) % 7;
        let week = (self.day_of_year - monday_based + 10) / 7;
        let length = |year: i64| days(year + 1, 0, 1) - days(year, 0, 1);
        if week < 1 {
            let last =
                Self { day_of_year: self.day_of_year + small(length(self.year - 1)), year: self.year - 1, ..*self };
            return (self.year - 1, (last.day_of_year - monday_based + 10) / 7);
        }
        let left = small(length(self.year)) - self.day_of_year;
        if week == 53 && left <= 3 - monday_based { (self.year + 1, 1) } else { (self.year, week) }
    }
}

fn name<'n>(names: &[&'n str], index: i32) -> &'n str {
    usize::try_from(index).ok().and_then(|index| names.get(index)).copied().unwrap_or("?")
}

/// Prints a time by a format of `strftime`.
///
/// # Errors
/// The letter of a conversion that is not supported.
pub(crate) fn format(time: &Broken, format: &str) -> Result<String, char> {
    let mut out = String::new();
    let mut chars = format.chars();
    let twelve = if time.hour % 12 == 0 { 12 } else { time.hour % 12 };
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let Some(letter) = chars.next() else {
            out.push('%');
            break;
        };
        let nested = |pattern: &str| self::format(time, pattern);
        let text = match letter {
            'a' => name(&WEEKDAYS, time.weekday).get(..3).unwrap_or("?").to_owned(),
            'A' => name(&WEEKDAYS, time.weekday).to_owned(),
            'b' | 'h' => name(&MONTHS, time.month).get(..3).unwrap_or("?").to_owned(),
            'B' => name(&MONTHS, time.month).to_owned(),
            'c' => nested("%a %b %e %H:%M:%S %Y")?,
            'C' => format!("{:02}", time.year.div_euclid(100)),
            'd' => format!("{:02}", time.day),
            'D' | 'x' => nested("%m/%d/%y")?,
            'e' => format!("{:2}", time.day),
            'F' => nested("%Y-%m-%d")?,
            'g' => format!("{:02}", time.iso_week().0.rem_euclid(100)),
            'G' => time.iso_week().0.to_string(),
            'H' => format!("{:02}", time.hour),
            'I' => format!("{twelve:02}"),
            'j' => format!("{:03}", time.day_of_year + 1),
            'k' => format!("{:2}", time.hour),
            'l' => format!("{twelve:2}"),
            'm' => format!("{:02}", time.month + 1),
            'M' => format!("{:02}", time.minute),
            'n' => "\n".to_owned(),
            'p' => if time.hour < 12 { "AM" } else { "PM" }.to_owned(),
            'P' => if time.hour < 12 { "am" } else { "pm" }.to_owned(),
            'r' => nested("%I:%M:%S %p")?,
            'R' => nested("%H:%M")?,
            's' => time.seconds().to_string(),
            'S' => format!("{:02}", time.second),
            't' => "\t".to_owned(),
            'T' | 'X' => nested("%H:%M:%S")?,
            'u' => (if time.weekday == 0 { 7 } else { time.weekday }).to_string(),
            'U' => format!("{:02}", time.week(0)),
            'V' => format!("{:02}", time.iso_week().1),
            'w' => time.weekday.to_string(),
            'W' => format!("{:02}", time.week(1)),
            'y' => format!("{:02}", time.year.rem_euclid(100)),
            'Y' => time.year.to_string(),
            'z' => "+0000".to_owned(),
            'Z' => "UTC".to_owned(),
            '%' => "%".to_owned(),
            other => return Err(other),
        };
        out.push_str(&text);
    }
    Ok(out)
}

/// Reads a time by a format of `strptime`; `None` when the text does not fit.
///
/// # Errors
/// The letter of a conversion that is not supported.
pub(crate) fn parse(text: &str, format: &str) -> Result<Option<Broken>, char> {
    let mut reading = Reading { text, time: EMPTY, afternoon: None };
    if !reading.all(format)? || !reading.text.is_empty() {
        return Ok(None);
    }
    let mut time = reading.time;
    if let Some(afternoon) = reading.afternoon {
        time.hour = time.hour % 12 + if afternoon { 12 } else { 0 };
    }
    if time.day_of_year != EMPTY.day_of_year && time.day == EMPTY.day {
        let day = Broken::of((days(time.year, 0, 1) + i64::from(time.day_of_year)) * DAY);
        (time.month, time.day) = (day.month, day.day);
    }
    if (1..=31).contains(&time.day) {
        let day = days(time.year, time.month.into(), time.day.into());
        if time.weekday == EMPTY.weekday {
            time.weekday = small((day + 4).rem_euclid(7));
        }
        if time.day_of_year == EMPTY.day_of_year {
            time.day_of_year = small(day - days(time.year, 0, 1));
        }
    }
    Ok(Some(time))
}

/// What fields hold that a text says nothing of.
const EMPTY: Broken =
    Broken { year: 1900, month: 0, day: 0, hour: 0, minute: 0, second: 0, weekday: 8, day_of_year: 367 };

struct Reading<'t> {
    text: &'t str,
    time: Broken,
    afternoon: Option<bool>,
}

impl Reading<'_> {
    fn skip_blanks(&mut self) {
        self.text = self.text.trim_start_matches(|c: char| c.is_ascii_whitespace());
    }

    fn all(&mut self, format: &str) -> Result<bool, char> {
        let mut chars = format.chars();
        while let Some(c) = chars.next() {
            if c.is_ascii_whitespace() {
                self.skip_blanks();
                continue;
            }
            if c != '%' {
                match self.text.strip_prefix(c) {
                    Some(rest) => self.text = rest,
                    None => return Ok(false),
                }
                continue;
            }
            let Some(letter) = chars.next() else { return Ok(false) };
            if !self.field(letter)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn number(&mut self, most_digits: usize, range: std::ops::RangeInclusive<i64>) -> Option<i64> {
        self.text = self.text.trim_start_matches(' ');
        let digits = self.text.bytes().take(most_digits).take_while(u8::is_ascii_digit).count();
        let number = self.text[..digits].parse().ok().filter(|number| range.contains(number))?;
        self.text = &self.text[digits..];
        Some(number)
    }

    /// One of several names, in full or by their first three letters.
    fn named(&mut self, names: &[&str]) -> Option<i32> {
        let starts =
            |text: &str, name: &str| text.get(..name.len()).is_some_and(|here| here.eq_ignore_ascii_case(name));
        for (index, name) in names.iter().enumerate() {
            for form in [*name, &name[..3]] {
                if starts(self.text, form) {
                    self.text = &self.text[form.len()..];
                    return i32::try_from(index).ok();
                }
            }
        }
        None
    }

    fn field(&mut self, letter: char) -> Result<bool, char> {
        Ok(match letter {
            'a' | 'A' => self.named(&WEEKDAYS).map(|weekday| self.time.weekday = weekday).is_some(),
            'b' | 'B' | 'h' => self.named(&MONTHS).map(|month| self.time.month = month).is_some(),
            'd' | 'e' => self.number(2, 1..=31).map(|day| self.time.day = small(day)).is_some(),
            'H' | 'k' => self.number(2, 0..=23).map(|hour| self.time.hour = small(hour)).is_some(),
            'I' | 'l' => self.number(2, 1..=12).map(|hour| self.time.hour = small(hour % 12)).is_some(),
            'j' => self.number(3, 1..=366).map(|day| self.time.day_of_year = small(day - 1)).is_some(),
            'm' => self.number(2, 1..=12).map(|month| self.time.month = small(month - 1)).is_some(),
            'M' => self.number(2, 0..=59).map(|minute| self.time.minute = small(minute)).is_some(),
            'S' => self.number(2, 0..=61).map(|second| self.time.second = small(second)).is_some(),
            'u' => self.number(1, 1..=7).map(|day| self.time.weekday = small(day % 7)).is_some(),
            'w' => self.number(1, 0..=6).map(|day| self.time.weekday = small(day)).is_some(),
            'y' => {
                let year = self.number(2, 0..=99);
                year.map(|year| self.time.year = if year < 69 { year + 2000 } else { year + 1900 }).is_some()
            }
            'Y' => self.number(4, 0..=9999).map(|year| self.time.year = year).is_some(),
            'p' | 'P' => self.half_of_day(),
            's' => match self.number(18, 0..=i64::MAX) {
                Some(seconds) => {
                    self.time = Broken::of(seconds);
                    true
                }
                None => false,
            },
            'z' => self.zone(),
            'Z' => {
                self.text = self.text.trim_start_matches(|c: char| c.is_ascii_alphabetic());
                true
            }
            'n' | 't' => {
                self.skip_blanks();
                true
            }
            '%' => match self.text.strip_prefix('%') {
                Some(rest) => {
                    self.text = rest;
                    true
                }
                None => false,
            },
            'D' | 'x' => self.all("%m/%d/%y")?,
            'F' => self.all("%Y-%m-%d")?,
            'T' | 'X' => self.all("%H:%M:%S")?,
            'R' => self.all("%H:%M")?,
            'r' => self.all("%I:%M:%S %p")?,
            'c' => self.all("%a %b %e %H:%M:%S %Y")?,
            other => return Err(other),
        })
    }

    fn half_of_day(&mut self) -> bool {
        let Some(half) = self.text.get(..2) else { return false };
        let afternoon = match half.to_ascii_uppercase().as_str() {
            "AM" => false,
            "PM" => true,
            _ => return false,
        };
        self.afternoon = Some(afternoon);
        self.text = &self.text[2..];
        true
    }

    /// A zone, which is read and changes nothing.
    fn zone(&mut self) -> bool {
        self.skip_blanks();
        if let Some(rest) = self.text.strip_prefix('Z') {
            self.text = rest;
            return true;
        }
        let Some(rest) = self.text.strip_prefix(['+', '-']) else { return false };
        let digits = rest.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b':').count();
        self.text = &rest[digits..];
        matches!(digits, 2 | 4 | 5)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_printed_and_read() {
        let time = Broken::of(1_425_599_621);
        for (pattern, expected) in [
            ("%Y-%m-%dT%H:%M:%SZ", "2015-03-05T23:53:41Z"),
            ("%a %A %b %B %e %j %k %l %p", "Thu Thursday Mar March  5 064 23 11 PM"),
            ("%g %G %V %U %W %u %w %s", "15 2015 10 09 09 4 4 1425599621"),
            ("%c|%D|%r|%R|%C|%y|%Z %z %%", "Thu Mar  5 23:53:41 2015|03/05/15|11:53:41 PM|23:53|20|15|UTC +0000 %"),
        ] {
            assert_eq!(format(&time, pattern).as_deref(), Ok(expected));
        }
        let read = parse("2015-03-05T23:53:41Z", "%Y-%m-%dT%H:%M:%SZ");
        assert_eq!(read, Ok(Some(time)));
        assert_eq!(parse("x", "%Y"), Ok(None));
        assert_eq!(parse("2015 64", "%Y %j").map(|time| time.map(|time| (time.month, time.day))), Ok(Some((2, 5))));
        assert_eq!(format(&time, "%Q"), Err('Q'));
    }

    #[test]
    fn weeks_of_iso_belong_to_their_year() {
        for (seconds, expected) in [(1_104_537_600, (2004, 53)), (1_230_768_000, (2009, 1)), (1_230_595_200, (2009, 1))]
        {
            assert_eq!(Broken::of(seconds).iso_week(), expected);
        }
    }
}
