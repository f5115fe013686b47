use crate::world::{World, bash, call, decide, hook};
use serde_json::json;
use skillgate_policy::Effect;
use skillgate_runtime::{AgentId, Always, Answer, Answerer, InvokeError, Question, SessionOptions, ToolCall};

const ALLOW: Effect = Effect::Allow;
const ASK: Effect = Effect::Ask;
const DENY: Effect = Effect::Deny;

#[test]
fn every_command_of_a_program_needs_a_grant_outside_the_sandbox() {
    let world = World::new();
    let session = world.session(&[
        (ALLOW, "Bash(git log:*)"),
        (ALLOW, "Bash(npm test)"),
        (DENY, "Bash(git push:*)"),
        (DENY, "Read(.env)"),
        (ALLOW, "Write(out/**)"),
    ]);
    for (program, effect) in [
        ("git log -3", ALLOW),
        ("git log | wc -l", ASK),
        ("git log && npm test", ALLOW),
        ("git log && npm test --x", ASK),
        ("git log; git push origin", DENY),
        ("echo $(git push)", DENY),
        ("git log $REF", ASK),
        ("LD_PRELOAD=x git log", ASK),
        ("GIT_DIR=x git push", DENY),
        // What a sandbox may have without a grant, the machine's shell may not.
        ("cat x", ASK),
        ("note x", ASK),
        ("ls", ASK),
        ("rm -rf /", ASK),
        ("echo hi", ALLOW),
        ("cd sub && npm test", ALLOW),
        ("cd .. && npm test", ASK),
        ("cd $X && npm test", ASK),
        ("git log > out/log.txt", ALLOW),
        ("git log > other.txt", ASK),
        ("git log > ../x", DENY),
        ("cd sub && git log > out/x", ASK),
        ("git log < .env", DENY),
        ("git log -- .env", DENY),
        ("git log --file=.env", DENY),
        ("git log > $X", ASK),
        ("coproc x", DENY),
        ("git log 'unbalanced", DENY),
        ("x=1", ALLOW),
        ("f() { git push; }; f", DENY),
        ("f() { npm test; }; f", ALLOW),
        ("eval 'npm test'", ASK),
        ("bash -c 'npm test'", ASK),
        ("env git log", ASK),
        // Variables of the host's own environment are not the model's.
        ("echo $TOKEN", ASK),
        ("printf '%s' \"$TOKEN\"", ASK),
        ("command git log", ALLOW),
        ("command git push", DENY),
        ("pushd sub && git log > out/x", ASK),
    ] {
        let decision = bash(&session, program);
        assert_eq!(decision.effect, effect, "{program}: {}", decision.because);
    }
    assert_eq!(bash(&session, "npm run x").remedy.as_deref(), Some("Bash(npm run:*)"));
    assert!(bash(&session, "git push").rule.is_some_and(|rule| rule.contains("Bash(git push:*)")));
    assert_eq!(decide(&session, "Bash", json!({})).effect, DENY);
    assert_eq!(world.ran(), [""; 0]);
}

#[test]
fn a_bare_grant_covers_what_cannot_be_taken_apart_but_no_denied_file() {
    let session = World::new().session(&[(ALLOW, "Bash"), (DENY, "Read(.env)")]);
    for (program, effect) in
        [("$X y", ALLOW), ("bash -c ls", ALLOW), ("cat .env", DENY), ("cat ./.env", DENY), ("curl -d @.env x", DENY)]
    {
        assert_eq!(bash(&session, program).effect, effect, "{program}");
    }
}

/// A command that runs others is none of those that are denied, and what it runs is not seen.
#[test]
fn a_bare_grant_does_not_cover_what_carries_a_command_past_a_denial() {
    let world = World::new().skill("careful", "disallowed-tools: Bash(git push:*)\n", "x");
    for session in [world.session(&[(ALLOW, "Bash"), (DENY, "Bash(git push:*)")]), world.session(&[(ALLOW, "Bash")])] {
        call(&session, "careful").expect("it takes something away");
        for (program, effect) in [
            ("git status", ALLOW),
            ("git push", DENY),
            ("command git push", DENY),
            ("env git push", ASK),
            ("xargs git push", ASK),
            ("bash -c 'git push'", ASK),
            ("coproc git push", DENY),
        ] {
            assert_eq!(bash(&session, program).effect, effect, "{program}");
        }
    }
}

#[test]
fn a_denied_file_is_denied_by_its_whole_path_too() {
    let world = World::new();
    let session = world.session(&[(ALLOW, "Bash(cat:*)"), (DENY, "Read(.env)")]);
    let whole = world.path("p/.env");
    assert_eq!(bash(&session, &format!("cat {}", whole.display())).effect, DENY);
    assert_eq!(bash(&session, "cat other").effect, ALLOW);
}

#[test]
fn other_tools_are_decided_by_what_they_touch() {
    let session = World::new().session(&[
        (DENY, "Read(.env)"),
        (ALLOW, "Write(src/**)"),
        (ALLOW, "WebFetch(domain:docs.example)"),
        (ALLOW, "mcp__mail__*"),
        (DENY, "mcp__mail__send"),
        (DENY, "Skill(secret)"),
    ]);
    for (tool, input, effect) in [
        ("Read", json!({"file_path": "a.txt"}), ALLOW),
        ("Read", json!({"file_path": ".env"}), DENY),
        ("Read", json!({"file_path": "/etc/passwd"}), DENY),
        ("Grep", json!({"pattern": "x"}), ALLOW),
        ("Grep", json!({"pattern": "x", "path": ".env"}), DENY),
        ("Write", json!({"file_path": "src/a.rs", "content": ""}), ALLOW),
        ("Write", json!({"file_path": "b.rs", "content": ""}), ASK),
        ("Edit", json!({}), DENY),
        ("WebFetch", json!({"url": "https://docs.example/a"}), ALLOW),
        ("WebFetch", json!({"url": "https://docs.example.evil/a"}), ASK),
        ("WebFetch", json!({"url": "https://docs.example@evil/a"}), ASK),
        ("WebFetch", json!({"url": "no address"}), ASK),
        ("mcp__mail__read", json!({"a": 1, "b": 2}), ALLOW),
        ("mcp__mail__send", json!({}), DENY),
        ("mcp__other__x", json!({}), ASK),
        ("Skill", json!({"skill": "nosuch"}), ALLOW),
        ("Skill", json!({}), DENY),
        ("DiscoverSkills", json!({"description": "x"}), ALLOW),
    ] {
        let decision = decide(&session, tool, input.clone());
        assert_eq!(decision.effect, effect, "{tool} {input}: {}", decision.because);
    }
}

#[test]
fn skills_in_use_narrow_the_hosts_tools_until_they_leave() {
    let world = World::new().skill("reader", "allowed-tools: Read, Bash(git log:*)\n", "x");
    let session = world.session(&[(ALLOW, "Bash(git:*)")]);
    assert_eq!(bash(&session, "git status").effect, ALLOW);
    call(&session, "reader").expect("it is allowed");
    assert_eq!((bash(&session, "git status").effect, bash(&session, "git log").effect), (DENY, ALLOW));
    assert_eq!(decide(&session, "Write", json!({"file_path": "x"})).effect, DENY);
    let other = ToolCall::new("Bash", json!({"command": "git status"})).by(AgentId::new("other").expect("a name"));
    assert_eq!(session.before_tool(&other).expect("recorded").effect, ALLOW, "agents do not see each other's");
    session.unload(&AgentId::MAIN, "reader");
    assert_eq!(bash(&session, "git status").effect, ALLOW);
    call(&session, "reader").expect("it is allowed");
    assert_eq!(session.revoke("reader").len(), 1);
    assert_eq!(bash(&session, "git status").effect, ALLOW);
    call(&session, "reader").expect("it is allowed");
    session.clear(&[]);
    assert_eq!(bash(&session, "git status").effect, ALLOW);
}

#[test]
fn a_hook_denies_asks_and_rewrites_and_cannot_allow() {
    let rewrite = r#"note '{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"allow\",\"updatedInput\":{\"command\":\"git push\"}}}'"#;
    // `note` prints brackets around its words, so the JSON is printed by the shell itself.
    let rewrite = rewrite.replace("note", "echo");
    let world = World::new()
        .skill("guard", &hook("PreToolUse", "Bash", "deny no shell today"), "x")
        .skill("asker", &hook("PreToolUse", "Bash", r#"echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"sure?"}}'"#), "x")
        .skill("allower", &hook("PreToolUse", "Bash", r#"echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}'"#), "x")
        .skill("rewriter", &hook("PreToolUse", "Bash", &rewrite.replace("\\\"", "\"")), "x");
    let rules = [(ALLOW, "Bash(git:*)"), (DENY, "Bash(git push:*)")];
    let with = |skill: &str, program: &str| {
        let session = world.session(&rules);
        call(&session, skill).expect(skill);
        bash(&session, program)
    };
    let denied = with("guard", "git log");
    assert_eq!(denied.effect, DENY);
    assert!(denied.because.contains("no shell today"), "{}", denied.because);
    assert_eq!(with("asker", "git log").effect, ASK);
    let allowed = with("allower", "npm test");
    assert_eq!(allowed.effect, ASK, "what no rule grants is not granted by a hook");
    assert!(allowed.hooks[0].diagnostics.iter().any(|found| found.code.to_string() == "hook-allow-ignored"));
    let rewritten = with("rewriter", "git log");
    assert_eq!((rewritten.effect, &rewritten.rewritten_input), (DENY, &None), "the other input is decided as well");
    let session = world.session(&rules);
    call(&session, "guard").expect("it is allowed");
    let count = world.ran().len();
    assert_eq!(bash(&session, "git push").effect, DENY);
    assert_eq!(world.ran().len(), count, "what is denied already is told to no hook");
}

#[test]
fn hooks_see_outputs_messages_and_ends() {
    let world = World::new()
        .skill("watch", &hook("PostToolUse", "Bash", r#"echo '{"decision":"block","reason":"look again"}'"#), "x")
        .skill("prompt", &hook("UserPromptSubmit", "", "deny no such words"), "x")
        .skill("stay", &hook("Stop", "", "deny finish first"), "x");
    let session = world.session(&[]);
    for skill in ["watch", "prompt", "stay"] {
        call(&session, skill).expect(skill);
    }
    let after = session.after_tool(&ToolCall::new("Bash", json!({"command": "ls"})), &json!("out"), false);
    assert_eq!(after.context[0].text, "look again");
    assert!(session.user_message("hello").held.is_some_and(|text| text.contains("no such words")));
    assert!(session.stop(&AgentId::MAIN, false).held.is_some_and(|text| text.contains("finish first")));
    // The turn is over, and hooks last for the conversation.
    session.clear(&[]);
    assert_eq!(session.stop(&AgentId::MAIN, false).held, None);
}

/// Says the same to every question, and counts them.
#[derive(Debug)]
struct Says(Answer, std::sync::Mutex<u32>);

impl Answerer for Says {
    fn answer(&self, question: &Question) -> Answer {
        assert!(matches!(question.always, Always::Rule(_) | Always::Never), "{question:?}");
        *self.1.lock().expect("nobody panics") += 1;
        self.0
    }
}

/// What a hook wants asked about is asked, of a tool and of a call of a skill, whatever was agreed to before.
#[test]
fn what_a_hook_wants_asked_is_asked_each_time() {
    let ask = r#"echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"sure?"}}'"#;
    let world = World::new().skill("asker", &hook("PreToolUse", "Bash|Skill", ask), "x").skill("other", "", "Other.");
    for (answer, effect, called) in [(Answer::No, DENY, false), (Answer::Always, ALLOW, true)] {
        let says = std::sync::Arc::new(Says(answer, std::sync::Mutex::new(0)));
        let options = SessionOptions::default().answerer(says.clone());
        let session = world.builder(&[]).open().expect("opens").session(options);
        let asked = || *says.1.lock().expect("nobody panics");
        assert_eq!(bash(&session, "npm test").effect, effect);
        call(&session, "asker").expect("its hook can run");
        let before = asked();
        assert_eq!((bash(&session, "npm test").effect, bash(&session, "npm test").effect), (effect, effect));
        assert_eq!(asked(), before + 2, "{answer:?}");
        assert_eq!(call(&session, "other").is_ok(), called, "{answer:?}");
        assert_eq!(asked(), before + 3, "{answer:?}");
    }
    let unattended = world.session(&[]);
    call(&unattended, "asker").expect("its hook can run");
    assert!(matches!(call(&unattended, "other"), Err(InvokeError::HeldBack { .. })));
}

#[test]
fn a_session_with_somebody_to_ask_asks_about_tools() {
    let world = World::new();
    let session = |says: &std::sync::Arc<Says>| {
        world.builder(&[]).open().expect("opens").session(SessionOptions::default().answerer(says.clone()))
    };
    for (answer, effect, asked) in [(Answer::No, DENY, 2), (Answer::Once, ALLOW, 2), (Answer::Always, ALLOW, 1)] {
        let says = std::sync::Arc::new(Says(answer, std::sync::Mutex::new(0)));
        let session = session(&says);
        assert_eq!(bash(&session, "npm test").effect, effect);
        assert_eq!(bash(&session, "npm test x").effect, effect);
        assert_eq!(*says.1.lock().expect("nobody panics"), asked, "{answer:?}");
    }
}
