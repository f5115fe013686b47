//! Group J: machines that lack something, and output that acts on a terminal.

use super::host_environment::{below, instead_of};
use crate::case::{Act, Case, Group, Target};
use crate::native::{Answers, UNAVAILABLE};
use crate::trial::{Trial, Trouble};
use skillgate_exec::sanitise;
use std::process::Stdio;
use std::time::Duration;

pub(super) const CASES: &[Case] = &[Case {
    id: 90,
    title: "degradation",
    group: Group::Trust,
    targets: &[Target::Host, Target::Library],
    attempt: "host: take away, one at a time, the system calls that each stage is built of, and run a program; library: titles, \
              clipboard writes, links, device strings, cursor moves, 8-bit controls and controls of direction in output",
    control: "host: with all of them the program runs; library: the text between them is left",
    denial: "host: not available, with the stage's name, and the program did not run; library: only printable characters, line \
             ends and tabs are left",
    sources: &["CVE-2026-42074", "CVE-2021-42574", "class: a weaker sandbox where a part is missing"],
    limit: Duration::from_secs(60),
    act: Act::BelowAParent(degradation),
}];

/// System calls that a stage needs, by the name under which a probe takes them away.
const PARTS: &[&str] = &[
    "unshare",
    "mount_setattr",
    "move_mount",
    "fsopen",
    "pivot_root",
    "setsid",
    "prlimit64",
    "landlock_create_ruleset",
    "landlock_restrict_self",
];

fn degradation(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    match trial.subject.target() {
        Target::Library => terminal_output(trial),
        Target::Host | Target::Wasm => missing_parts(trial),
    }
}

fn missing_parts(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let whole = below(trial, &["nothing"], |command| command)?;
    trial.control("with every part", "ok", whole.of("nothing"));
    for part in PARTS {
        let Some(command) = trial.subject.process(trial.probes()?, &trial.field.project(), &["nothing"]) else {
            return Err(Trouble::Broken("the backend cannot be run in a process of its own".to_owned()));
        };
        let mut lacking = instead_of(trial, &["without", part], &command);
        let output = lacking.stdin(Stdio::null()).output()?;
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        let ran = Answers::read(&String::from_utf8_lossy(&output.stdout));
        let unavailable = output.status.code() == Some(UNAVAILABLE) && messages.contains("stage");
        let found = format!("{}: {}", output.status, messages.trim());
        trial.denied_when(format!("without {part}"), "exit 6, and the stage's name", unavailable, found);
        trial.denied(format!("the program without {part}"), "no answer", ran.of("nothing"));
    }
    Ok(())
}

fn terminal_output(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let corpus: &[(&str, &[u8])] = &[
        ("a title", b"a\x1b]0;owned\x07b"),
        ("a clipboard write", b"a\x1b]52;c;b3duZWQ=\x07b"),
        ("a link", b"a\x1b]8;;http://owned.invalid\x1b\\b\x1b]8;;\x1b\\"),
        ("a device string", b"a\x1bPq#0owned\x1b\\b"),
        ("a privacy message", b"a\x1b^owned\x1b\\b"),
        ("a cursor move", b"a\x1b[2J\x1b[1;1Hb"),
        ("colours", b"\x1b[31ma\x1b[0mb"),
        ("carriage returns and backspaces", b"a\r\x08\x08b"),
        ("8-bit controls", b"a\xc2\x9b2Jb"),
        ("8-bit controls that are no UTF-8", b"a\x9b2Jb"),
        ("controls of direction", "a\u{202e}\u{2066}b\u{2069}".as_bytes()),
        ("tag characters", "a\u{e0041}\u{e007f}b".as_bytes()),
        ("NUL and DEL", b"a\0\x7fb"),
        ("a sequence that is cut off", b"ab\x1b]52;c;"),
    ];
    for (what, bytes) in corpus {
        let text = sanitise(bytes);
        let clean = text.chars().all(|c| {
            matches!(c, '\n' | '\t')
                || (!c.is_control()
                    && !matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}'))
        });
        trial.denied_when(*what, "only printable text, line ends and tabs", clean, text.escape_debug());
        let kept = text.starts_with('a') && text.contains('b');
        trial.control_when(format!("the text around {what}"), "is left", kept, text.escape_debug());
    }
    trial.control("line ends and tabs", "a\tb\n", sanitise(b"a\tb\n"));
    Ok(())
}
