//! `git log` and the options it shares with `show`, `rev-list` and `shortlog`.

use super::Out;
use crate::commit::Commit;
use crate::date::{self, Mode};
use crate::diff::options::Options as DiffOptions;
use crate::diff::output::{self, Sides};
use crate::diff::{Pair, Reader, combined, trees};
use crate::failure::{Failure, Outcome, fatal, unsupported};
use crate::options::{Arguments, divide, number};
use crate::pathspec::Pathspec;
use crate::pretty::decorate::Decorations;
use crate::pretty::{Extra, Format, Printer, Reflog, configured_date};
use crate::repository::Repository;
use crate::revision::range::{self, Divided};
use crate::revision::walk::{Limits, Order, Walk};
use bstr::ByteSlice as _;
use gix_object::Kind;
use regex::bytes::{Regex, RegexBuilder};

/// Which syntax patterns have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Syntax {
    #[default]
    Basic,
    Extended,
    Fixed,
}

/// What a log is asked for.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) diff: DiffOptions,
    pub(crate) format: Format,
    pub(crate) date: Mode,
    pub(crate) abbreviate: bool,
    pub(crate) limits: Limits,
    pub(crate) count: Option<usize>,
    pub(crate) skip: usize,
    pub(crate) reverse: bool,
    pub(crate) decorate: Option<bool>,
    /// `-m` or `--first-parent`: merges are compared with their first parent (or every one).
    merges: Merges,
    pub(crate) left_right: bool,
    pub(crate) walk_reflogs: bool,
    greps: Vec<String>,
    authors: Vec<String>,
    committers: Vec<String>,
    ignore_case: bool,
    invert: bool,
    all_match: bool,
    syntax: Syntax,
    /// Arguments that are no options.
    pub(crate) others: Vec<String>,
    /// What was behind `--`.
    pub(crate) separated: Option<Vec<String>>,
}

/// How the changes of a merge are shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Merges {
    None,
    FirstParent,
    Separate,
    /// `-c` and `--cc`.
    Combined {
        dense: bool,
    },
}

impl Request {
    pub(crate) fn new(repo: &Repository) -> Outcome<Self> {
        let decorate = repo.config.text("log.decorate").and_then(|value| match value.as_str() {
            "short" => Some(false),
            "full" => Some(true),
            "auto" | "no" => None,
            value => (crate::config::boolean(value.into()) == Some(true)).then_some(false),
        });
        let format = repo.config.text("format.pretty").map_or(Ok(Format::Medium), |text| Format::parse(repo, &text))?;
        Ok(Self {
            diff: DiffOptions::new(repo)?,
            format,
            date: configured_date(repo)?,
            abbreviate: repo.config.boolean("log.abbrevcommit") == Some(true),
            limits: Limits::default(),
            count: None,
            skip: 0,
            reverse: false,
            decorate,
            merges: Merges::None,
            left_right: false,
            walk_reflogs: false,
            greps: Vec::new(),
            authors: Vec::new(),
            committers: Vec::new(),
            ignore_case: false,
            invert: false,
            all_match: false,
            syntax: Syntax::Basic,
            others: Vec::new(),
            separated: None,
        })
    }

    pub(crate) fn set_merges(&mut self, merges: Merges) {
        self.merges = merges;
    }

    /// Reads all arguments; `own` may take an option first.
    pub(crate) fn read(
        &mut self,
        repo: &Repository,
        arguments: &mut Arguments,
        mut own: impl FnMut(&mut Self, &str) -> bool,
    ) -> Outcome {
        while let Some(argument) = arguments.next() {
            if argument == "--" || argument == "--end-of-options" {
                self.separated = Some(arguments.remaining());
            } else if !argument.starts_with('-') || argument == "-" {
                self.others.push(argument);
            } else if !own(self, &argument)
                && !self.take(repo, &argument, arguments)?
                && !self.diff.take(repo, &argument, arguments)?
            {
                return Err(arguments.unknown(&argument));
            }
        }
        Ok(())
    }

    fn take(&mut self, repo: &Repository, argument: &str, rest: &mut Arguments) -> Outcome<bool> {
        let (name, value) = divide(argument);
        match name {
            "--oneline" => (self.format, self.abbreviate) = (Format::Oneline, true),
            "--pretty" => self.format = value.map_or(Ok(Format::Medium), |value| Format::parse(repo, value))?,
            "--format" => {
                let text = rest.value(name, value)?;
                self.format = Format::parse(repo, &text)?;
            }
            "--abbrev-commit" => self.abbreviate = true,
            "--no-abbrev-commit" => self.abbreviate = false,
            "--date" => self.date = Mode::parse(&rest.value(name, value)?)?,
            "--relative-date" => self.date = Mode::of(date::Style::Relative),
            "-n" | "--max-count" => self.count = Some(count(name, &rest.value(name, value)?)?),
            "--skip" => self.skip = number(name, &rest.value(name, value)?)?,
            "--since" | "--after" => self.limits.since = Some(date::parse(&rest.value(name, value)?, date::now())),
            "--until" | "--before" => self.limits.until = Some(date::parse(&rest.value(name, value)?, date::now())),
            "--max-age" => self.limits.since = Some(number(name, &rest.value(name, value)?)?),
            "--min-age" => self.limits.until = Some(number(name, &rest.value(name, value)?)?),
            "--author" => self.authors.push(rest.value(name, value)?),
            "--committer" => self.committers.push(rest.value(name, value)?),
            "--grep" => self.greps.push(rest.value(name, value)?),
            "-i" | "--regexp-ignore-case" => self.ignore_case = true,
            "--invert-grep" => self.invert = true,
            "--all-match" => self.all_match = true,
            "-E" | "--extended-regexp" => self.syntax = Syntax::Extended,
            "-P" | "--perl-regexp" => self.syntax = Syntax::Extended,
            "-F" | "--fixed-strings" => self.syntax = Syntax::Fixed,
            "--basic-regexp" => self.syntax = Syntax::Basic,
            "--first-parent" => {
                self.limits.first_parent = true;
                if self.merges == Merges::None {
                    self.merges = Merges::FirstParent;
                }
            }
            "--no-merges" => self.limits.max_parents = Some(1),
            "--merges" => self.limits.min_parents = 2,
            "--min-parents" => self.limits.min_parents = number(name, &rest.value(name, value)?)?,
            "--max-parents" => self.limits.max_parents = Some(number(name, &rest.value(name, value)?)?),
            "--no-min-parents" => self.limits.min_parents = 0,
            "--no-max-parents" => self.limits.max_parents = None,
            "--reverse" => self.reverse = true,
            "--topo-order" => self.limits.order = Order::Topological,
            "--date-order" => self.limits.order = Order::Date,
            "--author-date-order" => self.limits.order = Order::AuthorDate,
            "--all" | "--branches" | "--tags" | "--remotes" | "--glob" | "--not" => {
                self.others.push(argument.to_owned())
            }
            "--decorate" => {
                self.decorate = match value {
                    None | Some("short") => Some(false),
                    Some("full") => Some(true),
                    Some("no" | "auto") => None,
                    Some(other) => return fatal(format!("invalid --decorate option: {other}")),
                }
            }
            "--no-decorate" => self.decorate = None,
            "--left-right" => self.left_right = true,
            "-g" | "--walk-reflogs" => self.walk_reflogs = true,
            "-m" => self.merges = Merges::Separate,
            "-c" => (self.merges, self.diff.formats.patch) = (Merges::Combined { dense: false }, true),
            "--cc" => (self.merges, self.diff.formats.patch) = (Merges::Combined { dense: true }, true),
            "--diff-merges" => {
                self.merges = match rest.value(name, value)?.as_str() {
                    "off" | "none" => Merges::None,
                    "first-parent" | "1" => Merges::FirstParent,
                    "on" | "m" | "separate" => Merges::Separate,
                    "combined" | "c" => Merges::Combined { dense: false },
                    "dense-combined" | "cc" => Merges::Combined { dense: true },
                    other => return unsupported(format_args!("--diff-merges={other}")),
                }
            }
            "--no-diff-merges" => self.merges = Merges::None,
            "--use-mailmap"
            | "--mailmap"
            | "--no-notes"
            | "--no-show-signature"
            | "--no-graph"
            | "--root"
            | "--dense" => {}
            _ => {
                let digits = argument
                    .strip_prefix('-')
                    .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.is_empty());
                let attached = argument
                    .strip_prefix("-n")
                    .filter(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()));
                match digits.or(attached) {
                    Some(digits) => self.count = Some(number("-n", digits)?),
                    None => return Ok(false),
                }
            }
        }
        Ok(true)
    }

    /// Divides what was given into revisions and paths, `HEAD` when no revision was.
    pub(crate) fn divide(&mut self, repo: &Repository) -> Outcome<Divided> {
        let mut divided = range::divide(repo, &self.others, self.separated.as_deref())?;
        if divided.revisions.is_empty() && divided.written.is_empty() {
            let Some(id) = repo.head_id() else {
                return match repo.refs.head_name() {
                    Some(name) => fatal(format!(
                        "your current branch '{}' does not have any commits yet",
                        name.strip_prefix(b"refs/heads/").unwrap_or(&name).as_bstr()
                    )),
                    None => fatal("bad default revision 'HEAD'"),
                };
            };
            divided.revisions.push(range::Tip { id, flags: Default::default(), name: "HEAD".into() });
        }
        self.limits.paths = Pathspec::parse(repo, &divided.paths)?;
        Ok(divided)
    }

    /// Starts at what the arguments name.
    pub(crate) fn walk<'r>(&self, repo: &'r Repository, divided: &Divided) -> Outcome<Walk<'r>> {
        let mut walk = Walk::with(repo, self.limits.clone());
        for tip in &divided.revisions {
            // Trees and blobs have no history.
            if let (id, Kind::Commit) = repo.peel(&tip.id)? {
                walk.push(id, tip.flags)?;
            }
        }
        Ok(walk)
    }

    pub(crate) fn filter(&self) -> Outcome<Filter> {
        let compile = |patterns: &[String]| {
            patterns.iter().map(|pattern| compile(pattern, self.syntax, self.ignore_case)).collect::<Outcome<Vec<_>>>()
        };
        Ok(Filter {
            greps: compile(&self.greps)?,
            authors: compile(&self.authors)?,
            committers: compile(&self.committers)?,
            invert: self.invert,
            all_match: self.all_match,
        })
    }

    /// Everything that is shown, after all limits.
    pub(crate) fn commits(
        &self,
        repo: &Repository,
        walk: &mut Walk<'_>,
        mut visit: impl FnMut(&Walk<'_>, &gix_hash::ObjectId) -> Outcome<bool>,
    ) -> Outcome {
        let filter = self.filter()?;
        let mut skipped = 0;
        let mut shown = 0;
        let mut kept = Vec::new();
        while self.count.is_none_or(|count| shown < count) {
            let Some(id) = walk.next()? else { break };
            if !filter.is_empty() && !filter.matches(&repo.commit(&id)?) {
                continue;
            }
            if skipped < self.skip {
                skipped += 1;
                continue;
            }
            if self.reverse {
                kept.push(id);
                shown += 1;
            } else if visit(walk, &id)? {
                shown += 1;
            }
        }
        for id in kept.iter().rev() {
            visit(walk, id)?;
        }
        Ok(())
    }

    pub(crate) fn printer<'r>(&self, repo: &'r Repository) -> Outcome<Printer<'r>> {
        let mut printer = Printer::new(repo, self.format.clone(), self.date.clone());
        printer.digits = self.diff.abbreviation.unwrap_or(printer.digits);
        printer.abbreviate = self.abbreviate;
        printer.decorations = self.decorate.map(|full| Decorations::read(repo, full)).transpose()?;
        Ok(printer)
    }
}

fn count(name: &str, value: &str) -> Outcome<usize> {
    // A negative count is none.
    let value: i64 = number(name, value)?;
    Ok(usize::try_from(value).unwrap_or(usize::MAX))
}

/// Which commits are wanted by what is written in them.
#[derive(Debug)]
pub(crate) struct Filter {
    greps: Vec<Regex>,
    authors: Vec<Regex>,
    committers: Vec<Regex>,
    invert: bool,
    all_match: bool,
}

impl Filter {
    fn is_empty(&self) -> bool {
        self.greps.is_empty() && self.authors.is_empty() && self.committers.is_empty()
    }

    fn matches(&self, commit: &Commit) -> bool {
        let person = |who: &crate::person::Signature| [who.name.as_slice(), b" <", who.email.as_slice(), b">"].concat();
        let one_of = |patterns: &[Regex], who| {
            patterns.is_empty() || patterns.iter().any(|pattern| pattern.is_match(&person(who)))
        };
        let said = |pattern: &Regex| commit.message.lines().any(|line| pattern.is_match(line));
        let greps = self.greps.is_empty()
            || if self.all_match { self.greps.iter().all(said) } else { self.greps.iter().any(said) };
        let found = one_of(&self.authors, &commit.author) && one_of(&self.committers, &commit.committer);
        found && (greps != (self.invert && !self.greps.is_empty()))
    }
}

/// A pattern of git as one of ours.
pub(crate) fn compile(pattern: &str, syntax: Syntax, ignore_case: bool) -> Outcome<Regex> {
    let translated = match syntax {
        Syntax::Fixed => regex::escape(pattern),
        Syntax::Extended => pattern.to_owned(),
        Syntax::Basic => from_basic(pattern),
    };
    let built = RegexBuilder::new(&translated).case_insensitive(ignore_case).build();
    built.map_err(|_| Failure::Fatal(format!("command line, '{pattern}': Invalid regular expression")))
}

/// POSIX basic syntax, with GNU's `\|`, `\+` and `\?`.
fn from_basic(pattern: &str) -> String {
    let mut out = String::new();
    let mut characters = pattern.chars().peekable();
    let mut at_start = true;
    while let Some(character) = characters.next() {
        let starts = std::mem::replace(&mut at_start, false);
        match character {
            '\\' => match characters.next() {
                Some(special @ ('(' | '|')) => {
                    out.push(special);
                    at_start = true;
                }
                Some(special @ (')' | '{' | '}' | '+' | '?')) => out.push(special),
                Some('<' | '>') => out.push_str("\\b"),
                Some(other) => out.extend(['\\', other]),
                None => out.push_str("\\\\"),
            },
            '*' if starts => out.push_str("\\*"),
            '(' | ')' | '{' | '}' | '+' | '?' | '|' => out.extend(['\\', character]),
            '[' => {
                out.push('[');
                if let Some(negation) = characters.next_if_eq(&'^') {
                    out.push(negation);
                }
                if characters.next_if_eq(&']').is_some() {
                    out.push_str("\\]");
                }
                while let Some(inner) = characters.next() {
                    match inner {
                        '[' if characters.peek() == Some(&':') => {
                            out.push('[');
                            for inner in characters.by_ref() {
                                out.push(inner);
                                if inner == ']' {
                                    break;
                                }
                            }
                        }
                        '[' | '\\' | '&' | '~' => out.extend(['\\', inner]),
                        ']' => {
                            out.push(']');
                            break;
                        }
                        inner => out.push(inner),
                    }
                }
            }
            other => out.push(other),
        }
    }
    out
}

/// Prints commits with their changes.
pub(crate) struct Shower<'r> {
    pub(crate) printer: Printer<'r>,
    pub(crate) reader: Reader<'r>,
    shown: bool,
}

impl<'r> Shower<'r> {
    pub(crate) fn new(repo: &'r Repository, request: &Request) -> Outcome<Self> {
        Ok(Self { printer: request.printer(repo)?, reader: Reader::new(repo), shown: false })
    }

    /// From now on something was printed before.
    pub(crate) fn separate(&mut self) {
        self.shown = true;
    }

    fn record(&mut self, request: &Request, commit: &Commit, extra: &Extra, out: &mut Out<'_>) -> Outcome {
        if self.shown && !request.format.is_terminated() {
            out.write_all(if request.diff.nul { b"\0" } else { b"\n" })?;
        }
        self.shown = true;
        let mut record = self.printer.commit(commit, extra)?;
        if request.diff.nul && request.format.is_terminated() && record.last() == Some(&b'\n') {
            record.pop();
            record.push(0);
        }
        out.write_all(&record)?;
        Ok(())
    }

    /// Shows one commit; `false` when it has no change of the kind asked for and is left out.
    pub(crate) fn show(
        &mut self,
        request: &Request,
        id: &gix_hash::ObjectId,
        parents: &[gix_hash::ObjectId],
        extra: &Extra,
        out: &mut Out<'_>,
    ) -> Outcome<bool> {
        let commit = self.printer.repo.commit(id)?;
        let wants_diff = request.diff.formats.any() && !request.diff.formats.none;
        let searches = request.diff.pickaxe.is_some() || request.diff.filter.is_some();
        if !wants_diff && !searches {
            self.record(request, &commit, extra, out)?;
            return Ok(true);
        }
        if parents.len() > 1 {
            match request.merges {
                Merges::None => {
                    if searches {
                        return Ok(false);
                    }
                    self.record(request, &commit, extra, out)?;
                    return Ok(true);
                }
                Merges::Combined { dense } => {
                    let mut record = Vec::new();
                    self.record(request, &commit, extra, &mut record)?;
                    combined::commit(
                        &self.reader,
                        &commit,
                        parents,
                        &request.limits.paths,
                        &request.diff,
                        dense,
                        &record,
                        !request.format.is_empty(),
                        out,
                    )?;
                    return Ok(true);
                }
                Merges::Separate => return unsupported("-m"),
                Merges::FirstParent => {}
            }
        }
        let pairs = self.changes(request, &commit, parents.first())?;
        // `show` with paths leaves out a commit that did not touch them; a log has not walked to it.
        if pairs.is_empty() && (searches || !request.limits.paths.is_empty()) {
            return Ok(false);
        }
        self.record(request, &commit, extra, out)?;
        if pairs.is_empty() || !wants_diff {
            return Ok(true);
        }
        if request.format != Format::Oneline && !request.format.is_empty() {
            if request.diff.formats.patch && request.diff.formats.stat {
                out.write_all(b"---")?;
            }
            out.write_all(b"\n")?;
        }
        output::print(&self.reader, &pairs, &request.diff, Sides::Commits, &mut &mut *out)?;
        Ok(true)
    }

    fn changes(&self, request: &Request, commit: &Commit, parent: Option<&gix_hash::ObjectId>) -> Outcome<Vec<Pair>> {
        let repo = self.printer.repo;
        let old = parent.map(|parent| Ok::<_, Failure>(repo.node(parent)?.tree)).transpose()?;
        let pairs = trees::diff(repo, old, Some(commit.tree), &request.limits.paths)?;
        output::prepare(&self.reader, pairs, &request.diff)
    }
}

/// `git log`.
pub(crate) fn run(repo: &Repository, mut arguments: Arguments, out: &mut Out<'_>) -> Outcome<i32> {
    let mut request = Request::new(repo)?;
    request.read(repo, &mut arguments, |_, _| false)?;
    finish(repo, request, out)
}

/// `git reflog [show]`.
pub(crate) fn reflog(repo: &Repository, mut arguments: Arguments, out: &mut Out<'_>) -> Outcome<i32> {
    let mut request = Request::new(repo)?;
    (request.format, request.abbreviate, request.walk_reflogs) = (Format::Oneline, true, true);
    request.read(repo, &mut arguments, |_, _| false)?;
    match request.others.first().map(String::as_str) {
        Some("show") => drop(request.others.remove(0)),
        Some(action @ ("expire" | "delete")) => return Err(super::writes(&format!("reflog {action}"))),
        Some(action @ ("exists" | "list")) => return unsupported(format_args!("reflog {action}")),
        _ => {}
    }
    finish(repo, request, out)
}

fn finish(repo: &Repository, mut request: Request, out: &mut Out<'_>) -> Outcome<i32> {
    let divided = request.divide(repo)?;
    let mut shower = Shower::new(repo, &request)?;
    if request.walk_reflogs {
        let name = divided.written.first().map_or("HEAD", String::as_str);
        return reflog_of(repo, &request, &mut shower, name, out);
    }
    let mut walk = request.walk(repo, &divided)?;
    let source = divided.written.first().cloned().unwrap_or_else(|| "HEAD".into());
    request.commits(repo, &mut walk, |walk, id| {
        let mark = request.left_right.then(|| if walk.is_left(id) { '<' } else { '>' });
        let extra = Extra { mark, source: source.clone(), ..Extra::default() };
        // Changes are those against the real parents, whatever the paths leave of them.
        let parents = repo.node(id)?.parents.clone();
        shower.show(&request, id, &parents, &extra, out)
    })?;
    Ok(0)
}

/// The log of a reference, the newest entry first.
pub(crate) fn reflog_of(
    repo: &Repository,
    request: &Request,
    shower: &mut Shower<'_>,
    name: &str,
    out: &mut Out<'_>,
) -> Outcome<i32> {
    let full = repo.refs.expand(name.as_bytes()).into_iter().next().unwrap_or_else(|| name.into());
    let log = repo.refs.log(&full)?.unwrap_or_default();
    let filter = request.filter()?;
    let mut left = request.count.unwrap_or(usize::MAX);
    for (number, entry) in log.iter().rev().enumerate().skip(request.skip) {
        if left == 0 {
            break;
        }
        if entry.new.is_null() || !repo.odb.contains(&entry.new)? {
            continue;
        }
        let commit = repo.commit(&entry.new)?;
        if !filter.is_empty() && !filter.matches(&commit) {
            continue;
        }
        let selector = format!("{name}@{{{number}}}");
        let extra = Extra {
            reflog: Some(Reflog { selector, message: entry.message.clone(), who: entry.who.clone() }),
            source: name.to_owned(),
            ..Extra::default()
        };
        if shower.show(request, &entry.new, &commit.parents, &extra, out)? {
            left -= 1;
        }
    }
    Ok(0)
}
