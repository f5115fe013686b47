//! `git shortlog`.

use super::Out;
use super::log::Request;
use crate::failure::{Outcome, unsupported};
use crate::options::Arguments;
use crate::pretty::{self, message};
use crate::repository::Repository;
use bstr::{BString, ByteSlice as _};
use std::cmp::Reverse;
use std::collections::BTreeMap;

pub(crate) fn run(repo: &Repository, arguments: Arguments, out: &mut Out<'_>) -> Outcome<i32> {
    let (mut summary, mut numbered, mut email, mut committer) = (false, false, false, false);
    let mut rest = Vec::new();
    let mut behind = false;
    for argument in arguments {
        behind |= argument == "--";
        let letters = argument
            .strip_prefix('-')
            .filter(|letters| !behind && !letters.is_empty() && letters.chars().all(|letter| "snec".contains(letter)));
        if let Some(letters) = letters {
            summary |= letters.contains('s');
            numbered |= letters.contains('n');
            email |= letters.contains('e');
            committer |= letters.contains('c');
            continue;
        }
        match argument.as_str() {
            "--summary" => summary = true,
            "--numbered" => numbered = true,
            "--email" => email = true,
            "--committer" => committer = true,
            option
                if !behind
                    && (option.starts_with("--group")
                        || option.starts_with("-w")
                        || option.starts_with("--format")
                        || option.starts_with("--pretty")) =>
            {
                return unsupported(format_args!("shortlog: {}", option.split('=').next().unwrap_or(option)));
            }
            _ => rest.push(argument),
        }
    }
    let mut request = Request::new(repo)?;
    request.read(repo, &mut Arguments::new("shortlog", rest), |_, _| false)?;
    if request.others.is_empty() && request.separated.is_none() {
        // Without a revision and without a terminal, git reads a log from its input: nothing, here.
        return Ok(0);
    }
    let divided = request.divide(repo)?;
    let mut walk = request.walk(repo, &divided)?;
    let mailmap = pretty::read_mailmap(repo);
    let mut people: BTreeMap<BString, Vec<Vec<u8>>> = BTreeMap::new();
    request.commits(repo, &mut walk, |_, id| {
        let commit = repo.commit(id)?;
        let who = pretty::mapped(&mailmap, if committer { &commit.committer } else { &commit.author });
        let name = if email { BString::from(format!("{} <{}>", who.name, who.email)) } else { who.name };
        people.entry(name).or_default().push(message::subject(&commit.message));
        Ok(true)
    })?;
    let mut sorted: Vec<(BString, Vec<Vec<u8>>)> = people.into_iter().collect();
    if numbered {
        sorted.sort_by_key(|(_, subjects)| Reverse(subjects.len()));
    }
    for (name, subjects) in sorted {
        if summary {
            writeln!(out, "{:6}\t{name}", subjects.len())?;
            continue;
        }
        writeln!(out, "{name} ({}):", subjects.len())?;
        for subject in subjects.iter().rev() {
            out.write_all(b"      ")?;
            out.write_all(without_patch_mark(subject))?;
            out.write_all(b"\n")?;
        }
        out.write_all(b"\n")?;
    }
    Ok(0)
}

/// `[PATCH 1/2]` in front of a subject is left out.
fn without_patch_mark(subject: &[u8]) -> &[u8] {
    let rest = subject.strip_prefix(b"[PATCH").and_then(|rest| rest.find_byte(b']').map(|at| &rest[at + 1..]));
    rest.map_or(subject, |rest| rest.trim_start())
}
