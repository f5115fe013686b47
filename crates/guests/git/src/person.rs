//! Who did something and when: the author, committer and tagger lines of objects.

use bstr::{BString, ByteSlice as _};

/// A name, an address, and a time with its zone.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Signature {
    pub(crate) name: BString,
    pub(crate) email: BString,
    /// Seconds since 1970.
    pub(crate) seconds: i64,
    /// The zone as written: `-0330` is -330.
    pub(crate) zone: i32,
}

impl Signature {
    /// Reads `Name <address> seconds zone`.
    pub(crate) fn parse(line: &[u8]) -> Self {
        let Some(open) = line.find_byte(b'<') else {
            return Self { name: line.trim().into(), ..Self::default() };
        };
        let name = line[..open].trim().into();
        let rest = &line[open + 1..];
        let close = rest.find_byte(b'>').unwrap_or(rest.len());
        let email = rest[..close].trim().into();
        // The time is behind the last `>`, whatever the address looks like.
        let after = line.rfind_byte(b'>').map_or(&b""[..], |at| &line[at + 1..]);
        let mut words = after.fields();
        let number = |word: Option<&[u8]>| word.and_then(|word| std::str::from_utf8(word).ok()?.parse::<i64>().ok());
        let seconds = number(words.next()).unwrap_or_default();
        let zone = number(words.next()).and_then(|zone| i32::try_from(zone).ok()).unwrap_or_default();
        Self { name, email, seconds, zone }
    }
}

#[cfg(test)]
mod tests {
    use super::Signature;

    #[test]
    fn the_parts_are_found() {
        let one = Signature::parse(b"Ada Example <ada@example.org> 1767225600 -0330");
        assert_eq!(
            (one.name.to_string(), one.email.to_string(), one.seconds, one.zone),
            ("Ada Example".into(), "ada@example.org".into(), 1_767_225_600, -330)
        );
        let odd = Signature::parse(b"<> 5 +0000");
        assert_eq!((odd.name.len(), odd.email.len(), odd.seconds), (0, 0, 5));
        assert_eq!(Signature::parse(b"nobody").name, "nobody");
    }
}
