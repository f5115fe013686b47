//! An injection with which a sentence begins, which may be meant as an example and runs.

use super::MAX_FINDINGS;
use crate::markdown::Markdown;
use skillgate_core::{Code, Diagnostic, Span};

/// Reports inline injections at the start of a line with words behind them, as in `` !`id` prints who you are ``. A label stands
/// before its value, so an injection that is meant to run is seldom followed by a word.
pub(super) fn scan(body: &str, markdown: &Markdown, found: &mut Vec<Diagnostic>) {
    let injections = markdown.spans.iter().filter(|span| span.injection.is_some()).map(|span| span.whole);
    for span in injections.filter(|span| begins_sentence(body, *span)).take(MAX_FINDINGS) {
        found.push(
            Diagnostic::new(Code::InjectionInProse, "this begins a sentence and runs when the skill is invoked")
                .at(span)
                .help("leave out the `!` if it is an example; if it should run, put it behind its label or on a line of its own"),
        );
    }
}

/// Looks at the blanks around the injection and no further, so that many in one line stay linear.
fn begins_sentence(body: &str, injection: Span) -> bool {
    let before = body[..injection.start].trim_end_matches([' ', '\t']);
    let behind = &body[injection.end..];
    let word = behind.trim_start_matches([' ', '\t']);
    (before.is_empty() || before.ends_with(['\n', '\r']))
        && word.len() < behind.len()
        && word.starts_with(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_behind_an_injection_at_the_start_of_a_line_makes_a_sentence() {
        for (body, expected) in [
            ("!`id` prints who you are\n", vec!["!`id`"]),
            ("  !`id` is a command\r\nState: !`id` now\r\n!`id` runs", vec!["!`id`", "!`id`"]),
            ("!`id`\nprints", vec![]),
            ("!`id` !`date`", vec![]),
            ("!`id`: the user", vec![]),
            ("!`id` (the user)", vec![]),
            ("- !`id` is listed", vec![]),
            ("State: !`id` is who", vec![]),
            ("`id` prints who you are", vec![]),
            ("```\n!`id` prints\n```", vec![]),
        ] {
            let mut found = Vec::new();
            scan(body, &crate::markdown::scan(body), &mut found);
            let found: Vec<_> = found.iter().filter_map(|found| found.span?.slice(body)).collect();
            assert_eq!(found, expected, "{body:?}");
        }
    }
}
