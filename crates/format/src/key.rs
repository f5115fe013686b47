//! The keys that the format defines, and the spellings under which they are met.

use std::borrow::Cow;

/// What a key's value is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// One line or block of text.
    Text,
    /// Several texts, as a list or in one string.
    List,
    /// A truth value.
    Bool,
    /// Something with a shape of its own.
    Other,
}

/// One key of the format.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Key {
    /// The spelling that is written.
    pub(crate) name: &'static str,
    /// What its value is.
    pub(crate) kind: Kind,
    /// Whether it decides over authority, so that it fails closed.
    pub(crate) security: bool,
    /// Whether the open standard has it.
    pub(crate) standard: bool,
}

const fn key(name: &'static str, kind: Kind) -> Key {
    Key { name, kind, security: false, standard: false }
}

const fn security(name: &'static str, kind: Kind) -> Key {
    Key { name, kind, security: true, standard: false }
}

const fn standard(key: Key) -> Key {
    Key { standard: true, ..key }
}

/// Every key, in the order in which they are written.
pub(crate) const KEYS: &[Key] = &[
    standard(key("name", Kind::Text)),
    standard(key("description", Kind::Text)),
    key("when_to_use", Kind::Text),
    key("argument-hint", Kind::Text),
    key("arguments", Kind::List),
    key("version", Kind::Text),
    key("model", Kind::Text),
    security("disable-model-invocation", Kind::Bool),
    security("user-invocable", Kind::Bool),
    standard(security("allowed-tools", Kind::List)),
    security("disallowed-tools", Kind::List),
    security("hooks", Kind::Other),
    key("context", Kind::Text),
    key("agent", Kind::Text),
    key("background", Kind::Bool),
    key("deferred", Kind::Bool),
    key("effort", Kind::Text),
    security("shell", Kind::Other),
    security("paths", Kind::List),
    key("requires", Kind::Other),
    standard(key("license", Kind::Text)),
    standard(key("compatibility", Kind::Text)),
    standard(key("metadata", Kind::Other)),
];

/// The spelling of every key that the format defines, in the order in which they are written.
pub fn known_keys() -> impl Iterator<Item = &'static str> {
    KEYS.iter().map(|key| key.name)
}

/// The key that `written` spells, in whatever case and with whatever separators.
pub(crate) fn find(written: &str) -> Option<&'static Key> {
    if let Some(key) = KEYS.iter().find(|key| key.name == written) {
        return Some(key);
    }
    let letters = || squeezed(written);
    let length = letters().count();
    KEYS.iter().filter(|key| key.name.len() >= length).find(|key| squeezed(key.name).eq(letters()))
}

/// The key that is meant by a name that other programs use for the same thing; edits alone would lead elsewhere.
pub(crate) fn other_name(written: &str) -> Option<&'static Key> {
    let name = match squeeze(written).as_ref() {
        "tool" | "tools" | "toolaccess" | "toollist" | "allowedtool" | "allowtool" | "allowtools" | "toolsallowed"
        | "permittedtools" | "enabledtools" | "availabletools" => "allowed-tools",
        "disallowedtool" | "disallowtools" | "deniedtools" | "denytools" | "blockedtools" | "excludedtools"
        | "disabledtools" | "forbiddentools" => "disallowed-tools",
        _ => return None,
    };
    KEYS.iter().find(|key| key.name == name)
}

/// Lower case without separators.
fn squeeze(name: &str) -> Cow<'_, str> {
    if name.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Cow::Borrowed(name);
    }
    squeezed(name).collect()
}

fn squeezed(name: &str) -> impl Iterator<Item = char> + '_ {
    name.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).map(|c| c.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_finds_its_key() {
        for (written, name) in [
            ("allowed-tools", "allowed-tools"),
            ("allowed_tools", "allowed-tools"),
            ("allowedTools", "allowed-tools"),
            ("Allowed-Tools", "allowed-tools"),
            ("when-to-use", "when_to_use"),
            ("whenToUse", "when_to_use"),
            ("Name", "name"),
        ] {
            assert_eq!(find(written).map(|key| key.name), Some(name), "{written}");
        }
        for written in ["tools", "names", "", "allow-tools"] {
            assert_eq!(find(written), None, "{written}");
        }
        for (written, name) in [
            ("tools", Some("allowed-tools")),
            ("tool_access", Some("allowed-tools")),
            ("allowed_tool", Some("allowed-tools")),
            ("allow-tools", Some("allowed-tools")),
            ("denied-tools", Some("disallowed-tools")),
            ("tooling", None),
            ("hook", None),
        ] {
            assert_eq!(other_name(written).map(|key| key.name), name, "{written}");
        }
    }
}
