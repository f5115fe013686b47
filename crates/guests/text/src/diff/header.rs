//! The names and times in headers.

use super::{Kind, Side};
use crate::output::path;
use std::time::{SystemTime, UNIX_EPOCH};

/// A file's name, quoted as in C when it has a space or a character that is not plain ASCII.
pub(super) fn escaped(name: &[u8]) -> Vec<u8> {
    let plain = |byte: &u8| byte.is_ascii_graphic() && !b"\"\\".contains(byte);
    if name.iter().all(plain) {
        return name.to_vec();
    }
    let mut out = vec![b'"'];
    for byte in name {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', *byte]),
            b' '..=b'~' => out.push(*byte),
            7 => out.extend_from_slice(b"\\a"),
            8 => out.extend_from_slice(b"\\b"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\n' => out.extend_from_slice(b"\\n"),
            11 => out.extend_from_slice(b"\\v"),
            12 => out.extend_from_slice(b"\\f"),
            b'\r' => out.extend_from_slice(b"\\r"),
            byte => out.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
        }
    }
    out.push(b'"');
    out
}

/// When a file was changed, in UTC.
pub(super) fn modified(side: &Side) -> String {
    let time = match side.kind {
        Kind::Missing => UNIX_EPOCH,
        // POSIX wants the current time for standard input.
        _ if side.name == b"-" => SystemTime::now(),
        _ => std::fs::metadata(path(&side.name)).and_then(|data| data.modified()).unwrap_or(UNIX_EPOCH),
    };
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (days, rest) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    let (year, month, day) = civil(days);
    format!(
        "{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}.{:09} +0000",
        rest / 3600,
        rest / 60 % 60,
        rest % 60,
        since.subsec_nanos()
    )
}

/// The date of a day since 1970: years begin in March, so that the leap day is their last.
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_dates() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(19_782), (2024, 2, 29));
        assert_eq!(civil(20_454), (2026, 1, 1));
    }

    #[test]
    fn names_that_are_not_plain_are_quoted() {
        for (name, expected) in [("a/b.c", "a/b.c"), ("a b", "\"a b\""), ("a\"\té", "\"a\\\"\\t\\303\\251\"")] {
            assert_eq!(escaped(name.as_bytes()), expected.as_bytes(), "{name}");
        }
    }
}
