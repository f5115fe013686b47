//! The conversations that go on, which are told when the skills are loaded again.

use crate::runtime::Runtime;
use crate::session::Session;
use crate::skills::SkillView;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Every conversation of a runtime. It keeps none of them.
#[derive(Debug, Default)]
pub(crate) struct LiveSessions {
    sessions: Mutex<BTreeMap<u64, Weak<Session>>>,
    next: AtomicU64,
}

impl LiveSessions {
    fn sessions(&self) -> MutexGuard<'_, BTreeMap<u64, Weak<Session>>> {
        // Every change of it is whole in itself.
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Takes in a conversation that begins, and gives it the skills of now: they may have been loaded again since it looked.
    pub(crate) fn enter(&self, number: u64, session: &Arc<Session>) {
        let mut sessions = self.sessions();
        session.set_skills(session.runtime.skills());
        sessions.insert(number, Arc::downgrade(session));
    }

    pub(crate) fn leave(&self, number: u64) {
        self.sessions().remove(&number);
    }

    /// Those that go on now.
    #[cfg(feature = "watch")]
    pub(crate) fn all(&self) -> Vec<Arc<Session>> {
        self.sessions().values().filter_map(Weak::upgrade).collect()
    }
}

impl Runtime {
    /// Sets the skills for conversations that begin from now on, and gives those that go on.
    pub(crate) fn set_skills_of_new(&self, view: Arc<SkillView>) -> Vec<Arc<Session>> {
        let sessions = self.live.sessions();
        self.set_skills(view);
        sessions.values().filter_map(Weak::upgrade).collect()
    }

    /// How many conversations go on.
    #[must_use]
    pub fn sessions(&self) -> usize {
        self.live.sessions().len()
    }
}
