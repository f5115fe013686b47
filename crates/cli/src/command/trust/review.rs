//! `skillgate trust review [DIR]`

use super::survey::{Asks, Survey, Surveyed, asks};
use crate::args::{Format, Global, TrustReviewVerb};
use crate::exit::{Failure, Status};
use crate::output::{ChangeOutput, FileChangeOutput, TrustReviewOutput};
use crate::{audit, policy, text, trust};
use similar::TextDiff;
use skillgate_core::{Digest, LoadedFrom};
use skillgate_state::{TrustRecord, TrustStore, TrustedSkill};
use std::collections::BTreeSet;
use std::fmt::Write as _;

pub(crate) fn run(global: &Global, verb: &TrustReviewVerb) -> Result<Status, Failure> {
    let policy = policy::in_force(global)?.policy;
    let directory = verb.dir.as_ref().unwrap_or(&global.project);
    let survey = Survey::of(global, &policy, directory)?;
    let store = trust::store(global, &policy)?;
    let Some(record) = store.covering(&survey.id)? else { return Err(Failure::NotTrusted(survey.root)) };
    let changes = changes(&store, &record, &survey)?;
    let open = changes.iter().any(|change| change.kind != "unreadable");
    let mut output = TrustReviewOutput { folder: record.identity.folder.path.clone(), changes, accepted: false };
    if global.format == Format::Human {
        text::human(&human(&output));
    }
    if open && (verb.accept || trust::agrees(global, "accept it, so that rights hold for the new content")) {
        audit::trust(global, &policy, std::slice::from_ref(&record.identity.folder.path), true)?;
        accept(&store, &record, &survey)?;
        output.accepted = true;
    }
    if global.format == Format::Json {
        text::json(&output)?;
    } else if output.accepted {
        text::complain("accepted");
    }
    if open && !output.accepted { Err(Failure::NotAccepted(survey.root)) } else { Ok(Status::Done) }
}

/// Makes what was shown the accepted content. The rights of each skill stay what they were.
fn accept(store: &TrustStore, shown: &TrustRecord, survey: &Survey) -> Result<(), Failure> {
    let skill = |now: &Surveyed| {
        let old = shown.skill(&now.path);
        match (now.accepted(), old) {
            (Some(accepted), old) => {
                Some(TrustedSkill { rights: old.map(|old| old.rights.clone()).unwrap_or_default(), ..accepted })
            }
            // It was not shown, so what was accepted of it is what it was.
            (None, old) => old.cloned(),
        }
    };
    let skills = survey.skills.iter().filter_map(skill).collect();
    let bytes: Vec<&[u8]> = survey.bytes().collect();
    let replaced = store.update(&bytes, |records| {
        let record = records.iter_mut().find(|record| *record == shown);
        record.map(|record| record.skills = skills).is_some()
    })?;
    if replaced { Ok(()) } else { Err(Failure::TrustMoved(survey.root.clone())) }
}

fn changes(store: &TrustStore, record: &TrustRecord, survey: &Survey) -> Result<Vec<ChangeOutput>, Failure> {
    let now = survey.skills.iter().map(|skill| skill.path.as_str());
    let paths: BTreeSet<&str> = now.chain(record.skills.iter().map(|skill| skill.path.as_str())).collect();
    let mut changes = Vec::new();
    for path in paths {
        let old = record.skill(path);
        let new = survey.skills.iter().find(|skill| skill.path == path);
        changes.extend(change(store, path, old, new)?);
    }
    Ok(changes)
}

fn change(
    store: &TrustStore,
    path: &str,
    old: Option<&TrustedSkill>,
    new: Option<&Surveyed>,
) -> Result<Option<ChangeOutput>, Failure> {
    let rights = old.map(|old| old.rights.iter().map(|right| right.to_string()).collect()).unwrap_or_default();
    let content = match new.map(|new| &new.content) {
        Some(Err(fault)) => {
            return Ok(Some(ChangeOutput {
                path: path.to_owned(),
                kind: "unreadable".to_owned(),
                rights,
                authority: Vec::new(),
                files: Vec::new(),
                reason: Some(fault.to_string()),
            }));
        }
        Some(Ok(content)) if old.is_some_and(|old| old.content == content.digest) => return Ok(None),
        Some(Ok(content)) => Some(content),
        None => None,
    };
    let kind = match (old, new) {
        (None, _) => "added",
        (Some(_), None) => "removed",
        (Some(_), Some(_)) => "changed",
    };
    let old_files = old.map(|old| old.files.as_slice()).unwrap_or_default();
    let new_files = content.map(|content| content.files.as_slice()).unwrap_or_default();
    let names: BTreeSet<&str> = old_files
        .iter()
        .map(|file| file.path.as_str())
        .chain(new_files.iter().map(|file| file.path.as_str()))
        .collect();
    let mut files = Vec::new();
    for name in names {
        let before = old_files.iter().find(|file| file.path == name);
        let after = new_files.iter().find(|file| file.path == name);
        if before.map(|file| file.digest) != after.map(|file| file.digest) {
            let old_bytes = before.map(|file| store.text(file.digest)).transpose()?;
            let diff = diff(old_bytes, after.map(|file| file.bytes.as_slice()));
            files.push(FileChangeOutput { path: name.to_owned(), diff });
        }
    }
    let loaded_from = new.map_or(LoadedFrom::Skills, |new| new.skill.loaded_from);
    let old_asks = old.and_then(|old| old.files.first()).map(|own| own_asks(store, own.digest, loaded_from));
    let old_asks = old_asks.transpose()?.unwrap_or_default();
    let new_asks = new.map(|new| new.asks.clone()).unwrap_or_default();
    Ok(Some(ChangeOutput {
        path: path.to_owned(),
        kind: kind.to_owned(),
        rights,
        authority: difference(&lines(&old_asks, old.is_some()), &lines(&new_asks, new.is_some())),
        files,
        reason: None,
    }))
}

fn own_asks(store: &TrustStore, digest: Digest, loaded_from: LoadedFrom) -> Result<Asks, Failure> {
    Ok(store.text(digest)?.map(|bytes| asks(&bytes, loaded_from)).unwrap_or_default())
}

/// A unified diff; `None` when a side is not text, or the accepted one is not kept.
fn diff(old: Option<Option<Vec<u8>>>, new: Option<&[u8]>) -> Option<String> {
    let old = match old {
        None => Vec::new(),
        Some(kept) => kept?,
    };
    let (old, new) = (String::from_utf8(old).ok()?, std::str::from_utf8(new.unwrap_or_default()).ok()?);
    let diff = TextDiff::from_lines(old.as_str(), new);
    Some(diff.unified_diff().context_radius(3).header("accepted", "now").to_string())
}

/// What a skill asks for, a line each.
fn lines(asks: &Asks, there: bool) -> Vec<String> {
    let tools = match &asks.tools {
        _ if !there => Vec::new(),
        None => vec!["tools: takes nothing away".to_owned()],
        Some(tools) if tools.is_empty() => vec!["tools: none".to_owned()],
        Some(tools) => tools.iter().map(|tool| format!("tool: {tool}")).collect(),
    };
    let hooks = asks.hooks.iter().map(|hook| format!("hook: {hook}"));
    let injections = asks.injections.iter().map(|injection| format!("runs: {injection}"));
    tools.into_iter().chain(hooks).chain(injections).collect()
}

fn difference(old: &[String], new: &[String]) -> Vec<String> {
    let gone = old.iter().filter(|line| !new.contains(line)).map(|line| format!("- {line}"));
    let come = new.iter().filter(|line| !old.contains(line)).map(|line| format!("+ {line}"));
    gone.chain(come).collect()
}

fn human(output: &TrustReviewOutput) -> String {
    if output.changes.is_empty() {
        return format!("Nothing changed in {} since it was trusted.\n", text::escaped(&output.folder));
    }
    let mut out = String::new();
    for change in &output.changes {
        let _infallible = writeln!(out, "{}: {}", change.kind, text::escaped(&change.path));
        if let Some(reason) = &change.reason {
            let _infallible = writeln!(out, "  {}", text::escaped(reason));
        }
        if !change.rights.is_empty() {
            let _infallible = writeln!(out, "  rights of the accepted content: {}", change.rights.join(", "));
        }
        for line in &change.authority {
            let _infallible = writeln!(out, "  {}", text::escaped(line));
        }
        for file in &change.files {
            let _infallible = writeln!(out, "  file {}", text::escaped(&file.path));
            match &file.diff {
                Some(diff) => out.extend(diff.lines().map(|line| format!("    {}\n", text::escaped_line(line)))),
                None => out.push_str("    (not text, or the accepted text is not kept)\n"),
            }
        }
    }
    out
}
