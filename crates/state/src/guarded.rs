use crate::{StateError, platform};
use std::io::Read;
use std::path::Path;

/// Reads a file that decides over authority, and that a person may have written: a policy. `None` when it is not there.
///
/// The file has to belong to the effective user or to root and may be written by nobody else, and the same holds for every
/// directory and link on the way, as for [`OwnerDir::open_ambient`](crate::OwnerDir::open_ambient); whoever may read it does
/// not matter. Links are followed, since people keep their configuration in another place. Nothing is created. Never blocks,
/// whatever stands there.
///
/// # Errors
/// [`StateError::Writable`] or [`StateError::UnsafeParent`] when somebody else could have written it,
/// [`StateError::NotRegular`], [`StateError::TooLarge`] above `max` bytes (nothing is cut), [`StateError::Unsupported`] where
/// the platform has no such checks, or [`StateError::Io`].
pub fn read_guarded_ambient(path: impl AsRef<Path>, max: u64) -> Result<Option<Vec<u8>>, StateError> {
    let given = path.as_ref();
    let path = std::path::absolute(given).map_err(|error| StateError::io("find", given, error))?;
    let Some((file, real)) = platform::open_guarded(&path)? else { return Ok(None) };
    let mut bytes = Vec::new();
    file.take(max.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| StateError::io("read", &real, error))?;
    if bytes.len() as u64 > max {
        return Err(StateError::TooLarge { path: real, limit: max });
    }
    Ok(Some(bytes))
}
