//! One module per verb.

pub(crate) mod audit;
pub(crate) mod check;
pub(crate) mod doctor;
pub(crate) mod list;
pub(crate) mod listing;
pub(crate) mod log;
pub(crate) mod meta;
pub(crate) mod policy;
pub(crate) mod run;
pub(crate) mod sandbox;
pub(crate) mod search;
pub(crate) mod show;
pub(crate) mod triggers;
pub(crate) mod trust;
pub(crate) mod which;
pub(crate) mod why;
