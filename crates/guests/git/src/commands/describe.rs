//! `git describe`.

use super::Out;
use crate::failure::{Outcome, fatal};
use crate::index::Index;
use crate::options::{Arguments, divide, number};
use crate::pathspec::Pathspec;
use crate::repository::Repository;
use crate::revision::names;
use crate::tree;
use crate::worktree::Worktree;
use bstr::ByteSlice as _;
use gix_hash::ObjectId;
use gix_object::Kind;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

/// A name that a commit has.
#[derive(Clone, Debug)]
struct Name {
    text: String,
    /// An annotated tag is 2, another tag 1, anything else 0.
    rank: u8,
    /// When it was tagged.
    time: i64,
}

#[derive(Debug, Default)]
struct Options {
    tags: bool,
    all: bool,
    always: bool,
    long: bool,
    exact: bool,
    first_parent: bool,
    dirty: Option<String>,
    abbreviation: Option<usize>,
    candidates: usize,
    matches: Vec<String>,
    excludes: Vec<String>,
}

pub(crate) fn run(repo: &Repository, mut arguments: Arguments, out: &mut Out<'_>) -> Outcome<i32> {
    let mut options = Options { candidates: 10, ..Options::default() };
    let mut commits = Vec::new();
    while let Some(argument) = arguments.next() {
        let (name, value) = divide(&argument);
        match name {
            "--tags" => options.tags = true,
            "--all" => options.all = true,
            "--always" => options.always = true,
            "--long" => options.long = true,
            "--exact-match" => options.exact = true,
            "--first-parent" => options.first_parent = true,
            "--dirty" => options.dirty = Some(value.unwrap_or("-dirty").to_owned()),
            "--abbrev" => options.abbreviation = value.map(|value| number(name, value)).transpose()?,
            "--candidates" => options.candidates = number(name, &arguments.value(name, value)?)?,
            "--match" => options.matches.push(arguments.value(name, value)?),
            "--exclude" => options.excludes.push(arguments.value(name, value)?),
            option if option.starts_with('-') => return Err(arguments.unknown(option)),
            _ => commits.push(argument),
        }
    }
    if options.candidates == 0 {
        options.exact = true;
    }
    if options.long && options.abbreviation == Some(0) {
        return fatal("options '--long' and '--abbrev=0' cannot be used together");
    }
    let dirty = match &options.dirty {
        Some(_) if !commits.is_empty() => return fatal("option '--dirty' and commit-ishes cannot be used together"),
        Some(mark) if is_dirty(repo)? => mark.clone(),
        _ => String::new(),
    };
    let names = names_of(repo, &options)?;
    if names.is_empty() && !options.always && !names_exist(repo) {
        return fatal("No names found, cannot describe anything.");
    }
    if commits.is_empty() {
        commits.push("HEAD".into());
    }
    for commit in commits {
        let id = match names::find(repo, &commit)? {
            Some(_) => names::commit(repo, &commit)?,
            None => return fatal(format!("Not a valid object name {commit}")),
        };
        let text = describe(repo, &options, &names, &id)?;
        writeln!(out, "{text}{dirty}")?;
    }
    Ok(0)
}

fn is_dirty(repo: &Repository) -> Outcome<bool> {
    let index = Index::open(repo)?;
    let worktree = Worktree::new(repo, &index)?;
    let Some(head) = repo.head_id() else { return Ok(false) };
    let pairs = crate::diff::index::since(repo, &worktree, tree::id_of(repo, &head)?, &index, &Pathspec::default())?;
    Ok(!pairs.is_empty())
}

fn names_of(repo: &Repository, options: &Options) -> Outcome<HashMap<ObjectId, Name>> {
    let mut names: HashMap<ObjectId, Name> = HashMap::new();
    let prefix = if options.all { "refs/" } else { "refs/tags/" };
    for (full, _) in repo.refs.below(prefix) {
        let Some(resolved) = repo.refs.resolve(&full) else { continue };
        let is_tag = full.starts_with(b"refs/tags/");
        let short = full.strip_prefix(b"refs/tags/").unwrap_or(&full);
        let wild = |pattern: &String| {
            gix_glob::wildmatch(pattern.as_str().into(), short.as_bstr(), gix_glob::wildmatch::Mode::empty())
        };
        if (!options.matches.is_empty() && !options.matches.iter().any(wild)) || options.excludes.iter().any(wild) {
            continue;
        }
        let object = repo.odb.get(&resolved.id)?;
        let (peeled, kind) = repo.peel(&resolved.id)?;
        if kind != Kind::Commit {
            continue;
        }
        let (rank, time, text) = match object.kind {
            Kind::Tag => {
                let tag = repo.tag(&resolved.id)?;
                (2, tag.tagger.map_or(0, |tagger| tagger.seconds), tag.name.to_string())
            }
            _ if is_tag => (1, 0, short.to_str_lossy().into_owned()),
            _ => (0, 0, short.to_str_lossy().into_owned()),
        };
        if rank < 2 && !options.tags && !options.all {
            continue;
        }
        let text =
            if options.all { full.strip_prefix(b"refs/").unwrap_or(&full).to_str_lossy().into_owned() } else { text };
        let name = Name { text, rank, time };
        let better = names
            .get(&peeled)
            .is_none_or(|known| known.rank < rank || (known.rank == rank && rank == 2 && known.time < time));
        if better {
            names.insert(peeled, name);
        }
    }
    Ok(names)
}

struct Candidate {
    name: Name,
    id: ObjectId,
    depth: usize,
    found: usize,
    /// Commits that it has.
    bit: usize,
}

fn describe(repo: &Repository, options: &Options, names: &HashMap<ObjectId, Name>, id: &ObjectId) -> Outcome<String> {
    let digits = options.abbreviation.unwrap_or_else(|| repo.abbreviation());
    let suffix = |depth: usize| -> Outcome<String> { Ok(format!("-{depth}-g{}", repo.odb.abbreviate(id, digits)?)) };
    if let Some(name) = names.get(id) {
        return Ok(if options.long { format!("{}{}", name.text, suffix(0)?) } else { name.text.clone() });
    }
    if options.exact {
        return fatal(format!("no tag exactly matches '{id}'"));
    }
    let mut queue = BinaryHeap::new();
    let mut number = 0_u64;
    let mut has: HashMap<ObjectId, u64> = HashMap::new();
    let mut seen = HashSet::from([*id]);
    queue.push((repo.node(id)?.time, Reverse(number), *id));
    let mut candidates: Vec<Candidate> = Vec::new();
    let (mut commits, mut annotated) = (0, false);
    let mut gave_up = None;
    let mut pending = None;
    while let Some((_, _, commit)) = queue.pop() {
        commits += 1;
        if let Some(name) = names.get(&commit) {
            if candidates.len() < options.candidates.min(63) {
                let bit = candidates.len();
                *has.entry(commit).or_default() |= 1 << bit;
                annotated |= name.rank == 2;
                candidates.push(Candidate { name: name.clone(), id: commit, depth: commits - 1, found: bit, bit });
            } else {
                gave_up = Some(commit);
                pending = Some(commit);
                break;
            }
        }
        let bits = has.get(&commit).copied().unwrap_or_default();
        for candidate in &mut candidates {
            if bits & 1 << candidate.bit == 0 {
                candidate.depth += 1;
            }
        }
        // Every line of history ends in a candidate.
        if annotated && queue.is_empty() {
            break;
        }
        let node = repo.node(&commit)?;
        let parents = if options.first_parent { &node.parents[..node.parents.len().min(1)] } else { &node.parents[..] };
        for parent in parents {
            *has.entry(*parent).or_default() |= bits;
            if seen.insert(*parent) {
                number += 1;
                queue.push((repo.node(parent)?.time, Reverse(number), *parent));
            }
        }
    }
    if candidates.is_empty() {
        if options.always {
            return repo.odb.abbreviate(id, digits);
        }
        return fatal(if options.tags || options.all {
            "No names found, cannot describe anything.".to_owned()
        } else if names_exist(repo) {
            format!("No annotated tags can describe '{id}'.\nHowever, there were unannotated tags: try --tags.")
        } else {
            "No names found, cannot describe anything.".to_owned()
        });
    }
    candidates.sort_by_key(|candidate| (candidate.depth, candidate.found));
    if let Some(commit) = pending.filter(|_| gave_up.is_some()) {
        number += 1;
        queue.push((repo.node(&commit)?.time, Reverse(number), commit));
    }
    // The depth of the best one is completed: what is left in the queue and not in it counts.
    let best = &mut candidates[0];
    let bit = 1_u64 << best.bit;
    while let Some((_, _, commit)) = queue.pop() {
        let bits = has.get(&commit).copied().unwrap_or_default();
        if bits & bit != 0 {
            if queue.iter().all(|(_, _, other)| has.get(other).copied().unwrap_or_default() & bit != 0) {
                break;
            }
        } else {
            best.depth += 1;
        }
        for parent in &repo.node(&commit)?.parents {
            *has.entry(*parent).or_default() |= bits;
            if seen.insert(*parent) {
                number += 1;
                queue.push((repo.node(parent)?.time, Reverse(number), *parent));
            }
        }
    }
    debug_assert!(names.contains_key(&best.id));
    if options.abbreviation == Some(0) {
        return Ok(best.name.text.clone());
    }
    Ok(format!("{}{}", best.name.text, suffix(best.depth)?))
}

fn names_exist(repo: &Repository) -> bool {
    !repo.refs.below("refs/tags/").is_empty()
}
