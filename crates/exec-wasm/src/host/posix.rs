//! `skillgate:files/posix`, an import of ours (`wit/files`): mode, owner, inode and the like, which WASI does not tell, and the
//! status of a whole directory in one call. The types are written out, as the interface has tuples only.

use super::path::{GuestPath, Names};
use crate::guest::{Ended, Guest};
use cap_std::fs::Metadata;
use skillgate_exec::Located;
use skillgate_policy::{Approved, Sight};
use std::io;
use wasmtime::component::Linker;

/// Names one directory may have.
const MAX_ENTRIES: usize = 65_536;

type Moment = (i64, u32);
type Status = (u32, u64, u32, u32, u64, u64, u64, u64, Moment, Moment, Moment);

/// Numbers of errors on Linux.
const ENOENT: u32 = 2;
const EIO: u32 = 5;
const EACCES: u32 = 13;
const ENOTDIR: u32 = 20;
const ELOOP: u32 = 40;

/// The status of a directory that only leads to the mounts.
const VIRTUAL_DIRECTORY: Status = (0o040_755, 2, 0, 0, 0, 0, 0, 0, (0, 0), (0, 0), (0, 0));

fn errno(error: &io::Error) -> u32 {
    match error.kind() {
        io::ErrorKind::NotFound => ENOENT,
        io::ErrorKind::PermissionDenied => EACCES,
        io::ErrorKind::NotADirectory => ENOTDIR,
        #[cfg(unix)]
        _ if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => ELOOP,
        _ => EIO,
    }
}

#[cfg(unix)]
fn status(metadata: &Metadata) -> Status {
    use cap_std::fs::MetadataExt as _;
    let moment = |seconds: i64, nanoseconds: i64| (seconds, u32::try_from(nanoseconds).unwrap_or_default());
    (
        metadata.mode(),
        metadata.nlink(),
        metadata.uid(),
        metadata.gid(),
        metadata.dev(),
        metadata.ino(),
        metadata.size(),
        metadata.blocks(),
        moment(metadata.atime(), metadata.atime_nsec()),
        moment(metadata.mtime(), metadata.mtime_nsec()),
        moment(metadata.ctime(), metadata.ctime_nsec()),
    )
}

/// Where the system has no such status, it is that of a file that everybody may read.
#[cfg(not(unix))]
fn status(metadata: &Metadata) -> Status {
    let kind = metadata.file_type();
    let mode = if kind.is_dir() {
        0o040_755
    } else if kind.is_symlink() {
        0o120_777
    } else {
        0o100_644
    };
    let moment = |time: io::Result<cap_std::time::SystemTime>| {
        let since = time.ok().and_then(|time| time.into_std().duration_since(std::time::UNIX_EPOCH).ok());
        since.map_or((0, 0), |since| (i64::try_from(since.as_secs()).unwrap_or_default(), since.subsec_nanos()))
    };
    let (accessed, modified) = (moment(metadata.accessed()), moment(metadata.modified()));
    (mode, 1, 0, 0, 0, 0, metadata.len(), metadata.len().div_ceil(512), accessed, modified, modified)
}

impl Guest {
    fn status_of(&self, path: &str, follow: bool) -> wasmtime::Result<Result<Status, u32>> {
        self.check_sight(path)?;
        if let Some(status) = self.status_of_holder(path) {
            return Ok(Ok(status));
        }
        let Some(located) = self.locate(path) else { return Ok(self.status_above(path).ok_or(ENOENT)) };
        Ok(located.metadata(&self.rules, follow).map(|metadata| status(&metadata)).map_err(|error| errno(&error)))
    }

    fn statuses_in(&self, path: &str) -> wasmtime::Result<Result<Vec<(String, Status)>, u32>> {
        self.check_sight(path)?;
        let Some(located) = self.locate(path) else { return Ok(self.statuses_above(path).ok_or(ENOENT)) };
        let found = located.statuses(&self.rules, MAX_ENTRIES);
        Ok(found
            .map(|entries| entries.iter().map(|(name, metadata)| (name.clone(), status(metadata))).collect())
            .map_err(|error| errno(&error)))
    }

    /// The status of the directory that holds the project, which a listing of the project shows as `..`.
    fn status_of_holder(&self, path: &str) -> Option<Status> {
        let (holder, metadata) = self.mounts.holder()?;
        (skillgate_exec::normalise(path) == holder).then(|| status(metadata))
    }

    /// The status of a directory above the mounts: that it is there.
    fn status_above(&self, path: &str) -> Option<Status> {
        let path = skillgate_exec::normalise(path);
        self.is_above(path.trim_start_matches('/')).then_some(VIRTUAL_DIRECTORY)
    }

    /// What a directory above the mounts holds: the next step to each of them.
    fn statuses_above(&self, path: &str) -> Option<Vec<(String, Status)>> {
        let path = skillgate_exec::normalise(path);
        let path = path.trim_start_matches('/');
        if !self.is_above(path) {
            return None;
        }
        let child = |name: String| {
            let below = if path.is_empty() { format!("/{name}") } else { format!("/{path}/{name}") };
            let found = self.locate(&below).map(|located| located.metadata(&self.rules, true));
            let status = match found {
                Some(Ok(metadata)) => Some(status(&metadata)),
                Some(Err(_)) => None,
                None => self.status_above(&below),
            };
            status.map(|status| (name, status))
        };
        Some(self.names_above(path).into_iter().filter_map(child).collect())
    }

    /// The file at an absolute path; what would not be looked up as a file is not there.
    fn locate(&self, path: &str) -> Option<Located<'_>> {
        let parsed = GuestPath::parse(path, Names::HERE).ok().filter(|_| path.starts_with('/'))?;
        self.mounts.locate(&format!("/{}", parsed.text))
    }

    /// A command that sees streams only may not even look.
    fn check_sight(&self, path: &str) -> wasmtime::Result<()> {
        if self.sight == Sight::StreamsOnly {
            let refusal = Approved::unmounted_refusal(&self.vector, path, &self.withheld);
            return Err(wasmtime::Error::from(Ended::Refused(Box::new(refusal))));
        }
        Ok(())
    }
}

pub(super) fn add_to_linker(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    let mut posix = linker.instance("skillgate:files/posix@0.1.0")?;
    posix.func_wrap("stat", |store: wasmtime::StoreContextMut<'_, Guest>, (path, follow): (String, bool)| {
        Ok((store.data().status_of(&path, follow)?,))
    })?;
    posix.func_wrap("read-directory", |store: wasmtime::StoreContextMut<'_, Guest>, (path,): (String,)| {
        Ok((store.data().statuses_in(&path)?,))
    })
}
