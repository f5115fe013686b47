//! Which paths a command is asked about.

use crate::failure::{Outcome, fatal, unsupported};
use crate::repository::{Repository, normal};
use bstr::{BString, ByteSlice as _};
use gix_glob::wildmatch::Mode;
use std::path::Path;

#[derive(Clone, Debug)]
struct Item {
    /// Below the root.
    pattern: BString,
    /// Bytes of the pattern before its first wildcard.
    literal: usize,
    exclude: bool,
    icase: bool,
    glob: bool,
}

/// All patterns of one command; none matches everything.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pathspec {
    items: Vec<Item>,
    /// As written, for messages.
    pub(crate) written: Vec<String>,
}

const WILDCARDS: &[u8] = b"*?[\\";

impl Pathspec {
    pub(crate) fn parse(repo: &Repository, arguments: &[String]) -> Outcome<Self> {
        let items = arguments.iter().map(|argument| Item::parse(repo, argument)).collect::<Outcome<_>>()?;
        Ok(Self { items, written: arguments.to_vec() })
    }

    /// Everything below a directory given with its `/`, or everything.
    pub(crate) fn below(prefix: &[u8]) -> Self {
        if prefix.is_empty() {
            return Self::default();
        }
        let pattern: BString = prefix.into();
        let literal = pattern.len();
        Self { items: vec![Item { pattern, literal, exclude: false, icase: false, glob: false }], written: Vec::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Whether the path of a file is asked about.
    pub(crate) fn matches(&self, path: &[u8]) -> bool {
        let mut included = self.items.iter().filter(|item| !item.exclude).peekable();
        (included.peek().is_none() || included.any(|item| item.matches(path)))
            && !self.items.iter().any(|item| item.exclude && item.matches(path))
    }

    /// Whether a file below this directory (without `/` at its end) may be asked about.
    pub(crate) fn may_match_below(&self, directory: &[u8]) -> bool {
        let mut included = self.items.iter().filter(|item| !item.exclude).peekable();
        included.peek().is_none() || included.any(|item| item.may_match_below(directory))
    }

    /// The patterns that match none of these paths.
    pub(crate) fn unmatched<'a>(&self, paths: impl Iterator<Item = &'a [u8]> + Clone) -> Vec<&str> {
        let items = self.items.iter().zip(&self.written);
        items
            .filter(|(item, _)| !item.exclude && !paths.clone().any(|path| item.matches(path)))
            .map(|(_, written)| written.as_str())
            .collect()
    }
}

impl Item {
    fn parse(repo: &Repository, argument: &str) -> Outcome<Self> {
        let (mut top, mut exclude, mut icase, mut glob, mut literally) = (false, false, false, false, false);
        let mut rest = argument;
        if let Some(long) = argument.strip_prefix(":(") {
            let Some((magic, pattern)) = long.split_once(')') else {
                return fatal(format!("Missing ')' at the end of pathspec magic in '{argument}'"));
            };
            for word in magic.split(',').filter(|word| !word.is_empty()) {
                match word {
                    "top" => top = true,
                    "exclude" => exclude = true,
                    "icase" => icase = true,
                    "glob" => glob = true,
                    "literal" => literally = true,
                    word if word.starts_with("attr:") || word.starts_with("prefix:") => {
                        return unsupported(format_args!("pathspec magic '{word}'"));
                    }
                    word => return fatal(format!("Invalid pathspec magic '{word}' in '{argument}'")),
                }
            }
            if literally && glob {
                return fatal(format!("{argument}: 'literal' and 'glob' are incompatible"));
            }
            rest = pattern;
        } else if let Some(short) = argument.strip_prefix(':') {
            let end = short.find(|c| !matches!(c, '/' | '!' | '^')).unwrap_or(short.len());
            for sign in short[..end].chars() {
                match sign {
                    '/' => top = true,
                    _ => exclude = true,
                }
            }
            rest = &short[end..];
            rest = rest.strip_prefix(':').unwrap_or(rest);
        }
        let pattern = resolve(repo, rest, top, argument)?;
        let literal = if literally { pattern.len() } else { pattern.find_byteset(WILDCARDS).unwrap_or(pattern.len()) };
        Ok(Self { pattern, literal, exclude, icase, glob })
    }

    fn has_wildcard(&self) -> bool {
        self.literal < self.pattern.len()
    }

    fn equal(&self, one: &[u8], other: &[u8]) -> bool {
        if self.icase { one.eq_ignore_ascii_case(other) } else { one == other }
    }

    fn matches(&self, path: &[u8]) -> bool {
        let pattern = self.pattern.trim_end_with(|c| c == '/');
        if pattern.is_empty() {
            return true;
        }
        let directory_only = pattern.len() < self.pattern.len();
        let starts = path.len() >= pattern.len() && self.equal(&path[..pattern.len()], pattern);
        if starts && (path.get(pattern.len()) == Some(&b'/') || (path.len() == pattern.len() && !directory_only)) {
            return true;
        }
        if !self.has_wildcard() {
            return false;
        }
        let mut mode = if self.glob { Mode::NO_MATCH_SLASH_LITERAL } else { Mode::empty() };
        if self.icase {
            mode |= Mode::IGNORE_CASE;
        }
        gix_glob::wildmatch(self.pattern.as_bstr(), path.as_bstr(), mode)
    }

    fn may_match_below(&self, directory: &[u8]) -> bool {
        let literal = &self.pattern[..self.literal];
        let common = literal.len().min(directory.len());
        if !self.equal(&literal[..common], &directory[..common]) {
            return false;
        }
        // The pattern ends inside a name of the directory's path, without a wildcard that could go on.
        self.has_wildcard()
            || literal.len() <= directory.len() && matches!(directory.get(literal.len()), None | Some(b'/'))
            || literal.len() > directory.len()
            || literal.ends_with(b"/")
    }
}

/// The pattern below the root.
fn resolve(repo: &Repository, text: &str, top: bool, argument: &str) -> Outcome<BString> {
    let start = if top { String::new() } else { repo.prefix.to_string() };
    let trailing = if text.ends_with('/') { "/" } else { "" };
    let root = repo.work_tree.as_deref().unwrap_or(Path::new("/"));
    let absolute = if Path::new(text).is_absolute() { Path::new(text).to_owned() } else { root.join(start).join(text) };
    match normal(&absolute).strip_prefix(root) {
        Ok(below) => {
            let mut pattern = crate::files::bytes(below);
            if !pattern.is_empty() {
                pattern.extend_from_slice(trailing.as_bytes());
            }
            Ok(pattern)
        }
        Err(_) => fatal(format!("{argument}: '{argument}' is outside repository at '{}'", root.display())),
    }
}
