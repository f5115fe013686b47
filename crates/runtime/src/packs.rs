//! Installed packs and the skills that a program embeds, as sources of skills.

use skillgate_bundle::{LazyExtraction, LockedPack, Pack, PackStore, StoreError, bundled_tree};
use skillgate_core::{Code, Diagnostic, Digest, LoadFailure, RelPath, Source};
use skillgate_loader::{
    BundledSkill, BundledSkills, Discovered, DiscoveryError, FilesError, HeldExtras, HeldMark, HeldSkill, Locations,
    SkillFiles, SkillSource,
};
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The packs of a store as a source. Each is checked whole whenever skills are loaded; one that does not hold gives no skill, and
/// each skill it had is listed as broken with the reason.
#[derive(Debug)]
pub struct InstalledPacks {
    directory: PathBuf,
    /// Opened when it is there.
    store: OnceLock<Arc<PackStore>>,
    /// What the last load found.
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    skills: Vec<(HeldSkill, HeldExtras)>,
    failures: Vec<LoadFailure>,
}

impl InstalledPacks {
    /// The packs of this store.
    #[must_use]
    pub fn new(store: Arc<PackStore>) -> Self {
        Self { directory: store.path().to_path_buf(), store: OnceLock::from(store), held: Mutex::default() }
    }

    /// The packs of the store in this directory. It need not be there, and is not made: a pack that is installed later is found by
    /// the load that comes then.
    #[must_use]
    pub fn inside(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into(), store: OnceLock::new(), held: Mutex::default() }
    }

    /// The store, when there is one.
    fn store(&self) -> Result<Option<Arc<PackStore>>, StoreError> {
        if let Some(store) = self.store.get() {
            return Ok(Some(Arc::clone(store)));
        }
        let opened = PackStore::existing_ambient(&self.directory)?;
        Ok(opened.map(|opened| Arc::clone(self.store.get_or_init(|| Arc::new(opened)))))
    }

    fn lock_path(&self) -> PathBuf {
        self.directory.join(LOCK)
    }

    fn read(&self) -> Held {
        let mut held = Held::default();
        let broken = |name: &str, path: PathBuf, error: &StoreError| {
            let diagnostic = Diagnostic::new(Code::FileUnreadable, error.to_string());
            let diagnostic = error.help().into_iter().fold(diagnostic, Diagnostic::help);
            LoadFailure { source: Source::Pack, name: name.to_owned(), path, diagnostic }
        };
        let read = self.store().and_then(|store| {
            let Some(store) = store else { return Ok(None) };
            store.installed().map(|installed| Some((store, installed)))
        });
        let (store, installed) = match read {
            Ok(Some(read)) => read,
            Ok(None) => return held,
            Err(error) => {
                held.failures.push(broken(LOCK, self.lock_path(), &error));
                return held;
            }
        };
        for installed in installed.into_iter().filter(|installed| installed.locked.enabled) {
            let locked = &installed.locked;
            let path = store.object_path(locked.digest);
            match installed.pack {
                Ok(pack) => held.take(&store, &Arc::new(pack), &locked.name),
                Err(error) => {
                    held.failures.extend(names_of(locked).iter().map(|name| broken(name, path.clone(), &error)));
                }
            }
        }
        held
    }
}

/// The lock file, as it is called in findings.
const LOCK: &str = "skills.lock";

/// What its skills are called; a lock file of an older version did not say.
fn names_of(locked: &LockedPack) -> &[String] {
    if locked.skills.is_empty() { std::slice::from_ref(&locked.name) } else { &locked.skills }
}

impl Held {
    fn take(&mut self, store: &Arc<PackStore>, pack: &Arc<Pack>, name: &str) {
        let signers: Vec<[u8; 32]> = pack.signatures().iter().map(|signature| signature.key.to_bytes()).collect();
        for skill in &pack.manifest().skills {
            let origin = format!("pack:{name}/{}", skill.path);
            // What is not UTF-8 is read as it would be from a file.
            let text = String::from_utf8_lossy(pack.file(&skill.path).unwrap_or_default()).into_owned();
            let files = PackFiles {
                store: Arc::clone(store),
                pack: Arc::clone(pack),
                directory: Pack::directory_of(skill).to_owned(),
            };
            let extras = HeldExtras { files: Some(Arc::new(files)), signers: signers.clone(), ..HeldExtras::default() };
            self.skills.push((HeldSkill { name: skill.name.clone(), text: text.into(), origin }, extras));
        }
    }
}

impl SkillSource for InstalledPacks {
    fn source(&self) -> Source {
        Source::Pack
    }

    /// No directory; what is installed and switched on, the lock file decides.
    fn roots_ambient(&self, _: &Locations, found: &mut Discovered) -> Result<(), DiscoveryError> {
        found.deciding.push(self.lock_path());
        Ok(())
    }

    /// What the lock file says, which is replaced whole: it is read anew, whatever became of the store.
    fn marks(&self) -> Vec<HeldMark> {
        let store = PackStore::existing_ambient(&self.directory);
        let lock = store.and_then(|store| store.map(|store| store.lock_file()).transpose());
        let lock = match lock {
            Ok(lock) => lock.unwrap_or_default(),
            Err(error) => {
                let origin = self.lock_path().display().to_string();
                let digest = Digest::of(error.to_string().as_bytes());
                return vec![HeldMark { name: LOCK.to_owned(), origin, digest }];
            }
        };
        let mark = |pack: &LockedPack, name: &String| {
            let keys: String = pack.keys.iter().map(ToString::to_string).collect();
            let digest = Digest::of_parts([pack.digest.as_bytes().as_slice(), keys.as_bytes()]);
            HeldMark { name: name.clone(), origin: format!("pack:{}/{name}", pack.name), digest }
        };
        let enabled = lock.packs.iter().filter(|pack| pack.enabled);
        enabled.flat_map(|pack| names_of(pack).iter().map(move |name| mark(pack, name))).collect()
    }

    fn texts(&self) -> Vec<HeldSkill> {
        let read = self.read();
        let texts = read.skills.iter().map(|(skill, _)| skill.clone()).collect();
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = read;
        texts
    }

    fn extras(&self, name: &str) -> HeldExtras {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.skills.iter().find(|(skill, _)| skill.name == name).map(|(_, extras)| extras.clone()).unwrap_or_default()
    }

    fn failures(&self) -> Vec<LoadFailure> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).failures.clone()
    }
}

/// The files of a skill of a pack. The whole pack is taken to disk, since its skills can name each other's files.
#[derive(Debug)]
struct PackFiles {
    store: Arc<PackStore>,
    pack: Arc<Pack>,
    directory: String,
}

impl SkillFiles for PackFiles {
    fn directory(&self) -> PathBuf {
        let tree = self.store.tree_of(self.pack.digest());
        if self.directory.is_empty() { tree } else { tree.join(&self.directory) }
    }

    fn contents(&self) -> Vec<(RelPath, Cow<'_, [u8]>)> {
        let prefix = if self.directory.is_empty() { String::new() } else { format!("{}/", self.directory) };
        let below = self.pack.files().filter_map(|(path, bytes)| Some((path.strip_prefix(&prefix)?, bytes)));
        let beside = below.filter(|(path, _)| !path.eq_ignore_ascii_case("SKILL.md"));
        beside.filter_map(|(path, bytes)| Some((RelPath::new(path).ok()?, Cow::Borrowed(bytes)))).collect()
    }

    fn materialise(&self) -> Result<(), FilesError> {
        self.store.materialise(&self.pack).map(drop).map_err(|error| failed(&error, error.help()))
    }
}

/// Skills as `include_skills!` of `skillgate-bundle-macros` gives them: each with its name and its files, each of these with its
/// bytes and their SHA-256.
pub type EmbeddedSkills = &'static [(&'static str, &'static [(&'static str, &'static [u8], [u8; 32])])];

/// Where the files of embedded skills are taken when they are first used.
#[derive(Clone, Debug)]
pub enum BundledPlace {
    /// Into a directory of this process, which is removed with it.
    Process(Arc<LazyExtraction>),
    /// Into the store in this directory, where they stay: for programs whose prompts are read after they ended. The store is not
    /// looked at before.
    Store(PathBuf),
}

/// The skills that a program embeds, which it registers by this.
#[must_use]
pub fn embedded_skills(skills: EmbeddedSkills, place: &BundledPlace) -> BundledSkills {
    skills.iter().fold(BundledSkills::default(), |bundled, (name, files)| {
        let text = files.iter().find(|(path, ..)| *path == OWN).map(|(_, bytes, _)| String::from_utf8_lossy(bytes));
        let skill = BundledSkill::new(*name, text.unwrap_or_default());
        let files = EmbeddedFiles { name, files, place: place.clone() };
        bundled.register_bundled(skill.files(Arc::new(files)))
    })
}

/// The skill's own file.
const OWN: &str = "SKILL.md";

#[derive(Debug)]
struct EmbeddedFiles {
    name: &'static str,
    files: &'static [(&'static str, &'static [u8], [u8; 32])],
    place: BundledPlace,
}

impl EmbeddedFiles {
    /// A digest over what the build found, so that nothing is read to know where the files will be.
    fn digest(&self) -> Digest {
        Digest::of_parts(self.files.iter().flat_map(|(path, _, digest)| [path.as_bytes(), digest.as_slice()]))
    }
}

impl SkillFiles for EmbeddedFiles {
    fn directory(&self) -> PathBuf {
        match &self.place {
            BundledPlace::Process(extraction) => extraction.path_of(self.name),
            BundledPlace::Store(path) => bundled_tree(path, self.digest()),
        }
    }

    fn contents(&self) -> Vec<(RelPath, Cow<'_, [u8]>)> {
        let beside = self.files.iter().filter(|(path, ..)| *path != OWN);
        beside.filter_map(|(path, bytes, _)| Some((RelPath::new(*path).ok()?, Cow::Borrowed(*bytes)))).collect()
    }

    fn materialise(&self) -> Result<(), FilesError> {
        let changed = self.files.iter().find(|(_, bytes, digest)| Digest::of(bytes).as_bytes() != digest);
        if let Some((path, ..)) = changed {
            let message = format!("`{}/{path}` is not what was built into the program", self.name);
            return Err(FilesError { message, help: Some("install the program anew".to_owned()) });
        }
        let files = self.files.iter().map(|(path, bytes, _)| (*path, *bytes));
        match &self.place {
            BundledPlace::Process(extraction) => {
                extraction.extract(self.name, files).map(drop).map_err(|error| failed(&error, error.help()))
            }
            BundledPlace::Store(path) => {
                let store = PackStore::open_ambient(path);
                let done = store.and_then(|store| store.materialise_bundled(self.digest(), files));
                done.map(drop).map_err(|error| failed(&error, error.help()))
            }
        }
    }
}

fn failed(error: &dyn std::error::Error, help: Option<String>) -> FilesError {
    FilesError { message: error.to_string(), help }
}
