//! git's configuration, as far as a sandbox sees it: the user's, the repository's, the worktree's, and `-c`. Values that would
//! run a program (filters, hooks, pagers, aliases, external diffs) are printed by `git config` and used by nothing.

use crate::failure::{Failure, Outcome};
use crate::files;
use bstr::{BStr, BString, ByteSlice as _};
use gix_config::file::{Metadata, init};
use gix_config::{File, Source};
use std::path::Path;

/// One variable: `section.subsection.name` with section and name in small letters, and its value, `None` without `=`.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) key: BString,
    pub(crate) value: Option<BString>,
    pub(crate) scope: &'static str,
    pub(crate) origin: String,
}

/// All variables in the order in which they are read; a later one wins.
#[derive(Debug, Default)]
pub(crate) struct Config {
    pub(crate) variables: Vec<Variable>,
}

/// Where included files may be found.
#[derive(Debug)]
pub(crate) struct Conditions<'a> {
    pub(crate) git_dir: Option<&'a Path>,
    pub(crate) branch: Option<&'a BStr>,
}

/// How deep files may include files, as in git.
const MAX_DEPTH: usize = 10;

impl Config {
    /// Adds a file, if it is there, and what it includes.
    pub(crate) fn add_file(&mut self, path: &Path, scope: &'static str, conditions: &Conditions<'_>) -> Outcome {
        self.add_file_at(path, scope, conditions, 0)
    }

    fn add_file_at(&mut self, path: &Path, scope: &'static str, conditions: &Conditions<'_>, depth: usize) -> Outcome {
        if depth > MAX_DEPTH {
            return Err(Failure::Fatal(format!(
                "exceeded maximum include depth ({MAX_DEPTH}) while including\n\t{}",
                path.display()
            )));
        }
        // A file that the sandbox does not show is as good as absent.
        let Ok(Some(content)) = files::read_optional(path) else { return Ok(()) };
        if content.is_empty() {
            return Ok(());
        }
        let parsed = File::from_bytes_no_includes(&content, Metadata::from(Source::Local), init::Options::default())
            .map_err(|_| Failure::Fatal(format!("bad config line in file {}", path.display())))?;
        let origin = format!("file:{}", path.display());
        for section in parsed.sections() {
            let header = section.header();
            let name = header.name().to_ascii_lowercase();
            let prefix = match header.subsection_name() {
                Some(sub) => [name.as_slice(), b".", sub.as_bytes(), b"."].concat(),
                None => [name.as_slice(), b"."].concat(),
            };
            let mut seen: Vec<String> = Vec::new();
            let names: Vec<String> = section.value_names().collect();
            for variable in names {
                let nth = seen.iter().filter(|other| other.eq_ignore_ascii_case(&variable)).count();
                seen.push(variable.clone());
                // `values` has an entry for each occurrence; one without `=` is an empty string there.
                let all = section.values(&variable);
                let implicit = all.len() == 1 && matches!(section.value_implicit(&variable), Some(None));
                let value = if implicit { None } else { Some(all.get(nth).cloned().unwrap_or_default()) };
                let key = [prefix.as_slice(), variable.to_ascii_lowercase().as_bytes()].concat();
                self.variables.push(Variable {
                    key: key.clone().into(),
                    value: value.clone(),
                    scope,
                    origin: origin.clone(),
                });
                if let Some(included) = value.filter(|_| includes(&key, path, conditions)) {
                    let target = resolve(included.as_bstr(), path);
                    self.add_file_at(&target, scope, conditions, depth + 1)?;
                }
            }
        }
        Ok(())
    }

    /// Adds `-c name=value`.
    pub(crate) fn add_argument(&mut self, text: &str) -> Outcome {
        let (key, value) = match text.split_once('=') {
            Some((key, value)) => (key, Some(value)),
            None => (text, None),
        };
        let Some(key) = canonical(key) else {
            return Err(Failure::Message(
                format!("error: key does not contain a section: {key}\nfatal: unable to parse command-line config"),
                128,
            ));
        };
        let value = value.map(BString::from);
        self.variables.push(Variable { key, value, scope: "command", origin: "command line:".into() });
        Ok(())
    }

    /// The last value of a variable; `true` for one without `=`.
    pub(crate) fn string(&self, key: &str) -> Option<&BStr> {
        let last = self.variables.iter().rev().find(|variable| variable.key == key)?;
        Some(last.value.as_ref().map_or(BStr::new(b"true"), |value| value.as_bstr()))
    }

    pub(crate) fn text(&self, key: &str) -> Option<String> {
        self.string(key).map(|value| value.to_string())
    }

    pub(crate) fn all<'a>(&'a self, key: &str) -> impl Iterator<Item = &'a BStr> + use<'a> {
        let key = BString::from(key);
        self.variables
            .iter()
            .filter(move |variable| variable.key == key)
            .filter_map(|variable| Some(variable.value.as_ref()?.as_bstr()))
    }

    /// A truth value; `None` when it is not set or is none.
    pub(crate) fn boolean(&self, key: &str) -> Option<bool> {
        boolean(self.string(key)?)
    }

    pub(crate) fn integer(&self, key: &str) -> Option<i64> {
        integer(self.string(key)?)
    }
}

/// A truth value as git reads it.
pub(crate) fn boolean(value: &BStr) -> Option<bool> {
    match value.to_ascii_lowercase().as_slice() {
        b"true" | b"yes" | b"on" => Some(true),
        b"false" | b"no" | b"off" | b"" => Some(false),
        _ => integer(value).map(|number| number != 0),
    }
}

/// A number with git's units.
pub(crate) fn integer(value: &BStr) -> Option<i64> {
    let text = value.to_str().ok()?.trim();
    let (digits, factor) = match text.char_indices().last()? {
        (at, 'k' | 'K') => (&text[..at], 1 << 10),
        (at, 'm' | 'M') => (&text[..at], 1 << 20),
        (at, 'g' | 'G') => (&text[..at], 1 << 30),
        _ => (text, 1),
    };
    digits.parse::<i64>().ok()?.checked_mul(factor)
}

/// A key with section and name in small letters; `None` when it has no section or no name.
pub(crate) fn canonical(key: &str) -> Option<BString> {
    let (section, rest) = key.split_once('.')?;
    let (sub, name) = rest.rsplit_once('.').map_or((None, rest), |(sub, name)| (Some(sub), name));
    if section.is_empty() || name.is_empty() {
        return None;
    }
    let (section, name) = (section.to_ascii_lowercase(), name.to_ascii_lowercase());
    Some(sub.map_or_else(|| format!("{section}.{name}"), |sub| format!("{section}.{sub}.{name}")).into())
}

fn resolve(included: &BStr, from: &Path) -> std::path::PathBuf {
    if let Some(rest) = included.strip_prefix(b"~/") {
        let home = std::env::var_os("HOME").unwrap_or_default();
        return Path::new(&home).join(files::path(rest));
    }
    from.parent().unwrap_or(from).join(files::path(included))
}

/// Whether the value of this key is a file to include.
fn includes(key: &[u8], from: &Path, conditions: &Conditions<'_>) -> bool {
    if key == b"include.path" {
        return true;
    }
    let Some(condition) = key.strip_prefix(b"includeif.").and_then(|rest| rest.strip_suffix(b".path")) else {
        return false;
    };
    if let Some(pattern) = condition.strip_prefix(b"gitdir:") {
        return git_dir_matches(pattern, from, conditions, gix_glob::wildmatch::Mode::empty());
    }
    if let Some(pattern) = condition.strip_prefix(b"gitdir/i:") {
        return git_dir_matches(pattern, from, conditions, gix_glob::wildmatch::Mode::IGNORE_CASE);
    }
    if let (Some(pattern), Some(branch)) = (condition.strip_prefix(b"onbranch:"), conditions.branch) {
        let mut pattern = BString::from(pattern);
        if pattern.ends_with(b"/") {
            pattern.extend_from_slice(b"**");
        }
        return gix_glob::wildmatch(pattern.as_bstr(), branch, gix_glob::wildmatch::Mode::NO_MATCH_SLASH_LITERAL);
    }
    false
}

fn git_dir_matches(pattern: &[u8], from: &Path, conditions: &Conditions<'_>, mode: gix_glob::wildmatch::Mode) -> bool {
    let Some(git_dir) = conditions.git_dir else { return false };
    let mut pattern: BString = if let Some(rest) = pattern.strip_prefix(b"~/") {
        let home = std::env::var_os("HOME").unwrap_or_default();
        files::bytes(&Path::new(&home).join(files::path(rest)))
    } else if let Some(rest) = pattern.strip_prefix(b"./") {
        files::bytes(&from.parent().unwrap_or(from).join(files::path(rest)))
    } else if pattern.starts_with(b"/") {
        pattern.into()
    } else {
        [b"**/", pattern].concat().into()
    };
    if pattern.ends_with(b"/") {
        pattern.extend_from_slice(b"**");
    }
    let mode = mode | gix_glob::wildmatch::Mode::NO_MATCH_SLASH_LITERAL;
    let path = files::bytes(git_dir);
    // The directory itself, and as the parent of what is in it.
    gix_glob::wildmatch(pattern.as_bstr(), path.as_bstr(), mode)
        || gix_glob::wildmatch(pattern.as_bstr(), [path.as_slice(), b"/"].concat().as_bstr(), mode)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_the_case_of_their_middle() {
        assert_eq!(canonical("Branch.Main.Merge"), Some("branch.Main.merge".into()));
        assert_eq!(canonical("USER.Name"), Some("user.name".into()));
        assert_eq!(canonical("name"), None);
        assert_eq!(canonical("a."), None);
    }

    #[test]
    fn numbers_have_units() {
        assert_eq!(integer(BStr::new("2k")), Some(2048));
        assert_eq!(integer(BStr::new("-1")), Some(-1));
        assert_eq!(integer(BStr::new("x")), None);
        assert_eq!(boolean(BStr::new("On")), Some(true));
        assert_eq!(boolean(BStr::new("0")), Some(false));
        assert_eq!(boolean(BStr::new("maybe")), None);
    }
}
