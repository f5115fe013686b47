//! `skillgate browse` on a terminal that a test looks at and types into.

use crate::fixture::World;
use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::{Child, Command};
use std::sync::mpsc;
use std::time::Duration;

/// How long a test waits for what has to be shown. It passes as soon as it is there.
const PATIENCE: Duration = Duration::from_secs(60);

const ROWS: u16 = 24;
const COLUMNS: u16 = 100;

/// What stands on a terminal: as much of its language as the browser speaks.
struct Screen {
    cells: Vec<Vec<char>>,
    row: usize,
    column: usize,
}

impl Screen {
    fn new() -> Self {
        Self { cells: vec![vec![' '; COLUMNS.into()]; ROWS.into()], row: 0, column: 0 }
    }

    fn text(&self) -> String {
        self.cells.iter().map(|row| row.iter().collect::<String>() + "\n").collect()
    }
}

impl vte::Perform for Screen {
    fn print(&mut self, c: char) {
        if let Some(cell) = self.cells.get_mut(self.row).and_then(|row| row.get_mut(self.column)) {
            *cell = c;
        }
        self.column += 1;
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\r' => self.column = 0,
            b'\n' => self.row += 1,
            _ => {}
        }
    }

    fn csi_dispatch(&mut self, parameters: &vte::Params, _: &[u8], _: bool, action: char) {
        let numbers: Vec<usize> = parameters.iter().map(|part| part.first().copied().unwrap_or(0).into()).collect();
        let number = |at: usize| numbers.get(at).copied().unwrap_or(0).max(1) - 1;
        match action {
            'H' => (self.row, self.column) = (number(0), number(1)),
            'J' => self.cells.iter_mut().for_each(|row| row.fill(' ')),
            _ => {}
        }
    }
}

/// A browser that runs on a terminal of its own.
struct Browse {
    child: Child,
    ours: File,
    output: mpsc::Receiver<Vec<u8>>,
    parser: vte::Parser,
    screen: Screen,
    /// All that was written to the terminal.
    written: Vec<u8>,
}

impl Browse {
    fn start(mut command: Command) -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("a terminal");
        grantpt(&ours).and_then(|()| unlockpt(&ours)).expect("it is ours");
        let name = ptsname(&ours, Vec::new()).expect("it has a name");
        let theirs = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty());
        let theirs = File::from(theirs.expect("it can be opened"));
        tcsetwinsize(&theirs, Winsize { ws_row: ROWS, ws_col: COLUMNS, ws_xpixel: 0, ws_ypixel: 0 }).expect("a size");
        let another = || theirs.try_clone().expect("one more handle");
        let child = command.env("TERM", "xterm").stdin(another()).stdout(another()).stderr(another()).spawn();
        let child = child.expect("it starts");
        // It and this hold their end, and the last of them ends the output.
        drop(command);
        drop(theirs);
        let ours = File::from(ours);
        let mut reads = ours.try_clone().expect("one more handle");
        let (sender, output) = mpsc::channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // When nobody has their end any more, the system says so with an error.
            while let Ok(length @ 1..) = reads.read(&mut bytes) {
                if sender.send(bytes[..length].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self { child, ours, output, parser: vte::Parser::new(), screen: Screen::new(), written: Vec::new() }
    }

    fn keys(&mut self, keys: &str) {
        self.ours.write_all(keys.as_bytes()).expect("it listens");
    }

    /// Waits until the screen is as expected.
    fn shows(&mut self, what: &str, expected: impl Fn(&str) -> bool) {
        while !expected(&self.screen.text()) {
            let Ok(bytes) = self.output.recv_timeout(PATIENCE) else {
                unreachable!("{what} is not shown:\n{}", self.screen.text())
            };
            self.parser.advance(&mut self.screen, &bytes);
            self.written.extend(bytes);
        }
    }

    /// Waits for the end; what was written to the terminal.
    fn ends(mut self) -> (Option<i32>, String) {
        while let Ok(bytes) = self.output.recv_timeout(PATIENCE) {
            self.written.extend(bytes);
        }
        let status = self.child.wait().expect("it ends").code();
        (status, String::from_utf8_lossy(&self.written).into_owned())
    }
}

const ENTERED: &str = "\u{1b}[?1049h";
const LEFT: &str = "\u{1b}[?1049l";

fn world() -> World {
    World::new(
        "@ home/.claude/skills/alpha/SKILL.md\n---\ndescription: The first.\n---\nText of alpha.
@ home/.claude/skills/beta/SKILL.md\n---\ndescription: The second.\n---\n# Heading\n\nText of beta.",
    )
}

#[test]
fn it_lists_searches_shows_and_quits() {
    let world = world();
    let mut browse = Browse::start(world.command(&["browse"]));
    browse.shows("the list", |screen| {
        screen.contains("2 of 2 skills") && screen.contains("beta") && screen.contains("Text of alpha.")
    });
    browse.keys("bet");
    browse.shows("what was searched", |screen| {
        screen.contains("search: bet") && screen.contains("1 of 2 skills") && screen.contains("Text of beta.")
    });
    browse.keys("\r");
    browse.shows("the text alone", |screen| !screen.contains(" skills ─") && screen.contains("Text of beta."));
    browse.keys("\u{1b}");
    browse.shows("the list again", |screen| screen.contains(" skills ─") && screen.contains("search: bet"));
    browse.keys("\u{1b}");
    browse.shows("all skills", |screen| screen.contains("2 of 2 skills"));
    browse.keys("\u{1b}");
    let (status, written) = browse.ends();
    assert_eq!(status, Some(0), "{written:?}");
    assert!(written.contains(ENTERED) && written.contains(LEFT), "{written:?}");
}

#[test]
fn a_signal_ends_it_and_the_terminal_is_given_back() {
    let world = world();
    let mut browse = Browse::start(world.command(&["browse"]));
    browse.shows("the list", |screen| screen.contains("2 of 2 skills"));
    kill_process(Pid::from_child(&browse.child), Signal::TERM).expect("it runs");
    let (status, written) = browse.ends();
    assert_eq!(status, Some(0), "{written:?}");
    assert!(written.contains(LEFT), "{written:?}");
}

#[test]
fn without_a_terminal_it_says_what_to_use() {
    let ran = world().run(&["browse"]);
    assert_ne!(ran.status, 0);
    assert!(ran.stderr.contains("terminal") && ran.stderr.contains("skillgate list"), "{}", ran.stderr);
}
