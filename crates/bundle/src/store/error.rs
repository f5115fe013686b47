use super::PackDiff;
use crate::{ExtractError, PackError, PublicKey, SignatureFault};
use skillgate_core::Digest;
use skillgate_state::StateError;
use std::path::PathBuf;

/// Why an installed pack is not used, or the store was not changed. Whatever the reason, what was installed is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The directory of the store cannot be used.
    #[error("{}", with_cause(.0))]
    State(#[from] StateError),
    /// The lock file cannot be understood.
    #[error("skills.lock cannot be read, so nothing is changed: {0}")]
    Lock(String),
    /// A newer Skillgate wrote the lock file.
    #[error("skills.lock has version {found}, and this Skillgate knows versions up to {known}")]
    NewerLock {
        /// Its version.
        found: u32,
        /// Ours.
        known: u32,
    },
    /// There is no such pack.
    #[error("no pack `{name}` is installed")]
    NotInstalled {
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// The pack's file is not there.
    #[error("the pack's file `{}` is gone", .path.display())]
    Gone {
        /// The file.
        path: PathBuf,
    },
    /// The pack's file is another pack.
    #[error("`{}` is another pack: its digest is {found}", .path.display())]
    OtherPack {
        /// The file.
        path: PathBuf,
        /// What it is.
        found: Digest,
    },
    /// The pack is damaged.
    #[error(transparent)]
    Pack(#[from] PackError),
    /// A signature is not of this pack.
    #[error(transparent)]
    Signature(#[from] SignatureFault),
    /// A signature that the pack was installed with is not there any more.
    #[error("`{name}` was installed with a signature of {key}, which it has no more")]
    SignatureGone {
        /// The pack.
        name: String,
        /// Whose.
        key: PublicKey,
    },
    /// Nobody signed the pack.
    #[error("`{name}` is not signed")]
    Unsigned {
        /// The pack.
        name: String,
    },
    /// The pack needs a newer Skillgate.
    #[error("`{name}` needs Skillgate {needed}, and this is {}", env!("CARGO_PKG_VERSION"))]
    TooOld {
        /// The pack.
        name: String,
        /// What it needs.
        needed: String,
    },
    /// What is to be installed is not what is installed under this name.
    #[error("`{name}` is installed with other content: {reason}")]
    Drift {
        /// The pack.
        name: String,
        /// Why it is not simply taken.
        reason: &'static str,
        /// What is different; `None` when what is installed cannot be read.
        diff: Option<Box<PackDiff>>,
    },
    /// Another pack has a skill of this name.
    #[error("`{pack}` has a skill `{skill}` already")]
    SkillTaken {
        /// The skill.
        skill: String,
        /// The pack that has it.
        pack: String,
    },
    /// Another pack has a skill whose name is taken for this one: it differs in case, in form, or in letters that look alike.
    #[error("`{skill}` looks like `{known}`, a skill of `{pack}`")]
    SkillLooksLike {
        /// The skill.
        skill: String,
        /// The one that is there.
        known: String,
        /// The pack that has it.
        pack: String,
    },
    /// There is nothing to go back to.
    #[error("there is nothing to go back to: `{name}` was not changed since it was installed")]
    NoPrevious {
        /// The pack.
        name: String,
    },
    /// The files cannot be taken to disk.
    #[error(transparent)]
    Extract(#[from] ExtractError),
}

impl StoreError {
    /// The way out, when there is one.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        Some(match self {
            StoreError::State(error) => return error.help(),
            StoreError::Extract(error) => return error.help(),
            StoreError::Lock(_) => {
                "mend it or move it away; the packs themselves are in `objects` beside it".to_owned()
            }
            StoreError::NewerLock { .. } => "use the newer Skillgate that wrote it".to_owned(),
            StoreError::NotInstalled { known, .. } if known.is_empty() => {
                "`skillgate pack install` installs one".to_owned()
            }
            StoreError::NotInstalled { known, .. } => format!("installed: {}", known.join(", ")),
            StoreError::Gone { .. }
            | StoreError::OtherPack { .. }
            | StoreError::Pack(_)
            | StoreError::Signature(_)
            | StoreError::SignatureGone { .. } => {
                "remove it with `skillgate pack remove` and install it again from where it comes".to_owned()
            }
            StoreError::Unsigned { .. } => {
                "install it as it is with --allow-unsigned: its text can then be used, and nothing in it runs"
                    .to_owned()
            }
            StoreError::TooOld { needed, .. } => format!("install Skillgate {needed} or newer"),
            StoreError::Drift { .. } => "look at the difference; take it with --accept".to_owned(),
            StoreError::SkillTaken { pack, .. } => format!("switch it off first: skillgate pack disable {pack}"),
            StoreError::SkillLooksLike { pack, .. } => {
                format!("look whose it is; to use it, switch the other off first: skillgate pack disable {pack}")
            }
            StoreError::NoPrevious { .. } => return None,
        })
    }
}

fn with_cause(error: &StateError) -> String {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
    format!("{error}{}", cause.unwrap_or_default())
}
