//! What a file of a project is called from the project's root.

use crate::discover::Project;
use crate::root::canonicalize_ambient;
use std::path::{Component, Path, PathBuf};

/// A longer path is none that a system opens.
const MAX_PATH_BYTES: usize = 4096;

impl Project {
    /// A file as paths from the root, with `/` between the parts: as it is named, and where its links lead when that is another
    /// place of the project. A relative one is taken from the project's directory, and it need not exist. Nothing for one that lies
    /// outside either way or is no text.
    #[must_use]
    pub fn paths_inside_ambient(&self, file: &Path) -> Vec<String> {
        let whole = self.path.join(file);
        let mut paths: Vec<String> = self.below_root(&taken_back(PathBuf::new(), &whole)).into_iter().collect();
        if let Some(real) = real(&whole).and_then(|real| self.below_root(&real))
            && !paths.contains(&real)
        {
            paths.push(real);
        }
        paths
    }

    fn below_root(&self, whole: &Path) -> Option<String> {
        let below = whole.strip_prefix(&self.root).ok()?;
        let parts: Option<Vec<&str>> = below.iter().map(|part| part.to_str()).collect();
        parts.filter(|parts| !parts.is_empty()).map(|parts| parts.join("/"))
    }
}

/// `rest` behind `base` lexically: `..` is taken back, so that a file is the same however it is named.
fn taken_back(mut base: PathBuf, rest: &Path) -> PathBuf {
    for component in rest.components() {
        match component {
            Component::ParentDir => {
                base.pop();
            }
            Component::CurDir => {}
            component => base.push(component),
        }
    }
    base
}

/// The path without links as far as it exists, and the rest of it behind that.
fn real(whole: &Path) -> Option<PathBuf> {
    let may_exist = |path: &&Path| path.as_os_str().len() <= MAX_PATH_BYTES;
    let (existing, real) =
        whole.ancestors().filter(may_exist).find_map(|path| Some((path, canonicalize_ambient(path).ok()?)))?;
    Some(taken_back(real, whole.strip_prefix(existing).ok()?))
}
