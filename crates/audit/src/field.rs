use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// What stands in the file that nobody in a sandbox may read.
const SECRET: &str = "the secret of the machine";

/// The ground of one case: a project, and beside it a directory of the machine that is nobody's business. Both are readable and
/// writable for everybody as far as modes go, so that whatever denies it is the sandbox.
#[derive(Debug)]
pub(crate) struct Field {
    root: TempDir,
    place: PathBuf,
    token: String,
}

impl Field {
    pub(crate) fn new() -> io::Result<Self> {
        let root = tempfile::Builder::new().prefix("skillgate-audit-").tempdir()?;
        let place = root.path().canonicalize()?;
        open_to_all(&place)?;
        let name = place.file_name().and_then(|name| name.to_str()).unwrap_or("skillgate-audit");
        let token = name.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        let field = Self { root, place, token };
        for directory in ["project", "outside"] {
            field.make_directory(directory)?;
        }
        field.write("project/README.md", "# Field\n")?;
        field.write("outside/secret", SECRET)?;
        Ok(field)
    }

    /// A word that no other process of the machine has in its command line.
    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// What must not be read.
    pub(crate) fn secret() -> &'static str {
        SECRET
    }

    /// A path of the field.
    pub(crate) fn path(&self, below: &str) -> PathBuf {
        if below.is_empty() { self.place.clone() } else { self.place.join(below) }
    }

    /// The same as text.
    pub(crate) fn text(&self, below: &str) -> String {
        self.path(below).display().to_string()
    }

    /// The project's directory.
    pub(crate) fn project(&self) -> PathBuf {
        self.path("project")
    }

    /// Makes a directory that everybody may use.
    pub(crate) fn make_directory(&self, below: &str) -> io::Result<()> {
        let path = self.path(below);
        std::fs::create_dir_all(&path)?;
        open_to_all(&path)
    }

    /// Writes a file that everybody may use, with the directories above it.
    pub(crate) fn write(&self, below: &str, text: impl AsRef<[u8]>) -> io::Result<()> {
        if let Some((above, _)) = below.rsplit_once('/') {
            self.make_directory(above)?;
        }
        let path = self.path(below);
        std::fs::write(&path, text)?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666))
    }

    /// Makes a symbolic link.
    pub(crate) fn link(&self, below: &str, to: impl AsRef<Path>) -> io::Result<()> {
        std::os::unix::fs::symlink(to, self.path(below))
    }

    /// Everything about a directory that a case could change: names, kinds, modes, owners, times, links and contents.
    pub(crate) fn state(&self, below: &str) -> io::Result<BTreeMap<PathBuf, String>> {
        let mut state = BTreeMap::new();
        let mut waiting = vec![self.path(below)];
        while let Some(path) = waiting.pop() {
            let metadata = path.symlink_metadata()?;
            let contents = if metadata.is_file() {
                skillgate_core::Digest::of(&std::fs::read(&path)?).to_string()
            } else if metadata.is_symlink() {
                std::fs::read_link(&path)?.display().to_string()
            } else {
                String::new()
            };
            if metadata.is_dir() {
                for entry in std::fs::read_dir(&path)? {
                    waiting.push(entry?.path());
                }
            }
            let line = format!(
                "{:o} {}:{} {}.{} {} {contents}",
                metadata.mode(),
                metadata.uid(),
                metadata.gid(),
                metadata.mtime(),
                metadata.mtime_nsec(),
                metadata.nlink()
            );
            state.insert(path, line);
        }
        Ok(state)
    }

    /// Removes the field now, and says whether that worked.
    pub(crate) fn close(self) -> io::Result<()> {
        self.root.close()
    }
}

fn open_to_all(path: &Path) -> io::Result<()> {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_change_is_seen() {
        let field = Field::new().expect("a field");
        let before = field.state("outside").expect("it is there");
        assert_eq!(field.state("outside").expect("it is there"), before);
        let secret = field.path("outside/secret");
        let changes: [&dyn Fn() -> io::Result<()>; 4] = [
            &|| std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o600)),
            &|| std::fs::hard_link(&secret, field.path("project/link")),
            &|| field.write("outside/new", "x"),
            &|| std::fs::write(&secret, "changed"),
        ];
        let mut last = before;
        for change in changes {
            change().expect("a change");
            let now = field.state("outside").expect("it is there");
            assert_ne!(now, last);
            last = now;
        }
    }
}
