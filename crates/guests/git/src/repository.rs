//! Finding and opening the repository that the current directory lies in.

use crate::commit::{Commit, Node, Tag};
use crate::config::{Conditions, Config};
use crate::failure::{Failure, Outcome, fatal, unsupported};
use crate::files::{self, Kind};
use crate::odb::Odb;
use crate::refs::{Refs, Target};
use bstr::{BString, ByteSlice as _};
use gix_hash::ObjectId;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

/// Global options that say where the repository is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place {
    pub(crate) git_dir: Option<PathBuf>,
    pub(crate) work_tree: Option<PathBuf>,
    /// `-c name=value`, in order.
    pub(crate) config: Vec<String>,
}

/// An opened repository.
#[derive(Debug)]
pub(crate) struct Repository {
    /// The directory of this worktree's own files.
    pub(crate) git_dir: PathBuf,
    /// The directory of what all worktrees share.
    pub(crate) common_dir: PathBuf,
    /// The root of the working tree, absolute; `None` in a bare repository.
    pub(crate) work_tree: Option<PathBuf>,
    /// The current directory below the root, with a `/` at its end; empty at the root.
    pub(crate) prefix: BString,
    /// Whether the current directory is in the working tree.
    pub(crate) inside_work_tree: bool,
    /// The git directory in the words of `rev-parse --git-dir`.
    pub(crate) git_dir_text: String,
    pub(crate) config: Config,
    pub(crate) odb: Odb,
    pub(crate) refs: Refs,
    nodes: RefCell<HashMap<ObjectId, Rc<Node>>>,
    shallow: HashSet<ObjectId>,
}

const NOT_FOUND: &str = "not a git repository (or any of the parent directories): .git";

/// An absolute path without `.` and `..`.
pub(crate) fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(normal.pop()),
            part => normal.push(part),
        }
    }
    normal
}

fn current_directory() -> Outcome<PathBuf> {
    std::env::current_dir()
        .map_err(|_| Failure::Fatal("Unable to read current working directory: No such file or directory".into()))
}

struct Found {
    git_dir: PathBuf,
    text: String,
    work_tree: Option<PathBuf>,
}

/// Whether a directory is a git directory, as git tests it.
fn is_git_dir(path: &Path) -> bool {
    if files::status(&path.join("HEAD")).is_err() {
        return false;
    }
    let common = common_dir(path);
    files::is_directory(&common.join("objects")) && files::is_directory(&common.join("refs"))
}

fn common_dir(git_dir: &Path) -> PathBuf {
    match files::read_optional(&git_dir.join("commondir")) {
        Ok(Some(content)) => normal(&git_dir.join(files::path(content.trim_end()))),
        _ => git_dir.to_owned(),
    }
}

/// Follows a `.git` file.
fn follow(file: &Path) -> Outcome<PathBuf> {
    let content =
        std::fs::read(file).map_err(|error| Failure::Fatal(format!("error reading {}: {error}", file.display())))?;
    let Some(target) = content.strip_prefix(b"gitdir: ") else {
        return fatal(format!("invalid gitfile format: {}", file.display()));
    };
    let base = file.parent().unwrap_or(file);
    let target = normal(&base.join(files::path(target.trim_end())));
    if is_git_dir(&target) { Ok(target) } else { fatal(format!("not a git repository: {}", target.display())) }
}

fn discover(from: &Path) -> Outcome<Found> {
    for directory in from.ancestors() {
        let dot_git = directory.join(".git");
        match files::status(&dot_git).map(|status| status.kind) {
            Ok(Kind::File) => {
                let git_dir = follow(&dot_git)?;
                let text = git_dir.display().to_string();
                return Ok(Found { git_dir, text, work_tree: Some(directory.to_owned()) });
            }
            Ok(Kind::Directory | Kind::Link) if is_git_dir(&dot_git) => {
                let text = if directory == from { ".git".to_owned() } else { dot_git.display().to_string() };
                return Ok(Found { git_dir: dot_git, text, work_tree: Some(directory.to_owned()) });
            }
            _ => {}
        }
        if is_git_dir(directory) {
            let text = if directory == from { ".".to_owned() } else { directory.display().to_string() };
            return Ok(Found { git_dir: directory.to_owned(), text, work_tree: None });
        }
    }
    fatal(NOT_FOUND)
}

impl Repository {
    /// Opens the repository of the current directory.
    pub(crate) fn open(place: &Place) -> Outcome<Self> {
        let here = current_directory()?;
        let environment = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        for name in [
            "GIT_INDEX_FILE",
            "GIT_OBJECT_DIRECTORY",
            "GIT_ALTERNATE_OBJECT_DIRECTORIES",
            "GIT_NAMESPACE",
            "GIT_COMMON_DIR",
        ] {
            if environment(name).is_some() {
                return unsupported(format_args!("the variable {name}"));
            }
        }
        let given = place.git_dir.clone().or_else(|| environment("GIT_DIR"));
        let mut found = match given {
            Some(given) => {
                let path = normal(&here.join(&given));
                let git_dir = if files::status(&path).is_ok_and(|status| status.kind == Kind::File) {
                    follow(&path)?
                } else {
                    path
                };
                if !is_git_dir(&git_dir) {
                    return fatal(format!("not a git repository: '{}'", given.display()));
                }
                Found { git_dir, text: given.display().to_string(), work_tree: Some(here.clone()) }
            }
            None => discover(&here)?,
        };
        let common_dir = common_dir(&found.git_dir);
        let refs = Refs::new(&found.git_dir, &common_dir);
        let head = refs.head_name();
        let branch = head.as_ref().and_then(|name| name.strip_prefix(b"refs/heads/")).map(|name| name.as_bstr());
        let conditions = Conditions { git_dir: Some(&found.git_dir), branch };
        let mut config = user_config(&conditions)?;
        config.add_file(&common_dir.join("config"), "local", &conditions)?;
        if config.boolean("extensions.worktreeconfig") == Some(true) {
            config.add_file(&found.git_dir.join("config.worktree"), "worktree", &conditions)?;
        }
        for argument in &place.config {
            config.add_argument(argument)?;
        }
        check_format(&config)?;
        if let Some(work_tree) = place.work_tree.clone().or_else(|| environment("GIT_WORK_TREE")) {
            found.work_tree = Some(normal(&here.join(work_tree)));
        } else if let Some(work_tree) = config.string("core.worktree") {
            found.work_tree = Some(normal(&found.git_dir.join(files::path(work_tree))));
        } else if config.boolean("core.bare") == Some(true) && found.git_dir == common_dir {
            found.work_tree = None;
        }
        let inside = found
            .work_tree
            .as_ref()
            .and_then(|root| here.strip_prefix(root).ok())
            .filter(|_| !here.starts_with(&found.git_dir));
        let mut prefix = inside.map(files::bytes).unwrap_or_default();
        if !prefix.is_empty() {
            prefix.push(b'/');
        }
        let odb = Odb::open(&common_dir.join("objects"));
        for (name, target) in refs.below("refs/replace/") {
            if let (Some(id), Target::Id(other)) =
                (name.strip_prefix(b"refs/replace/").and_then(|hex| ObjectId::from_hex(hex).ok()), target)
            {
                odb.replace(id, other);
            }
        }
        let shallow = files::read_optional(&common_dir.join("shallow")).ok().flatten().unwrap_or_default();
        Ok(Self {
            inside_work_tree: inside.is_some(),
            prefix,
            git_dir_text: found.text,
            git_dir: found.git_dir,
            common_dir,
            work_tree: found.work_tree,
            config,
            odb,
            refs,
            nodes: RefCell::default(),
            shallow: shallow.lines().filter_map(|line| ObjectId::from_hex(line).ok()).collect(),
        })
    }

    /// The root of the working tree, or git's words when there is none.
    pub(crate) fn root(&self) -> Outcome<&Path> {
        self.work_tree.as_deref().ok_or_else(|| Failure::Fatal("this operation must be run in a work tree".into()))
    }

    /// Commits whose parents were left out of a shallow clone.
    pub(crate) fn shallow(&self) -> &HashSet<ObjectId> {
        &self.shallow
    }

    pub(crate) fn is_shallow(&self) -> bool {
        !self.shallow.is_empty()
    }

    /// What a walk needs of a commit.
    pub(crate) fn node(&self, id: &ObjectId) -> Outcome<Rc<Node>> {
        if let Some(node) = self.nodes.borrow().get(id) {
            return Ok(Rc::clone(node));
        }
        let data = self.odb.get_kind(id, gix_object::Kind::Commit)?;
        let mut node = Node::parse(id, &data)?;
        if self.shallow.contains(id) {
            node.parents.clear();
        }
        let node = Rc::new(node);
        self.nodes.borrow_mut().insert(*id, Rc::clone(&node));
        Ok(node)
    }

    /// All of a commit.
    pub(crate) fn commit(&self, id: &ObjectId) -> Outcome<Commit> {
        let data = self.odb.get_kind(id, gix_object::Kind::Commit)?;
        let mut commit = Commit::parse(id, &data)?;
        if self.shallow.contains(id) {
            commit.parents.clear();
        }
        Ok(commit)
    }

    /// An annotated tag.
    pub(crate) fn tag(&self, id: &ObjectId) -> Outcome<Tag> {
        Tag::parse(id, &*self.odb.get_kind(id, gix_object::Kind::Tag)?)
    }

    /// The commit that `HEAD` is at; `None` on a branch without commits.
    pub(crate) fn head_id(&self) -> Option<ObjectId> {
        self.refs.resolve(b"HEAD").map(|head| head.id)
    }

    /// Follows tags to what they name.
    pub(crate) fn peel(&self, id: &ObjectId) -> Outcome<(ObjectId, gix_object::Kind)> {
        let mut id = *id;
        loop {
            let object = self.odb.get(&id)?;
            if object.kind != gix_object::Kind::Tag {
                return Ok((id, object.kind));
            }
            id = Tag::parse(&id, &object.data)?.target;
        }
    }

    /// How many digits an abbreviated id has at least.
    pub(crate) fn abbreviation(&self) -> usize {
        match self.config.string("core.abbrev") {
            Some(value) if value == "no" || value == "off" || value == "false" => 40,
            Some(value) => value
                .to_str()
                .ok()
                .and_then(|value| value.parse::<usize>().ok())
                .map_or_else(|| self.odb.default_abbreviation(), |length| length.clamp(4, 40)),
            None => self.odb.default_abbreviation(),
        }
    }

    /// A short id as git prints it by default.
    pub(crate) fn short(&self, id: &ObjectId) -> Outcome<String> {
        self.odb.abbreviate(id, self.abbreviation())
    }

    /// A path below the root as it is called from the current directory.
    pub(crate) fn relative(&self, path: &[u8]) -> BString {
        relative(path, &self.prefix)
    }
}

/// `path` as seen from `prefix`, both below the same root.
pub(crate) fn relative(path: &[u8], prefix: &[u8]) -> BString {
    if prefix.is_empty() {
        return path.into();
    }
    let from: Vec<&[u8]> = prefix.trim_end_with(|c| c == '/').split(|byte| *byte == b'/').collect();
    let to: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count().min(to.len().saturating_sub(1));
    let mut out = BString::from("../".repeat(from.len() - common));
    out.extend_from_slice(&bstr::join("/", &to[common..]));
    if out.is_empty() { "./".into() } else { out }
}

/// What the user set for all repositories, when the sandbox shows it.
pub(crate) fn user_config(conditions: &Conditions<'_>) -> Outcome<Config> {
    let mut config = Config::default();
    if let Some(home) = std::env::var_os("HOME").filter(|home| !home.is_empty()) {
        let home = PathBuf::from(home);
        config.add_file(&home.join(".config/git/config"), "global", conditions)?;
        config.add_file(&home.join(".gitconfig"), "global", conditions)?;
    }
    Ok(config)
}

/// Refuses what the repository's format says an old reader must not touch.
fn check_format(config: &Config) -> Outcome {
    let version = config.integer("core.repositoryformatversion").unwrap_or_default();
    if version > 1 {
        return fatal(format!("Expected git repo version <= 1, found {version}"));
    }
    if let Some(storage) = config.text("extensions.refstorage").filter(|storage| storage != "files") {
        return unsupported(format_args!("the reference storage '{storage}'"));
    }
    if let Some(format) = config.text("extensions.objectformat").filter(|format| format != "sha1") {
        return unsupported(format_args!("the object format '{format}'"));
    }
    const KNOWN: [&str; 8] = [
        "noop",
        "preciousobjects",
        "partialclone",
        "worktreeconfig",
        "refstorage",
        "objectformat",
        "compatobjectformat",
        "relativeworktrees",
    ];
    if version == 1 {
        for variable in &config.variables {
            let Some(name) = variable.key.strip_prefix(b"extensions.").and_then(|name| name.to_str().ok()) else {
                continue;
            };
            if !KNOWN.contains(&name) {
                return fatal(format!("unknown repository extension found:\n\t{name}"));
            }
        }
    }
    Ok(())
}
