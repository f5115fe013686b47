//! What the system's events ring, and the watch waits for: it keeps that something happened, not what.

use super::interest::Interest;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Shared by the thread that gets events, the one that waits, and whoever may end the waiting.
#[derive(Clone, Debug, Default)]
pub(super) struct Bell(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    rung: bool,
    /// Somebody wants to be told of the next look, whatever it finds.
    asked: bool,
    stopped: bool,
    /// Events were lost: nothing that is watched can be relied on.
    lost: bool,
    /// Watched directories that were removed or renamed, so that whatever watches them watches nothing or something else.
    stale: BTreeSet<PathBuf>,
    interests: Arc<BTreeMap<PathBuf, Interest>>,
}

/// What happened to directories that are watched.
#[derive(PartialEq, Eq, Debug, Default)]
pub(super) struct Stale {
    /// Everything has to be watched anew.
    pub(super) everything: bool,
    /// These, and what is below them.
    pub(super) directories: BTreeSet<PathBuf>,
}

/// Why a wait ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Waited {
    Rung,
    Elapsed,
    Stopped,
}

impl Bell {
    fn state(&self) -> MutexGuard<'_, State> {
        // Every change of the state is whole in itself.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes whoever waits.
    pub(super) fn ring(&self) {
        self.state().rung = true;
        self.0.changed.notify_all();
    }

    /// Wakes whoever waits, who is to say when it has looked.
    pub(super) fn ask(&self) {
        self.state().asked = true;
        self.ring();
    }

    /// Whether somebody asked since the last time.
    pub(super) fn take_asked(&self) -> bool {
        std::mem::take(&mut self.state().asked)
    }

    pub(super) fn is_asked(&self) -> bool {
        self.state().asked
    }

    /// Events were lost.
    pub(super) fn lost(&self) {
        self.state().lost = true;
        self.ring();
    }

    /// Ends the waiting for good.
    pub(super) fn stop(&self) {
        self.state().stopped = true;
        self.0.changed.notify_all();
    }

    /// Something happened at `path`; `gone` when what was there may be elsewhere now.
    pub(super) fn touched(&self, path: &Path, gone: bool) {
        let mut state = self.state();
        let own = state.interests.contains_key(path);
        let above = path.parent().and_then(|parent| state.interests.get(parent));
        let concerns = above.zip(path.file_name()).is_some_and(|(interest, name)| interest.concerns(name));
        if own && gone {
            state.stale.insert(path.to_path_buf());
        }
        if own || concerns {
            state.rung = true;
            drop(state);
            self.0.changed.notify_all();
        }
    }

    /// Sets what makes a difference from now on, and takes what became stale.
    pub(super) fn expect(&self, interests: &BTreeMap<PathBuf, Interest>) -> Stale {
        let mut state = self.state();
        if *state.interests != *interests {
            state.interests = Arc::new(interests.clone());
        }
        let everything = std::mem::take(&mut state.lost);
        Stale { everything, directories: std::mem::take(&mut state.stale) }
    }

    /// Waits until it rings, and takes that; for `limit` at most.
    pub(super) fn wait(&self, limit: Option<Duration>) -> Waited {
        let state = self.state();
        let idle = |state: &mut State| !state.rung && !state.stopped;
        let mut state = match limit {
            None => self.0.changed.wait_while(state, idle).unwrap_or_else(PoisonError::into_inner),
            Some(limit) => {
                self.0.changed.wait_timeout_while(state, limit, idle).unwrap_or_else(PoisonError::into_inner).0
            }
        };
        if state.stopped {
            return Waited::Stopped;
        }
        if std::mem::take(&mut state.rung) { Waited::Rung } else { Waited::Elapsed }
    }

    /// Waits until it has not rung for `quiet`, but not beyond `most`.
    pub(super) fn wait_for_quiet(&self, quiet: Duration, most: Duration) -> Waited {
        let end = Instant::now().checked_add(most);
        loop {
            let left = end.map_or(quiet, |end| end.saturating_duration_since(Instant::now()));
            match self.wait(Some(quiet.min(left))) {
                Waited::Rung if !left.is_zero() => {}
                Waited::Stopped => return Waited::Stopped,
                _ => return Waited::Rung,
            }
        }
    }
}
