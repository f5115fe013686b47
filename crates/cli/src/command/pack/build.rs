//! `skillgate pack build|keygen|sign|push`

use super::PackFailure;
use super::source;
use crate::args::{Format, Global, PackBuildVerb, PackKeygenVerb, PackPushVerb, PackSignVerb};
use crate::exit::{Failure, Status};
use crate::output::{PackKeygenOutput, PackMadeOutput};
use crate::text;
use skillgate_bundle::{ImportOptions, Pack, PackLimits, SecretKey};
use std::io::{self, Write as _};
use std::path::Path;

/// The environment variable with a secret key, for machines that build packs.
const KEY_VARIABLE: &str = "SKILLGATE_PACK_KEY";

/// Bytes of a file with a key.
const MAX_KEY_BYTES: u64 = 4_096;

pub(super) fn build(global: &Global, verb: &PackBuildVerb) -> Result<Status, Failure> {
    let options = ImportOptions {
        name: verb.naming.name.clone(),
        version: verb.naming.version.clone(),
        description: verb.description.clone(),
        ..ImportOptions::default()
    };
    if is_inside(&verb.output, &verb.dir) {
        return Err(PackFailure::OutputInside { path: verb.output.clone() }.into());
    }
    let (imported, _) = source::read_with(&verb.dir.to_string_lossy(), &options)?;
    write(&verb.output, &imported.pack.to_bytes())?;
    made(global, &imported.pack, &verb.output)
}

/// Whether a file would be part of what it is made of the next time.
fn is_inside(output: &Path, directory: &Path) -> bool {
    let above = output.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    matches!((above.canonicalize(), directory.canonicalize()), (Ok(above), Ok(directory)) if above.starts_with(&directory))
}

pub(super) fn keygen(global: &Global, verb: &PackKeygenVerb) -> Result<Status, Failure> {
    let key = SecretKey::generate().map_err(|error| PackFailure::Key { place: "no key was made".to_owned(), error })?;
    create_secret(&verb.output, &format!("{}\n", key.to_text()))
        .map_err(|source| PackFailure::Write { path: verb.output.clone(), source })?;
    let output = PackKeygenOutput { public: key.public().to_string(), path: verb.output.display().to_string() };
    if global.format == Format::Json {
        text::json(&output)?;
    } else {
        text::human(&format!(
            "{}\nThe secret key is in `{}`; keep it. In a policy, this key is:\n\n[[keys]]\nid = \"NAME\"\npublic = \"{}\"\nallow = []\n",
            output.public, output.path, output.public
        ));
    }
    Ok(Status::Done)
}

pub(super) fn sign(global: &Global, verb: &PackSignVerb) -> Result<Status, Failure> {
    let key = secret_key(verb.key.as_deref())?;
    let mut pack = read(&verb.file)?;
    pack.check_signatures().map_err(|error| PackFailure::Signature { path: verb.file.clone(), error })?;
    pack.sign(key.sign(pack.digest()));
    let output = verb.output.as_ref().unwrap_or(&verb.file);
    write(output, &pack.to_bytes())?;
    made(global, &pack, output)
}

pub(super) fn push(global: &Global, verb: &PackPushVerb) -> Result<Status, Failure> {
    let pack = read(&verb.file)?;
    pack.check_signatures().map_err(|error| PackFailure::Signature { path: verb.file.clone(), error })?;
    let reference = verb.to.strip_prefix("oci://").unwrap_or(&verb.to);
    skillgate_bundle::push(reference, &pack, &source::limits(&PackLimits::default())).map_err(PackFailure::from)?;
    let output = PackMadeOutput::of(&pack, verb.to.clone());
    if global.format == Format::Json {
        text::json(&output)?;
    } else {
        text::human(&format!("{} {} is published as {}\n", output.name, output.version, text::escaped(&verb.to)));
    }
    Ok(Status::Done)
}

/// A pack of a file, checked whole.
pub(super) fn read(path: &Path) -> Result<Pack, Failure> {
    let bytes = skillgate_loader::read_file_ambient(path, PackLimits::default().archive_bytes());
    let bytes = bytes.map_err(|fault| match fault {
        skillgate_loader::ReadFault::NotFound => Failure::NoSuchPath(path.display().to_string()),
        fault => {
            Failure::Io { doing: format!("reading `{}`", path.display()), error: io::Error::other(fault.to_string()) }
        }
    })?;
    let pack = Pack::read_owned(bytes, &PackLimits::default())
        .map_err(|error| PackFailure::Pack { path: path.to_path_buf(), error });
    Ok(pack?)
}

fn made(global: &Global, pack: &Pack, path: &Path) -> Result<Status, Failure> {
    let output = PackMadeOutput::of(pack, path.display().to_string());
    if global.format == Format::Json {
        text::json(&output)?;
    } else {
        let skills = output.skills.iter().map(|name| text::escaped(name)).collect::<Vec<_>>().join(", ");
        text::human(&format!(
            "{} {}  {}\n  digest {}\n  skills {skills}\n{}",
            output.name,
            output.version,
            text::escaped(&output.path),
            output.digest,
            output.keys.iter().map(|key| format!("  signed {key}\n")).collect::<String>()
        ));
    }
    Ok(Status::Done)
}

/// The key of a file that the user named, else of the environment.
fn secret_key(file: Option<&Path>) -> Result<SecretKey, Failure> {
    let (place, text) = match file {
        Some(path) => {
            let bytes = skillgate_state::read_guarded_ambient(path, MAX_KEY_BYTES).map_err(|error| Failure::Io {
                doing: format!("reading `{}`", path.display()),
                error: io::Error::other(error.to_string()),
            })?;
            let bytes = bytes.ok_or_else(|| Failure::NoSuchPath(path.display().to_string()))?;
            (format!("`{}`", path.display()), String::from_utf8_lossy(&bytes).into_owned())
        }
        None => {
            let text = std::env::var(KEY_VARIABLE).ok().filter(|text| !text.is_empty()).ok_or(PackFailure::NoKey)?;
            (KEY_VARIABLE.to_owned(), text)
        }
    };
    Ok(text.parse().map_err(|error| PackFailure::Key { place, error })?)
}

/// Writes a file that the user named, whole or not at all.
fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let failed = |source| PackFailure::Write { path: path.to_path_buf(), source };
    let done = if path.symlink_metadata().is_ok() {
        skillgate_loader::replace_file_ambient(path, bytes).map_err(|error| io::Error::other(error.to_string()))
    } else {
        create(path, bytes)
    };
    Ok(done.map_err(failed)?)
}

#[expect(clippy::disallowed_methods, reason = "a file that the user named on the command line")]
fn create(path: &Path, bytes: &[u8]) -> io::Result<()> {
    std::fs::OpenOptions::new().write(true).create_new(true).open(path)?.write_all(bytes)
}

/// A file for its owner alone, which must not be there yet.
#[expect(clippy::disallowed_methods, reason = "a file that the user named on the command line")]
fn create_secret(path: &Path, text: &str) -> io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(text.as_bytes())
}
