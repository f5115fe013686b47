//! The parts of a commit's message.

use crate::width;
use bstr::ByteSlice as _;

/// Columns between tab stops.
const TAB: usize = 8;
const INDENT: &str = "    ";

/// The message behind its leading empty lines.
pub(crate) fn start(message: &[u8]) -> &[u8] {
    let mut rest = message;
    while !rest.is_empty() {
        let end = rest.find_byte(b'\n').map_or(rest.len(), |at| at + 1);
        if !rest[..end].trim().is_empty() {
            break;
        }
        rest = &rest[end..];
    }
    rest
}

/// The lines of the first paragraph and what follows.
fn divide(message: &[u8]) -> (Vec<&[u8]>, &[u8]) {
    let mut rest = start(message);
    let mut lines = Vec::new();
    while !rest.is_empty() {
        let end = rest.find_byte(b'\n').map_or(rest.len(), |at| at + 1);
        let line = rest[..end].trim_end();
        rest = &rest[end..];
        if line.is_empty() {
            break;
        }
        lines.push(line);
    }
    (lines, rest)
}

/// The first paragraph on one line.
pub(crate) fn subject(message: &[u8]) -> Vec<u8> {
    bstr::join(" ", divide(message).0)
}

/// What follows the first paragraph.
pub(crate) fn body(message: &[u8]) -> &[u8] {
    start(divide(message).1)
}

/// The subject as a file name.
pub(crate) fn sanitized(message: &[u8]) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::new();
    let lines = divide(message).0;
    let mut gap = false;
    for byte in bstr::join(" ", lines) {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_') {
            if std::mem::take(&mut gap) && !out.is_empty() {
                out.push(b'-');
            }
            // No two dots in a row.
            if byte != b'.' || out.last() != Some(&b'.') {
                out.push(byte);
            }
        } else {
            gap = true;
        }
    }
    while out.last().is_some_and(|byte| matches!(byte, b'.' | b'-')) {
        out.pop();
    }
    out
}

/// The whole message, each line indented; only its first paragraph on request.
pub(crate) fn indented(message: &[u8], first_paragraph: bool, expand_tabs: bool, out: &mut Vec<u8>) {
    for line in start(message).lines() {
        let line = line.trim_end();
        if line.is_empty() && first_paragraph {
            break;
        }
        out.extend_from_slice(INDENT.as_bytes());
        if expand_tabs {
            expanded(line, out);
        } else {
            out.extend_from_slice(line);
        }
        out.push(b'\n');
    }
}

fn expanded(line: &[u8], out: &mut Vec<u8>) {
    let mut column = 0;
    let mut parts = line.split(|byte| *byte == b'\t').peekable();
    while let Some(part) = parts.next() {
        out.extend_from_slice(part);
        if parts.peek().is_some() {
            column += width::of(part);
            let spaces = TAB - column % TAB;
            out.resize(out.len() + spaces, b' ');
            column += spaces;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts() {
        let message = b"\n\nfirst\nline \n\nbody\n\nmore\n";
        assert_eq!(subject(message), b"first line");
        assert_eq!(body(message), b"body\n\nmore\n");
        assert_eq!(sanitized(b"feat(x): a..b  tool!\n"), b"feat-x-a.b-tool");
        let mut out = Vec::new();
        indented(b"a\tb\n\nc\n", false, true, &mut out);
        assert_eq!(out.as_bstr(), "    a       b\n    \n    c\n");
    }
}
