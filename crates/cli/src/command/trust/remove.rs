//! `skillgate trust remove DIR|--all`

use crate::args::{Format, Global, TrustRemoveVerb};
use crate::exit::{Failure, Status};
use crate::output::TrustRemoveOutput;
use crate::{audit, policy, text, trust};
use skillgate_loader::project_ambient;
use skillgate_state::FolderId;
use std::path::{Path, PathBuf};

pub(crate) fn run(global: &Global, verb: &TrustRemoveVerb) -> Result<Status, Failure> {
    let policy = policy::in_force(global)?.policy;
    let store = trust::store(global, &policy)?;
    let named = verb.dir.as_deref().map(|dir| Named::of(global, dir));
    let removed = store.update(&[], |records| {
        let matches = |path: &str, identity: &FolderId| named.as_ref().is_none_or(|it| it.means(path, identity));
        let (removed, kept) = std::mem::take(records)
            .into_iter()
            .partition(|record| matches(&record.identity.folder.path, &record.identity));
        *records = kept;
        let removed: Vec<skillgate_state::TrustRecord> = removed;
        removed.into_iter().map(|record| record.identity.folder.path).collect::<Vec<_>>()
    })?;
    audit::trust(global, &policy, &removed, false)?;
    if let (true, Some(dir)) = (removed.is_empty(), &verb.dir) {
        return Err(Failure::NotTrusted(dir.clone()));
    }
    if global.format == Format::Json {
        text::json(&TrustRemoveOutput { removed })?;
    } else {
        for folder in &removed {
            text::human(&format!("not trusted any more: {}\n", text::escaped(folder)));
        }
    }
    Ok(Status::Done)
}

/// A folder that a person names: as written, as it is now, and the project it belongs to.
struct Named {
    paths: Vec<PathBuf>,
    now: Option<FolderId>,
}

impl Named {
    fn of(global: &Global, dir: &Path) -> Self {
        let root = project_ambient(dir, global.home().as_deref()).map(|project| project.root).ok();
        let now = root.as_ref().and_then(|root| FolderId::of_ambient(root).ok());
        let paths = [std::path::absolute(dir).ok(), dir.canonicalize().ok(), root].into_iter().flatten().collect();
        Self { paths, now }
    }

    /// Also a record of another working tree: as long as one covers the folder, it is trusted.
    fn means(&self, path: &str, identity: &FolderId) -> bool {
        self.paths.iter().any(|named| named == Path::new(path))
            || self.now.as_ref().is_some_and(|now| identity.covers(now))
    }
}
