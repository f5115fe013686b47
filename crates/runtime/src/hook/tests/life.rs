use super::fixture::{World, bash};
use crate::hook::{AgentScope, HookEvent, HookInput, HookSet, HookVerdict};
use serde_json::json;

const DENIES: &str = "  PreToolUse:\n    - hooks: [{type: command, command: \"exit 2\"}]\n";

#[test]
fn complaint_73_a_skill_that_is_invoked_twice_is_registered_once() {
    let world = World::new(DENIES, &[]);
    let mut set = HookSet::default();
    let hooks = world.activate().expect("activated");
    assert_eq!(set.register(&AgentScope::main(), &hooks).len(), 1);
    assert_eq!(set.register(&AgentScope::main(), &world.activate().expect("activated")).len(), 0);
    assert_eq!(world.raise(&mut set, &bash("ls")).reports.len(), 1);
    // In another agent it is another one.
    assert_eq!(set.register(&AgentScope::main().child("a"), &hooks).len(), 1);
}

#[test]
fn a_changed_skill_takes_the_place_of_what_it_was() {
    let world = World::new(DENIES, &[]);
    let mut set = world.set();
    let mut changed = World::new("  Stop:\n    - hooks: [{type: command, command: \"exit 2\"}]\n", &[]);
    changed.skill.id = world.skill.id.clone();
    set.register(&AgentScope::main(), &changed.activate().expect("activated"));
    assert_eq!(set.iter().map(|hook| hook.key().event).collect::<Vec<_>>(), [HookEvent::Stop]);
}

#[test]
fn unloading_revoking_and_clearing_take_hooks_out() {
    let world = World::new(DENIES, &[]);
    let hooks = world.activate().expect("activated");
    let (main, a) = (AgentScope::main(), AgentScope::main().child("a"));
    let scopes = |take: &dyn Fn(&mut HookSet)| {
        let mut set = HookSet::default();
        set.register(&main, &hooks);
        set.register(&a, &hooks);
        set.register(&a.child("b"), &hooks);
        take(&mut set);
        set.iter().map(|hook| hook.key().scope.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(scopes(&|_| {}), ["main", "a", "a/b"]);
    assert_eq!(scopes(&|set| set.unload(&a, &world.skill.id)), ["main", "a/b"]);
    assert_eq!(scopes(&|set| set.end_agent(&a)), ["main"]);
    assert_eq!(scopes(&|set| set.clear(std::slice::from_ref(&a))), ["a"]);
    assert_eq!(scopes(&|set| set.revoke(&world.skill.id)), Vec::<String>::new());
}

#[test]
fn once_is_gone_after_its_first_success_and_not_before() {
    let world = World::new(
        "  PreToolUse:\n    - hooks:\n        - {type: command, once: true, command: \"read -r line; case $line in *bad*) exit 1 ;; esac\"}\n",
        &[],
    );
    let mut set = world.set();
    assert!(world.raise(&mut set, &bash("bad")).verdict.is_denied());
    assert_eq!(set.iter().count(), 1, "it failed");
    assert_eq!(world.raise(&mut set, &bash("ls")).verdict, HookVerdict::Pass);
    assert_eq!(set.iter().count(), 0);
    // To invoke the skill again does not bring it back; to unload it first does.
    let hooks = world.activate().expect("activated");
    assert!(set.register(&AgentScope::main(), &hooks).is_empty());
    set.unload(&AgentScope::main(), &world.skill.id);
    assert_eq!(set.register(&AgentScope::main(), &hooks).len(), 1);
}

#[test]
fn complaint_71_the_stop_of_a_forked_skill_is_that_of_an_agent_below() {
    let world = World::new("  Stop:\n    - hooks: [{type: command, command: \"echo not yet >&2; exit 2\"}]\n", &[]);
    let scope = AgentScope::main().child("a");
    let mut set = HookSet::default();
    set.register(&scope, &world.activate().expect("activated"));
    let stop = |event| HookInput::new(event, serde_json::Map::new());
    assert!(world.raise_in(&scope, &mut set, &stop(HookEvent::SubagentStop)).verdict.is_denied());
    assert_eq!(world.raise(&mut set, &stop(HookEvent::Stop)).reports, []);
}

/// Why a skill with these hooks is not activated: the reason and the help.
fn refusal(world: &World) -> (String, String) {
    let refusal = world.activate().expect_err("it is refused");
    assert_eq!(refusal.path, world.skill.path);
    (refusal.to_string(), refusal.help().join("; "))
}

#[test]
fn a_gate_that_cannot_run_keeps_its_skill_from_being_activated() {
    let one = |handler: &str| format!("  PreToolUse:\n    - hooks: [{handler}]\n");
    let command = |command: &str| one(&format!("{{type: command, command: {command:?}}}"));
    let python =
        [("x.py", "#!/usr/bin/env python3\nprint()"), ("x.sh", "python3 y"), ("old.wasm", "old"), ("text", "hi")];
    for (hooks, reason, help) in [
        (command("python3 x.py"), "`python3` is not offered here", "[programs]"),
        (command("${CLAUDE_SKILL_DIR}/x.py"), "needs `python3`", "needs-interpreter:python3"),
        (command("$CLAUDE_SKILL_DIR/x.sh"), "`python3` is not offered here", "[programs]"),
        (command("sh $CLAUDE_SKILL_DIR/x.sh"), "`python3` is not offered here", "[programs]"),
        (command("${CLAUDE_SKILL_DIR}/text"), "is no shell script", "`.sh`"),
        (command("./missing.sh"), "there is no `./missing.sh`", "paths are those"),
        (command("echo $("), "cannot run", ""),
        (
            one("{type: wasm, path: old.wasm}"),
            "made for version 0.0 of skillgate:hook; here is version 0.1",
            "docs/hooks.md",
        ),
        (one("{type: wasm, path: none.wasm}"), "cannot run its component `none.wasm`", "below it"),
        (one("{type: http, url: x}"), "`http` are not supported yet", "type: command"),
    ] {
        let (text, way) = refusal(&World::new(&hooks, &python));
        assert!(text.contains(reason) && text.contains("`guard` is not activated"), "{hooks}: {text}");
        assert!(way.contains(help), "{hooks}: {way}");
    }
}

#[test]
fn a_gate_without_a_grant_or_a_right_keeps_its_skill_from_being_activated() {
    let mut world = World::new("  PreToolUse:\n    - hooks: [{type: command, command: cat x}]\n", &[]);
    assert!(world.activate().is_ok());
    world.allow = vec![];
    let (text, help) = refusal(&world);
    assert!(text.contains("cat x") && help.contains("--allow"), "{text} {help}");
    world.allow = vec!["Bash"];
    world.right = Err("the right `hooks` was not granted".to_owned());
    assert!(refusal(&world).0.contains("the right `hooks` was not granted"));
    // What the skill's own list leaves out, its hooks do not run either.
    let narrowed = World::with_header(
        "allowed-tools: Read\nhooks:\n  PreToolUse:\n    - hooks: [{type: command, command: cat}]",
        &[],
    );
    assert!(refusal(&narrowed).0.contains("allowed-tools"));
}

#[test]
fn a_hook_that_only_watches_and_cannot_run_is_a_finding() {
    let world = World::new(
        "  PostToolUse:\n    - hooks: [{type: command, command: python3 x}, {type: command, command: \"true\"}]\n",
        &[],
    );
    let hooks = world.activate().expect("it only watches");
    assert_eq!(hooks.specs().count(), 1);
    assert_eq!(hooks.diagnostics[0].code.to_string(), "hook-cannot-run");
    let input = HookInput::tool(HookEvent::PostToolUse, "Bash", json!({}));
    assert_eq!(world.raise(&mut world.set(), &input).reports.len(), 1);
}

#[test]
fn complaint_72_a_hook_can_be_for_the_use_of_one_skill() {
    let hooks =
        "  PreToolUse:\n    - matcher: Skill\n      hooks: [{type: command, command: \"exit 2\", if: Skill(deploy)}]\n";
    let world = World::new(hooks, &[]);
    let use_of = |name: &str| HookInput::tool(HookEvent::PreToolUse, "Skill", json!({"skill": name}));
    let mut set = world.set();
    assert!(world.raise(&mut set, &use_of("deploy")).verdict.is_denied());
    assert_eq!(world.raise(&mut set, &use_of("review")).reports, []);
    assert_eq!(world.raise(&mut set, &bash("deploy")).reports, []);
}
