use crate::command::{CommandPattern, Match};
use crate::host::{Host, path_patterns};
use crate::paths::PathRules;
use crate::pattern::ToolPattern;
use crate::request::Known;
use crate::rule::Effect;
use serde::Serialize;
use skillgate_core::{Digest, Frontmatter, Guarded, SkillId};

/// What one skill takes away. A caveat never permits anything: it is one more condition.
#[derive(Clone, PartialEq, Debug)]
pub struct Caveat {
    /// Whose caveat it is.
    pub skill: SkillId,
    /// The content it was read from.
    pub digest: Digest,
    /// What it takes away.
    pub kind: CaveatKind,
}

/// The ways in which a skill narrows.
#[derive(Clone, PartialEq, Debug)]
pub enum CaveatKind {
    /// `allowed-tools`: only what one of these patterns permits. Empty: nothing.
    Only {
        /// The entries that could be read.
        patterns: Vec<ToolPattern>,
        /// The entries that could not, which permit nothing.
        unreadable: Vec<String>,
    },
    /// `disallowed-tools`: nothing that one of these patterns matches.
    Without(Vec<ToolPattern>),
    /// Nothing at all, because a key that decides over authority could not be read.
    Nothing {
        /// Why, as a sentence.
        reason: String,
    },
}

impl Caveat {
    /// The caveats of a skill's header: none when it says nothing, and the strictest where it cannot be read.
    #[must_use]
    pub fn of_header(skill: &SkillId, digest: Digest, header: &Frontmatter, header_lost: bool) -> Vec<Caveat> {
        let caveat = |kind| Caveat { skill: skill.clone(), digest, kind };
        let mut caveats = Vec::new();
        if header_lost {
            caveats.push(caveat(CaveatKind::Nothing { reason: "its header cannot be read".to_owned() }));
        }
        match &header.allowed_tools {
            Guarded::Absent => {}
            Guarded::Unreadable(_) => {
                caveats.push(caveat(CaveatKind::Nothing { reason: "`allowed-tools` cannot be read".to_owned() }));
            }
            Guarded::Present(entries) => {
                let (mut patterns, mut unreadable) = (Vec::new(), Vec::new());
                for entry in &entries.value {
                    match ToolPattern::parse(&entry.value) {
                        Ok(pattern) => patterns.push(pattern),
                        Err(_) => unreadable.push(entry.value.clone()),
                    }
                }
                caveats.push(caveat(CaveatKind::Only { patterns, unreadable }));
            }
        }
        match &header.disallowed_tools {
            Guarded::Absent => {}
            Guarded::Unreadable(_) => {
                caveats.push(caveat(CaveatKind::Nothing { reason: "`disallowed-tools` cannot be read".to_owned() }));
            }
            Guarded::Present(entries) => {
                let parsed: Result<Vec<_>, _> =
                    entries.value.iter().map(|entry| ToolPattern::parse(&entry.value)).collect();
                caveats.push(caveat(match parsed {
                    Ok(patterns) => CaveatKind::Without(patterns),
                    // A removal that cannot be understood might have meant anything.
                    Err(error) => CaveatKind::Nothing { reason: format!("`disallowed-tools`: {error}") },
                }));
            }
        }
        caveats
    }

    /// Whether the caveat lets a vector through, as favourably as unknown words leave open.
    pub(crate) fn permits_command(&self, vector: &[Known<'_>]) -> bool {
        match &self.kind {
            CaveatKind::Nothing { .. } => false,
            CaveatKind::Only { patterns, .. } => {
                patterns.iter().filter_map(ToolPattern::command).any(|pattern| pattern.permits(vector) != Match::No)
            }
            CaveatKind::Without(patterns) => !self.removes_command(patterns, vector),
        }
    }

    fn removes_command(&self, patterns: &[ToolPattern], vector: &[Known<'_>]) -> bool {
        patterns.iter().filter_map(ToolPattern::command).any(|pattern| pattern.matches(vector) == Match::Yes)
    }

    /// Whether the caveat takes a vector away by name, so that not even a filter may run.
    pub(crate) fn forbids_command(&self, vector: &[Known<'_>]) -> bool {
        match &self.kind {
            CaveatKind::Nothing { .. } => true,
            CaveatKind::Only { .. } => false,
            CaveatKind::Without(patterns) => self.removes_command(patterns, vector),
        }
    }

    /// Whether some shell command may run under the caveat.
    pub(crate) fn permits_some_command(&self) -> bool {
        match &self.kind {
            CaveatKind::Nothing { .. } => false,
            CaveatKind::Only { patterns, .. } => patterns.iter().any(|pattern| pattern.command().is_some()),
            CaveatKind::Without(patterns) => {
                !patterns.iter().any(|pattern| pattern.command() == Some(&crate::CommandPattern::Any))
            }
        }
    }

    /// The texts of the caveat's patterns, for reports.
    #[must_use]
    pub fn pattern_texts(&self) -> Vec<String> {
        match &self.kind {
            CaveatKind::Nothing { .. } => Vec::new(),
            CaveatKind::Only { patterns, .. } => patterns.iter().map(|pattern| pattern.text().to_owned()).collect(),
            CaveatKind::Without(patterns) => patterns.iter().map(|pattern| format!("not {}", pattern.text())).collect(),
        }
    }
}

/// `host ∧ caveat₁ ∧ caveat₂ ∧ …`, kept as a list: an action is permitted when every member permits it. Adding a caveat can
/// only take away, whatever it says; order and repetition change nothing.
#[derive(Clone, PartialEq, Debug)]
pub struct Authority {
    host: Host,
    caveats: Vec<Caveat>,
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

impl Authority {
    /// What the host grants, with nothing taken away.
    #[must_use]
    pub fn of(host: Host) -> Self {
        Self { host, caveats: Vec::new() }
    }

    /// The meet with one more caveat.
    #[must_use]
    pub fn with(mut self, caveat: Caveat) -> Self {
        if !self.caveats.contains(&caveat) {
            self.caveats.push(caveat);
        }
        self
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
        if !self.host.permits_some_command() || !self.caveats.iter().all(Caveat::permits_some_command) {
            return false;
        }
        // What every list of patterns has in common; removals and denials can only be seen command by command.
        let mut common: Vec<CommandPattern> = match self.host.defaults() {
            crate::Defaults::BuiltIn => vec![CommandPattern::Any],
            crate::Defaults::Nothing => {
                let allowing = self.host.rules().iter().filter(|rule| rule.effect() == Effect::Allow);
                allowing.filter_map(|rule| rule.pattern().command().cloned()).collect()
            }
        };
        for caveat in &self.caveats {
            if let CaveatKind::Only { patterns, .. } = &caveat.kind {
                let listed: Vec<&CommandPattern> = patterns.iter().filter_map(ToolPattern::command).collect();
                common = common.iter().flat_map(|a| listed.iter().filter_map(|b| a.meet(b))).collect();
                common.truncate(MAX_COMMON);
            }
        }
        !common.is_empty()
    }

    /// Whether the shell itself may read a file for a built-in: every member permits every command, or reading.
    pub(crate) fn shell_may_read(&self) -> bool {
        self.everywhere(&|pattern| pattern.command() == Some(&CommandPattern::Any) || pattern.tool() == "Read")
    }

    /// Whether every member allows something with a pattern of a kind.
    pub(crate) fn everywhere(&self, kind: &dyn Fn(&ToolPattern) -> bool) -> bool {
        let allows = |rule: &crate::Rule| rule.effect() == Effect::Allow && kind(rule.pattern());
        let host = self.host.defaults() == crate::Defaults::BuiltIn || self.host.rules().iter().any(allows);
        host && self.caveats.iter().all(|caveat| match &caveat.kind {
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
        let narrowed_by: Vec<_> = self.caveats.iter().map(Caveat::pattern_texts).collect();
        let allowed = self.host.rules().iter().filter(|rule| rule.effect() == Effect::Allow);
        let builtin = (self.host.defaults() == crate::Defaults::BuiltIn).then(|| "Bash (shipped commands)".to_owned());
        allowed
            .map(|rule| rule.pattern().text().to_owned())
            .chain(builtin)
            .map(|pattern| EffectiveEntry { pattern, narrowed_by: narrowed_by.clone() })
            .collect()
    }

    /// What the read and write patterns of every member say about paths below the project.
    #[must_use]
    pub fn path_rules(&self) -> PathRules {
        const READS: &[&str] = &["Read"];
        const WRITES: &[&str] = &["Write", "Edit", "MultiEdit"];
        let mut rules = PathRules::default();
        rules.hide(&self.host.path_patterns(READS, Effect::Deny));
        // Asking for each file that a command opens is not possible; an unanswered ask refuses.
        rules.hide(&self.host.path_patterns(READS, Effect::Ask));
        rules.forbid_writes(&self.host.path_patterns(WRITES, Effect::Deny));
        rules.forbid_writes(&self.host.path_patterns(WRITES, Effect::Ask));
        rules.grant_writes(&self.host.path_patterns(WRITES, Effect::Allow));
        for caveat in &self.caveats {
            match &caveat.kind {
                CaveatKind::Nothing { .. } => rules.hide(&["**".to_owned()]),
                CaveatKind::Without(patterns) => {
                    rules.hide(&path_patterns(patterns.iter(), READS));
                    rules.forbid_writes(&path_patterns(patterns.iter(), WRITES));
                }
                CaveatKind::Only { patterns, .. } => {
                    let reads = path_patterns(patterns.iter(), READS);
                    // A list that names no reading at all is about commands; they see what their grant shows them.
                    if !reads.is_empty() {
                        rules.show_only(&reads);
                    }
                    rules.narrow_writes(&path_patterns(patterns.iter(), WRITES));
                }
            }
        }
        rules
    }
}
