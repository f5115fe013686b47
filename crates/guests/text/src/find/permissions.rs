//! `-perm`.

/// Which bits are wanted, and how.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Permissions {
    /// `MODE`: these and no others.
    Exactly(u32),
    /// `-MODE`: at least these.
    All(u32),
    /// `/MODE`: one of these, or any at all when none is named.
    Any(u32),
}

/// The bits that permissions have.
const BITS: u32 = 0o7777;

impl Permissions {
    pub(super) fn hold(self, mode: u32) -> bool {
        let mode = mode & BITS;
        match self {
            Permissions::Exactly(wanted) => mode == wanted,
            Permissions::All(wanted) => mode & wanted == wanted,
            Permissions::Any(0) => true,
            Permissions::Any(wanted) => mode & wanted != 0,
        }
    }

    /// Reads the argument of `-perm`.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        if let Some(mode) = text.strip_prefix('-') {
            return mode_of(mode).map(Permissions::All);
        }
        match text.strip_prefix('/') {
            Some(mode) => mode_of(mode).map(Permissions::Any),
            None => mode_of(text).map(Permissions::Exactly),
        }
    }
}

/// A mode in octal, or changes of none as `chmod` reads them.
fn mode_of(text: &str) -> Option<u32> {
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        return u32::from_str_radix(text, 8).ok().filter(|mode| *mode <= BITS);
    }
    let mut mode = 0;
    for clause in text.split(',') {
        let who_ends = clause.find(|c: char| !"ugoa".contains(c))?;
        let (who, mut actions) = clause.split_at(who_ends);
        let mask = who.chars().fold(0, |mask, c| {
            mask | match c {
                'u' => 0o4700,
                'g' => 0o2070,
                'o' => 0o1007,
                _ => BITS,
            }
        });
        let mask = if who.is_empty() { BITS } else { mask };
        while let Some(operator) = actions.chars().next() {
            let rest = actions.strip_prefix(['+', '-', '='])?;
            let end = rest.find(['+', '-', '=']).unwrap_or(rest.len());
            let (letters, after) = rest.split_at(end);
            let mut bits = 0;
            for letter in letters.chars() {
                bits |= match letter {
                    'r' => 0o444,
                    'w' => 0o222,
                    'x' => 0o111,
                    's' => 0o6000,
                    't' => 0o1000,
                    // Copies of what another class has.
                    'u' => (mode >> 6 & 7) * 0o111,
                    'g' => (mode >> 3 & 7) * 0o111,
                    'o' => (mode & 7) * 0o111,
                    _ => return None,
                };
            }
            let bits = bits & mask;
            mode = match operator {
                '+' => mode | bits,
                '-' => mode & !bits,
                _ => mode & !mask | bits,
            };
            actions = after;
        }
    }
    Some(mode)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_read_as_chmod_reads_them() {
        for (text, expected) in [
            ("644", Some(Permissions::Exactly(0o644))),
            ("-u+x", Some(Permissions::All(0o100))),
            ("/111", Some(Permissions::Any(0o111))),
            ("u=rw,g=u,o=", Some(Permissions::Exactly(0o660))),
            ("-a+x", Some(Permissions::All(0o111))),
            ("+x", Some(Permissions::Exactly(0o111))),
            ("u+s", Some(Permissions::Exactly(0o4000))),
            ("9", None),
            ("u", None),
            ("u+q", None),
        ] {
            assert_eq!(Permissions::parse(text.as_bytes()), expected, "{text}");
        }
    }
}
