use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Takes a call back while it runs. Clones are the same token; once set it stays set.
///
/// What was cancelled ends at the next moment anybody looks: a run of commands within milliseconds, a fork when its runner
/// says so.
#[derive(Clone, Default)]
pub struct CancelToken(Arc<Inner>);

#[derive(Default)]
struct Inner {
    cancelled: AtomicBool,
    listeners: Mutex<Vec<Listener>>,
}

enum Listener {
    Child(Weak<Inner>),
    Call(Box<dyn FnOnce() + Send>),
}

impl CancelToken {
    /// A token that is not set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A token that is set when this one is, and can be set alone.
    #[must_use]
    pub fn child(&self) -> Self {
        let child = Self::new();
        self.listen(Listener::Child(Arc::downgrade(&child.0)));
        child
    }

    /// Sets it.
    pub fn cancel(&self) {
        cancel(&self.0);
    }

    /// Whether it is set.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::SeqCst)
    }

    /// Calls this once when the token is set: on the thread that sets it, or here and now when it is set already.
    pub fn on_cancel(&self, call: impl FnOnce() + Send + 'static) {
        self.listen(Listener::Call(Box::new(call)));
    }

    fn listen(&self, listener: Listener) {
        let mut listeners = self.0.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_cancelled() {
            drop(listeners);
            tell(listener);
        } else {
            // Children that are gone are forgotten, so that a token that lives long holds no more than what listens.
            listeners.retain(|known| !matches!(known, Listener::Child(child) if child.strong_count() == 0));
            listeners.push(listener);
        }
    }
}

fn cancel(inner: &Inner) {
    let listeners = {
        let mut listeners = inner.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        inner.cancelled.store(true, Ordering::SeqCst);
        std::mem::take(&mut *listeners)
    };
    listeners.into_iter().for_each(tell);
}

fn tell(listener: Listener) {
    match listener {
        Listener::Child(child) => {
            if let Some(child) = child.upgrade() {
                cancel(&child);
            }
        }
        Listener::Call(call) => call(),
    }
}

impl fmt::Debug for CancelToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CancelToken").field(&self.is_cancelled()).finish()
    }
}

/// Two tokens are equal when they are the same.
impl PartialEq for CancelToken {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for CancelToken {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn whoever_listens_is_told_once_and_children_follow_their_parent() {
        let (told, hears) = channel();
        let parent = CancelToken::new();
        let (child, other) = (parent.child(), parent.child());
        for (name, token) in [("parent", &parent), ("child", &child)] {
            let told = told.clone();
            token.on_cancel(move || told.send(name).expect("somebody hears"));
        }
        other.cancel();
        assert!(!parent.is_cancelled() && !child.is_cancelled() && hears.try_recv().is_err());
        parent.clone().cancel();
        parent.cancel();
        assert!(parent.is_cancelled() && child.is_cancelled() && parent.child().is_cancelled());
        child.on_cancel(move || told.send("late").expect("somebody hears"));
        let mut all: Vec<&str> = hears.iter().collect();
        all.sort_unstable();
        assert_eq!(all, ["child", "late", "parent"]);
    }
}
