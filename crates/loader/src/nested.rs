use crate::discover::Project;
use crate::file::read_file_ambient;
use crate::find::is_left_out;
use crate::load::PathDiagnostic;
use crate::root::{RootKind, SkillRoot, canonicalize_ambient};
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use skillgate_core::{Code, Diagnostic, Severity, Source};
use std::collections::{HashMap, HashSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

/// A larger file of ignore rules is not read.
const MAX_IGNORE_BYTES: u64 = 1 << 20;

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
    /// The touched files as paths from the project's root, with `/` between the parts; those outside it are left out.
    pub files: Vec<String>,
    /// Findings about files of ignore rules.
    pub diagnostics: Vec<PathDiagnostic>,
}

impl NestedDiscovery {
    /// Begins for a project whose own directories, from [`Project::path`] up to its root, are known already.
    /// `global_excludes` is the user's own file of ignore rules, `core.excludesFile` of git.
    #[must_use]
    pub fn new(project: Project, global_excludes: Option<PathBuf>) -> Self {
        let looked_at =
            project.path.ancestors().take_while(|level| level.starts_with(&project.root)).map(Path::to_path_buf);
        let looked_at = looked_at.collect();
        let ignores =
            Ignores { root: project.root.clone(), global_excludes, by_directory: HashMap::new(), general: None };
        Self { project, looked_at, ignores }
    }

    /// Takes note of files that a tool read, wrote or listed; relative ones are taken from the project's directory. They need not
    /// exist. Looks for `.claude/skills` in the directories from each file up to the project's root.
    pub fn touch_ambient<P: AsRef<Path>>(&mut self, files: impl IntoIterator<Item = P>) -> Touched {
        let mut touched = Touched::default();
        for file in files {
            let Some(file) = self.below_root(file.as_ref()) else { continue };
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
                touched.roots.extend(self.root_in(&directory));
                self.looked_at.insert(directory.clone());
            }
            touched.files.push(file);
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
            let Ok(dir) = Dir::open_ambient_dir(&parent, ambient_authority()) else { continue };
            let is_place = |name: &OsStr| !is_left_out(name) && name != ".claude" && name != ".agents";
            let entries = dir.entries().into_iter().flatten().flatten();
            let directories = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
            let mut names: Vec<OsString> = directories.map(|entry| entry.file_name()).collect();
            names.retain(|name| is_place(name));
            names.sort_unstable();
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
                    touched.roots.extend(self.root_in(&directory));
                }
                waiting.push_back(directory);
            }
        }
        touched.deepest_first()
    }

    /// The path from the root, lexically: `..` is taken back, so that a file is the same however it is named.
    fn below_root(&self, file: &Path) -> Option<String> {
        let mut whole = PathBuf::new();
        for component in self.project.path.join(file).components() {
            match component {
                Component::ParentDir => {
                    whole.pop();
                }
                Component::CurDir => {}
                component => whole.push(component),
            }
        }
        let below = whole.strip_prefix(&self.project.root).ok()?;
        let parts: Option<Vec<&str>> = below.iter().map(|part| part.to_str()).collect();
        parts.filter(|parts| !parts.is_empty()).map(|parts| parts.join("/"))
    }

    fn root_in(&self, directory: &Path) -> Option<SkillRoot> {
        let skills = directory.join(".claude/skills");
        canonicalize_ambient(&skills).ok()?;
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

/// Whether the directory is there and is where its name says: a link would lead to other people's skills.
fn is_itself(directory: &Path) -> bool {
    canonicalize_ambient(directory).is_ok_and(|real| real == directory)
}

/// The ignore rules of a repository, each file read once.
#[derive(Debug)]
struct Ignores {
    root: PathBuf,
    global_excludes: Option<PathBuf>,
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
                let exclude = rules(&self.root, &self.root.join(".git/info/exclude"), found);
                let global = match &self.global_excludes {
                    Some(file) => rules(&self.root, file, found),
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
    let bytes = match read_file_ambient(file, MAX_IGNORE_BYTES) {
        Ok(bytes) => bytes,
        Err(crate::ReadFault::NotFound) => return Gitignore::empty(),
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
