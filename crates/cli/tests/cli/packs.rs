//! `skillgate pack`: what a team makes, and what others install of it.

use crate::fixture::{Ran, World, ran, validate};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

const TREE: &str = "\
@ project/team/greet/SKILL.md
---
description: Greets somebody by name.
allowed-tools: Bash(cat:*)
---
Hello $ARGUMENTS, from !`cat ${CLAUDE_SKILL_DIR}/place.txt`.
@ project/team/greet/place.txt
the garden
@ project/team/leave/SKILL.md
---
description: Says goodbye.
---
Goodbye.
@ home/x
x
";

fn world() -> World {
    let world = World::new(TREE);
    world.own_store();
    world
}

fn command(world: &World, arguments: &[&str]) -> Command {
    world.in_own_store(arguments)
}

fn pack(world: &World, arguments: &[&str]) -> Ran {
    ran(command(world, &[&["pack"], arguments].concat()).output().expect("the command starts"))
}

fn json(world: &World, schema: &str, arguments: &[&str]) -> (i32, Value) {
    let ran = ran(command(world, &[&["--format", "json"], arguments].concat()).output().expect("the command starts"));
    let value = serde_json::from_str(&ran.stdout)
        .unwrap_or_else(|error| unreachable!("{arguments:?}: {error}\n{}\n{}", ran.stdout, ran.stderr));
    validate(schema, &value);
    (ran.status, value)
}

/// Builds the team's pack, signed with a new key, and gives the public key.
fn signed(world: &World) -> String {
    let (status, made) = json(
        world,
        "pack-build",
        &["pack", "build", "team", "-o", "team.skillpack", "--pack-version", "1.0.0", "--description", "Manners."],
    );
    assert_eq!((status, made["skills"].clone()), (0, serde_json::json!(["greet", "leave"])));
    let (status, key) = json(world, "pack-keygen", &["pack", "keygen", "-o", "key"]);
    assert_eq!(status, 0);
    let (status, _) = json(world, "pack-sign", &["pack", "sign", "team.skillpack", "--key", "key"]);
    assert_eq!(status, 0);
    key["public"].as_str().expect("a key").to_owned()
}

/// A policy in which the key may let `cat` run.
fn trust_key(world: &World, key: &str, more: &str) {
    let text = format!("[[keys]]\nid = \"acme\"\npublic = \"{key}\"\nallow = [\"Bash(cat:*)\"]\n{more}");
    world.write("home/.config/skillgate/policy.toml", &text);
}

#[test]
fn complaint_88_the_same_directory_gives_the_same_bytes_and_one_changed_byte_is_seen() {
    let world = world();
    for output in ["one.skillpack", "two.skillpack"] {
        assert_eq!(pack(&world, &["build", "team", "-o", output]).status, 0);
    }
    let read = |name: &str| std::fs::read(world.path("project").join(name)).expect("it was written");
    assert_eq!(read("one.skillpack"), read("two.skillpack"));
    let (status, output) = json(&world, "pack-verify", &["pack", "verify", "one.skillpack"]);
    assert_eq!((status, output["holds"].clone()), (0, true.into()));
    let mut bytes = read("one.skillpack");
    let at = bytes.windows(10).position(|part| part == b"the garden").expect("the file");
    bytes[at] = b'T';
    std::fs::write(world.path("project/one.skillpack"), bytes).expect("changed");
    let (status, output) = json(&world, "pack-verify", &["pack", "verify", "one.skillpack"]);
    assert_eq!((status, output["holds"].clone()), (1, false.into()));
    assert!(output["reason"].as_str().is_some_and(|reason| reason.contains("`greet/place.txt`")), "{output}");
    let refused = pack(&world, &["install", "one.skillpack", "--allow-unsigned"]);
    assert_eq!(refused.status, 1);
    assert!(refused.stderr.contains("`greet/place.txt`"), "{}", refused.stderr);
}

#[test]
fn what_is_written_is_not_part_of_what_it_is_made_of() {
    let world = world();
    for output in ["team/out.skillpack", "team/greet/out.skillpack", "./team/../team/out.skillpack"] {
        let refused = pack(&world, &["build", "team", "-o", output]);
        assert_eq!(refused.status, 2, "{output}: {}", refused.stderr);
        assert!(
            refused.stderr.contains("would be part of the next one") && refused.stderr.contains("-o ../"),
            "{output}"
        );
    }
    assert!(!world.path("project/team/out.skillpack").exists());
    assert_eq!(pack(&world, &["keygen", "-o", "team/key"]).status, 0);
    let refused = pack(&world, &["build", "team", "-o", "out.skillpack"]);
    assert_eq!(refused.status, 1, "{}", refused.stderr);
    assert!(
        refused.stderr.contains("`key` is a secret key") && refused.stderr.contains("revoke"),
        "{}",
        refused.stderr
    );
    assert!(!world.path("project/out.skillpack").exists());
    std::fs::remove_file(world.path("project/team/key")).expect("it was made");
    assert_eq!(pack(&world, &["build", "team", "-o", "out.skillpack"]).status, 0);
}

#[test]
fn a_signed_pack_is_installed_and_its_skill_runs_what_its_signer_is_granted() {
    let world = world();
    let key = signed(&world);
    trust_key(&world, &key, "");
    let (status, inspected) = json(&world, "pack-inspect", &["pack", "inspect", "team.skillpack"]);
    assert_eq!((status, inspected["granted"].clone()), (0, serde_json::json!(["Bash(cat:*)"])));
    assert_eq!(inspected["signatures"][0]["standing"], "counts");
    assert_eq!(inspected["skills"][0]["injections"], serde_json::json!(["cat ${CLAUDE_SKILL_DIR}/place.txt"]));
    assert!(!world.path("store/packs").exists(), "looking installs nothing");

    let (status, installed) = json(&world, "pack-install", &["pack", "install", "team.skillpack"]);
    assert_eq!((status, installed["packs"][0]["outcome"].clone()), (0, "installed".into()));
    std::fs::remove_dir_all(world.path("project/team")).expect("the sources are gone");
    std::fs::remove_file(world.path("project/team.skillpack")).expect("and so is the pack");
    let (_, list) = json(&world, "list", &["list"]);
    let skill = &list["skills"][0];
    assert_eq!(
        (skill["qualified_name"].clone(), skill["loaded_from"].clone()),
        ("pack:greet".into(), "bundled".into())
    );
    let output = ran(command(&world, &["run", "greet", "Ada"]).output().expect("the command starts"));
    assert_eq!(output.status, 0, "{}", output.stderr);
    assert!(output.stdout.contains("Hello Ada, from the garden."), "{}", output.stdout);
    // The prompt is read when the command has ended, and the directory it names is there.
    let named = output.stdout.lines().find_map(|line| line.strip_prefix("Base directory for this skill: "));
    let place = Path::new(named.expect("the directory")).join("place.txt");
    assert_eq!(std::fs::read_to_string(place).expect("it is there"), "the garden\n");

    trust_key(&world, &key, "revoked = true\n");
    let output = ran(command(&world, &["run", "greet", "Ada"]).output().expect("the command starts"));
    assert!(output.stdout.contains("!`cat"), "a revoked key leaves the text alone: {}", output.stdout);
    let (_, packs) = json(&world, "pack-list", &["pack", "list"]);
    assert_eq!(packs["packs"][0]["signatures"][0]["standing"], "revoked");
    assert_eq!(packs["packs"][0]["granted"], Value::Null);
}

#[test]
fn an_unsigned_pack_needs_a_word_and_is_text() {
    let world = world();
    let refused = pack(&world, &["install", "team"]);
    assert_eq!(refused.status, 4);
    assert!(refused.stderr.contains("--allow-unsigned"), "{}", refused.stderr);
    assert_eq!(pack(&world, &["install", "team", "--allow-unsigned"]).status, 0);
    let output = ran(command(&world, &["run", "greet", "Ada"]).output().expect("the command starts"));
    assert_eq!(output.status, 0, "{}", output.stderr);
    assert!(output.stdout.contains("!`cat"), "{}", output.stdout);
}

#[test]
fn complaint_89_drift_is_refused_with_the_difference_and_can_be_gone_back_from() {
    let world = world();
    assert_eq!(pack(&world, &["install", "team", "--allow-unsigned"]).status, 0);
    let (status, _) = json(&world, "pack-outdated", &["pack", "outdated"]);
    assert_eq!(status, 0);
    let text = "---\ndescription: Greets.\n---\nHello, stranger.\n";
    world.write("project/team/greet/SKILL.md", text);
    let (status, outdated) = json(&world, "pack-outdated", &["pack", "outdated"]);
    assert_eq!((status, outdated["packs"][0]["state"].clone()), (1, "changed".into()));
    for arguments in [&["pack", "install", "team", "--allow-unsigned"][..], &["pack", "update", "team"]] {
        let (status, refused) = json(&world, "pack-install", arguments);
        assert_eq!((status, refused["packs"][0]["outcome"].clone()), (1, "refused".into()));
        let diff = &refused["packs"][0]["diff"];
        assert_eq!(diff["asks_for_more"], true);
        assert!(diff["authority"].to_string().contains("-greet: tool Bash(cat:*)"), "{diff}");
        assert!(diff["files"].to_string().contains("+Hello, stranger."), "{diff}");
    }
    let shown = pack(&world, &["update", "team"]);
    assert!(shown.stdout.contains("It asks for more") && shown.stderr.contains("--accept"), "{}", shown.stdout);
    let (status, taken) = json(&world, "pack-update", &["pack", "update", "team", "--accept"]);
    assert_eq!((status, taken["packs"][0]["outcome"].clone()), (0, "replaced".into()));
    let (status, back) = json(&world, "pack-update", &["pack", "update", "team", "--rollback"]);
    assert_eq!((status, back["packs"][0]["outcome"].clone()), (0, "rolled-back".into()));
    let (_, difference) = json(&world, "pack-diff", &["pack", "diff", "team", "team"]);
    assert_eq!(difference["files"], serde_json::json!([]));
}

#[test]
fn a_pack_is_switched_off_and_on_and_removed() {
    let world = world();
    assert_eq!(pack(&world, &["install", "team", "--allow-unsigned"]).status, 0);
    let skills = || json(&world, "list", &["list"]).1["skills"].as_array().expect("a list").len();
    assert_eq!(skills(), 2);
    assert_eq!(json(&world, "pack-disable", &["pack", "disable", "team"]).1["state"], "disabled");
    assert_eq!(skills(), 0);
    assert_eq!(json(&world, "pack-enable", &["pack", "enable", "team"]).1["state"], "enabled");
    assert_eq!(skills(), 2);
    assert_eq!(json(&world, "pack-remove", &["pack", "remove", "team"]).1["state"], "removed");
    assert_eq!(skills(), 0);
    let refused = pack(&world, &["remove", "team"]);
    assert_eq!(refused.status, 3, "{}", refused.stderr);
}

#[test]
fn a_damaged_pack_is_broken_and_takes_nobody_with_it() {
    let world = world();
    world.write("project/.claude/skills/own/SKILL.md", "---\ndescription: Own.\n---\nOwn.");
    assert_eq!(pack(&world, &["install", "team", "--allow-unsigned"]).status, 0);
    let objects = world.path("store/packs/objects");
    let object = std::fs::read_dir(&objects).expect("objects").flatten().next().expect("one").path();
    let mut bytes = std::fs::read(&object).expect("it is there");
    let last = bytes.len() - 2;
    bytes[last] ^= 1;
    std::fs::write(&object, bytes).expect("changed");
    let (status, list) = json(&world, "list", &["list"]);
    assert_eq!(status, 0);
    let states: Vec<(&str, &str)> = list["skills"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|skill| (skill["name"].as_str().expect("a name"), skill["state"].as_str().expect("a state")))
        .collect();
    assert_eq!(states, [("own", "untrusted"), ("greet", "broken"), ("leave", "broken")]);
    let output = ran(command(&world, &["run", "leave"]).output().expect("the command starts"));
    assert_eq!(output.status, 1);
    assert!(output.stderr.contains("is not what the manifest says"), "{}", output.stderr);
    let (status, packs) = json(&world, "pack-list", &["pack", "list"]);
    assert_eq!((status, packs["packs"][0]["state"].clone()), (1, "broken".into()));
    let (status, _) = json(&world, "pack-verify", &["pack", "verify", "team"]);
    assert_eq!(status, 1);
}

/// A zip of stored entries, each one byte, that is made by hand: the checks themselves have their own tests.
fn zip(entries: &[(&str, u32)]) -> Vec<u8> {
    let (data, crc) = (b"x", 0x8cdc_1683_u32);
    let short = |number: usize| u16::try_from(number).expect("short").to_le_bytes();
    let long = |number: usize| u32::try_from(number).expect("small").to_le_bytes();
    let sizes = [crc.to_le_bytes(), 1_u32.to_le_bytes(), 1_u32.to_le_bytes()].concat();
    let (mut bytes, mut directory) = (Vec::<u8>::new(), Vec::<u8>::new());
    for (name, mode) in entries {
        let at = long(bytes.len());
        bytes.extend(b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0");
        bytes.extend([&sizes[..], &short(name.len()), &[0, 0], name.as_bytes(), data].concat());
        directory.extend(b"PK\x01\x02\x14\x03\x14\0\0\0\0\0\0\0\0\0");
        directory.extend([&sizes[..], &short(name.len()), &[0; 8], &(mode << 16).to_le_bytes(), &at].concat());
        directory.extend(name.as_bytes());
    }
    let at = long(bytes.len());
    bytes.extend(&directory);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    bytes.extend([&short(entries.len())[..], &short(entries.len()), &long(directory.len()), &at, &[0, 0]].concat());
    bytes
}

#[test]
fn hostile_archives_are_refused_and_nothing_is_written() {
    let world = world();
    let skill = ("greet/SKILL.md", 0o100_644);
    for (what, words) in [
        (("../x", 0o100_644), "does not stay below"),
        (("a\\b", 0o100_644), "does not stay below"),
        (("NUL", 0o100_644), "device"),
        (("greet/link", 0o120_777), "a link"),
        (("greet/skill.md", 0o100_644), "one file where case"),
        (("\u{430}b/SKILL.md", 0o100_644), "not said to be UTF-8"),
    ] {
        std::fs::write(world.path("project/bad.zip"), zip(&[skill, what])).expect("written");
        for verb in [&["install", "bad.zip", "--allow-unsigned"][..], &["inspect", "bad.zip"]] {
            let refused = pack(&world, verb);
            assert_eq!(refused.status, 1, "{what:?}: {}", refused.stderr);
            assert!(refused.stderr.contains(words), "{what:?}: {}", refused.stderr);
            assert!(refused.stderr.contains("help:") && refused.stdout.is_empty(), "{what:?}: {}", refused.stderr);
        }
    }
    std::fs::write(world.path("project/good.zip"), zip(&[skill])).expect("written");
    assert_eq!(pack(&world, &["inspect", "good.zip"]).status, 0);
    assert!(!world.path("x").exists() && !world.path("store/packs").exists());
    for (from, status) in [("nowhere", 3), ("http://127.0.0.1/x", 2), ("https://", 2), ("oci://team:1", 2)] {
        let refused = pack(&world, &["install", from]);
        assert_eq!(refused.status, status, "{from}: {}", refused.stderr);
    }
    assert_eq!(pack(&world, &["install", "good.zip", "--allow-unsigned"]).status, 0);
}

#[test]
fn inspecting_shows_what_would_change_and_changes_nothing() {
    let world = world();
    assert_eq!(pack(&world, &["install", "team", "--allow-unsigned"]).status, 0);
    let (status, same) = json(&world, "pack-inspect", &["pack", "inspect", "team"]);
    assert_eq!((status, same["installed"]["diff"]["files"].clone()), (0, serde_json::json!([])));
    assert!(pack(&world, &["inspect", "team"]).stdout.contains("nothing would change"));
    let text = "---\ndescription: Greets.\nallowed-tools: Bash\nhooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: ls\n---\nHello: !`ls`\n";
    world.write("project/team/greet/SKILL.md", text);
    let before = std::fs::read(world.path("store/packs/skills.lock")).expect("it is there");
    let (status, other) = json(&world, "pack-inspect", &["pack", "inspect", "team", "--pack-version", "2.0.0"]);
    assert_eq!(status, 0);
    let diff = &other["installed"]["diff"];
    assert_eq!((&diff["asks_for_more"], &diff["version"]), (&true.into(), &serde_json::json!(["0.0.0", "2.0.0"])));
    let authority = diff["authority"].to_string();
    for part in ["-greet: tool Bash(cat:*)", "+greet: tool Bash", "+greet: runs ls", "+greet: hook Stop"] {
        assert!(authority.contains(part), "{part}: {authority}");
    }
    let shown = pack(&world, &["inspect", "team"]).stdout;
    for part in
        ["skill greet", "tool Bash", "runs ls", "hook Stop", "not signed", "installed: 0.0.0", "It asks for more"]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert_eq!(std::fs::read(world.path("store/packs/skills.lock")).expect("it is there"), before);
}

#[test]
fn keys_are_the_owners_and_come_from_a_file_or_the_environment() {
    let world = world();
    let key = signed(&world);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(world.path("project/key")).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let again = pack(&world, &["keygen", "-o", "key"]);
    assert_eq!(again.status, 1, "a key is never written over");
    assert_eq!(pack(&world, &["build", "team", "-o", "other.skillpack"]).status, 0);
    let none = pack(&world, &["sign", "other.skillpack"]);
    assert_eq!(none.status, 2, "{}", none.stderr);
    let secret = std::fs::read_to_string(world.path("project/key")).expect("it is there");
    let mut by_environment = command(&world, &["--format", "json", "pack", "sign", "other.skillpack"]);
    let done = ran(by_environment.env("SKILLGATE_PACK_KEY", secret.trim()).output().expect("the command starts"));
    assert_eq!(done.status, 0, "{}", done.stderr);
    assert!(done.stdout.contains(&key) && !done.stdout.contains(secret.trim()));
    let public = pack(&world, &["sign", "other.skillpack", "--key", "team/greet/place.txt"]);
    assert_eq!(public.status, 1, "{}", public.stderr);
}

#[test]
fn a_packs_own_cases_are_run_without_running_anything_of_it() {
    let world = world();
    let outputs = "outputs = { \"cat ${CLAUDE_SKILL_DIR}/place.txt\" = \"the moon\" }";
    let cases = |expected: &str, found: &str| {
        format!(
            "[[expand]]\nskill = \"greet\"\narguments = \"Ada\"\n{outputs}\ncontains = [\"{expected}\"]\nlacks = [\"!`\"]\n\
             [[trigger]]\nquery = \"greet somebody by name\"\nexpect = \"{found}\"\n"
        )
    };
    world.write("project/team/pack-test.toml", &cases("Hello Ada, from the moon.", "greet"));
    let (status, output) = json(&world, "pack-test", &["pack", "test", "team"]);
    assert_eq!((status, output["failed"].clone()), (0, 0.into()), "{output}");
    world.write("project/team/pack-test.toml", &cases("Hello Eve", "leave"));
    let (status, output) = json(&world, "pack-test", &["pack", "test", "team"]);
    assert_eq!((status, output["failed"].clone()), (1, 2.into()), "{output}");
    world.write("project/team/pack-test.toml", "[[expand]]\nskll = \"greet\"\n");
    let refused = pack(&world, &["test", "team"]);
    assert_eq!(refused.status, 1);
    assert!(refused.stderr.contains("skll"), "{}", refused.stderr);
}

#[test]
fn the_skills_that_come_with_the_command_work_and_have_their_files() {
    let world = world();
    let with_bundled = |arguments: &[&str]| {
        let mut command = command(&world, arguments);
        ran(command.env_remove("SKILLGATE_DISABLE_BUNDLED_SKILLS").output().expect("the command starts"))
    };
    let listed = with_bundled(&["--format", "json", "list"]);
    let listed: Value = serde_json::from_str(&listed.stdout).expect("JSON");
    let names: Vec<&str> =
        listed["skills"].as_array().expect("a list").iter().filter_map(|skill| skill["name"].as_str()).collect();
    assert_eq!(names, ["explain-a-refusal", "review-a-skill", "ruff-lint", "verify", "write-a-skill"]);
    assert!(!world.path("store/packs").exists(), "listing takes nothing to disk");
    for name in names {
        let done = with_bundled(&["run", name, "something"]);
        assert_eq!(done.status, 0, "{name}: {}", done.stderr);
        let lines = done.stdout.lines();
        let named = lines.filter_map(|line| line.strip_prefix("Base directory for this skill: ")).next();
        let directory = Path::new(named.unwrap_or_else(|| unreachable!("{name} names its directory"))).to_path_buf();
        let text = std::fs::read_to_string(directory.join("SKILL.md")).expect("it is there");
        let beside = text.split("${CLAUDE_SKILL_DIR}/").skip(1);
        let files: Vec<&str> =
            beside.filter_map(|rest| rest.split('`').next()).filter(|path| !path.is_empty()).collect();
        assert!(!files.is_empty(), "{name} has files beside it");
        for file in files {
            assert!(directory.join(file).is_file(), "{name} names {file}");
        }
    }
}
