//! The parts together: a skill's header, its files, and a shell with a few commands.
#![expect(clippy::disallowed_methods, reason = "tests make the skills that hooks belong to")]

mod fixture;
mod life;
mod parsing;
mod running;
