//! What a person at a terminal sees of long work.

use crate::fixture::World;
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::File;
use std::io::Read as _;
use std::process::{Command, Stdio};

struct Seen {
    status: Option<i32>,
    stdout: String,
    /// What was written to the terminal, with its control sequences.
    terminal: String,
}

/// Runs the command with a terminal as its standard error.
fn on_terminal(mut command: Command) -> Seen {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&ours).and_then(|()| unlockpt(&ours)).expect("it is ours");
    let name = ptsname(&ours, Vec::new()).expect("it has a name");
    let theirs = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty());
    let theirs = theirs.expect("it can be opened");
    tcsetwinsize(&theirs, Winsize { ws_row: 24, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 }).expect("it has a size");
    let mut child = command.env("TERM", "xterm").stdout(Stdio::piped()).stderr(theirs).spawn().expect("it starts");
    // It holds their end too.
    drop(command);
    let mut stdout = child.stdout.take().expect("it is piped");
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        stdout.read_to_string(&mut text).map(|_| text)
    });
    let mut terminal = Vec::new();
    // When nobody has their end any more, the system says so with an error.
    let _end = File::from(ours).read_to_end(&mut terminal);
    let stdout = reader.join().expect("it reads").expect("text");
    let status = child.wait().expect("it ends").code();
    Seen { status, stdout, terminal: String::from_utf8(terminal).expect("text") }
}

/// Whether `second` stands somewhere behind `first`.
fn in_order(text: &str, first: &str, second: &str) -> bool {
    text.find(first).is_some_and(|at| text[at..].contains(second))
}

const CLEARED: &str = "\u{1b}[2K";

#[test]
fn many_files_have_a_bar_that_is_gone_when_the_result_is_there() {
    let world = World::new("");
    for number in 0..201 {
        let text = format!("---\nname: s{number}\ndescription: Good.\n---\nBody.\n");
        world.write(&format!("project/many/s{number}/SKILL.md"), &text);
    }
    let seen = on_terminal(world.command(&["check", "many"]));
    assert_eq!((seen.status, seen.stdout.as_str()), (Some(0), ""), "{}", seen.terminal);
    assert!(in_order(&seen.terminal, "/201 files, ", CLEARED), "{:?}", seen.terminal);
    assert!(in_order(&seen.terminal, CLEARED, "201 files: nothing found\r\n"), "{:?}", seen.terminal);
    let data = on_terminal(world.command(&["--format", "json", "check", "many"]));
    assert!(data.stdout.starts_with('{') && !data.stdout.contains('\u{1b}'), "data stays data");

    std::fs::remove_dir_all(world.path("project/many/s0")).expect("removed");
    let few = on_terminal(world.command(&["check", "many"]));
    assert_eq!(few.terminal, "200 files: nothing found\r\n", "few are no work");
}

#[test]
fn a_long_walk_counts_the_directories() {
    let world = World::new("");
    world.write("project/tree/a/SKILL.md", "---\nname: a\ndescription: Good.\n---\nBody.\n");
    let directories = |count: usize| {
        for number in 0..count {
            std::fs::create_dir_all(world.path(&format!("project/tree/d{number}"))).expect("a directory");
        }
        on_terminal(world.command(&["check", "tree"])).terminal
    };
    // `tree` and `a` are counted too.
    assert_eq!(directories(497), "1 file: nothing found\r\n");
    let long = directories(600);
    assert!(in_order(&long, "looking for skills in 500 directories", CLEARED), "{long:?}");
    assert!(in_order(&long, CLEARED, "1 file: nothing found\r\n"), "{long:?}");
}
