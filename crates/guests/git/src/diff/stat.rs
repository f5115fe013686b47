//! `--stat`, `--numstat` and `--shortstat`.

use super::options::Options;
use super::{Pair, Reader, lines};
use crate::failure::Outcome;
use crate::{quote, width};
use bstr::{BStr, BString, ByteSlice as _};
use std::io::Write;

/// What happened in one file.
#[derive(Clone, Debug)]
pub(crate) struct File {
    name: BString,
    /// Lines, or bytes of a binary file.
    added: usize,
    deleted: usize,
    binary: bool,
    unmerged: bool,
    paths: (BString, BString),
    renamed: bool,
}

/// Counts the lines of every file.
pub(crate) fn count(reader: &Reader<'_>, pairs: &[Pair], options: &Options) -> Outcome<Vec<File>> {
    pairs.iter().map(|pair| one(reader, pair, options)).collect()
}

fn one(reader: &Reader<'_>, pair: &Pair, options: &Options) -> Outcome<File> {
    let name = if pair.renamed.is_some() {
        renamed_name(pair, options.quote_path)
    } else {
        quote::path(&pair.new.path, options.quote_path)
    };
    let mut file = File {
        name,
        added: 0,
        deleted: 0,
        binary: false,
        unmerged: pair.unmerged,
        paths: (pair.old.path.clone(), pair.new.path.clone()),
        renamed: pair.renamed.is_some(),
    };
    if pair.unmerged || (pair.old.exists() && pair.new.exists() && pair.old.id.is_some() && pair.old.id == pair.new.id)
    {
        return Ok(file);
    }
    let (old, new) = (reader.content(&pair.old)?, reader.content(&pair.new)?);
    if !options.text
        && (reader.converter.is_binary(&pair.old.path, &old)? || reader.converter.is_binary(&pair.new.path, &new)?)
    {
        file.binary = true;
        if old != new {
            (file.added, file.deleted) = (new.len(), old.len());
        }
        return Ok(file);
    }
    let changes = lines::changes(&lines::split(&old), &lines::split(&new), options.comparison);
    file.added = changes.iter().map(|change| change.new.len()).sum();
    file.deleted = changes.iter().map(|change| change.old.len()).sum();
    Ok(file)
}

/// `a/{b => c}/d`: both names, with what they have in common once.
pub(crate) fn renamed_name(pair: &Pair, quote_path: bool) -> BString {
    let (old, new) = (pair.old.path.as_slice(), pair.new.path.as_slice());
    let (quoted_old, quoted_new) = (quote::path(old, quote_path), quote::path(new, quote_path));
    if quoted_old != old || quoted_new != new {
        return [quoted_old.as_slice(), b" => ", quoted_new.as_slice()].concat().into();
    }
    let common = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let start = old[..common].rfind_byte(b'/').map_or(0, |at| at + 1);
    // The common end may begin with the `/` that ends the common start.
    let slack = usize::from(start > 0);
    let mut end = 0;
    let most = (old.len() - start).min(new.len() - start) + slack;
    for length in 1..=most {
        let (a, b) = (old[old.len() - length], new[new.len() - length]);
        if a != b {
            break;
        }
        if a == b'/' {
            end = length;
        }
    }
    let middle = |name: &[u8]| -> BString {
        let stop = name.len() - end;
        if stop > start { name[start..stop].into() } else { BString::default() }
    };
    let mut out = BString::from(&old[..start]);
    let braces = start + end > 0;
    if braces {
        out.push(b'{');
    }
    out.extend_from_slice(&middle(old));
    out.extend_from_slice(b" => ");
    out.extend_from_slice(&middle(new));
    if braces {
        out.push(b'}');
        out.extend_from_slice(&old[old.len() - end..]);
    }
    out
}

fn digits(number: usize) -> usize {
    number.to_string().len()
}

fn scale(value: usize, width: usize, most: usize) -> usize {
    if value == 0 { 0 } else { 1 + value * (width - 1) / most }
}

const BINARY: &str = "Bin";
const UNMERGED: &str = "Unmerged";

/// The columns of a table.
struct Columns {
    name: usize,
    number: usize,
    graph: usize,
    most: usize,
}

impl Columns {
    fn of(files: &[File], options: &Options) -> Self {
        let (mut longest, mut most, mut number, mut words) = (0, 0, 0, 0);
        for file in files {
            longest = longest.max(width::of(&file.name));
            if file.unmerged {
                words = words.max(UNMERGED.len());
            } else if file.binary {
                // "Bin X -> Y bytes"
                words = words.max(14 + digits(file.added) + digits(file.deleted));
                number = number.max(BINARY.len());
            } else {
                most = most.max(file.added + file.deleted);
            }
        }
        number = number.max(digits(most));
        let wanted = if options.stat_width == 0 { 80 } else { options.stat_width };
        let whole = wanted.max(16 + 6 + number);
        let mut graph = if most + 4 > words { most } else { words - 4 };
        let mut name = options.stat_name_width.filter(|name| *name > 0 && *name < longest).unwrap_or(longest);
        if name + number + 6 + graph > whole {
            let share = (whole * 3 / 8).saturating_sub(number + 6);
            if graph > share {
                graph = share.max(6);
            }
            if name > whole - number - 6 - graph {
                name = whole - number - 6 - graph;
            } else {
                graph = whole - number - 6 - name;
            }
        }
        Self { name, number, graph, most }
    }
}

/// The name shortened from its left, and the columns it takes.
fn fitted(name: &BStr, columns: usize) -> (BString, usize) {
    let taken = width::of(name);
    if taken <= columns {
        return (name.into(), taken);
    }
    let room = columns.saturating_sub(3);
    let mut rest = name.as_bytes();
    let mut left = taken;
    while left > room
        && let Some((_, end, character)) = rest.char_indices().next()
    {
        left -= width::of_character(character);
        rest = &rest[end..];
    }
    if let Some(slash) = rest.find_byte(b'/') {
        rest = &rest[slash..];
    }
    let shown = BString::from([b"...", rest].concat());
    let taken = width::of(&shown);
    (shown, taken)
}

pub(crate) fn stat(files: &[File], options: &Options, out: &mut impl Write) -> Outcome {
    if files.is_empty() {
        return Ok(());
    }
    let shown = options.stat_count.unwrap_or(files.len()).min(files.len());
    let columns = Columns::of(&files[..shown], options);
    for file in &files[..shown] {
        let (name, taken) = fitted(file.name.as_bstr(), columns.name);
        out.write_all(b" ")?;
        out.write_all(&name)?;
        write!(out, "{:1$} | ", "", columns.name.saturating_sub(taken))?;
        if file.unmerged {
            writeln!(out, "{UNMERGED:>0$}", columns.number)?;
        } else if file.binary {
            write!(out, "{BINARY:>0$}", columns.number)?;
            if file.added + file.deleted > 0 {
                write!(out, " {} -> {} bytes", file.deleted, file.added)?;
            }
            out.write_all(b"\n")?;
        } else {
            let total = file.added + file.deleted;
            let (plus, minus) = graph(file, &columns);
            write!(out, "{total:>0$}{1}", columns.number, if total > 0 { " " } else { "" })?;
            writeln!(out, "{}{}", "+".repeat(plus), "-".repeat(minus))?;
        }
    }
    if shown < files.len() {
        out.write_all(b" ...\n")?;
    }
    shortstat(files, out)
}

fn graph(file: &File, columns: &Columns) -> (usize, usize) {
    let (added, deleted) = (file.added, file.deleted);
    if columns.graph > columns.most {
        return (added, deleted);
    }
    let mut total = scale(added + deleted, columns.graph, columns.most);
    if total < 2 && added > 0 && deleted > 0 {
        total = 2;
    }
    if added < deleted {
        let plus = scale(added, columns.graph, columns.most);
        (plus, total - plus)
    } else {
        let minus = scale(deleted, columns.graph, columns.most);
        (total - minus, minus)
    }
}

pub(crate) fn shortstat(files: &[File], out: &mut impl Write) -> Outcome {
    if files.is_empty() {
        return Ok(());
    }
    let counted = files.iter().filter(|file| !file.unmerged);
    let text = counted.clone().filter(|file| !file.binary);
    let (added, deleted) = text.fold((0, 0), |(added, deleted), file| (added + file.added, deleted + file.deleted));
    write_total(counted.count(), added, deleted, out)
}

fn write_total(files: usize, added: usize, deleted: usize, out: &mut impl Write) -> Outcome {
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    write!(out, " {files} file{} changed", plural(files))?;
    if files > 0 {
        if added > 0 || deleted == 0 {
            write!(out, ", {added} insertion{}(+)", plural(added))?;
        }
        if deleted > 0 || added == 0 {
            write!(out, ", {deleted} deletion{}(-)", plural(deleted))?;
        }
    }
    out.write_all(b"\n")?;
    Ok(())
}

pub(crate) fn numstat(files: &[File], options: &Options, out: &mut impl Write) -> Outcome {
    for file in files {
        if file.binary {
            out.write_all(b"-\t-\t")?;
        } else {
            write!(out, "{}\t{}\t", file.added, file.deleted)?;
        }
        if options.nul {
            if file.renamed {
                out.write_all(b"\0")?;
                out.write_all(&file.paths.0)?;
                out.write_all(b"\0")?;
            }
            out.write_all(&file.paths.1)?;
            out.write_all(b"\0")?;
        } else {
            out.write_all(&file.name)?;
            out.write_all(b"\n")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::Side;
    use super::*;

    #[test]
    fn what_renamed_names_have_in_common_is_written_once() {
        for (old, new, expected) in [
            ("a", "b", "a => b"),
            ("lib/tool.ts", "lib/tools.ts", "lib/{tool.ts => tools.ts}"),
            ("a/b/c", "a/x/c", "a/{b => x}/c"),
            ("a/c", "a/b/c", "a/{ => b}/c"),
            ("a/b/c", "c", "a/b/c => c"),
            ("x/c", "y/c", "{x => y}/c"),
        ] {
            let pair = Pair::new(Side::absent(old.as_bytes()), Side::absent(new.as_bytes()));
            assert_eq!(renamed_name(&pair, true), expected);
        }
    }
}
