//! `skillgate which NAME`

use crate::args::{Format, Global, WhichVerb};
use crate::command::list::also_at;
use crate::context;
use crate::exit::{Failure, Status};
use crate::output::{ContenderOutput, NESTED, WhichOutput, brought_by};
use crate::text;
use skillgate_core::LoadFailure;
use skillgate_registry::{Entry, Explained, Loser};
use skillgate_runtime::{InvokeError, Session};
use std::fmt::Write as _;

pub(crate) fn run(global: &Global, verb: &WhichVerb) -> Result<Status, Failure> {
    let session = context::session(global)?;
    if let Some(off) = session.skills_off() {
        return Err(off.into());
    }
    // What only a touched file brings has the name then.
    let unknown = session.catalogue().explain(&verb.name).is_err();
    if unknown {
        let _all = session.touch_everything();
    }
    let catalogue = session.catalogue();
    let explained = catalogue.explain(&verb.name).map_err(|nearest| InvokeError::Unknown {
        name: verb.name.clone(),
        nearest: nearest.into_iter().map(str::to_owned).collect(),
    })?;
    let mut output = output(&session, &verb.name, &explained);
    if unknown {
        output.winner.iter_mut().chain(&mut output.losers).for_each(nested);
    }
    if global.format == Format::Json {
        text::json(&output)?;
    } else {
        text::human(&human(&output));
    }
    Ok(Status::Done)
}

fn output(session: &Session, name: &str, explained: &Explained<'_>) -> WhichOutput {
    let contender = |entry: &Entry| contender(session, entry);
    let winner = explained.winner.map(|entry| ContenderOutput {
        reason: match (explained.because, entry.unmet()) {
            (Some(because), None) => Some(because.to_string()),
            (Some(because), Some(unmet)) => Some(format!("{because}; {unmet}")),
            (None, unmet) => unmet.map(ToString::to_string),
        },
        ..contender(entry)
    });
    let losers = explained.losers.iter().map(|loser| match loser {
        Loser::Skill(entry) => contender(entry),
        Loser::OfPlugin(entry) => ContenderOutput {
            reason: Some("a plugin's skill has the bare name only while no other skill has it".to_owned()),
            ..contender(entry)
        },
        Loser::Unreadable(failure) => unreadable(failure),
    });
    WhichOutput { name: name.to_owned(), winner, losers: losers.collect() }
}

/// A skill deeper in the project, which no file has brought yet.
fn nested(contender: &mut ContenderOutput) {
    let brought = brought_by(&contender.qualified_name);
    contender.reason = Some(match contender.reason.take() {
        Some(reason) => format!("{brought}; {reason}"),
        None => brought,
    });
    contender.state = NESTED.to_owned();
}

/// A skill with its state's own reason.
fn contender(session: &Session, entry: &Entry) -> ContenderOutput {
    let state = entry.state();
    let reason = state.to_string();
    ContenderOutput {
        qualified_name: entry.qualified_name().to_owned(),
        path: entry.skill().path.display().to_string(),
        source: entry.skill().id.source.to_string(),
        state: state.as_str().to_owned(),
        reason: (reason != state.as_str()).then_some(reason),
        also_at: also_at(session, entry.skill()),
    }
}

fn unreadable(failure: &LoadFailure) -> ContenderOutput {
    ContenderOutput {
        qualified_name: format!("{}:{}", failure.source, failure.name),
        path: failure.path.display().to_string(),
        source: failure.source.to_string(),
        state: "broken".to_owned(),
        reason: Some(failure.diagnostic.message.clone()),
        also_at: Vec::new(),
    }
}

fn human(output: &WhichOutput) -> String {
    let mut out = String::new();
    let name = text::shown(&output.name);
    match &output.winner {
        Some(winner) => {
            let _infallible = writeln!(out, "{name} is {}", text::shown(&winner.qualified_name));
            let _infallible = writeln!(out, "  {}", text::shown(&winner.path));
            for place in &winner.also_at {
                let _infallible = writeln!(out, "  also at {}", text::shown(place));
            }
            if let Some(reason) = &winner.reason {
                let _infallible = writeln!(out, "  {}", text::shown(reason));
            }
        }
        None => {
            let _infallible = writeln!(out, "{name} leads to no skill that can be used");
        }
    }
    if !output.losers.is_empty() {
        out.push_str("\nOthers of the name; each is called by its own:\n");
    }
    for loser in &output.losers {
        let _infallible = writeln!(out, "  {:<24} {}", text::shown(&loser.qualified_name), text::shown(&loser.path));
        if let Some(reason) = &loser.reason {
            let _infallible = writeln!(out, "      {}", text::shown(reason));
        }
    }
    out
}
