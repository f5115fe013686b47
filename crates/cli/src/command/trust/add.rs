//! `skillgate trust add [DIR]`

use super::survey::{Survey, Surveyed};
use crate::args::{Format, Global, TrustAddVerb};
use crate::exit::{Failure, Status};
use crate::output::{AsksOutput, TrustAddOutput};
use crate::{audit, policy, text, trust};
use skillgate_core::{Rights, nearest};
use skillgate_runtime::InvokeError;
use skillgate_state::{FolderId, TrustRecord, TrustedSkill};
use std::fmt::Write as _;

pub(crate) fn run(global: &Global, verb: &TrustAddVerb) -> Result<Status, Failure> {
    let policy = policy::in_force(global)?.policy;
    let directory = verb.dir.as_ref().unwrap_or(&global.project);
    let survey = Survey::of(global, &policy, directory)?;
    let named = named(&survey, &verb.skill)?;
    let rights: Rights = verb.rights.iter().copied().collect();
    let store = trust::store(global, &policy)?;
    let bytes: Vec<&[u8]> = survey.bytes().collect();
    audit::trust(global, &policy, std::slice::from_ref(&survey.id.folder.path), true)?;
    let record = store.update(&bytes, |records| {
        let path = &survey.id.folder.path;
        let before = records.iter().position(|record| record.identity.folder.path == *path);
        let before = before.map(|index| records.remove(index));
        // What was granted to another folder at this path says nothing about this one.
        let before = before.filter(|record| record.identity.covers(&survey.id));
        let record = record(&survey, before.as_ref(), &named, &rights);
        records.push(record.clone());
        record
    })?;
    // What was looked at is what is trusted: nobody put another folder there meanwhile.
    if FolderId::of_ambient(&survey.root)? != survey.id {
        return Err(Failure::TrustMoved(survey.root));
    }
    let output = output(&survey, &record);
    if global.format == Format::Json {
        text::json(&output)?;
    } else {
        text::human(&human(&output));
        for (name, reason) in &survey.unreadable {
            text::complain(&format!("skillgate: {}: {}", text::escaped(name), text::escaped(reason)));
        }
    }
    Ok(Status::Done)
}

/// The skills that are to have the rights; each has to be one that a right can be bound to.
fn named<'s>(survey: &'s Survey, names: &[String]) -> Result<Vec<&'s str>, Failure> {
    let mut paths = Vec::new();
    for name in names {
        let bare = name.trim_start_matches('/');
        let bare = bare.strip_prefix("project:").unwrap_or(bare);
        let found: Vec<&Surveyed> = survey.skills.iter().filter(|skill| skill.is_named(bare)).collect();
        if found.is_empty() {
            let known = survey.skills.iter().map(Surveyed::name);
            let nearest = nearest(bare, known).into_iter().map(str::to_owned).collect();
            return Err(InvokeError::Unknown { name: name.clone(), nearest }.into());
        }
        for skill in found {
            if let Err(fault) = &skill.content {
                let fault = fault.to_string();
                return Err(Failure::NoContent { name: name.clone(), fault });
            }
            paths.push(skill.path.as_str());
        }
    }
    Ok(paths)
}

/// The trust in what is there now. Rights that were granted before stay with the content they were granted for.
fn record(survey: &Survey, before: Option<&TrustRecord>, named: &[&str], rights: &Rights) -> TrustRecord {
    let skill = |surveyed: &Surveyed| {
        let old = before.and_then(|record| record.skill(&surveyed.path));
        let granted = named.contains(&surveyed.path.as_str());
        match (surveyed.accepted(), old) {
            // Lapsed rights come back by `trust review`, which shows the difference, and not by the way.
            (now, Some(old))
                if !old.rights.is_empty() && !granted && now.as_ref().is_none_or(|now| now.content != old.content) =>
            {
                Some(old.clone())
            }
            (Some(now), old) => {
                let same = old.filter(|old| old.content == now.content);
                let mut all = same.map(|old| old.rights.clone()).unwrap_or_default();
                if granted {
                    all.extend(rights);
                }
                Some(TrustedSkill { rights: all, ..now })
            }
            (None, _) => None,
        }
    };
    TrustRecord { identity: survey.id.clone(), skills: survey.skills.iter().filter_map(skill).collect() }
}

fn output(survey: &Survey, record: &TrustRecord) -> TrustAddOutput {
    let words = |rights: &Rights| rights.iter().map(|right| right.to_string()).collect();
    let skill = |surveyed: &Surveyed| {
        let held = surveyed.content.as_ref().map(|content| record.rights(&surveyed.path, content.digest));
        let held = held.unwrap_or_default();
        let granted = record.skill(&surveyed.path).map(|skill| skill.rights.clone()).unwrap_or_default();
        let lapsed: Rights = granted.iter().filter(|right| !held.contains(*right)).collect();
        AsksOutput {
            name: surveyed.name().to_owned(),
            path: surveyed.path.clone(),
            tools: surveyed.asks.tools.clone(),
            hooks: surveyed.asks.hooks.clone(),
            injections: surveyed.asks.injections.clone(),
            rights: words(&held),
            lapsed: words(&lapsed),
            unbound: surveyed.content.as_ref().err().map(ToString::to_string),
        }
    };
    TrustAddOutput {
        folder: survey.id.folder.path.clone(),
        repository: survey.id.repository.as_ref().map(|repository| repository.path.clone()),
        skills: survey.skills.iter().map(skill).collect(),
    }
}

fn human(output: &TrustAddOutput) -> String {
    let mut out = format!("trusted: {}\n", text::escaped(&output.folder));
    if let Some(repository) = &output.repository {
        let _infallible = writeln!(out, "  with every working tree of {}", text::escaped(repository));
    }
    if output.skills.is_empty() {
        out.push_str("  it has no skill yet\n");
    }
    for skill in &output.skills {
        let _infallible = writeln!(out, "  {}", text::escaped(&skill.name));
        let mut line = |label: &str, value: &str| {
            let _infallible = writeln!(out, "    {label:<10} {}", text::escaped(value));
        };
        match &skill.tools {
            None => line("tools", "takes nothing away"),
            Some(tools) if tools.is_empty() => line("tools", "none"),
            Some(tools) => line("tools", &tools.join(", ")),
        }
        for hook in &skill.hooks {
            line("hook", hook);
        }
        for injection in &skill.injections {
            line("runs", injection);
        }
        if !skill.rights.is_empty() {
            line("rights", &skill.rights.join(", "));
        }
        if !skill.lapsed.is_empty() {
            line("lapsed", &format!("{}: `skillgate trust review` shows what changed", skill.lapsed.join(", ")));
        }
        if let Some(reason) = &skill.unbound {
            line("no rights", reason);
        }
    }
    out.push_str(
        "Its skills may be invoked and may read. Writing, hooks, programs of the machine and approval in advance\n",
    );
    out.push_str(
        "need --rights, skill by skill, and end when the skill changes. `skillgate trust remove` takes it back.\n",
    );
    out
}
