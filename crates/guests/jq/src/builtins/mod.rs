//! The functions that are not written in jq's own language.

mod dates;
mod math;
mod regular;
mod sorting;
mod text;
mod values;

use crate::error::Valued;
use crate::host::Host;
use crate::value::Value;

/// Definitions in jq's own language.
pub(crate) const PRELUDE: &str = include_str!("prelude.jq");

/// A function of values: it takes its input and its arguments.
pub(crate) struct Native {
    pub(crate) name: &'static str,
    pub(crate) arity: usize,
    pub(crate) run: fn(&mut Host, &Value, &[Value]) -> Valued,
}

impl std::fmt::Debug for Native {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}/{}", self.name, self.arity)
    }
}

const fn native(name: &'static str, arity: usize, run: fn(&mut Host, &Value, &[Value]) -> Valued) -> Native {
    Native { name, arity, run }
}

const TABLES: &[&[Native]] =
    &[values::NATIVES, text::NATIVES, sorting::NATIVES, math::NATIVES, dates::NATIVES, regular::NATIVES];

/// A function by its name and the number of its arguments.
pub(crate) fn find(name: &str, arity: usize) -> Option<&'static Native> {
    TABLES.iter().copied().flatten().find(|native| native.name == name && native.arity == arity)
}

/// The names of all of them.
pub(crate) fn names() -> impl Iterator<Item = (String, usize)> {
    TABLES.iter().copied().flatten().map(|native| (native.name.to_owned(), native.arity))
}
