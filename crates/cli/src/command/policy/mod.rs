//! `skillgate policy`: what the host grants, and where it says so.

mod check;
mod explain;
mod import;
mod show;

use crate::args::{Global, LevelArg, PolicyVerb};
use crate::exit::{Failure, Status};
use skillgate_policy::file::Level;

impl From<LevelArg> for Level {
    fn from(level: LevelArg) -> Self {
        match level {
            LevelArg::Managed => Level::Managed,
            LevelArg::User => Level::User,
            LevelArg::Project => Level::Project,
        }
    }
}

pub(crate) fn run(global: &Global, verb: &PolicyVerb) -> Result<Status, Failure> {
    match verb {
        PolicyVerb::Show => show::run(global),
        PolicyVerb::Explain(verb) => explain::run(global, verb),
        PolicyVerb::Check(verb) => check::run(global, verb),
        PolicyVerb::Import(verb) => import::run(global, verb),
    }
}
