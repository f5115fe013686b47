//! Packs from elsewhere: files at `https://` addresses, and artefacts of OCI registries. Everything is bounded, and what comes is
//! bytes like any other: it is read as an archive from elsewhere is.

mod https;
mod oci;

pub use https::{Fetched, fetch};
pub use oci::{RegistryLogin, pull, push};

use std::time::Duration;

/// What a download may take.
#[derive(Clone, Debug)]
pub struct FetchLimits {
    /// Bytes.
    pub bytes: u64,
    /// How often it may be sent on.
    pub redirects: usize,
    /// How long all of it may take.
    pub time: Duration,
    /// Certificates, as PEM, that are trusted besides those of the system.
    pub roots: Vec<String>,
    /// Who asks a registry, when not everybody may.
    pub login: Option<RegistryLogin>,
}

impl Default for FetchLimits {
    /// 600 MiB, five redirects, ten minutes.
    fn default() -> Self {
        Self { bytes: 600 << 20, redirects: 5, time: Duration::from_secs(600), roots: Vec::new(), login: None }
    }
}

/// Why something did not come, or was not taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// It is no address of a file.
    #[error("`{address}` is no address that files are taken from: {reason}")]
    Address {
        /// What was named.
        address: String,
        /// Why.
        reason: String,
    },
    /// It is no reference to something in a registry.
    #[error("`{reference}` is no reference to a pack in a registry: {reason}")]
    Reference {
        /// What was named.
        reference: String,
        /// Why.
        reason: String,
    },
    /// The server did not give it.
    #[error("`{address}` answers with status {status}")]
    Status {
        /// What was asked for.
        address: String,
        /// What came.
        status: u16,
    },
    /// A page came where a file was wanted.
    #[error("`{address}` is a page of a web site, and no file")]
    Page {
        /// What was asked for.
        address: String,
    },
    /// It has more bytes than are taken.
    #[error("`{address}` has more than {limit} bytes")]
    TooLarge {
        /// What was asked for.
        address: String,
        /// The most.
        limit: u64,
    },
    /// It could not be reached, was sent on too often or to an open connection, or the connection was not who it has to be.
    #[error("`{address}` cannot be reached: {reason}")]
    Transport {
        /// What was asked for.
        address: String,
        /// Why.
        reason: String,
    },
    /// What is there is no pack.
    #[error("`{reference}` is no pack: {reason}")]
    NoPack {
        /// What was asked for.
        reference: String,
        /// Why.
        reason: &'static str,
    },
    /// Nothing could be begun.
    #[error("no connection can be made: {0}")]
    Start(String),
}

impl FetchError {
    /// The way out, when there is one.
    #[must_use]
    pub fn help(&self) -> Option<&'static str> {
        match self {
            FetchError::Page { .. } => Some("name the address of the file itself, often called raw or download"),
            FetchError::Address { .. } => Some("it is written https://HOST/PATH"),
            FetchError::Reference { .. } => {
                Some("it is written oci://REGISTRY/NAME:TAG in small letters, or with @sha256:… in place of the tag")
            }
            FetchError::Status { status: 401 | 403, .. } => Some(
                "set SKILLGATE_REGISTRY_USER and SKILLGATE_REGISTRY_PASSWORD for a registry that wants to know you",
            ),
            _ => None,
        }
    }
}

/// Runs one download on a runtime of its own, so that the functions are as usual ones.
fn block_on<T>(work: impl Future<Output = Result<T, FetchError>>) -> Result<T, FetchError> {
    // Somebody may have chosen one already; any is good.
    let _chosen_already = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| FetchError::Start(error.to_string()))?.block_on(work)
}

fn certificates(roots: &[String]) -> Result<Vec<reqwest::Certificate>, FetchError> {
    let read = |pem: &String| reqwest::Certificate::from_pem_bundle(pem.as_bytes());
    let read: Result<Vec<_>, _> = roots.iter().map(read).collect();
    Ok(read.map_err(|error| FetchError::Start(with_causes(&error)))?.into_iter().flatten().collect())
}

/// An error and what caused it.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        if !text.ends_with(&inner_text) {
            text = format!("{text}: {inner_text}");
        }
        cause = inner.source();
    }
    text
}
