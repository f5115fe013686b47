//! `skillgate trust list`

use super::survey::Survey;
use crate::args::{Format, Global};
use crate::exit::{Failure, Status};
use crate::output::{TrustListOutput, TrustedFolderOutput, TrustedSkillOutput};
use crate::{policy, text, trust};
use skillgate_policy::file::Policy;
use skillgate_state::{Standing, TrustRecord, TrustedSkill};
use std::fmt::Write as _;
use std::path::Path;

pub(crate) fn run(global: &Global) -> Result<Status, Failure> {
    let policy = policy::in_force(global)?.policy;
    let records = trust::store(global, &policy)?.records()?;
    let folders: Vec<_> = records.iter().map(|record| folder(global, &policy, record)).collect();
    if global.format == Format::Json {
        text::json(&TrustListOutput { folders })?;
    } else {
        text::human(&human(&folders));
    }
    Ok(Status::Done)
}

fn folder(global: &Global, policy: &Policy, record: &TrustRecord) -> TrustedFolderOutput {
    let survey = match record.standing_ambient() {
        Standing::Here => Ok(Survey::of(global, policy, Path::new(&record.identity.folder.path)).ok()),
        Standing::Replaced => Err("moved"),
        Standing::Gone => Err("gone"),
    };
    let skill = |skill: &TrustedSkill| {
        let state = survey.as_ref().ok().map(|survey| state(survey.as_ref(), skill).to_owned());
        TrustedSkillOutput {
            path: skill.path.clone(),
            content: skill.content.to_string(),
            state,
            rights: skill.rights.iter().map(|right| right.to_string()).collect(),
        }
    };
    let skills: Vec<TrustedSkillOutput> = record.skills.iter().map(skill).collect();
    let same = |survey: &Survey| {
        let accepted = survey.skills.iter().filter(|skill| skill.content.is_ok()).count();
        accepted == skills.len() && skills.iter().all(|skill| skill.state.as_deref() == Some("valid"))
    };
    let state = match &survey {
        Err(state) => state,
        Ok(survey) if survey.as_ref().is_some_and(same) => "valid",
        Ok(_) => "changed",
    };
    TrustedFolderOutput {
        folder: record.identity.folder.path.clone(),
        repository: record.identity.repository.as_ref().map(|repository| repository.path.clone()),
        state: state.to_owned(),
        skills,
    }
}

fn state(survey: Option<&Survey>, skill: &TrustedSkill) -> &'static str {
    let now = survey.and_then(|survey| survey.skills.iter().find(|now| now.path == skill.path));
    match now.map(|now| now.content.as_ref().map(|content| content.digest)) {
        None => "gone",
        Some(Ok(digest)) if digest == skill.content => "valid",
        Some(_) => "changed",
    }
}

fn human(folders: &[TrustedFolderOutput]) -> String {
    if folders.is_empty() {
        return "No folder is trusted. `skillgate trust add DIR` trusts one.\n".to_owned();
    }
    let mut out = String::new();
    for folder in folders {
        let why = match folder.state.as_str() {
            "changed" => "  (`skillgate trust review` shows what)",
            "moved" => "  (another folder or repository is there now; it is not trusted)",
            _ => "",
        };
        let _infallible = writeln!(out, "{:<8} {}{why}", folder.state, text::escaped(&folder.folder));
        for skill in folder.skills.iter().filter(|skill| !skill.rights.is_empty()) {
            let state = skill.state.as_deref().unwrap_or("not trusted");
            let _infallible =
                writeln!(out, "    {}: {} ({state})", text::escaped(&skill.path), skill.rights.join(", "));
        }
    }
    out
}
