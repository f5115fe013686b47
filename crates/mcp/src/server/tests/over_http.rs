use super::fixture::{TestClient, call, serving, text};
use crate::server::{BearerToken, HttpOptions, ServeError, SkillServer};
use axum::http::{HeaderName, HeaderValue};
use rmcp::service::ServiceExt as _;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::json;
use std::collections::HashMap;
use std::net::{SocketAddr, TcpListener};
use std::thread::JoinHandle;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";
const GREET: (&str, &str) = ("greet", "---\ndescription: Greets.\n---\nHello, !`echo hi`.\n");

struct Served {
    server: SkillServer,
    address: SocketAddr,
    thread: Option<JoinHandle<Result<(), ServeError>>>,
}

impl Served {
    fn new(options: HttpOptions) -> Self {
        let _already = rustls::crypto::ring::default_provider().install_default();
        Self::of(serving(&[GREET]), options)
    }

    fn of(server: SkillServer, options: HttpOptions) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let serves = server.clone();
        let token = BearerToken::new(TOKEN).expect("a token");
        let thread = std::thread::spawn(move || serves.serve_http(listener, &token, &options));
        Self { server, address, thread: Some(thread) }
    }

    fn transport(&self, token: &str) -> StreamableHttpClientTransport<reqwest::Client> {
        let headers = HashMap::from([(
            HeaderName::from_static("authorization"),
            HeaderValue::try_from(format!("Bearer {token}")).expect("a header"),
        )]);
        let config = StreamableHttpClientTransportConfig::with_uri(format!("http://{}/mcp", self.address))
            .custom_headers(headers);
        StreamableHttpClientTransport::with_client(reqwest::Client::new(), config)
    }

    /// The status of a handshake with these headers.
    async fn status(&self, path: &str, headers: &[(&str, &str)]) -> u16 {
        let mut request = self.request(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(initialize()).send().await.expect("an answer").status().as_u16()
    }

    fn request(&self, path: &str) -> reqwest::RequestBuilder {
        reqwest::Client::new()
            .post(format!("http://{}{path}", self.address))
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
    }

    fn handshake(&self) -> reqwest::RequestBuilder {
        self.request("/mcp").bearer_auth(TOKEN).body(initialize())
    }

    /// The status of a handshake with the token.
    async fn begin(&self) -> u16 {
        self.handshake().send().await.expect("an answer").status().as_u16()
    }
}

fn initialize() -> String {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"},
    }})
    .to_string()
}

impl Drop for Served {
    fn drop(&mut self) {
        self.server.stop();
        if let Some(thread) = self.thread.take() {
            assert!(matches!(thread.join(), Ok(Ok(()))), "the server ended in order");
        }
    }
}

#[tokio::test]
async fn skills_are_served_to_who_has_the_token() {
    let served = Served::new(HttpOptions::default());
    let client = TestClient::default().serve(served.transport(TOKEN)).await.expect("a connection");
    let result = call(&client, "Skill", json!({"skill": "greet"})).await.expect("a result");
    assert!(text(&result).ends_with("Hello, hi.\n"), "{}", text(&result));
    assert!(TestClient::default().serve(served.transport(&TOKEN.replace('0', "1"))).await.is_err());
}

#[tokio::test]
async fn the_clients_user_is_asked_over_http_too() {
    use super::fixture::{Watched, allow, rule, runtime, server};
    let _already = rustls::crypto::ring::default_provider().install_default();
    let rules = vec![allow("Bash(echo:*)"), rule(skillgate_policy::Effect::Ask, "Skill(greet)")];
    let server = server(runtime(Watched::new(), rules, &[GREET]));
    let served = Served::of(server, HttpOptions::default());
    let user = TestClient { decision: Some("once"), ..TestClient::default() };
    let client = user.serve(served.transport(TOKEN)).await.expect("a connection");
    let result = call(&client, "Skill", json!({"skill": "greet"})).await.expect("a result");
    assert_eq!(result.is_error, Some(false), "{}", text(&result));
}

#[tokio::test]
async fn a_client_of_the_newest_protocol_comes_back_over_http_too() {
    use super::fixture::{Watched, allow, newest, rule, runtime, server};
    use rmcp::ClientServiceExt as _;
    let _already = rustls::crypto::ring::default_provider().install_default();
    let rules = vec![allow("Bash(echo:*)"), rule(skillgate_policy::Effect::Ask, "Skill(greet)")];
    let served = Served::of(server(runtime(Watched::new(), rules, &[GREET])), HttpOptions::default());
    for (decision, failed) in [("once", false), ("no", true)] {
        let user = TestClient { decision: Some(decision), ..TestClient::default() };
        let asked = user.asked.clone();
        let client = user.serve_with_lifecycle(served.transport(TOKEN), newest()).await.expect("a connection");
        let params = rmcp::model::CallToolRequestParams::new("Skill")
            .with_arguments(super::fixture::arguments(json!({"skill": "greet"})));
        let result = client.call_tool(params).await.expect("a result");
        assert_eq!(result.is_error, Some(failed), "{}", text(&result));
        assert_eq!(asked.lock().unwrap_or_else(std::sync::PoisonError::into_inner).len(), 1);
    }
}

#[tokio::test]
async fn requests_without_token_from_pages_and_for_other_hosts_are_refused() {
    let served = Served::new(HttpOptions::default());
    let bearer = format!("Bearer {TOKEN}");
    let token = ("authorization", bearer.as_str());
    for (path, headers, expected) in [
        ("/mcp", vec![token], 200),
        ("/mcp", vec![], 401),
        ("/mcp", vec![("authorization", TOKEN)], 401),
        ("/mcp", vec![("authorization", "Basic eA==")], 401),
        ("/mcp", vec![token, ("origin", "http://evil.test")], 403),
        ("/mcp", vec![token, ("origin", "http://localhost")], 403),
        ("/mcp", vec![token, ("origin", "null")], 403),
        ("/mcp", vec![token, ("host", "evil.test")], 403),
        ("/other", vec![token], 404),
        ("/other", vec![], 401),
    ] {
        assert_eq!(served.status(path, &headers).await, expected, "{path} {headers:?}");
    }
}

#[tokio::test]
async fn bodies_that_are_no_request_and_versions_that_are_not_spoken_are_refused() {
    let served = Served::new(HttpOptions::default());
    let send = |body: Vec<u8>, version: Option<&'static str>| {
        let mut request = reqwest::Client::new()
            .post(format!("http://{}/mcp", served.address))
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .bearer_auth(TOKEN);
        if let Some(version) = version {
            request = request.header("mcp-protocol-version", version);
        }
        request.body(body).send()
    };
    let list = |version: &str| json!({"jsonrpc": version, "id": 1, "method": "tools/list"}).to_string().into_bytes();
    for (body, version) in [
        (b"not json".to_vec(), None),
        (b"{\"jsonrpc\":\"2.0\",".to_vec(), None),
        (vec![0xff, 0xfe], None),
        (list("1.0"), None),
        (list("2.0"), Some("1999-01-01")),
        (list("2.0"), Some("2099-01-01")),
        // Nobody began a conversation.
        (list("2.0"), Some("2025-06-18")),
    ] {
        let shown = String::from_utf8_lossy(&body).into_owned();
        let status = send(body, version).await.expect("an answer").status().as_u16();
        assert!((400..500).contains(&status), "{shown} {version:?}: {status}");
    }
    // The server need not read to the end what is longer than it takes.
    match send(vec![b' '; 100 << 20], None).await {
        Ok(answer) => assert_eq!(answer.status().as_u16(), 413),
        Err(error) => assert!(error.is_request() || error.is_body(), "{error}"),
    }
    let client = TestClient::default().serve(served.transport(TOKEN)).await.expect("others are served as before");
    assert!(call(&client, "Skill", json!({"skill": "greet"})).await.is_ok());
}

#[tokio::test]
async fn conversations_are_bounded() {
    let served = Served::new(HttpOptions { sessions: 2, ..HttpOptions::default() });
    let bearer = format!("Bearer {TOKEN}");
    let token = [("authorization", bearer.as_str())];
    let statuses =
        [served.status("/mcp", &token).await, served.status("/mcp", &token).await, served.status("/mcp", &token).await];
    assert_eq!(statuses, [200, 200, 503]);
}

#[tokio::test]
async fn conversations_that_begin_at_once_are_bounded_and_one_that_ends_leaves_its_place() {
    let served = Served::new(HttpOptions { sessions: 2, ..HttpOptions::default() });
    let mut begin = tokio::task::JoinSet::new();
    for _ in 0..40 {
        let request = served.handshake();
        begin.spawn(async move { request.send().await.expect("an answer") });
    }
    let answers = begin.join_all().await;
    let begun: Vec<_> = answers.iter().filter_map(|answer| answer.headers().get("mcp-session-id")).collect();
    assert_eq!(begun.len(), 2, "no other has a conversation");
    assert_eq!(answers.iter().filter(|answer| answer.status().as_u16() == 503).count(), 38);

    let end = reqwest::Client::new().delete(format!("http://{}/mcp", served.address)).bearer_auth(TOKEN);
    let ended = end.header("mcp-session-id", begun[0]).header("mcp-protocol-version", "2025-06-18").send();
    assert!(ended.await.expect("an answer").status().is_success());
    let statuses: Vec<u16> = [served.begin().await, served.begin().await].into();
    assert_eq!(statuses, [200, 503]);
}

#[tokio::test]
async fn a_request_counts_until_all_of_its_answer_is_sent() {
    use super::fixture::{Watched, allow, runtime, server};
    let _already = rustls::crypto::ring::default_provider().install_default();
    let executor = Watched::new();
    let waits = ("waits", "---\ndescription: Waits.\n---\n!`echo wait`\n");
    let server = server(runtime(executor.clone(), vec![allow("Bash(echo:*)")], &[waits]));
    let served = Served::of(server, HttpOptions { requests: 1, ..HttpOptions::default() });
    let begun = served.handshake().send().await.expect("an answer");
    let id = begun.headers().get("mcp-session-id").expect("a conversation").clone();
    begun.bytes().await.expect("the whole answer");
    let send = |body: serde_json::Value| {
        let request = served.request("/mcp").bearer_auth(TOKEN).header("mcp-session-id", id.clone());
        request.header("mcp-protocol-version", "2025-06-18").body(body.to_string()).send()
    };
    let ready = send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await.expect("an answer");
    assert!(ready.status().is_success());
    ready.bytes().await.expect("the whole answer");
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "Skill", "arguments": {"skill": "waits"}}});
    // Its head is here, and the rest comes when the call ends.
    let open = loop {
        let answer = send(call.clone()).await.expect("an answer");
        match answer.status().as_u16() {
            200 => break answer,
            // The request before is not yet done with.
            status => assert_eq!(status, 503),
        }
    };
    executor.began.notified().await;
    assert_eq!(served.begin().await, 503);
    drop(open);
    while served.begin().await != 200 {}
}

#[test]
fn an_address_of_other_machines_and_a_weak_token_are_refused() {
    let listener = TcpListener::bind("0.0.0.0:0").expect("a port");
    let token = BearerToken::new(TOKEN).expect("a token");
    let error = serving(&[GREET]).serve_http(listener, &token, &HttpOptions::default()).expect_err("refused");
    assert!(matches!(error, ServeError::NotLoopback(_)), "{error}");
    for weak in ["", "short", "0123456789abcdef 0123456789abcdef", "0123456789abcdef0123456789abcdé"] {
        assert!(BearerToken::new(weak).is_err(), "{weak}");
    }
}
