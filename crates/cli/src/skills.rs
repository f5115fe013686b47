//! The skills that come with the command, and those of installed packs.

use crate::args::Global;
use crate::command::pack;
use crate::text;
use skillgate_bundle::{LazyExtraction, PackStore};
use skillgate_bundle_macros::include_skills;
use skillgate_loader::SkillSource;
use skillgate_policy::file::Policy;
use skillgate_runtime::{BundledPlace, EmbeddedSkills, InstalledPacks, embedded_skills};
use std::sync::Arc;

/// What stands in `bundled`.
const BUNDLED: EmbeddedSkills = include_skills!("bundled");

/// The environment variable that leaves the bundled skills out.
const WITHOUT: &str = "SKILLGATE_DISABLE_BUNDLED_SKILLS";

/// The sources that are no directories. A store that cannot be used is reported, and its packs are not there.
pub(crate) fn sources(global: &Global, policy: &Policy) -> Vec<Arc<dyn SkillSource>> {
    let mut sources: Vec<Arc<dyn SkillSource>> = Vec::new();
    let directory = pack::directory(global, policy);
    if std::env::var_os(WITHOUT).is_none_or(|value| value.is_empty())
        && let Some(place) = place(directory.as_deref())
    {
        sources.push(Arc::new(embedded_skills(BUNDLED, &place)));
    }
    if let Some(error) = directory.map(PackStore::existing_ambient).and_then(Result::err) {
        text::complain(&format!("skillgate: no pack is used: {}", text::safe(&error.to_string())));
        if let Some(help) = error.help() {
            text::complain(&format!("help: {}", text::safe(&help)));
        }
    } else if let Some(packs) = packs(global, policy) {
        sources.push(packs);
    }
    sources
}

/// The installed packs as a source; their store need not be there.
pub(crate) fn packs(global: &Global, policy: &Policy) -> Option<Arc<dyn SkillSource>> {
    let directory = pack::directory(global, policy)?;
    Some(Arc::new(InstalledPacks::inside(directory)))
}

/// Where the files beside bundled skills are taken. This program's prompts are read when it has ended, so they stay, in the store;
/// without one, in a directory of the process.
fn place(directory: Option<&std::path::Path>) -> Option<BundledPlace> {
    match directory {
        Some(directory) => Some(BundledPlace::Store(directory.to_path_buf())),
        None => LazyExtraction::inside(&std::env::temp_dir()).ok().map(|own| BundledPlace::Process(Arc::new(own))),
    }
}
