//! The table of crates and arrows, and which crate may use which outside dependency.

use super::{Finding, finding};
use crate::Outcome;
use serde_json::Value;
use std::path::Path;

/// A workspace member as `cargo metadata` tells of it.
#[derive(Debug)]
pub(super) struct Package {
    pub(super) name: String,
    /// Below the root, with `/`.
    pub(super) directory: String,
    pub(super) description: String,
    pub(super) dependencies: Vec<Dependency>,
    /// The root files of its targets, below the repository's root.
    pub(super) targets: Vec<String>,
}

#[derive(Debug)]
pub(super) struct Dependency {
    pub(super) name: String,
    pub(super) development: bool,
}

/// The layers of docs/ARCHITECTURE.md: a folder below `crates` (or at the top), and the crates it may use. A new line or a new
/// arrow here is a design change.
pub(super) const CRATES: &[(&str, &[&str])] = &[
    ("core", &[]),
    ("format", &["core"]),
    ("policy", &["core"]),
    ("shell", &["core"]),
    ("search", &["core"]),
    ("state", &["core"]),
    ("loader", &["core", "format", "state"]),
    ("registry", &["core", "search"]),
    ("bundle", &["core", "format", "policy", "state"]),
    ("bundle-macros", &[]),
    ("exec", &["core", "policy", "shell"]),
    ("exec-wasm", &["core", "policy", "exec", "state"]),
    ("packs", &["core"]),
    ("sandbox", &[]),
    ("exec-host", &["core", "policy", "exec", "sandbox"]),
    (
        "runtime",
        &["core", "format", "policy", "shell", "search", "state", "loader", "registry", "bundle", "exec", "packs"],
    ),
    ("mcp", &["core", "format", "policy", "registry", "exec", "runtime"]),
    (
        "audit",
        &[
            "core",
            "format",
            "policy",
            "shell",
            "search",
            "state",
            "loader",
            "registry",
            "bundle",
            "exec",
            "exec-wasm",
            "packs",
            "sandbox",
            "exec-host",
            "runtime",
        ],
    ),
    ("probes", &[]),
    ("cli", ANY),
    (
        "skillgate",
        &[
            "core",
            "format",
            "policy",
            "shell",
            "search",
            "state",
            "loader",
            "registry",
            "bundle",
            "bundle-macros",
            "exec",
            "exec-wasm",
            "packs",
            "sandbox",
            "exec-host",
            "runtime",
            "mcp",
            "audit",
        ],
    ),
    ("tests", ANY),
    ("xtask", &[]),
];
const ANY: &[&str] = &["*"];

/// Arrows that only tests take, beyond the table: crate, dependency, reason.
const TEST_ARROWS: &[(&str, &str, &str)] = &[];

/// Outside dependencies that belong to certain crates, by the beginning of their name. Tests may use them only there too.
const OWNED: &[(&str, &[&str], &str)] = &[
    ("wasmtime", &["exec-wasm"], "the wasm engine is the business of exec-wasm"),
    ("wasmparser", &["exec-wasm"], "the wasm engine is the business of exec-wasm"),
    ("rmcp", &["mcp"], "only mcp knows MCP"),
    ("landlock", &["sandbox", "probes"], "raw system calls belong to sandbox and probes"),
    ("seccompiler", &["sandbox", "probes"], "raw system calls belong to sandbox and probes"),
    ("libc", &["sandbox", "probes"], "raw system calls belong to sandbox and probes"),
    (
        "rustix",
        &[
            "state",
            "loader",
            "bundle",
            "exec",
            "exec-wasm",
            "exec-host",
            "sandbox",
            "probes",
            "runtime",
            "mcp",
            "cli",
            "tests",
        ],
        "system calls belong to the crates that do input and output",
    ),
];
/// Crates without an async runtime.
const NO_RUNTIME: &[&str] = &["core", "format", "policy", "shell", "search"];
const RUNTIMES: &[&str] = &["tokio", "async-std", "smol", "futures-executor"];

/// Reads the answer of `cargo metadata --no-deps`.
pub(super) fn read(metadata: &[u8], root: &Path) -> Outcome<Vec<Package>> {
    let metadata: Value = serde_json::from_slice(metadata).map_err(|error| format!("cargo metadata: {error}"))?;
    let packages = metadata["packages"].as_array().ok_or("cargo metadata lists no packages")?;
    let below = |path: &Value| {
        let path = Path::new(path.as_str().unwrap_or_default());
        let below = path.strip_prefix(root).unwrap_or(path);
        below.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let array = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let package = |package: &Value| Package {
        name: text(&package["name"]),
        directory: below(&package["manifest_path"]).trim_end_matches("Cargo.toml").trim_end_matches('/').to_owned(),
        description: text(&package["description"]),
        dependencies: array(&package["dependencies"])
            .iter()
            .map(|it| Dependency { name: text(&it["name"]), development: it["kind"] == "dev" })
            .collect(),
        targets: array(&package["targets"]).iter().map(|target| below(&target["src_path"])).collect(),
    };
    Ok(packages.iter().map(package).collect())
}

/// A crate that is not in the table, a name that does not follow from its folder, and every arrow the table does not have.
pub(super) fn arrows(packages: &[Package]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in packages {
        let manifest = format!("{}/Cargo.toml", package.directory);
        let folder = short(&package.directory);
        let Some((_, may_use)) = CRATES.iter().find(|(name, _)| *name == folder) else {
            let message =
                "is not in the table of crates: discuss it in docs/design, then add it in xtask/src/tidy/crates.rs";
            findings.push(finding(&manifest, 1, "crates", format!("`{folder}` {message}")));
            continue;
        };
        let place = if matches!(folder, "tests" | "xtask") { folder.to_owned() } else { format!("crates/{folder}") };
        if package.directory != place {
            findings.push(finding(&manifest, 1, "crates", format!("move it to {place}")));
        }
        if package.name != package_name(folder) {
            let message = format!("name the package `{}`, as its folder", package_name(folder));
            findings.push(finding(&manifest, 1, "crates", message));
        }
        for dependency in &package.dependencies {
            let Some(used) = CRATES.iter().map(|(name, _)| *name).find(|name| package_name(name) == dependency.name)
            else {
                continue;
            };
            let in_table = *may_use == ANY || may_use.contains(&used);
            let in_tests =
                dependency.development && TEST_ARROWS.iter().any(|(from, to, _)| *from == folder && *to == used);
            // A crate may be its own development dependency, with another set of features.
            if !in_table && !in_tests && used != folder {
                let list = if dependency.development { " (for tests: TEST_ARROWS, with a reason)" } else { "" };
                let message =
                    format!("{folder} may not use {used}: an arrow beyond the table is a design change{list}");
                findings.push(finding(&manifest, 1, "arrows", message));
            }
        }
    }
    findings
}

/// Outside dependencies in a crate that they do not belong to.
pub(super) fn owners(packages: &[Package]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in packages {
        let manifest = format!("{}/Cargo.toml", package.directory);
        let folder = short(&package.directory);
        for dependency in &package.dependencies {
            for (beginning, owners, reason) in OWNED {
                if dependency.name.starts_with(beginning) && !owners.contains(&folder) {
                    let message = format!("{folder} may not use `{}`: {reason}", dependency.name);
                    findings.push(finding(&manifest, 1, "owner", message));
                }
            }
            if NO_RUNTIME.contains(&folder) && RUNTIMES.contains(&dependency.name.as_str()) {
                let message = format!("{folder} may not use `{}`: it knows no async runtime", dependency.name);
                findings.push(finding(&manifest, 1, "owner", message));
            }
        }
    }
    findings
}

/// Every package takes the lint table of its workspace.
pub(super) fn lints_inherited(path: &str, manifest: &str) -> Option<Finding> {
    let mut section = "";
    let mut inherited = false;
    let mut is_package = false;
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line;
            is_package |= section == "[package]";
        } else if section == "[lints]" {
            inherited |= line.replace(' ', "") == "workspace=true";
        }
    }
    // A member of the workspace, its guests or an example; the fixture of a test is none of them.
    (is_package && !inherited && !path.contains("/fixtures/"))
        // Its section of a custom name counts as unsafe code, which the workspace forbids.
        .then_some(path)
        .filter(|path| *path != "guest-examples/hook-guest/Cargo.toml")
        .map(|path| finding(path, 1, "lints", "add `[lints]` with `workspace = true`"))
}

fn short(directory: &str) -> &str {
    directory.rsplit('/').next().unwrap_or(directory)
}

/// The name of the package in a folder.
fn package_name(folder: &str) -> String {
    match folder {
        "skillgate" | "xtask" => folder.to_owned(),
        _ => format!("skillgate-{folder}"),
    }
}

#[cfg(test)]
impl Package {
    pub(super) fn made(name: &str, directory: &str, dependencies: &[&str]) -> Self {
        let dependencies = dependencies.iter().map(|name| match name.strip_prefix("dev:") {
            Some(name) => Dependency { name: name.to_owned(), development: true },
            None => Dependency { name: (*name).to_owned(), development: false },
        });
        Self {
            name: name.to_owned(),
            directory: directory.to_owned(),
            description: String::new(),
            dependencies: dependencies.collect(),
            targets: vec![format!("{directory}/src/lib.rs")],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(package: Package) -> Vec<&'static str> {
        let packages = [package];
        arrows(&packages).iter().chain(&owners(&packages)).map(|found| found.rule).collect()
    }

    #[test]
    fn arrows_of_the_table_are_free() {
        assert!(rules(Package::made("skillgate-format", "crates/format", &["skillgate-core", "serde"])).is_empty());
        assert!(
            rules(Package::made("skillgate-cli", "crates/cli", &["skillgate-runtime", "skillgate-packs"])).is_empty()
        );
        assert!(rules(Package::made("skillgate-exec-wasm", "crates/exec-wasm", &["wasmtime", "rustix"])).is_empty());
        assert!(
            rules(Package::made("skillgate-core", "crates/core", &["dev:skillgate-core", "dev:proptest"])).is_empty()
        );
    }

    #[test]
    fn other_arrows_are_found() {
        for (name, directory, dependency, rule) in [
            ("skillgate-core", "crates/core", "skillgate-format", "arrows"),
            ("skillgate-core", "crates/core", "dev:skillgate-format", "arrows"),
            ("skillgate-runtime", "crates/runtime", "skillgate-exec-wasm", "arrows"),
            ("xtask", "xtask", "skillgate-core", "arrows"),
            ("skillgate-runtime", "crates/runtime", "wasmtime-wasi", "owner"),
            ("skillgate-policy", "crates/policy", "tokio", "owner"),
            ("skillgate-policy", "crates/policy", "dev:tokio", "owner"),
            ("skillgate-cli", "crates/cli", "rmcp", "owner"),
            ("skillgate-util", "crates/util", "serde", "crates"),
            ("core", "crates/core", "serde", "crates"),
            ("skillgate-core", "libs/core", "serde", "crates"),
        ] {
            assert_eq!(rules(Package::made(name, directory, &[dependency])), [rule], "{name} {dependency}");
        }
    }

    #[test]
    fn the_table_has_no_cycle() {
        for (at, (name, may_use)) in CRATES.iter().enumerate() {
            for used in may_use.iter().filter(|used| **used != "*") {
                let place = CRATES.iter().position(|(name, _)| name == used);
                assert!(place.is_some_and(|place| place < at), "{name} uses {used}, which does not stand above it");
            }
        }
    }

    #[test]
    fn metadata_is_read() {
        let json =
            br#"{"packages":[{"name":"skillgate-core","manifest_path":"/r/crates/core/Cargo.toml","description":"d",
            "dependencies":[{"name":"serde","kind":null},{"name":"proptest","kind":"dev"}],
            "targets":[{"src_path":"/r/crates/core/src/lib.rs"}]}]}"#;
        let packages = read(json, Path::new("/r")).expect("valid");
        let [package] = &packages[..] else { unreachable!("one package") };
        assert_eq!((package.name.as_str(), package.directory.as_str()), ("skillgate-core", "crates/core"));
        assert_eq!(package.targets, ["crates/core/src/lib.rs"]);
        let development: Vec<_> = package.dependencies.iter().map(|dependency| dependency.development).collect();
        assert_eq!(development, [false, true]);
        assert!(read(b"{}", Path::new("/r")).is_err());
    }

    #[test]
    fn lints_must_be_inherited() {
        let good = "[package]\nname = \"a\"\n\n[lints]\nworkspace = true\n";
        assert_eq!(lints_inherited("crates/a/Cargo.toml", good), None);
        assert_eq!(lints_inherited("Cargo.toml", "[workspace]\nmembers = []\n"), None);
        let bad = "[package]\nname = \"a\"\n[dependencies.b]\nworkspace = true\n";
        assert_eq!(lints_inherited("crates/a/Cargo.toml", bad).map(|found| found.rule), Some("lints"));
    }
}
