//! The JSON outputs. Each has a schema in `docs/schemas`, generated from these types and compared by a test. The header of a
//! skill, which is no output, has one too.

mod check;
mod diagnostic;
mod frontmatter;
mod list;
mod log;
mod policy;
mod policy_file;
mod run;
mod show;
mod trust;

pub(crate) use check::{CheckOutput, CheckedFile};
pub(crate) use diagnostic::DiagnosticOutput;
pub(crate) use list::{ListOutput, SkillOutput};
pub(crate) use log::LogVerifyOutput;
pub(crate) use policy::{
    ExplainedOutput, ImportNoteOutput, ImportedOutput, MistakeOutput, PlaceOutput, PolicyCheckOutput,
    PolicyExplainOutput, PolicyFileOutput, PolicyImportOutput, PolicyRuleOutput, PolicyShowOutput, RuleOutput,
    SettingOutput,
};
pub(crate) use run::{
    AuthorityOutput, CaveatOutput, CommandOutput, InjectionOutput, MessageOutput, RunOutput, WordOutput,
};
pub(crate) use show::{FileOutput, ShowOutput};
pub(crate) use trust::{
    AsksOutput, ChangeOutput, FileChangeOutput, TrustAddOutput, TrustListOutput, TrustRemoveOutput, TrustReviewOutput,
    TrustedFolderOutput, TrustedSkillOutput,
};

use schemars::{JsonSchema, Schema};
use serde::Serialize;

/// A failure, on standard error.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ErrorOutput {
    /// `usage`, `not-found`, `denied`, `limit`, `unavailable`, `failed` or `bug`.
    pub(crate) code: String,
    /// What happened.
    pub(crate) message: String,
    /// The rule that refused.
    pub(crate) rule: Option<String>,
    /// The ways out.
    pub(crate) help: Vec<String>,
}

/// How a sandboxed program ended, for `--status-file`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SandboxRunOutput {
    /// `exit`: the status is the program's own; else the same words as in an error's `code`.
    pub(crate) kind: String,
    /// The exit status of `skillgate`.
    pub(crate) status: u8,
    /// The commands that ran.
    pub(crate) commands: Vec<CommandOutput>,
}

/// The schema of an output, or of the header.
pub(crate) fn schema(of: crate::args::SchemaOf) -> Schema {
    use crate::args::SchemaOf;
    let generator = schemars::generate::SchemaSettings::draft2020_12().into_generator();
    match of {
        SchemaOf::List => generator.into_root_schema_for::<ListOutput>(),
        SchemaOf::Show => generator.into_root_schema_for::<ShowOutput>(),
        SchemaOf::Run => generator.into_root_schema_for::<RunOutput>(),
        SchemaOf::Check => generator.into_root_schema_for::<CheckOutput>(),
        SchemaOf::SandboxRun => generator.into_root_schema_for::<SandboxRunOutput>(),
        SchemaOf::LogVerify => generator.into_root_schema_for::<LogVerifyOutput>(),
        SchemaOf::AuditRecord => generator.into_root_schema_for::<skillgate_runtime::AuditRecord>(),
        SchemaOf::Error => generator.into_root_schema_for::<ErrorOutput>(),
        SchemaOf::Frontmatter => generator.into_root_schema_for::<frontmatter::FrontmatterInput>(),
        SchemaOf::TrustAdd => generator.into_root_schema_for::<TrustAddOutput>(),
        SchemaOf::TrustList => generator.into_root_schema_for::<TrustListOutput>(),
        SchemaOf::TrustRemove => generator.into_root_schema_for::<TrustRemoveOutput>(),
        SchemaOf::TrustReview => generator.into_root_schema_for::<TrustReviewOutput>(),
        SchemaOf::PolicyFile => policy_file::schema(),
        SchemaOf::PolicyShow => generator.into_root_schema_for::<PolicyShowOutput>(),
        SchemaOf::PolicyExplain => generator.into_root_schema_for::<PolicyExplainOutput>(),
        SchemaOf::PolicyCheck => generator.into_root_schema_for::<PolicyCheckOutput>(),
        SchemaOf::PolicyImport => generator.into_root_schema_for::<PolicyImportOutput>(),
    }
}
