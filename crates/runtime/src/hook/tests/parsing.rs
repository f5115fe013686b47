use super::fixture::World;
use crate::hook::{Condition, Handler, HookEvent};

/// The findings of a header's hooks, each with the text that it points at.
fn findings(hooks: &str) -> Vec<(String, String)> {
    let world = World::new(hooks, &[]);
    let parsed = world.parsed();
    parsed.findings().map(|found| (found.code.to_string(), world.at(found.span.expect("a place")).to_owned())).collect()
}

#[test]
fn handlers_are_read_with_all_they_say() {
    let world = World::new(
        "  PreToolUse:
    - matcher: Edit|Write
      hooks:
        - type: command
          command: ./check.sh
          timeout: 2.5
          if: Edit(*.rs)
          once: true
          statusMessage: Checking
        - {type: wasm, path: hooks/guard.wasm}
  Stop:
    - hooks:
        - type: command
          command: notify
          args: [\"a b\", c]
          async: true
  SessionEnd:
",
        &[],
    );
    let parsed = world.parsed();
    assert_eq!(parsed.faults, []);
    let [shell, wasm, vector] = parsed.specs.as_slice() else { unreachable!("{:?}", parsed.specs) };
    assert_eq!((shell.event, shell.matcher.to_string().as_str()), (HookEvent::PreToolUse, "Edit|Write"));
    assert_eq!((shell.timeout_ms, shell.once, shell.background), (Some(2_500), true, false));
    assert!(matches!(&shell.condition, Condition::Pattern(pattern) if pattern.text() == "Edit(*.rs)"));
    assert_eq!(shell.status_message.as_deref(), Some("Checking"));
    assert!(world.at(shell.span).starts_with("type: command") && world.at(shell.span).contains("./check.sh"));
    assert_eq!(wasm.handler.to_string(), "wasm: hooks/guard.wasm");
    assert_eq!(vector.handler, Handler::Vector(vec!["notify".into(), "a b".into(), "c".into()]));
    assert!(vector.background && vector.event == HookEvent::Stop);
}

#[test]
fn an_unknown_event_is_a_finding() {
    let found = findings("  PreToolUSe:\n    - hooks: [{type: command, command: x}]\n");
    assert_eq!(found, [("hook-event-unknown".to_owned(), "PreToolUSe".to_owned())]);
}

#[test]
fn handlers_that_are_not_supported_keep_a_skill_from_being_activated_only_where_they_could_block() {
    for kind in ["http", "mcp_tool", "prompt", "agent"] {
        for event in HookEvent::ALL {
            let world = World::new(&format!("  {event}:\n    - hooks: [{{type: {kind}}}]\n"), &[]);
            let parsed = world.parsed();
            assert_eq!(
                (parsed.faults.len(), parsed.diagnostics.len()),
                if event.can_block() { (1, 0) } else { (0, 1) }
            );
            let found = parsed.findings().next().expect("one");
            assert_eq!(found.code.to_string(), "hook-type-unsupported");
            assert!(world.at(found.span.expect("a place")).contains(kind));
        }
    }
}

#[test]
fn what_cannot_be_read_is_said_at_its_place() {
    let group = |handler: &str| format!("  PreToolUse:\n    - hooks: [{handler}]\n");
    for (hooks, code, at) in [
        (group("{type: command}"), "hook-invalid", "{type: command}"),
        (group("{command: x}"), "hook-invalid", "{command: x}"),
        (group("{type: webhook}"), "hook-invalid", "{type: webhook}"),
        (group("{type: wasm, path: ../x.wasm}"), "hook-invalid", "{type: wasm, path: ../x.wasm}"),
        (group("{type: wasm}"), "hook-invalid", "{type: wasm}"),
        (group("{type: command, command: x, args: [[y]]}"), "hook-invalid", "{type: command, command: x, args: [[y]]}"),
        (group("text"), "hook-invalid", "text"),
        (group("{type: command, command: x, shell: powershell}"), "hook-invalid", "powershell"),
        ("  PreToolUse: text\n".to_owned(), "hook-invalid", "text"),
        ("  PreToolUse:\n    - matcher: Bash\n".to_owned(), "hook-invalid", "matcher: Bash"),
        ("  PreToolUse:\n    - {matcher: \"Bash(\", hooks: []}\n".to_owned(), "hook-invalid", "\"Bash(\""),
        (group("{type: command, command: x, retries: 3}"), "hook-key-ignored:retries", "retries"),
        (group("{type: command, command: x, timeout: soon}"), "hook-key-ignored:timeout", "timeout"),
        (group("{type: command, command: x, timeout: -1}"), "hook-key-ignored:timeout", "timeout"),
        (group("{type: command, command: x, once: maybe}"), "hook-key-ignored:once", "once"),
        (group("{type: command, command: x, if: \"Bash(git\"}"), "hook-condition-unreadable", "\"Bash(git\""),
    ] {
        let found = findings(&hooks);
        let (found_code, found_at) = found.first().unwrap_or_else(|| unreachable!("{hooks}"));
        assert_eq!((found_code.as_str(), found_at.trim()), (code, at), "{hooks}");
        let faults = World::new(&hooks, &[]).parsed().faults.len();
        assert_eq!(faults, usize::from(code == "hook-invalid"), "{hooks}");
    }
}

#[test]
fn the_same_mistake_on_an_event_that_only_watches_leaves_out_that_handler() {
    let world = World::new(
        "  PostToolUse:\n    - matcher: \"Bash(\"\n      hooks: [{type: command, command: x}]\n    - hooks: [{type: command, command: y}]\n",
        &[],
    );
    let parsed = world.parsed();
    assert_eq!((parsed.faults.len(), parsed.diagnostics.len(), parsed.specs.len()), (0, 1, 1));
}

#[test]
fn an_if_on_an_event_that_is_about_no_tool_counts_as_matching_and_is_said() {
    let world = World::new("  Stop:\n    - hooks: [{type: command, command: x, if: Bash}]\n", &[]);
    let parsed = world.parsed();
    assert_eq!(parsed.specs[0].condition, Condition::Always);
    assert_eq!(parsed.diagnostics[0].code.to_string(), "hook-condition-unreadable");
}
