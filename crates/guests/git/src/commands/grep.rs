//! `git grep` in the working tree.

use super::Out;
use super::log::{Syntax, compile};
use crate::failure::{Outcome, fatal, unsupported};
use crate::files;
use crate::index::Index;
use crate::options::{Arguments, divide};
use crate::pathspec::Pathspec;
use crate::quote;
use crate::repository::Repository;
use crate::tree;
use bstr::ByteSlice as _;

#[derive(Default)]
struct Options {
    ignore_case: bool,
    invert: bool,
    numbers: bool,
    names: Option<bool>,
    count: bool,
    quiet: bool,
    word: bool,
    no_name: bool,
    text: bool,
    skip_binary: bool,
    nul: bool,
    syntax: Syntax,
    patterns: Vec<String>,
}

pub(crate) fn run(repo: &Repository, mut arguments: Arguments, out: &mut Out<'_>) -> Outcome<i32> {
    let mut options = Options { numbers: repo.config.boolean("grep.linenumber") == Some(true), ..Options::default() };
    let mut paths: Vec<String> = Vec::new();
    let mut others = Vec::new();
    while let Some(argument) = arguments.next() {
        let (name, value) = divide(&argument);
        match name {
            "--" => paths = arguments.remaining(),
            "-i" | "--ignore-case" => options.ignore_case = true,
            "-v" | "--invert-match" => options.invert = true,
            "-n" | "--line-number" => options.numbers = true,
            "-l" | "--files-with-matches" | "--name-only" => options.names = Some(true),
            "-L" | "--files-without-match" => options.names = Some(false),
            "-c" | "--count" => options.count = true,
            "-q" | "--quiet" => options.quiet = true,
            "-w" | "--word-regexp" => options.word = true,
            "-h" => options.no_name = true,
            "-H" => options.no_name = false,
            "-a" | "--text" => options.text = true,
            "-I" => options.skip_binary = true,
            "-z" | "--null" => options.nul = true,
            "-E" | "--extended-regexp" | "-P" | "--perl-regexp" => options.syntax = Syntax::Extended,
            "-G" | "--basic-regexp" => options.syntax = Syntax::Basic,
            "-F" | "--fixed-strings" => options.syntax = Syntax::Fixed,
            "-e" => options.patterns.push(arguments.value("-e", value)?),
            "--no-color" | "-r" | "--recursive" | "--full-name" if name != "--full-name" => {}
            "--color" if matches!(value, Some("never" | "auto")) => {}
            letters
                if letters.len() > 2
                    && letters.starts_with('-')
                    && !letters.starts_with("--")
                    && letters[1..].chars().all(|letter| "invlLcqwhHaIzEPGFr".contains(letter)) =>
            {
                let again: Vec<String> = letters[1..].chars().map(|letter| format!("-{letter}")).collect();
                let rest = arguments.remaining();
                arguments = Arguments::new("grep", again.into_iter().chain(rest));
            }
            option if option.starts_with('-') && option != "-" => return Err(arguments.unknown(option)),
            _ => others.push(argument),
        }
    }
    if options.patterns.is_empty() {
        if others.is_empty() {
            return fatal("no pattern given");
        }
        options.patterns.push(others.remove(0));
    }
    if let Some(first) = others.first()
        && crate::revision::names::find(repo, first)?.is_some()
    {
        return unsupported("grep in a commit");
    }
    others.extend(paths);
    let pathspec = if others.is_empty() { Pathspec::below(&repo.prefix) } else { Pathspec::parse(repo, &others)? };
    let patterns = options
        .patterns
        .iter()
        .map(|pattern| compile(pattern, options.syntax, options.ignore_case))
        .collect::<Outcome<Vec<_>>>()?;
    let root = repo.root()?;
    let index = Index::open(repo)?;
    let converter = crate::worktree::convert::Converter::new(repo);
    let quote_path = repo.config.boolean("core.quotepath") != Some(false);
    let word_byte = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let matches = |line: &[u8]| {
        let found = patterns.iter().any(|pattern| {
            if !options.word {
                return pattern.is_match(line);
            }
            pattern.find_iter(line).any(|found| {
                let before = found.start().checked_sub(1).and_then(|at| line.get(at));
                !found.is_empty() && !word_byte(before) && !word_byte(line.get(found.end()))
            })
        });
        found != options.invert
    };
    let mut any = false;
    let mut last: &[u8] = b"";
    for entry in index
        .entries()
        .filter(|entry| pathspec.matches(entry.path) && entry.mode != tree::SUBMODULE && !entry.skip_worktree())
    {
        if last == entry.path {
            continue;
        }
        last = entry.path;
        let full = root.join(files::path(entry.path));
        let content =
            if entry.mode == tree::LINK { files::read_link(&full).map(Vec::from) } else { std::fs::read(&full) };
        let Ok(content) = content else { continue };
        let shown = quote::path(&repo.relative(entry.path), quote_path);
        let binary = !options.text && converter.is_binary(entry.path, &content)?;
        if binary && options.skip_binary {
            continue;
        }
        let mut count = 0_usize;
        for (number, line) in content.lines().enumerate().filter(|(_, line)| matches(line)) {
            count += 1;
            if options.quiet {
                return Ok(0);
            }
            if options.names.is_some() {
                break;
            }
            if options.count {
                continue;
            }
            if binary {
                writeln!(out, "Binary file {shown} matches")?;
                break;
            }
            if !options.no_name {
                write!(out, "{shown}{}", if options.nul { '\0' } else { ':' })?;
            }
            if options.numbers {
                write!(out, "{}{}", number + 1, if options.nul { '\0' } else { ':' })?;
            }
            out.write_all(line)?;
            out.write_all(b"\n")?;
        }
        any |= (count > 0) != (options.names == Some(false));
        match options.names {
            Some(wanted) if wanted == (count > 0) => write!(out, "{shown}{}", if options.nul { '\0' } else { '\n' })?,
            None if options.count && count > 0 => {
                if options.no_name {
                    writeln!(out, "{count}")?;
                } else {
                    writeln!(out, "{shown}{}{count}", if options.nul { '\0' } else { ':' })?;
                }
            }
            _ => {}
        }
    }
    Ok(i32::from(!any))
}
