//! YAML events to a tree of values with spans. Aliases are counted and never followed, depth and size are bounded, and
//! repeated keys are kept. What is written as headers usually are is read without events ([`crate::yaml_subset`]), to the
//! same tree.

use crate::yaml_subset;
use serde_yaml::granit_parser::{
    ErrorKind, Event, Options, Parser, ScalarStyle as WrittenStyle, Span as ParserSpan, StructureStyle,
};
use skillgate_core::{Entry, Scalar, ScalarStyle, Span, Value, ValueKind};

/// Parser events one document may take, all attempts at repairing it included.
const MAX_STEPS: u32 = 200_000;
/// Values one tree may hold.
const MAX_NODES: usize = 20_000;
/// Nesting of one tree.
const MAX_DEPTH: usize = 64;
/// Aliases one tree may hold.
const MAX_ALIASES: usize = 64;

/// What is left of a document's budget of parser events.
#[derive(Debug)]
pub(crate) struct Steps {
    left: u32,
}

impl Steps {
    /// The whole budget.
    pub(crate) fn new() -> Self {
        Self { left: MAX_STEPS }
    }

    /// How many steps were taken.
    #[cfg(test)]
    pub(crate) fn taken(&self) -> u32 {
        MAX_STEPS - self.left
    }

    fn take(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.left > 0
    }

    /// Takes all of `count` steps if that leaves one.
    fn take_all(&mut self, count: u32) -> bool {
        let enough = self.left > count;
        if enough {
            self.left -= count;
        }
        enough
    }
}

/// A tree and what stood in it that a tree cannot say.
#[derive(Debug)]
pub(crate) struct Parsed {
    /// The first document's value.
    pub(crate) value: Value,
    /// Every alias; the tree has its text, `*name`, as a scalar.
    pub(crate) aliases: Vec<Span>,
}

/// Why a text is not YAML that is read here.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum YamlError {
    /// Not YAML.
    #[error("{message}")]
    Syntax { offset: usize, message: String },
    /// Beyond a bound.
    #[error("{message}")]
    TooComplex { offset: usize, message: String },
}

impl YamlError {
    /// Where reading stopped.
    pub(crate) fn offset(&self) -> usize {
        match self {
            YamlError::Syntax { offset, .. } | YamlError::TooComplex { offset, .. } => *offset,
        }
    }
}

/// Reads one document from `text`; every offset is moved on by `base`.
pub(crate) fn parse(text: &str, base: usize, steps: &mut Steps) -> Result<Parsed, YamlError> {
    parse_with(text, base, steps, |_| false)
}

/// As [`parse`], and takes aliases of anchors that are not in `text` where `known` says that they exist elsewhere.
pub(crate) fn parse_with(
    text: &str,
    base: usize,
    steps: &mut Steps,
    known: impl Fn(&str) -> bool,
) -> Result<Parsed, YamlError> {
    if let Some(subset) = yaml_subset::read(text, base)
        && subset.nodes <= MAX_NODES
        && steps.take_all(subset.events)
    {
        return Ok(Parsed { value: subset.value, aliases: Vec::new() });
    }
    parse_events(text, base, steps, known)
}

/// Reads all of YAML.
pub(crate) fn parse_events(
    text: &str,
    base: usize,
    steps: &mut Steps,
    known: impl Fn(&str) -> bool,
) -> Result<Parsed, YamlError> {
    let mut options = Options::default();
    options.set_emit_comments(false);
    options.emit_unresolved_aliases = true;
    let mut parser = Parser::new_from_str_with_options(text, options);
    let mut tree = Builder { text, base, stack: Vec::new(), root: None, aliases: Vec::new(), nodes: 0, documents: 0 };
    while let Some(next) = parser.next_event() {
        let (event, span) = next.map_err(|error| {
            let offset = base + error.marker().byte_offset().unwrap_or(0).min(text.len());
            match error.kind() {
                ErrorKind::RecursionLimitExceeded => {
                    YamlError::TooComplex { offset, message: "the header is nested too deeply".into() }
                }
                _ => YamlError::Syntax { offset, message: error.info() },
            }
        })?;
        if !steps.take() {
            return Err(tree.too_complex(span, "reading the header takes too many steps"));
        }
        if let Event::UnresolvedAlias(name) = &event
            && !known(name)
        {
            return Err(YamlError::Syntax {
                offset: tree.span(span).start,
                message: format!("`*{name}` refers to an anchor that does not exist"),
            });
        }
        tree.event(event, span)?;
    }
    let end = Span::at(base + text.len());
    Ok(Parsed { value: tree.root.unwrap_or(Value { span: end, kind: ValueKind::Null }), aliases: tree.aliases })
}

/// Whether a value without quotes is nothing.
pub(crate) fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

/// A collection that is not finished.
enum Frame {
    List { start: usize, flow: bool, items: Vec<Value> },
    Map { start: usize, flow: bool, entries: Vec<Entry>, key: Option<(String, Span)> },
}

struct Builder<'a> {
    text: &'a str,
    base: usize,
    stack: Vec<Frame>,
    root: Option<Value>,
    aliases: Vec<Span>,
    nodes: usize,
    documents: usize,
}

impl Builder<'_> {
    fn span(&self, span: ParserSpan) -> Span {
        let range = span.byte_range().unwrap_or(0..0);
        let end = range.end.min(self.text.len());
        Span::new(range.start.min(end), end).shifted(self.base)
    }

    fn too_complex(&self, span: ParserSpan, message: &str) -> YamlError {
        YamlError::TooComplex { offset: self.span(span).start, message: message.to_owned() }
    }

    fn slice(&self, span: Span) -> &str {
        self.text.get(span.start - self.base..span.end - self.base).unwrap_or_default()
    }

    fn event(&mut self, event: Event<'_>, written: ParserSpan) -> Result<(), YamlError> {
        let span = self.span(written);
        // `!important` in front of a text is a tag, which YAML lets nobody read but its author's program: what stands there is taken for
        // text by the repair, and for nothing where authority is decided.
        if event.tag().is_some_and(|tag| tag.core_suffix().is_none()) {
            let message = "a tag of no known type stands before the value; quote the value to write `!` in it".into();
            return Err(YamlError::Syntax { offset: span.start, message });
        }
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(YamlError::Syntax {
                        offset: span.start,
                        message: "a second YAML document begins here".into(),
                    });
                }
            }
            Event::Alias(_) | Event::UnresolvedAlias(_) => {
                self.aliases.push(span);
                if self.aliases.len() > MAX_ALIASES {
                    return Err(self.too_complex(written, "the header holds too many aliases"));
                }
                let scalar = Scalar { text: self.slice(span).to_owned(), style: ScalarStyle::Plain };
                self.add(Value { span, kind: ValueKind::Scalar(scalar) }, written)?;
            }
            Event::Scalar(text, style, _, tag) => {
                let tag = tag.as_deref().and_then(|tag| tag.core_suffix().map(str::to_owned));
                let plain = matches!(style, WrittenStyle::Plain) && tag.as_deref() != Some("str");
                let null = plain && (span.is_empty() || is_null(&text));
                let kind = if null {
                    ValueKind::Null
                } else {
                    let style = if plain { ScalarStyle::Plain } else { ScalarStyle::Text };
                    ValueKind::Scalar(Scalar { text: text.into_owned(), style })
                };
                // A block scalar's span runs over the blank lines after it.
                let kept = self.slice(span).trim_end_matches(['\n', '\r', ' ', '\t']).len();
                self.add(Value { span: Span::new(span.start, span.start + kept), kind }, written)?;
            }
            Event::SequenceStart(style, ..) => {
                let flow = matches!(style, StructureStyle::Flow);
                self.push(Frame::List { start: span.start, flow, items: Vec::new() }, written)?;
            }
            Event::MappingStart(style, ..) => {
                let flow = matches!(style, StructureStyle::Flow);
                self.push(Frame::Map { start: span.start, flow, entries: Vec::new(), key: None }, written)?;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(frame) = self.stack.pop() {
                    let value = self.close(frame, span);
                    self.add(value, written)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The finished collection; a block collection covers what it holds, for the parser's marks lie around it.
    fn close(&self, frame: Frame, end: Span) -> Value {
        match frame {
            Frame::List { start, flow, items } => {
                let span = match (items.first(), items.last()) {
                    _ if flow => Span::new(start, end.end),
                    (Some(first), Some(last)) => Span::new(self.dash_before(first.span.start), last.span.end),
                    _ => Span::at(start),
                };
                Value { span, kind: ValueKind::List(items) }
            }
            Frame::Map { start, flow, entries, .. } => {
                let span = match (entries.first(), entries.last()) {
                    // A flow mapping without braces (`[a: b]`) has empty marks.
                    _ if flow && !end.is_empty() => Span::new(start, end.end),
                    (Some(first), Some(last)) => {
                        Span::new(first.key_span.start, last.value.span.end.max(last.key_span.end))
                    }
                    _ => Span::at(start),
                };
                Value { span, kind: ValueKind::Map(entries) }
            }
        }
    }

    /// Where the dash of a block sequence's first item stands.
    fn dash_before(&self, item: usize) -> usize {
        let before = self.text.get(..item - self.base).unwrap_or_default().trim_end();
        if before.ends_with('-') { self.base + before.len() - 1 } else { item }
    }

    fn push(&mut self, frame: Frame, written: ParserSpan) -> Result<(), YamlError> {
        if self.stack.len() >= MAX_DEPTH {
            return Err(self.too_complex(written, "the header is nested too deeply"));
        }
        self.stack.push(frame);
        Ok(())
    }

    fn add(&mut self, value: Value, written: ParserSpan) -> Result<(), YamlError> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(self.too_complex(written, "the header holds too many values"));
        }
        let as_key = match self.stack.last() {
            Some(Frame::Map { key: None, .. }) => Some(match &value.kind {
                ValueKind::Scalar(scalar) => scalar.text.clone(),
                _ => self.slice(value.span).to_owned(),
            }),
            _ => None,
        };
        match self.stack.last_mut() {
            None => self.root = self.root.take().or(Some(value)),
            Some(Frame::List { items, .. }) => items.push(value),
            Some(Frame::Map { entries, key, .. }) => match (key.take(), as_key) {
                (Some((key, key_span)), _) => {
                    // Where nothing was written the parser's mark may lie on a later line.
                    let nothing = matches!(value.kind, ValueKind::Null) && value.span.is_empty();
                    let span = if nothing { Span::at(key_span.end) } else { value.span };
                    entries.push(Entry { key, key_span, value: Value { span, ..value } });
                }
                (None, text) => *key = Some((text.unwrap_or_default(), value.span)),
            },
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bombs_and_deep_nesting_end_within_a_counted_number_of_steps() {
        let mut bomb = String::from("a0: &a0 x\n");
        for i in 1..200 {
            bomb.push_str(&format!("a{i}: &a{i} [{}]\n", vec![format!("*a{}", i - 1); 9].join(", ")));
        }
        let wide = format!("a: [{}]", "x, ".repeat(40_000));
        for (name, text) in [
            ("aliases", bomb),
            ("flow", format!("a: {}", "[".repeat(100_000))),
            ("braces", format!("a: {}", "{".repeat(100_000))),
            ("block", format!("a:\n{}", "- ".repeat(100_000))),
            ("keys", format!("a:\n{}", "? ".repeat(100_000))),
            ("within the parser's depth", format!("a: {}{}", "[".repeat(100), "]".repeat(100))),
            ("wide", wide),
            ("many keys", (0..100_000).map(|i| format!("k{i}: v\n")).collect()),
            ("many aliases", format!("a: &a x\nb: [{}]", "*a, ".repeat(100_000))),
            ("many anchors", (0..100_000).map(|i| format!("k{i}: &a{i} [*a{}]\n", i.max(1) - 1)).collect()),
        ] {
            let mut steps = Steps::new();
            let found = parse(&text, 0, &mut steps);
            assert!(matches!(found, Err(YamlError::TooComplex { .. })), "{name}: {found:?}");
            assert!(steps.taken() < 25_000, "{name}: {}", steps.taken());
        }
    }

    #[test]
    fn a_long_line_is_one_step_more_than_a_short_one_at_most() {
        let taken = |length: usize| {
            let mut steps = Steps::new();
            let parsed = parse(&format!("a: {}", "x".repeat(length)), 0, &mut steps).expect("one key");
            assert_eq!(parsed.value.get("a").and_then(Value::text).map(str::len), Some(length));
            steps.taken()
        };
        assert!(taken(1 << 20) <= taken(1) + 1, "{} and {}", taken(1 << 20), taken(1));
    }

    #[test]
    fn every_part_has_its_place() {
        let text = "a: b # c\nd: 'x' \nf:\n  - y\n  - {z: \"q\"}\nn: |\n  l1\n  l2\n\nm: \n";
        let parsed = parse(text, 0, &mut Steps::new()).expect("valid");
        let ValueKind::Map(entries) = parsed.value.kind else { unreachable!("a mapping") };
        let places: Vec<_> =
            entries.iter().map(|entry| (&text[entry.key_span.range()], &text[entry.value.span.range()])).collect();
        assert_eq!(places, [("a", "b"), ("d", "'x'"), ("f", "- y\n  - {z: \"q\"}"), ("n", "l1\n  l2"), ("m", "")]);
    }
}
