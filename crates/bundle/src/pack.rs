use crate::manifest::FORMAT;
use crate::{FileRecord, Manifest, PackError, PackInfo, PackLimits, RequestedAuthority, Signature, SkillRecord};
use skillgate_core::Digest;

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
    contents: Vec<u8>,
}

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
        mut files: Vec<PackFile>,
        mut describe: impl FnMut(&str, &[u8]) -> RequestedAuthority,
    ) -> Result<Self, PackError> {
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let skills = files
            .iter()
            .filter_map(|file| {
                let name = skill_name(&file.path, &pack.name)?;
                Some(SkillRecord { name, path: file.path.clone(), requests: describe(&file.path, &file.bytes) })
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
        manifest.check(&PackLimits::default())?;
        let manifest_bytes = manifest.to_bytes()?;
        let contents = files.into_iter().flat_map(|file| file.bytes).collect();
        Ok(Self { manifest, manifest_bytes, signatures: Vec::new(), contents })
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
        let (manifest, manifest_bytes, signatures, contents) = head(bytes, limits)?;
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
        Ok(Self { manifest, manifest_bytes: manifest_bytes.to_vec(), signatures, contents: contents.to_vec() })
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
            Vec::with_capacity(HEADER_BYTES + self.manifest_bytes.len() + signatures.len() + self.contents.len());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&(self.manifest_bytes.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&(signatures.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&self.manifest_bytes);
        bytes.extend_from_slice(&signatures);
        bytes.extend_from_slice(&self.contents);
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

    /// The files with their bytes, by path.
    pub fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let mut at = 0;
        self.manifest.files.iter().map(move |file| {
            // Checked when the pack was read or built.
            let end = at + usize::try_from(file.bytes).unwrap_or(0);
            let content = self.contents.get(at..end).unwrap_or_default();
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

/// The name of the skill whose file this is: its directory, or the pack's own name for a SKILL.md at the top.
fn skill_name(path: &str, pack: &str) -> Option<String> {
    match path.strip_suffix("SKILL.md")? {
        "" => Some(pack.to_owned()),
        directory => {
            directory.strip_suffix('/').map(|directory| directory.rsplit('/').next().unwrap_or(directory).to_owned())
        }
    }
}
