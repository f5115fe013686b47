//! The tree of a commands directory: `**/NAME.md`, and `**/NAME/SKILL.md` for a directory that is a skill.

use crate::entry::{Candidate, Shape, is_skill_file};
use crate::file::Identity;
use crate::links::Places;
use crate::load::PathDiagnostic;
use cap_std::fs::Dir;
use skillgate_core::{Code, Diagnostic};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Directories below the root that are looked into, one inside the other. A deeper one is reported, not entered.
const MAX_DEPTH: usize = 16;

/// What a commands directory holds.
#[derive(Debug)]
pub(crate) struct Commands {
    /// Everything that may be a command, by name.
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) diagnostics: Vec<PathDiagnostic>,
    /// The directories that were looked into.
    #[cfg_attr(not(feature = "watch"), expect(dead_code, reason = "who watches wants them"))]
    pub(crate) directories: Vec<PathBuf>,
}

/// Looks through a commands directory.
///
/// The stem is the name. Where several files have one stem, those in folders take the folder as a prefix (`git:commit`).
pub(crate) fn candidates(dir: &Arc<Dir>, path: &Path, places: &Places) -> Commands {
    let mut walk = Walk {
        places,
        seen: BTreeSet::new(),
        links: VecDeque::new(),
        found: Vec::new(),
        diagnostics: Vec::new(),
        directories: Vec::new(),
    };
    let top = Folder { dir: Arc::clone(dir), rel: PathBuf::new(), path: path.to_path_buf(), linked: false };
    walk.remember(&top.dir);
    walk.folder(&top, &mut Vec::new());
    // Links come last, so that the direct way to a directory is the one that is taken.
    while let Some((folder, name, mut folders)) = walk.links.pop_front() {
        walk.link(&folder, &name, &mut folders);
    }
    walk.diagnostics.sort_by(|a, b| a.path.cmp(&b.path));
    let mut found = walk.found;
    set_clashes_apart(&mut found);
    found.sort_by(|a, b| (&a.candidate.name, &a.candidate.path).cmp(&(&b.candidate.name, &b.candidate.path)));
    let candidates = found.into_iter().map(|found| found.candidate).collect();
    Commands { candidates, diagnostics: walk.diagnostics, directories: walk.directories }
}

struct Found {
    candidate: Candidate,
    /// The folders between the root and it.
    folders: Vec<String>,
}

/// A directory on the way: a handle, and the way from there.
#[derive(Clone)]
struct Folder {
    dir: Arc<Dir>,
    rel: PathBuf,
    path: PathBuf,
    linked: bool,
}

struct Walk<'a> {
    places: &'a Places,
    /// Directories that were entered, so that a link back ends.
    seen: BTreeSet<(u64, u64)>,
    /// Links that were met: where, the name, and the folders above.
    links: VecDeque<(Folder, String, Vec<String>)>,
    found: Vec<Found>,
    diagnostics: Vec<PathDiagnostic>,
    directories: Vec<PathBuf>,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Folder, folders: &mut Vec<String>) {
        self.directories.push(folder.path.clone());
        let entries = match listing(folder) {
            Ok(entries) => entries,
            Err(error) => {
                let diagnostic =
                    Diagnostic::new(Code::FileUnreadable, format!("the directory cannot be read: {error}"))
                        .help("make it readable, or remove it");
                return self.report(&folder.path, diagnostic);
            }
        };
        // A directory with a SKILL.md is one skill, and the texts beside that file belong to it.
        if !folders.is_empty() && entries.iter().any(|(name, _)| is_skill_file(name)) {
            let name = folders.last().cloned().unwrap_or_default();
            let above = folders[..folders.len() - 1].to_vec();
            self.found
                .push(Found { candidate: candidate(folder, name, PathBuf::new(), Shape::Directory), folders: above });
            return;
        }
        for (name, kind) in entries {
            match kind {
                Kind::Directory => self.enter(folder, &name, folders),
                Kind::Link => self.links.push_back((folder.clone(), name, folders.clone())),
                Kind::Other if is_markdown(&name) => self.file(folder, &name, folders, false),
                Kind::Other => {}
            }
        }
    }

    fn enter(&mut self, folder: &Folder, name: &str, folders: &mut Vec<String>) {
        let path = folder.path.join(name);
        if folders.len() >= MAX_DEPTH {
            let message = format!("commands are looked for in at most {MAX_DEPTH} directories inside each other");
            return self.report(&path, Diagnostic::new(Code::LimitExceeded, message));
        }
        let inner = Folder { dir: Arc::clone(&folder.dir), rel: folder.rel.join(name), path, linked: folder.linked };
        match inner.dir.open_dir(&inner.rel) {
            Ok(dir) if !self.remember(&dir) => self.report(&inner.path, already_seen()),
            // One that cannot be opened is reported when it is listed.
            Ok(_) | Err(_) => {
                folders.push(name.to_owned());
                self.folder(&inner, folders);
                folders.pop();
            }
        }
    }

    fn link(&mut self, folder: &Folder, name: &str, folders: &mut Vec<String>) {
        let path = folder.path.join(name);
        match self.places.open_dir(&path) {
            Ok(Some((dir, _))) if !self.remember(&dir) => self.report(&path, already_seen()),
            Ok(Some(_)) if folders.len() >= MAX_DEPTH => {
                let message = format!("commands are looked for in at most {MAX_DEPTH} directories inside each other");
                self.report(&path, Diagnostic::new(Code::LimitExceeded, message));
            }
            Ok(Some((dir, _))) => {
                folders.push(name.to_owned());
                self.folder(&Folder { dir, rel: PathBuf::new(), path, linked: true }, folders);
                folders.pop();
            }
            // A link to a file, and one that is broken or leads too far: reported when the command is read.
            Ok(None) | Err(_) if is_markdown(name) => self.file(folder, name, folders, true),
            Ok(None) => {}
            Err(diagnostic) => self.report(&path, *diagnostic),
        }
    }

    fn file(&mut self, folder: &Folder, name: &str, folders: &[String], linked: bool) {
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        let mut candidate = candidate(folder, stem.to_owned(), PathBuf::from(name), Shape::File);
        candidate.linked |= linked;
        self.found.push(Found { candidate, folders: folders.to_vec() });
    }

    /// Whether the directory is entered for the first time. Where the system has no numbers for it, the depth ends a loop.
    fn remember(&mut self, dir: &Dir) -> bool {
        match dir.dir_metadata().ok().and_then(|metadata| crate::file::identity(&metadata)) {
            Some(Identity { device, inode, .. }) => self.seen.insert((device, inode)),
            None => true,
        }
    }

    fn report(&mut self, path: &Path, diagnostic: Diagnostic) {
        self.diagnostics.push(PathDiagnostic { path: path.to_path_buf(), diagnostic });
    }
}

fn already_seen() -> Diagnostic {
    Diagnostic::new(Code::FileUnreadable, "the directory was reached already by another way; it is read once")
        .severity(skillgate_core::Severity::Info)
}

fn candidate(folder: &Folder, name: String, below: PathBuf, shape: Shape) -> Candidate {
    let join = |path: &Path| if below.as_os_str().is_empty() { path.to_path_buf() } else { path.join(&below) };
    let rel = join(&folder.rel);
    Candidate {
        name,
        name_is_text: true,
        base: Arc::clone(&folder.dir),
        // The directory itself, for one that is reached by its own handle.
        rel: if rel.as_os_str().is_empty() { PathBuf::from(".") } else { rel },
        path: join(&folder.path),
        shape,
        linked: folder.linked,
        diagnostics: Vec::new(),
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Directory,
    Link,
    Other,
}

/// Names and kinds, sorted. A name that is not text cannot be typed as a command.
fn listing(folder: &Folder) -> std::io::Result<Vec<(String, Kind)>> {
    let dir;
    let dir = if folder.rel.as_os_str().is_empty() {
        &*folder.dir
    } else {
        dir = folder.dir.open_dir(&folder.rel)?;
        &dir
    };
    let mut entries = Vec::new();
    for entry in dir.entries()? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let kind = if kind.is_dir() {
            Kind::Directory
        } else if kind.is_symlink() {
            Kind::Link
        } else {
            Kind::Other
        };
        if let Some(name) = entry.file_name().to_str() {
            entries.push((name.to_owned(), kind));
        }
    }
    entries.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    Ok(entries)
}

fn is_markdown(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, extension)| !stem.is_empty() && extension.eq_ignore_ascii_case("md"))
}

/// Gives those of one name their folders as a prefix, and says so.
fn set_clashes_apart(found: &mut [Found]) {
    let mut by_name: BTreeMap<String, usize> = BTreeMap::new();
    for found in &*found {
        *by_name.entry(found.candidate.name.clone()).or_default() += 1;
    }
    for found in found {
        let stem = found.candidate.name.clone();
        if by_name.get(&stem).is_none_or(|count| *count < 2) || found.folders.is_empty() {
            continue;
        }
        let name = format!("{}:{stem}", found.folders.join(":"));
        found.candidate.diagnostics.push(
            Diagnostic::new(
                Code::NameCollision,
                format!("several commands here are called `{stem}`; this one is `{name}`"),
            )
            .help("rename one of the files"),
        );
        found.candidate.name = name;
    }
}
