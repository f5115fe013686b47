//! What changes the store.

use super::{
    LockFile, LockedPack, PackDiff, PackSource, PackStore, PreviousPack, StoreError, not_installed, object_name,
};
use crate::name::looked_at;
use crate::{Pack, PublicKey};
use skillgate_core::Version;

/// What the person agreed to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Consent {
    /// That nobody signed the pack.
    pub unsigned: bool,
    /// What may become of a pack that is installed with other content.
    pub change: Change,
}

/// What may become of a pack that is installed with other content.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Change {
    /// Nothing: the difference is shown.
    #[default]
    Refused,
    /// It is replaced by a newer version that one of the same keys signed and that asks for nothing more.
    ByItsSigner,
    /// It is replaced, the difference having been looked at.
    Accepted,
}

/// What became of an installation.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Outcome {
    /// It was not there before.
    Installed,
    /// It is there already, with the same content.
    Unchanged,
    /// It took the place of another content, which can be gone back to.
    Replaced(Box<PackDiff>),
}

impl PackStore {
    /// Installs a pack. Everything is on the disk before the lock file names it, so that whoever looks sees the old state or the
    /// new one, whatever happens in between.
    ///
    /// # Errors
    /// A [`StoreError`]: a signature that does not hold, none at all without [`Consent::unsigned`], a difference to what is
    /// installed that was not agreed to, or a skill that another pack has.
    pub fn install(&self, pack: &Pack, source: PackSource, consent: Consent) -> Result<Outcome, StoreError> {
        let info = &pack.manifest().pack;
        let keys = pack.check_signatures()?;
        if let Some(needed) = info.minimum_version.as_ref().filter(|needed| !is_enough(needed)) {
            return Err(StoreError::TooOld { name: info.name.clone(), needed: needed.clone() });
        }
        let _alone = self.alone()?;
        let mut lock = self.lock_file()?;
        let before = lock.get(&info.name).cloned();
        if keys.is_empty() && !consent.unsigned && before.as_ref().is_none_or(|before| !before.keys.is_empty()) {
            return Err(StoreError::Unsigned { name: info.name.clone() });
        }
        if let Some(before) = before.as_ref().filter(|before| before.digest == pack.digest()) {
            return self.again(lock.clone(), before.clone(), pack, source, keys);
        }
        let diff = before.as_ref().map(|before| self.change(before, pack, &keys, consent.change)).transpose()?;
        check_names(&lock, pack)?;
        self.objects.write_atomic(&object_name(pack.digest()), &pack.to_bytes())?;
        let previous = before.as_ref().map(|before| PreviousPack {
            version: before.version.clone(),
            digest: before.digest,
            source: before.source.clone(),
        });
        lock.put(LockedPack {
            name: info.name.clone(),
            version: info.version.clone(),
            digest: pack.digest(),
            enabled: before.is_none_or(|before| before.enabled),
            skills: skill_names(pack),
            keys,
            source,
            previous,
        });
        self.switch(&lock)?;
        Ok(diff.map_or(Outcome::Installed, |diff| Outcome::Replaced(Box::new(diff))))
    }

    /// The same content again: what is damaged in the store is mended, and signatures that came are noted.
    fn again(
        &self,
        mut lock: LockFile,
        before: LockedPack,
        pack: &Pack,
        source: PackSource,
        keys: Vec<PublicKey>,
    ) -> Result<Outcome, StoreError> {
        // A signature that was there is not given up by installing the same files without it.
        let lost = before.keys.iter().find(|key| !keys.contains(key));
        if let Some(key) = lost {
            return match self.read(&before) {
                Ok(_) => Ok(Outcome::Unchanged),
                Err(_) => Err(StoreError::SignatureGone { name: before.name, key: *key }),
            };
        }
        self.objects.write_atomic(&object_name(pack.digest()), &pack.to_bytes())?;
        lock.put(LockedPack { keys, source, skills: skill_names(pack), ..before });
        self.switch(&lock)?;
        Ok(Outcome::Unchanged)
    }

    /// What is different, when it may be taken.
    fn change(
        &self,
        before: &LockedPack,
        pack: &Pack,
        keys: &[PublicKey],
        change: Change,
    ) -> Result<PackDiff, StoreError> {
        let old = self.object(before.digest);
        let diff = old.as_ref().ok().map(|old| PackDiff::between(old, pack));
        let is_newer = pack.manifest().pack.is_newer_than(&before.version);
        let same_signer = before.keys.iter().any(|key| keys.contains(key));
        let reason = match change {
            Change::Accepted => None,
            Change::Refused => Some("what is there now is not what was installed"),
            Change::ByItsSigner => match &diff {
                None => Some("what was installed cannot be read, so nobody can say what is different"),
                Some(_) if !same_signer && !before.keys.is_empty() => Some("none of its keys signed the new one"),
                Some(_) if !same_signer => Some("nobody whose key is known signed it"),
                Some(_) if !is_newer => Some("the version is not a newer one"),
                Some(diff) if diff.asks_for_more() => Some("it asks for more than before"),
                Some(_) => None,
            },
        };
        match reason {
            None => Ok(diff.unwrap_or_default()),
            Some(reason) => Err(StoreError::Drift { name: before.name.clone(), reason, diff: diff.map(Box::new) }),
        }
    }

    /// Goes back to what was installed before, and keeps the way forward.
    ///
    /// # Errors
    /// [`StoreError::NoPrevious`], or what is wrong with the older pack.
    pub fn roll_back(&self, name: &str) -> Result<LockedPack, StoreError> {
        let _alone = self.alone()?;
        let mut lock = self.lock_file()?;
        let now = lock.get(name).cloned().ok_or_else(|| not_installed(&lock, name))?;
        let before = now.previous.clone().ok_or_else(|| StoreError::NoPrevious { name: name.to_owned() })?;
        let pack = self.object(before.digest)?;
        let keys = pack.check_signatures()?;
        check_names(&lock, &pack)?;
        let back = LockedPack {
            version: before.version,
            digest: before.digest,
            skills: skill_names(&pack),
            keys,
            source: before.source,
            previous: Some(PreviousPack { version: now.version, digest: now.digest, source: now.source }),
            ..now
        };
        lock.put(back.clone());
        self.switch(&lock)?;
        Ok(back)
    }

    /// Removes a pack and its files.
    ///
    /// # Errors
    /// [`StoreError::NotInstalled`].
    pub fn remove(&self, name: &str) -> Result<LockedPack, StoreError> {
        let _alone = self.alone()?;
        let mut lock = self.lock_file()?;
        let removed = lock.get(name).cloned().ok_or_else(|| not_installed(&lock, name))?;
        lock.packs.retain(|pack| pack.name != name);
        self.switch(&lock)?;
        Ok(removed)
    }

    /// Uses the skills of a pack, or no longer.
    ///
    /// # Errors
    /// [`StoreError::NotInstalled`], and [`StoreError::SkillTaken`] when another pack has one of its skills meanwhile.
    pub fn set_enabled(&self, name: &str, enabled: bool) -> Result<LockedPack, StoreError> {
        let _alone = self.alone()?;
        let mut lock = self.lock_file()?;
        let mut pack = lock.get(name).cloned().ok_or_else(|| not_installed(&lock, name))?;
        if enabled {
            taken(&lock, name, &pack.skills)?;
        }
        pack.enabled = enabled;
        lock.put(pack.clone());
        self.switch(&lock)?;
        Ok(pack)
    }
}

fn is_enough(needed: &str) -> bool {
    let numbers = needed.split_once('-').map_or(needed, |(numbers, _)| numbers);
    match (Version::parse(numbers), Version::parse(env!("CARGO_PKG_VERSION"))) {
        (Some(needed), Some(own)) => needed <= own,
        _ => false,
    }
}

fn skill_names(pack: &Pack) -> Vec<String> {
    pack.manifest().skills.iter().map(|skill| skill.name.clone()).collect()
}

/// Two packs with a skill of one name would leave it to their order which of them is meant, and of names that look alike to the eye.
fn check_names(lock: &LockFile, pack: &Pack) -> Result<(), StoreError> {
    taken(lock, &pack.manifest().pack.name, &skill_names(pack))
}

fn taken(lock: &LockFile, name: &str, skills: &[String]) -> Result<(), StoreError> {
    let others = lock.packs.iter().filter(|pack| pack.enabled && pack.name != name);
    for other in others {
        for skill in skills {
            let look = looked_at(skill);
            let Some(known) = other.skills.iter().find(|known| looked_at(known) == look) else { continue };
            let (skill, known, pack) = (skill.clone(), known.clone(), other.name.clone());
            return Err(match skill == known {
                true => StoreError::SkillTaken { skill, pack },
                false => StoreError::SkillLooksLike { skill, known, pack },
            });
        }
    }
    Ok(())
}
