use crate::Session;
use serde::Serialize;
use serde_json::Value;
use skillgate_search::{DEFAULT_LIMIT, ToolInfo, ToolSearch};

/// The most tools that one call of ToolSearch gives.
const MAX_LIMIT: usize = 50;

/// What `ToolSearch` answers.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoundTools {
    /// The tools, best first.
    pub tools: Vec<FoundTool>,
    /// Names that `select:` asked for and that no tool has.
    pub unknown: Vec<String>,
    /// How many tools are known by name only.
    pub deferred: usize,
}

/// One tool of [`FoundTools`].
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoundTool {
    /// The name the model calls it by.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON Schema of its input, as the host registered it.
    pub input_schema: Value,
}

impl Session {
    /// Takes the host's tools as they are now, for `ToolSearch`. What was made of them is kept while they are the same.
    pub fn register_tools(&self, tools: Vec<ToolInfo<Value>>) {
        let mut conversation = self.conversation();
        match &mut conversation.tools {
            Some(known) => known.set_tools(tools),
            none => *none = Some(ToolSearch::new(tools)),
        }
    }

    /// The tools that answer a query: `select:A,B`, a name, or words of which each with a `+` has to be there. The limit is kept
    /// within 1 and 50. Changes nothing.
    #[must_use]
    pub fn search_tools(&self, query: &str, limit: Option<usize>) -> FoundTools {
        let limit = limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT);
        let conversation = self.conversation();
        let Some(known) = &conversation.tools else {
            return FoundTools { tools: Vec::new(), unknown: Vec::new(), deferred: 0 };
        };
        let found = known.search(query, limit);
        let tool = |tool: &&ToolInfo<Value>| FoundTool {
            name: tool.name.clone(),
            description: tool.description.clone(),
            input_schema: tool.schema.clone(),
        };
        FoundTools { tools: found.tools.iter().map(tool).collect(), unknown: found.unknown, deferred: found.deferred }
    }

    /// Whether the host registered tools that a model knows by name only.
    pub(crate) fn has_deferred_tools(&self) -> bool {
        self.conversation().tools.as_ref().is_some_and(|tools| !tools.deferred().is_empty())
    }
}
