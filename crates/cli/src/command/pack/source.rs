//! Where packs are taken from.

use super::PackFailure;
use crate::args::PackNaming;
use crate::exit::Failure;
use skillgate_bundle::{
    FetchLimits, ImportOptions, Imported, PackLimits, PackSource, RegistryLogin, fetch, import_ambient, import_bytes,
    pull,
};
use std::path::Path;

/// The pack that is there, and what a lock file says of the place.
pub(super) fn read(from: &str, naming: &PackNaming) -> Result<(Imported, PackSource), Failure> {
    let options =
        ImportOptions { name: naming.name.clone(), version: naming.version.clone(), ..ImportOptions::default() };
    read_with(from, &options)
}

pub(super) fn read_with(from: &str, options: &ImportOptions) -> Result<(Imported, PackSource), Failure> {
    let limits = limits(&options.limits);
    let (imported, kind, location) = if from.starts_with("https://") {
        let fetched = fetch(from, &limits).map_err(PackFailure::from)?;
        let imported = import_bytes(&fetched.name, &fetched.bytes, options).map_err(PackFailure::from)?;
        let kind = format!("https-{}", imported.form.as_str());
        (imported, kind, from.to_owned())
    } else if let Some(reference) = from.strip_prefix("oci://") {
        let bytes = pull(reference, &limits).map_err(PackFailure::from)?;
        let imported = import_bytes(reference, &bytes, options).map_err(PackFailure::from)?;
        let kind = format!("oci-{}", imported.form.as_str());
        (imported, kind, from.to_owned())
    } else if from.starts_with("http://") {
        return Err(PackFailure::NotEncrypted(from.to_owned()).into());
    } else {
        let path = Path::new(from);
        let imported = import_ambient(path, options).map_err(PackFailure::from)?;
        let location = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let kind = imported.form.as_str().to_owned();
        (imported, kind, location.to_string_lossy().into_owned())
    };
    let source = PackSource { kind, location, digest: imported.digest, commit: imported.commit.clone() };
    Ok((imported, source))
}

/// The environment variables with who asks a registry.
const USER: &str = "SKILLGATE_REGISTRY_USER";
const PASSWORD: &str = "SKILLGATE_REGISTRY_PASSWORD";

/// What a download may take, and who asks.
pub(super) fn limits(pack: &PackLimits) -> FetchLimits {
    let login = match (std::env::var(USER), std::env::var(PASSWORD)) {
        (Ok(user), Ok(password)) if !user.is_empty() => Some(RegistryLogin { user, password }),
        _ => None,
    };
    FetchLimits { bytes: pack.archive_bytes(), login, ..FetchLimits::default() }
}
