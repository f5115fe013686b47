//! What a server may send that is wrong: each is a finding of its kind, and costs what it is about. Floods, pages without end and
//! names that hide something are beside it in `lies.rs`, servers that are lost in `lost.rs`.

use super::script::{Reply, Script, contents, limits, offer, offered};
use crate::finding::FindingCode;
use crate::limits::McpLimits;
use serde_json::{Value, json};
use skillgate_core::Digest;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const TEXT: &str = "---\nname: a\ndescription: A.\n---\nText.\n";

#[tokio::test]
async fn answers_that_are_no_json_rpc_are_none() {
    let quick = McpLimits { request: Duration::from_millis(50), ..limits() };
    for line in [
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"resu",
        "{\"jsonrpc\":\"1.0\",\"id\":1,\"result\":{\"resources\":[]}}",
        "{\"id\":1,\"result\":{\"resources\":[]}}",
        "{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{\"resources\":[]}}",
        "{\"jsonrpc\":\"2.0\",\"result\":{\"resources\":[]}}",
        "[{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"resources\":[]}}]",
        "\u{0}\u{1}\u{2}",
    ] {
        let script = Script::new(json!({"resources": {}}), move |method, _| match method {
            "initialize" => Reply::Error(-32601, "its own"),
            _ => Reply::Raw(format!("{line}\n").into_bytes()),
        });
        let finding = offer(script, &quick).await.expect_err("no answer");
        assert_eq!(finding.code, FindingCode::TimedOut, "{line}: {finding}");
    }
}

#[tokio::test]
async fn a_message_of_a_hundred_megabytes_is_left_at_its_bound() {
    let script = Script::new(json!({"resources": {}}), |method, _| match method {
        "initialize" => Reply::Error(-32601, "its own"),
        _ => Reply::Raw(vec![b'x'; 100 << 20]),
    });
    let finding = offer(script, &limits()).await.expect_err("the server is left");
    assert_eq!(finding.code, FindingCode::TooLarge, "{finding}");
}

#[tokio::test]
async fn a_uri_that_is_listed_twice_is_taken_once_whatever_lists_it() {
    let uri = "skill://a/SKILL.md";
    let digest = format!("sha256:{}", Digest::of(TEXT.as_bytes()));
    let entry = json!({
        "uri": uri,
        "frontmatter": {"name": "a", "description": "A."},
        "resources": [{"uri": uri, "digest": digest, "size": TEXT.len()}],
    });
    let listed = json!({"skills": [entry, entry]});
    let index = json!({"skills": [{"name": "a", "url": uri}, {"name": "a", "url": uri}]});
    let plain = json!({"resources": [{"uri": uri, "name": "a"}, {"uri": uri, "name": "b"}]});
    for by in ["skills/list", "index", "resources/list"] {
        let (listed, index, plain) = (listed.clone(), index.clone(), plain.clone());
        let capabilities = json!({"resources": {}, "extensions": {"io.modelcontextprotocol/skills": {}}});
        let script = Script::new(capabilities, move |method, params| match (method, params["uri"].as_str()) {
            ("skills/list", _) if by == "skills/list" => Reply::Result(listed.clone()),
            ("resources/read", Some("skill://index.json")) if by == "index" => {
                Reply::Result(contents("skill://index.json", &index.to_string()))
            }
            ("resources/list", _) => Reply::Result(plain.clone()),
            ("resources/read", Some("skill://a/SKILL.md")) => Reply::Result(contents("skill://a/SKILL.md", TEXT)),
            _ => Reply::Error(-32601, "unknown method"),
        });
        let (skills, findings) = offered(script).await;
        assert_eq!(skills, [("mcp__srv__a".to_owned(), TEXT.to_owned())], "{by}");
        assert!(findings.contains(&(FindingCode::DuplicateUri, uri.to_owned())), "{by}: {findings:?}");
    }
}

#[tokio::test]
async fn a_resource_that_changes_while_it_is_read_is_not_taken() {
    let uri = "skill://a/SKILL.md";
    let digest = format!("sha256:{}", Digest::of(TEXT.as_bytes()));
    let index = json!({"skills": [{"name": "a", "url": uri, "digest": digest}]});
    let script = |changes: bool| {
        let (index, reads) = (index.clone(), AtomicUsize::new(0));
        Script::new(json!({"resources": {}}), move |_, params| match params["uri"].as_str() {
            Some("skill://index.json") => Reply::Result(contents("skill://index.json", &index.to_string())),
            Some(uri) => {
                let read = reads.fetch_add(1, Ordering::SeqCst) + usize::from(changes);
                let text = if read == 0 { TEXT.to_owned() } else { format!("{TEXT}Changed {read} times.\n") };
                Reply::Result(contents(uri, &text))
            }
            None => Reply::Error(-32601, "unknown method"),
        })
    };
    assert_eq!(
        offered(script(false)).await,
        (vec![("mcp__srv__a".to_owned(), TEXT.to_owned())], vec![]),
        "the control"
    );
    assert_eq!(offered(script(true)).await, (vec![], vec![(FindingCode::Changed, uri.to_owned())]));
}

#[tokio::test]
async fn answers_of_another_form_than_the_method_has_cost_what_was_asked_for() {
    for answer in
        [json!({}), json!({"resources": 5}), json!({"resources": [{"name": "no uri"}]}), json!([]), json!("x")]
    {
        let wrong: Value = answer.clone();
        let script = Script::new(json!({"resources": {}}), move |method, _| match method {
            "resources/list" => Reply::Result(wrong.clone()),
            _ => Reply::Error(-32601, "unknown method"),
        });
        let quick = McpLimits { request: Duration::from_millis(50), ..limits() };
        // What cannot be read as an answer at all is none, which is found by the time it takes.
        let codes: Vec<FindingCode> = match offer(script, &quick).await {
            Ok(offer) => {
                assert_eq!(offer.skills, [], "{answer}");
                offer.findings.iter().map(|finding| finding.code).collect()
            }
            Err(finding) => vec![finding.code],
        };
        assert!(codes == [FindingCode::Protocol] || codes == [FindingCode::TimedOut], "{answer}: {codes:?}");
    }
}
