//! Merges: what differs from every parent.

use super::combine::Combined;
use super::options::Options;
use super::output::{self, Sides};
use super::{Pair, Reader, Side, names, trees};
use crate::commit::Commit;
use crate::failure::{Outcome, unsupported};
use crate::pathspec::Pathspec;
use crate::{quote, tree};
use bstr::BString;
use gix_hash::ObjectId;
use std::collections::HashSet;
use std::io::Write;

/// Prints a merge as `-c` and `--cc` do: its record, and the files that are as in none of its parents.
#[expect(clippy::too_many_arguments, reason = "one call, and every part of it is another thing")]
pub(crate) fn commit(
    reader: &Reader<'_>,
    commit: &Commit,
    parents: &[ObjectId],
    paths: &Pathspec,
    options: &Options,
    dense: bool,
    record: &[u8],
    separated: bool,
    mut out: impl Write,
) -> Outcome {
    let repo = reader.repo;
    let mut everywhere: Option<Vec<Pair>> = None;
    for parent in parents {
        let pairs = trees::diff(repo, Some(repo.node(parent)?.tree), Some(commit.tree), paths)?;
        everywhere = Some(match everywhere {
            None => pairs,
            Some(mut known) => {
                let touched: HashSet<&BString> = pairs.iter().map(|pair| &pair.new.path).collect();
                known.retain(|pair| touched.contains(&pair.new.path));
                known
            }
        });
    }
    let touched = everywhere.unwrap_or_default();
    let mut patches = Vec::new();
    if options.formats.patch {
        for pair in &touched {
            let mut sides = Vec::new();
            for parent in parents {
                let entry = tree::entry(repo, &repo.node(parent)?.tree, &pair.new.path)?;
                sides.push(entry.map_or_else(
                    || Side::absent(&pair.new.path),
                    |entry| Side::stored(&pair.new.path, entry.mode, entry.id),
                ));
            }
            file(reader, &sides, &pair.new, options, dense, &mut patches)?;
        }
    }
    out.write_all(record)?;
    if separated {
        out.write_all(b"\n")?;
    }
    let formats = options.formats;
    if formats.name_only {
        return names::name_only(&touched, options, &mut out);
    }
    if (formats.name_status || formats.raw) && !touched.is_empty() {
        return unsupported("the status of files in a merge");
    }
    if formats.stat || formats.numstat || formats.shortstat {
        // As git: against the first parent.
        let old = parents.first().map(|parent| repo.node(parent)).transpose()?.map(|node| node.tree);
        let pairs = output::prepare(reader, trees::diff(repo, old, Some(commit.tree), paths)?, options)?;
        let mut only = options.clone();
        only.formats.patch = false;
        output::print(reader, &pairs, &only, Sides::Commits, &mut out)?;
        if options.formats.patch {
            out.write_all(b"\n")?;
        }
    }
    out.write_all(&patches)?;
    Ok(())
}

/// The combined diff of one file. Nothing is written when it is as in one of its parents everywhere, except for a file of the
/// working tree.
pub(crate) fn file(
    reader: &Reader<'_>,
    parents: &[Side],
    result: &Side,
    options: &Options,
    dense: bool,
    out: &mut impl Write,
) -> Outcome {
    let regular = parents.iter().chain([result]).all(|side| side.is_regular());
    if !regular || parents.iter().any(|side| side.mode != result.mode) {
        return unsupported("the combined diff of a file whose mode or kind differs");
    }
    let contents = parents.iter().map(|side| reader.content(side)).collect::<Outcome<Vec<_>>>()?;
    let content = reader.content(result)?;
    for content in contents.iter().chain([&content]) {
        if !options.text && reader.converter.is_binary(&result.path, content)? {
            return unsupported("the combined diff of a binary file");
        }
    }
    let texts: Vec<&[u8]> = contents.iter().map(|content| &content[..]).collect();
    let mut combined = Combined::new(&content, &texts, options.comparison, options.context);
    if !combined.choose(dense) && result.id.is_some() {
        return Ok(());
    }
    let digits = options.digits(reader.repo);
    let mut ids = Vec::new();
    for side in parents {
        ids.push(reader.repo.odb.abbreviate(&reader.id(side)?, digits)?);
    }
    let new = match result.id {
        Some(id) => reader.repo.odb.abbreviate(&id, digits)?,
        None => "0".repeat(digits),
    };
    let path = quote::path(&result.path, options.quote_path);
    writeln!(out, "diff --{} {path}", if dense { "cc" } else { "combined" })?;
    writeln!(out, "index {}..{new}", ids.join(","))?;
    let prefixes = options.prefixes(Sides::Commits);
    let name = |prefix: &str| quote::with_prefix(prefix.as_bytes(), &result.path, options.quote_path);
    writeln!(out, "--- {}\n+++ {}", name(&prefixes.old), name(&prefixes.new))?;
    combined.write(out)
}
