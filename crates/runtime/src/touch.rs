//! Files that tools touch: they bring the skills of the directories they lie in, and activate those that wait for them.

use crate::Session;
use crate::skills::SkillView;
use skillgate_loader::{NestedDiscovery, PathDiagnostic, Project, SkillRoot, SkillRoots};
use skillgate_registry::{Catalogue, PathActivation, State};
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, MutexGuard, PoisonError};

/// The touched files that are kept for explanations.
const MAX_RECENT: usize = 32;

/// Directories that are looked through for a whole project.
const MAX_DIRECTORIES: usize = 10_000;

/// What touched files led to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TouchOutcome {
    /// The qualified names of skills that waited for one of the files and are active now.
    pub activated: Vec<String>,
    /// The qualified names of skills that were found in directories inside the project.
    pub nested: Vec<String>,
    /// Whether a model is offered other skills than before, so that the listing and searches give another answer.
    pub changed: bool,
    /// Findings about directories and files of ignore rules.
    pub diagnostics: Vec<PathDiagnostic>,
}

/// What a conversation keeps about touched files.
#[derive(Debug, Default)]
pub(crate) struct Touching {
    /// Made by the first touch.
    discovery: Option<NestedDiscovery>,
    /// The skills that wait, those of nested directories behind the others.
    waiting: Vec<Arc<PathActivation>>,
    /// The last files, from the project's root, the newest last.
    recent: VecDeque<String>,
}

/// What is told to those who subscribed.
type Told = Arc<dyn Fn(&TouchOutcome) + Send + Sync>;

/// Who wants to know when the skills of a conversation change.
#[derive(Default)]
pub(crate) struct Subscribers {
    told: BTreeMap<u64, Told>,
    next: u64,
}

impl fmt::Debug for Subscribers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.told.keys()).finish()
    }
}

/// Names a subscription, so that it can be ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Subscription(u64);

impl Session {
    /// Takes note of files that a tool of the host read, wrote or listed, the shell and searches among them. They need not exist;
    /// relative ones are taken from the project's directory, and those outside of the project say nothing.
    ///
    /// - In the directories from each file up to the project's root, `.claude/skills` is looked for; each is looked at once, and
    ///   not where git ignores it. Who has a name keeps it: a skill whose name is taken is called `DIR:NAME`.
    /// - Skills whose `paths` name one of the files become active, for the rest of the conversation.
    ///
    /// All of one call is one event for those who [subscribed](Session::subscribe), and none when nothing changed.
    pub fn touch<P: AsRef<Path>>(&self, paths: impl IntoIterator<Item = P>) -> TouchOutcome {
        let Some(project) = self.project().filter(|_| self.skills_off().is_none()) else {
            return TouchOutcome::default();
        };
        let outcome = {
            // Held throughout, so that two calls do not both find the same directory; nobody is called meanwhile.
            let mut touching = self.touching();
            let touched = touching.discovery(self, project).touch_ambient(paths);
            let mut outcome = TouchOutcome { diagnostics: touched.diagnostics, ..TouchOutcome::default() };
            self.load_nested(&mut touching, touched.roots, &mut outcome);
            self.activate(&mut touching, &touched.files, &mut outcome);
            let surplus = (touching.recent.len() + touched.files.len()).saturating_sub(MAX_RECENT);
            touching.recent.extend(touched.files);
            let surplus = surplus.min(touching.recent.len());
            touching.recent.drain(..surplus);
            outcome
        };
        self.tell(&outcome);
        outcome
    }

    /// Looks through the whole project, as far as git does not ignore it and up to 10,000 directories, and takes in all skills that a
    /// file in it could bring.
    pub fn touch_everything(&self) -> TouchOutcome {
        let Some(project) = self.project().filter(|_| self.skills_off().is_none()) else {
            return TouchOutcome::default();
        };
        let outcome = {
            let mut touching = self.touching();
            let touched = touching.discovery(self, project).walk_ambient(MAX_DIRECTORIES);
            let mut outcome = TouchOutcome { diagnostics: touched.diagnostics, ..TouchOutcome::default() };
            self.load_nested(&mut touching, touched.roots, &mut outcome);
            outcome
        };
        self.tell(&outcome);
        outcome
    }

    /// The files that were touched last, from the project's root, the newest last.
    #[must_use]
    pub fn recently_touched(&self) -> Vec<String> {
        self.touching().recent.iter().cloned().collect()
    }

    /// Has `told` called whenever touched files change the skills of this conversation. A call that panics ends nothing but itself.
    pub fn subscribe(&self, told: impl Fn(&TouchOutcome) + Send + Sync + 'static) -> Subscription {
        let mut subscribers = self.subscribers();
        let number = subscribers.next;
        subscribers.next += 1;
        subscribers.told.insert(number, Arc::new(told));
        Subscription(number)
    }

    /// Ends a subscription; whether there was one. A call that is on its way may still come.
    pub fn unsubscribe(&self, subscription: Subscription) -> bool {
        self.subscribers().told.remove(&subscription.0).is_some()
    }

    /// Brings back what touched files brought in the conversation before it was saved.
    pub(crate) fn reactivate(&self) {
        let mut outcome = TouchOutcome::default();
        let Some(project) = self.project().filter(|_| self.skills_off().is_none()) else { return };
        let (names, directories) = {
            let conversation = self.conversation();
            (conversation.activation.skills.clone(), conversation.activation.directories.clone())
        };
        {
            let mut touching = self.touching();
            let below =
                |path: &Path| path.strip_prefix(&project.root).is_ok_and(|rest| rest.ends_with(".claude/skills"));
            let roots = directories.iter().map(PathBuf::from).filter(|path| below(path));
            let roots: Vec<SkillRoot> = roots.map(|path| NestedDiscovery::root(project, path)).collect();
            self.load_nested(&mut touching, roots, &mut outcome);
            self.activate_named(names.iter().map(String::as_str), &mut outcome);
        }
        self.tell(&outcome);
    }

    fn touching(&self) -> MutexGuard<'_, Touching> {
        self.touching.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn subscribers(&self) -> MutexGuard<'_, Subscribers> {
        self.subscribers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Loads the directories, the deepest of which takes a free name first.
    fn load_nested(&self, touching: &mut Touching, roots: Vec<SkillRoot>, outcome: &mut TouchOutcome) {
        let known = self.skills();
        let is_new = |root: &SkillRoot| !known.nested.iter().any(|roots| roots.iter().any(|it| it.path == root.path));
        let roots: Vec<SkillRoot> = roots.into_iter().filter(is_new).collect();
        let Some(project) = self.project().filter(|_| !roots.is_empty()) else { return };
        let mut catalogue = Catalogue::clone(&known.catalogue);
        let mut view = None;
        for root in roots {
            let path = root.path.clone();
            let dir = path.parent().and_then(Path::parent).unwrap_or(&path);
            let dir = dir.strip_prefix(&project.root).unwrap_or(dir).display().to_string();
            let opened = SkillRoots::open_ambient([root]);
            let loaded = opened.load(&self.runtime.load_options);
            outcome.diagnostics.extend(loaded.diagnostics);
            let options = self.runtime.deciding.options(&loaded.skills);
            let added = catalogue.add_nested(loaded.skills, loaded.failures, &dir, &options);
            outcome.changed |=
                added.iter().filter_map(|name| catalogue.qualified(name)).any(|it| it.is_offered_to_model());
            outcome.nested.extend(added);
            let before = view.as_ref().unwrap_or(&*known);
            view = Some(before.followed_by(catalogue.clone(), Some(opened)));
            self.conversation().activation.directories.insert(path.display().to_string());
        }
        let Some(view) = view else { return };
        // Those that waited before stay in the matcher that they are in: made active, they are found there and nothing happens.
        let profile = self.runtime.profile;
        let names = &outcome.nested;
        touching.waiting(self).push(Arc::new(PathActivation::among(&view.catalogue, profile, |it| {
            names.iter().any(|name| name == it.qualified_name())
        })));
        self.set_skills(view);
    }

    fn activate(&self, touching: &mut Touching, files: &[String], outcome: &mut TouchOutcome) {
        let waiting = touching.waiting(self).clone();
        let names = files.iter().flat_map(|file| waiting.iter().flat_map(|waiting| waiting.matching(file)));
        self.activate_named(names, outcome);
    }

    fn activate_named<'n>(&self, names: impl Iterator<Item = &'n str>, outcome: &mut TouchOutcome) {
        let view = self.skills();
        // Nothing is made anew where nothing changes, which is nearly every time.
        let waits = |name: &&str| view.catalogue.qualified(name).is_some_and(|it| *it.state() == State::Conditional);
        let mut names = names.filter(waits).peekable();
        if names.peek().is_none() {
            return;
        }
        let mut catalogue = Catalogue::clone(&view.catalogue);
        for name in names {
            if catalogue.activate(name) {
                outcome.changed |= catalogue.qualified(name).is_some_and(|it| it.is_offered_to_model());
                outcome.activated.push(name.to_owned());
            }
        }
        self.conversation().activation.skills.extend(outcome.activated.iter().cloned());
        let next: SkillView = view.followed_by(catalogue, None);
        self.set_skills(next);
    }

    fn tell(&self, outcome: &TouchOutcome) {
        if outcome.activated.is_empty() && outcome.nested.is_empty() {
            return;
        }
        tracing::info!(
            name: "skillgate.skills_changed",
            activated = outcome.activated.len(),
            nested = outcome.nested.len(),
            "touched files changed the skills"
        );
        // They may call the session again, so nothing is held.
        let told: Vec<Told> = self.subscribers().told.values().cloned().collect();
        for told in told {
            // Theirs to report; the others are told all the same.
            let _panicked = catch_unwind(AssertUnwindSafe(|| told(outcome)));
        }
    }
}

impl Touching {
    fn discovery(&mut self, session: &Session, project: &Project) -> &mut NestedDiscovery {
        self.discovery.get_or_insert_with(|| {
            let excludes = session.runtime.home.as_ref().map(|home| home.join(".config/git/ignore"));
            NestedDiscovery::new(project.clone(), excludes)
        })
    }

    /// The matchers; the first is that of all conversations.
    fn waiting(&mut self, session: &Session) -> &mut Vec<Arc<PathActivation>> {
        if self.waiting.is_empty() {
            self.waiting.push(session.runtime.skills().waiting(session.runtime.profile));
        }
        &mut self.waiting
    }
}
