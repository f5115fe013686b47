//! Options as `getopt_long` reads them: clusters of short ones, abbreviated long ones, operands in between, `--`.

use std::collections::VecDeque;

/// Whether an option takes a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Takes {
    /// It takes none.
    Nothing,
    /// Joined, or the next word.
    Value,
    /// Only joined with `=`, and only long.
    MaybeValue,
    /// Only joined: with `=` to the long name, or directly to the short one.
    MaybeJoined,
}

/// One option of a command.
#[derive(Debug)]
pub struct Spec {
    /// Its letter.
    pub short: Option<u8>,
    /// Its name without the dashes.
    pub long: &'static str,
    /// Its value.
    pub takes: Takes,
}

/// An argument that was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Argument {
    /// An option by its long name, with its value.
    Option(&'static str, Option<Vec<u8>>),
    /// A digit of `-NUM`.
    Digit(u8),
    /// Any other word.
    Operand(Vec<u8>),
}

/// Reads arguments by a table; digits are taken as [`Argument::Digit`] when `digits` is set.
///
/// # Errors
/// What is wrong, in the words of `getopt_long`.
pub fn read(arguments: Vec<Vec<u8>>, table: &'static [Spec], digits: bool) -> Result<Vec<Argument>, String> {
    let mut queue: VecDeque<Vec<u8>> = arguments.into();
    let mut read = Vec::new();
    while let Some(argument) = queue.pop_front() {
        if argument == b"--" {
            read.extend(queue.drain(..).map(Argument::Operand));
        } else if let Some(long) = argument.strip_prefix(b"--") {
            read.push(long_option(long, &mut queue, table)?);
        } else if argument.len() > 1 && argument[0] == b'-' {
            cluster(&argument[1..], &mut queue, table, digits, &mut read)?;
        } else {
            read.push(Argument::Operand(argument));
        }
    }
    Ok(read)
}

fn long_option(text: &[u8], queue: &mut VecDeque<Vec<u8>>, table: &'static [Spec]) -> Result<Argument, String> {
    let (name, joined) = match text.iter().position(|byte| *byte == b'=') {
        Some(at) => (&text[..at], Some(text[at + 1..].to_vec())),
        None => (text, None),
    };
    let shown = String::from_utf8_lossy(name).into_owned();
    let exact = table.iter().find(|spec| spec.long.as_bytes() == name);
    let near: Vec<&Spec> = table.iter().filter(|spec| spec.long.as_bytes().starts_with(name)).collect();
    let spec = match (exact, near.as_slice()) {
        (Some(spec), _) => spec,
        (None, [spec]) => spec,
        (None, []) => return Err(format!("unrecognized option '--{shown}'")),
        (None, many) => {
            let names: String = many.iter().map(|spec| format!(" '--{}'", spec.long)).collect();
            return Err(format!("option '--{shown}' is ambiguous; possibilities:{names}"));
        }
    };
    let value = match (spec.takes, joined) {
        (Takes::Nothing, Some(_)) => return Err(format!("option '--{}' doesn't allow an argument", spec.long)),
        (Takes::Nothing, None) => None,
        (Takes::MaybeValue | Takes::MaybeJoined, joined) => joined,
        (Takes::Value, Some(joined)) => Some(joined),
        (Takes::Value, None) => {
            Some(queue.pop_front().ok_or_else(|| format!("option '--{}' requires an argument", spec.long))?)
        }
    };
    Ok(Argument::Option(spec.long, value))
}

fn cluster(
    letters: &[u8],
    queue: &mut VecDeque<Vec<u8>>,
    table: &'static [Spec],
    digits: bool,
    read: &mut Vec<Argument>,
) -> Result<(), String> {
    for (index, letter) in letters.iter().enumerate() {
        if digits && letter.is_ascii_digit() {
            read.push(Argument::Digit(*letter));
            continue;
        }
        let Some(spec) = table.iter().find(|spec| spec.short == Some(*letter)) else {
            return Err(format!("invalid option -- '{}'", char::from(*letter)));
        };
        let rest = &letters[index + 1..];
        if spec.takes == Takes::MaybeJoined {
            read.push(Argument::Option(spec.long, (!rest.is_empty()).then(|| rest.to_vec())));
            break;
        }
        if spec.takes != Takes::Value {
            read.push(Argument::Option(spec.long, None));
            continue;
        }
        let value = if rest.is_empty() { queue.pop_front() } else { Some(rest.to_vec()) };
        let value = value.ok_or_else(|| format!("option requires an argument -- '{}'", char::from(*letter)))?;
        read.push(Argument::Option(spec.long, Some(value)));
        break;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[Spec] = &[
        Spec { short: Some(b'a'), long: "all", takes: Takes::Nothing },
        Spec { short: Some(b'e'), long: "regexp", takes: Takes::Value },
        Spec { short: None, long: "color", takes: Takes::MaybeValue },
        Spec { short: None, long: "count", takes: Takes::Nothing },
        Spec { short: Some(b'i'), long: "in-place", takes: Takes::MaybeJoined },
    ];

    fn words(text: &str) -> Vec<Vec<u8>> {
        text.split(' ').map(|word| word.as_bytes().to_vec()).collect()
    }

    #[test]
    fn forms_of_options_are_read() {
        let option = |name, value: Option<&str>| Argument::Option(name, value.map(|text| text.as_bytes().to_vec()));
        let operand = |text: &str| Argument::Operand(text.as_bytes().to_vec());
        for (text, expected) in [
            ("-ae x y", vec![option("all", None), option("regexp", Some("x")), operand("y")]),
            ("-eax", vec![option("regexp", Some("ax"))]),
            ("--reg=x --al -", vec![option("regexp", Some("x")), option("all", None), operand("-")]),
            ("x -a -- -a", vec![operand("x"), option("all", None), operand("-a")]),
            ("--color --color=auto", vec![option("color", None), option("color", Some("auto"))]),
            ("-ai.b -i", vec![option("all", None), option("in-place", Some(".b")), option("in-place", None)]),
            ("-12a", vec![Argument::Digit(b'1'), Argument::Digit(b'2'), option("all", None)]),
        ] {
            assert_eq!(read(words(text), TABLE, true), Ok(expected), "{text}");
        }
    }

    #[test]
    fn wrong_options_are_named() {
        for (text, message) in [
            ("-z", "invalid option -- 'z'"),
            ("--zoo", "unrecognized option '--zoo'"),
            ("--co", "option '--co' is ambiguous; possibilities: '--color' '--count'"),
            ("-e", "option requires an argument -- 'e'"),
            ("--regexp", "option '--regexp' requires an argument"),
            ("--all=x", "option '--all' doesn't allow an argument"),
        ] {
            assert_eq!(read(words(text), TABLE, true), Err(message.to_owned()), "{text}");
        }
    }
}
