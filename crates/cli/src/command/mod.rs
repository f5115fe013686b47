//! One module per verb.

pub(crate) mod check;
pub(crate) mod list;
pub(crate) mod meta;
pub(crate) mod run;
pub(crate) mod sandbox;
pub(crate) mod show;
