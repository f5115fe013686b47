use super::{FetchError, FetchLimits, block_on, with_causes};
use crate::Pack;
use oci_client::client::{Certificate, CertificateEncoding, ClientConfig, ClientProtocol, Config, ImageLayer};
use oci_client::errors::OciDistributionError;
use oci_client::manifest::OciImageManifest;
use oci_client::secrets::RegistryAuth;
use oci_client::{Client, Reference};
use std::collections::BTreeMap;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::AsyncWrite;

/// What a pack is called in a registry, and what describes it there.
const PACK_TYPE: &str = "application/vnd.skillgate.pack.v1";
const CONFIG_TYPE: &str = "application/vnd.skillgate.pack.config.v1+json";

/// Who asks a registry.
#[derive(Clone, PartialEq, Eq)]
pub struct RegistryLogin {
    /// The user.
    pub user: String,
    /// The password or token.
    pub password: String,
}

impl std::fmt::Debug for RegistryLogin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RegistryLogin").field("user", &self.user).finish_non_exhaustive()
    }
}

/// Publishes a pack under a reference, `REGISTRY/NAME:TAG`.
///
/// # Errors
/// A [`FetchError`].
pub fn push(reference: &str, pack: &Pack, limits: &FetchLimits) -> Result<(), FetchError> {
    let target = parse(reference)?;
    let info = &pack.manifest().pack;
    let annotations = BTreeMap::from([
        ("org.opencontainers.image.title".to_owned(), format!("{}.skillpack", info.name)),
        ("org.opencontainers.image.version".to_owned(), info.version.clone()),
    ]);
    let layers = [ImageLayer::new(pack.to_bytes(), PACK_TYPE.to_owned(), Some(annotations))];
    let config = Config::new(format!("{{\"digest\":\"{}\"}}", pack.digest()), CONFIG_TYPE.to_owned(), None);
    let manifest = OciImageManifest::build(&layers, &config, None);
    block_on(async {
        let pushed = client(&target, limits)?.push(&target, &layers, config, &auth(limits), Some(manifest)).await;
        pushed.map(drop).map_err(|error| failed(reference, &error))
    })
}

/// Fetches the bytes of a pack that a reference names; its blob is compared with the digest of the manifest.
///
/// # Errors
/// A [`FetchError`].
pub fn pull(reference: &str, limits: &FetchLimits) -> Result<Vec<u8>, FetchError> {
    let target = parse(reference)?;
    let no_pack = |reason| FetchError::NoPack { reference: reference.to_owned(), reason };
    block_on(async {
        let client = client(&target, limits)?;
        let pulled = client.pull_image_manifest(&target, &auth(limits)).await;
        let (manifest, _) = pulled.map_err(|error| failed(reference, &error))?;
        let [layer] = manifest.layers.as_slice() else { return Err(no_pack("it has not one layer")) };
        if layer.media_type != PACK_TYPE {
            return Err(no_pack("its layer is of another kind"));
        }
        let size = u64::try_from(layer.size).map_err(|_| no_pack("its size is no number of bytes"))?;
        let too_large = || FetchError::TooLarge { address: reference.to_owned(), limit: limits.bytes };
        if size > limits.bytes {
            return Err(too_large());
        }
        let mut taken = Bounded { bytes: Vec::new(), most: size };
        match client.pull_blob(&target, layer, &mut taken).await {
            Ok(()) if taken.bytes.len() as u64 == size => Ok(taken.bytes),
            Ok(()) => Err(no_pack("its layer has not the size that the manifest says")),
            Err(OciDistributionError::IoError(error)) if error.kind() == io::ErrorKind::FileTooLarge => {
                Err(no_pack("its layer has not the size that the manifest says"))
            }
            Err(error) => Err(failed(reference, &error)),
        }
    })
}

fn parse(reference: &str) -> Result<Reference, FetchError> {
    let refused = |reason: String| FetchError::Reference { reference: reference.to_owned(), reason };
    let parsed = reference.parse::<Reference>().map_err(|error| refused(error.to_string()))?;
    // What names no registry would be looked for at one that nobody named.
    let named = reference.split_once('/').is_some_and(|(host, _)| host.contains(['.', ':']) || host == "localhost");
    if named { Ok(parsed) } else { Err(refused("it names no registry".to_owned())) }
}

fn client(target: &Reference, limits: &FetchLimits) -> Result<Client, FetchError> {
    let registry = target.resolve_registry().to_owned();
    let host = registry.rsplit_once(':').map_or(registry.as_str(), |(host, _)| host);
    // On this machine nobody listens on the way.
    let is_own = matches!(host, "localhost" | "127.0.0.1" | "[::1]");
    let root = |pem: &String| Certificate { encoding: CertificateEncoding::Pem, data: pem.as_bytes().to_vec() };
    let config = ClientConfig {
        protocol: if is_own { ClientProtocol::HttpsExcept(vec![registry.clone()]) } else { ClientProtocol::Https },
        extra_root_certificates: limits.roots.iter().map(root).collect(),
        connect_timeout: Some(Duration::from_secs(30)),
        read_timeout: Some(Duration::from_secs(60)),
        user_agent: concat!("skillgate/", env!("CARGO_PKG_VERSION")),
        ..ClientConfig::default()
    };
    Client::try_from(config).map_err(|error| FetchError::Start(with_causes(&error)))
}

fn auth(limits: &FetchLimits) -> RegistryAuth {
    match &limits.login {
        Some(login) => RegistryAuth::Basic(login.user.clone(), login.password.clone()),
        None => RegistryAuth::Anonymous,
    }
}

fn failed(reference: &str, error: &OciDistributionError) -> FetchError {
    match error {
        OciDistributionError::ServerError { code, .. } => {
            FetchError::Status { address: reference.to_owned(), status: *code }
        }
        error => FetchError::Transport { address: reference.to_owned(), reason: with_causes(error) },
    }
}

/// Takes as many bytes as were said and no more.
struct Bounded {
    bytes: Vec<u8>,
    most: u64,
}

impl AsyncWrite for Bounded {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        if (self.bytes.len() + data.len()) as u64 > self.most {
            return Poll::Ready(Err(io::ErrorKind::FileTooLarge.into()));
        }
        self.bytes.extend_from_slice(data);
        Poll::Ready(Ok(data.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
