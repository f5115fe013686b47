/// What `echo` prints, as bash's does: `-n`, `-e`, `-E` and their clusters are options.
pub(super) fn text(arguments: &[String]) -> String {
    let is_option = |argument: &&String| {
        argument.strip_prefix('-').is_some_and(|letters| {
            !letters.is_empty() && letters.chars().all(|letter| matches!(letter, 'n' | 'e' | 'E'))
        })
    };
    let (mut newline, mut escapes) = (true, false);
    let options = arguments.iter().take_while(is_option).count();
    for letter in arguments[..options].iter().flat_map(|option| option.chars()) {
        match letter {
            'n' => newline = false,
            'e' => escapes = true,
            'E' => escapes = false,
            _ => {}
        }
    }
    let mut text = arguments[options..].join(" ");
    if escapes {
        let (unescaped, ended) = unescape(&text);
        text = unescaped;
        newline &= !ended;
    }
    if newline {
        text.push('\n');
    }
    text
}

/// Resolves backslash escapes; says whether `\c` ended the output.
fn unescape(text: &str) -> (String, bool) {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            None => out.push('\\'),
            Some('a') => out.push('\u{7}'),
            Some('b') => out.push('\u{8}'),
            Some('c') => return (out, true),
            Some('e' | 'E') => out.push('\u{1b}'),
            Some('f') => out.push('\u{c}'),
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('t') => out.push('\t'),
            Some('v') => out.push('\u{b}'),
            Some('\\') => out.push('\\'),
            Some('0') => push_code(&mut out, digits(&mut chars, 8, 3).unwrap_or(0)),
            Some('x') => match digits(&mut chars, 16, 2) {
                Some(code) => push_code(&mut out, code),
                None => out.push_str("\\x"),
            },
            Some(other) => out.extend(['\\', other]),
        }
    }
    (out, false)
}

fn digits(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, base: u32, most: usize) -> Option<u32> {
    let mut value = None;
    for _ in 0..most {
        let Some(digit) = chars.peek().and_then(|c| c.to_digit(base)) else { break };
        chars.next();
        value = Some(value.unwrap_or(0) * base + digit);
    }
    value
}

fn push_code(out: &mut String, code: u32) {
    out.extend(char::from_u32(code & 0xff));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_and_escapes_are_those_of_bash() {
        for (arguments, expected) in [
            (&["a", "b"][..], "a b\n"),
            (&["-n", "a"], "a"),
            (&["-x", "a"], "-x a\n"),
            (&["-"], "-\n"),
            (&["a\\nb"], "a\\nb\n"),
            (&["-e", "a\\nb"], "a\nb\n"),
            (&["-ne", "\\x41\\0102\\q"], "AB\\q"),
            (&["-e", "a\\cb"], "a"),
            (&["-e", "-E", "a\\tb"], "a\\tb\n"),
            (&[], "\n"),
        ] {
            let arguments: Vec<String> = arguments.iter().map(|text| (*text).to_owned()).collect();
            assert_eq!(text(&arguments), expected, "{arguments:?}");
        }
    }
}
