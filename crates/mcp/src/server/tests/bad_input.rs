use super::fixture::{TestClient, call, connected, serving};
use crate::server::{ServeError, SkillServer};
use rmcp::model::ErrorCode;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};

const GREET: (&str, &str) = ("greet", "---\ndescription: Greets.\n---\nHello.\n");

/// A client that writes lines.
struct Raw {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    write: WriteHalf<DuplexStream>,
    served: tokio::task::JoinHandle<Result<(), ServeError>>,
}

impl Raw {
    fn connect(server: &SkillServer) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let server = server.clone();
        let served = tokio::spawn(async move {
            let (read, write) = tokio::io::split(theirs);
            server.serve_streams(read, write).await
        });
        let (read, write) = tokio::io::split(ours);
        Self { lines: BufReader::new(read).lines(), write, served }
    }

    async fn begun(server: &SkillServer) -> Self {
        let mut raw = Self::connect(server);
        let version = raw.initialize("2025-06-18").await;
        assert_eq!(version["result"]["protocolVersion"], "2025-06-18");
        raw.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string()).await;
        raw
    }

    async fn initialize(&mut self, version: &str) -> Value {
        self.send(
            &json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
                "protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"},
            }})
            .to_string(),
        )
        .await;
        self.answer().await.expect("an answer to the handshake")
    }

    async fn send(&mut self, line: &str) {
        let _closed = self.write.write_all(format!("{line}\n").as_bytes()).await;
    }

    async fn answer(&mut self) -> Option<Value> {
        let line = self.lines.next_line().await.ok().flatten()?;
        Some(serde_json::from_str(&line).expect("the server writes JSON"))
    }
}

#[tokio::test]
async fn lines_that_are_no_requests_are_passed_over_or_refused_and_the_next_is_answered() {
    let server = serving(&[GREET]);
    let mut raw = Raw::begun(&server).await;
    for noise in ["", "not json", "{", "\u{0}", "[1,2", "{\"jsonrpc\":\"2.0\",\"id\":1,\"resu"] {
        raw.send(noise).await;
    }
    raw.send(r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#).await;
    let answer = raw.answer().await.expect("an answer");
    assert_eq!((&answer["id"], answer["result"]["tools"].as_array().map(Vec::len)), (&json!(7), Some(2)));

    // JSON that is no message of the protocol has an error without an id.
    raw.send(r#"{"hello":"world"}"#).await;
    let answer = raw.answer().await.expect("an answer");
    assert_eq!(answer["error"]["code"], -32600, "{answer}");
}

#[tokio::test]
async fn messages_that_are_no_json_rpc_are_refused_and_the_next_is_answered() {
    let server = serving(&[GREET]);
    let mut raw = Raw::begun(&server).await;
    for wrong in [
        r#"{"jsonrpc":"1.0","id":1,"method":"tools/list"}"#,
        r#"{"id":1,"method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":{},"method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":1}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":5}"#,
        r#"[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]"#,
        r#"{"jsonrpc":"2.0","id":99,"result":{}}"#,
    ] {
        raw.send(wrong).await;
    }
    raw.send(r#"{"jsonrpc":"2.0","id":"last","method":"tools/list"}"#).await;
    loop {
        let answer = raw.answer().await.expect("the connection stays");
        if answer["id"] == "last" {
            assert_eq!(answer["result"]["tools"].as_array().map(Vec::len), Some(2));
            return;
        }
        assert!(
            answer["error"]["code"].is_i64() && answer["result"].is_null(),
            "nothing of it is carried out: {answer}"
        );
    }
}

#[tokio::test]
async fn names_with_separators_and_control_characters_lead_nowhere_and_are_not_echoed() {
    let client = connected(&serving(&[GREET]), TestClient::default()).await;
    for name in
        ["../greet", "greet/../greet", "a\\b", "a\0b", "a\nb", "\u{1b}[31mgreet", "gr\u{202e}eet", "skill://greet"]
    {
        let result = call(&client, "Skill", json!({"skill": name})).await.expect("a result");
        let said = super::fixture::text(&result);
        assert_eq!(result.is_error, Some(true), "{name:?}: {said}");
        assert_eq!(result.structured_content.expect("a structure")["error"]["code"], "unknown", "{name:?}");
        let prompt = client.get_prompt_once(rmcp::model::GetPromptRequestParams::new(name)).await.expect_err("none");
        let read = rmcp::model::ReadResourceRequestParams::new(format!("skill://{name}/SKILL.md"));
        let resource = client.read_resource(read).await.expect_err("none");
        for said in [prompt.to_string(), resource.to_string()] {
            assert!(!said.contains(|c: char| c == '\u{202e}' || c.is_control()), "{name:?}: {said:?}");
        }
    }
}

#[tokio::test]
async fn unknown_methods_and_wrong_arguments_are_typed_errors() {
    let client = connected(&serving(&[GREET]), TestClient::default()).await;
    for (tool, input) in [
        ("Skill", json!({})),
        ("Skill", json!({"skill": 5})),
        ("Skill", json!({"skill": " / "})),
        ("Skill", json!({"skill": "greet", "shell": "rm"})),
        ("Skill", json!({"skill": "greet", "args": "x".repeat(1 << 17)})),
        ("DiscoverSkills", json!({"limit": 3})),
        ("DiscoverSkills", json!({"description": "x", "limit": -1})),
        ("Bash", json!({"command": "id"})),
    ] {
        let error = call(&client, tool, input.clone()).await.expect_err("refused");
        let rmcp::ServiceError::McpError(error) = error else { unreachable!("{tool} {input}: {error}") };
        assert_eq!(error.code, ErrorCode::INVALID_PARAMS, "{tool} {input}");
    }
    let server = serving(&[GREET]);
    let mut raw = Raw::begun(&server).await;
    for method in ["tools/run", "resources/directory/read", "tasks/get", "logging/setLevel", "completion/complete"] {
        raw.send(&json!({"jsonrpc": "2.0", "id": 3, "method": method, "params": {"uri": "skill://greet"}}).to_string())
            .await;
        let answer = raw.answer().await.expect("an answer");
        let code = answer["error"]["code"].as_i64().unwrap_or_default();
        assert!([-32601, -32602, -32600].contains(&code), "{method}: {answer}");
    }
}

#[tokio::test]
async fn a_version_that_is_not_spoken_is_answered_with_one_that_is() {
    let server = serving(&[GREET]);
    for asked in ["1999-01-01", "2099-01-01", ""] {
        let answer = Raw::connect(&server).initialize(asked).await;
        let agreed = answer["result"]["protocolVersion"].as_str().unwrap_or_default().to_owned();
        assert!(agreed.starts_with("202") || answer["error"].is_object(), "{asked}: {answer}");
    }
}

#[tokio::test]
async fn requests_before_the_handshake_get_nothing() {
    let server = serving(&[GREET]);
    let mut raw = Raw::connect(&server);
    raw.send(
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"Skill","arguments":{"skill":"greet"}}}"#,
    )
    .await;
    let answer = raw.answer().await;
    assert!(answer.as_ref().is_none_or(|answer| answer["error"].is_object()), "{answer:?}");
}

#[tokio::test]
async fn a_message_of_a_hundred_megabytes_ends_the_connection_at_its_bound() {
    let server = serving(&[GREET]);
    let mut raw = Raw::begun(&server).await;
    let chunk = vec![b'x'; 1 << 20];
    let mut written = 0_usize;
    // The server stops reading at 4 MiB; what is left has nowhere to go.
    while written < 100 << 20 {
        if raw.write.write_all(&chunk).await.is_err() {
            break;
        }
        written += chunk.len();
    }
    assert!(written < 8 << 20, "{written} bytes were taken");
    assert_eq!(raw.answer().await, None);
    let error = raw.served.await.expect("it ends").expect_err("it is said why");
    assert!(matches!(error, ServeError::TooLarge { bytes } if bytes == 4 << 20), "{error}");
    // Others are served as before.
    let client = connected(&server, TestClient::default()).await;
    assert!(call(&client, "Skill", json!({"skill": "greet"})).await.is_ok());
}

#[tokio::test]
async fn a_first_message_that_is_too_long_is_told_from_a_client_that_goes() {
    let server = serving(&[GREET]);
    let Raw { write, served, lines } = Raw::connect(&server);
    drop((write, lines));
    assert!(matches!(served.await, Ok(Ok(()))), "it wanted nothing");
    let mut raw = Raw::connect(&server);
    raw.send(&"x".repeat(5 << 20)).await;
    assert!(matches!(raw.served.await, Ok(Err(ServeError::TooLarge { .. }))));
}
