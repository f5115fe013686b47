use schemars::JsonSchema;
use serde::Serialize;

/// What `test-triggers` found.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TriggersOutput {
    /// One entry per query, in the order of the file.
    pub(crate) cases: Vec<TriggerCaseOutput>,
    /// Of the queries that found anything, the share whose first hit was expected.
    pub(crate) precision: f64,
    /// Of the expected skills, the share that was found among the first `within` hits.
    pub(crate) recall: f64,
    /// The least precision that passes.
    pub(crate) min_precision: f64,
    /// The least recall that passes.
    pub(crate) min_recall: f64,
    /// Whether both are reached.
    pub(crate) passed: bool,
}

/// One query.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TriggerCaseOutput {
    /// What was asked.
    pub(crate) query: String,
    /// The skills it has to find.
    pub(crate) expected: Vec<String>,
    /// The skills it found, best first.
    pub(crate) found: Vec<String>,
    /// Whether every expected skill was found, or none where none was expected.
    pub(crate) passed: bool,
}
