use crate::{NameFault, StateError};

/// What the crate's own files begin with.
pub(crate) const RESERVED: &str = ".skillgate-";
/// What a file that is still being written begins with.
pub(crate) const TEMPORARY: &str = ".skillgate-tmp.";
/// What a lock file begins with.
pub(crate) const LOCK: &str = ".skillgate-lock.";
/// Longest name in bytes; leaves room for the prefixes within the 255 bytes of common file systems.
pub(crate) const MAX_BYTES: usize = 200;

/// A name of exactly one component that is not one of the crate's own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntryName<'a>(&'a str);

impl<'a> EntryName<'a> {
    pub(crate) fn new(name: &'a str) -> Result<Self, StateError> {
        match fault(name) {
            Some(fault) => Err(StateError::InvalidName { name: name.to_owned(), fault }),
            None => Ok(Self(name)),
        }
    }

    pub(crate) fn as_str(self) -> &'a str {
        self.0
    }
}

fn fault(name: &str) -> Option<NameFault> {
    if name.is_empty() {
        return Some(NameFault::Empty);
    }
    if matches!(name, "." | "..") {
        return Some(NameFault::DirectoryReference);
    }
    if let Some(c) = name.chars().find(|c| matches!(c, '/' | '\\' | ':') || c.is_control()) {
        return Some(NameFault::Forbidden(c));
    }
    if name.len() > MAX_BYTES {
        return Some(NameFault::TooLong);
    }
    is_reserved(name).then_some(NameFault::Reserved)
}

/// Whether a name belongs to the crate itself, on file systems that ignore case as well.
fn is_reserved(name: &str) -> bool {
    name.get(..RESERVED.len()).is_some_and(|start| start.eq_ignore_ascii_case(RESERVED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_single_components_of_others_are_names() {
        for (name, expected) in [
            ("", NameFault::Empty),
            (".", NameFault::DirectoryReference),
            ("..", NameFault::DirectoryReference),
            ("/", NameFault::Forbidden('/')),
            ("a/b", NameFault::Forbidden('/')),
            ("..\\b", NameFault::Forbidden('\\')),
            ("c:", NameFault::Forbidden(':')),
            ("a\0", NameFault::Forbidden('\0')),
            ("a\n", NameFault::Forbidden('\n')),
            (".skillgate-tmp.1", NameFault::Reserved),
            (".SkillGate-lock.x", NameFault::Reserved),
        ] {
            assert_eq!(fault(name), Some(expected), "{name:?}");
        }
        assert_eq!(fault(&"x".repeat(MAX_BYTES + 1)), Some(NameFault::TooLong));
        for name in ["a", "a.b", "...", ".hidden", ".skillgate", "ü x"] {
            assert_eq!(fault(name), None, "{name:?}");
        }
        assert_eq!(fault(&"x".repeat(MAX_BYTES)), None);
    }
}
