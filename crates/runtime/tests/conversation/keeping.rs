use crate::world::{World, bash, call, hook, prompt};
use skillgate_policy::{Effect, Invoker};
use skillgate_registry::ListingOptions;
use skillgate_runtime::{
    AgentId, AsyncSession, CompactBudget, CompactOutcome, InvokeError, InvokeRequest, Save, SaveError, SessionOptions,
    SkillCall, SkillStatus,
};
use std::sync::Arc;

/// Complaints 83 to 85: what was loaded is there after a compaction or named, the listing too, and nothing runs again.
#[test]
fn rows_83_to_85_a_compaction_keeps_names_and_runs_nothing() {
    let world = World::new()
        .skill("long", "", &"word ".repeat(12_000))
        .skill("deploy", "", "Deploy $0 with !`note $0`.")
        .skill("gone", "", "Gone.");
    let session = world.session(&[]);
    call(&session, "long").expect("it is allowed");
    call(&session, "gone").expect("it is allowed");
    session.call_skill(&SkillCall::new("deploy", Invoker::User).args("prod")).expect("it is allowed");
    session.unload(&AgentId::MAIN, "gone");
    let compacted =
        session.compact(&AgentId::MAIN, CompactBudget::default(), &ListingOptions::default()).expect("no hook says no");
    let outcomes: Vec<_> = compacted.skills.iter().map(|skill| (skill.skill.as_str(), skill.outcome)).collect();
    assert_eq!(
        outcomes,
        [
            ("project:deploy", CompactOutcome::Whole),
            ("project:long", CompactOutcome::Cut),
            ("project:gone", CompactOutcome::Unloaded)
        ]
    );
    assert!(compacted.text.contains("used up: \"prod\"") && compacted.listing.contains("- deploy: "));
    assert_eq!(world.ran(), ["note prod"]);
    // Not all of it is in the conversation any more, so a call gives it again; what is whole is not said twice.
    assert_eq!(call(&session, "long").expect("it is allowed").status, SkillStatus::Inline);
    let again = SkillCall::new("deploy", Invoker::User).args("prod");
    assert_eq!(session.call_skill(&again).expect("it is allowed").status, SkillStatus::Unchanged);
}

#[test]
fn a_hook_holds_a_compaction_back() {
    let world = World::new().skill("hold", &hook("PreCompact", "", "deny not now"), "x");
    let session = world.session(&[]);
    call(&session, "hold").expect("its hook can run");
    let held = session.compact(&AgentId::MAIN, CompactBudget::default(), &ListingOptions::default());
    assert!(held.expect_err("it is held").reason.contains("not now"));
}

#[test]
fn a_conversation_comes_back_with_its_texts_its_narrowing_and_its_hooks() {
    let world = World::new().skill("narrow", "allowed-tools: Bash(git log:*)\n", "Narrow.").skill(
        "guard",
        &hook("PreToolUse", "Bash", "deny guarded"),
        "x",
    );
    let rules = [(Effect::Allow, "Bash(git:*)")];
    let session = world.session(&rules);
    call(&session, "narrow").expect("it is allowed");
    let path = world.path("saves/conversation.json");
    session.save().expect("it can be written").write_ambient(&path).expect("written");
    let later = world.session(&rules);
    let save = Save::read_ambient(&path).expect("read").expect("it is there");
    let report = later.restore(&save);
    assert_eq!((report.restored.len(), report.refused.len(), report.session_id.as_deref()), (1, 0, Some("c1")));
    assert_eq!((bash(&later, "git status").effect, bash(&later, "git log").effect), (Effect::Deny, Effect::Allow));
    assert_eq!(call(&later, "narrow").expect("it is allowed").status, SkillStatus::Unchanged);
    // A host that grants less now gives less, whatever was saved.
    let poorer = world.session(&[(Effect::Deny, "Bash(git:*)")]);
    poorer.restore(&save);
    assert_eq!(bash(&poorer, "git log").effect, Effect::Deny);

    let session = world.session(&rules);
    call(&session, "guard").expect("its hook can run");
    let save = session.save().expect("it can be written");
    let later = world.session(&rules);
    later.restore(&save);
    let guarded = bash(&later, "git log");
    assert!(guarded.effect == Effect::Deny && guarded.because.contains("guarded"), "{}", guarded.because);
    // What it said was one thing, and its hooks cannot run now: it is not loaded, and that is said.
    world.write_skill("guard", &hook("PreToolUse", "Bash", "nosuchprogram"), "x");
    let later = world.session(&rules);
    let report = later.restore(&save);
    assert_eq!((report.restored.len(), report.refused.len()), (0, 1), "{report:?}");
    assert!(report.refused[0].because.contains("nosuchprogram"), "{report:?}");
    std::fs::remove_dir_all(world.path("p/.claude/skills/guard")).expect("it was there");
    let later = world.session(&rules);
    assert!(later.restore(&save).refused[0].because.contains("not there any more"));
}

/// A save is anybody's word: it neither agrees to a skill nor takes a guard away.
#[test]
fn two_skills_of_one_name_are_kept_apart() {
    let world = World::new().skill("review", "", "The project's.");
    let nested = world.path("p/web/.claude/skills/review");
    std::fs::create_dir_all(&nested).expect("a directory");
    let text = "---\ndescription: Reviews.\nallowed-tools: Bash(git log:*)\n---\nThe part's.\n";
    std::fs::write(nested.join("SKILL.md"), text).expect("a file");
    let session = world.session(&[(Effect::Allow, "Bash(git:*)")]);
    session.touch(["web/index.html"]);
    for (name, text) in [("review", "The project's."), ("web:review", "The part's.")] {
        assert_eq!(prompt(&call(&session, name).expect("it is allowed")), text, "{name}");
    }
    let save = session.save().expect("it can be written");
    // What one takes away goes with it, and the other stays.
    assert_eq!(bash(&session, "git status").effect, Effect::Deny);
    let marks = session.revoke("web:review");
    assert!(marks.len() == 1 && marks[0].1.contains("web:review"), "{marks:?}");
    assert_eq!(bash(&session, "git status").effect, Effect::Allow);
    assert_eq!(call(&session, "review").expect("it is allowed").status, SkillStatus::Unchanged);
    assert_eq!(call(&session, "web:review").expect("it is allowed").status, SkillStatus::Inline);

    let later = world.session(&[(Effect::Allow, "Bash(git:*)")]);
    let report = later.restore(&save);
    assert_eq!((report.restored.len(), &report.refused[..]), (2, &[][..]));
    assert_eq!(bash(&later, "git status").effect, Effect::Deny);
    for name in ["review", "web:review"] {
        assert_eq!(call(&later, name).expect("it is allowed").status, SkillStatus::Unchanged, "{name}");
    }
}

#[test]
fn a_save_agrees_to_nothing_and_silences_no_guard() {
    let guard = hook("PreToolUse", "Bash", "deny guarded");
    let world = World::new().skill(
        "guard",
        &guard.replace("          command", "          once: true\n          command"),
        "x",
    );
    let rules = [(Effect::Allow, "Bash(git:*)")];
    let session = world.session(&rules);
    call(&session, "guard").expect("its hook can run");
    assert_eq!(bash(&session, "git log").effect, Effect::Deny);
    assert_eq!(bash(&session, "git log").effect, Effect::Allow, "it had its success");
    let save = session.save().expect("it can be written");
    // The same handler, that is not for once: that the save calls it used up changes nothing.
    world.write_skill("guard", &guard, "x");
    let later = world.session(&rules);
    later.restore(&save);
    assert_eq!(bash(&later, "git log").effect, Effect::Deny);
    let asking = world.session(&[(Effect::Allow, "Bash(git:*)"), (Effect::Ask, "Skill(guard)")]);
    let report = asking.restore(&save);
    assert!(report.refused[0].because.contains("needs an agreement"), "{report:?}");
    let ran = world.ran().len();
    assert_eq!(bash(&asking, "git log").effect, Effect::Allow);
    assert_eq!(world.ran().len(), ran, "nobody agreed to its hook");
}

#[test]
fn a_save_that_was_cut_changed_or_is_of_the_future_is_an_error() {
    let world = World::new().skill("a", "", "x");
    let session = world.session(&[]);
    call(&session, "a").expect("it is allowed");
    let bytes = session.save().expect("it can be written").to_bytes().expect("it fits");
    let text = String::from_utf8(bytes.clone()).expect("JSON");
    assert!(Save::parse(&bytes).is_ok());
    assert!(Save::parse(&bytes[..bytes.len() / 2]).is_err());
    let changed = text.replace("\"at_ms\":7", "\"at_ms\":8");
    assert_ne!(changed, text);
    assert!(matches!(Save::parse(changed.as_bytes()), Err(SaveError::Changed { .. })));
    let future = text.replace("\"version\":1", "\"version\":99");
    assert_ne!(future, text);
    let error = Save::parse(future.as_bytes()).expect_err("nobody reads that");
    assert!(error.to_string().contains("99"), "{error}");
}

#[test]
fn a_revocation_ends_what_runs_and_refuses_what_was_decided() {
    let world = World::new().skill("slow", "", "!`linger`").skill("quick", "", "!`note 1`");
    let session = world.session(&[]);
    let plan = session.prepare(&InvokeRequest::new("quick", Invoker::User)).expect("it is allowed");
    session.revoke("quick");
    assert!(matches!(session.run(plan), Err(InvokeError::Revoked { .. })));
    assert_eq!(prompt(&call(&session, "quick").expect("a new call is decided anew")), "[1]");
    let waiting = world.when_waiting();
    let inside = Arc::clone(&session);
    let runs = std::thread::spawn(move || call(&inside, "slow"));
    waiting.recv().expect("it runs");
    session.revoke("slow");
    let ended = runs.join().expect("it does not panic");
    assert!(matches!(ended, Err(InvokeError::Run { .. })), "{ended:?}");
}

#[tokio::test]
async fn dropping_the_future_of_a_call_ends_its_commands() {
    let world = World::new().skill("slow", "", "!`linger`").skill("quick", "", "Quick.");
    let session = AsyncSession::from(world.session(&[]));
    let waiting = world.when_waiting();
    let call = session.call_skill(SkillCall::new("slow", Invoker::Model));
    let begun = tokio::task::spawn_blocking(move || waiting.recv().expect("it runs"));
    tokio::select! {
        biased;
        ended = call => unreachable!("{ended:?}"),
        begun = begun => begun.expect("it does not panic"),
    }
    // The thread that ran it is free for the next one only when the command has ended: one thread is all there is here.
    let quick = session.call_skill(SkillCall::new("quick", Invoker::Model)).await.expect("it is allowed");
    assert_eq!(quick.status, SkillStatus::Inline);
    while Arc::strong_count(session.session()) > 1 {
        tokio::task::yield_now().await;
    }
}

#[test]
fn a_hundred_conversations_share_one_catalogue() {
    let world = World::new().skill("a", "", "x");
    let runtime = world.builder(&[]).open().expect("opens");
    let sessions: Vec<_> = (0..100).map(|_| runtime.session(SessionOptions::default())).collect();
    assert!(sessions.iter().all(|session| Arc::ptr_eq(&session.catalogue(), &sessions[0].catalogue())));
}
