use super::script::{Reply, Script, contents, limits, offer, offered};
use crate::finding::FindingCode;
use crate::limits::McpLimits;
use serde_json::json;

const TEXT: &str = "---\nname: a\ndescription: A.\n---\nText.\n";

/// What is found about one resource that is read as `contents`.
async fn read_as(contents: serde_json::Value) -> Vec<FindingCode> {
    let script = Script::new(json!({"resources": {}}), move |method, params| match (method, params["uri"].as_str()) {
        ("resources/list", _) => Reply::Result(json!({"resources": [{"uri": "skill://a/SKILL.md", "name": "a"}]})),
        ("resources/read", Some("skill://a/SKILL.md")) => Reply::Result(json!({"contents": contents})),
        _ => Reply::Error(-32601, "unknown method"),
    });
    let (skills, findings) = offered(script).await;
    assert_eq!(skills, []);
    findings.into_iter().map(|(code, _)| code).collect()
}

#[tokio::test]
async fn what_is_read_has_to_be_one_text_for_the_uri_that_was_asked_for() {
    let uri = "skill://a/SKILL.md";
    for (contents, expected) in [
        (json!([]), FindingCode::Protocol),
        (json!([{"uri": "skill://b/SKILL.md", "text": TEXT}]), FindingCode::Protocol),
        (json!([{"uri": uri, "blob": "AAAA"}]), FindingCode::Binary),
        (json!([{"uri": uri, "text": TEXT}, {"uri": uri, "text": "other"}]), FindingCode::DuplicateUri),
        (json!([{"uri": uri, "text": " \n"}]), FindingCode::Empty),
    ] {
        assert_eq!(read_as(contents.clone()).await, [expected], "{contents}");
    }
}

#[tokio::test]
async fn a_list_that_shows_another_header_than_the_text_is_a_lie() {
    let script = Script::new(
        json!({"resources": {}, "extensions": {"io.modelcontextprotocol/skills": {}}}),
        |method, params| match (method, params["uri"].as_str()) {
            ("skills/list", _) => Reply::Result(json!({"skills": [
                {"uri": "skill://a/SKILL.md", "frontmatter": {"name": "a", "description": "Harmless."}, "resources": "dynamic"},
            ]})),
            ("resources/read", Some("skill://a/SKILL.md")) => Reply::Result(contents("skill://a/SKILL.md", TEXT)),
            _ => Reply::Error(-32601, "unknown method"),
        },
    );
    assert_eq!(offered(script).await, (vec![], vec![(FindingCode::HeaderDiffers, "skill://a/SKILL.md".to_owned())]));
}

#[tokio::test]
async fn names_that_hide_something_and_uris_that_are_none_cost_themselves_only() {
    let resources = vec![
        ("skill://good/SKILL.md", TEXT.to_owned()),
        ("skill://..%2Fup/SKILL.md", TEXT.to_owned()),
        ("skill://a%00b/SKILL.md", TEXT.to_owned()),
        ("skill://a%0Ab/SKILL.md", TEXT.to_owned()),
        ("skill://a%E2%80%AEb/SKILL.md", TEXT.to_owned()),
        ("skill://a b/SKILL.md", TEXT.to_owned()),
        ("skill://-_-/SKILL.md", TEXT.to_owned()),
    ];
    let (skills, findings) = offered(Script::resources(resources)).await;
    let names: Vec<&str> = skills.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["mcp__srv__good", "mcp__srv__-_-"]);
    let codes: Vec<FindingCode> = findings.into_iter().map(|(code, _)| code).collect();
    assert_eq!(
        codes,
        [
            FindingCode::NameInvalid,
            FindingCode::NameInvalid,
            FindingCode::UriInvalid,
            FindingCode::NameInvalid,
            FindingCode::NameInvalid,
        ]
    );
}

#[tokio::test]
async fn ten_thousand_resources_and_pages_without_end_are_looked_at_within_bounds() {
    let flood = Script::new(json!({"resources": {}}), |method, params| match (method, params["uri"].as_str()) {
        ("resources/list", _) => {
            let listed: Vec<_> =
                (0..10_001).map(|n| json!({"uri": format!("skill://s{n}/SKILL.md"), "name": "s"})).collect();
            Reply::Result(json!({"resources": listed, "nextCursor": "more"}))
        }
        ("resources/read", Some("skill://index.json")) => Reply::Error(-32002, "no such resource"),
        ("resources/read", Some(uri)) => Reply::Result(contents(uri, TEXT)),
        _ => Reply::Error(-32601, "unknown method"),
    });
    let bounded = McpLimits { skills: 20, ..limits() };
    let found = offer(flood, &bounded).await.expect("the server is there");
    let codes: Vec<FindingCode> = found.findings.iter().map(|finding| finding.code).collect();
    assert_eq!((found.skills.len(), codes), (20, vec![FindingCode::TooMany, FindingCode::TooMany]));

    for (cursor, limit) in [("same", 100), ("", 3)] {
        let endless = Script::new(json!({"resources": {}}), move |method, params| match method {
            "resources/list" => {
                let before = params["cursor"].as_str().unwrap_or_default();
                let next = if cursor.is_empty() { format!("{before}x") } else { cursor.to_owned() };
                Reply::Result(json!({"resources": [], "nextCursor": next}))
            }
            _ => Reply::Error(-32601, "unknown method"),
        });
        let bounded = McpLimits { pages: limit, ..limits() };
        let found = offer(endless, &bounded).await.expect("the server is there");
        assert_eq!(found.findings.len(), 1, "{:?}", found.findings);
        assert_eq!(found.findings[0].code, FindingCode::TooManyPages);
    }
}

#[tokio::test]
async fn a_method_that_is_refused_costs_what_it_would_have_given() {
    let script = Script::new(json!({"resources": {}, "prompts": {}}), |method, _| match method {
        "prompts/list" => Reply::Result(json!({"prompts": [{"name": "p"}]})),
        "prompts/get" => {
            Reply::Result(json!({"messages": [{"role": "user", "content": {"type": "text", "text": "Do."}}]}))
        }
        _ => Reply::Error(-32601, "unknown\nmethod"),
    });
    let (skills, findings) = offered(script).await;
    assert_eq!(skills.len(), 1);
    assert_eq!(findings, [(FindingCode::Unreadable, String::new())]);
}

#[tokio::test]
async fn noise_between_answers_is_passed_over() {
    let noise = b"not json\n\n{\"jsonrpc\":\"2.0\",\"id\":999,\"result\":{}}\n{\"jsonrpc\":\"2.0\",\"method\":\"unknown/thing\"}\n\xff\xfe\n";
    let script = Script::new(json!({"resources": {}}), |method, params| match (method, params["uri"].as_str()) {
        ("resources/list", _) => {
            Reply::After(noise.to_vec(), json!({"resources": [{"uri": "skill://a/SKILL.md", "name": "a"}]}))
        }
        ("resources/read", Some("skill://a/SKILL.md")) => Reply::Result(contents("skill://a/SKILL.md", TEXT)),
        _ => Reply::Error(-32601, "unknown method"),
    });
    assert_eq!(offered(script).await, (vec![("mcp__srv__a".to_owned(), TEXT.to_owned())], vec![]));
}
