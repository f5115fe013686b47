//! `rev`, as util-linux 2.38 answers: the characters of each line in the other order.

use crate::options::{self, Argument, Spec};
use crate::output::{Output, path, reason};
use std::io::{BufRead, BufReader, Read};

const OPTIONS: &[Spec] = &[];

pub(crate) fn main(_: &str, arguments: Vec<Vec<u8>>) -> i32 {
    let arguments = match options::read(arguments, OPTIONS, false) {
        Ok(arguments) => arguments,
        Err(message) => {
            eprintln!("rev: {message}\nTry 'rev --help' for more information.");
            return 1;
        }
    };
    let mut names: Vec<Vec<u8>> = Vec::new();
    for argument in arguments {
        if let Argument::Operand(name) = argument {
            names.push(name);
        }
    }
    let mut output = Output::new();
    let mut status = 0;
    if names.is_empty() {
        reverse(std::io::stdin().lock(), &mut output);
    }
    for name in names {
        match std::fs::File::open(path(&name)) {
            Ok(file) => reverse(file, &mut output),
            Err(error) => {
                output.flush();
                eprintln!("rev: cannot open {}: {}", String::from_utf8_lossy(&name), reason(&error));
                status = 1;
            }
        }
    }
    output.flush();
    status
}

fn reverse(input: impl Read, output: &mut Output) {
    let mut input = BufReader::new(input);
    let mut line = Vec::new();
    // What cannot be read ends the input.
    while input.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
        let ends = line.last() == Some(&b'\n');
        output.put(&reversed(line.strip_suffix(b"\n").unwrap_or(&line)));
        if ends {
            output.put(b"\n");
        }
        line.clear();
    }
}

fn reversed(line: &[u8]) -> Vec<u8> {
    String::from_utf8_lossy(line).chars().rev().collect::<String>().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::reversed;

    #[test]
    fn characters_stay_whole() {
        assert_eq!(reversed("déf".as_bytes()), "féd".as_bytes());
    }
}
