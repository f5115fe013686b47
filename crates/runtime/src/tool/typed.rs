//! What a person types that begins with a slash.

/// Skills that one line can stack: the first and five more.
pub(crate) const MAX_STACKED: usize = 6;

/// The names at the head of a typed line, and what follows them. `is_stackable` says whether a name is one of an inline skill
/// that a person may invoke; the first name that is not ends the head and belongs to the rest. The first name of all is taken
/// whatever it is: an explicit call is final.
pub(crate) fn split(text: &str, is_stackable: impl Fn(&str) -> bool) -> Option<(Vec<&str>, &str)> {
    let first = text.trim_start();
    let (name, mut rest) = head(first)?;
    let mut names = vec![name];
    if is_stackable(name) {
        while names.len() < MAX_STACKED {
            match head(rest.trim_start()) {
                Some((next, after)) if is_stackable(next) => {
                    names.push(next);
                    rest = after;
                }
                _ => break,
            }
        }
    }
    Some((names, rest.strip_prefix(|c: char| c.is_whitespace()).unwrap_or(rest)))
}

/// A `/name` and what stands behind it.
fn head(text: &str) -> Option<(&str, &str)> {
    let named = text.strip_prefix('/')?;
    let end = named.find(char::is_whitespace).unwrap_or(named.len());
    let (name, rest) = named.split_at(end);
    // A path is no command.
    (!name.is_empty() && !name.contains('/')).then_some((name, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_stacked_until_one_is_no_inline_skill() {
        let known = |name: &str| name.len() == 1;
        for (text, names, rest) in [
            ("/a", vec!["a"], ""),
            ("/a text", vec!["a"], "text"),
            ("/a /b text", vec!["a", "b"], "text"),
            ("/a  /b  two  words", vec!["a", "b"], " two  words"),
            ("/a /nosuch text", vec!["a"], "/nosuch text"),
            ("/nosuch /a text", vec!["nosuch"], "/a text"),
            ("/a /b /c /d /e /f /g x", vec!["a", "b", "c", "d", "e", "f"], "/g x"),
            ("  /a\nline", vec!["a"], "line"),
            ("/a /usr/bin x", vec!["a"], "/usr/bin x"),
        ] {
            assert_eq!(split(text, known), Some((names, rest)), "{text:?}");
        }
        for text in ["", "a", "a /b", "/", "/ a", "//a", "/usr/bin"] {
            assert_eq!(split(text, known), None, "{text:?}");
        }
    }
}
