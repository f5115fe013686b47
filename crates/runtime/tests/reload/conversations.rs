//! What an open conversation sees.

use crate::world::{World, bash, call, hook, prompt};
use crate::{again, nothing, offered, parts, reloaded, these};
use skillgate_policy::{Effect, Invoker};
use skillgate_registry::{ListingOptions, State};
use skillgate_runtime::{DiscoverSkills, InvokeError, Session, SessionOptions, SkillCall, SkillStatus, SkillsChange};
use std::sync::{Arc, Mutex};

fn remove(world: &World, name: &str) {
    std::fs::remove_dir_all(world.path("p/.claude/skills").join(name)).expect("it is there");
}

/// What the conversation was told, as lines.
fn told(session: &Session) -> Arc<Mutex<Vec<String>>> {
    let lines: Arc<Mutex<Vec<String>>> = Arc::default();
    let keep = Arc::clone(&lines);
    session.subscribe(move |change| {
        let line = match change {
            SkillsChange::Reloaded(reloaded) => {
                let marks: Vec<&str> = reloaded.taken_back.iter().map(|taken| taken.mark.as_str()).collect();
                format!("{} {}", parts(&reloaded.changes).concat().join(" "), marks.join(" "))
            }
            other => format!("{other:?}"),
        };
        keep.lock().expect("no test panics while it holds this").push(line.trim_end().to_owned());
    });
    lines
}

#[test]
fn row_76_a_skill_that_comes_changes_and_goes_is_seen_from_the_next_call_on() {
    let world = World::new().skill("a", "", "First.");
    let runtime = world.builder(&[]).open().expect("opens");
    let (session, other) = (runtime.session(SessionOptions::default()), runtime.session(SessionOptions::default()));
    let lines = told(&session);
    assert!(matches!(call(&session, "b"), Err(InvokeError::Unknown { .. })));
    world.write_skill("b", "", "Second.");
    assert_eq!(reloaded(&runtime), [these(["project:b"]), nothing(), nothing(), nothing()]);
    for session in [&session, &other] {
        assert_eq!(prompt(&call(session, "b").expect("it came")), "Second.");
        assert!(session.listing(&ListingOptions::default()).text.contains("- b: About b."));
        let query = DiscoverSkills { description: "about b".to_owned(), limit: None };
        assert_eq!(session.discover_skills(&query).results[0].name, "b");
    }
    // Another text behind the same header, and of the same length.
    world.write_skill("b", "", "Sekond.");
    assert_eq!(reloaded(&runtime), [nothing(), these(["project:b"]), nothing(), nothing()]);
    assert_eq!(prompt(&call(&session, "b").expect("it is another text")), "Sekond.");
    world.write_skill("b", "when_to_use: Never.\n", "Third.");
    assert_eq!(reloaded(&runtime), [nothing(), these(["project:b"]), nothing(), nothing()]);
    assert_eq!(prompt(&call(&session, "b").expect("it is another header")), "Third.");
    remove(&world, "b");
    assert_eq!(reloaded(&runtime), [nothing(), nothing(), these(["project:b"]), nothing()]);
    for session in [&session, &other] {
        match call(session, "b") {
            Err(error @ InvokeError::Unknown { .. }) => assert_eq!(error.number(), Some(1)),
            other => unreachable!("{other:?}"),
        }
        assert_eq!(offered(session), ["a"]);
        assert!(!session.listing(&ListingOptions::default()).text.contains("- b:"));
    }
    let gone =
        "project:b [The skill `b` cannot be used any more (it is not there any more); its instructions do not apply.]";
    let lines = lines.lock().expect("no test panics while it holds this");
    assert_eq!(*lines, ["project:b", "project:b", "project:b", gone]);
    assert_eq!(call(&session, "a").expect("nobody touched it").status, SkillStatus::Inline);
}

#[test]
fn a_skill_that_went_takes_its_hooks_along_and_what_it_took_away_stays_until_the_turn_ends() {
    let header = format!("allowed-tools: Bash(git:*)\nmodel: small\n{}", hook("PreToolUse", "Bash", "deny no"));
    let world = World::new().skill("guard", &header.replace("Bash(git:*)", "Bash(git:*), Bash(deny:*)"), "x");
    let runtime = world.builder(&[(Effect::Allow, "Bash(git:*)"), (Effect::Allow, "Bash(npm:*)")]).open();
    let runtime = runtime.expect("opens");
    let session = runtime.session(SessionOptions::default());
    let called = call(&session, "guard").expect("its hook can run");
    assert_eq!(called.permissions.model.as_deref(), Some("small"));
    assert_eq!(bash(&session, "git log").effect, Effect::Deny, "its hook says so");
    assert_eq!(world.ran(), ["deny no"]);
    remove(&world, "guard");
    again(&runtime);
    assert_eq!(bash(&session, "git log").effect, Effect::Allow);
    assert_eq!(bash(&session, "npm test").effect, Effect::Deny, "the turn goes on");
    assert_eq!(world.ran(), ["deny no"], "its hook ran before it went, and not again");
    let save = session.save().expect("it is saved");
    assert!(save.value()["scopes"].to_string().contains("\"model\":null"), "{}", save.value()["scopes"]);
    let _no_hooks = session.user_message("go on");
    assert_eq!(bash(&session, "npm test").effect, Effect::Allow);
    let compacted = session.compact(&skillgate_runtime::AgentId::MAIN, Default::default(), &ListingOptions::default());
    assert!(compacted.expect("no hook holds it").text.contains("`guard` cannot be used any more"));
    // When it is there again, it has to be called again.
    world.write_skill("guard", &header, "x");
    again(&runtime);
    assert_eq!(bash(&session, "git log").effect, Effect::Allow);
}

#[test]
fn a_list_that_changed_narrows_at_the_next_call_and_gives_nothing_back() {
    let world = World::new().skill("s", "allowed-tools: Bash(git:*)\n", "x").skill("log", "", "!`note 1`");
    let runtime = world.builder(&[(Effect::Allow, "Bash(git:*)"), (Effect::Allow, "Bash(npm:*)")]).open();
    let runtime = runtime.expect("opens");
    let session = runtime.session(SessionOptions::default());
    call(&session, "s").expect("it takes something away");
    let decided = |lines: [&str; 3]| lines.map(|line| bash(&session, line).effect);
    let lines = ["git log", "git push", "npm test"];
    assert_eq!(decided(lines), [Effect::Allow, Effect::Allow, Effect::Deny]);
    world.write_skill("s", "allowed-tools: Bash(git log:*), Bash(npm:*)\n", "x");
    again(&runtime);
    assert_eq!(decided(lines), [Effect::Allow, Effect::Allow, Effect::Deny], "it was not called yet");
    call(&session, "s").expect("it is decided on anew");
    assert_eq!(decided(lines), [Effect::Allow, Effect::Deny, Effect::Deny], "an edit gives nothing back");
    let _no_hooks = session.user_message("go on");
    call(&session, "s").expect("it is decided on anew");
    assert_eq!(decided(lines), [Effect::Allow, Effect::Deny, Effect::Allow]);
}

#[test]
fn what_was_activated_and_found_inside_the_project_stays_as_far_as_it_is_there() {
    let world =
        World::new().skill("rust", "paths: \"*.rs\"\n", "for Rust").skill("py", "paths: \"*.py\"\n", "for Python");
    let nested = |name: &str, body: &str| {
        let directory = world.path("p/a/.claude/skills").join(name);
        std::fs::create_dir_all(&directory).expect("a directory");
        let text = format!("---\ndescription: About {name}.\n---\n{body}\n");
        std::fs::write(directory.join("SKILL.md"), text).expect("a file");
    };
    nested("in-a", "one");
    let runtime = world.builder(&[]).open().expect("opens");
    let (session, other) = (runtime.session(SessionOptions::default()), runtime.session(SessionOptions::default()));
    session.touch(["x.rs", "a/x.txt", "b/x.txt"]);
    assert_eq!(offered(&session), ["in-a", "rust"]);
    let lines = told(&session);
    nested("in-a", "two");
    nested("more", "new");
    world.write_skill("rust", "paths: \"*.rs\"\nwhen_to_use: Often.\n", "for Rust");
    assert_eq!(reloaded(&runtime), [nothing(), these(["project:rust"]), nothing(), nothing()]);
    assert_eq!(offered(&session), ["in-a", "more", "rust"], "what is active stays active");
    assert_eq!(prompt(&call(&session, "in-a").expect("it is there")), "two");
    assert_eq!(offered(&other), [""; 0], "another conversation has touched nothing");
    // One that waits still does, and a directory that was looked at may hold skills by now.
    let directory = world.path("p/b/.claude/skills/in-b");
    std::fs::create_dir_all(&directory).expect("a directory");
    std::fs::write(directory.join("SKILL.md"), "---\ndescription: B.\n---\nx\n").expect("a file");
    again(&runtime);
    let outcome = session.touch(["b/x.txt", "b/x.py"]);
    assert_eq!((outcome.nested, outcome.activated), (these(["b:in-b"]), these(["project:py"])));
    std::fs::remove_dir_all(world.path("p/a/.claude")).expect("it is there");
    again(&runtime);
    assert_eq!(offered(&session), ["in-b", "py", "rust"]);
    assert!(matches!(call(&session, "in-a"), Err(InvokeError::Unknown { .. })));
    let lines = lines.lock().expect("no test panics while it holds this");
    assert_eq!(lines[0], "a:more a:in-a project:rust");
    assert!(lines.last().is_some_and(|line| line.starts_with("a:in-a a:more [The skill `a:in-a` cannot")), "{lines:?}");
}

#[test]
fn a_state_follows_what_became_of_others() {
    let world = World::new().skill("x", "", "The project's.").skill("needs", "requires: {skills: [late]}\n", "x");
    let home = world.path("home/.claude/skills/x");
    std::fs::create_dir_all(&home).expect("a directory");
    std::fs::write(home.join("SKILL.md"), "---\ndescription: About x.\n---\nThe user's.\n").expect("a file");
    let runtime = world.builder(&[]).home(world.path("home")).open().expect("opens");
    let session = runtime.session(SessionOptions::default());
    let state = |name: &str| session.catalogue().qualified(name).expect("it is there").state().as_str();
    assert_eq!((state("user:x"), state("project:needs")), ("shadowed", "unavailable"));
    world.write_skill("late", "", "x");
    remove(&world, "x");
    let expected = [these(["project:late"]), nothing(), these(["project:x"]), these(["project:needs", "user:x"])];
    assert_eq!(reloaded(&runtime), expected);
    assert_eq!((state("user:x"), state("project:needs")), ("active", "active"));
    assert_eq!(prompt(&call(&session, "x").expect("the name leads to it")), "The user's.");
    call(&session, "needs").expect("all is there");
    // What it needs goes: it is taken back as well.
    let lines = told(&session);
    remove(&world, "late");
    assert_eq!(reloaded(&runtime), [nothing(), nothing(), these(["project:late"]), these(["project:needs"])]);
    assert!(matches!(call(&session, "needs"), Err(InvokeError::Unavailable { .. })));
    let lines = lines.lock().expect("no test panics while it holds this");
    assert!(lines[0].contains("The skill `needs` cannot be used any more"), "{lines:?}");
}

#[test]
fn an_untrusted_project_stays_untrusted() {
    let world = World::new();
    let runtime = world.builder(&[]).trust_project(false).open().expect("opens");
    let session = runtime.session(SessionOptions::default());
    world.write_skill("evil", "", "x");
    assert_eq!(reloaded(&runtime)[0], ["project:evil"]);
    assert_eq!(*session.catalogue().qualified("project:evil").expect("it is listed").state(), State::Untrusted);
    assert_eq!(offered(&session), [""; 0]);
    let typed = session.call_skill(&SkillCall::new("evil", Invoker::User));
    assert!(matches!(typed, Err(InvokeError::Untrusted { .. })));
}

#[test]
fn a_thousand_reloads_of_the_same_skills_keep_nothing() {
    let world = World::new().skill("a", &hook("PreToolUse", "Bash", "deny no"), "x").skill("b", "paths: src/**\n", "x");
    let store = skillgate_state::OwnerDir::open_ambient(world.path("store")).expect("it is ours");
    let headers = skillgate_loader::HeaderIndex::open(store).expect("it is new");
    let runtime = world.builder(&[]).header_index(headers).open().expect("opens");
    let session = runtime.session(SessionOptions::default());
    call(&session, "a").expect("its hook can run");
    session.touch(["src/x.rs"]);
    again(&runtime);
    let lines = told(&session);
    runtime.subscribe(|reloaded| unreachable!("nothing changed: {reloaded:?}"));
    let open_files = || {
        let below = world.path("").canonicalize().expect("it is there");
        let files = std::fs::read_dir("/proc/self/fd").expect("the system says");
        let targets = files.filter_map(|file| std::fs::read_link(file.ok()?.path()).ok());
        targets.filter(|target| target.starts_with(&below)).count()
    };
    let catalogue = session.catalogue();
    let before = (open_files(), Arc::strong_count(&catalogue), Arc::strong_count(&runtime), runtime.sessions());
    for _ in 0..1_000 {
        drop(runtime.session(SessionOptions::default()));
        assert!(again(&runtime).is_empty());
    }
    let after = (open_files(), Arc::strong_count(&catalogue), Arc::strong_count(&runtime), runtime.sessions());
    assert_eq!(before, after);
    assert!(Arc::ptr_eq(&catalogue, &session.catalogue()), "nothing was made anew");
    assert_eq!(lines.lock().expect("no test panics while it holds this").len(), 0);
    assert_eq!(bash(&session, "git log").effect, Effect::Deny, "its hook is there, once");
    assert_eq!(world.ran(), ["deny no"]);
    // A change lets go of what was before.
    let old = Arc::downgrade(&catalogue);
    drop(catalogue);
    world.write_skill("c", "", "x");
    again(&runtime);
    assert!(old.upgrade().is_none());
}

#[test]
fn what_did_not_change_is_the_same_in_memory() {
    let world = World::new().skill("a", "", "x").skill("b", "", "x");
    let runtime = world.builder(&[]).open().expect("opens");
    let session = runtime.session(SessionOptions::default());
    let skill = |name: &str| Arc::clone(session.catalogue().qualified(name).expect("it is there").skill());
    let (a, b) = (skill("project:a"), skill("project:b"));
    world.write_skill("b", "when_to_use: Now.\n", "x");
    again(&runtime);
    assert!(Arc::ptr_eq(&a, &skill("project:a")));
    assert!(!Arc::ptr_eq(&b, &skill("project:b")));
}

/// The calls for programs on tokio do the same, each on a thread that may block.
#[tokio::test]
async fn a_conversation_of_a_program_on_tokio_sees_the_same() {
    let world = World::new().skill("rust", "paths: \"*.rs\"\n", "for Rust");
    let runtime = world.builder(&[]).open().expect("opens");
    let session = skillgate_runtime::AsyncSession::from(runtime.session(SessionOptions::default()));
    world.write_skill("notes", "", "Takes notes.");
    let found = session.reload().await.expect("no source says that something is missing");
    assert_eq!(found.changes.added, ["project:notes"]);
    assert_eq!(session.touch(vec!["x.rs".into()]).await.activated, ["project:rust"]);
    let source = skillgate_runtime::PrefetchSource::BetweenTurns;
    let prefetched = session.prefetch(source, Some("about notes".to_owned()), None, true).await;
    assert_eq!(prefetched.loaded.iter().map(prompt).collect::<Vec<_>>(), ["Takes notes."]);
}
