//! Awk programs that neither run nor open anything.

/// Whether an awk command line holds nothing but a program without redirection, pipe, `system`, `getline` or includes.
pub(crate) fn awk_is_plain<'a>(words: impl Iterator<Item = &'a str>) -> bool {
    let mut program_seen = false;
    let mut value_next = false;
    for word in words {
        if std::mem::take(&mut value_next) {
            continue;
        }
        if !program_seen && word.starts_with('-') && word.len() > 1 {
            match word {
                "-F" | "-v" => value_next = true,
                _ if word.starts_with("-F") || word.starts_with("-v") => {}
                "--" => {}
                _ => return false,
            }
            continue;
        }
        if !program_seen {
            program_seen = true;
            // Quotes in a regular expression or a comment would hide what follows them from the scan for strings.
            let outside = if word.contains(['/', '#']) { word.to_owned() } else { without_awk_strings(word) };
            let calls = ["system", "getline", "@", "|", ">", "close", "fflush", "ENVIRON", "FILENAME="];
            // A comparison `>` cannot be told from a redirection without awk's grammar; it counts as one.
            if calls.iter().any(|call| outside.contains(call)) {
                return false;
            }
        }
    }
    program_seen
}

/// An awk program without its string literals, so that `"|"` as a separator is no pipe.
fn without_awk_strings(program: &str) -> String {
    let mut out = String::new();
    let mut chars = program.chars();
    while let Some(c) = chars.next() {
        if c != '"' {
            out.push(c);
            continue;
        }
        while let Some(c) = chars.next() {
            match c {
                '\\' => drop(chars.next()),
                '"' => break,
                _ => {}
            }
        }
    }
    out
}
