//! Embeds skills in a program at build time.
//!
//! [`include_skills!`] takes a directory of skills and gives, as plain values that need no other crate, each skill's name and its
//! files with their bytes and their SHA-256 digests:
//!
//! ```text
//! &'static [(&'static str, &'static [(&'static str, &'static [u8], [u8; 32])])]
//! ```
//!
//! Every file is tracked by the build, so that a change to one builds the program anew. A file that is added is seen when the crate
//! is built for another reason; a build script with `cargo::rerun-if-changed=DIR` makes it one.
//!
//! Must not: follow a link, read what is outside the directory, or leave a file out without a word.

#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![expect(
    clippy::disallowed_methods,
    reason = "a macro reads the sources of the crate that is built, as the compiler does"
)]

use proc_macro::{TokenStream, TokenTree};
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Directories inside one another.
const MAX_DEPTH: usize = 16;

/// What an embedded directory is.
const TYPE: &str = "&'static [(&'static ::core::primitive::str, \
    &'static [(&'static ::core::primitive::str, &'static [::core::primitive::u8], [::core::primitive::u8; 32])])]";

/// Embeds the skills of a directory, named from the crate's own: `include_skills!("skills")`. Each directory in it with a
/// `SKILL.md` is a skill, and a directory without one is a mistake.
///
/// ```
/// let skills = skillgate_bundle_macros::include_skills!("tests/skills");
/// let (name, files) = skills[0];
/// assert_eq!((name, files[0].0), ("greet", "SKILL.md"));
/// ```
#[proc_macro]
pub fn include_skills(input: TokenStream) -> TokenStream {
    let root = std::env::var_os("CARGO_MANIFEST_DIR").ok_or_else(|| "the crate's directory is not known".to_owned());
    let expanded = directory(input).and_then(|named| embed(Path::new(&root?), &named));
    let tokens = expanded.unwrap_or_else(|message| format!("::core::compile_error!({message:?})"));
    tokens.parse().unwrap_or_else(|_| TokenStream::new())
}

/// The one argument, a plain string.
fn directory(input: TokenStream) -> Result<String, String> {
    let wanted = "`include_skills!` takes one directory as a string: `include_skills!(\"skills\")`";
    let mut tokens = input.into_iter();
    let (Some(TokenTree::Literal(literal)), None) = (tokens.next(), tokens.next()) else {
        return Err(wanted.to_owned());
    };
    let text = literal.to_string();
    let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    inner.filter(|inner| !inner.contains('\\')).map(str::to_owned).ok_or_else(|| wanted.to_owned())
}

fn embed(root: &Path, named: &str) -> Result<String, String> {
    // A constant with its type, so that slices of any length and the numbers of digests become what they are.
    let mut out = format!("{{ const SKILLS: {TYPE} = &[");
    let crate_ = Crate { root };
    for (name, path, is_directory) in crate_.entries(&root.join(named))? {
        let shown = crate_.shown(&path);
        if !is_directory {
            return Err(format!("`{shown}` is no skill: a skill is a directory with a SKILL.md"));
        }
        let mut files = Vec::new();
        crate_.collect(&path, "", 0, &mut files)?;
        if !files.iter().any(|(path, _)| path == "SKILL.md") {
            return Err(format!("`{shown}` has no SKILL.md, which makes a directory a skill"));
        }
        // The skill's own file first, the others by their paths.
        files.sort_by(|(a, _), (b, _)| (a != "SKILL.md", a).cmp(&(b != "SKILL.md", b)));
        let _infallible = write!(out, "({name:?}, &[");
        for (below, path) in files {
            let shown = crate_.shown(&path);
            let bytes = fs::read(&path).map_err(|error| format!("`{shown}` cannot be read: {error}"))?;
            let digest: [u8; 32] = Sha256::digest(&bytes).into();
            let path = path.to_str().ok_or_else(|| format!("`{shown}` is not UTF-8"))?;
            // The slice has to be spelled out: each file is an array of another length.
            let _infallible = write!(
                out,
                "({below:?}, ::core::include_bytes!({path:?}) as &'static [::core::primitive::u8], {digest:?}),"
            );
        }
        out.push_str("]),");
    }
    out.push_str("]; SKILLS }");
    Ok(out)
}

/// The crate that is built, whose files are named from its own directory.
struct Crate<'r> {
    root: &'r Path,
}

impl Crate<'_> {
    fn shown(&self, path: &Path) -> String {
        path.strip_prefix(self.root).unwrap_or(path).display().to_string()
    }

    /// Every file below a skill's directory, by its path from there.
    fn collect(
        &self,
        directory: &Path,
        prefix: &str,
        depth: usize,
        files: &mut Vec<(String, PathBuf)>,
    ) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err(format!("`{}` is deeper than {MAX_DEPTH} directories", self.shown(directory)));
        }
        for (name, path, is_directory) in self.entries(directory)? {
            let below = format!("{prefix}{name}");
            if is_directory {
                self.collect(&path, &format!("{below}/"), depth + 1, files)?;
            } else {
                files.push((below, path));
            }
        }
        Ok(())
    }

    /// What stands in a directory, by name: files and directories, and nothing else.
    fn entries(&self, directory: &Path) -> Result<Vec<(String, PathBuf, bool)>, String> {
        let failed = |error: std::io::Error| format!("`{}` cannot be read: {error}", self.shown(directory));
        let mut entries = Vec::new();
        for entry in fs::read_dir(directory).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let (path, kind) = (entry.path(), entry.file_type().map_err(failed)?);
            let shown = self.shown(&path);
            let name = entry.file_name().into_string().map_err(|_| format!("`{shown}` is not UTF-8"))?;
            if kind.is_symlink() || !(kind.is_file() || kind.is_dir()) {
                return Err(format!("`{shown}` is neither a file nor a directory; a link is not followed"));
            }
            entries.push((name, path, kind.is_dir()));
        }
        entries.sort();
        Ok(entries)
    }
}

#[cfg(test)]
mod tests;
