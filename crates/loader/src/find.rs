//! Skill files below a path that a person named.

use crate::name::command_name;
use crate::root::canonicalize_ambient;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use skillgate_core::{Code, Diagnostic, Severity};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

/// The deepest directory that is looked into.
const MAX_DEPTH: usize = 16;

/// A file that holds a skill or a command, by its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SkillFile {
    /// The file; with a fault it may be a directory that could not be looked into.
    pub path: PathBuf,
    /// The name of its directory.
    pub directory_name: Option<String>,
    /// Whether it is a `SKILL.md`; else it is a command file.
    pub is_skill: bool,
    /// Why it is not to be read.
    pub fault: Option<Diagnostic>,
}

impl SkillFile {
    /// Why the name that the file would be called by cannot be used or has to be written in full, as loading it says.
    #[must_use]
    pub fn name_finding(&self) -> Option<Diagnostic> {
        let real = std::path::absolute(&self.path).ok()?;
        let name = if self.is_skill { real.parent()?.file_name()? } else { real.file_stem()? };
        command_name(name).map_or_else(|finding| Some(*finding), |name| crate::name::only_in_full(&name))
    }
}

/// The skill files that a path names: the file itself; or all of a directory that holds them at any depth (at most 16), with
/// the `*.md` of its `commands` directories. Sorted; links to directories are not followed, and `.git`, `node_modules` and
/// `target` are left out. A directory that cannot be read, and a `SKILL.md` that is a link out of the named directory, stand
/// among them with their fault. So does a named file that is neither a `SKILL.md` nor a `.md` file.
///
/// # Errors
/// That there is nothing at the path.
pub fn find_skill_files_ambient(path: impl AsRef<Path>) -> io::Result<Vec<SkillFile>> {
    find_skill_files_watched_ambient(path, &mut || ())
}

/// [`find_skill_files_ambient`], calling `entered` for every directory that is looked into: a walk may take long, and somebody may
/// be waiting.
///
/// # Errors
/// That there is nothing at the path.
pub fn find_skill_files_watched_ambient(
    path: impl AsRef<Path>,
    entered: &mut dyn FnMut(),
) -> io::Result<Vec<SkillFile>> {
    let path = path.as_ref();
    let dir = match Dir::open_ambient_dir(path, ambient_authority()) {
        Ok(dir) => dir,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(error),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            // Either a file, or a way through one, on which there is nothing.
            return match canonicalize_ambient(path) {
                Err(error) if error.kind() == io::ErrorKind::NotADirectory => Err(error),
                _ => Ok(vec![named_file(path.to_owned())]),
            };
        }
        Err(error) => return Ok(vec![unreadable(path, &error)]),
    };
    let mut search = Search { root: &dir, files: Vec::new(), entered };
    search.collect(&dir, path, Path::new(""), MAX_DEPTH);
    search.files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(search.files)
}

fn skill_file(path: PathBuf) -> SkillFile {
    let real = std::path::absolute(&path).unwrap_or_else(|_| path.clone());
    let directory_name = real.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let is_skill = path.file_name().is_some_and(is_skill_name);
    SkillFile { path, directory_name, is_skill, fault: None }
}

/// A file that was named, which is read only if its name says what it is: any text passes for a command.
fn named_file(path: PathBuf) -> SkillFile {
    let file = skill_file(path);
    if file.is_skill || file.path.file_name().is_some_and(is_command_name) {
        return file;
    }
    let message = "it is neither a `SKILL.md` nor a command, which is a `.md` file, so it was not read";
    let finding = Diagnostic::new(Code::NotSkillFile, message).help("name the `SKILL.md` or the directory it is in");
    SkillFile { fault: Some(finding), ..file }
}

/// Whether a file in a commands directory is a command.
fn is_command_name(name: &OsStr) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("md"))
}

pub(crate) fn is_skill_name(name: &OsStr) -> bool {
    name.eq_ignore_ascii_case("SKILL.md")
}

fn unreadable(path: &Path, error: &io::Error) -> SkillFile {
    let finding = Diagnostic::new(Code::FileUnreadable, format!("the directory cannot be read: {error}"));
    SkillFile { fault: Some(finding.help("make it readable, or leave it out")), ..skill_file(path.to_owned()) }
}

/// A walk below the directory that was named.
struct Search<'d> {
    root: &'d Dir,
    files: Vec<SkillFile>,
    entered: &'d mut dyn FnMut(),
}

impl Search<'_> {
    /// `path` is the directory as a person is shown it, `rel` its place below the root.
    fn collect(&mut self, dir: &Dir, path: &Path, rel: &Path, depth: usize) {
        (self.entered)();
        let entries = match dir.entries() {
            Ok(entries) => entries,
            Err(error) => return self.files.push(unreadable(path, &error)),
        };
        let in_commands = path.file_name().is_some_and(|name| name == "commands");
        for entry in entries.flatten() {
            let name = entry.file_name();
            let Ok(kind) = entry.file_type() else { continue };
            let (below, rel) = (path.join(&name), rel.join(&name));
            if is_skill_name(&name) || (in_commands && is_command_name(&name)) {
                // Also when it is no regular file: then it is reported as such.
                let fault = if kind.is_symlink() { self.leads_out(&rel) } else { None };
                self.files.push(SkillFile { fault, ..skill_file(below) });
            } else if kind.is_dir() && !is_left_out(&name) {
                match (entry.open_dir(), depth.checked_sub(1)) {
                    (Ok(inner), Some(depth)) => self.collect(&inner, &below, &rel, depth),
                    (Ok(_), None) => self.files.push(too_deep(below)),
                    (Err(error), _) if error.kind() == io::ErrorKind::NotFound => {}
                    (Err(error), _) => self.files.push(unreadable(&below, &error)),
                }
            }
        }
    }

    /// The fault of a file that is a link out of the named directory: what it names is not the pack's.
    fn leads_out(&self, rel: &Path) -> Option<Diagnostic> {
        let error = self.root.canonicalize(rel).err()?;
        let (message, help) = if is_escape(&error) {
            (
                "it is a link that leads out of the directory that is checked, so it was not read".to_owned(),
                "put the file itself there, or check the directory that holds both",
            )
        } else if error.kind() == io::ErrorKind::NotFound {
            let target = self.root.read_link_contents(rel).map(|target| format!(": `{}`", target.display()));
            (format!("the link leads to nothing{}", target.unwrap_or_default()), "repair the link, or remove it")
        } else {
            (format!("the link cannot be followed: {error}"), "repair the link, or remove it")
        };
        Some(Diagnostic::new(Code::FileUnreadable, message).help(help))
    }
}

/// Whether a link was not followed because it leads out of the handle's directory; that is no error of the system's.
pub(crate) fn is_escape(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none()
}

/// Directories of other programs, in which no pack keeps skills.
pub(crate) fn is_left_out(name: &OsStr) -> bool {
    matches!(name.to_str(), Some(".git" | "node_modules" | "target"))
}

fn too_deep(path: PathBuf) -> SkillFile {
    let finding =
        Diagnostic::new(Code::LimitExceeded, format!("directories below {MAX_DEPTH} levels are not looked into"))
            .severity(Severity::Warning)
            .help("check this directory by itself");
    SkillFile { fault: Some(finding), ..skill_file(path) }
}
