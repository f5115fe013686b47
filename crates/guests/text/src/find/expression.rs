//! The expression: tests and actions, evaluated on one file.

use super::format::Format;
use crate::glob;
use crate::output::Output;
use std::fs::{FileType, Metadata};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// A node of the expression.
#[derive(Debug)]
pub(super) enum Expression {
    And(Vec<Expression>),
    Or(Vec<Expression>),
    /// All are evaluated; the last decides.
    Comma(Vec<Expression>),
    Not(Box<Expression>),
    Always(bool),
    Name {
        pattern: Vec<u8>,
        fold_case: bool,
    },
    Path {
        pattern: Vec<u8>,
        fold_case: bool,
    },
    Kind(Vec<Kind>),
    Size {
        count: Number,
        unit: u64,
    },
    Empty,
    /// Changed later than this moment.
    NewerThan(SystemTime),
    /// Age in units of so many seconds, counted from the start of the command.
    Age {
        count: Number,
        unit: u64,
        now: SystemTime,
    },
    Print,
    Print0,
    Printf(Format),
    Prune,
    Quit,
}

/// `N`, `+N`, `-N`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Number {
    Exactly(u64),
    Above(u64),
    Below(u64),
}

impl Number {
    fn holds(self, value: u64) -> bool {
        match self {
            Number::Exactly(wanted) => value == wanted,
            Number::Above(limit) => value > limit,
            Number::Below(limit) => value < limit,
        }
    }
}

/// What `-type` tells apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    File,
    Directory,
    Link,
    /// A kind that nothing in a sandbox has.
    Never,
}

impl Kind {
    pub(super) fn of(file_type: FileType) -> Option<Self> {
        match file_type {
            kind if kind.is_file() => Some(Kind::File),
            kind if kind.is_dir() => Some(Kind::Directory),
            kind if kind.is_symlink() => Some(Kind::Link),
            _ => None,
        }
    }
}

/// One file that the search came to.
#[derive(Debug)]
pub(super) struct Visit<'a> {
    /// As it is printed.
    pub(super) path: &'a [u8],
    /// Under which root it was found.
    pub(super) root: &'a [u8],
    pub(super) depth: usize,
    pub(super) kind: Option<Kind>,
    /// Asked for only when a test needs it.
    pub(super) metadata: &'a dyn Metadatas,
}

/// The status of a visited file.
pub(super) trait Metadatas: std::fmt::Debug {
    fn metadata(&self) -> Option<Metadata>;
    fn is_empty_directory(&self) -> bool;
    fn link_target(&self) -> Option<Vec<u8>>;
}

/// What an evaluation asks of the search.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Wishes {
    pub(super) prune: bool,
    pub(super) quit: bool,
}

impl Expression {
    /// Whether it does something by itself, so that nothing is printed without being asked for.
    pub(super) fn acts(&self) -> bool {
        match self {
            Expression::And(parts) | Expression::Or(parts) | Expression::Comma(parts) => {
                parts.iter().any(Expression::acts)
            }
            Expression::Not(inner) => inner.acts(),
            Expression::Print | Expression::Print0 | Expression::Printf(_) | Expression::Quit => true,
            _ => false,
        }
    }

    pub(super) fn evaluate(&self, visit: &Visit<'_>, wishes: &mut Wishes, output: &mut Output) -> bool {
        if wishes.quit {
            return false;
        }
        match self {
            Expression::And(parts) => parts.iter().all(|part| part.evaluate(visit, wishes, output)),
            Expression::Or(parts) => parts.iter().any(|part| part.evaluate(visit, wishes, output)),
            Expression::Comma(parts) => {
                let mut last = true;
                for part in parts {
                    last = part.evaluate(visit, wishes, output);
                }
                last
            }
            Expression::Not(inner) => !inner.evaluate(visit, wishes, output),
            Expression::Always(value) => *value,
            Expression::Name { pattern, fold_case } => glob::matches(pattern, base_name(visit.path), *fold_case),
            Expression::Path { pattern, fold_case } => glob::matches(pattern, visit.path, *fold_case),
            Expression::Kind(kinds) => visit.kind.is_some_and(|kind| kinds.contains(&kind)),
            Expression::Size { count, unit } => {
                visit.metadata.metadata().is_some_and(|metadata| count.holds(metadata.len().div_ceil(*unit)))
            }
            Expression::Empty => match visit.kind {
                Some(Kind::Directory) => visit.metadata.is_empty_directory(),
                Some(Kind::File) => visit.metadata.metadata().is_some_and(|metadata| metadata.len() == 0),
                _ => false,
            },
            Expression::NewerThan(moment) => modified(visit).is_some_and(|modified| modified > *moment),
            Expression::Age { count, unit, now } => modified(visit).is_some_and(|modified| {
                // A file of the future is as old as one of now.
                let age = now.duration_since(modified).unwrap_or(Duration::ZERO).as_secs();
                match *unit {
                    // Minutes are compared with their fractions: a file of 61 seconds is more than one minute old.
                    60 => match count {
                        Number::Exactly(wanted) => age.div_ceil(60) == *wanted,
                        Number::Above(limit) => age > limit * 60,
                        Number::Below(limit) => age < limit * 60,
                    },
                    unit => count.holds(age / unit),
                }
            }),
            Expression::Print => {
                output.put(visit.path);
                output.put(b"\n");
                true
            }
            Expression::Print0 => {
                output.put(visit.path);
                output.put(b"\0");
                true
            }
            Expression::Printf(format) => {
                format.print(visit, output);
                true
            }
            Expression::Prune => {
                wishes.prune = true;
                true
            }
            Expression::Quit => {
                wishes.quit = true;
                true
            }
        }
    }
}

fn modified(visit: &Visit<'_>) -> Option<SystemTime> {
    visit.metadata.metadata()?.modified().ok()
}

/// The last component of a path, without the slashes after it.
pub(super) fn base_name(path: &[u8]) -> &[u8] {
    let end = path.iter().rposition(|byte| *byte != b'/').map_or(0, |at| at + 1);
    if end == 0 {
        return &path[..path.len().min(1)];
    }
    let start = path[..end].iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
    &path[start..end]
}

/// When a file was changed last.
pub(super) fn modification_of(path: &Path) -> std::io::Result<SystemTime> {
    std::fs::metadata(path)?.modified()
}

#[cfg(test)]
mod tests {
    use super::base_name;

    #[test]
    fn base_names_are_without_slashes() {
        for (path, name) in [("./a/b", "b"), ("a/", "a"), ("/", "/"), (".", "."), ("///", "/"), ("", "")] {
            assert_eq!(base_name(path.as_bytes()), name.as_bytes(), "{path}");
        }
    }
}
