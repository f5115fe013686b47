//! Servers that answer what a test says, over streams in memory.

use crate::client::connection::{Connection, Failed};
use crate::client::fetch::{self, Offer};
use crate::finding::{Finding, FindingCode};
use crate::limits::McpLimits;
use rmcp::ClientLifecycleMode;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};

/// What a server does with a request.
pub(super) enum Reply {
    Result(Value),
    Error(i64, &'static str),
    /// No answer at all.
    Silence,
    /// These bytes instead of an answer.
    Raw(Vec<u8>),
    /// These bytes, and then this answer.
    After(Vec<u8>, Value),
    /// The end of the connection.
    Close,
}

type Answer = dyn Fn(&str, &Value) -> Reply + Send + Sync;

/// A server by what it answers. The handshake is its own unless the test answers it.
#[derive(Clone)]
pub(super) struct Script {
    capabilities: Value,
    answer: Arc<Answer>,
}

impl Script {
    pub(super) fn new(capabilities: Value, answer: impl Fn(&str, &Value) -> Reply + Send + Sync + 'static) -> Self {
        Self { capabilities, answer: Arc::new(answer) }
    }

    /// A server of plain resources: URIs and their texts.
    pub(super) fn resources(resources: Vec<(&'static str, String)>) -> Self {
        Self::new(json!({"resources": {}}), move |method, params| match method {
            "resources/list" => {
                let listed: Vec<Value> = resources.iter().map(|(uri, _)| json!({"uri": uri, "name": uri})).collect();
                Reply::Result(json!({"resources": listed}))
            }
            "resources/read" => match resources.iter().find(|(uri, _)| params["uri"] == *uri) {
                Some((uri, text)) => Reply::Result(contents(uri, text)),
                None => Reply::Error(-32002, "no such resource"),
            },
            _ => Reply::Error(-32601, "unknown method"),
        })
    }

    async fn run(self, stream: DuplexStream) {
        let (read, mut write) = tokio::io::split(stream);
        let mut lines = BufReader::new(read).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let Ok(message) = serde_json::from_str::<Value>(&line) else { return };
            let (Some(id), Some(method)) = (message.get("id"), message["method"].as_str()) else { continue };
            let reply = match method {
                "initialize" => match (self.answer)(method, &message["params"]) {
                    Reply::Error(-32601, _) => Reply::Result(json!({
                        "protocolVersion": "2025-06-18",
                        "capabilities": self.capabilities,
                        "serverInfo": {"name": "scripted\u{1b}[31m", "version": "1"},
                    })),
                    own => own,
                },
                method => (self.answer)(method, &message["params"]),
            };
            let answer =
                |result: Value| format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "result": result})).into_bytes();
            let bytes = match reply {
                Reply::Result(result) => answer(result),
                Reply::Error(code, message) => {
                    format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}))
                        .into_bytes()
                }
                Reply::Silence => continue,
                Reply::Raw(bytes) => bytes,
                Reply::After(mut bytes, result) => {
                    bytes.extend(answer(result));
                    bytes
                }
                Reply::Close => return,
            };
            if write.write_all(&bytes).await.is_err() {
                return;
            }
        }
    }
}

/// The contents of a resource as a server gives them.
pub(super) fn contents(uri: &str, text: &str) -> Value {
    json!({"contents": [{"uri": uri, "text": text}]})
}

/// Limits that a test reaches soon. Where time is one of them, the test waits for the finding and not for a time.
pub(super) fn limits() -> McpLimits {
    McpLimits {
        connect: Duration::from_millis(500),
        request: Duration::from_secs(20),
        refresh: Duration::from_millis(1),
        retry: Duration::from_millis(1),
        ..McpLimits::default()
    }
}

pub(super) async fn connected(script: Script, limits: &McpLimits) -> Result<Arc<Connection>, Finding> {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    tokio::spawn(script.run(theirs));
    let (read, write) = tokio::io::split(ours);
    let connection = Connection::over_streams(read, write, limits, ClientLifecycleMode::Initialize).await;
    connection.map(Arc::new).map_err(Failed::finding)
}

/// What a server offers, or why it is lost.
pub(super) async fn offer(script: Script, limits: &McpLimits) -> Result<Offer, Finding> {
    fetch::offer(&connected(script, limits).await?, "srv").await
}

/// What a server offers within the usual limits: names with texts, and findings with what they are about.
pub(super) async fn offered(script: Script) -> (Vec<(String, String)>, Vec<(FindingCode, String)>) {
    let offer = offer(script, &limits()).await.expect("the server is there");
    let skills = offer.skills.into_iter().map(|skill| (skill.name, skill.text)).collect();
    let findings = offer.findings.into_iter().map(|found| (found.code, found.about.unwrap_or_default())).collect();
    (skills, findings)
}
