//! What guests try, and how it ends: for each attack the exact outcome, and a harmless relative of it that succeeds.
#![expect(clippy::disallowed_methods, reason = "the tests make and look at the files that guests are shown")]

mod calls;
mod components;
mod hooks;
mod leaks;
mod limits;
mod paths;
mod support;
