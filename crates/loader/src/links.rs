//! Where links may lead, and how what they name is opened.

use crate::root::{RootKind, SkillRoot, canonicalize_ambient};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, OpenOptions};
use skillgate_core::{Code, Diagnostic, Source};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The places that links of one root may lead into, all without links.
#[derive(Debug)]
pub(crate) struct Places {
    root: PathBuf,
    beyond: Vec<PathBuf>,
    /// Whether links to files may leave the root as links to directories may.
    files_leave_root: bool,
    source: Source,
    kind: RootKind,
}

impl Places {
    pub(crate) fn new(spec: &SkillRoot, real: PathBuf) -> Self {
        let beyond = spec.link_roots.iter().filter_map(|place| canonicalize_ambient(place).ok()).collect();
        Self {
            root: real,
            beyond,
            files_leave_root: spec.source != Source::Project,
            source: spec.source,
            kind: spec.kind,
        }
    }

    /// The root without links.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The reason why the root itself, where it leads, cannot be used.
    pub(crate) fn root_outside(&self) -> Option<Box<Diagnostic>> {
        let outside = !self.beyond.is_empty() && !self.beyond.iter().any(|place| self.root.starts_with(place));
        outside.then(|| self.outside(&self.root, &self.beyond))
    }

    /// Opens the directory that the link `path` leads to, beneath a place where it may lead; `None` when it leads to
    /// something else than a directory.
    pub(crate) fn open_dir(&self, path: &Path) -> Result<Option<(Arc<Dir>, PathBuf)>, Box<Diagnostic>> {
        let allowed: Vec<&Path> = self.all().collect();
        let (place, rest, target) = self.resolve(path, &allowed)?;
        let dir = if rest.as_os_str().is_empty() { Ok(place) } else { place.open_dir(&rest) };
        match dir {
            Ok(dir) => Ok(Some((Arc::new(dir), target))),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(None),
            Err(error) => Err(broken_link(&error)),
        }
    }

    /// Opens the file that the link `path` leads to; `own` is the skill's own directory, where its links may lead too.
    pub(crate) fn open_file(
        &self,
        path: &Path,
        own: Option<&Path>,
        how: &OpenOptions,
    ) -> Result<File, Box<Diagnostic>> {
        let own = own.and_then(|own| canonicalize_ambient(own).ok());
        let mut allowed: Vec<&Path> =
            if self.files_leave_root { self.all().collect() } else { vec![self.root.as_path()] };
        allowed.extend(own.as_deref());
        let (place, rest, _) = self.resolve(path, &allowed)?;
        place.open_with(rest, how).map_err(|error| broken_link(&error))
    }

    fn all(&self) -> impl Iterator<Item = &Path> {
        std::iter::once(self.root.as_path()).chain(self.beyond.iter().map(PathBuf::as_path))
    }

    /// The handle of the place a link leads into, and the rest of the way. The rest holds no link; should somebody put one
    /// there before it is opened, it still cannot lead out of the place.
    fn resolve(&self, link: &Path, allowed: &[&Path]) -> Result<(Dir, PathBuf, PathBuf), Box<Diagnostic>> {
        let target = canonicalize_ambient(link).map_err(|error| broken_link(&error))?;
        for place in allowed {
            if let Ok(rest) = target.strip_prefix(place) {
                let handle = Dir::open_ambient_dir(place, ambient_authority()).map_err(|error| broken_link(&error))?;
                return Ok((handle, rest.to_path_buf(), target));
            }
        }
        Err(self.outside(&target, allowed))
    }

    fn outside(&self, target: &Path, allowed: &[impl AsRef<Path>]) -> Box<Diagnostic> {
        let kind = match self.kind {
            RootKind::Skills | RootKind::One => "skills",
            RootKind::Commands => "commands",
        };
        let places: Vec<_> = allowed.iter().map(|place| format!("`{}`", place.as_ref().display())).collect();
        Box::new(
            Diagnostic::new(
                Code::FileUnreadable,
                format!(
                    "the link leads to `{}`, outside of where links of {} {kind} may lead",
                    target.display(),
                    self.source
                ),
            )
            .help(format!("move it into {}, or replace the link by a copy", places.join(" or "))),
        )
    }
}

fn broken_link(error: &io::Error) -> Box<Diagnostic> {
    let message = match error.kind() {
        io::ErrorKind::NotFound => "the link leads to nothing".to_owned(),
        // `FilesystemLoop` is not stable yet; the system's own words say it.
        _ => format!("the link cannot be followed: {error}"),
    };
    Box::new(Diagnostic::new(Code::FileUnreadable, message).help("repair the link, or remove it"))
}
