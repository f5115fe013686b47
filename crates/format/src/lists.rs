//! Lists written as one string.

use skillgate_core::Span;

/// Splits a list written as one string at commas, blanks and line ends, never inside parentheses, brackets, braces or
/// quotes, and gives every entry with its place in `text`.
///
/// A bracket or quote that is never closed does not hold anything together: the text is split as if it were not there.
///
/// ```
/// let entries = skillgate_format::split_list("Bash(git add:*, git commit:*), Read");
/// let texts: Vec<_> = entries.iter().map(|(text, _)| text.as_str()).collect();
/// assert_eq!(texts, ["Bash(git add:*, git commit:*)", "Read"]);
/// ```
#[must_use]
pub fn split_list(text: &str) -> Vec<(String, Span)> {
    plain(text).unwrap_or_else(|| looking_ahead(text))
}

fn entry(text: &str, start: usize, end: usize) -> (String, Span) {
    (text[start..end].to_owned(), Span::new(start, end))
}

/// Brackets that may be open in a list that is split without looking ahead.
const MAX_DEPTH: usize = 8;

/// Splits a list as nearly every one is: ASCII, without quotes and backslashes, and every bracket closed in its order.
fn plain(text: &str) -> Option<Vec<(String, Span)>> {
    let mut entries = Vec::with_capacity(4);
    let mut closing = [0u8; MAX_DEPTH];
    let mut depth = 0;
    let mut start = None;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b',' | b' ' | b'\t'..=b'\r' if depth == 0 => {
                if let Some(from) = start.take() {
                    entries.push(entry(text, from, at));
                }
                continue;
            }
            b'(' | b'[' | b'{' => {
                *closing.get_mut(depth)? = if byte == b'(' { b')' } else { byte + 2 };
                depth += 1;
            }
            b')' | b']' | b'}' => {
                depth = depth.checked_sub(1)?;
                if closing[depth] != byte {
                    return None;
                }
            }
            b'\\' | b'"' | b'\'' | 0x80.. => return None,
            _ => {}
        }
        start.get_or_insert(at);
    }
    if depth > 0 {
        return None;
    }
    entries.extend(start.map(|from| entry(text, from, text.len())));
    Some(entries)
}

/// Splits any list.
fn looking_ahead(text: &str) -> Vec<(String, Span)> {
    let holds = held(text);
    let mut entries = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices() {
        let separates = (c == ',' || c.is_whitespace()) && !holds[at];
        match (separates, start) {
            (true, Some(from)) => {
                entries.push(entry(text, from, at));
                start = None;
            }
            (false, None) => start = Some(at),
            _ => {}
        }
    }
    entries.extend(start.map(|from| entry(text, from, text.len())));
    entries
}

/// For each byte, whether a closed pair of brackets or quotes stands around it.
fn held(text: &str) -> Vec<bool> {
    let bytes = text.as_bytes();
    let mut depth_change = vec![0i32; bytes.len() + 1];
    let mut open: Vec<(u8, usize)> = Vec::new();
    // After one failed search for a closing quote there is none further on either.
    let mut unclosed = [false; 2];
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            b'(' | b'[' | b'{' => open.push((*byte, at)),
            b')' | b']' | b'}' => {
                let wanted = match byte {
                    b')' => b'(',
                    b']' => b'[',
                    _ => b'{',
                };
                // The nearest opening of the same kind; what was opened since is not closed.
                if open.iter().rev().take(MAX_OPEN).any(|(kind, _)| *kind == wanted) {
                    while let Some((kind, from)) = open.pop() {
                        if kind == wanted {
                            depth_change[from] += 1;
                            depth_change[at] -= 1;
                            break;
                        }
                    }
                }
            }
            b'"' | b'\'' => {
                // An apostrophe inside a word opens nothing.
                let inside_word = at > 0 && bytes[at - 1].is_ascii_alphanumeric();
                let failed = &mut unclosed[usize::from(*byte == b'\'')];
                if !*failed && !inside_word {
                    match bytes[at + 1..].iter().position(|found| found == byte) {
                        Some(length) => {
                            depth_change[at] += 1;
                            depth_change[at + 1 + length] -= 1;
                            at += length + 1;
                        }
                        None => *failed = true,
                    }
                }
            }
            _ => {}
        }
        at += 1;
    }
    let mut depth = 0;
    depth_change
        .iter()
        .map(|change| {
            depth += change;
            depth > 0
        })
        .collect()
}

/// How many unclosed brackets are looked back over.
const MAX_OPEN: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lists_split_outside_of_everything_that_holds_together() {
        for (text, expected) in [
            ("", vec![]),
            (" , ,\n", vec![]),
            ("Read", vec!["Read"]),
            ("Read, Grep", vec!["Read", "Grep"]),
            ("Read Grep\nGlob", vec!["Read", "Grep", "Glob"]),
            ("Bash(git add:*), Read", vec!["Bash(git add:*)", "Read"]),
            ("Bash(git add *) Read", vec!["Bash(git add *)", "Read"]),
            ("Bash(a, b), Bash(c d)", vec!["Bash(a, b)", "Bash(c d)"]),
            ("src/{a, b}/*.ts, x", vec!["src/{a, b}/*.ts", "x"]),
            ("\"a b\" c", vec!["\"a b\"", "c"]),
            ("Bash(echo \"), Write\") Read", vec!["Bash(echo \"), Write\")", "Read"]),
            ("Bash(echo ((a) b), Read", vec!["Bash(echo", "((a) b)", "Read"]),
            ("Bash(git, Read", vec!["Bash(git", "Read"]),
            ("don't do, that's it", vec!["don't", "do", "that's", "it"]),
            ("x [1/**", vec!["x", "[1/**"]),
            ("a) b", vec!["a)", "b"]),
            ("ä, ö", vec!["ä", "ö"]),
        ] {
            let found = split_list(text);
            for (entry, span) in &found {
                assert_eq!(span.slice(text), Some(entry.as_str()), "{text:?}");
            }
            let found: Vec<_> = found.iter().map(|(entry, _)| entry.as_str()).collect();
            assert_eq!(found, expected, "{text:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn both_ways_to_split_are_one(text in "[a-c,: \t\n\x0b()\\[\\]{}]{0,24}", other in "[ -~\u{a0}\u{e4}]{0,16}") {
            for text in [text, other] {
                if let Some(entries) = plain(&text) {
                    prop_assert_eq!(entries, looking_ahead(&text), "{:?}", text);
                }
            }
            let usual = plain("Bash(git add:*, x [y] {z}), Read").is_some();
            prop_assert!(usual);
        }
    }
}
