//! Names in columns, in rows, and between commas.

use super::entry::shown_width;
use super::request::{Format, Request};

/// Columns that the narrowest name takes with the blanks after it.
const NARROWEST: usize = 3;
/// Blanks between columns.
const GAP: usize = 2;

/// The names as the format wants them.
pub(super) fn laid_out(names: &[Vec<u8>], request: &Request) -> Vec<u8> {
    match request.format {
        Format::Commas => commas(names, request.width),
        format => table(names, request, format == Format::Columns),
    }
}

fn commas(names: &[Vec<u8>], width: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let mut at = 0;
    for (index, name) in names.iter().enumerate() {
        let length = shown_width(name);
        if index > 0 {
            out.push(b',');
            if width == 0 || at + length + GAP < width {
                at += GAP;
                out.push(b' ');
            } else {
                at = 0;
                out.push(b'\n');
            }
        }
        out.extend_from_slice(name);
        at += length;
    }
    if !names.is_empty() {
        out.push(b'\n');
    }
    out
}

fn table(names: &[Vec<u8>], request: &Request, by_columns: bool) -> Vec<u8> {
    if request.width == 0 {
        let mut out = names.join(b"  ".as_slice());
        if !names.is_empty() {
            out.push(b'\n');
        }
        return out;
    }
    let widths: Vec<usize> = names.iter().map(|name| shown_width(name)).collect();
    let most = names.len().min(request.width / NARROWEST + usize::from(request.width % NARROWEST != 0)).max(1);
    let arrange = |columns: usize| {
        let rows = names.len().div_ceil(columns);
        let mut room = vec![NARROWEST; columns];
        for (index, width) in widths.iter().enumerate() {
            let column = if by_columns { index / rows.max(1) } else { index % columns };
            let gap = if column + 1 == columns { 0 } else { GAP };
            room[column] = room[column].max(width + gap);
        }
        room
    };
    let fits = |columns: &usize| arrange(*columns).iter().sum::<usize>() < request.width;
    let columns = (1..=most).rev().find(fits).unwrap_or(1);
    let room = arrange(columns);
    let rows = names.len().div_ceil(columns);
    let mut out = Vec::new();
    for row in 0..rows {
        let mut at = 0;
        for (column, width) in room.iter().enumerate() {
            let index = if by_columns { column * rows + row } else { row * columns + column };
            let Some(name) = names.get(index) else { break };
            out.extend_from_slice(name);
            let next = if by_columns { index + rows } else { index + 1 };
            if column + 1 == columns || next >= names.len() {
                break;
            }
            indent(&mut out, at + widths[index], at + width, request.tab);
            at += width;
        }
        out.push(b'\n');
    }
    out
}

/// Fills with tabs as far as they reach, then with blanks.
fn indent(out: &mut Vec<u8>, mut from: usize, to: usize, tab: usize) {
    while from < to {
        if tab != 0 && to / tab > (from + 1) / tab {
            out.push(b'\t');
            from += tab - from % tab;
        } else {
            out.push(b' ');
            from += 1;
        }
    }
}
