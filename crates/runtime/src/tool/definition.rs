use crate::Session;
use serde::Serialize;
use serde_json::{Value, json};
use skillgate_registry::SKILL_TOOL_GUIDANCE;

/// A tool that this runtime offers a model, in the form that providers of models take.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ToolDefinition {
    /// The name the model calls it by.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON Schema of its input.
    pub input_schema: Value,
}

impl Session {
    /// The tools of this runtime: `Skill`, `DiscoverSkills`, and `ToolSearch` when the host registered tools that are deferred.
    ///
    /// `with_names`: the schema of `Skill` lists the names that a model may call now. It changes with the catalogue, which costs a
    /// provider's cache of the prompt; without it a wrong name is answered with the nearest ones.
    #[must_use]
    pub fn tools(&self, with_names: bool) -> Vec<ToolDefinition> {
        let mut skill = json!({
            "type": "string",
            "minLength": 1,
            "description": "The name of the skill, as it stands in the list of skills, such as `review` or `plugin:review`.",
        });
        if with_names {
            let catalogue = self.catalogue();
            let skills = catalogue.offered_to_model().map(|entry| entry.skill().id.command.to_string());
            let names: std::collections::BTreeSet<String> = skills.collect();
            // An empty enum is no schema that a provider takes.
            if !names.is_empty() {
                skill["enum"] = json!(names);
            }
        }
        let definition = |name: &str, description: &str, input_schema: Value| ToolDefinition {
            name: name.to_owned(),
            description: description.to_owned(),
            input_schema,
        };
        let object = |required: &[&str], properties: Value| json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
        let mut tools = vec![
            definition(
                "Skill",
                SKILL_TOOL_GUIDANCE,
                object(
                    &["skill"],
                    json!({
                        "skill": skill,
                        "args": {"type": "string", "description": "The arguments of the skill, as a user would type them behind its name."},
                    }),
                ),
            ),
            definition(
                "DiscoverSkills",
                "Finds skills by what they are for. Use it when the list of skills is cut, or when no name in it fits the task. \
                 It loads nothing; call the Skill tool with a name of the answer.",
                object(
                    &["description"],
                    json!({
                        "description": {"type": "string", "description": "What is to be done, in a sentence."},
                        "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 5, "description": "How many skills at most."},
                    }),
                ),
            ),
        ];
        if self.has_deferred_tools() {
            tools.push(definition(
                "ToolSearch",
                "Gives the schemas of tools that are known by name only, so that they can be called.",
                object(
                    &["query"],
                    json!({
                        "query": {"type": "string", "description": "`select:A,B` for tools by their names; else words, where `+word` has to stand in the name."},
                        "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 5, "description": "How many tools at most."},
                    }),
                ),
            ));
        }
        tools
    }
}
