//! Characters that show nothing.

use crate::bytes::beyond_ascii;
use skillgate_core::{Code, Diagnostic, InvisibleKind, Span, classify_invisible};
use std::borrow::Cow;

/// Findings that are reported one by one; the rest is counted.
const MAX_REPORTED: usize = 32;

/// Reports every run of invisible characters in `text[span]`, with code points. Emoji sequences and the joiners that some
/// scripts need are ordinary text.
pub(crate) fn report(text: &str, span: Span, fixable: bool, diagnostics: &mut Vec<Diagnostic>) {
    let part = &text[span.range()];
    if part.is_ascii() {
        return;
    }
    let runs = runs(part);
    for run in runs.iter().take(MAX_REPORTED) {
        let points: Vec<String> =
            part[run.range()].chars().take(8).map(|c| format!("U+{:04X}", u32::from(c))).collect();
        let kind = part[run.range()].chars().find_map(classify_invisible).map_or("character", InvisibleKind::describe);
        let more = if part[run.range()].chars().nth(8).is_some() { " and more" } else { "" };
        let at = run.shifted(span.start);
        let mut found = Diagnostic::new(
            Code::InvisibleCharacter,
            format!("an invisible {kind} stands here: {}{more}", points.join(" ")),
        )
        .at(at)
        .help("remove it, or say in the text why it is needed");
        if fixable {
            found = found.fix(at, "");
        }
        diagnostics.push(found);
    }
    if let Some(more) = runs.len().checked_sub(MAX_REPORTED).filter(|more| *more > 0) {
        diagnostics.push(Diagnostic::new(
            Code::InvisibleCharacter,
            format!("{more} more runs of invisible characters are not listed"),
        ));
    }
}

/// The text without the characters that [`report`] reports, for people.
pub(crate) fn cleaned(text: &str) -> Cow<'_, str> {
    let runs = if text.is_ascii() { Vec::new() } else { runs(text) };
    if runs.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for run in runs {
        out.push_str(&text[at..run.start]);
        at = run.end;
    }
    out.push_str(&text[at..]);
    Cow::Owned(out)
}

/// The runs of invisible characters that are not part of ordinary text.
fn runs(text: &str) -> Vec<Span> {
    let mut found: Vec<Span> = Vec::new();
    // The end of the last invisible character, and the visible one before it.
    let (mut last, mut before) = (0, None);
    for (at, c) in beyond_ascii(text).filter(|(_, c)| classify_invisible(*c).is_some()) {
        let end = at + c.len_utf8();
        if at != last {
            before = text[..at].chars().next_back();
        }
        last = end;
        if ordinary(before, c, text[end..].chars().next()) {
            continue;
        }
        match found.last_mut() {
            Some(last) if last.end == at => last.end = end,
            _ => found.push(Span::new(at, end)),
        }
    }
    found
}

/// Whether the character is needed between its neighbours; `before` is the last visible one.
fn ordinary(before: Option<char>, c: char, after: Option<char>) -> bool {
    let Some(before) = before else { return false };
    match c {
        // The selectors of text and emoji style behind a symbol.
        '\u{fe0e}' | '\u{fe0f}' => is_symbol(before) || matches!(before, '0'..='9' | '#' | '*'),
        // Joins emoji, and letters of scripts that need it.
        '\u{200d}' => is_symbol(before) && after.is_some_and(is_symbol) || needs_joiner(before),
        '\u{200c}' => needs_joiner(before),
        _ => false,
    }
}

fn is_symbol(c: char) -> bool {
    matches!(c, '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2100}'..='\u{2bff}' | '\u{3030}'..='\u{303d}'
        | '\u{3297}'..='\u{3299}' | '\u{1f000}'..='\u{1faff}')
}

/// Arabic, Indic and neighbouring scripts.
fn needs_joiner(c: char) -> bool {
    matches!(c, '\u{0600}'..='\u{0dff}' | '\u{1780}'..='\u{17ff}' | '\u{fb50}'..='\u{fdff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_text_is_found_and_ordinary_text_is_not() {
        for (text, found, clean) in [
            ("plain", 0, "plain"),
            ("a\u{200b}b", 1, "ab"),
            ("a\u{200b}\u{200b}b\u{202e}c", 2, "abc"),
            ("x\u{e0041}\u{e0042}", 1, "x"),
            ("warning \u{26a0}\u{fe0f}", 0, "warning \u{26a0}\u{fe0f}"),
            ("1\u{fe0f}\u{20e3}", 0, "1\u{fe0f}\u{20e3}"),
            ("a\u{fe0f}", 1, "a"),
            ("\u{1f468}\u{200d}\u{1f469}", 0, "\u{1f468}\u{200d}\u{1f469}"),
            ("\u{0645}\u{200c}\u{0646}", 0, "\u{0645}\u{200c}\u{0646}"),
            ("a\u{200d}b", 1, "ab"),
        ] {
            let mut diagnostics = Vec::new();
            report(text, Span::new(0, text.len()), true, &mut diagnostics);
            assert_eq!(diagnostics.len(), found, "{text:?}");
            assert_eq!(cleaned(text), clean, "{text:?}");
        }
    }
}
