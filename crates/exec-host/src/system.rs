//! What of the machine every program is shown, and which users runs may have.

use skillgate_sandbox::{Stage, Unavailable};
use std::path::Path;

/// Directories of the system besides `/usr`. Where they are links into it, they stay links.
const DIRECTORIES: [&str; 7] = ["/bin", "/lib", "/lib32", "/lib64", "/libx32", "/sbin", "/nix/store"];
/// What of `/etc` programs need to start, and nothing that says whose machine it is.
const SETTINGS: [&str; 2] = ["/etc/alternatives", "/etc/ld.so.cache"];

/// What of the machine every program is shown, read-only.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct System {
    /// Directories, at their own paths.
    pub directories: Vec<String>,
    /// Files, at their own paths.
    pub files: Vec<String>,
    /// Links, with where they lead.
    pub links: Vec<(String, String)>,
    /// The users that runs may have, when this process is root.
    pub users: UserRange,
}

/// User ids that belong to nobody.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UserRange {
    /// The first.
    pub first: u32,
    /// How many.
    pub count: u32,
}

impl UserRange {
    /// Ids above those that distributions give to people, services and containers, and below those that are not ids.
    const UNUSED: Self = Self { first: 0x7000_0000, count: 0x0f00_0000 };

    /// The range in which ids exist, by the map of this process's user namespace.
    fn within(map: &str) -> Option<Self> {
        let mut widest = None;
        for line in map.lines() {
            let mut numbers = line.split_whitespace().map(str::parse::<u32>);
            let (Some(Ok(first)), Some(Ok(_)), Some(Ok(count))) = (numbers.next(), numbers.next(), numbers.next())
            else {
                return None;
            };
            let end = u64::from(first) + u64::from(count);
            let unused = Self::UNUSED;
            if first <= unused.first && end >= u64::from(unused.first) + u64::from(unused.count) {
                return Some(unused);
            }
            // In a container with few ids, the upper half of its widest range is where nobody is.
            if widest.is_none_or(|widest: Self| widest.count < count / 2) && count / 2 > 0 {
                widest = Some(Self { first: first + count / 2, count: count / 2 });
            }
        }
        widest.filter(|range| range.first > 0)
    }

    /// An id of the range, another one for each number that is near.
    #[must_use]
    pub fn pick(&self, number: u32) -> u32 {
        self.first + number % self.count.max(1)
    }
}

impl System {
    /// Looks at this machine.
    ///
    /// # Errors
    /// [`Unavailable`] when it has no `/usr`, or its user ids cannot be told.
    pub fn detect_ambient() -> Result<Self, Unavailable> {
        let unavailable = |reason: &str| Unavailable::new(Stage::Helper, reason);
        if !is_directory("/usr") {
            return Err(unavailable("this machine has no /usr"));
        }
        #[expect(clippy::disallowed_methods, reason = "the kernel's own file about this process")]
        let map = std::fs::read_to_string("/proc/self/uid_map")
            .map_err(|error| unavailable(&format!("/proc/self/uid_map: {error}")))?;
        let users = UserRange::within(&map).ok_or_else(|| unavailable("there are no user ids to use"))?;
        let mut system = Self { directories: vec!["/usr".to_owned()], files: Vec::new(), links: Vec::new(), users };
        for path in DIRECTORIES {
            #[expect(clippy::disallowed_methods, reason = "directories of the system")]
            let link = std::fs::read_link(path).ok();
            match link.as_deref().map(Path::to_str) {
                Some(Some(to)) => system.links.push((path.to_owned(), to.to_owned())),
                Some(None) => {}
                None if is_directory(path) => system.directories.push(path.to_owned()),
                None => {}
            }
        }
        for path in SETTINGS {
            #[expect(clippy::disallowed_methods, reason = "directories of the system")]
            let metadata = std::fs::symlink_metadata(path);
            match metadata {
                Ok(metadata) if metadata.is_dir() => system.directories.push(path.to_owned()),
                Ok(metadata) if metadata.is_file() => system.files.push(path.to_owned()),
                _ => {}
            }
        }
        Ok(system)
    }
}

#[expect(clippy::disallowed_methods, reason = "directories of the system")]
fn is_directory(path: &str) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_those_that_exist_and_are_nobodys() {
        assert_eq!(UserRange::within("         0          0 4294967295\n"), Some(UserRange::UNUSED));
        let half = |first, count| Some(UserRange { first, count });
        assert_eq!(UserRange::within("0 100000 65536\n"), half(32_768, 32_768));
        assert_eq!(UserRange::within("0 1000 1\n1 100000 65536\n"), half(32_769, 32_768));
        assert_eq!(UserRange::within("0 1000 1\n"), None);
        assert_eq!(UserRange::within("x\n"), None);
        assert_eq!(UserRange::within(""), None);
    }

    #[test]
    fn a_number_picks_a_user_of_the_range() {
        let range = UserRange { first: 10, count: 3 };
        assert_eq!([0, 1, 2, 3, u32::MAX].map(|number| range.pick(number)), [10, 11, 12, 10, 10]);
    }
}
