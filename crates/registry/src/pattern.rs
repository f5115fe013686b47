use std::fmt;

/// A skill's name, or several: `*` stands for any run of characters.
///
/// It is compared with the name and with the name behind its source (`user:review`); a leading `/` is dropped. An empty
/// pattern matches nothing.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct NamePattern(String);

impl NamePattern {
    /// Takes the pattern as it is written in a policy.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let text = text.trim();
        Self(text.strip_prefix('/').unwrap_or(text).to_owned())
    }

    /// The pattern as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the name is one of those meant.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        !self.0.is_empty() && matches(self.0.as_bytes(), name.as_bytes())
    }
}

impl fmt::Display for NamePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Goes back to the last `*` only, so the time is bounded by the product of the lengths.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(byte) if *byte == name[n] => {
                p += 1;
                n += 1;
            }
            _ => match star {
                Some((at, taken)) => {
                    star = Some((at, taken + 1));
                    p = at + 1;
                    n = taken + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_any_run() {
        for (pattern, name, expected) in [
            ("review", "review", true),
            ("review", "reviewer", false),
            ("/review", "review", true),
            ("old-*", "old-", true),
            ("old-*", "old-deploy", true),
            ("old-*", "very-old-deploy", false),
            ("*", "", true),
            ("", "", false),
            ("", "x", false),
            ("*a*b", "xaxxb", true),
            ("*a*b", "xaxxbc", false),
            ("a**b", "ab", true),
            ("*ab", "aab", true),
            ("ü*", "über", true),
        ] {
            assert_eq!(NamePattern::new(pattern).matches(name), expected, "{pattern} {name}");
        }
        let hostile = NamePattern::new(&"*a".repeat(64));
        assert!(!hostile.matches(&"a".repeat(63)));
    }
}
