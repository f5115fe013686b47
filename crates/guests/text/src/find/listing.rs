//! `-ls`: a line as `ls -dils` prints it.

use super::expression::Visit;
use crate::output::Output;
use guest_files::{Kind, civil, group_name, user_name};

/// Columns of an owner and of a group.
const WIDTH: usize = 8;

/// How wide the column of owners is. A number that stands there makes it wider, as in GNU's.
#[derive(Debug)]
pub(super) struct Widths {
    owner: usize,
}

impl Default for Widths {
    fn default() -> Self {
        Self { owner: WIDTH }
    }
}

/// An owner or a group in its column, with the blank after it.
fn cell(id: u32, name: Option<&str>, width: usize) -> String {
    match name {
        Some(name) => format!("{name:<width$} "),
        None => format!("{id:<width$} "),
    }
}

/// Prints the line of a file.
pub(super) fn print(visit: &Visit<'_>, widths: &mut Widths, output: &mut Output) {
    let Some(status) = visit.status() else { return };
    let owner = cell(status.owner, user_name(status.owner), widths.owner);
    if user_name(status.owner).is_none() {
        widths.owner = owner.len();
    }
    let line = format!(
        "{:>9} {:>6} {} {:>3} {}{}{:>8} {} ",
        status.inode,
        status.blocks.div_ceil(2),
        status.mode_text(),
        status.links,
        owner,
        cell(status.group, group_name(status.group), WIDTH),
        status.size,
        civil::listed(status.modified, civil::now()),
    );
    output.put(line.as_bytes());
    output.put(&escaped(visit.path));
    if status.kind() == Kind::Link
        && let Some(target) = visit.file.link_target()
    {
        output.put(b" -> ");
        output.put(&escaped(&target));
    }
    output.put(b"\n");
}

/// A name with C's escapes for blanks and for what cannot be printed.
fn escaped(name: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len());
    for byte in name {
        match byte {
            b' ' => out.extend_from_slice(b"\\ "),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'"' => out.extend_from_slice(b"\\\""),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\r' => out.extend_from_slice(b"\\r"),
            0..0x20 | 0x7f.. => out.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
            byte => out.push(*byte),
        }
    }
    out
}
