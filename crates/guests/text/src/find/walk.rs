//! The walk: every directory in the order in which the system lists it, as GNU's.

use super::exec;
use super::expression::{Effects, File, Visit};
use super::{Links, Request};
use crate::output::{self, reason};
use guest_files::{Kind, Status};
use std::fs::{self, FileType};
use std::io;
use std::path::PathBuf;

/// Directories inside each other that are still walked.
const MAX_DEPTH: usize = 2048;

/// Searches and gives the status: 1 when something could not be looked at, or a command for many files failed.
pub(super) fn search(request: &Request, effects: &mut Effects) -> i32 {
    let mut walk = Walk { request, effects, status: 0, ancestors: Vec::new() };
    for root in &request.roots {
        walk.root(root);
        if walk.effects.quit {
            break;
        }
    }
    let status = walk.status;
    exec::finish(effects);
    if effects.batches.failed || effects.failed { 1 } else { status }
}

struct Walk<'r, 'e> {
    request: &'r Request,
    effects: &'e mut Effects,
    status: i32,
    /// The real paths of the directories around, when links are followed.
    ancestors: Vec<PathBuf>,
}

/// What a visit needs to know of its file.
#[derive(Debug)]
struct Found {
    path: PathBuf,
    follow: bool,
}

impl File for Found {
    fn status(&self) -> Option<Status> {
        if self.follow
            && let Ok(status) = guest_files::status(&self.path, true)
        {
            return Some(status);
        }
        guest_files::status(&self.path, false).ok()
    }

    fn other_kind(&self) -> Option<Kind> {
        let other = guest_files::status(&self.path, !self.follow);
        other.or_else(|_| guest_files::status(&self.path, false)).ok().map(|status| status.kind())
    }

    fn is_empty_directory(&self) -> bool {
        fs::read_dir(&self.path).is_ok_and(|mut entries| entries.next().is_none())
    }

    fn is_readable(&self) -> bool {
        match fs::metadata(&self.path) {
            Ok(metadata) if metadata.is_dir() => fs::read_dir(&self.path).is_ok(),
            Ok(_) => fs::File::open(&self.path).is_ok(),
            Err(_) => false,
        }
    }

    fn delete(&self) -> io::Result<()> {
        if self.path.as_os_str() == "." {
            return Ok(());
        }
        if fs::symlink_metadata(&self.path)?.is_dir() {
            fs::remove_dir(&self.path)
        } else {
            fs::remove_file(&self.path)
        }
    }

    fn link_target(&self) -> Option<Vec<u8>> {
        fs::read_link(&self.path).ok().map(|target| output::bytes(&target).to_vec())
    }
}

/// What a directory says of its entry; the kinds that nothing in a sandbox has are not told apart.
fn kind_of(file_type: FileType) -> Option<Kind> {
    match file_type {
        kind if kind.is_file() => Some(Kind::File),
        kind if kind.is_dir() => Some(Kind::Directory),
        kind if kind.is_symlink() => Some(Kind::Link),
        _ => None,
    }
}

impl Walk<'_, '_> {
    fn root(&mut self, root: &[u8]) {
        let path = output::path(root);
        let follow = self.request.settings.links != Links::None;
        let found = if follow {
            fs::metadata(&path).or_else(|_| fs::symlink_metadata(&path))
        } else {
            fs::symlink_metadata(&path)
        };
        match found {
            Ok(metadata) => self.visit(root, root, 0, metadata.file_type(), follow),
            Err(error) => self.complain(root, &error),
        }
    }

    fn complain(&mut self, path: &[u8], error: &std::io::Error) {
        self.effects.output.flush();
        eprintln!("find: ‘{}’: {}", String::from_utf8_lossy(path), reason(error));
        self.status = 1;
    }

    fn visit(&mut self, path: &[u8], root: &[u8], depth: usize, file_type: FileType, follow: bool) {
        let settings = &self.request.settings;
        let file = Found { path: output::path(path), follow };
        let wanted = depth >= settings.min_depth;
        let mut pruned = false;
        let depth_first = settings.depth_first;
        if wanted && !depth_first {
            pruned = self.evaluate(path, root, depth, file_type, &file);
        }
        if file_type.is_dir() && !pruned && depth < settings.max_depth && !self.effects.quit {
            self.directory(path, root, depth, &file);
        }
        if wanted && depth_first && !self.effects.quit {
            self.evaluate(path, root, depth, file_type, &file);
        }
    }

    /// Evaluates the expression; whether the file's own entries are left out.
    fn evaluate(&mut self, path: &[u8], root: &[u8], depth: usize, file_type: FileType, file: &Found) -> bool {
        let kind = kind_of(file_type).or_else(|| file.status().map(|status| status.kind()));
        let visit = Visit { path, root, depth, kind, file };
        self.effects.prune = false;
        self.request.expression.evaluate(&visit, self.effects);
        self.effects.prune
    }

    fn directory(&mut self, path: &[u8], root: &[u8], depth: usize, file: &Found) {
        if depth >= MAX_DEPTH {
            self.complain(path, &std::io::Error::other("File name too long"));
            return;
        }
        let follows = self.request.settings.links == Links::All;
        if follows {
            let real = fs::canonicalize(&file.path).unwrap_or_else(|_| file.path.clone());
            if self.ancestors.contains(&real) {
                self.effects.output.flush();
                eprintln!(
                    "find: File system loop detected; ‘{}’ is part of the same file system loop as ‘{}’.",
                    String::from_utf8_lossy(path),
                    real.display()
                );
                self.status = 1;
                return;
            }
            self.ancestors.push(real);
        }
        match fs::read_dir(&file.path) {
            Ok(entries) => {
                for entry in entries {
                    if self.effects.quit {
                        break;
                    }
                    let entry = match entry {
                        Ok(entry) => entry,
                        Err(error) => {
                            self.complain(path, &error);
                            continue;
                        }
                    };
                    let mut child = path.to_vec();
                    if !child.ends_with(b"/") {
                        child.push(b'/');
                    }
                    child.extend_from_slice(entry.file_name().as_encoded_bytes());
                    let followed = if follows {
                        fs::metadata(entry.path()).map(|metadata| metadata.file_type()).ok()
                    } else {
                        None
                    };
                    match followed.map_or_else(|| entry.file_type(), Ok) {
                        Ok(file_type) => self.visit(&child, root, depth + 1, file_type, follows),
                        Err(error) => self.complain(&child, &error),
                    }
                }
            }
            Err(error) => self.complain(path, &error),
        }
        if follows {
            self.ancestors.pop();
        }
    }
}
