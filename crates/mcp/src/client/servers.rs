//! All servers of a host, behind an interface without `async`.

use super::call::{self, Callers};
use super::connection::{Connection, Event};
use super::fetch::{self, Offer};
use super::launch::ServerLauncher;
use super::skill::RemoteSkill;
use crate::config::ServerEntry;
use crate::finding::Finding;
use crate::limits::McpLimits;
use serde::Serialize;
use skillgate_core::Source;
use skillgate_runtime::{HeldExtras, HeldSkill, SkillSource};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The longest wait before a server that is gone is tried again.
const MAX_BACKOFF: Duration = Duration::from_secs(60);
/// A server that stayed this long is tried again as if for the first time.
const STEADY: Duration = Duration::from_secs(60);
/// How long the end of all servers is waited for.
const END: Duration = Duration::from_secs(2);

/// How it stands with one server.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ServerState {
    /// It was not reached yet.
    Connecting,
    /// Its skills are those that it offers now.
    Connected,
    /// It is gone, and so are its skills.
    Failed,
}

impl ServerState {
    /// The state as it is written in output.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            ServerState::Connecting => "connecting",
            ServerState::Connected => "connected",
            ServerState::Failed => "failed",
        }
    }
}

/// What is known of one server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ServerReport {
    /// Its name in the host's configuration.
    pub name: String,
    /// `stdio` or `http`.
    pub transport: &'static str,
    /// How it stands with it.
    pub state: ServerState,
    /// What it calls itself, and its version.
    pub implementation: Option<(String, String)>,
    /// The version of the protocol that was agreed on.
    pub protocol: Option<String>,
    /// Its skills.
    pub skills: Vec<RemoteSkill>,
    /// What was found about it and what it offers.
    pub findings: Vec<Finding>,
}

/// The connections to a host's servers. They end with this value, and so does what was started for them.
///
/// Each server is looked after by a task of its own: it is asked again when its lists change, and tried again, ever more seldom,
/// when it is gone. Whatever it does costs its own skills only.
pub struct McpServers {
    shared: Arc<Shared>,
    end: ServersEnd,
    runtime: Option<tokio::runtime::Runtime>,
}

/// Ends what was started for the servers, from elsewhere: a host that a signal ends does not drop its values.
#[derive(Clone, Debug)]
pub struct ServersEnd {
    stop: CancellationToken,
    /// Says that nothing is there any more by being closed: each connection and each task holds the other end.
    ended: Arc<Mutex<Receiver<Infallible>>>,
}

impl ServersEnd {
    /// Ends all connections and the processes that were started for them, and waits until these are killed, at most two seconds.
    pub fn end(&self) {
        self.stop.cancel();
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let _closed = ended.recv_timeout(END);
    }
}

impl fmt::Debug for McpServers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpServers").field("shared", &self.shared).finish_non_exhaustive()
    }
}

/// How a host reaches its servers.
#[derive(Clone, Debug, Default)]
pub struct ClientOptions {
    /// What one server may cost.
    pub limits: McpLimits,
    /// Starts the programs of servers. Without one they are children of this process, with the environment of their entry and
    /// everything else that this process may.
    pub launcher: Option<Arc<dyn ServerLauncher>>,
}

type Subscriber = Arc<dyn Fn(&ServerReport) + Send + Sync>;

/// Held by what may have a process of a server.
pub(super) type Alive = Sender<Infallible>;

pub(super) struct Shared {
    /// Where the connections live.
    pub(super) runtime: tokio::runtime::Handle,
    pub(super) callers: Callers,
    reports: Mutex<BTreeMap<String, ServerReport>>,
    settled: Condvar,
    subscribers: Mutex<Vec<Subscriber>>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("reports", &self.reports).finish_non_exhaustive()
    }
}

impl McpServers {
    /// Starts or reaches all servers, and waits until each has answered or failed; the limits bound the wait.
    ///
    /// # Errors
    /// What the system says when there cannot be threads for them.
    pub fn connect(entries: Vec<ServerEntry>, options: &ClientOptions) -> std::io::Result<Self> {
        let servers = Self::begin(entries, options)?;
        servers.wait();
        Ok(servers)
    }

    /// Begins to start or reach all servers and waits for none, so that one that hangs holds up nothing: their skills come as they
    /// answer, and [`McpServers::subscribe`] tells of them.
    ///
    /// # Errors
    /// What the system says when there cannot be threads for them.
    pub fn begin(entries: Vec<ServerEntry>, options: &ClientOptions) -> std::io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("skillgate-mcp")
            .enable_io()
            .enable_time()
            .build()?;
        let all = Arc::new(Shared {
            runtime: runtime.handle().clone(),
            callers: Callers::default(),
            reports: Mutex::default(),
            settled: Condvar::new(),
            subscribers: Mutex::default(),
        });
        let stop = CancellationToken::new();
        let (alive, ended) = channel();
        for entry in entries {
            all.put(ServerReport {
                name: entry.name.clone(),
                transport: entry.transport.kind(),
                state: ServerState::Connecting,
                implementation: None,
                protocol: None,
                skills: Vec::new(),
                findings: Vec::new(),
            });
            let (shared, stop, options, alive) = (Arc::clone(&all), stop.clone(), options.clone(), alive.clone());
            runtime.spawn(async move {
                // Dropping the connection ends the server, so nothing has to be done when the host stops.
                tokio::select! {
                    () = stop.cancelled() => {}
                    () = look_after(entry, options, &shared, &alive) => {}
                }
            });
        }
        let end = ServersEnd { stop, ended: Arc::new(Mutex::new(ended)) };
        Ok(Self { shared: all, end, runtime: Some(runtime) })
    }

    /// Waits until each server has answered or failed; the limits bound the wait.
    pub fn wait(&self) {
        self.shared.wait_until_settled();
    }

    /// What is known of each server, by name.
    #[must_use]
    pub fn reports(&self) -> Vec<ServerReport> {
        self.shared.reports().values().cloned().collect()
    }

    /// The skills of all servers, for a catalogue. It gives those that are known when it is asked.
    #[must_use]
    pub fn skills(&self) -> Arc<McpSkills> {
        Arc::new(McpSkills { shared: Arc::clone(&self.shared), keeps: None })
    }

    /// The same for a host that holds the connections for nothing else: they stay for as long as a skill of the catalogue needs
    /// its server, which is one whose text is made when it is called.
    #[must_use]
    pub fn into_skills(self) -> Arc<McpSkills> {
        Arc::new(McpSkills { shared: Arc::clone(&self.shared), keeps: Some(Arc::new(self)) })
    }

    /// Calls `changed` with each server that has answered or failed by now, and then whenever one is in another state or has other
    /// skills than before.
    pub fn subscribe(&self, changed: impl Fn(&ServerReport) + Send + Sync + 'static) {
        let changed: Subscriber = Arc::new(changed);
        let known: Vec<ServerReport> = {
            // While it is held no report changes, so each is told of once.
            let reports = self.shared.reports();
            self.shared.subscribers().push(Arc::clone(&changed));
            reports.values().filter(|report| report.state != ServerState::Connecting).cloned().collect()
        };
        known.iter().for_each(|report| changed(report));
    }

    /// What ends all of it from elsewhere.
    #[must_use]
    pub fn end(&self) -> ServersEnd {
        self.end.clone()
    }
}

impl Drop for McpServers {
    fn drop(&mut self) {
        self.end.stop.cancel();
        let Some(runtime) = self.runtime.take() else { return };
        // Long enough for the tasks to see it; their servers are killed as they end.
        let end = move || runtime.shutdown_timeout(END);
        // A task may be the last to hold this, and a task may not wait.
        if tokio::runtime::Handle::try_current().is_ok() { drop(std::thread::spawn(end)) } else { end() }
    }
}

/// The skills of a host's servers: text only, as everything that comes from elsewhere.
#[derive(Debug)]
pub struct McpSkills {
    shared: Arc<Shared>,
    keeps: Option<Arc<McpServers>>,
}

impl SkillSource for McpSkills {
    fn source(&self) -> Source {
        Source::Mcp
    }

    fn texts(&self) -> Vec<HeldSkill> {
        let reports = self.shared.reports();
        reports.values().flat_map(|report| report.skills.iter().map(|skill| skill.held(&report.name))).collect()
    }

    fn extras(&self, name: &str) -> HeldExtras {
        let reports = self.shared.reports();
        let mut skills = reports.values().flat_map(|report| report.skills.iter().map(move |skill| (report, skill)));
        let called = skills.find(|(_, skill)| skill.name == name).filter(|(_, skill)| !skill.arguments.is_empty());
        let call = called.map(|(report, skill)| {
            let (shared, keeps) = (Arc::clone(&self.shared), self.keeps.clone());
            call::body(shared, keeps, report.name.clone(), skill.uri.clone(), skill.arguments.clone())
        });
        HeldExtras { call, ..HeldExtras::default() }
    }
}

impl Shared {
    fn reports(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, ServerReport>> {
        self.reports.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn subscribers(&self) -> std::sync::MutexGuard<'_, Vec<Subscriber>> {
        self.subscribers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, report: ServerReport) {
        let told = {
            let mut reports = self.reports();
            let before = reports.insert(report.name.clone(), report.clone());
            let changed = before.is_some_and(|before| before.state != report.state || before.skills != report.skills);
            if changed { self.subscribers().clone() } else { Vec::new() }
        };
        self.settled.notify_all();
        for subscriber in told {
            subscriber(&report);
        }
    }

    fn wait_until_settled(&self) {
        let waits = |reports: &mut BTreeMap<String, ServerReport>| {
            reports.values().any(|report| report.state == ServerState::Connecting)
        };
        let _settled = self.settled.wait_while(self.reports(), waits).unwrap_or_else(PoisonError::into_inner);
    }
}

/// Keeps one server's report true, for ever.
async fn look_after(entry: ServerEntry, options: ClientOptions, shared: &Shared, alive: &Alive) {
    let mut backoff = options.limits.retry;
    loop {
        let began = tokio::time::Instant::now();
        let lost = once(&entry, &options, shared, alive).await;
        let transport = entry.transport.kind();
        shared.put(ServerReport {
            name: entry.name.clone(),
            transport,
            state: ServerState::Failed,
            implementation: None,
            protocol: None,
            skills: Vec::new(),
            findings: vec![lost],
        });
        if began.elapsed() >= STEADY {
            backoff = options.limits.retry;
        }
        tokio::time::sleep(backoff).await;
        backoff = (backoff * 2).min(MAX_BACKOFF);
    }
}

/// One connection from its beginning to its end; gives why it ended.
async fn once(entry: &ServerEntry, options: &ClientOptions, shared: &Shared, alive: &Alive) -> Finding {
    let limits = &options.limits;
    let connection = match Connection::open(entry, limits, options.launcher.as_ref()).await {
        Ok(connection) => connection.held_by(alive.clone()),
        Err(finding) => return finding,
    };
    let reachable = shared.callers.put(&entry.name, &connection);
    let mut connection = Arc::new(connection);
    let lost = loop {
        match fetch::offer(&connection, &entry.key).await {
            Ok(offer) => shared.put(report(entry, &connection, offer)),
            Err(lost) => break lost,
        }
        // No task of the fetch holds it any more.
        let Some(own) = Arc::get_mut(&mut connection) else { break connection.lost("a look at its lists") };
        match own.event().await {
            Event::Closed => break connection.lost("the wait for changes"),
            // Changes that come together are looked at together.
            Event::Changed => tokio::time::sleep(limits.refresh).await,
        }
    };
    drop(reachable);
    if let Some(connection) = Arc::into_inner(connection) {
        connection.close().await;
    }
    lost
}

fn report(entry: &ServerEntry, connection: &Connection, offer: Offer) -> ServerReport {
    let shown = crate::finding::shown;
    let own = connection.info.server_info.as_ref();
    ServerReport {
        name: entry.name.clone(),
        transport: entry.transport.kind(),
        state: ServerState::Connected,
        implementation: own.map(|own| (shown(&own.name), shown(&own.version))),
        protocol: Some(shown(connection.info.protocol_version.as_str())),
        skills: offer.skills,
        findings: offer.findings,
    }
}
