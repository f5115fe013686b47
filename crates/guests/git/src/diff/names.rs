//! `--name-only`, `--name-status`, `--raw` and `--summary`.

use super::options::Options;
use super::{MAX_SCORE, Pair, Reader, stat};
use crate::failure::Outcome;
use crate::quote;
use bstr::BString;
use gix_hash::ObjectId;
use std::io::Write;

fn quoted(options: &Options, path: &[u8]) -> BString {
    if options.nul { path.into() } else { quote::path(path, options.quote_path) }
}

pub(crate) fn name_only(pairs: &[Pair], options: &Options, out: &mut impl Write) -> Outcome {
    for pair in pairs {
        out.write_all(&quoted(options, &pair.new.path))?;
        out.write_all(if options.nul { b"\0" } else { b"\n" })?;
    }
    Ok(())
}

pub(crate) fn name_status(pairs: &[Pair], options: &Options, out: &mut impl Write) -> Outcome {
    for pair in pairs {
        status(pair, out)?;
        paths(pair, options, out)?;
    }
    Ok(())
}

fn status(pair: &Pair, out: &mut impl Write) -> Outcome {
    match pair.renamed {
        Some(score) => write!(out, "R{:03}", score * 100 / MAX_SCORE)?,
        None => write!(out, "{}", pair.letter())?,
    }
    Ok(())
}

fn paths(pair: &Pair, options: &Options, out: &mut impl Write) -> Outcome {
    let (between, end) = if options.nul { (b"\0", b"\0") } else { (b"\t", b"\n") };
    out.write_all(between)?;
    if pair.renamed.is_some() {
        out.write_all(&quoted(options, &pair.old.path))?;
        out.write_all(between)?;
    }
    out.write_all(&quoted(options, &pair.new.path))?;
    out.write_all(end)?;
    Ok(())
}

pub(crate) fn raw(reader: &Reader<'_>, pairs: &[Pair], options: &Options, out: &mut impl Write) -> Outcome {
    let digits = options.digits(reader.repo);
    let null = ObjectId::null(gix_hash::Kind::Sha1);
    let short = |id: Option<ObjectId>| match id {
        Some(id) if !id.is_null() => reader.repo.odb.abbreviate(&id, digits),
        _ => Ok(null.to_hex_with_len(digits).to_string()),
    };
    for pair in pairs {
        write!(out, ":{:06o} {:06o} {} {} ", pair.old.mode, pair.new.mode, short(pair.old.id)?, short(pair.new.id)?)?;
        status(pair, out)?;
        paths(pair, options, out)?;
    }
    Ok(())
}

/// Files that came, went, were renamed or have another mode.
pub(crate) fn summary(pairs: &[Pair], options: &Options, out: &mut impl Write) -> Outcome {
    for pair in pairs.iter().filter(|pair| !pair.unmerged) {
        let mode_changed = pair.old.exists() && pair.new.exists() && pair.old.mode != pair.new.mode;
        if let Some(score) = pair.renamed {
            out.write_all(b" rename ")?;
            out.write_all(&stat::renamed_name(pair, options.quote_path))?;
            writeln!(out, " ({}%)", score * 100 / MAX_SCORE)?;
            if mode_changed {
                writeln!(out, " mode change {:06o} => {:06o}", pair.old.mode, pair.new.mode)?;
            }
        } else if !pair.old.exists() {
            write!(out, " create mode {:06o} ", pair.new.mode)?;
            out.write_all(&quoted(options, &pair.new.path))?;
            out.write_all(b"\n")?;
        } else if !pair.new.exists() {
            write!(out, " delete mode {:06o} ", pair.old.mode)?;
            out.write_all(&quoted(options, &pair.old.path))?;
            out.write_all(b"\n")?;
        } else if mode_changed {
            write!(out, " mode change {:06o} => {:06o} ", pair.old.mode, pair.new.mode)?;
            out.write_all(&quoted(options, &pair.new.path))?;
            out.write_all(b"\n")?;
        }
    }
    Ok(())
}
