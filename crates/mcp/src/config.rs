//! The file in which hosts keep their servers: an object `mcpServers`, as other agents have it.

mod place;
mod variable;

use crate::name::normalised;
use place::Places;
use serde::Serialize;
use serde_json::{Map, Value};
use skillgate_core::{LineIndex, Position, classify_invisible};
use std::collections::BTreeMap;
use std::fmt;

/// The largest file that is read, bytes.
const MAX_BYTES: usize = 1 << 20;
/// The most servers of one file.
const MAX_SERVERS: usize = 64;

/// The servers of a file, and what is wrong with the others.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct McpConfig {
    /// The servers that can be used, in the order of their names.
    pub servers: Vec<ServerEntry>,
    /// The names of servers that the file switches off.
    pub disabled: Vec<String>,
    /// What is wrong. A server with a problem that is an error is not among `servers`; the others are not touched by it.
    pub problems: Vec<ConfigProblem>,
}

/// One server of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ServerEntry {
    /// The name, as it stands in the file.
    pub name: String,
    /// The name as it stands in the names of skills.
    pub key: String,
    /// How it is reached.
    pub transport: ServerTransport,
}

/// How a server is reached.
#[derive(Clone, PartialEq, Eq)]
pub enum ServerTransport {
    /// It is started, and spoken to over its standard streams.
    Stdio {
        /// The program's path.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Its whole environment.
        env: BTreeMap<String, String>,
    },
    /// It is reached over HTTP.
    Http {
        /// Its address.
        url: String,
        /// Headers of every request.
        headers: BTreeMap<String, String>,
    },
}

impl ServerTransport {
    /// `stdio` or `http`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            ServerTransport::Stdio { .. } => "stdio",
            ServerTransport::Http { .. } => "http",
        }
    }
}

/// Names of variables and headers only: their values are secrets more often than not.
impl fmt::Debug for ServerTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServerTransport::Stdio { command, args, env } => f
                .debug_struct("Stdio")
                .field("command", command)
                .field("args", &args.len())
                .field("env", &env.keys())
                .finish(),
            ServerTransport::Http { headers, .. } => {
                f.debug_struct("Http").field("headers", &headers.keys()).finish_non_exhaustive()
            }
        }
    }
}

/// Something in a file that is wrong or not used.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ConfigProblem {
    /// The server.
    pub server: String,
    /// Whether the server is left out because of it.
    pub is_error: bool,
    /// Where, from 1.
    pub line: usize,
    /// Where in the line, in characters from 1.
    pub column: usize,
    /// What is wrong, one sentence without a final full stop.
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
}

impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: server `{}`: {}", self.line, self.column, self.server, self.message)
    }
}

/// Why a file gives no servers at all.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// It is not JSON.
    #[error("line {line}, column {column}: {reason}")]
    Syntax {
        /// Where, from 1.
        line: usize,
        /// Where in the line, from 1.
        column: usize,
        /// What the reader says.
        reason: String,
    },
    /// It has no object `mcpServers`.
    #[error("there is no object `mcpServers`{}", if *.has_servers { "; there is one `servers`" } else { "" })]
    NoServers {
        /// Whether it has `servers`, as one editor calls it.
        has_servers: bool,
    },
    /// It is larger than what is read.
    #[error("it has {0} bytes; at most {MAX_BYTES} are read")]
    TooLarge(usize),
    /// It has more servers than are used.
    #[error("it has {0} servers; at most {MAX_SERVERS} are used")]
    TooManyServers(usize),
}

impl ConfigError {
    /// What to write.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            ConfigError::NoServers { has_servers: true } => "rename `servers` to `mcpServers`",
            ConfigError::Syntax { .. } | ConfigError::NoServers { .. } => {
                r#"the form is { "mcpServers": { "NAME": { "command": "…", "args": [], "env": {} } } }, or "url" and "headers" for a server over HTTP"#
            }
            ConfigError::TooLarge(_) | ConfigError::TooManyServers(_) => "keep the servers in several files",
        }
    }
}

/// What a file may refer to.
#[derive(Clone, Copy)]
pub struct Lookups<'a> {
    /// The value of a variable of the host.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// The path of a program that is named without one. A server has the host's `PATH` only where its entry says so, so the
    /// host looks.
    pub program: &'a dyn Fn(&str) -> Option<String>,
}

impl fmt::Debug for Lookups<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lookups").finish_non_exhaustive()
    }
}

impl McpConfig {
    /// Reads a file. `${NAME}`, `${env:NAME}` and either with `:-default` in values stand for what the host gives.
    ///
    /// # Errors
    /// A [`ConfigError`] when nothing of the file can be used. What is wrong with one server is a [`ConfigProblem`].
    pub fn parse(text: &str, lookups: Lookups<'_>) -> Result<Self, ConfigError> {
        if text.len() > MAX_BYTES {
            return Err(ConfigError::TooLarge(text.len()));
        }
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let root: Value = serde_json::from_str(text).map_err(|error| ConfigError::Syntax {
            line: error.line(),
            column: error.column(),
            reason: without_place(&error.to_string()),
        })?;
        let Some(servers) = root.get("mcpServers").and_then(Value::as_object) else {
            return Err(ConfigError::NoServers { has_servers: root.get("servers").is_some_and(Value::is_object) });
        };
        if servers.len() > MAX_SERVERS {
            return Err(ConfigError::TooManyServers(servers.len()));
        }
        let places = Places::of(text);
        let lines = LineIndex::new(text);
        let mut config = Self::default();
        let mut keys: BTreeMap<String, String> = BTreeMap::new();
        for (name, entry) in servers {
            let mut reader = EntryReader { name, places: &places, lines: &lines, lookups, problems: Vec::new() };
            match reader.read(entry) {
                Read::Disabled => config.disabled.push(name.clone()),
                Read::Entry(transport) => {
                    if let Some(key) = reader.key(&keys)
                        && reader.problems.iter().all(|problem| !problem.is_error)
                    {
                        keys.insert(key.clone(), name.clone());
                        config.servers.push(ServerEntry { name: name.clone(), key, transport });
                    }
                }
                Read::Unusable => {}
            }
            config.problems.append(&mut reader.problems);
        }
        Ok(config)
    }
}

enum Read {
    Entry(ServerTransport),
    Disabled,
    Unusable,
}

struct EntryReader<'a> {
    name: &'a str,
    places: &'a Places,
    lines: &'a LineIndex<'a>,
    lookups: Lookups<'a>,
    problems: Vec<ConfigProblem>,
}

impl EntryReader<'_> {
    fn read(&mut self, entry: &Value) -> Read {
        let Some(entry) = entry.as_object() else {
            self.error(&[], "it is not an object", Some("write { \"command\": … } or { \"url\": … }"));
            return Read::Unusable;
        };
        for key in self.places.twice_below(&["mcpServers", self.name]) {
            self.error(&[&key], &format!("`{key}` stands twice"), Some("keep one of them"));
        }
        for key in entry.keys().filter(|key| !KNOWN.contains(&key.as_str())) {
            let key = crate::finding::shown(key);
            self.report(&[&key], false, &format!("`{key}` is not used"), unused_help(&key));
        }
        match entry.get("disabled") {
            None | Some(Value::Bool(false)) => {}
            Some(Value::Bool(true)) => return Read::Disabled,
            Some(_) => self.error(&["disabled"], "`disabled` is neither true nor false", None),
        }
        let transport = match (self.kind(entry), entry.get("command"), entry.get("url")) {
            (None, ..) => None,
            (Some(Kind::Stdio | Kind::ByKeys), Some(_), None) => self.stdio(entry),
            (Some(Kind::Http | Kind::ByKeys), None, Some(_)) => self.http(entry),
            (_, Some(_), Some(_)) => {
                self.error(&[], "it has both `command` and `url`", Some("keep the one by which it is reached"));
                None
            }
            (Some(Kind::Http), ..) => {
                self.error(&[], "a server over HTTP needs `url`", None);
                None
            }
            _ => {
                self.error(&[], "it has neither `command` nor `url`", None);
                None
            }
        };
        transport.map_or(Read::Unusable, Read::Entry)
    }

    fn kind(&mut self, entry: &Map<String, Value>) -> Option<Kind> {
        match entry.get("type").map(|kind| kind.as_str().unwrap_or_default()) {
            None => Some(Kind::ByKeys),
            Some("stdio") => Some(Kind::Stdio),
            Some("http" | "streamable-http" | "streamableHttp") => Some(Kind::Http),
            Some("sse") => {
                let help = "ask the server for its streamable HTTP address, and write \"type\": \"http\"";
                self.error(&["type"], "`sse` is an older transport that is not spoken", Some(help));
                None
            }
            Some(_) => {
                self.error(&["type"], "the type is neither `stdio` nor `http`", None);
                None
            }
        }
    }

    fn stdio(&mut self, entry: &Map<String, Value>) -> Option<ServerTransport> {
        let command = self.text(entry, "command")?;
        let args = match entry.get("args") {
            None => Vec::new(),
            Some(Value::Array(args)) if args.iter().all(Value::is_string) => args
                .iter()
                .enumerate()
                .filter_map(|(index, arg)| {
                    self.expanded(&["args", &index.to_string()], arg.as_str().unwrap_or_default())
                })
                .collect(),
            Some(_) => {
                self.error(&["args"], "`args` is not a list of texts", Some("write [\"--flag\", \"value\"]"));
                return None;
            }
        };
        let env = self.table(entry, "env")?;
        let bad = |text: &String| text.contains('\0');
        if command.trim().is_empty() || bad(&command) || args.iter().any(bad) || env.values().any(bad) {
            self.error(&["command"], "the command is empty, or something of it holds a NUL", None);
            return None;
        }
        if let Some(name) = env.keys().find(|name| name.is_empty() || name.contains(['=', '\0'])) {
            self.error(&["env", name], "this cannot be the name of a variable", None);
            return None;
        }
        if let Some((program, _)) = command.split_once(' ').filter(|_| args.is_empty())
            && !std::path::Path::new(&command).exists()
        {
            let help = format!("write \"command\": \"{program}\", and each further word in `args`");
            let message = "the command is a line with several words; no shell takes it apart";
            self.error(&["command"], message, Some(&crate::finding::shown(&help)));
            return None;
        }
        let named = command.contains(['/', '\\']);
        let Some(command) = Some(command.clone()).filter(|_| named).or_else(|| (self.lookups.program)(&command)) else {
            let help = "install it, or write its whole path";
            self.error(&["command"], &format!("there is no program `{}`", crate::finding::shown(&command)), Some(help));
            return None;
        };
        Some(ServerTransport::Stdio { command, args, env })
    }

    fn http(&mut self, entry: &Map<String, Value>) -> Option<ServerTransport> {
        let url = self.text(entry, "url")?;
        let headers = self.table(entry, "headers")?;
        match reqwest::Url::parse(&url) {
            Ok(parsed) if parsed.scheme() == "https" || is_loopback(&parsed) && parsed.scheme() == "http" => {}
            Ok(parsed) if parsed.scheme() == "http" => {
                let help = "write https://; without it anybody on the way reads the headers and writes the skills";
                self.error(&["url"], "a server that is not on this machine is reached over https only", Some(help));
                return None;
            }
            Ok(_) => {
                self.error(&["url"], "the address is neither https:// nor http://", None);
                return None;
            }
            Err(error) => {
                self.error(&["url"], &format!("the address cannot be read: {error}"), None);
                return None;
            }
        }
        for (name, value) in &headers {
            let valid = axum::http::HeaderName::try_from(name.as_str()).is_ok()
                && axum::http::HeaderValue::try_from(value.as_str()).is_ok();
            if !valid {
                self.error(&["headers", name], "this cannot be a header of a request", None);
                return None;
            }
        }
        Some(ServerTransport::Http { url, headers })
    }

    fn text(&mut self, entry: &Map<String, Value>, key: &str) -> Option<String> {
        match entry.get(key).and_then(Value::as_str) {
            Some(text) => self.expanded(&[key], text),
            None => {
                self.error(&[key], &format!("`{key}` is not a text"), None);
                None
            }
        }
    }

    fn table(&mut self, entry: &Map<String, Value>, key: &str) -> Option<BTreeMap<String, String>> {
        let Some(value) = entry.get(key) else { return Some(BTreeMap::new()) };
        let Some(table) = value.as_object().filter(|table| table.values().all(Value::is_string)) else {
            self.error(&[key], &format!("`{key}` is not an object of texts"), Some("write { \"NAME\": \"value\" }"));
            return None;
        };
        let mut expanded = BTreeMap::new();
        for (name, value) in table {
            let value = self.expanded(&[key, name], value.as_str().unwrap_or_default())?;
            expanded.insert(name.clone(), value);
        }
        Some(expanded)
    }

    fn expanded(&mut self, path: &[&str], text: &str) -> Option<String> {
        match variable::expanded(text, self.lookups.variable) {
            Ok(expanded) => Some(expanded),
            Err(variable::Unfilled::NotSet(name)) => {
                let help = format!("set it, or write ${{{name}:-default}}");
                self.error(path, &format!("the variable `{name}` is not set"), Some(&help));
                None
            }
            Err(variable::Unfilled::Foreign(inside)) => {
                let message = format!("`${{{}}}` is filled in by another agent only", crate::finding::shown(&inside));
                self.error(path, &message, Some("write the value, or ${NAME} for a variable of yours"));
                None
            }
        }
    }

    /// The name as it stands in the names of skills.
    fn key(&mut self, taken: &BTreeMap<String, String>) -> Option<String> {
        let hides = |c: char| c.is_control() || classify_invisible(c).is_some();
        let Some(key) = normalised(self.name).filter(|_| !self.name.contains(hides)) else {
            let help = "a name has letters or digits, at most 64, and no control or invisible character";
            self.error(&[], "the server's name cannot stand in the names of skills", Some(help));
            return None;
        };
        if let Some(other) = taken.get(&key) {
            let message = format!("in the names of skills it would be `{key}`, as `{other}` is");
            self.error(&[], &message, Some("rename one of the two"));
            return None;
        }
        Some(key)
    }

    fn error(&mut self, path: &[&str], message: &str, help: Option<&str>) {
        self.report(path, true, message, help);
    }

    fn report(&mut self, path: &[&str], is_error: bool, message: &str, help: Option<&str>) {
        let offset = self.places.of_path(["mcpServers", self.name].into_iter().chain(path.iter().copied()));
        let Position { line, column } = self.lines.position(offset);
        self.problems.push(ConfigProblem {
            server: crate::finding::shown(self.name),
            is_error,
            line,
            column,
            message: message.to_owned(),
            help: help.map(str::to_owned),
        });
    }
}

enum Kind {
    Stdio,
    Http,
    ByKeys,
}

const KNOWN: [&str; 7] = ["type", "command", "args", "env", "url", "headers", "disabled"];

/// What to write instead of a key that is not used.
fn unused_help(key: &str) -> Option<&'static str> {
    match key {
        "cwd" => Some("it is started in the directory of the host: write whole paths in `args`"),
        "envFile" => Some("write its variables in `env`"),
        _ => None,
    }
}

/// Whether the address is of this machine, whatever a resolver says.
fn is_loopback(url: &reqwest::Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// What the reader of JSON says, without the place, which stands before it.
fn without_place(message: &str) -> String {
    message.rsplit_once(" at line ").map_or(message, |(reason, _)| reason).to_owned()
}

#[cfg(test)]
mod tests;
