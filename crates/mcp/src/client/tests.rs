//! The client against servers that behave, lie, hang, flood and die.

mod lies;
mod lost;
mod offers;
mod script;
#[cfg(unix)]
mod started;
