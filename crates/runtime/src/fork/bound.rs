//! How many agents of skills run at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Agents of skills that run at once in one conversation, whoever runs them.
pub const MAX_FORKS: usize = 16;

/// Agents of skills that run at once in all conversations of one [`Runtime`](crate::Runtime).
pub const MAX_RUNTIME_FORKS: usize = 64;

/// As many agents run as may. Nothing of the skill was run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TooManyForks {
    /// In the conversation.
    #[error("{MAX_FORKS} agents of skills run in this conversation, which is as many as may at once")]
    InSession,
    /// In all conversations.
    #[error("{MAX_RUNTIME_FORKS} agents of skills run in all conversations, which is as many as may at once")]
    InRuntime,
}

impl TooManyForks {
    /// What a person can do about it.
    #[must_use]
    pub fn help(self) -> &'static str {
        "wait until one of them has ended, or revoke a skill whose agent need not go on"
    }
}

/// How many run.
#[derive(Clone, Debug, Default)]
pub(crate) struct ForkCount(Arc<AtomicUsize>);

impl ForkCount {
    fn take(&self, limit: usize) -> bool {
        let more = |running| (running < limit).then_some(running + 1);
        self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, more).is_ok()
    }

    fn give_back(&self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A place for one agent. It is given back when nobody holds it any more: an agent that was told to end and goes on has its
/// place as long as its thread does.
#[derive(Debug)]
pub(crate) struct ForkPlace {
    session: ForkCount,
    runtime: ForkCount,
}

impl ForkPlace {
    /// Takes a place before anything of the agent is run.
    ///
    /// # Errors
    /// [`TooManyForks`] when there is none.
    pub(crate) fn take(session: &ForkCount, runtime: &ForkCount) -> Result<Arc<Self>, TooManyForks> {
        if !session.take(MAX_FORKS) {
            return Err(TooManyForks::InSession);
        }
        if !runtime.take(MAX_RUNTIME_FORKS) {
            session.give_back();
            return Err(TooManyForks::InRuntime);
        }
        Ok(Arc::new(Self { session: session.clone(), runtime: runtime.clone() }))
    }
}

impl Drop for ForkPlace {
    fn drop(&mut self) {
        self.session.give_back();
        self.runtime.give_back();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_for_each_conversation_and_for_all() {
        let runtime = ForkCount::default();
        let sessions: Vec<ForkCount> = (0..=MAX_RUNTIME_FORKS / MAX_FORKS).map(|_| ForkCount::default()).collect();
        let mut held = Vec::new();
        for session in &sessions[..sessions.len() - 1] {
            for _ in 0..MAX_FORKS {
                held.push(ForkPlace::take(session, &runtime).expect("there is a place"));
            }
            assert_eq!(ForkPlace::take(session, &runtime).expect_err("it is full"), TooManyForks::InSession);
        }
        let last = &sessions[sessions.len() - 1];
        assert_eq!(ForkPlace::take(last, &runtime).expect_err("all are full"), TooManyForks::InRuntime);
        // Who holds it further keeps the place.
        let further = held.pop();
        let also = further.clone();
        drop(further);
        assert!(ForkPlace::take(last, &runtime).is_err());
        drop(also);
        assert!(ForkPlace::take(last, &runtime).is_ok(), "what was refused before took nothing");
    }
}
