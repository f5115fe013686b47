//! `column`, as util-linux 2.38 answers without a terminal: entries in columns, or a table.

use crate::options::{self, Argument, Spec, Takes};
use crate::output::{Output, path, reason};
use std::io::Read as _;

const OPTIONS: &[Spec] = &[
    Spec { short: Some(b't'), long: "table", takes: Takes::Nothing },
    Spec { short: Some(b's'), long: "separator", takes: Takes::Value },
    Spec { short: Some(b'o'), long: "output-separator", takes: Takes::Value },
    Spec { short: Some(b'c'), long: "output-width", takes: Takes::Value },
    Spec { short: Some(b'x'), long: "fillrows", takes: Takes::Nothing },
    Spec { short: Some(b'L'), long: "keep-empty-lines", takes: Takes::Nothing },
    Spec { short: Some(b'N'), long: "table-columns", takes: Takes::Value },
    Spec { short: Some(b'R'), long: "table-right", takes: Takes::Value },
    Spec { short: Some(b'H'), long: "table-hide", takes: Takes::Value },
    Spec { short: Some(b'J'), long: "json", takes: Takes::Nothing },
];

const WIDTH: usize = 80;
const TAB: usize = 8;

#[derive(Debug)]
struct Request {
    table: bool,
    separators: Option<String>,
    joint: String,
    width: usize,
    by_rows: bool,
}

pub(crate) fn main(_: &str, arguments: Vec<Vec<u8>>) -> i32 {
    match run(arguments) {
        Ok(status) => status,
        Err((message, status)) => {
            eprintln!("{message}");
            status
        }
    }
}

fn run(arguments: Vec<Vec<u8>>) -> Result<i32, (String, i32)> {
    let wrong = |message: String| (format!("column: {message}\nTry 'column --help' for more information."), 1);
    let mut request = Request { table: false, separators: None, joint: "  ".to_owned(), width: WIDTH, by_rows: false };
    let mut names = Vec::new();
    for argument in options::read(arguments, OPTIONS, false).map_err(wrong)? {
        let text = |value: Vec<u8>| String::from_utf8_lossy(&value).into_owned();
        match argument {
            Argument::Operand(name) => names.push(name),
            Argument::Digit(_) => {}
            Argument::Option("table", _) => request.table = true,
            Argument::Option("fillrows", _) => request.by_rows = true,
            Argument::Option("separator", Some(value)) => request.separators = Some(text(value)),
            Argument::Option("output-separator", Some(value)) => request.joint = text(value),
            Argument::Option("output-width", Some(value)) => {
                let text = text(value);
                let width = text.parse().map_err(|_| (format!("column: invalid columns argument: '{text}'"), 1))?;
                request.width = width;
            }
            Argument::Option(name, _) => return Err((format!("skillgate: column: --{name} is not supported"), 2)),
        }
    }
    let (mut bytes, mut status) = (Vec::new(), 0);
    if names.is_empty() {
        let read = std::io::stdin().lock().read_to_end(&mut bytes);
        read.map_err(|error| (format!("column: read failed: {}", reason(&error)), 1))?;
    }
    for name in names {
        if let Err(error) = std::fs::File::open(path(&name)).and_then(|mut file| file.read_to_end(&mut bytes)) {
            eprintln!("column: {}: {}", String::from_utf8_lossy(&name), reason(&error));
            status = 1;
        }
    }
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().filter(|line| line.contains(|c: char| !c.is_ascii_whitespace())).collect();
    let mut output = Output::new();
    output.put(if request.table { table(&lines, &request) } else { filled(&lines, &request) }.as_bytes());
    output.flush();
    Ok(status)
}

/// Columns that a text takes.
fn width(text: &str) -> usize {
    text.chars()
        .map(|c| usize::from(!c.is_control()) + usize::from(('\u{1100}'..='\u{ffdc}').contains(&c) && wide(c)))
        .sum()
}

fn wide(c: char) -> bool {
    matches!(u32::from(c), 0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff | 0xfe30..=0xfe6f | 0xff00..=0xff60)
}

fn table(lines: &[&str], request: &Request) -> String {
    let rows: Vec<Vec<&str>> = lines
        .iter()
        .map(|line| match &request.separators {
            None => line.split([' ', '\t']).filter(|cell| !cell.is_empty()).collect(),
            Some(separators) => line.split(|c| separators.contains(c)).collect(),
        })
        .collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| width(cell)).max();
    let widths: Vec<usize> = (0..columns).map(|column| widest(column).unwrap_or(0)).collect();
    let mut out = String::new();
    for row in &rows {
        for (column, widest) in widths.iter().enumerate() {
            let cell = row.get(column).copied().unwrap_or_default();
            out.push_str(cell);
            if column + 1 < columns {
                out.push_str(&" ".repeat(widest - width(cell)));
                out.push_str(&request.joint);
            }
        }
        out.push('\n');
    }
    out
}

/// Entries in as many columns as fit, apart by tabs.
fn filled(lines: &[&str], request: &Request) -> String {
    let longest = lines.iter().map(|line| width(line)).max().unwrap_or(0);
    let room = (longest + TAB) / TAB * TAB;
    let mut out = String::new();
    if longest >= request.width {
        lines.iter().for_each(|line| {
            out.push_str(line);
            out.push('\n');
        });
        return out;
    }
    let columns = (request.width / room).max(1);
    let rows = lines.len().div_ceil(columns);
    for row in 0..rows {
        let (mut at, mut end) = (0, room);
        for column in 0..columns {
            let index = if request.by_rows { row * columns + column } else { column * rows + row };
            let Some(entry) = lines.get(index) else { break };
            out.push_str(entry);
            at += width(entry);
            let next = if request.by_rows { index + 1 } else { index + rows };
            if column + 1 == columns || next >= lines.len() {
                break;
            }
            while (at + TAB) / TAB * TAB <= end {
                out.push('\t');
                at = (at + TAB) / TAB * TAB;
            }
            end += room;
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_padded_to_their_columns() {
        let request = |separators: Option<&str>| Request {
            table: true,
            separators: separators.map(str::to_owned),
            joint: "  ".to_owned(),
            width: WIDTH,
            by_rows: false,
        };
        assert_eq!(table(&["a b c", "d", "long x"], &request(None)), "a     b  c\nd        \nlong  x  \n");
        assert_eq!(table(&["a:b::c", "ddd:e"], &request(Some(":"))), "a    b    c\nddd  e    \n");
        assert_eq!(filled(&["1", "2", "3"], &request(None)), "1\t2\t3\n");
    }
}
