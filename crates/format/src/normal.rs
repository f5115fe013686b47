//! The header's keys in one shape, for output.

use serde::ser::{Serialize, SerializeMap, Serializer};
use skillgate_core::{Context, Effort, Field, Frontmatter, Guarded, Requires};

/// A header's known keys as a flat mapping: texts as written, lists as lists, booleans as booleans; other keys follow as
/// they stand. What is absent or cannot be read is left out.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a>(pub &'a Frontmatter);

impl Serialize for Fields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let front = self.0;
        let mut map = serializer.serialize_map(None)?;
        let texts = [
            ("name", &front.name),
            ("description", &front.description),
            ("when_to_use", &front.when_to_use),
            ("argument-hint", &front.argument_hint),
            ("version", &front.version),
            ("agent", &front.agent),
            ("license", &front.license),
            ("compatibility", &front.compatibility),
        ];
        for (key, field) in texts {
            if let Some(field) = field {
                map.serialize_entry(key, &field.value)?;
            }
        }
        if !front.arguments.is_empty() {
            map.serialize_entry("arguments", &values(&front.arguments))?;
        }
        for (key, list) in [
            ("allowed-tools", &front.allowed_tools),
            ("disallowed-tools", &front.disallowed_tools),
            ("paths", &front.paths),
        ] {
            if let Some(entries) = list.present() {
                map.serialize_entry(key, &values(entries))?;
            }
        }
        for (key, flag) in
            [("disable-model-invocation", &front.disable_model_invocation), ("user-invocable", &front.user_invocable)]
        {
            if let Guarded::Present(field) = flag {
                map.serialize_entry(key, &field.value)?;
            }
        }
        if let Some(model) = &front.model {
            map.serialize_entry("model", &model.value)?;
        }
        if let Some(hooks) = front.hooks.present() {
            map.serialize_entry("hooks", hooks)?;
        }
        if let Some(context) = &front.context {
            map.serialize_entry::<_, Context>("context", &context.value)?;
        }
        if let Some(background) = &front.background {
            map.serialize_entry("background", &background.value)?;
        }
        if let Some(deferred) = &front.deferred {
            map.serialize_entry("deferred", &deferred.value)?;
        }
        if let Some(effort) = &front.effort {
            match &effort.value {
                Effort::Number(number) => map.serialize_entry("effort", number)?,
                word => map.serialize_entry("effort", word)?,
            }
        }
        if let Some(shell) = front.shell.present() {
            map.serialize_entry("shell", shell)?;
        }
        if let Some(requires) = &front.requires {
            map.serialize_entry("requires", &Needs(requires))?;
        }
        if let Some(metadata) = &front.metadata {
            map.serialize_entry("metadata", metadata)?;
        }
        for (index, entry) in front.other.iter().enumerate() {
            if !front.other[index + 1..].iter().any(|later| later.key == entry.key) {
                map.serialize_entry(&entry.key, &entry.value)?;
            }
        }
        map.end()
    }
}

/// What a skill requires, without what it does not name.
struct Needs<'a>(&'a Requires);

impl Serialize for Needs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (key, list) in [("skills", &self.0.skills), ("tools", &self.0.tools), ("programs", &self.0.programs)] {
            if !list.is_empty() {
                map.serialize_entry(key, &values(list))?;
            }
        }
        if let Some(version) = &self.0.version {
            map.serialize_entry("version", &version.value.to_string())?;
        }
        map.end()
    }
}

fn values(fields: &[Field<String>]) -> Vec<&str> {
    fields.iter().map(|field| field.value.as_str()).collect()
}
