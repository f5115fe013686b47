//! Renames: files that went away and came back under another name.

use super::{MAX_SCORE, Pair, Reader, Side};
use crate::failure::Outcome;
use bstr::ByteSlice as _;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::rc::Rc;

/// Sources that are remembered for each new file.
const CANDIDATES: usize = 4;
/// A piece of a file is a line, or this many bytes of a longer one.
const PIECE: u32 = 64;
const HASH_BASE: u32 = 107_927;

/// How renames are found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Detection {
    /// The least similarity, of [`MAX_SCORE`].
    pub(crate) minimum: u64,
    /// The number of files on each side beyond which only exact renames are found; 0 is no limit.
    pub(crate) limit: usize,
}

struct Source {
    side: Side,
    position: usize,
    used: bool,
    pieces: Option<Rc<Pieces>>,
}

struct Target {
    side: Side,
    position: usize,
    found: Option<(usize, u64)>,
    pieces: Option<Rc<Pieces>>,
}

struct Pieces {
    size: u64,
    /// Bytes by the hash of the piece they are in.
    bytes: HashMap<u32, u64>,
}

fn basename(path: &[u8]) -> &[u8] {
    path.rfind_byte(b'/').map_or(path, |at| &path[at + 1..])
}

/// Joins pairs of a deleted and a new file that are one file under another name.
pub(crate) fn detect(reader: &Reader<'_>, pairs: Vec<Pair>, detection: Detection) -> Outcome<Vec<Pair>> {
    let (mut sources, mut targets) = (Vec::new(), Vec::new());
    for (position, pair) in pairs.iter().enumerate().filter(|(_, pair)| !pair.unmerged) {
        if !pair.old.exists() && pair.new.exists() {
            targets.push(Target { side: pair.new.clone(), position, found: None, pieces: None });
        } else if pair.old.exists() && !pair.new.exists() {
            sources.push(Source { side: pair.old.clone(), position, used: false, pieces: None });
        }
    }
    if sources.is_empty() || targets.is_empty() {
        return Ok(pairs);
    }
    exact(reader, &mut sources, &mut targets)?;
    if detection.minimum < MAX_SCORE {
        by_basename(reader, &mut sources, &mut targets, detection.minimum + (MAX_SCORE - detection.minimum) / 2)?;
        inexact(reader, &mut sources, &mut targets, detection)?;
    }
    let mut renamed: HashMap<usize, (usize, u64)> = HashMap::new();
    for target in &targets {
        if let Some((source, score)) = target.found {
            renamed.insert(target.position, (source, score));
        }
    }
    let gone: Vec<usize> = sources.iter().filter(|source| source.used).map(|source| source.position).collect();
    let mut result = Vec::with_capacity(pairs.len());
    for (position, mut pair) in pairs.into_iter().enumerate() {
        if let Some((source, score)) = renamed.get(&position) {
            pair.old = sources[*source].side.clone();
            pair.renamed = Some(*score);
        } else if gone.contains(&position) {
            continue;
        }
        result.push(pair);
    }
    Ok(result)
}

fn exact(reader: &Reader<'_>, sources: &mut [Source], targets: &mut [Target]) -> Outcome {
    let mut by_id: HashMap<_, Vec<usize>> = HashMap::new();
    for (at, source) in sources.iter().enumerate() {
        by_id.entry(reader.id(&source.side)?).or_default().push(at);
    }
    for target in targets {
        let Some(same) = by_id.get(&reader.id(&target.side)?) else { continue };
        let mut best = None;
        for at in same {
            let source = &sources[*at];
            let regular = source.side.is_regular() && target.side.is_regular();
            if source.used || (!regular && source.side.mode != target.side.mode) {
                continue;
            }
            let same_name = basename(&source.side.path) == basename(&target.side.path);
            if best.is_none() || same_name {
                best = Some(*at);
            }
            if same_name {
                break;
            }
        }
        if let Some(at) = best {
            sources[at].used = true;
            target.found = Some((at, MAX_SCORE));
        }
    }
    Ok(())
}

/// A name that only one file on each side has is tried first.
fn by_basename(reader: &Reader<'_>, sources: &mut [Source], targets: &mut [Target], minimum: u64) -> Outcome {
    let mut names: HashMap<Vec<u8>, Option<usize>> = HashMap::new();
    for (at, target) in targets.iter().enumerate().filter(|(_, target)| target.found.is_none()) {
        names.entry(basename(&target.side.path).to_vec()).and_modify(|known| *known = None).or_insert(Some(at));
    }
    let mut counts: HashMap<Vec<u8>, usize> = HashMap::new();
    for source in sources.iter().filter(|source| !source.used) {
        *counts.entry(basename(&source.side.path).to_vec()).or_default() += 1;
    }
    for at in 0..sources.len() {
        if sources[at].used {
            continue;
        }
        let name = basename(&sources[at].side.path).to_vec();
        let Some(Some(to)) = names.get(&name).copied().filter(|_| counts.get(&name) == Some(&1)) else { continue };
        if targets[to].found.is_some() {
            continue;
        }
        let score = similarity(reader, &mut sources[at], &mut targets[to], minimum)?;
        if score >= minimum {
            sources[at].used = true;
            targets[to].found = Some((at, score));
        }
    }
    Ok(())
}

struct Candidate {
    score: u64,
    same_name: bool,
    source: usize,
    target: usize,
}

fn inexact(reader: &Reader<'_>, sources: &mut [Source], targets: &mut [Target], detection: Detection) -> Outcome {
    let open_sources: Vec<usize> = (0..sources.len()).filter(|at| !sources[*at].used).collect();
    let open_targets: Vec<usize> = (0..targets.len()).filter(|at| targets[*at].found.is_none()).collect();
    let limit = detection.limit;
    if limit > 0 && open_sources.len().saturating_mul(open_targets.len()) > limit.saturating_mul(limit) {
        return Ok(());
    }
    let rank = |candidate: &Candidate| Reverse((candidate.score, candidate.same_name));
    let mut all = Vec::new();
    for to in open_targets {
        let mut best: Vec<Candidate> = Vec::new();
        for from in &open_sources {
            let score = similarity(reader, &mut sources[*from], &mut targets[to], detection.minimum)?;
            let same_name = basename(&sources[*from].side.path) == basename(&targets[to].side.path);
            let candidate = Candidate { score, same_name, source: *from, target: to };
            if best.len() < CANDIDATES {
                best.push(candidate);
                continue;
            }
            let mut worst = 0;
            for at in 1..best.len() {
                if rank(&best[at]) > rank(&best[worst]) {
                    worst = at;
                }
            }
            if rank(&best[worst]) > rank(&candidate) {
                best[worst] = candidate;
            }
        }
        all.extend(best);
    }
    all.sort_by_key(rank);
    for candidate in all {
        if candidate.score < detection.minimum {
            break;
        }
        if targets[candidate.target].found.is_none() && !sources[candidate.source].used {
            sources[candidate.source].used = true;
            targets[candidate.target].found = Some((candidate.source, candidate.score));
        }
    }
    Ok(())
}

fn similarity(reader: &Reader<'_>, source: &mut Source, target: &mut Target, minimum: u64) -> Outcome<u64> {
    if !source.side.is_regular() || !target.side.is_regular() {
        return Ok(0);
    }
    let one = pieces(reader, &source.side, &mut source.pieces)?;
    let other = pieces(reader, &target.side, &mut target.pieces)?;
    let (least, most) = (one.size.min(other.size), one.size.max(other.size));
    if most * (MAX_SCORE - minimum) < (most - least) * MAX_SCORE || other.size == 0 {
        return Ok(0);
    }
    let copied: u64 =
        one.bytes.iter().map(|(hash, count)| (*count).min(other.bytes.get(hash).copied().unwrap_or_default())).sum();
    Ok(copied * MAX_SCORE / most)
}

fn pieces(reader: &Reader<'_>, side: &Side, known: &mut Option<Rc<Pieces>>) -> Outcome<Rc<Pieces>> {
    if let Some(pieces) = known {
        return Ok(Rc::clone(pieces));
    }
    let content = reader.content(side)?;
    let text = !reader.converter.is_binary(&side.path, &content)?;
    let pieces = Rc::new(Pieces { size: content.len() as u64, bytes: count(&content, text) });
    *known = Some(Rc::clone(&pieces));
    Ok(pieces)
}

/// How many bytes are in pieces of each hash.
fn count(content: &[u8], text: bool) -> HashMap<u32, u64> {
    let mut bytes = HashMap::new();
    let (mut length, mut one, mut two) = (0_u32, 0_u32, 0_u32);
    let mut end = |length: &mut u32, one: &mut u32, two: &mut u32| {
        let hash = one.wrapping_add(two.wrapping_mul(0x61)) % HASH_BASE;
        *bytes.entry(hash).or_default() += u64::from(*length);
        (*length, *one, *two) = (0, 0, 0);
    };
    for (at, byte) in content.iter().enumerate() {
        if text && *byte == b'\r' && content.get(at + 1) == Some(&b'\n') {
            continue;
        }
        let before = one;
        one = (one << 7) ^ (two >> 25);
        two = (two << 7) ^ (before >> 25);
        one = one.wrapping_add(u32::from(*byte));
        length += 1;
        if length >= PIECE || *byte == b'\n' {
            end(&mut length, &mut one, &mut two);
        }
    }
    if length > 0 {
        end(&mut length, &mut one, &mut two);
    }
    bytes
}
