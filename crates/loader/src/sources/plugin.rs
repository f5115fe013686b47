//! Plugins: directories with `.claude-plugin/plugin.json`, by themselves or through a marketplace that is on the disk.
//!
//! Nothing is fetched, and a manifest names only what lies in its own directory.

use super::{Locations, SkillSource};
use crate::discover::{Discovered, DiscoveryError};
use crate::file;
use crate::find::is_escape;
use crate::load::PathDiagnostic;
use crate::root::{RootKind, SkillRoot, canonicalize_ambient, is_link};
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use serde_json::Value;
use skillgate_core::{Code, CommandName, Diagnostic, Plugin, RelPath, Severity, Source};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// The file that makes a directory a plugin.
const MANIFEST: &str = ".claude-plugin/plugin.json";
/// The file that lists the plugins of a marketplace.
const MARKETPLACE: &str = ".claude-plugin/marketplace.json";
/// Directories of the plugins directory that are no plugins.
const NOT_PLUGINS: [&str; 4] = ["cache", "data", "marketplaces", "repos"];
/// Bytes of a manifest, a marketplace, or a list of plugins.
const MAX_BYTES: u64 = 1 << 20;
/// Plugins that are looked at; more are reported, not read.
const MAX_PLUGINS: usize = 1_000;
/// The way out for a place that cannot be used.
const UNREADABLE: &str = "make it a readable directory, or remove it";

/// The plugins of the user's configuration, and those among the directories that were named for this run.
///
/// - `<config>/plugins/NAME` with a manifest;
/// - what `<config>/plugins/installed_plugins.json` lists, unless `enabledPlugins` of the user's settings switches it off;
/// - what a marketplace in `<config>/plugins/marketplaces` holds and `enabledPlugins` switches on (`NAME@MARKETPLACE`);
/// - a directory of `--add-dir` with a manifest.
#[derive(Debug)]
pub(super) struct InstalledPlugins;

impl SkillSource for InstalledPlugins {
    fn source(&self) -> Source {
        Source::Plugin
    }

    fn roots_ambient(&self, places: &Locations, found: &mut Discovered) -> Result<(), DiscoveryError> {
        let mut search = Search { directories: Vec::new(), found };
        if let Some(config) = &places.config {
            search.installed(config);
        }
        search.directories.extend(places.additional.iter().filter(|path| is_plugin(path)).cloned());
        let data = places.config.as_ref().map(|config| config.join("plugins/data"));
        search.read(data.as_deref());
        Ok(())
    }
}

/// Plugins that were found, and what was found about them.
struct Search<'f> {
    /// Their directories, in the order in which they take a name.
    directories: Vec<PathBuf>,
    found: &'f mut Discovered,
}

impl Search<'_> {
    fn report(&mut self, path: PathBuf, diagnostic: Diagnostic) {
        self.found.diagnostics.push(PathDiagnostic { path, diagnostic });
    }

    /// Reports something that keeps a plugin out and nothing else.
    fn warn(&mut self, path: PathBuf, message: String, help: &str) {
        let finding = Diagnostic::new(Code::FileUnreadable, message).severity(Severity::Warning);
        self.report(path, finding.help(help));
    }

    /// Reports a place once that is there and cannot be used.
    fn unreadable(&mut self, path: &Path, error: &io::Error) {
        let is_known = self.found.diagnostics.iter().any(|found| found.path == path);
        if error.kind() != io::ErrorKind::NotFound && !is_known {
            self.warn(path.to_path_buf(), format!("plugins are not found here: {error}"), UNREADABLE);
        }
    }

    /// The handle of a directory, which is missing without a word unless a link stands there.
    fn opened(&mut self, path: &Path, opened: io::Result<Dir>, is_link: bool) -> Option<Dir> {
        match opened {
            Ok(dir) => return Some(dir),
            Err(error) if error.kind() == io::ErrorKind::NotFound && is_link => self.dangling(path),
            Err(error) => self.unreadable(path, &error),
        }
        None
    }

    fn dangling(&mut self, path: &Path) {
        self.warn(path.to_path_buf(), "the link leads to nothing".to_owned(), "repair the link, or remove it");
    }

    /// The names of a directory's directories that are text, sorted, and of links to such; `but` are left out. Links that lead nowhere
    /// are reported.
    fn directories_in(&mut self, dir: &Dir, path: &Path, but: &[&str]) -> Vec<String> {
        let mut names = Vec::new();
        match dir.entries() {
            Ok(entries) => {
                for entry in entries {
                    match entry {
                        Ok(entry) => names.extend(entry.file_name().into_string().ok()),
                        Err(error) => self.unreadable(path, &error),
                    }
                }
            }
            Err(error) => self.unreadable(path, &error),
        }
        names.retain(|name| !but.contains(&name.as_str()));
        names.sort_unstable();
        names.retain(|name| match dir.metadata(name) {
            Ok(metadata) => metadata.is_dir(),
            Err(error) => {
                let path = path.join(name);
                if is_escape(&error) {
                    let help = "put the plugin itself there, or name its directory with `--add-dir`";
                    self.warn(
                        path,
                        "the link leads out of the plugins directory, so it is not followed".to_owned(),
                        help,
                    );
                } else if error.kind() == io::ErrorKind::NotFound && is_link(&path) {
                    self.dangling(&path);
                } else {
                    self.unreadable(&path, &error);
                }
                false
            }
        });
        names
    }

    /// What is installed below the user's configuration.
    fn installed(&mut self, config: &Path) {
        let plugins = config.join("plugins");
        self.found.deciding.extend([config.join("settings.json"), plugins.clone(), plugins.join("marketplaces")]);
        let opened = Dir::open_ambient_dir(&plugins, ambient_authority());
        let Some(dir) = self.opened(&plugins, opened, is_link(&plugins)) else { return };
        let switches = self.switches(config);
        for name in self.directories_in(&dir, &plugins, &NOT_PLUGINS) {
            let path = plugins.join(&name);
            // It may come later than the directory.
            self.found.deciding.push(path.join(MANIFEST));
            match dir.metadata(format!("{name}/{MANIFEST}")) {
                Ok(manifest) if manifest.is_file() => self.directories.push(path),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotADirectory => {}
                Err(error) => self.unreadable(&path, &error),
            }
        }
        self.listed(&dir, &plugins, &switches);
        self.marketplaces(&dir, &plugins, &switches);
    }

    /// `enabledPlugins` of the user's settings: `NAME@MARKETPLACE` to true or false.
    fn switches(&mut self, config: &Path) -> BTreeMap<String, bool> {
        let opened = Dir::open_ambient_dir(config, ambient_authority());
        let Some(dir) = self.opened(config, opened, false) else { return BTreeMap::new() };
        let settings = self.json(&dir, Path::new("settings.json"), config);
        let entries = settings.as_ref().and_then(|settings| settings.get("enabledPlugins")?.as_object());
        let entries = entries.into_iter().flatten();
        entries.filter_map(|(name, switch)| Some((name.clone(), switch.as_bool()?))).collect()
    }

    /// What `installed_plugins.json` lists. Its paths have to stay below the plugins directory.
    fn listed(&mut self, dir: &Dir, plugins: &Path, switches: &BTreeMap<String, bool>) {
        let file = Path::new("installed_plugins.json");
        let Some(list) = self.json(dir, file, plugins) else { return };
        let entries = list.get("plugins").and_then(Value::as_object).into_iter().flatten();
        for (name, entry) in entries.filter(|(name, _)| switches.get(*name) != Some(&false)) {
            // One installation, or a list of them, one for each scope.
            let each: Vec<&Value> = entry.as_array().map_or_else(|| vec![entry], |list| list.iter().collect());
            for path in each.iter().filter_map(|entry| entry.get("installPath")?.as_str()) {
                let wrong = match canonicalize_ambient(Path::new(path)) {
                    Ok(real) if real.starts_with(plugins) => {
                        self.directories.push(real);
                        continue;
                    }
                    Ok(_) => format!("the plugin `{name}` lies in `{path}`, outside of the plugins directory"),
                    Err(error) => format!("the plugin `{name}` cannot be found in `{path}`: {error}"),
                };
                self.warn(plugins.join(file), wrong, "install it again, or remove it");
            }
        }
    }

    /// What is switched on of the marketplaces that are on the disk.
    fn marketplaces(&mut self, dir: &Dir, plugins: &Path, switches: &BTreeMap<String, bool>) {
        let place = plugins.join("marketplaces");
        let Some(all) = self.opened(&place, dir.open_dir("marketplaces"), is_link(&place)) else { return };
        for folder in self.directories_in(&all, &place, &[]) {
            self.found.deciding.push(place.join(&folder).join(MARKETPLACE));
            let Some(market) = self.json(&all, &Path::new(&folder).join(MARKETPLACE), &place) else { continue };
            let market_name = market.get("name").and_then(Value::as_str).unwrap_or(&folder);
            let base = market.pointer("/metadata/pluginRoot").and_then(Value::as_str).unwrap_or(".");
            for plugin in market.get("plugins").and_then(Value::as_array).into_iter().flatten() {
                let name = plugin.get("name").and_then(Value::as_str).unwrap_or_default();
                let key = format!("{name}@{market_name}");
                // What lies elsewhere is there only when it was installed.
                let Some(source) = plugin.get("source").and_then(Value::as_str) else { continue };
                if switches.get(&key) != Some(&true) {
                    continue;
                }
                let below = if source.starts_with("./") { below(source) } else { below(&format!("{base}/{source}")) };
                match below.filter(|below| all.is_dir(Path::new(&folder).join(below))) {
                    Some(below) => self.directories.push(place.join(&folder).join(below)),
                    None => self.warn(
                        place.join(&folder).join(MARKETPLACE),
                        format!("the plugin `{key}` is not a directory of its marketplace: `{source}`"),
                        "update the marketplace, or switch the plugin off",
                    ),
                }
            }
        }
    }

    /// A JSON file beneath the handle of `base`; a missing one is none, and a bad one is reported.
    fn json(&mut self, dir: &Dir, path: &Path, base: &Path) -> Option<Value> {
        let read = file::open(dir, path).map_err(file::fault).and_then(|file| file::read(file, MAX_BYTES));
        let finding = match read {
            Ok(contents) => match serde_json::from_slice(&contents) {
                Ok(value) => return Some(value),
                Err(error) => Diagnostic::new(Code::FileUnreadable, format!("it is not JSON: {error}"))
                    .help("correct it; until then nothing of it counts"),
            },
            Err(file::ReadFault::NotFound) => return None,
            Err(fault) => fault.diagnostic(),
        };
        self.report(base.join(path), finding.severity(Severity::Warning));
        None
    }

    /// Reads the manifests and adds the directories that they name.
    fn read(&mut self, data: Option<&Path>) {
        let mut seen = Vec::new();
        let mut named: BTreeMap<String, PathBuf> = BTreeMap::new();
        for root in std::mem::take(&mut self.directories) {
            // A marketplace that is one plugin has its own directory with `.` at the end.
            let root = canonicalize_ambient(&root).unwrap_or(root);
            if seen.contains(&root) {
                continue;
            }
            seen.push(root.clone());
            self.found.deciding.push(root.join(MANIFEST));
            if seen.len() > MAX_PLUGINS {
                let message = format!("at most {MAX_PLUGINS} plugins are read");
                return self.report(root, Diagnostic::new(Code::LimitExceeded, message));
            }
            let Some((name, manifest)) = self.manifest(&root) else { continue };
            if let Some(first) = named.get(&name) {
                let message = format!("the plugin `{}` is called `{name}` too", first.display());
                let finding = Diagnostic::new(Code::NameCollision, message);
                self.report(root.clone(), finding.help("remove one of them; their skills have the same names"));
            }
            named.entry(name.clone()).or_insert_with(|| root.clone());
            let plugin = Plugin { data: data.map(|data| data.join(&name)), name, root };
            self.roots_of(&plugin, &manifest);
        }
    }

    /// The name and the rest of a plugin's manifest.
    fn manifest(&mut self, root: &Path) -> Option<(String, Value)> {
        let dir = self.opened(root, Dir::open_ambient_dir(root, ambient_authority()), false)?;
        let manifest = self.json(&dir, Path::new(MANIFEST), root)?;
        let name = manifest.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let problem = match CommandName::new(name.as_str()) {
            Err(error) => error.to_string(),
            Ok(_) if name.contains(':') => format!("`{name}` holds `:`, which stands behind a plugin's name"),
            Ok(_) if Source::ALL.iter().any(|source| source.as_str() == name) => {
                format!("`{name}` is the name of a source")
            }
            Ok(_) => return Some((name, manifest)),
        };
        let finding = Diagnostic::new(Code::CommandNameInvalid, format!("the plugin cannot be used: {problem}"));
        self.report(root.join(MANIFEST), finding.help("give it another `name`"));
        None
    }

    /// `skills`, `commands` and what the manifest names beside them, and the plugin itself when it is a skill.
    fn roots_of(&mut self, plugin: &Plugin, manifest: &Value) {
        let opened = Dir::open_ambient_dir(&plugin.root, ambient_authority());
        let Some(dir) = self.opened(&plugin.root, opened, false) else { return };
        self.add(plugin, RootKind::Skills, plugin.root.join("skills"));
        self.add(plugin, RootKind::Commands, plugin.root.join("commands"));
        for (key, kind) in [("skills", RootKind::Skills), ("commands", RootKind::Commands)] {
            for written in paths(manifest.get(key)) {
                match below(written).filter(|below| dir.is_dir(below)) {
                    Some(path) if kind == RootKind::Skills && dir.is_file(path.join("SKILL.md")) => {
                        self.add(plugin, RootKind::One, plugin.root.join(path));
                    }
                    Some(path) => self.add(plugin, kind, plugin.root.join(path)),
                    None => self.warn(
                        plugin.root.join(MANIFEST),
                        format!("`{key}` names `{written}`, which is not a directory in the plugin"),
                        "name a directory, with `./` before it",
                    ),
                }
            }
        }
        if dir.is_file("SKILL.md") {
            self.add(plugin, RootKind::One, plugin.root.clone());
        }
    }

    fn add(&mut self, plugin: &Plugin, kind: RootKind, path: PathBuf) {
        if !self.found.roots.iter().any(|known| known.path == path && known.kind == kind) {
            let link_roots = vec![plugin.root.clone()];
            let plugin = Some(plugin.clone());
            self.found.roots.push(SkillRoot { link_roots, plugin, ..SkillRoot::new(Source::Plugin, kind, path) });
        }
    }
}

fn is_plugin(path: &Path) -> bool {
    Dir::open_ambient_dir(path, ambient_authority()).is_ok_and(|dir| dir.is_file(MANIFEST))
}

/// One path, or several.
fn paths(value: Option<&Value>) -> Vec<&str> {
    match value {
        Some(Value::String(path)) => vec![path],
        Some(Value::Array(paths)) => paths.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// A path in a directory, when it stays there: `./a/b` becomes `a/b`.
fn below(written: &str) -> Option<PathBuf> {
    let mut below = written.trim_end_matches('/');
    while let Some(rest) = below.strip_prefix("./") {
        below = rest;
    }
    if below == "." || below.is_empty() {
        return Some(PathBuf::from("."));
    }
    RelPath::new(below).ok().map(|path| PathBuf::from(path.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_in_its_directory() {
        for (written, expected) in [
            ("./a/b", Some("a/b")),
            ("a/", Some("a")),
            ("./", Some(".")),
            ("././a", Some("a")),
            ("../a", None),
            ("./a/../../b", None),
            ("/a", None),
            ("a\\..\\b", None),
        ] {
            assert_eq!(below(written), expected.map(PathBuf::from), "{written}");
        }
    }
}
