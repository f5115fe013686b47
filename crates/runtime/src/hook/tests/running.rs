use super::fixture::{World, bash};
use crate::hook::{AgentScope, HandlerOutcome, HookEvent, HookInput, HookOutcome, HookVerdict};
use serde_json::json;

fn one(event: &str, command: &str) -> String {
    format!("  {event}:\n    - hooks:\n        - type: command\n          command: {command:?}\n")
}

fn denied(outcome: &HookOutcome) -> Option<&str> {
    match &outcome.verdict {
        HookVerdict::Deny(reason) => Some(reason),
        HookVerdict::Pass | HookVerdict::Ask(_) => None,
    }
}

/// The outcome of one command on one event.
fn run(event: HookEvent, command: &str) -> HookOutcome {
    let world = World::new(&one(event.name(), command), &[]);
    let input = HookInput::tool(event, "Bash", json!({"command": "ls"}));
    world.raise(&mut world.set(), &input)
}

#[test]
fn a_hook_reads_the_event_and_denies_with_its_text() {
    let outcome = run(HookEvent::PreToolUse, "cat >&2; exit 2");
    let reason = denied(&outcome).expect("it denies");
    let (json, whose) = reason.rsplit_once(" (hook of").expect("it says whose");
    assert_eq!(whose, " `guard`)");
    let event: serde_json::Value = serde_json::from_str(json).expect("the event is JSON");
    assert_eq!(
        event,
        json!({"hook_event_name": "PreToolUse", "session_id": "s-1", "tool_input": {"command": "ls"}, "tool_name": "Bash"})
    );
    let report = &outcome.reports[0];
    assert_eq!((report.outcome, report.handler.as_str()), (HandlerOutcome::Denied, "cat >&2; exit 2"));
}

#[test]
fn a_failing_hook_denies_on_a_gate_and_is_isolated_elsewhere() {
    for (command, about) in
        [("exit 3", "status 3"), ("echo '{ broken'", "begins as JSON"), ("hang", "ran longer than 50 ms")]
    {
        for event in [HookEvent::PreToolUse, HookEvent::PostToolUse, HookEvent::Stop] {
            let mut world = World::new(&one(event.name(), command), &[]);
            world.timeout_ms = 50;
            let outcome = world.raise(&mut world.set(), &HookInput::tool(event, "Bash", json!({})));
            let report = &outcome.reports[0];
            assert!(report.detail.as_ref().is_some_and(|detail| detail.contains(about)), "{report:?}");
            let gates = event == HookEvent::PreToolUse;
            assert_eq!(denied(&outcome).is_some(), gates, "{event} {command}");
            let expected = if gates { HandlerOutcome::FailedAndDenied } else { HandlerOutcome::Failed };
            assert_eq!(report.outcome, expected, "{event} {command}");
        }
    }
}

#[test]
fn a_flood_is_kept_to_its_bound() {
    let flood = "while true; do echo '{xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'; done";
    let mut world = World::new(&one("UserPromptSubmit", flood), &[]);
    world.timeout_ms = 300;
    let outcome = world.raise(&mut world.set(), &HookInput::new(HookEvent::UserPromptSubmit, serde_json::Map::new()));
    assert!(denied(&outcome).is_some_and(|reason| reason.len() < 1_000));
}

#[test]
fn the_environment_is_the_documented_one() {
    let command = "echo \"$CLAUDE_PROJECT_DIR|${CLAUDE_SKILL_DIR}|$CLAUDE_PLUGIN_ROOT\" >&2; exit 2";
    let world = World::new(&one("PreToolUse", command), &[]).of_plugin();
    let outcome = world.raise(&mut world.set(), &bash("ls"));
    let project = world.project();
    let expected = format!("{0}|{0}/.claude/skills/guard|", project.display());
    let reason = denied(&outcome).expect("it denies");
    assert!(reason.starts_with(&expected) && reason.contains("/plugin dir (hook of"), "{reason}");
}

#[test]
fn complaint_70_a_script_of_the_skill_runs_and_sees_its_directory() {
    let script = "#!/bin/sh\necho \"$CLAUDE_SKILL_DIR\" >&2\nexit 2\n";
    for command in ["${CLAUDE_SKILL_DIR}/x.sh", "\"$CLAUDE_SKILL_DIR\"/x.sh", ".claude/skills/guard/x.sh"] {
        let world = World::new(&one("PreToolUse", command), &[("x.sh", script)]);
        let outcome = world.raise(&mut world.set(), &bash("ls"));
        assert!(denied(&outcome).is_some_and(|reason| reason.contains("/.claude/skills/guard (hook")), "{command}");
    }
}

#[test]
fn a_vector_is_run_as_it_is() {
    let hooks = "  PreToolUse:
    - hooks:
        - type: command
          command: ${CLAUDE_SKILL_DIR}/x.sh
          args: [\"a  b\", \"$HOME\", \"${CLAUDE_SKILL_DIR}\", \"';exit 0;'\"]
";
    let world = World::new(hooks, &[("x.sh", "for word in \"$@\"; do echo \"[$word]\" >&2; done; exit 2")]);
    let outcome = world.raise(&mut world.set(), &bash("ls"));
    let directory = world.skill.directory.as_ref().expect("it has one").display();
    let expected = format!("[a  b]\n[$HOME]\n[{directory}]\n[';exit 0;'] (hook of `guard`)");
    assert_eq!(denied(&outcome), Some(expected.as_str()));
}

#[test]
fn allow_is_no_opinion_and_is_said() {
    let allow = r#"echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}'"#;
    let outcome = run(HookEvent::PreToolUse, allow);
    assert_eq!(outcome.verdict, HookVerdict::Pass);
    assert_eq!(outcome.reports[0].diagnostics[0].code.to_string(), "hook-allow-ignored");
}

#[test]
fn a_rewritten_input_is_seen_by_every_other_hook_whatever_the_order() {
    let rewrites =
        r#"{type: command, command: "echo '{\"hookSpecificOutput\":{\"updatedInput\":{\"command\":\"rm x\"}}}'"}"#;
    // Denies what it is started for.
    let guards = "{type: command, command: \"exit 2\", if: \"Bash(rm:*)\"}";
    for handlers in [format!("{rewrites}, {guards}"), format!("{guards}, {rewrites}")] {
        let world = World::new(&format!("  PreToolUse:\n    - hooks: [{handlers}]\n"), &[]);
        let outcome = world.raise(&mut world.set(), &bash("ls"));
        assert!(denied(&outcome).is_some(), "{handlers}");
        assert_eq!(outcome.rewritten_input, None);
    }
    let world = World::new(&format!("  PreToolUse:\n    - hooks: [{rewrites}]\n"), &[]);
    let outcome = world.raise(&mut world.set(), &bash("ls"));
    assert_eq!((outcome.verdict, outcome.rewritten_input), (HookVerdict::Pass, Some(json!({"command": "rm x"}))));
}

#[test]
fn hooks_that_rewrite_each_others_input_come_to_an_end() {
    let to = |command: &str| format!("{{type: wasm, path: {command}.wasm}}");
    let files = [("a.wasm", "rewrite:{\"command\":\"a\"}"), ("b.wasm", "rewrite:{\"command\":\"b\"}")];
    let world = World::new(&format!("  PreToolUse:\n    - hooks: [{}, {}]\n", to("a"), to("b")), &files);
    let outcome = world.raise(&mut world.set(), &bash("ls"));
    assert!(denied(&outcome).is_some_and(|reason| reason.contains("without an end")), "{outcome:?}");
}

#[test]
fn wasm_handlers_answer_and_a_trap_denies() {
    for (answer, verdict) in [
        ("pass", HookVerdict::Pass),
        ("deny:no", HookVerdict::Deny("no (hook of `guard`)".to_owned())),
        ("ask:sure?", HookVerdict::Ask(vec!["sure?".to_owned()])),
    ] {
        let world = World::new("  PreToolUse:\n    - hooks: [{type: wasm, path: x.wasm}]\n", &[("x.wasm", answer)]);
        assert_eq!(world.raise(&mut world.set(), &bash("ls")).verdict, verdict);
    }
    for (event, gates) in [("PreToolUse", true), ("PostToolUse", false)] {
        let world =
            World::new(&format!("  {event}:\n    - hooks: [{{type: wasm, path: x.wasm}}]\n"), &[("x.wasm", "trap")]);
        let input = HookInput::tool(HookEvent::parse(event).expect("an event"), "Bash", json!({}));
        let outcome = world.raise(&mut world.set(), &input);
        assert_eq!((denied(&outcome).is_some(), outcome.reports[0].outcome.is_success()), (gates, false));
    }
}

#[test]
fn an_ask_and_a_deny_are_a_deny() {
    let files = [("a.wasm", "ask:sure?"), ("b.wasm", "deny:no")];
    let hooks = "  PreToolUse:\n    - hooks: [{type: wasm, path: a.wasm}, {type: wasm, path: b.wasm}]\n";
    let world = World::new(hooks, &files);
    assert!(denied(&world.raise(&mut world.set(), &bash("ls"))).is_some());
}

#[test]
fn a_grant_that_is_gone_denies_on_a_gate() {
    let world = World::new(&one("PreToolUse", "true"), &[]);
    let mut set = world.set();
    assert_eq!(world.raise(&mut set, &bash("ls")).verdict, HookVerdict::Pass);
    *world.revoked.lock().expect("no panic") = Some("its content changed".to_owned());
    assert!(denied(&world.raise(&mut set, &bash("ls"))).is_some_and(|reason| reason.contains("its content changed")));
}

#[test]
fn a_command_that_the_host_took_back_since_denies() {
    let mut world = World::new(&one("PreToolUse", "cat"), &[]);
    let mut set = world.set();
    world.allow = vec!["Bash(ls:*)"];
    // It is a filter, so it runs with its streams and nothing else.
    assert_eq!(world.raise(&mut set, &bash("ls")).verdict, HookVerdict::Pass);
    world.allow = vec![];
    assert!(denied(&world.raise(&mut set, &bash("ls"))).is_some());
}

#[test]
fn an_author_who_does_not_wait_decides_nothing() {
    let hooks = "  PreToolUse:\n    - hooks: [{type: command, command: \"exit 2\", async: true}]\n";
    let world = World::new(hooks, &[]);
    assert_eq!(world.raise(&mut world.set(), &bash("ls")).verdict, HookVerdict::Pass);
}

#[test]
fn continue_false_ends_everything() {
    let outcome = run(HookEvent::PostToolUse, r#"echo '{"continue":false,"stopReason":"enough"}'"#);
    assert_eq!(outcome.stop.as_ref().map(|stop| stop.text.as_str()), Some("enough"));
    assert_eq!(outcome.verdict, HookVerdict::Pass);
}

#[test]
fn another_agents_use_reaches_the_hooks_above_it_and_not_those_beside() {
    let world = World::new(&one("PreToolUse", "exit 2"), &[]);
    let (main, a, b) = (AgentScope::main(), AgentScope::main().child("a"), AgentScope::main().child("b"));
    let mut above = world.set();
    assert!(denied(&world.raise_in(&a, &mut above, &bash("ls"))).is_some());
    let mut beside = crate::hook::HookSet::default();
    beside.register(&a, &world.activate().expect("activated"));
    assert!(denied(&world.raise_in(&a, &mut beside, &bash("ls"))).is_some());
    assert!(denied(&world.raise_in(&a.child("x"), &mut beside, &bash("ls"))).is_some());
    for scope in [main, b] {
        assert_eq!(world.raise_in(&scope, &mut beside, &bash("ls")).reports, []);
    }
}
