//! From a plan to one that may run: asks what needs an answer, and records what was decided.

use crate::answer::{Answer, Question};
use crate::error::InvokeError;
use crate::invoke::InvokeRequest;
use crate::plan::InvocationPlan;
use crate::session::Session;
use skillgate_core::{Digest, Skill, SkillId};
use skillgate_exec::{AuditContext, AuditEvent, AuditFailure, PlannedCommand, SkillCall, Trail};
use skillgate_policy::{Answers, Effect, Invoker, Refusal, SkillDecision, SkillRefusal};
use skillgate_registry::Lookup;
use std::sync::Arc;

/// A command that needs an answer, as far as it is known.
struct Ask {
    words: Vec<Option<String>>,
    refusal: Refusal,
}

/// Asks of one invocation; more than a person would read.
const MAX_ASKS: usize = 256;

impl Session {
    /// Plans an invocation that is meant to run: somebody is asked what needs an answer, all of it before anything runs, and
    /// what was decided is recorded. [`Session::plan`] does neither.
    ///
    /// # Errors
    /// [`InvokeError`]: what [`Session::plan`] says, the plan's objection, an ask that was declined or that nobody can answer,
    /// or that the record cannot be written.
    pub fn prepare(&self, request: &InvokeRequest) -> Result<InvocationPlan, InvokeError> {
        match self.plan(request) {
            Ok(plan) => self.settle(plan),
            Err(error) => {
                let skill = match self.catalogue().lookup(request.name()) {
                    Lookup::Found(entry) => Some(Arc::clone(entry.skill())),
                    _ => None,
                };
                self.trail(skill.as_deref(), None, request.invoker()).record(&AuditEvent::Refusal(failure(&error)))?;
                Err(error)
            }
        }
    }

    pub(crate) fn trail(&self, skill: Option<&Skill>, digest: Option<Digest>, invoker: Invoker) -> Trail {
        let context = AuditContext {
            session: self.id.clone(),
            invoker: Some(invoker),
            skill: skill.map(|skill| skill.id.clone()),
            digest,
        };
        Trail::new(Arc::clone(&self.runtime.audit), context)
    }

    /// Asks and records, once for each plan.
    pub(crate) fn settle(&self, mut plan: InvocationPlan) -> Result<InvocationPlan, InvokeError> {
        if plan.settled {
            return Ok(plan);
        }
        // Nobody is asked about a skill whose hooks keep it from being activated.
        let mut objection = plan.objection_but_asks();
        if objection.is_none() {
            match self.prepare_hooks(&plan) {
                Ok(hooks) => {
                    plan.diagnostics.extend(hooks.iter().flat_map(|hooks| hooks.diagnostics().iter().cloned()));
                    plan.hooks = hooks;
                }
                Err(error) => objection = Some(error),
            }
        }
        if objection.is_none() {
            objection = self.answered(&mut plan)?.or_else(|| plan.objection());
        }
        record(&plan, objection.as_ref())?;
        match objection {
            Some(objection) => Err(objection),
            None => {
                plan.settled = true;
                Ok(plan)
            }
        }
    }

    /// Asks everything that is known to need an answer. Gives the objection that was found on the way, such as a no.
    fn answered(&self, plan: &mut InvocationPlan) -> Result<Option<InvokeError>, InvokeError> {
        let asks = match self.asks(plan) {
            Ok(asks) => asks,
            Err(objection) => return Ok(Some(objection)),
        };
        let skill = &plan.skill.id;
        let about_skill = match &plan.decision {
            Err(SkillRefusal::Unanswered { because, rule, suggestions, .. }) => {
                Some(self.consent.about_skill(skill, because, rule.as_ref(), suggestions))
            }
            _ => None,
        };
        let about = |ask: &Ask| self.consent.about_command(Some(skill), &ask.words, &ask.refusal);
        let about_commands: Vec<(&Ask, Question)> = asks.iter().filter_map(|ask| Some((ask, about(ask)?))).collect();
        if (about_skill.is_none() && about_commands.is_empty()) || !self.consent.is_attended() {
            return Ok(None);
        }
        let all: Vec<Question> =
            about_skill.iter().chain(about_commands.iter().map(|(_, question)| question)).cloned().collect();
        self.consent.announce(&all);
        if let Some(question) = &about_skill {
            plan.decision = self.agreement(question, &plan.trail, (skill, plan.digest))?;
            if plan.decision.is_err() {
                return Ok(None);
            }
        }
        for (ask, question) in &about_commands {
            match self.consent.ask(question, &plan.trail)? {
                Answer::No => return Ok(Some(InvokeError::Refused(Box::new(ask.refusal.clone().declined())))),
                answer => self.consent.agree(answer, &plan.own, &ask.words, &ask.refusal),
            }
        }
        for injection in &mut plan.injections {
            if let Ok(program) = &injection.program {
                injection.commands = self.runtime.executor.plan(program, &plan.gate);
            }
        }
        Ok(None)
    }

    /// The decision on a skill after somebody was asked about it.
    fn agreement(
        &self,
        question: &Question,
        trail: &Trail,
        (skill, digest): (&SkillId, Digest),
    ) -> Result<Result<SkillDecision, SkillRefusal>, InvokeError> {
        let (name, because) = (skill.called().to_owned(), question.because.clone());
        Ok(match self.consent.ask(question, trail)? {
            Answer::No => Err(SkillRefusal::Declined { name, because }),
            Answer::Once => Ok(SkillDecision::Agreed { because }),
            Answer::Always => {
                self.consent.agree_to_skill(skill, digest, &because);
                Ok(SkillDecision::Agreed { because })
            }
        })
    }

    /// Whether a skill may be used of which nothing but its hooks runs; somebody is asked where that needs an answer.
    ///
    /// # Errors
    /// [`InvokeError::Skill`] when it may not.
    pub(crate) fn agreed(&self, plan: &InvocationPlan) -> Result<(), InvokeError> {
        let skill = (&plan.skill.id, plan.digest);
        match &plan.decision {
            Ok(_) => Ok(()),
            Err(SkillRefusal::Unanswered { because, rule, suggestions, .. }) if self.consent.is_attended() => {
                let question = self.consent.about_skill(skill.0, because, rule.as_ref(), suggestions);
                self.consent.announce(std::slice::from_ref(&question));
                self.agreement(&question, &plan.trail, skill)?.map(drop).map_err(InvokeError::Skill)
            }
            Err(refusal) => Err(InvokeError::Skill(refusal.clone())),
        }
    }

    /// The commands that need an answer. Nobody is asked about an invocation that does not run whatever the answer is, so this
    /// plans as if each were agreed to, and gives what stands against it then.
    fn asks(&self, plan: &InvocationPlan) -> Result<Vec<Ask>, InvokeError> {
        if let Some(objection) = plan.objection_but_asks() {
            return Err(objection);
        }
        let supposed = Answers::default();
        let gate = plan.gate.supposing(supposed.clone());
        let mut asks: Vec<Ask> = Vec::new();
        loop {
            let planned = plan.injections.iter().filter_map(|injection| injection.program.as_ref().ok());
            let commands: Vec<PlannedCommand> =
                planned.flat_map(|program| self.runtime.executor.plan(program, &gate)).collect();
            let before = asks.len();
            for command in commands {
                let Err(refusal) = command.verdict else { continue };
                let Some(rule) = refusal.asking().cloned() else {
                    return Err(plan.bound.explain(InvokeError::Refused(refusal)));
                };
                let words: Vec<Option<String>> = command.words.into_iter().map(Result::ok).collect();
                if asks.iter().any(|ask| ask.words == words && ask.refusal.asking() == Some(&rule)) {
                    continue;
                }
                supposed.agree(&rule, words.iter().cloned());
                asks.push(Ask { words, refusal: *refusal });
            }
            if asks.len() == before {
                return Ok(asks);
            }
            if asks.len() > MAX_ASKS {
                // Left as the refusal of the first.
                return Ok(Vec::new());
            }
        }
    }
}

/// Records the decision on the skill, and what stands against the invocation.
fn record(plan: &InvocationPlan, objection: Option<&InvokeError>) -> Result<(), InvokeError> {
    let (decision, rule) = ruled(&plan.decision);
    tracing::info!(
        name: "skillgate.skill.decide",
        skill = %plan.skill.id,
        source = plan.skill.id.source.as_str(),
        decision = %decision,
        rule = rule.as_str(),
        refused = objection.map(|objection| objection.code()),
    );
    let call = SkillCall { decision, rule, arguments: plan.arguments.clone() };
    plan.trail.record(&match plan.invoker {
        Invoker::User => AuditEvent::SkillTyped(call),
        Invoker::Model => AuditEvent::SkillCalled(call),
    })?;
    match objection {
        None | Some(InvokeError::Skill(_)) => {}
        Some(InvokeError::Refused(refusal) | InvokeError::RightMissing { refusal, .. }) => {
            let of =
                |command: &&PlannedCommand| command.verdict.as_ref().is_err_and(|found| found.action == refusal.action);
            let command = plan.injections.iter().flat_map(|injection| &injection.commands).find(of);
            let words = command.map(|command| command.words.as_slice()).unwrap_or_default();
            plan.trail.record(&AuditEvent::Command {
                vector: words.iter().map_while(|word| word.clone().ok()).collect(),
                decision: refusal.reason.effect(),
                rule: refusal.reason.rule(),
            })?;
        }
        Some(error) => plan.trail.record(&AuditEvent::Refusal(failure(error)))?,
    }
    Ok(())
}

/// What was decided on a skill, and the rule that did.
pub(crate) fn ruled(decision: &Result<SkillDecision, SkillRefusal>) -> (Effect, String) {
    match decision {
        Ok(SkillDecision::ByRule(rule)) => (Effect::Allow, rule.to_string()),
        Ok(SkillDecision::OnlySafeProperties) => (Effect::Allow, "only safe properties".to_owned()),
        Ok(SkillDecision::Agreed { because }) => (Effect::Allow, format!("{because}, agreed to")),
        Err(refusal) => (refusal.effect(), refusal.rule()),
    }
}

pub(crate) fn failure(error: &InvokeError) -> AuditFailure {
    AuditFailure::new(error.code(), error)
}
