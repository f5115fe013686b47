//! What git keeps outside of a working tree: the user's ignore rules, and a repository's own directory.

use crate::file::{ReadFault, read_file_ambient};
use std::io;
use std::path::{Path, PathBuf};
use std::str::Lines;

/// A larger file of git's is not read.
pub(crate) const MAX_BYTES: u64 = 1 << 20;

/// Where a user's own files for git are.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GitUser {
    /// The user's home.
    pub home: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`; `None` for `.config` in the home.
    pub config: Option<PathBuf>,
}

impl GitUser {
    /// The user's file of ignore rules: `core.excludesFile` of the user's configuration, of which the last one counts, else `ignore`
    /// beside it. What the configuration includes, and that of a repository or the system, is not read. `faulty` is told of a file
    /// that cannot be read.
    pub(crate) fn excludes_ambient(&self, root: &Path, faulty: &mut dyn FnMut(&Path, ReadFault)) -> Option<PathBuf> {
        let config = self.config.clone().or_else(|| self.home.as_ref().map(|home| home.join(".config")));
        let config = config.map(|config| config.join("git"));
        let files = [config.as_ref().map(|dir| dir.join("config")), self.home.as_ref().map(|it| it.join(".gitconfig"))];
        let mut written = None;
        for file in files.into_iter().flatten() {
            match read_if_there_ambient(&file) {
                Ok(Some(bytes)) => written = excludes_file(&String::from_utf8_lossy(&bytes)).or(written),
                Ok(None) => {}
                Err(fault) => faulty(&file, fault),
            }
        }
        match written.as_deref() {
            None => config.map(|dir| dir.join("ignore")),
            // None at all, as for git.
            Some("") => None,
            Some(written) => match written.strip_prefix("~/") {
                Some(below) => self.home.as_ref().map(|home| home.join(below)),
                None => Some(root.join(written)),
            },
        }
    }
}

/// The directory in which a repository keeps what all of its working trees share. In a worktree or a submodule `.git` is a file that
/// says where that is.
pub(crate) fn shared_dir_ambient(root: &Path) -> PathBuf {
    let marker = root.join(".git");
    let read = |file: &Path| read_file_ambient(file, MAX_BYTES).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let Some(text) = read(&marker) else { return marker };
    let Some(named) = text.strip_prefix("gitdir:") else { return marker };
    let own = root.join(named.trim());
    match read(&own.join("commondir")) {
        Some(shared) => own.join(shared.trim_end()),
        None => own,
    }
}

/// The whole file. One whose directory is a file is not there either.
pub(crate) fn read_if_there_ambient(file: &Path) -> Result<Option<Vec<u8>>, ReadFault> {
    match read_file_ambient(file, MAX_BYTES) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(ReadFault::NotFound) => Ok(None),
        Err(ReadFault::Io(error)) if error.kind() == io::ErrorKind::NotADirectory => Ok(None),
        Err(fault) => Err(fault),
    }
}

/// The last `core.excludesFile` of a configuration.
fn excludes_file(text: &str) -> Option<String> {
    let mut found = None;
    let mut in_core = false;
    let mut lines = text.strip_prefix('\u{feff}').unwrap_or(text).lines();
    while let Some(line) = lines.next() {
        let mut line = line.trim_start();
        if let Some(header) = line.strip_prefix('[') {
            let (name, behind) = header.split_once(']').unwrap_or((header, ""));
            in_core = name.trim().eq_ignore_ascii_case("core");
            line = behind.trim_start();
        }
        if line.starts_with(['#', ';']) {
            continue;
        }
        let Some((key, written)) = line.split_once('=') else { continue };
        // Also of other keys: the lines that a value goes on in are no keys.
        let value = value(written, &mut lines);
        if in_core && key.trim().eq_ignore_ascii_case("excludesFile") {
            found = Some(value);
        }
    }
    found
}

/// A value whose first line is `line`. A `\` at a line's end goes on in the next; `"` keeps blanks and signs of comments.
fn value<'t>(mut line: &'t str, lines: &mut Lines<'t>) -> String {
    let (mut value, mut kept, mut quoted) = (String::new(), 0, false);
    loop {
        let mut goes_on = false;
        let mut chars = line.chars();
        while let Some(char) = chars.next() {
            match char {
                '"' => quoted = !quoted,
                '#' | ';' if !quoted => break,
                '\\' => match chars.next() {
                    Some('n') => value.push('\n'),
                    Some('t') => value.push('\t'),
                    Some('b') => value.push('\u{8}'),
                    Some(other) => value.push(other),
                    None => goes_on = true,
                },
                blank if !quoted && blank.is_whitespace() => {
                    if !value.is_empty() {
                        value.push(blank);
                    }
                    continue;
                }
                char => value.push(char),
            }
            kept = value.len();
        }
        match if goes_on { lines.next() } else { None } {
            Some(next) => line = next,
            None => break,
        }
    }
    value.truncate(kept);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_excludes_file_of_a_configuration_counts() {
        for (text, expected) in [
            ("", None),
            ("[core]\n\texcludesFile = ~/ignore\n", Some("~/ignore")),
            ("[user]\n\tname = Ada\n[CORE]\r\n  EXCLUDESFILE=/x/y\r\n[alias]\nexcludesFile = no\n", Some("/x/y")),
            ("[core] excludesfile = a\n", Some("a")),
            ("[core]\nexcludesFile = a\n[user]\nname = x\n[core]\nexcludesFile = b ; why\n", Some("b")),
            ("[core]\nexcludesFile = \" a # b\" # c\n", Some(" a # b")),
            ("[core]\nexcludesFile = a b\\\"c  \n", Some("a b\"c")),
            ("[core]\nexcludesFile = a\\\n  b\n", Some("a  b")),
            ("[core]\neditor = x \\\nexcludesFile = no\n", None),
            ("[core]\n# excludesFile = no \\\n; excludesFile = no\n", None),
            ("[core \"sub\"]\nexcludesFile = no\n", None),
            ("[core]\nexcludesFile =\n", Some("")),
            ("[core]\nexcludesFile\n", None),
            ("[core\nexcludesFile = a", Some("a")),
        ] {
            assert_eq!(excludes_file(text).as_deref(), expected, "{text}");
        }
    }
}
