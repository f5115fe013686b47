//! `stat` with a format, as GNU coreutils 9.1 answers. Without one it tells when a file was made and on what device it lies,
//! which a guest does not know, and is refused.

use crate::quote::quoted;
use guest_command::options::{self, Argument, Spec, Takes};
use guest_command::output::{Output, bytes, path, reason};
use guest_files::{Kind, Moment, Status, civil, group_name, user_name};

const OPTIONS: &[Spec] = &[
    Spec { short: Some(b'L'), long: "dereference", takes: Takes::Nothing },
    Spec { short: Some(b'c'), long: "format", takes: Takes::Value },
    Spec { short: None, long: "printf", takes: Takes::Value },
    Spec { short: Some(b'f'), long: "file-system", takes: Takes::Nothing },
    Spec { short: Some(b't'), long: "terse", takes: Takes::Nothing },
    Spec { short: None, long: "cached", takes: Takes::Value },
];

/// Characters that one directive is padded to at most.
const MAX_WIDTH: usize = 4096;

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
    let wrong = |message: String| (format!("stat: {message}\nTry 'stat --help' for more information."), 1);
    let unsupported = |what: &str| (format!("skillgate: stat: {what} is not supported"), 2);
    let (mut follow, mut format, mut escapes, mut operands) = (false, None, false, Vec::new());
    for argument in options::read(arguments, OPTIONS, false).map_err(wrong)? {
        match argument {
            Argument::Operand(operand) => operands.push(operand),
            Argument::Digit(_) => {}
            Argument::Option("dereference", _) => follow = true,
            Argument::Option("format", value) => (format, escapes) = (value, false),
            Argument::Option("printf", value) => (format, escapes) = (value, true),
            Argument::Option(name, _) => return Err(unsupported(&format!("--{name}"))),
        }
    }
    let Some(format) = format else {
        return Err(unsupported("the default format; give one with -c, which"));
    };
    if operands.is_empty() {
        return Err(wrong("missing operand".to_owned()));
    }
    let mut output = Output::new();
    let mut status = 0;
    for operand in &operands {
        match guest_files::status(&path(operand), follow) {
            Ok(found) => {
                let mut text = formatted(&format, escapes, operand, &found).map_err(|what| unsupported(&what))?;
                if !escapes {
                    text.push(b'\n');
                }
                output.put(&text);
            }
            Err(error) => {
                output.flush();
                eprintln!("stat: cannot statx {}: {}", quoted(operand), reason(&error));
                status = 1;
            }
        }
    }
    output.flush();
    Ok(status)
}

/// What the format makes of a file.
fn formatted(format: &[u8], escapes: bool, name: &[u8], status: &Status) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(byte) = format.get(at).copied() {
        at += 1;
        match byte {
            b'%' => {
                let start = at;
                let (mut left, mut zero, mut width) = (false, false, 0);
                while let Some(flag) = format.get(at).filter(|byte| matches!(byte, b'-' | b'0')) {
                    left |= *flag == b'-';
                    zero |= *flag == b'0';
                    at += 1;
                }
                while let Some(digit) = format.get(at).filter(|byte| byte.is_ascii_digit()) {
                    width = (width * 10 + usize::from(digit - b'0')).min(MAX_WIDTH);
                    at += 1;
                }
                let letter = format.get(at).copied();
                at += 1;
                let Some(letter) = letter else {
                    out.push(b'%');
                    break;
                };
                let value = directive(letter, name, status).ok_or_else(|| {
                    let end = at.min(format.len());
                    format!("%{}", String::from_utf8_lossy(&format[start..end]))
                })?;
                let missing = width.saturating_sub(value.len());
                let fill = if zero && !left && !letter.is_ascii_uppercase() { b'0' } else { b' ' };
                if left {
                    out.extend_from_slice(&value);
                    out.extend(std::iter::repeat_n(b' ', missing));
                } else {
                    out.extend(std::iter::repeat_n(fill, missing));
                    out.extend_from_slice(&value);
                }
            }
            b'\\' if escapes => {
                let letter = format.get(at).copied();
                at += 1;
                out.push(match letter {
                    Some(b'n') => b'\n',
                    Some(b't') => b'\t',
                    Some(b'\\') => b'\\',
                    Some(b'"') => b'"',
                    Some(b'0') => 0,
                    other => return Err(format!("\\{} in --printf", other.map_or(' ', char::from))),
                });
            }
            byte => out.push(byte),
        }
    }
    Ok(out)
}

fn directive(letter: u8, name: &[u8], status: &Status) -> Option<Vec<u8>> {
    let text = match letter {
        b'%' => "%".to_owned(),
        b'a' => format!("{:o}", status.mode & 0o7777),
        b'A' => status.mode_text(),
        b'b' => status.blocks.to_string(),
        b'B' => "512".to_owned(),
        b'd' => status.device.to_string(),
        b'D' => format!("{:x}", status.device),
        b'f' => format!("{:x}", status.mode),
        b'F' => match status.kind() {
            Kind::File if status.size == 0 => "regular empty file",
            Kind::File => "regular file",
            Kind::Directory => "directory",
            Kind::Link => "symbolic link",
            Kind::Fifo => "fifo",
            Kind::Socket => "socket",
            Kind::CharacterDevice => "character special file",
            Kind::BlockDevice => "block special file",
        }
        .to_owned(),
        b'g' => status.group.to_string(),
        b'G' => group_name(status.group).unwrap_or("UNKNOWN").to_owned(),
        b'h' => status.links.to_string(),
        b'i' => status.inode.to_string(),
        b'n' => return Some(name.to_vec()),
        b'N' => {
            let own = quoted(name);
            if status.kind() == Kind::Link {
                let target = std::fs::read_link(path(name)).ok()?;
                format!("{own} -> {}", quoted(bytes(&target)))
            } else {
                own
            }
        }
        b's' => status.size.to_string(),
        b'u' => status.owner.to_string(),
        b'U' => user_name(status.owner).unwrap_or("UNKNOWN").to_owned(),
        b'x' => date(status.accessed),
        b'X' => status.accessed.0.to_string(),
        b'y' => date(status.modified),
        b'Y' => status.modified.0.to_string(),
        b'z' => date(status.changed),
        b'Z' => status.changed.0.to_string(),
        _ => return None,
    };
    Some(text.into_bytes())
}

fn date(moment: Moment) -> String {
    civil::formatted("%F %T.%N %z", moment).unwrap_or_default()
}
