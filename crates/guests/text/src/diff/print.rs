//! Changes as text: the normal, the unified and the context format.

use super::compare::Change;
use super::request::Settings;
use crate::output::Output;

/// Two files' lines, each line with its newline if it has one.
pub(super) type Lines<'f> = [Vec<&'f [u8]>; 2];

fn line(out: &mut Output, mark: &[u8], line: &[u8]) {
    out.put(mark);
    out.put(line);
    if !line.ends_with(b"\n") {
        out.put(b"\n\\ No newline at end of file\n");
    }
}

impl Change {
    fn end(&self, file: usize) -> usize {
        self.start[file] + self.count[file]
    }

    /// The lines of a file that take part.
    fn of<'l>(&self, file: usize, lines: &'l Lines<'_>) -> &'l [&'l [u8]] {
        &lines[file][self.start[file]..self.end(file)]
    }

    /// Whether all its lines are blank and that does not count.
    pub(super) fn is_ignored(&self, lines: &Lines<'_>, settings: &Settings) -> bool {
        let blank = |file| self.of(file, lines).iter().all(|line| settings.is_blank(line));
        settings.blank_lines && blank(0) && blank(1)
    }
}

/// A range of lines in the normal format.
fn normal_range(start: usize, count: usize) -> String {
    match count {
        0 => start.to_string(),
        1 => (start + 1).to_string(),
        count => format!("{},{}", start + 1, start + count),
    }
}

pub(super) fn normal(out: &mut Output, lines: &Lines<'_>, changes: &[Change], settings: &Settings) {
    for change in changes.iter().filter(|change| !change.is_ignored(lines, settings)) {
        let letter = match change.count {
            [0, _] => 'a',
            [_, 0] => 'd',
            _ => 'c',
        };
        let [old, new] = [0, 1].map(|file| normal_range(change.start[file], change.count[file]));
        out.put(format!("{old}{letter}{new}\n").as_bytes());
        change.of(0, lines).iter().for_each(|text| line(out, b"< ", text));
        if letter == 'c' {
            out.put(b"---\n");
        }
        change.of(1, lines).iter().for_each(|text| line(out, b"> ", text));
    }
}

/// Changes whose context would touch, with the lines around them.
struct Hunk<'c> {
    changes: &'c [Change],
    from: [usize; 2],
    to: [usize; 2],
}

fn hunks<'c>(lines: &Lines<'_>, changes: &'c [Change], settings: &Settings) -> Vec<Hunk<'c>> {
    let context = settings.context;
    let mut hunks = Vec::new();
    let mut rest = changes;
    while !rest.is_empty() {
        let mut count = 1;
        while count < rest.len() {
            // One that is ignored does not draw the next lines in.
            let ignored = rest[count].is_ignored(lines, settings);
            let threshold = if ignored { context } else { context.saturating_mul(2).saturating_add(1) };
            if rest[count].start[0] >= rest[count - 1].end(0).saturating_add(threshold) {
                break;
            }
            count += 1;
        }
        let (hunk, after) = rest.split_at(count);
        rest = after;
        if hunk.iter().all(|change| change.is_ignored(lines, settings)) {
            continue;
        }
        let from = [0, 1].map(|file| hunk[0].start[file].saturating_sub(context));
        let to = [0, 1].map(|file| hunk[count - 1].end(file).saturating_add(context).min(lines[file].len()));
        hunks.push(Hunk { changes: hunk, from, to });
    }
    hunks
}

/// The last line before a place that looks like the beginning of a function.
fn function(lines: &[&[u8]], before: usize) -> Vec<u8> {
    let begins = |line: &&&[u8]| line.first().is_some_and(|byte| byte.is_ascii_alphabetic() || b"$_".contains(byte));
    let Some(line) = lines[..before].iter().rev().find(begins) else { return Vec::new() };
    let body = line.strip_suffix(b"\n").unwrap_or(line);
    let mut shown = &body[..body.len().min(SHOWN_OF_A_FUNCTION)];
    while shown.last().is_some_and(u8::is_ascii_whitespace) {
        shown = &shown[..shown.len() - 1];
    }
    [b" ", shown].concat()
}

const SHOWN_OF_A_FUNCTION: usize = 40;

/// A range of lines in the unified format.
fn unified_range(start: usize, end: usize) -> String {
    match end - start {
        0 => format!("{start},0"),
        1 => (start + 1).to_string(),
        count => format!("{},{count}", start + 1),
    }
}

pub(super) fn unified(out: &mut Output, lines: &Lines<'_>, changes: &[Change], settings: &Settings) {
    for hunk in hunks(lines, changes, settings) {
        let [old, new] = [0, 1].map(|file| unified_range(hunk.from[file], hunk.to[file]));
        out.put(format!("@@ -{old} +{new} @@").as_bytes());
        if settings.functions {
            out.put(&function(&lines[0], hunk.from[0]));
        }
        out.put(b"\n");
        let mut at = hunk.from[0];
        for change in hunk.changes {
            lines[0][at..change.start[0]].iter().for_each(|text| line(out, b" ", text));
            change.of(0, lines).iter().for_each(|text| line(out, b"-", text));
            change.of(1, lines).iter().for_each(|text| line(out, b"+", text));
            at = change.end(0);
        }
        lines[0][at..hunk.to[0]].iter().for_each(|text| line(out, b" ", text));
    }
}

/// A range of lines in the context format.
fn context_range(start: usize, end: usize) -> String {
    if end <= start + 1 { end.to_string() } else { format!("{},{end}", start + 1) }
}

pub(super) fn context(out: &mut Output, lines: &Lines<'_>, changes: &[Change], settings: &Settings) {
    for hunk in hunks(lines, changes, settings) {
        out.put(b"***************");
        if settings.functions {
            out.put(&function(&lines[0], hunk.from[0]));
        }
        out.put(b"\n");
        for (file, mark, bar) in [(0, b"- ", "***"), (1, b"+ ", "---")] {
            let range = context_range(hunk.from[file], hunk.to[file]);
            out.put(format!("{bar} {range} {bar}{}\n", &bar[..1]).as_bytes());
            if hunk.changes.iter().all(|change| change.count[file] == 0) {
                continue;
            }
            let mut at = hunk.from[file];
            for change in hunk.changes {
                lines[file][at..change.start[file]].iter().for_each(|text| line(out, b"  ", text));
                let mark = if change.count[1 - file] > 0 { b"! " } else { mark };
                change.of(file, lines).iter().for_each(|text| line(out, mark, text));
                at = change.end(file);
            }
            lines[file][at..hunk.to[file]].iter().for_each(|text| line(out, b"  ", text));
        }
    }
}
