use skillgate_core::{RelPath, ascii_lookalike};
use std::collections::HashMap;
use unicode_normalization::UnicodeNormalization as _;

/// Bytes of one part of a path, as most file systems have it.
const MAX_PART_BYTES: usize = 255;

/// Bytes of a whole path.
const MAX_PATH_BYTES: usize = 1_024;

/// Parts of a path.
const MAX_DEPTH: usize = 32;

/// Names that mean a device on some systems, whatever stands behind a dot.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];

/// Why a file cannot be part of a pack or of a bundled skill.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NameFault {
    /// It is absolute, leads upwards, or has an empty part.
    #[error("`{0}` does not stay below its directory")]
    Outside(String),
    /// A character that some system does not store or reads as something else.
    #[error("`{path}` has the character {found:?}, which not every system stores")]
    Character {
        /// The path.
        path: String,
        /// The character.
        found: char,
    },
    /// It ends with a dot or a blank, which some systems drop.
    #[error("a part of `{0}` ends with a dot or a blank, which some systems drop")]
    Ending(String),
    /// It names a device.
    #[error("`{0}` names a device on some systems")]
    Device(String),
    /// It is longer or deeper than every system stores.
    #[error(
        "`{0}` is longer than {MAX_PATH_BYTES} bytes, or deeper than {MAX_DEPTH} directories, or a part is longer than {MAX_PART_BYTES} bytes"
    )]
    TooLong(String),
    /// Another file has this name, or one that some system takes for the same.
    #[error("`{second}` and `{first}` are one file where case or the form of letters does not count")]
    Collision {
        /// The name that was there.
        first: String,
        /// The name that came.
        second: String,
    },
    /// A file stands where another needs a directory.
    #[error("`{file}` is a file, and `{below}` needs a directory there")]
    FileAsDirectory {
        /// The file.
        file: String,
        /// What is below it.
        below: String,
    },
}

/// A path that names the same one file on every system.
///
/// # Errors
/// A [`NameFault`] with the rule that it breaks.
pub fn portable(path: &str) -> Result<RelPath, NameFault> {
    let checked = RelPath::new(path).map_err(|_| NameFault::Outside(path.to_owned()))?;
    let forbidden =
        |c: char| c.is_control() || matches!(c, '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|') || invisible(c);
    if let Some(found) = path.chars().find(|c| forbidden(*c)) {
        return Err(NameFault::Character { path: path.to_owned(), found });
    }
    if path.len() > MAX_PATH_BYTES || checked.components().count() > MAX_DEPTH {
        return Err(NameFault::TooLong(path.to_owned()));
    }
    for part in checked.components() {
        if part.len() > MAX_PART_BYTES {
            return Err(NameFault::TooLong(path.to_owned()));
        }
        if part.ends_with(['.', ' ']) || part.starts_with(' ') {
            return Err(NameFault::Ending(path.to_owned()));
        }
        let stem = part.split('.').next().unwrap_or(part).trim_end().to_ascii_lowercase();
        let numbered = stem.strip_prefix("com").or_else(|| stem.strip_prefix("lpt"));
        let is_port = numbered.is_some_and(|number| {
            matches!(number, "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" | "¹" | "²" | "³")
        });
        if DEVICES.contains(&stem.as_str()) || is_port {
            return Err(NameFault::Device(path.to_owned()));
        }
    }
    Ok(checked)
}

fn invisible(c: char) -> bool {
    skillgate_core::classify_invisible(c).is_some()
}

/// The files of one directory tree, no two of which are one on any system.
#[derive(Clone, Debug, Default)]
pub struct PathSet {
    files: HashMap<String, String>,
    /// Each directory, folded, with how it was written and a file below it.
    directories: HashMap<String, (String, String)>,
}

impl PathSet {
    /// Takes a file in.
    ///
    /// # Errors
    /// A [`NameFault`]; the set is as it was.
    pub fn insert(&mut self, path: &str) -> Result<RelPath, NameFault> {
        let checked = portable(path)?;
        let folded = fold(path);
        if let Some(first) = self.files.get(&folded) {
            return Err(NameFault::Collision { first: first.clone(), second: path.to_owned() });
        }
        if let Some((_, below)) = self.directories.get(&folded) {
            return Err(NameFault::FileAsDirectory { file: path.to_owned(), below: below.clone() });
        }
        for (at, _) in path.match_indices('/') {
            let directory = &path[..at];
            let folded = fold(directory);
            if let Some(file) = self.files.get(&folded) {
                return Err(NameFault::FileAsDirectory { file: file.clone(), below: path.to_owned() });
            }
            if let Some((written, below)) = self.directories.get(&folded)
                && written != directory
            {
                return Err(NameFault::Collision { first: below.clone(), second: path.to_owned() });
            }
        }
        for (at, _) in path.match_indices('/') {
            let directory = &path[..at];
            self.directories.entry(fold(directory)).or_insert_with(|| (directory.to_owned(), path.to_owned()));
        }
        self.files.insert(folded, path.to_owned());
        Ok(checked)
    }
}

/// The form under which systems that ignore case or the form of letters store a name.
fn fold(path: &str) -> String {
    if path.is_ascii() {
        return path.to_ascii_lowercase();
    }
    // Once more after lowering, which can leave a composed letter in parts.
    path.nfkc().flat_map(char::to_lowercase).nfkc().collect()
}

/// What a person takes a name for: without case, in one form, and each letter as the one of ASCII that it looks like.
pub(crate) fn looked_at(name: &str) -> String {
    fold(&name.nfkc().map(|c| ascii_lookalike(c).unwrap_or(c)).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::{NameFault, PathSet, looked_at, portable};

    #[test]
    fn a_path_that_is_not_the_same_file_everywhere_is_refused() {
        use NameFault as F;
        type IsFault = fn(&NameFault) -> bool;
        let refused: &[(&str, IsFault)] = &[
            ("", |f| matches!(f, F::Outside(_))),
            ("/a", |f| matches!(f, F::Outside(_))),
            ("a/../b", |f| matches!(f, F::Outside(_))),
            ("./a", |f| matches!(f, F::Outside(_))),
            ("a//b", |f| matches!(f, F::Outside(_))),
            ("a/", |f| matches!(f, F::Outside(_))),
            ("a\\b", |f| matches!(f, F::Outside(_) | F::Character { .. })),
            ("C:a", |f| matches!(f, F::Character { found: ':', .. })),
            ("a\0b", |f| matches!(f, F::Outside(_) | F::Character { .. })),
            ("a\nb", |f| matches!(f, F::Character { .. })),
            ("a\u{202e}b", |f| matches!(f, F::Character { .. })),
            ("a.", |f| matches!(f, F::Ending(_))),
            ("a /b", |f| matches!(f, F::Ending(_))),
            ("con", |f| matches!(f, F::Device(_))),
            ("x/NUL.txt", |f| matches!(f, F::Device(_))),
            ("Com1.md", |f| matches!(f, F::Device(_))),
        ];
        for (path, is_fault) in refused {
            let fault = portable(path).expect_err(path);
            assert!(is_fault(&fault), "{path:?}: {fault}");
        }
        assert!(matches!(portable(&"a".repeat(256)), Err(F::TooLong(_))));
        assert!(matches!(portable(&"a/".repeat(40)[..79]), Err(F::TooLong(_))));
        for path in ["SKILL.md", "a/b.c/d", ".hidden", "común/日本.md", "console", "com10"] {
            assert!(portable(path).is_ok(), "{path}");
        }
    }

    #[test]
    fn two_names_of_one_file_are_refused_and_leave_nothing_behind() {
        let collisions = [
            ("a", "a"),
            ("SKILL.md", "skill.md"),
            ("é", "e\u{301}"),
            ("ﬁle", "file"),
            ("straße", "STRAßE"),
            ("dir/a", "Dir/b"),
            ("a/b/c", "a/B/d"),
        ];
        for (first, second) in collisions {
            let mut set = PathSet::default();
            set.insert(first).expect(first);
            assert!(matches!(set.insert(second), Err(NameFault::Collision { .. })), "{first} {second}");
            set.insert("other").expect("the set still works");
        }
    }

    #[test]
    fn names_are_compared_by_what_they_look_like() {
        for (one, other) in [
            ("git", "GIT"),
            ("git", "g\u{456}t"),
            ("paypal", "p\u{430}yp\u{430}l"),
            ("scope", "\u{455}\u{441}\u{43e}\u{440}\u{435}"),
            ("BOX", "\u{412}\u{41e}\u{425}"),
            ("box", "\u{412}\u{41e}\u{425}"),
            ("git", "\u{ff47}\u{ff49}\u{ff54}"),
        ] {
            assert_eq!(looked_at(one), looked_at(other), "{one} {other}");
        }
        for (one, other) in [("git", "got"), ("отчет", "отсчет"), ("a-b", "ab")] {
            assert_ne!(looked_at(one), looked_at(other), "{one} {other}");
        }
    }

    #[test]
    fn a_file_is_no_directory() {
        for (first, second) in [("a", "a/b"), ("a/b", "a"), ("A", "a/b"), ("a/b/c", "a/b")] {
            let mut set = PathSet::default();
            set.insert(first).expect(first);
            assert!(set.insert(second).is_err(), "{first} {second}");
        }
    }
}
