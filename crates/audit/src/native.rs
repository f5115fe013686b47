//! The suite's native programs: run in a sandbox, and without one for comparison.

use crate::ended::{Ended, Ran};
use crate::trial::{Ground, Setting, Trial, Trouble};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// The command's name, under which a backend is asked to offer the program.
pub(crate) const PROBES: &str = "skillgate-probes";

/// The exit status of a process whose sandbox is not available.
pub(crate) const UNAVAILABLE: i32 = 6;

/// What probes answered: a label and an answer for each act.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Answers(BTreeMap<String, String>);

impl Answers {
    pub(crate) fn read(text: &str) -> Self {
        let lines = text.lines().filter_map(|line| line.split_once('\t'));
        Self(lines.map(|(label, answer)| (label.to_owned(), answer.to_owned())).collect())
    }

    /// The answer to one act.
    pub(crate) fn of(&self, label: &str) -> &str {
        self.0.get(label).map_or("no answer", String::as_str)
    }

    /// The value of an answer that has one.
    pub(crate) fn value(&self, label: &str) -> &str {
        self.of(label).strip_prefix("ok:").unwrap_or_default()
    }

    pub(crate) fn labels(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

/// What a probe gave in a sandbox.
#[derive(Clone, Debug)]
pub(crate) struct Inside {
    pub(crate) ran: Ran,
    pub(crate) answers: Answers,
}

impl fmt::Display for Inside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.ran.ended, self.ran.messages())
    }
}

impl Trial<'_> {
    /// The program, or why there is none.
    pub(crate) fn probes(&self) -> Result<&Path, Trouble> {
        let missing = || {
            Trouble::Broken(format!(
                "the native programs of the suite are not there: put `{PROBES}` beside the program"
            ))
        };
        self.ground.probes.as_deref().ok_or_else(missing)
    }

    /// A setting in which everything is granted and the backend offers the probes.
    pub(crate) fn with_probes(&self) -> Result<Setting, Trouble> {
        Ok(Setting::new().program(PROBES, self.probes()?))
    }

    /// Runs a probe in the sandbox.
    pub(crate) fn inside(&self, words: &[&str]) -> Result<Inside, Trouble> {
        self.inside_with(words, &self.with_probes()?)
    }

    /// Runs a probe in the sandbox under a setting.
    pub(crate) fn inside_with(&self, words: &[&str], setting: &Setting) -> Result<Inside, Trouble> {
        let vector: Vec<&str> = std::iter::once(PROBES).chain(words.iter().copied()).collect();
        let ran = self.vector(&vector, setting)?;
        let answers = Answers::read(&ran.text());
        Ok(Inside { ran, answers })
    }

    /// Runs a probe without any sandbox.
    pub(crate) fn outside(&self, words: &[&str]) -> Result<Answers, Trouble> {
        let output = self.unconfined(words)?.output()?;
        if !output.status.success() {
            return Err(Trouble::Broken(format!(
                "without a sandbox `{}` ended with {}",
                words.join(" "),
                output.status
            )));
        }
        Ok(Answers::read(&String::from_utf8_lossy(&output.stdout)))
    }

    /// The command of a probe without any sandbox.
    pub(crate) fn unconfined(&self, words: &[&str]) -> Result<Command, Trouble> {
        #[expect(clippy::disallowed_methods, reason = "the suite's own program, which whoever runs the suite names")]
        let mut command = Command::new(self.probes()?);
        command.args(words).current_dir(self.field.project()).stdin(Stdio::null()).stderr(Stdio::null());
        Ok(command)
    }

    /// Tries acts in the sandbox, each of which has to be answered with one of some errors.
    pub(crate) fn answered(&mut self, words: &[&str], expected: &[&str]) -> Result<Answers, Trouble> {
        let inside = self.inside(words)?;
        if inside.ran.ended != Ended::Exit(0) {
            self.denied(words.join(" "), "exit 0 with its answers", inside.to_string());
        }
        let (verb, acts) = words.split_first().map_or(("", &[][..]), |(verb, acts)| (*verb, acts));
        for act in acts {
            let answer = inside.answers.of(act);
            self.denied_when(
                self.shortly(&format!("{verb} {act}")),
                &expected.join(" or "),
                expected.contains(&answer),
                answer,
            );
        }
        Ok(inside.answers)
    }

    /// Shows that acts succeed without a sandbox.
    pub(crate) fn succeeds_outside(&mut self, words: &[&str]) -> Result<(), Trouble> {
        let answers = self.outside(words)?;
        let (verb, acts) = words.split_first().map_or(("", &[][..]), |(verb, acts)| (*verb, acts));
        for act in acts {
            let answer = answers.of(act);
            let holds = answer == "ok" || answer.starts_with("ok:");
            let what = self.shortly(&format!("{verb} {act} without a sandbox"));
            self.control_when(what, "ok", holds, answer);
        }
        Ok(())
    }

    /// System calls that have to be answered with one error in the sandbox. Without it the kernel answers otherwise; where it
    /// refuses this user by itself, the call is seen to arrive.
    pub(crate) fn calls(&mut self, names: &[&str], denial: &str) -> Result<(), Trouble> {
        let words: Vec<&str> = std::iter::once("calls").chain(names.iter().copied()).collect();
        let inside = self.inside(&words)?;
        let outside = self.outside(&words)?;
        let arrive: Vec<&str> = std::iter::once("arrive").chain(names.iter().copied()).collect();
        let arrived = self.outside(&arrive)?;
        for name in names {
            self.denied(*name, denial, inside.answers.of(name));
            let real = outside.of(name);
            if real == denial {
                let expected = "ok:arrived";
                let what = format!("{name} without a sandbox (the kernel refuses this user; seen by a filter)");
                self.control(what, expected, arrived.of(name));
            } else {
                let answered = real != "no answer";
                self.control_when(format!("{name} without a sandbox"), &format!("not {denial}"), answered, real);
            }
        }
        Ok(())
    }

    /// A text with the paths of the field cut short, so that reports of two runs can be compared.
    pub(crate) fn shortly(&self, text: &str) -> String {
        text.replace(&self.field.text(""), "FIELD")
    }
}

/// The processes of the machine whose command line holds a word.
pub(crate) fn processes_with(token: &str) -> Vec<u32> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pid = |entry: std::fs::DirEntry| entry.file_name().to_str()?.parse::<u32>().ok();
    let pids = entries.filter_map(|entry| pid(entry.ok()?));
    let has_token = |pid: &u32| {
        // A process that ended meanwhile has no command line, and neither has one that only waits to be reaped.
        let line = std::fs::read(PathBuf::from(format!("/proc/{pid}/cmdline"))).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(token)
    };
    pids.filter(has_token).collect()
}

/// A process without a sandbox that is ended when this is dropped.
#[derive(Debug)]
pub(crate) struct Ending(pub(crate) Child);

impl Drop for Ending {
    fn drop(&mut self) {
        // One that ended by itself needs no end.
        let _ended_already = self.0.kill();
        let _not_ours_any_more = self.0.wait();
    }
}

/// What only a native program can find out of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Facts {
    pub(crate) landlock_abi: Option<u32>,
}

/// Asks the probes; without them nothing is known.
pub(crate) fn facts(ground: &Ground) -> Facts {
    let Some(path) = &ground.probes else { return Facts::default() };
    #[expect(clippy::disallowed_methods, reason = "the suite's own program, which whoever runs the suite names")]
    let output = Command::new(path).arg("facts").env_clear().stdin(Stdio::null()).output();
    let text = |output: Output| String::from_utf8_lossy(&output.stdout).into_owned();
    let answers = Answers::read(&output.map(text).unwrap_or_default());
    Facts { landlock_abi: answers.value("landlock-abi").parse().ok() }
}
