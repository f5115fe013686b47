//! Who wants to be told, and the telling.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Names a subscription, so that it can be ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Subscription(u64);

type Told<T> = Arc<dyn Fn(&T) + Send + Sync>;

/// Those who subscribed to one kind of event.
pub(crate) struct Subscribers<T>(Mutex<State<T>>);

struct State<T> {
    told: BTreeMap<u64, Told<T>>,
    next: u64,
}

impl<T> Default for Subscribers<T> {
    fn default() -> Self {
        Self(Mutex::new(State { told: BTreeMap::new(), next: 0 }))
    }
}

impl<T> fmt::Debug for Subscribers<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.state().told.keys()).finish()
    }
}

impl<T> Subscribers<T> {
    fn state(&self) -> MutexGuard<'_, State<T>> {
        // Every change of it is whole in itself.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add(&self, told: impl Fn(&T) + Send + Sync + 'static) -> Subscription {
        let mut state = self.state();
        let number = state.next;
        state.next += 1;
        state.told.insert(number, Arc::new(told));
        Subscription(number)
    }

    pub(crate) fn remove(&self, Subscription(number): Subscription) -> bool {
        self.state().told.remove(&number).is_some()
    }

    /// Tells everybody. They may subscribe, and call whoever tells them, so nothing is held meanwhile.
    pub(crate) fn tell(&self, event: &T) {
        let told: Vec<Told<T>> = self.state().told.values().cloned().collect();
        for told in told {
            // Theirs to report; the others are told all the same.
            let _panicked = catch_unwind(AssertUnwindSafe(|| told(event)));
        }
    }
}
