use crate::run::Stop;
use crate::scratch::{self, Directory, Scratch};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata, OpenOptions};
use skillgate_policy::{PathRules, Rule};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One directory that commands may be shown, read-only, at its own absolute path.
#[derive(Debug)]
pub struct Mount {
    path: String,
    dir: Dir,
    /// Where the directory lies in the project; empty for the project itself. What is elsewhere is not bound by path patterns.
    in_project: Option<PathBuf>,
    /// Set for a run's own `/tmp`, which its commands may change as they like.
    scratch: Option<Directory>,
}

impl Mount {
    /// The absolute path at which the directory appears; `/`-separated, without a trailing slash.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Whether it is the run's own `/tmp`, where nothing is but what the run put there.
    #[must_use]
    pub fn is_scratch(&self) -> bool {
        self.scratch.is_some()
    }

    /// The handle that was opened when the run was prepared, to tell which directory it is.
    #[cfg(unix)]
    #[must_use]
    pub fn handle(&self) -> std::os::fd::BorrowedFd<'_> {
        std::os::fd::AsFd::as_fd(&self.dir)
    }

    #[cfg(test)]
    pub(crate) fn scratch_directory(&self) -> Option<&Directory> {
        self.scratch.as_ref()
    }

    pub(crate) fn scratch(path: &str, dir: Dir, directory: Directory) -> Mount {
        Mount { path: path.to_owned(), dir, in_project: None, scratch: Some(directory) }
    }
}

/// The directories of one run. The handles are opened once, when the run is prepared; a directory that is replaced later is
/// not followed.
#[derive(Debug, Default)]
pub struct Mounts {
    mounts: Vec<Arc<Mount>>,
    /// The run's own `/tmp`, which comes after all others.
    scratch: Option<Scratch>,
    /// The directory that holds the project, with its status: `ls -la` of the project shows it as `..`. Nothing else of it is
    /// ever shown.
    holder: Option<(String, Metadata)>,
}

/// Which file a path names: the mount, and the path below it.
#[derive(Clone, Debug)]
pub struct Located<'a> {
    mount: &'a Mount,
    relative: PathBuf,
}

/// How a file is opened for writing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Writing {
    /// Make it when it is not there.
    pub create: bool,
    /// Fail when it is there.
    pub exclusive: bool,
    /// Empty it.
    pub truncate: bool,
}

/// Why a file was not changed.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// No rule grants it, which refuses the run.
    #[error("no rule grants it")]
    Refused,
    /// The run may not go on.
    #[error("{0}")]
    Stopped(Stop),
    /// The system's answer.
    #[error(transparent)]
    System(#[from] io::Error),
}

impl Mounts {
    /// No directory at all.
    #[must_use]
    pub fn none() -> Arc<Self> {
        Arc::new(Self::default())
    }

    /// Opens the project's root and further directories by their paths. One below the project is part of it and no mount of its
    /// own; one that leads into the project is bound by the project's rules.
    ///
    /// # Errors
    /// The path that could not be opened as a directory, and why.
    pub fn open_ambient(project: Option<&Path>, others: &[&Path]) -> Result<Arc<Self>, (PathBuf, io::Error)> {
        let mut mounts: Vec<Arc<Mount>> = Vec::new();
        let mut holder = None;
        let real_project = project.and_then(|path| path.canonicalize().ok());
        let wanted = project.map(|path| (path, true)).into_iter().chain(others.iter().map(|path| (*path, false)));
        for (path, is_project) in wanted {
            let open = || {
                let real = std::path::absolute(path)?;
                let text = real.to_str().ok_or_else(|| io::Error::other("the path is not UTF-8"))?;
                let text = text.replace('\\', "/");
                let dir = Dir::open_ambient_dir(&real, ambient_authority())?;
                Ok((text.trim_end_matches('/').to_owned(), dir))
            };
            let (text, dir) = open().map_err(|error| (path.to_owned(), error))?;
            let covered = |mount: &Arc<Mount>| {
                let below = text.strip_prefix(mount.path.as_str());
                below.is_some_and(|rest| rest.is_empty() || (mount.is_project() && rest.starts_with('/')))
            };
            if mounts.iter().any(covered) {
                continue;
            }
            let real = path.canonicalize().ok();
            let in_project = match (is_project, real_project.as_deref().zip(real.as_deref())) {
                (true, _) => Some(PathBuf::new()),
                (false, Some((project, real))) => real.strip_prefix(project).ok().map(Path::to_path_buf),
                (false, None) => None,
            };
            if is_project {
                holder = holder_ambient(&text);
            }
            mounts.push(Arc::new(Mount { path: text, dir, in_project, scratch: None }));
        }
        // The longest path that contains a file is the mount it is opened through.
        mounts.sort_by_key(|mount| std::cmp::Reverse(mount.path.len()));
        Ok(Arc::new(Self { mounts, scratch: None, holder }))
    }

    /// The same directories and a `/tmp` of one run, which is empty, private, and gone when the last holder of this value is.
    /// Where the host mounted `/tmp` or what contains it, that stays.
    pub(crate) fn with_scratch(&self) -> Arc<Self> {
        let covered = self.mounts.iter().any(|mount| matches!(mount.path.as_str(), "" | scratch::PATH));
        Arc::new(Self {
            mounts: self.mounts.clone(),
            scratch: (!covered).then(Scratch::default),
            holder: self.holder.clone(),
        })
    }

    #[cfg(test)]
    pub(crate) fn scratch_of_test(&self) -> &Scratch {
        self.scratch.as_ref().expect("made with one")
    }

    /// The path and the status of the directory that holds the project, as they were when the project was opened.
    #[must_use]
    pub fn holder(&self) -> Option<(&str, &Metadata)> {
        self.holder.as_ref().map(|(path, metadata)| (path.as_str(), metadata))
    }

    /// The paths of the mounts.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.mounts.iter().map(|mount| mount.path.as_str()).chain(self.scratch.iter().map(|_| scratch::PATH))
    }

    /// The directories that were opened, the longest path first; without the run's own `/tmp`.
    pub fn directories(&self) -> impl Iterator<Item = &Mount> {
        self.mounts.iter().map(Arc::as_ref)
    }

    /// The index of the mount that an absolute path lies in, and the rest of the path. The path is without `.` and `..`.
    #[must_use]
    pub fn find<'p>(&self, path: &'p str) -> Option<(usize, &'p str)> {
        self.paths().enumerate().find_map(|(index, mount)| {
            let rest = path.strip_prefix(mount)?;
            match rest.strip_prefix('/') {
                Some(relative) => Some((index, relative)),
                None if rest.is_empty() => Some((index, "")),
                None => None,
            }
        })
    }

    /// How a path below the project is called from its root, which is how a `Write` rule names it; other paths as they are.
    #[must_use]
    pub fn called<'p>(&self, absolute: &'p str) -> &'p str {
        let project = self.mounts.iter().find(|mount| mount.is_project());
        project.and_then(|mount| absolute.strip_prefix(mount.path.as_str())?.strip_prefix('/')).unwrap_or(absolute)
    }

    /// The `index`-th mount.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&Mount> {
        match self.mounts.get(index) {
            Some(mount) => Some(mount),
            None if index == self.mounts.len() => self.scratch.as_ref()?.mount(),
            None => None,
        }
    }

    /// Finds the mount that an absolute path lies in. `.` and `..` are taken out as text first, as a shell's `cd` does.
    #[must_use]
    pub fn locate(&self, path: &str) -> Option<Located<'_>> {
        let path = normalise(path);
        let (index, relative) = self.find(&path)?;
        Some(self.get(index)?.below(relative))
    }
}

/// The directory that holds another one; `None` where there is none, or it may not be looked at.
fn holder_ambient(path: &str) -> Option<(String, Metadata)> {
    let parent = Path::new(path).parent()?;
    let metadata = Dir::open_ambient_dir(parent, ambient_authority()).and_then(|dir| dir.dir_metadata()).ok()?;
    Some((parent.to_str()?.replace('\\', "/"), metadata))
}

#[cfg(unix)]
fn has_other_names(metadata: &Metadata) -> bool {
    cap_std::fs::MetadataExt::nlink(metadata) > 1
}

#[cfg(not(unix))]
fn has_other_names(_: &Metadata) -> bool {
    false
}

/// An absolute path without empty, `.` and `..` components.
#[must_use]
pub fn normalise(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

impl Mount {
    /// Whether it is the project's root, the only one in which a rule can grant writing.
    #[must_use]
    pub fn is_project(&self) -> bool {
        self.in_project.as_ref().is_some_and(|prefix| prefix.as_os_str().is_empty())
    }

    /// Whether a rule lets a path of this mount be seen.
    fn shows(&self, rules: &PathRules, path: &Path, is_directory: bool) -> bool {
        let Some(prefix) = &self.in_project else { return true };
        let path = path.strip_prefix(".").unwrap_or(path);
        let whole = prefix.join(path);
        whole.as_os_str().is_empty() || whole.to_str().is_some_and(|text| rules.may_read(text, is_directory))
    }

    /// The mount's handle together with a path below it.
    #[must_use]
    pub fn below(&self, relative: impl Into<PathBuf>) -> Located<'_> {
        Located { mount: self, relative: relative.into() }
    }
}

impl Located<'_> {
    /// Whether it is in the run's own `/tmp`.
    #[must_use]
    pub fn is_scratch(&self) -> bool {
        self.mount.is_scratch()
    }

    fn relative(&self) -> &Path {
        if self.relative.as_os_str().is_empty() { Path::new(".") } else { &self.relative }
    }

    /// Opens the file or directory, following links only as far as they stay in the mount. Never waits: a FIFO or a device is
    /// refused after it was opened without blocking.
    ///
    /// # Errors
    /// As the system says; a path that a rule hides is not found.
    pub fn open(&self, rules: &PathRules) -> io::Result<(File, Metadata)> {
        let path = self.visible(rules, true)?;
        let mut options = OpenOptions::new();
        options.read(true);
        #[cfg(unix)]
        {
            use cap_std::fs::OpenOptionsExt as _;
            options.custom_flags(i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or(0));
        }
        let file = self.mount.dir.open_with(&path, &options)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() && !metadata.is_dir() {
            return Err(io::Error::from(io::ErrorKind::PermissionDenied));
        }
        Ok((file, metadata))
    }

    /// What the path names; the last link is followed on request.
    ///
    /// # Errors
    /// As the system says; a path that a rule hides is not found.
    pub fn metadata(&self, rules: &PathRules, follow: bool) -> io::Result<Metadata> {
        let path = self.visible(rules, follow)?;
        if follow { self.mount.dir.metadata(&path) } else { self.mount.dir.symlink_metadata(&path) }
    }

    /// Where a link points, as written in it.
    ///
    /// # Errors
    /// As the system says; a path that a rule hides is not found.
    pub fn read_link(&self, rules: &PathRules) -> io::Result<PathBuf> {
        let path = self.visible(rules, false)?;
        self.mount.dir.read_link_contents(&path)
    }

    /// The names in a directory with their types, hidden ones left out, in no particular order, at most `limit`.
    ///
    /// # Errors
    /// As the system says; `FileTooLarge` for a directory of more names than `limit`.
    pub fn entries(&self, rules: &PathRules, limit: usize) -> io::Result<Vec<(String, cap_std::fs::FileType)>> {
        let path = self.visible(rules, true)?;
        let mut entries = Vec::new();
        for entry in self.mount.dir.read_dir(&path)? {
            let entry = entry?;
            // A name that is not UTF-8 cannot be passed to a guest; it is not there for it.
            let Ok(name) = entry.file_name().into_string() else { continue };
            let Ok(kind) = entry.file_type() else { continue };
            if entries.len() == limit {
                return Err(io::Error::from(io::ErrorKind::FileTooLarge));
            }
            if self.entry_is_visible(rules, &path, &name, kind) {
                entries.push((name, kind));
            }
        }
        Ok(entries)
    }

    /// The names in a directory with their own status, hidden ones left out, in no particular order, at most `limit`.
    ///
    /// # Errors
    /// As [`Self::entries`].
    pub fn statuses(&self, rules: &PathRules, limit: usize) -> io::Result<Vec<(String, Metadata)>> {
        let path = self.visible(rules, true)?;
        let mut statuses = Vec::new();
        for entry in self.mount.dir.read_dir(&path)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            // What went away meanwhile is not there.
            let Ok(metadata) = entry.metadata() else { continue };
            if statuses.len() == limit {
                return Err(io::Error::from(io::ErrorKind::FileTooLarge));
            }
            if self.entry_is_visible(rules, &path, &name, metadata.file_type()) {
                statuses.push((name, metadata));
            }
        }
        Ok(statuses)
    }

    /// The rule that hides what the path names; `None` when it is shown, or not there anyway.
    #[must_use]
    pub fn hidden_by<'r>(&self, rules: &'r PathRules) -> Option<&'r Rule> {
        let prefix = self.mount.in_project.as_ref()?;
        let real = self.mount.dir.canonicalize(self.relative()).ok()?;
        let is_directory = self.mount.dir.symlink_metadata(&real).ok()?.is_dir();
        rules.hidden_by(prefix.join(real.strip_prefix(".").unwrap_or(&real)).to_str()?, is_directory)
    }

    /// Opens a file for writing: in the project, where a rule grants it, never through a link, also no hard one, because another
    /// name of the same file may lie where no rule grants it; or in the run's own `/tmp`.
    ///
    /// # Errors
    /// [`ChangeError::Refused`] when no rule grants it.
    pub fn open_for_writing(&self, rules: &PathRules, how: Writing) -> Result<(File, Metadata), ChangeError> {
        let path = self.changeable(rules)?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(how.create).create_new(how.exclusive);
        #[cfg(unix)]
        {
            use cap_std::fs::OpenOptionsExt as _;
            let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
            options.custom_flags(i32::try_from(flags.bits()).unwrap_or(0));
        }
        let file = match &self.mount.scratch {
            // What is made there is counted, so whether it is made has to be known.
            Some(scratch) if how.create => {
                let made = scratch.make(|| self.mount.dir.open_with(&path, options.clone().create_new(true)));
                match made {
                    Err(ChangeError::System(error))
                        if error.kind() == io::ErrorKind::AlreadyExists && !how.exclusive =>
                    {
                        self.mount.dir.open_with(&path, options.create(false))?
                    }
                    made => made?,
                }
            }
            _ => self.mount.dir.open_with(&path, &options)?,
        };
        let metadata = file.metadata()?;
        if !metadata.is_file() || (self.mount.scratch.is_none() && has_other_names(&metadata)) {
            return Err(io::Error::from(io::ErrorKind::PermissionDenied).into());
        }
        if !how.truncate {
            return Ok((file, metadata));
        }
        // Not before it is known which file it is.
        file.set_len(0)?;
        let metadata = file.metadata()?;
        Ok((file, metadata))
    }

    /// Whether what the path names may be changed at all.
    ///
    /// # Errors
    /// [`ChangeError::Refused`] when no rule grants it.
    pub fn check_changeable(&self, rules: &PathRules) -> Result<(), ChangeError> {
        self.changeable(rules).map(drop)
    }

    /// Makes a directory, where a rule grants it.
    ///
    /// # Errors
    /// [`ChangeError::Refused`] when no rule grants it.
    pub fn create_directory(&self, rules: &PathRules) -> Result<(), ChangeError> {
        let path = self.changeable(rules)?;
        match &self.mount.scratch {
            Some(scratch) => scratch.make(|| self.mount.dir.create_dir(&path)),
            None => Ok(self.mount.dir.create_dir(&path)?),
        }
    }

    /// Removes a file or a link, where a rule grants it.
    ///
    /// # Errors
    /// [`ChangeError::Refused`] when no rule grants it.
    pub fn remove_file(&self, rules: &PathRules) -> Result<(), ChangeError> {
        self.mount.dir.remove_file(self.changeable(rules)?)?;
        self.is_gone();
        Ok(())
    }

    /// Removes an empty directory, where a rule grants it.
    ///
    /// # Errors
    /// [`ChangeError::Refused`] when no rule grants it.
    pub fn remove_directory(&self, rules: &PathRules) -> Result<(), ChangeError> {
        self.mount.dir.remove_dir(self.changeable(rules)?)?;
        self.is_gone();
        Ok(())
    }

    /// Renames a file, where rules grant both names. A directory is not renamed: it would carry names along that no rule was
    /// asked about. In the run's own `/tmp` no rule is asked about anything.
    ///
    /// # Errors
    /// [`ChangeError::Refused`] when a rule does not grant one of the names.
    pub fn rename_file(&self, rules: &PathRules, to: &Located<'_>) -> Result<(), ChangeError> {
        let (from_path, to_path) = (self.changeable(rules)?, to.changeable(rules)?);
        let free = self.mount.is_scratch() && to.mount.is_scratch();
        if !free && !self.mount.dir.symlink_metadata(&from_path)?.is_file() {
            return Err(io::Error::from(io::ErrorKind::PermissionDenied).into());
        }
        let replaces = free && from_path != to_path && to.mount.dir.symlink_metadata(&to_path).is_ok();
        self.mount.dir.rename(from_path, &to.mount.dir, to_path)?;
        if replaces {
            self.is_gone();
        }
        Ok(())
    }

    /// Counts one file or directory of the run's own `/tmp` less.
    fn is_gone(&self) {
        if let Some(scratch) = &self.mount.scratch {
            scratch.give_file();
        }
    }

    /// The path to change: below the project, with the links in its directories resolved, and granted by a rule; or in the
    /// run's own `/tmp`.
    fn changeable(&self, rules: &PathRules) -> Result<PathBuf, ChangeError> {
        if self.mount.is_scratch() {
            // No link is ever in it, so a path leads where it says.
            let named = self.relative.file_name().map(|_| self.relative.clone());
            return named.ok_or_else(|| io::Error::from(io::ErrorKind::PermissionDenied).into());
        }
        if !self.mount.is_project() || !rules.grants_writing() {
            return Err(ChangeError::Refused);
        }
        let name = self.relative.file_name().ok_or(ChangeError::Refused)?;
        let real = match self.relative.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => self.mount.dir.canonicalize(parent)?.join(name),
            _ => PathBuf::from(name),
        };
        let granted = real.to_str().is_some_and(|text| rules.may_write(text));
        if granted { Ok(real) } else { Err(ChangeError::Refused) }
    }

    fn entry_is_visible(&self, rules: &PathRules, path: &Path, name: &str, kind: cap_std::fs::FileType) -> bool {
        rules.shows_everything() || self.mount.shows(rules, &path.join(name), kind.is_dir())
    }

    /// The path to open: as it is when nothing is hidden, else with its links resolved and checked, so that a link to a hidden
    /// file is as hidden as the file.
    fn visible(&self, rules: &PathRules, follow: bool) -> io::Result<PathBuf> {
        if self.mount.in_project.is_none() || rules.shows_everything() {
            return Ok(self.relative().to_owned());
        }
        let real = if follow {
            self.mount.dir.canonicalize(self.relative())?
        } else {
            match (self.relative.parent(), self.relative.file_name()) {
                (Some(parent), Some(name)) if !parent.as_os_str().is_empty() => {
                    self.mount.dir.canonicalize(parent)?.join(name)
                }
                _ => self.relative().to_owned(),
            }
        };
        let is_directory = self.mount.dir.symlink_metadata(&real)?.is_dir();
        if self.mount.shows(rules, &real, is_directory) {
            Ok(real)
        } else {
            Err(io::Error::from(io::ErrorKind::NotFound))
        }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make the files that are opened")]
mod tests {
    use super::*;
    use skillgate_policy::{Authority, Effect, Host, Place, Rule};

    fn hiding(pattern: &str) -> PathRules {
        let rule = Rule::parse(Effect::Deny, pattern, Place::Host).expect("a rule");
        Authority::of(Host::granting([rule])).path_rules()
    }

    #[test]
    fn paths_are_located_in_the_longest_mount() {
        let outer = tempfile::tempdir().expect("a directory");
        let inner = outer.path().join("inner");
        std::fs::create_dir(&inner).expect("a directory");
        let mounts = Mounts::open_ambient(None, &[outer.path(), &inner]).expect("both open");
        let base = outer.path().to_str().expect("UTF-8");
        for (path, mount, relative) in [
            (format!("{base}/a/b"), 1, "a/b"),
            (format!("{base}/inner/x"), 0, "x"),
            (format!("{base}/inner"), 0, ""),
            (format!("{base}/a/../inner/./x"), 0, "x"),
            (format!("{base}/innermost"), 1, "innermost"),
        ] {
            let located = mounts.locate(&path).expect(&path);
            assert_eq!(located.relative, Path::new(relative), "{path}");
            assert_eq!(located.mount.path(), mounts.get(mount).expect("mounted").path(), "{path}");
        }
        assert!(mounts.locate("/").is_none() && mounts.locate(&format!("{base}/../x")).is_none());
    }

    #[test]
    #[cfg(unix)]
    fn a_second_way_into_the_project_is_bound_by_its_rules() {
        let root = tempfile::tempdir().expect("a directory");
        let elsewhere = tempfile::tempdir().expect("a directory");
        let own = root.path().join("skills/own");
        std::fs::create_dir_all(&own).expect("a directory");
        std::fs::write(own.join(".env"), "TOKEN").expect("a file");
        let way = elsewhere.path().join("way");
        std::os::unix::fs::symlink(&own, &way).expect("a link");
        let rules = hiding("Read(/skills/own/.env)");
        for other in [own.as_path(), &way] {
            let mounts = Mounts::open_ambient(Some(root.path()), &[other]).expect("opens");
            let path = other.join(".env");
            let located = mounts.locate(path.to_str().expect("UTF-8")).expect("it is in a mount");
            assert!(located.open(&PathRules::default()).is_ok(), "{}", path.display());
            assert_eq!(located.open(&rules).map(|_| ()).map_err(|e| e.kind()), Err(io::ErrorKind::NotFound));
            let directory = mounts.locate(other.to_str().expect("UTF-8")).expect("it is in a mount");
            assert_eq!(directory.entries(&rules, 10).expect("lists").len(), 0);
        }
    }

    #[test]
    #[cfg(unix)]
    fn only_granted_names_are_changed_and_never_through_a_link() {
        let root = tempfile::tempdir().expect("a directory");
        let at = |name: &str| root.path().join(name);
        for name in ["out", "src", "out/.git"] {
            std::fs::create_dir(at(name)).expect("a directory");
        }
        std::fs::write(at("src/code"), "old").expect("a file");
        std::os::unix::fs::symlink("../src", at("out/way")).expect("a link");
        std::os::unix::fs::symlink("../src/code", at("out/link")).expect("a link");
        std::fs::hard_link(at("src/code"), at("out/hard")).expect("a link");
        let rule = Rule::parse(Effect::Allow, "Write(out)", Place::Host).expect("a rule");
        let rules = Authority::of(Host::granting([rule])).path_rules();
        let mounts = Mounts::open_ambient(Some(root.path()), &[]).expect("opens");
        let below = |name: &str| mounts.get(0).expect("mounted").below(name);
        let how = Writing { create: true, ..Writing::default() };
        let write = |name: &str| match below(name).open_for_writing(&rules, how) {
            Ok(_) => "written",
            Err(ChangeError::Refused) => "refused",
            Err(ChangeError::System(_) | ChangeError::Stopped(_)) => "failed",
        };
        for (name, outcome) in [
            ("out/new", "written"),
            ("src/code", "refused"),
            ("out/../src/code", "refused"),
            ("out/way/code", "refused"),
            ("out/way/new", "refused"),
            ("out/link", "failed"),
            ("out/hard", "failed"),
            ("out/.git/config", "refused"),
            ("../x", "failed"),
            ("out/..", "refused"),
            ("out/missing/x", "failed"),
        ] {
            assert_eq!(write(name), outcome, "{name}");
        }
        assert!(matches!(below("out/new").rename_file(&rules, &below("src/new")), Err(ChangeError::Refused)));
        assert!(below("out/new").rename_file(&rules, &below("out/newer")).is_ok());
        assert!(below("out/newer").remove_file(&rules).is_ok());
        assert!(matches!(below("src/code").remove_file(&rules), Err(ChangeError::Refused)));
        assert!(matches!(below("src").remove_directory(&rules), Err(ChangeError::Refused)));
        assert_eq!(std::fs::read_to_string(at("src/code")).expect("it is there"), "old");
        assert!(matches!(below("out/new").open_for_writing(&PathRules::default(), how), Err(ChangeError::Refused)));
    }

    #[test]
    #[cfg(unix)]
    fn links_out_fifos_and_hidden_files_are_not_opened() {
        let outside = tempfile::tempdir().expect("a directory");
        std::fs::write(outside.path().join("secret"), "s").expect("a file");
        let root = tempfile::tempdir().expect("a directory");
        let at = |name: &str| root.path().join(name);
        std::fs::write(at(".env"), "TOKEN").expect("a file");
        std::fs::write(at("open"), "text").expect("a file");
        std::os::unix::fs::symlink(outside.path().join("secret"), at("out")).expect("a link");
        std::os::unix::fs::symlink(".env", at("alias")).expect("a link");
        rustix::fs::mknodat(rustix::fs::CWD, at("fifo"), rustix::fs::FileType::Fifo, 0o600.into(), 0).expect("a fifo");
        let mounts = Mounts::open_ambient(Some(root.path()), &[]).expect("opens");
        let rules = hiding("Read(.env)");
        let open = |name: &str, rules: &PathRules| {
            mounts.get(0).expect("mounted").below(name).open(rules).map(|_| ()).map_err(|error| error.kind())
        };
        assert_eq!(open("open", &rules), Ok(()));
        assert_eq!(open(".env", &PathRules::default()), Ok(()));
        assert_eq!(open(".env", &rules), Err(io::ErrorKind::NotFound));
        assert_eq!(open("alias", &rules), Err(io::ErrorKind::NotFound));
        assert_eq!(open("out", &PathRules::default()), Err(io::ErrorKind::PermissionDenied));
        assert_eq!(open("../x", &PathRules::default()), Err(io::ErrorKind::PermissionDenied));
        assert_eq!(open("fifo", &PathRules::default()), Err(io::ErrorKind::PermissionDenied));
        let listed = mounts.get(0).expect("mounted").below("").entries(&rules, 100).expect("lists");
        assert!(listed.iter().all(|(name, _)| name != ".env") && listed.iter().any(|(name, _)| name == "open"));
        assert!(mounts.get(0).expect("mounted").below("").entries(&PathRules::default(), 2).is_err());
    }
}
