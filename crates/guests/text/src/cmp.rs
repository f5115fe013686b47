//! `cmp`, as GNU diffutils 3.8 answers.

use crate::options::{self, Argument, Spec, Takes};
use crate::output::{Output, path, reason};
use std::io::Read;

const OPTIONS: &[Spec] = &[
    Spec { short: Some(b's'), long: "quiet", takes: Takes::Nothing },
    Spec { short: None, long: "silent", takes: Takes::Nothing },
    Spec { short: Some(b'l'), long: "verbose", takes: Takes::Nothing },
    Spec { short: Some(b'b'), long: "print-bytes", takes: Takes::Nothing },
    Spec { short: Some(b'i'), long: "ignore-initial", takes: Takes::Value },
    Spec { short: Some(b'n'), long: "bytes", takes: Takes::Value },
];
const BLOCK: usize = 1 << 16;

pub(crate) fn main(_: &str, arguments: Vec<Vec<u8>>) -> i32 {
    match run(arguments) {
        Ok(same) => i32::from(!same),
        Err(message) => {
            eprintln!("{message}");
            2
        }
    }
}

fn run(arguments: Vec<Vec<u8>>) -> Result<bool, String> {
    let hint = |message: String| format!("cmp: {message}\ncmp: Try 'cmp --help' for more information.");
    let mut operands = Vec::new();
    let (mut quiet, mut verbose) = (false, false);
    for argument in options::read(arguments, OPTIONS, false).map_err(hint)? {
        match argument {
            Argument::Option("quiet" | "silent", _) => quiet = true,
            Argument::Option("verbose", _) => verbose = true,
            Argument::Option(name, _) => return Err(format!("skillgate: cmp: --{name} is not supported")),
            Argument::Digit(_) => {}
            Argument::Operand(operand) => operands.push(operand),
        }
    }
    if operands.len() == 1 {
        operands.push(b"-".to_vec());
    }
    let [left, right] = operands.as_slice() else {
        return Err(match operands.as_slice() {
            [] => hint("missing operand after 'cmp'".to_owned()),
            [_, _, more, ..] => hint(format!("extra operand '{}'", String::from_utf8_lossy(more))),
            [..] => hint("two files are compared".to_owned()),
        });
    };
    let open = |name: &[u8]| -> Result<Box<dyn Read>, String> {
        if name == b"-" {
            return Ok(Box::new(std::io::stdin().lock()));
        }
        let say = |error: &std::io::Error| format!("cmp: {}: {}", String::from_utf8_lossy(name), reason(error));
        std::fs::File::open(path(name)).map(|file| Box::new(file) as Box<dyn Read>).map_err(|error| say(&error))
    };
    let names = (left.as_slice(), right.as_slice());
    compare(names, open(left)?, open(right)?, quiet, verbose)
}

fn compare(
    (left_name, right_name): (&[u8], &[u8]),
    mut left: Box<dyn Read>,
    mut right: Box<dyn Read>,
    quiet: bool,
    verbose: bool,
) -> Result<bool, String> {
    let mut output = Output::new();
    let (mut one, mut other) = (vec![0; BLOCK], vec![0; BLOCK]);
    let (mut position, mut line, mut same) = (0_u64, 1_u64, true);
    loop {
        let read = |file: &mut dyn Read, buffer: &mut [u8], name: &[u8]| {
            fill(file, buffer).map_err(|error| format!("cmp: {}: {}", String::from_utf8_lossy(name), reason(&error)))
        };
        let (a, b) = (read(&mut left, &mut one, left_name)?, read(&mut right, &mut other, right_name)?);
        for (x, y) in one[..a].iter().zip(&other[..b]) {
            position += 1;
            if x != y {
                same = false;
                if quiet {
                    return Ok(false);
                }
                if !verbose {
                    let (left, right) = (String::from_utf8_lossy(left_name), String::from_utf8_lossy(right_name));
                    output.put(format!("{left} {right} differ: byte {position}, line {line}\n").as_bytes());
                    output.flush();
                    return Ok(false);
                }
                output.put(format!("{position} {x:3o} {y:3o}\n").as_bytes());
            }
            line += u64::from(*x == b'\n');
        }
        if a != b {
            output.flush();
            if !quiet {
                let (short, last) = if a < b { (left_name, &one[..a]) } else { (right_name, &other[..b]) };
                let short = String::from_utf8_lossy(short);
                match (position, verbose) {
                    (0, _) => eprintln!("cmp: EOF on {short} which is empty"),
                    (position, true) => eprintln!("cmp: EOF on {short} after byte {position}"),
                    (position, false) if last.last() == Some(&b'\n') => {
                        eprintln!("cmp: EOF on {short} after byte {position}, line {}", line - 1);
                    }
                    (position, false) => eprintln!("cmp: EOF on {short} after byte {position}, in line {line}"),
                }
            }
            return Ok(false);
        }
        if a == 0 {
            output.flush();
            return Ok(same);
        }
    }
}

fn fill(file: &mut dyn Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read(&mut buffer[filled..])? {
            0 => break,
            read => filled += read,
        }
    }
    Ok(filled)
}
