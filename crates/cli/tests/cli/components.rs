//! Commands of third parties: from a policy's `[components]` to a program that calls them.

use crate::fixture::{Ran, World};
use serde_json::Value;
use skillgate_core::Digest;
use skillgate_exec_wasm::attack::{Attack, Proposal};

/// A world with a component in it, and a policy that names it.
struct Place {
    world: World,
}

impl Place {
    fn new(attack: &Attack) -> Self {
        let world = World::new("@ project/a.txt\none\n");
        std::fs::write(world.path("tool.wasm"), attack.component()).expect("a file");
        Self { world }
    }

    fn path(&self, name: &str) -> String {
        self.world.path(name).to_str().expect("UTF-8").to_owned()
    }

    fn digest(&self) -> Digest {
        Digest::of(&std::fs::read(self.world.path("tool.wasm")).expect("the component"))
    }

    /// Writes a policy that names the component; `more` follows its digest.
    fn policy(&self, command: &str, digest: Digest, more: &str) -> String {
        let text =
            format!("[components.{command}]\npath = \"{}\"\nsha256 = \"{digest}\"\n{more}", self.path("tool.wasm"));
        self.world.write("policy.toml", &text);
        self.path("policy.toml")
    }

    fn run(&self, policy: &str, program: &str) -> Ran {
        self.world.run(&["--policy", policy, "--allow", "Bash", "sandbox", "run", "--", program])
    }
}

/// Writes five letters.
const LETTERS: Attack = Attack::Flood(1, 5);

#[test]
fn a_command_that_the_policy_names_runs() {
    let place = Place::new(&LETTERS);
    let policy = place.policy("letters", place.digest(), "");
    let ran = place.run(&policy, "letters | wc -c");
    assert_eq!((ran.status, ran.stdout.as_str()), (0, "5\n"), "{}", ran.stderr);
    // A second process finds the code, and looks at the file again all the same.
    assert_eq!(place.run(&policy, "letters").stdout, "xxxxx");
    assert_eq!(place.world.run(&["sandbox", "run", "--allow", "Bash", "--", "letters"]).status, 127);
    let ungranted = place.world.run(&["--policy", &policy, "sandbox", "run", "--", "letters"]);
    assert_eq!((ungranted.status, ungranted.stdout.as_str()), (4, ""), "{}", ungranted.stderr);
}

#[test]
fn a_changed_file_is_not_loaded_and_the_check_says_where_the_digest_stands() {
    let place = Place::new(&LETTERS);
    let policy = place.policy("letters", place.digest(), "");
    assert_eq!(place.run(&policy, "letters").status, 0);
    assert_eq!(place.world.run(&["policy", "check", &policy]).status, 0);
    let before = place.digest();
    std::fs::write(place.world.path("tool.wasm"), Attack::Nothing.component()).expect("a file");
    let ran = place.run(&policy, "letters || echo without");
    assert_eq!((ran.status, ran.stdout.as_str()), (6, ""), "{}", ran.stderr);
    assert!(ran.stderr.contains(&format!("its digest is {}, not {before}", place.digest())), "{}", ran.stderr);
    let checked = place.world.run(&["policy", "check", &policy]);
    assert_eq!(checked.status, 1);
    assert!(checked.stdout.contains("policy.toml:3:1: ") && checked.stdout.contains("digest"), "{}", checked.stdout);
    std::fs::remove_file(place.world.path("tool.wasm")).expect("it is there");
    let (status, value) = place.world.json("policy-check", &["policy", "check", &policy]);
    assert_eq!((status, &value["errors"][0]["line"]), (1, &Value::from(2)), "{value}");
    assert_eq!(place.run(&policy, "letters").status, 6);
}

#[test]
fn a_name_that_is_taken_needs_to_say_so() {
    let place = Place::new(&LETTERS);
    let policy = place.policy("wc", place.digest(), "");
    for arguments in [&["sandbox", "run", "--", "wc"][..], &["sandbox", "commands"]] {
        let ran = place.world.run(&[&["--policy", &policy], arguments].concat());
        assert_eq!(ran.status, 2, "{}", ran.stderr);
        assert!(ran.stderr.contains("policy.toml:1") && ran.stderr.contains("replace = true"), "{}", ran.stderr);
    }
    assert!(place.world.run(&["policy", "check", &policy]).stdout.contains("policy.toml:1:1: `wc` is a command that"));
    let policy = place.policy("wc", place.digest(), "replace = true");
    assert_eq!(place.run(&policy, "wc < a.txt").stdout, "xxxxx");
    assert_eq!(place.world.run(&["policy", "check", &policy]).status, 0);
    // What the shell does itself is asked for nowhere.
    let policy = place.policy("cd", place.digest(), "replace = true");
    assert_eq!(place.run(&policy, "cd").status, 2);
}

#[test]
fn what_is_no_component_or_does_not_compile_is_unavailable_with_the_reason() {
    for (attack, says) in
        [(Attack::Proposal(Proposal::Memory64), "does not compile"), (Attack::OwnResources, "resources of its own")]
    {
        let place = Place::new(&attack);
        let policy = place.policy("tool", place.digest(), "");
        let ran = place.run(&policy, "tool");
        assert_eq!((ran.status, ran.stdout.as_str()), (6, ""), "{}", ran.stderr);
        assert!(ran.stderr.contains(says), "{says}: {}", ran.stderr);
    }
    let place = Place::new(&LETTERS);
    std::fs::write(place.world.path("tool.wasm"), b"\0asm\x01\0\0\0").expect("a file");
    let policy = place.policy("tool", place.digest(), "");
    assert!(place.run(&policy, "tool").stderr.contains("core module"));
    assert!(place.world.run(&["policy", "check", &policy]).stdout.contains("policy.toml:2:1: "));
}

#[test]
fn the_commands_are_listed_with_where_they_come_from() {
    let place = Place::new(&LETTERS);
    let policy = place.policy("letters", place.digest(), "");
    let (status, value) = place.world.json("sandbox-commands", &["--policy", &policy, "sandbox", "commands"]);
    assert_eq!(status, 0);
    let commands = value["commands"].as_array().expect("a list");
    let find = |name: &str| commands.iter().find(|command| command["name"] == name).expect(name);
    assert_eq!(find("letters")["provider"], "third-party");
    assert_eq!(find("letters")["digest"], Value::from(place.digest().to_string()));
    assert_eq!((&find("wc")["provider"], &find("wc")["component"]), (&"shipped".into(), &"coreutils".into()));
    assert_eq!(find("git")["component"], "git");
    let listed = place.world.run(&["--policy", &policy, "sandbox", "commands"]).stdout;
    assert!(
        listed.contains("letters") && listed.contains("tool.wasm (") && listed.contains("shipped, git"),
        "{listed}"
    );
}

/// The process that compiles is this program once more; started by hand it does nothing.
#[test]
fn a_process_that_is_to_compile_nothing_ends_with_a_message() {
    let world = World::new("");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_skillgate"));
    let output = command.arg("__compile-component").current_dir(world.path("project")).output().expect("it starts");
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(1), b"".as_slice()));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot be read"));
}

/// The example that docs/writing-a-command.md builds: a program that knows nothing of Skillgate reads a file by a relative path, a
/// stream, and what another command left in `/tmp`.
#[test]
fn the_example_of_the_documentation_runs() {
    let target = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the build directory");
    let built = target.join("guest-examples/wasm32-wasip2/release/longest-line.wasm");
    let wasm = std::fs::read(&built).unwrap_or_else(|error| unreachable!("{error}: run `cargo xtask guests`"));
    let place = Place::new(&Attack::Nothing);
    std::fs::write(place.world.path("tool.wasm"), wasm).expect("a file");
    place.world.write("project/b.txt", "short\nthe longest line\n");
    let policy = place.policy("longest-line", place.digest(), "");
    assert_eq!(place.world.run(&["policy", "check", &policy]).status, 0);
    for (program, status, stdout) in [
        ("longest-line a.txt b.txt", 0, "16 the longest line\n"),
        ("cat b.txt | longest-line", 0, "16 the longest line\n"),
        ("sort b.txt > /tmp/x; longest-line /tmp/x", 0, "16 the longest line\n"),
        ("longest-line missing a.txt", 1, "3 one\n"),
        ("longest-line /etc/passwd", 1, "0 \n"),
        ("longest-line ../outside", 1, "0 \n"),
    ] {
        let ran = place.run(&policy, program);
        assert_eq!((ran.status, ran.stdout.as_str()), (status, stdout), "{program}\n{}", ran.stderr);
    }
}
