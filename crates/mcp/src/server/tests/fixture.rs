//! A runtime with skills in memory, an executor that a test can watch, and a client.

use crate::server::{ServeOptions, SkillServer};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ClientConfig, CustomNotification,
    ElicitRequestParams, ElicitResult, ElicitationAction, Implementation, JsonObject, ProgressNotificationParam,
    ProtocolVersion,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient, RunningService, ServiceExt as _};
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt as _, ErrorData};
use serde_json::{Value, json};
use skillgate_core::Source;
use skillgate_exec::{CapabilityShell, Completion, Executor, PlannedCommand, Program, Run, RunError, Scene, Streams};
use skillgate_policy::{Defaults, Effect, Gate, Host, Place, Rule};
use skillgate_runtime::{HeldSkill, Runtime, SkillSource};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// Skills of one source: names and texts.
#[derive(Debug)]
pub(super) struct Texts(pub(super) Source, pub(super) Vec<(String, String)>);

impl SkillSource for Texts {
    fn source(&self) -> Source {
        self.0
    }

    fn texts(&self) -> Vec<HeldSkill> {
        let held = |(name, text): &(String, String)| HeldSkill {
            name: name.clone(),
            text: text.clone().into(),
            origin: format!("test/{name}/SKILL.md"),
        };
        self.1.iter().map(held).collect()
    }
}

/// Runs programs as the capability shell does, tells when one begins, and counts them. One that holds the word `wait` goes on
/// until its run is stopped.
#[derive(Debug)]
pub(super) struct Watched {
    shell: CapabilityShell,
    pub(super) began: Notify,
    pub(super) stopped: Notify,
    pub(super) programs: AtomicU32,
}

impl Watched {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            shell: CapabilityShell::new(Vec::new()),
            began: Notify::new(),
            stopped: Notify::new(),
            programs: AtomicU32::new(0),
        })
    }
}

impl Executor for Watched {
    fn plan(&self, program: &Program, gate: &Gate) -> Vec<PlannedCommand> {
        self.shell.plan(program, gate)
    }

    fn execute(
        &self,
        program: &Program,
        gate: &Gate,
        scene: &Scene,
        run: &Arc<Run>,
        streams: Streams,
    ) -> Result<Completion, RunError> {
        self.programs.fetch_add(1, Ordering::SeqCst);
        self.began.notify_one();
        if format!("{program:?}").contains("wait") {
            loop {
                if run.check().is_err() {
                    self.stopped.notify_one();
                    break;
                }
                std::thread::yield_now();
            }
        }
        self.shell.execute(program, gate, scene, run, streams)
    }
}

pub(super) fn allow(pattern: &str) -> Rule {
    Rule::parse(Effect::Allow, pattern, Place::Host).expect("a rule")
}

pub(super) fn rule(effect: Effect, pattern: &str) -> Rule {
    Rule::parse(effect, pattern, Place::Host).expect("a rule")
}

/// A runtime of the program's own skills under these rules.
pub(super) fn runtime(executor: Arc<dyn Executor>, rules: Vec<Rule>, skills: &[(&str, &str)]) -> Arc<Runtime> {
    let texts = skills.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    let builder = Runtime::builder(Host::new(rules, Defaults::BuiltIn), executor);
    builder.source(Arc::new(Texts(Source::Bundled, texts))).open().expect("a runtime")
}

pub(super) fn server(runtime: Arc<Runtime>) -> SkillServer {
    let options = ServeOptions { progress: Duration::from_millis(5), ..ServeOptions::default() };
    SkillServer::new(runtime, options)
}

/// A server of these skills, where `echo` is allowed.
pub(super) fn serving(skills: &[(&str, &str)]) -> SkillServer {
    server(runtime(Watched::new(), vec![allow("Bash(echo:*)")], skills))
}

/// A user who takes time.
#[derive(Debug, Default)]
pub(super) struct Thinks {
    pub(super) asked: Notify,
    pub(super) may_answer: Notify,
}

/// A client that answers questions with one decision and keeps what it is told.
#[derive(Clone, Debug, Default)]
pub(super) struct TestClient {
    /// `None`: the client cannot ask its user.
    pub(super) decision: Option<&'static str>,
    pub(super) asked: Arc<Mutex<Vec<String>>>,
    /// When it is there, the user answers after being told to.
    pub(super) thinks: Option<Arc<Thinks>>,
    pub(super) progress: Arc<Notify>,
    pub(super) changed: Arc<Notify>,
}

impl ClientHandler for TestClient {
    fn get_info(&self) -> ClientConfig {
        let capabilities = match self.decision {
            Some(_) => ClientCapabilities::builder().enable_elicitation().build(),
            None => ClientCapabilities::default(),
        };
        ClientConfig::new(capabilities, Implementation::new("test", "1"))
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, .. } = request else {
            return Err(ErrorData::invalid_params("a form was expected", None));
        };
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(message);
        if let Some(thinks) = &self.thinks {
            thinks.asked.notify_one();
            thinks.may_answer.notified().await;
        }
        Ok(match self.decision {
            Some("decline") | None => ElicitResult::new(ElicitationAction::Decline),
            Some(decision) => ElicitResult::new(ElicitationAction::Accept).with_content(json!({"decision": decision})),
        })
    }

    async fn on_progress(&self, _params: ProgressNotificationParam, _context: NotificationContext<RoleClient>) {
        self.progress.notify_one();
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }

    async fn on_custom_notification(&self, _: CustomNotification, _: NotificationContext<RoleClient>) {}
}

pub(super) type Client = RunningService<RoleClient, TestClient>;

/// Connects a client to a server, over streams in memory.
pub(super) async fn connected(server: &SkillServer, client: TestClient) -> Client {
    client.serve(streams(server)).await.expect("a connection")
}

/// The same in the newest protocol, in which a server makes no requests.
pub(super) async fn connected_newest(server: &SkillServer, client: TestClient) -> Client {
    client.serve_with_lifecycle(streams(server), newest()).await.expect("a connection")
}

pub(super) fn newest() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
}

fn streams(server: &SkillServer) -> tokio::io::DuplexStream {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let server = server.clone();
    tokio::spawn(async move {
        let (read, write) = tokio::io::split(theirs);
        server.serve_streams(read, write).await
    });
    ours
}

pub(super) fn arguments(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}

/// Calls a tool to its end.
pub(super) async fn call(
    client: &Client,
    tool: &'static str,
    input: Value,
) -> Result<CallToolResult, rmcp::ServiceError> {
    match client.call_tool_once(CallToolRequestParams::new(tool).with_arguments(arguments(input))).await? {
        CallToolResponse::Complete(result) => Ok(result),
        other => unreachable!("no task and no question back: {other:?}"),
    }
}

/// The text of a result.
pub(super) fn text(result: &CallToolResult) -> String {
    result.content.iter().filter_map(|content| content.as_text()).map(|text| text.text.clone()).collect()
}
