//! `skillgate list`

use crate::args::{Format, Global, ListVerb};
use crate::context;
use crate::exit::{Failure, Status};
use crate::output::{ListOutput, SkillOutput};
use crate::text;
use skillgate_core::{LineIndex, LoadedFrom, Skill, Source};
use skillgate_registry::Entry;
use skillgate_runtime::{Session, TouchOutcome};
use std::fmt::Write as _;

pub(crate) fn run(global: &Global, verb: &ListVerb) -> Result<Status, Failure> {
    let session = context::session(global)?;
    let found = if verb.all { session.touch_everything() } else { TouchOutcome::default() };
    let catalogue = session.catalogue();
    let ListOutput { skills } = output(&session, verb.set.as_deref(), &found.nested)?;
    for found in session.diagnostics().iter().chain(&found.diagnostics) {
        text::complain(&format!("skillgate: {}: {}", found.path.display(), found.diagnostic.message));
    }
    for found in catalogue.diagnostics() {
        text::complain(&format!("skillgate: {}", found.message));
    }
    if let Some(off) = session.skills_off() {
        text::complain(&format!("skillgate: {off}"));
    }
    if global.format == Format::Json {
        text::json(&ListOutput { skills })?;
        return Ok(Status::Done);
    }
    if session.skills_off().is_none() {
        text::human(&if skills.is_empty() { nothing(&session) } else { table(&skills) });
    }
    Ok(Status::Done)
}

/// The skills, all or those of a set of the policy; `nested` are those that were found by walking the project.
pub(crate) fn output(session: &Session, set: Option<&str>, nested: &[String]) -> Result<ListOutput, Failure> {
    let catalogue = session.catalogue();
    let mut skills: Vec<SkillOutput> = catalogue.entries().iter().map(|entry| with_places(session, entry)).collect();
    for skill in &mut skills {
        let waits = matches!(skill.state.as_str(), "active" | "conditional" | "hidden");
        if waits && nested.contains(&skill.qualified_name) {
            skill.nested();
        }
    }
    skills.extend(catalogue.broken().iter().map(SkillOutput::of_failure));
    if let Some(name) = set {
        let set = context::set(session.policy(), name)?;
        let is_in = |skill: &SkillOutput| {
            set.iter().any(|pattern| pattern.matches(&skill.name) || pattern.matches(&skill.qualified_name))
        };
        skills.retain(is_in);
    }
    Ok(ListOutput { skills })
}

/// A skill with the lines and columns of its findings. They are in its text, which is not kept: it is read again where a finding
/// has a place, and when it has changed meanwhile, places in it mean nothing.
fn with_places(session: &Session, entry: &Entry) -> SkillOutput {
    let skill = entry.skill();
    let has_place = skill.diagnostics.iter().any(|found| found.span.is_some());
    let read = || session.roots().document(skill, session.load_options()).ok();
    let document = if has_place { read() } else { None };
    let lines = document.as_ref().map(|document| LineIndex::new(document.source()));
    let also_at = also_at(session, skill);
    SkillOutput { also_at, ..SkillOutput::of_entry(entry, |offset| lines.as_ref().map(|lines| lines.position(offset))) }
}

/// The other places of a skill's file.
pub(crate) fn also_at(session: &Session, skill: &Skill) -> Vec<String> {
    session.also_at(skill).iter().map(|path| path.display().to_string()).collect()
}

fn nothing(session: &Session) -> String {
    let mut text = "There is no skill yet. A skill is a directory with a SKILL.md in one of these:\n".to_owned();
    for root in session.roots().iter() {
        text.push_str(&format!("  {:<11} {}\n", root.source.as_str(), root.path.display()));
    }
    text
}

fn table(skills: &[SkillOutput]) -> String {
    let mut text = String::new();
    for source in Source::ALL {
        let group: Vec<_> = skills.iter().filter(|skill| skill.source == source.as_str()).collect();
        let Some(first) = group.first() else { continue };
        let _infallible = writeln!(text, "{source} ({})", first.scope);
        for skill in group {
            let slash = if skill.loaded_from == LoadedFrom::Commands.of_source(Source::User) { "/" } else { "" };
            let name = format!("{slash}{}", text::shown(&skill.name));
            let _infallible = writeln!(text, "  {name:<24} {:<11} ~{} tokens", skill.state, skill.tokens);
            let about = match (&skill.reason, &skill.description) {
                (Some(reason), _) => Some(reason),
                (None, Some(description)) => Some(description),
                (None, None) => None,
            };
            if let Some(about) = about {
                let line: String = text::shown(about).chars().take(100).collect();
                let _infallible = writeln!(text, "      {line}");
            }
        }
    }
    text
}
