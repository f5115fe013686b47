//! One module per verb.

pub(crate) mod check;
pub(crate) mod list;
pub(crate) mod log;
pub(crate) mod meta;
pub(crate) mod policy;
pub(crate) mod run;
pub(crate) mod sandbox;
pub(crate) mod show;
pub(crate) mod trust;
