//! How a commit is printed.

pub(crate) mod decorate;
pub(crate) mod message;
pub(crate) mod placeholders;

use crate::commit::Commit;
use crate::date::{self, Mode, Style};
use crate::failure::{Outcome, fatal, unsupported};
use crate::files;
use crate::person::Signature;
use crate::repository::Repository;
use bstr::{BString, ByteSlice as _};
use decorate::Decorations;
use gix_mailmap::Snapshot;
use std::cell::OnceCell;

/// A named or written format.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Format {
    Oneline,
    Short,
    Medium,
    Full,
    Fuller,
    Raw,
    /// Placeholders; whether each record ends in a line end (`tformat:`), or only stands between two (`format:`).
    Written {
        text: String,
        terminated: bool,
    },
}

impl Format {
    /// Reads the argument of `--pretty` and `--format`.
    pub(crate) fn parse(repo: &Repository, text: &str) -> Outcome<Self> {
        let written = |text: &str, terminated| Ok(Self::Written { text: text.to_owned(), terminated });
        if let Some(text) = text.strip_prefix("format:") {
            return written(text, false);
        }
        if let Some(text) = text.strip_prefix("tformat:") {
            return written(text, true);
        }
        match text {
            "oneline" => Ok(Self::Oneline),
            "short" => Ok(Self::Short),
            "medium" => Ok(Self::Medium),
            "full" => Ok(Self::Full),
            "fuller" => Ok(Self::Fuller),
            "raw" => Ok(Self::Raw),
            "reference" => written("%h (%s, %as)", true),
            "email" | "mboxrd" => unsupported(format_args!("--pretty={text}")),
            text if text.is_empty() || text.contains('%') => written(text, true),
            text => match repo.config.text(&format!("pretty.{text}")) {
                Some(alias) if alias != text => Self::parse(repo, &alias),
                _ => fatal(format!("invalid --pretty format: {text}")),
            },
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        matches!(self, Self::Written { text, .. } if text.is_empty())
    }

    /// Whether every record ends in a line end.
    pub(crate) fn is_terminated(&self) -> bool {
        matches!(self, Self::Oneline | Self::Written { terminated: true, .. })
    }
}

/// Everything that decides how commits are printed.
#[derive(Debug)]
pub(crate) struct Printer<'r> {
    pub(crate) repo: &'r Repository,
    pub(crate) format: Format,
    pub(crate) date: Mode,
    /// Digits of ids where they are abbreviated.
    pub(crate) digits: usize,
    /// Whether `commit` lines and `--oneline` abbreviate the id.
    pub(crate) abbreviate: bool,
    pub(crate) decorations: Option<Decorations>,
    /// For `%d`, also when lines are not decorated.
    all_decorations: OnceCell<Decorations>,
    mailmap: OnceCell<Snapshot>,
    use_mailmap: bool,
}

/// What is known of a commit besides itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extra {
    /// `>`, `<` or `-`.
    pub(crate) mark: Option<char>,
    /// For a log of a reference: its selector and message.
    pub(crate) reflog: Option<Reflog>,
    /// By which argument it was reached.
    pub(crate) source: String,
}

/// Where a commit stands in the log of a reference.
#[derive(Clone, Debug)]
pub(crate) struct Reflog {
    /// `stash@{0}`
    pub(crate) selector: String,
    pub(crate) message: BString,
    pub(crate) who: Signature,
}

impl<'r> Printer<'r> {
    pub(crate) fn new(repo: &'r Repository, format: Format, date: Mode) -> Self {
        Self {
            repo,
            format,
            date,
            digits: repo.abbreviation(),
            abbreviate: false,
            decorations: None,
            all_decorations: OnceCell::new(),
            mailmap: OnceCell::new(),
            use_mailmap: repo.config.boolean("log.mailmap") != Some(false),
        }
    }

    pub(crate) fn short(&self, id: &gix_hash::ObjectId) -> Outcome<String> {
        self.repo.odb.abbreviate(id, self.digits)
    }

    pub(crate) fn all_decorations(&self) -> Outcome<&Decorations> {
        if let Some(known) = self.all_decorations.get() {
            return Ok(known);
        }
        let read = Decorations::read(self.repo, false)?;
        Ok(self.all_decorations.get_or_init(|| read))
    }

    /// The person as `.mailmap` knows them.
    pub(crate) fn mapped(&self, who: &Signature) -> Signature {
        let map = self.mailmap.get_or_init(|| read_mailmap(self.repo));
        mapped(map, who)
    }

    fn shown(&self, who: &Signature) -> Signature {
        if self.use_mailmap { self.mapped(who) } else { who.clone() }
    }

    /// The record of a commit, without what stands between two of them. Ends in a line end unless the format says otherwise.
    pub(crate) fn commit(&self, commit: &Commit, extra: &Extra) -> Outcome<Vec<u8>> {
        let mark = extra.mark.map(|mark| format!("{mark} ")).unwrap_or_default();
        match &self.format {
            Format::Written { text, terminated } => {
                let mut out = placeholders::expand(self, text, commit, extra)?;
                if *terminated && !text.is_empty() {
                    out.push(b'\n');
                }
                Ok(out)
            }
            Format::Oneline => {
                let mut out = self.name(commit)?.into_bytes();
                out.splice(0..0, mark.bytes());
                out.push(b' ');
                if let Some(reflog) = &extra.reflog {
                    out.extend_from_slice(format!("{}: {}", reflog.selector, reflog.message.to_str_lossy()).as_bytes());
                } else {
                    out.extend_from_slice(&message::subject(&commit.message));
                }
                out.push(b'\n');
                Ok(out)
            }
            _ => {
                let mut out = format!("commit {mark}{}\n", self.name(commit)?).into_bytes();
                self.header(commit, extra, &mut out)?;
                out.push(b'\n');
                message::indented(&commit.message, self.format == Format::Short, self.format != Format::Raw, &mut out);
                let end = out.trim_end().len();
                out.truncate(end);
                out.push(b'\n');
                Ok(out)
            }
        }
    }

    /// The id with its decorations.
    fn name(&self, commit: &Commit) -> Outcome<String> {
        let id = if self.abbreviate { self.short(&commit.id)? } else { commit.id.to_string() };
        let decoration = self.decorations.as_ref().map(|all| all.of(&commit.id)).unwrap_or_default();
        Ok(if decoration.is_empty() { id } else { format!("{id} ({decoration})") })
    }

    fn header(&self, commit: &Commit, extra: &Extra, out: &mut Vec<u8>) -> Outcome {
        if self.format == Format::Raw {
            let data = self.repo.odb.get_kind(&commit.id, gix_object::Kind::Commit)?;
            let end = data.find("\n\n").map_or(data.len(), |at| at + 1);
            out.extend_from_slice(&data[..end]);
            return Ok(());
        }
        if let Some(reflog) = &extra.reflog {
            out.extend_from_slice(format!("Reflog: {} (", reflog.selector).as_bytes());
            out.extend_from_slice(&reflog.who.name);
            out.extend_from_slice(b" <");
            out.extend_from_slice(&reflog.who.email);
            out.extend_from_slice(b">)\nReflog message: ");
            out.extend_from_slice(&reflog.message);
            out.push(b'\n');
        }
        if commit.parents.len() > 1 {
            let parents = commit.parents.iter().map(|parent| self.short(parent)).collect::<Outcome<Vec<_>>>()?;
            out.extend_from_slice(format!("Merge: {}\n", parents.join(" ")).as_bytes());
        }
        let mut person = |label: &str, who: &Signature| {
            let who = self.shown(who);
            out.extend_from_slice(label.as_bytes());
            out.extend_from_slice(&who.name);
            out.extend_from_slice(b" <");
            out.extend_from_slice(&who.email);
            out.extend_from_slice(b">\n");
        };
        let time = |label: &str, who: &Signature| format!("{label}{}\n", date::format(who, &self.date));
        match self.format {
            Format::Fuller => {
                person("Author:     ", &commit.author);
                out.extend_from_slice(time("AuthorDate: ", &commit.author).as_bytes());
                let who = self.shown(&commit.committer);
                out.extend_from_slice(
                    &[b"Commit:     ", who.name.as_slice(), b" <", who.email.as_slice(), b">\n"].concat(),
                );
                out.extend_from_slice(time("CommitDate: ", &commit.committer).as_bytes());
            }
            Format::Full => {
                person("Author: ", &commit.author);
                person("Commit: ", &commit.committer);
            }
            Format::Short => person("Author: ", &commit.author),
            _ => {
                person("Author: ", &commit.author);
                out.extend_from_slice(time("Date:   ", &commit.author).as_bytes());
            }
        }
        Ok(())
    }
}

/// A person as a mailmap knows them.
pub(crate) fn mapped(map: &Snapshot, who: &Signature) -> Signature {
    let reference = gix_object::bstr::ByteSlice::as_bstr(who.name.as_slice());
    let signature = gix_actor::SignatureRef { name: reference, email: who.email.as_bstr(), time: "" };
    let found = map.resolve(signature);
    Signature { name: found.name, email: found.email, seconds: who.seconds, zone: who.zone }
}

/// What `.mailmap` and the configuration say of people.
pub(crate) fn read_mailmap(repo: &Repository) -> Snapshot {
    let mut map = Snapshot::default();
    if let Some(root) = &repo.work_tree
        && let Ok(Some(content)) = files::read_optional(&root.join(".mailmap"))
    {
        map.merge(gix_mailmap::parse_ignore_errors(&content));
    }
    if let Some(file) = repo.config.string("mailmap.file")
        && let Ok(Some(content)) = files::read_optional(&files::path(file))
    {
        map.merge(gix_mailmap::parse_ignore_errors(&content));
    }
    map
}

/// The date style that the configuration sets for logs.
pub(crate) fn configured_date(repo: &Repository) -> Outcome<Mode> {
    repo.config.text("log.date").map_or_else(|| Ok(Mode::of(Style::Normal)), |text| Mode::parse(&text))
}
