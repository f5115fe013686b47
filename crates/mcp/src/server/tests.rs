//! The server against a client of the same library, and against raw lines.

mod asking;
mod asking_newest;
mod bad_input;
mod calls;
mod fixture;
mod gate;
mod lists;
mod over_http;
