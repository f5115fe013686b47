//! Arguments as typed, split into words as a shell splits them.

use skillgate_core::Span;

/// The words of an argument text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Words {
    /// The words, without the quotes around them.
    pub words: Vec<String>,
    /// The first quote that is never closed; it was taken literally.
    pub unbalanced: Option<Span>,
}

/// Splits `args` at white space; quotes group, a backslash takes the next character literally (inside double quotes only
/// before `"`, `\`, `$` and `` ` ``). Nothing is expanded. A quote without its partner is an ordinary character.
///
/// ```
/// let words = skillgate_format::split_words(r#"one "two words" it\'s"#);
/// assert_eq!(words.words, ["one", "two words", "it's"]);
/// assert_eq!(words.unbalanced, None);
/// ```
#[must_use]
pub fn split_words(args: &str) -> Words {
    let mut found = Words::default();
    let mut word: Option<String> = None;
    let mut no_partner = [false; 2];
    let mut at = 0;
    while let Some(c) = args[at..].chars().next() {
        let after = at + c.len_utf8();
        match c {
            c if c.is_whitespace() => found.words.extend(word.take()),
            '\\' => {
                let next = args[after..].chars().next();
                let word = word.get_or_insert_default();
                match next {
                    // A backslash before a line end joins the lines.
                    Some('\n') => {}
                    Some(next) => word.push(next),
                    None => word.push('\\'),
                }
                at = after + next.map_or(0, char::len_utf8);
                continue;
            }
            '\'' | '"' => {
                let failed = &mut no_partner[usize::from(c == '"')];
                let quoted = if *failed { None } else { quoted(args, after, c) };
                if let Some((text, end)) = quoted {
                    word.get_or_insert_default().push_str(&text);
                    at = end;
                    continue;
                }
                *failed = true;
                found.unbalanced.get_or_insert(Span::new(at, after));
                word.get_or_insert_default().push(c);
            }
            c => word.get_or_insert_default().push(c),
        }
        at = after;
    }
    found.words.extend(word);
    found
}

/// The text up to the closing quote and where the rest begins.
fn quoted(args: &str, from: usize, quote: char) -> Option<(String, usize)> {
    let mut text = String::new();
    let mut chars = args[from..].char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            c if c == quote => return Some((text, from + at + 1)),
            '\\' if quote == '"' => match chars.next()?.1 {
                '\n' => {}
                next @ ('"' | '\\' | '$' | '`') => text.push(next),
                next => text.extend(['\\', next]),
            },
            c => text.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_split_as_a_shell_splits_them() {
        for (args, expected, unbalanced) in [
            ("", vec![], None),
            ("  a   b ", vec!["a", "b"], None),
            ("\"two words\" second", vec!["two words", "second"], None),
            ("'a b'c\"d e\"", vec!["a bcd e"], None),
            ("''", vec![""], None),
            ("a\\ b", vec!["a b"], None),
            ("\"a\\\"b\" \"c\\d\"", vec!["a\"b", "c\\d"], None),
            ("'a\\' b", vec!["a\\", "b"], None),
            ("it's fine", vec!["it's", "fine"], Some(2)),
            ("say \"a b", vec!["say", "\"a", "b"], Some(4)),
            ("it's \"a b\"", vec!["it's", "a b"], Some(2)),
            ("a\\", vec!["a\\"], None),
            ("-1 '$(id)' ';' rm", vec!["-1", "$(id)", ";", "rm"], None),
            ("a\nb\tc", vec!["a", "b", "c"], None),
            ("ü 'ö ä'", vec!["ü", "ö ä"], None),
        ] {
            let found = split_words(args);
            assert_eq!(found.words, expected, "{args:?}");
            assert_eq!(found.unbalanced.map(|span| span.start), unbalanced, "{args:?}");
        }
    }
}
