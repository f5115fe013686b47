//! Sed scripts that neither run nor open anything.

/// Whether a sed command line holds only scripts made of commands that neither run nor open anything. Scripts whose shape is
/// not certain count as the opposite.
pub(crate) fn sed_is_plain<'a>(words: impl Iterator<Item = &'a str>) -> bool {
    let mut script_seen = false;
    let mut script_next = false;
    for word in words {
        if std::mem::take(&mut script_next) {
            script_seen = true;
            if !sed_script_is_plain(word) {
                return false;
            }
            continue;
        }
        match word {
            "-e" | "--expression" => script_next = true,
            "-n" | "-E" | "-r" | "-z" | "-s" | "-u" | "--quiet" | "--silent" | "--regexp-extended" | "--" | "-nE"
            | "-En" | "-nr" | "-rn" | "--null-data" | "--separate" | "--unbuffered" | "--posix" | "--debug" | "-" => {}
            _ if word.starts_with("--expression=") => {
                script_seen = true;
                if !sed_script_is_plain(&word["--expression=".len()..]) {
                    return false;
                }
            }
            _ if word.starts_with('-') => return false,
            _ if !script_seen => {
                script_seen = true;
                if !sed_script_is_plain(word) {
                    return false;
                }
            }
            _ => {}
        }
    }
    script_seen && !script_next
}

/// A scanner over the part of sed's language that cannot open or run anything: addresses, `p d q Q = n N g G h H x D P l s y
/// { } !`, separated by `;` or line ends. Anything else is not plain.
fn sed_script_is_plain(script: &str) -> bool {
    let mut chars = script.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' | ';' | '\n' | '{' | '}' | '!' | ',' | '$' | '~' | '+' | '0'..='9' => {}
            '/' if !skip_regex(&mut chars, '/') => return false,
            '/' => while chars.next_if(|c| matches!(c, 'I' | 'M')).is_some() {},
            'p' | 'd' | 'q' | 'Q' | '=' | 'n' | 'N' | 'g' | 'G' | 'h' | 'H' | 'x' | 'D' | 'P' | 'l' => {}
            's' | 'y' => {
                let Some(delimiter) = chars.next().filter(|c| !c.is_alphanumeric() && !c.is_whitespace() && *c != '\\')
                else {
                    return false;
                };
                if !skip_regex(&mut chars, delimiter) || !skip_delimited(&mut chars, delimiter) {
                    return false;
                }
                while chars.next_if(|c| matches!(c, 'g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9')).is_some() {}
                if chars.peek().is_some_and(|c| !matches!(c, ';' | '\n' | ' ' | '}')) {
                    return false;
                }
            }
            _ => return false,
        }
    }
    true
}

/// Skips a regular expression. Implementations do not agree whether a delimiter inside brackets ends it; such a script is not
/// certain.
fn skip_regex(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, delimiter: char) -> bool {
    let mut bracket = false;
    while let Some(c) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            '\n' => return false,
            c if c == delimiter => return !bracket,
            '[' => bracket = true,
            ']' => bracket = false,
            _ => {}
        }
    }
    false
}

fn skip_delimited(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, delimiter: char) -> bool {
    while let Some(c) = chars.next() {
        if c == '\\' {
            chars.next();
        } else if c == delimiter {
            return true;
        }
    }
    false
}
