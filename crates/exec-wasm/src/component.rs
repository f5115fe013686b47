use crate::backend::BackendError;
use crate::inspect::ComponentFault;
use skillgate_core::Digest;
use std::fmt;

/// How a component's bytes are had when they are needed.
type Load = Box<dyn Fn() -> Result<Vec<u8>, String> + Send + Sync>;

/// Who made a component, which decides how it is compiled and what the policy says to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// It came with the program that runs it, whose bytes vouch for it.
    Shipped,
    /// Somebody else: the host's policy names it.
    ThirdParty,
}

/// A `wasi:cli/command` component and the commands it offers. The bytes of a shipped one are asked for only when they have to
/// be compiled, those of a third party in every process that uses it.
pub struct GuestComponent {
    name: String,
    origin: Origin,
    digest: Digest,
    commands: Vec<String>,
    load: Load,
}

impl GuestComponent {
    /// A component that came with the program; `digest` is of the bytes that `load` gives, and is checked when they are compiled.
    ///
    /// The name becomes part of a file's name in the cache, so it holds only what is left of it after everything but ASCII
    /// letters, digits, `-` and `_` is taken out.
    pub fn new<E: fmt::Display>(
        name: &str,
        digest: Digest,
        commands: impl IntoIterator<Item = impl Into<String>>,
        load: impl Fn() -> Result<Vec<u8>, E> + Send + Sync + 'static,
    ) -> Self {
        let name = name.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')).collect();
        let mut commands: Vec<String> = commands.into_iter().map(Into::into).collect();
        commands.sort_unstable();
        let load = Box::new(move || load().map_err(|error| error.to_string()));
        Self { name, origin: Origin::Shipped, digest, commands, load }
    }

    /// A component that somebody else made and the host's policy names. It offers one command, whose name is its own, and is
    /// looked at, and compiled within bounds, before it runs.
    pub fn third_party<E: fmt::Display>(
        command: &str,
        digest: Digest,
        load: impl Fn() -> Result<Vec<u8>, E> + Send + Sync + 'static,
    ) -> Self {
        Self { origin: Origin::ThirdParty, ..Self::new(command, digest, [command], load) }
    }

    /// Who made it.
    #[must_use]
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// Its name in messages and in the cache.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// SHA-256 of its bytes.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// The commands it offers, in the order of their names.
    pub fn commands(&self) -> impl Iterator<Item = &str> {
        self.commands.iter().map(String::as_str)
    }

    /// Whether it offers a command.
    #[must_use]
    pub fn offers(&self, command: &str) -> bool {
        self.commands.binary_search_by(|offered| offered.as_str().cmp(command)).is_ok()
    }

    /// The bytes, when they are those of the digest.
    pub(crate) fn wasm(&self) -> Result<Vec<u8>, BackendError> {
        let wasm = (self.load)().map_err(|reason| BackendError::Unreadable { component: self.name.clone(), reason })?;
        let found = Digest::of(&wasm);
        if found == self.digest {
            return Ok(wasm);
        }
        let fault = ComponentFault::Digest { wanted: self.digest, found };
        Err(BackendError::Component { component: self.name.clone(), fault })
    }
}

impl fmt::Debug for GuestComponent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GuestComponent")
            .field("name", &self.name)
            .field("origin", &self.origin)
            .field("digest", &self.digest)
            .field("commands", &self.commands.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn component(digest: Digest) -> GuestComponent {
        GuestComponent::new("../x y", digest, ["b", "a"], || Ok::<_, String>(b"bytes".to_vec()))
    }

    #[test]
    fn bytes_of_another_digest_are_not_used() {
        assert_eq!(component(Digest::of(b"bytes")).wasm().expect("the digest holds"), b"bytes");
        let (wanted, found) = (Digest::of(b"other"), Digest::of(b"bytes"));
        match component(wanted).wasm() {
            Err(BackendError::Component { fault, .. }) => assert_eq!(fault, ComponentFault::Digest { wanted, found }),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_name_is_no_path_and_commands_are_found() {
        let component = component(Digest::of(b"bytes"));
        assert_eq!(component.name(), "xy");
        assert!(component.offers("a") && component.offers("b") && !component.offers("c"));
    }
}
