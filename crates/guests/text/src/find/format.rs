//! `-printf`.

use super::expression::{Visit, base_name};
use super::time::Stamp;
use crate::output::Output;
use guest_files::{Kind, Moment, civil, group_name, user_name};

/// A format, read once.
#[derive(Debug)]
pub(super) struct Format {
    pieces: Vec<Piece>,
}

#[derive(Debug)]
enum Piece {
    Text(Vec<u8>),
    /// A directive with its flags and width, such as `-10`.
    Directive {
        letter: u8,
        left: bool,
        zero: bool,
        width: usize,
        precision: Option<usize>,
    },
    /// `%Tk` and its like: a time of the file in a format of dates.
    Time(Stamp, u8),
    /// `\c`: nothing is printed after it.
    Stop,
}

/// Directives whose value can be told here.
const DIRECTIVES: &[u8] = b"pfhPHdsylmMuUgGinbkacDtY";
/// What `%T` may be followed by.
const DATES: &[u8] = b"@+YmdHMSTFDRbBhaAjyeIklpsuwCZ";
/// Characters that one directive is padded to at most.
const MAX_WIDTH: usize = 4096;

impl Format {
    /// Reads a format.
    ///
    /// # Errors
    /// The directive that is not supported.
    pub(super) fn parse(text: &[u8]) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut literal = Vec::new();
        let mut at = 0;
        while let Some(byte) = text.get(at) {
            at += 1;
            match byte {
                b'\\' => match escape(text, &mut at) {
                    Some(byte) => literal.push(byte),
                    None if text.get(at - 1) == Some(&b'c') => {
                        pieces.push(Piece::Text(std::mem::take(&mut literal)));
                        pieces.push(Piece::Stop);
                    }
                    None => {
                        literal.push(b'\\');
                        literal.extend(text.get(at - 1));
                    }
                },
                b'%' => {
                    if text.get(at) == Some(&b'%') {
                        literal.push(b'%');
                        at += 1;
                        continue;
                    }
                    pieces.push(Piece::Text(std::mem::take(&mut literal)));
                    pieces.push(directive(text, &mut at)?);
                }
                byte => literal.push(*byte),
            }
        }
        pieces.push(Piece::Text(literal));
        Ok(Self { pieces })
    }

    pub(super) fn print(&self, visit: &Visit<'_>, output: &mut Output) {
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => output.put(text),
                Piece::Stop => break,
                Piece::Time(stamp, letter) => {
                    if let Some(status) = visit.status() {
                        output.put(date(stamp.of(&status), *letter).as_bytes());
                    }
                }
                Piece::Directive { letter, left, zero, width, precision } => {
                    let mut value = value(*letter, visit);
                    if let Some(precision) = precision.filter(|_| !is_number(*letter)) {
                        value.truncate(precision);
                    }
                    let missing = width.saturating_sub(value.len());
                    let fill = if *zero && !left && is_number(*letter) { b'0' } else { b' ' };
                    let padding = vec![fill; missing];
                    if *left {
                        output.put(&value);
                        output.put(&padding);
                    } else {
                        output.put(&padding);
                        output.put(&value);
                    }
                }
            }
        }
    }
}

fn value(letter: u8, visit: &Visit<'_>) -> Vec<u8> {
    let below_root = || {
        let rest = visit.path.strip_prefix(visit.root).unwrap_or_default();
        rest.strip_prefix(b"/").unwrap_or(rest).to_vec()
    };
    match letter {
        b'p' => visit.path.to_vec(),
        b'f' => base_name(visit.path).to_vec(),
        b'h' => {
            let name = base_name(visit.path);
            let end = visit.path.len().saturating_sub(name.len());
            match visit.path[..end].strip_suffix(b"/") {
                Some([]) => b"/".to_vec(),
                Some(directory) => directory.to_vec(),
                None => b".".to_vec(),
            }
        }
        b'P' => below_root(),
        b'H' => visit.root.to_vec(),
        b'd' => visit.depth.to_string().into_bytes(),
        b'l' => visit.file.link_target().unwrap_or_default(),
        b'y' => letter_of(visit.kind),
        b'Y' if visit.kind != Some(Kind::Link) => letter_of(visit.kind),
        // A link to nothing.
        b'Y' => match visit.file.other_kind() {
            Some(Kind::Link) => b"N".to_vec(),
            kind => letter_of(kind),
        },
        letter => {
            let Some(status) = visit.status() else { return Vec::new() };
            let named = |id: u32, name: Option<&str>| name.map_or_else(|| id.to_string(), str::to_owned);
            let text = match letter {
                b's' => status.size.to_string(),
                b'm' => format!("{:o}", status.mode & 0o7777),
                b'M' => status.mode_text(),
                b'u' => named(status.owner, user_name(status.owner)),
                b'U' => status.owner.to_string(),
                b'g' => named(status.group, group_name(status.group)),
                b'G' => status.group.to_string(),
                b'i' => status.inode.to_string(),
                b'n' => status.links.to_string(),
                b'b' => status.blocks.to_string(),
                b'k' => status.blocks.div_ceil(2).to_string(),
                b'D' => status.device.to_string(),
                b'a' => written_out(status.accessed),
                b'c' => written_out(status.changed),
                _ => written_out(status.modified),
            };
            text.into_bytes()
        }
    }
}

fn is_number(letter: u8) -> bool {
    matches!(letter, b'd' | b'm')
}

fn letter_of(kind: Option<Kind>) -> Vec<u8> {
    let letter = match kind {
        Some(Kind::File) => b'f',
        Some(Kind::Directory) => b'd',
        Some(Kind::Link) => b'l',
        Some(Kind::Fifo) => b'p',
        Some(Kind::Socket) => b's',
        Some(Kind::CharacterDevice) => b'c',
        Some(Kind::BlockDevice) => b'b',
        None => b'U',
    };
    vec![letter]
}

/// A moment in the format of `ctime`, with the fraction of its second.
fn written_out(moment: Moment) -> String {
    // These directives are all known.
    let formatted = |format: &str| civil::formatted(format, moment).unwrap_or_default();
    format!("{}.{:09}0 {}", formatted("%a %b %e %H:%M:%S"), moment.1, formatted("%Y"))
}

/// A moment in one of the formats of `%T`.
fn date(moment: Moment, letter: u8) -> String {
    let formatted = |format: &str| civil::formatted(format, moment).unwrap_or_default();
    match letter {
        b'@' => format!("{}.{:09}0", moment.0, moment.1),
        b'+' => format!("{}.{:09}0", formatted("%F+%T"), moment.1),
        b'S' => format!("{}.{:09}0", formatted("%S"), moment.1),
        b'T' => format!("{}.{:09}0", formatted("%T"), moment.1),
        letter => formatted(&format!("%{}", char::from(letter))),
    }
}

fn directive(text: &[u8], at: &mut usize) -> Result<Piece, String> {
    let start = *at;
    let (mut left, mut zero) = (false, false);
    while let Some(flag) = text.get(*at).filter(|byte| matches!(byte, b'-' | b'0')) {
        left |= *flag == b'-';
        zero |= *flag == b'0';
        *at += 1;
    }
    let number = |at: &mut usize| {
        let mut value = None;
        while let Some(digit) = text.get(*at).filter(|byte| byte.is_ascii_digit()) {
            value = Some((value.unwrap_or(0) * 10 + usize::from(digit - b'0')).min(MAX_WIDTH));
            *at += 1;
        }
        value
    };
    let width = number(at).unwrap_or(0);
    let precision = if text.get(*at) == Some(&b'.') {
        *at += 1;
        Some(number(at).unwrap_or(0))
    } else {
        None
    };
    let letter = text.get(*at).copied();
    *at += 1;
    match letter {
        Some(time @ (b'A' | b'C' | b'T'))
            if *at == start + 1 && text.get(*at).is_some_and(|format| DATES.contains(format)) =>
        {
            let format = text.get(*at).copied().unwrap_or_default();
            *at += 1;
            Ok(Piece::Time(Stamp::named(time).unwrap_or(Stamp::Modified), format))
        }
        Some(letter) if DIRECTIVES.contains(&letter) => Ok(Piece::Directive { letter, left, zero, width, precision }),
        _ => {
            let end = (*at).min(text.len());
            Err(format!("-printf %{}", String::from_utf8_lossy(&text[start..end])))
        }
    }
}

/// The byte of an escape after its backslash; `None` for one that is none.
fn escape(text: &[u8], at: &mut usize) -> Option<u8> {
    let byte = *text.get(*at)?;
    *at += 1;
    Some(match byte {
        b'a' => 7,
        b'b' => 8,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 11,
        b'\\' => b'\\',
        b'0'..=b'7' => {
            let mut value = u32::from(byte - b'0');
            for _ in 0..2 {
                let Some(digit) = text.get(*at).filter(|byte| matches!(byte, b'0'..=b'7')) else { break };
                value = value * 8 + u32::from(digit - b'0');
                *at += 1;
            }
            value.to_le_bytes()[0]
        }
        _ => return None,
    })
}
