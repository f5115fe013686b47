use super::script::{Reply, Script, connected, limits, offer};
use crate::finding::FindingCode;
use crate::limits::McpLimits;
use serde_json::{Value, json};
use std::time::Duration;

/// Why a server is lost that does this with its second request.
async fn lost_by(reply: impl Fn() -> Reply + Send + Sync + 'static, limits: &McpLimits) -> FindingCode {
    let script = Script::new(json!({"resources": {}}), move |method, _| match method {
        "initialize" => Reply::Error(-32601, "its own"),
        _ => reply(),
    });
    offer(script, limits).await.expect_err("the server is lost").code
}

#[tokio::test]
async fn a_server_is_left_for_the_reason_it_gives() {
    let quick = McpLimits { request: Duration::from_millis(50), ..limits() };
    assert_eq!(lost_by(|| Reply::Silence, &quick).await, FindingCode::TimedOut);
    assert_eq!(lost_by(|| Reply::Close, &limits()).await, FindingCode::Closed);

    let narrow = McpLimits { message_bytes: 1 << 16, ..limits() };
    let long = || Reply::Raw(format!("{{\"a\":\"{}\"}}\n", "x".repeat(1 << 17)).into_bytes());
    assert_eq!(lost_by(long, &narrow).await, FindingCode::TooLarge);

    // A line without an end is left at the bound, not at its end.
    let endless = || Reply::Raw(vec![b'x'; 1 << 18]);
    assert_eq!(lost_by(endless, &narrow).await, FindingCode::TooLarge);

    let notification = b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/list_changed\"}\n";
    let flood = move || Reply::Raw(notification.repeat(5_000));
    assert_eq!(lost_by(flood, &limits()).await, FindingCode::Flooding);
}

#[tokio::test]
async fn a_server_that_takes_its_whole_time_for_each_of_many_requests_is_left_too() {
    let total = McpLimits { fetch: Duration::from_millis(50), ..limits() };
    assert_eq!(lost_by(|| Reply::Silence, &total).await, FindingCode::TimedOut);
}

/// Why no connection comes about with a server that answers the handshake like this.
async fn refused_by(reply: impl Fn() -> Reply + Send + Sync + 'static) -> FindingCode {
    let quick = McpLimits { connect: Duration::from_millis(200), ..limits() };
    let script = Script::new(json!({}), move |_, _| reply());
    connected(script, &quick).await.expect_err("no connection").code
}

#[tokio::test]
async fn a_handshake_that_fails_says_how() {
    assert_eq!(refused_by(|| Reply::Silence).await, FindingCode::TimedOut);
    assert_eq!(refused_by(|| Reply::Close).await, FindingCode::Closed);
    assert_eq!(refused_by(|| Reply::Error(-32000, "go away")).await, FindingCode::Unreachable);
    assert_eq!(refused_by(|| Reply::Error(-32022, "no such version")).await, FindingCode::Protocol);
    assert_eq!(refused_by(|| Reply::Result(json!({"tools": []}))).await, FindingCode::Protocol);
    let version = |version: &str| {
        let result: Value =
            json!({"protocolVersion": version, "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}});
        move || Reply::Result(result.clone())
    };
    assert_eq!(refused_by(version("1999-01-01")).await, FindingCode::Protocol);
    assert_eq!(refused_by(|| Reply::Raw(vec![b'x'; 10 << 20])).await, FindingCode::TooLarge);
}

#[tokio::test]
async fn what_a_server_asks_of_the_host_is_declined_and_holds_nothing_up() {
    let asks = concat!(
        r#"{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":2,"method":"roots/list"}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":3,"method":"elicitation/create","params":{"message":"Password?","requestedSchema":{"type":"object","properties":{}}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":4,"method":"shell/run","params":{}}"#,
        "\n",
    );
    let script = Script::new(json!({"resources": {}}), move |method, _| match method {
        "resources/list" => Reply::After(asks.as_bytes().to_vec(), json!({"resources": []})),
        _ => Reply::Error(-32601, "unknown method"),
    });
    let offer = offer(script, &limits()).await.expect("the server is there");
    assert_eq!(offer.findings, []);
}
