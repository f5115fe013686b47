//! From a file's bytes to a [`Skill`]: the one place that knows the reader of the format.

use crate::LoadOptions;
use crate::entry::ReadSkill;
use skillgate_core::{Digest, LoadedFrom, Skill, SkillId};
use skillgate_format::{Document, ReadOptions};
use std::ffi::OsStr;
use std::path::Path;

pub(crate) fn skill(id: SkillId, loaded_from: LoadedFrom, read: ReadSkill, options: &LoadOptions) -> Skill {
    let bytes = &read.contents.bytes;
    let document = Document::read(bytes, &read_options(loaded_from, &read.path, options));
    let diagnostics = document.diagnostics().to_vec();
    Skill {
        loaded_from,
        digest: Digest::of(bytes),
        bytes: bytes.len() as u64,
        header: document.header_state(),
        label: document.label().to_owned(),
        description: document.description().map(|description| description.text.clone()),
        frontmatter: document.into_frontmatter(),
        path: read.path,
        directory: read.directory,
        diagnostics,
        id,
    }
}

/// What the reader of the format is told about a file at `path`.
pub(crate) fn read_options(loaded_from: LoadedFrom, path: &Path, options: &LoadOptions) -> ReadOptions {
    let text = |name: Option<&OsStr>| name.map(|name| name.to_string_lossy().into_owned());
    ReadOptions {
        profile: options.profile,
        max_file_bytes: options.max_file_bytes,
        max_header_bytes: options.max_header_bytes,
        directory_name: text(path.parent().and_then(Path::file_name)),
        file_name: text(path.file_name()),
        loaded_from,
    }
}
