//! The commands of `guest-examples`, which somebody else could have written: built as docs/writing-a-command.md says.

use crate::process::{cargo, output, run as run_command};
use crate::{Outcome, Root, peers, setup};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const TARGET: &str = "wasm32-wasip2";
/// The sources, and what is built of them below the build directory.
const EXAMPLES: &str = "guest-examples";
/// Where Debian puts the headers of its C library for WebAssembly.
const HEADERS: &str = "/usr/include/wasm32-wasi";

/// Builds the example in Rust. A test of the command runs it.
pub(crate) fn build_rust(root: &Root) -> Outcome {
    setup::ensure_target(root, TARGET)?;
    println!("    building the example of a command in Rust (some seconds)");
    let mut command = cargo(root, ["build", "--quiet", "--release", "--locked", "--target", TARGET]);
    command.current_dir(root.join(EXAMPLES)).env("CARGO_TARGET_DIR", root.target.join(EXAMPLES));
    run_command(command.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS"))
}

/// Builds the example in C, names it in a policy and runs it with the command, which has been built.
pub(crate) fn run_c(root: &Root, program: &Path) -> Outcome {
    println!("==> C: a command written in C, from its source to its output");
    peers::require(peers::COMPILER)?;
    if !Path::new(HEADERS).join("stdio.h").is_file() {
        peers::install(&["wasi-libc"])?;
    }
    setup::ensure_target(root, TARGET)?;
    let place = root.target.join(EXAMPLES).join("c");
    fs::create_dir_all(&place).map_err(|error| format!("cannot create {}: {error}", place.display()))?;
    let component = build_c(root, &place)?;
    let sum = output(Command::new("sha256sum").arg(&component))?;
    let digest = String::from_utf8_lossy(&sum).split_whitespace().next().unwrap_or_default().to_owned();
    let policy = place.join("policy.toml");
    let text = format!("[components.shout]\npath = {:?}\nsha256 = \"{digest}\"\n", component.display().to_string());
    fs::write(&policy, text).map_err(|error| format!("cannot write {}: {error}", policy.display()))?;
    fs::write(place.join("words.txt"), "two words\n").map_err(|error| format!("cannot write the input: {error}"))?;
    for (line, expected) in [("shout words.txt", "TWO WORDS\n"), ("echo one | shout", "ONE\n")] {
        let mut command = Command::new(program);
        command.arg("--policy").arg(&policy).arg("--project").arg(&place).arg("--store").arg(place.join("store"));
        command.args(["--allow", "Bash", "sandbox", "run", "--", line]).stdin(Stdio::null());
        let printed = String::from_utf8_lossy(&output(&mut command)?).into_owned();
        if printed != expected {
            return Err(format!("`{line}` printed {printed:?} instead of {expected:?}"));
        }
    }
    println!("    `shout` compiles, passes the policy's check and prints what it must");
    Ok(())
}

fn build_c(root: &Root, place: &Path) -> Outcome<PathBuf> {
    let (object, component) = (place.join("shout.o"), place.join("shout.wasm"));
    let mut clang = Command::new("clang");
    clang.args(["--target=wasm32-wasi", "-isystem", HEADERS, "-O2", "-c"]);
    run_command(clang.arg(root.join(EXAMPLES).join("shout/shout.c")).arg("-o").arg(&object))?;
    let ask = |arguments: &[&str]| -> Outcome<PathBuf> {
        let printed = output(Command::new("rustc").args(arguments).current_dir(&root.directory))?;
        Ok(PathBuf::from(String::from_utf8_lossy(&printed).trim()))
    };
    // Rust's own target brings the linker and the C library for components.
    let host = ask(&["--print", "target-libdir"])?;
    let host = host.parent().map(|target| target.join("bin")).ok_or("the toolchain has no directory of its own")?;
    let libc = ask(&["--print", "target-libdir", "--target", TARGET])?.join("self-contained");
    let mut link = Command::new(host.join("wasm-component-ld"));
    link.arg("--wasm-ld-path").arg(host.join("gcc-ld/wasm-ld"));
    link.arg(libc.join("crt1-command.o")).arg(&object).arg("-L").arg(&libc).arg("-lc").arg("-o").arg(&component);
    run_command(&mut link)?;
    Ok(component)
}
