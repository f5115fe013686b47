//! Patterns of file names as `fnmatch` reads them: `*` and `?` match a slash too.

/// Whether a name matches a pattern, character by character where both are UTF-8.
#[must_use]
pub fn matches(pattern: &[u8], name: &[u8], fold_case: bool) -> bool {
    let read = |bytes: &[u8]| -> Vec<char> {
        let text = String::from_utf8_lossy(bytes);
        if fold_case { text.chars().flat_map(char::to_lowercase).collect() } else { text.chars().collect() }
    };
    matches_chars(&read(pattern), &read(name))
}

/// Linear in the product of both lengths: after a mismatch only the last star is tried again.
fn matches_chars(pattern: &[char], name: &[char]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    loop {
        let step = match pattern.get(p) {
            None => n == name.len(),
            Some('*') => {
                star = Some((p + 1, n));
                p += 1;
                continue;
            }
            Some(_) if n == name.len() => false,
            Some('?') => {
                (p, n) = (p + 1, n + 1);
                continue;
            }
            Some('[') => match bracket(&pattern[p + 1..], name[n]) {
                Some((true, length)) => {
                    (p, n) = (p + 1 + length, n + 1);
                    continue;
                }
                Some((false, _)) => false,
                // A `[` without its `]` is itself.
                None if name[n] == '[' => {
                    (p, n) = (p + 1, n + 1);
                    continue;
                }
                None => false,
            },
            Some('\\') if p + 1 < pattern.len() => {
                if pattern[p + 1] == name[n] {
                    (p, n) = (p + 2, n + 1);
                    continue;
                }
                false
            }
            Some(c) => {
                if *c == name[n] {
                    (p, n) = (p + 1, n + 1);
                    continue;
                }
                false
            }
        };
        if step {
            return true;
        }
        match star {
            Some((after, at)) if at < name.len() => {
                star = Some((after, at + 1));
                (p, n) = (after, at + 1);
            }
            _ => return false,
        }
    }
}

/// Whether a character is in the bracket expression that begins after the `[`, and how long that is; `None` without a `]`.
fn bracket(pattern: &[char], c: char) -> Option<(bool, usize)> {
    let mut at = 0;
    let negated = matches!(pattern.first(), Some('!' | '^'));
    at += usize::from(negated);
    let mut found = false;
    let mut first = true;
    loop {
        let mut low = *pattern.get(at)?;
        if low == ']' && !first {
            return Some((found != negated, at + 1));
        }
        first = false;
        if low == '[' && pattern.get(at + 1) == Some(&':') {
            let length = pattern[at + 2..].windows(2).position(|pair| pair == [':', ']'])?;
            let class: String = pattern[at + 2..at + 2 + length].iter().collect();
            found |= is_of_class(&class, c);
            at += length + 4;
            continue;
        }
        if low == '\\' {
            at += 1;
            low = *pattern.get(at)?;
        }
        at += 1;
        let range_end = pattern.get(at + 1).filter(|end| pattern.get(at) == Some(&'-') && **end != ']');
        let high = match range_end {
            None => low,
            Some('\\') => {
                at += 3;
                *pattern.get(at - 1)?
            }
            Some(end) => {
                at += 2;
                *end
            }
        };
        found |= (low..=high).contains(&c);
    }
}

fn is_of_class(class: &str, c: char) -> bool {
    match class {
        "alnum" => c.is_alphanumeric(),
        "alpha" => c.is_alphabetic(),
        "blank" => matches!(c, ' ' | '\t'),
        "cntrl" => c.is_control(),
        "digit" => c.is_ascii_digit(),
        "graph" => !c.is_control() && !c.is_whitespace(),
        "lower" => c.is_lowercase(),
        "print" => !c.is_control(),
        "punct" => c.is_ascii_punctuation(),
        "space" => c.is_whitespace(),
        "upper" => c.is_uppercase(),
        "xdigit" => c.is_ascii_hexdigit(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_are_those_of_fnmatch() {
        for (pattern, name, expected) in [
            ("*.js", "a.js", true),
            ("*.js", "a.jsx", false),
            ("*", ".hidden", true),
            ("*/src/*", "./src/a/b", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("[ab]*", "bx", true),
            ("[!ab]*", "bx", false),
            ("[a-c-]", "-", true),
            ("[]x]", "]", true),
            ("[[:digit:]]*", "5x", true),
            ("a[", "a[", true),
            ("\\*", "*", true),
            ("\\*", "x", false),
            ("*a*b*c", "xaxbxbc", true),
            ("é?", "éx", true),
            ("", "", true),
        ] {
            assert_eq!(matches(pattern.as_bytes(), name.as_bytes(), false), expected, "{pattern} on {name}");
        }
        assert!(matches(b"*.MD", b"readme.md", true));
    }
}
