use crate::command::CommandPattern;
use crate::pattern::ToolPattern;
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

    /// The patterns of the caveat: those it lets through, or those it removes.
    #[must_use]
    pub fn patterns(&self) -> &[ToolPattern] {
        match &self.kind {
            CaveatKind::Nothing { .. } => &[],
            CaveatKind::Only { patterns, .. } | CaveatKind::Without(patterns) => patterns,
        }
    }

    /// What the skill's header says, as a sentence.
    #[must_use]
    pub fn says(&self) -> String {
        match &self.kind {
            CaveatKind::Nothing { reason } => reason.clone(),
            CaveatKind::Only { patterns, unreadable } if patterns.is_empty() && unreadable.is_empty() => {
                "its `allowed-tools` is empty".to_owned()
            }
            CaveatKind::Only { patterns, .. } if patterns.is_empty() => {
                "its `allowed-tools` holds no entry that can be read".to_owned()
            }
            CaveatKind::Only { .. } => format!("its `allowed-tools` lists only {}", self.pattern_texts().join(", ")),
            CaveatKind::Without(patterns) => {
                let texts: Vec<&str> = patterns.iter().map(ToolPattern::text).collect();
                format!("its `disallowed-tools` lists {}", texts.join(", "))
            }
        }
    }

    /// Whether some shell command may run under the caveat.
    pub(crate) fn permits_some_command(&self) -> bool {
        match &self.kind {
            CaveatKind::Nothing { .. } => false,
            CaveatKind::Only { patterns, .. } => patterns.iter().any(|pattern| pattern.command().is_some()),
            CaveatKind::Without(patterns) => {
                !patterns.iter().any(|pattern| pattern.command() == Some(&CommandPattern::Any))
            }
        }
    }

    /// The caveat's patterns that have something in common with a pattern of the host; `None` when the caveat leaves nothing of
    /// it.
    pub(crate) fn applying_to(&self, pattern: &ToolPattern) -> Option<Vec<String>> {
        let common = |own: &&ToolPattern| match (own.command(), pattern.command()) {
            (Some(own), Some(host)) => host.meet(own).is_some(),
            (None, None) => own.tool() == pattern.tool(),
            _ => false,
        };
        match &self.kind {
            CaveatKind::Nothing { .. } => None,
            CaveatKind::Only { patterns, .. } => {
                let applying: Vec<String> = patterns.iter().filter(common).map(|own| own.text().to_owned()).collect();
                // A list that names no reading is about commands; they see what their grant shows them.
                (!applying.is_empty() || pattern.tool() == "Read").then_some(applying)
            }
            CaveatKind::Without(patterns) => {
                Some(patterns.iter().filter(common).map(|own| format!("not {}", own.text())).collect())
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
