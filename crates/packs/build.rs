//! Reads `assets/manifest`, checks that every packed component is the one the manifest speaks of, and writes the table that
//! the crate embeds. `cargo xtask guests` makes the assets.

#![allow(clippy::disallowed_methods, reason = "a build script reads files")]

use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=assets");
    match generate() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            println!("cargo::error={message}; run `cargo xtask guests`");
            ExitCode::FAILURE
        }
    }
}

fn generate() -> Result<(), String> {
    let assets = directory("CARGO_MANIFEST_DIR")?.join("assets");
    let manifest = assets.join("manifest");
    let text = fs::read_to_string(&manifest)
        .map_err(|error| format!("the command components are not built ({}: {error})", manifest.display()))?;
    let out = directory("OUT_DIR")?;
    let table = table(&text, &assets, &out)?;
    fs::write(out.join("shipped.rs"), table).map_err(|error| format!("cannot write the table: {error}"))
}

fn directory(variable: &str) -> Result<PathBuf, String> {
    env::var_os(variable).map(PathBuf::from).ok_or_else(|| format!("cargo does not set {variable}"))
}

/// One block of the manifest, a line for each field, a blank line behind it.
#[derive(Default)]
struct Block<'a> {
    component: Option<&'a str>,
    digest: Option<&'a str>,
    size: Option<usize>,
    packed: Option<&'a str>,
    commands: Vec<&'a str>,
}

fn table(manifest: &str, assets: &Path, out: &Path) -> Result<String, String> {
    let mut table = String::from("const SHIPPED: &[Shipped] = &[\n");
    let mut block = Block::default();
    for (at, line) in manifest.lines().chain([""]).enumerate() {
        let (field, value) = line.split_once(' ').unwrap_or((line, ""));
        match field {
            "#" => {}
            "component" => block.component = Some(value),
            "digest" => block.digest = Some(value),
            "size" => block.size = value.parse().ok(),
            "packed" => block.packed = Some(value),
            "commands" => block.commands = value.split(' ').collect(),
            "" => {
                if block.component.is_some() {
                    table.push_str(&entry(&block, assets, out)?);
                }
                block = Block::default();
            }
            _ => return Err(format!("assets/manifest:{}: unknown field `{field}`", at + 1)),
        }
    }
    table.push_str("];\n");
    Ok(table)
}

fn entry(block: &Block<'_>, assets: &Path, out: &Path) -> Result<String, String> {
    let (Some(name), Some(digest), Some(size), Some(packed)) =
        (block.component, block.digest, block.size, block.packed)
    else {
        return Err("assets/manifest lacks a field of a component".to_owned());
    };
    if !block.commands.is_sorted_by(|a, b| a < b) {
        return Err(format!("assets/manifest: the commands of {name} are not in order, or one is there twice"));
    }
    let file = assets.join(format!("{name}.wasm.gz"));
    let bytes =
        fs::read(&file).map_err(|error| format!("the component {name} is missing ({}: {error})", file.display()))?;
    let mut found = String::new();
    for byte in Sha256::digest(&bytes) {
        write!(found, "{byte:02x}").map_err(|error| error.to_string())?;
    }
    if found != packed {
        return Err(format!("{} is not the file that assets/manifest speaks of", file.display()));
    }
    // From there, not from where the sources lie now: a build directory may be shared by several copies of them.
    let copy = out.join(format!("{name}.wasm.gz"));
    fs::write(&copy, &bytes).map_err(|error| format!("{}: {error}", copy.display()))?;
    Ok(format!(
        "    Shipped {{ name: {name:?}, digest: {digest:?}, size: {size}, commands: &{:?}, packed: include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{name}.wasm.gz\")) }},\n",
        block.commands
    ))
}
