//! References: choosing, sorting and printing them, for `for-each-ref`, `branch` and `tag`.

use crate::commit::{Commit, Tag};
use crate::date::{self, Mode, Style};
use crate::failure::{Outcome, fatal, unsupported};
use crate::person::Signature;
use crate::pretty::message;
use crate::refs::Target;
use crate::repository::Repository;
use crate::revision::{ancestry, upstream};
use bstr::{BStr, BString, ByteSlice as _};
use gix_hash::ObjectId;
use gix_object::Kind;
use std::cmp::Ordering;

/// One reference.
#[derive(Clone, Debug)]
pub(crate) struct Reference {
    pub(crate) name: BString,
    pub(crate) id: ObjectId,
    /// The name it stands for.
    pub(crate) symbolic: Option<BString>,
}

/// The references below a prefix.
pub(crate) fn below(repo: &Repository, prefix: &str) -> Vec<Reference> {
    let found = repo.refs.below(prefix).into_iter().filter_map(|(name, target)| {
        let symbolic = match target {
            Target::Name(target) => Some(target),
            Target::Id(_) => None,
        };
        let id = repo.refs.resolve(&name)?.id;
        Some(Reference { name, id, symbolic })
    });
    found.collect()
}

/// Which references are wanted.
#[derive(Debug, Default)]
pub(crate) struct Filter {
    pub(crate) contains: Vec<ObjectId>,
    pub(crate) no_contains: Vec<ObjectId>,
    pub(crate) merged: Vec<ObjectId>,
    pub(crate) no_merged: Vec<ObjectId>,
    pub(crate) points_at: Vec<ObjectId>,
}

impl Filter {
    pub(crate) fn keeps(&self, repo: &Repository, reference: &Reference) -> Outcome<bool> {
        if !self.points_at.is_empty()
            && !self.points_at.contains(&reference.id)
            && !self.points_at.contains(&repo.peel(&reference.id)?.0)
        {
            return Ok(false);
        }
        if self.contains.is_empty()
            && self.no_contains.is_empty()
            && self.merged.is_empty()
            && self.no_merged.is_empty()
        {
            return Ok(true);
        }
        let (commit, Kind::Commit) = repo.peel(&reference.id)? else { return Ok(false) };
        let any = |ids: &[ObjectId], test: &dyn Fn(&ObjectId) -> Outcome<bool>| -> Outcome<bool> {
            for id in ids {
                if test(id)? {
                    return Ok(true);
                }
            }
            Ok(false)
        };
        let has = |id: &ObjectId| ancestry::is_ancestor(repo, id, &commit);
        let is_in = |id: &ObjectId| ancestry::is_ancestor(repo, &commit, id);
        Ok((self.contains.is_empty() || any(&self.contains, &has)?)
            && !any(&self.no_contains, &has)?
            && (self.merged.is_empty() || any(&self.merged, &is_in)?)
            && !any(&self.no_merged, &is_in)?)
    }
}

/// What the objects of a reference say.
struct Loaded<'r> {
    repo: &'r Repository,
    reference: &'r Reference,
}

enum Object {
    Commit(Box<Commit>),
    Tag(Box<Tag>),
    Other,
}

impl Loaded<'_> {
    fn kind(&self, id: &ObjectId) -> Outcome<Kind> {
        Ok(self.repo.odb.get(id)?.kind)
    }

    fn object(&self, id: &ObjectId) -> Outcome<Object> {
        Ok(match self.kind(id)? {
            Kind::Commit => Object::Commit(Box::new(self.repo.commit(id)?)),
            Kind::Tag => Object::Tag(Box::new(self.repo.tag(id)?)),
            _ => Object::Other,
        })
    }

    /// The value of an atom.
    fn atom(&self, atom: &str) -> Outcome<BString> {
        let (name, modifier) = atom.split_once(':').map_or((atom, None), |(name, modifier)| (name, Some(modifier)));
        let (name, id) = match name.strip_prefix('*') {
            Some(name) => match self.object(&self.reference.id)? {
                Object::Tag(_) => (name, self.repo.peel(&self.reference.id)?.0),
                _ => return Ok(BString::default()),
            },
            None => (name, self.reference.id),
        };
        let repo = self.repo;
        let value: BString = match name {
            "refname" => reference_name(repo, self.reference.name.as_bstr(), modifier)?,
            "objectname" => match modifier {
                None => id.to_string().into(),
                Some("short") => repo.short(&id)?.into(),
                Some(length) => match length.strip_prefix("short=").and_then(|length| length.parse().ok()) {
                    Some(length) => repo.odb.abbreviate(&id, length)?.into(),
                    None => return fatal(format!("unrecognized %(objectname) argument: {length}")),
                },
            },
            "objecttype" => self.kind(&id)?.to_string().into(),
            "objectsize" => repo.odb.get(&id)?.data.len().to_string().into(),
            "HEAD" => if repo.refs.head_name().as_ref() == Some(&self.reference.name)
                || self.reference.name.starts_with(b"(")
            {
                "*"
            } else {
                " "
            }
            .into(),
            "symref" => match &self.reference.symbolic {
                Some(target) => reference_name(repo, target.as_bstr(), modifier)?,
                None => BString::default(),
            },
            "upstream" | "push" => self.upstream(name == "push", modifier)?,
            "tree" | "parent" | "numparent" | "subject" | "body" | "contents" | "tag" | "object" | "type" => {
                self.content(name, modifier, &id)?
            }
            _ => match person(name) {
                Some((who, field)) => self.person(who, field, modifier, &id)?,
                None => return unsupported(format_args!("the field %({atom})")),
            },
        };
        Ok(value)
    }

    fn upstream(&self, push: bool, modifier: Option<&str>) -> Outcome<BString> {
        let Some(branch) = self.reference.name.strip_prefix(b"refs/heads/").and_then(|name| name.to_str().ok()) else {
            return Ok(BString::default());
        };
        let found = if push { upstream::of_push(self.repo, branch) } else { upstream::of_branch(self.repo, branch) };
        let Some(full) = found else { return Ok(BString::default()) };
        let (track, bare) = match modifier {
            Some("track") => (true, false),
            Some("track,nobracket" | "nobracket,track") => (true, true),
            Some("trackshort") => {
                return Ok(match self.apart(&full)? {
                    None => "",
                    Some((0, 0)) => "=",
                    Some((_, 0)) => ">",
                    Some((0, _)) => "<",
                    Some(_) => "<>",
                }
                .into());
            }
            Some("remotename") => {
                return Ok(self
                    .repo
                    .config
                    .string(&format!("branch.{branch}.remote"))
                    .map(BString::from)
                    .unwrap_or_default());
            }
            Some("remoteref") => {
                return Ok(self
                    .repo
                    .config
                    .string(&format!("branch.{branch}.merge"))
                    .map(BString::from)
                    .unwrap_or_default());
            }
            _ => (false, false),
        };
        if !track {
            return reference_name(self.repo, full.as_bstr(), modifier);
        }
        let text = match self.apart(&full)? {
            None => "gone".to_owned(),
            Some((0, 0)) => return Ok(BString::default()),
            Some((ahead, 0)) => format!("ahead {ahead}"),
            Some((0, behind)) => format!("behind {behind}"),
            Some((ahead, behind)) => format!("ahead {ahead}, behind {behind}"),
        };
        Ok(if bare { text } else { format!("[{text}]") }.into())
    }

    fn apart(&self, full: &BString) -> Outcome<Option<(usize, usize)>> {
        let Some(other) = self.repo.refs.resolve(full) else { return Ok(None) };
        ancestry::ahead_behind(self.repo, &self.reference.id, &other.id).map(Some)
    }

    fn content(&self, name: &str, modifier: Option<&str>, id: &ObjectId) -> Outcome<BString> {
        let object = self.object(id)?;
        let text: &BString = match &object {
            Object::Commit(commit) => match name {
                "tree" => {
                    return Ok(if modifier == Some("short") {
                        self.repo.short(&commit.tree)?
                    } else {
                        commit.tree.to_string()
                    }
                    .into());
                }
                "numparent" => return Ok(commit.parents.len().to_string().into()),
                "parent" => {
                    return Ok(commit.parents.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ").into());
                }
                "tag" | "object" | "type" => return Ok(BString::default()),
                _ => &commit.message,
            },
            Object::Tag(tag) => match name {
                "tag" => return Ok(tag.name.clone()),
                "object" => return Ok(tag.target.to_string().into()),
                "type" => return Ok(tag.target_kind.to_string().into()),
                "tree" | "numparent" | "parent" => return Ok(BString::default()),
                _ => &tag.message,
            },
            Object::Other => return Ok(BString::default()),
        };
        Ok(match (name, modifier) {
            ("subject", None) | ("contents", Some("subject")) => message::subject(text).into(),
            ("subject", Some("sanitize")) => message::sanitized(text).into(),
            ("body", None) | ("contents", Some("body")) => message::body(text).into(),
            ("contents", None) => message::start(text).into(),
            _ => return unsupported(format_args!("the field %({name}:{})", modifier.unwrap_or_default())),
        })
    }

    fn person(&self, who: &str, field: &str, modifier: Option<&str>, id: &ObjectId) -> Outcome<BString> {
        let object = self.object(id)?;
        let found = match (&object, who) {
            (Object::Commit(commit), "author") => Some(&commit.author),
            (Object::Commit(commit), "committer" | "creator") => Some(&commit.committer),
            (Object::Tag(tag), "tagger" | "creator") => tag.tagger.as_ref(),
            _ => None,
        };
        let Some(found) = found else { return Ok(BString::default()) };
        Ok(match (field, modifier) {
            ("name", None) => found.name.clone(),
            ("email", None) => [b"<", found.email.as_slice(), b">"].concat().into(),
            ("email", Some("trim")) => found.email.clone(),
            ("email", Some("localpart")) => found.email.split(|byte| *byte == b'@').next().unwrap_or_default().into(),
            ("date", modifier) => {
                date::format(found, &modifier.map_or_else(|| Ok(Mode::of(Style::Normal)), Mode::parse)?).into()
            }
            ("", None) => written(found).into(),
            _ => return unsupported(format_args!("the field %({who}{field}:{})", modifier.unwrap_or_default())),
        })
    }
}

fn written(who: &Signature) -> String {
    format!("{} <{}> {}", who.name, who.email, date::format(who, &Mode::of(Style::Raw)))
}

fn person(name: &str) -> Option<(&str, &str)> {
    let who = ["author", "committer", "tagger", "creator"].into_iter().find(|who| name.starts_with(who))?;
    let field = &name[who.len()..];
    matches!(field, "" | "name" | "email" | "date").then_some((who, field))
}

/// A name as `:short`, `:lstrip=N` and the like have it.
fn reference_name(repo: &Repository, name: &BStr, modifier: Option<&str>) -> Outcome<BString> {
    let Some(modifier) = modifier else { return Ok(name.into()) };
    if modifier == "short" {
        return Ok(repo.refs.shorten(name, repo.config.boolean("core.warnambiguousrefs") != Some(false)));
    }
    let parts: Vec<&[u8]> = name.split(|byte| *byte == b'/').collect();
    let (from_left, number) =
        if let Some(number) = modifier.strip_prefix("lstrip=").or_else(|| modifier.strip_prefix("strip=")) {
            (true, number)
        } else if let Some(number) = modifier.strip_prefix("rstrip=") {
            (false, number)
        } else {
            return fatal(format!("unrecognized %(refname) argument: {modifier}"));
        };
    let Ok(number) = number.parse::<isize>() else {
        return fatal(format!("Integer value expected refname:{modifier}"));
    };
    let strip = if number >= 0 { number.unsigned_abs() } else { parts.len().saturating_sub(number.unsigned_abs()) };
    let strip = strip.min(parts.len());
    let kept = if from_left { &parts[strip..] } else { &parts[..parts.len() - strip] };
    Ok(bstr::join("/", kept).into())
}

/// A format, taken apart.
#[derive(Debug)]
pub(crate) enum Part {
    Text(BString),
    Atom(String),
    /// `%(if)…%(then)…%(else)…%(end)`, with an optional test.
    If {
        test: Option<(bool, String)>,
        condition: Vec<Part>,
        then: Vec<Part>,
        otherwise: Vec<Part>,
    },
}

pub(crate) fn parse(format: &str) -> Outcome<Vec<Part>> {
    let mut rest = format;
    let (parts, stop) = parse_until(&mut rest)?;
    match stop {
        None => Ok(parts),
        Some(stop) => fatal(format!("format: %({stop}) atom used without a %(if) atom")),
    }
}

fn parse_until(rest: &mut &str) -> Outcome<(Vec<Part>, Option<String>)> {
    let mut parts = Vec::new();
    let mut text = BString::default();
    while let Some(at) = rest.find('%') {
        text.extend_from_slice(&rest.as_bytes()[..at]);
        let after = &rest[at + 1..];
        if let Some(inner) = after.strip_prefix('(') {
            let Some(end) = inner.find(')') else { return fatal(format!("malformed format string %{after}")) };
            let atom = &inner[..end];
            *rest = &inner[end + 1..];
            if !text.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut text)));
            }
            match atom.split([':', '=']).next().unwrap_or_default() {
                "then" | "else" | "end" => return Ok((parts, Some(atom.to_owned()))),
                "if" => parts.push(conditional(atom, rest)?),
                "color" => {}
                "align" => return unsupported("%(align)"),
                _ => parts.push(Part::Atom(atom.to_owned())),
            }
        } else if let Some(tail) = after.strip_prefix('%') {
            text.push(b'%');
            *rest = tail;
        } else if let Some(byte) = after.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            text.push(byte);
            *rest = &after[2..];
        } else {
            text.push(b'%');
            *rest = after;
        }
    }
    text.extend_from_slice(rest.as_bytes());
    *rest = "";
    if !text.is_empty() {
        parts.push(Part::Text(text));
    }
    Ok((parts, None))
}

fn conditional(atom: &str, rest: &mut &str) -> Outcome<Part> {
    let test = match atom.strip_prefix("if:") {
        None => None,
        Some(test) => match (test.strip_prefix("equals="), test.strip_prefix("notequals=")) {
            (Some(value), _) => Some((true, value.to_owned())),
            (_, Some(value)) => Some((false, value.to_owned())),
            _ => return fatal(format!("unrecognized %(if) argument: {test}")),
        },
    };
    let (condition, stop) = parse_until(rest)?;
    if stop.as_deref() != Some("then") {
        return fatal("format: %(if) atom used without a %(then) atom");
    }
    let (then, stop) = parse_until(rest)?;
    let otherwise = match stop.as_deref() {
        Some("else") => {
            let (otherwise, stop) = parse_until(rest)?;
            if stop.as_deref() != Some("end") {
                return fatal("format: %(end) atom missing");
            }
            otherwise
        }
        Some("end") => Vec::new(),
        _ => return fatal("format: %(end) atom missing"),
    };
    Ok(Part::If { test, condition, then, otherwise })
}

/// The line of a reference.
pub(crate) fn expand(repo: &Repository, reference: &Reference, parts: &[Part]) -> Outcome<BString> {
    let loaded = Loaded { repo, reference };
    let mut out = BString::default();
    for part in parts {
        match part {
            Part::Text(text) => out.extend_from_slice(text),
            Part::Atom(atom) => out.extend_from_slice(&loaded.atom(atom)?),
            Part::If { test, condition, then, otherwise } => {
                let value = expand(repo, reference, condition)?;
                let holds = match test {
                    None => !value.trim().is_empty(),
                    Some((equal, wanted)) => (value == wanted.as_str()) == *equal,
                };
                out.extend_from_slice(&expand(repo, reference, if holds { then } else { otherwise })?);
            }
        }
    }
    Ok(out)
}

/// Sorts by fields, the last given first; by name where they agree.
pub(crate) fn sort(repo: &Repository, references: &mut Vec<Reference>, fields: &[String]) -> Outcome {
    let mut keyed = Vec::new();
    for reference in references.drain(..) {
        let loaded = Loaded { repo, reference: &reference };
        let mut keys = Vec::new();
        for field in fields.iter().rev() {
            let name = field.trim_start_matches('-');
            let key = if let Some(name) = name.strip_prefix("version:").or_else(|| name.strip_prefix("v:")) {
                Key::Version(loaded.atom(name)?)
            } else {
                let base = name.split(':').next().unwrap_or(name);
                if base.ends_with("date") {
                    let who = base.strip_suffix("date").unwrap_or(base);
                    Key::Number(
                        loaded
                            .person(who, "date", Some("unix"), &reference.id)?
                            .to_string()
                            .parse()
                            .unwrap_or_default(),
                    )
                } else if matches!(base, "objectsize" | "numparent") {
                    Key::Number(loaded.atom(name)?.to_string().parse().unwrap_or_default())
                } else {
                    Key::Text(loaded.atom(name)?)
                }
            };
            keys.push((key, field.starts_with('-')));
        }
        keyed.push((keys, reference));
    }
    keyed.sort_by(|(one, a), (other, b)| {
        let fields = one.iter().zip(other).map(|((x, reverse), (y, _))| if *reverse { y.cmp(x) } else { x.cmp(y) });
        fields.fold(Ordering::Equal, Ordering::then).then_with(|| a.name.cmp(&b.name))
    });
    references.extend(keyed.into_iter().map(|(_, reference)| reference));
    Ok(())
}

#[derive(PartialEq, Eq)]
enum Key {
    Text(BString),
    Version(BString),
    Number(i64),
}

impl Key {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => a.cmp(b),
            (Self::Version(a), Self::Version(b)) => compare_versions(a, b),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            _ => Ordering::Equal,
        }
    }
}

/// Digits by their number, everything else by its bytes.
fn compare_versions(one: &[u8], other: &[u8]) -> Ordering {
    let (mut a, mut b) = (one, other);
    loop {
        match (a.first(), b.first()) {
            (None, None) => return Ordering::Equal,
            (None, _) => return Ordering::Less,
            (_, None) => return Ordering::Greater,
            (Some(x), Some(y)) if x.is_ascii_digit() && y.is_ascii_digit() => {
                let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
                let (n, m) = (digits(a), digits(b));
                let number = |text: &[u8]| text.iter().skip_while(|byte| **byte == b'0').copied().collect::<Vec<u8>>();
                let (x, y) = (number(&a[..n]), number(&b[..m]));
                let order = x.len().cmp(&y.len()).then_with(|| x.cmp(&y));
                if order != Ordering::Equal {
                    return order;
                }
                (a, b) = (&a[n..], &b[m..]);
            }
            (Some(x), Some(y)) if x == y => (a, b) = (&a[1..], &b[1..]),
            (Some(x), Some(y)) => return x.cmp(y),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        for (less, more) in [("v1.9", "v1.10"), ("v1", "v1.0"), ("v0.9.0", "v1.0.0"), ("a", "b"), ("v2", "v10")] {
            assert_eq!(compare_versions(less.as_bytes(), more.as_bytes()), Ordering::Less, "{less} {more}");
        }
    }
}
