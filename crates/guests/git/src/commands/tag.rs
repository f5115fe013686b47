//! `git tag`, as far as it lists.

use super::for_each_ref::filter_option;
use super::reference_format::{self, Filter};
use super::{Out, writes};
use crate::failure::Outcome;
use crate::options::{Arguments, divide, number};
use crate::pretty::message;
use crate::repository::Repository;
use bstr::ByteSlice as _;
use gix_object::Kind;

pub(crate) fn run(repo: &Repository, mut arguments: Arguments, out: &mut Out<'_>) -> Outcome<i32> {
    let mut filter = Filter::default();
    let (mut listing, mut lines, mut format, mut patterns) = (false, None, None, Vec::new());
    let mut fields: Vec<String> = repo.config.all("tag.sort").map(ToString::to_string).collect();
    while let Some(argument) = arguments.next() {
        let (name, value) = divide(&argument);
        match name {
            "-l" | "--list" => listing = true,
            "-n" => (lines, listing) = (Some(1), true),
            "--sort" => {
                let field = arguments.value(name, value)?;
                fields.push(field);
                listing = true;
            }
            "--format" => (format, listing) = (Some(arguments.value(name, value)?), true),
            "--no-column" | "--no-color" => {}
            "--color" | "--column" if matches!(value, Some("never" | "auto")) => {}
            "-a" | "-s" | "-u" | "-m" | "-F" | "-f" | "-d" | "--annotate" | "--sign" | "--local-user" | "--message"
            | "--file" | "--force" | "--delete" | "-e" | "--edit" => {
                return Err(writes(&format!("tag {name}")));
            }
            "-v" | "--verify" => return Err(arguments.unknown(name)),
            short if short.starts_with("-n") && short[2..].bytes().all(|byte| byte.is_ascii_digit()) => {
                (lines, listing) = (Some(number("-n", &short[2..])?), true)
            }
            option if option.starts_with('-') => {
                if !filter_option(repo, &mut filter, option, value, &mut arguments)? {
                    return Err(arguments.unknown(option));
                }
                listing = true;
            }
            _ => patterns.push(argument),
        }
    }
    if !patterns.is_empty() && !listing {
        return Err(writes("tag with a name"));
    }
    let mut references = Vec::new();
    for reference in reference_format::below(repo, "refs/tags/") {
        let short = reference.name.strip_prefix(b"refs/tags/").unwrap_or_default();
        let mode = gix_glob::wildmatch::Mode::empty();
        let wanted = patterns.is_empty()
            || patterns.iter().any(|pattern| gix_glob::wildmatch(pattern.as_str().into(), short.as_bstr(), mode));
        if wanted && filter.keeps(repo, &reference)? {
            references.push(reference);
        }
    }
    reference_format::sort(repo, &mut references, &fields)?;
    let parts = format.as_deref().map(reference_format::parse).transpose()?;
    for reference in &references {
        if let Some(parts) = &parts {
            out.write_all(&reference_format::expand(repo, reference, parts)?)?;
            out.write_all(b"\n")?;
            continue;
        }
        let short = reference.name.strip_prefix(b"refs/tags/").unwrap_or_default().as_bstr();
        match lines {
            None => out.write_all(short)?,
            Some(count) => {
                write!(out, "{:15} ", short.to_str_lossy())?;
                let text = match repo.odb.get(&reference.id)?.kind {
                    Kind::Tag => repo.tag(&reference.id)?.message,
                    Kind::Commit => repo.commit(&reference.id)?.message,
                    _ => Default::default(),
                };
                let text = message::start(&text);
                if count <= 1 {
                    out.write_all(&message::subject(text))?;
                } else {
                    for (at, line) in text.lines().take(count).enumerate() {
                        if at > 0 {
                            out.write_all(b"\n    ")?;
                        }
                        out.write_all(line)?;
                    }
                }
            }
        }
        out.write_all(b"\n")?;
    }
    Ok(0)
}
