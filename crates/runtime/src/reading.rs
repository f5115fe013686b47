//! Who may be given a skill's text as it stands, without an invocation.

use crate::error::InvokeError;
use crate::session::Session;
use crate::settle::{failure, ruled};
use skillgate_core::Skill;
use skillgate_exec::{AuditEvent, SkillCall};
use skillgate_policy::{Effect, Invoker, SkillDecision, SkillRefusal, SkillRequest, decide_skill};
use std::sync::Arc;

/// What is recorded of a skill that needs an agreement for what it would do when it is invoked.
const NOTHING_RUNS: &str = "nothing of it runs or is in force";

impl Session {
    /// Whether a model may be given the skill's text as it stands: what is decided over its invocation, apart from what runs or
    /// holds only then, such as hooks. Nobody is asked; an agreement that holds for the conversation counts. Nothing is recorded,
    /// so this is for lists; [`Session::decide_reading`] is for the text.
    ///
    /// # Errors
    /// [`InvokeError`]: what the rules say, or why the skill cannot be used.
    pub fn may_read(&self, skill: &Arc<Skill>) -> Result<(), InvokeError> {
        self.reading(skill, skill).map(drop)
    }

    /// [`Session::may_read`], of the file as it is now, and recorded.
    ///
    /// # Errors
    /// As [`Session::may_read`], and [`InvokeError::Unrecorded`] when the record cannot be written: then it is not to be given.
    pub fn decide_reading(&self, skill: &Arc<Skill>) -> Result<(), InvokeError> {
        let text = self.text_of(skill);
        let trail = self.trail(Some(skill), text.as_ref().ok().map(|text| text.digest), Invoker::Model);
        let decided = text.and_then(|text| self.reading(skill, &text.skill));
        let (decision, rule) = match &decided {
            Ok(rule) => (Effect::Allow, rule.clone()),
            Err(InvokeError::Skill(refusal)) => (refusal.effect(), refusal.rule()),
            Err(error) => {
                trail.record(&AuditEvent::Refusal(failure(error)))?;
                return decided.map(drop);
            }
        };
        trail.record(&AuditEvent::SkillRead(SkillCall { decision, rule, arguments: None }))?;
        decided.map(drop)
    }

    /// Decides on `loaded` with the header of `read`. Gives the rule that allows it.
    fn reading(&self, loaded: &Arc<Skill>, read: &Skill) -> Result<String, InvokeError> {
        if let Some(off) = self.skills_off() {
            return Err(off);
        }
        self.usable(loaded)?;
        let request = SkillRequest { skill: read, invoker: Invoker::Model, injections_allowed: true };
        let decision: Result<SkillDecision, SkillRefusal> = match decide_skill(&self.runtime.host, request) {
            // Only properties of an invocation need the agreement.
            Err(SkillRefusal::Unanswered { rule: None, .. }) => return Ok(NOTHING_RUNS.to_owned()),
            Err(asks @ SkillRefusal::Unanswered { .. }) => {
                let digest = self.text_of(loaded)?.digest;
                self.with_agreement(loaded, digest, Err(asks))
            }
            decided => decided,
        };
        let (_, rule) = ruled(&decision);
        decision.map(|_| rule).map_err(InvokeError::Skill)
    }
}
