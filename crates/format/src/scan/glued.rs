//! What looks like an injection and is none, because it stands right behind other text.

use super::MAX_FINDINGS;
use crate::markdown::Markdown;
use skillgate_core::{Code, Diagnostic, Span};

/// Reports code spans behind a `!` that follows a sign, as in `` KEY=!`cmd` ``. Behind a letter, a digit or another
/// exclamation mark the mark belongs to the sentence.
pub(super) fn scan(body: &str, markdown: &Markdown, found: &mut Vec<Diagnostic>) {
    let glued = markdown.spans.iter().filter(|span| span.injection.is_none()).filter_map(|span| {
        let before = body[..span.whole.start].strip_suffix('!')?;
        let sign = before.chars().next_back()?;
        let mut content = body.get(span.whole.start + 1..span.whole.end)?.chars();
        let is_command = content.next()?.is_alphanumeric();
        (is_command && matches!(sign, '=' | ':' | '(' | '[' | '{' | '"' | '\'' | '>' | '*' | '_' | '|' | ','))
            .then(|| Span::new(before.len(), span.whole.end))
    });
    for span in glued.take(MAX_FINDINGS) {
        found.push(
            Diagnostic::new(
                Code::InjectionNotPlaced,
                "this is text and does not run: an injection stands at the start of a line or after white space",
            )
            .at(span)
            .help("put a space before the `!` if it should run"),
        );
    }
}
