//! One module per verb.

pub(crate) mod audit;
pub(crate) mod check;
pub(crate) mod doctor;
pub(crate) mod hooks;
pub(crate) mod kept;
pub(crate) mod list;
pub(crate) mod listing;
pub(crate) mod log;
pub(crate) mod mcp;
pub(crate) mod meta;
pub(crate) mod pack;
pub(crate) mod policy;
pub(crate) mod run;
pub(crate) mod sandbox;
pub(crate) mod search;
pub(crate) mod session;
pub(crate) mod show;
pub(crate) mod triggers;
pub(crate) mod trust;
pub(crate) mod watch;
pub(crate) mod which;
pub(crate) mod why;
