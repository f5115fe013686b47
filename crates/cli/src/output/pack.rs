use schemars::JsonSchema;
use serde::Serialize;
use skillgate_bundle::{FileDiff, LockedPack, Manifest, Pack, PackDiff, PackSource, requested_authority};

/// A pack that was made, signed or published.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PackMadeOutput {
    /// Its name.
    pub(crate) name: String,
    /// Its version.
    pub(crate) version: String,
    /// The SHA-256 of its manifest, which names it.
    pub(crate) digest: String,
    /// Where it was written.
    pub(crate) path: String,
    /// The names of its skills.
    pub(crate) skills: Vec<String>,
    /// The keys that signed it.
    pub(crate) keys: Vec<String>,
}

impl PackMadeOutput {
    pub(crate) fn of(pack: &Pack, path: String) -> Self {
        let info = &pack.manifest().pack;
        Self {
            name: info.name.clone(),
            version: info.version.clone(),
            digest: pack.digest().to_string(),
            path,
            skills: pack.manifest().skills.iter().map(|skill| skill.name.clone()).collect(),
            keys: pack.signatures().iter().map(|signature| signature.key.to_string()).collect(),
        }
    }
}

/// A new key.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PackKeygenOutput {
    /// The public key, for `[[keys]]` of a policy.
    pub(crate) public: String,
    /// The file with the secret key.
    pub(crate) path: String,
}

/// What a pack asks for, before anything of it is unpacked.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PackInspectOutput {
    /// Its name.
    pub(crate) name: String,
    /// Its version.
    pub(crate) version: String,
    /// What is in it.
    pub(crate) description: Option<String>,
    /// The oldest Skillgate that can use it.
    pub(crate) minimum_version: Option<String>,
    /// The SHA-256 of its manifest.
    pub(crate) digest: String,
    /// Where it is.
    pub(crate) source: PackSourceOutput,
    /// Bytes of all its files.
    pub(crate) bytes: u64,
    /// Its skills.
    pub(crate) skills: Vec<PackSkillOutput>,
    /// Its files.
    pub(crate) files: Vec<PackFileOutput>,
    /// Its signatures; each of them holds.
    pub(crate) signatures: Vec<PackSignatureOutput>,
    /// What the policy grants its signers, as tool patterns; null: its skills are text only.
    pub(crate) granted: Option<Vec<String>>,
    /// What is installed under its name.
    pub(crate) installed: Option<PackInstalledOutput>,
}

/// Where a pack is.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PackSourceOutput {
    /// `pack`, `zip`, `tar`, `directory`, `git` or `skill`, with `https-` or `oci-` before it when it came over a network.
    pub(crate) kind: String,
    /// The path, address or reference.
    pub(crate) location: String,
    /// The SHA-256 of the bytes, for what is one file.
    pub(crate) digest: Option<String>,
    /// The commit that is checked out, for a git repository.
    pub(crate) commit: Option<String>,
}

impl PackSourceOutput {
    pub(crate) fn of(source: &PackSource) -> Self {
        Self {
            kind: source.kind.clone(),
            location: source.location.clone(),
            digest: source.digest.map(|digest| digest.to_string()),
            commit: source.commit.clone(),
        }
    }
}

/// A skill of a pack.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PackSkillOutput {
    /// What it is invoked by.
    pub(crate) name: String,
    /// The path of its SKILL.md below the pack.
    pub(crate) path: String,
    /// The entries of its `allowed-tools`; null when it has none and so takes nothing away.
    pub(crate) tools: Option<Vec<String>>,
    /// The commands in its text.
    pub(crate) injections: Vec<String>,
    /// Its hooks, each with its event.
    pub(crate) hooks: Vec<String>,
    /// The files beside its SKILL.md.
    pub(crate) companions: usize,
    /// Whether the manifest says the same of it as its own text, which is what counts.
    pub(crate) as_in_manifest: bool,
}

impl PackSkillOutput {
    pub(crate) fn all(pack: &Pack) -> Vec<Self> {
        let Manifest { skills, files, .. } = pack.manifest();
        let skill = |skill: &skillgate_bundle::SkillRecord| {
            let asks = requested_authority(pack.file(&skill.path).unwrap_or_default());
            let prefix = match Pack::directory_of(skill) {
                "" => String::new(),
                directory => format!("{directory}/"),
            };
            Self {
                name: skill.name.clone(),
                path: skill.path.clone(),
                companions: files.iter().filter(|file| file.path.starts_with(&prefix)).count().saturating_sub(1),
                as_in_manifest: asks == skill.requests,
                tools: asks.tools,
                injections: asks.injections,
                hooks: asks.hooks,
            }
        };
        skills.iter().map(skill).collect()
    }
}

/// A file of a pack.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PackFileOutput {
    /// Its path below the pack.
    pub(crate) path: String,
    /// Its size.
    pub(crate) bytes: u64,
    /// The SHA-256 of its bytes.
    pub(crate) digest: String,
}

impl PackFileOutput {
    pub(crate) fn all(pack: &Pack) -> Vec<Self> {
        let file = |file: &skillgate_bundle::FileRecord| Self {
            path: file.path.clone(),
            bytes: file.bytes,
            digest: file.digest.to_string(),
        };
        pack.manifest().files.iter().map(file).collect()
    }
}

/// A signature of a pack.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PackSignatureOutput {
    /// The key.
    pub(crate) key: String,
    /// The name that the policy gives it.
    pub(crate) id: Option<String>,
    /// `counts`, `unknown`, `expired` or `revoked`.
    pub(crate) standing: String,
}

/// What is installed under the name of a pack.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PackInstalledOutput {
    /// Its version.
    pub(crate) version: String,
    /// Its digest.
    pub(crate) digest: String,
    /// What would change; null when what is installed cannot be read.
    pub(crate) diff: Option<PackDiffOutput>,
}

/// What is different between two packs.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PackDiffOutput {
    /// The versions, when they are different: the older one and the newer one.
    pub(crate) version: Option<(String, String)>,
    /// The difference in what they ask for: lines that begin with `-` or `+`.
    pub(crate) authority: Vec<String>,
    /// Whether the newer one asks for something that the older one did not.
    pub(crate) asks_for_more: bool,
    /// The files that differ.
    pub(crate) files: Vec<PackFileDiffOutput>,
}

impl PackDiffOutput {
    pub(crate) fn of(diff: &PackDiff) -> Self {
        let file = |file: &FileDiff| PackFileDiffOutput {
            path: file.path.clone(),
            kind: file.kind.as_str().to_owned(),
            diff: file.text.clone(),
        };
        Self {
            version: diff.version.clone(),
            authority: diff.authority.clone(),
            asks_for_more: diff.asks_for_more(),
            files: diff.files.iter().map(file).collect(),
        }
    }
}

/// One file that differs.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PackFileDiffOutput {
    /// Its path below the pack.
    pub(crate) path: String,
    /// `added`, `removed` or `changed`.
    pub(crate) kind: String,
    /// The difference as a unified diff; null when a side is not text.
    pub(crate) diff: Option<String>,
}

/// Whether a pack holds.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PackVerifyOutput {
    /// The file or the name.
    pub(crate) pack: String,
    /// Whether every digest and every signature holds.
    pub(crate) holds: bool,
    /// Why not.
    pub(crate) reason: Option<String>,
    /// Its digest.
    pub(crate) digest: Option<String>,
    /// The files that were compared.
    pub(crate) files: usize,
    /// Its signatures.
    pub(crate) signatures: Vec<PackSignatureOutput>,
}

/// What became of an installation or an update.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PackInstallOutput {
    /// One entry for each pack.
    pub(crate) packs: Vec<PackChangeOutput>,
}

/// What became of one pack.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PackChangeOutput {
    /// Its name.
    pub(crate) name: String,
    /// `installed`, `unchanged`, `replaced`, `rolled-back`, `refused` or `failed`.
    pub(crate) outcome: String,
    /// The version that is installed now.
    pub(crate) version: Option<String>,
    /// The digest that is installed now.
    pub(crate) digest: Option<String>,
    /// The names of its skills.
    pub(crate) skills: Vec<String>,
    /// What changed, or would.
    pub(crate) diff: Option<PackDiffOutput>,
    /// Why it was refused or failed.
    pub(crate) reason: Option<String>,
}

/// The installed packs.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PackListOutput {
    /// One entry per pack, by name.
    pub(crate) packs: Vec<PackEntryOutput>,
}

/// One installed pack.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PackEntryOutput {
    /// Its name.
    pub(crate) name: String,
    /// Its version.
    pub(crate) version: String,
    /// Its digest.
    pub(crate) digest: String,
    /// `enabled`, `disabled` or `broken`.
    pub(crate) state: String,
    /// Why it is broken.
    pub(crate) reason: Option<String>,
    /// The names of its skills.
    pub(crate) skills: Vec<String>,
    /// Its signatures.
    pub(crate) signatures: Vec<PackSignatureOutput>,
    /// What the policy grants its signers, as tool patterns; null: its skills are text only.
    pub(crate) granted: Option<Vec<String>>,
    /// Where it came from.
    pub(crate) source: PackSourceOutput,
    /// The version that can be gone back to.
    pub(crate) previous: Option<String>,
}

/// A pack that was removed, enabled or disabled.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PackStateOutput {
    /// Its name.
    pub(crate) name: String,
    /// Its version.
    pub(crate) version: String,
    /// `enabled`, `disabled` or `removed`.
    pub(crate) state: String,
    /// The names of its skills.
    pub(crate) skills: Vec<String>,
}

impl PackStateOutput {
    pub(crate) fn of(pack: &LockedPack, state: &str) -> Self {
        Self {
            name: pack.name.clone(),
            version: pack.version.clone(),
            state: state.to_owned(),
            skills: pack.skills.clone(),
        }
    }
}

/// What the sources of the installed packs have now.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PackOutdatedOutput {
    /// One entry per pack, by name.
    pub(crate) packs: Vec<PackOutdatedEntryOutput>,
}

/// What the source of one pack has now.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PackOutdatedEntryOutput {
    /// Its name.
    pub(crate) name: String,
    /// The version that is installed.
    pub(crate) version: String,
    /// `current`, `newer`: the source has another version; `changed`: other content under the same version; or `unreachable`.
    pub(crate) state: String,
    /// The version that the source has.
    pub(crate) found: Option<String>,
    /// Why the source cannot be reached.
    pub(crate) reason: Option<String>,
}

/// What became of a pack's own cases.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PackTestOutput {
    /// The cases.
    pub(crate) cases: Vec<PackCaseOutput>,
    /// How many failed.
    pub(crate) failed: usize,
}

/// One case.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PackCaseOutput {
    /// `expand`, `trigger` or `check`.
    pub(crate) kind: String,
    /// The skill or the query.
    pub(crate) about: String,
    /// Whether it is as it has to be.
    pub(crate) passed: bool,
    /// Why not.
    pub(crate) reason: Option<String>,
}
