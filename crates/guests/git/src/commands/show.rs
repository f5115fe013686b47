//! `git show`.

use super::Out;
use super::log::{Merges, Request, Shower};
use crate::date;
use crate::failure::Outcome;
use crate::options::Arguments;
use crate::pretty::Extra;
use crate::repository::Repository;
use crate::revision::walk::Walk;
use crate::tree;
use bstr::ByteSlice as _;
use gix_object::Kind;

pub(crate) fn run(repo: &Repository, mut arguments: Arguments, out: &mut Out<'_>) -> Outcome<i32> {
    let mut request = Request::new(repo)?;
    request.set_merges(Merges::Combined { dense: true });
    request.read(repo, &mut arguments, |_, _| false)?;
    if !request.diff.formats.any() {
        request.diff.formats.patch = true;
    }
    let divided = request.divide(repo)?;
    let mut shower = Shower::new(repo, &request)?;
    let is_range = divided.revisions.iter().any(|tip| tip.flags.uninteresting);
    if is_range {
        let mut walk: Walk<'_> = request.walk(repo, &divided)?;
        request.commits(repo, &mut walk, |_, id| {
            shower.show(&request, id, &repo.node(id)?.parents.clone(), &Extra::default(), out)
        })?;
        return Ok(0);
    }
    let mut shown = false;
    for tip in &divided.revisions {
        let mut id = tip.id;
        loop {
            let object = repo.odb.get(&id)?;
            match object.kind {
                Kind::Commit => {
                    if !shower.show(&request, &id, &repo.node(&id)?.parents.clone(), &Extra::default(), out)? {
                        break;
                    }
                }
                Kind::Blob => out.write_all(&object.data)?,
                Kind::Tree => {
                    if shown {
                        out.write_all(b"\n")?;
                    }
                    write!(out, "tree {}\n\n", tip.name)?;
                    for entry in tree::parse(&id, &object.data)? {
                        out.write_all(&entry.name)?;
                        out.write_all(if entry.is_directory() { b"/\n" } else { b"\n" })?;
                    }
                }
                Kind::Tag => {
                    if shown {
                        out.write_all(b"\n")?;
                    }
                    let tag = repo.tag(&id)?;
                    writeln!(out, "tag {}", tag.name)?;
                    if let Some(tagger) = &tag.tagger {
                        let shown = shower.printer.mapped(tagger);
                        writeln!(
                            out,
                            "Tagger: {} <{}>\nDate:   {}",
                            shown.name,
                            shown.email,
                            date::format(tagger, &request.date)
                        )?;
                    }
                    out.write_all(b"\n")?;
                    out.write_all(tag.message.as_bytes())?;
                    shown = true;
                    id = tag.target;
                    if tag.target_kind == Kind::Commit {
                        shower.separate();
                    }
                    continue;
                }
            }
            shown = true;
            break;
        }
    }
    Ok(0)
}
