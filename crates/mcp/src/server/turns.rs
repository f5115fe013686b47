//! The turns of calls: so many run at once, of all clients together.

use std::sync::Arc;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

#[derive(Debug)]
pub(super) struct Turns(Arc<Semaphore>);

/// The turn of a call that waits for somebody's answer, which another call may have.
#[derive(Debug)]
pub(super) struct Lent {
    turns: Arc<Semaphore>,
    owed: bool,
}

impl Turns {
    pub(super) fn new(most: usize) -> Self {
        Self(Arc::new(Semaphore::new(most.max(1))))
    }

    /// A turn, when there is one.
    pub(super) async fn take(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.0).acquire_owned().await.ok()
    }

    /// Gives the turn of a call away that waits. Whose it is does not matter: one call holds a turn and does nothing.
    pub(super) fn lend(&self) -> Lent {
        self.0.add_permits(1);
        Lent { turns: Arc::clone(&self.0), owed: true }
    }
}

impl Lent {
    /// Waits until there is a turn for the call again.
    pub(super) async fn take_back(mut self) {
        retake(&self.turns).await;
        self.owed = false;
    }
}

/// A call whose question is dropped goes on at once, and the turn that it has then is taken from the next that ends.
impl Drop for Lent {
    fn drop(&mut self) {
        if !self.owed {
            return;
        }
        if let Ok(turn) = self.turns.try_acquire() {
            turn.forget();
        } else if let Ok(handle) = Handle::try_current() {
            // Elsewhere nothing is served any more.
            let turns = Arc::clone(&self.turns);
            handle.spawn(async move { retake(&turns).await });
        }
    }
}

async fn retake(turns: &Semaphore) {
    if let Ok(turn) = turns.acquire().await {
        turn.forget();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_turn_that_is_lent_is_another_calls_until_it_is_taken_back() {
        let turns = Turns::new(1);
        let waits = turns.take().await.expect("a turn");
        let lent = turns.lend();
        let other = turns.take().await.expect("the one that was lent");
        let back = lent.take_back();
        tokio::pin!(back);
        tokio::select! {
            biased;
            () = &mut back => unreachable!("it is another's"),
            () = tokio::task::yield_now() => {}
        }
        drop(other);
        back.await;
        assert_eq!(turns.0.available_permits(), 0);
        drop(waits);
        assert_eq!(turns.0.available_permits(), 1);
    }

    #[tokio::test]
    async fn a_question_that_is_dropped_leaves_no_turn_over() {
        let turns = Turns::new(1);
        let waits = turns.take().await.expect("a turn");
        drop(turns.lend());
        assert_eq!(turns.0.available_permits(), 0);
        let lent = turns.lend();
        let other = turns.take().await.expect("the one that was lent");
        drop(lent);
        drop((waits, other));
        // Two turns were given back, and the one too many is taken by a task.
        while turns.0.available_permits() != 1 {
            tokio::task::yield_now().await;
        }
    }
}
