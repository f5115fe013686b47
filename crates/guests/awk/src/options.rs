//! The command line of awk.

use crate::{Fault, unsupported, wrong};
use guest_command::output::{path, reason};

/// What the command line asks for.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) program: Vec<u8>,
    /// `-F`, with its escapes as written.
    pub(crate) separator: Option<Vec<u8>>,
    /// `-v`, in order: names and values with their escapes as written.
    pub(crate) assignments: Vec<(String, Vec<u8>)>,
    pub(crate) operands: Vec<Vec<u8>>,
}

/// Reads the command line. Options end at the first word that is none.
///
/// # Errors
/// What is wrong or not supported.
pub(crate) fn parse(arguments: Vec<Vec<u8>>) -> Result<Request, Fault> {
    let mut words = arguments.into_iter().peekable();
    let (mut program, mut separator, mut assignments) = (None::<Vec<u8>>, None, Vec::new());
    while let Some(word) = words.next_if(|word| word.len() > 1 && word[0] == b'-') {
        if word == b"--" {
            break;
        }
        let mut value = |joined: &[u8]| {
            if !joined.is_empty() {
                return Ok(joined.to_vec());
            }
            let letter = char::from(word[1]);
            words.next().ok_or_else(|| Fault::Wrong(format!("option -{letter} lacks argument")))
        };
        match word.as_slice() {
            [_, b'F', joined @ ..] => separator = Some(value(joined)?),
            [_, b'v', joined @ ..] => {
                let text = value(joined)?;
                let assignment = assignment(&text);
                let shown = || Fault::Wrong(format!("improper assignment: -v {}", String::from_utf8_lossy(&text)));
                assignments.push(assignment.ok_or_else(shown)?);
            }
            [_, b'f', joined @ ..] => {
                let name = value(joined)?;
                let text = read(&name)?;
                let whole = program.get_or_insert_with(Vec::new);
                whole.extend_from_slice(&text);
                whole.push(b'\n');
            }
            b"--version" | b"-V" | b"-W" => return unsupported(String::from_utf8_lossy(&word)),
            word => return wrong(format!("not an option: {}", String::from_utf8_lossy(word))),
        }
    }
    let program = match program {
        Some(program) => program,
        None => {
            words.next().ok_or_else(|| Fault::Wrong("usage: awk [-F value] [-v var=value] program [file]".into()))?
        }
    };
    Ok(Request { program, separator, assignments, operands: words.collect() })
}

fn read(name: &[u8]) -> Result<Vec<u8>, Fault> {
    let read = if name == b"-" {
        let mut text = Vec::new();
        std::io::Read::read_to_end(&mut std::io::stdin().lock(), &mut text).map(|_| text)
    } else {
        std::fs::read(path(name))
    };
    read.map_err(|error| Fault::Wrong(format!("cannot open {} ({})", String::from_utf8_lossy(name), reason(&error))))
}

/// A word that assigns: `name=value`.
pub(crate) fn assignment(word: &[u8]) -> Option<(String, Vec<u8>)> {
    let at = word.iter().position(|byte| *byte == b'=')?;
    let (name, value) = (&word[..at], &word[at + 1..]);
    let begins = name.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    let rest = name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    (begins && rest).then(|| (String::from_utf8_lossy(name).into_owned(), value.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assignments_are_told_from_files() {
        for (word, is_one) in [("a=b", true), ("_a1==", true), ("1=b", false), ("./a=b", false), ("=", false)] {
            assert_eq!(assignment(word.as_bytes()).is_some(), is_one, "{word}");
        }
    }

    #[test]
    fn options_end_at_the_program() {
        let words = |line: &str| line.split(' ').map(|word| word.as_bytes().to_vec()).collect();
        let request = parse(words("-F: -v x=1 -vy=2 {print} -f a=1")).expect("it is a command line");
        assert_eq!(request.separator.as_deref(), Some(b":".as_slice()));
        assert_eq!(request.assignments.len(), 2);
        assert_eq!((request.program.as_slice(), request.operands.len()), (b"{print}".as_slice(), 2));
        assert!(matches!(parse(words("-z x")), Err(Fault::Wrong(_))));
    }
}
