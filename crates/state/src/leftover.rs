use crate::name::TEMPORARY;
use crate::platform;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// How old an unfinished file must be before it counts as left behind.
pub(crate) const AGE: Duration = Duration::from_secs(60 * 60);

/// Removes files that a killed writer left: own prefix, regular, of this user, older than [`AGE`], locked by nobody.
///
/// Best effort: what cannot be judged or removed stays, and harms nobody, because no reader takes such a name.
pub(crate) fn remove(dir: &platform::DirHandle, path: &Path) {
    for name in dir.names().unwrap_or_default() {
        if name.starts_with(TEMPORARY) && is_left_behind(dir, &name, path) {
            let _ = dir.remove(&name);
        }
    }
}

fn is_left_behind(dir: &platform::DirHandle, name: &str, path: &Path) -> bool {
    // `open_read` checks that it is a regular file of this user that nobody else can reach.
    let Ok(Some(file)) = dir.open_read(name, &path.join(name)) else { return false };
    let age = file
        .metadata()
        .and_then(|metadata| metadata.modified())
        .ok()
        .and_then(|modified| SystemTime::now().duration_since(modified).ok());
    age.is_some_and(|age| age > AGE) && file.try_lock().is_ok()
}
