//! Who is asked, and what was agreed to.

use crate::answer::{Always, Answer, Answerer, Question};
use skillgate_core::{Digest, SkillId};
use skillgate_exec::{Asked, Asker, AuditError, AuditEvent, RunError, Trail};
use skillgate_policy::{Answers, Place, Refusal, Rule, ToolPattern};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// The answerer of a session, and what it agreed to for as long as the session lives.
#[derive(Debug, Default)]
pub(crate) struct Consent {
    answerer: Option<Arc<dyn Answerer>>,
    /// The rules of the managed policy: an ask of them is answered anew each time.
    managed: Vec<Rule>,
    commands: Answers,
    /// Skills by identity and content, so that a changed skill is asked about again.
    skills: Mutex<BTreeSet<(SkillId, Digest, String)>>,
    /// Patterns that were agreed to for tools of the host.
    tools: Mutex<BTreeSet<String>>,
    /// Held while somebody is asked, so that questions of several threads do not mix.
    asking: Mutex<()>,
}

impl Consent {
    pub(crate) fn new(answerer: Option<Arc<dyn Answerer>>, managed: Vec<Rule>) -> Self {
        Self { answerer, managed, ..Self::default() }
    }

    /// What was agreed to for the session.
    pub(crate) fn commands(&self) -> &Answers {
        &self.commands
    }

    pub(crate) fn is_attended(&self) -> bool {
        self.answerer.is_some()
    }

    pub(crate) fn announce(&self, questions: &[Question]) {
        if let Some(answerer) = &self.answerer {
            answerer.announce(questions);
        }
    }

    pub(crate) fn agreed_skill(&self, skill: &SkillId, digest: Digest, because: &str) -> bool {
        let skills = self.skills.lock().unwrap_or_else(PoisonError::into_inner);
        skills.contains(&(skill.clone(), digest, because.to_owned()))
    }

    pub(crate) fn agree_to_skill(&self, skill: &SkillId, digest: Digest, because: &str) {
        let mut skills = self.skills.lock().unwrap_or_else(PoisonError::into_inner);
        skills.insert((skill.clone(), digest, because.to_owned()));
    }

    /// Forgets what was agreed to for a skill itself.
    pub(crate) fn forget(&self, skill: &SkillId) {
        self.skills.lock().unwrap_or_else(PoisonError::into_inner).retain(|(of, _, _)| of != skill);
    }

    /// Whether what this pattern would allow was agreed to for always.
    pub(crate) fn agreed_tool(&self, pattern: &str) -> bool {
        self.tools.lock().unwrap_or_else(PoisonError::into_inner).contains(pattern)
    }

    pub(crate) fn agree_to_tool(&self, pattern: &str) {
        self.tools.lock().unwrap_or_else(PoisonError::into_inner).insert(pattern.to_owned());
    }

    /// The question about a skill.
    pub(crate) fn about_skill(
        &self,
        skill: &SkillId,
        because: &str,
        rule: Option<&Rule>,
        suggestions: &[String],
    ) -> Question {
        let always = match (rule, suggestions.first()) {
            (Some(rule), _) if self.is_managed(rule) => Always::Never,
            (None, Some(line)) => Always::Rule(line.clone()),
            _ => Always::Session,
        };
        Question { skill: Some(skill.clone()), asked: Asked::Skill, open: false, because: because.to_owned(), always }
    }

    /// The question about a command, when all that stands against it is an ask.
    pub(crate) fn about_command(
        &self,
        skill: Option<&SkillId>,
        words: &[Option<String>],
        refusal: &Refusal,
    ) -> Option<Question> {
        let rule = refusal.asking()?;
        let always = match &refusal.remedy {
            _ if self.is_managed(rule) => Always::Never,
            Some(pattern) if *rule.place() == Place::BuiltIn => Always::Rule(pattern.clone()),
            _ => Always::Session,
        };
        Some(Question {
            skill: skill.cloned(),
            asked: Asked::Command(words.iter().map_while(Clone::clone).collect()),
            open: words.contains(&None),
            because: rule.to_string(),
            always,
        })
    }

    fn is_managed(&self, rule: &Rule) -> bool {
        self.managed.contains(rule)
    }

    /// Asks one question and records the answer.
    pub(crate) fn ask(&self, question: &Question, trail: &Trail) -> Result<Answer, AuditError> {
        let Some(answerer) = &self.answerer else { return Ok(Answer::No) };
        let one_at_a_time = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = match (answerer.answer(question), &question.always) {
            (Answer::Always, Always::Never) => Answer::Once,
            (answer, _) => answer,
        };
        drop(one_at_a_time);
        trail.record(&AuditEvent::Answer {
            asked: question.asked.clone(),
            rule: question.because.clone(),
            answer: answer.as_str(),
        })?;
        Ok(answer)
    }

    /// Keeps an agreement to a command: for the invocation, and for the session when it is for always.
    pub(crate) fn agree(&self, answer: Answer, own: &Answers, words: &[Option<String>], refusal: &Refusal) {
        let Some(rule) = refusal.asking() else { return };
        match answer {
            Answer::No => return,
            Answer::Once => {}
            Answer::Always => {
                // A word that is not known yet may become anything, which nobody agreed to for always.
                if !words.contains(&None) {
                    self.commands.agree(rule, words.iter().cloned());
                }
                // No wider than an allowing rule of this pattern would be.
                if let Some(pattern) = refusal.remedy.as_deref().and_then(|text| ToolPattern::parse(text).ok()) {
                    self.commands.agree_to_all(rule, pattern);
                }
            }
        }
        own.agree(rule, words.iter().cloned());
    }
}

/// Asks about commands whose vector is known only while their program runs.
#[derive(Debug)]
pub(crate) struct LateAsker {
    pub(crate) consent: Arc<Consent>,
    pub(crate) own: Answers,
    pub(crate) trail: Trail,
}

impl Asker for LateAsker {
    fn ask(&self, vector: &[String], refusal: Refusal) -> Result<(), RunError> {
        let words: Vec<Option<String>> = vector.iter().cloned().map(Some).collect();
        let skill = self.trail.context().skill.as_ref();
        let Some(question) = self.consent.about_command(skill, &words, &refusal) else { return Err(refusal.into()) };
        match self.consent.ask(&question, &self.trail)? {
            Answer::No => Err(refusal.declined().into()),
            answer => {
                self.consent.agree(answer, &self.own, &words, &refusal);
                Ok(())
            }
        }
    }
}
