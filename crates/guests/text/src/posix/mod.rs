//! Regular expressions of POSIX with GNU's extensions, as the C library's `regcomp` and `regexec` take them in a UTF-8 locale:
//! the leftmost and then longest match, and for the groups in it the first way that leads to it.
//!
//! [`syntax`] reads a pattern. Without back-references it is compiled to automata ([`search`]), which give the bounds of a match
//! in linear time; the groups are found in those bounds ([`groups`]) when the automaton's own cannot be trusted. With
//! back-references every way to match is tried, within a bound ([`references`]).

mod groups;
mod lower;
mod references;
mod search;
mod set;
mod syntax;
mod text;

pub(crate) use search::{Around, Expression, Match, TooComplex};
pub(crate) use syntax::{Dialect, ExpressionError};
