use super::fixture::{TestClient, Thinks, Watched, allow, call, connected, rule, runtime, server, text};
use crate::server::{ServeOptions, SkillServer};
use serde_json::json;
use skillgate_policy::{Effect, Rule};
use std::sync::{Arc, PoisonError};

const GREET: (&str, &str) = ("greet", "---\ndescription: Greets.\n---\nHello, !`echo hi`.\n");

fn asks() -> Vec<Rule> {
    vec![allow("Bash(echo:*)"), rule(Effect::Ask, "Skill(greet)")]
}

/// What a call of a skill gives that a rule asks about, and what the user was asked.
async fn asked(decision: Option<&'static str>) -> (bool, String, Vec<String>) {
    let server = server(runtime(Watched::new(), asks(), &[GREET]));
    let user = TestClient { decision, ..TestClient::default() };
    let client = connected(&server, user.clone()).await;
    let result = call(&client, "Skill", json!({"skill": "greet"})).await.expect("a result");
    let questions = user.asked.lock().unwrap_or_else(PoisonError::into_inner).clone();
    (result.is_error == Some(true), text(&result), questions)
}

#[tokio::test]
async fn the_clients_user_answers_what_a_rule_asks() {
    for decision in ["once", "always"] {
        let (failed, text, questions) = asked(Some(decision)).await;
        assert!(!failed && text.ends_with("Hello, hi.\n"), "{decision}: {text}");
        assert_eq!(questions.len(), 1);
        assert!(questions[0].contains("bundled:greet") && questions[0].contains("ask Skill(greet)"), "{questions:?}");
    }
    for decision in ["no", "decline", "whatever"] {
        let (failed, text, questions) = asked(Some(decision)).await;
        assert!(failed && text.contains("the answer was no"), "{decision}: {text}");
        assert_eq!(questions.len(), 1, "{decision}");
    }
}

#[tokio::test]
async fn without_somebody_to_ask_it_is_refused_with_the_way_out() {
    let (failed, text, questions) = asked(None).await;
    assert!(failed && text.contains("nobody to ask") && text.contains("--allow 'Skill(greet)'"), "{text}");
    assert_eq!(questions, Vec::<String>::new());
}

#[tokio::test]
async fn always_holds_for_the_conversation_and_once_does_not() {
    for (decision, expected) in [("always", 1), ("once", 2)] {
        let server = server(runtime(Watched::new(), asks(), &[GREET]));
        let user = TestClient { decision: Some(decision), ..TestClient::default() };
        let client = connected(&server, user.clone()).await;
        for _ in 0..2 {
            let result = call(&client, "Skill", json!({"skill": "greet"})).await.expect("a result");
            assert_eq!(result.is_error, Some(false), "{}", text(&result));
        }
        assert_eq!(user.asked.lock().unwrap_or_else(PoisonError::into_inner).len(), expected, "{decision}");
    }
}

#[tokio::test]
async fn who_thinks_about_a_question_holds_up_no_call_that_asks_nothing() {
    let plain = ("plain", "---\ndescription: Plain.\n---\nPlain.\n");
    let options = ServeOptions { calls_at_once: 1, ..ServeOptions::default() };
    let server = SkillServer::new(runtime(Watched::new(), asks(), &[GREET, plain]), options);
    let thinks = Arc::new(Thinks::default());
    let user = TestClient { decision: Some("once"), thinks: Some(Arc::clone(&thinks)), ..TestClient::default() };
    let client = connected(&server, user).await;
    let asks = async { call(&client, "Skill", json!({"skill": "greet"})).await.expect("a result") };
    let meanwhile = async {
        thinks.asked.notified().await;
        let plain = call(&client, "Skill", json!({"skill": "plain"})).await.expect("a result");
        assert!(text(&plain).ends_with("Plain.\n"), "{}", text(&plain));
        thinks.may_answer.notify_one();
    };
    let (greeted, ()) = tokio::join!(asks, meanwhile);
    assert!(text(&greeted).ends_with("Hello, hi.\n"), "{}", text(&greeted));
}
