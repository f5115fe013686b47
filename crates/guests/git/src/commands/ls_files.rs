//! `git ls-files`.

use super::Out;
use crate::failure::{Failure, Outcome, unsupported};
use crate::index::{Entry, Index};
use crate::options::{Arguments, divide};
use crate::pathspec::Pathspec;
use crate::quote;
use crate::repository::Repository;
use crate::worktree::ignore::Ignores;
use crate::worktree::untracked::{self, Ignored, Wanted};
use crate::worktree::{State, Worktree};

#[derive(Default)]
struct Options {
    cached: bool,
    deleted: bool,
    modified: bool,
    others: bool,
    ignored: bool,
    stage: bool,
    unmerged: bool,
    nul: bool,
    tags: bool,
    directory: bool,
    no_empty: bool,
    standard: bool,
    full_name: bool,
    error_unmatch: bool,
    abbreviation: Option<usize>,
}

pub(crate) fn run(repo: &Repository, mut arguments: Arguments, out: &mut Out<'_>) -> Outcome<i32> {
    let mut options = Options::default();
    let mut paths = Vec::new();
    while let Some(argument) = arguments.next() {
        let (name, value) = divide(&argument);
        match name {
            "--" => paths.extend(arguments.remaining()),
            "-c" | "--cached" => options.cached = true,
            "-d" | "--deleted" => options.deleted = true,
            "-m" | "--modified" => options.modified = true,
            "-o" | "--others" => options.others = true,
            "-i" | "--ignored" => options.ignored = true,
            "-s" | "--stage" => options.stage = true,
            "-u" | "--unmerged" => (options.unmerged, options.stage) = (true, true),
            "-z" => options.nul = true,
            "-t" => options.tags = true,
            "--directory" => options.directory = true,
            "--exclude-standard" => options.standard = true,
            "--full-name" => options.full_name = true,
            "--error-unmatch" => options.error_unmatch = true,
            "--abbrev" => {
                options.abbreviation =
                    Some(value.map_or(Ok(repo.abbreviation()), |value| crate::options::number(name, value))?)
            }
            "--no-empty-directory" => options.no_empty = true,
            letters
                if letters.len() > 2
                    && letters.starts_with('-')
                    && !letters.starts_with("--")
                    && letters[1..].chars().all(|letter| "cdmoistuz".contains(letter)) =>
            {
                let again: Vec<String> = letters[1..].chars().map(|letter| format!("-{letter}")).collect();
                let rest = arguments.remaining();
                arguments = Arguments::new("ls-files", again.into_iter().chain(rest));
            }
            option if option.starts_with('-') => return Err(arguments.unknown(option)),
            _ => paths.push(argument),
        }
    }
    if !(options.deleted || options.modified || options.others || options.stage) {
        options.cached = true;
    }
    if options.ignored && !options.others && !options.cached {
        return Err(Failure::Fatal("ls-files -i must be used with either -o or -c".into()));
    }
    if options.ignored && !options.standard {
        return Err(Failure::Fatal("ls-files --ignored needs some exclude pattern".into()));
    }
    if options.tags && (options.others || options.modified || options.deleted) {
        return unsupported("ls-files: -t with -o, -m or -d");
    }
    let pathspec = if paths.is_empty() { Pathspec::below(&repo.prefix) } else { Pathspec::parse(repo, &paths)? };
    let index = Index::open(repo)?;
    if options.error_unmatch {
        let unmatched = pathspec.unmatched(index.entries().map(|entry| entry.path));
        if let Some(path) = unmatched.first() {
            return Err(Failure::Message(
                format!(
                    "error: pathspec '{path}' did not match any file(s) known to git\nDid you forget to 'git add'?"
                ),
                1,
            ));
        }
    }
    let printer = Printer { repo, options: &options, quote_path: repo.config.boolean("core.quotepath") != Some(false) };
    if options.others {
        let root = repo.root()?;
        let ignores = Ignores::new(repo, root, options.standard);
        let wanted = Wanted {
            paths: &pathspec,
            every_file: !options.directory,
            empty_directories: options.directory && !options.no_empty,
            ignored: if options.ignored { Ignored::Traditional } else { Ignored::No },
        };
        let found = untracked::find(repo, root, &index, &ignores, &wanted)?;
        for path in if options.ignored { found.ignored } else { found.untracked } {
            printer.path(&path, out)?;
        }
    }
    let ignores = options.ignored.then(|| repo.root().map(|root| Ignores::new(repo, root, true))).transpose()?;
    if options.cached || options.stage {
        for entry in index.entries().filter(|entry| pathspec.matches(entry.path)) {
            if options.unmerged && entry.stage == 0 {
                continue;
            }
            if ignores
                .as_ref()
                .is_some_and(|ignores| !ignores.decide_whole(entry.path, false).is_some_and(|found| found.ignored))
            {
                continue;
            }
            printer.entry(&entry, out)?;
        }
    }
    if options.deleted || options.modified {
        let worktree = Worktree::new(repo, &index)?;
        for entry in index.entries().filter(|entry| pathspec.matches(entry.path)) {
            let state = worktree.state(&entry)?;
            if state == State::Deleted && options.deleted {
                printer.entry(&entry, out)?;
            }
            if options.modified && (state != State::Clean || entry.intent_to_add()) {
                printer.entry(&entry, out)?;
            }
        }
    }
    Ok(0)
}

struct Printer<'p> {
    repo: &'p Repository,
    options: &'p Options,
    quote_path: bool,
}

impl Printer<'_> {
    fn path(&self, path: &[u8], out: &mut Out<'_>) -> Outcome {
        let shown = if self.options.full_name { path.into() } else { self.repo.relative(path) };
        if self.options.nul {
            out.write_all(&shown)?;
            out.write_all(b"\0")?;
        } else {
            out.write_all(&quote::path(&shown, self.quote_path))?;
            out.write_all(b"\n")?;
        }
        Ok(())
    }

    fn entry(&self, entry: &Entry<'_>, out: &mut Out<'_>) -> Outcome {
        if self.options.tags {
            let tag = if entry.stage != 0 {
                "M "
            } else if entry.skip_worktree() {
                "S "
            } else {
                "H "
            };
            out.write_all(tag.as_bytes())?;
        }
        if self.options.stage {
            let id = match self.options.abbreviation {
                Some(length) => self.repo.odb.abbreviate(&entry.id, length)?,
                None => entry.id.to_string(),
            };
            write!(out, "{:06o} {id} {}\t", entry.mode, entry.stage)?;
        }
        self.path(entry.path, out)
    }
}
