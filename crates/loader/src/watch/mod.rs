//! Watching the roots: which skills come, change and go.
//!
//! Events of the system say no more than that it is time to look; what happened is the difference of two looks. So a file that
//! is replaced by a rename, a root that is moved away and comes back, a storm of twenty thousand files and lost events all
//! give the changes that there are. Directories are watched, not files, and no deeper than skills are looked for.

mod bell;
mod changes;
mod interest;
mod look;
mod wake;

#[cfg(all(test, target_os = "linux"))]
mod tests;

pub use changes::{ChangeKind, SkillChange};

use crate::discover::{Discovery, DiscoveryError, discover_sources_ambient, rediscover_sources_ambient};
use crate::load::PathDiagnostic;
use crate::root::SkillRoot;
use crate::sources::SkillSource;
use crate::stamp;
use bell::{Bell, Waited};
use look::Look;
use skillgate_core::{Code, Diagnostic, Severity};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use wake::{SystemWake, Wake, WakeFault};

/// Looks that one wake-up costs at most, when directories come as fast as they are watched. What is then still unsettled wakes
/// the watch again.
const ROUNDS: usize = 8;

/// How a [`SkillWatch`] waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WatchOptions {
    /// How long nothing has to happen before there is a look: one save is several events.
    pub quiet: Duration,
    /// How long a look is put off at most, when it never is quiet.
    pub at_most: Duration,
    /// How often there is a look where the system watches no more directories.
    pub poll: Duration,
}

impl Default for WatchOptions {
    /// A tenth of a second, one second, two seconds.
    fn default() -> Self {
        Self { quiet: Duration::from_millis(100), at_most: Duration::from_secs(1), poll: Duration::from_secs(2) }
    }
}

/// Gives the roots, and what decides which roots there are: files and directories of plugins.
type Places = Box<dyn FnMut() -> (Vec<SkillRoot>, Vec<PathBuf>) + Send>;

/// Tells which skills come, change and go, from the moment it is started until it is stopped.
pub struct SkillWatch {
    places: Places,
    /// What holds skills itself.
    further: Vec<Arc<dyn SkillSource>>,
    options: WatchOptions,
    bell: Bell,
    /// `None` when there is a look every [`WatchOptions::poll`] instead.
    wake: Option<Box<dyn Wake>>,
    known: Look,
    diagnostics: Vec<PathDiagnostic>,
}

impl fmt::Debug for SkillWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SkillWatch").field("options", &self.options).field("wake", &self.wake).finish_non_exhaustive()
    }
}

/// Ends a [`SkillWatch`] from another thread.
#[derive(Clone, Debug)]
pub struct WatchStop(Bell);

impl WatchStop {
    /// Makes [`SkillWatch::next_changes`] give `None`, now and from now on.
    pub fn stop(&self) {
        self.0.stop();
    }
}

/// Has a [`SkillWatch`] look from another thread.
#[derive(Clone, Debug)]
pub struct WatchAsk(Bell);

impl WatchAsk {
    /// Makes [`SkillWatch::next_changes`] look soon and give what it finds, nothing as well. What was asked for several times
    /// meanwhile is one look.
    pub fn ask(&self) {
        self.0.ask();
    }
}

impl SkillWatch {
    /// Begins to watch these roots.
    ///
    /// There is no error: what the system cannot watch is looked at from time to time, and [`SkillWatch::take_diagnostics`]
    /// says so.
    #[must_use]
    pub fn start_ambient(roots: Vec<SkillRoot>, options: WatchOptions) -> Self {
        Self::start(Box::new(move || (roots.clone(), Vec::new())), options)
    }

    /// Begins to watch the roots of a [`Discovery`], and the skills that further sources hold themselves. They are discovered again
    /// at every look: a plugin may come as well.
    ///
    /// # Errors
    /// As [`discover_sources_ambient`]. What is named and goes later has no skills from then on.
    pub fn discover_ambient(
        discovery: Discovery,
        further: Vec<Arc<dyn SkillSource>>,
        options: WatchOptions,
    ) -> Result<Self, DiscoveryError> {
        discover_sources_ambient(&discovery, &further)?;
        let of_places = further.clone();
        let places = move || match rediscover_sources_ambient(&discovery, &of_places) {
            Ok(found) => (found.roots, found.deciding),
            Err(_) => (Vec::new(), discovery.project.iter().chain(&discovery.additional).cloned().collect()),
        };
        let mut watch = Self::start(Box::new(places), options);
        // What decides over them is watched by now.
        watch.known.held(&further);
        watch.further = further;
        Ok(watch)
    }

    /// Watches further roots as well, which `inside` gives at each look: directories of skills that were found by something else
    /// than a [`Discovery`].
    #[must_use]
    pub fn also(mut self, mut inside: impl FnMut() -> Vec<SkillRoot> + Send + 'static) -> Self {
        let mut places = std::mem::replace(&mut self.places, Box::new(|| (Vec::new(), Vec::new())));
        self.places = Box::new(move || {
            let (mut roots, deciding) = places();
            roots.extend(inside());
            (roots, deciding)
        });
        self.known = self.look();
        self
    }

    fn start(places: Places, options: WatchOptions) -> Self {
        let bell = Bell::default();
        let wake = SystemWake::new(bell.clone());
        Self::start_with(places, options, bell, Box::new(wake))
    }

    fn start_with(places: Places, options: WatchOptions, bell: Bell, wake: Box<dyn Wake>) -> Self {
        let (further, known, diagnostics) = (Vec::new(), Look::default(), Vec::new());
        let mut watch = Self { places, further, options, bell, wake: Some(wake), known, diagnostics };
        watch.known = watch.look();
        watch
    }

    /// What ends it.
    #[must_use]
    pub fn stopper(&self) -> WatchStop {
        WatchStop(self.bell.clone())
    }

    /// What has it look.
    #[must_use]
    pub fn asker(&self) -> WatchAsk {
        WatchAsk(self.bell.clone())
    }

    /// How many files of skills and commands there are, skills that are no files among them.
    #[must_use]
    pub fn files(&self) -> usize {
        self.known.files.len()
    }

    /// The next changes, by path; `None` when the watch was stopped. Waits until there is one, or somebody [asked](WatchAsk).
    pub fn next_changes(&mut self) -> Option<Vec<SkillChange>> {
        loop {
            let limit = if self.wake.is_none() { Some(self.options.poll) } else { None };
            match self.bell.wait(limit) {
                Waited::Stopped => return None,
                Waited::Elapsed => {}
                Waited::Rung => {
                    if self.bell.wait_for_quiet(self.options.quiet, self.options.at_most) == Waited::Stopped {
                        return None;
                    }
                }
            }
            let mut asked = false;
            let now = loop {
                asked |= self.bell.take_asked();
                let now = self.look();
                // What was asked for meanwhile is a look that begins after it.
                if !self.bell.is_asked() {
                    break now;
                }
            };
            let changes = changes::between(&self.known.files, &now.files);
            self.known = now;
            if asked || !changes.is_empty() {
                return Some(changes);
            }
        }
    }

    /// What is to be said about the watching itself; each finding is given once.
    pub fn take_diagnostics(&mut self) -> Vec<PathDiagnostic> {
        std::mem::take(&mut self.diagnostics)
    }

    /// Looks at what there is, until nothing can have happened that is not seen: neither in a directory before it was watched,
    /// nor to a file in the moment of the look.
    fn look(&mut self) -> Look {
        for _ in 0..ROUNDS {
            let taken = stamp::now();
            let look = self.look_once();
            let added = match self.wake.as_mut().map(|wake| wake.watch(&look.directories)) {
                None => false,
                Some(Ok(added)) => added,
                Some(Err(fault)) => {
                    self.give_up(&fault, &look);
                    false
                }
            };
            if !added && !look.may_be_followed(taken) {
                return look;
            }
            // A file that is written again in the tick of its last write looks the same, so the tick has to pass.
            if !added && self.bell.wait(Some(stamp::TICK)) == Waited::Stopped {
                return look;
            }
        }
        // Somebody makes directories faster than they are watched, or a clock is ahead of this one: the next event goes on.
        let look = self.look_once();
        if matches!(self.wake.as_mut().map(|wake| wake.watch(&look.directories)), Some(Ok(true))) {
            self.bell.ring();
        }
        look
    }

    fn look_once(&mut self) -> Look {
        let (roots, deciding) = (self.places)();
        let mut look = Look::ambient(roots, &deciding);
        look.held(&self.further);
        look
    }

    /// Looks from time to time from now on.
    fn give_up(&mut self, fault: &WakeFault, look: &Look) {
        self.wake = None;
        let seconds = self.options.poll.as_secs_f32();
        let needed = look.directories.len();
        let (message, help) = match fault {
            WakeFault::Limit(watched) => (
                format!(
                    "the system watches no more than {watched} of {needed} directories, so the skills are looked at every \
                     {seconds} seconds"
                ),
                "raise `fs.inotify.max_user_watches`, or end other programs that watch files",
            ),
            WakeFault::Failed(reason) => (
                format!(
                    "the system cannot watch directories ({reason}), so the skills are looked at every {seconds} seconds"
                ),
                "changes are found, only later",
            ),
        };
        let diagnostic = Diagnostic::new(Code::LimitExceeded, message).severity(Severity::Warning).help(help);
        let path = look.directories.keys().next().cloned().unwrap_or_default();
        self.diagnostics.push(PathDiagnostic { path, diagnostic });
    }
}
