//! Repairing a header that is not YAML: only the values that fail, one by one, each with its corrected text.

use crate::chunk::{Chunk, chunks};
use crate::key::{self, Kind};
use crate::lines::{indent, is_blank, lines};
use crate::lists::split_list;
use crate::quote::quoted;
use crate::yaml::{self, Parsed, Steps, YamlError};
use skillgate_core::{Entry, Span, Value, ValueKind};

/// What was done to one value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Repair {
    /// The key as written.
    pub(crate) key: String,
    /// The bytes that were replaced.
    pub(crate) span: Span,
    /// What they were replaced by.
    pub(crate) corrected: String,
    /// Why, in words.
    pub(crate) reason: &'static str,
    /// Whether the author's meaning is certain enough to apply the correction and, for a key that decides over
    /// authority, to read it.
    pub(crate) sure: bool,
}

/// A header that was read after repairs.
#[derive(Debug)]
pub(crate) struct Repaired {
    /// The mapping; values that were repaired have the span of what the author wrote.
    pub(crate) value: Value,
    /// Every alias.
    pub(crate) aliases: Vec<Span>,
    /// What was done, in order.
    pub(crate) repairs: Vec<Repair>,
}

/// Reads `text[inner]`, which failed to parse. `None` when it cannot be repaired.
pub(crate) fn repair(text: &str, inner: Span, steps: &mut Steps) -> Option<Repaired> {
    if let Some(joined) = split_joined(text, inner, steps) {
        return Some(joined);
    }
    let chunks = chunks(text, inner)?;
    let known = |name: &str| text[inner.range()].contains(&format!("&{name}"));
    let mut found = Repaired { value: Value { span: inner, kind: ValueKind::Null }, aliases: vec![], repairs: vec![] };
    let mut entries: Vec<Entry> = Vec::new();
    for chunk in &chunks {
        let written = &text[chunk.span.range()];
        let parsed = match yaml::parse_with(written, chunk.span.start, steps, known) {
            Ok(parsed) if is_map(&parsed) => parsed,
            Err(YamlError::TooComplex { .. }) => return None,
            _ => {
                let (repair, parsed) = repair_chunk(text, chunk, steps)?;
                found.repairs.push(repair);
                parsed
            }
        };
        found.aliases.extend(parsed.aliases);
        if let ValueKind::Map(read) = parsed.value.kind {
            entries.extend(read);
        }
    }
    if found.repairs.is_empty() {
        dedent(text, &chunks, &mut found.repairs);
    }
    // The whole is parsed again: what was repaired must hold in its place.
    let whole = corrected(text, inner, &found.repairs);
    let again = yaml::parse(&whole, 0, steps).ok()?;
    match &again.value.kind {
        ValueKind::Map(read) if read.len() == entries.len() && !found.repairs.is_empty() => {}
        _ => return None,
    }
    found.value.kind = ValueKind::Map(entries);
    Some(found)
}

/// `text[inner]` with the repairs applied.
fn corrected(text: &str, inner: Span, repairs: &[Repair]) -> String {
    let mut out = String::with_capacity(inner.len());
    let mut at = inner.start;
    for repair in repairs {
        out.push_str(&text[at..repair.span.start]);
        out.push_str(&repair.corrected);
        at = repair.span.end;
    }
    out.push_str(&text[at..inner.end]);
    out
}

fn is_map(parsed: &Parsed) -> bool {
    matches!(&parsed.value.kind, ValueKind::Map(entries) if !entries.is_empty())
}

/// A candidate for a value's correction.
struct Candidate {
    corrected: String,
    reason: &'static str,
    sure: bool,
}

/// The first candidate that reads as the chunk's key with one value.
fn repair_chunk(text: &str, chunk: &Chunk, steps: &mut Steps) -> Option<(Repair, Parsed)> {
    for Candidate { corrected, reason, sure } in candidates(text, chunk, steps) {
        let Ok(mut parsed) = yaml::parse(&corrected, 0, steps) else { continue };
        let ValueKind::Map(entries) = &mut parsed.value.kind else { continue };
        let [entry] = entries.as_mut_slice() else { continue };
        if entry.key != chunk.key {
            continue;
        }
        entry.key_span = chunk.key_span;
        set_span(&mut entry.value, chunk.value_span());
        parsed.value.span = chunk.span;
        parsed.aliases.clear();
        let is_text = key::find(&chunk.key).is_some_and(|key| key.kind == Kind::Text);
        let sure = is_text || (sure && !is_tagged(&text[chunk.value_span().range()]));
        return Some((Repair { key: chunk.key.clone(), span: chunk.span, corrected, reason, sure }, parsed));
    }
    None
}

/// Whether a tag may stand in a value: what its author meant by it is not known.
fn is_tagged(value: &str) -> bool {
    let begins = |at: usize| {
        value[..at].chars().next_back().is_none_or(|before| before.is_whitespace() || "[{,".contains(before))
    };
    value.match_indices('!').any(|(at, _)| begins(at))
}

/// Gives every part the span of the whole: the parts of a corrected text stand nowhere in the file.
fn set_span(value: &mut Value, span: Span) {
    value.span = span;
    match &mut value.kind {
        ValueKind::List(items) => items.iter_mut().for_each(|item| set_span(item, span)),
        ValueKind::Map(entries) => entries.iter_mut().for_each(|entry| {
            entry.key_span = span;
            set_span(&mut entry.value, span);
        }),
        ValueKind::Null | ValueKind::Scalar(_) => {}
    }
}

/// What may have been meant, the likeliest first.
fn candidates(text: &str, chunk: &Chunk, steps: &mut Steps) -> Vec<Candidate> {
    let head = &text[chunk.span.start..chunk.key_span.end];
    let first = &text[chunk.first.range()];
    let rest: Vec<&str> =
        lines(text, Span::new(chunk.rest.min(chunk.span.end), chunk.span.end)).map(|line| line.text(text)).collect();
    let kind = key::find(&chunk.key).map_or(Kind::Other, |key| key.kind);
    let mut found = Vec::new();
    let mut add = |corrected: String, reason, sure| found.push(Candidate { corrected, reason, sure });
    let opening = if first.is_empty() { format!("{head}:") } else { format!("{head}: {first}") };
    let below = |lines: &[String]| format!("{opening}\n{}", lines.join("\n"));

    if rest.iter().any(|line| line[..indent(line)].contains('\t')) {
        let spaced: Vec<String> = rest.iter().map(|line| untabbed(line)).collect();
        add(below(&spaced), "tabs cannot indent YAML", true);
    }
    if first.starts_with(['|', '>']) && !rest.is_empty() {
        let moved: Vec<String> =
            rest.iter().map(|line| if is_blank(line) { String::new() } else { format!("  {line}") }).collect();
        add(below(&moved), "the lines of a block text must be indented", true);
    }
    if kind == Kind::List && rest.is_empty() {
        if first.starts_with('[') && first.ends_with(']') {
            let items: Vec<String> =
                split_list(&first[1..first.len() - 1]).iter().map(|(item, _)| quoted(unquoted(item))).collect();
            add(format!("{head}: [{}]", items.join(", ")), "an item cannot stand without quotes", true);
        } else if first.starts_with(['"', '\'']) {
            let items: Vec<String> = split_list(first).iter().map(|(item, _)| quoted(unquoted(item))).collect();
            add(format!("{head}: [{}]", items.join(", ")), "quoted items need brackets around them", true);
        }
    }
    if first.is_empty() && !rest.is_empty() {
        let fixed: Vec<String> = rest.iter().map(|line| requoted(line, kind, steps)).collect();
        add(below(&fixed), "a value cannot stand without quotes", true);
        let kept: Vec<String> =
            fixed.iter().filter(|line| is_blank(line) || line.starts_with([' ', '\t', '-', '#'])).cloned().collect();
        if kept.len() < fixed.len() {
            add(below(&kept), "a line that belongs to no key was left out", false);
        }
    }
    // Text that began as something else may have lost its shape.
    let plain = !first.is_empty() && !first.starts_with(['[', '{', '"', '\'', '|', '>']);
    let reason =
        if rest.is_empty() { "the text cannot stand without quotes" } else { "the text goes on over several lines" };
    add(format!("{head}: {}", quoted(&folded(first, &rest))), reason, plain && kind == Kind::List);
    found
}

/// The first line and the lines after it as one line of text.
fn folded(first: &str, rest: &[&str]) -> String {
    let mut parts = vec![first];
    parts.extend(rest.iter().map(|line| line.trim()));
    parts.retain(|part| !part.is_empty());
    parts.join(" ")
}

/// The line indented by two spaces for each tab.
fn untabbed(line: &str) -> String {
    let blank = indent(line);
    format!("{}{}", line[..blank].replace('\t', "  "), &line[blank..])
}

/// The line with its value in quotes, when the line alone cannot be read, or reads as something else than an item of a list
/// of texts.
fn requoted(line: &str, kind: Kind, steps: &mut Steps) -> String {
    let content = line.trim();
    if content.is_empty() || content.starts_with('#') {
        return line.to_owned();
    }
    let mut at = indent(line);
    while line[at..].starts_with("- ") {
        at += 2;
        at += indent(&line[at..]);
    }
    let value = line[at..].trim_end();
    let reads = match yaml::parse(value, 0, steps) {
        Ok(parsed) => kind != Kind::List || !matches!(parsed.value.kind, ValueKind::Map(_)),
        Err(_) => false,
    };
    if reads {
        return line.to_owned();
    }
    if let Some(colon) = value.find(": ").filter(|_| kind != Kind::List) {
        let keyed = format!("{}: {}", &line[..at + colon], quoted(value[colon + 1..].trim()));
        if yaml::parse(keyed.trim(), 0, steps).is_ok() {
            return keyed;
        }
    }
    format!("{}{}", &line[..at], quoted(value))
}

fn unquoted(item: &str) -> &str {
    for quote in ['"', '\''] {
        if let Some(inner) = item.strip_prefix(quote).and_then(|item| item.strip_suffix(quote)) {
            return inner;
        }
    }
    item
}

/// Keys that read one by one and not together stand at different columns: each is moved to the margin.
fn dedent(text: &str, chunks: &[Chunk], repairs: &mut Vec<Repair>) {
    for chunk in chunks {
        let written = &text[chunk.span.range()];
        let blank = indent(written);
        if blank > 0 {
            repairs.push(Repair {
                key: chunk.key.clone(),
                span: chunk.span,
                corrected: written[blank..].to_owned(),
                reason: "keys must begin in the same column",
                sure: true,
            });
        }
    }
}

/// A header whose keys a formatter joined into one line: `name: a description: b`.
fn split_joined(text: &str, inner: Span, steps: &mut Steps) -> Option<Repaired> {
    let mut filled = lines(text, inner).filter(|line| !is_blank(line.text(text)));
    let line = filled.next()?;
    if filled.next().is_some() || !line.text(text).starts_with("name:") {
        return None;
    }
    let content = line.text(text);
    let mut starts: Vec<(usize, &str)> = Vec::new();
    for (at, _) in content.match_indices(": ") {
        let start = content[..at].rfind([' ', '\t']).map_or(0, |blank| blank + 1);
        let word = &content[start..at];
        if key::KEYS.iter().any(|key| key.name == word) {
            if starts.iter().any(|(_, seen)| *seen == word) {
                return None;
            }
            starts.push((start, word));
        }
    }
    if !starts.iter().any(|(_, word)| *word == "description") {
        return None;
    }
    let mut corrected = Vec::new();
    let mut entries = Vec::new();
    for (i, (start, word)) in starts.iter().enumerate() {
        let end = starts.get(i + 1).map_or(content.len(), |(next, _)| *next);
        let part = content[*start..end].trim_end();
        let value_start = start + word.len() + 1;
        let raw = &content[value_start..start + part.len()];
        let span = Span::new(value_start + indent(raw), start + part.len()).shifted(line.start);
        let fixed = match yaml::parse(part, 0, steps) {
            Ok(parsed) if is_map(&parsed) => part.to_owned(),
            _ => format!("{word}: {}", quoted(raw.trim())),
        };
        let parsed = yaml::parse(&fixed, 0, steps).ok()?;
        let ValueKind::Map(read) = parsed.value.kind else { return None };
        for mut entry in read {
            entry.key_span = Span::new(*start, start + word.len()).shifted(line.start);
            set_span(&mut entry.value, span);
            entries.push(entry);
        }
        corrected.push(fixed);
    }
    let corrected = corrected.join("\n");
    yaml::parse(&corrected, 0, steps).ok()?;
    let reason = "several keys stand in one line";
    Some(Repaired {
        value: Value { span: inner, kind: ValueKind::Map(entries) },
        aliases: Vec::new(),
        repairs: vec![Repair { key: "name".into(), span: line.span(), corrected, reason, sure: true }],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Repairs `text` and checks the corrected whole; `None` when it cannot be repaired.
    fn check(text: &str, expected: Option<&str>) {
        let all = Span::new(0, text.len());
        let mut steps = Steps::new();
        assert!(yaml::parse(text, 0, &mut steps).is_err(), "{text:?} is YAML");
        let found = repair(text, all, &mut steps).map(|repaired| corrected(text, all, &repaired.repairs));
        assert_eq!(found.as_deref(), expected, "{text:?}");
        assert!(steps.taken() < 1000, "{text:?}: {}", steps.taken());
    }

    #[test]
    fn only_what_fails_is_rewritten() {
        for (text, expected) in [
            ("a: x: y\nb: 'z'", Some("a: \"x: y\"\nb: 'z'")),
            ("a: [x] [y]\n# c\nb: z", Some("a: \"[x] [y]\"\n# c\nb: z")),
            ("description: |\none\ntwo\nb: z", Some("description: |\n  one\n  two\nb: z")),
            ("m:\n\ta: b\nc: d", Some("m:\n  a: b\nc: d")),
            ("m:\n  a: b: c\n  d: e", Some("m:\n  a: \"b: c\"\n  d: e")),
            ("m:\n  a: b\nstray words\nc: d", Some("m:\n  a: b\nc: d")),
            ("paths: [*.md, \"x y\"]", Some("paths: [\"*.md\", \"x y\"]")),
            (" a: b\nc: d", Some("a: b\nc: d")),
            ("a: &x b\nc: *x\nd: e: f", Some("a: &x b\nc: *x\nd: \"e: f\"")),
            ("a: \"x\ny\nz: 1", Some("a: '\"x y'\nz: 1")),
            ("words\na: b: c", None),
            ("- a: b: c", None),
        ] {
            check(text, expected);
        }
    }

    #[test]
    fn a_header_of_nothing_but_failures_ends_within_its_steps() {
        let text = "a: b: c\n".repeat(8_000);
        let mut steps = Steps::new();
        let _ = repair(&text, Span::new(0, text.len()), &mut steps);
        assert!(steps.taken() <= 200_000, "{}", steps.taken());
    }
}
