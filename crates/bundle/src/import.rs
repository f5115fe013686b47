//! Files from elsewhere: archives, directories, single skills. Whatever they claim of themselves is not believed.

mod collect;
#[cfg(unix)]
mod directory;
#[cfg(unix)]
mod git;
mod tar;
mod zip;

use crate::sign::is_secret_key;
use crate::{KeyError, NameFault, Pack, PackError, PackFile, PackInfo, PackInfoError, PackLimits, requests};
use collect::Collector;
use skillgate_core::Digest;
use std::io;
use std::path::PathBuf;

/// What something turned out to be that a pack can be made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SourceForm {
    /// A `.skillpack`.
    Pack,
    /// A zip archive.
    Zip,
    /// A tar archive, compressed with gzip or not.
    Tar,
    /// A directory.
    Directory,
    /// The working tree of a git repository.
    Checkout,
    /// One `SKILL.md`.
    Skill,
}

impl SourceForm {
    /// Its name in output and in the lock file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            SourceForm::Pack => "pack",
            SourceForm::Zip => "zip",
            SourceForm::Tar => "tar",
            SourceForm::Directory => "directory",
            SourceForm::Checkout => "git",
            SourceForm::Skill => "skill",
        }
    }
}

/// A pack that was made of what somebody gave, or read from it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Imported {
    /// The pack, whole and checked.
    pub pack: Pack,
    /// What it came as.
    pub form: SourceForm,
    /// The digest of the bytes that were given, for what is one file.
    pub digest: Option<Digest>,
    /// The commit that was checked out, for a git repository.
    pub commit: Option<String>,
}

/// How a pack that is made of files is called, when the files do not say.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ImportOptions {
    /// Its name, in place of that of the file or directory.
    pub name: Option<String>,
    /// Its version, in place of that of its only skill, else `0.0.0`.
    pub version: Option<String>,
    /// What is in it.
    pub description: Option<String>,
    /// What it may have at most.
    pub limits: PackLimits,
}

/// Why something cannot be taken in. Nothing was written anywhere.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// A name in it is refused.
    #[error(transparent)]
    Name(#[from] NameFault),
    /// It is no pack, or one that does not hold.
    #[error(transparent)]
    Pack(#[from] PackError),
    /// Its name or version is none.
    #[error(transparent)]
    Info(#[from] PackInfoError),
    /// A key is none.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The system refused to read it.
    #[error("`{}` cannot be read: {source}", .path.display())]
    Io {
        /// What.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// It is nothing that can be taken in.
    #[error("`{0}` is no .skillpack, no zip, no tar or tar.gz and no SKILL.md")]
    Unknown(String),
    /// Two readers of the archive could find different files in it, or it is damaged.
    #[error("the archive is refused{}: {reason}", .entry.as_ref().map(|entry| format!(" at `{entry}`")).unwrap_or_default())]
    Ambiguous {
        /// The entry that it is about.
        entry: Option<String>,
        /// What.
        reason: &'static str,
    },
    /// Something in it is neither a file nor a directory, or has rights that a skill's file has not.
    #[error("`{path}` is {found}, and a pack holds regular files only")]
    NotAFile {
        /// What.
        path: String,
        /// What it is.
        found: &'static str,
    },
    /// A key that signs packs is among the files: whoever has the pack could sign as its owner.
    #[error("`{path}` is a secret key, and everybody who has the pack would have it")]
    SecretKey {
        /// The file.
        path: String,
    },
    /// A skill in it cannot be read, and would be missing without a word.
    #[error("{path}:{line}:{column}: {message}")]
    Skill {
        /// Its SKILL.md.
        path: String,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What is wrong.
        message: String,
    },
}

impl ImportError {
    /// The way out, when there is one.
    #[must_use]
    pub fn help(&self) -> Option<&'static str> {
        Some(match self {
            ImportError::Name(_) => "rename the file where the archive is made",
            ImportError::Ambiguous { .. } => "make the archive anew with a usual program (`zip -r`, `tar -czf`)",
            ImportError::NotAFile { .. } => "put the file itself there, or leave it out",
            ImportError::SecretKey { .. } => "keep it elsewhere; if the pack was passed on, revoke the key",
            ImportError::Info(_) => "name it with --name and --version",
            ImportError::Skill { .. } => "`skillgate check` says how to mend it",
            ImportError::Pack(PackError::NoSkill) => "a skill is a directory with a SKILL.md",
            ImportError::Pack(PackError::Skill { .. }) => "a skill is called as its directory: rename that",
            ImportError::Pack(_) | ImportError::Io { .. } | ImportError::Unknown(_) | ImportError::Key(_) => {
                return None;
            }
        })
    }
}

/// Makes a pack of the bytes of one file: a `.skillpack`, a zip, a tar or tar.gz, or a `SKILL.md`. What it is, its bytes say and
/// not its name; `name` gives the pack its name where nothing else does.
///
/// # Errors
/// An [`ImportError`].
pub fn import_bytes(name: &str, bytes: &[u8], options: &ImportOptions) -> Result<Imported, ImportError> {
    if is_pack(bytes) { read_pack(bytes.to_vec(), options) } else { read_archive(name, bytes, options) }
}

fn is_pack(bytes: &[u8]) -> bool {
    bytes.starts_with(b"SKLPACK\n")
}

/// Keeps the bytes as they are: a large pack is not copied.
fn read_pack(bytes: Vec<u8>, options: &ImportOptions) -> Result<Imported, ImportError> {
    let digest = Some(Digest::of(&bytes));
    let pack = Pack::read_owned(bytes, &options.limits)?;
    Ok(Imported { pack, form: SourceForm::Pack, digest, commit: None })
}

fn read_archive(name: &str, bytes: &[u8], options: &ImportOptions) -> Result<Imported, ImportError> {
    let digest = Some(Digest::of(bytes));
    let mut collector = Collector::new(&options.limits, bytes.len() as u64);
    let form = if bytes.starts_with(b"PK") {
        zip::read(bytes, &mut collector)?;
        SourceForm::Zip
    } else if bytes.starts_with(&[0x1f, 0x8b]) {
        tar::read_compressed(bytes, &mut collector)?;
        SourceForm::Tar
    } else if tar::is_one(bytes) {
        tar::read(bytes, &mut collector)?;
        SourceForm::Tar
    } else if name.rsplit('/').next().is_some_and(|name| name.to_ascii_lowercase().ends_with(".md")) {
        collector.file("SKILL.md", bytes)?;
        SourceForm::Skill
    } else {
        return Err(ImportError::Unknown(name.to_owned()));
    };
    let pack = build(name, form, collector.finish(), options)?;
    Ok(Imported { pack, form, digest, commit: None })
}

/// Makes a pack of a file or a directory, and of the working tree of a git repository as it is now, whose commit is noted.
///
/// # Errors
/// An [`ImportError`].
#[cfg(unix)]
pub fn import_ambient(path: &std::path::Path, options: &ImportOptions) -> Result<Imported, ImportError> {
    let name = path.canonicalize().map_err(|source| ImportError::Io { path: path.to_path_buf(), source })?;
    let text = name.to_string_lossy();
    match directory::open_ambient(path)? {
        directory::Opened::Directory(handle) => {
            let commit = git::commit_ambient(path)?;
            let mut collector = Collector::new(&options.limits, u64::MAX);
            directory::read(&handle, path, &mut collector)?;
            let form = if commit.is_some() { SourceForm::Checkout } else { SourceForm::Directory };
            let pack = build(&text, form, collector.finish(), options)?;
            Ok(Imported { pack, form, digest: None, commit })
        }
        directory::Opened::File(file) => {
            let bytes = directory::read_file(file, path, options.limits.archive_bytes())?;
            if is_pack(&bytes) { read_pack(bytes, options) } else { read_archive(&text, &bytes, options) }
        }
    }
}

/// Makes the pack, and refuses one of which a skill cannot be read.
fn build(path: &str, form: SourceForm, files: Vec<PackFile>, options: &ImportOptions) -> Result<Pack, ImportError> {
    if let Some(key) = files.iter().find(|file| is_secret_key(&file.bytes)) {
        return Err(ImportError::SecretKey { path: key.path.clone() });
    }
    let mut broken = None;
    let only = requests::only_skill(&files);
    let name = match (&options.name, only.as_ref().filter(|_| form == SourceForm::Skill)) {
        (Some(name), _) => name.clone(),
        (None, Some(header)) if header.name.is_some() => header.name.clone().unwrap_or_default(),
        (None, _) => name_of(path, form),
    };
    let version = options.version.clone();
    let version = version.or_else(|| only.as_ref().and_then(|header| header.version.clone()));
    let mut info = PackInfo::new(name, version.unwrap_or_else(|| "0.0.0".to_owned()))?;
    info.description = options.description.clone();
    let pack = Pack::build_within(info, files, &options.limits, |path, text| {
        let described = requests::of(path, text);
        if let (Some(fault), None) = (described.fault, &broken) {
            broken = Some(fault);
        }
        described.requests
    })?;
    match broken {
        None => Ok(pack),
        Some(requests::Fault { path, line, column, message }) => {
            Err(ImportError::Skill { path, line, column, message })
        }
    }
}

/// The name that a path gives: its last part without the endings of archives, of a `SKILL.md` its directory's, in the letters that
/// a pack's name has.
fn name_of(path: &str, form: SourceForm) -> String {
    let mut parts = path.rsplit('/').filter(|part| !part.is_empty());
    let mut last = parts.next().unwrap_or_default();
    if form == SourceForm::Skill && last.eq_ignore_ascii_case("SKILL.md") {
        last = parts.next().unwrap_or(last);
    }
    let lower = last.to_lowercase();
    let endings: &[&str] = match form {
        SourceForm::Directory | SourceForm::Checkout => &[],
        _ => &[".tar.gz", ".tgz", ".tar", ".zip", ".skill", ".md"],
    };
    let stem = endings.iter().find_map(|ending| lower.strip_suffix(ending)).unwrap_or(&lower);
    let dashed: String =
        stem.chars().map(|c| if c.is_ascii_lowercase() || c.is_ascii_digit() { c } else { '-' }).collect();
    let words: Vec<&str> = dashed.split('-').filter(|word| !word.is_empty()).collect();
    let name = words.join("-");
    name.get(..64.min(name.len())).unwrap_or(&name).trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::{SourceForm, name_of};

    #[test]
    fn a_path_gives_a_name_that_a_pack_can_have() {
        for (path, form, name) in [
            ("/x/Team Skills.zip", SourceForm::Zip, "team-skills"),
            ("/x/a_b.tar.gz", SourceForm::Tar, "a-b"),
            ("/x/greet/SKILL.md", SourceForm::Skill, "greet"),
            ("/x/note.md", SourceForm::Skill, "note"),
            ("/x/repo-1.2/", SourceForm::Directory, "repo-1-2"),
            ("---", SourceForm::Zip, ""),
        ] {
            assert_eq!(name_of(path, form), name, "{path}");
        }
    }
}
