use super::DiagnosticOutput;
use schemars::JsonSchema;
use serde::Serialize;
use skillgate_core::{LoadFailure, LoadedFrom, Position, Skill};
use skillgate_registry::Entry;

/// The skills of `list`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ListOutput {
    /// One entry per skill, shadowed, untrusted and broken ones included.
    pub(crate) skills: Vec<SkillOutput>,
}

/// One skill.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SkillOutput {
    /// What it is invoked by.
    pub(crate) name: String,
    /// The name that always leads to it.
    pub(crate) qualified_name: String,
    /// What it does.
    pub(crate) description: Option<String>,
    /// When to use it.
    pub(crate) when_to_use: Option<String>,
    /// Where it comes from.
    pub(crate) source: String,
    /// `managed`, `global` or `local`.
    pub(crate) scope: String,
    /// `managed`, `skills`, `commands_DEPRECATED`, `plugin`, `bundled` or `mcp`.
    pub(crate) loaded_from: String,
    /// Its file.
    pub(crate) path: String,
    /// `active`, `conditional`, `nested`, `shadowed`, `hidden`, `disabled`, `untrusted`, `unavailable` or `broken`.
    pub(crate) state: String,
    /// The state's reason, where there is one.
    pub(crate) reason: Option<String>,
    /// Whether a user may invoke it.
    pub(crate) user_invocable: bool,
    /// Whether a model is offered it.
    pub(crate) model_invocable: bool,
    /// Tokens its entry in a listing takes, estimated as a quarter of its characters.
    pub(crate) tokens: usize,
    /// The plugin it belongs to.
    pub(crate) plugin: Option<String>,
    /// Other places from which links lead to its file; it is loaded once.
    pub(crate) also_at: Vec<String>,
    /// Findings about its file.
    pub(crate) diagnostics: Vec<DiagnosticOutput>,
}

fn word(value: impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

fn tokens(skill: &Skill) -> usize {
    let when = skill.frontmatter.when_to_use().as_ref().map_or("", |field| field.value.as_str());
    let description = skill.description.as_deref().unwrap_or_default();
    let chars = skill.id.command.as_str().chars().count() + description.chars().count() + when.chars().count();
    chars.div_ceil(4)
}

/// The state of a skill that no file has brought yet.
pub(crate) const NESTED: &str = "nested";

/// What brings a skill of a directory inside the project.
pub(crate) fn brought_by(qualified_name: &str) -> String {
    let dir = qualified_name.split_once(':').map_or("", |(dir, _)| dir);
    format!("it is there when a file in `{dir}` is touched")
}

impl SkillOutput {
    /// A skill with its findings at the places that `position` knows.
    pub(crate) fn of_entry(entry: &Entry, position: impl Fn(usize) -> Option<Position>) -> Self {
        let skill = entry.skill();
        let state = entry.state();
        let reason = state.to_string();
        Self {
            name: entry.called().to_owned(),
            qualified_name: entry.qualified_name().to_owned(),
            description: skill.description.as_deref().map(str::to_owned),
            when_to_use: skill.frontmatter.when_to_use().as_ref().map(|field| field.value.clone()),
            source: skill.id.source.to_string(),
            scope: word(skill.id.source.scope()),
            loaded_from: skill.loaded_from.of_source(skill.id.source).to_owned(),
            path: skill.path.display().to_string(),
            state: state.as_str().to_owned(),
            reason: (reason != state.as_str()).then_some(reason),
            user_invocable: entry.is_open_to_user(),
            model_invocable: entry.is_offered_to_model(),
            tokens: tokens(skill),
            plugin: skill.plugin.as_ref().map(|plugin| plugin.name.clone()),
            also_at: Vec::new(),
            diagnostics: skill.diagnostics.iter().map(|found| DiagnosticOutput::new(found, &position)).collect(),
        }
    }

    /// Marks a skill of a directory inside the project, which is not there before a file in the directory is touched.
    pub(crate) fn nested(&mut self) {
        self.reason = Some(format!("{NESTED}: {}", brought_by(&self.qualified_name)));
        self.state = NESTED.to_owned();
        self.model_invocable = false;
    }

    pub(crate) fn of_failure(failure: &LoadFailure) -> Self {
        Self {
            name: failure.name.clone(),
            qualified_name: format!("{}:{}", failure.source, failure.name),
            description: None,
            when_to_use: None,
            source: failure.source.to_string(),
            scope: word(failure.source.scope()),
            loaded_from: LoadedFrom::Skills.of_source(failure.source).to_owned(),
            path: failure.path.display().to_string(),
            state: "broken".to_owned(),
            reason: Some(failure.diagnostic.message.clone()),
            user_invocable: false,
            model_invocable: false,
            tokens: 0,
            plugin: None,
            also_at: Vec::new(),
            diagnostics: vec![DiagnosticOutput::new(&failure.diagnostic, |_| None)],
        }
    }
}
