use crate::case::{Case, Target};
use crate::environment::Environment;
use crate::trial::{Check, Side};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// How a case ended against one backend.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Every attempt was denied exactly as it must be, and every control succeeded.
    Passed,
    /// Something was not denied, was denied in another way, or a control did not succeed.
    Failed,
    /// The backend says that it cannot work on this machine, and nothing ran.
    Unavailable,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Outcome::Passed => "passed",
            Outcome::Failed => "failed",
            Outcome::Unavailable => "unavailable",
        })
    }
}

/// One thing that a case looked at.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheckReport {
    /// `attempt` or `control`.
    pub kind: String,
    /// What was done.
    pub what: String,
    /// What had to happen.
    pub expected: String,
    /// What happened.
    pub found: String,
    /// Whether that is what had to happen.
    pub holds: bool,
}

/// A case against one backend.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CaseReport {
    /// The case's number.
    pub id: u16,
    /// What it is about.
    pub title: String,
    /// The letter of its group.
    pub group: String,
    /// The backend, by the name it was handed in with.
    pub backend: String,
    /// How it ended.
    pub result: Outcome,
    /// The first thing that did not hold; for a case that passed, what denied the attempts.
    pub detail: String,
    /// What the controls showed.
    pub control: String,
    /// Everything that was looked at.
    pub checks: Vec<CheckReport>,
    /// Published incidents of this class of attack.
    pub sources: Vec<String>,
    /// Wall time, microseconds.
    pub duration_us: u64,
    /// The case's own time limit, milliseconds.
    pub limit_ms: u64,
}

/// How many cases of one backend ended how.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Summary {
    /// Cases that passed.
    pub passed: u32,
    /// Cases that failed.
    pub failed: u32,
    /// Cases that the backend said it cannot run here.
    pub unavailable: u32,
}

/// What the suite found.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    /// The cases, by backend and number.
    pub cases: Vec<CaseReport>,
    /// The numbers of each backend.
    pub summary: BTreeMap<String, Summary>,
    /// Backends that are only compared with: what they let through is no failure of the suite.
    pub baselines: Vec<String>,
    /// What it was run on.
    pub environment: Environment,
}

impl Report {
    pub(crate) fn new(cases: Vec<CaseReport>, environment: Environment) -> Self {
        let mut summary: BTreeMap<String, Summary> = BTreeMap::new();
        for case in &cases {
            let numbers = summary.entry(case.backend.clone()).or_default();
            match case.result {
                Outcome::Passed => numbers.passed += 1,
                Outcome::Failed => numbers.failed += 1,
                Outcome::Unavailable => numbers.unavailable += 1,
            }
        }
        Self { cases, summary, baselines: Vec::new(), environment }
    }

    /// The same cases against weaker walls, side by side; what those let through is no failure.
    #[must_use]
    pub fn compared_with(mut self, other: Report) -> Self {
        self.baselines.extend(other.summary.keys().cloned());
        self.summary.extend(other.summary);
        self.cases.extend(other.cases);
        self
    }

    /// Whether a case failed.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.under_test().any(|numbers| numbers.failed > 0)
    }

    /// Whether a backend could not be tried here.
    #[must_use]
    pub fn has_unavailable(&self) -> bool {
        self.under_test().any(|numbers| numbers.unavailable > 0)
    }

    fn under_test(&self) -> impl Iterator<Item = &Summary> {
        self.summary.iter().filter(|(backend, _)| !self.baselines.contains(backend)).map(|(_, numbers)| numbers)
    }
}

/// How a trial ended, from what it looked at.
pub(crate) struct Judgement {
    pub(crate) result: Outcome,
    pub(crate) detail: String,
    pub(crate) control: String,
}

impl Judgement {
    /// A case that tried nothing, or that has no control, has shown nothing: it failed.
    pub(crate) fn of(checks: &[Check]) -> Self {
        let of = |side: Side| checks.iter().filter(move |check| check.side == side);
        let control = match (of(Side::Control).find(|check| !check.holds), of(Side::Control).next_back()) {
            (Some(broken), _) => sentence(broken),
            (None, Some(_)) => {
                let all: Vec<String> =
                    of(Side::Control).map(|check| format!("{}: {}", check.what, check.found)).collect();
                joined(&all)
            }
            (None, None) => "there was none".to_owned(),
        };
        let failed = |detail: String, control: String| Self { result: Outcome::Failed, detail, control };
        if let Some(check) = checks.iter().find(|check| !check.holds) {
            return failed(sentence(check), control);
        }
        if of(Side::Attempt).next().is_none() {
            return failed("nothing was tried".to_owned(), control);
        }
        if of(Side::Control).next().is_none() {
            return failed("no control shows that the attempt would succeed".to_owned(), control);
        }
        let denials: Vec<String> = of(Side::Attempt).map(|check| format!("{}: {}", check.what, check.found)).collect();
        Self { result: Outcome::Passed, detail: joined(&denials), control }
    }
}

/// A list that is read at a glance; the report holds all of it.
fn joined(lines: &[String]) -> String {
    const SHOWN: usize = 3;
    let mut text = lines.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join("; ");
    if lines.len() > SHOWN {
        text.push_str(&format!("; and {} more", lines.len() - SHOWN));
    }
    text
}

fn sentence(check: &Check) -> String {
    format!("{}: expected {}, found {}", check.what, check.expected, check.found)
}

impl CaseReport {
    pub(crate) fn new(case: &Case, backend: &str, judgement: Judgement, checks: &[Check], duration_us: u64) -> Self {
        let of_check = |check: &Check| CheckReport {
            kind: match check.side {
                Side::Attempt => "attempt",
                Side::Control => "control",
            }
            .to_owned(),
            what: check.what.clone(),
            expected: check.expected.clone(),
            found: check.found.clone(),
            holds: check.holds,
        };
        Self {
            id: case.id,
            title: case.title.to_owned(),
            group: case.group.letter().to_string(),
            backend: backend.to_owned(),
            result: judgement.result,
            detail: judgement.detail,
            control: judgement.control,
            checks: checks.iter().map(of_check).collect(),
            sources: case.sources.iter().map(|source| (*source).to_owned()).collect(),
            duration_us,
            limit_ms: u64::try_from(case.limit.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

/// One case that would be run.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlannedCase {
    /// The case's number.
    pub id: u16,
    /// What it is about.
    pub title: String,
    /// The letter of its group.
    pub group: String,
    /// The backend.
    pub backend: String,
    /// What is tried.
    pub attempt: String,
    /// What shows that it would succeed where nothing denies it.
    pub control: String,
    /// What has to happen.
    pub denial: String,
    /// Published incidents of this class of attack.
    pub sources: Vec<String>,
    /// The case's own time limit, milliseconds.
    pub limit_ms: u64,
}

impl PlannedCase {
    pub(crate) fn new(case: &Case, backend: &str) -> Self {
        Self {
            id: case.id,
            title: case.title.to_owned(),
            group: case.group.letter().to_string(),
            backend: backend.to_owned(),
            attempt: case.attempt.to_owned(),
            control: case.control.to_owned(),
            denial: case.denial.to_owned(),
            sources: case.sources.iter().map(|source| (*source).to_owned()).collect(),
            limit_ms: u64::try_from(case.limit.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

/// The matrix of cases and targets, as docs/audit.md has it.
#[must_use]
pub fn matrix(cases: &[Case]) -> String {
    let heads: Vec<&str> = Target::ALL.iter().map(|target| target.name()).collect();
    let mut table = format!("\n| case | group | what | {} | has to happen |\n", heads.join(" | "));
    table.push_str("|---|---|---|---|---|---|---|\n");
    for case in cases {
        let marks: Vec<&str> =
            Target::ALL.iter().map(|target| if case.applies_to(*target) { "yes" } else { "–" }).collect();
        let denial = case.denial.replace('|', "\\|");
        let title = case.title.replace('|', "\\|");
        table.push_str(&format!(
            "| {} | {} | {title} | {} | {denial} |\n",
            case.id,
            case.group.letter(),
            marks.join(" | ")
        ));
    }
    table.push('\n');
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(side: Side, holds: bool) -> Check {
        Check { side, what: "it".to_owned(), expected: "no".to_owned(), found: "no".to_owned(), holds }
    }

    #[test]
    fn a_case_passes_only_with_an_attempt_and_a_control_that_hold() {
        use Side::{Attempt, Control};
        for (checks, result) in [
            (vec![], Outcome::Failed),
            (vec![check(Attempt, true)], Outcome::Failed),
            (vec![check(Control, true)], Outcome::Failed),
            (vec![check(Attempt, true), check(Control, false)], Outcome::Failed),
            (vec![check(Attempt, false), check(Control, true)], Outcome::Failed),
            (vec![check(Attempt, true), check(Control, true)], Outcome::Passed),
        ] {
            assert_eq!(Judgement::of(&checks).result, result, "{checks:?}");
        }
    }
}
