//! `cargo xtask guests`: the command components, from their sources to `crates/packs/assets`.
//!
//! The bytes must depend on the sources and the toolchain only. Three things would get in the way: paths in panic messages
//! (remapped), flags of the caller (replaced), and uucore's build script, which embeds the messages of every `uu_*` crate that
//! lies unpacked beside it, whatever project unpacked it. The guests therefore have a cargo home of their own, whose unpacked
//! sources are thrown away whenever their lock file changes.

use crate::files::{create, read, read_text, remove, write};
use crate::process::{cargo, output, run as run_command};
use crate::{Outcome, Root, examples, setup};
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

const TARGET: &str = "wasm32-wasip2";
/// The guest workspace and the assets, below the repository's root.
const WORKSPACE: &str = "crates/guests";
/// The interfaces that guests import.
const INTERFACES: &str = "wit";
const ASSETS: &str = "crates/packs/assets";
/// The packages of the guest workspace that are components. Each lists its commands in `commands.txt`.
const COMPONENTS: &[&str] = &["awk", "coreutils", "files", "git", "jq", "rg", "text"];

/// The component that is built by itself: it wants more of the libraries for patterns than the others need.
const APART: &str = "rg";

pub(crate) fn run(root: &Root, options: &[String]) -> Outcome {
    println!("==> guests: the command components");
    if options.iter().any(|option| option == "--check") { check(root) } else { build(root) }
}

/// Builds every component and puts it into the assets, touching only what changed.
pub(crate) fn build(root: &Root) -> Outcome {
    println!("    building the command components (about 3 minutes the first time, else a second)");
    setup::ensure_target(root, TARGET)?;
    let place = Place::below(&root.target.join("guests"), root.join(WORKSPACE));
    let built = place.build(root)?;
    pack(root, &place.sources, &built)?;
    examples::build_rust(root)
}

/// Builds every component twice, in two directories that share nothing, and compares the bytes.
fn check(root: &Root) -> Outcome {
    println!("    building the command components twice (about 6 minutes)");
    setup::ensure_target(root, TARGET)?;
    let place = Place::below(&root.target.join("guests"), root.join(WORKSPACE));
    let first = place.build(root)?;
    let elsewhere = root.target.join("guests-check");
    remove(&elsewhere)?;
    // As deep as the original, whose sources name the interfaces beside them.
    let copy = elsewhere.join("another-path").join(WORKSPACE);
    copy_tree(&root.join(WORKSPACE), &copy)?;
    copy_tree(&root.join(INTERFACES), &elsewhere.join("another-path").join(INTERFACES))?;
    let second = Place::below(&elsewhere, copy).build(root)?;
    for (name, one) in &first {
        let other = second.get(name).ok_or_else(|| format!("the second build has no {name}"))?;
        if let Some(at) = first_difference(one, other) {
            return Err(format!(
                "{name} is not reproducible: {} and {} bytes, different from byte {at} on ({} and {})",
                one.len(),
                other.len(),
                digest(one),
                digest(other)
            ));
        }
        println!("    {name}: both builds have the digest {}", digest(one));
    }
    pack(root, &place.sources, &first)?;
    remove(&elsewhere)
}

/// Where one build happens.
struct Place {
    sources: PathBuf,
    target: PathBuf,
    cargo_home: PathBuf,
}

impl Place {
    fn below(directory: &Path, sources: PathBuf) -> Self {
        Self { sources, target: directory.to_owned(), cargo_home: directory.join("cargo-home") }
    }

    /// The components by name.
    fn build(&self, root: &Root) -> Outcome<BTreeMap<&'static str, Vec<u8>>> {
        self.fetch(root)?;
        // Packages that are built together share the features of what they depend on.
        for chosen in [["--workspace", "--exclude", APART].as_slice(), &["--package", APART]] {
            let mut command = cargo(root, ["build", "--release", "--locked", "--target", TARGET]);
            self.isolate(&mut command);
            command.args(chosen).env("CARGO_ENCODED_RUSTFLAGS", self.flags()?.join("\u{1f}"));
            run_command(&mut command)?;
        }
        let release = self.target.join(TARGET).join("release");
        COMPONENTS.iter().map(|name| Ok((*name, read(&release.join(format!("{name}.wasm")))?))).collect()
    }

    /// Fetches the sources that the lock file names into the cargo home of the guests, which then holds no others.
    fn fetch(&self, root: &Root) -> Outcome {
        let lock = digest(&read(&self.sources.join("Cargo.lock"))?);
        let stamp = self.cargo_home.join("lock-digest");
        if fs::read_to_string(&stamp).is_ok_and(|fetched| fetched == lock) {
            return Ok(());
        }
        println!("    fetching their sources (some seconds)");
        remove(&self.cargo_home.join("registry").join("src"))?;
        create(&self.cargo_home)?;
        self.share_configuration()?;
        let mut command = cargo(root, ["fetch", "--quiet", "--locked", "--target", TARGET]);
        self.isolate(&mut command);
        run_command(&mut command)?;
        write(&stamp, lock.as_bytes())
    }

    /// A registry mirror or a proxy that the person configured must work for the guests too.
    fn share_configuration(&self) -> Outcome {
        let usual = std::env::var_os("CARGO_HOME").map(PathBuf::from);
        let usual = usual.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
        for name in ["config.toml", "credentials.toml"] {
            let ours = self.cargo_home.join(name);
            match usual.as_ref().and_then(|usual| fs::read(usual.join(name)).ok()) {
                Some(bytes) => write(&ours, &bytes)?,
                None => remove(&ours)?,
            }
        }
        Ok(())
    }

    fn isolate(&self, command: &mut std::process::Command) {
        command
            .current_dir(&self.sources)
            .env("CARGO_HOME", &self.cargo_home)
            .env("CARGO_TARGET_DIR", &self.target)
            .env_remove("RUSTFLAGS")
            .env_remove("UUCORE_TARGET_UTIL");
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(|name| name.starts_with("CARGO_PROFILE_")) {
                command.env_remove(name);
            }
        }
    }

    /// Compiler flags that take every path of this machine out of the bytes.
    fn flags(&self) -> Outcome<Vec<String>> {
        let mut paths = vec![(self.cargo_home.clone(), "/cargo"), (self.target.clone(), "/target")];
        let registries = self.cargo_home.join("registry").join("src");
        for registry in list(&registries)? {
            // Named after the address of the index; a mirror has another one. Later flags win over earlier ones.
            paths.push((registry, "/crates"));
        }
        paths.push((self.sources.clone(), "/guests"));
        Ok(paths.iter().map(|(from, to)| format!("--remap-path-prefix={}={to}", from.display())).collect())
    }
}

/// Writes the components and the manifest into the assets. What is there already and still right keeps its time stamp, so that
/// cargo has nothing to do.
fn pack(root: &Root, sources: &Path, built: &BTreeMap<&'static str, Vec<u8>>) -> Outcome {
    let assets = root.join(ASSETS);
    create(&assets)?;
    let recorded = fs::read_to_string(assets.join("manifest")).unwrap_or_default();
    let mut manifest =
        String::from("# Generated by `cargo xtask guests`: what the crate embeds, and what build.rs checks.\n\n");
    let mut wanted = vec!["manifest".to_owned()];
    for (name, wasm) in built {
        let file = format!("{name}.wasm.gz");
        let path = assets.join(&file);
        let commands = read_text(&sources.join(name).join("commands.txt")).map(|list| commands(&list))?;
        let wasm_digest = digest(wasm);
        let kept = fs::read(&path).ok().filter(|packed| {
            recorded.contains(&format!("\ndigest {wasm_digest}\n"))
                && recorded.contains(&format!("\npacked {}\n", digest(packed)))
        });
        let packed = match kept {
            Some(packed) => packed,
            None => {
                let packed = gzip(wasm)?;
                write(&path, &packed)?;
                packed
            }
        };
        println!(
            "    {name}: {} commands, {} KiB, {} KiB packed, sha256 {wasm_digest}",
            commands.len(),
            wasm.len() >> 10,
            packed.len() >> 10
        );
        manifest.push_str(&block(name, wasm, &packed, &commands));
        wanted.push(file);
    }
    if recorded != manifest {
        write(&assets.join("manifest"), manifest.as_bytes())?;
    }
    for path in list(&assets)? {
        if !wanted.iter().any(|name| path.file_name().is_some_and(|found| found == name.as_str())) {
            remove(&path)?;
        }
    }
    Ok(())
}

/// What the manifest says of one component.
fn block(name: &str, wasm: &[u8], packed: &[u8], commands: &[String]) -> String {
    format!(
        "component {name}\ndigest {}\nsize {}\npacked {}\ncommands {}\n\n",
        digest(wasm),
        wasm.len(),
        digest(packed),
        commands.join(" ")
    )
}

/// The names in a `commands.txt`: the first word of every line, `#` begins a comment.
fn commands(list: &str) -> Vec<String> {
    let lines = list.lines().map(|line| line.split('#').next().unwrap_or_default());
    let mut names: Vec<_> = lines.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect();
    names.sort();
    names
}

fn gzip(bytes: &[u8]) -> Outcome<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).map_err(|error| format!("cannot compress: {error}"))
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn first_difference(one: &[u8], other: &[u8]) -> Option<usize> {
    let common = one.iter().zip(other).position(|(a, b)| a != b);
    common.or_else(|| (one.len() != other.len()).then_some(one.len().min(other.len())))
}

fn list(directory: &Path) -> Outcome<Vec<PathBuf>> {
    let entries = fs::read_dir(directory).and_then(|entries| entries.map(|entry| entry.map(|it| it.path())).collect());
    let mut paths: Vec<PathBuf> = entries.map_err(|error| format!("cannot list {}: {error}", directory.display()))?;
    paths.sort();
    Ok(paths)
}

/// Copies the files that git knows or would add, so neither build output nor an editor's files.
fn copy_tree(from: &Path, to: &Path) -> Outcome {
    let mut git = std::process::Command::new("git");
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(from);
    for name in String::from_utf8_lossy(&output(&mut git)?).split_terminator('\0') {
        let source = from.join(name);
        let copy = to.join(name);
        if let Some(parent) = copy.parent() {
            create(parent)?;
        }
        fs::copy(&source, &copy).map_err(|error| format!("cannot copy {}: {error}", source.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_the_first_words() {
        let list = "# names\nwc   uu_wc::uumain wc\n\n[    uu_test::uumain test # too\n";
        assert_eq!(commands(list), ["[", "wc"]);
    }

    #[test]
    fn a_difference_is_found() {
        assert_eq!(first_difference(b"abc", b"abc"), None);
        assert_eq!(first_difference(b"abc", b"abd"), Some(2));
        assert_eq!(first_difference(b"abc", b"ab"), Some(2));
    }

    #[test]
    fn a_block_has_a_line_for_each_field() {
        let text = block("made", b"wasm", b"gz", &["a".to_owned(), "b".to_owned()]);
        let fields: Vec<_> = text.lines().map(|line| line.split(' ').next().unwrap_or_default()).collect();
        assert_eq!(fields, ["component", "digest", "size", "packed", "commands", ""]);
        assert!(text.contains("\ncommands a b\n"));
    }
}
