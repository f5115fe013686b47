use skillgate_exec::{Backend, Exit, Job, RunError, WriteError};
use skillgate_policy::{Approved, Provider};
use std::sync::{Mutex, PoisonError};

/// Commands that stand for programs which run others: a pattern that permits one must not permit what it would run.
const OFFERED: &[&str] = &[
    "args", "awk", "busybox", "canary", "doas", "env", "find", "flock", "git", "grep", "less", "ls", "make", "man",
    "nice", "nohup", "npm", "perl", "python3", "rg", "sed", "setsid", "sh", "sort", "ssh", "stdbuf", "sudo", "tar",
    "time", "timeout", "touch", "vim", "watch", "xargs",
];

/// A backend that keeps every vector it is handed and does nothing. `args` prints its words, so that a substitution has
/// something to give.
#[derive(Debug, Default)]
pub(crate) struct RecordingBackend {
    ran: Mutex<Vec<Vec<String>>>,
}

impl RecordingBackend {
    /// The vectors so far.
    pub(crate) fn ran(&self) -> Vec<Vec<String>> {
        self.ran.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Backend for RecordingBackend {
    fn name(&self) -> &'static str {
        "record"
    }

    fn provider(&self, command: &str) -> Option<Provider> {
        OFFERED.binary_search(&command).ok().map(|_| Provider::Shipped)
    }

    fn run(&self, approved: Approved, job: Job<'_>) -> Result<Exit, RunError> {
        let vector = approved.redeem()?;
        let (name, words) = vector.split_first().map_or(("", &[][..]), |(name, words)| (name.as_str(), words));
        if name == "args" {
            let text = words.join(" ");
            match job.stdout.write(format!("{text}\n").as_bytes()) {
                // Who reads no more has seen enough.
                Ok(()) | Err(WriteError::Closed) => {}
                Err(WriteError::Stop(stop)) => return Err(RunError::Stopped { command: name.to_owned(), stop }),
            }
        }
        self.ran.lock().unwrap_or_else(PoisonError::into_inner).push(vector);
        Ok(Exit { code: 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_for_the_binary_search() {
        assert!(OFFERED.is_sorted());
    }
}
