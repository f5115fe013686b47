use std::fmt;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// Tells the time in milliseconds since 1970. Tests and replays bring their own.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> u64 + Send + Sync>);

impl Clock {
    /// A clock that says what `now` says, milliseconds since 1970.
    #[must_use]
    pub fn new(now: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// The time, milliseconds since 1970.
    #[must_use]
    pub fn now_ms(&self) -> u64 {
        (self.0)()
    }
}

/// The system's clock.
impl Default for Clock {
    fn default() -> Self {
        Self::new(|| {
            // Before 1970 is as good as at its beginning.
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
        })
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Clock").field(&self.now_ms()).finish()
    }
}
