//! Which lines differ between two contents.

use gix_imara_diff::{Algorithm, Diff, IndentHeuristic, IndentLevel, InternedInput, SliderHeuristic as _, Token};
use std::borrow::Cow;
use std::ops::Range;

/// How white space is compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Space {
    #[default]
    Exact,
    /// `-b`
    Amount,
    /// `-w`
    None,
    /// `--ignore-space-at-eol`
    AtEnd,
    /// `--ignore-cr-at-eol`
    ReturnAtEnd,
}

/// How contents are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Comparison {
    pub(crate) algorithm: Algorithm,
    pub(crate) space: Space,
    pub(crate) indent_heuristic: bool,
}

impl Default for Comparison {
    fn default() -> Self {
        Self { algorithm: Algorithm::Myers, space: Space::Exact, indent_heuristic: true }
    }
}

/// Lines that were taken out and lines that were put in their place, by number from 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Change {
    pub(crate) old: Range<usize>,
    pub(crate) new: Range<usize>,
}

/// The lines of a content with their ends.
pub(crate) fn split(content: &[u8]) -> Vec<&[u8]> {
    content.split_inclusive(|byte| *byte == b'\n').collect()
}

/// The column width of a tab in git's indent heuristic.
const TAB: u8 = 8;

pub(crate) fn changes(old: &[&[u8]], new: &[&[u8]], comparison: Comparison) -> Vec<Change> {
    let mut input: InternedInput<Cow<'_, [u8]>> = InternedInput {
        before: Vec::new(),
        after: Vec::new(),
        interner: gix_imara_diff::Interner::new(old.len() + new.len()),
    };
    input.update_before(old.iter().map(|line| reduced(line, comparison.space)));
    input.update_after(new.iter().map(|line| reduced(line, comparison.space)));
    let mut diff = Diff::compute(comparison.algorithm, &input);
    if comparison.indent_heuristic {
        // Lines that compare as equal may have other indents, so the heuristic sees each line by its place.
        let places: Vec<Token> =
            (0..old.len().max(new.len())).filter_map(|at| u32::try_from(at).ok()).map(Token).collect();
        let is_old = |tokens: &[Token]| std::ptr::eq(tokens, input.before.as_slice());
        diff.postprocess_with_heuristic(&input, |tokens: &[Token], hunk: Range<u32>, earliest_end: u32| {
            let lines = if is_old(tokens) { old } else { new };
            let indent = |place: Token| IndentLevel::for_ascii_line(lines[place.0 as usize].iter().copied(), TAB);
            IndentHeuristic::new(indent).best_slider_end(&places[..lines.len()], hunk, earliest_end)
        });
    } else {
        diff.postprocess_no_heuristic(&input);
    }
    let range = |range: Range<u32>| range.start as usize..range.end as usize;
    diff.hunks().map(|hunk| Change { old: range(hunk.before), new: range(hunk.after) }).collect()
}

fn reduced(line: &[u8], space: Space) -> Cow<'_, [u8]> {
    let (text, end) = match line.strip_suffix(b"\n") {
        Some(text) => (text, &b"\n"[..]),
        None => (line, &b""[..]),
    };
    let trimmed = text.trim_ascii_end();
    match space {
        Space::Exact => Cow::Borrowed(line),
        Space::ReturnAtEnd => match text.strip_suffix(b"\r") {
            Some(text) => Cow::Owned([text, end].concat()),
            None => Cow::Borrowed(line),
        },
        Space::AtEnd => Cow::Borrowed(trimmed),
        Space::None => Cow::Owned(text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect()),
        Space::Amount => {
            let mut out = Vec::with_capacity(trimmed.len());
            let mut in_space = false;
            for byte in trimmed {
                if byte.is_ascii_whitespace() {
                    in_space = true;
                    continue;
                }
                if std::mem::take(&mut in_space) {
                    out.push(b' ');
                }
                out.push(*byte);
            }
            Cow::Owned(out)
        }
    }
}
