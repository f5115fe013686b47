use super::launch::{ServerLauncher, ServerProgram};
use super::process::ServerProcess;
use super::servers::Alive;
use super::{http, process};
use crate::config::{ServerEntry, ServerTransport};
use crate::finding::{Finding, FindingCode, shown};
use crate::limits::McpLimits;
use crate::stream::LineBound;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ErrorCode, Implementation, ProtocolVersion, ServerPeerInfo, SubscriptionFilter,
};
use rmcp::service::{
    ClientInitializeError, NotificationContext, Peer, QuitReason, RoleClient, RunningServiceCancellationToken,
    ServiceError, ServiceExt as _,
};
use rmcp::transport::IntoTransport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{ClientCacheConfig, ClientHandler, ClientLifecycleMode, ClientServiceExt as _};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// One connection to a server, after the handshake.
pub(super) struct Connection {
    pub(super) peer: Peer<RoleClient>,
    pub(super) info: Arc<ServerPeerInfo>,
    pub(super) limits: McpLimits,
    watch: Watch,
    closed: JoinHandle<Option<QuitReason>>,
    cancel: Option<RunningServiceCancellationToken>,
    process: Option<ServerProcess>,
    oversized: Option<Arc<AtomicBool>>,
    /// Goes after the process, which who waits for its end relies on.
    alive: Option<Alive>,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("info", &self.info).field("process", &self.process).finish_non_exhaustive()
    }
}

/// What ends the wait for a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Event {
    /// Its lists changed.
    Changed,
    /// It is gone.
    Closed,
}

impl Connection {
    /// Starts or reaches a server, and agrees with it on a version.
    pub(super) async fn open(
        entry: &ServerEntry,
        limits: &McpLimits,
        launcher: Option<&Arc<dyn ServerLauncher>>,
    ) -> Result<Self, Finding> {
        match Self::attempt(entry, limits, launcher, ClientLifecycleMode::Initialize).await {
            Err(Failed::NeedsDiscover) => {
                let newest = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
                Self::attempt(entry, limits, launcher, newest).await.map_err(Failed::finding)
            }
            other => other.map_err(Failed::finding),
        }
    }

    async fn attempt(
        entry: &ServerEntry,
        limits: &McpLimits,
        launcher: Option<&Arc<dyn ServerLauncher>>,
        mode: ClientLifecycleMode,
    ) -> Result<Self, Failed> {
        match &entry.transport {
            ServerTransport::Stdio { command, args, env } => {
                let program = ServerProgram { command: command.clone(), args: args.clone(), env: env.clone() };
                let (answers, requests, mut process) = process::start(&program, launcher, limits.connect).await?;
                match Self::over_streams(answers, requests, limits, mode).await {
                    Ok(mut connection) => {
                        connection.process = Some(process);
                        Ok(connection)
                    }
                    Err(Failed::Finding(finding)) => {
                        if finding.code == FindingCode::TimedOut {
                            // Its time is over: what it wrote is there, and more is not waited for.
                            process.kill().await;
                        }
                        let words = process.all_words().await;
                        let finding = match process.fault().filter(|_| finding.code == FindingCode::Closed) {
                            Some(fault) => Finding { message: format!("{}: {fault}", finding.message), ..finding },
                            None => finding,
                        };
                        Err(Failed::Finding(explained(finding, words)))
                    }
                    Err(other) => Err(other),
                }
            }
            ServerTransport::Http { url, headers } => {
                Self::over(http::transport(url, headers, limits)?, limits, mode).await
            }
        }
    }

    /// Speaks over a pair of streams.
    pub(super) async fn over_streams<R, W>(
        input: R,
        output: W,
        limits: &McpLimits,
        mode: ClientLifecycleMode,
    ) -> Result<Self, Failed>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let input = LineBound::new(input, limits.message_bytes);
        let oversized = input.oversized();
        let transport = AsyncRwTransport::new_client(input, output).with_max_line_length(limits.message_bytes);
        match Self::over(transport, limits, mode).await {
            Ok(mut connection) => {
                connection.oversized = Some(oversized);
                Ok(connection)
            }
            Err(Failed::Finding(_)) if oversized.load(Ordering::Relaxed) => {
                Err(Failed::Finding(too_large(limits.message_bytes)))
            }
            Err(other) => Err(other),
        }
    }

    async fn over<T, E, A>(transport: T, limits: &McpLimits, mode: ClientLifecycleMode) -> Result<Self, Failed>
    where
        T: IntoTransport<RoleClient, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        let watch = Watch::new(limits.notifications);
        let handler = watch.clone();
        let handshake = async {
            match mode {
                ClientLifecycleMode::Initialize => handler.serve(transport).await,
                other => handler.serve_with_lifecycle(transport, other).await,
            }
        };
        let service = match tokio::time::timeout(limits.connect, handshake).await {
            Ok(Ok(service)) => service,
            Ok(Err(error)) => return Err(failed(&error)),
            Err(_) => return Err(Failed::Finding(timed_out("the handshake", limits.connect))),
        };
        let peer = service.peer().clone();
        // What is asked again is asked because it changed.
        peer.set_response_cache_config(ClientCacheConfig::disabled()).await;
        let Some(info) = peer.peer_info() else {
            let finding = Finding::new(FindingCode::Protocol, "the handshake says nothing about the server");
            return Err(Failed::Finding(finding));
        };
        if !ProtocolVersion::KNOWN_VERSIONS.contains(&info.protocol_version) {
            let version = shown(info.protocol_version.as_str());
            let message = format!("it speaks the version `{version}` of the protocol, which is not spoken here");
            return Err(Failed::Finding(Finding::new(FindingCode::Protocol, message)));
        }
        let cancel = Some(service.cancellation_token());
        let closed = tokio::spawn(async move { service.waiting().await.ok() });
        let connection = Self {
            peer,
            info,
            limits: limits.clone(),
            watch,
            closed,
            cancel,
            process: None,
            oversized: None,
            alive: None,
        };
        connection.subscribe();
        Ok(connection)
    }

    /// Asks a server of the newest protocol to say when its lists change; older ones do so unasked.
    fn subscribe(&self) {
        if self.info.protocol_version.as_str() < ProtocolVersion::V_2026_07_28.as_str() {
            return;
        }
        let (peer, watch) = (self.peer.clone(), self.watch.clone());
        let filter = SubscriptionFilter::builder().resources_list_changed().prompts_list_changed().build();
        tokio::spawn(async move {
            let Ok(mut subscription) = peer.listen(filter).await else { return };
            while let Ok(Some(_)) = subscription.next().await {
                watch.list_changed();
            }
        });
    }

    /// Tells whoever has the other end that it is there, until its process is gone.
    pub(super) fn held_by(mut self, alive: Alive) -> Self {
        self.alive = Some(alive);
        self
    }

    /// Is set when the server is left for what it sends.
    pub(super) fn flooded(&self) -> CancellationToken {
        self.watch.flooded.clone()
    }

    /// Waits until the lists change or the server is gone.
    pub(super) async fn event(&mut self) -> Event {
        tokio::select! {
            biased;
            () = self.watch.flooded.cancelled() => Event::Closed,
            _ = &mut self.closed => Event::Closed,
            () = self.watch.changed.notified() => Event::Changed,
        }
    }

    /// One request, within its time.
    ///
    /// # Errors
    /// [`Trouble`], which says whether the server is lost or only this answer.
    pub(super) async fn ask<T>(
        &self,
        what: &str,
        request: impl Future<Output = Result<T, ServiceError>>,
    ) -> Result<T, Trouble> {
        let limit = self.limits.request;
        let answer = tokio::select! {
            biased;
            () = self.watch.flooded.cancelled() => return Err(Trouble::Lost(self.lost(what))),
            answer = tokio::time::timeout(limit, request) => answer,
        };
        match answer {
            Err(_) => Err(Trouble::Lost(timed_out(what, limit))),
            Ok(Ok(result)) => Ok(result),
            Ok(Err(ServiceError::McpError(error))) => {
                Err(Trouble::Refused { code: error.code, message: shown(&error.message) })
            }
            Ok(Err(ServiceError::UnexpectedResponse)) => {
                let message = format!("the answer to {what} is of another kind than the protocol says");
                Err(Trouble::Item(Finding::new(FindingCode::Protocol, message)))
            }
            Ok(Err(_)) => Err(Trouble::Lost(self.lost(what))),
        }
    }

    /// Why there is no connection any more.
    pub(super) fn lost(&self, doing: &str) -> Finding {
        if self.watch.flooded.is_cancelled() {
            return Finding::new(
                FindingCode::Flooding,
                format!(
                    "it sent more than {} notifications within a second, so it was left",
                    self.limits.notifications
                ),
            );
        }
        if self.oversized.as_ref().is_some_and(|oversized| oversized.load(Ordering::Relaxed)) {
            return too_large(self.limits.message_bytes);
        }
        let finding = Finding::new(FindingCode::Closed, format!("it closed the connection (during {doing})"));
        match &self.process {
            Some(process) => explained(finding, process.last_words()),
            None => finding,
        }
    }

    /// Ends the connection, and the server where it was started for it.
    pub(super) async fn close(mut self) {
        if let Some(cancel) = self.cancel.take() {
            cancel.cancel();
        }
        if !self.closed.is_finished() {
            let _quit = tokio::time::timeout(Duration::from_secs(1), &mut self.closed).await;
        }
        if let Some(process) = self.process.take() {
            process.end().await;
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(cancel) = self.cancel.take() {
            cancel.cancel();
        }
    }
}

/// Why a request has no result.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The server answered with an error.
    Refused { code: ErrorCode, message: String },
    /// The answer cannot be used.
    Item(Finding),
    /// Nothing more can be asked.
    Lost(Finding),
}

/// Why there is no connection.
#[derive(Debug)]
pub(super) enum Failed {
    /// The server speaks the protocol without the older handshake only.
    NeedsDiscover,
    Finding(Finding),
}

impl Failed {
    pub(super) fn finding(self) -> Finding {
        match self {
            Failed::Finding(finding) => finding,
            Failed::NeedsDiscover => {
                Finding::new(FindingCode::Protocol, "it speaks no version of the protocol that is spoken here")
            }
        }
    }
}

impl From<Finding> for Failed {
    fn from(finding: Finding) -> Self {
        Failed::Finding(finding)
    }
}

fn failed(answer: &ClientInitializeError) -> Failed {
    match answer {
        ClientInitializeError::JsonRpcError(error)
            if [ErrorCode::METHOD_NOT_FOUND, ErrorCode::UNSUPPORTED_PROTOCOL_VERSION].contains(&error.code) =>
        {
            Failed::NeedsDiscover
        }
        ClientInitializeError::JsonRpcError(error) => Failed::Finding(Finding::new(
            FindingCode::Unreachable,
            format!("it refused the handshake: {}", shown(&error.message)),
        )),
        ClientInitializeError::NoCompatibleProtocolVersion { .. } => Failed::Finding(Failed::NeedsDiscover.finding()),
        ClientInitializeError::ConnectionClosed(_) => Failed::Finding(closed()),
        ClientInitializeError::TransportError { error, .. } if is_broken_pipe(error.error.as_ref()) => {
            Failed::Finding(closed())
        }
        ClientInitializeError::TransportError { error, .. } => {
            let finding = Finding::new(
                FindingCode::Unreachable,
                format!("it cannot be reached: {}", shown(&error.error.to_string())),
            );
            Failed::Finding(if answer.is_authorization_required() {
                finding.help("it wants an authorisation: give it as a header in `headers`")
            } else {
                finding
            })
        }
        _ => Failed::Finding(Finding::new(FindingCode::Protocol, "it answered the handshake with something else")),
    }
}

fn closed() -> Finding {
    Finding::new(FindingCode::Closed, "it closed the connection during the handshake")
}

/// What writing to a server gives that has ended already.
fn is_broken_pipe(error: &(dyn std::error::Error + 'static)) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

fn timed_out(what: &str, limit: Duration) -> Finding {
    Finding::new(FindingCode::TimedOut, format!("it did not answer {what} within {} ms", limit.as_millis()))
}

fn too_large(bound: usize) -> Finding {
    Finding::new(FindingCode::TooLarge, format!("it sent a message of more than {bound} bytes, so it was left"))
}

/// The finding with what the server said last, which is most often why.
fn explained(finding: Finding, last_words: Option<String>) -> Finding {
    const ENVIRONMENT: &str =
        "its environment holds only what `env` lists: add \"PATH\": \"${PATH}\" where it starts programs";
    match last_words {
        Some(words) => finding.help(format!("it wrote: {words}; {ENVIRONMENT}")),
        None => finding.help(ENVIRONMENT),
    }
}

/// Hears what a server says unasked. It is offered nothing: no sampling, no elicitation, no roots.
#[derive(Clone, Debug)]
struct Watch {
    changed: Arc<Notify>,
    flooded: CancellationToken,
    budget: u32,
    /// When the present second began, and what came in it.
    second: Arc<Mutex<(Instant, u32)>>,
}

impl Watch {
    fn new(budget: u32) -> Self {
        Self {
            changed: Arc::new(Notify::new()),
            flooded: CancellationToken::new(),
            budget,
            second: Arc::new(Mutex::new((Instant::now(), 0))),
        }
    }

    fn count(&self) {
        let mut second = self.second.lock().unwrap_or_else(PoisonError::into_inner);
        if second.0.elapsed() > Duration::from_secs(1) {
            *second = (Instant::now(), 0);
        }
        second.1 = second.1.saturating_add(1);
        if second.1 > self.budget {
            self.flooded.cancel();
        }
    }

    fn list_changed(&self) {
        self.count();
        self.changed.notify_one();
    }
}

impl ClientHandler for Watch {
    fn get_info(&self) -> ClientConfig {
        let identity = Implementation::new("skillgate", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), identity)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn on_resource_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.list_changed();
    }

    async fn on_prompt_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.list_changed();
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.count();
    }

    async fn on_resource_updated(
        &self,
        _params: rmcp::model::ResourceUpdatedNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        self.count();
    }

    #[expect(deprecated, reason = "older servers log, and what they send counts")]
    async fn on_logging_message(
        &self,
        _params: rmcp::model::LoggingMessageNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        self.count();
    }

    async fn on_progress(
        &self,
        _params: rmcp::model::ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        self.count();
    }

    async fn on_custom_notification(
        &self,
        _notification: rmcp::model::CustomNotification,
        _context: NotificationContext<RoleClient>,
    ) {
        self.count();
    }
}
