//! `skillgate trust add|list|remove|review`

mod add;
mod list;
mod remove;
mod review;
mod survey;

use crate::args::{Global, TrustVerb};
use crate::exit::{Failure, Status};

pub(crate) fn run(global: &Global, verb: &TrustVerb) -> Result<Status, Failure> {
    match verb {
        TrustVerb::Add(verb) => add::run(global, verb),
        TrustVerb::List => list::run(global),
        TrustVerb::Remove(verb) => remove::run(global, verb),
        TrustVerb::Review(verb) => review::run(global, verb),
    }
}
