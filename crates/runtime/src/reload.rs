//! Loading the skills again while conversations go on.

use crate::invoked::{AgentId, UnloadReason};
use crate::load::Place;
use crate::runtime::{OpenError, Runtime};
use crate::session::Session;
use crate::skills::SkillView;
use crate::subscribers::Subscription;
use crate::touch::TouchOutcome;
use serde::Serialize;
use skillgate_core::{Digest, Skill, SkillId};
use skillgate_loader::PathDiagnostic;
use skillgate_registry::{Catalogue, CatalogueChanges};
use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError};

/// What [`Runtime::reload`] found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reloaded {
    /// What became of the skills that all conversations share.
    pub changes: CatalogueChanges,
    /// What was not found before: about places, and skills that cannot be read.
    pub diagnostics: Vec<PathDiagnostic>,
}

impl Reloaded {
    /// Whether everything is as it was.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What a reload means for one conversation.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SessionReloaded {
    /// What became of its skills, those that it found inside the project among them.
    pub changes: CatalogueChanges,
    /// The skills that were in use and are not any more, for each agent that had one.
    pub taken_back: Vec<TakenBack>,
}

/// A skill that was in use and is not there any more.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct TakenBack {
    /// The agent that had it.
    pub agent: AgentId,
    /// The skill.
    pub skill: SkillId,
    /// The line that the agent is to be told.
    pub mark: String,
}

/// What [`Session::subscribe`] tells: the skills of the conversation are others.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SkillsChange {
    /// Because of files that were touched.
    Touched(TouchOutcome),
    /// Because they were loaded again.
    Reloaded(SessionReloaded),
}

/// The conversations that went over to the skills that were loaded again, and what that means for each.
type Adopted = Vec<(Arc<Session>, SessionReloaded)>;

impl Runtime {
    /// Looks at all places again and takes in what changed: skills that came, changed or went, and directories and plugins that
    /// were not there before. With a header index only what changed is read. A directory that was named and is gone has no
    /// skills from then on, which is a finding.
    ///
    /// Every conversation has the new skills when this returns, those that go on as well:
    /// - What it activated and found inside the project stays, as far as it is there.
    /// - A skill that went, or can be used no more, is taken back from its agents as [`Session::revoke`] does: what runs for it
    ///   ends, its hooks are gone, and what was agreed to for it is forgotten. What it took away stays taken away until the turn
    ///   ends.
    /// - A skill whose text is another is decided on anew when it is called next. Nothing of the text before approves anything in
    ///   advance any more; its caveats and its hooks, which only take away, stay until then or until they leave as usual. A call
    ///   that was decided on the text before and has not given it yet is refused as revoked; agents that run already go on.
    ///
    /// The project, its trust, and the policy are those that the runtime was opened with.
    ///
    /// # Errors
    /// [`OpenError`] when a further source says that something is not there. Everything stays as it was then.
    pub fn reload(&self) -> Result<Reloaded, OpenError> {
        self.reload_and(Vec::new())
    }

    /// Has `told` called whenever a reload finds something; not when everything is as it was. A call that panics ends nothing but
    /// itself.
    pub fn subscribe(&self, told: impl Fn(&Reloaded) + Send + Sync + 'static) -> Subscription {
        self.subscribers.add(told)
    }

    /// Ends a subscription; whether there was one. A call that is on its way may still come.
    pub fn unsubscribe(&self, subscription: Subscription) -> bool {
        self.subscribers.remove(subscription)
    }

    /// Reloads, and tells of findings that were made besides.
    pub(crate) fn reload_and(&self, findings: Vec<PathDiagnostic>) -> Result<Reloaded, OpenError> {
        let (reloaded, sessions) = self.load_again(findings)?;
        // Whoever is told may reload, so nothing is held.
        for (session, change) in sessions {
            session.tell_reloaded(change);
        }
        if !reloaded.is_empty() {
            let CatalogueChanges { added, changed, removed, .. } = &reloaded.changes;
            tracing::info!(
                name: "skillgate.reloaded",
                added = added.len(),
                changed = changed.len(),
                removed = removed.len(),
                "the skills were loaded again"
            );
            self.subscribers.tell(&reloaded);
        }
        Ok(reloaded)
    }

    fn load_again(&self, findings: Vec<PathDiagnostic>) -> Result<(Reloaded, Adopted), OpenError> {
        // One after the other, so that the latest look is the one that stays.
        let _one = self.reloading.lock().unwrap_or_else(PoisonError::into_inner);
        let (base, loaded) = self.loading.again(self.project.as_ref())?;
        let was = self.skills();
        let options = self.deciding.options(&loaded.skills, &base);
        let catalogue = Catalogue::build(loaded.skills, loaded.failures, &options).sharing_with(&was.catalogue);
        let now = Arc::new(was.reloaded(catalogue, Arc::new(base), Vec::new()));
        let changes = changes(&was, &now);
        let mut diagnostics = findings;
        let known = &was.base.diagnostics;
        diagnostics.extend(now.base.diagnostics.iter().filter(|found| !known.contains(found)).cloned());
        let broken = now.catalogue.broken().iter().filter(|failure| !was.catalogue.broken().contains(failure));
        diagnostics.extend(
            broken.map(|failure| PathDiagnostic { path: failure.path.clone(), diagnostic: failure.diagnostic.clone() }),
        );
        let sessions = self.set_skills_of_new(Arc::clone(&now)).into_iter();
        let sessions = sessions.map(|session| {
            let change = session.adopt(&was, &now, &changes);
            (session, change)
        });
        let sessions = sessions.collect();
        Ok((Reloaded { changes, diagnostics }, sessions))
    }
}

/// What is another between two views.
fn changes(before: &SkillView, after: &SkillView) -> CatalogueChanges {
    after.catalogue.changes_since(&before.catalogue, |skill| before.stamp_of(skill) == after.stamp_of(skill))
}

/// How a skill that was in use stands after a reload.
enum Stands {
    /// Not any more, and why.
    Gone(String),
    /// With this text.
    There(Digest),
}

impl Session {
    /// Goes over to the skills that were loaded again: `was` before for all conversations, `now` from now on.
    fn adopt(&self, was: &Arc<SkillView>, now: &Arc<SkillView>, shared: &CatalogueChanges) -> SessionReloaded {
        let (before, after) = {
            let mut touching = self.touching();
            let before = self.skills();
            let is_shared = Arc::ptr_eq(&before, was);
            let after = if is_shared { Arc::clone(now) } else { Arc::new(self.seen_again(&before, now)) };
            touching.look_again();
            self.set_skills(Arc::clone(&after));
            (before, after)
        };
        let changes = if Arc::ptr_eq(&after, now) { shared.clone() } else { changes(&before, &after) };
        let taken_back = self.settle_changes(&before, &changes);
        SessionReloaded { changes, taken_back }
    }

    /// The new skills with what this conversation found and activated.
    fn seen_again(&self, before: &SkillView, now: &SkillView) -> SkillView {
        let mut catalogue = Catalogue::clone(&now.catalogue);
        let mut nested = Vec::new();
        for root in before.nested.iter().flat_map(|place| place.roots.iter()) {
            let (place, loaded) = Place::load(root.clone(), &self.runtime.load_options);
            let options = self.runtime.deciding.options(&loaded.skills, &now.base);
            let _added = catalogue.add_nested(loaded.skills, loaded.failures, &self.inside_project(root), &options);
            nested.push(Arc::new(place));
        }
        for name in &self.conversation().activation.skills {
            let _waited = catalogue.activate(name);
        }
        before.reloaded(catalogue.sharing_with(&before.catalogue), Arc::clone(&now.base), nested)
    }

    /// Takes back what is gone, and has what changed decided on anew. Gives what the agents are to be told.
    fn settle_changes(&self, before: &SkillView, changes: &CatalogueChanges) -> Vec<TakenBack> {
        if changes.is_empty() {
            return Vec::new();
        }
        let skills = |names: &[String]| -> Vec<Arc<Skill>> {
            names.iter().filter_map(|name| Some(Arc::clone(before.catalogue.qualified(name)?.skill()))).collect()
        };
        let others = [&changes.removed, &changes.changed].map(|names| skills(names)).concat();
        let in_use = self.in_use();
        let concerned = others.iter().chain(&skills(&changes.affected)).cloned().collect::<Vec<_>>();
        let mut gone: Vec<(SkillId, String)> = Vec::new();
        let mut there: Vec<(SkillId, Digest)> = Vec::new();
        for skill in concerned.iter().filter(|skill| in_use.contains(&skill.id)) {
            match self.stands(skill) {
                Stands::Gone(because) => gone.push((skill.id.clone(), because)),
                Stands::There(digest) => there.push((skill.id.clone(), digest)),
            }
        }
        let taken_back = {
            let mut conversation = self.conversation();
            for skill in &others {
                // What was decided before was decided on another text.
                conversation.revoke(&skill.id);
            }
            for (skill, digest) in &there {
                conversation.scopes.withdraw(skill, Some(*digest));
            }
            let agents: Vec<AgentId> = conversation.invoked.agents().into_iter().cloned().collect();
            let mut taken_back = Vec::new();
            for (skill, because) in &gone {
                for agent in &agents {
                    let reason = UnloadReason::Refused { because: because.clone() };
                    let mark = conversation.invoked.unload(agent, skill, reason);
                    taken_back.extend(mark.map(|mark| TakenBack { agent: agent.clone(), skill: skill.clone(), mark }));
                }
                conversation.scopes.withdraw(skill, None);
                conversation.hooks.revoke(skill);
                conversation.grounds.retain(|(_, of), _| of != skill);
                conversation.revoke(skill);
            }
            taken_back
        };
        for (skill, _) in &gone {
            self.consent.forget(skill);
            self.stop_running(skill);
        }
        taken_back
    }

    /// The skills of which the conversation has something.
    fn in_use(&self) -> BTreeSet<SkillId> {
        let conversation = self.conversation();
        let mut skills: BTreeSet<SkillId> = conversation.running_skills().into_iter().collect();
        for agent in conversation.invoked.agents() {
            skills.extend(conversation.invoked.of(agent).into_iter().map(|invoked| invoked.skill.clone()));
        }
        for (_, active) in conversation.scopes.agents() {
            skills.extend(active.inherited().iter().chain(active.own()).map(|active| active.skill.clone()));
        }
        skills.extend(conversation.grounds.keys().map(|(_, skill)| skill.clone()));
        skills
    }

    /// How a skill stands by its own name now.
    fn stands(&self, was: &Skill) -> Stands {
        let Some(skill) = self.skill_of(&was.id) else { return Stands::Gone("it is not there any more".to_owned()) };
        if skill.path != was.path {
            return Stands::Gone("its name is another skill's now".to_owned());
        }
        match self.usable(&skill).and_then(|()| self.text_of(&skill)) {
            Ok(text) => Stands::There(text.digest),
            Err(error) => Stands::Gone(error.to_string()),
        }
    }

    fn tell_reloaded(&self, change: SessionReloaded) {
        if !change.changes.is_empty() {
            self.subscribers.tell(&SkillsChange::Reloaded(change));
        }
    }
}
