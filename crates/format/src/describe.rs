//! A description for a skill that gives none.

use crate::lines::{is_blank, lines};
use crate::markdown::{FenceMark, fence_close, fence_open};
use skillgate_core::Span;

/// Characters of an extracted description.
const MAX_CHARS: usize = 300;
/// Lines in which a lone `description:` line is looked for.
const NEAR_TOP: usize = 20;

/// A `description:` line near the top that is a paragraph of its own.
pub(crate) fn lone_line(body: &str) -> Option<&str> {
    let near: Vec<&str> =
        lines(body, Span::new(0, body.len())).take(NEAR_TOP + 1).map(|line| line.text(body)).collect();
    let alone = |line: Option<&&str>| line.is_none_or(|line| is_blank(line) || line.starts_with('#'));
    let at = near.iter().take(NEAR_TOP).position(|line| line.starts_with("description:"))?;
    let before = at.checked_sub(1).and_then(|before| near.get(before));
    if near[..at].iter().any(|line| fence_open(line).is_some()) || !alone(before) || !alone(near.get(at + 1)) {
        return None;
    }
    let text = near[at]["description:".len()..].trim();
    (!text.is_empty()).then_some(text)
}

/// The first paragraph that is not a heading, on one line, cut at 300 characters.
pub(crate) fn first_paragraph(body: &str) -> Option<String> {
    let mut paragraph: Vec<&str> = Vec::new();
    let mut fence: Option<FenceMark> = None;
    let mut comment = false;
    let mut length = 0;
    for line in lines(body, Span::new(0, body.len())) {
        let content = line.text(body);
        let trimmed = content.trim();
        if comment {
            comment = !trimmed.contains("-->");
            continue;
        }
        if let Some(mark) = &fence {
            if fence_close(content, mark) {
                fence = None;
            }
            continue;
        }
        if !paragraph.is_empty() && is_underline(trimmed) {
            // What stood above is a heading.
            paragraph.clear();
            length = 0;
            continue;
        }
        if let Some(rest) = trimmed.strip_prefix("<!--") {
            comment = !rest.contains("-->");
        }
        let opening = fence_open(content);
        let ends = comment || opening.is_some() || trimmed.starts_with("<!--");
        if trimmed.is_empty() || ends || is_heading(trimmed) || is_underline(trimmed) {
            if !paragraph.is_empty() {
                break;
            }
            fence = opening;
            continue;
        }
        length += trimmed.len();
        paragraph.push(trimmed);
        if length > 8 * MAX_CHARS {
            break;
        }
    }
    let text = paragraph.join(" ");
    if text.is_empty() {
        return None;
    }
    Some(match text.char_indices().nth(MAX_CHARS) {
        None => text,
        Some(_) => {
            let kept: String = text.chars().take(MAX_CHARS - 1).collect();
            format!("{}…", kept.trim_end())
        }
    })
}

fn is_heading(line: &str) -> bool {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    (1..=6).contains(&level) && line[level..].chars().next().is_none_or(char::is_whitespace)
}

/// A rule, or the underline of a heading.
fn is_underline(line: &str) -> bool {
    let only = |mark: u8| line.len() >= 2 && line.bytes().all(|byte| byte == mark);
    only(b'=') || only(b'-') || line.len() >= 3 && (only(b'*') || only(b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_paragraph_is_text_and_not_a_heading() {
        for (body, expected) in [
            ("# T\n\nOne\ntwo.\n\nThree.", Some("One two.")),
            ("Title\n=====\n\nText", Some("Text")),
            ("<!-- a\nb -->\nText", Some("Text")),
            ("```\ncode\n```\nText\n", Some("Text")),
            ("---\nText", Some("Text")),
            ("#hash is text", Some("#hash is text")),
            ("# T\n", None),
            ("", None),
            ("\r\n# T\r\n\r\nText\r\n", Some("Text")),
        ] {
            assert_eq!(first_paragraph(body).as_deref(), expected, "{body:?}");
        }
        let long = first_paragraph(&"ä".repeat(400)).expect("text");
        assert_eq!(long.chars().count(), 300);
    }

    #[test]
    fn only_a_lone_line_gives_a_description() {
        for (body, expected) in [
            ("# T\n\ndescription: Does it.\n\n- x", Some("Does it.")),
            ("# T\ndescription: Does it.\n", Some("Does it.")),
            ("name: x\ndescription: y\n", None),
            ("description:\n", None),
            ("```\n\ndescription: x\n\n```", None),
            ("text description: x", None),
        ] {
            assert_eq!(lone_line(body), expected, "{body:?}");
        }
    }
}
