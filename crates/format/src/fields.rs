//! The header's entries as typed values. What decides over authority and cannot be read fails closed.

use crate::key::{self, Key, Kind};
use crate::lists::split_list;
use crate::options::ReadOptions;
use crate::path_pattern::path_pattern_problem;
use crate::placeholder::argument_name_problem;
use crate::quote::quoted;
use crate::requires;
use memchr::{memchr, memmem};
use skillgate_core::{
    Code, Context, Diagnostic, Effort, Entry, Field, Frontmatter, Guarded, LoadedFrom, ModelChoice, Profile,
    ScalarStyle, Severity, Span, Value, ValueKind, nearest,
};
use std::collections::{BTreeMap, HashSet};

/// What the entries were read from.
pub(crate) struct Header<'a> {
    /// The whole file.
    pub(crate) source: &'a str,
    /// The header with its delimiters.
    pub(crate) whole: Span,
    /// Places where an alias stands instead of a value.
    pub(crate) aliases: &'a [Span],
    /// Keys whose value was repaired by guessing; for a key that decides over authority that is not enough.
    pub(crate) guessed: &'a [&'a str],
}

/// Reads the top-level entries, which stand in the author's order, into a frontmatter without any; their texts are taken over.
pub(crate) fn read(
    header: &Header<'_>,
    entries: Vec<Entry>,
    options: &ReadOptions,
    frontmatter: &mut Frontmatter,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let keys: Vec<Option<&'static Key>> = entries.iter().map(|entry| key::find(&entry.key)).collect();
    lint(header, &entries, &keys, diagnostics);
    let repetitions = repetitions(&entries, &keys);
    let mut reader = Reader { header, options, diagnostics, frontmatter };
    for (index, (entry, known)) in entries.into_iter().zip(keys).enumerate() {
        reader.entry(entry, known, repetitions.get(index).copied().unwrap_or_default());
    }
}

/// The name under which the key is known, or the key itself.
fn name_of<'e>(entry: &'e Entry, known: Option<&'static Key>) -> &'e str {
    known.map_or(entry.key.as_str(), |key| key.name)
}

/// Where else an entry's name stands.
#[derive(Clone, Copy, Default)]
struct Repetition {
    before: bool,
    behind: bool,
}

/// Entries whose names are compared one by one.
const FEW_ENTRIES: usize = 16;

/// Of each entry; none at all when every name stands once.
fn repetitions(entries: &[Entry], keys: &[Option<&'static Key>]) -> Vec<Repetition> {
    let names = || entries.iter().zip(keys).map(|(entry, known)| name_of(entry, *known));
    let once = |(index, name)| !names().take(index).any(|before| before == name);
    if entries.len() <= FEW_ENTRIES && names().enumerate().all(once) {
        return Vec::new();
    }
    let mut places: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (index, name) in names().enumerate() {
        places.entry(name).or_insert((index, index)).1 = index;
    }
    let found = names().enumerate().map(|(index, name)| {
        let (first, last) = places.get(name).copied().unwrap_or((index, index));
        Repetition { before: first < index, behind: index < last }
    });
    found.collect()
}

struct Reader<'a, 'd> {
    header: &'a Header<'a>,
    options: &'a ReadOptions,
    diagnostics: &'d mut Vec<Diagnostic>,
    frontmatter: &'d mut Frontmatter,
}

impl Reader<'_, '_> {
    fn entry(&mut self, entry: Entry, known: Option<&'static Key>, repetition: Repetition) {
        let repeated = repetition.before || repetition.behind;
        if repetition.before {
            self.duplicate(&entry, known);
        }
        if let Some(key) = known
            && key.name != entry.key
            && self.options.profile != Profile::Strict
        {
            let mut found = Diagnostic::new(
                Code::KeySpelling(key.name.to_owned()),
                format!("`{}` is read as `{}`", entry.key, key.name),
            )
            .at(entry.key_span);
            if !repeated && self.header.source.get(entry.key_span.range()) == Some(entry.key.as_str()) {
                found = found.fix(entry.key_span, key.name);
            }
            self.diagnostics.push(found);
        }
        let Some(key) = known else {
            if self.options.profile == Profile::Safe {
                self.unknown(&entry);
            }
            self.frontmatter.other.push(entry);
            return;
        };
        if key.security && repeated {
            self.set_unreadable(key, entry.value.span);
        } else if !repetition.behind {
            self.known(key, entry);
        }
    }

    fn duplicate(&mut self, entry: &Entry, known: Option<&'static Key>) {
        let name = name_of(entry, known);
        let security = known.is_some_and(|key| key.security);
        let mut found = Diagnostic::new(Code::DuplicateKey(name.to_owned()), format!("`{name}` stands twice"))
            .at(entry.key_span)
            .help(if security {
                "keep one; until then the skill is treated as if neither allowed anything"
            } else {
                "keep one; the last one counts"
            });
        if security {
            found = found.severity(Severity::Error);
        }
        self.diagnostics.push(found);
    }

    fn unknown(&mut self, entry: &Entry) {
        let mut found =
            Diagnostic::new(Code::UnknownKey(entry.key.clone()), format!("the format has no key `{}`", entry.key))
                .at(entry.key_span);
        let near = || key::KEYS.iter().find(|key| Some(&key.name) == nearest(&entry.key, key::known_keys()).first());
        if let Some(key) = key::other_name(&entry.key).or_else(near) {
            found = found.help(format!("did you mean `{}`?", key.name));
            if key.security {
                // The author may count on something that does not hold.
                found = found.severity(Severity::Warning);
            }
        }
        self.diagnostics.push(found);
    }

    /// Reports that a key's value has a type the key does not take.
    fn invalid(&mut self, name: &str, span: Span, message: String) {
        self.diagnostics.push(Diagnostic::new(Code::FieldInvalid(name.to_owned()), message).at(span));
    }

    fn ignored_in_commands(&mut self, name: &str, span: Span) {
        self.diagnostics.push(
            Diagnostic::new(Code::FieldInvalid(name.to_owned()), format!("`{name}` has no effect in a command file"))
                .at(span)
                .severity(Severity::Info),
        );
    }

    fn set_unreadable(&mut self, key: &Key, span: Span) {
        let front = &mut *self.frontmatter;
        match key.name {
            "allowed-tools" => front.allowed_tools = Guarded::Unreadable(span),
            "disallowed-tools" => front.disallowed_tools = Guarded::Unreadable(span),
            "disable-model-invocation" => front.disable_model_invocation = Guarded::Unreadable(span),
            "user-invocable" => front.user_invocable = Guarded::Unreadable(span),
            "hooks" => front.hooks = Guarded::Unreadable(span),
            "shell" => front.shell = Guarded::Unreadable(span),
            "paths" => front.paths = Guarded::Unreadable(span),
            _ => {}
        }
    }

    /// A key that decides over authority and cannot be read.
    fn fail_closed(&mut self, key: &Key, span: Span, message: String) {
        let meaning = match key.name {
            "allowed-tools" | "disallowed-tools" => "the skill gets no tool at all",
            "disable-model-invocation" => "no model may invoke the skill",
            "user-invocable" => "the skill can only be shown",
            "hooks" => "the skill cannot be invoked",
            "shell" => "no injected command runs",
            _ => "the skill never activates by itself",
        };
        self.diagnostics.push(
            Diagnostic::new(Code::SecurityKeyInvalid(key.name.to_owned()), message)
                .at(span)
                .help(format!("until it is corrected, {meaning}")),
        );
        self.set_unreadable(key, span);
    }

    fn known(&mut self, key: &Key, entry: Entry) {
        let value = entry.value;
        if matches!(value.kind, ValueKind::Null) {
            return;
        }
        let alias = self.header.aliases.iter().any(|alias| value.span.contains(*alias));
        if alias || key.security && self.header.guessed.contains(&entry.key.as_str()) {
            let message = if alias {
                format!("`{}` holds an alias; aliases are not followed", key.name)
            } else {
                format!("`{}` could not be read with certainty", key.name)
            };
            if key.security {
                self.fail_closed(key, value.span, message);
            } else {
                self.invalid(key.name, value.span, message);
            }
            return;
        }
        match key.kind {
            Kind::Text => self.text(key, value),
            Kind::List => self.list(key, value),
            Kind::Bool => self.boolean(key, &value),
            Kind::Other => self.other(key, value),
        }
    }

    fn text(&mut self, key: &Key, value: Value) {
        let span = value.span;
        let Some(text) = self.text_of(key, value) else { return };
        let text = match text.trim() {
            "" => return,
            trimmed if trimmed.len() == text.len() => text,
            trimmed => trimmed.to_owned(),
        };
        let field = Field::new(text, span);
        let commands = self.options.profile == Profile::Claude && self.options.loaded_from == LoadedFrom::Commands;
        let front = &mut *self.frontmatter;
        match key.name {
            "name" if commands => self.ignored_in_commands("name", field.span),
            "name" => front.name = Some(field),
            "description" => front.description = Some(field),
            "when_to_use" => front.when_to_use = Some(field),
            "argument-hint" => front.argument_hint = Some(field),
            "version" => front.version = Some(field),
            "model" if field.value.eq_ignore_ascii_case("inherit") => {}
            "model" => front.model = Some(Field::new(ModelChoice(field.value), field.span)),
            "agent" => front.agent = Some(field),
            "license" => front.license = Some(field),
            "compatibility" => front.compatibility = Some(field),
            "context" => match field.value.to_ascii_lowercase().as_str() {
                "inline" => front.context = Some(Field::new(Context::Inline, field.span)),
                "fork" => front.context = Some(Field::new(Context::Fork, field.span)),
                _ => {
                    let message = format!("`context` is `inline` or `fork`, not `{}`", field.value);
                    self.invalid("context", field.span, message);
                }
            },
            "effort" => self.effort(&field),
            _ => {}
        }
    }

    /// The author's text of a text field.
    fn text_of(&mut self, key: &Key, value: Value) -> Option<String> {
        let value = match value.kind {
            ValueKind::Scalar(scalar) => return Some(scalar.text),
            kind => Value { kind, ..value },
        };
        let written = self.header.source.get(value.span.range()).unwrap_or_default();
        let one_line = || written.split_whitespace().collect::<Vec<_>>().join(" ");
        match (key.name, &value.kind) {
            // `{{NAME}}` is YAML for a mapping in a mapping.
            _ if is_leftover(written) => Some(written.to_owned()),
            ("argument-hint", ValueKind::List(items)) if !written.starts_with('[') => {
                let texts: Option<Vec<&str>> = items.iter().map(Value::text).collect();
                Some(texts.map_or_else(one_line, |texts| texts.join(" ")))
            }
            ("argument-hint", _) => Some(one_line()),
            ("description" | "when_to_use", _) => {
                let text = one_line();
                self.diagnostics.push(
                    Diagnostic::new(
                        Code::DescriptionNotString,
                        format!(
                            "`{}` is {}, not text; what is written is taken as it stands",
                            key.name,
                            value.describe()
                        ),
                    )
                    .at(value.span)
                    .help(format!("write {}: {}", key.name, quoted(&text)))
                    .fix(value.span, quoted(&text)),
                );
                Some(text)
            }
            _ => {
                self.invalid(
                    key.name,
                    value.span,
                    format!("`{}` has to be a text, and is {}", key.name, value.describe()),
                );
                None
            }
        }
    }

    fn effort(&mut self, field: &Field<String>) {
        let effort = match field.value.to_ascii_lowercase().as_str() {
            "low" => Effort::Low,
            "medium" => Effort::Medium,
            "high" => Effort::High,
            "xhigh" => Effort::Xhigh,
            "max" => Effort::Max,
            text => match text.parse() {
                Ok(number) => {
                    self.diagnostics.push(
                        Diagnostic::new(
                            Code::FieldInvalid("effort".into()),
                            "`effort` is a number; the documented values are low, medium, high, xhigh and max",
                        )
                        .at(field.span)
                        .severity(Severity::Info),
                    );
                    Effort::Number(number)
                }
                Err(_) => {
                    let message = format!("`effort` is low, medium, high, xhigh or max, not `{}`", field.value);
                    self.invalid("effort", field.span, message);
                    return;
                }
            },
        };
        self.frontmatter.effort = Some(Field::new(effort, field.span));
    }

    fn boolean(&mut self, key: &Key, value: &Value) {
        let read = value.text().and_then(parse_bool);
        let Some(read) = read else {
            let written = self.header.source.get(value.span.range()).unwrap_or_default();
            let message = format!("`{}` is true or false, not `{written}`", key.name);
            if key.security {
                self.fail_closed(key, value.span, message);
            } else {
                self.invalid(key.name, value.span, message);
            }
            return;
        };
        let field = Field::new(read, value.span);
        match key.name {
            "disable-model-invocation" => self.frontmatter.disable_model_invocation = Guarded::Present(field),
            "user-invocable" => self.frontmatter.user_invocable = Guarded::Present(field),
            "deferred" => self.frontmatter.deferred = Some(field),
            _ => self.frontmatter.background = Some(field),
        }
    }

    fn list(&mut self, key: &Key, value: Value) {
        let span = value.span;
        let Some(entries) = self.list_entries(key, value) else { return };
        match key.name {
            "allowed-tools" => self.frontmatter.allowed_tools = Guarded::Present(Field::new(entries, span)),
            "disallowed-tools" => self.frontmatter.disallowed_tools = Guarded::Present(Field::new(entries, span)),
            "paths" if self.options.profile == Profile::Claude && self.options.loaded_from == LoadedFrom::Commands => {
                self.ignored_in_commands("paths", span);
            }
            "paths" => self.paths(Field::new(entries, span)),
            _ => self.arguments(entries),
        }
    }

    fn list_entries(&mut self, key: &Key, value: Value) -> Option<Vec<Field<String>>> {
        let items = match value.kind {
            ValueKind::List(items) => items,
            ValueKind::Scalar(scalar) => {
                // Where the value stands as it is read, every entry has a place of its own.
                let written = self.header.source.get(value.span.range());
                let offset = match written {
                    Some(written) if written == scalar.text => Some(value.span.start),
                    Some(written) if written.get(1..written.len().saturating_sub(1)) == Some(scalar.text.as_str()) => {
                        Some(value.span.start + 1)
                    }
                    _ => None,
                };
                let place = |span: Span| offset.map_or(value.span, |offset| span.shifted(offset));
                return Some(
                    split_list(&scalar.text).into_iter().map(|(text, span)| Field::new(text, place(span))).collect(),
                );
            }
            ValueKind::Map(_) | ValueKind::Null => {
                let message = format!("`{}` is a list or text, not {}", key.name, value.describe());
                if key.security {
                    self.fail_closed(key, value.span, message);
                } else {
                    self.invalid(key.name, value.span, message);
                }
                return None;
            }
        };
        let mut entries = Vec::with_capacity(items.len());
        for item in items {
            let item = match item.kind {
                ValueKind::Scalar(scalar) => {
                    entries.push(Field::new(scalar.text, item.span));
                    continue;
                }
                kind => Value { kind, ..item },
            };
            match (&item.kind, self.header.source.get(item.span.range())) {
                // `- Bash(git log: x)` reads as a mapping; the author wrote one entry.
                (ValueKind::Map(_), Some(written)) if is_entry(written) => {
                    self.diagnostics.push(
                        Diagnostic::new(
                            Code::YamlRecovered(key.name.to_owned()),
                            format!(
                                "an entry of `{}` reads as a mapping and was taken as text: {}",
                                key.name,
                                quoted(written)
                            ),
                        )
                        .at(item.span)
                        .fix(item.span, quoted(written)),
                    );
                    entries.push(Field::new(written.to_owned(), item.span));
                }
                _ if key.name == "disallowed-tools" => {
                    // Leaving an entry out would allow what it removes.
                    let message = format!("an entry of `disallowed-tools` is {}, not text", item.describe());
                    self.fail_closed(key, item.span, message);
                    return None;
                }
                _ => {
                    let code = match key.name {
                        "paths" => Code::PathPatternInvalid,
                        "arguments" => Code::ArgumentNameInvalid,
                        _ => Code::ToolPatternInvalid,
                    };
                    let message =
                        format!("an entry of `{}` is {}, not text; it is left out", key.name, item.describe());
                    let mut found = Diagnostic::new(code, message).at(item.span);
                    if let Some(name) = item.get("name").and_then(Value::text).filter(|_| key.name == "arguments") {
                        found = found
                            .help(format!("write the name alone: `- {name}`; `argument-hint` takes words about it"));
                    }
                    self.diagnostics.push(found);
                    if key.name == "arguments" {
                        // The names behind it keep their positions.
                        entries.push(Field::new(String::new(), item.span));
                    }
                }
            }
        }
        Some(entries)
    }

    /// An entry that can match nothing stays in its place, so that a list of such entries is not an empty one.
    fn paths(&mut self, paths: Field<Vec<Field<String>>>) {
        for entry in &paths.value {
            if let Some(problem) = path_pattern_problem(&entry.value) {
                let message = format!("{} matches nothing: {problem}", shortened(&entry.value));
                self.diagnostics
                    .push(Diagnostic::new(Code::PathPatternInvalid, message).at(entry.span).help(problem.help()));
            }
        }
        self.frontmatter.paths = Guarded::Present(paths);
    }

    fn arguments(&mut self, entries: Vec<Field<String>>) {
        let mut seen = HashSet::new();
        for mut field in entries {
            if let Some(name) = field.value.strip_prefix('$') {
                field.value = name.to_owned();
            }
            let repeated = !seen.insert(field.value.clone());
            let problem = if repeated { Some("it stands twice") } else { argument_name_problem(&field.value) };
            if let Some(problem) = problem.filter(|_| !field.value.is_empty()) {
                let message = format!("`{}` cannot be an argument's name: {problem}", field.value);
                self.diagnostics.push(Diagnostic::new(Code::ArgumentNameInvalid, message).at(field.span));
            }
            self.frontmatter.arguments.push(field);
        }
    }

    fn other(&mut self, key: &Key, value: Value) {
        let span = value.span;
        match (key.name, value.kind) {
            ("hooks", kind @ ValueKind::Map(_)) => {
                let hooks = Value { kind, span };
                if repeated_keys(&hooks).next().is_some() {
                    // One of the two may be a guard.
                    self.fail_closed(key, span, "a key of `hooks` stands twice".into());
                } else {
                    self.frontmatter.hooks = Guarded::Present(Field::new(hooks, span));
                }
            }
            ("shell", ValueKind::Scalar(scalar)) if !scalar.text.trim().is_empty() => {
                self.frontmatter.shell = Guarded::Present(Field::new(scalar.text.trim().to_owned(), span));
            }
            ("shell", ValueKind::Map(entries)) => {
                let mut commands = entries.iter().filter(|entry| entry.key == "command");
                match (commands.next().and_then(|entry| entry.value.text()), commands.next()) {
                    (Some(command), None) => {
                        self.frontmatter.shell = Guarded::Present(Field::new(command.trim().to_owned(), span));
                    }
                    _ => self.fail_closed(key, span, "`shell` has no `command` that is text".into()),
                }
            }
            ("requires", kind) => {
                self.frontmatter.requires = requires::read(&Value { kind, span }, self.diagnostics);
            }
            ("metadata", kind @ ValueKind::Map(_)) => self.frontmatter.metadata = Some(Value { kind, span }),
            (name, kind) => {
                let is = Value { kind, span }.describe();
                if key.security {
                    self.fail_closed(key, span, format!("`{name}` cannot be {is}"));
                } else {
                    self.invalid(name, span, format!("`{name}` has to be keys with values, and is {is}"));
                }
            }
        }
    }
}

/// The keys of nested mappings that stood before in the same mapping.
fn repeated_keys(value: &Value) -> impl Iterator<Item = &Entry> {
    let mut pending = vec![value];
    std::iter::from_fn(move || {
        let value = pending.pop()?;
        let mut repeated = Vec::new();
        match &value.kind {
            ValueKind::List(items) => pending.extend(items.iter().rev().filter(|item| holds_keys(item))),
            ValueKind::Map(entries) => {
                if entries.len() <= FEW_ENTRIES {
                    let before = |index: usize, key: &str| entries[..index].iter().any(|entry| entry.key == key);
                    let again = entries.iter().enumerate().filter(|(index, entry)| before(*index, &entry.key));
                    repeated.extend(again.map(|(_, entry)| entry));
                } else {
                    let mut seen = HashSet::new();
                    repeated.extend(entries.iter().filter(|entry| !seen.insert(&entry.key)));
                }
                pending.extend(entries.iter().rev().map(|entry| &entry.value).filter(|value| holds_keys(value)));
            }
            ValueKind::Null | ValueKind::Scalar(_) => {}
        }
        Some(repeated)
    })
    .flatten()
}

/// Whether there are keys in the value.
fn holds_keys(value: &Value) -> bool {
    match &value.kind {
        ValueKind::Map(_) => true,
        // A list of anything but scalars is seldom met.
        ValueKind::List(items) => !items.iter().all(|item| matches!(item.kind, ValueKind::Null | ValueKind::Scalar(_))),
        ValueKind::Null | ValueKind::Scalar(_) => false,
    }
}

/// A pattern as a message names it.
fn shortened(pattern: &str) -> String {
    const SHOWN: usize = 64;
    match pattern.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("`{}…`", &pattern[..end]),
        None => format!("`{pattern}`"),
    }
}

/// The spellings of a truth value.
fn parse_bool(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Some(true),
        "false" | "no" | "off" | "0" => Some(false),
        _ => None,
    }
}

/// Whether an entry's text is one line that is no flow collection.
fn is_entry(written: &str) -> bool {
    !written.contains(['\n', '\r']) && !written.starts_with(['{', '[', '?'])
}

/// Whether the whole text is a template's placeholder.
fn is_leftover(text: &str) -> bool {
    text.starts_with("{{")
        && text.ends_with("}}")
        && text.len() > 4
        && !text[2..text.len() - 2].contains(['{', '}', '\n'])
}

/// Reports template placeholders (`{{NAME}}`), plain values that a comment cuts, colons that not every reader takes, and repeated
/// keys of nested mappings.
fn lint(header: &Header<'_>, entries: &[Entry], keys: &[Option<&'static Key>], diagnostics: &mut Vec<Diagnostic>) {
    // Without their signs there is neither comment nor placeholder.
    let text = header.whole.slice(header.source).unwrap_or(header.source).as_bytes();
    let (comments, placeholders) = (memchr(b'#', text).is_some(), memchr(b'{', text).is_some());
    for (entry, known) in entries.iter().zip(keys) {
        let name = name_of(entry, *known);
        let mut pending = if comments { vec![&entry.value] } else { Vec::new() };
        while let Some(value) = pending.pop() {
            match &value.kind {
                ValueKind::List(items) => pending.extend(items.iter().rev()),
                ValueKind::Map(entries) => pending.extend(entries.iter().rev().map(|entry| &entry.value)),
                ValueKind::Null | ValueKind::Scalar(_) => {
                    cut_by_comment(header.source, name, value, std::ptr::eq(value, &entry.value), diagnostics);
                }
            }
        }
        if placeholders {
            leftovers(header.source, name, entry.value.span, diagnostics);
        }
        if is_flow(header.source, &entry.value) {
            colons_in_flow(name, &entry.value, diagnostics);
        }
        if !holds_keys(&entry.value) {
            continue;
        }
        for repeated in repeated_keys(&entry.value) {
            let message = format!("`{}` stands twice in `{name}`", repeated.key);
            diagnostics.push(
                Diagnostic::new(Code::DuplicateKey(repeated.key.clone()), message)
                    .at(repeated.key_span)
                    .help("keep one; the last one counts"),
            );
        }
    }
}

fn cut_by_comment(source: &str, name: &str, value: &Value, top: bool, diagnostics: &mut Vec<Diagnostic>) {
    let plain = match &value.kind {
        ValueKind::Scalar(scalar) => scalar.style == ScalarStyle::Plain,
        _ => top,
    };
    let Some(rest) = source.get(value.span.end..).filter(|_| plain) else { return };
    let line = rest.split(['\n', '\r']).next().unwrap_or_default();
    let line = if value.span.is_empty() { line.strip_prefix(':').unwrap_or(line) } else { line };
    let comment = line.trim_start();
    if !comment.starts_with('#') || comment.len() == line.len() {
        return;
    }
    // `# words` is how comments are written; `#7` is how text is.
    let deliberate = comment[1..].starts_with([' ', '\t', '#']) || comment.len() == 1;
    let whole_end = value.span.end + rest.find(['\n', '\r']).unwrap_or(rest.len());
    let start = if value.span.is_empty() { whole_end - comment.len() } else { value.span.start };
    let whole = Span::new(start, whole_end);
    let text = source[whole.range()].trim_end();
    let mut found = Diagnostic::new(
        Code::ValueCutByComment(name.to_owned()),
        format!("`{}` is a comment for YAML and not part of the value", comment.trim_end()),
    )
    .at(Span::new(whole_end - comment.len(), whole_end));
    if deliberate {
        found = found.severity(Severity::Info);
    } else {
        found = found.help(format!("put the value in quotes: {}", quoted(text)));
        let security = key::find(name).is_some_and(|key| key.security);
        if !security && !text.contains(['\n', '\r']) {
            found = found.fix(Span::new(whole.start, whole.start + text.len()), quoted(text));
        }
    }
    diagnostics.push(found);
}

/// Whether the value is written in brackets or braces.
fn is_flow(source: &str, value: &Value) -> bool {
    matches!(value.kind, ValueKind::List(_) | ValueKind::Map(_))
        && matches!(source.as_bytes().get(value.span.start), Some(b'[' | b'{'))
}

/// Reports words with a colon inside brackets (`[p:n]`): YAML 1.2 takes them for text, and older readers refuse the file or make
/// a mapping of them.
fn colons_in_flow(name: &str, value: &Value, diagnostics: &mut Vec<Diagnostic>) {
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        match &value.kind {
            ValueKind::List(items) => pending.extend(items.iter().rev()),
            ValueKind::Map(entries) => pending.extend(entries.iter().rev().map(|entry| &entry.value)),
            ValueKind::Scalar(scalar) if scalar.style == ScalarStyle::Plain && scalar.text.contains(':') => {
                diagnostics.push(
                    Diagnostic::new(
                        Code::YamlNotPortable(name.to_owned()),
                        format!(
                            "`{}` is one text here; not every reader of YAML takes a colon in brackets",
                            scalar.text
                        ),
                    )
                    .at(value.span)
                    .help("put it in quotes")
                    .fix(value.span, quoted(&scalar.text)),
                );
            }
            ValueKind::Scalar(_) | ValueKind::Null => {}
        }
    }
}

fn leftovers(source: &str, name: &str, span: Span, diagnostics: &mut Vec<Diagnostic>) {
    let Some(text) = source.get(span.range()) else { return };
    let mut at = 0;
    while let Some(start) = memmem::find(&text.as_bytes()[at..], b"{{").map(|skip| at + skip) {
        let Some(length) = text[start + 2..].find("}}") else { return };
        let inner = &text[start + 2..start + 2 + length];
        let name_like = !inner.trim().is_empty()
            && inner.len() <= 64
            && inner.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | ' ' | '.'));
        // `${{ … }}` is a workflow's own syntax.
        if name_like && !text[..start].ends_with('$') {
            let place = Span::new(start, start + length + 4).shifted(span.start);
            diagnostics.push(
                Diagnostic::new(
                    Code::TemplatePlaceholder,
                    format!("`{name}` still holds the template's placeholder `{{{{{inner}}}}}`"),
                )
                .at(place)
                .help("write what belongs there"),
            );
            at = start + 4 + length;
        } else {
            at = start + 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truth_values_have_eight_spellings_in_any_case() {
        for (text, expected) in [
            ("true", Some(true)),
            ("Yes", Some(true)),
            ("ON", Some(true)),
            ("1", Some(true)),
            ("false", Some(false)),
            ("nO", Some(false)),
            ("off", Some(false)),
            ("0", Some(false)),
            ("y", None),
            ("", None),
            ("truee", None),
            ("2", None),
        ] {
            assert_eq!(parse_bool(text), expected, "{text}");
        }
    }
}
