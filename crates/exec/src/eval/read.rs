//! `read`.

use super::builtin::is_name;
use super::{Abort, Eval, Io, Shell, stopped};
use skillgate_policy::Provenance;

/// `read [-r] NAME…`: one line, byte by byte, so that the rest of the stream is left to the next reader. The status is left in
/// the shell: 1 when the stream ended before the line did.
pub(super) fn line(shell: &mut Shell<'_>, arguments: &[String], io: &Io) -> Eval<()> {
    let raw = arguments.iter().any(|argument| argument == "-r");
    let names: Vec<&String> = arguments.iter().filter(|argument| *argument != "-r").collect();
    if let Some(bad) = names.iter().find(|name| !is_name(name)) {
        shell.complain(io, &format!("read: `{bad}`: only -r and variable names are supported"))?;
        return Err(Abort::Exit(2));
    }
    let (line, complete) = characters(shell, raw, io)?;
    if names.is_empty() {
        shell.assign("REPLY", line.iter().map(|(c, _)| *c).collect(), Provenance::Expansion)?;
    } else {
        let ifs = shell.variables.get("IFS").map_or(" \t\n".to_owned(), |ifs| ifs.value.clone());
        let values = fields(&line, names.len(), &ifs);
        for (name, value) in names.iter().zip(values) {
            shell.assign(name, value, Provenance::Expansion)?;
        }
    }
    shell.status = u8::from(!complete);
    Ok(())
}

/// A character, and whether a backslash took its meaning.
type Character = (char, bool);

/// The characters of one line without its end, and whether it has one.
fn characters(shell: &Shell<'_>, raw: bool, io: &Io) -> Eval<(Vec<Character>, bool)> {
    let limit = usize::try_from(shell.shared.run.limits().output_bytes).unwrap_or(usize::MAX);
    let mut bytes = Vec::new();
    let mut escaped = Vec::new();
    let mut complete = false;
    let next = || Ok::<_, Abort>(io.stdin.read(1).map_err(|stop| stopped("read", stop))?.first().copied());
    while bytes.len() < limit {
        match next()? {
            None => break,
            Some(b'\n') => {
                complete = true;
                break;
            }
            Some(b'\\') if !raw => match next()? {
                // A line that a backslash continues.
                Some(b'\n') | None => {}
                Some(byte) => {
                    escaped.push(bytes.len());
                    bytes.push(byte);
                }
            },
            // As bash, which cannot hold it.
            Some(0) => {}
            Some(byte) => bytes.push(byte),
        }
    }
    let text = String::from_utf8_lossy(&bytes);
    if escaped.is_empty() || matches!(text, std::borrow::Cow::Owned(_)) {
        return Ok((text.chars().map(|c| (c, false)).collect(), complete));
    }
    let line = text.char_indices().map(|(at, c)| (c, escaped.binary_search(&at).is_ok())).collect();
    Ok((line, complete))
}

/// Splits a line into as many values as there are names; the last takes what is left.
fn fields(line: &[Character], count: usize, ifs: &str) -> Vec<String> {
    let separates = |(c, escaped): &Character| !escaped && ifs.contains(*c);
    let white = |character: &Character| separates(character) && matches!(character.0, ' ' | '\t' | '\n');
    let text = |part: &[Character]| part.iter().map(|(c, _)| *c).collect::<String>();
    let skip_white = |from: usize| from + line[from..].iter().take_while(|character| white(character)).count();
    let mut at = skip_white(0);
    let mut values = Vec::with_capacity(count);
    for index in 0..count {
        let end = at + line[at..].iter().take_while(|character| !separates(character)).count();
        // One separator that is not white space ends the word, with the blanks around it.
        let mut after = skip_white(end);
        if line.get(after).is_some_and(separates) {
            after = skip_white(after + 1);
        }
        // The last one takes all that is left, but no separator that nothing follows.
        if index + 1 == count && after < line.len() {
            let trailing = line[at..].iter().rev().take_while(|character| white(character)).count();
            values.push(text(&line[at..line.len() - trailing]));
        } else {
            values.push(text(&line[at..end]));
        }
        at = after;
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_name_takes_what_is_left() {
        for (line, count, ifs, expected) in [
            ("a b c", 2, " ", &["a", "b c"][..]),
            ("  a  ", 1, " ", &["a"]),
            ("a", 3, " ", &["a", "", ""]),
            ("a:b:", 2, ":", &["a", "b"]),
            ("a:b::", 2, ":", &["a", "b::"]),
            ("a : b", 2, " :", &["a", "b"]),
            (":a", 2, ":", &["", "a"]),
            ("  a ", 1, "", &["  a "]),
        ] {
            let line: Vec<Character> = line.chars().map(|c| (c, false)).collect();
            assert_eq!(fields(&line, count, ifs), expected, "{line:?}");
        }
        let escaped = [('a', false), (' ', true), ('b', false)];
        assert_eq!(fields(&escaped, 2, " "), ["a b", ""]);
    }
}
