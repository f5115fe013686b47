//! Which folders the host trusts, and which rights it granted to which content.

mod error;
mod folder;
mod record;
#[cfg(unix)]
mod repository;
mod store;

pub use error::{FolderFault, TrustError};
pub use folder::{DirectoryId, FolderId};
pub use record::{Standing, TrustRecord, TrustedFile, TrustedSkill};
pub use store::TrustStore;
