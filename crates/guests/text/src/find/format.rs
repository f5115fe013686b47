//! `-printf`.

use super::expression::{Kind, Visit, base_name};
use crate::output::Output;
use std::time::SystemTime;

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
    /// `%T@`.
    Modified,
    /// `\c`: nothing is printed after it.
    Stop,
}

/// Directives whose value can be told here.
const DIRECTIVES: &[u8] = b"pfhPHdsyl";
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
                Piece::Modified => {
                    let modified = visit.metadata.metadata().and_then(|metadata| metadata.modified().ok());
                    let since = modified.and_then(|moment| moment.duration_since(SystemTime::UNIX_EPOCH).ok());
                    if let Some(since) = since {
                        output.put(format!("{}.{:09}0", since.as_secs(), since.subsec_nanos()).as_bytes());
                    }
                }
                Piece::Directive { letter, left, zero, width, precision } => {
                    let mut value = value(*letter, visit);
                    if let Some(precision) = precision.filter(|_| !matches!(letter, b'd' | b's')) {
                        value.truncate(precision);
                    }
                    let missing = width.saturating_sub(value.len());
                    let fill = if *zero && !left && matches!(letter, b'd') { b'0' } else { b' ' };
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
        b's' => visit.metadata.metadata().map(|metadata| metadata.len().to_string().into_bytes()).unwrap_or_default(),
        b'l' => visit.metadata.link_target().unwrap_or_default(),
        _ => match visit.kind {
            Some(Kind::File) => b"f".to_vec(),
            Some(Kind::Directory) => b"d".to_vec(),
            Some(Kind::Link) => b"l".to_vec(),
            Some(Kind::Never) | None => b"U".to_vec(),
        },
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
        Some(b'T') if *at == start + 1 && text.get(*at) == Some(&b'@') => {
            *at += 1;
            Ok(Piece::Modified)
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
