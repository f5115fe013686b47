//! Plugins: where they are found, what their skills are called, and what a manifest cannot reach.

use crate::tree::{Tree, options};
use skillgate_loader::{Discovered, Discovery, SkillRoots, discover_roots_ambient};
use std::path::PathBuf;

const SKILL: &str = "\n---\ndescription: Is a skill.\n---\nBody.\n";

fn discover(tree: &Tree, additional: &[&str]) -> Discovered {
    let additional: Vec<PathBuf> = additional.iter().map(|path| tree.path(path)).collect();
    let discovery = Discovery { home: Some(tree.path("home")), additional, ..Discovery::default() };
    discover_roots_ambient(&discovery).expect("discovered")
}

/// What is found: skills of plugins with the plugin's directory, failures, and findings on the way.
#[track_caller]
fn check(tree: &Tree, additional: &[&str], expected: &str) {
    let found = discover(tree, additional);
    let loaded = SkillRoots::open_ambient(found.roots).load(&options());
    let mut lines: Vec<String> = Vec::new();
    for skill in &loaded.skills {
        let plugin =
            skill.plugin.as_ref().map_or_else(String::new, |plugin| format!(" in {}", tree.short(&plugin.root)));
        lines.push(format!("{} {}{plugin}", skill.id.command, tree.short(&skill.path)));
    }
    lines
        .extend(loaded.failures.iter().map(|failure| format!("broken {} {}", failure.name, tree.short(&failure.path))));
    for finding in found.diagnostics.iter().chain(&loaded.diagnostics) {
        lines.push(format!("finding {} {}", tree.short(&finding.path), finding.diagnostic.message));
    }
    let expected: Vec<&str> = expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(lines, expected);
}

#[test]
fn a_plugins_skills_and_commands_have_its_name_before_theirs() {
    let tree = Tree::new(&format!(
        "=== home/.claude/plugins/tools/.claude-plugin/plugin.json\n{{\"name\": \"p1\"}}
=== home/.claude/plugins/tools/skills/a/SKILL.md{SKILL}=== home/.claude/plugins/tools/skills/bad/SKILL.md |
=== home/.claude/plugins/tools/commands/b.md\nDo it.\n=== home/.claude/plugins/tools/commands/git/c.md\nDo it.
=== home/.claude/plugins/none/skills/x/SKILL.md{SKILL}"
    ));
    let expected = "p1:a home/.claude/plugins/tools/skills/a/SKILL.md in home/.claude/plugins/tools
        p1:b home/.claude/plugins/tools/commands/b.md in home/.claude/plugins/tools
        p1:c home/.claude/plugins/tools/commands/git/c.md in home/.claude/plugins/tools
        broken p1:bad home/.claude/plugins/tools/skills/bad";
    check(&tree, &[], expected);
    let found = discover(&tree, &[]);
    let roots = SkillRoots::open_ambient(found.roots);
    let loaded = roots.load(&options());
    let plugin = loaded.skills[0].plugin.as_ref().expect("it is a plugin's");
    assert_eq!(plugin.data, Some(tree.path("home/.claude/plugins/data/p1")));
    assert!(roots.read(&loaded.skills[0], &options()).expect("read").ends_with(b"Body.\n"));
    assert!(
        loaded
            .skills
            .iter()
            .all(|skill| skill.diagnostics.iter().all(|found| found.code.rule() != "command-name-invalid"))
    );
}

#[test]
fn a_directory_that_is_named_may_be_a_plugin_that_is_itself_a_skill() {
    let tree = Tree::new(&format!(
        "=== my/.claude-plugin/plugin.json\n{{\"name\": \"p1\", \"skills\": [\"./more\", \"./one\"], \"commands\": \"./cmds\"}}
=== my/SKILL.md{SKILL}=== my/notes.md\nNotes.\n=== my/more/b/SKILL.md{SKILL}=== my/one/SKILL.md{SKILL}=== my/cmds/d.md\nDo it.\n"
    ));
    let expected = "p1:b my/more/b/SKILL.md in my
        p1:one my/one/SKILL.md in my
        p1:d my/cmds/d.md in my
        p1:p1 my/SKILL.md in my";
    check(&tree, &["my"], expected);
    let roots = SkillRoots::open_ambient(discover(&tree, &["my"]).roots);
    let loaded = roots.load(&options());
    let own = loaded.skills.iter().find(|skill| skill.id.command.as_str() == "p1:p1").expect("it is there");
    assert!(roots.read(own, &options()).expect("read").ends_with(b"Body.\n"));
    let beside: Vec<String> = roots.companions(own).iter().map(|(path, _)| path.to_string()).collect();
    assert!(beside.contains(&"notes.md".to_owned()), "{beside:?}");
    assert!(roots.content(own, &options()).expect("its content").files.len() > 1);
}

#[test]
fn a_marketplace_gives_what_is_switched_on_and_lies_in_it() {
    let market = "home/.claude/plugins/marketplaces/shop";
    let list = r#"{"name": "shop", "plugins": [
        {"name": "on", "source": "./plugins/on"}, {"name": "off", "source": "./plugins/off"},
        {"name": "bare", "source": "plugins/bare"},
        {"name": "out", "source": "./../../../../secret"}, {"name": "far", "source": {"source": "github", "repo": "x/y"}}]}"#;
    let settings = r#"{"enabledPlugins": {"on@shop": true, "bare@shop": true, "off@shop": false, "out@shop": true, "far@shop": true}}"#;
    let plugin = |name: &str, at: &str| {
        format!("=== {at}/.claude-plugin/plugin.json\n{{\"name\": \"{name}\"}}\n=== {at}/skills/a/SKILL.md{SKILL}")
    };
    let tree = Tree::new(&format!(
        "=== {market}/.claude-plugin/marketplace.json\n{list}\n=== home/.claude/settings.json\n{settings}\n{}{}{}{}",
        plugin("on", &format!("{market}/plugins/on")),
        plugin("off", &format!("{market}/plugins/off")),
        plugin("bare", &format!("{market}/plugins/bare")),
        plugin("out", "home/secret"),
    ));
    let expected = format!(
        "on:a {market}/plugins/on/skills/a/SKILL.md in {market}/plugins/on
        bare:a {market}/plugins/bare/skills/a/SKILL.md in {market}/plugins/bare
        finding {market}/.claude-plugin/marketplace.json the plugin `out@shop` is not a directory of its marketplace: `./../../../../secret`"
    );
    check(&tree, &[], &expected);
}

#[test]
fn what_is_installed_is_read_unless_it_is_switched_off_or_lies_elsewhere() {
    let tree = Tree::new("");
    let at = |path: &str| tree.path(path).display().to_string();
    let list = format!(
        r#"{{"version": 2, "plugins": {{"in@shop": [{{"scope": "user", "installPath": "{}"}}], "off@shop": [{{"installPath": "{}"}}],
            "old@shop": {{"installPath": "{}"}}, "out@shop": [{{"installPath": "{}"}}], "gone@shop": [{{"installPath": "/nonexistent/x"}}]}}}}"#,
        at("home/.claude/plugins/cache/in"),
        at("home/.claude/plugins/cache/off"),
        at("home/.claude/plugins/cache/old"),
        at("secret"),
    );
    tree.add("home/.claude/plugins/installed_plugins.json", list.as_bytes());
    tree.add("home/.claude/settings.json", br#"{"enabledPlugins": {"off@shop": false, "in@shop": true}}"#);
    for (name, place) in [("in", "cache/in"), ("off", "cache/off"), ("old", "cache/old"), ("out", "../../../secret")] {
        let manifest = format!("{{\"name\": \"{name}\"}}");
        tree.add(&format!("home/.claude/plugins/{place}/.claude-plugin/plugin.json"), manifest.as_bytes());
        tree.add(&format!("home/.claude/plugins/{place}/skills/a/SKILL.md"), SKILL.as_bytes());
    }
    let found = discover(&tree, &[]);
    let mut names: Vec<&str> =
        found.roots.iter().filter_map(|root| Some(root.plugin.as_ref()?.name.as_str())).collect();
    names.dedup();
    assert_eq!(names, ["in", "old"]);
    let messages: Vec<&str> = found.diagnostics.iter().map(|found| found.diagnostic.message.as_str()).collect();
    assert_eq!(messages.len(), 2, "{messages:?}");
    assert!(
        messages[0].contains("`gone@shop` cannot be found") && messages[1].contains("outside of the plugins directory")
    );
}

#[test]
fn a_manifest_that_cannot_be_used_keeps_one_plugin_out_and_says_why() {
    let plugins = "home/.claude/plugins";
    let manifest = |directory: &str, text: &str| {
        format!(
            "=== {plugins}/{directory}/.claude-plugin/plugin.json\n{text}\n=== {plugins}/{directory}/skills/a/SKILL.md{SKILL}"
        )
    };
    let tree = Tree::new(&format!(
        "{}{}{}{}{}{}",
        manifest("a-good", r#"{"name": "good", "skills": ["../../out", "/etc", "./missing"]}"#),
        manifest("b-twice", r#"{"name": "good"}"#),
        manifest("c-json", "{name: x}"),
        manifest("d-source", r#"{"name": "user"}"#),
        manifest("e-colon", r#"{"name": "a:b"}"#),
        manifest("f-none", "{}"),
    ));
    let expected = format!(
        "good:a {plugins}/a-good/skills/a/SKILL.md in {plugins}/a-good
        good:a {plugins}/b-twice/skills/a/SKILL.md in {plugins}/b-twice
        finding {plugins}/a-good/.claude-plugin/plugin.json `skills` names `../../out`, which is not a directory in the plugin
        finding {plugins}/a-good/.claude-plugin/plugin.json `skills` names `/etc`, which is not a directory in the plugin
        finding {plugins}/a-good/.claude-plugin/plugin.json `skills` names `./missing`, which is not a directory in the plugin
        finding {plugins}/b-twice the plugin `{}` is called `good` too
        finding {plugins}/c-json/.claude-plugin/plugin.json it is not JSON: key must be a string at line 1 column 2
        finding {plugins}/d-source/.claude-plugin/plugin.json the plugin cannot be used: `user` is the name of a source
        finding {plugins}/e-colon/.claude-plugin/plugin.json the plugin cannot be used: `a:b` holds `:`, which stands behind a plugin's name
        finding {plugins}/f-none/.claude-plugin/plugin.json the plugin cannot be used: the name is empty",
        tree.path(&format!("{plugins}/a-good")).display()
    );
    check(&tree, &[], &expected);
}

#[test]
fn links_of_a_plugin_stay_in_the_plugin() {
    let tree = Tree::new(&format!(
        "=== my/.claude-plugin/plugin.json\n{{\"name\": \"p\"}}\n=== my/store/in/SKILL.md{SKILL}=== my/skills/in -> ../store/in
=== my/skills/out -> ^/secret\n=== secret/SKILL.md{SKILL}"
    ));
    check(&tree, &["my"], "p:in my/skills/in/SKILL.md in my\nbroken p:out my/skills/out");
}
