//! The `hooks` of a header as typed values. What cannot be read on an event that can be blocked keeps the skill from being
//! activated, because it may be a guard; on another event it is a finding and that handler is left out.

use super::condition::Condition;
use super::event::HookEvent;
use super::matcher::Matcher;
use super::spec::{Handler, HookFault, HookSpec};
use skillgate_core::{Code, Diagnostic, Entry, Guarded, RelPath, Span, Value, ValueKind};
use skillgate_policy::ToolPattern;

/// Handlers of one skill.
const MAX_HANDLERS: usize = 128;
/// The longest time an author can name, seconds.
const MAX_SECONDS: f64 = 86_400.0;

/// The hooks of a header.
#[derive(Clone, Debug, Default)]
pub struct ParsedHooks {
    /// The handlers that can be read, in the author's order.
    pub specs: Vec<HookSpec>,
    /// What keeps the skill from being activated.
    pub faults: Vec<HookFault>,
    /// What else was found.
    pub diagnostics: Vec<Diagnostic>,
}

impl ParsedHooks {
    /// Reads the value of `hooks`. One that could not be read as a whole is refused where the skill is decided, before this.
    #[must_use]
    pub fn of(hooks: &Guarded<Value>) -> Self {
        let mut parsed = Self::default();
        if let Some(value) = hooks.present() {
            parsed.events(value);
        }
        parsed
    }

    /// Everything that was found, as findings about the file.
    pub fn findings(&self) -> impl Iterator<Item = Diagnostic> {
        self.faults.iter().map(HookFault::diagnostic).chain(self.diagnostics.iter().cloned())
    }

    fn events(&mut self, value: &Value) {
        let ValueKind::Map(entries) = &value.kind else { return };
        for Entry { key, key_span, value } in entries {
            match HookEvent::parse(key) {
                Ok(event) => self.groups(event, value),
                Err(unknown) => {
                    let found =
                        Diagnostic::new(Code::HookEventUnknown, format!("{unknown}; it is left out")).at(*key_span);
                    self.diagnostics.push(match unknown.nearest.first() {
                        Some(near) => found.help(format!("the event is called `{near}`")),
                        None => found.help("docs/hooks.md lists the events"),
                    });
                }
            }
        }
    }

    fn groups(&mut self, event: HookEvent, value: &Value) {
        match &value.kind {
            ValueKind::Null => {}
            ValueKind::List(groups) => groups.iter().for_each(|group| self.group(event, group)),
            _ => {
                let reason = format!("the event has {} instead of a list of matcher groups", value.describe());
                self.fault(event, value.span, reason, "write `- hooks: [ … ]` below the event");
            }
        }
    }

    fn group(&mut self, event: HookEvent, group: &Value) {
        let ValueKind::Map(entries) = &group.kind else {
            let reason = format!("a matcher group is {}", group.describe());
            return self.fault(event, group.span, reason, "write `- hooks: [ … ]`, with or without a `matcher`");
        };
        if self.has_double_key(event, entries) {
            return;
        }
        for entry in entries.iter().filter(|entry| !matches!(entry.key.as_str(), "matcher" | "hooks" | "description")) {
            self.ignored(entry, "a matcher group has `matcher` and `hooks`");
        }
        let Some(matcher) = self.matcher(event, group.get("matcher")) else { return };
        let handlers = match group.get("hooks").map(|hooks| &hooks.kind) {
            Some(ValueKind::List(handlers)) => handlers,
            _ => {
                return self.fault(
                    event,
                    group.span,
                    "the matcher group has no list `hooks`".into(),
                    "write `hooks: [ … ]`",
                );
            }
        };
        for handler in handlers {
            if self.specs.len() >= MAX_HANDLERS {
                let reason = format!("the skill has more than {MAX_HANDLERS} handlers");
                return self.fault(event, handler.span, reason, "one handler can look at several things");
            }
            self.handler(event, &matcher, handler);
        }
    }

    fn matcher(&mut self, event: HookEvent, value: Option<&Value>) -> Option<Matcher> {
        let text = match value.map(|value| (&value.kind, value)) {
            None | Some((ValueKind::Null, _)) => return Some(Matcher::All),
            Some((ValueKind::Scalar(scalar), _)) => &scalar.text,
            Some((_, value)) => {
                self.fault(event, value.span, format!("the matcher is {}", value.describe()), "write it as text");
                return None;
            }
        };
        match Matcher::parse(text) {
            Ok(matcher) => Some(matcher),
            Err(reason) => {
                let span = value.map_or_else(Span::default, |value| value.span);
                let reason = format!("the matcher `{text}` cannot be read: {reason}");
                let help = "names with `|` between, or an expression without look-around and backreferences";
                self.fault(event, span, reason, help);
                None
            }
        }
    }

    fn handler(&mut self, event: HookEvent, matcher: &Matcher, value: &Value) {
        let ValueKind::Map(entries) = &value.kind else {
            let help = "write `type: command` and `command: …`";
            return self.fault(event, value.span, format!("a handler is {}", value.describe()), help);
        };
        if self.has_double_key(event, entries) {
            return;
        }
        let Some(handler) = self.what_runs(event, value) else { return };
        let mut spec = HookSpec {
            event,
            matcher: matcher.clone(),
            handler,
            condition: Condition::Always,
            condition_text: None,
            timeout_ms: None,
            once: false,
            background: false,
            status_message: None,
            span: value.span,
        };
        for entry in entries {
            self.option(&mut spec, entry);
        }
        self.specs.push(spec);
    }

    /// One key of a handler beside what it runs.
    fn option(&mut self, spec: &mut HookSpec, entry: &Entry) {
        let is_wasm = matches!(spec.handler, Handler::Wasm(_));
        match (entry.key.as_str(), &entry.value) {
            ("type", _) => {}
            ("command" | "args", _) if !is_wasm => {}
            ("path", _) if is_wasm => {}
            ("if", value) => self.condition(spec, value),
            ("timeout", value) => match value.text().and_then(|text| text.trim().parse::<f64>().ok()) {
                Some(seconds) if seconds > 0.0 => {
                    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive and bounded")]
                    let milliseconds = (seconds.min(MAX_SECONDS) * 1_000.0).ceil() as u64;
                    spec.timeout_ms = Some(milliseconds);
                }
                _ => self.ignored(entry, "it is a number of seconds above 0"),
            },
            ("once", value) => match boolean(value) {
                Some(once) => spec.once = once,
                None => self.ignored(entry, "it is `true` or `false`"),
            },
            ("async" | "asyncRewake", value) => match boolean(value) {
                Some(false) => {}
                Some(true) => {
                    spec.background = true;
                    let help = "the hook runs before the event goes on, and decides nothing";
                    self.ignored(entry, help);
                }
                None => self.ignored(entry, "it is `true` or `false`"),
            },
            ("statusMessage", value) => match value.text() {
                Some(text) => spec.status_message = Some(text.to_owned()),
                None => self.ignored(entry, "it is a text"),
            },
            ("shell", value) if !is_wasm => {
                if !value.text().is_some_and(|shell| matches!(shell, "bash" | "sh")) {
                    let reason =
                        format!("the handler wants the shell `{}`, which is not there", value.text().unwrap_or("?"));
                    self.fault(spec.event, value.span, reason, "write it for `bash`");
                }
            }
            _ => self.ignored(entry, "no handler of this type has it"),
        }
    }

    fn condition(&mut self, spec: &mut HookSpec, value: &Value) {
        let text = value.text().unwrap_or_default();
        spec.condition_text = Some(text.to_owned());
        let unreadable = |reason: String| {
            Diagnostic::new(Code::HookConditionUnreadable, format!("`if: {text}` counts as matching: {reason}"))
                .at(value.span)
        };
        if !spec.event.is_about_a_tool() {
            let found = unreadable(format!("{} is about no tool", spec.event));
            return self.diagnostics.push(found.help("leave it out, or use a matcher"));
        }
        match ToolPattern::parse(text) {
            Ok(pattern) => spec.condition = Condition::Pattern(Box::new(pattern)),
            Err(error) => {
                let found = unreadable(error.to_string());
                self.diagnostics.push(match error.suggestion() {
                    Some(instead) => found.help(format!("write `{instead}`")),
                    None => found.help("it is a tool pattern, such as `Bash(git push:*)`"),
                });
            }
        }
    }

    fn what_runs(&mut self, event: HookEvent, value: &Value) -> Option<Handler> {
        let text = |key: &str| value.get(key).and_then(Value::text);
        match text("type") {
            Some("command") => self.command(event, value),
            Some("wasm") => {
                let path = text("path").unwrap_or_default();
                match RelPath::new(path) {
                    Ok(path) => Some(Handler::Wasm(path)),
                    Err(error) => {
                        let help = "write `path: hooks/NAME.wasm`, a file below the skill's own directory";
                        self.fault(event, value.span, format!("the component's `path` cannot be used: {error}"), help);
                        None
                    }
                }
            }
            Some(kind @ ("http" | "mcp_tool" | "prompt" | "agent")) => {
                self.found(HookFault {
                    event,
                    code: Code::HookTypeUnsupported,
                    reason: format!("handlers of type `{kind}` are not supported yet"),
                    help: Some("write it as `type: command` or `type: wasm`, or take it out".to_owned()),
                    span: value.span,
                });
                None
            }
            Some(kind) => {
                self.fault(
                    event,
                    value.span,
                    format!("there is no handler type `{kind}`"),
                    "`command` and `wasm` are run",
                );
                None
            }
            None => {
                self.fault(event, value.span, "a handler has no `type`".to_owned(), "write `type: command`");
                None
            }
        }
    }

    fn command(&mut self, event: HookEvent, value: &Value) -> Option<Handler> {
        let program = value.get("command").and_then(Value::text).filter(|text| !text.trim().is_empty());
        let Some(program) = program else {
            self.fault(
                event,
                value.span,
                "the handler has no text `command`".to_owned(),
                "write `command: ./check.sh`",
            );
            return None;
        };
        match value.get("args").map(|args| &args.kind) {
            None | Some(ValueKind::Null) => Some(Handler::Shell(program.to_owned())),
            Some(ValueKind::List(items)) => {
                let words: Option<Vec<String>> = std::iter::once(Some(program))
                    .chain(items.iter().map(Value::text))
                    .map(|word| word.map(str::to_owned))
                    .collect();
                if words.is_none() {
                    self.fault(event, value.span, "one of the `args` is no text".to_owned(), "write each as text");
                }
                words.map(Handler::Vector)
            }
            Some(_) => {
                self.fault(event, value.span, "`args` is no list".to_owned(), "write `args: [ … ]`, each as text");
                None
            }
        }
    }

    fn has_double_key(&mut self, event: HookEvent, entries: &[Entry]) -> bool {
        let twice =
            entries.iter().enumerate().find(|(at, entry)| entries[..*at].iter().any(|before| before.key == entry.key));
        let Some((_, entry)) = twice else { return false };
        self.fault(event, entry.key_span, format!("`{}` stands twice", entry.key), "keep one of the two");
        true
    }

    fn ignored(&mut self, entry: &Entry, help: &str) {
        let message = format!("`{}` changes nothing", entry.key);
        let found = Diagnostic::new(Code::HookKeyIgnored(entry.key.clone()), message).at(entry.key_span);
        self.diagnostics.push(found.help(help));
    }

    fn fault(&mut self, event: HookEvent, span: Span, reason: String, help: &str) {
        self.found(HookFault { event, code: Code::HookInvalid, reason, help: Some(help.to_owned()), span });
    }

    fn found(&mut self, fault: HookFault) {
        if fault.event.can_block() {
            self.faults.push(fault);
        } else {
            self.diagnostics.push(fault.diagnostic());
        }
    }
}

fn boolean(value: &Value) -> Option<bool> {
    match value.text()? {
        "true" | "True" | "TRUE" => Some(true),
        "false" | "False" | "FALSE" => Some(false),
        _ => None,
    }
}
