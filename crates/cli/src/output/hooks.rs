use super::DiagnosticOutput;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// The hooks of the skills.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct HooksListOutput {
    /// One for each handler, in the order of the skills.
    pub(crate) hooks: Vec<HookOutput>,
    /// Skills whose hooks could not be looked at, or that would not be activated because of one.
    pub(crate) skills: Vec<HookSkillOutput>,
}

/// One handler.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct HookOutput {
    /// The skill, as `source:name`.
    pub(crate) skill: String,
    /// Where the skill comes from.
    pub(crate) source: String,
    /// Its file.
    pub(crate) path: String,
    /// Line of the handler, from 1.
    pub(crate) line: Option<usize>,
    /// The event.
    pub(crate) event: String,
    /// `gate` (a failure denies), `hold` or `observe`.
    pub(crate) power: &'static str,
    /// What the event has to be about; `*` for anything.
    pub(crate) matcher: String,
    /// The `if`, as written.
    pub(crate) condition: Option<String>,
    /// `command` or `wasm`.
    pub(crate) kind: String,
    /// What is run.
    pub(crate) handler: String,
    /// What tells it from the others of its skill and event.
    pub(crate) id: String,
    /// Whether it is gone after its first success.
    pub(crate) once: bool,
    /// Whether it can run here.
    pub(crate) can_run: bool,
    /// Why it cannot.
    pub(crate) reason: Option<String>,
    /// The way out.
    pub(crate) help: Option<String>,
}

/// What there is to say about the hooks of one skill as a whole.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct HookSkillOutput {
    /// The skill, as `source:name`.
    pub(crate) skill: String,
    /// Its file.
    pub(crate) path: String,
    /// Whether it would be activated.
    pub(crate) activates: bool,
    /// Why it would not.
    pub(crate) reason: Option<String>,
    /// What was found in its hooks.
    pub(crate) diagnostics: Vec<DiagnosticOutput>,
}

/// What the hooks make of an event.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct HooksTestOutput {
    /// The event.
    pub(crate) event: String,
    /// `pass`, `ask` or `deny`; no hook can allow.
    pub(crate) verdict: &'static str,
    /// The reasons of an ask or a deny.
    pub(crate) reasons: Vec<String>,
    /// The input that takes the place of the tool's.
    pub(crate) rewritten_input: Option<Value>,
    /// What takes the place of the tool's output.
    pub(crate) rewritten_output: Option<Value>,
    /// Texts for the model.
    pub(crate) context: Vec<String>,
    /// Texts for the user.
    pub(crate) messages: Vec<String>,
    /// That everything would end, and why.
    pub(crate) stop: Option<String>,
    /// The hooks that matched and were called.
    pub(crate) hooks: Vec<CalledHookOutput>,
    /// Skills with hooks whose hooks were not called, and why.
    pub(crate) left_out: Vec<HookSkillOutput>,
}

/// A hook that was called.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CalledHookOutput {
    /// The skill, as `source:name`.
    pub(crate) skill: String,
    /// What was run.
    pub(crate) handler: String,
    /// What tells it from the others of its skill and event.
    pub(crate) id: String,
    /// `passed`, `asked`, `denied`, `failed-and-denied` or `failed`.
    pub(crate) outcome: &'static str,
    /// The reason or the failure.
    pub(crate) detail: Option<String>,
    /// Wall time, microseconds.
    pub(crate) duration_us: u64,
    /// What was found in its output.
    pub(crate) diagnostics: Vec<DiagnosticOutput>,
}
