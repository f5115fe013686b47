//! What a conversation keeps of its authority between two runs: who took what away, never what was granted.

use crate::authority::Authority;
use crate::caveat::{Caveat, CaveatKind};
use crate::host::Host;
use crate::pattern::ToolPattern;
use serde::{Deserialize, Serialize};
use skillgate_core::{CommandName, Digest, SkillId, Source};

/// The version of the saved form that this program writes, and the only one it reads.
pub const HISTORY_VERSION: u32 = 1;

/// Caveats of one history; more are no conversation.
const MAX_CAVEATS: usize = 4_096;

/// The caveats of an authority in the form that is saved. It holds no grant: restoring computes the authority again, under the
/// host as it is then, so that whatever became of a history in between, it never gives more than that host.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "Form")]
pub struct History {
    version: u32,
    caveats: Vec<SavedCaveat>,
}

/// One caveat as it is saved.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedCaveat {
    source: Source,
    command: CommandName,
    /// An older reader refuses what has it, rather than take the skill for the other of its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    apart: Option<Box<str>>,
    digest: Digest,
    kind: SavedKind,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum SavedKind {
    Only { patterns: Vec<String>, unreadable: Vec<String> },
    Without { patterns: Vec<String> },
    Nothing { reason: String },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    version: u32,
    caveats: Vec<SavedCaveat>,
}

/// Why a saved text is not a history.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// Another version wrote it.
    #[error(
        "the history has version {found}, and this program reads version {HISTORY_VERSION}; begin a new conversation"
    )]
    Version {
        /// The version.
        found: u32,
    },
    /// It is too large to be a conversation's.
    #[error("the history holds {found} caveats, and at most {MAX_CAVEATS} are read; begin a new conversation")]
    TooMany {
        /// Caveats it holds.
        found: usize,
    },
}

impl TryFrom<Form> for History {
    type Error = HistoryError;

    fn try_from(form: Form) -> Result<Self, HistoryError> {
        if form.version != HISTORY_VERSION {
            return Err(HistoryError::Version { found: form.version });
        }
        if form.caveats.len() > MAX_CAVEATS {
            return Err(HistoryError::TooMany { found: form.caveats.len() });
        }
        Ok(Self { version: form.version, caveats: form.caveats })
    }
}

/// A skill as it is when a history is restored.
#[derive(Clone, PartialEq, Debug)]
pub struct PresentSkill {
    /// Digest of its content.
    pub digest: Digest,
    /// What it takes away now.
    pub caveats: Vec<Caveat>,
}

/// What became of a skill since the history was saved.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum HistoryChange {
    /// Its content is another: what it took away before stays taken away, and what it takes away now too.
    Edited {
        /// The skill.
        skill: SkillId,
        /// The content that was saved.
        saved: Digest,
        /// The content now.
        present: Digest,
    },
    /// It is not there any more: what it took away stays taken away.
    Gone {
        /// The skill.
        skill: SkillId,
    },
    /// Its content is the same, and the history says something else about it: the history was changed.
    Altered {
        /// The skill.
        skill: SkillId,
    },
}

/// An authority that was computed again, and what had changed.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Restored {
    /// The authority under the host as it is now.
    pub authority: Authority,
    /// What had changed, in the order of the history.
    pub changes: Vec<HistoryChange>,
}

impl History {
    /// What is saved of an authority.
    #[must_use]
    pub fn of(authority: &Authority) -> Self {
        Self { version: HISTORY_VERSION, caveats: authority.caveats().iter().map(SavedCaveat::of).collect() }
    }

    /// The skills whose caveats it holds, each once.
    #[must_use]
    pub fn skills(&self) -> Vec<SkillId> {
        let mut skills: Vec<SkillId> = Vec::new();
        for skill in self.caveats.iter().map(SavedCaveat::skill) {
            if !skills.contains(&skill) {
                skills.push(skill);
            }
        }
        skills
    }

    /// Computes the authority again: the host as it is now, every caveat that was saved, and every caveat of the skills as they
    /// are now. `present` finds a skill.
    #[must_use]
    pub fn restore(&self, host: Host, present: impl Fn(&SkillId) -> Option<PresentSkill>) -> Restored {
        let saved: Vec<Caveat> = self.caveats.iter().map(SavedCaveat::caveat).collect();
        let mut authority = saved.iter().cloned().fold(Authority::of(host), Authority::with);
        let mut changes = Vec::new();
        for skill in self.skills() {
            let Some(now) = present(&skill) else {
                changes.push(HistoryChange::Gone { skill });
                continue;
            };
            let of_skill = || saved.iter().filter(|caveat| caveat.skill == skill);
            let mut digests: Vec<Digest> = of_skill().map(|caveat| caveat.digest).collect();
            digests.dedup();
            let edited = digests.iter().filter(|digest| **digest != now.digest);
            changes.extend(edited.map(|saved| HistoryChange::Edited {
                skill: skill.clone(),
                saved: *saved,
                present: now.digest,
            }));
            let same: Vec<&Caveat> = of_skill().filter(|caveat| caveat.digest == now.digest).collect();
            let altered = !same.is_empty()
                && (same.iter().any(|caveat| !now.caveats.contains(caveat))
                    || now.caveats.iter().any(|caveat| !same.contains(&caveat)));
            if altered {
                changes.push(HistoryChange::Altered { skill });
            }
            authority = now.caveats.into_iter().fold(authority, Authority::with);
        }
        Restored { authority, changes }
    }
}

impl SavedCaveat {
    fn of(caveat: &Caveat) -> Self {
        let texts = |patterns: &[ToolPattern]| patterns.iter().map(|pattern| pattern.text().to_owned()).collect();
        let kind = match &caveat.kind {
            CaveatKind::Only { patterns, unreadable } => {
                SavedKind::Only { patterns: texts(patterns), unreadable: unreadable.clone() }
            }
            CaveatKind::Without(patterns) => SavedKind::Without { patterns: texts(patterns) },
            CaveatKind::Nothing { reason } => SavedKind::Nothing { reason: reason.clone() },
        };
        let SkillId { source, command, apart } = caveat.skill.clone();
        Self { source, command, apart, digest: caveat.digest, kind }
    }

    fn skill(&self) -> SkillId {
        SkillId { apart: self.apart.clone(), ..SkillId::new(self.source, self.command.clone()) }
    }

    /// The caveat; what cannot be read of it takes away.
    fn caveat(&self) -> Caveat {
        let kind = match &self.kind {
            SavedKind::Only { patterns: texts, unreadable } => {
                let (mut patterns, mut unreadable) = (Vec::new(), unreadable.clone());
                for text in texts {
                    match ToolPattern::parse(text) {
                        Ok(pattern) => patterns.push(pattern),
                        Err(_) => unreadable.push(text.clone()),
                    }
                }
                CaveatKind::Only { patterns, unreadable }
            }
            SavedKind::Without { patterns } => {
                let parsed: Result<Vec<_>, _> = patterns.iter().map(|text| ToolPattern::parse(text)).collect();
                match parsed {
                    Ok(patterns) => CaveatKind::Without(patterns),
                    Err(error) => CaveatKind::Nothing { reason: format!("a saved removal cannot be read: {error}") },
                }
            }
            SavedKind::Nothing { reason } => CaveatKind::Nothing { reason: reason.clone() },
        };
        Caveat { skill: self.skill(), digest: self.digest, kind }
    }
}
