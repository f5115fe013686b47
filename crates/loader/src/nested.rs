use crate::discover::Project;
use crate::find::is_left_out;
use crate::git::{self, GitUser};
use crate::load::PathDiagnostic;
use crate::root::{RootKind, SkillRoot, canonicalize_ambient, is_link};
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use skillgate_core::{Code, Diagnostic, Severity, Source};
use std::collections::{HashMap, HashSet, VecDeque};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// Directories from the project's root down to a touched file; what is deeper is not looked at.
const MAX_DEPTH: usize = 128;

/// The directories of skills inside a project, found as files beside them are touched.
///
/// Each directory is looked at once. One that git ignores is not looked at, nor is anything inside it: ignored trees are other
/// people's code.
#[derive(Debug)]
pub struct NestedDiscovery {
    project: Project,
    looked_at: HashSet<PathBuf>,
    ignores: Ignores,
}

/// What touched files led to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Touched {
    /// Directories of skills that were not known, the deepest first.
    pub roots: Vec<SkillRoot>,
    /// The touched files as paths from the project's root, with `/` between the parts, each behind as well by the place that its
    /// links lead to; those outside it are left out.
    pub files: Vec<String>,
    /// Findings about directories, and about files of ignore rules.
    pub diagnostics: Vec<PathDiagnostic>,
}

impl NestedDiscovery {
    /// Begins for a project whose own directories, from [`Project::path`] up to its root, are known already.
    /// The ignore rules of `user` hold as well.
    #[must_use]
    pub fn new(project: Project, user: GitUser) -> Self {
        let looked_at =
            project.path.ancestors().take_while(|level| level.starts_with(&project.root)).map(Path::to_path_buf);
        let looked_at = looked_at.collect();
        let ignores = Ignores { root: project.root.clone(), user, by_directory: HashMap::new(), general: None };
        Self { project, looked_at, ignores }
    }

    /// Takes note of files that a tool read, wrote or listed; relative ones are taken from the project's directory. They need not
    /// exist. Looks for `.claude/skills` in the directories from each file up to the project's root.
    pub fn touch_ambient<P: AsRef<Path>>(&mut self, files: impl IntoIterator<Item = P>) -> Touched {
        let mut touched = Touched::default();
        for file in files {
            let names = self.project.paths_inside_ambient(file.as_ref());
            let Some(file) = names.first() else { continue };
            let parts: Vec<&str> = file.split('/').collect();
            let mut directory = self.project.root.clone();
            for part in parts.iter().take(parts.len() - 1).take(MAX_DEPTH) {
                let parent = directory.clone();
                directory.push(part);
                if self.looked_at.contains(&directory) {
                    continue;
                }
                if !is_itself(&directory) || self.ignores.ignores(&parent, &directory, &mut touched.diagnostics) {
                    break;
                }
                let root = self.root_in(&directory, &mut touched.diagnostics);
                touched.roots.extend(root);
                self.looked_at.insert(directory.clone());
            }
            touched.files.extend(names);
        }
        touched.deepest_first()
    }

    /// Looks through the whole project for directories of skills, as if a file in each directory were touched; not into what git
    /// ignores, links, `node_modules` and `target`, and into `max` directories at most.
    pub fn walk_ambient(&mut self, max: usize) -> Touched {
        let mut touched = Touched::default();
        let mut waiting = VecDeque::from([self.project.root.clone()]);
        let mut left = max;
        while let Some(parent) = waiting.pop_front() {
            let names = directories_in(&parent).unwrap_or_else(|error| {
                unreadable(&parent, &error, &mut touched.diagnostics);
                Vec::new()
            });
            for name in names {
                let directory = parent.join(name);
                if self.ignores.ignores(&parent, &directory, &mut touched.diagnostics) {
                    continue;
                }
                let Some(fewer) = left.checked_sub(1) else {
                    let message = format!("the project has more than {max} directories; the others were not looked at");
                    let found = Diagnostic::new(Code::LimitExceeded, message).severity(Severity::Warning);
                    let help = "name the directory you mean as the project";
                    touched.diagnostics.push(PathDiagnostic { path: parent, diagnostic: found.help(help) });
                    return touched.deepest_first();
                };
                left = fewer;
                if self.looked_at.insert(directory.clone()) {
                    let root = self.root_in(&directory, &mut touched.diagnostics);
                    touched.roots.extend(root);
                }
                waiting.push_back(directory);
            }
        }
        touched.deepest_first()
    }

    /// The directory's own skills. Where they may be and cannot be reached, loading them says why.
    fn root_in(&self, directory: &Path, found: &mut Vec<PathDiagnostic>) -> Option<SkillRoot> {
        let skills = directory.join(".claude/skills");
        match canonicalize_ambient(&skills) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && !is_link(&skills) => return None,
            Err(_) => {
                // A directory that lets nobody in is the finding, not the place in it that may not even exist.
                if let Err(error) = directories_in(directory) {
                    unreadable(directory, &error, found);
                    return None;
                }
            }
            Ok(_) => {}
        }
        Some(Self::root(&self.project, skills))
    }

    /// A directory of skills inside a project, as a root.
    #[must_use]
    pub fn root(project: &Project, skills: PathBuf) -> SkillRoot {
        let link_roots = vec![project.root.clone()];
        SkillRoot { link_roots, ..SkillRoot::new(Source::Project, RootKind::Skills, skills) }
    }
}

impl Touched {
    fn deepest_first(mut self) -> Self {
        self.roots.sort_by_key(|root| std::cmp::Reverse(root.path.components().count()));
        self
    }
}

/// The names of a directory's directories that are looked into, sorted; links are none.
fn directories_in(parent: &Path) -> io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in Dir::open_ambient_dir(parent, ambient_authority())?.entries()? {
        let entry = entry?;
        let name = entry.file_name();
        let is_place = !is_left_out(&name) && name != ".claude" && name != ".agents";
        if is_place && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// Reports a directory once. One that is gone, or is none, has no skills and is no mistake.
fn unreadable(directory: &Path, error: &io::Error, found: &mut Vec<PathDiagnostic>) {
    let is_none = matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
    if is_none || found.iter().any(|found| found.path == directory) {
        return;
    }
    let message = format!("the directory cannot be read, so skills in it are not found: {error}");
    let diagnostic = Diagnostic::new(Code::FileUnreadable, message).severity(Severity::Warning);
    let help = "make it readable, or have git ignore it";
    found.push(PathDiagnostic { path: directory.to_path_buf(), diagnostic: diagnostic.help(help) });
}

/// Whether the directory is there and is where its name says: a link would lead to other people's skills.
fn is_itself(directory: &Path) -> bool {
    canonicalize_ambient(directory).is_ok_and(|real| real == directory)
}

/// The ignore rules of a repository, each file read once.
#[derive(Debug)]
struct Ignores {
    root: PathBuf,
    user: GitUser,
    by_directory: HashMap<PathBuf, Gitignore>,
    /// `.git/info/exclude`, then the user's own.
    general: Option<[Gitignore; 2]>,
}

impl Ignores {
    /// Whether a directory whose parents are not ignored is. The rules of the nearest file decide.
    fn ignores(&mut self, parent: &Path, directory: &Path, found: &mut Vec<PathDiagnostic>) -> bool {
        if directory.file_name().is_some_and(|name| name == ".git") {
            return true;
        }
        for level in parent.ancestors().take_while(|level| level.starts_with(&self.root)) {
            if !self.by_directory.contains_key(level) {
                let rules = rules(level, &level.join(".gitignore"), found);
                self.by_directory.insert(level.to_path_buf(), rules);
            }
            match self.by_directory[level].matched(directory, true) {
                Match::None => {}
                decided => return decided.is_ignore(),
            }
        }
        let general = match &self.general {
            Some(general) => general,
            None => {
                let exclude = git::shared_dir_ambient(&self.root).join("info/exclude");
                let exclude = rules(&self.root, &exclude, found);
                let global = self.user.excludes_ambient(&self.root, &mut |file, fault| {
                    let message = format!("the git configuration was not read: {fault}");
                    let diagnostic = Diagnostic::new(Code::FileUnreadable, message).severity(Severity::Warning);
                    let help = "make it a readable text file; until then its `core.excludesFile` does not hold here";
                    found.push(PathDiagnostic { path: file.to_path_buf(), diagnostic: diagnostic.help(help) });
                });
                let global = match global {
                    Some(file) => rules(&self.root, &file, found),
                    None => Gitignore::empty(),
                };
                self.general.insert([exclude, global])
            }
        };
        let decided = general.iter().map(|rules| rules.matched(directory, true)).find(|decided| !decided.is_none());
        decided.is_some_and(|decided| decided.is_ignore())
    }
}

/// The rules of one file for what is below `base`. One that is missing has none; a line that is no rule is left out, as git does.
fn rules(base: &Path, file: &Path, found: &mut Vec<PathDiagnostic>) -> Gitignore {
    let mut report = |message: String| {
        let diagnostic = Diagnostic::new(Code::FileUnreadable, message)
            .severity(Severity::Warning)
            .help("make it a readable text file of less than 1 MiB; until then its rules do not hold here");
        found.push(PathDiagnostic { path: file.to_path_buf(), diagnostic });
    };
    let bytes = match git::read_if_there_ambient(file) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Gitignore::empty(),
        Err(fault) => {
            report(format!("the ignore rules were not read: {fault}"));
            return Gitignore::empty();
        }
    };
    let text = String::from_utf8_lossy(&bytes);
    let mut builder = GitignoreBuilder::new(base);
    for line in text.strip_prefix('\u{feff}').unwrap_or(&text).lines() {
        let _no_rule_as_for_git = builder.add_line(None, line);
    }
    builder.build().unwrap_or_else(|error| {
        report(format!("the ignore rules cannot be used: {error}"));
        Gitignore::empty()
    })
}
