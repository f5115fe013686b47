//! Candidates to skills, the work shared by threads.

use crate::dedupe::Entry;
use crate::document::{Made, Reader};
use crate::entry::{self, Candidate, Outcome, SKILL_FILE, Shape};
use crate::file::Identity;
use crate::index::{Head, Known};
use crate::links::Places;
use crate::stamp::Stamp;
use crate::{LoadOptions, SkillRoot, name};
use skillgate_core::{CommandName, Diagnostic, Skill, SkillId};
use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Fewer files than this are not worth a thread.
const FILES_PER_THREAD: usize = 128;

/// Candidates that a thread takes at a time.
const BLOCK: usize = 32;

/// What became of a candidate.
pub(crate) enum Read {
    Skill(Box<Entry>),
    Nothing,
    Vanished,
    Failed(Diagnostic),
}

/// Reads the candidates of the root with this index, in their order.
pub(crate) fn read_all(
    candidates: &[Candidate],
    index: usize,
    spec: &SkillRoot,
    places: &Places,
    options: &LoadOptions,
    known: Option<&Known>,
) -> impl Iterator<Item = Read> {
    let threads = options.threads.get().min(candidates.len() / FILES_PER_THREAD).max(1);
    let blocks: Vec<&[Candidate]> = candidates.chunks(BLOCK).collect();
    // Whoever is free takes the next block, so that a thread that is kept waiting keeps nobody else.
    let next = AtomicUsize::new(0);
    let read_share = || {
        let mut reader = Reader::new(spec.kind.loaded_from(), options);
        let mut share = Vec::new();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(block) = blocks.get(place) else { return share };
            let read = block.iter().map(|candidate| read_one(candidate, index, spec, places, known, &mut reader));
            share.push((place, read.collect::<Vec<Read>>()));
        }
    };
    let mut read = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(read_share)).collect();
        let mut read = read_share();
        for other in others {
            read.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        read
    });
    read.sort_unstable_by_key(|(place, _)| *place);
    read.into_iter().flat_map(|(_, block)| block)
}

fn read_one(
    candidate: &Candidate,
    index: usize,
    spec: &SkillRoot,
    places: &Places,
    known: Option<&Known>,
    reader: &mut Reader<'_>,
) -> Read {
    if let Some(found) = known.and_then(|known| read_before(candidate, spec, known, reader)) {
        let (skill, stamp) = found;
        let entry = in_root(skill, candidate, index, spec, stamp.identity(), Head::Known(stamp));
        return Read::Skill(Box::new(entry));
    }
    let open = match entry::open(candidate, places, reader.options().max_file_bytes) {
        Outcome::Opened(open) => open,
        Outcome::NotASkill => return Read::Nothing,
        Outcome::Vanished => return Read::Vanished,
        Outcome::Failed(diagnostic) => return Read::Failed(diagnostic),
    };
    let command = match command_name(candidate, spec) {
        Ok(command) => command,
        Err(diagnostic) => return Read::Failed(*diagnostic),
    };
    let (identity, stamp) = (open.file.identity, open.file.stamp);
    match reader.skill(SkillId::new(spec.source, command), open) {
        Ok((skill, head)) => {
            let head = match (known, head) {
                (Some(_), Some(head)) => Head::Read(stamp, head.into()),
                _ => Head::Unknown,
            };
            Read::Skill(Box::new(in_root(skill, candidate, index, spec, identity, head)))
        }
        Err(fault) => Read::Failed(fault.diagnostic()),
    }
}

/// The skill, if nothing but its header is needed, that was read before, and its file is the same.
fn read_before(
    candidate: &Candidate,
    spec: &SkillRoot,
    known: &Known,
    reader: &mut Reader<'_>,
) -> Option<(Skill, Stamp)> {
    let (below, path, directory) = match candidate.shape {
        Shape::Directory => {
            (Cow::Owned(candidate.rel.join(SKILL_FILE)), candidate.path.join(SKILL_FILE), Some(candidate.path.clone()))
        }
        Shape::File => (Cow::Borrowed(&candidate.rel), candidate.path.clone(), None),
        Shape::Link => return None,
    };
    let stamp = Stamp::of_regular(&candidate.base, &below)?;
    if stamp.size > reader.options().max_file_bytes {
        return None;
    }
    let (head_digest, head) = known.head(&stamp)?;
    let id = SkillId::new(spec.source, command_name(candidate, spec).ok()?);
    let made = Made { id, path, directory, head_digest, bytes: stamp.size };
    Some((reader.skill_of_head(made, head)?, stamp))
}

/// Adds what the place says of a skill.
fn in_root(
    mut skill: Skill,
    candidate: &Candidate,
    index: usize,
    spec: &SkillRoot,
    identity: Option<Identity>,
    head: Head,
) -> Entry {
    let in_full = if spec.plugin.is_some() { None } else { name::only_in_full(&skill.id.command) };
    skill.diagnostics.extend(candidate.diagnostics.iter().cloned());
    skill.diagnostics.extend(in_full);
    skill.plugin.clone_from(&spec.plugin);
    Entry { skill, root: index, linked: candidate.linked, identity, head }
}

fn command_name(candidate: &Candidate, spec: &SkillRoot) -> Result<CommandName, Box<Diagnostic>> {
    if !candidate.name_is_text {
        return Err(name::not_text());
    }
    match &spec.plugin {
        None => name::checked(&candidate.name),
        Some(_) => name::checked(&in_plugin(spec, &candidate.name)),
    }
}

/// The name behind the plugin's, for what belongs to one.
pub(crate) fn in_plugin(spec: &SkillRoot, name: &str) -> String {
    spec.plugin.as_ref().map_or_else(|| name.to_owned(), |plugin| format!("{}:{name}", plugin.name))
}
