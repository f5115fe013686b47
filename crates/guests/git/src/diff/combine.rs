//! The lines of a file with several parents: which of them each line differs from.

use super::lines::{self, Comparison};
use crate::failure::Outcome;
use std::io::Write;

/// A line that some parents have and the result has not.
#[derive(Clone, Debug)]
struct Lost<'c> {
    text: &'c [u8],
    parents: u32,
}

/// A line of the result; one more stands behind the last.
#[derive(Clone, Debug, Default)]
struct Line<'c> {
    text: &'c [u8],
    /// Parents that do not have it.
    added: u32,
    /// What was taken out in front of it.
    lost: Vec<Lost<'c>>,
    shown: bool,
    /// It is shown as context in front of a hunk, without what was lost there.
    only_context: bool,
    /// The line of each parent at which a hunk would start that starts here.
    numbers: Vec<usize>,
}

/// A file, compared with all of its parents.
#[derive(Debug)]
pub(super) struct Combined<'c> {
    lines: Vec<Line<'c>>,
    parents: usize,
    count: usize,
    context: usize,
}

fn without_end(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\n").unwrap_or(line)
}

/// Merges what one more parent lost into the list, lines that are the same once.
fn coalesce<'c>(known: Vec<Lost<'c>>, new: &[&'c [u8]], parent: u32) -> Vec<Lost<'c>> {
    if known.is_empty() {
        return new.iter().map(|text| Lost { text, parents: parent }).collect();
    }
    // The longest common subsequence, as a table of lengths.
    let mut length = vec![vec![0_usize; new.len() + 1]; known.len() + 1];
    for (i, lost) in known.iter().enumerate() {
        for (j, text) in new.iter().enumerate() {
            length[i + 1][j + 1] =
                if lost.text == *text { length[i][j] + 1 } else { length[i + 1][j].max(length[i][j + 1]) };
        }
    }
    let (mut i, mut j) = (known.len(), new.len());
    let mut merged = Vec::new();
    while i > 0 || j > 0 {
        if i > 0 && j > 0 && known[i - 1].text == new[j - 1] {
            merged.push(Lost { text: known[i - 1].text, parents: known[i - 1].parents | parent });
            (i, j) = (i - 1, j - 1);
        } else if j > 0 && (i == 0 || length[i][j - 1] >= length[i - 1][j]) {
            merged.push(Lost { text: new[j - 1], parents: parent });
            j -= 1;
        } else {
            merged.push(known[i - 1].clone());
            i -= 1;
        }
    }
    merged.reverse();
    merged
}

impl<'c> Combined<'c> {
    /// Compares a content with those of its parents.
    pub(super) fn new(result: &'c [u8], parents: &'c [&'c [u8]], comparison: Comparison, context: usize) -> Self {
        let result_lines = lines::split(result);
        let count = result_lines.len();
        let mut all: Vec<Line<'c>> = result_lines.iter().map(|text| Line { text, ..Line::default() }).collect();
        all.push(Line::default());
        for (number, parent) in parents.iter().enumerate() {
            let bit = 1 << number;
            let parent_lines = lines::split(parent);
            let mut lost_here = vec![0_usize; count + 1];
            for change in lines::changes(&parent_lines, &result_lines, comparison) {
                for line in &mut all[change.new.clone()] {
                    line.added |= bit;
                }
                let lost: Vec<&[u8]> = parent_lines[change.old.clone()].iter().map(|line| without_end(line)).collect();
                lost_here[change.new.start] += lost.len();
                let line = &mut all[change.new.start];
                line.lost = coalesce(std::mem::take(&mut line.lost), &lost, bit);
            }
            let mut at = 1;
            for (position, line) in all.iter_mut().enumerate() {
                line.numbers.push(at);
                at += lost_here[position] + usize::from(position < count && line.added & bit == 0);
            }
            // Where the parent ends.
            if let Some(last) = all.last_mut() {
                last.numbers.push(at);
            }
        }
        let mut combined = Self { lines: all, parents: parents.len(), count, context };
        // Behind the last line, the ends of all parents follow their numbers.
        combined.order_ends();
        combined
    }

    /// The line behind the last holds the number and the end of each parent in turns; they are put one behind the other.
    fn order_ends(&mut self) {
        if let Some(last) = self.lines.last_mut() {
            let (numbers, ends): (Vec<_>, Vec<_>) = last.numbers.iter().enumerate().partition(|(at, _)| at % 2 == 0);
            last.numbers = numbers.into_iter().chain(ends).map(|(_, number)| *number).collect();
        }
    }

    fn number(&self, at: usize, parent: usize) -> usize {
        match self.lines.get(at) {
            Some(line) => line.numbers[parent],
            None => self.lines[self.count].numbers[self.parents + parent],
        }
    }

    fn everyone(&self) -> u32 {
        (1 << self.parents) - 1
    }

    /// The end of a hunk without a last line that only carries what was lost.
    fn tail(&self, begin: usize, end: usize) -> usize {
        if begin < end && self.lines[end - 1].added == 0 { end - 1 } else { end }
    }

    fn next(&self, mut at: usize, shown: bool) -> usize {
        while at <= self.count && self.lines[at].shown != shown {
            at += 1;
        }
        at
    }

    /// Decides what is shown; `false` when nothing is. With `dense`, hunks that are as in one parent are left out.
    pub(super) fn choose(&mut self, dense: bool) -> bool {
        for line in &mut self.lines {
            line.shown = line.added != 0 || !line.lost.is_empty();
        }
        if dense {
            self.drop_uninteresting();
        }
        self.add_context()
    }

    fn drop_uninteresting(&mut self) {
        let mut at = 0;
        loop {
            at = self.next(at, true);
            if at > self.count {
                return;
            }
            let begin = at;
            let mut end = begin + 1;
            while end <= self.count {
                if !self.lines[end].shown {
                    let reach = (self.tail(begin, end) + self.context).min(self.count + 1);
                    match (end..reach).rev().find(|at| self.lines[*at].shown) {
                        Some(next) => end = next,
                        None => break,
                    }
                }
                end += 1;
            }
            let hunk = &self.lines[begin..end.min(self.count + 1)];
            let differences = hunk.iter().flat_map(|line| {
                std::iter::once(line.added).filter(|added| *added != 0).chain(line.lost.iter().map(|lost| lost.parents))
            });
            let mut same = None;
            let mut interesting = false;
            for difference in differences {
                interesting |= *same.get_or_insert(difference) != difference;
            }
            if !interesting && same != Some(self.everyone()) {
                let last = end.min(self.count + 1);
                for line in &mut self.lines[begin..last] {
                    line.shown = false;
                }
            }
            at = end;
        }
    }

    fn add_context(&mut self) -> bool {
        let mut at = self.next(0, true);
        if at > self.count {
            return false;
        }
        while at <= self.count {
            for line in &mut self.lines[at.saturating_sub(self.context)..at] {
                line.only_context |= !line.shown;
                line.shown = true;
            }
            loop {
                let gap = self.next(at, false);
                if gap > self.count {
                    return true;
                }
                let next = self.next(gap, true);
                let tail = self.tail(at, gap);
                if next < tail + self.context {
                    for line in &mut self.lines[tail..next] {
                        line.shown = true;
                    }
                    at = next;
                    continue;
                }
                let end = (tail + self.context).min(self.count + 1);
                for line in &mut self.lines[tail..end] {
                    line.shown = true;
                }
                at = next;
                break;
            }
        }
        true
    }

    pub(super) fn write(&self, out: &mut impl Write) -> Outcome {
        let mut at = 0;
        loop {
            let mut comment: &[u8] = b"";
            while at <= self.count && !self.lines[at].shown {
                if self.lines[at]
                    .text
                    .first()
                    .is_some_and(|first| first.is_ascii_alphabetic() || matches!(first, b'_' | b'$'))
                {
                    comment = self.lines[at].text;
                }
                at += 1;
            }
            if at > self.count {
                return Ok(());
            }
            let mut end = at + 1;
            while end <= self.count && self.lines[end].shown {
                end += 1;
            }
            let size = end - at - usize::from(end > self.count);
            let signs = "@".repeat(self.parents + 1);
            write!(out, "{signs}")?;
            for parent in 0..self.parents {
                let (from, to) = (self.number(at, parent), self.number(end, parent));
                write!(out, " -{from},{}", to - from)?;
            }
            write!(out, " +{},{size} {signs}", at + 1)?;
            // As git: up to the last character that is no space, and without it.
            let shown = without_end(&comment[..comment.len().min(40)]);
            let last = shown.iter().rposition(|byte| !byte.is_ascii_whitespace()).unwrap_or_default();
            if last > 0 {
                out.write_all(b" ")?;
                out.write_all(&shown[..last])?;
            }
            out.write_all(b"\n")?;
            while at < end {
                self.write_line(at, out)?;
                at += 1;
            }
        }
    }

    fn write_line(&self, at: usize, out: &mut impl Write) -> Outcome {
        let line = &self.lines[at];
        let signs = |parents: u32, sign: char| {
            (0..self.parents).map(|parent| if parents & 1 << parent != 0 { sign } else { ' ' }).collect::<String>()
        };
        if !line.only_context {
            for lost in &line.lost {
                out.write_all(signs(lost.parents, '-').as_bytes())?;
                out.write_all(lost.text)?;
                out.write_all(b"\n")?;
            }
        }
        if at < self.count {
            out.write_all(signs(line.added, '+').as_bytes())?;
            out.write_all(without_end(line.text))?;
            out.write_all(b"\n")?;
        }
        Ok(())
    }
}
