//! `git ls-tree`.

use super::Out;
use crate::failure::{Failure, Outcome, fatal};
use crate::options::{Arguments, divide};
use crate::pathspec::Pathspec;
use crate::quote;
use crate::repository::Repository;
use crate::revision::names;
use crate::tree;
use gix_hash::ObjectId;

#[derive(Default)]
struct Options {
    recursive: bool,
    trees: bool,
    only_trees: bool,
    long: bool,
    nul: bool,
    name_only: bool,
    id_only: bool,
    full_name: bool,
    full_tree: bool,
    abbreviation: Option<usize>,
    quote_path: bool,
}

pub(crate) fn run(repo: &Repository, mut arguments: Arguments, out: &mut Out<'_>) -> Outcome<i32> {
    let mut options =
        Options { quote_path: repo.config.boolean("core.quotepath") != Some(false), ..Options::default() };
    let mut others = Vec::new();
    while let Some(argument) = arguments.next() {
        let (name, value) = divide(&argument);
        match name {
            "--" => others.extend(arguments.remaining()),
            "-r" => options.recursive = true,
            "-t" => options.trees = true,
            "-d" => options.only_trees = true,
            "-l" | "--long" => options.long = true,
            "-z" => options.nul = true,
            "--name-only" | "--name-status" => options.name_only = true,
            "--object-only" => options.id_only = true,
            "--full-name" => options.full_name = true,
            "--full-tree" => options.full_tree = true,
            "--abbrev" => {
                options.abbreviation =
                    Some(value.map_or(Ok(repo.abbreviation()), |value| crate::options::number(name, value))?)
            }
            letters
                if letters.len() > 2
                    && letters.starts_with('-')
                    && !letters.starts_with("--")
                    && letters[1..].chars().all(|letter| "rtdlz".contains(letter)) =>
            {
                let again: Vec<String> = letters[1..].chars().map(|letter| format!("-{letter}")).collect();
                let rest = arguments.remaining();
                arguments = Arguments::new("ls-tree", again.into_iter().chain(rest));
            }
            option if option.starts_with('-') => return Err(arguments.unknown(option)),
            _ => others.push(argument),
        }
    }
    let Some((name, paths)) = others.split_first() else {
        return Err(Failure::Message("usage: git ls-tree [<options>] <tree-ish> [<path>...]".into(), 129));
    };
    let Some(id) = names::find(repo, name)? else { return fatal(format!("Not a valid object name {name}")) };
    let root = tree::id_of(repo, &id).map_err(|_| Failure::Fatal("not a tree object".into()))?;
    let pathspec = match (paths, options.full_tree) {
        ([], true) => Pathspec::default(),
        ([], false) => Pathspec::below(&repo.prefix),
        (paths, _) => Pathspec::parse(repo, paths)?,
    };
    // A path with a `/` at its end, and the current directory, mean what is in it.
    let inside: Vec<Vec<u8>> = paths
        .iter()
        .filter(|path| path.ends_with('/'))
        .map(|path| path.trim_end_matches('/').as_bytes().to_vec())
        .chain((!repo.prefix.is_empty() && !options.full_tree).then(|| repo.prefix[..repo.prefix.len() - 1].to_vec()))
        .collect();
    let mut walk = Walk { repo, options: &options, pathspec: &pathspec, inside: &inside, named: !pathspec.is_empty() };
    walk.tree(&root, &mut Vec::new(), out)?;
    Ok(0)
}

struct Walk<'w> {
    repo: &'w Repository,
    options: &'w Options,
    pathspec: &'w Pathspec,
    inside: &'w [Vec<u8>],
    named: bool,
}

impl Walk<'_> {
    fn tree(&mut self, id: &ObjectId, prefix: &mut Vec<u8>, out: &mut Out<'_>) -> Outcome {
        for entry in tree::entries(self.repo, id)? {
            let length = prefix.len();
            prefix.extend_from_slice(&entry.name);
            if entry.is_directory() {
                let matched = !self.named || self.pathspec.matches(prefix);
                let leads = self.named
                    && (!matched || self.inside.iter().any(|path| path == prefix))
                    && self.pathspec.may_match_below(prefix);
                let descends = (self.options.recursive && (matched || self.pathspec.may_match_below(prefix))) || leads;
                let shown =
                    matched && !leads && (!self.options.recursive || self.options.trees || self.options.only_trees);
                if shown || (self.options.trees && descends) {
                    self.print(&entry, prefix, out)?;
                }
                if descends && !(self.options.only_trees && !self.options.recursive && !leads) {
                    prefix.push(b'/');
                    self.tree(&entry.id, prefix, out)?;
                }
            } else if (!self.options.only_trees || entry.mode == tree::SUBMODULE)
                && (!self.named || self.pathspec.matches(prefix))
            {
                self.print(&entry, prefix, out)?;
            }
            prefix.truncate(length);
        }
        Ok(())
    }

    fn print(&self, entry: &tree::Entry, path: &[u8], out: &mut Out<'_>) -> Outcome {
        let end: &[u8] = if self.options.nul { b"\0" } else { b"\n" };
        let id = match self.options.abbreviation {
            Some(length) => self.repo.odb.abbreviate(&entry.id, length)?,
            None => entry.id.to_string(),
        };
        if self.options.id_only {
            write!(out, "{id}")?;
            out.write_all(end)?;
            return Ok(());
        }
        if !self.options.name_only {
            let kind = match entry.mode {
                tree::DIRECTORY => "tree",
                tree::SUBMODULE => "commit",
                _ => "blob",
            };
            write!(out, "{:06o} {kind} {id}", entry.mode)?;
            if self.options.long {
                let size =
                    if kind == "blob" { self.repo.odb.get(&entry.id)?.data.len().to_string() } else { "-".into() };
                write!(out, " {size:>7}")?;
            }
            out.write_all(b"\t")?;
        }
        let shown =
            if self.options.full_name || self.options.full_tree { path.into() } else { self.repo.relative(path) };
        if self.options.nul {
            out.write_all(&shown)?;
        } else {
            out.write_all(&quote::path(&shown, self.options.quote_path))?;
        }
        out.write_all(end)?;
        Ok(())
    }
}
