//! How often skills were used, kept between runs where the user wants that. Nothing leaves the machine.

use crate::runtime::Runtime;
use serde::{Deserialize, Serialize};
use skillgate_state::{OwnerDir, StateError};
use std::collections::BTreeMap;

/// The file's name in its directory.
const FILE: &str = "usage.json";
/// Bytes of the file.
const MAX_BYTES: u64 = 1 << 20;
/// Skills that are counted; the least used of more are forgotten.
const MAX_NAMES: usize = 5_000;
/// The version of the file's form.
const VERSION: u32 = 1;

/// Counts of uses in a directory of the user's. Whoever opens it counts: without one, nothing is kept.
#[derive(Debug)]
pub struct UsageCounts {
    dir: OwnerDir,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Form {
    version: u32,
    counts: BTreeMap<String, u64>,
}

impl UsageCounts {
    /// The counts in this directory.
    #[must_use]
    pub fn new(dir: OwnerDir) -> Self {
        Self { dir }
    }

    /// How often each skill was used, by its qualified name. A file that is damaged or of another version counts nothing.
    ///
    /// # Errors
    /// What stands in the file's place cannot be used.
    pub fn read(&self) -> Result<BTreeMap<String, u64>, StateError> {
        let bytes = match self.dir.read(FILE, MAX_BYTES) {
            Ok(bytes) => bytes.unwrap_or_default(),
            Err(StateError::TooLarge { .. }) => Vec::new(),
            Err(error) => return Err(error),
        };
        let form = serde_json::from_slice::<Form>(&bytes).ok().filter(|form| form.version == VERSION);
        Ok(form.unwrap_or_default().counts)
    }

    /// Counts one use. Two programs that count at once are both counted.
    ///
    /// # Errors
    /// That the file cannot be locked or written; it is then as it was.
    pub fn add(&self, qualified_name: &str) -> Result<(), StateError> {
        let _lock = self.dir.lock(FILE)?;
        let mut counts = self.read()?;
        let count = counts.entry(qualified_name.to_owned()).or_default();
        *count = count.saturating_add(1);
        if counts.len() > MAX_NAMES {
            let least = counts.iter().filter(|(name, _)| *name != qualified_name).min_by_key(|(_, count)| **count);
            if let Some(name) = least.map(|(name, _)| name.clone()) {
                counts.remove(&name);
            }
        }
        let bytes = serde_json::to_vec(&Form { version: VERSION, counts }).unwrap_or_default();
        self.dir.write_atomic(FILE, &bytes)
    }
}

impl Runtime {
    /// Counts a use of a skill, where uses are counted. That it cannot be counted stops nothing.
    pub(crate) fn count_use(&self, qualified_name: &str) {
        let counted = self.usage.as_ref().map_or(Ok(()), |usage| usage.add(qualified_name));
        if let Err(error) = counted {
            tracing::warn!(name: "skillgate.usage_lost", %error, "a use of a skill is not counted");
        }
    }

    /// How often skills were used before, where uses are counted.
    pub(crate) fn used_before(&self) -> BTreeMap<String, u64> {
        self.usage.as_ref().and_then(|usage| usage.read().ok()).unwrap_or_default()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn counts() -> (tempfile::TempDir, UsageCounts) {
        let tree = tempfile::tempdir().expect("a directory");
        let dir = OwnerDir::open_ambient(tree.path().join("usage")).expect("it is the user's");
        (tree, UsageCounts::new(dir))
    }

    #[test]
    fn uses_are_counted_from_run_to_run() {
        let (tree, counts) = counts();
        assert_eq!(counts.read().expect("nothing yet"), BTreeMap::new());
        for name in ["user:a", "user:b", "user:a"] {
            counts.add(name).expect("it is counted");
        }
        let again = UsageCounts::new(OwnerDir::open_ambient(tree.path().join("usage")).expect("it is the user's"));
        let expected = BTreeMap::from([("user:a".to_owned(), 2), ("user:b".to_owned(), 1)]);
        assert_eq!(again.read().expect("it can be read"), expected);
    }

    #[test]
    fn two_that_count_at_once_are_both_counted() {
        let (_tree, counts) = counts();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..10).for_each(|_| counts.add("user:a").expect("it is counted")));
            }
        });
        assert_eq!(counts.read().expect("it can be read")["user:a"], 40);
    }

    #[test]
    fn what_is_damaged_or_newer_counts_nothing_and_the_least_used_is_forgotten() {
        let (_tree, counts) = counts();
        for bytes in [&b"{"[..], br#"{"version":2,"counts":{"user:a":7}}"#, br#"{"version":1,"counts":{"user:a":-1}}"#]
        {
            counts.dir.write_atomic(FILE, bytes).expect("written");
            assert_eq!(counts.read().expect("it is no error"), BTreeMap::new());
        }
        let mut form = Form { version: VERSION, counts: BTreeMap::new() };
        form.counts.extend((0..MAX_NAMES).map(|number| (format!("user:s{number}"), 2 + number as u64)));
        counts.dir.write_atomic(FILE, &serde_json::to_vec(&form).expect("JSON")).expect("written");
        counts.add("user:new").expect("it is counted");
        let read = counts.read().expect("it can be read");
        assert_eq!((read.len(), read.get("user:s0"), read.get("user:new")), (MAX_NAMES, None, Some(&1)));
    }
}
