//! What the policy files do to a run: who grants, who only takes away, and what a broken one does.

use crate::fixture::World;

const SKILLS: &str = "\
@ project/a.txt
one
two
@ project/.env
SECRET=1
@ project/.claude/skills/count/SKILL.md
---
description: Counts.
allowed-tools: Bash(wc:*), Bash(gh pr view:*), Bash(cat:*)
---
Lines: !`wc -l a.txt`
@ project/.claude/skills/little/SKILL.md
---
description: Lists less than it runs.
allowed-tools: Bash(wc:*)
---
!`ls`
@ project/.claude/skills/secret/SKILL.md
---
description: Reads what is denied.
allowed-tools: Bash(cat:*), Bash(ls:*)
---
!`cat .env`
@ project/.claude/skills/around/SKILL.md
---
description: Lists, and tries, what is denied.
allowed-tools: Bash(ls:*), Bash(wc:*)
---
!`ls -a; test -e .env && echo there || echo not there`
@ project/.claude/skills/fails/SKILL.md
---
description: Fails.
---
before !`cat nope.txt` after
@ managed/.claude/skills/official/SKILL.md
---
description: From the administrator.
---
!`echo official`
";

const USER: &str = "home/.config/skillgate/policy.toml";

#[test]
fn a_users_policy_denies_and_names_its_line() {
    let world = World::new(SKILLS);
    assert_eq!(world.run(&["--trust", "run", "count"]).status, 0, "the control");
    world.write(USER, "[permissions]\ndeny = [\n    \"Bash(wc:*)\",\n]");
    let ran = world.run(&["--trust", "run", "count"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (4, ""));
    assert!(ran.stderr.contains("Bash(wc:*)") && ran.stderr.contains("policy.toml:3"), "{}", ran.stderr);
}

#[test]
fn the_file_of_a_run_and_the_options_add_to_the_users() {
    let world = World::new(SKILLS);
    world.write(USER, "[permissions]\nallow = [\"Bash(wc:*)\"]");
    world.write("run.toml", "[permissions]\nask = [\"Bash(wc:*)\"]");
    let run = world.path("run.toml").display().to_string();
    assert_eq!(world.run(&["--trust", "run", "count"]).status, 0, "the control");
    let ran = world.run(&["--policy", &run, "--trust", "run", "count"]);
    assert!(ran.status == 4 && ran.stderr.contains("run.toml:2"), "{}", ran.stderr);
    // `sandbox run` grants what this run grants, and the user's rules take away there too.
    world.write("grant.toml", "[permissions]\nallow = [\"Bash(wc:*)\", \"Bash(ls:*)\"]");
    let grant = world.path("grant.toml").display().to_string();
    world.write(USER, "[permissions]\nallow = [\"Bash(cat:*)\"]\ndeny = [\"Bash(ls:*)\"]");
    for (program, status) in [("wc -l a.txt", 0), ("ls", 4), ("cat a.txt", 4)] {
        let ran = world.run(&["--policy", &grant, "sandbox", "run", "--", program]);
        assert_eq!(ran.status, status, "{program}: {}", ran.stderr);
    }
    let missing = world.run(&["--policy", "nope.toml", "list"]);
    assert!(missing.status == 3 && missing.stderr.contains("nope.toml"), "{}", missing.stderr);
}

#[test]
fn nothing_goes_over_the_managed_policy() {
    let world = World::new(SKILLS);
    world.write("managed/policy.toml", "[permissions]\nallow = [\"Bash(cat:*)\"]");
    world.write(USER, "[permissions]\nallow = [\"Bash\"]");
    let ran = world.run(&["--trust", "--allow", "Bash(ls:*)", "run", "around"]);
    assert!(ran.status == 4 && ran.stderr.contains("the managed policy"), "{}", ran.stderr);
    world.write("managed/policy.toml", "[permissions]\nallow = [\"Bash(ls:*)\", \"Bash(wc:*)\"]");
    let ran = world.run(&["--trust", "run", "around"]);
    assert_eq!(ran.status, 0, "the control: {}", ran.stderr);
    world.write("managed/policy.toml", "[permissions]\ndeny = [\"Bash(wc:*)\"]");
    let ran = world.run(&["--trust", "--allow", "Bash(wc:*)", "run", "count"]);
    assert!(ran.status == 4 && ran.stderr.contains("managed/policy.toml:2"), "{}", ran.stderr);
}

#[test]
fn a_project_takes_away_and_grants_nothing() {
    let world = World::new(SKILLS);
    world.write("project/.skillgate/policy.toml", "[permissions]\nask = [\"Bash(wc:*)\"]");
    let ran = world.run(&["--trust", "run", "count"]);
    assert!(ran.status == 4 && ran.stderr.contains(".skillgate/policy.toml:2"), "{}", ran.stderr);
    world.write("project/.skillgate/policy.toml", "[skills]\ndisable = [\"count\"]");
    let ran = world.run(&["--trust", "run", "count"]);
    assert!(
        ran.status == 4 && ran.stderr.contains("`count`, ") && ran.stderr.contains("policy.toml:2"),
        "{}",
        ran.stderr
    );
    let listed = world.run(&["--trust", "list"]).stdout;
    assert!(listed.contains("disabled"), "{listed}");
    world.write("project/.skillgate/policy.toml", "[permissions]\nallow = [\"Bash\"]\n[profile]\nname = \"claude\"");
    let ran = world.run(&["--trust", "run", "count"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
    for words in ["has 2 mistakes, so nothing runs", "policy.toml:2:1", "policy.toml:4:1", "belongs in the user policy"]
    {
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
    }
}

#[test]
fn complaint_82_a_set_is_the_only_one_for_a_project_or_for_a_run() {
    let world = World::new(SKILLS);
    world.write(USER, "[skills]\nsets = { counting = [\"count\", \"little\"], none = [] }");
    let active = |arguments: &[&str]| {
        let (status, value) = world.json("list", &[arguments, &["--trust", "list"]].concat());
        assert_eq!(status, 0, "{value}");
        let skills = value["skills"].as_array().cloned().unwrap_or_default();
        let active = skills.iter().filter(|skill| skill["state"] == "active" && skill["source"] != "bundled");
        active.filter_map(|skill| skill["name"].as_str().map(str::to_owned)).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(active(&[]), "around count fails little official secret", "the control");
    assert_eq!(active(&["--only-skill", "set:counting"]), "count little");
    assert_eq!(active(&["--only-skill", "set:counting", "--only-skill", "managed:off*"]), "count little official");
    assert_eq!(active(&["--only-skill", "set:none"]), "");
    let unknown = world.run(&["--only-skill", "set:conting", "list"]);
    assert!(unknown.status == 3 && unknown.stderr.contains("it has counting, none"), "{}", unknown.stderr);

    world.write("project/.skillgate/policy.toml", "[skills]\nonly = [\"set:counting\", \"fails\"]");
    assert_eq!(active(&[]), "count fails little");
    assert_eq!(active(&["--only-skill", "fails", "--only-skill", "secret"]), "fails", "a run gives nothing back");
    let ran = world.run(&["--trust", "run", "secret"]);
    assert!(ran.status == 4 && ran.stderr.contains("policy.toml:2"), "{}", ran.stderr);
    let why = world.run(&["--trust", "why", "secret"]);
    let names = "only `count`, `little`, `fails`";
    assert!(why.stdout.contains(names) && why.stdout.contains("policy.toml:2"), "{}", why.stdout);
    let shown = world.run(&["--trust", "policy", "show"]).stdout;
    assert!(shown.contains("only = [\"count\", \"little\", \"fails\"]"), "{shown}");

    world.write("project/.skillgate/policy.toml", "[skills]\nonly = []");
    assert_eq!(active(&[]), "", "an empty list is none, not all");
}

#[test]
fn a_policy_that_cannot_be_read_stops_everything_and_says_why() {
    for place in ["managed/policy.toml", USER, "project/.skillgate/policy.toml"] {
        let world = World::new(SKILLS);
        world.write(place, "[permissions]\ndeni = []");
        for verb in
            [&["list"][..], &["--trust", "run", "count"], &["sandbox", "run", "--", "echo"], &["policy", "show"]]
        {
            let ran = world.run(verb);
            assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{place} {verb:?} {}", ran.stderr);
            assert!(
                ran.stderr.contains("there is no `deni`") && ran.stderr.contains("did you mean `deny`?"),
                "{}",
                ran.stderr
            );
        }
        let ran = world.run(&["--format", "json", "list"]);
        let error: serde_json::Value = serde_json::from_str(&ran.stderr).expect("JSON");
        crate::fixture::validate("error", &error);
        assert!(error["help"][0].as_str().is_some_and(|help| help.contains("policy.toml:2:1: ")), "{error}");
    }
}

#[cfg(unix)]
#[test]
fn a_policy_that_others_can_write_or_that_leads_out_is_not_followed() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let world = World::new(SKILLS);
    world.write(USER, "");
    std::fs::set_permissions(world.path(USER), std::fs::Permissions::from_mode(0o666)).expect("a mode");
    let ran = world.run(&["--trust", "run", "count"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("another user can write to it") && ran.stderr.contains("chmod go-w"), "{}", ran.stderr);
    std::fs::set_permissions(world.path(USER), std::fs::Permissions::from_mode(0o644)).expect("a mode");
    assert_eq!(world.run(&["--trust", "run", "count"]).status, 0, "the control");
    world.write("secret.toml", "password = 1");
    std::fs::create_dir(world.path("project/.skillgate")).expect("a directory");
    symlink(world.path("secret.toml"), world.path("project/.skillgate/policy.toml")).expect("a link");
    let ran = world.run(&["--trust", "run", "count"]);
    assert_eq!(ran.status, 2, "{}", ran.stderr);
    assert!(!ran.stderr.contains("password"), "{}", ran.stderr);
}

#[test]
fn skills_that_are_switched_off_are_nowhere() {
    let world = World::new(SKILLS);
    world.write(USER, "[skills]\nenabled = false");
    let listed = world.run(&["--trust", "list"]);
    assert_eq!((listed.status, listed.stdout.as_str()), (0, ""), "{}", listed.stderr);
    assert!(listed.stderr.contains("skills are switched off") && listed.stderr.contains("policy.toml:2"));
    for verb in [&["run", "count"][..], &["show", "count"], &["policy", "explain", "Skill(count)"]] {
        let ran = world.run(&[&["--trust"], verb].concat());
        assert_eq!((ran.status, ran.stdout.as_str()), (4, ""), "{verb:?}");
        assert!(ran.stderr.contains("skills are switched off"), "{}", ran.stderr);
    }
    let (status, value) = world.json("list", &["list"]);
    assert_eq!((status, value["skills"].as_array().map(Vec::len)), (0, Some(0)));
}

#[test]
fn injections_that_are_switched_off_leave_their_mark() {
    let mark = "[shell command execution disabled by policy]";
    let world = World::new(SKILLS);
    world.write(USER, "[profile]\nshell = false");
    let ran = world.run(&["--trust", "run", "count"]);
    assert!(ran.status == 0 && ran.stdout.contains(&format!("Lines: {mark}")), "{} {}", ran.stdout, ran.stderr);
    let official = world.run(&["run", "official"]);
    assert!(
        official.status == 0 && official.stdout.contains("\nofficial\n"),
        "{} {}",
        official.stdout,
        official.stderr
    );
    world.write("managed/policy.toml", "[profile]\nshell = false");
    let official = world.run(&["run", "official"]);
    assert!(official.status == 0 && official.stdout.contains(mark), "{} {}", official.stdout, official.stderr);
}

#[test]
fn a_failure_stands_in_the_prompt_when_the_policy_wants_it() {
    let world = World::new(SKILLS);
    assert_eq!(world.run(&["--trust", "run", "fails"]).status, 1, "the control");
    world.write(USER, "[profile]\non_failure = \"inline\"");
    let ran = world.run(&["--trust", "run", "fails"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("before [command failed with status 1: cat nope.txt]\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("nope.txt: No such file") && ran.stderr.contains("[command-failed]"), "{}", ran.stderr);
}

#[test]
fn limits_are_lowered_by_every_level_and_the_lowest_holds() {
    let world = World::new(SKILLS);
    world.write(USER, "[limits]\nprompt_chars = 9\n");
    world.write("project/.skillgate/policy.toml", "[limits]\nprompt_chars = 3");
    let (status, value) = world.json("run", &["--trust", "run", "count"]);
    assert_eq!((status, &value["injections"][0]["truncated"]), (0, &serde_json::json!(true)));
    let (_, shown) = world.json("policy-show", &["policy", "show"]);
    let settings = shown["settings"].as_array().expect("settings");
    let limit = settings.iter().find(|setting| setting["key"] == "limits.prompt_chars").expect("the limit");
    assert_eq!(limit["value"], "3");
    assert!(limit["origin"]["path"].as_str().is_some_and(|path| path.contains("project/.skillgate")), "{limit}");
}

#[test]
fn the_option_goes_before_the_files_profile_and_the_managed_one_before_it() {
    let world = World::new(SKILLS);
    world.write(USER, "[profile]\nname = \"claude\"");
    let profile = |options: &[&str]| {
        let (_, shown) = world.json("policy-show", &[options, &["policy", "show"]].concat());
        let settings = shown["settings"].as_array().expect("settings").clone();
        settings.into_iter().find(|setting| setting["key"] == "profile.name").expect("the profile")["value"].clone()
    };
    assert_eq!(profile(&[]), "\"claude\"");
    assert_eq!(profile(&["--profile", "safe"]), "\"safe\"");
    world.write("managed/policy.toml", "[profile]\nname = \"strict\"");
    assert_eq!(profile(&["--profile", "safe"]), "\"strict\"");
}

#[test]
fn a_list_that_is_wider_than_the_grant_grants_no_more() {
    let world = World::new(SKILLS);
    world.write("managed/policy.toml", "[permissions]\nallow = [\"Bash(wc:*)\"]");
    world.write(USER, "[permissions]\nallow = [\"Bash(wc:*)\"]");
    let (status, value) = world.json("run", &["--trust", "run", "count"]);
    assert_eq!(status, 0);
    let diagnostics = value["diagnostics"].as_array().expect("diagnostics");
    let found: Vec<_> = diagnostics.iter().filter(|found| found["code"] == "allowed-tools-exceeds-grant").collect();
    assert_eq!(found.len(), 1, "{diagnostics:#?}");
    let message = found[0]["message"].as_str().expect("a message");
    assert!(
        message.contains("Bash(gh pr view:*)") && message.contains("Bash(cat:*)") && !message.contains("wc"),
        "{message}"
    );
    let effective = value["authority"]["effective"].to_string();
    assert!(effective.contains("Bash(wc:*)") && !effective.contains("\"pattern\":\"Bash(gh"), "{effective}");
}

#[test]
fn a_list_that_is_narrower_than_the_grant_refuses_everything_else() {
    let world = World::new(SKILLS);
    world.write(USER, "[permissions]\nallow = [\"Bash\"]");
    let ran = world.run(&["--trust", "run", "little"]);
    assert!(ran.status == 4 && ran.stderr.contains("narrows it away"), "{}", ran.stderr);
}

#[test]
fn a_denied_file_is_not_there_and_who_names_it_learns_why() {
    let world = World::new(SKILLS);
    assert!(world.run(&["--trust", "run", "secret"]).stdout.contains("SECRET=1"), "the control");
    world.write(USER, "[permissions]\ndeny = [\"Read(.env)\"]");
    let ran = world.run(&["--trust", "run", "around"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(
        ran.stdout.contains("a.txt") && ran.stdout.contains("not there") && !ran.stdout.contains(".env"),
        "{}",
        ran.stdout
    );
    let ran = world.run(&["--trust", "run", "secret"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (4, ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("Read(.env)") && ran.stderr.contains("policy.toml:2"), "{}", ran.stderr);
    for program in ["cat .env", "cat < .env", "head -n1 ./.env", "wc -l .claude/../.env || echo hidden"] {
        let ran = world.run(&["--allow", "Bash", "sandbox", "run", "--", program]);
        assert!(ran.status == 4 && ran.stderr.contains("policy.toml:2"), "{program}: {} {}", ran.status, ran.stderr);
        assert!(!ran.stdout.contains("SECRET"));
    }
}
