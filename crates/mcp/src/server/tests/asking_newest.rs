//! Questions in the protocol of 2026-07-28: the client is answered with the question, and comes back with what its user said.

use super::fixture::{Client, TestClient, Watched, allow, arguments, connected_newest, rule, runtime, server, text};
use crate::server::{ServeOptions, SkillServer};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, GetPromptRequestParams, InputRequest, InputRequiredResult,
    InputResponses,
};
use serde_json::{Value, json};
use skillgate_policy::{Effect, Rule};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

const GREET: (&str, &str) = ("greet", "---\ndescription: Greets.\n---\nHello $ARGUMENTS, !`echo hi` !`echo there`.\n");

fn asks() -> Vec<Rule> {
    vec![allow("Bash(echo:*)"), rule(Effect::Ask, "Bash(echo there)"), rule(Effect::Ask, "Skill(greet)")]
}

fn greeting(args: &str) -> CallToolRequestParams {
    CallToolRequestParams::new("Skill").with_arguments(arguments(json!({"skill": "greet", "args": args})))
}

fn user(decision: Option<&'static str>) -> TestClient {
    TestClient { decision, ..TestClient::default() }
}

#[tokio::test]
async fn the_clients_user_is_asked_one_question_after_the_other_and_nothing_runs_twice() {
    let executor = Watched::new();
    let server = server(runtime(Arc::clone(&executor) as Arc<_>, asks(), &[GREET]));
    let user = user(Some("once"));
    let client = connected_newest(&server, user.clone()).await;
    let result = client.call_tool(greeting("Ada")).await.expect("a result");
    assert!(text(&result).ends_with("Hello Ada, hi there.\n"), "{}", text(&result));
    assert_eq!(executor.programs.load(Ordering::SeqCst), 2, "two programs, each once");
    let asked = user.asked.lock().unwrap_or_else(PoisonError::into_inner).clone();
    assert_eq!(asked.len(), 2, "{asked:?}");
    assert!(asked[0].contains("is about to be used") && asked[1].contains("`echo there`"), "{asked:?}");
    assert!(asked.iter().all(|message| !message.contains("this conversation")), "each request stands alone: {asked:?}");

    // A prompt asks as a tool does.
    let mut params = GetPromptRequestParams::new("greet");
    params.arguments = Some(arguments(json!({"arguments": "Bo"})));
    let prompt = client.get_prompt(params).await.expect("a prompt");
    let said = prompt.messages[0].content.as_text().expect("text").text.clone();
    assert!(said.ends_with("Hello Bo, hi there.\n"), "{said}");
}

#[tokio::test]
async fn everything_but_once_is_a_no() {
    for decision in ["no", "decline", "always", "whatever"] {
        let executor = Watched::new();
        let server = server(runtime(Arc::clone(&executor) as Arc<_>, asks(), &[GREET]));
        let client = connected_newest(&server, user(Some(decision))).await;
        let result = client.call_tool(greeting("Ada")).await.expect("a result");
        assert!(result.is_error == Some(true) && text(&result).contains("the answer was no"), "{}", text(&result));
        assert_eq!(executor.programs.load(Ordering::SeqCst), 0, "{decision}");
    }
}

#[tokio::test]
async fn a_client_without_elicitation_is_refused_with_the_way_out() {
    let server = server(runtime(Watched::new(), asks(), &[GREET]));
    let client = connected_newest(&server, user(None)).await;
    let result = client.call_tool(greeting("Ada")).await.expect("a result");
    let said = text(&result);
    assert!(result.is_error == Some(true) && said.contains("nobody to ask"), "{said}");
    assert!(said.contains("--allow 'Skill(greet)'"), "{said}");
}

async fn once(client: &Client, params: CallToolRequestParams) -> CallToolResponse {
    client.call_tool_once(params).await.expect("an answer")
}

fn question(response: CallToolResponse) -> (String, InputRequiredResult) {
    match response {
        CallToolResponse::InputRequired(asks) => (asks.request_state.clone().expect("a state"), asks),
        other => unreachable!("a question was expected: {other:?}"),
    }
}

fn result(response: CallToolResponse) -> CallToolResult {
    match response {
        CallToolResponse::Complete(result) => result,
        other => unreachable!("a result was expected: {other:?}"),
    }
}

fn answer(decision: &str) -> InputResponses {
    let answer: Value = json!({"action": "accept", "content": {"decision": decision}});
    InputResponses::from([("decision".to_owned(), answer)])
}

/// The code of a result that is an error.
fn code(response: CallToolResponse) -> (String, String) {
    let structured = result(response).structured_content.expect("a structure");
    let member = |name: &str| structured["error"][name].as_str().unwrap_or_default().to_owned();
    (member("code"), member("message"))
}

#[tokio::test]
async fn an_answer_counts_once_and_for_the_call_that_asked() {
    let server = server(runtime(Watched::new(), asks(), &[GREET]));
    let client = connected_newest(&server, user(Some("once"))).await;
    let (state, asks) = question(once(&client, greeting("Ada")).await);
    let requests = asks.input_requests.expect("a request");
    assert!(
        matches!(requests.get("decision"), Some(InputRequest::Elicitation(_))) && requests.len() == 1,
        "{requests:?}"
    );
    let back = |args: &str, state: &str| greeting(args).with_request_state(state);

    let (kind, message) = code(once(&client, back("Bo", &state).with_input_responses(answer("once"))).await);
    assert!(kind == "question-closed" && message.contains("for another call"), "{kind}: {message}");
    for made_up in ["", "0", "ffffffffffffffffffffffffffffffff"] {
        let (kind, _) = code(once(&client, back("Ada", made_up).with_input_responses(answer("once"))).await);
        assert_eq!(kind, "question-closed", "{made_up}");
    }
    let (kind, _) = code(once(&client, greeting("Ada").with_input_responses(answer("once"))).await);
    assert_eq!(kind, "question-closed", "an answer to nothing");

    // Without the answer it is asked for again, and the earlier state is used up.
    let (again, _) = question(once(&client, back("Ada", &state)).await);
    assert_ne!(again, state);
    let (kind, _) = code(once(&client, back("Ada", &state).with_input_responses(answer("once"))).await);
    assert_eq!(kind, "question-closed");
    let (second, _) = question(once(&client, back("Ada", &again).with_input_responses(answer("once"))).await);
    let done = result(once(&client, back("Ada", &second).with_input_responses(answer("once"))).await);
    assert!(text(&done).ends_with("Hello Ada, hi there.\n"), "{}", text(&done));
    let (kind, _) = code(once(&client, back("Ada", &second).with_input_responses(answer("once"))).await);
    assert_eq!(kind, "question-closed");
}

#[tokio::test]
async fn what_waits_is_bounded_in_number_and_time() {
    let bounded = |calls_at_once, ask_within| {
        let options = ServeOptions { calls_at_once, ask_within, ..ServeOptions::default() };
        SkillServer::new(runtime(Watched::new(), asks(), &[GREET]), options)
    };
    let client = connected_newest(&bounded(1, Duration::from_secs(3600)), user(Some("once"))).await;
    let (first, _) = question(once(&client, greeting("Ada")).await);
    let (second, _) = question(once(&client, greeting("Bo")).await);
    let (kind, message) = code(once(&client, greeting("Ada").with_request_state(first)).await);
    assert!(kind == "question-closed" && message.contains("not open"), "{message}");
    let _still_open = question(once(&client, greeting("Bo").with_request_state(second)).await);

    let client = connected_newest(&bounded(16, Duration::from_millis(1)), user(Some("once"))).await;
    let (state, _) = question(once(&client, greeting("Ada")).await);
    // A reply for another call does not touch the wait.
    let other = || greeting("Bo").with_request_state(state.clone());
    while !code(once(&client, other()).await).1.contains("not open") {}
}

#[tokio::test]
async fn a_client_that_is_gone_ends_what_waits_for_it() {
    let runtime = runtime(Watched::new(), asks(), &[GREET]);
    let alive = Arc::downgrade(&runtime);
    let server = server(runtime);
    let client = connected_newest(&server, user(Some("once"))).await;
    let _open = question(once(&client, greeting("Ada")).await);
    drop((client, server));
    // The call that waited held the runtime.
    while alive.strong_count() > 0 {
        tokio::task::yield_now().await;
    }
}
