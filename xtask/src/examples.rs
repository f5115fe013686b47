//! The commands and hooks of `guest-examples`, which somebody else could have written: built as docs/writing-a-command.md and
//! docs/hooks.md say.

use crate::process::{cargo, output, run as run_command};
use crate::{Outcome, Root, peers, setup};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const TARGET: &str = "wasm32-wasip2";
/// A handler of a hook imports nothing, so it is compiled for a target without a system.
const HOOK_TARGET: &str = "wasm32-unknown-unknown";
/// The world of hooks, for the linker of one in C.
const HOOK_WORLD: &str = "wit/hook/0.1/hook.wit";
/// The sources, and what is built of them below the build directory.
const EXAMPLES: &str = "guest-examples";
/// Where Debian puts the headers of its C library for WebAssembly.
const HEADERS: &str = "/usr/include/wasm32-wasi";

/// Builds the examples in Rust. Tests of the command run them.
pub(crate) fn build_rust(root: &Root) -> Outcome {
    println!("    building the examples of a command and a hook in Rust (some seconds)");
    for (package, target) in [("longest-line", TARGET), ("no-force-push", HOOK_TARGET)] {
        setup::ensure_target(root, target)?;
        run_command(&mut in_examples(
            root,
            ["build", "--quiet", "--release", "--locked", "--package", package, "--target", target],
        ))?;
    }
    Ok(())
}

/// What of the examples runs on this machine: a handler that allows does not compile.
pub(crate) fn test_rust(root: &Root) -> Outcome {
    run_command(&mut in_examples(root, ["test", "--quiet", "--locked", "--package", "hook-guest"]))
}

fn in_examples<const N: usize>(root: &Root, arguments: [&str; N]) -> Command {
    let mut command = cargo(root, arguments);
    command.current_dir(root.join(EXAMPLES)).env("CARGO_TARGET_DIR", root.target.join(EXAMPLES));
    command.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
    command
}

/// Builds the examples in C and runs them with the command, which has been built: the command as one that a policy names, the
/// hook as that of a skill.
pub(crate) fn run_c(root: &Root, program: &Path) -> Outcome {
    println!("==> C: a command written in C, from its source to its output");
    peers::require(peers::COMPILER)?;
    if !Path::new(HEADERS).join("stdio.h").is_file() {
        peers::install(&["wasi-libc"])?;
    }
    setup::ensure_target(root, TARGET)?;
    let place = root.target.join(EXAMPLES).join("c");
    fs::create_dir_all(&place).map_err(|error| format!("cannot create {}: {error}", place.display()))?;
    let component = build_c(root, &place, "shout/shout.c", &[])?;
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
    run_c_hook(root, program, &place)
}

/// A skill with the hook in C, and what it answers to two events.
fn run_c_hook(root: &Root, program: &Path, place: &Path) -> Outcome {
    println!("==> C: a hook written in C, from its source to its verdict");
    let built = build_c(root, place, "keep-going/keep_going.c", &["--no-entry", "--component-type", HOOK_WORLD])?;
    let project = place.join("project");
    let skill = project.join(".claude/skills/keep-going");
    let written = fs::create_dir_all(&skill)
        .and_then(|()| fs::copy(&built, skill.join("keep_going.wasm")).map(drop))
        .and_then(|()| fs::write(skill.join("SKILL.md"), C_HOOK));
    written.map_err(|error| format!("cannot write the skill: {error}"))?;
    for (message, verdict) in [("TODO: write the tests", "deny"), ("all done", "pass")] {
        let event = place.join("stop.json");
        fs::write(&event, format!("{{\"last_assistant_message\": \"{message}\"}}\n"))
            .map_err(|error| format!("cannot write the event: {error}"))?;
        let mut command = Command::new(program);
        command.arg("--project").arg(&project).arg("--store").arg(place.join("store")).arg("--home").arg(place);
        command.args(["--trust", "--format", "json", "hooks", "test", "Stop", "--input"]).arg(&event);
        let printed = String::from_utf8_lossy(&output(command.stdin(Stdio::null()))?).into_owned();
        if !printed.contains(&format!("\"verdict\": \"{verdict}\"")) {
            return Err(format!("the hook did not {verdict} {message:?}: {printed}"));
        }
    }
    println!("    `keep-going` compiles, is loaded and answers as it must");
    Ok(())
}

/// The skill of the hook in C.
const C_HOOK: &str = "\
---
description: Keeps going as long as something is promised for later.
hooks:
  Stop:
    - hooks:
        - type: wasm
          path: keep_going.wasm
---
Work until nothing is left.
";

/// Compiles and links one source. `link` stands before the objects; a file in it is from the root of the repository.
fn build_c(root: &Root, place: &Path, source: &str, link: &[&str]) -> Outcome<PathBuf> {
    let (object, component) = (place.join(source).with_extension("o"), place.join(source).with_extension("wasm"));
    if let Some(parent) = object.parent() {
        fs::create_dir_all(parent).map_err(|error| format!("cannot create {}: {error}", parent.display()))?;
    }
    let mut clang = Command::new("clang");
    clang.args(["--target=wasm32-wasi", "-isystem", HEADERS, "-O2", "-c"]);
    run_command(clang.arg(root.join(EXAMPLES).join(source)).arg("-o").arg(&object))?;
    let ask = |arguments: &[&str]| -> Outcome<PathBuf> {
        let printed = output(Command::new("rustc").args(arguments).current_dir(&root.directory))?;
        Ok(PathBuf::from(String::from_utf8_lossy(&printed).trim()))
    };
    // Rust's own target brings the linker and the C library for components.
    let host = ask(&["--print", "target-libdir"])?;
    let host = host.parent().map(|target| target.join("bin")).ok_or("the toolchain has no directory of its own")?;
    let libc = ask(&["--print", "target-libdir", "--target", TARGET])?.join("self-contained");
    let mut linker = Command::new(host.join("wasm-component-ld"));
    linker.current_dir(&root.directory).arg("--wasm-ld-path").arg(host.join("gcc-ld/wasm-ld")).args(link);
    if link.is_empty() {
        // A command has a `main`, which somebody has to call.
        linker.arg(libc.join("crt1-command.o"));
    }
    linker.arg(&object).arg("-L").arg(&libc).arg("-lc").arg("-o").arg(&component);
    run_command(&mut linker)?;
    Ok(component)
}
