//! Loading the skills, when a runtime is opened and whenever it is told to look again.

use crate::trust::TrustedPlugins;
use skillgate_core::{Code, Diagnostic, Severity, Skill, Source};
use skillgate_loader::{
    Discovered, Discovery, DiscoveryError, Duplicate, HeaderIndex, LoadOptions, Loaded, PathDiagnostic, Project,
    SkillRoot, SkillRoots, SkillSource, TextStamp, discover_sources_ambient, rediscover_sources_ambient,
};
use skillgate_state::TrustRecord;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// How a load goes, the same for every one.
#[derive(Debug)]
pub(crate) struct Loading {
    pub(crate) discovery: Discovery,
    pub(crate) sources: Vec<Arc<dyn SkillSource>>,
    pub(crate) options: LoadOptions,
    /// Whether there are skills at all.
    pub(crate) enabled: bool,
    pub(crate) plugins: TrustedPlugins,
    pub(crate) plugin_trust: Option<PluginTrust>,
    pub(crate) headers: Mutex<Option<HeaderIndex>>,
}

/// Gives what the host trusts a directory with.
type AskTrust = dyn Fn(&Path) -> Option<TrustRecord> + Send + Sync;

/// Says whether a plugin's directory is trusted, and how far.
#[derive(Clone)]
pub(crate) struct PluginTrust(Arc<AskTrust>);

impl PluginTrust {
    pub(crate) fn new(trust: impl Fn(&Path) -> Option<TrustRecord> + Send + Sync + 'static) -> Self {
        Self(Arc::new(trust))
    }
}

impl fmt::Debug for PluginTrust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PluginTrust")
    }
}

/// Directories and what was read in them.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) roots: Arc<SkillRoots>,
    /// Of the skills that are files.
    stamps: BTreeMap<PathBuf, TextStamp>,
}

impl Place {
    /// Loads one directory.
    pub(crate) fn load(root: SkillRoot, options: &LoadOptions) -> (Self, Loaded) {
        let roots = SkillRoots::open_ambient([root]);
        let loaded = roots.load(options);
        (Self::of(roots, &loaded), loaded)
    }

    fn of(roots: SkillRoots, loaded: &Loaded) -> Self {
        let paths = loaded.skills.iter().map(|skill| skill.path.clone());
        Self { roots: Arc::new(roots), stamps: paths.zip(loaded.stamps.iter().copied()).collect() }
    }

    /// Whether the skill was read here.
    pub(crate) fn holds(&self, skill: &Skill) -> bool {
        self.roots.iter().any(|root| skill.path.starts_with(&root.path))
    }

    /// The stamp of the skill's file when its header was read; `None` for what is no file.
    pub(crate) fn stamp(&self, skill: &Skill) -> Option<TextStamp> {
        self.stamps.get(&skill.path).copied()
    }
}

/// What the places hold that all conversations share.
#[derive(Debug)]
pub(crate) struct Base {
    pub(crate) place: Place,
    pub(crate) root_order: Vec<PathBuf>,
    /// The trusted plugins among those that were found.
    pub(crate) plugins: TrustedPlugins,
    pub(crate) diagnostics: Vec<PathDiagnostic>,
    /// Further ways to files that were loaded once.
    pub(crate) duplicates: Vec<Duplicate>,
}

impl Loading {
    /// Finds and loads the skills for the first time.
    pub(crate) fn first(&self) -> Result<(Base, Loaded, Option<Project>), DiscoveryError> {
        let found = discover_sources_ambient(&self.discovery, &self.sources)?;
        let project = found.project.clone();
        let (base, loaded) = self.load(found);
        Ok((base, loaded, project))
    }

    /// Finds and loads them again, for a runtime of this project.
    pub(crate) fn again(&self, project: Option<&Project>) -> Result<(Base, Loaded), DiscoveryError> {
        let mut found = rediscover_sources_ambient(&self.discovery, &self.sources)?;
        if let Some(project) = project {
            stay_inside(&mut found, project);
        }
        Ok(self.load(found))
    }

    fn load(&self, found: Discovered) -> (Base, Loaded) {
        let span =
            tracing::info_span!("skillgate.load", skills = tracing::field::Empty, broken = tracing::field::Empty);
        let _entered = span.enter();
        let Discovered { roots, diagnostics: mut findings, .. } = found;
        let root_order = roots.iter().map(|root| root.path.clone()).collect();
        let plugins = self.trusted(&roots);
        let open = SkillRoots::open_ambient(roots);
        let roots = self.sources.iter().fold(open, |roots, source| roots.with_texts_of(source.as_ref()));
        let mut headers = self.headers.lock().unwrap_or_else(PoisonError::into_inner);
        let mut loaded = match &mut *headers {
            _ if !self.enabled => Loaded::default(),
            None => roots.load(&self.options),
            Some(headers) => {
                let loaded = roots.load_indexed(&self.options, headers);
                if let Err(error) = headers.save() {
                    // The next load reads again what this one has read.
                    tracing::warn!(name: "skillgate.headers_lost", %error, "the headers that were read are not kept");
                }
                loaded
            }
        };
        drop(headers);
        span.record("skills", loaded.skills.len()).record("broken", loaded.failures.len());
        findings.append(&mut loaded.diagnostics);
        let duplicates = std::mem::take(&mut loaded.duplicates);
        (Base { place: Place::of(roots, &loaded), root_order, plugins, diagnostics: findings, duplicates }, loaded)
    }

    /// The trusted plugins, those among them that the host is asked about.
    fn trusted(&self, roots: &[SkillRoot]) -> TrustedPlugins {
        let mut trusted = self.plugins.clone();
        let Some(PluginTrust(trust)) = &self.plugin_trust else { return trusted };
        let mut asked: Option<&Path> = None;
        for plugin in roots.iter().filter_map(|root| root.plugin.as_ref()) {
            // A plugin's roots follow each other.
            if asked.replace(&plugin.root) == Some(&plugin.root) || trusted.contains_key(&plugin.root) {
                continue;
            }
            if let Some(record) = trust(&plugin.root) {
                trusted.insert(plugin.root.clone(), Some(record));
            }
        }
        trusted
    }
}

/// Leaves out what would be the project's only because its root moved outwards since the runtime was opened: the host's trust is of
/// the root as it was.
fn stay_inside(found: &mut Discovered, project: &Project) {
    let moved = found.project.as_ref().is_some_and(|now| !now.root.starts_with(&project.root));
    if !moved {
        return;
    }
    let is_outside = |root: &SkillRoot| root.source == Source::Project && !root.path.starts_with(&project.root);
    found.roots.retain(|root| !is_outside(root));
    for root in found.roots.iter_mut().filter(|root| root.source == Source::Project) {
        root.link_roots = vec![project.root.clone()];
    }
    let message =
        "the project's root is further out than when its skills were loaded first; what lies outside is not taken in";
    let diagnostic = Diagnostic::new(Code::FileUnreadable, message).severity(Severity::Warning);
    found
        .diagnostics
        .push(PathDiagnostic { path: project.root.clone(), diagnostic: diagnostic.help("begin anew to take it in") });
}
