//! `skillgate test-triggers`: whether the descriptions of skills lead to them, without a model.

use crate::args::{Format, Global, TestTriggersVerb};
use crate::context;
use crate::exit::{Failure, Status};
use crate::output::{TriggerCaseOutput, TriggersOutput};
use crate::text;
use serde::Deserialize;
use skillgate_core::LineIndex;
use skillgate_runtime::{DiscoverSkills, DiscoveredSkills, Session};
use std::fmt::Write as _;

/// The queries and what they have to find.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Triggers {
    /// How many of the first hits are looked at for the expected skills.
    #[serde(default = "one")]
    within: usize,
    #[serde(default = "whole")]
    min_precision: f64,
    #[serde(default = "whole")]
    min_recall: f64,
    case: Vec<Case>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    query: String,
    expect: Expected,
}

/// One name, several, or none: a query that must lead to no skill.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Expected {
    One(String),
    Several(Vec<String>),
}

impl Expected {
    fn names(&self) -> &[String] {
        match self {
            Expected::One(name) => std::slice::from_ref(name),
            Expected::Several(names) => names,
        }
    }
}

fn one() -> usize {
    1
}

fn whole() -> f64 {
    1.0
}

pub(crate) fn run(global: &Global, verb: &TestTriggersVerb) -> Result<Status, Failure> {
    let triggers = read(verb)?;
    let session = context::session(global)?;
    let known = |name: &String| session.catalogue().offered_to_model().any(|entry| is_named(entry, name));
    if let Some(name) = triggers.case.iter().flat_map(|case| case.expect.names()).find(|name| !known(name)) {
        return Err(Failure::Triggers {
            path: verb.file.clone(),
            place: None,
            reason: format!("`{name}` is expected, and no skill of that name is offered to a model"),
        });
    }
    let output = measure(&session, &triggers);
    if global.format == Format::Json {
        text::json(&output)?;
    } else {
        text::human(&table(&output));
    }
    Ok(if output.passed { Status::Done } else { Status::Findings })
}

fn names(found: DiscoveredSkills) -> Vec<String> {
    found.results.into_iter().map(|skill| skill.name).collect()
}

fn is_named(entry: &skillgate_registry::Entry, name: &str) -> bool {
    entry.skill().id.command.as_str() == name || entry.qualified_name() == name
}

fn read(verb: &TestTriggersVerb) -> Result<Triggers, Failure> {
    let doing = || format!("reading `{}`", verb.file.display());
    #[expect(clippy::disallowed_methods, reason = "a file that the command line names, read once")]
    let source = match std::fs::read_to_string(&verb.file) {
        Ok(source) => source,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(Failure::NoSuchPath(verb.file.display().to_string()));
        }
        Err(error) => return Err(Failure::Io { doing: doing(), error }),
    };
    let fault = |place: Option<usize>, reason: String| {
        let place = place.map(|offset| LineIndex::new(&source).position(offset));
        Failure::Triggers { path: verb.file.clone(), place, reason }
    };
    let triggers: Triggers = toml::from_str(&source)
        .map_err(|error| fault(error.span().map(|span| span.start), error.message().to_owned()))?;
    for (key, value) in [("min-precision", triggers.min_precision), ("min-recall", triggers.min_recall)] {
        if !(0.0..=1.0).contains(&value) {
            return Err(fault(source.find(key), format!("`{key}` is a share from 0 to 1, not {value}")));
        }
    }
    if triggers.within == 0 {
        return Err(fault(
            source.find("within"),
            "`within` is how many of the first hits count, 1 at least".to_owned(),
        ));
    }
    if triggers.case.is_empty() {
        return Err(fault(None, "there is no [[case]]".to_owned()));
    }
    Ok(triggers)
}

fn measure(session: &Session, triggers: &Triggers) -> TriggersOutput {
    let (mut firsts, mut right, mut reached, mut wanted) = (0, 0, 0, 0);
    let mut cases = Vec::new();
    for case in &triggers.case {
        let expected = case.expect.names();
        let request = DiscoverSkills { description: case.query.clone(), limit: Some(triggers.within) };
        let found = names(session.discover_skills(&request));
        if let Some(first) = found.first() {
            firsts += 1;
            right += usize::from(expected.contains(first));
        }
        let here = expected.iter().filter(|name| found.contains(name)).count();
        reached += here;
        wanted += expected.len();
        let passed = if expected.is_empty() { found.is_empty() } else { here == expected.len() };
        cases.push(TriggerCaseOutput { query: case.query.clone(), expected: expected.to_vec(), found, passed });
    }
    let share = |part: usize, whole: usize| if whole == 0 { 1.0 } else { part as f64 / whole as f64 };
    let (precision, recall) = (share(right, firsts), share(reached, wanted));
    let passed = precision >= triggers.min_precision && recall >= triggers.min_recall;
    TriggersOutput {
        cases,
        precision,
        recall,
        min_precision: triggers.min_precision,
        min_recall: triggers.min_recall,
        passed,
    }
}

fn table(output: &TriggersOutput) -> String {
    let mut table = String::new();
    for case in output.cases.iter().filter(|case| !case.passed) {
        let names = |names: &[String]| {
            if names.is_empty() { "no skill".to_owned() } else { text::shown(&names.join(", ")) }
        };
        let _infallible = writeln!(table, "wrong: {}", text::shown(&case.query));
        let _infallible = writeln!(table, "  expected {}, found {}", names(&case.expected), names(&case.found));
    }
    let right = output.cases.iter().filter(|case| case.passed).count();
    let _infallible = writeln!(
        table,
        "{right} of {} queries as expected; precision {:.3} (at least {}), recall {:.3} (at least {})",
        output.cases.len(),
        output.precision,
        output.min_precision,
        output.recall,
        output.min_recall,
    );
    table
}
