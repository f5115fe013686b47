//! `skillgate search`

use crate::args::{Format, Global, SearchVerb};
use crate::context;
use crate::exit::{Failure, Status};
use crate::text;
use skillgate_runtime::{DiscoverSkills, DiscoveredSkills};
use std::fmt::Write as _;

pub(crate) fn run(global: &Global, verb: &SearchVerb) -> Result<Status, Failure> {
    let session = context::session(global)?;
    let request = DiscoverSkills { description: verb.query.join(" "), limit: Some(verb.limit.into()) };
    let found = session.discover_skills(&request);
    if global.format == Format::Json {
        text::json(&found)?;
        return Ok(Status::Done);
    }
    if found.results.is_empty() {
        let offered = session.catalogue().offered_to_model().count();
        text::complain(&format!("skillgate: none of the {offered} skills that a model is offered answers this"));
        text::complain(
            "help: `skillgate list` shows every skill with its state; one that is not active is not searched",
        );
    } else {
        text::human(&table(&found));
    }
    Ok(Status::Done)
}

fn table(found: &DiscoveredSkills) -> String {
    let mut table = String::new();
    for skill in &found.results {
        let _infallible = writeln!(table, "{:.3}  {}", skill.score, text::shown(&skill.name));
        if let Some(description) = &skill.description {
            let line: String = text::shown(description).chars().take(100).collect();
            let _infallible = writeln!(table, "       {line}");
        }
    }
    table
}
