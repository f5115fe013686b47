//! The command components out of packaged crates, as somebody gets them who adds the crate to a project.
//!
//! `crates/packs/assets` is generated and not in git, so that nothing but this shows that a package carries it, and that the
//! crate is built from the package alone: not from the repository around it, and without the target of the guests.

use crate::files::{create, read_text, remove, write};
use crate::process::{cargo, output, run as run_command};
use crate::{Outcome, Root};
use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

/// The crate that embeds the components, and the one of ours that it depends on.
const PACKAGES: [&str; 2] = ["skillgate-packs", "skillgate-core"];

/// Prints the digest of every component as it comes out of the crate.
const PROGRAM: &str = r#"
fn main() {
    for component in skillgate_packs::PackSet::shipped().components() {
        let wasm = component.wasm().expect("the component is whole");
        println!("{} {}", component.name(), skillgate_core::Digest::of(&wasm));
    }
}
"#;

pub(crate) const ABOUT: &str =
    "use the command components out of packaged crates, as a project does that depends on them";

pub(crate) fn run(root: &Root) -> Outcome {
    let place = root.target.join("packaged");
    for old in ["skillgate-packs", "skillgate-core", "user"] {
        remove(&place.join(old))?;
    }
    // Work that is not committed yet is packaged too.
    let fixed = ["package", "--quiet", "--no-verify", "--allow-dirty", "--exclude-lockfile"];
    run_command(cargo(root, fixed).args(PACKAGES.iter().flat_map(|name| ["--package", name])))?;
    let version = env!("CARGO_PKG_VERSION");
    for name in PACKAGES {
        let archive = root.target.join("package").join(format!("{name}-{version}.crate"));
        create(&place)?;
        run_command(Command::new("tar").arg("-xzf").arg(&archive).arg("-C").arg(&place))?;
        let unpacked = place.join(format!("{name}-{version}"));
        fs::rename(&unpacked, place.join(name)).map_err(|error| format!("{}: {error}", unpacked.display()))?;
    }
    let user = place.join("user");
    create(&user.join("src"))?;
    write(&user.join("Cargo.toml"), manifest().as_bytes())?;
    write(&user.join("src/main.rs"), PROGRAM.as_bytes())?;
    // The versions that everything else is tested with.
    fs::copy(root.join("Cargo.lock"), user.join("Cargo.lock")).map_err(|error| format!("Cargo.lock: {error}"))?;
    let mut command = cargo(root, ["run", "--quiet"]);
    command.current_dir(&user).env("CARGO_TARGET_DIR", place.join("target"));
    let printed = output(&mut command)?;
    compare(&String::from_utf8_lossy(&printed), &recorded(root)?)
}

/// A program that has the packaged crates for dependencies.
fn manifest() -> String {
    let dependency = |name: &&str| format!("{name} = {{ path = \"../{name}\" }}\n");
    let dependencies: String = PACKAGES.iter().map(dependency).collect();
    format!(
        "[package]\nname = \"user\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\n[dependencies]\n\
         {dependencies}\n[patch.crates-io]\n{dependencies}\n[workspace]\n"
    )
}

/// The digests of the components by the manifest of the assets.
fn recorded(root: &Root) -> Outcome<BTreeMap<String, String>> {
    let path = root.join("crates/packs/assets/manifest");
    let text = read_text(&path)?;
    let mut recorded = BTreeMap::new();
    let mut component = "";
    for (field, value) in text.lines().filter_map(|line| line.split_once(' ')) {
        match field {
            "component" => component = value,
            "digest" => _ = recorded.insert(component.to_owned(), value.to_owned()),
            _ => {}
        }
    }
    Ok(recorded)
}

fn compare(printed: &str, recorded: &BTreeMap<String, String>) -> Outcome {
    let pairs = printed.lines().filter_map(|line| line.split_once(' '));
    let printed: BTreeMap<String, String> = pairs.map(|(name, digest)| (name.to_owned(), digest.to_owned())).collect();
    if recorded.is_empty() || printed != *recorded {
        return Err(format!("the packaged crate holds {printed:?}, and the manifest records {recorded:?}"));
    }
    println!("    {} components out of the packaged crate, each with the recorded digest", printed.len());
    Ok(())
}
