use skillgate_core::Digest;
use std::fmt;

/// How a component's bytes are had when they are needed.
type Load = Box<dyn Fn() -> Result<Vec<u8>, String> + Send + Sync>;

/// A `wasi:cli/command` component and the commands it offers. Its bytes are asked for only when they have to be compiled.
pub struct GuestComponent {
    name: String,
    digest: Digest,
    commands: Vec<String>,
    load: Load,
}

impl GuestComponent {
    /// A component of this name; `digest` is of the bytes that `load` gives, and is checked when they are compiled.
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
        Self { name, digest, commands, load: Box::new(move || load().map_err(|error| error.to_string())) }
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

    /// Whether it offers a command.
    #[must_use]
    pub fn offers(&self, command: &str) -> bool {
        self.commands.binary_search_by(|offered| offered.as_str().cmp(command)).is_ok()
    }

    pub(crate) fn wasm(&self) -> Result<Vec<u8>, String> {
        let wasm = (self.load)()?;
        let found = Digest::of(&wasm);
        if found == self.digest { Ok(wasm) } else { Err(format!("its digest is {found}, not {}", self.digest)) }
    }
}

impl fmt::Debug for GuestComponent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GuestComponent")
            .field("name", &self.name)
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
        assert_eq!(component(Digest::of(b"bytes")).wasm(), Ok(b"bytes".to_vec()));
        assert!(component(Digest::of(b"other")).wasm().is_err());
    }

    #[test]
    fn a_name_is_no_path_and_commands_are_found() {
        let component = component(Digest::of(b"bytes"));
        assert_eq!(component.name(), "xy");
        assert!(component.offers("a") && component.offers("b") && !component.offers("c"));
    }
}
