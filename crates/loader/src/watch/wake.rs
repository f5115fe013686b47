//! What watches directories: the system's own means, behind a trait, so that the rest can be tested without them.

use super::bell::Bell;
use super::interest::Interest;
use notify::event::{EventKind, ModifyKind};
use notify::{Config, ErrorKind, RecommendedWatcher, RecursiveMode, Watcher};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Rings a [`Bell`] when something happens in directories.
pub(super) trait Wake: std::fmt::Debug + Send {
    /// Watches these directories and no others. Says whether one was added, in which something may have happened before.
    ///
    /// One that is not there, or not to be read, is left out.
    fn watch(&mut self, directories: &BTreeMap<PathBuf, Interest>) -> Result<bool, WakeFault>;
}

/// Why directories cannot be watched.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum WakeFault {
    /// The system watches no more than these.
    Limit(usize),
    /// It watches nothing, for this reason.
    Failed(String),
}

/// `inotify` and its like.
#[derive(Debug)]
pub(super) struct SystemWake {
    bell: Bell,
    watcher: Option<RecommendedWatcher>,
    watched: BTreeSet<PathBuf>,
}

impl SystemWake {
    pub(super) fn new(bell: Bell) -> Self {
        Self { bell, watcher: None, watched: BTreeSet::new() }
    }

    fn watcher(&mut self) -> Result<&mut RecommendedWatcher, WakeFault> {
        let watcher = match self.watcher.take() {
            Some(watcher) => watcher,
            None => {
                let bell = self.bell.clone();
                RecommendedWatcher::new(move |event| hear(&bell, event), Config::default())
                    .map_err(|error| fault(&error, 0).unwrap_or_else(|| WakeFault::Failed(error.to_string())))?
            }
        };
        Ok(self.watcher.insert(watcher))
    }
}

impl Wake for SystemWake {
    fn watch(&mut self, directories: &BTreeMap<PathBuf, Interest>) -> Result<bool, WakeFault> {
        let stale = self.bell.expect(directories);
        if stale.everything {
            self.watcher = None;
            self.watched.clear();
        }
        let is_stale = |path: &PathBuf| path.ancestors().any(|above| stale.directories.contains(above));
        let dropped: Vec<PathBuf> =
            self.watched.iter().filter(|path| !directories.contains_key(*path) || is_stale(path)).cloned().collect();
        for path in dropped {
            self.watched.remove(&path);
            // It is often gone already, and the watch of it with it.
            let _gone = self.watcher()?.unwatch(&path);
        }
        let mut added = false;
        for path in directories.keys().filter(|path| !self.watched.contains(*path)).cloned().collect::<Vec<_>>() {
            match self.watcher()?.watch(&path, RecursiveMode::NonRecursive) {
                Ok(()) => added |= self.watched.insert(path),
                Err(error) => match fault(&error, self.watched.len()) {
                    Some(fault) => return Err(fault),
                    None => continue,
                },
            }
        }
        Ok(added)
    }
}

/// The fault that concerns more than one directory.
fn fault(error: &notify::Error, watched: usize) -> Option<WakeFault> {
    match &error.kind {
        ErrorKind::MaxFilesWatch => Some(WakeFault::Limit(watched)),
        // More instances, or descriptors, than this user or process may have.
        #[cfg(unix)]
        ErrorKind::Io(error)
            if [rustix::io::Errno::MFILE, rustix::io::Errno::NFILE, rustix::io::Errno::NOSPC]
                .iter()
                .any(|limit| error.raw_os_error() == Some(limit.raw_os_error())) =>
        {
            Some(WakeFault::Limit(watched))
        }
        _ => None,
    }
}

/// What an event means for the watch.
fn hear(bell: &Bell, event: notify::Result<notify::Event>) {
    let event = match event {
        Ok(event) => event,
        // Whatever it was, something may have been missed.
        Err(_) => return bell.lost(),
    };
    if event.need_rescan() {
        return bell.lost();
    }
    // Reading is no change, and the watch itself reads.
    if matches!(event.kind, EventKind::Access(_)) {
        return;
    }
    let gone = matches!(event.kind, EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_)));
    for path in &event.paths {
        bell.touched(path, gone);
    }
}

#[cfg(test)]
mod tests {
    use super::super::bell::Waited;
    use super::*;
    use notify::event::{AccessKind, CreateKind, DataChange, Flag, RemoveKind, RenameMode};
    use std::path::Path;
    use std::time::Duration;

    /// The skills `s`, whose skill `s/a` is one, below `p`, where `s` is watched for.
    fn bell() -> Bell {
        let mut directories: BTreeMap<PathBuf, Interest> = BTreeMap::new();
        directories.entry("p/s".into()).or_default().add_everything();
        directories.entry("p/s/a".into()).or_default().add_skill_files();
        directories.entry("p".into()).or_default().add_name("s".as_ref());
        let bell = Bell::default();
        assert_eq!(bell.expect(&directories), super::super::bell::Stale::default());
        bell
    }

    fn rings(kind: EventKind, path: &str) -> bool {
        let bell = bell();
        hear(&bell, Ok(notify::Event::new(kind).add_path(path.into())));
        bell.wait(Some(Duration::ZERO)) == Waited::Rung
    }

    #[test]
    fn only_what_can_be_a_skill_wakes() {
        let written = EventKind::Modify(ModifyKind::Data(DataChange::Any));
        let created = EventKind::Create(CreateKind::File);
        for (kind, path, expected) in [
            (created, "p/s/b", true),
            (created, "p/s/a/SKILL.md", true),
            (created, "p/s/a/skill.MD", true),
            (written, "p/s/a/SKILL.md", true),
            (written, "p/s/a/build.log", false),
            (created, "p/s/a/target", false),
            (created, "p/t", false),
            (created, "p/s", true),
            (created, "elsewhere/SKILL.md", false),
            (EventKind::Access(AccessKind::Any), "p/s/a/SKILL.md", false),
            (EventKind::Access(AccessKind::Any), "p/s", false),
        ] {
            assert_eq!(rings(kind, path), expected, "{kind:?} {path}");
        }
    }

    #[test]
    fn a_watched_directory_that_goes_has_to_be_watched_again() {
        let bell = bell();
        let directories = BTreeMap::new();
        for (kind, path) in [
            (EventKind::Remove(RemoveKind::Folder), "p/s/a"),
            (EventKind::Modify(ModifyKind::Name(RenameMode::From)), "p/s"),
            (EventKind::Remove(RemoveKind::File), "p/s/a/SKILL.md"),
            (EventKind::Modify(ModifyKind::Any), "p"),
        ] {
            hear(&bell, Ok(notify::Event::new(kind).add_path(path.into())));
        }
        let stale = bell.expect(&directories);
        assert_eq!(stale.directories.iter().map(PathBuf::as_path).collect::<Vec<_>>(), ["p/s", "p/s/a"].map(Path::new));
        assert!(!stale.everything);
    }

    #[test]
    fn lost_events_and_errors_make_everything_stale() {
        for event in
            [Ok(notify::Event::new(EventKind::Other).set_flag(Flag::Rescan)), Err(notify::Error::generic("something"))]
        {
            let bell = bell();
            hear(&bell, event);
            assert_eq!(bell.wait(Some(Duration::ZERO)), Waited::Rung);
            assert!(bell.expect(&BTreeMap::new()).everything);
            assert!(!bell.expect(&BTreeMap::new()).everything, "it is taken once");
        }
    }

    #[test]
    fn a_limit_is_told_from_a_directory_that_cannot_be_watched() {
        let io = |code| notify::Error::io(std::io::Error::from_raw_os_error(code));
        assert_eq!(fault(&notify::Error::new(ErrorKind::MaxFilesWatch), 7), Some(WakeFault::Limit(7)));
        #[cfg(unix)]
        {
            assert_eq!(fault(&io(rustix::io::Errno::MFILE.raw_os_error()), 0), Some(WakeFault::Limit(0)));
            assert_eq!(fault(&io(rustix::io::Errno::ACCESS.raw_os_error()), 0), None);
        }
        assert_eq!(fault(&notify::Error::new(ErrorKind::PathNotFound), 0), None);
    }
}
