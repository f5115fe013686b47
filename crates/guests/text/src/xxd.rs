//! `xxd`, as the version of 2022-01-14 answers: bytes in hexadecimal, and back from a plain dump.

use crate::output::{Output, path, reason};
use std::io::Read;

/// Bytes on a line of a dump, of a plain one, and of one in bits.
const COLUMNS: usize = 16;
const PLAIN_COLUMNS: usize = 30;
const BIT_COLUMNS: usize = 6;
const MAX_COLUMNS: usize = 256;

#[derive(Debug, Default)]
struct Request {
    plain: bool,
    bits: bool,
    reverse: bool,
    upper: bool,
    columns: Option<usize>,
    group: Option<usize>,
    length: Option<usize>,
    skip: usize,
    file: Option<Vec<u8>>,
}

pub(crate) fn main(_: &str, arguments: Vec<Vec<u8>>) -> i32 {
    match run(arguments) {
        Ok(()) => 0,
        Err((message, status)) => {
            eprintln!("{message}");
            status
        }
    }
}

fn unsupported(what: &str) -> (String, i32) {
    (format!("skillgate: xxd: {what} is not supported"), 2)
}

fn run(arguments: Vec<Vec<u8>>) -> Result<(), (String, i32)> {
    let request = parse(arguments)?;
    let mut input: Box<dyn Read> = match &request.file {
        Some(name) => match std::fs::File::open(path(name)) {
            Ok(file) => Box::new(file),
            Err(error) => {
                return Err((format!("xxd: {}: {}", String::from_utf8_lossy(name), reason(&error)), 2));
            }
        },
        None => Box::new(std::io::stdin().lock()),
    };
    let mut bytes = Vec::new();
    let most = request.length.map_or(u64::MAX, |length| (length + request.skip) as u64);
    input.by_ref().take(most).read_to_end(&mut bytes).map_err(|error| (format!("xxd: {}", reason(&error)), 2))?;
    let mut output = Output::new();
    if request.reverse {
        output.put(&back(&bytes));
    } else {
        let bytes = bytes.get(request.skip..).unwrap_or_default();
        dump(bytes, &request, &mut output);
    }
    output.flush();
    Ok(())
}

fn parse(arguments: Vec<Vec<u8>>) -> Result<Request, (String, i32)> {
    let mut request = Request::default();
    let mut words = arguments.into_iter();
    let mut names = Vec::new();
    while let Some(word) = words.next() {
        let text = String::from_utf8_lossy(&word).into_owned();
        let mut number = |joined: &str| -> Result<usize, (String, i32)> {
            let value = match joined {
                "" => words.next().map(|word| String::from_utf8_lossy(&word).into_owned()).unwrap_or_default(),
                joined => joined.to_owned(),
            };
            let parsed = match value.strip_prefix("0x") {
                Some(digits) => usize::from_str_radix(digits, 16).ok(),
                None => value.parse().ok(),
            };
            parsed.ok_or_else(|| unsupported(&format!("{text} ‘{value}’")))
        };
        match text.as_str() {
            "-p" | "-ps" | "-plain" | "-postscript" => request.plain = true,
            "-b" | "-bits" => request.bits = true,
            "-r" | "-revert" => request.reverse = true,
            "-u" | "-upper" => request.upper = true,
            option if option.starts_with("-c") => request.columns = Some(number(&option[2..])?),
            option if option.starts_with("-g") => request.group = Some(number(&option[2..])?),
            option if option.starts_with("-l") => request.length = Some(number(&option[2..])?),
            option if option.starts_with("-s") => request.skip = number(&option[2..])?,
            option if option.starts_with('-') && option.len() > 1 => return Err(unsupported(option)),
            _ => names.push(word),
        }
    }
    if names.len() > 1 {
        return Err(unsupported("an output file"));
    }
    request.file = names.pop().filter(|name| name != b"-");
    let columns = request.columns.is_some_and(|columns| columns == 0 || columns > MAX_COLUMNS);
    if columns {
        return Err((format!("xxd: invalid number of columns (max. {MAX_COLUMNS})."), 1));
    }
    if request.reverse && !request.plain {
        return Err(unsupported("-r without -p"));
    }
    Ok(request)
}

fn dump(bytes: &[u8], request: &Request, output: &mut Output) {
    let digits = |byte: &u8| if request.upper { format!("{byte:02X}") } else { format!("{byte:02x}") };
    if request.plain {
        for line in bytes.chunks(request.columns.unwrap_or(PLAIN_COLUMNS)) {
            output.put(line.iter().map(digits).collect::<String>().as_bytes());
            output.put(b"\n");
        }
        return;
    }
    let (columns, group, cell) = if request.bits {
        (request.columns.unwrap_or(BIT_COLUMNS), request.group.unwrap_or(1), 8)
    } else {
        (request.columns.unwrap_or(COLUMNS), request.group.unwrap_or(2), 2)
    };
    let group = if group == 0 || group > columns { columns } else { group };
    let room = columns * cell + columns.div_ceil(group) - 1;
    for (line, chunk) in bytes.chunks(columns).enumerate() {
        let mut shown = String::new();
        for (index, byte) in chunk.iter().enumerate() {
            if index > 0 && index % group == 0 {
                shown.push(' ');
            }
            shown.push_str(&if request.bits { format!("{byte:08b}") } else { digits(byte) });
        }
        let text: String =
            chunk.iter().map(|byte| if matches!(byte, 32..=126) { char::from(*byte) } else { '.' }).collect();
        let address = request.skip + line * columns;
        output.put(format!("{address:08x}: {shown:<room$}  {text}\n").as_bytes());
    }
}

/// The bytes of a plain dump; what is no digit is passed over.
fn back(text: &[u8]) -> Vec<u8> {
    let digits: Vec<u8> =
        text.iter().filter_map(|byte| char::from(*byte).to_digit(16)).map(|digit| digit.to_le_bytes()[0]).collect();
    digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

#[cfg(test)]
mod tests {
    use super::back;

    #[test]
    fn a_plain_dump_is_read_back() {
        assert_eq!(back(b"6869\n0a"), b"hi\n");
    }
}
