use std::fmt::Write as _;

/// Headings that a mark names; the rest is counted.
const MAX_HEADINGS: usize = 5;

/// Characters of one heading in a mark.
const MAX_HEADING_CHARS: usize = 60;

/// The beginning of a text, and what is said in place of the rest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct CutText<'a> {
    pub(super) head: &'a str,
    /// Empty when nothing is missing.
    pub(super) mark: String,
    /// Headings of sections that are not there, or not whole.
    pub(super) left_out: Vec<String>,
    pub(super) head_chars: usize,
    /// Of head and mark together.
    pub(super) chars: usize,
}

impl CutText<'_> {
    pub(super) fn is_whole(&self) -> bool {
        self.mark.is_empty()
    }
}

/// As much of the beginning of `text` as fits into `most` characters together with a mark that names `path` and what is
/// missing; `None` when not even the mark and as much text again would.
///
/// It is cut before a section if that keeps at least half of what would fit, else between paragraphs, else between lines, and
/// else between two characters that do not belong together. `chars` is the length of the text.
pub(super) fn cut<'a>(text: &'a str, chars: usize, most: usize, path: &str) -> Option<CutText<'a>> {
    if chars <= most {
        return Some(CutText { head: text, mark: String::new(), left_out: Vec::new(), head_chars: chars, chars });
    }
    let layout = Layout::of(text);
    let headings = |from: usize| -> Vec<String> { layout.sections_behind(from).map(shortened).collect() };
    // No mark is longer than one that names the longest headings and counts all others.
    let mut all = headings(0);
    all.sort_by_key(|heading| std::cmp::Reverse(format!("{heading:?}").chars().count()));
    let longest = mark(chars, chars, &all, path);
    let (reserved, with_headings) = match longest.chars().count() {
        length if length.saturating_mul(2) <= most => (length, true),
        _ => (mark(chars, chars, &[], path).chars().count(), false),
    };
    if reserved.saturating_mul(2) > most {
        return None;
    }
    let room = most - reserved;
    let limit = text.char_indices().nth(room).map_or(text.len(), |(at, _)| at);
    let least = text.char_indices().nth(room / 2).map_or(text.len(), |(at, _)| at);
    let end = layout.place(least, limit).unwrap_or_else(|| between_characters(text, least, limit));
    let head = text.get(..end).unwrap_or_default().trim_end();
    let left_out = headings(end);
    let head_chars = head.chars().count();
    let mark = mark(head_chars, chars, if with_headings { &left_out } else { &[] }, path);
    let chars = head_chars + mark.chars().count();
    Some(CutText { head, mark, left_out, head_chars, chars })
}

fn mark(kept: usize, all: usize, headings: &[String], path: &str) -> String {
    let mut mark = format!("\n\n[Cut here for want of room: {kept} of {all} characters are given.");
    if !headings.is_empty() {
        let named: Vec<String> = headings.iter().take(MAX_HEADINGS).map(|heading| format!("{heading:?}")).collect();
        let _infallible = write!(mark, " Missing: {}", named.join(", "));
        if let Some(more @ 1..) = headings.len().checked_sub(MAX_HEADINGS) {
            let _infallible = write!(mark, " and {more} more");
        }
        mark.push('.');
    }
    let _infallible = write!(mark, " The whole text is in {path}.]");
    mark
}

fn shortened(heading: &str) -> String {
    let short: String = heading.chars().take(MAX_HEADING_CHARS).collect();
    if short.len() < heading.len() { format!("{}…", short.trim_end()) } else { short }
}

/// Where a Markdown text can be cut. What stands in a fence is in no section of its own.
struct Layout<'a> {
    /// Where each section begins, with its heading.
    sections: Vec<(usize, &'a str)>,
    /// Ends of lines, with whether a paragraph ends there.
    lines: Vec<(usize, bool)>,
}

impl<'a> Layout<'a> {
    fn of(text: &'a str) -> Self {
        let (mut sections, mut lines) = (Vec::new(), Vec::new());
        let mut fence: Option<(char, usize)> = None;
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let trimmed = line.trim();
            match (fence, fence_of(line)) {
                (None, Some(opened)) => fence = Some(opened),
                (Some((with, length)), Some((by, closing)))
                    if by == with && closing >= length && trimmed.chars().all(|c| c == by) =>
                {
                    fence = None;
                }
                (None, None) => {
                    if let Some(heading) = heading_of(line) {
                        sections.push((start, heading));
                    }
                }
                (Some(_), _) => {}
            }
            start += line.len();
            lines.push((start, fence.is_none() && trimmed.is_empty()));
        }
        Self { sections, lines }
    }

    /// The best place between two bytes, the later one included.
    fn place(&self, least: usize, limit: usize) -> Option<usize> {
        let within = |at: &usize| (least..=limit).contains(at) && *at > 0;
        let section = self.sections.iter().map(|(at, _)| *at).rfind(within);
        let paragraph = || self.lines.iter().filter(|(_, ends)| *ends).map(|(at, _)| *at).rfind(within);
        let line = || self.lines.iter().map(|(at, _)| *at).rfind(within);
        section.or_else(paragraph).or_else(line)
    }

    /// The headings of the sections that do not end at or before `end`.
    fn sections_behind(&self, end: usize) -> impl Iterator<Item = &'a str> + '_ {
        let behind = self.sections.iter().position(|(at, _)| *at >= end).unwrap_or(self.sections.len());
        // A cut within a section leaves a part of it out.
        let begun = self.sections.get(behind).is_some_and(|(at, _)| *at == end);
        let first = if begun { behind } else { behind.saturating_sub(1) };
        self.sections.get(first..).unwrap_or_default().iter().map(|(_, heading)| *heading)
    }
}

/// The character and length of a fence that the line opens or closes.
fn fence_of(line: &str) -> Option<(char, usize)> {
    let indented = line.len() - line.trim_start_matches(' ').len();
    let rest = line.trim_start_matches(' ');
    let with = rest.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = rest.chars().take_while(|c| *c == with).count();
    (indented < 4 && length >= 3).then_some((with, length))
}

fn heading_of(line: &str) -> Option<&str> {
    let text = line.trim_end().trim_start_matches(' ');
    let level = text.chars().take_while(|c| *c == '#').count();
    let heading = text.get(level..)?;
    ((1..=6).contains(&level)
        && line.len() - line.trim_start_matches(' ').len() < 4
        && heading.starts_with([' ', '\t']))
    .then(|| heading.trim().trim_end_matches('#').trim_end())
}

/// A place at or before `limit` where no character is parted from what belongs to it, such as an accent.
fn between_characters(text: &str, least: usize, limit: usize) -> usize {
    let parts = |at: usize| {
        let (before, after) = text.split_at(at);
        before.ends_with('\u{200d}') || after.chars().next().is_some_and(belongs_to_the_one_before)
    };
    let places = text.char_indices().map(|(at, _)| at).rev().skip_while(|at| *at > limit);
    places.take_while(|at| *at >= least).find(|at| !parts(*at)).unwrap_or(limit)
}

/// Marks that modify the character before them: accents, variation selectors, joiners, skin tones.
fn belongs_to_the_one_before(c: char) -> bool {
    matches!(u32::from(c), 0x0300..=0x036f | 0x0483..=0x0489 | 0x1ab0..=0x1aff | 0x1dc0..=0x1dff | 0x200d | 0x20d0..=0x20ff
        | 0xfe00..=0xfe0f | 0xfe20..=0xfe2f | 0x1f3fb..=0x1f3ff | 0xe0100..=0xe01ef)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cuts to `most` characters and gives what is left, without the mark.
    fn head(text: &str, most: usize) -> String {
        let chars = text.chars().count();
        let kept = cut(text, chars, most, "/s").expect("there is room");
        assert!(kept.chars <= most && kept.chars == kept.head_chars + kept.mark.chars().count(), "{kept:?}");
        assert!(text.starts_with(kept.head));
        kept.head.to_owned()
    }

    #[test]
    fn a_text_is_cut_before_a_section_else_between_paragraphs_lines_and_characters() {
        let filler = |count: usize| "word ".repeat(count);
        let most = 400;
        let sections = format!("# One\n\n{}\n\n# Two\n\n{}", filler(40), filler(80));
        assert_eq!(head(&sections, most), format!("# One\n\n{}", filler(40).trim_end()));
        let early = format!("# One\n\n# Two\n\n{}\n\n{}", filler(40), filler(80));
        assert!(head(&early, most).ends_with(filler(40).trim_end()), "a section that keeps too little is no place");
        let lines = format!("{}\n{}", filler(40), filler(80));
        assert_eq!(head(&lines, most), filler(40).trim_end());
        let fenced = format!("{}\n```\n# no section\n\n{}\n```\n", filler(38), filler(80));
        assert!(head(&fenced, most).ends_with("# no section"), "between lines only: {:?}", head(&fenced, most));
        let one = "ä".repeat(1_000);
        assert!(one.starts_with(&head(&one, most)));
        let accents = "e\u{301}".repeat(1_000);
        assert_eq!(head(&accents, most).chars().count() % 2, 0, "no accent is parted from its letter");
        let family = "👨\u{200d}👩\u{200d}👧".repeat(1_000);
        assert_eq!(head(&family, most).chars().count() % 5, 0, "no joined sign is parted");
    }

    #[test]
    fn the_mark_names_the_file_the_amounts_and_the_sections() {
        let section = |name: &str| format!("## {name}\n\n{}\n\n", "word ".repeat(60));
        let text: String = ["A", "B", "C", "D", "E", "F", "G", "H"].map(section).concat();
        let chars = text.chars().count();
        let kept = cut(&text, chars, 1_000, "/skills/x/SKILL.md").expect("there is room");
        assert_eq!(kept.left_out, ["C", "D", "E", "F", "G", "H"], "{kept:?}");
        let expected = format!(
            "\n\n[Cut here for want of room: {} of {chars} characters are given. Missing: \"C\", \"D\", \"E\", \"F\", \"G\" and 1 \
             more. The whole text is in /skills/x/SKILL.md.]",
            kept.head_chars
        );
        assert_eq!(kept.mark, expected);
        let within = cut(&text, chars, 300, "/s").expect("there is room");
        assert_eq!(within.left_out.first().map(String::as_str), Some("A"), "it is not whole");
        assert_eq!(cut(&text, chars, 100, "/skills/x/SKILL.md"), None, "there is no room for text beside the mark");
        assert!(cut(&text, chars, chars, "/s").expect("it fits").is_whole());
    }

    #[test]
    fn a_line_that_only_looks_like_a_heading_or_a_fence_is_none() {
        for (line, heading) in [
            ("# A\n", Some("A")),
            ("   ###### A ##\r\n", Some("A")),
            ("####### A", None),
            ("#A", None),
            ("    # A", None),
            ("#", None),
        ] {
            assert_eq!(heading_of(line), heading, "{line:?}");
        }
        for (line, fence) in [("```rust\n", Some(('`', 3))), ("~~~~", Some(('~', 4))), ("``", None), ("    ```", None)]
        {
            assert_eq!(fence_of(line), fence, "{line:?}");
        }
    }
}
