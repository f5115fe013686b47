use crate::name::looked_at;
use crate::pack::{skill_name, skill_paths};
use crate::{PackError, PackLimits, PathSet};
use serde::{Deserialize, Serialize};
use skillgate_core::{CommandName, Digest, mixed_lookalike};
use std::collections::BTreeSet;

/// The format that this version writes, and the newest it reads.
pub(crate) const FORMAT: u32 = 1;

/// What a pack says of itself.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PackInfo {
    /// Its name: lower-case letters, digits and `-`, 1 to 64.
    pub name: String,
    /// Its version, `MAJOR.MINOR.PATCH` with an optional `-PRERELEASE`.
    pub version: String,
    /// What is in it, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The oldest Skillgate that can use it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum_version: Option<String>,
}

/// Why a text is no name or version of a pack.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PackInfoError {
    /// Not a name.
    #[error(
        "`{0}` is no name of a pack: 1 to 64 lower-case letters, digits and `-`, with a letter or digit at both ends"
    )]
    Name(String),
    /// Not a version.
    #[error("`{0}` is no version: three numbers as in `1.4.0`, and `-beta.1` or its like behind them if wanted")]
    Version(String),
}

impl PackInfo {
    /// A pack of this name and version.
    ///
    /// # Errors
    /// A [`PackInfoError`] that says what is wrong.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Result<Self, PackInfoError> {
        let info = Self { name: name.into(), version: version.into(), description: None, minimum_version: None };
        info.check()?;
        Ok(info)
    }

    /// Whether this version comes after `other`: by its numbers, and a prerelease before its release. Two prereleases of one version
    /// are ordered by their parts, numbers as numbers.
    #[must_use]
    pub fn is_newer_than(&self, other: &str) -> bool {
        version_key(&self.version) > version_key(other)
    }

    pub(crate) fn check(&self) -> Result<(), PackInfoError> {
        let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let name = self.name.as_bytes();
        let ends = [name.first(), name.last()].into_iter().all(|end| end.is_some_and(|byte| is_letter(*byte)));
        if name.len() > 64 || !ends || !name.iter().all(|byte| is_letter(*byte) || *byte == b'-') {
            return Err(PackInfoError::Name(self.name.clone()));
        }
        for version in std::iter::once(&self.version).chain(&self.minimum_version) {
            if !is_version(version) {
                return Err(PackInfoError::Version(version.clone()));
            }
        }
        Ok(())
    }
}

fn is_version(text: &str) -> bool {
    let (numbers, prerelease) = text.split_once('-').map_or((text, None), |(numbers, rest)| (numbers, Some(rest)));
    let number = |part: &str| {
        !part.is_empty()
            && part.len() <= 9
            && part.bytes().all(|byte| byte.is_ascii_digit())
            && (part == "0" || !part.starts_with('0'))
    };
    let parts: Vec<&str> = numbers.split('.').collect();
    let word = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    text.len() <= 64
        && parts.len() == 3
        && parts.into_iter().all(number)
        && prerelease.is_none_or(|prerelease| prerelease.split('.').all(word))
}

type VersionKey<'v> = (Vec<u64>, bool, Vec<(bool, u64, &'v str)>);

/// Versions in their order: the numbers, then whether it is a release, then the parts of a prerelease.
fn version_key(text: &str) -> VersionKey<'_> {
    let (numbers, prerelease) = text.split_once('-').map_or((text, None), |(numbers, rest)| (numbers, Some(rest)));
    let numbers = numbers.split('.').map(|part| part.parse().unwrap_or(0)).collect();
    let part = |part| match str::parse::<u64>(part) {
        Ok(number) => (false, number, ""),
        Err(_) => (true, 0, part),
    };
    let parts = prerelease.map(|rest| rest.split('.').map(part).collect()).unwrap_or_default();
    (numbers, prerelease.is_none(), parts)
}

/// Everything a pack says of its contents. It is written in one way only, so that its digest is the digest of the pack.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The format of the pack.
    pub format: u32,
    /// What it says of itself.
    pub pack: PackInfo,
    /// Its skills, by path.
    pub skills: Vec<SkillRecord>,
    /// Its files, by path.
    pub files: Vec<FileRecord>,
}

/// One file of a pack.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileRecord {
    /// Its path below the pack, with `/` between the parts.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// The SHA-256 of its bytes.
    pub digest: Digest,
}

/// One skill of a pack and the authority it asks for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SkillRecord {
    /// The name it is invoked by.
    pub name: String,
    /// The path of its SKILL.md.
    pub path: String,
    /// What it asks for.
    pub requests: RequestedAuthority,
}

/// What a skill asks for, as its header says. It is for people to read before anything is installed; what is granted is decided by
/// the skill's own header when it is used.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestedAuthority {
    /// The entries of `allowed-tools`; `null` when the key is not there, which narrows nothing.
    pub tools: Option<Vec<String>>,
    /// Commands that run when it is invoked.
    pub injections: Vec<String>,
    /// Its hooks: each the event, and what the header says for it as JSON.
    pub hooks: Vec<String>,
}

impl Manifest {
    /// The one form in which it is written.
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, PackError> {
        serde_json::to_vec(self).map_err(|error| PackError::Manifest(error.to_string()))
    }

    /// Reads and checks it: its form, its names, its order, its sums.
    pub(crate) fn from_bytes(bytes: &[u8], limits: &PackLimits) -> Result<Self, PackError> {
        #[derive(Deserialize)]
        struct Format {
            format: u32,
        }
        let wrong = |error: serde_json::Error| PackError::Manifest(error.to_string());
        let Format { format } = serde_json::from_slice(bytes).map_err(wrong)?;
        if format != FORMAT {
            return Err(PackError::Format { found: format, known: FORMAT });
        }
        let manifest: Self = serde_json::from_slice(bytes).map_err(wrong)?;
        if manifest.to_bytes()? != bytes {
            return Err(PackError::Manifest("it is not written in the one form that a manifest has".to_owned()));
        }
        manifest.check(limits)?;
        Ok(manifest)
    }

    pub(crate) fn check(&self, limits: &PackLimits) -> Result<(), PackError> {
        self.pack.check().map_err(|error| PackError::Manifest(error.to_string()))?;
        let too_large = |what: &str, limit: u64| PackError::TooLarge { what: what.to_owned(), limit };
        if self.files.len() > limits.files {
            return Err(too_large("the number of files", limits.files as u64));
        }
        let mut set = PathSet::default();
        let mut total = 0_u64;
        let mut before: Option<&str> = None;
        for file in &self.files {
            set.insert(&file.path)?;
            if before.is_some_and(|before| before >= file.path.as_str()) {
                return Err(PackError::Manifest(format!("`{}` is not in the order of the paths", file.path)));
            }
            before = Some(&file.path);
            if file.bytes > limits.file_bytes {
                return Err(too_large(&format!("`{}`", file.path), limits.file_bytes));
            }
            total = total.saturating_add(file.bytes);
        }
        if total > limits.total_bytes {
            return Err(too_large("the size of all files", limits.total_bytes));
        }
        let paths = skill_paths(self.files.iter().map(|file| file.path.as_str()));
        let named = self.skills.iter().map(|skill| (skill.path.as_str(), skill.name.clone()));
        if !named.eq(paths.iter().map(|path| (path.as_str(), skill_name(path, &self.pack.name)))) {
            return Err(PackError::Manifest("it names other skills than its files make".to_owned()));
        }
        let mut names = BTreeSet::new();
        for skill in &self.skills {
            if let Err(error) = CommandName::new(skill.name.as_str()) {
                return Err(PackError::Skill { path: skill.path.clone(), reason: error.to_string() });
            }
            if let Some(found) = mixed_lookalike(&skill.name) {
                let reason = format!("its name has {found}");
                return Err(PackError::Skill { path: skill.path.clone(), reason });
            }
            if !names.insert(looked_at(&skill.name)) {
                let reason = format!("another skill is called `{}` too, or by a name that looks like it", skill.name);
                return Err(PackError::Skill { path: skill.path.clone(), reason });
            }
        }
        if self.skills.is_empty() { Err(PackError::NoSkill) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::PackInfo;

    #[test]
    fn versions_have_an_order() {
        let order = [
            "0.9.9",
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-alpha.beta",
            "1.0.0-beta.2",
            "1.0.0-beta.11",
            "1.0.0",
            "1.10.0",
        ];
        for (at, older) in order.iter().enumerate() {
            for (behind, newer) in order.iter().enumerate() {
                let info = PackInfo::new("x", *newer).expect("a version");
                assert_eq!(info.is_newer_than(older), behind > at, "{newer} {older}");
            }
        }
    }
}
