//! `skillgate pack …`: what teams make of skills, and what others install.

mod build;
mod cases;
mod change;
mod failure;
mod human;
mod inspect;
mod installed;
mod source;

pub(crate) use failure::PackFailure;

use crate::args::{Global, PackVerb};
use crate::context;
use crate::exit::{Failure, Status};
use crate::policy;
use skillgate_bundle::{PackStore, StoreError};
use skillgate_policy::file::Policy;
use std::path::PathBuf;

pub(crate) fn run(global: &Global, verb: &PackVerb) -> Result<Status, Failure> {
    match verb {
        PackVerb::Build(verb) => build::build(global, verb),
        PackVerb::Keygen(verb) => build::keygen(global, verb),
        PackVerb::Sign(verb) => build::sign(global, verb),
        PackVerb::Push(verb) => build::push(global, verb),
        PackVerb::Inspect(verb) => inspect::inspect(global, verb),
        PackVerb::Verify(verb) => inspect::verify(global, verb),
        PackVerb::Diff(verb) => inspect::diff(global, verb),
        PackVerb::Test(verb) => cases::run(global, verb),
        PackVerb::Install(verb) => change::install(global, verb),
        PackVerb::Update(verb) => change::update(global, verb),
        PackVerb::Outdated => change::outdated(global),
        PackVerb::List => installed::list(global),
        PackVerb::Remove(verb) => installed::remove(global, &verb.name),
        PackVerb::Enable(verb) => installed::switch(global, &verb.name, true),
        PackVerb::Disable(verb) => installed::switch(global, &verb.name, false),
    }
}

/// The directory of the store that holds the packs.
pub(crate) fn directory(global: &Global, policy: &Policy) -> Option<PathBuf> {
    context::store(global, policy).map(|store| store.join("packs"))
}

/// The store, made when it is not there.
fn store(global: &Global, policy: &Policy) -> Result<PackStore, Failure> {
    let directory = directory(global, policy).ok_or(Failure::NoHome)?;
    Ok(PackStore::open_ambient(directory).map_err(PackFailure::from)?)
}

/// The store when there is one.
fn existing(global: &Global, policy: &Policy) -> Result<Option<PackStore>, Failure> {
    let Some(directory) = directory(global, policy) else { return Ok(None) };
    Ok(PackStore::existing_ambient(directory).map_err(PackFailure::from)?)
}

/// The store that has a pack of this name; none is made to find that it has not.
fn store_with(global: &Global, policy: &Policy, name: &str) -> Result<PackStore, Failure> {
    let missing = || StoreError::NotInstalled { name: name.to_owned(), known: Vec::new() };
    Ok(existing(global, policy)?.ok_or_else(|| PackFailure::from(missing()))?)
}

fn in_force(global: &Global) -> Result<Policy, Failure> {
    Ok(policy::in_force(global)?.policy)
}
