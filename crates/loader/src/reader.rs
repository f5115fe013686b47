//! Candidates to skills, the work shared by threads.

use crate::dedupe::Found;
use crate::document::{Made, Reader};
use crate::entry::{self, Candidate, OpenSkill, Outcome, SKILL_FILE, Shape};
use crate::file::{self, OpenFile};
use crate::index::{self, Head, Header, Known};
use crate::links::Places;
use crate::load::PathDiagnostic;
use crate::skills_dir::{self, Names};
use crate::stamp::Stamp;
use crate::{LoadOptions, SkillRoot, name};
use cap_std::fs::Dir;
use skillgate_core::{Code, CommandName, Diagnostic, LoadFailure, Severity, Skill, SkillId};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Fewer files than this are not worth a thread.
const FILES_PER_THREAD: usize = 32;

/// Candidates that a thread takes at a time.
const BLOCK: usize = 16;

/// A root whose candidates are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Root<'r> {
    /// Its place among the roots.
    pub(crate) number: usize,
    pub(crate) spec: &'r SkillRoot,
    pub(crate) dir: &'r Arc<Dir>,
    pub(crate) places: &'r Places,
}

/// What may be a skill in a root, in order.
#[derive(Debug)]
pub(crate) enum Candidates {
    /// Entries of its directory.
    Listed(Names),
    /// What was found in other ways.
    Found(Vec<Candidate>),
}

/// What candidates came to, in their order.
#[derive(Debug, Default)]
pub(crate) struct Read {
    pub(crate) skills: Vec<Skill>,
    /// Of each skill.
    pub(crate) found: Vec<Found>,
    /// What the index is told, if there is one.
    pub(crate) heads: Vec<Head>,
    pub(crate) failures: Vec<LoadFailure>,
    pub(crate) diagnostics: Vec<PathDiagnostic>,
}

impl Read {
    /// Adds what came later.
    fn append(&mut self, mut later: Self) {
        self.skills.append(&mut later.skills);
        self.found.append(&mut later.found);
        self.heads.append(&mut later.heads);
        self.failures.append(&mut later.failures);
        self.diagnostics.append(&mut later.diagnostics);
    }
}

/// Reads the candidates of a root and adds what they came to.
pub(crate) fn read_all(
    candidates: &Candidates,
    root: Root<'_>,
    options: &LoadOptions,
    known: Option<&Arc<Known>>,
    all: &mut Read,
) {
    let count = match candidates {
        Candidates::Listed(names) => names.len(),
        Candidates::Found(found) => found.len(),
    };
    let threads = options.threads.get().min(count / FILES_PER_THREAD).max(1);
    // Whoever is free takes the next block, so that a thread that is kept waiting keeps nobody else.
    let next = AtomicUsize::new(0);
    let read_share = || {
        let mut worker = Worker::new(root, options, known);
        let mut share = Vec::new();
        loop {
            let start = next.fetch_add(BLOCK, Ordering::Relaxed);
            if start >= count {
                return share;
            }
            let block = start..count.min(start + BLOCK);
            worker.read.skills.reserve(block.len());
            worker.read.found.reserve(block.len());
            for at in block {
                match candidates {
                    Candidates::Listed(names) => worker.listed(names.get(at)),
                    Candidates::Found(found) => worker.candidate(&found[at]),
                }
            }
            share.push((start, std::mem::take(&mut worker.read)));
        }
    };
    let mut read = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(read_share)).collect();
        let mut read = read_share();
        for other in others {
            read.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        read
    });
    read.sort_unstable_by_key(|(start, _)| *start);
    all.skills.reserve(count);
    all.found.reserve(count);
    read.into_iter().for_each(|(_, block)| all.append(block));
}

/// A skill whose file was read.
struct Anew {
    skill: Skill,
    stamp: Stamp,
    /// What the index can keep of it.
    read: Option<index::Read>,
}

/// What one thread reads with.
struct Worker<'w> {
    root: Root<'w>,
    /// The root's directory by a handle of this thread's own: the system counts who uses a handle, and threads that use one wait for
    /// each other at every file.
    dir: Arc<Dir>,
    /// Whether there is an index.
    indexed: bool,
    reader: Reader<'w>,
    /// The way of the file in hand below the root.
    below: OsString,
    read: Read,
}

impl<'w> Worker<'w> {
    fn new(root: Root<'w>, options: &'w LoadOptions, known: Option<&'w Arc<Known>>) -> Self {
        let reader = Reader::new(root.spec.kind.loaded_from(), options, known);
        let dir = root.dir.open_dir(".").map_or_else(|_| Arc::clone(root.dir), Arc::new);
        Self { root, dir, indexed: known.is_some(), reader, below: OsString::new(), read: Read::default() }
    }

    fn listed(&mut self, (name, shape): (&OsStr, Shape)) {
        if shape != Shape::Directory || self.usual(name).is_none() {
            self.candidate_anew(&skills_dir::candidate(name, shape, &self.dir, &self.root.spec.path));
        }
    }

    fn candidate(&mut self, candidate: &Candidate) {
        if self.candidate_before(candidate).is_none() {
            self.candidate_anew(candidate);
        }
    }

    /// The usual skill, `NAME/SKILL.md` beneath the root, out of the index or read: nothing but that file is looked at, and nothing
    /// but the skill is made. `None` for everything that has to be looked at more closely.
    fn usual(&mut self, name: &OsStr) -> Option<()> {
        self.below.clear();
        self.below.push(name);
        self.below.push("/");
        self.below.push(SKILL_FILE);
        let below = Path::new(&self.below);
        self.reader.turn_to(Some(name), Some(SKILL_FILE.as_ref()));
        if self.indexed
            && let Some(stamp) = Stamp::of_regular(&self.dir, below)
            && let Some((header, place)) = header_before(&mut self.reader, &stamp)
        {
            let id = SkillId::new(self.root.spec.source, self.command_name(name.to_str()).ok()?);
            let (path, directory) = self.usual_paths(name);
            let made = Made { id, path, directory: Some(directory), bytes: stamp.size };
            let skill = self.reader.made(made, header);
            self.add(skill, stamp, false, Some(Head::Known(place)), &[]);
            return Some(());
        }
        let id = SkillId::new(self.root.spec.source, self.command_name(name.to_str()).ok()?);
        let file = file::open(&self.dir, below).ok()?;
        let file = OpenFile::new(file, self.reader.options().max_file_bytes).ok()?;
        let stamp = file.stamp;
        let (path, directory) = self.usual_paths(name);
        let (skill, read) = self.reader.skill(id, OpenSkill { file, path, directory: Some(directory) }).ok()?;
        self.add(skill, stamp, false, self.told(read), &[]);
        Some(())
    }

    /// The paths of the usual skill and of its directory.
    fn usual_paths(&self, name: &OsStr) -> (PathBuf, PathBuf) {
        let root = &self.root.spec.path;
        let mut directory = PathBuf::with_capacity(root.as_os_str().len() + 1 + name.len());
        directory.push(root);
        directory.push(name);
        let mut path = PathBuf::with_capacity(directory.as_os_str().len() + 1 + SKILL_FILE.len());
        path.push(&directory);
        path.push(SKILL_FILE);
        (path, directory)
    }

    /// What the index is told of a skill that was read.
    fn told(&self, read: Option<index::Read>) -> Option<Head> {
        self.indexed.then(|| read.map_or(Head::Unknown, |read| Head::Read(Box::new(read))))
    }

    /// Takes what is found in other ways from the index, if it is there.
    fn candidate_before(&mut self, candidate: &Candidate) -> Option<()> {
        if !self.indexed {
            return None;
        }
        let (below, path, directory) = match candidate.shape {
            Shape::Directory => {
                (candidate.rel.join(SKILL_FILE), candidate.path.join(SKILL_FILE), Some(candidate.path.clone()))
            }
            Shape::File => (candidate.rel.clone(), candidate.path.clone(), None),
            Shape::Link => return None,
        };
        let stamp = Stamp::of_regular(&candidate.base, &below)?;
        self.reader.turn_to(path.parent().and_then(Path::file_name), path.file_name());
        let (header, place) = header_before(&mut self.reader, &stamp)?;
        let id = SkillId::new(self.root.spec.source, self.name_of(candidate).ok()?);
        let skill = self.reader.made(Made { id, path, directory, bytes: stamp.size }, header);
        self.add(skill, stamp, candidate.linked, Some(Head::Known(place)), &candidate.diagnostics);
        Some(())
    }

    fn candidate_anew(&mut self, candidate: &Candidate) {
        match self.skill_of(candidate) {
            Ok(Some(Anew { skill, stamp, read })) => {
                self.add(skill, stamp, candidate.linked, self.told(read), &candidate.diagnostics);
            }
            Ok(None) => {}
            Err(diagnostic) => self.read.failures.push(LoadFailure {
                source: self.root.spec.source,
                name: in_plugin(self.root.spec, &candidate.name),
                path: candidate.path.clone(),
                diagnostic: *diagnostic,
            }),
        }
    }

    /// The skill of a file that is read; `None` for what is no skill.
    fn skill_of(&mut self, candidate: &Candidate) -> Result<Option<Anew>, Box<Diagnostic>> {
        let open = match entry::open(candidate, self.root.places, self.reader.options().max_file_bytes) {
            Outcome::Opened(open) => open,
            Outcome::NotASkill => return Ok(None),
            Outcome::Vanished => {
                let message = "it was removed while the skills were read";
                let diagnostic = Diagnostic::new(Code::FileUnreadable, message).severity(Severity::Info);
                self.read.diagnostics.push(PathDiagnostic { path: candidate.path.clone(), diagnostic });
                return Ok(None);
            }
            Outcome::Failed(diagnostic) => return Err(Box::new(diagnostic)),
        };
        let id = SkillId::new(self.root.spec.source, self.name_of(candidate)?);
        let stamp = open.file.stamp;
        let file = open.path.file_name();
        self.reader.turn_to(open.path.parent().and_then(Path::file_name), file);
        // What a link leads to, and other spellings, are not looked for in the index.
        let is_looked_for = match candidate.shape {
            Shape::Directory => file.is_some_and(|file| file == SKILL_FILE),
            Shape::File => true,
            Shape::Link => false,
        };
        let (skill, read) = self.reader.skill(id, open).map_err(|fault| Box::new(fault.diagnostic()))?;
        Ok(Some(Anew { skill, stamp, read: read.filter(|_| is_looked_for) }))
    }

    /// Adds a skill, and to it what the place says of it.
    fn add(&mut self, mut skill: Skill, stamp: Stamp, linked: bool, head: Option<Head>, of_name: &[Diagnostic]) {
        let spec = self.root.spec;
        let in_full = if spec.plugin.is_some() { None } else { name::only_in_full(&skill.id.command) };
        skill.diagnostics.extend(of_name.iter().cloned());
        skill.diagnostics.extend(in_full);
        skill.plugin.clone_from(&spec.plugin);
        self.read.skills.push(skill);
        self.read.found.push(Found { stamp, root: self.root.number, linked });
        self.read.heads.extend(head);
    }

    fn name_of(&self, candidate: &Candidate) -> Result<CommandName, Box<Diagnostic>> {
        self.command_name(candidate.name_is_text.then_some(candidate.name.as_str()))
    }

    /// The name that is called, of one that was found; `None` is one that is no text.
    fn command_name(&self, found: Option<&str>) -> Result<CommandName, Box<Diagnostic>> {
        match (found, &self.root.spec.plugin) {
            (None, _) => Err(name::not_text()),
            (Some(found), None) => name::checked(found),
            (Some(found), Some(_)) => name::checked(&in_plugin(self.root.spec, found)),
        }
    }
}

/// What the index has of the file that the reader turned to.
fn header_before(reader: &mut Reader<'_>, stamp: &Stamp) -> Option<(Header, usize)> {
    if stamp.size > reader.options().max_file_bytes {
        return None;
    }
    reader.known(stamp)
}

/// The name behind the plugin's, for what belongs to one.
pub(crate) fn in_plugin(spec: &SkillRoot, name: &str) -> String {
    spec.plugin.as_ref().map_or_else(|| name.to_owned(), |plugin| format!("{}:{name}", plugin.name))
}
