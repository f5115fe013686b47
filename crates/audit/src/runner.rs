use crate::case::{Case, Group, Target};
use crate::cases;
use crate::environment::{About, Environment};
use crate::field::Field;
use crate::native;
use crate::report::{CaseReport, Judgement, Outcome, PlannedCase, Report};
use crate::subject::Subject;
use crate::trial::{Check, Ground, Side, Trial, Trouble, milliseconds};
use skillgate_core::Limits;
use std::fmt;
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Instant;

/// Stack of a case: the guests that it runs take theirs from it.
const STACK: usize = 8 << 20;

/// Which cases are run, and what with.
#[derive(Clone, Debug)]
pub struct Options {
    /// The numbers of the cases; all when empty.
    pub only: Vec<u16>,
    /// The groups; all when empty.
    pub groups: Vec<Group>,
    /// The limits in force; cases lower them, never raise them.
    pub limits: Limits,
    /// The suite's own native programs (`skillgate-probes`). Without them every case that needs one fails.
    pub probes: Option<PathBuf>,
    /// What the report says of the program that runs it.
    pub about: About,
}

impl Options {
    /// Every case, under these limits.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self { only: Vec::new(), groups: Vec::new(), limits, probes: None, about: About::default() }
    }

    /// Only the cases of these numbers.
    #[must_use]
    pub fn only(mut self, ids: impl IntoIterator<Item = u16>) -> Self {
        self.only = ids.into_iter().collect();
        self
    }

    /// With the native programs of the suite.
    #[must_use]
    pub fn probes(mut self, probes: PathBuf) -> Self {
        self.probes = Some(probes);
        self
    }

    fn wants(&self, case: &Case) -> bool {
        (self.only.is_empty() || self.only.contains(&case.id))
            && (self.groups.is_empty() || self.groups.contains(&case.group))
    }
}

/// Told as the suite goes on.
pub trait Progress: fmt::Debug {
    /// A case begins: it is the `index`-th of `total`, from 1.
    fn started(&self, index: usize, total: usize, case: &Case, subject: &Subject);
    /// A case ended.
    fn finished(&self, report: &CaseReport);
}

/// Nobody is told.
#[derive(Clone, Copy, Debug)]
pub struct Silent;

impl Progress for Silent {
    fn started(&self, _: usize, _: usize, _: &Case, _: &Subject) {}
    fn finished(&self, _: &CaseReport) {}
}

/// Every case, by number.
#[must_use]
pub fn all_cases() -> Vec<Case> {
    let mut all = cases::all();
    all.sort_by_key(|case| case.id);
    all
}

/// The cases that would be run, in the order in which they would be. Nothing runs.
#[must_use]
pub fn plan(options: &Options, subjects: &[Subject]) -> Vec<PlannedCase> {
    chosen(options, subjects).iter().map(|(case, subject)| PlannedCase::new(case, subject.name())).collect()
}

/// Runs the cases one after another, each with its own time limit, and reports.
///
/// Nothing reaches the network, and nothing destructive is done outside the sandbox: a control uses arguments that fail later
/// than the permission that is asked about, and bombs are small.
#[must_use]
pub fn run(options: &Options, subjects: &[Subject], progress: &dyn Progress) -> Report {
    let chosen = chosen(options, subjects);
    let ground = Ground { limits: options.limits.clone(), probes: options.probes.clone() };
    let mut reports = Vec::new();
    for (index, (case, subject)) in chosen.iter().enumerate() {
        progress.started(index + 1, chosen.len(), case, subject);
        let report = try_case(case, subject, &ground);
        progress.finished(&report);
        reports.push(report);
    }
    let facts = native::facts(&ground);
    let environment = Environment::read(&options.about, &options.limits, options.probes.as_deref(), facts.landlock_abi);
    Report::new(reports, environment)
}

fn chosen<'s>(options: &Options, subjects: &'s [Subject]) -> Vec<(Case, &'s Subject)> {
    let cases: Vec<Case> = all_cases().into_iter().filter(|case| options.wants(case)).collect();
    let of = |subject: &'s Subject| {
        let apply = cases.iter().copied().filter(|case| subject.takes(case));
        apply.map(move |case| (case, subject)).collect::<Vec<_>>()
    };
    subjects.iter().flat_map(of).collect()
}

/// Whether there is a case for a target, so that a choice that leaves nothing is noticed.
#[must_use]
pub fn has_cases(options: &Options, target: Target) -> bool {
    all_cases().iter().any(|case| options.wants(case) && case.applies_to(target))
}

/// What a case gave: its checks, and why it could not go on.
type Tried = (Vec<Check>, Result<(), Trouble>);

/// Runs one case on a thread of its own. One that does not end is left behind: the process that runs the suite ends some day,
/// and a case that hangs must not keep the others from being run.
fn try_case(case: &Case, subject: &Subject, ground: &Ground) -> CaseReport {
    let (sender, receiver) = channel::<Tried>();
    let started = Instant::now();
    let spawned = {
        let (case, subject, ground) = (*case, subject.clone(), ground.clone());
        let body = move || {
            // Nobody waits any more when the time is over.
            let _nobody_waits = sender.send(attempt(&case, &subject, &ground));
        };
        thread::Builder::new().name(format!("case-{}", case.id)).stack_size(STACK).spawn(body)
    };
    let tried = match &spawned {
        Ok(_) => receiver.recv_timeout(case.limit),
        Err(_) => Err(RecvTimeoutError::Disconnected),
    };
    let took = started.elapsed();
    let (checks, judgement) = match tried {
        Ok((checks, Ok(()))) => {
            let judgement = Judgement::of(&checks);
            (checks, judgement)
        }
        Ok((checks, Err(Trouble::Unavailable { stage, reason }))) => {
            let judgement = unavailable(&checks, &stage, &reason);
            (checks, judgement)
        }
        Ok((checks, Err(Trouble::Broken(reason)))) => (checks, failed(format!("the case could not be run: {reason}"))),
        Err(RecvTimeoutError::Timeout) => {
            (Vec::new(), failed(format!("it did not end within {}", milliseconds(case.limit))))
        }
        Err(RecvTimeoutError::Disconnected) => (Vec::new(), failed("it panicked, or has no thread".to_owned())),
    };
    let duration = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    CaseReport::new(case, subject.name(), judgement, &checks, duration)
}

fn attempt(case: &Case, subject: &Subject, ground: &Ground) -> Tried {
    let field = match Field::new() {
        Ok(field) => field,
        Err(error) => return (Vec::new(), Err(Trouble::Broken(format!("a temporary directory: {error}")))),
    };
    let mut trial = Trial { subject, ground, field, checks: Vec::new() };
    let result = case.act.run(&mut trial);
    let Trial { field, checks, .. } = trial;
    let closed = field.close().map_err(|error| Trouble::Broken(format!("the field cannot be removed: {error}")));
    (checks, result.and(closed))
}

/// The backend says that it cannot work here. That is no failure when nothing of the attempts ran; what was denied or let
/// through before is still looked at.
fn unavailable(checks: &[Check], stage: &str, reason: &str) -> Judgement {
    if let Some(broken) = checks.iter().find(|check| !check.holds && check.side == Side::Attempt) {
        return failed(format!("{}: found {} before it was unavailable", broken.what, broken.found));
    }
    Judgement {
        result: Outcome::Unavailable,
        detail: format!("stage {stage}: {reason}; nothing ran"),
        control: "nothing to compare with".to_owned(),
    }
}

fn failed(detail: String) -> Judgement {
    Judgement { result: Outcome::Failed, detail, control: "not reached".to_owned() }
}
