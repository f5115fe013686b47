//! Skills that are loaded again while conversations go on.
#![expect(clippy::disallowed_methods, reason = "tests make, change and remove skills")]

mod conversations;
mod following;
mod places;
mod refusals;
#[path = "../conversation/world.rs"]
#[expect(dead_code, reason = "what other tests of the same world use")]
mod world;

use skillgate_runtime::{CatalogueChanges, Reloaded, Runtime, Session};

/// What a reload changed: added, changed, removed, and affected by others.
fn reloaded(runtime: &Runtime) -> [Vec<String>; 4] {
    parts(&again(runtime).changes)
}

fn again(runtime: &Runtime) -> Reloaded {
    runtime.reload().expect("no source says that something is missing")
}

fn parts(changes: &CatalogueChanges) -> [Vec<String>; 4] {
    [&changes.added, &changes.changed, &changes.removed, &changes.affected].map(Clone::clone)
}

fn these<const N: usize>(added: [&str; N]) -> Vec<String> {
    added.map(str::to_owned).to_vec()
}

fn nothing() -> Vec<String> {
    Vec::new()
}

fn offered(session: &Session) -> Vec<String> {
    session.catalogue().offered_to_model().map(|entry| entry.called().to_owned()).collect()
}
