//! A set of components, and who offers a command in it.

use crate::component::Component;
use skillgate_core::Digest;

/// The components a runtime may run, at most one for each command.
#[derive(Clone, Debug, Default)]
pub struct PackSet {
    components: Vec<Component>,
}

impl PackSet {
    /// The components that were embedded when this crate was built.
    #[must_use]
    pub fn shipped() -> Self {
        Self { components: SHIPPED.iter().map(Shipped::component).collect() }
    }

    /// No component, so no command: for hosts that bring their own.
    #[must_use]
    pub const fn empty() -> Self {
        Self { components: Vec::new() }
    }

    /// All components of the set.
    #[must_use]
    pub fn components(&self) -> &[Component] {
        &self.components
    }

    /// The component that offers `command`, the bare name as argument zero would have it.
    #[must_use]
    pub fn find(&self, command: &str) -> Option<&Component> {
        self.components.iter().find(|component| component.commands().binary_search(&command).is_ok())
    }
}

/// What the build script writes down about one component.
struct Shipped {
    name: &'static str,
    digest: &'static str,
    size: usize,
    commands: &'static [&'static str],
    packed: &'static [u8],
}

impl Shipped {
    fn component(&self) -> Component {
        Component {
            name: self.name,
            digest: digest(self.digest),
            size: self.size,
            commands: self.commands,
            packed: self.packed,
        }
    }
}

fn digest(text: &str) -> Digest {
    text.parse().expect("`cargo xtask guests` writes 64 hexadecimal digits, and a test reads all of them")
}

include!(concat!(env!("OUT_DIR"), "/shipped.rs"));

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn shipped_components_are_whole() {
        let set = PackSet::shipped();
        assert!(!set.components().is_empty());
        for component in set.components() {
            let wasm = component.wasm().expect("the embedded bytes are the recorded ones");
            assert_eq!(wasm.len(), component.size());
            // The preamble of a component, not of a core module: version 13, layer 1.
            assert_eq!(wasm.get(..8), Some(b"\0asm\x0d\0\x01\0".as_slice()));
        }
    }

    #[test]
    fn no_command_is_offered_twice() {
        let set = PackSet::shipped();
        let mut seen = BTreeSet::new();
        for component in set.components() {
            for command in component.commands() {
                assert!(seen.insert(*command), "{command} is offered twice");
                assert_eq!(set.find(command).map(Component::name), Some(component.name()));
            }
        }
    }

    #[test]
    fn the_promised_commands_are_there() {
        let promised = "[ base64 basename cat comm cut date dirname echo false head join ls nl paste printf pwd realpath seq \
            sha256sum sort tac tail tee test tr true uname uniq wc";
        let set = PackSet::shipped();
        let missing: Vec<_> = promised.split_whitespace().filter(|command| set.find(command).is_none()).collect();
        assert_eq!(missing, Vec::<&str>::new());
    }

    #[test]
    fn unknown_names_are_not_found() {
        for name in ["", "coreutils", "WC", "wc ", "/usr/bin/wc"] {
            assert!(PackSet::shipped().find(name).is_none(), "{name:?}");
        }
        assert!(PackSet::empty().find("wc").is_none());
        assert!(PackSet::empty().components().is_empty());
    }
}
