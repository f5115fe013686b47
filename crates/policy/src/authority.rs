use crate::carrier::carrier;
use crate::caveat::{Caveat, CaveatKind};
use crate::command::{CommandPattern, Match};
use crate::host::{Decided, Defaults, Host, path_patterns};
use crate::index::{CommandIndex, Entry, Members};
use crate::level::Level;
use crate::paths::{PathBase, PathRules, READS, WRITES};
use crate::pattern::ToolPattern;
use crate::request::{Known, Provider};
use crate::rule::{Effect, Rule};
use serde::Serialize;
use skillgate_core::{Frontmatter, Guarded, SkillId};
use std::cell::OnceCell;
use std::sync::{Arc, LazyLock, OnceLock};

/// `host ∧ caveat₁ ∧ caveat₂ ∧ …`, kept as a list: an action is permitted when every member permits it. Adding a caveat can
/// only take away, whatever it says; order and repetition change nothing.
#[derive(Clone, Debug)]
pub struct Authority {
    host: Host,
    caveats: Vec<Caveat>,
    approvals: Vec<Approval>,
    /// Made at the first decision.
    index: OnceLock<Arc<CommandIndex>>,
}

/// What the list of one skill answers, where the host lets it.
#[derive(Clone, PartialEq, Debug)]
struct Approval {
    skill: SkillId,
    patterns: Vec<ToolPattern>,
}

impl PartialEq for Authority {
    fn eq(&self, other: &Self) -> bool {
        self.host == other.host && self.caveats == other.caveats && self.approvals == other.approvals
    }
}

/// Patterns that several lists are compared by; more say nothing more about whether they have anything in common.
const MAX_COMMON: usize = 256;

/// One of the host's patterns that still permits something, with the caveats that apply to it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct EffectiveEntry {
    /// The host's pattern.
    pub pattern: String,
    /// The patterns of the caveats that narrow it further, one list per caveat.
    pub narrowed_by: Vec<Vec<String>>,
}

/// The built-in default in the form of a pattern, which parses by construction.
static BUILT_IN: LazyLock<Option<ToolPattern>> = LazyLock::new(|| ToolPattern::parse("Bash").ok());

impl Authority {
    /// What the host grants, with nothing taken away.
    #[must_use]
    pub fn of(host: Host) -> Self {
        Self { host, caveats: Vec::new(), approvals: Vec::new(), index: OnceLock::new() }
    }

    /// The meet with one more caveat.
    #[must_use]
    pub fn with(mut self, caveat: Caveat) -> Self {
        if !self.caveats.contains(&caveat) {
            self.caveats.push(caveat);
            self.index = OnceLock::new();
        }
        self
    }

    /// Lets what the `allowed-tools` of a skill lists answer what asks, as far as the host's [`PreApproval`](crate::PreApproval) goes: for this
    /// skill's source, inside the tools it names, never over a denying rule or a managed ask. Without one it changes nothing.
    ///
    /// To be called for a skill whose present content the host trusts. Every skill that narrows the authority has to be
    /// pre-approved for an action before none of them is asked about it, so that a skill which another one invokes never gains
    /// what its parent did not have.
    #[must_use]
    pub fn pre_approved_by(mut self, skill: &SkillId, header: &Frontmatter) -> Self {
        let covered = self.host.pre_approval().is_some_and(|approval| approval.sources.contains(&skill.source));
        if let (true, Guarded::Present(entries)) = (covered, &header.allowed_tools) {
            let patterns = entries.value.iter().filter_map(|entry| ToolPattern::parse(&entry.value).ok()).collect();
            let approval = Approval { skill: skill.clone(), patterns };
            if !self.approvals.contains(&approval) {
                self.approvals.push(approval);
                self.index = OnceLock::new();
            }
        }
        self
    }

    /// The skill whose list answers an ask about an action that `permits` says whether a pattern permits.
    pub(crate) fn pre_approval(&self, permits: &dyn Fn(&ToolPattern) -> bool) -> Option<&SkillId> {
        let approval = self.host.pre_approval()?;
        if !approval.tools.iter().any(permits) {
            return None;
        }
        let approves = |it: &&Approval| it.patterns.iter().any(permits);
        let by_everybody = self.caveats.iter().all(|caveat| {
            self.approvals.iter().filter(|approval| approval.skill == caveat.skill).any(|approval| approves(&approval))
        });
        by_everybody.then(|| self.approvals.iter().find(approves).map(|approval| &approval.skill)).flatten()
    }

    /// The host's part.
    #[must_use]
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// What skills take away.
    #[must_use]
    pub fn caveats(&self) -> &[Caveat] {
        &self.caveats
    }

    /// Whether some shell command may run at all; without one, a skill runs no injection, not even `echo`.
    #[must_use]
    pub fn permits_some_command(&self) -> bool {
        self.index.get().map_or_else(|| self.has_a_command_in_common(), |index| index.permits_some_command)
    }

    fn index(&self) -> &CommandIndex {
        self.index.get_or_init(|| Arc::new(CommandIndex::of(&self.host, &self.caveats, self.has_a_command_in_common())))
    }

    fn has_a_command_in_common(&self) -> bool {
        // Where a skill's list may answer, what asks is as good as granted.
        let grants = |rule: &&Rule| {
            rule.effect() == Effect::Allow || (rule.effect() == Effect::Ask && !self.approvals.is_empty())
        };
        if !self.host.permits_some_command(grants) || !self.caveats.iter().all(Caveat::permits_some_command) {
            return false;
        }
        // What every list of patterns has in common; removals and denials can only be seen command by command.
        let mut common: Vec<CommandPattern> = match self.host.defaults() {
            Defaults::BuiltIn => vec![CommandPattern::Any],
            Defaults::Nothing => {
                let granting = self.host.rules().iter().filter(grants);
                granting.filter_map(|rule| rule.pattern().command().cloned()).collect()
            }
        };
        let mut narrow = |listed: Vec<&CommandPattern>| {
            common = common.iter().flat_map(|a| listed.iter().filter_map(|b| a.meet(b))).collect();
            common.truncate(MAX_COMMON);
        };
        for ceiling in self.host.closed() {
            narrow(ceiling.allowed().filter_map(ToolPattern::command).collect());
        }
        for caveat in &self.caveats {
            if let CaveatKind::Only { patterns, .. } = &caveat.kind {
                narrow(patterns.iter().filter_map(ToolPattern::command).collect());
            }
        }
        !common.is_empty()
    }

    /// What each member says about a command, as favourably as unknown words leave open; `answered` says whether an ask of a
    /// rule was answered.
    pub(crate) fn consider(
        &self,
        vector: &[Known<'_>],
        provider: Option<Provider>,
        answered: &dyn Fn(&Rule) -> bool,
    ) -> Considered<'_> {
        self.consider_among(&self.index().candidates(vector), vector, provider, answered)
    }

    fn consider_among(
        &self,
        candidates: &[Entry],
        vector: &[Known<'_>],
        provider: Option<Provider>,
        answered: &dyn Fn(&Rule) -> bool,
    ) -> Considered<'_> {
        let members = Members { host: &self.host };
        let carries = OnceCell::new();
        let permits = |pattern: &CommandPattern| {
            pattern.permits_unless(vector, &|| *carries.get_or_init(|| carrier(vector).is_some())) != Match::No
        };
        let takes = |pattern: &CommandPattern| pattern.matches(vector) == Match::Yes;
        let mut named = vec![false; self.caveats.len()];
        let mut matching = Vec::new();
        for entry in candidates {
            match *entry {
                Entry::Rule(at) => {
                    let Some((level, rule)) = members.rule(at) else { continue };
                    let Some(pattern) = rule.pattern().command() else { continue };
                    if if rule.effect() == Effect::Allow { permits(pattern) } else { takes(pattern) } {
                        matching.push((level, rule));
                    }
                }
                Entry::Caveat(at, which) => {
                    let (Some(caveat), Some(named)) = (self.caveats.get(at), named.get_mut(at)) else { continue };
                    let Some(pattern) = caveat.patterns().get(which).and_then(ToolPattern::command) else { continue };
                    *named = *named
                        || match &caveat.kind {
                            CaveatKind::Only { .. } => permits(pattern),
                            CaveatKind::Without(_) => takes(pattern),
                            CaveatKind::Nothing { .. } => false,
                        };
                }
            }
        }
        let certain =
            |pattern: &ToolPattern| pattern.command().is_some_and(|pattern| pattern.permits(vector) == Match::Yes);
        let pre_approved_by = OnceCell::new();
        let answered = |level, rule: &Rule| {
            answered(rule)
                || (!matches!(level, Level::Managed { .. })
                    && pre_approved_by.get_or_init(|| self.pre_approval(&certain)).is_some())
        };
        let host = self.host.decide(matching.into_iter(), self.host.default_for(provider), answered);
        let takes_away = |(caveat, named): &(&Caveat, bool)| match &caveat.kind {
            CaveatKind::Nothing { .. } => true,
            CaveatKind::Only { .. } => !named,
            CaveatKind::Without(_) => *named,
        };
        let all = || self.caveats.iter().zip(named.iter().copied());
        let narrowing = all().find(takes_away).map(|(caveat, _)| caveat);
        let forbidding = all().filter(takes_away).map(|(caveat, _)| caveat);
        let forbidding = forbidding.into_iter().find(|caveat| !matches!(caveat.kind, CaveatKind::Only { .. }));
        let pre_approved_by = pre_approved_by.into_inner().flatten();
        Considered { host, narrowing, forbidding, pre_approved_by }
    }

    /// Whether the shell itself may read a file for a built-in: every member permits every command, or reading.
    pub(crate) fn shell_may_read(&self) -> bool {
        self.everywhere(&|pattern| pattern.command() == Some(&CommandPattern::Any) || pattern.tool() == "Read")
    }

    /// Whether every member allows something with a pattern of a kind.
    pub(crate) fn everywhere(&self, kind: &dyn Fn(&ToolPattern) -> bool) -> bool {
        let allows = |rule: &Rule| rule.effect() == Effect::Allow && kind(rule.pattern());
        let host = self.host.defaults() == Defaults::BuiltIn || self.host.rules().iter().any(allows);
        let listed = self.host.closed().all(|ceiling| ceiling.allowed().any(kind));
        host && listed
            && self.caveats.iter().all(|caveat| match &caveat.kind {
                CaveatKind::Only { patterns, .. } => patterns.iter().any(kind),
                CaveatKind::Without(_) => true,
                CaveatKind::Nothing { .. } => false,
            })
    }

    /// The host's allowing command patterns that survive, with the caveats that still apply to each.
    #[must_use]
    pub fn effective(&self) -> Vec<EffectiveEntry> {
        if !self.permits_some_command() {
            return Vec::new();
        }
        let allowed = self.host.rules().iter().filter(|rule| rule.effect() == Effect::Allow).map(Rule::pattern);
        let entry = |text: &str, pattern: &ToolPattern| {
            let narrowed_by =
                self.caveats.iter().map(|caveat| caveat.applying_to(pattern)).collect::<Option<Vec<_>>>()?;
            let narrowed_by = narrowed_by.into_iter().filter(|list| !list.is_empty()).collect();
            Some(EffectiveEntry { pattern: text.to_owned(), narrowed_by })
        };
        let mut entries: Vec<EffectiveEntry> = allowed.filter_map(|pattern| entry(pattern.text(), pattern)).collect();
        let builtin = BUILT_IN.as_ref().filter(|_| self.host.defaults() == Defaults::BuiltIn);
        entries.extend(builtin.and_then(|pattern| entry("Bash (shipped commands)", pattern)));
        entries
    }

    /// What the read and write patterns of every member say about paths below the project, where letters count as this
    /// system's file systems count them and the project's own place is not known.
    #[must_use]
    pub fn path_rules(&self) -> PathRules {
        self.path_rules_in(&PathBase::default())
    }

    /// As [`Authority::path_rules`], for a project whose place is known.
    #[must_use]
    pub fn path_rules_in(&self, base: &PathBase) -> PathRules {
        let mut rules = PathRules::new(base.clone());
        let managed = |level| matches!(level, Level::Managed { .. });
        let taken = |tools, effect, of: &dyn Fn(Level) -> bool| self.host.path_patterns(tools, effect, of);
        rules.hide(&taken(READS, Effect::Deny, &|_| true));
        self.host.all_rules().filter(|rule| rule.effect() != Effect::Allow).for_each(|rule| rules.hidden_for(rule));
        rules.forbid_writes(&taken(WRITES, Effect::Deny, &|_| true));
        // Asking for each file that a command opens is not possible; an unanswered ask refuses.
        rules.hide(&taken(READS, Effect::Ask, &managed));
        rules.forbid_writes(&taken(WRITES, Effect::Ask, &managed));
        rules.ask_to_show(&taken(READS, Effect::Ask, &|level| !managed(level)));
        rules.ask_to_write(&taken(WRITES, Effect::Ask, &|level| !managed(level)));
        rules.grant_writes(&taken(WRITES, Effect::Allow, &|level| level == Level::Host));
        for ceiling in self.host.closed() {
            rules.only(ceiling.allowed());
        }
        for caveat in &self.caveats {
            match &caveat.kind {
                CaveatKind::Nothing { .. } => rules.hide(&["**".to_owned()]),
                CaveatKind::Without(patterns) => {
                    rules.hide(&path_patterns(patterns.iter(), READS));
                    rules.forbid_writes(&path_patterns(patterns.iter(), WRITES));
                }
                CaveatKind::Only { patterns, .. } => rules.only(patterns.iter()),
            }
        }
        self.pre_approve_paths(&mut rules);
        rules
    }

    /// The paths whose ask is answered by the lists of every skill that narrows, inside what the host names.
    fn pre_approve_paths(&self, rules: &mut PathRules) {
        let Some(approval) = self.host.pre_approval() else { return };
        let mut lists: Vec<Vec<&ToolPattern>> = vec![approval.tools.iter().collect()];
        let listed_by = |skill: &SkillId| -> Vec<&ToolPattern> {
            self.approvals.iter().filter(|it| it.skill == *skill).flat_map(|it| &it.patterns).collect()
        };
        lists.push(self.approvals.iter().flat_map(|it| &it.patterns).collect());
        lists.extend(self.caveats.iter().map(|caveat| listed_by(&caveat.skill)));
        let patterns = |tools: &[&str]| -> Vec<Vec<String>> {
            lists.iter().map(|list| path_patterns(list.iter().copied(), tools)).collect()
        };
        rules.pre_approve(&patterns(READS), &patterns(WRITES));
    }
}

/// What each member of an authority says about one command.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Considered<'a> {
    pub(crate) host: Decided<'a>,
    /// The first caveat that does not let it through.
    pub(crate) narrowing: Option<&'a Caveat>,
    /// The first caveat that takes it away by name, so that not even a filter may run.
    pub(crate) forbidding: Option<&'a Caveat>,
    /// The skill whose list answered an ask.
    pub(crate) pre_approved_by: Option<&'a SkillId>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ceiling, Place, Restriction};
    use proptest::prelude::*;
    use proptest::sample::select;
    use skillgate_core::{CommandName, Digest, Source};

    fn pattern() -> impl Strategy<Value = ToolPattern> {
        let text = select(vec![
            "Bash",
            "Bash(git:*)",
            "Bash(g*)",
            "Bash(git log:*)",
            "Bash(git l*)",
            "Bash(git log)",
            "Bash(ls:*)",
            "Bash(ls)",
            "Bash(env ls)",
            "Bash(env:*)",
            "Read",
            "Bash(cat:*)",
        ]);
        text.prop_map(|text| ToolPattern::parse(text).expect("a pattern"))
    }

    fn authority() -> impl Strategy<Value = Authority> {
        let effect = || select(vec![Effect::Allow, Effect::Allow, Effect::Allow, Effect::Ask, Effect::Deny]);
        let rules = move || {
            let rule = (effect(), pattern()).prop_map(|(effect, pattern)| Rule::new(effect, pattern, Place::Host));
            prop::collection::vec(rule, 0..6)
        };
        let patterns = || prop::collection::vec(pattern(), 0..4);
        let caveats = prop::collection::vec((patterns(), any::<bool>()), 0..4);
        let ceiling = prop::option::of((rules(), any::<bool>()));
        (rules(), ceiling, rules(), caveats, any::<bool>()).prop_map(|(own, ceiling, project, caveats, defaults)| {
            let mut host = Host::new(own, if defaults { Defaults::BuiltIn } else { Defaults::Nothing });
            if let Some((rules, closed)) = ceiling {
                host = host.under(Ceiling::new(rules, closed));
            }
            let host = host.restricted(project.into_iter().filter_map(|rule| Restriction::try_from(rule).ok()));
            let skill = SkillId::new(Source::User, CommandName::new("s").expect("a name"));
            caveats.into_iter().fold(Authority::of(host), |authority, (patterns, only)| {
                let kind = if only {
                    CaveatKind::Only { patterns, unreadable: vec![] }
                } else {
                    CaveatKind::Without(patterns)
                };
                authority.with(Caveat { skill: skill.clone(), digest: Digest::of(b""), kind })
            })
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

        /// The index leaves out nothing that says something.
        #[test]
        fn a_decision_by_index_is_the_decision_by_every_rule(
            authority in authority(),
            words in prop::collection::vec(prop::option::weighted(0.9, select(vec!["git", "log", "ls", "env", "cat", "-x"])), 0..4),
            asked in any::<bool>(),
        ) {
            let vector: Vec<Known<'_>> =
                words.iter().map(|word| word.map_or(Known::Unknown, Known::Text)).collect();
            let answered = |_: &Rule| asked;
            let indexed = authority.consider(&vector, Some(Provider::Native), &answered);
            let naive = authority.consider_among(&authority.index().all(), &vector, Some(Provider::Native), &answered);
            prop_assert_eq!(indexed, naive);
        }
    }
}
