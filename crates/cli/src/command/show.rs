//! `skillgate show NAME`

use crate::args::{Format, Global, ShowVerb};
use crate::command::list::also_at;
use crate::command::run::{injection_plan, print_injections};
use crate::context;
use crate::exit::{Failure, Status};
use crate::output::{AuthorityOutput, DiagnosticOutput, FileOutput, ShowOutput, SkillOutput};
use crate::text;
use skillgate_core::LineIndex;
use skillgate_format::Fields;
use skillgate_loader::DecidedText;
use skillgate_policy::Invoker;
use skillgate_registry::Lookup;
use skillgate_runtime::{InvokeError, InvokeRequest, Session};
use std::fmt::Write as _;

pub(crate) fn run(global: &Global, verb: &ShowVerb) -> Result<Status, Failure> {
    let session = context::session(global)?;
    let shown = show(&session, &verb.name)?;
    if global.format == Format::Json {
        text::json(&shown)?;
    } else {
        text::human(&human(&shown));
    }
    Ok(Status::Done)
}

fn show(session: &Session, name: &str) -> Result<ShowOutput, Failure> {
    if let Some(off) = session.skills_off() {
        return Err(off.into());
    }
    let catalogue = session.catalogue();
    let entry = match catalogue.lookup(name) {
        Lookup::Found(entry) => entry,
        Lookup::Broken(failure) => return Err(InvokeError::Unreadable(Box::new(failure.clone())).into()),
        Lookup::Unknown { nearest } => {
            let nearest = nearest.into_iter().map(str::to_owned).collect();
            return Err(InvokeError::Unknown { name: name.to_owned(), nearest }.into());
        }
        _ => return Err(InvokeError::Unknown { name: name.to_owned(), nearest: Vec::new() }.into()),
    };
    let skill = entry.skill();
    let DecidedText { document, digest } =
        session.roots().text(skill, session.load_options()).map_err(InvokeError::from)?;
    let fields = match serde_json::to_value(Fields(document.frontmatter()))? {
        serde_json::Value::Object(map) => map,
        _ => serde_json::Map::new(),
    };
    let hooks = match fields.get("hooks") {
        Some(serde_json::Value::Object(events)) => events.keys().cloned().collect(),
        _ => Vec::new(),
    };
    let plan = session.plan_of(skill, &InvokeRequest::new(name, Invoker::User))?;
    let authority = AuthorityOutput::of(&plan.authority());
    let lines = LineIndex::new(document.source());
    let position = |offset| Some(lines.position(offset));
    let mut output = SkillOutput { also_at: also_at(session, skill), ..SkillOutput::of_entry(entry, position) };
    // The skill was loaded by its header, and here is all of its text.
    let of_the_body = document.diagnostics().iter().filter(|found| !skill.diagnostics.contains(found));
    output.diagnostics.extend(of_the_body.map(|found| DiagnosticOutput::new(found, position)));
    Ok(ShowOutput {
        digest: digest.to_string(),
        fields,
        body: document.body().into_owned(),
        caveats: authority.caveats,
        injections: plan.injections.iter().map(injection_plan).collect(),
        hooks,
        files: session
            .roots()
            .companions(skill)
            .into_iter()
            .map(|(path, bytes)| FileOutput { path: path.to_string(), bytes })
            .collect(),
        skill: output,
    })
}

fn human(shown: &ShowOutput) -> String {
    let mut out = String::new();
    let skill = &shown.skill;
    let mut line = |label: &str, value: &str| {
        let _infallible = writeln!(out, "{label:<12} {}", text::shown(value));
    };
    line("name", &skill.name);
    line("source", &format!("{} ({})", skill.qualified_name, skill.scope));
    line("path", &skill.path);
    line("state", skill.reason.as_ref().unwrap_or(&skill.state));
    line("description", skill.description.as_deref().unwrap_or("none"));
    line(
        "invocable by",
        match (skill.user_invocable, skill.model_invocable) {
            (true, true) => "users and models",
            (true, false) => "users",
            (false, true) => "models",
            (false, false) => "nobody",
        },
    );
    line("digest", &shown.digest);
    for (key, value) in &shown.fields {
        if !matches!(key.as_str(), "name" | "description") {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            line(key, &value);
        }
    }
    for caveat in &shown.caveats {
        line("narrows to", &if caveat.patterns.is_empty() { "nothing".to_owned() } else { caveat.patterns.join(", ") });
    }
    for event in &shown.hooks {
        line("hook", event);
    }
    for file in &shown.files {
        line("file", &format!("{} ({} bytes)", file.path, file.bytes));
    }
    for found in &skill.diagnostics {
        let place = found.line.map(|line| format!("{line}:{}: ", found.column.unwrap_or(1))).unwrap_or_default();
        line(&found.severity, &format!("{place}{} [{}]", found.message, found.code));
    }
    print_injections(&mut out, &shown.injections);
    let _infallible = writeln!(out, "\n{}", shown.body.trim_end());
    out
}
