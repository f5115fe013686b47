use crate::NamePattern;
use skillgate_core::{Profile, Version};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// What the host decided about the skills as a whole.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CatalogueOptions {
    /// Decides over the order of the sources.
    pub profile: Profile,
    /// Whether the host trusts the project; without, its skills are listed, shadow nothing and are never offered.
    pub trusted_project: bool,
    /// The directories of the plugins that the host trusts; skills of another one are listed, take no name and are never offered.
    pub trusted_plugins: BTreeSet<PathBuf>,
    /// Names that lead to commands of the host's own: a skill of such a name is called in full.
    pub reserved: BTreeSet<String>,
    /// Skills that the policy switches off.
    pub disabled: Vec<NamePattern>,
    /// The only skills that the policy does not switch off: one has to be in each of these lists.
    pub only: Vec<Vec<NamePattern>>,
    /// The version of Skillgate, which skills may require.
    pub version: Version,
    /// Programs that skills require and nothing provides.
    pub missing_programs: BTreeSet<String>,
    /// Tools that skills require and the host does not have.
    pub missing_tools: BTreeSet<String>,
    /// The directories of skills in the order of their nearness, as the loader gives them. Decides between skills of one
    /// source and kind; a skill below none of them comes last.
    pub root_order: Vec<PathBuf>,
}
