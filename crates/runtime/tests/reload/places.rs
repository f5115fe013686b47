//! Places that come, go, move, or cannot be read.

use crate::world::{World, call, prompt};
use crate::{again, nothing, offered, reloaded, these};
use skillgate_runtime::{InvokeError, Runtime, SessionOptions};
use skillgate_state::{FolderId, TrustRecord};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

fn write(world: &World, path: &str, text: &str) {
    let path = world.path(path);
    std::fs::create_dir_all(path.parent().expect("below the tree")).expect("a directory");
    std::fs::write(path, text).expect("a file");
}

fn record_of(root: &Path) -> TrustRecord {
    TrustRecord { identity: FolderId::of_ambient(root).expect("it is there"), skills: Vec::new() }
}

fn messages(runtime: &Runtime) -> Vec<String> {
    again(runtime).diagnostics.into_iter().map(|found| found.diagnostic.message).collect()
}

#[test]
fn a_directory_of_skills_that_was_not_there_is_taken_in() {
    let world = World::new();
    std::fs::create_dir_all(world.path("more")).expect("a directory");
    let runtime = world.builder(&[]).home(world.path("home")).additional(world.path("more")).open().expect("opens");
    let session = runtime.session(SessionOptions::default());
    assert_eq!(offered(&session), [""; 0]);
    let text = "---\ndescription: Comes.\n---\nHere.\n";
    write(&world, "home/.claude/skills/u/SKILL.md", text);
    write(&world, "more/.agents/skills/m/SKILL.md", text);
    write(&world, "p/.claude/commands/c.md", text);
    assert_eq!(reloaded(&runtime)[0], ["additional:m", "project:c", "user:u"]);
    for name in ["u", "m", "c"] {
        assert_eq!(prompt(&call(&session, name).expect(name)).trim(), "Here.", "{name}");
    }
    // The directory goes and comes back: it is another one then.
    std::fs::rename(world.path("home/.claude"), world.path("home/elsewhere")).expect("it is there");
    assert_eq!(reloaded(&runtime)[2], ["user:u"]);
    write(&world, "home/.claude/skills/u/SKILL.md", "---\ndescription: Comes.\n---\nAnother.\n");
    assert_eq!(reloaded(&runtime)[0], ["user:u"]);
    assert_eq!(prompt(&call(&session, "u").expect("it is there again")), "Another.");
}

#[test]
fn a_plugin_that_comes_is_asked_about_and_trust_that_is_taken_back_is_gone() {
    let world = World::new();
    let trusted = Arc::new(AtomicBool::new(true));
    let says = Arc::clone(&trusted);
    let runtime = world
        .builder(&[])
        .home(world.path("home"))
        .trust_plugins_by(move |root| says.load(Ordering::Relaxed).then(|| record_of(root)))
        .open()
        .expect("opens");
    let session = runtime.session(SessionOptions::default());
    write(&world, "home/.claude/plugins/tools/.claude-plugin/plugin.json", "{\"name\": \"tools\"}");
    write(&world, "home/.claude/plugins/tools/skills/x/SKILL.md", "---\ndescription: X.\n---\nOf the plugin.\n");
    assert_eq!(reloaded(&runtime), [these(["tools:x"]), nothing(), nothing(), nothing()]);
    assert_eq!(prompt(&call(&session, "tools:x").expect("its directory is trusted")), "Of the plugin.");
    trusted.store(false, Ordering::Relaxed);
    assert_eq!(reloaded(&runtime), [nothing(), nothing(), nothing(), these(["tools:x"])]);
    assert!(matches!(call(&session, "tools:x"), Err(InvokeError::UntrustedPlugin { .. })));
}

#[test]
fn a_named_directory_that_goes_costs_its_own_skills_and_is_told_once() {
    let world = World::new().skill("s", "", "x");
    write(&world, "more/.claude/skills/m/SKILL.md", "---\ndescription: M.\n---\nM.\n");
    let runtime = world.builder(&[]).additional(world.path("more")).open().expect("opens");
    let session = runtime.session(SessionOptions::default());
    assert_eq!(offered(&session), ["m", "s"]);
    std::fs::rename(world.path("more"), world.path("gone")).expect("it is there");
    let found = messages(&runtime);
    assert!(found.len() == 1 && found[0].contains("there is no directory"), "{found:?}");
    assert_eq!((offered(&session), messages(&runtime)), (these(["s"]), nothing()));
    std::fs::rename(world.path("gone"), world.path("more")).expect("it is there");
    assert_eq!(reloaded(&runtime)[0], ["additional:m"]);
    // The project itself.
    std::fs::rename(world.path("p"), world.path("gone")).expect("it is there");
    assert_eq!(messages(&runtime).len(), 1);
    assert_eq!(offered(&session), ["m"]);
    assert!(matches!(call(&session, "s"), Err(InvokeError::Unknown { .. })));
}

#[test]
fn a_project_does_not_grow_over_its_root_while_it_is_in_use() {
    let world = World::new().skill("s", "", "Ours.");
    write(&world, ".claude/skills/evil/SKILL.md", "---\ndescription: Evil.\n---\nx\n");
    let runtime = world.builder(&[]).open().expect("opens");
    let session = runtime.session(SessionOptions::default());
    assert_eq!(offered(&session), ["s"]);
    // What was trusted is the project, not a repository that appears around it.
    write(&world, ".git/HEAD", "ref: refs/heads/main\n");
    std::fs::create_dir_all(world.path(".git/objects")).expect("a directory");
    std::fs::create_dir_all(world.path(".git/refs")).expect("a directory");
    let found = messages(&runtime);
    assert_eq!(offered(&session), ["s"], "{found:?}");
    assert!(found.iter().any(|found| found.contains("further out")), "{found:?}");
    assert!(session.catalogue().named("evil").is_empty());
    // The control: a runtime that is opened now takes it in.
    let now = world.builder(&[]).open().expect("opens");
    assert_eq!(offered(&now.session(SessionOptions::default())), ["evil", "s"]);
}

#[test]
fn a_skill_that_cannot_be_read_any_more_is_gone_and_the_reason_is_told() {
    let world = World::new().skill("a", "", "x").skill("b", "", "x").skill("c", "", "x");
    let runtime = world.builder(&[]).open().expect("opens");
    let session = runtime.session(SessionOptions::default());
    for name in ["a", "b"] {
        call(&session, name).expect(name);
    }
    let file = world.path("p/.claude/skills/a/SKILL.md");
    std::fs::remove_file(&file).expect("it is there");
    std::fs::create_dir(&file).expect("a directory in its place");
    std::fs::write(world.path("p/.claude/skills/b/SKILL.md"), "---\ndescription: Never closed.\n\nx\n")
        .expect("a file");
    let found = again(&runtime);
    assert_eq!((&found.changes.removed, &found.changes.changed), (&these(["project:a"]), &these(["project:b"])));
    assert_eq!(found.diagnostics.len(), 1, "{:?}", found.diagnostics);
    assert_eq!(found.diagnostics[0].path, world.path("p/.claude/skills/a").canonicalize().expect("it is there"));
    assert!(matches!(call(&session, "a"), Err(InvokeError::Unreadable(_))));
    assert!(matches!(call(&session, "b"), Err(InvokeError::Broken { .. })));
    assert!(call(&session, "c").is_ok());
    assert_eq!(offered(&session), ["c"]);
}
