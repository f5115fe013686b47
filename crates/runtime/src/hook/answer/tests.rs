use super::*;

fn read(event: HookEvent, status: u8, stdout: &str, stderr: &str) -> HookAnswer {
    let end = CommandEnd { status, stdout: stdout.as_bytes(), lost: 0, stderr: stderr.as_bytes() };
    HookAnswer::of_command(event, event.power(), &end)
}

fn denies(answer: &HookAnswer) -> Option<&str> {
    match &answer.verdict {
        HookVerdict::Deny(reason) => Some(reason),
        HookVerdict::Pass | HookVerdict::Ask(_) => None,
    }
}

fn codes(answer: &HookAnswer) -> Vec<String> {
    answer.diagnostics.iter().map(|found| found.code.to_string()).collect()
}

#[test]
fn status_two_blocks_what_can_be_blocked_and_nothing_else() {
    for event in HookEvent::ALL {
        let answer = read(*event, 2, "", "not today\n");
        assert_eq!(denies(&answer), event.can_block().then_some("not today"), "{event}");
        assert_eq!(answer.failure.is_some(), !event.can_block() && !answer.context.contains(&"not today".to_owned()));
    }
    assert_eq!(read(HookEvent::PostToolUse, 2, "", "look again").context, ["look again"]);
}

#[test]
fn json_does_not_undo_status_two_and_no_text_gives_a_reason() {
    for stdout in [r#"{"hookSpecificOutput":{"permissionDecision":"allow"}}"#, r#"{"continue":true}"#, "{ broken", ""] {
        let answer = read(HookEvent::PreToolUse, 2, stdout, "");
        assert_eq!(denies(&answer), Some("a hook on PreToolUse denies it, without a reason"), "{stdout}");
    }
    assert_eq!(
        denies(&read(HookEvent::Stop, 2, "{ broken", " \n")),
        Some("a hook on Stop says to go on, without a reason")
    );
}

#[test]
fn a_gate_that_fails_denies_and_nobody_else_does() {
    for (status, stdout, about) in [
        (1, "", "status 1"),
        (127, "", "status 127"),
        (0, "{ broken", "begins as JSON"),
        (0, "{} {}", "begins as JSON"),
        (0, r#"{"continue":"no"}"#, "`continue`"),
        (0, r#"{"hookSpecificOutput":[]}"#, "`hookSpecificOutput`"),
    ] {
        for event in [HookEvent::PreToolUse, HookEvent::UserPromptSubmit, HookEvent::Stop, HookEvent::PostToolUse] {
            let answer = read(event, status, stdout, "");
            assert!(
                answer.failure.as_ref().is_some_and(|failure| failure.contains(about)),
                "{event} {stdout}: {answer:?}"
            );
            assert_eq!(denies(&answer).is_some(), event.power() == Power::Gate, "{event} {stdout}");
        }
    }
    let flood = CommandEnd { status: 0, stdout: b"{\"continue\":", lost: 5, stderr: b"" };
    assert!(denies(&HookAnswer::of_command(HookEvent::PreToolUse, Power::Gate, &flood)).is_some());
    assert!(denies(&HookAnswer::of_command(HookEvent::PreToolUse, Power::Observe, &flood)).is_none());
}

#[test]
fn plain_output_is_no_opinion_and_is_told_where_the_format_says_so() {
    assert_eq!(read(HookEvent::PreToolUse, 0, "all fine\n", ""), HookAnswer::default());
    for event in [HookEvent::UserPromptSubmit, HookEvent::SessionStart] {
        assert_eq!(read(event, 0, "the branch is main\n", "").context, ["the branch is main"]);
    }
}

#[test]
fn what_a_hook_allows_is_no_opinion() {
    for (event, output) in [
        (
            HookEvent::PreToolUse,
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}"#,
        ),
        (HookEvent::PreToolUse, r#"{"decision":"approve"}"#),
        (HookEvent::PermissionRequest, r#"{"hookSpecificOutput":{"decision":{"behavior":"allow"}}}"#),
        (HookEvent::Elicitation, r#"{"hookSpecificOutput":{"action":"accept"}}"#),
    ] {
        let answer = read(event, 0, output, "");
        assert_eq!(answer.verdict, HookVerdict::Pass, "{output}");
        assert_eq!(codes(&answer), ["hook-allow-ignored"], "{output}");
    }
}

#[test]
fn decisions_of_the_format_are_read() {
    let pre = |members: &str| format!(r#"{{"hookSpecificOutput":{{"hookEventName":"PreToolUse",{members}}}}}"#);
    let ask = |reason: &str| HookVerdict::Ask(vec![reason.to_owned()]);
    let deny = |reason: &str| HookVerdict::Deny(reason.to_owned());
    for (event, output, verdict) in [
        (HookEvent::PreToolUse, pre(r#""permissionDecision":"deny","permissionDecisionReason":"no""#), deny("no")),
        (HookEvent::PreToolUse, pre(r#""permissionDecision":"ask","permissionDecisionReason":"sure?""#), ask("sure?")),
        (HookEvent::PreToolUse, pre(r#""permissionDecision":"defer""#), ask("a hook wants it to be asked about")),
        (HookEvent::PreToolUse, r#"{"decision":"block","reason":"no"}"#.to_owned(), deny("no")),
        (HookEvent::UserPromptSubmit, r#"{"decision":"block","reason":"no"}"#.to_owned(), deny("no")),
        (HookEvent::Stop, r#"{"decision":"block","reason":"tests fail"}"#.to_owned(), deny("tests fail")),
        (HookEvent::PreToolUse, r#"{"continue":false,"stopReason":"enough"}"#.to_owned(), deny("enough")),
        (HookEvent::Stop, r#"{"continue":false,"decision":"block","reason":"x"}"#.to_owned(), HookVerdict::Pass),
        (
            HookEvent::PermissionRequest,
            r#"{"hookSpecificOutput":{"decision":{"behavior":"deny","message":"no"}}}"#.to_owned(),
            deny("no"),
        ),
        (HookEvent::ElicitationResult, r#"{"hookSpecificOutput":{"action":"decline"}}"#.to_owned(), {
            deny("a hook on ElicitationResult denies it, without a reason")
        }),
        (HookEvent::PostToolUse, r#"{"decision":"block","reason":"x"}"#.to_owned(), HookVerdict::Pass),
    ] {
        let answer = read(event, 0, &output, "");
        assert_eq!((answer.verdict, answer.failure), (verdict, None), "{event} {output}");
    }
    assert_eq!(read(HookEvent::PostToolUse, 0, r#"{"decision":"block","reason":"look"}"#, "").context, ["look"]);
    assert_eq!(
        read(HookEvent::SessionStart, 0, r#"{"continue":false}"#, "").stop.as_deref(),
        Some("a hook on SessionStart ends it")
    );
}

#[test]
fn a_decision_that_is_not_known_is_a_failure() {
    for output in [
        r#"{"decision":"blok"}"#,
        r#"{"hookSpecificOutput":{"permissionDecision":"forbid"}}"#,
        r#"{"hookSpecificOutput":{"hookEventName":"Stop","permissionDecision":"deny"}}"#,
        r#"{"hookSpecificOutput":{"updatedInput":"x"}}"#,
    ] {
        assert!(
            denies(&read(HookEvent::PreToolUse, 0, output, "")).is_some_and(|reason| reason.contains("failed")),
            "{output}"
        );
    }
}

#[test]
fn inputs_outputs_and_texts_are_taken_where_they_mean_something() {
    let rewrite = r#"{"hookSpecificOutput":{"updatedInput":{"command":"ls"}}}"#;
    assert_eq!(read(HookEvent::PreToolUse, 0, rewrite, "").rewritten_input, Some(serde_json::json!({"command": "ls"})));
    let elsewhere = read(HookEvent::PermissionRequest, 0, rewrite, "");
    assert_eq!(
        (elsewhere.rewritten_input.is_none(), codes(&elsewhere)),
        (true, vec!["hook-output-ignored:updatedInput".to_owned()])
    );
    let output = read(HookEvent::PostToolUse, 0, r#"{"hookSpecificOutput":{"updatedToolOutput":"x"}}"#, "");
    assert_eq!(output.rewritten_output, Some(serde_json::json!("x")));
    let message =
        read(HookEvent::Stop, 0, r#"{"systemMessage":"hi\u001b[31m","frobnicate":1,"terminalSequence":"x"}"#, "");
    assert_eq!(message.message.as_deref(), Some("hi"));
    assert_eq!(codes(&message), ["hook-output-ignored:frobnicate", "hook-output-ignored:terminalSequence"]);
}

#[test]
fn texts_are_cut_and_cleaned() {
    let long = "é".repeat(10_001);
    let output = serde_json::json!({"hookSpecificOutput": {"additionalContext": long}}).to_string();
    let answer = read(HookEvent::PreToolUse, 0, &output, "");
    assert_eq!(answer.context[0].chars().filter(|c| *c == 'é').count(), 10_000);
    assert_eq!(codes(&answer), ["hook-text-cut"]);
    let deceiving = read(HookEvent::PreToolUse, 2, "", "ok\u{202e}evil\u{1b}]0;x\u{7}");
    assert_eq!(denies(&deceiving), Some("okevil"));
}

#[test]
fn a_wasm_reply_says_no_more_than_a_command() {
    let read = |event: HookEvent, reply| HookAnswer::of_reply(event, event.power(), reply);
    let deny = |event| denies(&read(event, HookReply::Deny("no".into()))).map(str::to_owned);
    assert_eq!(deny(HookEvent::PreToolUse).as_deref(), Some("no"));
    assert_eq!(deny(HookEvent::Notification), None);
    assert_eq!(
        denies(&read(HookEvent::PreToolUse, HookReply::Deny(String::new()))),
        Some("a hook on PreToolUse denies it, without a reason")
    );
    assert_eq!(read(HookEvent::PreToolUse, HookReply::Ask("?".into())).verdict, HookVerdict::Ask(vec!["?".into()]));
    // Nobody is asked about a prompt.
    assert!(denies(&read(HookEvent::UserPromptSubmit, HookReply::Ask("?".into()))).is_some());
    assert!(denies(&read(HookEvent::PreToolUse, HookReply::Rewrite(b"rubbish".to_vec()))).is_some());
    assert!(denies(&read(HookEvent::PreToolUse, HookReply::Rewrite(b"[]".to_vec()))).is_some());
    assert_eq!(read(HookEvent::Stop, HookReply::Rewrite(b"{}".to_vec())).verdict, HookVerdict::Pass);
}

/// Pieces of what hooks print, put together at random from a fixed seed: whatever it is, it is read, no text is longer than its
/// bound, a failure of a gate denies, and status 2 blocks.
#[test]
fn whatever_a_hook_prints_is_read() {
    const PIECES: &[&str] = &[
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"",
        "\\",
        "null",
        "true",
        "false",
        "1e999",
        "\"allow\"",
        "\"deny\"",
        "\"ask\"",
        "\"block\"",
        "\"decision\":",
        "\"reason\":",
        "\"continue\":",
        "\"hookSpecificOutput\":{",
        "\"permissionDecision\":",
        "\"updatedInput\":{}",
        "\"additionalContext\":\"x\"",
        "\"hookEventName\":\"PreToolUse\"",
        "\u{202e}",
        "\u{0}",
        "\n",
    ];
    let mut seed: u64 = 0x5eed;
    let mut next = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(seed >> 33).unwrap_or(0) % below
    };
    let mut denied = 0;
    for _ in 0..20_000 {
        let mut stdout = "{".to_owned();
        for _ in 0..next(12) {
            stdout.push_str(PIECES[next(PIECES.len())]);
        }
        let event = HookEvent::ALL[next(HookEvent::ALL.len())];
        let status = [0, 0, 0, 1, 2][next(5)];
        let answer = read(event, status, &stdout, "");
        let texts = answer.context.iter().chain(&answer.message).chain(&answer.stop);
        assert!(texts.clone().all(|text| text.chars().count() < 10_100), "{stdout}");
        let blocks = (answer.failure.is_some() && event.power() == Power::Gate) || (status == 2 && event.can_block());
        assert!(!blocks || answer.verdict.is_denied(), "{event} {status} {stdout}");
        assert!(event.can_block() || answer.verdict == HookVerdict::Pass, "{event} {stdout}");
        denied += usize::from(answer.verdict.is_denied());
    }
    assert!(denied > 1_000, "the pieces come to something: {denied}");
}
