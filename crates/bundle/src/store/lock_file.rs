//! `skills.lock`: what is installed, each pinned by its digest.

use super::StoreError;
use crate::{PackInfo, PublicKey};
use serde::Deserialize;
use skillgate_core::Digest;
use std::fmt::Write as _;

/// The version that is written, and the newest that is read.
pub const LOCK_VERSION: u32 = 2;

/// What `skills.lock` says.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LockFile {
    /// The packs, by name.
    pub packs: Vec<LockedPack>,
}

/// One installed pack.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockedPack {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its digest, which names its file in the store.
    pub digest: Digest,
    /// Whether its skills are used.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// The names of its skills, so that they can be listed when the pack cannot be read.
    #[serde(default)]
    pub skills: Vec<String>,
    /// The keys whose signatures it had.
    #[serde(default)]
    pub keys: Vec<PublicKey>,
    /// Where it came from.
    pub source: PackSource,
    /// What was installed before, for going back.
    #[serde(default)]
    pub previous: Option<PreviousPack>,
}

/// What a pack replaced.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PreviousPack {
    /// Its version.
    pub version: String,
    /// Its digest.
    pub digest: Digest,
    /// Where it came from.
    pub source: PackSource,
}

/// Where a pack came from.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PackSource {
    /// What it was: `pack`, `zip`, `tar`, `directory`, `git`, `skill`; with `https-` or `oci-` before it when it came over a network.
    pub kind: String,
    /// The path, address or reference.
    pub location: String,
    /// The digest of the bytes that were taken, for what is one file.
    #[serde(default)]
    pub digest: Option<Digest>,
    /// The commit that was checked out, for a git repository.
    #[serde(default)]
    pub commit: Option<String>,
}

fn yes() -> bool {
    true
}

impl LockFile {
    /// The pack of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&LockedPack> {
        self.packs.iter().find(|pack| pack.name == name)
    }

    pub(super) fn put(&mut self, pack: LockedPack) {
        self.packs.retain(|known| known.name != pack.name);
        self.packs.push(pack);
        self.packs.sort_by(|a, b| a.name.cmp(&b.name));
    }

    /// Reads it, and older versions as what they mean now.
    ///
    /// # Errors
    /// [`StoreError::Lock`] with what is wrong; the file stays as it is, whatever it is.
    pub fn parse(text: &str) -> Result<Self, StoreError> {
        #[derive(Deserialize)]
        struct Head {
            version: u32,
        }
        let head: Head = toml::from_str(text).map_err(unreadable)?;
        let packs = match head.version {
            1 => first_version(text)?,
            LOCK_VERSION => current(text)?,
            newer => return Err(StoreError::NewerLock { found: newer, known: LOCK_VERSION }),
        };
        let mut lock = Self::default();
        for pack in packs {
            PackInfo::new(pack.name.as_str(), pack.version.as_str())
                .map_err(|error| StoreError::Lock(error.to_string()))?;
            if lock.get(&pack.name).is_some() {
                return Err(StoreError::Lock(format!("`{}` stands in it twice", pack.name)));
            }
            lock.put(pack);
        }
        Ok(lock)
    }

    /// The one form in which it is written.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut out = format!(
            "# Written by `skillgate pack`; each pack is pinned by the digest of its manifest.\nversion = {LOCK_VERSION}\n"
        );
        for pack in &self.packs {
            out.push_str("\n[[pack]]\n");
            line(&mut out, "name", &quoted(&pack.name));
            line(&mut out, "version", &quoted(&pack.version));
            line(&mut out, "digest", &quoted(&pack.digest.to_string()));
            line(&mut out, "enabled", if pack.enabled { "true" } else { "false" });
            line(&mut out, "skills", &list(pack.skills.iter().map(String::as_str)));
            let keys: Vec<String> = pack.keys.iter().map(ToString::to_string).collect();
            line(&mut out, "keys", &list(keys.iter().map(String::as_str)));
            line(&mut out, "source", &source(&pack.source));
            if let Some(previous) = &pack.previous {
                out.push_str("[pack.previous]\n");
                line(&mut out, "version", &quoted(&previous.version));
                line(&mut out, "digest", &quoted(&previous.digest.to_string()));
                line(&mut out, "source", &source(&previous.source));
            }
        }
        out
    }
}

fn current(text: &str) -> Result<Vec<LockedPack>, StoreError> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Current {
        #[serde(rename = "version")]
        _version: u32,
        #[serde(default)]
        pack: Vec<LockedPack>,
    }
    let read: Current = toml::from_str(text).map_err(unreadable)?;
    Ok(read.pack)
}

/// Version 1 had one key, the source as a path alone, and neither packs that are switched off nor ways back.
fn first_version(text: &str) -> Result<Vec<LockedPack>, StoreError> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct First {
        #[serde(rename = "version")]
        _version: u32,
        #[serde(default)]
        pack: Vec<FirstPack>,
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct FirstPack {
        name: String,
        version: String,
        digest: Digest,
        source: String,
        #[serde(default)]
        key: Option<PublicKey>,
    }
    let read: First = toml::from_str(text).map_err(unreadable)?;
    let pack = |pack: FirstPack| LockedPack {
        name: pack.name,
        version: pack.version,
        digest: pack.digest,
        enabled: true,
        skills: Vec::new(),
        keys: pack.key.into_iter().collect(),
        source: PackSource { kind: "pack".to_owned(), location: pack.source, digest: None, commit: None },
        previous: None,
    };
    Ok(read.pack.into_iter().map(pack).collect())
}

fn unreadable(error: toml::de::Error) -> StoreError {
    StoreError::Lock(error.to_string().trim_end().to_owned())
}

fn line(out: &mut String, key: &str, value: &str) {
    let _infallible = writeln!(out, "{key} = {value}");
}

fn source(source: &PackSource) -> String {
    let mut fields =
        vec![format!("kind = {}", quoted(&source.kind)), format!("location = {}", quoted(&source.location))];
    fields.extend(source.digest.map(|digest| format!("digest = {}", quoted(&digest.to_string()))));
    fields.extend(source.commit.as_ref().map(|commit| format!("commit = {}", quoted(commit))));
    format!("{{ {} }}", fields.join(", "))
}

fn list<'t>(texts: impl Iterator<Item = &'t str>) -> String {
    format!("[{}]", texts.map(quoted).collect::<Vec<_>>().join(", "))
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c.is_control() => {
                let _infallible = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FIRST: &str = "version = 1\n\n[[pack]]\nname = \"team\"\nversion = \"1.2.0\"\n\
        digest = \"292c7b41c5fd7c663923617b58754783cb80dd413cc7b2bb65adc49980228288\"\nsource = \"/srv/team.skillpack\"\n";

    #[test]
    fn complaint_90_an_older_version_is_read_and_written_as_the_present_one() {
        let lock = LockFile::parse(FIRST).expect("it is read");
        let pack = lock.get("team").expect("the pack");
        assert_eq!((pack.version.as_str(), pack.source.location.as_str()), ("1.2.0", "/srv/team.skillpack"));
        assert!(pack.enabled && pack.previous.is_none());
        assert!(lock.to_text().contains("version = 2"));
        assert_eq!(LockFile::parse(&lock.to_text()).expect("again"), lock);
    }

    #[test]
    fn what_is_not_understood_is_refused_and_never_taken_for_empty() {
        for (text, part) in [
            ("", "version"),
            ("version = 3\n", "3"),
            ("version = 2\nunknown = 1\n", "unknown"),
            (&FIRST.replace("team\"", "Team\""), "Team"),
            (&format!("{FIRST}{}", FIRST.trim_start_matches("version = 1")), "twice"),
            (&FIRST.replace("292c", "29"), "digest"),
        ] {
            let error = LockFile::parse(text).expect_err(text).to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    fn sources() -> impl Strategy<Value = PackSource> {
        (any::<String>(), any::<String>(), any::<Option<[u8; 8]>>(), any::<Option<String>>()).prop_map(
            |(kind, location, digest, commit)| PackSource {
                kind,
                location,
                digest: digest.map(|bytes| Digest::of(&bytes)),
                commit,
            },
        )
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            source in sources(),
            before in sources(),
            enabled: bool,
            skills in proptest::collection::vec(any::<String>(), 0..3),
        ) {
            let digest = Digest::of(b"x");
            let previous = Some(PreviousPack { version: "0.1.0".to_owned(), digest, source: before });
            let pack = LockedPack {
                name: "a".to_owned(), version: "1.0.0".to_owned(), digest, enabled, skills, keys: Vec::new(), source, previous,
            };
            let lock = LockFile { packs: vec![pack.clone(), LockedPack { name: "b".to_owned(), previous: None, ..pack }] };
            prop_assert_eq!(LockFile::parse(&lock.to_text()).expect("it is read"), lock);
        }
    }
}
