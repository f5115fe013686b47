//! What the skills in use take away, and which model and effort they ask for: until the turn ends, or they are unloaded.

use crate::invoked::AgentId;
use skillgate_core::{Digest, Effort, Frontmatter, SkillId};
use skillgate_policy::{Authority, Caveat, Host};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A skill in use: since it was invoked, and until the turn ends or it is unloaded.
#[derive(Clone, PartialEq, Debug)]
pub struct ActiveSkill {
    /// The skill.
    pub skill: SkillId,
    /// Digest of the content that was decided on.
    pub digest: Digest,
    /// What it takes away.
    pub caveats: Vec<Caveat>,
    /// The model it asks for; `None` for the conversation's own.
    pub model: Option<String>,
    /// The effort it asks for.
    pub effort: Option<Effort>,
    /// The header whose `allowed-tools` may answer what asks, where the host trusts this content with it
    /// ([`Authority::pre_approved_by`]). Never saved.
    pub pre_approval: Option<Arc<Frontmatter>>,
}

impl ActiveSkill {
    /// A skill that takes nothing away and asks for nothing.
    #[must_use]
    pub fn new(skill: SkillId, digest: Digest) -> Self {
        Self { skill, digest, caveats: Vec::new(), model: None, effort: None, pre_approval: None }
    }
}

/// The skills that one agent has in use, the latest last, on top of those that were in use where the agent began.
///
/// The authority is computed from the whole stack each time it is asked for: nothing a skill did before it left can stay, and
/// no order of entering and leaving gives more than the host now.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ActiveSkills {
    inherited: Vec<ActiveSkill>,
    stack: Vec<ActiveSkill>,
}

impl ActiveSkills {
    /// No skill in use.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    pub(crate) fn from_parts(inherited: Vec<ActiveSkill>, stack: Vec<ActiveSkill>) -> Self {
        Self { inherited, stack }
    }

    /// Takes a skill into use. What the same skill took away before stays taken away until it leaves: an edit in the middle of
    /// a turn gives nothing back.
    pub fn enter(&mut self, mut skill: ActiveSkill) {
        if let Some(at) = self.stack.iter().position(|active| active.skill == skill.skill) {
            for caveat in self.stack.remove(at).caveats {
                if !skill.caveats.contains(&caveat) {
                    skill.caveats.push(caveat);
                }
            }
        }
        self.stack.push(skill);
    }

    /// Takes a skill out of use; says whether it was. What the agent began with stays.
    pub fn leave(&mut self, skill: &SkillId) -> bool {
        let before = self.stack.len();
        self.stack.retain(|active| active.skill != *skill);
        self.stack.len() < before
    }

    /// Takes back what was granted and wished for the sake of a skill that is not what it was: nothing that was read from another
    /// text than that of `digest` approves anything in advance, and when there is no text any more, its model and its effort go
    /// too. What it took away stays taken away.
    pub(crate) fn withdraw(&mut self, skill: &SkillId, digest: Option<Digest>) {
        let active = self.inherited.iter_mut().chain(&mut self.stack);
        for active in active.filter(|active| active.skill == *skill && Some(active.digest) != digest) {
            active.pre_approval = None;
            if digest.is_none() {
                (active.model, active.effort) = (None, None);
            }
        }
    }

    /// Ends the turn: all skills leave. Gives them, the latest last.
    pub fn end_turn(&mut self) -> Vec<SkillId> {
        std::mem::take(&mut self.stack).into_iter().map(|active| active.skill).collect()
    }

    /// What an agent begins with that is forked here: all that is in use, and it cannot leave.
    #[must_use]
    pub fn fork(&self) -> Self {
        Self { inherited: self.all().cloned().collect(), stack: Vec::new() }
    }

    /// What the host grants now, less what every skill in use takes away.
    #[must_use]
    pub fn authority(&self, host: Host) -> Authority {
        let narrowed =
            self.all().flat_map(|active| &active.caveats).cloned().fold(Authority::of(host), Authority::with);
        self.all().fold(narrowed, |authority, active| match &active.pre_approval {
            Some(header) if self.is_of_one_content(active) => authority.pre_approved_by(&active.skill, header),
            _ => authority,
        })
    }

    /// Whether everything that is in use of a skill was read from one content. What its list answers was granted for that one.
    fn is_of_one_content(&self, active: &ActiveSkill) -> bool {
        let digests = |other: &ActiveSkill| {
            other.caveats.iter().map(|caveat| caveat.digest).chain([other.digest]).all(|digest| digest == active.digest)
        };
        self.all().filter(|other| other.skill == active.skill).all(digests)
    }

    /// The model that the latest skill with a wish asks for.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        self.all().rev().find_map(|active| active.model.as_deref())
    }

    /// The effort that the latest skill with a wish asks for.
    #[must_use]
    pub fn effort(&self) -> Option<&Effort> {
        self.all().rev().find_map(|active| active.effort.as_ref())
    }

    /// Whether a skill is in use, or was where the agent began.
    #[must_use]
    pub fn holds(&self, skill: &SkillId) -> bool {
        self.all().any(|active| active.skill == *skill)
    }

    /// What was in use where the agent began.
    #[must_use]
    pub fn inherited(&self) -> &[ActiveSkill] {
        &self.inherited
    }

    /// What the agent took into use itself, the latest last.
    #[must_use]
    pub fn own(&self) -> &[ActiveSkill] {
        &self.stack
    }

    /// Whether no skill is in use.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.inherited.is_empty() && self.stack.is_empty()
    }

    fn all(&self) -> impl DoubleEndedIterator<Item = &ActiveSkill> {
        self.inherited.iter().chain(&self.stack)
    }
}

/// The skills in use, agent by agent.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TurnScopes {
    agents: BTreeMap<AgentId, ActiveSkills>,
}

impl TurnScopes {
    /// No skill in use anywhere.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What an agent has in use.
    #[must_use]
    pub fn of(&self, agent: &AgentId) -> ActiveSkills {
        self.agents.get(agent).cloned().unwrap_or_default()
    }

    pub(crate) fn get(&self, agent: &AgentId) -> Option<&ActiveSkills> {
        self.agents.get(agent)
    }

    /// What the host grants an agent now, less what its skills in use take away.
    #[must_use]
    pub fn authority(&self, agent: &AgentId, host: Host) -> Authority {
        self.agents.get(agent).map_or_else(|| Authority::of(host.clone()), |active| active.authority(host.clone()))
    }

    /// Takes a skill into use.
    pub fn enter(&mut self, agent: &AgentId, skill: ActiveSkill) {
        self.agents.entry(agent.clone()).or_default().enter(skill);
    }

    /// Takes a skill out of use for one agent; says whether it was.
    pub fn leave(&mut self, agent: &AgentId, skill: &SkillId) -> bool {
        self.change(agent, |active| active.leave(skill)).unwrap_or_default()
    }

    /// As [`ActiveSkills::withdraw`], for every agent.
    pub(crate) fn withdraw(&mut self, skill: &SkillId, digest: Option<Digest>) {
        self.agents.values_mut().for_each(|active| active.withdraw(skill, digest));
    }

    /// Ends an agent's turn. Gives the skills that leave.
    pub fn end_turn(&mut self, agent: &AgentId) -> Vec<SkillId> {
        self.change(agent, ActiveSkills::end_turn).unwrap_or_default()
    }

    /// Begins an agent below another one: what it may do is at most what its parent may do now, also when the parent's skills
    /// leave later.
    pub fn fork(&mut self, parent: &AgentId, child: AgentId) {
        let scope = self.agents.get(parent).map(ActiveSkills::fork).unwrap_or_default();
        self.agents.insert(child, scope);
    }

    /// Forgets an agent that has ended. The main agent does not end.
    pub fn end_agent(&mut self, agent: &AgentId) {
        if !agent.is_main() {
            self.agents.remove(agent);
        }
    }

    /// Begins a new conversation: forgets everything but what belongs to these agents.
    pub fn clear(&mut self, preserve: &[AgentId]) {
        self.agents.retain(|agent, _| preserve.contains(agent));
    }

    pub(crate) fn agents(&self) -> impl Iterator<Item = (&AgentId, &ActiveSkills)> {
        self.agents.iter()
    }

    pub(crate) fn insert(&mut self, agent: AgentId, active: ActiveSkills) {
        self.agents.insert(agent, active);
    }

    /// Changes what an agent has in use. One with nothing is not kept.
    fn change<T>(&mut self, agent: &AgentId, act: impl FnOnce(&mut ActiveSkills) -> T) -> Option<T> {
        let active = self.agents.get_mut(agent)?;
        let value = act(active);
        if active.is_empty() {
            self.agents.remove(agent);
        }
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillgate_core::{CommandName, Field, Guarded, Source, Span};
    use skillgate_policy::{Action, CaveatKind, Decision, Effect, Place, PreApproval, Provider, Rule, ToolPattern};

    fn id(name: &str) -> SkillId {
        SkillId::new(Source::User, CommandName::new(name).expect("a name"))
    }

    fn host() -> Host {
        Host::granting([Rule::parse(Effect::Allow, "Bash", Place::Host).expect("a rule")])
    }

    /// A skill that is content with these tools.
    fn only(name: &str, patterns: &[&str]) -> ActiveSkill {
        let patterns = patterns.iter().map(|text| ToolPattern::parse(text).expect("a pattern")).collect();
        let digest = Digest::of(name.as_bytes());
        let kind = CaveatKind::Only { patterns, unreadable: Vec::new() };
        ActiveSkill { caveats: vec![Caveat { skill: id(name), digest, kind }], ..ActiveSkill::new(id(name), digest) }
    }

    fn may(active: &ActiveSkills, host: Host, line: &str) -> Effect {
        effect(&active.authority(host).decide(&Action::command(line.split(' '), Provider::Shipped)))
    }

    fn effect(decision: &Decision) -> Effect {
        decision.effect
    }

    #[test]
    fn the_authority_is_recomputed_from_what_remains() {
        let mut active = ActiveSkills::new();
        active.enter(only("a", &["Bash(git:*)", "Bash(ls:*)"]));
        active.enter(only("b", &["Bash(git log:*)"]));
        let expect = |active: &ActiveSkills, expected: [Effect; 3]| {
            let lines = ["git log", "git status", "rm x"];
            assert_eq!(lines.map(|line| may(active, host(), line)), expected, "{active:?}");
        };
        use Effect::{Allow, Deny};
        expect(&active, [Allow, Deny, Deny]);
        assert!(active.leave(&id("b")));
        expect(&active, [Allow, Allow, Deny]);
        assert!(!active.leave(&id("b")));
        assert_eq!(active.end_turn(), [id("a")]);
        expect(&active, [Allow, Allow, Allow]);
        // The host is the one of now, whatever it was when the skills were taken into use.
        active.enter(only("a", &["Bash"]));
        assert_eq!(may(&active, Host::granting([]), "git log"), Deny);
    }

    #[test]
    fn an_edit_in_the_middle_of_a_turn_gives_nothing_back() {
        let mut active = ActiveSkills::new();
        active.enter(only("a", &["Bash(ls:*)"]));
        let mut wider = only("a", &["Bash"]);
        wider.digest = Digest::of(b"edited");
        wider.caveats[0].digest = wider.digest;
        active.enter(wider);
        assert_eq!(active.own().len(), 1);
        assert_eq!((may(&active, host(), "ls"), may(&active, host(), "rm x")), (Effect::Allow, Effect::Deny));
        assert!(active.leave(&id("a")));
        assert_eq!(may(&active, host(), "rm x"), Effect::Allow);
    }

    #[test]
    fn an_agent_has_at_most_what_its_parent_had_and_what_it_took_into_use_itself() {
        let (main, child) = (AgentId::MAIN, AgentId::new("x").expect("a name"));
        let mut scopes = TurnScopes::new();
        scopes.enter(&main, only("parent", &["Bash(git:*)"]));
        scopes.fork(&main, child.clone());
        scopes.enter(&child, only("own", &["Bash(git log:*)", "Bash(rm:*)"]));
        let may = |scopes: &TurnScopes, agent: &AgentId, line: &str| may(&scopes.of(agent), host(), line);
        assert_eq!(
            ["git log", "git push", "rm x"].map(|line| may(&scopes, &child, line)),
            [Effect::Allow, Effect::Deny, Effect::Deny]
        );
        // Nothing that the child leaves, and no turn of anybody, gives it more than its parent had.
        assert_eq!(scopes.end_turn(&child), [id("own")]);
        assert!(!scopes.leave(&child, &id("parent")));
        assert_eq!(scopes.end_turn(&main), [id("parent")]);
        assert_eq!((may(&scopes, &child, "git push"), may(&scopes, &child, "rm x")), (Effect::Allow, Effect::Deny));
        assert_eq!(may(&scopes, &main, "rm x"), Effect::Allow, "the turn of the main agent ended");
        scopes.end_agent(&child);
        assert!(scopes.of(&child).is_empty());
        scopes.enter(&child, only("own", &[]));
        scopes.enter(&main, only("parent", &[]));
        scopes.clear(std::slice::from_ref(&child));
        assert!(scopes.of(&main).is_empty() && !scopes.of(&child).is_empty());
    }

    #[test]
    fn the_latest_wish_counts_and_ends_with_its_skill() {
        let mut active = ActiveSkills::new();
        active.enter(ActiveSkill {
            model: Some("small".to_owned()),
            effort: Some(Effort::Low),
            ..ActiveSkill::new(id("a"), Digest::ZERO)
        });
        active.enter(ActiveSkill { model: Some("large".to_owned()), ..ActiveSkill::new(id("b"), Digest::ZERO) });
        assert_eq!((active.model(), active.effort()), (Some("large"), Some(&Effort::Low)));
        assert_eq!(active.fork().model(), Some("large"));
        active.leave(&id("b"));
        assert_eq!(active.model(), Some("small"));
        active.end_turn();
        assert_eq!((active.model(), active.effort()), (None, None));
    }

    #[test]
    fn a_pre_approval_ends_with_its_skill_and_with_its_content() {
        let asking = Rule::parse(Effect::Ask, "Bash(ls:*)", Place::Host).expect("a rule");
        let tools = vec![ToolPattern::parse("Bash").expect("a pattern")];
        let host = Host::new([asking], skillgate_policy::Defaults::BuiltIn)
            .pre_approve(PreApproval { sources: vec![Source::User], tools });
        let list = vec![Field::new("Bash(ls:*)".to_owned(), Span::new(0, 0))];
        let header = Frontmatter {
            allowed_tools: Guarded::Present(Field::new(list, Span::new(0, 0))),
            ..Frontmatter::default()
        };
        let approving = ActiveSkill { pre_approval: Some(Arc::new(header)), ..only("a", &["Bash(ls:*)"]) };
        let mut active = ActiveSkills::new();
        assert_eq!(may(&active, host.clone(), "ls"), Effect::Ask);
        active.enter(approving.clone());
        assert_eq!(may(&active, host.clone(), "ls"), Effect::Allow);
        active.enter(ActiveSkill { digest: Digest::of(b"edited"), ..approving.clone() });
        assert_eq!(may(&active, host.clone(), "ls"), Effect::Ask, "it answered for another content");
        active.end_turn();
        active.enter(approving.clone());
        active.leave(&id("a"));
        assert_eq!(may(&active, host.clone(), "ls"), Effect::Ask);
        // The text is another on the disk: nobody has to call it for that.
        let edited = Digest::of(b"edited");
        let (main, child) = (AgentId::MAIN, AgentId::new("x").expect("a name"));
        for (digest, effect) in
            [(Some(approving.digest), Effect::Allow), (Some(edited), Effect::Ask), (None, Effect::Ask)]
        {
            let mut scopes = TurnScopes::new();
            scopes.enter(&main, ActiveSkill { model: Some("small".to_owned()), ..approving.clone() });
            scopes.fork(&main, child.clone());
            scopes.withdraw(&id("other"), None);
            scopes.withdraw(&id("a"), digest);
            for agent in [&main, &child] {
                let active = scopes.of(agent);
                assert_eq!(may(&active, host.clone(), "ls"), effect, "{agent}");
                assert_eq!(may(&active, host.clone(), "rm x"), Effect::Deny, "what it takes away stays");
                assert_eq!(active.model().is_some(), digest.is_some(), "{agent}");
            }
        }
    }
}
