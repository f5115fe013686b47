//! Following the places of a runtime's skills: it reloads when something happens there.

use crate::runtime::{OpenError, Runtime};
use skillgate_loader::{SkillRoot, SkillWatch, WatchAsk, WatchOptions, WatchStop};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;

/// Keeps the skills of a runtime as their places are ([`Runtime::watch`]), until it is dropped.
#[derive(Debug)]
#[must_use = "the skills are followed until it is dropped"]
pub struct RuntimeWatch {
    number: u64,
    runtime: Weak<Runtime>,
    stop: WatchStop,
    ask: WatchAsk,
    thread: Option<JoinHandle<()>>,
}

impl RuntimeWatch {
    /// Has it look soon, also when nothing happened that the system tells of: a source that holds its skills itself has others.
    pub fn ask(&self) {
        self.ask.ask();
    }

    /// Has it look soon, from elsewhere.
    #[must_use]
    pub fn asker(&self) -> WatchAsk {
        self.ask.clone()
    }

    /// Ends it and waits until nothing of it runs any more. It must not be called by who is told of a reload.
    pub fn end(mut self) {
        self.stop.stop();
        if let Some(thread) = self.thread.take() {
            // A panic there was reported where it happened.
            let _ended = thread.join();
        }
    }
}

/// Nothing is begun any more; a reload that runs ends by itself.
impl Drop for RuntimeWatch {
    fn drop(&mut self) {
        self.stop.stop();
        if let Some(runtime) = self.runtime.upgrade() {
            runtime.watches.asks().remove(&self.number);
        }
    }
}

/// The watches that follow a runtime.
#[derive(Debug, Default)]
pub(crate) struct Watches(Mutex<BTreeMap<u64, WatchAsk>>);

impl Watches {
    fn asks(&self) -> MutexGuard<'_, BTreeMap<u64, WatchAsk>> {
        // Every change of it is whole in itself.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A conversation found further places, which are to be watched too.
    pub(crate) fn places_found(&self) {
        self.asks().values().for_each(WatchAsk::ask);
    }
}

impl Runtime {
    /// Follows the places of the skills from now on: whenever a skill comes, changes or goes, or a directory appears that may hold
    /// some, all is [reloaded](Runtime::reload), and who [subscribed](Runtime::subscribe) is told. What changed since the runtime was
    /// opened is taken in at once.
    ///
    /// One thread does it; what happens while it reloads is one further reload, however much it is. Directories inside the
    /// project are followed once a conversation found them. Where the system cannot watch directories they are looked at from time
    /// to time, which is told as a finding of the next reload.
    ///
    /// # Errors
    /// [`OpenError`] when a directory that was named is not there, or no thread can be started.
    pub fn watch(self: &Arc<Self>, options: WatchOptions) -> Result<RuntimeWatch, OpenError> {
        let (discovery, sources) = (self.loading.discovery.clone(), self.loading.sources.clone());
        let inside = Arc::downgrade(self);
        let inside = move || inside.upgrade().map(|runtime| runtime.nested_roots()).unwrap_or_default();
        let watch = SkillWatch::discover_ambient(discovery, sources, options)?.also(inside);
        let (stop, ask) = (watch.stopper(), watch.asker());
        ask.ask();
        let runtime = Arc::downgrade(self);
        let of_thread = Weak::clone(&runtime);
        let thread = std::thread::Builder::new().name("skillgate-watch".to_owned());
        let thread = thread.spawn(move || follow(watch, &of_thread)).map_err(OpenError::Thread)?;
        let mut asks = self.watches.asks();
        let number = asks.last_key_value().map_or(0, |(number, _)| number + 1);
        asks.insert(number, ask.clone());
        drop(asks);
        Ok(RuntimeWatch { number, runtime, stop, ask, thread: Some(thread) })
    }

    /// The directories inside the project in which conversations that go on found skills.
    fn nested_roots(&self) -> Vec<SkillRoot> {
        let mut roots: BTreeMap<std::path::PathBuf, SkillRoot> = BTreeMap::new();
        for session in self.live.all() {
            for root in session.skills().nested.iter().flat_map(|place| place.roots.iter()) {
                roots.entry(root.path.clone()).or_insert_with(|| root.clone());
            }
        }
        roots.into_values().collect()
    }
}

fn follow(mut watch: SkillWatch, runtime: &Weak<Runtime>) {
    while watch.next_changes().is_some() {
        let Some(runtime) = runtime.upgrade() else { return };
        if let Err(error) = runtime.reload_and(watch.take_diagnostics()) {
            tracing::warn!(name: "skillgate.reload_failed", %error, "the skills stay as they were");
        }
    }
}
