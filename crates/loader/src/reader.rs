//! Candidates to skills, the work shared by threads.

use crate::dedupe::Entry;
use crate::document::Reader;
use crate::entry::{self, Candidate, Outcome};
use crate::links::Places;
use crate::{LoadOptions, SkillRoot, name};
use skillgate_core::{CommandName, Diagnostic, SkillId};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Fewer files than this are not worth a thread.
const FILES_PER_THREAD: usize = 128;

/// Candidates that a thread takes at a time.
const BLOCK: usize = 32;

/// What became of a candidate.
pub(crate) enum Read {
    Skill(Entry),
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
            let read = block.iter().map(|candidate| read_one(candidate, index, spec, places, &mut reader));
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

fn read_one(candidate: &Candidate, index: usize, spec: &SkillRoot, places: &Places, reader: &mut Reader<'_>) -> Read {
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
    let identity = open.file.identity;
    let in_full = if spec.plugin.is_some() { None } else { name::only_in_full(&command) };
    match reader.skill(SkillId { source: spec.source, command }, open) {
        Ok(mut skill) => {
            skill.diagnostics.extend(candidate.diagnostics.iter().cloned());
            skill.diagnostics.extend(in_full);
            skill.plugin.clone_from(&spec.plugin);
            Read::Skill(Entry { skill, root: index, linked: candidate.linked, identity })
        }
        Err(fault) => Read::Failed(fault.diagnostic()),
    }
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
