use super::expand::{Expanded, Field, Piece, compile};
use super::{Eval, Shell, stopped};
use crate::run::{Bound, Stop};
use skillgate_policy::{Provenance, Word};

/// Names one directory may have.
const MAX_ENTRIES: usize = 65_536;

impl Shell<'_> {
    /// Adds a field to a vector: the names that it matches when it is a pattern that matches something, else its text.
    pub(super) fn globbed(&mut self, field: Field, vector: &mut Vec<Expanded>) -> Eval<()> {
        let active = is_active(&field.pieces);
        let names = if active { self.matching(&field.pieces)? } else { Vec::new() };
        if names.is_empty() {
            vector.push(Expanded::of(&field));
        }
        let produced = |text| Expanded { word: Word { text, provenance: Provenance::Expansion }, produced: true };
        vector.extend(names.into_iter().map(produced));
        Ok(())
    }

    fn matching(&mut self, pieces: &[Piece]) -> Eval<Vec<String>> {
        let limit = self.shared.run.limits().glob_results;
        let too_many = || stopped("a glob", Stop::Bound(Bound::GlobResults(limit)));
        // Paths as they will be written, each with a slash at its end until the last component is added.
        let mut paths = vec![String::new()];
        let components = components(pieces);
        for (index, component) in components.iter().enumerate() {
            self.shared.run.check().map_err(|stop| stopped("a glob", stop))?;
            let last = index + 1 == components.len();
            let slash = if last { "" } else { "/" };
            let mut next = Vec::new();
            for path in &paths {
                if !is_active(component) {
                    let text: String = component.iter().map(unescaped).collect();
                    let candidate = format!("{path}{text}");
                    // A slash at the end matches what is a directory.
                    let there = if text.is_empty() { self.is_directory(&candidate) } else { self.exists(&candidate) };
                    if !last || there {
                        next.push(format!("{candidate}{slash}"));
                    }
                    continue;
                }
                let Ok(pattern) = compile(component) else { return Ok(Vec::new()) };
                let hidden_too = component.iter().find(|piece| !piece.text.is_empty());
                let hidden_too = hidden_too.is_some_and(|piece| piece.text.starts_with('.'));
                self.shared.run.check().map_err(|stop| stopped("a glob", stop))?;
                for (name, is_directory) in self.directory_entries(path) {
                    if (hidden_too || !name.starts_with('.')) && pattern.matches(&name) && (last || is_directory) {
                        next.push(format!("{path}{name}{slash}"));
                    }
                }
                if next.len() as u64 > limit {
                    return Err(too_many().into());
                }
            }
            paths = next;
        }
        paths.sort_unstable();
        Ok(paths)
    }

    pub(super) fn exists(&self, path: &str) -> bool {
        let rules = self.shared.gate.paths();
        let located = self.shared.scene.mounts.locate(&self.absolute(path));
        located.is_some_and(|located| located.metadata(rules, false).is_ok())
    }

    fn is_directory(&self, path: &str) -> bool {
        let located = self.shared.scene.mounts.locate(&self.absolute(path));
        let metadata = located.and_then(|located| located.metadata(self.shared.gate.paths(), true).ok());
        metadata.is_some_and(|metadata| metadata.is_dir())
    }

    /// The names in a directory, each with whether it is a directory or a link to one.
    fn directory_entries(&self, path: &str) -> Vec<(String, bool)> {
        let rules = self.shared.gate.paths();
        let absolute = self.absolute(path);
        let Some(located) = self.shared.scene.mounts.locate(&absolute) else { return Vec::new() };
        let entries = located.entries(rules, MAX_ENTRIES).unwrap_or_default();
        let is_directory = |name: &str, kind: cap_std::fs::FileType| {
            kind.is_dir()
                || (kind.is_symlink()
                    && self
                        .shared
                        .scene
                        .mounts
                        .locate(&format!("{absolute}/{name}"))
                        .and_then(|located| located.metadata(rules, true).ok())
                        .is_some_and(|metadata| metadata.is_dir()))
        };
        entries
            .into_iter()
            .map(|(name, kind)| {
                let directory = is_directory(&name, kind);
                (name, directory)
            })
            .collect()
    }
}

/// The text of a piece. A backslash that an expansion brought takes the meaning of the next character, as in a pattern.
fn unescaped(piece: &Piece) -> String {
    if piece.quoted || !piece.text.contains('\\') {
        return piece.text.clone();
    }
    let mut text = String::with_capacity(piece.text.len());
    let mut chars = piece.text.chars();
    while let Some(c) = chars.next() {
        text.push(if c == '\\' { chars.next().unwrap_or(c) } else { c });
    }
    text
}

/// Whether a character of a pattern is active. A backslash in it, which only an expansion can bring, takes that away.
fn is_active(component: &[Piece]) -> bool {
    component.iter().filter(|piece| !piece.quoted).any(|piece| {
        let mut escaped = false;
        piece.text.chars().any(|c| {
            let active = !escaped && matches!(c, '*' | '?' | '[');
            escaped = !escaped && c == '\\';
            active
        })
    })
}

/// Splits a pattern at its slashes, quoted or not.
fn components(pieces: &[Piece]) -> Vec<Vec<Piece>> {
    let mut components = vec![Vec::new()];
    for piece in pieces {
        for (index, text) in piece.text.split('/').enumerate() {
            if index > 0 {
                components.push(Vec::new());
            }
            if let Some(component) = components.last_mut() {
                component.push(Piece { text: text.to_owned(), quoted: piece.quoted });
            }
        }
    }
    components
}
