//! The status of files as POSIX has it, which WASI does not tell: modes, owners, links, inodes, blocks and times.
//!
//! In the sandbox it comes from an import of Skillgate's host (`wit/files`), under the same rules as every other access; on the
//! machine that a component is developed on, from the system. Must not: change anything. Start at [`status`] and [`list`].

pub mod civil;
mod names;
mod system;

pub use names::{group_name, user_name};

use std::io;
use std::path::Path;

/// Seconds since 1970, and nanoseconds.
pub type Moment = (i64, u32);

/// What a file is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A pipe with a name.
    Fifo,
    /// A socket.
    Socket,
    /// A character device.
    CharacterDevice,
    /// A block device.
    BlockDevice,
}

/// What `stat` tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Status {
    /// `st_mode`: the type and the permissions.
    pub mode: u32,
    /// Names the file has.
    pub links: u64,
    /// The owner's number.
    pub owner: u32,
    /// The group's number.
    pub group: u32,
    /// The device it lies on.
    pub device: u64,
    /// Its number on the device.
    pub inode: u64,
    /// Bytes it holds.
    pub size: u64,
    /// Blocks of 512 bytes it takes.
    pub blocks: u64,
    /// When it was read last.
    pub accessed: Moment,
    /// When its content was changed last.
    pub modified: Moment,
    /// When its status was changed last.
    pub changed: Moment,
}

impl Status {
    /// What it is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self.mode & 0o170_000 {
            0o040_000 => Kind::Directory,
            0o120_000 => Kind::Link,
            0o010_000 => Kind::Fifo,
            0o140_000 => Kind::Socket,
            0o020_000 => Kind::CharacterDevice,
            0o060_000 => Kind::BlockDevice,
            _ => Kind::File,
        }
    }

    /// Type and permissions as `ls -l` shows them.
    #[must_use]
    pub fn mode_text(&self) -> String {
        let mut text = String::with_capacity(10);
        text.push(match self.kind() {
            Kind::File => '-',
            Kind::Directory => 'd',
            Kind::Link => 'l',
            Kind::Fifo => 'p',
            Kind::Socket => 's',
            Kind::CharacterDevice => 'c',
            Kind::BlockDevice => 'b',
        });
        for (shift, special, letter) in [(6, 0o4000, 's'), (3, 0o2000, 's'), (0, 0o1000, 't')] {
            let bits = self.mode >> shift;
            text.push(if bits & 4 != 0 { 'r' } else { '-' });
            text.push(if bits & 2 != 0 { 'w' } else { '-' });
            text.push(match (bits & 1 != 0, self.mode & special != 0) {
                (true, false) => 'x',
                (false, false) => '-',
                (true, true) => letter,
                (false, true) => letter.to_ascii_uppercase(),
            });
        }
        text
    }
}

/// The status of what a path names; a link as its last component is followed on request.
///
/// # Errors
/// As the system says.
pub fn status(path: &Path, follow: bool) -> io::Result<Status> {
    system::status(path, follow)
}

/// The entries of a directory with their own status, without `.` and `..`, in no particular order.
///
/// # Errors
/// As the system says.
pub fn list(path: &Path) -> io::Result<Vec<(Vec<u8>, Status)>> {
    system::list(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_shown_as_ls_shows_them() {
        let shown = |mode| {
            let zero = (0, 0);
            let status = Status {
                mode,
                links: 1,
                owner: 0,
                group: 0,
                device: 0,
                inode: 0,
                size: 0,
                blocks: 0,
                accessed: zero,
                modified: zero,
                changed: zero,
            };
            status.mode_text()
        };
        for (mode, text) in [
            (0o100_644, "-rw-r--r--"),
            (0o040_755, "drwxr-xr-x"),
            (0o120_777, "lrwxrwxrwx"),
            (0o041_777, "drwxrwxrwt"),
            (0o041_776, "drwxrwxrwT"),
            (0o104_755, "-rwsr-xr-x"),
            (0o106_644, "-rwSr-Sr--"),
        ] {
            assert_eq!(shown(mode), text);
        }
    }
}
