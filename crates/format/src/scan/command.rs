//! Commands that run what no one can read in the file.

use super::MAX_FINDINGS;
use super::program::{Origin, Run, runs};
use super::signs::Signs;
use crate::lines::line_around;
use crate::markdown::Markdown;
use crate::template::injections;
use memchr::memchr2;
use skillgate_core::{Code, Diagnostic, Severity, Span};

/// Characters of base64 that are a blob; keys, digests and identifiers are shorter.
const BLOB: usize = 200;

/// How far around a blob what decodes it is looked for.
const NEAR: usize = 400;

/// What decodes base64, in small letters.
const DECODERS: [&str; 10] = [
    "base64 -d",
    "base64 --decode",
    "b64decode",
    "atob(",
    "frombase64string",
    "xxd -r",
    "buffer.from(",
    "base64.decode",
    "decode64",
    "openssl base64",
];

/// Reports commands in injections, which run when the skill is invoked, as errors, and those in other text, which a model may
/// run, as warnings. Outside injections a command that fetches from a named host over `https` is an installer's usual line
/// and not reported: about one ordinary skill in a hundred has one.
pub(super) fn scan(body: &str, markdown: &Markdown, signs: &Signs, found: &mut Vec<Diagnostic>) {
    blobs(body, found);
    if signs.commands(Span::new(0, body.len())).next().is_none() {
        return;
    }
    let injections = injections(body, markdown);
    let mut reported = 0;
    let mut report = |run: Run, severity: Severity| {
        let shown = severity == Severity::Error || run.origin != Origin::NamedHost;
        if shown && reported < MAX_FINDINGS {
            reported += 1;
            found.push(finding(run, severity));
        }
    };
    for (_, source) in injections.iter().filter(|(_, source)| signs.may_run(body, *source)) {
        for run in runs(&body[source.range()]) {
            report(run.shifted(source.start), Severity::Error);
        }
    }
    // What an injection runs is reported as such.
    let injected = |span: Span| {
        let after = injections.partition_point(|(whole, _)| whole.end <= span.start);
        injections.get(after).is_some_and(|(whole, _)| whole.start < span.end)
    };
    let mut other = |run: Run| {
        if !injected(run.span) {
            report(run, Severity::Warning);
        }
    };
    let mut at = 0;
    for fence in &markdown.fences {
        prose(body, Span::new(at, fence.whole.start), signs, &mut other);
        if signs.may_run(body, fence.content) {
            for run in runs(&body[fence.content.range()]) {
                other(run.shifted(fence.content.start));
            }
        }
        at = fence.whole.end;
    }
    prose(body, Span::new(at, body.len()), signs, &mut other);
}

fn finding(run: Run, severity: Severity) -> Diagnostic {
    let when = match severity {
        Severity::Error => "an injection, which runs when the skill is invoked,",
        _ => "a command in the text",
    };
    let (code, message) = match run.origin {
        Origin::NamedHost => (Code::FetchAndRun, format!("{when} runs what it fetches from the network")),
        Origin::OtherHost => {
            (Code::FetchAndRun, format!("{when} runs what it fetches from an address that nothing vouches for"))
        }
        Origin::Encoded => (Code::DecodeAndRun, format!("{when} decodes a text and runs it")),
    };
    let help = match code {
        Code::DecodeAndRun => "write the program as it is, so that it can be read",
        _ => "put the program into the skill, or fetch it over https to a file and compare its digest before it runs",
    };
    Diagnostic::new(code, message).at(run.span).help(help).severity(severity)
}

/// Looks through the lines of prose that hold a sign, piece by piece between backticks.
fn prose(body: &str, span: Span, signs: &Signs, report: &mut impl FnMut(Run)) {
    let mut next = span.start;
    for sign in signs.commands(span) {
        if sign < next {
            continue;
        }
        let line = line_around(body, span, next, sign);
        next = line.next;
        let content = line.text(body);
        if memchr2(b'|', b'(', content.as_bytes()).is_none() {
            continue;
        }
        // In a table a bar separates cells; only code spans are read.
        let table = content.trim_start().starts_with('|');
        let mut at = line.start;
        for (index, piece) in content.split('`').enumerate() {
            let place = Span::new(at, at + piece.len());
            if (!table || index % 2 == 1) && signs.may_run(body, place) {
                runs(piece).into_iter().for_each(|run| report(run.shifted(at)));
            }
            at = place.end + 1;
        }
    }
}

/// Reports long encoded texts beside what decodes them.
fn blobs(body: &str, found: &mut Vec<Diagnostic>) {
    let bytes = body.as_bytes();
    let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    let mut reported = 0;
    // A text that is long enough reaches over one of these places.
    let (mut start, mut at) = (0, BLOB);
    while at < bytes.len() && reported < MAX_FINDINGS {
        let before = bytes[start..=at].iter().rev().take_while(|byte| is_base64(byte)).count();
        if before == 0 {
            at += BLOB + 1;
            continue;
        }
        let after = bytes[at + 1..].iter().take_while(|byte| is_base64(byte)).count();
        let length = before + after;
        let span = Span::new(at + 1 - before, at + 1 + after);
        start = span.end;
        at = span.end + BLOB + 1;
        if length <= BLOB {
            continue;
        }
        let run = &bytes[span.range()];
        let mixed = run.iter().any(u8::is_ascii_uppercase) && run.iter().any(u8::is_ascii_lowercase);
        // An image in the text is decoded by whoever shows it.
        let embedded = body[..span.start].ends_with(";base64,");
        if mixed && !embedded && is_near_decoder(body, span) {
            reported += 1;
            found.push(
                Diagnostic::new(
                    Code::EncodedBlob,
                    format!("{length} characters of encoded text stand beside what decodes them"),
                )
                .at(span)
                .help("put the text into a file of the skill as it is, so that it can be read"),
            );
        }
    }
}

fn is_near_decoder(body: &str, span: Span) -> bool {
    let start = body.floor_char_boundary(span.start.saturating_sub(NEAR));
    let end = body.floor_char_boundary((span.end + NEAR).min(body.len()));
    [&body[start..span.start], &body[span.end..end]]
        .iter()
        .map(|part| part.to_ascii_lowercase())
        .any(|part| DECODERS.iter().any(|decoder| part.contains(decoder)))
}
