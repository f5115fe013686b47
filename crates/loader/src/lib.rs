//! Finds skills and reads them: directories become [`Skill`](skillgate_core::Skill)s, and what cannot be read becomes a
//! [`LoadFailure`](skillgate_core::LoadFailure) with its reason. One bad entry never hides another, and the answer does not
//! depend on the order in which a directory lists its entries.
//!
//! Every file is opened beneath the handle of a directory that a function with `_ambient` in its name opened; links are
//! followed only into the places that [`SkillRoot`] names. The crate must not block on what is not a regular file, must not
//! decide who may use a skill, and neither reads nor keeps bodies that nobody uses: [`SkillRoots::read`] reads one and checks
//! that it still belongs to the header that was loaded.
//!
//! Start at [`discover_roots_ambient`], which knows the places, and [`SkillRoots`], which reads them.
//!
//! ```
//! # let tree = tempfile::tempdir()?;
//! # let project = tree.path().join("project");
//! # std::fs::create_dir_all(project.join(".claude/skills/greet"))?;
//! # std::fs::write(project.join(".claude/skills/greet/SKILL.md"), "---\ndescription: Greets.\n---\nSay hello.\n")?;
//! use skillgate_loader::{Discovery, LoadOptions, SkillRoots, discover_roots_ambient};
//!
//! let found = discover_roots_ambient(&Discovery { project: Some(project), ..Discovery::default() })?;
//! let roots = SkillRoots::open_ambient(found.roots);
//! let options = LoadOptions { max_file_bytes: 1 << 20, max_header_bytes: 1 << 16, ..LoadOptions::default() };
//! let loaded = roots.load(&options);
//! assert_eq!(loaded.skills[0].id.to_string(), "project:greet");
//! assert!(roots.read(&loaded.skills[0], &options)?.ends_with(b"Say hello.\n"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod body;
mod commands;
mod companions;
mod content;
mod dedupe;
mod discover;
mod document;
mod entry;
mod file;
mod find;
mod git;
mod grouped;
mod index;
mod inside;
mod links;
mod listing;
mod load;
mod name;
mod nested;
mod reader;
mod replace;
mod repository;
mod root;
mod skills_dir;
mod sources;
mod stamp;
mod suspect;
mod texts;
#[cfg(feature = "watch")]
mod watch;

pub use body::{BodyError, DecidedText, TextStamp};
pub use content::{ContentFault, ContentFile, SkillContent};
pub use discover::{
    Discovered, Discovery, DiscoveryError, Project, discover_roots_ambient, discover_sources_ambient, project_ambient,
    rediscover_sources_ambient,
};
pub use file::{ReadFault, read_file_ambient, read_file_below_ambient};
pub use find::{SkillFile, find_skill_files_ambient, find_skill_files_watched_ambient};
pub use git::GitUser;
pub use index::HeaderIndex;
pub use load::{Duplicate, LoadOptions, Loaded, PathDiagnostic, load_root_ambient};
pub use nested::{NestedDiscovery, Touched};
pub use replace::{ReplaceFault, replace_file_ambient, replaceable_ambient};
pub use root::{RootKind, SkillRoot, SkillRoots};
pub use sources::{
    BodyCall, BundledSkill, BundledSkills, CallBody, CallBodyError, FilesError, HeldExtras, HeldMark, HeldSkill,
    LazyBody, Locations, SkillFiles, SkillSource,
};
#[cfg(feature = "watch")]
pub use watch::{ChangeKind, SkillChange, SkillWatch, WatchAsk, WatchOptions, WatchStop};
