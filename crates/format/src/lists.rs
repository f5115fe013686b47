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
    let holds = held(text);
    let mut entries = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices() {
        let separates = (c == ',' || c.is_whitespace()) && !holds[at];
        match (separates, start) {
            (true, Some(from)) => {
                entries.push(Span::new(from, at));
                start = None;
            }
            (false, None) => start = Some(at),
            _ => {}
        }
    }
    if let Some(from) = start {
        entries.push(Span::new(from, text.len()));
    }
    entries.into_iter().map(|span| (text[span.range()].to_owned(), span)).collect()
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
}
