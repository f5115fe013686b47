use schemars::JsonSchema;
use serde::Serialize;
use skillgate_audit::PlannedCase;

/// What `audit` would do.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AuditPlanOutput {
    /// The cases, in the order in which they would be run.
    pub(crate) cases: Vec<PlannedCase>,
}
