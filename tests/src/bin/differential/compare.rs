//! One program in both shells.

use crate::bash::{self, Answer};
use skillgate_core::Limits;
use skillgate_exec::{Bound, Mounts, Program, RunError, Stop};
use skillgate_policy::{Authority, Effect, Gate, builtin_limits};
use skillgate_tests::generated::{DIRECTORY, FILES};
use skillgate_tests::memory::{COMMANDS, run_in_memory};
use skillgate_tests::{Tree, host};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use tempfile::TempDir;

/// Bytes that one text of a program may have; a program that makes more is not compared.
const OUTPUT_BYTES: u64 = 65_536;

/// The directory of the programs, and what surrounds them.
pub(crate) struct Comparison {
    tree: Tree,
    mounts: Arc<Mounts>,
    place: TempDir,
    gate: Gate,
    limits: Limits,
}

/// What became of one program.
pub(crate) enum Seen {
    Same { vectors: u64 },
    Refused { reason: String },
    Different(String),
}

#[derive(Default)]
pub(crate) struct Totals {
    pub(crate) same: u64,
    pub(crate) vectors: u64,
    pub(crate) refused: u64,
    pub(crate) differences: Vec<String>,
    reasons: BTreeMap<String, u64>,
}

impl Totals {
    pub(crate) fn refuse(&mut self, reason: String) {
        self.refused += 1;
        *self.reasons.entry(reason).or_default() += 1;
    }

    pub(crate) fn plus(mut self, other: Self) -> Self {
        self.same += other.same;
        self.vectors += other.vectors;
        self.refused += other.refused;
        self.differences.extend(other.differences);
        for (reason, count) in other.reasons {
            *self.reasons.entry(reason).or_default() += count;
        }
        self
    }

    /// The reasons that most of the refusals have.
    pub(crate) fn common_reasons(&self, most: usize) -> Vec<(&str, u64)> {
        let mut reasons: Vec<_> = self.reasons.iter().map(|(reason, count)| (reason.as_str(), *count)).collect();
        reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        reasons.truncate(most);
        reasons
    }
}

/// What the capability shell does with a program.
enum Ours {
    Refused(String),
    Ran(Answer),
    /// It broke a rule of its own.
    Wrong(String),
}

impl Comparison {
    pub(crate) fn prepare() -> Result<Self, String> {
        let tree = Tree::new("");
        for (name, text) in FILES {
            tree.write(&format!("{DIRECTORY}/{name}"), text.as_bytes());
        }
        let mounts = Mounts::open_ambient(Some(&tree.path("")), &[]).map_err(|(_, error)| error.to_string())?;
        let place = tempfile::tempdir().map_err(|error| error.to_string())?;
        let gate = Gate::new(Authority::of(host(&[(Effect::Allow, "Bash")])));
        // Generated programs can double a text many times; what bash writes of it is kept small as well.
        let limits = builtin_limits().lowered_by("output_bytes", OUTPUT_BYTES).map_err(|error| error.to_string())?;
        Ok(Self { tree, mounts, place, gate, limits })
    }

    /// Evaluates programs in both shells; what the capability shell refuses does not run in bash.
    pub(crate) fn compare(&self, programs: &[String]) -> Result<Vec<Seen>, String> {
        let ours: Vec<Ours> = programs.iter().map(|program| self.ours(program)).collect();
        let ran = programs.iter().zip(&ours).filter(|(_, ours)| matches!(ours, Ours::Ran(_)));
        let texts: Vec<&str> = ran.map(|(program, _)| program.as_str()).collect();
        let mut answers = bash::evaluate(&texts, &self.tree.path(DIRECTORY), self.place.path())?.into_iter();
        let mut seen = Vec::with_capacity(programs.len());
        for (program, ours) in programs.iter().zip(ours) {
            seen.push(match ours {
                Ours::Refused(reason) => Seen::Refused { reason },
                Ours::Wrong(what) => Seen::Different(format!("{program}\n{what}")),
                Ours::Ran(mut ours) => {
                    let mut theirs = answers.next().ok_or("bash evaluated too few programs")?;
                    if program.contains('|') {
                        // The stages of a pipeline run at the same time.
                        ours.vectors.sort_unstable();
                        theirs.vectors.sort_unstable();
                    }
                    if ours == theirs {
                        Seen::Same { vectors: ours.vectors.len() as u64 }
                    } else {
                        Seen::Different(difference(program, &ours, &theirs))
                    }
                }
            });
        }
        Ok(seen)
    }

    fn ours(&self, text: &str) -> Ours {
        let program = match Program::from_text(text, &self.limits) {
            Ok(program) => program,
            Err(error) => return Ours::Refused(error.to_string()),
        };
        let run = run_in_memory(&program, &self.gate, (&self.mounts, DIRECTORY), self.limits.clone(), COMMANDS);
        match run.result {
            Ok(_) if run.stdout.len() as u64 >= OUTPUT_BYTES => Ours::Refused("more text than is compared".to_owned()),
            Ok(status) => match run.ran_what_was_checked() {
                Ok(()) => Ours::Ran(Answer { vectors: run.vectors, stdout: run.stdout, status }),
                Err(what) => Ours::Wrong(what),
            },
            Err(RunError::Stopped { stop: Stop::Bound(Bound::Output(_) | Bound::Variables(_)), .. }) => {
                Ours::Refused("more text than is compared".to_owned())
            }
            Err(error) if run.vectors.is_empty() && run.stdout.is_empty() => Ours::Refused(error.to_string()),
            Err(error) => Ours::Wrong(format!("it ended in its middle: {error}")),
        }
    }
}

fn difference(program: &str, ours: &Answer, theirs: &Answer) -> String {
    let mut text = format!("---\n{program}---");
    for (name, answer) in [("ours", ours), ("bash", theirs)] {
        let stdout = String::from_utf8_lossy(&answer.stdout);
        // Writing into a String cannot fail.
        let _ =
            write!(text, "\n{name}: status {}, output {stdout:?}\n      vectors {:?}", answer.status, answer.vectors);
    }
    text
}
