//! The expression: tests and actions, evaluated on one file.

use super::exec::{Batches, Exec};
use super::format::Format;
use super::listing::{self, Widths};
use super::path_expression::PathExpression;
use super::permissions::Permissions;
use super::time::{Age, Stamp};
use crate::glob;
use crate::output::{Output, reason};
use guest_files::{Kind, Moment, Status, group_name, user_name};

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
    LinkName {
        pattern: Vec<u8>,
        fold_case: bool,
    },
    /// `-regex`: the whole path.
    Matches(PathExpression),
    Readable,
    Executable,
    Kind(Vec<Kind>),
    /// `-xtype`: of what a link leads to, or of the link where links are followed.
    OtherKind(Vec<Kind>),
    Size {
        count: Number,
        unit: u64,
    },
    Empty,
    /// The first stamp is later than this moment.
    Newer(Stamp, Moment),
    Age(Age),
    Permissions(Permissions),
    User(u32),
    Group(u32),
    UserNumber(Number),
    GroupNumber(Number),
    NoUser,
    NoGroup,
    Links(Number),
    Inode(Number),
    SameFile(u64, u64),
    Print,
    Print0,
    Printf(Format),
    List,
    Exec(Exec),
    Delete,
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
    pub(super) fn holds(self, value: u64) -> bool {
        match self {
            Number::Exactly(wanted) => value == wanted,
            Number::Above(limit) => value > limit,
            Number::Below(limit) => value < limit,
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
    pub(super) file: &'a dyn File,
}

impl Visit<'_> {
    pub(super) fn status(&self) -> Option<Status> {
        self.file.status()
    }
}

/// What can be asked about a visited file.
pub(super) trait File: std::fmt::Debug {
    fn status(&self) -> Option<Status>;
    /// The kind when links are followed where they else are not, and the other way round.
    fn other_kind(&self) -> Option<Kind>;
    fn is_empty_directory(&self) -> bool;
    fn is_readable(&self) -> bool;
    /// Removes it; a directory has to be empty, and the one that the search stands in stays.
    fn delete(&self) -> std::io::Result<()>;
    fn link_target(&self) -> Option<Vec<u8>>;
}

/// What an evaluation does beside giving its value.
#[derive(Debug)]
pub(super) struct Effects {
    pub(super) output: Output,
    pub(super) batches: Batches,
    pub(super) widths: Widths,
    pub(super) prune: bool,
    pub(super) quit: bool,
    /// Something could not be deleted.
    pub(super) failed: bool,
}

impl Expression {
    /// Whether it does something by itself, so that nothing is printed without being asked for.
    pub(super) fn acts(&self) -> bool {
        match self {
            Expression::And(parts) | Expression::Or(parts) | Expression::Comma(parts) => {
                parts.iter().any(Expression::acts)
            }
            Expression::Not(inner) => inner.acts(),
            Expression::Print
            | Expression::Print0
            | Expression::Printf(_)
            | Expression::List
            | Expression::Exec(_)
            | Expression::Delete
            | Expression::Quit => true,
            _ => false,
        }
    }

    pub(super) fn evaluate(&self, visit: &Visit<'_>, effects: &mut Effects) -> bool {
        if effects.quit {
            return false;
        }
        let status = |holds: &dyn Fn(Status) -> bool| visit.status().is_some_and(holds);
        match self {
            Expression::And(parts) => parts.iter().all(|part| part.evaluate(visit, effects)),
            Expression::Or(parts) => parts.iter().any(|part| part.evaluate(visit, effects)),
            Expression::Comma(parts) => {
                let mut last = true;
                for part in parts {
                    last = part.evaluate(visit, effects);
                }
                last
            }
            Expression::Not(inner) => !inner.evaluate(visit, effects),
            Expression::Always(value) => *value,
            Expression::Name { pattern, fold_case } => glob::matches(pattern, base_name(visit.path), *fold_case),
            Expression::Path { pattern, fold_case } => glob::matches(pattern, visit.path, *fold_case),
            Expression::LinkName { pattern, fold_case } => {
                let target = visit.file.link_target();
                target.is_some_and(|target| glob::matches(pattern, &target, *fold_case))
            }
            Expression::Matches(expression) => expression.matches(visit.path),
            Expression::Readable => visit.file.is_readable(),
            Expression::Executable => status(&|status| status.mode & 0o111 != 0),
            Expression::Kind(kinds) => visit.kind.is_some_and(|kind| kinds.contains(&kind)),
            Expression::OtherKind(kinds) => visit.file.other_kind().is_some_and(|kind| kinds.contains(&kind)),
            Expression::Size { count, unit } => status(&|status| count.holds(status.size.div_ceil(*unit))),
            Expression::Empty => match visit.kind {
                Some(Kind::Directory) => visit.file.is_empty_directory(),
                Some(Kind::File) => status(&|status| status.size == 0),
                _ => false,
            },
            Expression::Newer(stamp, moment) => status(&|status| stamp.of(&status) > *moment),
            Expression::Age(age) => status(&|status| age.holds(&status)),
            Expression::Permissions(wanted) => status(&|status| wanted.hold(status.mode)),
            Expression::User(id) => status(&|status| status.owner == *id),
            Expression::Group(id) => status(&|status| status.group == *id),
            Expression::UserNumber(count) => status(&|status| count.holds(status.owner.into())),
            Expression::GroupNumber(count) => status(&|status| count.holds(status.group.into())),
            Expression::NoUser => status(&|status| user_name(status.owner).is_none()),
            Expression::NoGroup => status(&|status| group_name(status.group).is_none()),
            Expression::Links(count) => status(&|status| count.holds(status.links)),
            Expression::Inode(count) => status(&|status| count.holds(status.inode)),
            Expression::SameFile(device, inode) => status(&|status| status.device == *device && status.inode == *inode),
            Expression::Print => {
                effects.output.put(visit.path);
                effects.output.put(b"\n");
                true
            }
            Expression::Print0 => {
                effects.output.put(visit.path);
                effects.output.put(b"\0");
                true
            }
            Expression::Printf(format) => {
                format.print(visit, &mut effects.output);
                true
            }
            Expression::List => {
                listing::print(visit, &mut effects.widths, &mut effects.output);
                true
            }
            Expression::Exec(exec) => exec.evaluate(visit.path, effects),
            Expression::Delete => match visit.file.delete() {
                Ok(()) => true,
                Err(error) => {
                    effects.output.flush();
                    eprintln!("find: cannot delete ‘{}’: {}", String::from_utf8_lossy(visit.path), reason(&error));
                    effects.failed = true;
                    false
                }
            },
            Expression::Prune => {
                effects.prune = true;
                true
            }
            Expression::Quit => {
                effects.quit = true;
                true
            }
        }
    }
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
