//! The walk: every directory in the order in which the system lists it, as GNU's.

use super::expression::{Kind, Metadatas, Visit, Wishes};
use super::{Links, Request};
use crate::output::{self, Output, reason};
use std::fs::{self, FileType, Metadata};
use std::path::PathBuf;

/// Directories inside each other that are still walked.
const MAX_DEPTH: usize = 2048;

/// Searches and gives the status: 1 when something could not be looked at.
pub(super) fn search(request: &Request, output: &mut Output) -> i32 {
    let mut walk = Walk { request, output, status: 0, wishes: Wishes::default(), ancestors: Vec::new() };
    for root in &request.roots {
        walk.root(root);
        if walk.wishes.quit {
            break;
        }
    }
    walk.status
}

struct Walk<'r, 'o> {
    request: &'r Request,
    output: &'o mut Output,
    status: i32,
    wishes: Wishes,
    /// The real paths of the directories around, when links are followed.
    ancestors: Vec<PathBuf>,
}

/// What a visit needs to know of its file.
#[derive(Debug)]
struct Status {
    path: PathBuf,
    follow: bool,
}

impl Metadatas for Status {
    fn metadata(&self) -> Option<Metadata> {
        if self.follow
            && let Ok(metadata) = fs::metadata(&self.path)
        {
            return Some(metadata);
        }
        fs::symlink_metadata(&self.path).ok()
    }

    fn is_empty_directory(&self) -> bool {
        fs::read_dir(&self.path).is_ok_and(|mut entries| entries.next().is_none())
    }

    fn link_target(&self) -> Option<Vec<u8>> {
        fs::read_link(&self.path).ok().map(|target| output::bytes(&target).to_vec())
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
        self.output.flush();
        eprintln!("find: ‘{}’: {}", String::from_utf8_lossy(path), reason(error));
        self.status = 1;
    }

    fn visit(&mut self, path: &[u8], root: &[u8], depth: usize, file_type: FileType, follow: bool) {
        let settings = &self.request.settings;
        let status = Status { path: output::path(path), follow };
        let wanted = depth >= settings.min_depth;
        let mut pruned = false;
        let depth_first = settings.depth_first;
        if wanted && !depth_first {
            pruned = self.evaluate(path, root, depth, file_type, &status);
        }
        if file_type.is_dir() && !pruned && depth < settings.max_depth && !self.wishes.quit {
            self.directory(path, root, depth, &status);
        }
        if wanted && depth_first && !self.wishes.quit {
            self.evaluate(path, root, depth, file_type, &status);
        }
    }

    /// Evaluates the expression; whether the file's own entries are left out.
    fn evaluate(&mut self, path: &[u8], root: &[u8], depth: usize, file_type: FileType, status: &Status) -> bool {
        let visit = Visit { path, root, depth, kind: Kind::of(file_type), metadata: status };
        self.wishes.prune = false;
        self.request.expression.evaluate(&visit, &mut self.wishes, self.output);
        self.wishes.prune
    }

    fn directory(&mut self, path: &[u8], root: &[u8], depth: usize, status: &Status) {
        if depth >= MAX_DEPTH {
            self.complain(path, &std::io::Error::other("File name too long"));
            return;
        }
        let follows = self.request.settings.links == Links::All;
        if follows {
            let real = fs::canonicalize(&status.path).unwrap_or_else(|_| status.path.clone());
            if self.ancestors.contains(&real) {
                self.output.flush();
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
        match fs::read_dir(&status.path) {
            Ok(entries) => {
                for entry in entries {
                    if self.wishes.quit {
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
