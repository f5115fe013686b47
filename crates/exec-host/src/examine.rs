//! What a program's file is, before it is ever run.

use skillgate_sandbox::Identity;
#[cfg(unix)]
use std::fs::File;
#[cfg(unix)]
use std::io::Read as _;
#[cfg(unix)]
use std::path::Path;

/// Why a file cannot be run as a program in the sandbox.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramFault {
    /// The policy does not name it by an absolute path.
    #[error("`{0}` is not an absolute path; a program is never searched for")]
    NotAbsolute(String),
    /// It is not there, or cannot be looked at.
    #[error("`{path}`: {reason}")]
    Unreadable {
        /// Its path.
        path: String,
        /// Why.
        reason: String,
    },
    /// It is a directory, a device or the like.
    #[error("`{0}` is not a file")]
    NotAFile(String),
    /// Nobody may execute it.
    #[error("`{0}` is not executable")]
    NotExecutable(String),
    /// It would run as somebody else, which the sandbox does not let it; it would not work.
    #[error("`{0}` runs with the rights of its owner or with capabilities, which nothing gains in the sandbox")]
    Privileged(String),
    /// Everybody can replace what is in it.
    #[error("`{0}` can be changed by everybody on this machine")]
    WritableByAll(String),
    /// It is a script.
    #[error("`{path}` is a script; name its interpreter `{interpreter}` as the program")]
    Script {
        /// Its path.
        path: String,
        /// What its first line names.
        interpreter: String,
    },
    /// It is not a program of this machine.
    #[error("`{0}` is not a program of this machine")]
    Foreign(String),
    /// What loads it is not there.
    #[error("`{path}` needs the loader `{loader}`, which is not there")]
    NoLoader {
        /// Its path.
        path: String,
        /// The loader.
        loader: String,
    },
}

/// A program's file as it was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Examined {
    /// Its path without links.
    pub(crate) path: String,
    pub(crate) identity: Identity,
}

/// The beginning of a file that its headers lie in.
#[cfg(unix)]
const HEAD_BYTES: u64 = 65_536;

/// Looks at a program's file.
#[cfg(not(unix))]
pub(crate) fn examine_ambient(path: &str) -> Result<Examined, ProgramFault> {
    Err(ProgramFault::Foreign(path.to_owned()))
}

/// Looks at a program's file.
#[cfg(unix)]
pub(crate) fn examine_ambient(path: &str) -> Result<Examined, ProgramFault> {
    use std::os::unix::fs::MetadataExt as _;
    const PRIVILEGED: u32 = 0o6000;
    const EXECUTABLE: u32 = 0o111;
    const WRITABLE_BY_ALL: u32 = 0o002;
    if !path.starts_with('/') {
        return Err(ProgramFault::NotAbsolute(path.to_owned()));
    }
    let unreadable =
        |error: std::io::Error| ProgramFault::Unreadable { path: path.to_owned(), reason: error.to_string() };
    let real = Path::new(path).canonicalize().map_err(unreadable)?;
    let real = real.to_str().ok_or_else(|| unreadable(std::io::Error::other("its path is not UTF-8")))?.to_owned();
    // Looked at before it is opened: opening a FIFO waits.
    #[expect(clippy::disallowed_methods, reason = "a program that the host's policy names by its path")]
    let metadata = std::fs::metadata(&real).map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(ProgramFault::NotAFile(real));
    }
    #[expect(clippy::disallowed_methods, reason = "a program that the host's policy names by its path")]
    let mut file = File::open(&real).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    if metadata.mode() & EXECUTABLE == 0 {
        return Err(ProgramFault::NotExecutable(real));
    }
    let capabilities = rustix::fs::fgetxattr(&file, "security.capability", &mut [0_u8; 0]);
    if metadata.mode() & PRIVILEGED != 0 || capabilities.is_ok_and(|length| length > 0) {
        return Err(ProgramFault::Privileged(real));
    }
    if metadata.mode() & WRITABLE_BY_ALL != 0 {
        return Err(ProgramFault::WritableByAll(real));
    }
    let mut head = Vec::new();
    std::io::Read::by_ref(&mut file).take(HEAD_BYTES).read_to_end(&mut head).map_err(unreadable)?;
    match kind(&head) {
        Kind::Script(interpreter) => return Err(ProgramFault::Script { path: real, interpreter }),
        Kind::Foreign => return Err(ProgramFault::Foreign(real)),
        Kind::Program { loader: Some(loader) } if !Path::new(&loader).exists() => {
            return Err(ProgramFault::NoLoader { path: real, loader });
        }
        Kind::Program { .. } => {}
    }
    let changed = i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec());
    let content = Some((metadata.size(), changed));
    Ok(Examined { path: real, identity: Identity { device: metadata.dev(), inode: metadata.ino(), content } })
}

/// What the beginning of a file says it is.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Kind {
    Program { loader: Option<String> },
    Script(String),
    Foreign,
}

#[cfg_attr(not(unix), expect(dead_code, reason = "files are looked at on unix only"))]
fn kind(head: &[u8]) -> Kind {
    if let Some(line) = head.strip_prefix(b"#!") {
        let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let line = String::from_utf8_lossy(line);
        return Kind::Script(line.split_whitespace().next().unwrap_or_default().to_owned());
    }
    elf(head).unwrap_or(Kind::Foreign)
}

/// Reads an ELF header as far as the loader's name; `None` when it is not a program for this machine.
fn elf(head: &[u8]) -> Option<Kind> {
    const MAGIC: &[u8] = b"\x7fELF";
    const CLASS_64: u8 = 2;
    const LITTLE_ENDIAN: u8 = 1;
    const EXECUTABLE: u16 = 2;
    const SHARED: u16 = 3;
    const INTERPRETER: u32 = 3;
    let machine: u16 = match std::env::consts::ARCH {
        "x86_64" => 62,
        "aarch64" => 183,
        _ => return None,
    };
    let bytes = |at: usize, count: usize| head.get(at..at.checked_add(count)?);
    let short = |at| Some(u16::from_le_bytes(bytes(at, 2)?.try_into().ok()?));
    let long = |at| usize::try_from(u64::from_le_bytes(bytes(at, 8)?.try_into().ok()?)).ok();
    if !head.starts_with(MAGIC) || bytes(4, 2)? != [CLASS_64, LITTLE_ENDIAN] {
        return None;
    }
    if !matches!(short(16)?, EXECUTABLE | SHARED) || short(18)? != machine {
        return None;
    }
    let (table, size, count) = (long(32)?, usize::from(short(54)?), usize::from(short(56)?));
    for index in 0..count {
        let header = table.checked_add(index.checked_mul(size)?)?;
        // A table behind the beginning of the file is unusual, and then the kernel says what is missing.
        let Some(kind) = bytes(header, 4) else { break };
        if u32::from_le_bytes(kind.try_into().ok()?) == INTERPRETER {
            let (offset, length) = (long(header + 8)?, long(header + 32)?);
            let name = bytes(offset, length)?.split(|byte| *byte == 0).next()?;
            return Some(Kind::Program { loader: Some(String::from_utf8(name.to_vec()).ok()?) });
        }
    }
    Some(Kind::Program { loader: None })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn fault(path: &Path) -> ProgramFault {
        examine_ambient(path.to_str().expect("UTF-8")).expect_err("it cannot be run")
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "tests make files")]
    fn what_cannot_be_run_is_told_apart() {
        let root = tempfile::tempdir().expect("a directory");
        let make = |name: &str, content: &[u8], mode: u32| {
            let path = root.path().join(name);
            std::fs::write(&path, content).expect("a file");
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("ours");
            path.canonicalize().expect("it is there")
        };
        let program = std::fs::read("/bin/sh").expect("a shell");
        let text = |path: &Path| path.to_str().expect("UTF-8").to_owned();
        assert!(examine_ambient(&text(&make("good", &program, 0o755))).is_ok());
        assert_eq!(examine_ambient("sh"), Err(ProgramFault::NotAbsolute("sh".to_owned())));
        assert!(matches!(fault(&root.path().join("none")), ProgramFault::Unreadable { .. }));
        let here = root.path().canonicalize().expect("it is there");
        assert_eq!(fault(&here), ProgramFault::NotAFile(text(&here)));
        let path = make("data", &program, 0o644);
        assert_eq!(fault(&path), ProgramFault::NotExecutable(text(&path)));
        for mode in [0o4755, 0o2755] {
            let path = make("privileged", &program, mode);
            assert_eq!(fault(&path), ProgramFault::Privileged(text(&path)));
        }
        let path = make("open", &program, 0o757);
        assert_eq!(fault(&path), ProgramFault::WritableByAll(text(&path)));
        let path = make("script", b"#! /usr/bin/env node\nx", 0o755);
        let interpreter = "/usr/bin/env".to_owned();
        assert_eq!(fault(&path), ProgramFault::Script { path: text(&path), interpreter });
        for content in [b"".as_slice(), b"text", &program[..10], &[b"\x7fELF\x01\x01", &program[6..]].concat()] {
            let path = make("foreign", content, 0o755);
            assert_eq!(fault(&path), ProgramFault::Foreign(text(&path)));
        }
        let loader = match kind(&program[..program.len().min(65_536)]) {
            Kind::Program { loader: Some(loader) } => loader,
            other => panic!("the shell of this machine is loaded by something: {other:?}"),
        };
        let moved = loader.replacen("/lib", "/not", 1);
        let at = program.windows(loader.len()).position(|window| window == loader.as_bytes()).expect("it is named");
        let mut other = program.clone();
        other[at..at + moved.len()].copy_from_slice(moved.as_bytes());
        let path = make("alone", &other, 0o755);
        assert_eq!(fault(&path), ProgramFault::NoLoader { path: text(&path), loader: moved });
    }

    #[test]
    fn no_beginning_of_a_file_is_too_strange() {
        #[expect(clippy::disallowed_methods, reason = "a program that is there")]
        let program = std::fs::read("/bin/sh").expect("a shell");
        let head = &program[..512];
        for cut in 0..head.len() {
            let _any = kind(&head[..cut]);
            let mut changed = head.to_vec();
            changed[cut] ^= 0xff;
            let _any = kind(&changed);
        }
    }
}
