//! The JSON outputs. Each has a schema in `docs/schemas`, generated from these types and compared by a test. The header of a
//! skill, which is no output, has one too.

mod audit;
mod catalogue;
mod check;
mod diagnostic;
mod frontmatter;
mod hooks;
mod list;
mod log;
mod mcp;
mod pack;
mod policy;
mod policy_file;
mod reload;
mod run;
mod search;
mod session;
mod show;
mod trust;
mod watch;

pub(crate) use audit::AuditPlanOutput;
pub(crate) use catalogue::{
    ContenderOutput, CutOutput, ListedOutput, ListingOutput, ReasonOutput, TriedPathOutput, WhichOutput, WhyOutput,
};
pub(crate) use check::{CheckOutput, CheckedFile};
pub(crate) use diagnostic::DiagnosticOutput;
pub(crate) use hooks::{CalledHookOutput, HookOutput, HookSkillOutput, HooksListOutput, HooksTestOutput};
pub(crate) use list::{ListOutput, NESTED, SkillOutput, brought_by};
pub(crate) use log::LogVerifyOutput;
pub(crate) use mcp::{McpListOutput, McpServerOutput};
pub(crate) use pack::{
    PackCaseOutput, PackChangeOutput, PackDiffOutput, PackEntryOutput, PackFileOutput, PackInspectOutput,
    PackInstallOutput, PackInstalledOutput, PackKeygenOutput, PackListOutput, PackMadeOutput, PackOutdatedEntryOutput,
    PackOutdatedOutput, PackSignatureOutput, PackSkillOutput, PackSourceOutput, PackStateOutput, PackTestOutput,
    PackVerifyOutput,
};
pub(crate) use policy::{
    ExplainedOutput, ImportNoteOutput, ImportedOutput, MistakeOutput, PlaceOutput, PolicyCheckOutput,
    PolicyExplainOutput, PolicyFileOutput, PolicyImportOutput, PolicyRuleOutput, PolicyShowOutput, RuleOutput,
    SettingOutput,
};
pub(crate) use reload::{ReloadOutput, SkillsChangedOutput};
pub(crate) use run::{
    AuthorityOutput, CaveatOutput, CommandOutput, InjectionOutput, MessageOutput, RunOutput, WordOutput,
};
pub(crate) use search::{TriggerCaseOutput, TriggersOutput};
pub(crate) use session::{
    AgentMark, EventOutput, ForkResultOutput, InvokeOutput, NothingOutput, RevokeOutput, SaveOutput, SessionReply,
    ToolAfterOutput, ToolDecisionOutput, ToolsOutput, TouchOutput, TypedOutput, UnloadOutput,
};
pub(crate) use show::{FileOutput, ShowOutput};
pub(crate) use trust::{
    AsksOutput, ChangeOutput, FileChangeOutput, TrustAddOutput, TrustListOutput, TrustRemoveOutput, TrustReviewOutput,
    TrustedFolderOutput, TrustedSkillOutput,
};
pub(crate) use watch::{WatchOutput, WatchedFileOutput};

use schemars::{JsonSchema, Schema};
use serde::Serialize;

/// A failure, on standard error.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ErrorOutput {
    /// `usage`, `not-found`, `denied`, `limit`, `unavailable`, `failed` or `bug`.
    pub(crate) code: String,
    /// The number of the Skill tool's error, 1 to 6, for what keeps a skill from being invoked.
    pub(crate) number: Option<u8>,
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

/// What each sandbox can enforce here.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SandboxDoctorOutput {
    /// The sandboxes.
    pub(crate) backends: Vec<BackendOutput>,
}

/// What one sandbox can enforce here.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BackendOutput {
    /// `wasm` or `host`.
    pub(crate) name: &'static str,
    /// Whether commands can be run in it. There is no weaker form of it.
    pub(crate) available: bool,
    /// What each stage enforces, in order.
    pub(crate) stages: Vec<StageOutput>,
    /// The stage that failed.
    pub(crate) unavailable: Option<StageFailureOutput>,
    /// The programs of this machine that the policy names.
    pub(crate) programs: Vec<ProgramOutput>,
    /// Whether this build can be told to fail a stage, as no distributed one can.
    pub(crate) fault_injection: bool,
}

/// What a stage enforces.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StageOutput {
    /// Its name.
    pub(crate) name: String,
    /// What holds because of it.
    pub(crate) detail: String,
}

/// Why a sandbox is not available.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StageFailureOutput {
    /// The stage that failed.
    pub(crate) stage: String,
    /// Why.
    pub(crate) reason: String,
}

/// A program of this machine that the policy names.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ProgramOutput {
    /// The name by which commands call it.
    pub(crate) name: String,
    /// Its path.
    pub(crate) path: String,
    /// Why it cannot be run.
    pub(crate) fault: Option<String>,
}

/// The commands that components offer.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SandboxCommandsOutput {
    /// The commands in the order of their names.
    pub(crate) commands: Vec<OfferedCommandOutput>,
}

/// A command that a component offers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OfferedCommandOutput {
    /// Its name.
    pub(crate) name: String,
    /// `shipped` or `third-party`.
    pub(crate) provider: &'static str,
    /// The component that offers it.
    pub(crate) component: String,
    /// SHA-256 of the component.
    pub(crate) digest: String,
    /// Where the policy names it, for a third party's.
    pub(crate) origin: Option<PlaceOutput>,
}

/// The schema of an output, or of the header.
pub(crate) fn schema(of: crate::args::SchemaOf) -> Schema {
    use crate::args::SchemaOf;
    let generator = schemars::generate::SchemaSettings::draft2020_12().into_generator();
    match of {
        SchemaOf::Audit => generator.into_root_schema_for::<skillgate_audit::Report>(),
        SchemaOf::AuditPlan => generator.into_root_schema_for::<AuditPlanOutput>(),
        SchemaOf::List => generator.into_root_schema_for::<ListOutput>(),
        SchemaOf::Which => generator.into_root_schema_for::<WhichOutput>(),
        SchemaOf::Why => generator.into_root_schema_for::<WhyOutput>(),
        SchemaOf::Listing => generator.into_root_schema_for::<ListingOutput>(),
        SchemaOf::Show => generator.into_root_schema_for::<ShowOutput>(),
        SchemaOf::Run => generator.into_root_schema_for::<RunOutput>(),
        SchemaOf::Watch => generator.into_root_schema_for::<WatchOutput>(),
        SchemaOf::Check => generator.into_root_schema_for::<CheckOutput>(),
        SchemaOf::Search => generator.into_root_schema_for::<skillgate_runtime::DiscoveredSkills>(),
        SchemaOf::DiscoverSkills => generator.into_root_schema_for::<skillgate_runtime::DiscoverSkills>(),
        SchemaOf::SessionRequest => generator.into_root_schema_for::<crate::command::session::Request>(),
        SchemaOf::SessionResponse => generator.into_root_schema_for::<crate::command::session::Line>(),
        SchemaOf::TestTriggers => generator.into_root_schema_for::<TriggersOutput>(),
        SchemaOf::SandboxDoctor => generator.into_root_schema_for::<SandboxDoctorOutput>(),
        SchemaOf::SandboxRun => generator.into_root_schema_for::<SandboxRunOutput>(),
        SchemaOf::SandboxCommands => generator.into_root_schema_for::<SandboxCommandsOutput>(),
        SchemaOf::HooksList => generator.into_root_schema_for::<HooksListOutput>(),
        SchemaOf::HooksTest => generator.into_root_schema_for::<HooksTestOutput>(),
        SchemaOf::LogVerify => generator.into_root_schema_for::<LogVerifyOutput>(),
        SchemaOf::AuditRecord => generator.into_root_schema_for::<skillgate_runtime::AuditRecord>(),
        SchemaOf::McpList | SchemaOf::McpInspect => generator.into_root_schema_for::<McpListOutput>(),
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
        SchemaOf::PackBuild | SchemaOf::PackSign | SchemaOf::PackPush => {
            generator.into_root_schema_for::<PackMadeOutput>()
        }
        SchemaOf::PackKeygen => generator.into_root_schema_for::<PackKeygenOutput>(),
        SchemaOf::PackInspect => generator.into_root_schema_for::<PackInspectOutput>(),
        SchemaOf::PackVerify => generator.into_root_schema_for::<PackVerifyOutput>(),
        SchemaOf::PackDiff => generator.into_root_schema_for::<PackDiffOutput>(),
        SchemaOf::PackTest => generator.into_root_schema_for::<PackTestOutput>(),
        SchemaOf::PackInstall | SchemaOf::PackUpdate => generator.into_root_schema_for::<PackInstallOutput>(),
        SchemaOf::PackOutdated => generator.into_root_schema_for::<PackOutdatedOutput>(),
        SchemaOf::PackList => generator.into_root_schema_for::<PackListOutput>(),
        SchemaOf::PackRemove | SchemaOf::PackEnable | SchemaOf::PackDisable => {
            generator.into_root_schema_for::<PackStateOutput>()
        }
    }
}
