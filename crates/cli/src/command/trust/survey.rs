//! What a project or a plugin has in front of the host now.

use crate::args::Global;
use crate::context::plugin_roots;
use crate::exit::Failure;
use skillgate_core::{Guarded, LoadedFrom, Rights, Skill, Source};
use skillgate_format::{Document, Fields, ReadOptions, Template, TemplateOptions, Values};
use skillgate_loader::{
    ContentFault, Discovery, LoadOptions, SkillContent, SkillRoot, SkillRoots, discover_roots_ambient, project_ambient,
};
use skillgate_policy::file::Policy;
use skillgate_runtime::OpenError;
use skillgate_state::{FolderId, TrustedFile, TrustedSkill};
use std::path::{Path, PathBuf};

/// A project or a plugin with its skills.
pub(super) struct Survey {
    pub(super) root: PathBuf,
    pub(super) id: FolderId,
    pub(super) skills: Vec<Surveyed>,
    /// Skills that cannot be read, with the reason.
    pub(super) unreadable: Vec<(String, String)>,
}

/// What trust is given to: the folder of a project or of a plugin.
struct Place {
    root: PathBuf,
    id: FolderId,
    /// Where its skills are.
    roots: Vec<SkillRoot>,
}

impl Place {
    /// The plugin in the directory where there is one, else the project that the directory belongs to.
    fn of(global: &Global, policy: &Policy, directory: &Path) -> Result<Self, Failure> {
        let home = global.home();
        let project = project_ambient(directory, home.as_deref()).map_err(OpenError::from)?;
        let is_here = |root: &SkillRoot| root.plugin.as_ref().is_some_and(|plugin| plugin.root == project.path);
        let of_plugin: Vec<SkillRoot> = plugin_roots(global, policy)?.into_iter().filter(is_here).collect();
        let root = if of_plugin.is_empty() { project.root } else { project.path };
        // The identity first: what is read afterwards is checked against it when the trust is kept.
        let id = FolderId::of_ambient(&root)?;
        let roots = if of_plugin.is_empty() {
            let discovery = Discovery { project: Some(root.clone()), home, ..Discovery::default() };
            let found = discover_roots_ambient(&discovery).map_err(OpenError::from)?;
            found.roots.into_iter().filter(|root| root.source == Source::Project).collect()
        } else {
            of_plugin
        };
        Ok(Self { root, id, roots })
    }
}

/// One skill of the project.
pub(super) struct Surveyed {
    pub(super) skill: Skill,
    /// Its file, from the project's root.
    pub(super) path: String,
    /// All of it, or why it has no content that a right could be bound to.
    pub(super) content: Result<SkillContent, ContentFault>,
    pub(super) asks: Asks,
}

/// What a skill asks for, for people to look at.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Asks {
    /// The entries of `allowed-tools`; `None` when the key is absent.
    pub(super) tools: Option<Vec<String>>,
    /// The hooks, each with its event.
    pub(super) hooks: Vec<String>,
    /// The commands in its text.
    pub(super) injections: Vec<String>,
}

impl Survey {
    /// Looks at the plugin in a directory, or at the project that the directory belongs to.
    pub(super) fn of(global: &Global, policy: &Policy, directory: &Path) -> Result<Self, Failure> {
        let Place { root, id, roots } = Place::of(global, policy, directory)?;
        let roots = SkillRoots::open_ambient(roots);
        let limits = policy.limits();
        let options = LoadOptions {
            profile: policy.profile.value,
            max_file_bytes: limits.skill_file_bytes,
            max_header_bytes: limits.header_bytes,
            ..LoadOptions::default()
        };
        let loaded = roots.load(&options);
        let mut skills = Vec::new();
        let mut unreadable: Vec<(String, String)> =
            loaded.failures.into_iter().map(|failure| (failure.name, failure.diagnostic.message)).collect();
        for skill in loaded.skills {
            let components: Option<Vec<&str>> =
                skill.path.strip_prefix(&root).ok().and_then(|path| path.iter().map(|part| part.to_str()).collect());
            match components {
                Some(components) => {
                    let content = roots.content(&skill, &options);
                    let own = roots.read(&skill, &options).map(|own| asks(&own, skill.loaded_from));
                    let asks = own.unwrap_or_default();
                    skills.push(Surveyed { path: components.join("/"), content, asks, skill });
                }
                None => unreadable.push((skill.id.command.to_string(), "its path is not text".to_owned())),
            }
        }
        skills.sort_by(|a, b| a.path.cmp(&b.path));
        unreadable.sort();
        Ok(Self { root, id, skills, unreadable })
    }
}

impl Survey {
    /// The bytes of every file that is accepted.
    pub(super) fn bytes(&self) -> impl Iterator<Item = &[u8]> {
        let contents = self.skills.iter().filter_map(|skill| skill.content.as_ref().ok());
        contents.flat_map(|content| &content.files).map(|file| file.bytes.as_slice())
    }
}

impl Surveyed {
    pub(super) fn name(&self) -> &str {
        self.skill.id.command.as_str()
    }

    /// Whether a person calls it so: a plugin's skill with the plugin's name before its own, or without.
    pub(super) fn is_named(&self, name: &str) -> bool {
        let plugin = self.skill.plugin.as_ref().map(|plugin| plugin.name.as_str());
        let own = plugin.and_then(|plugin| self.name().strip_prefix(plugin)?.strip_prefix(':'));
        self.name() == name || own == Some(name)
    }

    /// The skill as it is accepted, without rights; `None` when it cannot be read whole.
    pub(super) fn accepted(&self) -> Option<TrustedSkill> {
        let content = self.content.as_ref().ok()?;
        let file = |file: &skillgate_loader::ContentFile| TrustedFile { path: file.path.clone(), digest: file.digest };
        Some(TrustedSkill {
            path: self.path.clone(),
            content: content.digest,
            rights: Rights::NONE,
            files: content.files.iter().map(file).collect(),
        })
    }
}

/// What a skill's file asks for.
pub(super) fn asks(bytes: &[u8], loaded_from: LoadedFrom) -> Asks {
    let document = Document::read(bytes, &ReadOptions { loaded_from, ..ReadOptions::default() });
    let header = document.frontmatter();
    let tools = match &header.allowed_tools {
        Guarded::Absent => None,
        Guarded::Present(entries) => Some(entries.value.iter().map(|entry| entry.value.clone()).collect()),
        Guarded::Unreadable(_) => Some(vec!["(cannot be read)".to_owned()]),
    };
    let fields = serde_json::to_value(Fields(header)).unwrap_or_default();
    let hooks = match (&fields["hooks"], header.hooks.is_absent()) {
        (_, true) => Vec::new(),
        (serde_json::Value::Object(events), _) => {
            events.iter().map(|(event, hook)| format!("{event}: {hook}")).collect()
        }
        (other, _) => vec![other.to_string()],
    };
    let body = document.body();
    let template = Template::parse(&body, &TemplateOptions::default());
    let filled = template.fill(&Values::default());
    let injections = filled.injections().iter().map(|injection| injection.source.clone()).collect();
    Asks { tools, hooks, injections }
}
