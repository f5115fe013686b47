//! The cases, by what they need. Each is data and the code that makes its attempts and its controls.

mod commands;
mod degradation;
mod guest_files;
mod guest_modules;
mod guests;
mod history;
mod hooks;
mod host_environment;
mod host_files;
mod host_network;
mod host_processes;
mod host_resources;
mod library;
mod loader_files;
mod narrowing;
mod quirks;
mod trust;

use crate::case::Case;

/// Every case there is.
pub(crate) fn all() -> Vec<Case> {
    let groups = [
        guests::CASES,
        guest_modules::CASES,
        guest_files::CASES,
        hooks::CASES,
        host_files::CASES,
        host_processes::CASES,
        host_network::CASES,
        host_resources::CASES,
        host_environment::CASES,
        commands::CASES,
        quirks::CASES,
        library::CASES,
        narrowing::CASES,
        history::CASES,
        loader_files::CASES,
        trust::CASES,
        degradation::CASES,
    ];
    groups.into_iter().flatten().copied().collect()
}
