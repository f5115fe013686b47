//! Each kind of bad input has its typed answer, and leaves the conversation as it was.

use crate::world::{World, bash, call, hook, prompt};
use serde_json::json;
use skillgate_policy::{Effect, Invoker};
use skillgate_registry::ListingOptions;
use skillgate_runtime::{
    AgentError, AgentId, AgentOutput, AgentRunner, CancelToken, ForkProgress, ForkRequest, InvokeError, MAX_FORKS,
    SessionOptions, SkillCall, SkillStatus, TooManyForks, TypedResult,
};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

#[test]
fn a_skill_that_cannot_be_invoked_says_why_and_leaves_nothing() {
    let world = World::new()
        .skill("user-only", "disable-model-invocation: true\n", "x")
        .skill("model-only", "user-invocable: false\n", "x")
        .skill("needs", "requires:\n  skills: [nosuch]\n", "x")
        .skill("denied", "", "x");
    std::fs::create_dir_all(world.path("p/.claude/skills/a-directory/SKILL.md")).expect("a directory");
    std::fs::create_dir_all(world.path("p/.claude/skills/broken")).expect("a directory");
    let unclosed = "---\ndescription: Never closed.\n\n!`note 1`\n";
    std::fs::write(world.path("p/.claude/skills/broken/SKILL.md"), unclosed).expect("a file");
    let session = world.session(&[(Effect::Deny, "Skill(denied)")]);
    for (skill, caller, code, number) in [
        ("nosuch", Invoker::Model, "unknown", Some(1)),
        ("a-directory", Invoker::Model, "unreadable", Some(1)),
        ("broken", Invoker::Model, "broken", None),
        ("broken", Invoker::User, "broken", None),
        ("needs", Invoker::Model, "unavailable", None),
        ("denied", Invoker::Model, "refused", Some(2)),
        ("user-only", Invoker::Model, "refused", Some(4)),
        ("model-only", Invoker::User, "refused", Some(6)),
        ("", Invoker::Model, "unknown", Some(1)),
        ("/", Invoker::Model, "unknown", Some(1)),
    ] {
        let error = session.call_skill(&SkillCall::new(skill, caller)).expect_err(skill);
        assert_eq!((error.code(), error.number()), (code, number), "{skill}: {error}");
    }
    let listed = session.listing(&ListingOptions::default()).text;
    assert!(!listed.contains("broken") && !listed.contains("user-only") && listed.contains("- model-only"), "{listed}");
    let compacted = session.compact(&AgentId::MAIN, Default::default(), &ListingOptions::default());
    assert_eq!(compacted.expect("no hook holds it").skills, []);
    assert_eq!(world.ran(), [""; 0]);
}

#[test]
fn row_46_a_skill_that_waits_for_files_is_not_offered_and_a_person_can_call_it() {
    let world = World::new().skill("waits", "paths: src/**\n", "Waits.");
    let session = world.session(&[]);
    assert_eq!(session.tools(true)[0].input_schema["properties"]["skill"].get("enum"), None);
    assert!(!session.listing(&ListingOptions::default()).text.contains("waits"));
    let typed = session.call_skill(&SkillCall::new("waits", Invoker::User)).expect("paths limit what loads by itself");
    assert_eq!(prompt(&typed), "Waits.");
    assert_eq!(session.touch(["src/a.rs"]).activated.len(), 1);
    assert_eq!(session.tools(true)[0].input_schema["properties"]["skill"]["enum"], json!(["waits"]));
}

#[test]
fn a_shadowed_skill_is_reached_by_its_whole_name_only() {
    let world = World::new().skill("twice", "", "Of the project.");
    let home = world.path("home");
    std::fs::create_dir_all(home.join(".claude/skills/twice")).expect("a directory");
    let text = "---\ndescription: About twice.\n---\nOf the user.\n";
    std::fs::write(home.join(".claude/skills/twice/SKILL.md"), text).expect("a file");
    let runtime = world.builder(&[]).home(home).open().expect("opens");
    let text = |name: &str| prompt(&call(&runtime.session(SessionOptions::default()), name).expect(name));
    assert_eq!((text("user:twice"), text("project:twice")), ("Of the user.".to_owned(), "Of the project.".to_owned()));
    let session = runtime.session(SessionOptions::default());
    let winner = session.catalogue().named("twice")[0].qualified_name().to_owned();
    assert_eq!(text("twice"), text(&winner));
    assert_eq!(session.listing(&ListingOptions::default()).text.matches("About twice.").count(), 1);
}

#[test]
fn a_hook_that_hangs_floods_prints_rubbish_or_gives_no_reason_denies() {
    let flood = format!("i=0; while [ $i -lt 400 ]; do echo '{{{}'; i=$((i+1)); done", "x".repeat(1_000));
    for (name, program, says) in [
        ("hangs", "linger", "ran longer than 50 ms"),
        ("floods", flood.as_str(), "longer than what is read"),
        ("rubbish", "echo '{ broken'", "begins as JSON"),
        ("wrong-type", "echo '{\"continue\":\"no\"}'", "`continue`"),
        ("silent", "exit 2", "a hook on PreToolUse denies it, without a reason"),
        ("fails", "exit 3", "status 3"),
    ] {
        let mut header = hook("PreToolUse", "Bash", program);
        if name == "hangs" {
            header = header.replace("          command", "          timeout: 0.05\n          command");
        }
        let world = World::new().skill(name, &header, "x");
        let session = world.session(&[(Effect::Allow, "Bash(git:*)")]);
        call(&session, name).expect("its hook can run");
        let decision = bash(&session, "git log");
        assert_eq!(decision.effect, Effect::Deny, "{name}");
        assert!(decision.because.contains(says), "{name}: {}", decision.because);
        assert!(decision.because.chars().count() < 1_000, "{name}");
        // What it guards is the use of Bash, and nothing else.
        assert!(call(&session, name).is_ok_and(|again| again.status == SkillStatus::Unchanged), "{name}");
    }
}

/// An agent that waits until the test lets it end, whatever it is told.
#[derive(Debug)]
struct Deaf(Mutex<Receiver<()>>);

impl AgentRunner for Deaf {
    fn delivers_later(&self) -> bool {
        true
    }

    fn run(
        &self,
        _: &ForkRequest,
        _: &(dyn Fn(ForkProgress) + Sync),
        _: &CancelToken,
    ) -> Result<AgentOutput, AgentError> {
        // The sender is gone when the test failed, which ends it too.
        let _let_go = self.0.lock().expect("no test panics while it holds this").recv();
        Ok(AgentOutput::default())
    }
}

fn deaf() -> (Sender<()>, Arc<Deaf>) {
    let (let_go, waits) = channel();
    (let_go, Arc::new(Deaf(Mutex::new(waits))))
}

#[test]
fn agents_that_never_end_are_bounded_before_anything_of_the_next_one_runs() {
    let mut world = World::new();
    for number in 0..=MAX_FORKS {
        world = world.skill(&format!("f{number}"), "context: fork\n", "Look at !`note ran`.");
    }
    let (let_go, runner) = deaf();
    let (deliver, delivered) = channel();
    let options = SessionOptions::default().on_fork_end(move |end| deliver.send(end.fork).unwrap_or_default());
    let runtime = world.builder(&[]).agents(runner).open().expect("opens");
    let session = runtime.session(options);
    for number in 0..MAX_FORKS {
        let begun = call(&session, &format!("f{number}")).expect("there is a place");
        assert_eq!(begun.status, SkillStatus::Background);
    }
    let ran = world.ran().len();
    let last = format!("f{MAX_FORKS}");
    match call(&session, &last) {
        Err(error @ InvokeError::TooManyForks { error: TooManyForks::InSession, .. }) => {
            assert_eq!(error.code(), "too-many-forks");
        }
        other => unreachable!("{other:?}"),
    }
    assert_eq!((world.ran().len(), session.forks().len()), (ran, MAX_FORKS));
    // Another conversation has places of its own, and one that is told to end keeps its place until it does.
    let other = runtime.session(SessionOptions::default().on_fork_end(|_| {}));
    assert_eq!(call(&other, "f0").expect("there is a place").status, SkillStatus::Background);
    session.revoke("f0");
    assert_eq!(session.forks().len(), MAX_FORKS - 1);
    assert!(matches!(call(&session, &last), Err(InvokeError::TooManyForks { .. })));
    for _ in 0..=MAX_FORKS {
        let_go.send(()).expect("they wait");
    }
    for _ in 1..MAX_FORKS {
        delivered.recv().expect("all but the one that was revoked");
    }
    drop(let_go);
    assert_eq!(call(&session, &last).expect("there are places again").status, SkillStatus::Background);
}

#[test]
fn a_typed_line_that_fails_drops_nothing_that_was_there_before() {
    let world = World::new()
        .skill("guard", &hook("PreToolUse", "Bash", "deny no shell today"), "Guarded $ARGUMENTS.")
        .skill("narrow", "allowed-tools: Read\n", "Narrow $ARGUMENTS.")
        .skill("broken", "hooks: 3\n", "Never.");
    for first in ["guard", "narrow"] {
        let session = world.session(&[(Effect::Allow, "Bash(git:*)")]);
        let typed = |line: &str| session.call_typed(line, &SkillCall::new("", Invoker::User));
        let path = world.path("saves/conversation.json");
        let saved = || {
            session.save().expect("it can be written").write_ambient(&path).expect("written");
            std::fs::read_to_string(&path).expect("it is there")
        };
        assert_eq!(bash(&session, "git status").effect, Effect::Allow, "{first}: the control");
        typed(&format!("/{first} before")).expect("it can be called");
        assert_eq!(bash(&session, "git status").effect, Effect::Deny, "{first}");
        assert!(saved().contains(" before."), "{first}: {}", saved());
        assert!(typed(&format!("/{first} /broken after")).is_err());
        assert_eq!(bash(&session, "git status").effect, Effect::Deny, "{first} holds on");
        assert!(saved().contains(" before.") && !saved().contains(" after."), "{first}: {}", saved());
    }
}

#[test]
fn a_typed_line_calls_all_its_skills_or_none() {
    let world = World::new()
        .skill("narrow", "allowed-tools: Bash(git log:*)\n", "Narrow.")
        .skill("runs", "", "!`note 1`")
        .skill("plain", "", "Plain.");
    let session = world.session(&[(Effect::Allow, "Bash(git:*)")]);
    let typed = |line: &str| session.call_typed(line, &SkillCall::new("", Invoker::User));
    // The second is refused because of the first, which is not in use then either.
    assert!(matches!(typed("/narrow /runs x"), Err(InvokeError::Refused(_))));
    assert_eq!(bash(&session, "git status").effect, Effect::Allow);
    match typed("/narrow /plain x").expect("both can be called") {
        TypedResult::Skills(results) => assert!(results.iter().all(|result| result.status == SkillStatus::Inline)),
        other => unreachable!("{other:?}"),
    }
    assert_eq!(bash(&session, "git status").effect, Effect::Deny);
    assert_eq!(world.ran(), [""; 0]);
}
