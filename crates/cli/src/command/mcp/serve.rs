//! `skillgate mcp serve`

use crate::args::{Global, McpServeVerb};
use crate::exit::{Failure, Status};
use crate::{context, mcp, text};
use skillgate_loader::{PathDiagnostic, WatchOptions, read_file_ambient};
use skillgate_mcp::{BearerToken, HttpOptions, McpServers, McpSkills, ServeOptions, SkillServer};
use skillgate_runtime::{Runtime, SessionOptions};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;

/// The variable with the token, when no file is named.
const TOKEN: &str = "SKILLGATE_MCP_TOKEN";

pub(crate) fn run(global: &Global, verb: &McpServeVerb) -> Result<Status, Failure> {
    // What is wrong with the token is said before anything is loaded.
    let token = match verb.http {
        Some(_) => Some(token(verb)?),
        None => None,
    };
    // None is waited for: a client is answered at once, and told of the skills of servers as they come.
    let servers = mcp::begun_by_command_line(global)?;
    let skills = servers.as_ref().map(McpServers::skills);
    let runtime = open(global, skills)?;
    if let Some(off) = runtime.session(SessionOptions::default()).skills_off() {
        return Err(off.into());
    }
    runtime.diagnostics().iter().for_each(complain);
    let options = ServeOptions { ask: !global.no_input, ..ServeOptions::default() };
    let server = SkillServer::new(Arc::clone(&runtime), options);
    runtime.subscribe(|reloaded| reloaded.diagnostics.iter().for_each(complain));
    let watch = runtime.watch(WatchOptions::default())?;
    if let Some(servers) = &servers {
        mcp::follow(servers, watch.asker());
    }
    match (verb.http, &token) {
        (Some(address), Some(token)) => {
            let options = HttpOptions { sessions: usize::from(verb.sessions), ..HttpOptions::default() };
            serve_http(&server, address, token, &options)?;
        }
        _ => server.serve_stdio().map_err(Failure::McpServe)?,
    }
    watch.end();
    Ok(Status::Done)
}

fn complain(found: &PathDiagnostic) {
    text::complain(&format!("skillgate: {}: {}", found.path.display(), found.diagnostic.message));
}

/// The skills as they are now.
fn open(global: &Global, skills: Option<Arc<McpSkills>>) -> Result<Arc<Runtime>, Failure> {
    let builder = context::local_runtime(global)?;
    Ok(match skills {
        Some(skills) => builder.source(skills),
        None => builder,
    }
    .open()?)
}

fn serve_http(
    server: &SkillServer,
    address: SocketAddr,
    token: &BearerToken,
    options: &HttpOptions,
) -> Result<(), Failure> {
    let listener =
        TcpListener::bind(address).map_err(|error| Failure::Io { doing: format!("listening on {address}"), error })?;
    let bound =
        listener.local_addr().map_err(|error| Failure::Io { doing: format!("listening on {address}"), error })?;
    if bound.ip().is_loopback() {
        text::complain(&format!("skillgate: serving on http://{bound}/mcp"));
    }
    server.serve_http(listener, token, options).map_err(Failure::McpServe)
}

fn token(verb: &McpServeVerb) -> Result<BearerToken, Failure> {
    let given = match &verb.token_file {
        Some(path) => {
            if is_open_to_others(path) {
                let reason = format!("`{0}` can be read by others: chmod 600 '{0}'", path.display());
                return Err(Failure::McpToken { reason });
            }
            let bytes = read_file_ambient(path, 4096)
                .map_err(|fault| Failure::McpToken { reason: format!("`{}`: {fault}", path.display()) })?;
            String::from_utf8_lossy(&bytes).trim().to_owned()
        }
        None => std::env::var(TOKEN).map_err(|_| Failure::McpToken { reason: "there is none".to_owned() })?,
    };
    BearerToken::new(&given).map_err(|error| Failure::McpToken { reason: error.to_string() })
}

fn is_open_to_others(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        path.metadata().is_ok_and(|found| found.permissions().mode() & 0o077 != 0)
    }
    #[cfg(not(unix))]
    {
        let _has_no_mode = path;
        false
    }
}
