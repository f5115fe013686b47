//! Patches: `diff --git`, hunks with context.

use super::lines::{self, Change};
use super::options::Options;
use super::{MAX_SCORE, Pair, Reader, Side};
use crate::failure::Outcome;
use crate::{quote, tree};
use bstr::{BString, ByteSlice as _};
use gix_hash::ObjectId;
use std::io::Write;

/// The letters in front of both paths.
#[derive(Clone, Debug)]
pub(crate) struct Prefixes {
    pub(crate) old: String,
    pub(crate) new: String,
}

pub(crate) fn write(
    reader: &Reader<'_>,
    pairs: &[Pair],
    options: &Options,
    prefixes: &Prefixes,
    out: &mut impl Write,
) -> Outcome {
    // As git: files in conflict come first.
    let (conflicts, others): (Vec<&Pair>, Vec<&Pair>) = pairs.iter().partition(|pair| pair.versions.is_some());
    for pair in conflicts.into_iter().chain(others) {
        if let Some(versions) = pair.versions {
            let parents = versions.map(|(mode, id)| Side::stored(&pair.new.path, mode, id));
            let mode = pair.new.mode;
            super::combined::file(reader, &parents, &Side::worktree(&pair.new.path, mode), options, true, out)?;
        } else if pair.unmerged {
            out.write_all(b"* Unmerged path ")?;
            out.write_all(&pair.new.path)?;
            out.write_all(b"\n")?;
        } else if pair.letter() == 'T' {
            // Another kind of file is no change of lines: the one goes, the other comes.
            one(reader, &Pair::new(pair.old.clone(), Side::absent(&pair.old.path)), options, prefixes, out)?;
            one(reader, &Pair::new(Side::absent(&pair.new.path), pair.new.clone()), options, prefixes, out)?;
        } else {
            one(reader, pair, options, prefixes, out)?;
        }
    }
    Ok(())
}

fn label(side: &Side, quoted: &BString) -> BString {
    if !side.exists() {
        return "/dev/null".into();
    }
    // A tab marks the end of a name with white space in it.
    let spaced = quoted.contains(&b' ') || quoted.contains(&b'\t');
    if spaced { [quoted.as_slice(), b"\t"].concat().into() } else { quoted.clone() }
}

fn one(reader: &Reader<'_>, pair: &Pair, options: &Options, prefixes: &Prefixes, out: &mut impl Write) -> Outcome {
    let (old_id, new_id) = (reader.id(&pair.old)?, reader.id(&pair.new)?);
    let same_content = old_id == new_id && pair.old.exists() && pair.new.exists();
    let name = |prefix: &str, path: &[u8]| quote::with_prefix(prefix.as_bytes(), path, options.quote_path);
    let (old_name, new_name) = (name(&prefixes.old, &pair.old.path), name(&prefixes.new, &pair.new.path));
    let mut header: Vec<u8> = Vec::new();
    writeln!(header, "diff --git {old_name} {new_name}")?;
    let mut must_show = true;
    if !pair.old.exists() {
        writeln!(header, "new file mode {:06o}", pair.new.mode)?;
    } else if !pair.new.exists() {
        writeln!(header, "deleted file mode {:06o}", pair.old.mode)?;
    } else {
        must_show = pair.renamed.is_some();
        if pair.old.mode != pair.new.mode {
            writeln!(header, "old mode {:06o}\nnew mode {:06o}", pair.old.mode, pair.new.mode)?;
            must_show = true;
        }
    }
    if let Some(score) = pair.renamed {
        writeln!(header, "similarity index {}%", score * 100 / MAX_SCORE)?;
        header.extend_from_slice(b"rename from ");
        header.extend_from_slice(&quote::path(&pair.old.path, options.quote_path));
        header.extend_from_slice(b"\nrename to ");
        header.extend_from_slice(&quote::path(&pair.new.path, options.quote_path));
        header.push(b'\n');
    }
    if !same_content {
        write!(header, "index {}..{}", short(reader, options, &old_id)?, short(reader, options, &new_id)?)?;
        if pair.old.mode == pair.new.mode {
            write!(header, " {:06o}", pair.new.mode)?;
        }
        header.push(b'\n');
    }
    if same_content {
        if must_show {
            out.write_all(&header)?;
        }
        return Ok(());
    }
    let (old, new) = (reader.content(&pair.old)?, reader.content(&pair.new)?);
    let (old_label, new_label) = (label(&pair.old, &old_name), label(&pair.new, &new_name));
    let binary = |side: &Side, content: &[u8]| -> Outcome<bool> {
        Ok(side.mode != tree::SUBMODULE && reader.converter.is_binary(&side.path, content)?)
    };
    if !options.text && (binary(&pair.old, &old)? || binary(&pair.new, &new)?) {
        out.write_all(&header)?;
        writeln!(out, "Binary files {} and {} differ", old_label.trim_end().as_bstr(), new_label.trim_end().as_bstr())?;
        return Ok(());
    }
    let (old_lines, new_lines) = (lines::split(&old), lines::split(&new));
    let changes = lines::changes(&old_lines, &new_lines, options.comparison);
    if changes.is_empty() {
        if must_show {
            out.write_all(&header)?;
        }
        return Ok(());
    }
    out.write_all(&header)?;
    writeln!(out, "--- {old_label}\n+++ {new_label}")?;
    let finder = reader.converter.finder(&pair.old.path)?;
    let mut previous = None;
    let mut function: &[u8] = b"";
    for group in groups(&changes, options.context) {
        let (first, last) = (&group[0], &group[group.len() - 1]);
        let before = options.context.min(first.old.start);
        let after = options.context.min(old_lines.len() - last.old.end);
        let (old_range, new_range) =
            (first.old.start - before..last.old.end + after, first.new.start - before..last.new.end + after);
        let from = old_range.start.checked_sub(1);
        if let Some(found) = finder.above(&old_lines, from, previous) {
            function = found;
        }
        previous = from.or(previous);
        write!(out, "@@ -{} +{} @@", range(&old_range), range(&new_range))?;
        if !function.is_empty() {
            out.write_all(b" ")?;
            out.write_all(function)?;
        }
        out.write_all(b"\n")?;
        let mut at = old_range.start;
        let mut emit = |sign: u8, line: &[u8]| -> Outcome {
            out.write_all(&[sign])?;
            out.write_all(line)?;
            if !line.ends_with(b"\n") {
                out.write_all(b"\n\\ No newline at end of file\n")?;
            }
            Ok(())
        };
        // Context is taken from the new side, which matters where white space is ignored.
        let mut at_new = new_range.start;
        for change in group {
            for line in &new_lines[at_new..change.new.start] {
                emit(b' ', line)?;
            }
            for line in &old_lines[change.old.clone()] {
                emit(b'-', line)?;
            }
            for line in &new_lines[change.new.clone()] {
                emit(b'+', line)?;
            }
            (at, at_new) = (change.old.end, change.new.end);
        }
        let _ = at;
        for line in &new_lines[at_new..new_range.end] {
            emit(b' ', line)?;
        }
    }
    Ok(())
}

fn short(reader: &Reader<'_>, options: &Options, id: &ObjectId) -> Outcome<String> {
    let digits = options.digits(reader.repo);
    if id.is_null() { Ok("0".repeat(digits)) } else { reader.repo.odb.abbreviate(id, digits) }
}

/// Changes whose context meets are one hunk.
pub(crate) fn groups(changes: &[Change], context: usize) -> impl Iterator<Item = &[Change]> {
    changes.chunk_by(move |one, next| next.old.start - one.old.end <= 2 * context)
}

/// `start,count`, without a count of 1; an empty range is named by the line before it.
fn range(lines: &std::ops::Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => (lines.start + 1).to_string(),
        count => format!("{},{count}", lines.start + 1),
    }
}
