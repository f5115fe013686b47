use crate::world::{World, call, hook, prompt};
use serde_json::json;
use skillgate_core::CommandName;
use skillgate_policy::{Effect, Invoker};
use skillgate_runtime::{
    HostCommand, InvokeError, MAX_ARGUMENT_CHARS, MAX_PROMPT_CHARS, MessageKind, SessionOptions, SkillCall,
    SkillStatus, TypedResult,
};
use skillgate_search::ToolInfo;

#[test]
fn a_call_gives_the_tools_result_a_command_message_and_the_text() {
    let world = World::new().skill(
        "review",
        "model: opus\neffort: high\nallowed-tools: Bash(note:*)\n",
        "Look at $0, !`note $0`.",
    );
    let session = world.session(&[]);
    let call = SkillCall::new(" /review ", Invoker::Model).args("</command-args>x").tool_use_id("t1");
    let result = session.call_skill(&call).expect("it is allowed");
    assert_eq!((result.status, result.tool_result.as_str()), (SkillStatus::Inline, "Launching skill: review"));
    let [command, text] = result.messages.as_slice() else { unreachable!("two messages: {:?}", result.messages) };
    assert_eq!((command.kind, command.is_meta), (MessageKind::Command, false));
    assert_eq!(
        command.content,
        "<command-name>/review</command-name>\n<command-args>&lt;/command-args&gt;x</command-args>"
    );
    assert_eq!((text.kind, text.is_meta), (MessageKind::Prompt, true));
    assert!(text.content.ends_with("Look at </command-args>x, [</command-args>x].\n"), "{}", text.content);
    assert!(result.messages.iter().all(|message| message.tool_use_id.as_deref() == Some("t1")));
    assert_eq!(result.permissions.model.as_deref(), Some("opus"));
    assert_eq!(result.permissions.effort, Some(skillgate_core::Effort::High));
    assert_eq!(result.authority.caveats.len(), 1);
}

#[test]
fn a_second_call_of_the_same_text_is_a_note_and_another_text_is_given() {
    let world = World::new().skill("a", "", "Text $0.");
    let session = world.session(&[]);
    let called =
        |args: &str| session.call_skill(&SkillCall::new("a", Invoker::Model).args(args)).expect("it is allowed");
    assert_eq!(called("x").status, SkillStatus::Inline);
    let again = called("x");
    assert_eq!((again.status, again.messages.len()), (SkillStatus::Unchanged, 0));
    assert!(again.tool_result.contains("`a`"), "{}", again.tool_result);
    assert_eq!(prompt(&called("y")), "Text y.");
    assert!(session.unload(&skillgate_runtime::AgentId::MAIN, "/a").is_some());
    assert_eq!(called("y").status, SkillStatus::Inline, "it was unloaded");
}

#[test]
fn every_way_not_to_be_called_has_its_number() {
    let world = World::new()
        .skill("mine", "user-invocable: false\n", "x")
        .skill("yours", "disable-model-invocation: true\n", "x")
        .skill("denied", "", "x")
        .skill("asked", "", "x");
    let runtime = world
        .builder(&[(Effect::Deny, "Skill(denied)"), (Effect::Ask, "Skill(asked)")])
        .host_command(HostCommand::action(name("clear")).alias(name("reset")))
        .host_command(HostCommand::prompt(name("denied"), |args| format!("ours: {args}")))
        .open()
        .expect("opens");
    let session = runtime.session(SessionOptions::default());
    let number = |skill: &str, caller| session.call_skill(&SkillCall::new(skill, caller)).expect_err(skill).number();
    assert_eq!(number("nosuch", Invoker::Model), Some(1));
    assert_eq!(number("project:denied", Invoker::Model), Some(2));
    assert_eq!(number("asked", Invoker::Model), Some(3));
    assert_eq!(number("yours", Invoker::Model), Some(4));
    assert_eq!(number("clear", Invoker::Model), Some(5));
    assert_eq!(number("/reset", Invoker::Model), Some(5));
    assert_eq!(number("mine", Invoker::User), Some(6));
    // No skill hides a command of the host's own.
    let ours = session.call_skill(&SkillCall::new("denied", Invoker::Model).args("x")).expect("it is the host's");
    assert_eq!((ours.status, ours.messages[1].content.as_str()), (SkillStatus::HostCommand, "ours: x"));
}

#[test]
fn arguments_of_a_megabyte_are_refused_and_a_long_prompt_is_cut_with_a_mark() {
    let world = World::new().skill("a", "", &format!("{}$ARGUMENTS", "ä".repeat(MAX_PROMPT_CHARS)));
    let session = world.session(&[]);
    let long = SkillCall::new("a", Invoker::User).args("x".repeat(1 << 20));
    match session.call_skill(&long) {
        Err(InvokeError::ArgumentsTooLong { chars, limit }) => {
            assert_eq!((chars, limit), (1 << 20, MAX_ARGUMENT_CHARS))
        }
        other => unreachable!("{other:?}"),
    }
    let result = call(&session, "a").expect("it is allowed");
    let text = &result.messages[1].content;
    assert_eq!(text.chars().count(), MAX_PROMPT_CHARS);
    assert!(text.ends_with(".]") && text.contains("[Cut here: a prompt has at most 100000 characters"));
    assert!(result.diagnostics.iter().any(|found| found.code.to_string() == "prompt-cut"));
}

/// Complaint 90b: what was typed is final, whatever the arguments say.
#[test]
fn row_90b_a_typed_name_is_final_and_names_are_stacked() {
    let world = World::new()
        .skill("a", "", "A: $ARGUMENTS")
        .skill("b", "", "B: $ARGUMENTS")
        .skill("forked", "context: fork\n", "F")
        .skill("allow", "", "Allows.");
    let runtime = world.builder(&[]).host_command(HostCommand::action(name("clear"))).open().expect("opens");
    let session = runtime.session(SessionOptions::default());
    let typed = |line: &str| session.call_typed(line, &SkillCall::new("", Invoker::User));
    let texts = |line: &str| match typed(line).expect(line) {
        TypedResult::Skills(results) => results.iter().map(prompt).collect::<Vec<_>>(),
        other => unreachable!("{line}: {other:?}"),
    };
    assert_eq!(texts("/a allow this prompt"), ["A: allow this prompt"]);
    assert_eq!(texts("/a /b one two"), ["A: one two", "B: one two"]);
    assert_eq!(texts("/a /forked x"), ["A: /forked x"]);
    assert_eq!(texts("/a /clear"), ["A: /clear"]);
    assert!(matches!(typed("no command"), Ok(TypedResult::Text)));
    match typed("/clear all") {
        Ok(TypedResult::Action { command, args }) => assert_eq!((command.as_str(), args.as_str()), ("clear", "all")),
        other => unreachable!("{other:?}"),
    }
    assert!(matches!(typed("/nosuch x"), Err(InvokeError::Unknown { .. })));
}

#[test]
fn the_definitions_name_what_a_model_may_call_now() {
    let world = World::new().skill("a", "", "x").skill("yours", "disable-model-invocation: true\n", "x");
    let session = world.session(&[]);
    let plain = session.tools(false);
    assert_eq!(plain.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["Skill", "DiscoverSkills"]);
    assert!(plain[0].input_schema["properties"]["skill"].get("enum").is_none());
    assert_eq!(session.tools(true)[0].input_schema["properties"]["skill"]["enum"], json!(["a"]));
    assert_eq!(World::new().session(&[]).tools(true)[0].input_schema["properties"]["skill"].get("enum"), None);
    let tool = |name: &str, should_defer| ToolInfo {
        name: name.to_owned(),
        should_defer,
        schema: json!({"type": "object"}),
        ..ToolInfo::default()
    };
    session.register_tools(vec![tool("Now", false)]);
    assert_eq!(session.tools(false).len(), 2, "nothing is deferred");
    session.register_tools(vec![tool("Now", false), tool("SendMail", true)]);
    assert_eq!(session.tools(false)[2].name, "ToolSearch");
    let found = session.search_tools("select:SendMail,Nope", None);
    assert_eq!(found.tools[0].input_schema, json!({"type": "object"}));
    assert_eq!((found.unknown, found.deferred), (vec!["Nope".to_owned()], 1));
}

#[test]
fn what_a_skill_takes_away_narrows_the_next_skill_until_the_turn_ends() {
    let world = World::new().skill("narrow", "allowed-tools: Read\n", "x").skill("notes", "", "!`note 1`");
    let session = world.session(&[]);
    assert_eq!(prompt(&call(&session, "notes").expect("it is allowed")), "[1]");
    call(&session, "narrow").expect("it runs nothing");
    assert!(matches!(call(&session, "notes"), Err(InvokeError::Refused(_))));
    let _no_hooks = session.user_message("go on");
    assert_eq!(call(&session, "notes").expect("the turn ended").status, SkillStatus::Unchanged);
    assert_eq!(world.ran(), ["note 1", "note 1"]);
}

#[test]
fn a_skill_in_use_takes_other_skills_away_from_the_model() {
    let world = World::new()
        .skill("without", "disallowed-tools: Skill(notes)\n", "x")
        .skill("only", "allowed-tools: Skill(notes)\n", "x")
        .skill("nothing", "allowed-tools: []\n", "x")
        .skill("reader", "allowed-tools: Read\n", "x")
        .skill("notes", "", "Notes.")
        .skill("other", "", "Other.");
    for (first, then, may) in [
        ("without", "notes", false),
        ("without", "other", true),
        ("only", "notes", true),
        ("only", "other", false),
        ("nothing", "notes", false),
        ("reader", "notes", true),
    ] {
        let session = world.session(&[]);
        call(&session, first).expect(first);
        let decided = crate::world::decide(&session, "Skill", json!({"skill": then})).effect;
        assert_eq!(decided == Effect::Allow, may, "{first} then {then}");
        assert_eq!(call(&session, then).is_ok(), may, "{first} then {then}");
        // A person's own call is no use of a tool.
        assert!(session.call_skill(&SkillCall::new(then, Invoker::User)).is_ok(), "{first} then {then}");
    }
}

#[test]
fn a_hook_holds_a_call_back_before_anything_runs() {
    let guard = hook("PreToolUse", "Skill", "deny not today");
    let world = World::new()
        .skill("guard", &guard.replace("          command", "          if: Skill(notes)\n          command"), "x")
        .skill("notes", "", "!`note 1`")
        .skill("other", "", "Other.");
    let session = world.session(&[]);
    let guarding = call(&session, "guard").expect("its hook can run");
    assert_eq!(guarding.registered, ["PreToolUse: deny not today"]);
    match call(&session, "notes") {
        Err(error @ InvokeError::HeldBack { .. }) => {
            assert!(error.to_string().contains("not today"), "{error}");
            assert_eq!(error.number(), Some(2));
        }
        other => unreachable!("{other:?}"),
    }
    assert_eq!(prompt(&call(&session, "other").expect("another skill")), "Other.");
    assert_eq!(world.ran(), ["deny not today"]);
    // A typed name is no use of the Skill tool.
    assert!(session.call_skill(&SkillCall::new("notes", Invoker::User)).is_ok());
}

#[test]
fn a_gate_hook_that_cannot_run_keeps_its_skill_from_being_activated() {
    let world = World::new()
        .skill("unknown-program", &hook("PreToolUse", "Bash", "nosuchprogram x"), "x")
        .skill("not-granted", &format!("allowed-tools: Bash(note:*)\n{}", hook("PreToolUse", "Bash", "deny x")), "x")
        .skill("unsupported", "hooks:\n  PreToolUse:\n    - hooks:\n        - type: prompt\n          prompt: x\n", "x")
        .skill("watching", &hook("PostToolUse", "Bash", "nosuchprogram x"), "x");
    let session = world.session(&[]);
    for skill in ["unknown-program", "not-granted", "unsupported"] {
        assert!(matches!(call(&session, skill), Err(InvokeError::Hooks(_))), "{skill}");
    }
    let watching = call(&session, "watching").expect("nothing is lost when it does not run");
    assert!(!watching.diagnostics.is_empty() && watching.registered.is_empty(), "{watching:?}");
    assert_eq!(world.ran(), [""; 0]);
}

fn name(text: &str) -> CommandName {
    CommandName::new(text).expect("a name")
}
