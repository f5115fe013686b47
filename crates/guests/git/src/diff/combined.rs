//! Merges: what differs from every parent.

use super::options::Options;
use super::output::{self, Sides};
use super::{Pair, Reader, names, trees};
use crate::commit::Commit;
use crate::failure::{Outcome, unsupported};
use crate::pathspec::Pathspec;
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
    _dense: bool,
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
    if options.formats.patch && !touched.is_empty() {
        return unsupported("the combined diff of a merge");
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
    }
    Ok(())
}
