//! Text that no one sees, and text that is shown in another order than it is read.

use super::MAX_FINDINGS;
use memchr::memchr2_iter;
use skillgate_core::{Code, Diagnostic, InvisibleKind, Span, classify_invisible};

/// Characters of a hidden message that are quoted.
const QUOTED: usize = 60;

/// Reports runs of tag characters, and controls that override or embed a direction. The marks that right-to-left text needs
/// (U+200E, U+200F, U+061C) and the flags that are written with tag characters are ordinary.
pub(super) fn scan(source: &str, found: &mut Vec<Diagnostic>) {
    // All of these characters begin with one of two bytes.
    let at = |at: usize| source.get(at..).and_then(|rest| rest.chars().next());
    if !memchr2_iter(0xe2, 0xf3, source.as_bytes()).filter_map(at).any(|c| is_tag(c) || is_order(c)) {
        return;
    }
    let (mut tags, mut controls) = (0, 0);
    let mut before = None;
    let mut chars = source.char_indices().peekable();
    while let Some((start, c)) = chars.next() {
        if is_tag(c) {
            let mut end = start + c.len_utf8();
            let mut message = String::new();
            message.extend(tag_letter(c));
            while let Some((_, next)) = chars.next_if(|(_, next)| is_tag(*next)) {
                end += next.len_utf8();
                if message.len() < QUOTED {
                    message.extend(tag_letter(next));
                }
            }
            let flag = before == Some('\u{1f3f4}') && is_flag(&source[start..end]);
            if !flag && tags < MAX_FINDINGS {
                tags += 1;
                found.push(tagged(&message, Span::new(start, end)));
            }
        } else if is_order(c) && controls < MAX_FINDINGS {
            controls += 1;
            found.push(
                Diagnostic::new(
                    Code::BidiControl,
                    format!("U+{:04X} changes the order in which the text around it is shown", u32::from(c)),
                )
                .at(Span::new(start, start + c.len_utf8()))
                .help("remove it; what a person reads here is not what a model or a shell reads"),
            );
        }
        before = Some(c);
    }
}

/// Whether the character overrides or embeds a direction.
fn is_order(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn is_tag(c: char) -> bool {
    classify_invisible(c) == Some(InvisibleKind::Tag)
}

/// The ASCII character that a tag character stands for.
fn tag_letter(c: char) -> Option<char> {
    char::from_u32(u32::from(c).checked_sub(0xe0000)?).filter(|c| c.is_ascii_graphic() || *c == ' ')
}

/// Whether the tags behind a black flag name a region: letters and digits, at most six, and the closing tag.
fn is_flag(tags: &str) -> bool {
    let Some(region) = tags.strip_suffix('\u{e007f}') else { return false };
    let letters = region.chars().filter_map(tag_letter);
    (4..=6).contains(&region.chars().count())
        && letters.clone().count() == region.chars().count()
        && letters.clone().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
}

fn tagged(message: &str, span: Span) -> Diagnostic {
    let message = message.trim();
    let says = if message.is_empty() { String::new() } else { format!("; they spell `{}`", message.replace('`', "'")) };
    Diagnostic::new(Code::HiddenText, format!("tag characters, which no font shows, stand here{says}"))
        .at(span)
        .help("remove them; a model reads them as text")
}
