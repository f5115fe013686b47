//! How far the host trusts the session's project, and what that leaves each of its skills.

use crate::error::InvokeError;
use crate::load::Base;
use crate::session::Session;
use skillgate_core::{Digest, Right, Rights, Skill, Source};
use skillgate_policy::file::{Day, PublicKey};
use skillgate_policy::{Authority, PathRules, RefusalReason, SignerGrant, SkillCeiling, Trust, skill_ceiling};
use skillgate_state::TrustRecord;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The directories of plugins that are trusted, each as its record says where it has one.
pub(crate) type TrustedPlugins = BTreeMap<PathBuf, Option<TrustRecord>>;

/// How far the host trusts the project of a session.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum ProjectTrust {
    /// Not at all: its skills are listed to the user, and nothing else.
    #[default]
    Unknown,
    /// As this record says, which has to cover the project's folder
    /// ([`TrustStore::covering`](skillgate_state::TrustStore::covering)): text and commands that only read, and further rights
    /// for skills whose content is still the one they were granted for.
    Folder(TrustRecord),
    /// As it is in front of the host, as long as the session lasts: its skills can do what the host grants.
    Session,
}

impl ProjectTrust {
    /// Whether the project's skills may be used at all.
    #[must_use]
    pub fn is_given(&self) -> bool {
        *self != ProjectTrust::Unknown
    }
}

/// The rights of one skill: those that hold, and those that were granted for another content of it.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct HeldRights {
    pub(crate) held: Rights,
    pub(crate) lapsed: Rights,
    /// What the policy grants the keys that signed the skill's pack; `None` when none of them counts today.
    pub(crate) signers: Option<SignerGrant>,
}

impl Session {
    /// The rights of a skill with the content it has now. Read anew each time, since a file beside it can change.
    pub(crate) fn held_rights(&self, skill: &Skill) -> HeldRights {
        if skill.id.source == Source::Pack {
            return HeldRights { signers: self.granted_to_signers(skill), ..HeldRights::default() };
        }
        let base = Arc::clone(&self.skills().base);
        let Some((record, root)) = self.trusted_as(skill, &base) else { return HeldRights::default() };
        let path = path_below(root, &skill.path);
        let Some(path) = path.filter(|path| record.skill(path).is_some_and(|skill| !skill.rights.is_empty())) else {
            return HeldRights::default();
        };
        // What cannot be read whole is not what the rights were granted for.
        let content = self.roots_of(skill, |roots| roots.content(skill, &self.runtime.load_options));
        let held = content.map(|content| record.rights(&path, content.digest));
        let held = held.unwrap_or_default();
        let granted = record.skill(&path).map(|skill| skill.rights.clone()).unwrap_or_default();
        let lapsed = granted.iter().filter(|right| !held.contains(*right)).collect();
        HeldRights { held, lapsed, signers: None }
    }

    /// The record of the folder that the skill's trust is of, and where that folder is.
    fn trusted_as<'a>(&'a self, skill: &'a Skill, base: &'a Base) -> Option<(&'a TrustRecord, &'a Path)> {
        let folder = self.folder_of(skill)?;
        let record = match (skill.id.source, &self.runtime.trust) {
            (Source::Plugin, _) => base.plugins.get(folder)?.as_ref()?,
            (_, ProjectTrust::Folder(record)) => record,
            (_, ProjectTrust::Unknown | ProjectTrust::Session) => return None,
        };
        Some((record, folder))
    }

    /// The folder that has to be trusted for the skill: that of its plugin or of the project.
    pub(crate) fn folder_of<'a>(&'a self, skill: &'a Skill) -> Option<&'a Path> {
        match skill.id.source {
            Source::Project => Some(self.runtime.project.as_ref()?.root.as_path()),
            Source::Plugin => Some(skill.plugin.as_ref()?.root.as_path()),
            _ => None,
        }
    }

    fn granted_to_signers(&self, skill: &Skill) -> Option<SignerGrant> {
        let base = Arc::clone(&self.skills().base);
        let keys = base.place.roots.signers(skill).iter().map(|key| PublicKey::of_bytes(*key));
        let today = Day::of_unix_seconds(self.runtime.clock.now_ms() / 1_000);
        self.runtime.policy.granted_to_signers(&keys.collect::<Vec<_>>(), today)
    }

    /// The authority under the ceiling, and what the ceiling took. A skill that may not be used keeps what it would have.
    pub(crate) fn bounded(
        &self,
        authority: Authority,
        (skill, digest): (&Skill, Digest),
        ceiling: SkillCeiling<'_>,
        rights: &HeldRights,
    ) -> (Authority, Bound) {
        let caveats = if ceiling.permits_use() { ceiling.caveats(&skill.id, digest) } else { Vec::new() };
        let writing = (!caveats.is_empty() && !ceiling.permits(Right::Write)).then(|| authority.path_rules());
        let bound = Bound {
            skill: skill.id.command.to_string(),
            folder: self.folder_of(skill).map(Path::to_path_buf).unwrap_or_default(),
            writing,
            lapsed: rights.lapsed.clone(),
        };
        (caveats.into_iter().fold(authority, Authority::with), bound)
    }

    fn trusts_plugin_of(&self, skill: &Skill) -> bool {
        skill.plugin.as_ref().is_some_and(|plugin| self.skills().base.plugins.contains_key(&plugin.root))
    }

    /// The most the skill may do. A skill of an untrusted project can be planned, so that a person sees what it would do.
    pub(crate) fn ceiling<'r>(&self, skill: &Skill, rights: &'r HeldRights) -> SkillCeiling<'r> {
        let trust = match self.runtime.trust {
            ProjectTrust::Unknown => Trust::Unknown,
            ProjectTrust::Folder(_) => Trust::Folder(&rights.held),
            ProjectTrust::Session => Trust::Session,
        };
        match skill.id.source {
            Source::Project => skill_ceiling(Source::Project, trust),
            // Trust in a plugin's directory covers what trust in a project's does.
            Source::Plugin if self.trusts_plugin_of(skill) => {
                skill_ceiling(Source::Plugin, Trust::Folder(&rights.held))
            }
            Source::Pack => skill_ceiling(Source::Pack, rights.signers.as_ref().map_or(Trust::Unknown, Trust::Key)),
            other => skill_ceiling(other, Trust::Unknown),
        }
    }
}

/// A path as a record names it: from the folder, with slashes.
fn path_below(root: &Path, path: &Path) -> Option<String> {
    let components: Option<Vec<&str>> =
        path.strip_prefix(root).ok()?.iter().map(|component| component.to_str()).collect();
    Some(components?.join("/"))
}

/// What the ceiling takes from one invocation, kept so that a refusal can say that it is the ceiling's.
#[derive(Debug, Default)]
pub(crate) struct Bound {
    pub(crate) skill: String,
    pub(crate) folder: PathBuf,
    /// Where the host and the skill's own list would let it write, when the ceiling does not.
    pub(crate) writing: Option<PathRules>,
    pub(crate) lapsed: Rights,
}

impl Bound {
    /// The error, as the lack of a right where nothing else stands against what was refused.
    pub(crate) fn explain(&self, error: InvokeError) -> InvokeError {
        let InvokeError::Refused(refusal) = &error else { return error };
        match (&refusal.reason, &self.writing) {
            (RefusalReason::Write { path }, Some(rules)) if rules.may_write(path.trim_start_matches("./")) => {
                InvokeError::RightMissing {
                    name: self.skill.clone(),
                    right: Right::Write,
                    lapsed: self.lapsed.contains(Right::Write),
                    folder: self.folder.clone(),
                    refusal: refusal.clone(),
                }
            }
            _ => error,
        }
    }
}
