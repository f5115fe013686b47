use super::expand::{Expanded, Field, Piece, compile};
use super::{Eval, Shell, stopped};
use crate::run::{Bound, Stop};
use skillgate_policy::{Provenance, Word};

/// Names one directory may have.
const MAX_ENTRIES: usize = 65_536;

impl Shell<'_> {
    /// Adds a field to a vector: the names that it matches when it is a pattern that matches something, else its text.
    pub(super) fn globbed(&mut self, field: Field, vector: &mut Vec<Expanded>) -> Eval<()> {
        let active = field.pieces.iter().any(|piece| !piece.quoted && piece.text.contains(['*', '?', '[']));
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
                    let text: String = component.iter().map(|piece| piece.text.as_str()).collect();
                    let candidate = format!("{path}{text}");
                    if !last || text.is_empty() || self.exists(&candidate) {
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

fn is_active(component: &[Piece]) -> bool {
    component.iter().any(|piece| !piece.quoted && piece.text.contains(['*', '?', '[']))
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
