//! Skills that are no files of the project: those of the program and of plugins, and what skills require.

use crate::fixture::{World, host, invoke};
use skillgate_loader::BundledSkills;
use skillgate_policy::{Effect, Invoker};
use skillgate_runtime::{InvokeError, InvokeRequest, SessionOptions};
use std::sync::Arc;

const NOTE: &[(Effect, &str)] = &[(Effect::Allow, "Bash(note:*)")];

fn typed(name: &str) -> InvokeRequest {
    InvokeRequest::new(name, Invoker::User)
}

#[test]
fn a_skill_of_the_program_is_invoked_like_any_other_and_gives_way_to_the_projects() {
    let world = World::new("", "the project's");
    let text = "---\ndescription: Checks.\n---\nState: !`note a`\n";
    let bundled = BundledSkills::default().with("verify", text).with("s", text).with_if("never", text, || false);
    let session =
        world.builder(host(NOTE)).source(Arc::new(bundled)).open().expect("opens").session(SessionOptions::default());
    assert_eq!(invoke(&session, &typed("verify")).expect("it runs"), "State: [a]");
    assert_eq!(invoke(&session, &typed("bundled:s")).expect("it runs"), "State: [a]");
    assert_eq!(invoke(&session, &typed("s")).expect("it runs"), "the project's");
    assert!(matches!(session.invoke(&typed("never")), Err(InvokeError::Unknown { .. })));
}

#[test]
fn complaint_87_a_plugins_directory_stands_in_its_skills_and_nowhere_else() {
    let world = World::new("", "<${CLAUDE_PLUGIN_ROOT}>");
    let plugin = world.path("p1");
    std::fs::create_dir_all(plugin.join(".claude-plugin")).expect("a directory");
    std::fs::create_dir_all(plugin.join("skills/a")).expect("a directory");
    std::fs::write(plugin.join(".claude-plugin/plugin.json"), "{\"name\": \"p1\"}").expect("a file");
    let text = "---\ndescription: A.\n---\n<${CLAUDE_PLUGIN_ROOT}> <${SKILLGATE_PLUGIN_ROOT}>\n";
    std::fs::write(plugin.join("skills/a/SKILL.md"), text).expect("a file");
    let untrusted =
        world.builder(host(NOTE)).additional(&plugin).open().expect("opens").session(SessionOptions::default());
    assert!(matches!(untrusted.invoke(&typed("p1:a")), Err(InvokeError::UntrustedPlugin { .. })));
    let plugin = plugin.canonicalize().expect("it is there");
    let session = world
        .builder(host(NOTE))
        .additional(&plugin)
        .trust_plugin(&plugin)
        .open()
        .expect("opens")
        .session(SessionOptions::default());
    let root = plugin.display().to_string();
    for name in ["p1:a", "a", "/p1:a"] {
        assert_eq!(invoke(&session, &typed(name)).expect("it runs"), format!("<{root}> <{root}>"), "{name}");
    }
    assert_eq!(invoke(&session, &typed("s")).expect("it runs"), "<${CLAUDE_PLUGIN_ROOT}>", "no plugin, no directory");
}

#[test]
fn a_skill_that_needs_what_is_not_there_is_not_invoked() {
    let needs = |requires: &str| World::new(&format!("requires: {requires}\n"), "the text");
    let invoke = |world: &World, tools: Option<&[&str]>| {
        let builder = world.builder(host(NOTE));
        let builder = tools.iter().fold(builder, |builder, tools| builder.tools(tools.iter().copied()));
        let session = builder.open().expect("opens").session(SessionOptions::default());
        session.invoke(&typed("s")).map(|_| ()).map_err(|error| error.to_string())
    };
    let refused = |why: &str| Err(format!("`s` cannot be invoked: {why}"));
    assert_eq!(invoke(&needs("{programs: [note, echo]}"), None), Ok(()), "the control");
    assert_eq!(
        invoke(&needs("{programs: [note, jq]}"), None),
        refused("it needs the program `jq`, which is not there")
    );
    assert_eq!(invoke(&needs("other"), None), refused("it needs the skill `other`, which is not there"));
    assert_eq!(invoke(&needs("{version: 99}"), None), refused("it needs Skillgate 99.0.0 or newer"));
    let tools = needs("{tools: [Read, Draw]}");
    assert_eq!(invoke(&tools, None), Ok(()), "nobody said which tools there are");
    assert_eq!(invoke(&tools, Some(&["Read", "Draw"])), Ok(()));
    assert_eq!(invoke(&tools, Some(&["Read"])), refused("it needs the tool `Draw`, which the host does not have"));
}
