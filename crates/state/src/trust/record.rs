use super::FolderId;
use serde::{Deserialize, Serialize};
use skillgate_core::{Digest, Rights};

/// One folder that the host trusts, with the skills that were in front of it at that time.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrustRecord {
    /// What the trust is bound to.
    pub identity: FolderId,
    /// The skills that were accepted.
    pub skills: Vec<TrustedSkill>,
}

/// One skill as it was accepted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrustedSkill {
    /// Its file, from the folder.
    pub path: String,
    /// Digest of all its files.
    pub content: Digest,
    /// What it may do beyond text and read-only commands while its content is this one.
    pub rights: Rights,
    /// Its files, its own first. Their bytes are kept by their digest.
    pub files: Vec<TrustedFile>,
}

/// One file of a skill as it was accepted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrustedFile {
    /// From the directory of the skill's own file.
    pub path: String,
    /// Digest of its bytes.
    pub digest: Digest,
}

/// What became of a folder that is trusted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Standing {
    /// It is where it was.
    Here,
    /// Its path leads to another folder, or its repository was replaced; nothing is trusted there.
    Replaced,
    /// There is nothing at its path.
    Gone,
}

impl TrustRecord {
    /// What became of the folder.
    #[must_use]
    pub fn standing_ambient(&self) -> Standing {
        match FolderId::of_ambient(&self.identity.folder.path) {
            Ok(now) if self.identity.covers(&now) => Standing::Here,
            Ok(_) => Standing::Replaced,
            Err(_) => Standing::Gone,
        }
    }

    /// The skill of a file, as it was accepted.
    #[must_use]
    pub fn skill(&self, path: &str) -> Option<&TrustedSkill> {
        self.skills.iter().find(|skill| skill.path == path)
    }

    /// The rights of a skill with this content now; those that were granted for another content have lapsed.
    #[must_use]
    pub fn rights(&self, path: &str, content: Digest) -> Rights {
        let granted = self.skill(path).filter(|skill| skill.content == content);
        granted.map(|skill| skill.rights.clone()).unwrap_or_default()
    }
}
