//! Skills that are looked for before a model asks for one.

use crate::invoked::AgentId;
use crate::tool::{SkillCall, SkillResult, SkillStatus};
use crate::{DiscoveredSkill, InvokeRequest, RankedSkill, Session};
use serde::Serialize;
use skillgate_core::{Context, Guarded};
use skillgate_policy::Invoker;
use skillgate_search::{
    AUTO_LOAD_LIMIT, AUTO_LOAD_MAX_CHARS, AUTO_LOAD_THRESHOLD, DEFAULT_LIMIT, Query, prefetch_query,
};

/// When skills are looked for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PrefetchSource {
    /// Before the first turn, which waits for it.
    TurnZero,
    /// While a turn runs, for the next one.
    BetweenTurns,
}

/// What to look for, and what to do with what is found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Prefetch<'a> {
    /// When.
    pub source: PrefetchSource,
    /// What was typed.
    pub input: Option<&'a str>,
    /// The user's last message, of which the beginning counts.
    pub last_user_message: Option<&'a str>,
    /// Whose turn it is.
    pub agent: AgentId,
    /// Whether what fits well is loaded at once. Its text then enters the conversation by nobody's act, so it is off by default.
    pub auto_load: bool,
}

impl<'a> Prefetch<'a> {
    /// Looks for what fits to this input.
    #[must_use]
    pub fn new(source: PrefetchSource, input: Option<&'a str>, last_user_message: Option<&'a str>) -> Self {
        Self { source, input, last_user_message, agent: AgentId::MAIN, auto_load: false }
    }

    /// Loads what fits well.
    #[must_use]
    pub fn auto_load(mut self, load: bool) -> Self {
        self.auto_load = load;
        self
    }
}

/// The attachment that tells a model of skills that may fit.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename = "skill_discovery")]
pub struct SkillDiscovery {
    /// When they were looked for.
    pub source: PrefetchSource,
    /// The skills, best first; those that were loaded are not among them.
    pub skills: Vec<DiscoveredSkill>,
}

/// What was found, and what was loaded of it.
#[derive(Clone, Debug, Default)]
pub struct Prefetched {
    /// What the model is told; nothing when no skill fits.
    pub attachment: Option<SkillDiscovery>,
    /// The skills whose text entered the conversation, as the Skill tool gives them.
    pub loaded: Vec<SkillResult>,
}

impl Session {
    /// Looks for skills that fit to what was typed and to the user's last message.
    ///
    /// With [`Prefetch::auto_load`] at most two that fit well are loaded, of 12,000 characters together. That is an invocation by
    /// the model: the same gate decides, and the conversation keeps it. A skill that runs something, has hooks, wants an agent of its
    /// own, or on which the decision is anything but allow is told of, not loaded.
    #[must_use]
    pub fn prefetch(&self, wanted: &Prefetch<'_>) -> Prefetched {
        let query = prefetch_query(wanted.input, wanted.last_user_message);
        if query.is_empty() || self.skills_off().is_some() {
            return Prefetched::default();
        }
        let mut prefetched = Prefetched::default();
        let mut left = AUTO_LOAD_MAX_CHARS;
        let mut skills = Vec::new();
        for found in self.search_skills(&Query::new(&query).limit(DEFAULT_LIMIT)) {
            let fits = found.score >= AUTO_LOAD_THRESHOLD && prefetched.loaded.len() < AUTO_LOAD_LIMIT;
            let loaded = if wanted.auto_load && fits { self.load(&found, wanted, &mut left) } else { None };
            match loaded {
                Some(loaded) => prefetched.loaded.push(loaded),
                None => skills.push(DiscoveredSkill::of(&found)),
            }
        }
        prefetched.attachment = (!skills.is_empty()).then_some(SkillDiscovery { source: wanted.source, skills });
        prefetched
    }

    /// Loads the skill if it is nothing but text that may be used and that there is room for.
    fn load(&self, found: &RankedSkill, wanted: &Prefetch<'_>, left: &mut usize) -> Option<SkillResult> {
        let request = InvokeRequest::new(&found.name, Invoker::Model).agent(wanted.agent.clone());
        let plan = self.plan_of(&found.skill, &request).ok()?;
        let header = plan.text.document.frontmatter();
        let is_inline = header.context.as_ref().is_none_or(|context| context.value == Context::Inline);
        let is_text = plan.injections.is_empty() && header.hooks == Guarded::Absent && is_inline;
        let chars = plan.text.document.body().chars().count();
        if !is_text || chars > *left || plan.objection().is_some() {
            return None;
        }
        let call = SkillCall::new(&found.name, Invoker::Model).agent(wanted.agent.clone());
        let result = self.call_skill(&call).ok().filter(|result| result.status == SkillStatus::Inline)?;
        *left -= chars;
        Some(result)
    }
}
