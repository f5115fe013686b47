use skillgate_exec::{AuditContext, AuditError, AuditEvent, AuditSink};
use std::sync::{Arc, Mutex};

/// An audit sink that keeps what ran, as one line for each command: the vector and how it ended.
#[derive(Debug, Default)]
pub struct Ran(Mutex<Vec<String>>);

impl Ran {
    /// A new, empty record.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// The commands that ran so far, in the order in which they ended: `ls beds -> 0`.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        self.0.lock().expect("no test panics while it holds this").clone()
    }
}

impl AuditSink for Ran {
    fn record(&self, _: &AuditContext, event: &AuditEvent) -> Result<(), AuditError> {
        if let AuditEvent::CommandEnd { vector, status, .. } = event {
            let end = status.map_or_else(|| "stopped".to_owned(), |status| status.to_string());
            let line = format!("{} -> {end}", vector.join(" "));
            self.0.lock().expect("no test panics while it holds this").push(line);
        }
        Ok(())
    }
}
