//! Group G: what two readers of one command line could take for different things.

use super::commands::{REFUSED, UNSUPPORTED, shown};
use crate::case::{Act, Case, Group, Target};
use crate::trial::{Setting, Trial, Trouble, milliseconds};
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Duration;

const LIBRARY: &[Target] = &[Target::Library];
/// Generated commands that are compared with the machine's own shell.
const GENERATED: usize = 5_000;
/// What refusing a program that is too large may take. Reading it alone takes some milliseconds.
const SOON: Duration = Duration::from_millis(500);

pub(super) const CASES: &[Case] = &[
    Case {
        id: 73,
        title: "quirks of words",
        group: Group::Commands,
        targets: LIBRARY,
        attempt: "continued lines, carriage returns, blanks of every kind, IFS, ANSI quotes, file names that are options, look-alikes",
        control: "plain words, and what the same quirks give as data",
        denial: "a quirk is data or is refused; the vector that runs is the one that was decided",
        sources: &["CVE-2025-66032", "CVE-2026-28460", "class: two parsers for one text"],
        limit: Duration::from_secs(20),
        act: Act::Here(quirks),
    },
    Case {
        id: 75,
        title: "vectors as the machine's shell makes them",
        group: Group::Commands,
        targets: LIBRARY,
        attempt: "five thousand generated commands, run by the capability shell",
        control: "the machine's own sh makes words of the same commands",
        denial: "the vector that runs is the one that sh makes, or the command is refused",
        sources: &["CVE-2026-34452", "class: checked text, other text run"],
        limit: Duration::from_secs(120),
        act: Act::Here(differential),
    },
    Case {
        id: 76,
        title: "programs without bound",
        group: Group::Commands,
        targets: LIBRARY,
        attempt: "a program of 1 MiB, and a hundred thousand nested substitutions, groups, parameters and tests",
        control: "a program of three levels",
        denial: "refused within half a second, before anything runs",
        sources: &["class: parser recursion", "class: a weaker path for what is too long"],
        limit: Duration::from_secs(30),
        act: Act::Here(unbounded),
    },
];

fn quirks(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    for (source, expected) in [
        ("can\\\nary", UNSUPPORTED),
        ("args a\\\n;canary", REFUSED),
        ("args $IFS;canary", REFUSED),
        ("args a\t;\tcanary", REFUSED),
        ("c''a\"n\"ary", REFUSED),
        ("$'canary'", REFUSED),
        ("$'\\x63anary'", REFUSED),
    ] {
        let (ended, ran) = trial.recorded(source, &Setting::granting(&["Bash(args:*)"]))?;
        let found = if ran.is_empty() { ended } else { format!("{ended}, after {ran:?}") };
        trial.denied(shown(source), expected, found);
    }
    // Data stays data: one command, with these words.
    for (source, words) in [
        ("args a\\\nb", vec!["args", "ab"]),
        ("args 'a;canary'", vec!["args", "a;canary"]),
        ("args \"a|canary\"", vec!["args", "a|canary"]),
        ("args a\\;canary", vec!["args", "a;canary"]),
        ("args $'a;canary\\n'", vec!["args", "a;canary\n"]),
        ("args a\u{ff1b}canary", vec!["args", "a\u{ff1b}canary"]),
        ("args a\u{a0}canary", vec!["args", "a\u{a0}canary"]),
        ("args a\u{2028}canary", vec!["args", "a\u{2028}canary"]),
        ("args a\u{37e}canary", vec!["args", "a\u{37e}canary"]),
        ("args a #;canary", vec!["args", "a"]),
        ("args a#;#canary", vec!["args", "a#"]),
        ("args '' a", vec!["args", "", "a"]),
        ("args ~canary", vec!["args", "~canary"]),
        ("args {a,b}{1..2}", vec!["args", "a1", "a2", "b1", "b2"]),
    ] {
        let (ended, ran) = trial.recorded(source, &Setting::granting(&["Bash(args:*)"]))?;
        let expected = format!("exit 0, after {:?}", [words]);
        trial.denied(shown(source), &expected, format!("{ended}, after {ran:?}"));
    }
    let (ended, ran) = trial.recorded("args a\0b", &Setting::granting(&["Bash"]))?;
    trial.denied("a NUL", UNSUPPORTED, if ran.is_empty() { ended } else { format!("{ended}, after {ran:?}") });
    // A name in the project that would be an option of whoever is given it.
    trial.field.write("project/--pre=canary", "")?;
    trial.field.write("project/-delete", "")?;
    for source in ["args *", "args $(args -x)", "args -- *"] {
        let (ended, _) = trial.recorded(source, &Setting::granting(&["Bash(args:*)"]))?;
        trial.denied(shown(source), "refused: a produced word is never an option", ended);
    }
    let (ended, ran) = trial.recorded("args *", &Setting::granting(&["Bash"]))?;
    let produced = ran.iter().flatten().any(|word| word == "--pre=canary");
    trial.control_when(
        "`args *` under a grant of everything",
        "the name is given",
        produced,
        format!("{ended}, after {ran:?}"),
    );
    let (ended, ran) = trial.recorded("args ./*", &Setting::granting(&["Bash(args:*)"]))?;
    let given = ended == "exit 0" && ran.iter().flatten().any(|word| word == "./-delete");
    trial.control_when("`args ./*`", "exit 0 with names that are no options", given, format!("{ended}, after {ran:?}"));
    Ok(())
}

fn unbounded(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let deep = |open: &str, close: &str| format!("{}canary{}", open.repeat(100_000), close.repeat(100_000));
    for (what, source) in [
        ("1 MiB of words", format!("args {}", "a ".repeat(1 << 19))),
        ("100,000 substitutions", deep("$(", ")")),
        ("100,000 groups", deep("{ ", "; }")),
        ("100,000 subshells", deep("( ", " )")),
        ("100,000 parameters", deep("${x:-", "}")),
        ("100,000 conditions", deep("if ", "; then args; fi")),
        ("100,000 quotes", deep("\"$(", ")\"")),
        ("100,000 parentheses in arithmetic", format!("args $(({}1{}))", "(".repeat(100_000), ")".repeat(100_000))),
    ] {
        let started = std::time::Instant::now();
        let (ended, ran) = trial.recorded(&source, &Setting::granting(&["Bash"]))?;
        let took = started.elapsed();
        trial.denied(what, UNSUPPORTED, if ran.is_empty() { ended } else { format!("{ended}, after {ran:?}") });
        let expected = format!("at most {}", milliseconds(SOON));
        trial.denied_when(format!("{what}: time"), &expected, took <= SOON, milliseconds(took));
    }
    let (ended, ran) = trial.recorded("{ ( args $(args ${x:-a}) ); }", &Setting::granting(&["Bash"]))?;
    trial.control("three levels", "exit 0, after 2", format!("{ended}, after {}", ran.len()));
    Ok(())
}

fn differential(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let mut writer = Writer(0x2545_f491_4f6c_dd1d);
    let commands: Vec<String> = (0..GENERATED).map(|_| writer.command()).collect();
    let theirs = words_of_sh(&trial.field.project(), &commands)?;
    trial.control_when(
        "commands that the machine's sh made words of",
        "all of them",
        theirs.len() == commands.len(),
        theirs.len(),
    );
    let (mut agree, mut refused, mut differ) = (0usize, 0usize, Vec::new());
    for (command, theirs) in commands.iter().zip(&theirs) {
        let (ended, ran) = trial.recorded(command, &Setting::granting(&["Bash(args:*)"]))?;
        match ran.as_slice() {
            // A command in a word runs before the one that the word is for.
            [.., ours] if ours.get(1..).unwrap_or_default() == theirs.as_slice() => agree += 1,
            [] if ended == UNSUPPORTED || ended.starts_with("refused: ") => refused += 1,
            ran => differ.push(format!("{}: sh {theirs:?}, ours {ran:?} ({ended})", shown(command))),
        }
    }
    let found = match differ.first() {
        None => format!("{agree} agree, {refused} are refused"),
        Some(first) => format!("{} differ; {first}", differ.len()),
    };
    trial.denied_when("vectors", "as sh makes them, or refused", differ.is_empty(), &found);
    trial.control_when("vectors that agree", "nine of ten at least", agree * 10 >= commands.len() * 9, found);
    Ok(())
}

/// Writes commands of the words that every shell of POSIX takes in the same way.
struct Writer(u64);

impl Writer {
    fn below(&mut self, bound: u64) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound).unwrap_or(0)
    }

    fn one_of<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        let at = self.below(texts.len() as u64);
        texts.get(at).copied().unwrap_or_default()
    }

    fn command(&mut self) -> String {
        let words: Vec<String> = (0..=self.below(4)).map(|_| self.word()).collect();
        let blank = self.one_of(&[" ", "  ", "\t", " \\\n"]);
        format!("args{blank}{}{}", words.join(blank), self.one_of(&["", " # ; canary", " ", ";"]))
    }

    fn word(&mut self) -> String {
        (0..=self.below(3)).map(|_| self.piece()).collect()
    }

    fn piece(&mut self) -> String {
        let text = self.one_of(&[
            "a", "b c", "d;e", "f|g", "h&i", "#j", "k=l", "é", "m*", "$x", "\\n", "(o)", "<p>", "~q", "", " ",
        ]);
        match self.below(6) {
            0 => format!("'{text}'"),
            1 => format!("\"{}\"", text.replace('$', "\\$").replace("\\n", "\\\\n")),
            2 => text.chars().filter(|c| *c != '\n').map(|c| format!("\\{c}")).collect(),
            3 => self
                .one_of(&["${x:-y}", "\"${x:-y z}\"", "${u:-}", "\"$x\"", "${x}", "\"${x:+set}\"", "$((1+2))"])
                .to_owned(),
            4 => self.one_of(&["\"$(args s t)\"", "\"`args v`\"", "w$(args)"]).to_owned(),
            _ => self.one_of(&["a", "bc", "d.e", "f/g", "h=i", "j:k", "l%", "-m", "é", "n@o"]).to_owned(),
        }
    }
}

/// The words that the machine's own `sh` makes of each command. It is given no file and runs nothing but a function.
fn words_of_sh(directory: &std::path::Path, commands: &[String]) -> Result<Vec<Vec<String>>, Trouble> {
    let mut script = String::from(
        "set -f\nargs() { printf '%s\\n' \"$*\"; }\nwords() { for w; do printf '%s\\001' \"$w\"; done; printf '\\002'; }\n",
    );
    for command in commands {
        let rest = command.strip_prefix("args").unwrap_or(command);
        script.push_str(&format!("words{rest}\n"));
    }
    #[expect(clippy::disallowed_methods, reason = "the peer that is compared with; it is given a fixed environment")]
    let mut child = Command::new("sh")
        .current_dir(directory)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut input = child.stdin.take().ok_or_else(|| Trouble::Broken("sh has no input".to_owned()))?;
    let feeding = std::thread::spawn(move || input.write_all(script.as_bytes()));
    let output = child.wait_with_output()?;
    // A shell that stopped reading shows in what is missing of its output.
    let _stopped_reading = feeding.join();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let of_command = |part: &str| {
        let words = part.strip_suffix('\u{1}').map(|words| words.split('\u{1}').map(str::to_owned).collect());
        words.unwrap_or_default()
    };
    Ok(text.split_terminator('\u{2}').map(of_command).collect())
}
