//! Files that are touched: the skills of their directories, those that wait for them, and who is told.

use crate::fixture::{World, host, invoke};
use serde_json::json;
use skillgate_policy::{Effect, Invoker};
use skillgate_registry::{ListingOptions, State};
use skillgate_runtime::{
    DiscoverSkills, InvokeError, InvokeRequest, Session, SessionOptions, SkillsChange, ToolCall, TouchOutcome,
};
use std::sync::{Arc, Mutex};

const NOTE: &[(Effect, &str)] = &[(Effect::Allow, "Bash(note:*)")];

/// A project whose skill `s` is the root's, with skills in two directories below, two of them of one name, and one that waits.
fn world() -> World {
    let world = World::new("", "the root's");
    for (path, header, body) in [
        ("p/.claude/skills/rust/SKILL.md", "description: Mends Rust.\npaths: \"*.rs\"\n", "for Rust"),
        ("p/a/.claude/skills/s/SKILL.md", "description: In a.\n", "a's"),
        ("p/a/.claude/skills/only/SKILL.md", "description: Only in a.\n", "State: !`note a`"),
        ("p/a/b/.claude/skills/deep/SKILL.md", "description: Deep.\n", "deep"),
        ("p/a/.claude/skills/deep/SKILL.md", "description: Less deep.\n", "less deep"),
        ("p/a/.claude/skills/late/SKILL.md", "description: Waits in a.\npaths: \"*.py\"\n", "late"),
        ("p/ignored/.claude/skills/evil/SKILL.md", "description: Evil.\n", "evil"),
    ] {
        let path = world.path(path);
        std::fs::create_dir_all(path.parent().expect("below the tree")).expect("a directory");
        std::fs::write(path, format!("---\n{header}---\n{body}\n")).expect("a file");
    }
    std::fs::write(world.path("p/.gitignore"), "ignored/\n").expect("a file");
    world
}

fn open(world: &World) -> Arc<Session> {
    world.builder(host(NOTE)).open().expect("opens").session(SessionOptions::default())
}

fn said(outcome: &TouchOutcome) -> (Vec<&str>, Vec<&str>, bool) {
    (texts(&outcome.activated), texts(&outcome.nested), outcome.changed)
}

fn texts(names: &[String]) -> Vec<&str> {
    names.iter().map(String::as_str).collect()
}

fn offered(session: &Session) -> Vec<String> {
    session.catalogue().offered_to_model().map(|entry| entry.called().to_owned()).collect()
}

fn run(session: &Session, name: &str) -> Result<String, InvokeError> {
    invoke(session, &InvokeRequest::new(name, Invoker::User))
}

#[test]
fn a_file_brings_the_skills_of_its_directories_and_a_clash_keeps_both() {
    let world = world();
    let session = open(&world);
    assert_eq!(offered(&session), ["s"]);
    let outcome = session.touch(["a/b/x.txt"]);
    let nested = ["a/b:deep", "a:deep", "a:late", "a:only", "a:s"];
    assert_eq!(said(&outcome), (vec![], nested.to_vec(), true));
    assert_eq!(offered(&session), ["deep", "a:deep", "only", "s", "a:s"], "`late` waits");
    for (name, text) in
        [("s", "the root's"), ("a:s", "a's"), ("only", "State: [a]"), ("deep", "deep"), ("a:deep", "less deep")]
    {
        assert_eq!(run(&session, name).expect("it runs"), text, "{name}");
    }
    assert_eq!(session.touch(["a/b/x.txt", "a/y.txt"]), TouchOutcome::default(), "each directory is looked at once");
    assert_eq!(session.touch(["ignored/x.txt"]), TouchOutcome::default());
}

#[test]
fn a_file_activates_what_waits_for_it_for_the_rest_of_the_conversation() {
    let world = world();
    let runtime = world.builder(host(NOTE)).open().expect("opens");
    let (session, other) = (runtime.session(SessionOptions::default()), runtime.session(SessionOptions::default()));
    assert_eq!(run(&session, "rust").expect("a person may call it"), "for Rust");
    assert_eq!(said(&session.touch(["src/main.c"])), (vec![], vec![], false));
    assert_eq!(said(&session.touch(["src/main.rs", "src/other.rs"])), (vec!["project:rust"], vec![], true));
    assert_eq!(said(&session.touch(["src/main.rs"])), (vec![], vec![], false));
    assert_eq!(offered(&session), ["rust", "s"]);
    assert_eq!(offered(&other), ["s"], "another conversation has touched nothing");
    assert_eq!(session.recently_touched(), ["src/main.c", "src/main.rs", "src/other.rs", "src/main.rs"]);
    // One that is nested waits as well, until its own file comes.
    assert_eq!(session.touch(["a/x.txt"]).nested.len(), 4);
    assert_eq!(said(&session.touch(["a/x.py"])), (vec!["a:late"], vec![], true));
}

#[test]
fn the_listing_and_searches_follow() {
    let world = world();
    let session = open(&world);
    let query = DiscoverSkills { description: "mends Rust".to_owned(), limit: None };
    let found = |session: &Session| -> Vec<String> {
        session.discover_skills(&query).results.into_iter().map(|found| found.name).collect()
    };
    let listing = |session: &Session| session.listing(&ListingOptions::default()).text;
    assert_eq!((found(&session).len(), listing(&session).contains("rust")), (0, false));
    session.touch(["x.rs", "a/x.txt"]);
    assert_eq!(found(&session), ["rust"]);
    assert!(listing(&session).contains("- rust: Mends Rust.\n"), "{}", listing(&session));
    assert!(listing(&session).contains("- a:s: In a.\n"), "{}", listing(&session));
    let of_a = DiscoverSkills { description: "Only in a".to_owned(), limit: None };
    assert_eq!(session.discover_skills(&of_a).results[0].name, "only");
}

#[test]
fn subscribers_are_told_once_for_each_touch_and_one_that_panics_stops_no_other() {
    let world = world();
    let session = open(&world);
    let told: Arc<Mutex<Vec<Vec<String>>>> = Arc::default();
    let keep = |told: &Arc<Mutex<Vec<Vec<String>>>>| {
        let told = Arc::clone(told);
        move |change: &SkillsChange| match change {
            SkillsChange::Touched(outcome) => {
                told.lock().expect("nobody panics with it").push(outcome.activated.clone());
            }
            other => unreachable!("nothing was loaded again: {other:?}"),
        }
    };
    session.subscribe(|_| unreachable!("a subscriber that fails"));
    let first = session.subscribe(keep(&told));
    session.touch(["x.c"]);
    assert_eq!(told.lock().expect("nobody panics with it").len(), 0, "nothing changed");
    session.touch(["x.rs", "a/x.py"]);
    assert_eq!(*told.lock().expect("nobody panics with it"), [["project:rust", "a:late"]]);
    assert!(session.unsubscribe(first));
    assert!(!session.unsubscribe(first));
    session.touch(["a/b/x.txt"]);
    assert_eq!(told.lock().expect("nobody panics with it").len(), 1);
}

#[test]
fn a_subscriber_may_call_the_session() {
    let world = world();
    let session = open(&world);
    let weak = Arc::downgrade(&session);
    session.subscribe(move |_| {
        if let Some(session) = weak.upgrade() {
            session.touch(["a/b/x.txt"]);
        }
    });
    session.touch(["x.rs"]);
    assert!(session.catalogue().qualified("a/b:deep").is_some());
}

#[test]
fn an_untrusted_project_offers_nothing_more() {
    let world = world();
    let builder = world.builder(host(NOTE)).trust_project(false);
    let session = builder.open().expect("opens").session(SessionOptions::default());
    let outcome = session.touch(["a/b/x.rs"]);
    assert_eq!((outcome.activated.len(), outcome.nested.len(), outcome.changed), (0, 5, false));
    assert_eq!(offered(&session), Vec::<String>::new());
    let catalogue = session.catalogue();
    assert!(catalogue.entries().iter().all(|entry| *entry.state() == State::Untrusted));
    assert!(matches!(run(&session, "only"), Err(InvokeError::Untrusted { .. })));
}

#[test]
fn what_was_touched_is_there_again_after_a_restore() {
    let world = world();
    let runtime = world.builder(host(NOTE)).open().expect("opens");
    let session = runtime.session(SessionOptions::default());
    session.touch(["a/b/x.rs", "a/x.py"]);
    let save = session.save().expect("it is saved");
    let again = runtime.session(SessionOptions::default());
    again.restore(&save);
    assert_eq!(again.recently_touched(), ["a/b/x.rs", "a/x.py"]);
    assert_eq!(offered(&again), offered(&session));
    assert_eq!(run(&again, "only").expect("it runs"), "State: [a]");
}

#[test]
fn complaint_48_a_file_that_is_reached_through_a_link_counts() {
    let world = world();
    std::os::unix::fs::symlink(world.path("p"), world.path("linked")).expect("a link");
    let session = open(&world);
    let outcome = session.touch([world.path("linked/a/x.rs")]);
    assert_eq!(outcome.activated, ["project:rust"]);
    assert!(outcome.nested.iter().any(|name| name == "a:only"), "{outcome:?}");
    assert_eq!(session.recently_touched(), ["a/x.rs"]);
}

#[test]
fn what_the_users_configuration_of_git_ignores_brings_nothing() {
    let world = world();
    std::fs::create_dir_all(world.path("xdg/git")).expect("a directory");
    std::fs::write(world.path("xdg/git/config"), format!("[core]\nexcludesFile = {}\n", world.path("mine").display()))
        .expect("a file");
    std::fs::write(world.path("mine"), "/a/b/\n").expect("a file");
    let runtime = world.builder(host(NOTE)).user_config(world.path("xdg")).open().expect("opens");
    let outcome = runtime.session(SessionOptions::default()).touch(["a/b/x.txt"]);
    assert_eq!(texts(&outcome.nested), ["a:deep", "a:late", "a:only", "a:s"], "and not those of `a/b`");
}

#[test]
fn of_two_nested_skills_the_deeper_has_the_name_in_whatever_order_they_come() {
    let world = world();
    let session = open(&world);
    session.touch(["a/x.txt"]);
    assert_eq!(run(&session, "deep").expect("it runs"), "less deep");
    session.touch(["a/b/x.txt"]);
    assert_eq!(run(&session, "deep").expect("it runs"), "deep");
    assert_eq!(run(&session, "a:deep").expect("it runs"), "less deep");
    assert_eq!(offered(&session), ["deep", "a:deep", "only", "s", "a:s"]);
}

#[test]
fn what_one_conversation_activates_copies_no_skill() {
    let world = world();
    let runtime = world.builder(host(NOTE)).open().expect("opens");
    let (session, other) = (runtime.session(SessionOptions::default()), runtime.session(SessionOptions::default()));
    session.touch(["x.rs"]);
    let (one, two) = (session.catalogue(), other.catalogue());
    for (one, two) in one.entries().iter().zip(two.entries()) {
        assert!(Arc::ptr_eq(one.skill(), two.skill()));
        assert_eq!(Arc::ptr_eq(one, two), one.qualified_name() != "project:rust");
    }
}

#[test]
fn row_48_whatever_tool_touches_a_file_activates_what_waits_for_it() {
    let world = world();
    let runtime = world.builder(host(NOTE)).open().expect("opens");
    for (tool, input, activates) in [
        ("Bash", json!({"command": "cat src/a.rs"}), true),
        ("Bash", json!({"command": "cd src && wc -l < a.rs | sort"}), true),
        ("Bash", json!({"command": "rustfmt --config-path=x/y.rs $OTHER"}), true),
        ("Bash", json!({"command": "echo done > out/z.rs"}), true),
        ("Bash", json!({"command": "cat src/a.c; git log -- rs"}), false),
        ("Bash", json!({"command": "curl https://example.org/a.rs"}), false),
        ("Bash", json!({"command": "cat 'src/a.rs"}), false),
        ("Bash", json!({}), false),
        ("Grep", json!({"pattern": "x", "path": "src/a.rs"}), true),
        ("Read", json!({"file_path": "src/a.rs"}), true),
        ("NotebookEdit", json!({"notebook_path": "src/a.rs"}), true),
        ("Read", json!({"file_path": "/elsewhere/a.rs"}), false),
    ] {
        let session = runtime.session(SessionOptions::default());
        let outcome = session.touch(session.touched_by(&ToolCall::new(tool, input.clone())));
        assert_eq!(outcome.activated.len() == 1, activates, "{tool} {input}");
    }
}
