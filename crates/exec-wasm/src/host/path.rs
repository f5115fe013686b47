//! What a guest's path says, before anything is looked up: the one place where it is taken apart.

/// Bytes of a path, as Linux has it.
const MAX_PATH: usize = 4_096;

/// Whose rules names follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Names {
    /// Any byte but `/` and NUL.
    Unix,
    /// Drives, streams, other separators and devices hide in names.
    Windows,
}

impl Names {
    pub(super) const HERE: Names = if cfg!(windows) { Names::Windows } else { Names::Unix };
}

/// A path without empty and `.` components. It still holds `..`, which means what it means only where it is walked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct GuestPath {
    pub(super) text: String,
    /// Whether it has to be a directory, because it ends in a slash or a dot. The slash itself is never passed on: what a
    /// system makes of it behind a link differs, and has let paths out of sandboxes.
    pub(super) must_be_directory: bool,
}

/// Why a path is not looked up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PathFault {
    /// It holds NUL.
    Nul,
    /// It is longer than a path can be.
    TooLong,
    /// It means something else than a file of this name here.
    Ambiguous,
}

impl GuestPath {
    pub(super) fn parse(path: &str, names: Names) -> Result<Self, PathFault> {
        if path.contains('\0') {
            return Err(PathFault::Nul);
        }
        if path.len() > MAX_PATH {
            return Err(PathFault::TooLong);
        }
        let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
        if names == Names::Windows && parts.iter().any(|part| *part != ".." && is_ambiguous(part)) {
            return Err(PathFault::Ambiguous);
        }
        let must_be_directory = path.ends_with('/') || path.ends_with("/.") || path == ".";
        Ok(Self { text: parts.join("/"), must_be_directory })
    }
}

/// Whether a component could name a drive, a stream, a device or several files on Windows.
fn is_ambiguous(part: &str) -> bool {
    let stem = part.split('.').next().unwrap_or_default().trim_end().to_uppercase();
    let port = |name: &str| {
        // The superscript digits count as digits there.
        let rest = stem.strip_prefix(name);
        rest.is_some_and(|rest| {
            matches!(rest, "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" | "0" | "¹" | "²" | "³")
        })
    };
    part.contains([':', '\\', '<', '>', '|', '?', '*', '"'])
        || part.contains(char::is_control)
        || part.ends_with(['.', ' '])
        || matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$")
        || port("COM")
        || port("LPT")
}

/// A path below another.
pub(super) fn join(base: &str, path: &str) -> String {
    match (base.is_empty(), path.is_empty()) {
        (true, _) => path.to_owned(),
        (_, true) => base.to_owned(),
        _ => format!("{base}/{path}"),
    }
}

/// Whether a relative path, read as text, goes above where it starts.
pub(super) fn leaves(path: &str) -> bool {
    let mut depth = 0_usize;
    path.split('/').any(|part| {
        if part == ".." {
            match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return true,
            }
        } else if !part.is_empty() {
            depth += 1;
        }
        false
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(path: &str, names: Names) -> Result<(String, bool), PathFault> {
        GuestPath::parse(path, names).map(|path| (path.text, path.must_be_directory))
    }

    #[test]
    fn a_path_has_one_form() {
        for (path, text, must_be_directory) in [
            ("a/b", "a/b", false),
            ("a//b", "a/b", false),
            ("..//a", "../a", false),
            ("a/./b", "a/b", false),
            ("/a", "a", false),
            ("a/", "a", true),
            ("a///", "a", true),
            ("a/.", "a", true),
            (".", "", true),
            ("", "", false),
            ("a/..", "a/..", false),
            ("a\\b", "a\\b", false),
            ("c:x", "c:x", false),
            ("...", "...", false),
        ] {
            assert_eq!(parsed(path, Names::Unix), Ok((text.to_owned(), must_be_directory)), "{path:?}");
        }
        assert_eq!(parsed("a\0", Names::Unix), Err(PathFault::Nul));
        assert_eq!(parsed(&"a".repeat(MAX_PATH), Names::Unix).map(|(text, _)| text.len()), Ok(MAX_PATH));
        assert_eq!(parsed(&"a".repeat(MAX_PATH + 1), Names::Unix), Err(PathFault::TooLong));
    }

    #[test]
    fn what_windows_would_read_otherwise_is_not_looked_up() {
        for path in [
            "c:",
            "c:x",
            "c:/x",
            "a/c:x",
            "a:stream",
            "a\\b",
            "\\\\server\\share",
            "a?",
            "a*",
            "nul",
            "NUL.txt",
            "a/con",
            "aux.tar.gz",
            "com1",
            "COM¹.x",
            "lpt9",
            "conin$",
            "prn ",
            "a.",
            "a ",
            "a/...",
            "x\u{1}",
            "nul .txt",
        ] {
            assert_eq!(parsed(path, Names::Windows), Err(PathFault::Ambiguous), "{path:?}");
        }
        for path in ["a/b", "../a", "console", "com", "com10", "null", "a.b.c", ".hidden", "./a/"] {
            assert!(parsed(path, Names::Windows).is_ok(), "{path:?}");
        }
    }

    #[test]
    fn a_path_leaves_where_it_climbs_higher_than_it_went() {
        for (path, expected) in [
            ("..", true),
            ("../a", true),
            ("a/..", false),
            ("a/../..", true),
            ("a/b/../../c", false),
            ("a/../../a", true),
            ("..a", false),
            ("", false),
        ] {
            assert_eq!(leaves(path), expected, "{path:?}");
        }
    }
}
