//! `skillgate pack test`: a pack's own cases. Nothing of the pack runs.

use super::{PackFailure, human, source};
use crate::args::{Format, Global, PackNaming, PackTestVerb};
use crate::exit::{Failure, Status};
use crate::output::{PackCaseOutput, PackTestOutput};
use crate::text;
use serde::Deserialize;
use skillgate_bundle::Pack;
use skillgate_core::Severity;
use skillgate_format::{Document, InjectionMode, ReadOptions, Template, TemplateOptions, Values};
use skillgate_loader::{BundledSkills, LoadOptions, SkillRoots};
use skillgate_registry::{Catalogue, CatalogueOptions, SkillSearch};
use skillgate_search::Query;
use std::collections::BTreeMap;

/// Where the cases stand.
const FILE: &str = "pack-test.toml";

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cases {
    #[serde(default)]
    expand: Vec<Expansion>,
    #[serde(default)]
    trigger: Vec<Trigger>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expansion {
    skill: String,
    #[serde(default)]
    arguments: Option<String>,
    #[serde(default)]
    outputs: BTreeMap<String, String>,
    #[serde(default)]
    contains: Vec<String>,
    #[serde(default)]
    lacks: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Trigger {
    query: String,
    expect: String,
}

pub(super) fn run(global: &Global, verb: &PackTestVerb) -> Result<Status, Failure> {
    let (imported, _) = source::read(&verb.from, &PackNaming::default())?;
    let pack = &imported.pack;
    let cases = match pack.file(FILE) {
        None => Cases::default(),
        Some(bytes) => {
            let text = std::str::from_utf8(bytes).map_err(|error| PackFailure::Cases(error.to_string()))?;
            toml::from_str(text).map_err(|error| PackFailure::Cases(error.to_string().trim_end().to_owned()))?
        }
    };
    let mut done = checks(pack);
    done.extend(cases.expand.iter().map(|case| expansion(pack, case)));
    done.extend(triggers(pack, &cases.trigger));
    let failed = done.iter().filter(|case| !case.passed).count();
    let output = PackTestOutput { cases: done, failed };
    if global.format == Format::Json {
        text::json(&output)?;
    } else {
        text::human(&human::tested(&output));
    }
    Ok(if failed == 0 { Status::Done } else { Status::Findings })
}

fn case(kind: &str, about: &str, fault: Option<String>) -> PackCaseOutput {
    PackCaseOutput { kind: kind.to_owned(), about: about.to_owned(), passed: fault.is_none(), reason: fault }
}

/// Each skill's header is read without an error.
fn checks(pack: &Pack) -> Vec<PackCaseOutput> {
    let check = |skill: &skillgate_bundle::SkillRecord| {
        let document = document(pack, &skill.path, &skill.name);
        let error = document.diagnostics().iter().find(|found| found.severity == Severity::Error);
        case("check", &skill.path, error.map(ToString::to_string))
    };
    pack.manifest().skills.iter().map(check).collect()
}

fn document(pack: &Pack, path: &str, name: &str) -> Document {
    let options = ReadOptions { directory_name: Some(name.to_owned()), ..ReadOptions::default() };
    Document::read(pack.file(path).unwrap_or_default(), &options)
}

fn expansion(pack: &Pack, expansion: &Expansion) -> PackCaseOutput {
    let about = format!("{} {}", expansion.skill, expansion.arguments.as_deref().unwrap_or_default());
    let about = about.trim();
    let Some(skill) = pack.manifest().skills.iter().find(|skill| skill.name == expansion.skill) else {
        return case("expand", about, Some("the pack has no such skill".to_owned()));
    };
    let document = document(pack, &skill.path, &skill.name);
    let names = document.frontmatter().arguments.iter().map(|field| field.value.clone()).collect();
    let body = document.body();
    let template = Template::parse(&body, &TemplateOptions { arguments: names, ..TemplateOptions::default() });
    let values = Values {
        arguments: expansion.arguments.as_deref(),
        skill_dir: Some("/pack"),
        injections: InjectionMode::Run,
        ..Values::default()
    };
    let filled = template.fill(&values);
    let mut outputs = Vec::new();
    for injection in filled.injections() {
        match expansion.outputs.get(&injection.source) {
            Some(output) => outputs.push(output.clone()),
            None => {
                let reason = format!("`outputs` says nothing of `{}`", injection.source);
                return case("expand", about, Some(reason));
            }
        }
    }
    let text = filled.assemble(&outputs);
    let missing = expansion.contains.iter().find(|part| !text.contains(part.as_str()));
    let present = expansion.lacks.iter().find(|part| text.contains(part.as_str()));
    let fault = missing
        .map(|part| format!("the prompt does not contain {part:?}"))
        .or_else(|| present.map(|part| format!("the prompt contains {part:?}")));
    case("expand", about, fault)
}

/// Whether each query finds the skill it is meant for first, among the skills of the pack.
fn triggers(pack: &Pack, triggers: &[Trigger]) -> Vec<PackCaseOutput> {
    let skills = pack.manifest().skills.iter().fold(BundledSkills::default(), |skills, skill| {
        let text = String::from_utf8_lossy(pack.file(&skill.path).unwrap_or_default()).into_owned();
        skills.with(skill.name.as_str(), text)
    });
    let loaded = SkillRoots::open_ambient([]).with_texts_of(&skills).load(&LoadOptions::default());
    let catalogue = Catalogue::build(loaded.skills, loaded.failures, &CatalogueOptions::default());
    let search = SkillSearch::of(&catalogue);
    let trigger = |trigger: &Trigger| {
        let found = search.search(&catalogue, &Query::new(&trigger.query).limit(1));
        let found = found.first().map(|hit| hit.entry.skill().id.command.to_string()).unwrap_or_default();
        let fault = (found != trigger.expect).then(|| match found.as_str() {
            "" => "it finds nothing".to_owned(),
            found => format!("it finds `{found}`"),
        });
        case("trigger", &trigger.query, fault)
    };
    triggers.iter().map(trigger).collect()
}
