use crate::manifest::FORMAT;
use crate::{
    FileRecord, Manifest, PackError, PackInfo, PackLimits, PublicKey, RequestedAuthority, Signature, SignatureFault,
    SkillRecord,
};
use skillgate_core::Digest;
use std::collections::BTreeSet;

/// How a pack begins.
const MAGIC: &[u8; 8] = b"SKLPACK\n";

/// The magic, then the lengths of the manifest and of the signatures.
const HEADER_BYTES: usize = 8 + 8 + 8;

/// A file that goes into a pack.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PackFile {
    /// Its path below the pack, with `/` between the parts.
    pub path: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl PackFile {
    /// A file.
    pub fn new(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), bytes: bytes.into() }
    }
}

/// A pack: one deterministic file with a manifest. `docs/pack-format.md` describes it byte for byte.
///
/// A value of this type was checked whole: every file is what the manifest says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pack {
    manifest: Manifest,
    manifest_bytes: Vec<u8>,
    signatures: Vec<Signature>,
    contents: Contents,
}

/// The contents of all files, one behind the other, at the end of what was read: a large pack is not copied.
#[derive(Clone, Debug)]
struct Contents {
    bytes: Vec<u8>,
    start: usize,
}

impl Contents {
    fn as_slice(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }
}

impl PartialEq for Contents {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl Eq for Contents {}

impl Pack {
    /// Makes a pack of files in any order. The same files give the same bytes.
    ///
    /// What a skill asks for is read from its text by `skillgate-format`, as the loader does; here it is given by `describe`, so that
    /// [`Pack::build`] describes nothing but names.
    ///
    /// # Errors
    /// A [`PackError`]: a name that is not one file on every system, no skill, or a size over the default [`PackLimits`].
    pub fn build(info: PackInfo, files: Vec<PackFile>) -> Result<Self, PackError> {
        Self::build_with(info, files, |_, _| RequestedAuthority::default())
    }

    /// As [`Pack::build`], with what each skill asks for given by `describe` from its path and text.
    ///
    /// # Errors
    /// As [`Pack::build`].
    pub fn build_with(
        pack: PackInfo,
        files: Vec<PackFile>,
        describe: impl FnMut(&str, &[u8]) -> RequestedAuthority,
    ) -> Result<Self, PackError> {
        Self::build_within(pack, files, &PackLimits::default(), describe)
    }

    /// As [`Pack::build_with`], under limits of the caller's.
    ///
    /// # Errors
    /// As [`Pack::build`].
    pub fn build_within(
        pack: PackInfo,
        mut files: Vec<PackFile>,
        limits: &PackLimits,
        mut describe: impl FnMut(&str, &[u8]) -> RequestedAuthority,
    ) -> Result<Self, PackError> {
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let paths = skill_paths(files.iter().map(|file| file.path.as_str()));
        let skills = files
            .iter()
            .filter(|file| paths.contains(&file.path))
            .map(|file| SkillRecord {
                name: skill_name(&file.path, &pack.name),
                path: file.path.clone(),
                requests: describe(&file.path, &file.bytes),
            })
            .collect();
        let records = files
            .iter()
            .map(|file| FileRecord {
                path: file.path.clone(),
                bytes: file.bytes.len() as u64,
                digest: Digest::of(&file.bytes),
            })
            .collect();
        let manifest = Manifest { format: FORMAT, pack, skills, files: records };
        manifest.check(limits)?;
        let manifest_bytes = manifest.to_bytes()?;
        let bytes: Vec<u8> = files.into_iter().flat_map(|file| file.bytes).collect();
        Ok(Self { manifest, manifest_bytes, signatures: Vec::new(), contents: Contents { bytes, start: 0 } })
    }

    /// Reads a pack under the default limits and checks all of it.
    ///
    /// # Errors
    /// A [`PackError`] with what is wrong and where.
    pub fn read(bytes: &[u8]) -> Result<Self, PackError> {
        Self::read_within(bytes, &PackLimits::default())
    }

    /// As [`Pack::read`], under limits of the caller's.
    ///
    /// # Errors
    /// As [`Pack::read`].
    pub fn read_within(bytes: &[u8], limits: &PackLimits) -> Result<Self, PackError> {
        Self::read_owned(bytes.to_vec(), limits)
    }

    /// As [`Pack::read_within`], of bytes that are kept as they are.
    ///
    /// # Errors
    /// As [`Pack::read`].
    pub fn read_owned(bytes: Vec<u8>, limits: &PackLimits) -> Result<Self, PackError> {
        let (manifest, manifest_bytes, signatures, contents) = head(&bytes, limits)?;
        let mut at = 0_usize;
        for file in &manifest.files {
            let size = usize::try_from(file.bytes).unwrap_or(usize::MAX);
            let end = at.saturating_add(size);
            let Some(content) = contents.get(at..end) else {
                let needed = (end - contents.len()) as u64;
                return Err(PackError::Truncated { place: format!("in `{}`", file.path), needed });
            };
            let found = Digest::of(content);
            if found != file.digest {
                return Err(PackError::Digest { path: file.path.clone(), found });
            }
            at = end;
        }
        if at < contents.len() {
            return Err(PackError::Trailing((contents.len() - at) as u64));
        }
        let manifest_bytes = manifest_bytes.to_vec();
        let start = bytes.len() - contents.len();
        Ok(Self { manifest, manifest_bytes, signatures, contents: Contents { bytes, start } })
    }

    /// Reads the manifest and the signatures alone: what a pack asks for, before anything of it is used. The contents are not
    /// looked at.
    ///
    /// # Errors
    /// As [`Pack::read`], as far as the head goes.
    pub fn inspect(bytes: &[u8], limits: &PackLimits) -> Result<(Manifest, Vec<Signature>), PackError> {
        head(bytes, limits).map(|(manifest, _, signatures, _)| (manifest, signatures))
    }

    /// The pack as a file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let signatures = serde_json::to_vec(&self.signatures).unwrap_or_else(|_| b"[]".to_vec());
        let mut bytes =
            Vec::with_capacity(HEADER_BYTES + self.manifest_bytes.len() + signatures.len() + self.contents.bytes.len());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&(self.manifest_bytes.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&(signatures.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&self.manifest_bytes);
        bytes.extend_from_slice(&signatures);
        bytes.extend_from_slice(self.contents.as_slice());
        bytes
    }

    /// The digest of the manifest, which names the digest of every file: the identity of the pack, whoever signed it.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of(&self.manifest_bytes)
    }

    /// What it says of its contents.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Its signatures, which may be of anybody; see [`Signature::verify`].
    #[must_use]
    pub fn signatures(&self) -> &[Signature] {
        &self.signatures
    }

    /// Adds a signature, in place of one of the same key.
    pub fn sign(&mut self, signature: Signature) {
        self.signatures.retain(|known| known.key != signature.key);
        self.signatures.push(signature);
        self.signatures.sort_by_key(|signature| signature.key.to_string());
    }

    /// The bytes of one file.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<&[u8]> {
        self.files().find(|(known, _)| *known == path).map(|(_, bytes)| bytes)
    }

    /// The directory of a skill below the pack; empty for one at the top.
    #[must_use]
    pub fn directory_of(skill: &SkillRecord) -> &str {
        directory_of(&skill.path)
    }

    /// Checks every signature: a pack with one that does not hold is not what somebody signed.
    ///
    /// # Errors
    /// The first [`SignatureFault`].
    pub fn check_signatures(&self) -> Result<Vec<PublicKey>, SignatureFault> {
        let digest = self.digest();
        self.signatures.iter().map(|signature| signature.verify(digest).map(|()| signature.key)).collect()
    }

    /// The files with their bytes, by path.
    pub fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let mut at = 0;
        self.manifest.files.iter().map(move |file| {
            // Checked when the pack was read or built.
            let end = at + usize::try_from(file.bytes).unwrap_or(0);
            let content = self.contents.as_slice().get(at..end).unwrap_or_default();
            at = end;
            (file.path.as_str(), content)
        })
    }
}

type Head<'b> = (Manifest, &'b [u8], Vec<Signature>, &'b [u8]);

fn head<'b>(bytes: &'b [u8], limits: &PackLimits) -> Result<Head<'b>, PackError> {
    let Some((header, rest)) = bytes.split_at_checked(HEADER_BYTES) else {
        return Err(if bytes.starts_with(MAGIC) {
            PackError::Truncated { place: "in its header".to_owned(), needed: (HEADER_BYTES - bytes.len()) as u64 }
        } else {
            PackError::NotAPack("it does not begin as one")
        });
    };
    if !header.starts_with(MAGIC) {
        return Err(PackError::NotAPack("it does not begin as one"));
    }
    let length =
        |at: usize| header.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_le_bytes);
    let (manifest_length, signatures_length) = (length(8), length(16));
    if manifest_length > limits.manifest_bytes {
        return Err(PackError::TooLarge { what: "the manifest".to_owned(), limit: limits.manifest_bytes });
    }
    // A signature takes less than 300 bytes in its one form.
    let most = limits.signatures as u64 * 300 + 2;
    if signatures_length > most {
        return Err(PackError::TooLarge {
            what: "the number of signatures".to_owned(),
            limit: limits.signatures as u64,
        });
    }
    let (manifest_bytes, rest) = split(rest, manifest_length, "in its manifest")?;
    let (signature_bytes, contents) = split(rest, signatures_length, "in its signatures")?;
    let manifest = Manifest::from_bytes(manifest_bytes, limits)?;
    let signatures: Vec<Signature> = serde_json::from_slice(signature_bytes)
        .map_err(|error| PackError::Manifest(format!("the signatures cannot be read: {error}")))?;
    if signatures.len() > limits.signatures {
        return Err(PackError::TooLarge {
            what: "the number of signatures".to_owned(),
            limit: limits.signatures as u64,
        });
    }
    Ok((manifest, manifest_bytes, signatures, contents))
}

fn split<'b>(bytes: &'b [u8], length: u64, place: &str) -> Result<(&'b [u8], &'b [u8]), PackError> {
    let end = usize::try_from(length).unwrap_or(usize::MAX);
    bytes
        .split_at_checked(end)
        .ok_or_else(|| PackError::Truncated { place: place.to_owned(), needed: length - bytes.len() as u64 })
}

/// The files that make skills: each SKILL.md that is not below another skill's directory, where it is a file of that skill, nor in
/// a directory of dependencies.
pub(crate) fn skill_paths<'p>(paths: impl Iterator<Item = &'p str>) -> Vec<String> {
    let is_vendored = |path: &str| path.split('/').any(|part| part == "node_modules");
    let is_skill_file = |path: &&str| {
        path.rsplit('/').next().is_some_and(|name| name.eq_ignore_ascii_case("SKILL.md")) && !is_vendored(path)
    };
    let all: Vec<&str> = paths.filter(is_skill_file).collect();
    let directories: BTreeSet<&str> = all.iter().map(|path| directory_of(path)).collect();
    let is_inside_another = |path: &str| {
        let own = directory_of(path);
        let above = own.match_indices('/').map(|(at, _)| &own[..at]).chain((!own.is_empty()).then_some(""));
        above.into_iter().any(|above| directories.contains(above))
    };
    all.into_iter().filter(|path| !is_inside_another(path)).map(str::to_owned).collect()
}

/// The name of the skill whose file this is: its directory's, or the pack's own for one at the top.
pub(crate) fn skill_name(path: &str, pack: &str) -> String {
    match directory_of(path) {
        "" => pack.to_owned(),
        directory => directory.rsplit('/').next().unwrap_or(directory).to_owned(),
    }
}

/// What stands before the last `/`.
pub(crate) fn directory_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}
