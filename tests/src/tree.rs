use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A temporary tree of files, made from one string and removed at the end.
///
/// An entry begins with `=== PATH`; the lines after it are the file's text. `=== PATH/` is a directory, `=== PATH |` a fifo.
#[derive(Debug)]
pub struct Tree(TempDir);

impl Tree {
    /// Makes the tree.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let tree = Self(tempfile::tempdir().expect("a temporary directory"));
        tree.add(text);
        tree
    }

    /// Makes further entries; a file that is there is replaced.
    pub fn add(&self, text: &str) {
        let mut entries: Vec<(&str, String)> = Vec::new();
        for line in text.lines() {
            match (line.strip_prefix("=== "), entries.last_mut()) {
                (Some(head), _) => entries.push((head, String::new())),
                (None, Some((_, contents))) => {
                    contents.push_str(line);
                    contents.push('\n');
                }
                (None, None) => assert_eq!(line.trim(), "", "text before the first entry"),
            }
        }
        for (head, contents) in entries {
            if let Some(path) = head.strip_suffix(" |") {
                self.fifo(path);
            } else if let Some(path) = head.strip_suffix('/') {
                fs::create_dir_all(self.path(path)).expect("a directory");
            } else {
                self.write(head, contents.as_bytes());
            }
        }
    }

    /// Writes one file, with the directories above it.
    pub fn write(&self, path: &str, contents: &[u8]) {
        let path = self.path(path);
        make_parents(&path);
        fs::write(path, contents).expect("a file");
    }

    /// Removes one file.
    pub fn remove(&self, path: &str) {
        fs::remove_file(self.path(path)).expect("the file was there");
    }

    /// The path of an entry, without links, so that it can be compared.
    #[must_use]
    pub fn path(&self, below: &str) -> PathBuf {
        let root = self.0.path().canonicalize().expect("the tree is there");
        if below.is_empty() { root } else { root.join(below) }
    }

    /// Every file and directory of the tree, sorted, to see whether something was written.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let root = self.path("");
        let mut names = Vec::new();
        let mut waiting = vec![root.clone()];
        while let Some(directory) = waiting.pop() {
            for entry in fs::read_dir(&directory).expect("a directory of the tree") {
                let path = entry.expect("an entry of the tree").path();
                names.push(path.strip_prefix(&root).expect("below the tree").display().to_string());
                if path.is_dir() {
                    waiting.push(path);
                }
            }
        }
        names.sort_unstable();
        names
    }

    #[cfg(unix)]
    fn fifo(&self, path: &str) {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        let path = self.path(path);
        make_parents(&path);
        mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a fifo");
    }

    #[cfg(not(unix))]
    fn fifo(&self, path: &str) {
        unreachable!("there are no fifos here: {path}")
    }
}

fn make_parents(path: &Path) {
    fs::create_dir_all(path.parent().expect("below the tree")).expect("the directories above");
}
