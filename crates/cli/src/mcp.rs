//! The servers that a configuration file names.

use crate::args::Global;
use crate::exit::Failure;
use crate::{confined, policy, text};
use skillgate_loader::{ReadFault, read_file_ambient};
use skillgate_mcp::{ClientOptions, ConfigProblem, Lookups, McpConfig, McpLimits, McpServers, ServerState};
use skillgate_policy::file::Policy;
use std::path::{Path, PathBuf};
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

/// Reads all configurations as one. A later file cannot name a server that an earlier one has.
pub(crate) fn read(global: &Global) -> Result<McpConfig, Failure> {
    let mut all = McpConfig::default();
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
        for server in config.servers {
            if all.servers.iter().any(|known| known.key == server.key) {
                all.problems.push(ConfigProblem {
                    message: format!(
                        "an earlier file has a server of that name, so the one of `{}` is not used",
                        path.display()
                    ),
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
    }
    Ok(all)
}

/// Starts or reaches the servers of a configuration, as the policy says.
pub(crate) fn connect(global: &Global, config: &McpConfig) -> Result<McpServers, Failure> {
    let policy = policy::in_force(global)?.policy;
    McpServers::connect(config.servers.clone(), &options(&policy))
        .map_err(|error| Failure::Io { doing: "starting the servers".to_owned(), error })
}

fn options(policy: &Policy) -> ClientOptions {
    let limits = McpLimits {
        connect: Duration::from_millis(policy.mcp.connect_ms.value),
        request: Duration::from_millis(policy.mcp.request_ms.value),
        ..McpLimits::default()
    };
    ClientOptions { limits, launcher: confined::launcher(policy) }
}

/// The servers that the command line names, for a verb that is about skills. Without a name no server is started.
pub(crate) fn of_command_line(global: &Global) -> Result<Option<McpServers>, Failure> {
    if global.mcp_config.is_empty() {
        return Ok(None);
    }
    let config = read(global)?;
    for problem in config.problems.iter().filter(|problem| problem.is_error) {
        text::complain(&format!("skillgate: {}", text::safe(&problem.to_string())));
    }
    let servers = connect(global, &config)?;
    for report in servers.reports().iter().filter(|report| report.state == ServerState::Failed) {
        for finding in &report.findings {
            text::complain(&text::safe(&format!("skillgate: the server `{}`: {finding}", report.name)));
            if let Some(help) = &finding.help {
                text::complain(&text::safe(&format!("help: {help}")));
            }
        }
    }
    Ok(Some(servers))
}

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
