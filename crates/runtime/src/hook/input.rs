use super::event::HookEvent;
use serde_json::{Map, Value};

/// One event with its data, as hooks are told of it.
#[derive(Clone, PartialEq, Debug)]
pub struct HookInput {
    event: HookEvent,
    fields: Map<String, Value>,
}

impl HookInput {
    /// An event with these members; `hook_event_name` is added.
    #[must_use]
    pub fn new(event: HookEvent, mut fields: Map<String, Value>) -> Self {
        fields.insert("hook_event_name".to_owned(), Value::from(event.name()));
        Self { event, fields }
    }

    /// An event about the use of a tool.
    #[must_use]
    pub fn tool(event: HookEvent, name: &str, input: Value) -> Self {
        Self::new(event, Map::new()).with("tool_name", name).with("tool_input", input)
    }

    /// The same with one more member.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.fields.insert(key.to_owned(), value.into());
        self
    }

    /// The same with the members that are missing.
    #[must_use]
    pub fn with_missing(mut self, members: &Map<String, Value>) -> Self {
        for (key, value) in members {
            self.fields.entry(key.clone()).or_insert_with(|| value.clone());
        }
        self
    }

    /// The event.
    #[must_use]
    pub fn event(&self) -> HookEvent {
        self.event
    }

    /// The same data under another event.
    #[must_use]
    pub fn under(self, event: HookEvent) -> Self {
        Self::new(event, self.fields)
    }

    /// The members.
    #[must_use]
    pub fn fields(&self) -> &Map<String, Value> {
        &self.fields
    }

    /// The tool's name.
    #[must_use]
    pub fn tool_name(&self) -> Option<&str> {
        self.text("tool_name")
    }

    /// The tool's input.
    #[must_use]
    pub fn tool_input(&self) -> Option<&Value> {
        self.fields.get("tool_input")
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.fields.get(key)?.as_str()
    }

    /// What hooks read: one JSON object and a line end.
    pub(super) fn json(&self) -> Vec<u8> {
        // A map with text keys is always JSON.
        let mut bytes = serde_json::to_vec(&self.fields).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }
}
