//! Sizes as people read them, rounded up as GNU's commands do.

/// The unit in which sizes are printed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Unit {
    /// `-h`: 1.5K.
    Binary,
    /// `--si`: 1.5k.
    Decimal,
    /// Blocks of so many bytes, and what is printed after the number.
    Block(u64, String),
}

const LETTERS: [&str; 6] = ["K", "M", "G", "T", "P", "E"];

impl Unit {
    /// Reads the value of `--block-size`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text {
            "human-readable" => return Some(Unit::Binary),
            "si" => return Some(Unit::Decimal),
            _ => {}
        }
        let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (digits, suffix) = text.split_at(split);
        let count: u64 = if digits.is_empty() { 1 } else { digits.parse().ok()? };
        let (letter, rest) = suffix.split_at(suffix.len().min(1));
        let unit = if letter.is_empty() {
            1
        } else {
            let power = LETTERS.iter().position(|known| *known == letter || (*known == "K" && letter == "k"))?;
            let base: u64 = match rest {
                "" | "iB" => 1024,
                "B" => 1000,
                _ => return None,
            };
            base.checked_pow(u32::try_from(power).ok()? + 1)?
        };
        let size = count.checked_mul(unit).filter(|size| *size > 0)?;
        // A unit without a number is printed with the sizes.
        let shown = if digits.is_empty() && !suffix.is_empty() { suffix.replace("iB", "") } else { String::new() };
        Some(Unit::Block(size, shown))
    }

    /// Bytes in this unit.
    pub(crate) fn shown(&self, bytes: u64) -> String {
        match self {
            Unit::Binary => scaled(bytes, 1024, "K"),
            Unit::Decimal => scaled(bytes, 1000, "k"),
            Unit::Block(size, suffix) => format!("{}{suffix}", bytes.div_ceil(*size)),
        }
    }
}

fn scaled(bytes: u64, base: u64, first: &str) -> String {
    let (bytes, base) = (u128::from(bytes), u128::from(base));
    if bytes < base {
        return bytes.to_string();
    }
    let mut unit = base;
    let mut power = 0;
    loop {
        let letter = if power == 0 { first } else { LETTERS.get(power).copied().unwrap_or_default() };
        let tenths = (bytes * 10).div_ceil(unit);
        if tenths < 100 {
            return format!("{}.{}{letter}", tenths / 10, tenths % 10);
        }
        let whole = bytes.div_ceil(unit);
        if whole < base || power + 1 == LETTERS.len() {
            return format!("{whole}{letter}");
        }
        unit *= base;
        power += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_up() {
        for (bytes, binary, decimal) in [
            (0, "0", "0"),
            (1023, "1023", "1.1k"),
            (1024, "1.0K", "1.1k"),
            (1025, "1.1K", "1.1k"),
            (10_137, "9.9K", "11k"),
            (10_138, "10K", "11k"),
            (1_047_553, "1.0M", "1.1M"),
            (1_048_576, "1.0M", "1.1M"),
            (u64::MAX, "16E", "19E"),
        ] {
            assert_eq!((Unit::Binary.shown(bytes).as_str(), Unit::Decimal.shown(bytes).as_str()), (binary, decimal));
        }
    }

    #[test]
    fn block_sizes_are_read() {
        for (text, shown) in [("1", "3000"), ("K", "3K"), ("1K", "3"), ("kB", "3kB"), ("M", "1M"), ("1KiB", "3")] {
            assert_eq!(Unit::parse(text).map(|unit| unit.shown(3000)).as_deref(), Some(shown), "{text}");
        }
        for text in ["0", "x", "1Kb", "KiBx"] {
            assert_eq!(Unit::parse(text), None, "{text}");
        }
    }
}
