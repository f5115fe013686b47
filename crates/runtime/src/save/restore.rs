use super::form::{ActiveForm, EffortForm, InvokedForm, ScopeForm};
use super::{Save, SavedConversation};
use crate::invoked::{AgentId, InvokedSkill, InvokedSkills, Slot, UnloadReason, UnloadedSkill};
use crate::scope::{ActiveSkill, ActiveSkills, TurnScopes};
use serde::Serialize;
use skillgate_core::{Digest, SkillId};
use skillgate_policy::{Caveat, History, HistoryChange, Host, PresentSkill};

/// What became of a skill since the conversation was saved.
#[derive(Clone, PartialEq, Debug)]
pub enum Standing {
    /// It is there and may be used.
    Present(PresentSkill),
    /// It is not there any more.
    Gone,
    /// It is there and may not be used now, for this reason.
    Refused(String),
}

/// What came back of a save.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RestoreReport {
    /// Digest of the save.
    pub digest: String,
    /// The version of Skillgate that wrote it.
    pub saved_by: String,
    /// When, in milliseconds since 1970.
    pub saved_at_ms: u64,
    /// The conversation's id.
    pub session_id: Option<String>,
    /// The skills whose text is known again.
    pub restored: Vec<RestoredSkill>,
    /// The skills that take more away than they did, or of which the save says what they do not.
    pub narrowed: Vec<NarrowedSkill>,
    /// The skills whose text did not come back. What they took away stays taken away.
    pub refused: Vec<RefusedSkill>,
    /// Keys that this version does not know. They are written again when the conversation is saved.
    pub unknown_fields: Vec<String>,
}

/// A skill that came back.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RestoredSkill {
    /// Whose it is.
    pub agent: String,
    /// The skill, as `source:name`.
    pub skill: String,
}

/// A skill that takes more away than when it was saved.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NarrowedSkill {
    /// Whose it is.
    pub agent: String,
    /// The skill, as `source:name`.
    pub skill: String,
    /// What changed.
    pub because: String,
}

/// A skill that did not come back.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RefusedSkill {
    /// Whose it was.
    pub agent: String,
    /// The skill, as `source:name`.
    pub skill: String,
    /// Why not.
    pub because: String,
}

impl Save {
    /// The conversation as far as it may come back, and what became of each skill. `standing` says what a skill is now.
    ///
    /// Nothing is granted by it: caveats that were saved hold, those of the skills as they are now are added, and what the
    /// conversation may do is computed from the host whenever it is asked. Approvals in advance are not restored.
    #[must_use]
    pub fn restore(&self, standing: &dyn Fn(&SkillId) -> Standing) -> (SavedConversation, RestoreReport) {
        let form = &self.form;
        let mut report = RestoreReport {
            digest: self.digest().to_string(),
            saved_by: form.saved_by.clone(),
            saved_at_ms: form.saved_at_ms,
            session_id: form.session_id.clone(),
            restored: Vec::new(),
            narrowed: Vec::new(),
            refused: Vec::new(),
            unknown_fields: form.unknown_fields(),
        };
        let mut restoring = Restoring { standing, report: &mut report };
        let mut invoked = InvokedSkills::new();
        let mut order: Vec<&InvokedForm> = form.invoked.iter().collect();
        order.sort_by_key(|form| form.sequence);
        // Numbered again: those of the save are anybody's.
        for (form, sequence) in order.into_iter().zip(1..) {
            invoked.insert(restoring.invoked(form, sequence));
        }
        let mut scopes = TurnScopes::new();
        for scope in &form.scopes {
            scopes.insert(scope.agent.clone(), restoring.scope(scope));
        }
        let conversation = SavedConversation {
            session_id: form.session_id.clone(),
            invoked,
            scopes,
            activation: form.activation.clone().into(),
            usage: form.usage.clone(),
            spent_hooks: form.spent_hooks.clone(),
            carried: form.carried.clone(),
        };
        report.narrowed.dedup();
        (conversation, report)
    }
}

struct Restoring<'a> {
    standing: &'a dyn Fn(&SkillId) -> Standing,
    report: &'a mut RestoreReport,
}

impl Restoring<'_> {
    fn invoked(&mut self, form: &InvokedForm, sequence: u64) -> Slot {
        let skill = form.id();
        let unloaded = |reason| {
            Slot::Unloaded(UnloadedSkill {
                agent: form.agent.clone(),
                skill: skill.clone(),
                path: form.path.clone(),
                reason,
                sequence,
            })
        };
        let Some(loaded) = &form.loaded else {
            return unloaded(form.unloaded.clone().unwrap_or(UnloadReason::Asked));
        };
        let refused = match (self.standing)(&skill) {
            Standing::Present(_) => None,
            Standing::Gone => Some("it is not there any more".to_owned()),
            Standing::Refused(because) => Some(because),
        };
        if let Some(because) = refused {
            self.report.refused.push(RefusedSkill {
                agent: form.agent.to_string(),
                skill: skill.to_string(),
                because: because.clone(),
            });
            return unloaded(UnloadReason::Refused { because });
        }
        self.report.restored.push(RestoredSkill { agent: form.agent.to_string(), skill: skill.to_string() });
        let caveats = self.caveats(&form.agent, &skill, loaded.digest, &loaded.history);
        let mut restored =
            InvokedSkill::new(skill, form.path.clone(), loaded.text.clone(), loaded.digest, loaded.at_ms)
                .by(form.agent.clone())
                .with_caveats(caveats)
                .with_arguments(loaded.arguments.clone());
        restored.sequence = sequence;
        restored.presence = loaded.presence;
        restored.carried = form.carried.clone();
        Slot::Loaded(Box::new(restored))
    }

    fn scope(&mut self, form: &ScopeForm) -> ActiveSkills {
        let mut active = |forms: &[ActiveForm]| forms.iter().map(|it| self.active(&form.agent, it)).collect();
        let inherited = active(&form.inherited);
        ActiveSkills::from_parts(inherited, active(&form.own))
    }

    fn active(&mut self, agent: &AgentId, form: &ActiveForm) -> ActiveSkill {
        let skill = form.id();
        // A skill that may not be used has no wishes either.
        let usable = matches!((self.standing)(&skill), Standing::Present(_));
        ActiveSkill {
            caveats: self.caveats(agent, &skill, form.digest, &form.history),
            digest: form.digest,
            model: form.model.clone().filter(|_| usable),
            effort: form.effort.as_ref().filter(|_| usable).map(EffortForm::effort),
            pre_approval: None,
            skill,
        }
    }

    /// What was saved of a skill's caveats and what the skill says now, together.
    fn caveats(&mut self, agent: &AgentId, skill: &SkillId, saved: Digest, history: &History) -> Vec<Caveat> {
        let present = |skill: &SkillId| match (self.standing)(skill) {
            Standing::Present(present) => Some(present),
            Standing::Gone | Standing::Refused(_) => None,
        };
        // Under no host: only the caveats are taken, and the authority is computed from the host of the moment.
        let restored = history.restore(Host::granting([]), present);
        let mut caveats = restored.authority.caveats().to_vec();
        let mut changes: Vec<(String, String)> = restored.changes.iter().filter_map(told).collect();
        // A history without a caveat does not name its skill, and the skill may take something away by now.
        if let Some(now) = present(skill) {
            let before = caveats.len();
            caveats.extend(now.caveats.into_iter().filter(|caveat| !restored.authority.caveats().contains(caveat)));
            if caveats.len() > before {
                changes.push((skill.to_string(), edited(saved, now.digest)));
            }
        }
        for (skill, because) in changes {
            let narrowed = NarrowedSkill { agent: agent.to_string(), skill, because };
            if !self.report.narrowed.contains(&narrowed) {
                self.report.narrowed.push(narrowed);
            }
        }
        caveats
    }
}

fn edited(saved: Digest, present: Digest) -> String {
    if saved == present {
        "the save leaves out what the skill takes away".to_owned()
    } else {
        format!("its content changed from {saved} to {present}: what it took away before and now is taken away")
    }
}

/// The skill of a change, and what is said of it.
fn told(change: &HistoryChange) -> Option<(String, String)> {
    match change {
        HistoryChange::Edited { skill, saved, present } => Some((skill.to_string(), edited(*saved, *present))),
        HistoryChange::Altered { skill } => {
            Some((skill.to_string(), "the save says of the same content what it does not say".to_owned()))
        }
        HistoryChange::Gone { skill } => {
            Some((skill.to_string(), "it cannot be used now; what it took away stays taken away".to_owned()))
        }
        _ => None,
    }
}
