//! `skillgate audit`

use crate::args::{AuditBackend, AuditVerb, Format, Global};
use crate::exit::{Failure, Status};
use crate::output::AuditPlanOutput;
use crate::policy::{self, InForce};
use crate::progress::Auditing;
use crate::text::{self, Style};
use crate::{components, context};
use skillgate_audit::{
    About, Baseline, Group, Options, Outcome, PlannedCase, Report, Subject, all_cases, matrix, plan,
};
use skillgate_packs::PackSet;
use skillgate_sandbox::Helper;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The suite's native programs, beside the command itself.
const PROBES: &str = "skillgate-probes";

pub(crate) fn run(global: &Global, verb: &AuditVerb) -> Result<Status, Failure> {
    if verb.matrix {
        text::data(&matrix(&all_cases()));
        return Ok(Status::Done);
    }
    let in_force = policy::in_force(global)?;
    let options = options(verb, &in_force)?;
    let subjects = subjects(global, verb, &in_force)?;
    let planned = plan(&options, &subjects);
    if planned.is_empty() {
        return Err(Failure::NoCase);
    }
    if verb.plan {
        print_plan(global, planned)?;
        return Ok(Status::Done);
    }
    let mut report = skillgate_audit::run(&options, &subjects, &Auditing::default());
    if verb.compare {
        let baselines: Vec<Subject> = Baseline::available().iter().map(Baseline::subject).collect();
        report = report.compared_with(skillgate_audit::run(&options, &baselines, &Auditing::default()));
    }
    if let Some(path) = &verb.html {
        #[expect(clippy::disallowed_methods, reason = "a file that the user named on the command line")]
        let written = std::fs::write(path, report.html());
        written.map_err(|error| Failure::Io { doing: format!("writing `{}`", path.display()), error })?;
    }
    if global.format == Format::Json {
        text::json(&report)?;
    } else {
        text::human(&table(&report, Style::of_data(global)));
    }
    Ok(match (report.has_failed(), report.has_unavailable()) {
        (true, _) => Status::Findings,
        (false, true) => Status::Unavailable,
        (false, false) => Status::Done,
    })
}

fn options(verb: &AuditVerb, in_force: &InForce) -> Result<Options, Failure> {
    let mut options = Options::new(in_force.policy.limits()).only(verb.only.iter().copied());
    options.groups = verb.group.iter().copied().map(Group::from).collect();
    options.probes = probes(verb)?;
    let binary = std::env::current_exe().map(|path| path.display().to_string()).unwrap_or_default();
    let packs = PackSet::shipped();
    let packs = packs.components().iter().map(|pack| (pack.name().to_owned(), pack.digest().to_string()));
    let files = in_force.places.iter().filter(|place| place.found).map(|place| place.path.display().to_string());
    options.about = About {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        binary,
        packs: packs.collect(),
        policy: files.collect(),
    };
    Ok(options)
}

/// The programs that were named, or those beside this one. Without them the cases that need them fail and say so.
fn probes(verb: &AuditVerb) -> Result<Option<PathBuf>, Failure> {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    if let Some(named) = &verb.probes {
        return match named.is_file() {
            true => Ok(Some(absolute(named))),
            false => Err(Failure::NoSuchPath(named.display().to_string())),
        };
    }
    let beside = std::env::current_exe().ok().and_then(|path| Some(path.parent()?.join(PROBES)));
    Ok(beside.filter(|path| path.is_file()))
}

fn subjects(global: &Global, verb: &AuditVerb, in_force: &InForce) -> Result<Vec<Subject>, Failure> {
    let wanted = |backend| verb.backend.is_empty() || verb.backend.contains(&backend);
    let mut subjects = Vec::new();
    if wanted(AuditBackend::Wasm) {
        let compiler = components::compiler()
            .map_err(|error| Failure::Io { doing: "finding the program that compiles".to_owned(), error })?;
        subjects.push(Subject::wasm(context::wasm(global, &in_force.policy)?, compiler));
    }
    if wanted(AuditBackend::Host) {
        let helper = Helper::beside_ambient().or_else(|_| Helper::this_program_ambient());
        subjects.push(in_process(global, Subject::host(helper.ok())));
    }
    if wanted(AuditBackend::Library) {
        subjects.push(Subject::library());
    }
    Ok(subjects)
}

/// The same sandbox in a process of its own: this program once more, under the same policy.
fn in_process(global: &Global, subject: Subject) -> Subject {
    let Ok(program) = std::env::current_exe() else { return subject };
    let global = global.clone();
    subject.in_process(move |probes, project, words| {
        #[expect(clippy::disallowed_methods, reason = "this program itself, to be the parent of a sandbox")]
        let mut command = Command::new(&program);
        command.arg("--project").arg(project).arg("--managed").arg(&global.managed).args([
            "--no-input",
            "--allow",
            "Bash",
        ]);
        for (option, path) in [("--home", &global.home), ("--policy", &global.policy), ("--store", &global.store)] {
            if let Some(path) = path {
                command.arg(option).arg(path);
            }
        }
        let named = format!("{PROBES}={}", probes.display());
        command.args(["sandbox", "run", "--program", &named, "--", PROBES]).args(words);
        command
    })
}

fn print_plan(global: &Global, cases: Vec<PlannedCase>) -> Result<(), Failure> {
    if global.format == Format::Json {
        text::json(&AuditPlanOutput { cases })?;
        return Ok(());
    }
    let mut out = String::new();
    for case in &cases {
        let _infallible = writeln!(
            out,
            "{:>3} {} {:<8} {}\n      tries:    {}\n      control:  {}\n      expects:  {}\n      at most:  {} s",
            case.id,
            case.group,
            case.backend,
            case.title,
            case.attempt,
            case.control,
            case.denial,
            case.limit_ms / 1000
        );
    }
    let _infallible = writeln!(out, "{}; nothing was run", text::counted(cases.len(), "case"));
    text::human(&out);
    Ok(())
}

fn table(report: &Report, style: Style) -> String {
    let width = report.cases.iter().map(|case| case.backend.chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    for case in &report.cases {
        let compared = report.baselines.contains(&case.backend);
        let result = format!("{:<11}", case.result.to_string());
        let result = match case.result {
            Outcome::Passed => result,
            Outcome::Failed if compared => style.warning(&result),
            Outcome::Failed => style.error(&result),
            Outcome::Unavailable => style.warning(&result),
        };
        let _infallible = writeln!(
            out,
            "{:>3} {} {:<width$} {result} {:>6} ms  {}",
            case.id,
            case.group,
            case.backend,
            case.duration_us / 1000,
            case.title
        );
        if case.result != Outcome::Passed {
            let _infallible =
                writeln!(out, "      {}\n      control: {}", text::escaped(&case.detail), text::escaped(&case.control));
        }
    }
    for (backend, numbers) in &report.summary {
        let compared = if report.baselines.contains(backend) { " (to compare with)" } else { "" };
        let _infallible = writeln!(
            out,
            "{backend}{compared}: {} passed, {} failed, {} unavailable",
            numbers.passed, numbers.failed, numbers.unavailable
        );
    }
    out
}
