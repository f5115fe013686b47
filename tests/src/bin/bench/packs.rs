//! Packs: taking one to disk beside `tar`, and checking one beside `sha256sum`.

#![expect(clippy::disallowed_methods, reason = "the floors are programs of the machine, and their input is made here")]

use crate::measure::{Measured, in_turns};
use skillgate_bundle::{Extraction, Pack, PackFile, PackInfo, PackLimits};
use skillgate_tests::Tree;
use std::path::Path;
use std::process::{Command, Stdio};

/// Files of the pack that is taken to disk, and the bytes of each.
const FILES: usize = 1_000;
const BYTES: usize = 4_096;

/// The size of the pack that is checked, in files of a MiB.
const MEBIBYTES: usize = 100;

fn pack(files: usize, bytes: usize) -> Result<Pack, String> {
    let file = |number: usize| {
        let content: Vec<u8> =
            (0..bytes).map(|at| u8::try_from((at * 31 + number) % 256).unwrap_or_default()).collect();
        PackFile::new(format!("skill/part{:02}/file{number}.txt", number % 20), content)
    };
    let mut all: Vec<PackFile> = (0..files).map(file).collect();
    all.push(PackFile::new("skill/SKILL.md", "---\ndescription: x\n---\nx\n"));
    let info = PackInfo::new("bench", "1.0.0").map_err(|error| error.to_string())?;
    Pack::build(info, all).map_err(|error| error.to_string())
}

fn run(program: &str, arguments: &[&str], directory: &Path) -> Result<(), String> {
    let status = Command::new(program).args(arguments).current_dir(directory).stdout(Stdio::null()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{program}` ended with {status}")),
        Err(error) => Err(format!("`{program}` cannot be started: {error}")),
    }
}

/// Both write the same files into a directory of the same file system, and take them away again. Removing is part of both.
pub(crate) fn extract(samples: usize) -> Result<Measured, String> {
    let pack = pack(FILES, BYTES)?;
    let tree = Tree::new("");
    let place = tree.path("");
    let source = Extraction::begin_ambient(&place).map_err(|error| error.to_string())?;
    let files = source.extract("bench", pack.files()).map_err(|error| error.to_string())?;
    let archive = tree.path("bench.tar").display().to_string();
    run("tar", &["-cf", &archive, "."], &files)?;
    let subject = || {
        let extraction = Extraction::begin_ambient(&place).map_err(|error| error.to_string())?;
        let path = extraction.extract("bench", pack.files()).map_err(|error| error.to_string())?;
        if path.join("skill/SKILL.md").is_file() { Ok(()) } else { Err("the pack is not there".to_owned()) }
    };
    let floor = || {
        let into = tree.path("into");
        std::fs::create_dir(&into).map_err(|error| error.to_string())?;
        run("tar", &["-xf", &archive], &into)?;
        std::fs::remove_dir_all(into).map_err(|error| error.to_string())
    };
    in_turns(samples, subject, floor)
}

/// Both read the file and compute the SHA-256 of what is in it.
pub(crate) fn verify(samples: usize) -> Result<Measured, String> {
    let tree = Tree::new("");
    let path = tree.path("bench.skillpack");
    std::fs::write(&path, pack(MEBIBYTES, 1 << 20)?.to_bytes()).map_err(|error| error.to_string())?;
    let subject = || {
        let bytes = std::fs::read(&path).map_err(|error| error.to_string())?;
        let read = Pack::read_owned(bytes, &PackLimits::default()).map_err(|error| error.to_string())?;
        read.check_signatures().map(drop).map_err(|error| error.to_string())
    };
    let file = path.display().to_string();
    in_turns(samples, subject, || run("sha256sum", &[&file], &tree.path("")))
}
