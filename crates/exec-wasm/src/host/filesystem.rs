//! The guard layer: every path a guest names passes here, is resolved below one mount, and is opened by us. A file is changed
//! only where a `Write` rule of the effective grant says so; every other attempt ends the run with a refusal.

use super::io::{GuestInput, GuestOutput, read_at, write_at};
use super::path::{GuestPath, Names, PathFault, join, leaves};
use crate::component::Origin;
use crate::guest::{Ended, Guest, Kept, OpenFile};
use cap_std::fs::Metadata;
use skillgate_exec::{ChangeError, Located, Mount, Stop, Writing};
use skillgate_policy::{Approved, PathRules, Sight};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use wasmtime::component::Resource;
use wasmtime_wasi::p2::bindings::filesystem::preopens;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;
use wasmtime_wasi::p2::bindings::sync::filesystem::types::{
    self, Advice, Descriptor, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry, DirectoryEntryStream,
    Filesize, MetadataHashValue, NewTimestamp, OpenFlags, PathFlags,
};
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, FsError, FsResult};

/// Names one directory may have.
const MAX_ENTRIES: usize = 65_536;
/// Bytes one read gives at most.
const MAX_READ: u64 = 1 << 20;
/// Places where a command's libraries look for time zones, locales and room for temporary files; a command that sees streams
/// only is told there are none.
const QUIET: [&str; 5] = ["etc/localtime", "etc/timezone", "tmp", "usr/share/zoneinfo", "usr/lib/locale"];

/// What a descriptor stands for.
#[derive(Clone, Debug)]
enum Node {
    /// A directory of a mount: the mount's index and the path below it, empty for the mount itself.
    Directory { mount: usize, path: String },
    /// An opened file.
    File { file: Arc<OpenFile>, path: String, metadata: Arc<Metadata>, writable: bool },
    /// A directory above the mounts, by its path without the leading slash: it shows the way to them and nothing else.
    Above(String),
    /// The root that a command sees which sees streams only: nothing is in it, and to look is refused.
    Void,
    /// `/dev/null`.
    Null,
}

impl Kept for Node {
    fn bytes(&self) -> usize {
        match self {
            Node::Directory { path, .. } | Node::Above(path) => path.len(),
            Node::File { path, .. } => path.len() + size_of::<OpenFile>() + size_of::<Metadata>(),
            Node::Void | Node::Null => 0,
        }
    }
}

/// The names of a directory that a guest is reading.
struct Listing {
    entries: std::vec::IntoIter<DirectoryEntry>,
    bytes: usize,
}

impl Listing {
    fn new(entries: Vec<DirectoryEntry>) -> Self {
        let bytes = entries.iter().map(|entry| size_of::<DirectoryEntry>() + entry.name.len()).sum();
        Self { entries: entries.into_iter(), bytes }
    }
}

impl Kept for Listing {
    fn bytes(&self) -> usize {
        self.bytes
    }
}

/// A path a guest named, as it will be opened.
enum Target<'a> {
    Below { mount: usize, path: String, located: Located<'a>, must_be_directory: bool },
    Above(String),
    Null,
}

fn code(error: io::Error) -> FsError {
    use io::ErrorKind as Kind;
    #[cfg(unix)]
    match error.raw_os_error().map(rustix::io::Errno::from_raw_os_error) {
        Some(rustix::io::Errno::LOOP) => return ErrorCode::Loop.into(),
        // A socket, or a FIFO that nobody reads.
        Some(rustix::io::Errno::NXIO) => return ErrorCode::Access.into(),
        _ => {}
    }
    let code = match error.kind() {
        Kind::NotFound => ErrorCode::NoEntry,
        Kind::PermissionDenied => ErrorCode::Access,
        Kind::NotADirectory => ErrorCode::NotDirectory,
        Kind::IsADirectory => ErrorCode::IsDirectory,
        Kind::InvalidFilename => ErrorCode::NameTooLong,
        Kind::FileTooLarge => ErrorCode::Overflow,
        Kind::OutOfMemory => ErrorCode::InsufficientMemory,
        Kind::InvalidInput => ErrorCode::Invalid,
        Kind::AlreadyExists => ErrorCode::Exist,
        Kind::DirectoryNotEmpty => ErrorCode::NotEmpty,
        Kind::CrossesDevices => ErrorCode::CrossDevice,
        Kind::StorageFull | Kind::QuotaExceeded => ErrorCode::InsufficientSpace,
        Kind::ReadOnlyFilesystem => ErrorCode::ReadOnly,
        _ => ErrorCode::Io,
    };
    code.into()
}

fn file_kind(kind: cap_std::fs::FileType) -> DescriptorType {
    if kind.is_dir() {
        DescriptorType::Directory
    } else if kind.is_file() {
        DescriptorType::RegularFile
    } else if kind.is_symlink() {
        DescriptorType::SymbolicLink
    } else {
        DescriptorType::Unknown
    }
}

fn stat(metadata: &Metadata) -> DescriptorStat {
    let time = |time: io::Result<cap_std::time::SystemTime>| {
        let since = time.ok()?.into_std().duration_since(UNIX_EPOCH).ok()?;
        Some(types::Datetime { seconds: since.as_secs(), nanoseconds: since.subsec_nanos() })
    };
    DescriptorStat {
        type_: file_kind(metadata.file_type()),
        link_count: links(metadata),
        size: metadata.len(),
        data_access_timestamp: time(metadata.accessed()),
        data_modification_timestamp: time(metadata.modified()),
        status_change_timestamp: time(metadata.modified()),
    }
}

#[cfg(unix)]
fn links(metadata: &Metadata) -> u64 {
    cap_std::fs::MetadataExt::nlink(metadata)
}

#[cfg(not(unix))]
fn links(_: &Metadata) -> u64 {
    1
}

#[cfg(unix)]
fn identity(metadata: &Metadata, _path: &str) -> MetadataHashValue {
    use cap_std::fs::MetadataExt as _;
    MetadataHashValue { lower: metadata.ino(), upper: metadata.dev() }
}

#[cfg(not(unix))]
fn identity(_: &Metadata, path: &str) -> MetadataHashValue {
    virtual_identity(path)
}

/// The identity of something that is known by its path alone.
fn virtual_identity(path: &str) -> MetadataHashValue {
    let digest = skillgate_core::Digest::of(path.as_bytes());
    let number = |at: usize| {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&digest.as_bytes()[at..at + 8]);
        u64::from_le_bytes(bytes)
    };
    MetadataHashValue { lower: number(0), upper: number(8) }
}

/// The times a guest wants a file to have.
fn times(access: NewTimestamp, change: NewTimestamp) -> std::fs::FileTimes {
    let time = |wanted| match wanted {
        NewTimestamp::NoChange => None,
        NewTimestamp::Now => Some(SystemTime::now()),
        NewTimestamp::Timestamp(at) => {
            UNIX_EPOCH.checked_add(Duration::new(at.seconds, at.nanoseconds.min(999_999_999)))
        }
    };
    let mut times = std::fs::FileTimes::new();
    if let Some(at) = time(access) {
        times = times.set_accessed(at);
    }
    if let Some(at) = time(change) {
        times = times.set_modified(at);
    }
    times
}

/// A virtual object's status.
fn virtual_stat(type_: DescriptorType) -> DescriptorStat {
    DescriptorStat {
        type_,
        link_count: 1,
        size: 0,
        data_access_timestamp: None,
        data_modification_timestamp: None,
        status_change_timestamp: None,
    }
}

/// Takes a guest's path apart.
fn parse(path: &str) -> FsResult<GuestPath> {
    GuestPath::parse(path, Names::HERE).map_err(|fault| {
        let code = match fault {
            PathFault::Nul => ErrorCode::Invalid,
            PathFault::TooLong => ErrorCode::NameTooLong,
            PathFault::Ambiguous => ErrorCode::NotPermitted,
        };
        code.into()
    })
}

/// What an operation changes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Changed {
    /// A directory: its name may end in a slash.
    Directory,
    /// Something else.
    File,
}

impl Guest {
    fn node(&self, descriptor: &Resource<Descriptor>) -> FsResult<Node> {
        Ok(self.table.get(&Resource::<Node>::new_borrow(descriptor.rep())).map_err(trap)?.clone())
    }

    fn push(&mut self, node: Node) -> FsResult<Resource<Descriptor>> {
        Ok(Resource::new_own(self.keep(node).map_err(FsError::trap)?.rep()))
    }

    /// The refusal for a path that a command without sight named.
    fn unmounted(&self, path: &str) -> FsError {
        let path = format!("/{}", path.trim_start_matches('/'));
        let refusal = Approved::unmounted_refusal(&self.vector, &path, &self.withheld);
        FsError::trap(Ended::Refused(Box::new(refusal)))
    }

    /// The error for a path that is not there. Where a rule hides what the command itself names, the run is refused: nobody is
    /// to look for a file that is there, and no `||` to go on without it. What a command looks for by itself is not there.
    fn missing(&self, mount: usize, path: &str, located: &Located<'_>, error: io::Error) -> FsError {
        let full = skillgate_exec::normalise(&format!("{}/{path}", self.mount_path(mount)));
        let directory = self.directory.as_deref().unwrap_or("/");
        let named = |word: &&String| {
            let absolute = if word.starts_with('/') { (*word).clone() } else { format!("{directory}/{word}") };
            skillgate_exec::normalise(&absolute) == full
        };
        let word = self.vector.iter().skip(1).find(named).filter(|_| error.kind() == io::ErrorKind::NotFound);
        match word.and_then(|word| Some((word, located.hidden_by(&self.rules)?))) {
            Some((word, rule)) => {
                FsError::trap(Ended::Refused(Box::new(Approved::hidden_refusal(&self.vector, word, rule))))
            }
            None => code(error),
        }
    }

    /// The refusal for an attempt to change `path` below `descriptor`.
    fn refuse_write(&self, descriptor: &Resource<Descriptor>, path: &str) -> FsError {
        let base = match self.node(descriptor) {
            Ok(Node::Directory { mount, path: base }) => join(self.mount_path(mount), &base),
            Ok(Node::Above(base)) => format!("/{base}"),
            Ok(Node::File { path, .. }) => format!("/{path}"),
            Ok(Node::Null) => "/dev/null".to_owned(),
            Ok(Node::Void) => "/".to_owned(),
            Err(error) => return error,
        };
        let full = skillgate_exec::normalise(&format!("{base}/{path}"));
        FsError::trap(Ended::Refused(Box::new(Approved::write_refusal(&self.vector, self.mounts.called(&full)))))
    }

    /// Changes something below `descriptor`, where a rule grants it; the run is refused where none does.
    fn change<T>(
        &self,
        descriptor: &Resource<Descriptor>,
        path: &str,
        what: Changed,
        change: impl FnOnce(&Located<'_>, &PathRules) -> Result<T, ChangeError>,
    ) -> FsResult<T> {
        match self.resolve(descriptor, path)? {
            // What ends in a slash is a directory, and is not taken for a file or a link of that name.
            Target::Below { located, must_be_directory: true, .. } if what == Changed::File => {
                located.check_changeable(&self.rules).map_err(|error| self.not_changed(descriptor, path, error))?;
                Err(ErrorCode::NotDirectory.into())
            }
            Target::Below { located, .. } => {
                change(&located, &self.rules).map_err(|error| self.not_changed(descriptor, path, error))
            }
            Target::Above(_) | Target::Null => Err(self.refuse_write(descriptor, path)),
        }
    }

    fn not_changed(&self, descriptor: &Resource<Descriptor>, path: &str, error: ChangeError) -> FsError {
        match error {
            ChangeError::Refused => self.refuse_write(descriptor, path),
            ChangeError::Stopped(stop) => FsError::trap(Ended::Stopped(stop)),
            ChangeError::System(error) => code(error),
        }
    }

    /// That no link is made: none leads out of the run's own `/tmp`, and elsewhere to try refuses the run.
    fn refuse_link(&self, descriptor: &Resource<Descriptor>, path: &str) -> FsError {
        match self.resolve(descriptor, path) {
            Ok(Target::Below { located, .. }) if located.is_scratch() => ErrorCode::NotPermitted.into(),
            Ok(_) => self.refuse_write(descriptor, path),
            Err(error) => error,
        }
    }

    /// An opened file that may be written.
    fn writable(&self, descriptor: &Resource<Descriptor>) -> FsResult<Option<Arc<OpenFile>>> {
        match self.node(descriptor)? {
            Node::File { file, writable: true, .. } => Ok(Some(file)),
            Node::Null => Ok(None),
            _ => Err(self.refuse_write(descriptor, "")),
        }
    }

    fn count_written(&self, bytes: u64) -> FsResult<()> {
        self.run.count_written(bytes).map_err(|stop| FsError::trap(Ended::Stopped(stop)))
    }

    fn mount_path(&self, mount: usize) -> &str {
        self.mounts.get(mount).map(skillgate_exec::Mount::path).unwrap_or_default()
    }

    fn resolve(&self, descriptor: &Resource<Descriptor>, path: &str) -> FsResult<Target<'_>> {
        let GuestPath { text: path, must_be_directory } = parse(path)?;
        match self.node(descriptor)? {
            Node::Directory { mount, path: base } => {
                let path = join(&base, &path);
                // Other mounts may lie below the run's own `/tmp`.
                if leaves(&path) || self.mounts.get(mount).is_some_and(Mount::is_scratch) {
                    return self.resolve_absolute(&format!("{}/{path}", self.mount_path(mount)), must_be_directory);
                }
                self.below(mount, path, must_be_directory)
            }
            Node::Above(base) => self.resolve_absolute(&join(&base, &path), must_be_directory),
            Node::Void if path == "dev/null" => Ok(Target::Null),
            Node::Void if path == "dev" || QUIET.iter().any(|quiet| Path::new(&path).starts_with(quiet)) => {
                Err(ErrorCode::NoEntry.into())
            }
            Node::Void => Err(self.unmounted(&path)),
            Node::File { .. } | Node::Null => Err(ErrorCode::NotDirectory.into()),
        }
    }

    /// Walks a path from the root: through the directories above the mounts as text, since no link is in them, and from the
    /// first mount on through the system.
    fn resolve_absolute(&self, path: &str, must_be_directory: bool) -> FsResult<Target<'_>> {
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let mut walked: Vec<&str> = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            if *part == ".." {
                walked.pop();
                continue;
            }
            walked.push(part);
            let prefix = format!("/{}", walked.join("/"));
            if let Some(mount) = self.mounts.paths().position(|path| path == prefix) {
                let rest = parts[index + 1..].join("/");
                let normal = skillgate_exec::normalise(&format!("{prefix}/{rest}"));
                if leaves(&rest) {
                    // Out of the mount again: what it passed on the way is taken as text.
                    return self.resolve_absolute(&normal, must_be_directory);
                }
                if self.mounts.find(&normal).is_some_and(|(deepest, _)| deepest == mount) {
                    // In the run's own `/tmp` there is nothing of the way to a mount that lies below it.
                    if normal != prefix && self.mounts.get(mount).is_some_and(Mount::is_scratch) {
                        let above = normal.trim_start_matches('/');
                        if !self.names_above(above).is_empty() {
                            return Ok(Target::Above(above.to_owned()));
                        }
                    }
                    return self.below(mount, rest, must_be_directory);
                }
            }
        }
        let path = walked.join("/");
        match path.as_str() {
            "dev/null" if !must_be_directory => Ok(Target::Null),
            path if self.is_above(path) => Ok(Target::Above(path.to_owned())),
            _ => Err(ErrorCode::NoEntry.into()),
        }
    }

    fn below(&self, mount: usize, path: String, must_be_directory: bool) -> FsResult<Target<'_>> {
        let located = self.mounts.get(mount).map(|mount| mount.below(&path)).ok_or(ErrorCode::BadDescriptor)?;
        Ok(Target::Below { mount, path, located, must_be_directory })
    }

    pub(super) fn is_above(&self, path: &str) -> bool {
        path.is_empty() || path == "dev" || !self.names_above(path).is_empty()
    }

    /// What a directory above the mounts holds: the next step to each of them.
    pub(super) fn names_above(&self, path: &str) -> Vec<String> {
        let prefix = if path.is_empty() { "/".to_owned() } else { format!("/{path}/") };
        let mut names: Vec<String> = self
            .mounts
            .paths()
            .filter_map(|mount| mount.strip_prefix(&prefix)?.split('/').next())
            .map(str::to_owned)
            .collect();
        match path {
            "" => names.push("dev".to_owned()),
            "dev" => names.push("null".to_owned()),
            _ => {}
        }
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The directories of a guest that does not enter the one it starts in, as ours do: each at its own path, and that one as
    /// `.`. A root beside it would not do: the C library of guests takes `/` and `.` for the same place.
    fn separate_directories(&self) -> Vec<(Node, String)> {
        let mounted = |(mount, path): (usize, &str)| {
            let name = if path.is_empty() { "/" } else { path };
            (Node::Directory { mount, path: String::new() }, name.to_owned())
        };
        let mut nodes: Vec<_> = self.mounts.paths().enumerate().map(mounted).collect();
        nodes.push((Node::Above("dev".to_owned()), "/dev".to_owned()));
        let start = self.directory.as_deref().and_then(|directory| self.resolve_absolute(directory, true).ok());
        match start {
            Some(Target::Below { mount, path, .. }) => nodes.push((Node::Directory { mount, path }, ".".to_owned())),
            Some(Target::Above(path)) => nodes.push((Node::Above(path), ".".to_owned())),
            Some(Target::Null) | None => {}
        }
        nodes
    }

    fn metadata_of(&self, descriptor: &Resource<Descriptor>) -> FsResult<Option<Metadata>> {
        match self.node(descriptor)? {
            Node::Directory { mount, path } => {
                let mount = self.mounts.get(mount).ok_or(ErrorCode::BadDescriptor)?;
                Ok(Some(mount.below(path).metadata(&self.rules, true).map_err(code)?))
            }
            Node::File { metadata, .. } => Ok(Some((*metadata).clone())),
            Node::Void => Err(self.unmounted("")),
            Node::Above(_) | Node::Null => Ok(None),
        }
    }
}

fn trap(error: wasmtime::component::ResourceTableError) -> FsError {
    FsError::trap(error)
}

impl preopens::Host for Guest {
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Resource<Descriptor>, String)>> {
        let nodes = match (self.sight, self.origin) {
            (Sight::StreamsOnly, _) => vec![(Node::Void, "/".to_owned())],
            // One root for everything: the way from it to the mounts is answered here, so that no path is looked up elsewhere.
            (Sight::Granted, Origin::Shipped) => vec![(Node::Above(String::new()), "/".to_owned())],
            (Sight::Granted, Origin::ThirdParty) => self.separate_directories(),
        };
        let mut directories = Vec::new();
        for (node, name) in nodes {
            directories.push((Resource::new_own(self.keep(node)?.rep()), name));
        }
        Ok(directories)
    }
}

impl types::Host for Guest {
    fn convert_error_code(&mut self, error: FsError) -> wasmtime::Result<types::ErrorCode> {
        Ok(error.downcast()?.into())
    }

    fn filesystem_error_code(
        &mut self,
        error: Resource<wasmtime_wasi_io::streams::Error>,
    ) -> wasmtime::Result<Option<types::ErrorCode>> {
        let error = self.table.get(&error)?.downcast_ref::<io::Error>().map(io::Error::kind);
        Ok(match error {
            Some(kind) => Some(code(io::Error::from(kind)).downcast()?.into()),
            None => None,
        })
    }
}

impl types::HostDescriptor for Guest {
    fn advise(&mut self, fd: Resource<Descriptor>, _: Filesize, _: Filesize, _: Advice) -> FsResult<()> {
        self.node(&fd).map(drop)
    }

    fn sync_data(&mut self, fd: Resource<Descriptor>) -> FsResult<()> {
        self.node(&fd).map(drop)
    }

    fn sync(&mut self, fd: Resource<Descriptor>) -> FsResult<()> {
        self.node(&fd).map(drop)
    }

    fn get_flags(&mut self, fd: Resource<Descriptor>) -> FsResult<DescriptorFlags> {
        Ok(match self.node(&fd)? {
            Node::Null | Node::File { writable: true, .. } => DescriptorFlags::READ | DescriptorFlags::WRITE,
            _ => DescriptorFlags::READ,
        })
    }

    fn get_type(&mut self, fd: Resource<Descriptor>) -> FsResult<DescriptorType> {
        Ok(match self.node(&fd)? {
            Node::File { metadata, .. } => file_kind(metadata.file_type()),
            Node::Directory { .. } | Node::Void | Node::Above(_) => DescriptorType::Directory,
            Node::Null => DescriptorType::CharacterDevice,
        })
    }

    fn set_size(&mut self, fd: Resource<Descriptor>, size: Filesize) -> FsResult<()> {
        let Some(file) = self.writable(&fd)? else { return Ok(()) };
        self.count_written(size.saturating_sub(file.metadata().map_err(code)?.len()))?;
        file.set_len(size).map_err(code)
    }

    fn set_times(&mut self, fd: Resource<Descriptor>, access: NewTimestamp, change: NewTimestamp) -> FsResult<()> {
        match self.writable(&fd)? {
            Some(file) => file.set_times(times(access, change)).map_err(code),
            None => Ok(()),
        }
    }

    fn read(&mut self, fd: Resource<Descriptor>, len: Filesize, offset: Filesize) -> FsResult<(Vec<u8>, bool)> {
        match self.node(&fd)? {
            Node::File { file, .. } => {
                let mut bytes = vec![0; usize::try_from(len.min(MAX_READ)).unwrap_or(0)];
                let count = read_at(&file, &mut bytes, offset).map_err(code)?;
                bytes.truncate(count);
                Ok((bytes, count == 0))
            }
            Node::Null => Ok((Vec::new(), true)),
            Node::Directory { .. } | Node::Void | Node::Above(_) => Err(ErrorCode::IsDirectory.into()),
        }
    }

    fn write(&mut self, fd: Resource<Descriptor>, bytes: Vec<u8>, offset: Filesize) -> FsResult<Filesize> {
        if bytes.is_empty() {
            self.count_empty_write().map_err(|stop| FsError::trap(Ended::Stopped(stop)))?;
        }
        if let Some(file) = self.writable(&fd)? {
            self.count_written(bytes.len() as u64)?;
            write_at(&file, &bytes, offset).map_err(code)?;
        }
        Ok(bytes.len() as u64)
    }

    fn read_directory(&mut self, fd: Resource<Descriptor>) -> FsResult<Resource<DirectoryEntryStream>> {
        let entries: Vec<DirectoryEntry> = match self.node(&fd)? {
            Node::Directory { mount, path } => {
                let mount = self.mounts.get(mount).ok_or(ErrorCode::BadDescriptor)?;
                let entries = mount.below(path).entries(&self.rules, MAX_ENTRIES).map_err(code)?;
                entries.into_iter().map(|(name, kind)| DirectoryEntry { type_: file_kind(kind), name }).collect()
            }
            Node::Above(path) => {
                let kind = |name: &str| match (path.as_str(), name) {
                    ("dev", "null") => DescriptorType::CharacterDevice,
                    _ => DescriptorType::Directory,
                };
                self.names_above(&path).into_iter().map(|name| DirectoryEntry { type_: kind(&name), name }).collect()
            }
            Node::Void => return Err(self.unmounted("")),
            Node::File { .. } | Node::Null => return Err(ErrorCode::NotDirectory.into()),
        };
        Ok(Resource::new_own(self.keep(Listing::new(entries)).map_err(FsError::trap)?.rep()))
    }

    fn create_directory_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<()> {
        self.change(&fd, &path, Changed::Directory, |located, rules| located.create_directory(rules))
    }

    fn stat(&mut self, fd: Resource<Descriptor>) -> FsResult<DescriptorStat> {
        match self.metadata_of(&fd)? {
            Some(metadata) => Ok(stat(&metadata)),
            None => {
                let type_ = types::HostDescriptor::get_type(self, fd)?;
                Ok(virtual_stat(type_))
            }
        }
    }

    fn stat_at(&mut self, fd: Resource<Descriptor>, flags: PathFlags, path: String) -> FsResult<DescriptorStat> {
        match self.resolve(&fd, &path)? {
            Target::Below { mount, path, located, must_be_directory } => {
                let follow = must_be_directory || flags.contains(PathFlags::SYMLINK_FOLLOW);
                let missing = |error| self.missing(mount, &path, &located, error);
                let metadata = located.metadata(&self.rules, follow).map_err(missing)?;
                if must_be_directory && !metadata.is_dir() {
                    return Err(ErrorCode::NotDirectory.into());
                }
                Ok(stat(&metadata))
            }
            Target::Above(_) => Ok(virtual_stat(DescriptorType::Directory)),
            Target::Null => Ok(virtual_stat(DescriptorType::CharacterDevice)),
        }
    }

    fn set_times_at(
        &mut self,
        fd: Resource<Descriptor>,
        _: PathFlags,
        path: String,
        access: NewTimestamp,
        change: NewTimestamp,
    ) -> FsResult<()> {
        let open = |located: &Located<'_>, rules: &PathRules| located.open_for_writing(rules, Writing::default());
        let file = self.change(&fd, &path, Changed::File, open)?.0;
        file.into_std().set_times(times(access, change)).map_err(code)
    }

    fn link_at(
        &mut self,
        _: Resource<Descriptor>,
        _: PathFlags,
        _: String,
        new_fd: Resource<Descriptor>,
        new_path: String,
    ) -> FsResult<()> {
        Err(self.refuse_link(&new_fd, &new_path))
    }

    fn open_at(
        &mut self,
        fd: Resource<Descriptor>,
        path_flags: PathFlags,
        path: String,
        open_flags: OpenFlags,
        flags: DescriptorFlags,
    ) -> FsResult<Resource<Descriptor>> {
        let changes = open_flags.intersects(OpenFlags::CREATE | OpenFlags::TRUNCATE | OpenFlags::EXCLUSIVE)
            || flags.contains(DescriptorFlags::WRITE);
        let node = match self.resolve(&fd, &path)? {
            Target::Null => Node::Null,
            Target::Above(_) if changes => return Err(self.refuse_write(&fd, &path)),
            Target::Above(path) => Node::Above(path),
            Target::Below { path: below, must_be_directory: false, .. } if changes => {
                let how = Writing {
                    create: open_flags.contains(OpenFlags::CREATE),
                    exclusive: open_flags.contains(OpenFlags::EXCLUSIVE),
                    truncate: open_flags.contains(OpenFlags::TRUNCATE),
                };
                let open = |located: &Located<'_>, rules: &PathRules| located.open_for_writing(rules, how);
                let (file, metadata) = self.change(&fd, &path, Changed::File, open)?;
                let file = self.opened(file)?;
                Node::File { file, path: below, metadata: Arc::new(metadata), writable: true }
            }
            Target::Below { .. } if changes => return Err(self.refuse_write(&fd, &path)),
            Target::Below { mount, path, located, must_be_directory } => {
                let follow = must_be_directory || path_flags.contains(PathFlags::SYMLINK_FOLLOW);
                let missing = |error| self.missing(mount, &path, &located, error);
                if !follow && located.metadata(&self.rules, false).map_err(missing)?.is_symlink() {
                    return Err(ErrorCode::Loop.into());
                }
                let (file, metadata) = located.open(&self.rules).map_err(missing)?;
                if metadata.is_dir() {
                    Node::Directory { mount, path }
                } else if must_be_directory || open_flags.contains(OpenFlags::DIRECTORY) {
                    return Err(ErrorCode::NotDirectory.into());
                } else {
                    Node::File { file: self.opened(file)?, path, metadata: Arc::new(metadata), writable: false }
                }
            }
        };
        self.push(node)
    }

    fn drop(&mut self, fd: Resource<Descriptor>) -> wasmtime::Result<()> {
        self.release(Resource::<Node>::new_own(fd.rep())).map(drop)
    }

    fn readlink_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<String> {
        match self.resolve(&fd, &path)? {
            Target::Below { located, .. } => {
                let target = located.read_link(&self.rules).map_err(code)?;
                target.into_os_string().into_string().map_err(|_| ErrorCode::IllegalByteSequence.into())
            }
            Target::Above(_) | Target::Null => Err(ErrorCode::Invalid.into()),
        }
    }

    fn remove_directory_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<()> {
        self.change(&fd, &path, Changed::Directory, |located, rules| located.remove_directory(rules))
    }

    fn rename_at(
        &mut self,
        fd: Resource<Descriptor>,
        path: String,
        new_fd: Resource<Descriptor>,
        new_path: String,
    ) -> FsResult<()> {
        let (to, slash) = match self.resolve(&new_fd, &new_path)? {
            Target::Below { located, must_be_directory, .. } => (located, must_be_directory),
            Target::Above(_) | Target::Null => return Err(self.refuse_write(&new_fd, &new_path)),
        };
        // What is refused is the name that may not be changed.
        to.check_changeable(&self.rules).map_err(|error| self.not_changed(&new_fd, &new_path, error))?;
        if slash {
            return Err(ErrorCode::NotDirectory.into());
        }
        self.change(&fd, &path, Changed::File, |located, rules| located.rename_file(rules, &to))
    }

    fn symlink_at(&mut self, fd: Resource<Descriptor>, _: String, path: String) -> FsResult<()> {
        Err(self.refuse_link(&fd, &path))
    }

    fn unlink_file_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<()> {
        self.change(&fd, &path, Changed::File, |located, rules| located.remove_file(rules))
    }

    fn read_via_stream(&mut self, fd: Resource<Descriptor>, offset: Filesize) -> FsResult<Resource<DynInputStream>> {
        let input = match self.node(&fd)? {
            Node::File { file, .. } => GuestInput::File { file, offset },
            Node::Null => GuestInput::Nothing,
            Node::Directory { .. } | Node::Void | Node::Above(_) => return Err(ErrorCode::IsDirectory.into()),
        };
        Ok(Resource::new_own(self.keep(input).map_err(FsError::trap)?.rep()))
    }

    fn write_via_stream(&mut self, fd: Resource<Descriptor>, offset: Filesize) -> FsResult<Resource<DynOutputStream>> {
        let output = match self.writable(&fd)? {
            Some(file) => GuestOutput::File { file, offset: Some(offset) },
            None => GuestOutput::Null,
        };
        Ok(Resource::new_own(self.keep(output).map_err(FsError::trap)?.rep()))
    }

    fn append_via_stream(&mut self, fd: Resource<Descriptor>) -> FsResult<Resource<DynOutputStream>> {
        let output = match self.writable(&fd)? {
            Some(file) => GuestOutput::File { file, offset: None },
            None => GuestOutput::Null,
        };
        Ok(Resource::new_own(self.keep(output).map_err(FsError::trap)?.rep()))
    }

    fn is_same_object(&mut self, a: Resource<Descriptor>, b: Resource<Descriptor>) -> wasmtime::Result<bool> {
        let mut hash = |fd: Resource<Descriptor>| match types::HostDescriptor::metadata_hash(self, fd) {
            Ok(value) => Ok(Some((value.lower, value.upper))),
            Err(error) => error.downcast().map(|_| None),
        };
        let (a, b) = (hash(a)?, hash(b)?);
        Ok(a.is_some() && a == b)
    }

    fn metadata_hash(&mut self, fd: Resource<Descriptor>) -> FsResult<MetadataHashValue> {
        let path = match self.node(&fd)? {
            Node::Directory { path, .. } | Node::File { path, .. } => path,
            Node::Above(path) => path,
            Node::Void | Node::Null => String::new(),
        };
        Ok(match self.metadata_of(&fd)? {
            Some(metadata) => identity(&metadata, &path),
            None => virtual_identity(&path),
        })
    }

    fn metadata_hash_at(
        &mut self,
        fd: Resource<Descriptor>,
        flags: PathFlags,
        path: String,
    ) -> FsResult<MetadataHashValue> {
        match self.resolve(&fd, &path)? {
            Target::Below { mount, located, path, must_be_directory } => {
                let follow = must_be_directory || flags.contains(PathFlags::SYMLINK_FOLLOW);
                let missing = |error| self.missing(mount, &path, &located, error);
                Ok(identity(&located.metadata(&self.rules, follow).map_err(missing)?, &path))
            }
            Target::Above(path) => Ok(virtual_identity(&path)),
            Target::Null => Ok(virtual_identity("dev/null")),
        }
    }
}

impl Guest {
    /// An opened file, which counts as open until the last descriptor and the last stream of it is gone.
    fn opened(&self, file: cap_std::fs::File) -> FsResult<Arc<OpenFile>> {
        OpenFile::new(file.into_std(), &self.open_files, self.run.limits().open_files)
            .map_err(|bound| FsError::trap(Ended::Stopped(Stop::Bound(bound))))
    }
}

impl types::HostDirectoryEntryStream for Guest {
    fn read_directory_entry(&mut self, stream: Resource<DirectoryEntryStream>) -> FsResult<Option<DirectoryEntry>> {
        let stream = Resource::<Listing>::new_borrow(stream.rep());
        Ok(self.table.get_mut(&stream).map_err(trap)?.entries.next())
    }

    fn drop(&mut self, stream: Resource<DirectoryEntryStream>) -> wasmtime::Result<()> {
        self.release(Resource::<Listing>::new_own(stream.rep())).map(drop)
    }
}
