//! `skillgate watch`: a line for each change, and a quiet end.

use crate::fixture::{World, ran, validate};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// How long a test waits for what has to come. It passes as soon as it is there.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running watch, whose lines come through a channel.
struct Watch {
    child: Child,
    lines: mpsc::Receiver<String>,
}

impl Watch {
    fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let out: BufReader<ChildStdout> = BufReader::new(child.stdout.take().expect("it is piped"));
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                // The test may have ended.
                let _nobody = sender.send(line);
            }
        });
        Self { child, lines }
    }

    fn line(&self) -> String {
        self.lines.recv_timeout(PATIENCE).expect("a line")
    }

    fn json(&self) -> Value {
        let value: Value = serde_json::from_str(&self.line()).expect("a line of JSON");
        validate("watch", &value);
        value
    }

    fn end_by(self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, signal).expect("it runs");
        let ended = ran(self.child.wait_with_output().expect("it ends"));
        assert_eq!(ended.status, 0, "{}", ended.stderr);
    }
}

#[test]
fn changes_are_lines_of_json_until_a_signal_ends_it() {
    let world = World::new("@ home/.claude/skills/a/SKILL.md\nText.");
    for signal in [Signal::INT, Signal::TERM] {
        let watch = Watch::start(world.command(&["--format", "json", "watch"]));
        let first = watch.json();
        assert_eq!((&first["event"], &first["files"]), (&"watching".into(), &1.into()));
        world.write("project/.claude/skills/b/SKILL.md", "New.\n");
        let added = watch.json();
        assert_eq!(
            (&added["event"], &added["name"], &added["source"]),
            (&"added".into(), &"b".into(), &"project".into())
        );
        assert!(added["path"].as_str().is_some_and(|path| path.ends_with("project/.claude/skills/b/SKILL.md")));
        std::fs::remove_dir_all(world.path("project/.claude")).expect("removed");
        let removed = loop {
            let change = watch.json();
            // The file may be seen before its text is there.
            if change["event"] != "changed" {
                break change;
            }
        };
        assert_eq!((&removed["event"], &removed["name"]), (&"removed".into(), &"b".into()));
        watch.end_by(signal);
    }
}

#[test]
fn people_get_one_line_for_each_change() {
    let world = World::new("@ project/x\n");
    let mut watch = Watch::start(world.command(&["watch"]));
    let mut said = BufReader::new(watch.child.stderr.take().expect("it is piped"));
    let mut first = String::new();
    said.read_line(&mut first).expect("a line");
    assert_eq!(first, "skillgate: watching 0 files of skills and commands; Ctrl-C ends it\n");
    world.write("home/.claude/skills/a/SKILL.md", "Text.\n");
    let line = watch.line();
    let path = world.path("home/.claude/skills/a/SKILL.md").display().to_string();
    assert!(line.starts_with("added    user:a  ") && line.ends_with(&path), "{line}");
    watch.end_by(Signal::TERM);
}

#[test]
fn it_ends_when_nobody_reads_it_any_more() {
    let world = World::new("");
    let mut command = world.command(&["--format", "json", "watch"]);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
    let mut out = BufReader::new(child.stdout.take().expect("it is piped"));
    let mut first = String::new();
    out.read_line(&mut first).expect("a line");
    drop(out);
    world.write("home/.claude/skills/a/SKILL.md", "Text.\n");
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

#[test]
fn a_place_that_is_not_there_and_switched_off_skills_are_said() {
    let world = World::new("@ home/.config/skillgate/policy.toml\n[skills]\nenabled = false");
    let missing = world.run(&["--add-dir", "nowhere", "watch"]);
    assert_eq!(missing.status, 3, "{}", missing.stderr);
    let off = world.run(&["watch"]);
    assert_eq!(off.status, 4, "{}", off.stderr);
    assert!(off.stderr.contains("skills are switched off") && off.stderr.contains("policy.toml:2"), "{}", off.stderr);
}

#[test]
fn what_is_installed_switched_and_removed_is_a_line() {
    let world = World::new("@ project/team/greet/SKILL.md\n---\ndescription: Greets.\n---\nHello.\n");
    let in_store = |arguments: &[&str]| world.in_own_store(arguments);
    let watch = Watch::start(in_store(&["--format", "json", "watch"]));
    assert_eq!(watch.json()["event"], "watching");
    for (verb, event) in [
        (&["install", "team", "--allow-unsigned"][..], "added"),
        (&["disable", "team"], "removed"),
        (&["enable", "team"], "added"),
        (&["remove", "team"], "removed"),
    ] {
        let done = ran(in_store(&[&["pack"], verb].concat()).output().expect("the command starts"));
        assert_eq!(done.status, 0, "{}", done.stderr);
        let change = watch.json();
        assert_eq!(
            (&change["event"], &change["name"], &change["source"], &change["path"]),
            (&event.into(), &"greet".into(), &"pack".into(), &"pack:team/greet".into()),
            "{verb:?}"
        );
    }
    watch.end_by(Signal::TERM);
}
