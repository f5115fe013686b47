//! Translates the guests of the suite, `guests/*.wat`, and writes a table of them with a constant for each, so that a guest which
//! no case runs does not compile without a warning.

#![allow(clippy::disallowed_methods, reason = "a build script reads files")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=guests");
    match generate() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            println!("cargo::error={message}");
            ExitCode::FAILURE
        }
    }
}

fn generate() -> Result<(), String> {
    let out = directory("OUT_DIR")?;
    let mut sources = list(&directory("CARGO_MANIFEST_DIR")?.join("guests"))?;
    sources.sort();
    let mut table = String::new();
    for source in sources {
        let name = source.file_stem().and_then(|stem| stem.to_str()).ok_or("the name of a guest is not UTF-8")?;
        let wasm = wat::parse_file(&source).map_err(|error| error.to_string())?;
        let path = out.join(format!("{name}.wasm"));
        fs::write(&path, wasm).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        let constant = name.replace('-', "_").to_uppercase();
        let path = path.display().to_string();
        writeln!(table, "pub(crate) const {constant}: &[u8] = include_bytes!({path:?});").map_err(|e| e.to_string())?;
    }
    fs::write(out.join("guests.rs"), table).map_err(|error| format!("cannot write the table: {error}"))
}

fn directory(variable: &str) -> Result<PathBuf, String> {
    env::var_os(variable).map(PathBuf::from).ok_or_else(|| format!("cargo does not set {variable}"))
}

fn list(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(directory).and_then(|entries| entries.map(|entry| entry.map(|it| it.path())).collect());
    entries.map_err(|error| format!("cannot list {}: {error}", directory.display()))
}
