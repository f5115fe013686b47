//! Skill files below a path that a person named.

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use std::io;
use std::path::{Path, PathBuf};

/// The deepest directory that is looked into.
const MAX_DEPTH: usize = 16;

/// A file that holds a skill or a command, by its place.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct SkillFile {
    /// The file.
    pub path: PathBuf,
    /// The name of its directory.
    pub directory_name: Option<String>,
    /// Whether it is a `SKILL.md`; else it is a command file.
    pub is_skill: bool,
    /// Whether it was found as a link that leads out of its directory: what it names is not the pack's, and is not to be read.
    pub leads_out: bool,
}

/// The skill files that a path names: the file itself; the `SKILL.md` of a skill's directory; or all of a directory that
/// holds them at any depth (at most 16), with the `*.md` of its `commands` directories. Sorted; links to directories are not
/// followed, and `.git`, `node_modules` and `target` are left out.
///
/// # Errors
/// What the system says about the path itself; what cannot be read below it is left out.
pub fn find_skill_files_ambient(path: impl AsRef<Path>) -> io::Result<Vec<SkillFile>> {
    let path = path.as_ref();
    let dir = match Dir::open_ambient_dir(path, ambient_authority()) {
        Ok(dir) => dir,
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Ok(vec![skill_file(path.to_owned())]),
        Err(error) => return Err(error),
    };
    let mut files = Vec::new();
    collect(&dir, path, MAX_DEPTH, &mut files);
    files.sort();
    Ok(files)
}

fn skill_file(path: PathBuf) -> SkillFile {
    let real = std::path::absolute(&path).unwrap_or_else(|_| path.clone());
    let directory_name = real.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let is_skill = path.file_name().is_some_and(|name| name.eq_ignore_ascii_case("SKILL.md"));
    SkillFile { path, directory_name, is_skill, leads_out: false }
}

fn collect(dir: &Dir, path: &Path, depth: usize, files: &mut Vec<SkillFile>) {
    let Ok(entries) = dir.entries() else { return };
    let in_commands = path.file_name().is_some_and(|name| name == "commands");
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Ok(kind) = entry.file_type() else { continue };
        let below = path.join(&name);
        let is_skill = name.eq_ignore_ascii_case("SKILL.md");
        if is_skill || (in_commands && below.extension().is_some_and(|end| end == "md")) {
            // Also when it is no regular file: then it is reported as such.
            let leads_out = kind.is_symlink() && dir.canonicalize(&name).is_err();
            files.push(SkillFile { leads_out, ..skill_file(below) });
        } else if kind.is_dir()
            && !matches!(name.to_str(), Some(".git" | "node_modules" | "target"))
            && let (Ok(inner), Some(depth)) = (entry.open_dir(), depth.checked_sub(1))
        {
            collect(&inner, &below, depth, files);
        }
    }
}
