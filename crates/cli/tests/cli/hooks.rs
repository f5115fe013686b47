//! `hooks list` and `hooks test`, with the example that docs/hooks.md builds.

use crate::fixture::World;
use serde_json::Value;

const TREE: &str = "\
@ home/.claude/skills/guard/SKILL.md
---
description: Guards.
hooks:
  PreToolUse:
    - matcher: Bash
      hooks:
        - type: command
          command: \"${CLAUDE_SKILL_DIR}/check.sh\"
          if: \"Bash(git push:*)\"
        - type: wasm
          path: no_force_push.wasm
  PostToolUse:
    - hooks:
        - {type: command, command: python3 x.py}
  PreTolUse:
    - hooks: [{type: command, command: \"true\"}]
---
x
@ home/.claude/skills/guard/check.sh
read -r line
case $line in *origin*) echo \"not to $CLAUDE_SKILL_DIR\" >&2; exit 2 ;; esac
";

/// The home's skill with the example's component.
fn world() -> World {
    let world = World::new(TREE);
    let target = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the build directory");
    let built = target.join("guest-examples/wasm32-unknown-unknown/release/no_force_push.wasm");
    let wasm = std::fs::read(&built).unwrap_or_else(|error| unreachable!("{error}: run `cargo xtask guests`"));
    std::fs::write(world.path("home/.claude/skills/guard/no_force_push.wasm"), wasm).expect("a file");
    world
}

fn test(world: &World, event: &str, input: &str) -> Value {
    world.write("project/event.json", input);
    let arguments = ["--allow", "Bash", "hooks", "test", event, "--input", "event.json"];
    let (status, value) = world.json("hooks-test", &arguments);
    assert_eq!(status, 0);
    value
}

fn bash(command: &str) -> String {
    serde_json::json!({"tool_name": "Bash", "tool_input": {"command": command}}).to_string()
}

#[test]
fn hooks_are_listed_with_what_they_wait_for_and_whether_they_can_run() {
    let world = world();
    let (status, value) = world.json("hooks-list", &["--allow", "Bash", "hooks", "list"]);
    assert_eq!(status, 0);
    let hooks = value["hooks"].as_array().expect("hooks");
    let of = |hook: &Value| {
        let text = |key: &str| hook[key].as_str().unwrap_or_default().to_owned();
        (text("event"), text("power"), text("matcher"), text("kind"), hook["can_run"].as_bool().expect("a boolean"))
    };
    let expected = [
        ("PreToolUse", "gate", "Bash", "command", true),
        ("PreToolUse", "gate", "Bash", "wasm", true),
        ("PostToolUse", "observe", "*", "command", false),
    ];
    let found: Vec<_> = hooks.iter().map(of).collect();
    let expected: Vec<_> = expected.map(|(a, b, c, d, e)| (a.into(), b.into(), c.into(), d.into(), e)).into();
    assert_eq!(found, expected);
    assert_eq!((hooks[0]["line"].as_u64(), hooks[0]["condition"].as_str()), (Some(7), Some("Bash(git push:*)")));
    assert!(hooks[2]["reason"].as_str().expect("a reason").contains("`python3` is not offered here"));
    let skill = &value["skills"][0];
    assert_eq!(skill["activates"], true);
    let codes: Vec<&str> =
        skill["diagnostics"].as_array().expect("findings").iter().filter_map(|found| found["code"].as_str()).collect();
    assert_eq!(codes, ["hook-event-unknown", "hook-cannot-run"]);
    let human = world.run(&["--allow", "Bash", "hooks", "list"]).stdout;
    assert!(human.contains("PreToolUse") && human.contains("`python3` is not offered here"), "{human}");
}

#[test]
fn complaint_69_the_hook_of_a_plugins_skill_is_listed_with_its_source() {
    let world = World::new(
        "\
@ home/.claude/plugins/kit/.claude-plugin/plugin.json
{\"name\": \"kit\"}
@ home/.claude/plugins/kit/skills/guard/SKILL.md
---
description: Guards.
hooks:
  PreToolUse:
    - hooks: [{type: command, command: \"${CLAUDE_PLUGIN_ROOT}/check.sh\"}]
---
x
@ home/.claude/plugins/kit/check.sh
exit 2
",
    );
    let (_, value) = world.json("hooks-list", &["--allow", "Bash", "hooks", "list"]);
    let hook = &value["hooks"][0];
    assert_eq!((&hook["event"], &hook["source"]), (&"PreToolUse".into(), &"plugin".into()), "{value}");
    assert!(hook["path"].as_str().expect("a path").ends_with("kit/skills/guard/SKILL.md"), "{value}");
    // Nobody trusts the plugin, and that is said.
    assert_eq!(hook["can_run"], false);
    assert!(hook["reason"].as_str().expect("a reason").contains("not trusted"), "{value}");
}

#[test]
fn the_hook_of_a_plugins_skill_runs_with_the_right_for_what_the_skill_is() {
    let world = World::new(
        "\
@ project/x
@ home/.claude/plugins/kit/.claude-plugin/plugin.json
{\"name\": \"kit\"}
@ home/.claude/plugins/kit/skills/guard/SKILL.md
---
description: Guards.
hooks:
  PreToolUse:
    - hooks: [{type: command, command: \"exit 2\"}]
---
x
",
    );
    world.own_store();
    let reason = || {
        let mut command = world.in_own_store(&["--format", "json", "--allow", "Bash", "hooks", "list"]);
        let ran = crate::fixture::ran(command.output().expect("it starts"));
        let value: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
        let hook = &value["hooks"][0];
        match hook["can_run"].as_bool() {
            Some(true) => "can run".to_owned(),
            _ => hook["reason"].as_str().unwrap_or_default().to_owned(),
        }
    };
    let trust = |arguments: &[&str]| {
        let plugin = world.path("home/.claude/plugins/kit");
        let mut command = world.in_own_store(&["trust", "add", plugin.to_str().expect("text")]);
        crate::fixture::ran(command.args(arguments).output().expect("it starts"))
    };
    let trusted = trust(&[]);
    assert!(trusted.status == 0 && trusted.stdout.contains("kit:guard"), "{} {}", trusted.stdout, trusted.stderr);
    assert!(reason().contains("--rights hooks --skill kit:guard"), "{}", reason());
    for name in ["other", "kit:other"] {
        assert_ne!(trust(&["--rights", "hooks", "--skill", name]).status, 0, "{name}");
    }
    let granted = trust(&["--rights", "hooks", "--skill", "kit:guard"]);
    assert_eq!(granted.status, 0, "{}", granted.stderr);
    assert_eq!(reason(), "can run");
    world.write("home/.claude/plugins/kit/skills/guard/more.md", "more\n");
    assert!(reason().contains("another content"), "{}", reason());
}

#[test]
fn a_command_and_a_component_answer() {
    let world = world();
    for (command, verdict, called, reason) in [
        ("git status", "pass", 1, ""),
        ("git push origin", "deny", 1, "not to "),
        ("git push --force", "deny", 2, "--force-with-lease"),
        ("git push", "pass", 2, ""),
    ] {
        let value = test(&world, "PreToolUse", &bash(command));
        assert_eq!(value["verdict"], verdict, "{command}: {value}");
        assert_eq!(value["hooks"].as_array().expect("hooks").len(), called, "{command}: {value}");
        assert!(value["reasons"].to_string().contains(reason), "{command}: {value}");
    }
    let other = test(&world, "PreToolUse", r#"{"tool_name": "Read", "tool_input": {"file_path": "x"}}"#);
    assert_eq!((&other["verdict"], &other["hooks"]), (&"pass".into(), &serde_json::json!([])));
}

#[test]
fn what_would_not_be_activated_is_left_out_with_its_reason() {
    let world = world();
    // Nothing is granted, so the script's commands are not either.
    let (status, value) = world.json("hooks-test", &["--deny", "Bash", "hooks", "test", "PreToolUse"]);
    assert_eq!((status, &value["hooks"]), (0, &serde_json::json!([])));
    assert!(value["left_out"][0]["reason"].as_str().expect("a reason").contains("is not activated"), "{value}");
    let ran = world.run(&["--deny", "Bash", "--allow", "Skill(guard)", "run", "guard"]);
    assert_eq!(ran.status, 4, "{}", ran.stderr);
    assert!(ran.stderr.contains("is not activated, because its hook on PreToolUse"), "{}", ran.stderr);
}

#[test]
fn a_component_of_another_version_is_named_with_both() {
    let world = world();
    let path = world.path("home/.claude/skills/guard/no_force_push.wasm");
    let mut wasm = std::fs::read(&path).expect("it is there");
    let name = b"skillgate:hook0.1";
    let at = wasm.windows(name.len()).position(|window| window == name).expect("the section");
    wasm[at + name.len() - 1] = b'9';
    std::fs::write(&path, wasm).expect("a file");
    let (_, value) = world.json("hooks-list", &["--allow", "Bash", "hooks", "list"]);
    let reason = value["hooks"][1]["reason"].as_str().expect("a reason");
    assert!(reason.contains("version 0.9 of skillgate:hook; here is version 0.1"), "{reason}");
    assert_eq!(value["skills"][0]["activates"], false);
}

#[test]
fn mistakes_on_the_command_line_say_what_to_write() {
    let world = World::new("@ project/text\nhi\n");
    for (arguments, status, message) in [
        (&["hooks", "test", "PreToolUSe"][..], 2, "near: `PreToolUse`"),
        (&["hooks", "test", "Stop", "--input", "text"], 2, "no JSON"),
        (&["hooks", "test", "Stop", "--input", "missing"], 2, "missing"),
        (&["hooks", "list", "--skill", "nobody"], 3, "nobody"),
    ] {
        let ran = world.run(arguments);
        assert_eq!(ran.status, status, "{arguments:?}\n{}", ran.stderr);
        assert!(ran.stderr.contains(message), "{arguments:?}\n{}", ran.stderr);
    }
    let none = world.run(&["hooks", "list"]);
    assert_eq!((none.status, none.stdout.as_str()), (0, "no skill has hooks\n"));
}
