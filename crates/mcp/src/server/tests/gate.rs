//! What the rules say about a skill holds for its text as a resource, and is recorded.

use super::fixture::{Client, TestClient, Texts, Watched, allow, call, connected, rule, serving, text};
use crate::server::{ServeOptions, SkillServer};
use rmcp::model::{GetSkillRequestParams, ReadResourceRequestParams, ResourceContents};
use serde_json::{Value, json};
use skillgate_core::Source;
use skillgate_exec::{AuditContext, AuditError, AuditEvent, AuditSink};
use skillgate_policy::{Defaults, Effect, Host, Rule};
use skillgate_runtime::Runtime;
use std::sync::{Arc, Mutex, PoisonError};

const OPEN: (&str, &str) = ("open", "---\nname: open\ndescription: Open.\n---\nOpen text.\n");
const SECRET: (&str, &str) = ("secret", "---\nname: secret\ndescription: Secret.\n---\nSecret text.\n");
const GUARDED: (&str, &str) = (
    "guarded",
    "---\nname: guarded\ndescription: Guarded.\nhooks:\n  Stop:\n    - hooks:\n        - {type: command, command: echo}\n---\nGuarded text.\n",
);

/// Keeps what is recorded, until it has no room.
#[derive(Debug, Default)]
struct Kept {
    full: bool,
    events: Mutex<Vec<(String, String, Effect, String)>>,
}

impl AuditSink for Kept {
    fn record(&self, context: &AuditContext, event: &AuditEvent) -> Result<(), AuditError> {
        if self.full {
            return Err(AuditError { reason: "no space".to_owned() });
        }
        let (kind, call) = match event {
            AuditEvent::SkillRead(call) => ("read", call),
            AuditEvent::SkillCalled(call) => ("called", call),
            _ => return Ok(()),
        };
        let skill = context.skill.as_ref().map(ToString::to_string).unwrap_or_default();
        assert!(context.digest.is_some() && context.session.is_some(), "{context:?}");
        let event = (kind.to_owned(), skill, call.decision, call.rule.clone());
        self.events.lock().unwrap_or_else(PoisonError::into_inner).push(event);
        Ok(())
    }
}

impl Kept {
    fn take(&self) -> Vec<(String, String, Effect, String)> {
        std::mem::take(&mut *self.events.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn served(audit: &Arc<Kept>, rules: Vec<Rule>) -> SkillServer {
    let skills = [OPEN, SECRET, GUARDED].map(|(name, text)| (name.to_owned(), text.to_owned()));
    let runtime = Runtime::builder(Host::new(rules, Defaults::BuiltIn), Watched::new())
        .audit(Arc::clone(audit) as Arc<_>)
        .source(Arc::new(Texts(Source::Bundled, skills.to_vec())));
    SkillServer::new(runtime.open().expect("a runtime"), ServeOptions::default())
}

async fn read(client: &Client, uri: &str) -> Result<String, rmcp::ErrorData> {
    match client.read_resource(ReadResourceRequestParams::new(uri)).await {
        Ok(result) => match result.contents.into_iter().next() {
            Some(ResourceContents::TextResourceContents { text, .. }) => Ok(text),
            other => unreachable!("a text: {other:?}"),
        },
        Err(rmcp::ServiceError::McpError(error)) => Err(error),
        Err(other) => unreachable!("an answer: {other}"),
    }
}

/// The names in each of the lists that hold skills.
async fn listed(client: &Client) -> [Vec<String>; 3] {
    let resources = client.list_all_resources().await.expect("resources").into_iter().map(|resource| resource.uri);
    let skills = client.list_all_skills().await.expect("skills").into_iter().map(|skill| skill.frontmatter.name);
    let index: Value =
        serde_json::from_str(&read(client, "skill://index.json").await.expect("an index")).expect("JSON");
    let index =
        index["skills"].as_array().expect("a list").iter().map(|skill| skill["name"].as_str().map(str::to_owned));
    [resources.collect(), skills.collect(), index.map(Option::unwrap_or_default).collect()]
}

#[tokio::test]
async fn the_text_of_a_denied_skill_is_given_nowhere() {
    let audit = Arc::new(Kept::default());
    let client = connected(&served(&audit, vec![rule(Effect::Deny, "Skill(secret)")]), TestClient::default()).await;
    for uri in ["skill://secret/SKILL.md", "skill://secret/other.md"] {
        let error = read(&client, uri).await.expect_err("denied");
        let data = error.data.as_ref().expect("a structure");
        assert_eq!(data["code"], "refused", "{data}");
        assert!(data["rule"].as_str().is_some_and(|rule| rule.contains("deny Skill(secret)")), "{data}");
        assert!(!format!("{error:?}").contains("Secret text"), "{error:?}");
    }
    let got = client.get_skill(GetSkillRequestParams::new("skill://secret/SKILL.md")).await.expect_err("denied");
    assert!(got.to_string().contains("deny Skill(secret)"), "{got}");
    let names = ["guarded", "open"].map(str::to_owned).to_vec();
    let uris = ["skill://index.json", "skill://guarded/SKILL.md", "skill://open/SKILL.md"].map(str::to_owned).to_vec();
    assert_eq!(listed(&client).await, [uris, names.clone(), names]);

    // Without the rule the same requests give it: the lists name what may be read.
    let client = connected(&served(&audit, Vec::new()), TestClient::default()).await;
    assert_eq!(read(&client, "skill://secret/SKILL.md").await.expect("a text"), SECRET.1);
    assert!(listed(&client).await.iter().all(|names| names.iter().any(|name| name.contains("secret"))));
}

#[tokio::test]
async fn what_is_read_and_what_is_refused_is_recorded() {
    let audit = Arc::new(Kept::default());
    let client = connected(&served(&audit, vec![rule(Effect::Deny, "Skill(secret)")]), TestClient::default()).await;
    listed(&client).await;
    assert_eq!(audit.take(), [], "a list gives no text");
    read(&client, "skill://open/SKILL.md").await.expect("a text");
    client.get_skill(GetSkillRequestParams::new("skill://open/SKILL.md")).await.expect("a skill");
    read(&client, "skill://guarded/SKILL.md").await.expect("its hooks are not in force");
    read(&client, "skill://secret/SKILL.md").await.expect_err("denied");
    let seen: Vec<_> = audit.take();
    let seen: Vec<_> =
        seen.iter().map(|(kind, skill, decision, _)| (kind.as_str(), skill.as_str(), *decision)).collect();
    assert_eq!(
        seen,
        [
            ("read", "bundled:open", Effect::Allow),
            ("read", "bundled:open", Effect::Allow),
            ("read", "bundled:guarded", Effect::Allow),
            ("read", "bundled:secret", Effect::Deny),
        ]
    );

    let full = Arc::new(Kept { full: true, ..Kept::default() });
    let client = connected(&served(&full, Vec::new()), TestClient::default()).await;
    let error = read(&client, "skill://open/SKILL.md").await.expect_err("what is not recorded is not given");
    assert_eq!(error.data.expect("a structure")["code"], "unrecorded");
}

#[tokio::test]
async fn what_a_rule_asks_is_read_once_somebody_agreed_for_the_conversation() {
    let audit = Arc::new(Kept::default());
    let server = served(&audit, vec![rule(Effect::Ask, "Skill(secret)"), allow("Skill(open)")]);
    let user = TestClient { decision: Some("always"), ..TestClient::default() };
    let client = connected(&server, user.clone()).await;
    let error = read(&client, "skill://secret/SKILL.md").await.expect_err("nobody agreed");
    let data = error.data.expect("a structure");
    assert!(data["help"][0].as_str().is_some_and(|help| help.contains("--allow 'Skill(secret)'")), "{data}");
    assert_eq!(user.asked.lock().unwrap_or_else(PoisonError::into_inner).len(), 0, "reading asks nobody");
    let called = call(&client, "Skill", json!({"skill": "secret"})).await.expect("a result");
    assert!(text(&called).ends_with("Secret text.\n"), "{}", text(&called));
    assert_eq!(read(&client, "skill://secret/SKILL.md").await.expect("agreed"), SECRET.1);
    // Another conversation has an agreement of its own.
    let client = connected(&server, TestClient::default()).await;
    assert!(read(&client, "skill://secret/SKILL.md").await.is_err());
}

#[tokio::test]
async fn a_remote_skill_is_called_by_its_name_and_origin_and_not_as_its_server_says() {
    let liar = "---\nname: The official helper\ndescription: Helps.\n---\nText.\n";
    let remote = Texts(Source::Mcp, vec![("mcp__verify__helper".to_owned(), liar.to_owned())]);
    let host = Host::new([allow("Skill(mcp__verify__helper)")], Defaults::BuiltIn);
    let runtime = Runtime::builder(host, Watched::new()).source(Arc::new(remote)).open().expect("a runtime");
    let client = connected(&SkillServer::new(runtime, ServeOptions::default()), TestClient::default()).await;
    let expected = Some("mcp__verify__helper (from the MCP server verify)".to_owned());
    let resources = client.list_all_resources().await.expect("resources");
    assert_eq!(resources.last().map(|resource| resource.title.clone()), Some(expected.clone()));
    let prompts = client.list_all_prompts().await.expect("prompts");
    assert_eq!(prompts.last().map(|prompt| prompt.title.clone()), Some(expected));

    // A skill of ours keeps the title that it has.
    let own = [("tidy", "---\nname: Tidy up\ndescription: Tidies.\n---\nText.\n")];
    let client = connected(&serving(&own), TestClient::default()).await;
    let prompts = client.list_all_prompts().await.expect("prompts");
    assert_eq!(prompts[0].title.as_deref(), Some("Tidy up"));
}
