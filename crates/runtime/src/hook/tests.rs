//! The parts together: a skill's header, its files, and a shell with a few commands.

mod fixture;
mod life;
mod parsing;
mod running;
