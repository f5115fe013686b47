//! What decides over skills when they are found, kept for those that are found later.

use crate::load::Base;
use skillgate_core::{Profile, Skill, Version};
use skillgate_exec::Executor;
use skillgate_registry::{CatalogueOptions, NamePattern};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What a host decided about the skills as a whole.
#[derive(Debug)]
pub(crate) struct Deciding {
    pub(crate) profile: Profile,
    /// Skills that the policy switches off.
    pub(crate) disabled: Vec<NamePattern>,
    /// The only ones that it does not.
    pub(crate) only: Vec<Vec<NamePattern>>,
    pub(crate) trusted_project: bool,
    /// The names of the host's own commands.
    pub(crate) reserved: BTreeSet<String>,
    /// Knows which programs there are.
    pub(crate) executor: Arc<dyn Executor>,
    /// The tools of the host, when it says.
    pub(crate) tools: Option<BTreeSet<String>>,
}

impl Deciding {
    /// The catalogue's options for these skills among those of `base`: which of the programs and tools that they require are not
    /// there.
    pub(crate) fn options(&self, skills: &[Skill], base: &Base) -> CatalogueOptions {
        let required = skills.iter().filter_map(|skill| skill.frontmatter.requires().as_ref());
        let programs = required.clone().flat_map(|requires| &requires.programs).map(|field| field.value.clone());
        let tools = required.flat_map(|requires| &requires.tools).map(|field| field.value.clone());
        CatalogueOptions {
            // The package's version has three numbers, or nothing is built.
            version: Version::parse(env!("CARGO_PKG_VERSION")).unwrap_or_default(),
            missing_programs: programs.filter(|name| self.executor.provides(name) == Some(false)).collect(),
            missing_tools: match &self.tools {
                Some(known) => tools.filter(|name| !known.contains(name)).collect(),
                None => BTreeSet::new(),
            },
            profile: self.profile,
            disabled: self.disabled.clone(),
            only: self.only.clone(),
            trusted_project: self.trusted_project,
            reserved: self.reserved.clone(),
            trusted_plugins: base.plugins.keys().cloned().collect(),
            root_order: base.root_order.clone(),
        }
    }
}
