//! The servers that a configuration file names.

use crate::args::Global;
use crate::exit::Failure;
use crate::{confined, policy, text};
use skillgate_loader::{ReadFault, WatchAsk, read_file_ambient};
use skillgate_mcp::{
    ClientOptions, ConfigProblem, Lookups, McpConfig, McpLimits, McpServers, ServerReport, ServerState, ServersEnd,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The largest configuration that is read, bytes.
const MAX_BYTES: u64 = 1 << 20;

/// The configurations: those that were named, else the user's own when it is there.
pub(crate) fn files(global: &Global) -> Vec<PathBuf> {
    if !global.mcp_config.is_empty() {
        return global.mcp_config.clone();
    }
    policy::user_path(global).map(|policy| policy.with_file_name("mcp.json")).into_iter().collect()
}

/// What the configurations hold together, each problem with its file.
#[derive(Debug, Default)]
pub(crate) struct Configured {
    pub(crate) config: McpConfig,
    /// The files of the problems, in their order.
    pub(crate) problems_of: Vec<PathBuf>,
}

impl Configured {
    fn take(&mut self, path: &Path, config: McpConfig) {
        let all = &mut self.config;
        for server in config.servers {
            if all.servers.iter().any(|known| known.key == server.key) {
                all.problems.push(ConfigProblem {
                    message: "an earlier file has a server of that name, so this one is not used".to_owned(),
                    server: server.name,
                    is_error: true,
                    line: 1,
                    column: 1,
                    help: Some("rename one of the two".to_owned()),
                });
            } else {
                all.servers.push(server);
            }
        }
        all.problems.extend(config.problems);
        all.disabled.extend(config.disabled);
        self.problems_of.resize(all.problems.len(), path.to_owned());
    }

    /// The problems with their files.
    pub(crate) fn problems(&self) -> impl Iterator<Item = (&Path, &ConfigProblem)> {
        self.problems_of.iter().map(PathBuf::as_path).zip(&self.config.problems)
    }

    /// What is about the server of this name.
    pub(crate) fn of_server(self, name: &str) -> Self {
        let is_wanted = |it: &str| it == name;
        let (mut problems, mut problems_of) = (Vec::new(), Vec::new());
        for (problem, path) in self.config.problems.into_iter().zip(self.problems_of) {
            if is_wanted(&problem.server) {
                problems.push(problem);
                problems_of.push(path);
            }
        }
        let servers = self.config.servers.into_iter().filter(|server| is_wanted(&server.name)).collect();
        let disabled = self.config.disabled.into_iter().filter(|server| is_wanted(server)).collect();
        Self { config: McpConfig { servers, disabled, problems }, problems_of }
    }
}

/// Reads all configurations as one. A later file cannot name a server that an earlier one gives; it can name one that is switched
/// off or wrong there.
pub(crate) fn read(global: &Global) -> Result<Configured, Failure> {
    let mut all = Configured::default();
    for path in files(global) {
        let bytes = match read_file_ambient(&path, MAX_BYTES) {
            Ok(bytes) => bytes,
            Err(ReadFault::NotFound) if global.mcp_config.is_empty() => continue,
            Err(fault) => return Err(Failure::McpConfigUnreadable { path, reason: fault.to_string() }),
        };
        let source = String::from_utf8_lossy(&bytes);
        let lookups = Lookups { variable: &|name| std::env::var(name).ok(), program: &program };
        let config =
            McpConfig::parse(&source, lookups).map_err(|error| Failure::McpConfig { path: path.clone(), error })?;
        all.take(&path, config);
    }
    Ok(all)
}

/// Starts or reaches the servers of a configuration, as the policy says, and waits for them.
pub(crate) fn connect(global: &Global, config: &McpConfig) -> Result<McpServers, Failure> {
    // Whoever ends the wait for one that hangs ends what was started.
    let servers = reached(McpServers::begin(config.servers.clone(), &options(global)?), Signals::End)?;
    servers.wait();
    Ok(servers)
}

fn options(global: &Global) -> Result<ClientOptions, Failure> {
    let policy = policy::in_force(global)?.policy;
    let limits = McpLimits {
        connect: Duration::from_millis(policy.mcp.connect_ms.value),
        request: Duration::from_millis(policy.mcp.request_ms.value),
        ..McpLimits::default()
    };
    Ok(ClientOptions { limits, launcher: confined::launcher(&policy) })
}

/// Who ends what was started for servers when a signal asks this process to end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Signals {
    /// This module, and the process ends as the signal has it.
    End,
    /// The verb, which returns when it is asked to end.
    Verb,
}

fn reached(servers: std::io::Result<McpServers>, signals: Signals) -> Result<McpServers, Failure> {
    let servers = servers.map_err(|error| Failure::Io { doing: "starting the servers".to_owned(), error })?;
    if signals == Signals::End {
        end_on_signals(servers.end());
    }
    Ok(servers)
}

/// The servers that the command line names, for a verb that is about skills; they are waited for. Without a name no server is
/// started.
pub(crate) fn of_command_line(global: &Global, signals: Signals) -> Result<Option<McpServers>, Failure> {
    let Some(config) = named(global)? else { return Ok(None) };
    let servers = reached(McpServers::begin(config.servers, &options(global)?), signals)?;
    servers.wait();
    servers.reports().iter().for_each(complain);
    Ok(Some(servers))
}

/// The same for a verb that goes on, without a wait: the skills come as the servers answer ([`follow`]).
pub(crate) fn begun_by_command_line(global: &Global) -> Result<Option<McpServers>, Failure> {
    let Some(config) = named(global)? else { return Ok(None) };
    reached(McpServers::begin(config.servers, &options(global)?), Signals::End).map(Some)
}

/// Has a watch look whenever a server's skills change, and says which servers are lost.
pub(crate) fn follow(servers: &McpServers, ask: WatchAsk) {
    let states = Mutex::new(BTreeMap::new());
    servers.subscribe(move |report| {
        let before = states.lock().unwrap_or_else(PoisonError::into_inner).insert(report.name.clone(), report.state);
        if before != Some(report.state) {
            complain(report);
        }
        ask.ask();
    });
}

fn named(global: &Global) -> Result<Option<McpConfig>, Failure> {
    if global.mcp_config.is_empty() {
        return Ok(None);
    }
    let read = read(global)?;
    for (path, problem) in read.problems().filter(|(_, problem)| problem.is_error) {
        text::complain(&text::safe(&format!("skillgate: {}: {problem}", path.display())));
    }
    Ok(Some(read.config))
}

/// Says why a server is lost.
fn complain(report: &ServerReport) {
    if report.state != ServerState::Failed {
        return;
    }
    for finding in &report.findings {
        text::complain(&text::safe(&format!("skillgate: the server `{}`: {finding}", report.name)));
        if let Some(help) = &finding.help {
            text::complain(&text::safe(&format!("help: {help}")));
        }
    }
}

/// A signal ends a process without dropping anything, and the servers are in process groups of their own, which a terminal's
/// Ctrl-C does not reach: they are ended first. Where the signals cannot be caught they end the process as they always do.
#[cfg(unix)]
fn end_on_signals(end: ServersEnd) {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use std::io::Read as _;
    use std::os::unix::net::UnixStream;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    let Ok((mut hears, says)) = UnixStream::pair() else { return };
    let came = Arc::new(AtomicUsize::new(0));
    for signal in [SIGHUP, SIGINT, SIGTERM] {
        let Ok(says) = says.try_clone() else { continue };
        // The number is there before the byte that tells of it.
        let number = usize::try_from(signal).unwrap_or_default();
        let _uncaught = signal_hook::flag::register_usize(signal, Arc::clone(&came), number);
        let _uncaught = signal_hook::low_level::pipe::register(signal, says);
    }
    std::thread::spawn(move || {
        if hears.read(&mut [0]).is_ok_and(|read| read > 0) {
            end.end();
            let signal = i32::try_from(came.load(Ordering::SeqCst)).unwrap_or(SIGTERM);
            let _ended = signal_hook::low_level::emulate_default_handler(signal);
        }
    });
}

#[cfg(not(unix))]
fn end_on_signals(_end: ServersEnd) {}

/// Looks for a program in this process's own `PATH`.
fn program(name: &str) -> Option<String> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.join(name))
        .find(|candidate| is_program(candidate))
        .map(|found| found.to_string_lossy().into_owned())
}

fn is_program(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    }
    #[cfg(not(unix))]
    path.is_file()
}
