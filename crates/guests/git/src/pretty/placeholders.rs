//! Placeholders of `--format`.

use super::{Extra, Printer, message};
use crate::commit::Commit;
use crate::date::{self, Mode, Style};
use crate::failure::{Outcome, unsupported};
use crate::person::Signature;
use crate::width;
use bstr::ByteSlice as _;

/// Where text is put in a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Align {
    Left,
    Right,
    Both,
}

/// What is cut from text that is too wide.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Cut {
    Nothing,
    Right,
    Left,
    Middle,
}

/// `%<(20,trunc)`, for the placeholder behind it.
#[derive(Clone, Copy, Debug)]
struct Column {
    align: Align,
    width: usize,
    cut: Cut,
    /// The width is the column at which the text ends.
    absolute: bool,
}

/// Writes the format with everything put in.
pub(crate) fn expand(printer: &Printer<'_>, format: &str, commit: &Commit, extra: &Extra) -> Outcome<Vec<u8>> {
    let mut out: Vec<u8> = Vec::new();
    let mut rest = format;
    let mut column: Option<Column> = None;
    while let Some(at) = rest.find('%') {
        out.extend_from_slice(rest[..at].as_bytes());
        rest = &rest[at + 1..];
        if let Some((found, length)) = column_of(rest) {
            column = Some(found);
            rest = &rest[length..];
            continue;
        }
        let (sign, name) = match rest.chars().next() {
            Some(sign @ ('+' | '-' | ' ')) => (Some(sign), &rest[1..]),
            _ => (None, rest),
        };
        let Some((value, length)) = one(printer, name, commit, extra)? else {
            out.push(b'%');
            continue;
        };
        rest = &name[length..];
        match sign {
            Some('+') if !value.is_empty() => out.push(b'\n'),
            Some(' ') if !value.is_empty() => out.push(b' '),
            Some('-') if value.is_empty() => {
                let end = out.trim_end_with(|c| c == '\n').len();
                out.truncate(end);
            }
            _ => {}
        }
        match column.take() {
            Some(column) => out.extend_from_slice(&padded(&value, column, &out)),
            None => out.extend_from_slice(&value),
        }
    }
    out.extend_from_slice(rest.as_bytes());
    Ok(out)
}

fn column_of(text: &str) -> Option<(Column, usize)> {
    let (align, rest) = if let Some(rest) = text.strip_prefix("><") {
        (Align::Both, rest)
    } else if let Some(rest) = text.strip_prefix('<') {
        (Align::Left, rest)
    } else {
        // `%>>` may take spaces from the left, which only matters for text that is wider than its column.
        (Align::Right, text.strip_prefix('>').map(|rest| rest.strip_prefix('>').unwrap_or(rest))?)
    };
    let (absolute, rest) = rest.strip_prefix('|').map_or((false, rest), |rest| (true, rest));
    let inner = rest.strip_prefix('(')?;
    let end = inner.find(')')?;
    let mut parts = inner[..end].split(',').map(str::trim);
    let width = parts.next()?.parse().ok()?;
    let cut = match parts.next() {
        None => Cut::Nothing,
        Some("trunc") => Cut::Right,
        Some("ltrunc") => Cut::Left,
        Some("mtrunc") => Cut::Middle,
        Some(_) => return None,
    };
    Some((Column { align, width, cut, absolute }, text.len() - inner.len() + end + 1))
}

fn padded(value: &[u8], column: Column, before: &[u8]) -> Vec<u8> {
    let line = before.rfind_byte(b'\n').map_or(before, |at| &before[at + 1..]);
    let wanted = if column.absolute { column.width.saturating_sub(width::of(line)) } else { column.width };
    let taken = width::of(value);
    if taken > wanted {
        let text = value.to_str_lossy();
        let characters: Vec<char> = text.chars().collect();
        let room = wanted.saturating_sub(2);
        let (front, back) = match column.cut {
            Cut::Nothing => return value.to_vec(),
            Cut::Right => (room, 0),
            Cut::Left => (0, room),
            Cut::Middle => (room / 2, room - room / 2),
        };
        let start: String = characters.iter().take(front).collect();
        let end: String = characters.iter().skip(characters.len().saturating_sub(back)).collect();
        return format!("{start}..{end}").into_bytes();
    }
    let spare = wanted - taken;
    let left = match column.align {
        Align::Left => 0,
        Align::Right => spare,
        Align::Both => spare / 2,
    };
    [vec![b' '; left], value.to_vec(), vec![b' '; spare - left]].concat()
}

fn hex(text: &str) -> Option<u8> {
    text.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok())
}

/// The value of the placeholder at the start and how long its name is; `None` when it is none.
fn one(printer: &Printer<'_>, text: &str, commit: &Commit, extra: &Extra) -> Outcome<Option<(Vec<u8>, usize)>> {
    let Some(first) = text.chars().next() else { return Ok(None) };
    let value = |value: Vec<u8>, length: usize| Ok(Some((value, length)));
    let joined = |ids: Vec<String>| ids.join(" ").into_bytes();
    match first {
        'n' => value(b"\n".to_vec(), 1),
        '%' => value(b"%".to_vec(), 1),
        'x' => Ok(hex(&text[1..]).map(|byte| (vec![byte], 3))),
        'H' => value(commit.id.to_string().into_bytes(), 1),
        'h' => value(printer.short(&commit.id)?.into_bytes(), 1),
        'T' => value(commit.tree.to_string().into_bytes(), 1),
        't' => value(printer.short(&commit.tree)?.into_bytes(), 1),
        'P' => value(joined(commit.parents.iter().map(ToString::to_string).collect()), 1),
        'p' => value(joined(commit.parents.iter().map(|parent| printer.short(parent)).collect::<Outcome<_>>()?), 1),
        's' => value(message::subject(&commit.message), 1),
        'f' => value(message::sanitized(&commit.message), 1),
        'b' => value(message::body(&commit.message).to_vec(), 1),
        'B' => value(commit.message.to_vec(), 1),
        'e' => value(commit.encoding.as_ref().map(|encoding| encoding.to_vec()).unwrap_or_default(), 1),
        'm' => value(vec![u8::try_from(extra.mark.unwrap_or('>')).unwrap_or(b'>')], 1),
        'S' => value(extra.source.clone().into_bytes(), 1),
        'D' => value(printer.all_decorations()?.of(&commit.id).into_bytes(), 1),
        'd' => {
            let names = printer.all_decorations()?.of(&commit.id);
            value(if names.is_empty() { Vec::new() } else { format!(" ({names})").into_bytes() }, 1)
        }
        'a' => Ok(person(printer, &commit.author, &text[1..])?.map(|found| (found, 2))),
        'c' => Ok(person(printer, &commit.committer, &text[1..])?.map(|found| (found, 2))),
        'g' => Ok(reflog(printer, extra, &text[1..])?),
        'C' => Ok(colour(&text[1..]).map(|length| (Vec::new(), length + 1))),
        'G' => unsupported("the placeholder %G"),
        'N' => unsupported("the placeholder %N"),
        'w' if text.starts_with("w(") => unsupported("the placeholder %w"),
        '(' if text.starts_with("(trailers") => trailers(text, commit),
        '(' if text.starts_with("(decorate") || text.starts_with("(describe") => {
            unsupported(format_args!("the placeholder %{}", text.split([')', ':']).next().unwrap_or(text)))
        }
        _ => Ok(None),
    }
}

/// The length of a colour's name. Output is never coloured.
fn colour(text: &str) -> Option<usize> {
    if text.starts_with('(') {
        return text.find(')').map(|at| at + 1);
    }
    ["red", "green", "blue", "reset"].iter().find(|name| text.starts_with(**name)).map(|name| name.len())
}

fn person(printer: &Printer<'_>, who: &Signature, text: &str) -> Outcome<Option<Vec<u8>>> {
    let Some(letter) = text.chars().next() else { return Ok(None) };
    let local = |email: &[u8]| email.split(|byte| *byte == b'@').next().unwrap_or_default().to_vec();
    let time = |style: Style| date::format(who, &Mode::of(style)).into_bytes();
    Ok(Some(match letter {
        'n' => who.name.to_vec(),
        'e' => who.email.to_vec(),
        'l' => local(&who.email),
        'N' => printer.mapped(who).name.to_vec(),
        'E' => printer.mapped(who).email.to_vec(),
        'L' => local(&printer.mapped(who).email),
        'd' => date::format(who, &printer.date).into_bytes(),
        'D' => time(Style::Rfc),
        'r' => time(Style::Relative),
        't' => time(Style::Unix),
        'i' => time(Style::Iso),
        'I' => time(Style::IsoStrict),
        's' => time(Style::Short),
        'h' => return unsupported("human dates"),
        _ => return Ok(None),
    }))
}

fn reflog(printer: &Printer<'_>, extra: &Extra, text: &str) -> Outcome<Option<(Vec<u8>, usize)>> {
    let Some(letter) = text.chars().next() else { return Ok(None) };
    let entry = extra.reflog.as_ref();
    let field = |field: fn(&super::Reflog) -> Vec<u8>| entry.map(field).unwrap_or_default();
    Ok(Some((
        match letter {
            'd' => field(|entry| entry.selector.strip_prefix("refs/").unwrap_or(&entry.selector).as_bytes().to_vec()),
            'D' => field(|entry| entry.selector.as_bytes().to_vec()),
            's' => field(|entry| entry.message.to_vec()),
            'n' => field(|entry| entry.who.name.to_vec()),
            'e' => field(|entry| entry.who.email.to_vec()),
            'N' => entry.map(|entry| printer.mapped(&entry.who).name.to_vec()).unwrap_or_default(),
            'E' => entry.map(|entry| printer.mapped(&entry.who).email.to_vec()).unwrap_or_default(),
            _ => return Ok(None),
        },
        2,
    )))
}

/// `%(trailers)` and `%(trailers:key=…,valueonly,only,separator=…)`.
fn trailers(text: &str, commit: &Commit) -> Outcome<Option<(Vec<u8>, usize)>> {
    let Some(end) = text.find(')') else { return Ok(None) };
    let options = text[1..end].strip_prefix("trailers").and_then(|rest| rest.strip_prefix(':')).unwrap_or_default();
    let (mut keys, mut value_only, mut separator) = (Vec::new(), false, "\n".to_owned());
    let mut has_separator = false;
    for option in options.split(',').filter(|option| !option.is_empty()) {
        match option.split_once('=').unwrap_or((option, "")) {
            ("key", key) => keys.push(key.trim_end_matches(':').to_lowercase()),
            ("valueonly", "" | "true") => value_only = true,
            ("only", "" | "true") | ("unfold", "" | "true") => {}
            ("separator", written) => {
                separator = written.replace("%x2C", ",").replace("%x2c", ",").replace("%n", "\n").replace("%x00", "\0");
                has_separator = true;
            }
            _ => return unsupported(format_args!("%(trailers:{option})")),
        }
    }
    let mut found = Vec::new();
    for (key, value) in trailer_lines(&commit.message) {
        if keys.is_empty() || keys.contains(&key.to_lowercase()) {
            found.push(if value_only { value } else { format!("{key}: {value}") });
        }
    }
    let mut out = found.join(&separator);
    if !has_separator && !out.is_empty() {
        out.push('\n');
    }
    Ok(Some((out.into_bytes(), end + 1)))
}

/// The `Key: value` lines of the last paragraph.
fn trailer_lines(message: &[u8]) -> Vec<(String, String)> {
    let body = message::body(message).to_str_lossy();
    let Some(last) = body.trim_end().split("\n\n").last() else { return Vec::new() };
    let mut found: Vec<(String, String)> = Vec::new();
    for line in last.lines() {
        if line.starts_with([' ', '\t'])
            && let Some((_, value)) = found.last_mut()
        {
            value.push(' ');
            value.push_str(line.trim());
            continue;
        }
        match line.split_once(':') {
            Some((key, value)) if !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') => {
                found.push((key.to_owned(), value.trim().to_owned()));
            }
            // A paragraph with other lines is prose.
            _ => return Vec::new(),
        }
    }
    found
}
