//! Files that tools touch: they bring the skills of the directories they lie in, and activate those that wait for them.

use crate::Session;
use crate::load::Place;
use crate::reload::SkillsChange;
use crate::save::Activation;
use crate::skills::SkillView;
use crate::subscribers::Subscription;
use skillgate_loader::{GitUser, NestedDiscovery, PathDiagnostic, Project, SkillRoot};
use skillgate_registry::{Catalogue, PathActivation, State};
use std::collections::VecDeque;
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

impl Session {
    /// Takes note of files that a tool of the host read, wrote or listed, the shell and searches among them. They need not exist;
    /// relative ones are taken from the project's directory, and those outside of the project say nothing. A link counts as what it
    /// is called and as what it leads to.
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
            touching.remember(touched.files);
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

    /// Has `told` called whenever the skills of this conversation change: because of touched files, or because they were loaded again
    /// ([`Runtime::reload`](crate::Runtime::reload)). A call that panics ends nothing but itself.
    pub fn subscribe(&self, told: impl Fn(&SkillsChange) + Send + Sync + 'static) -> Subscription {
        self.subscribers.add(told)
    }

    /// Ends a subscription; whether there was one. A call that is on its way may still come.
    pub fn unsubscribe(&self, subscription: Subscription) -> bool {
        self.subscribers.remove(subscription)
    }

    /// Brings back what touched files brought in the conversation before it was saved.
    pub(crate) fn reactivate(&self) {
        let mut outcome = TouchOutcome::default();
        let Some(project) = self.project().filter(|_| self.skills_off().is_none()) else { return };
        let Activation { skills: names, directories, touched, .. } = self.conversation().activation.clone();
        {
            let mut touching = self.touching();
            touching.recent.clear();
            touching.remember(touched);
            let below =
                |path: &Path| path.strip_prefix(&project.root).is_ok_and(|rest| rest.ends_with(".claude/skills"));
            let roots = directories.iter().map(PathBuf::from).filter(|path| below(path));
            let roots: Vec<SkillRoot> = roots.map(|path| NestedDiscovery::root(project, path)).collect();
            self.load_nested(&mut touching, roots, &mut outcome);
            self.activate_named(names.iter().map(String::as_str), &mut outcome);
        }
        self.tell(&outcome);
    }

    pub(crate) fn touching(&self) -> MutexGuard<'_, Touching> {
        self.touching.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Loads the directories, the deepest of which takes a free name first.
    fn load_nested(&self, touching: &mut Touching, roots: Vec<SkillRoot>, outcome: &mut TouchOutcome) {
        let known = self.skills();
        let is_new =
            |root: &SkillRoot| !known.nested.iter().any(|place| place.roots.iter().any(|it| it.path == root.path));
        // As deep as everywhere else.
        let depth = self.runtime.loading.discovery.depth.max(1);
        let roots = roots.into_iter().filter(is_new).map(|root| SkillRoot { depth, ..root });
        let roots: Vec<SkillRoot> = roots.collect();
        if roots.is_empty() {
            return;
        }
        let mut catalogue = Catalogue::clone(&known.catalogue);
        let mut view = None;
        for root in roots {
            let (path, dir) = (root.path.clone(), self.inside_project(&root));
            let (place, loaded) = Place::load(root, &self.runtime.load_options);
            outcome.diagnostics.extend(loaded.diagnostics);
            let options = self.runtime.deciding.options(&loaded.skills, &known.base);
            let added = catalogue.add_nested(loaded.skills, loaded.failures, &dir, &options);
            outcome.changed |=
                added.iter().filter_map(|name| catalogue.qualified(name)).any(|it| it.is_offered_to_model());
            outcome.nested.extend(added);
            let before = view.as_ref().unwrap_or(&*known);
            view = Some(before.followed_by(catalogue.clone(), Some(place)));
            self.conversation().activation.directories.insert(path.display().to_string());
        }
        let Some(view) = view else { return };
        // Those that waited before stay in the matcher that they are in: made active, they are found there and nothing happens.
        let profile = self.runtime.profile;
        let names = &outcome.nested;
        touching.waiting(self).push(Arc::new(PathActivation::among(&view.catalogue, profile, |it| {
            names.iter().any(|name| name == it.qualified_name())
        })));
        self.set_skills(Arc::new(view));
        #[cfg(feature = "watch")]
        self.runtime.watches.places_found();
    }

    /// The directory that a root inside the project belongs to, from the project's root.
    pub(crate) fn inside_project(&self, root: &SkillRoot) -> String {
        let directory = root.path.parent().and_then(Path::parent).unwrap_or(&root.path);
        let from = self.project().map(|project| project.root.as_path());
        let below = from.and_then(|from| directory.strip_prefix(from).ok()).unwrap_or(directory);
        below.display().to_string()
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
        self.set_skills(Arc::new(next));
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
        self.subscribers.tell(&SkillsChange::Touched(outcome.clone()));
    }
}

impl Touching {
    /// The skills were loaded again: directories may hold others, and others may wait.
    pub(crate) fn look_again(&mut self) {
        self.discovery = None;
        self.waiting.clear();
    }

    /// Keeps the last files.
    fn remember(&mut self, files: Vec<String>) {
        self.recent.extend(files);
        let surplus = self.recent.len().saturating_sub(MAX_RECENT);
        self.recent.drain(..surplus);
    }

    fn discovery(&mut self, session: &Session, project: &Project) -> &mut NestedDiscovery {
        self.discovery.get_or_insert_with(|| {
            let runtime = &session.runtime;
            let user = GitUser { home: runtime.home.clone(), config: runtime.user_config.clone() };
            NestedDiscovery::new(project.clone(), user)
        })
    }

    /// The matchers; the first is that of all conversations.
    fn waiting(&mut self, session: &Session) -> &mut Vec<Arc<PathActivation>> {
        if self.waiting.is_empty() {
            let profile = session.runtime.profile;
            self.waiting.push(session.runtime.skills().waiting(profile));
            let view = session.skills();
            if !view.nested.is_empty() {
                let found = PathActivation::among(&view.catalogue, profile, |entry| entry.is_nested());
                self.waiting.push(Arc::new(found));
            }
        }
        &mut self.waiting
    }
}
