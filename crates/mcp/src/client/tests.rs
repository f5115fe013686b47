//! The client against servers that behave, lie, hang, flood and die.

mod bad_input;
#[cfg(unix)]
mod called;
#[cfg(unix)]
mod launched;
mod lies;
mod lost;
mod offers;
mod script;
#[cfg(unix)]
mod started;
