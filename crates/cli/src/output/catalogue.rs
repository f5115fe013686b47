use schemars::JsonSchema;
use serde::Serialize;

/// What `which` says of a name.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct WhichOutput {
    /// The name that was asked for.
    pub(crate) name: String,
    /// The skill that it leads to.
    pub(crate) winner: Option<ContenderOutput>,
    /// The others of the name, in the order in which they would take it.
    pub(crate) losers: Vec<ContenderOutput>,
}

/// Something that has a name.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ContenderOutput {
    /// The name that always leads to it.
    pub(crate) qualified_name: String,
    /// Its file.
    pub(crate) path: String,
    /// Where it comes from.
    pub(crate) source: String,
    /// Its state, as in `list`.
    pub(crate) state: String,
    /// Why the name leads to it, or does not.
    pub(crate) reason: Option<String>,
    /// Other places from which links lead to its file; it is loaded once.
    pub(crate) also_at: Vec<String>,
}

/// What `why` says of a skill.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct WhyOutput {
    /// The name that was asked for.
    pub(crate) name: String,
    /// The name that always leads to the skill.
    pub(crate) qualified_name: String,
    /// Its file.
    pub(crate) path: String,
    /// Its state, as in `list`.
    pub(crate) state: String,
    /// Whether a model is offered it.
    pub(crate) model_invocable: bool,
    /// Whether a user may invoke it.
    pub(crate) user_invocable: bool,
    /// What keeps it from a model or a user; empty when nothing does.
    pub(crate) reasons: Vec<ReasonOutput>,
    /// The patterns of its `paths`, as written.
    pub(crate) patterns: Vec<String>,
    /// The directory that they start from.
    pub(crate) root: Option<String>,
    /// The paths that were asked about, then those that were touched last in the conversation that was named.
    pub(crate) paths: Vec<TriedPathOutput>,
}

/// One reason.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ReasonOutput {
    /// The state, or `not-for-models`, `no-description`, `path-pattern-invalid`.
    pub(crate) code: String,
    /// What it is.
    pub(crate) message: String,
    /// The way out.
    pub(crate) help: Option<String>,
}

/// One path.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TriedPathOutput {
    /// From the root, or as it was given when it lies elsewhere.
    pub(crate) path: String,
    /// Whether touching it makes the skill active.
    pub(crate) matches: bool,
    /// Whether it lies outside of the project, where no file makes a skill active.
    pub(crate) outside: bool,
    /// Whether it was touched in the conversation that was named.
    pub(crate) touched: bool,
}

/// What `listing` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ListingOutput {
    /// What a model is told of the skills.
    pub(crate) text: String,
    /// What it is told about the Skill tool.
    pub(crate) guidance: String,
    /// The most characters that the text has.
    pub(crate) budget_chars: usize,
    /// Every skill that is offered, in the order of the text.
    pub(crate) entries: Vec<ListedOutput>,
    /// What the budget cost.
    pub(crate) cut: CutOutput,
}

/// One skill of a listing.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ListedOutput {
    /// The name that it is invoked by.
    pub(crate) name: String,
    /// The name that always leads to it.
    pub(crate) qualified_name: String,
    /// `pinned`, `full`, `short`, `name` or `deferred`.
    pub(crate) level: String,
}

/// How many skills stand at each level.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CutOutput {
    /// Skills of which all stands in the text.
    pub(crate) whole: usize,
    /// Skills whose description is cut.
    pub(crate) short: usize,
    /// Skills of which only the name stands there for want of room.
    pub(crate) name_only: usize,
    /// Skills of which only the name stands there because their authors say `deferred: true`; a search finds them.
    pub(crate) kept_back: usize,
    /// Skills that are not named; a search finds them.
    pub(crate) deferred: usize,
    /// Pinned and bundled skills that are not whole, because they alone exceed the budget.
    pub(crate) pinned: usize,
    /// Characters of descriptions that were left out.
    pub(crate) chars: usize,
}
