//! Filtering what differs and printing it in the formats that were asked for.

use super::options::{Options, Pickaxe};
use super::patch::Prefixes;
use super::{Pair, Reader, lines, names, patch, rename, stat};
use crate::failure::Outcome;
use bstr::ByteSlice as _;
use std::io::Write;

/// Which states are compared, for `diff.mnemonicPrefix`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sides {
    Commits,
    CommitAndIndex,
    CommitAndWorktree,
    IndexAndWorktree,
}

impl Options {
    pub(crate) fn prefixes(&self, sides: Sides) -> Prefixes {
        let (old, new) = match (self.mnemonic, sides) {
            (true, Sides::CommitAndIndex) => ("c/".to_owned(), "i/".to_owned()),
            (true, Sides::CommitAndWorktree) => ("c/".to_owned(), "w/".to_owned()),
            (true, Sides::IndexAndWorktree) => ("i/".to_owned(), "w/".to_owned()),
            _ => self.prefixes.clone(),
        };
        if self.reverse { Prefixes { old: new, new: old } } else { Prefixes { old, new } }
    }
}

/// Finds renames and leaves out what was not asked for.
pub(crate) fn prepare(reader: &Reader<'_>, mut pairs: Vec<Pair>, options: &Options) -> Outcome<Vec<Pair>> {
    if options.reverse {
        for pair in &mut pairs {
            std::mem::swap(&mut pair.old, &mut pair.new);
        }
    }
    if let Some(detection) = options.renames {
        pairs = rename::detect(reader, pairs, detection)?;
    }
    if let Some(pickaxe) = &options.pickaxe {
        let mut kept = Vec::new();
        for pair in pairs {
            if !pair.unmerged && touches(reader, &pair, pickaxe, options)? {
                kept.push(pair);
            }
        }
        pairs = kept;
    }
    if let Some(filter) = &options.filter {
        let included: Vec<char> = filter.chars().filter(char::is_ascii_uppercase).collect();
        let excluded: Vec<char> =
            filter.chars().filter(char::is_ascii_lowercase).map(|letter| letter.to_ascii_uppercase()).collect();
        pairs.retain(|pair| {
            let letter = pair.letter();
            (included.iter().all(|letter| *letter == '*') || included.contains(&letter)) && !excluded.contains(&letter)
        });
    }
    if options.comparison.space != lines::Space::Exact
        && !options.formats.raw
        && !options.formats.name_only
        && !options.formats.name_status
    {
        // What differs in ignored white space only does not differ.
        let mut kept = Vec::new();
        for pair in pairs {
            let changed = pair.unmerged || pair.renamed.is_some() || pair.old.mode != pair.new.mode || {
                let (old, new) = (reader.content(&pair.old)?, reader.content(&pair.new)?);
                !lines::changes(&lines::split(&old), &lines::split(&new), options.comparison).is_empty()
                    || reader.converter.is_binary(&pair.new.path, &new)?
            };
            if changed {
                kept.push(pair);
            }
        }
        pairs = kept;
    }
    Ok(pairs)
}

fn touches(reader: &Reader<'_>, pair: &Pair, pickaxe: &Pickaxe, options: &Options) -> Outcome<bool> {
    let (old, new) = (reader.content(&pair.old)?, reader.content(&pair.new)?);
    match pickaxe {
        Pickaxe::Count(text) => Ok(old.find_iter(text).count() != new.find_iter(text).count()),
        Pickaxe::Lines(regex) => {
            if reader.converter.is_binary(&pair.old.path, &old)? || reader.converter.is_binary(&pair.new.path, &new)? {
                return Ok(false);
            }
            let (old, new) = (lines::split(&old), lines::split(&new));
            let changes = lines::changes(&old, &new, options.comparison);
            Ok(changes.iter().any(|change| {
                old[change.old.clone()]
                    .iter()
                    .chain(&new[change.new.clone()])
                    .any(|line| regex.is_match(line.strip_suffix(b"\n").unwrap_or(line)))
            }))
        }
    }
}

/// Prints what differs. Formats come in git's order, patches behind an empty line when something was printed before.
pub(crate) fn print(
    reader: &Reader<'_>,
    pairs: &[Pair],
    options: &Options,
    sides: Sides,
    out: &mut impl Write,
) -> Outcome {
    let formats = options.formats;
    if formats.none || pairs.is_empty() {
        return Ok(());
    }
    let mut printed = false;
    if formats.raw || formats.name_only || formats.name_status {
        if formats.raw {
            names::raw(reader, pairs, options, out)?;
        } else if formats.name_status {
            names::name_status(pairs, options, out)?;
        } else {
            names::name_only(pairs, options, out)?;
        }
        printed = true;
    }
    if formats.numstat || formats.stat || formats.shortstat {
        let files = stat::count(reader, pairs, options)?;
        if formats.numstat {
            stat::numstat(&files, options, out)?;
        }
        if formats.stat {
            stat::stat(&files, options, out)?;
        }
        if formats.shortstat {
            stat::shortstat(&files, out)?;
        }
        printed = true;
    }
    if formats.summary {
        names::summary(pairs, options, out)?;
        printed = true;
    }
    if formats.patch {
        if printed {
            out.write_all(if options.nul { b"\0" } else { b"\n" })?;
        }
        patch::write(reader, pairs, options, &options.prefixes(sides), out)?;
    }
    Ok(())
}
