//! Dates as people say them. What is not said is taken from now; what is not understood is ignored, as git does.

use super::civil::{Civil, MONTHS, WEEKDAYS, seconds};

const DAY: i64 = 86_400;
const UNITS: [(&str, i64); 5] = [("seconds", 1), ("minutes", 60), ("hours", 3_600), ("days", DAY), ("weeks", 7 * DAY)];
const NUMBERS: [&str; 11] = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

struct Parser {
    now: Civil,
    now_seconds: i64,
    year: Option<i64>,
    /// From 1.
    month: Option<i64>,
    day: Option<i64>,
    hour: i64,
    minute: i64,
    second: i64,
    weekday: usize,
    number: i64,
}

pub(super) fn parse(text: &str, now: i64) -> i64 {
    let civil = Civil::of(now);
    let mut parser = Parser {
        now: civil,
        now_seconds: now,
        year: None,
        month: None,
        day: None,
        hour: civil.hour,
        minute: civil.minute,
        second: civil.second,
        weekday: civil.weekday,
        number: 0,
    };
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        if byte.is_ascii_digit() {
            parser.pending();
            at += parser.digits(&bytes[at..]);
        } else if byte.is_ascii_alphabetic() {
            let length = bytes[at..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
            parser.word(&text[at..at + length]);
            at += length;
        } else {
            at += 1;
        }
    }
    parser.pending();
    parser.moment(0)
}

/// How far `word` agrees with `name`; 0 when it is another word.
fn agreement(word: &str, name: &str) -> usize {
    let common = word.bytes().zip(name.bytes()).take_while(|(a, b)| a.eq_ignore_ascii_case(b)).count();
    if common == word.len() { common } else { 0 }
}

/// The number at the start and how many digits it has.
fn leading(bytes: &[u8]) -> (i64, usize) {
    let length = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let digits = bytes[..length].iter().take(18);
    (digits.fold(0, |value, digit| value * 10 + i64::from(digit - b'0')), length)
}

impl Parser {
    /// Fills what is missing from now, goes back by `span`, and takes the result as what was said so far.
    fn moment(&mut self, span: i64) -> i64 {
        let now_month = i64::try_from(self.now.month).unwrap_or(1);
        let day = self.day.unwrap_or(self.now.day);
        let month = self.month.unwrap_or(now_month);
        let year = self.year.unwrap_or(if month > now_month { self.now.year - 1 } else { self.now.year });
        let at = seconds(year, month, day, self.hour, self.minute, self.second) - span;
        let civil = Civil::of(at);
        self.year = Some(civil.year);
        self.month = i64::try_from(civil.month).ok();
        self.day = Some(civil.day);
        (self.hour, self.minute, self.second) = (civil.hour, civil.minute, civil.second);
        self.weekday = civil.weekday;
        at
    }

    /// A number without a unit is a day, a month or a year, whichever is still missing.
    fn pending(&mut self) {
        let number = std::mem::take(&mut self.number);
        if number == 0 {
            return;
        }
        if self.day.is_none() && number < 32 {
            self.day = Some(number);
        } else if self.month.is_none() && number < 13 {
            self.month = Some(number);
        } else if self.year.is_none() {
            self.year = year(number);
        }
    }

    fn digits(&mut self, bytes: &[u8]) -> usize {
        let (number, length) = leading(bytes);
        if let Some(separator @ (b':' | b'.' | b'/' | b'-')) = bytes.get(length).copied()
            && bytes.get(length + 1).is_some_and(u8::is_ascii_digit)
            && let Some(used) = self.several(number, separator, bytes, length)
        {
            return used;
        }
        // Zeroes in front only for small numbers: "Dec 02", never "Dec 0002".
        if bytes[0] != b'0' || length <= 2 {
            self.number = number;
        }
        length
    }

    /// `12:30:00`, `2026-01-02`, `1/2/2026`, `2.1.2026`.
    fn several(&mut self, first: i64, separator: u8, bytes: &[u8], length: usize) -> Option<usize> {
        let mut at = length + 1;
        let (second, digits) = leading(&bytes[at..]);
        at += digits;
        let mut third = -1;
        if bytes.get(at) == Some(&separator) && bytes.get(at + 1).is_some_and(u8::is_ascii_digit) {
            let (number, digits) = leading(&bytes[at + 1..]);
            third = number;
            at += 1 + digits;
        }
        if separator == b':' {
            let third = third.max(0);
            if first >= 25 || second >= 60 || third > 60 {
                return None;
            }
            (self.hour, self.minute, self.second) = (first, second, third);
            let known = self.year.is_some() && self.month.is_some() && self.day.is_some();
            if known && bytes.get(at) == Some(&b'.') && bytes.get(at + 1).is_some_and(u8::is_ascii_digit) {
                at += 1 + leading(&bytes[at + 1..]).1;
            }
            return Some(at);
        }
        let year_first =
            first > 70 && (self.set_date(first, second, third, false) || self.set_date(first, third, second, false));
        let found = year_first
            || (separator != b'.' && self.set_date(third, first, second, true))
            || self.set_date(third, second, first, true)
            || (separator == b'.' && self.set_date(third, first, second, true));
        found.then_some(at)
    }

    fn set_date(&mut self, written_year: i64, month: i64, day: i64, not_in_future: bool) -> bool {
        if !(1..13).contains(&month) || !(1..32).contains(&day) {
            return false;
        }
        let (year, said) = match written_year {
            -1 if not_in_future => (Some(self.now.year), false),
            -1 => (self.year, false),
            written => match year(written) {
                Some(year) => (Some(year), true),
                None => return false,
            },
        };
        if let Some(year) = year.filter(|_| not_in_future)
            && seconds(year, month, day, self.hour, self.minute, self.second) > self.now_seconds + 10 * DAY
        {
            return false;
        }
        self.month = Some(month);
        self.day = Some(day);
        if said {
            self.year = year;
        }
        true
    }

    fn word(&mut self, word: &str) {
        if let Some(at) = MONTHS.iter().position(|name| agreement(word, name) >= 3) {
            self.month = i64::try_from(at + 1).ok();
            return;
        }
        if self.special(word) {
            return;
        }
        if self.number == 0 {
            if let Some(at) = NUMBERS.iter().skip(1).position(|name| agreement(word, name) == name.len()) {
                self.number = i64::try_from(at + 1).unwrap_or_default();
                return;
            }
            if agreement(word, "last") == 4 {
                self.number = 1;
                return;
            }
        }
        if let Some((_, length)) = UNITS.iter().find(|(name, _)| agreement(word, name) >= name.len() - 1) {
            let number = std::mem::take(&mut self.number);
            self.moment(length.saturating_mul(number));
            return;
        }
        if let Some(at) = WEEKDAYS.iter().position(|name| agreement(word, name) >= 3) {
            let mut weeks = std::mem::take(&mut self.number) - 1;
            let mut days = i64::try_from(self.weekday).unwrap_or_default() - i64::try_from(at).unwrap_or_default();
            if days <= 0 {
                weeks += 1;
            }
            days += 7 * weeks;
            self.moment(days * DAY);
            return;
        }
        if agreement(word, "months") >= 5 {
            self.moment(0);
            let back = self.month.unwrap_or(1) - 1 - std::mem::take(&mut self.number);
            self.year = self.year.map(|year| year + back.div_euclid(12));
            self.month = Some(back.rem_euclid(12) + 1);
        } else if agreement(word, "years") >= 4 {
            self.moment(0);
            let back = std::mem::take(&mut self.number);
            self.year = self.year.map(|year| year - back);
        }
    }

    fn special(&mut self, word: &str) -> bool {
        let is = |name: &str| word.eq_ignore_ascii_case(name);
        if is("midnight") || is("noon") || is("tea") {
            self.pending();
            self.at_hour(if is("midnight") {
                0
            } else if is("noon") {
                12
            } else {
                17
            });
        } else if is("yesterday") || is("now") {
            self.number = 0;
            self.moment(if is("now") { 0 } else { DAY });
        } else if is("am") || is("pm") {
            let number = std::mem::take(&mut self.number);
            let mut hour = self.hour;
            if number != 0 {
                hour = number;
                (self.minute, self.second) = (0, 0);
            }
            self.hour = hour % 12 + if is("pm") { 12 } else { 0 };
        } else if is("never") {
            self.number = 0;
            let civil = Civil::of(0);
            (self.year, self.month, self.day) = (Some(civil.year), Some(1), Some(1));
            (self.hour, self.minute, self.second) = (0, 0, 0);
        } else {
            return false;
        }
        true
    }

    fn at_hour(&mut self, hour: i64) {
        if self.hour < hour {
            self.moment(DAY);
        }
        (self.hour, self.minute, self.second) = (hour, 0, 0);
    }
}

fn year(number: i64) -> Option<i64> {
    match number {
        1970..2100 => Some(number),
        71..100 => Some(1900 + number),
        0..38 => Some(2000 + number),
        _ => None,
    }
}
