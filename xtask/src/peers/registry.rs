//! Packs in an OCI registry: Debian's `docker-registry`, started here on this machine alone.

use super::{Peer, require};
use crate::process::{output, run as run_command};
use crate::{Outcome, Root};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const REGISTRY: &[Peer] = &[Peer { program: "docker-registry", package: "docker-registry" }];

/// A registry that ends with this value.
struct Registry {
    child: Child,
    address: String,
}

impl Drop for Registry {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}

pub(super) fn run(root: &Root, skillgate: &Path) -> Outcome {
    println!("==> registry: packs pushed to and installed from an OCI registry");
    require(REGISTRY)?;
    let place = root.target.join("peers/registry");
    if place.exists() {
        fs::remove_dir_all(&place).map_err(|error| format!("{}: {error}", place.display()))?;
    }
    fs::create_dir_all(place.join("team/greet")).map_err(|error| format!("{}: {error}", place.display()))?;
    let registry = start(&place)?;
    let world = World { skillgate: skillgate.to_path_buf(), place };
    exchange(&world, &registry.address)
}

/// Starts the registry on a port that was free a moment ago, and waits for it to say that it listens.
fn start(place: &Path) -> Outcome<Registry> {
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let address = free.map_err(|error| format!("no free port: {error}"))?.to_string();
    let config = format!(
        "version: 0.1\nlog:\n  level: info\nstorage:\n  filesystem:\n    rootdirectory: {}\nhttp:\n  addr: {address}\n",
        place.join("blobs").display()
    );
    let path = place.join("registry.yml");
    fs::write(&path, config).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut command = Command::new("docker-registry");
    command.arg("serve").arg(&path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| format!("cannot start `docker-registry`: {error}"))?;
    let said = child.stderr.take().ok_or("the registry has no standard error")?;
    let registry = Registry { child, address };
    let mut lines = BufReader::new(said).lines();
    let listens = lines.by_ref().map_while(Result::ok).any(|line| line.contains("listening on"));
    if !listens {
        return Err("the registry ended before it listened".to_owned());
    }
    // It stops when nobody reads what it says.
    std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
    Ok(registry)
}

struct World {
    skillgate: PathBuf,
    place: PathBuf,
}

impl World {
    fn skillgate(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.skillgate);
        command
            .args(["--managed", "/nonexistent", "--home"])
            .arg(&self.place)
            .arg("--store")
            .arg(self.place.join("store"))
            .args(arguments)
            .current_dir(&self.place);
        command
    }

    fn says(&self, arguments: &[&str], expected: &str) -> Outcome {
        let said = String::from_utf8_lossy(&output(&mut self.skillgate(arguments))?).into_owned();
        if said.contains(expected) {
            return Ok(());
        }
        Err(format!("`skillgate {}` does not say `{expected}`: {said}", arguments.join(" ")))
    }

    fn fails(&self, arguments: &[&str], expected: &str) -> Outcome {
        let ended = self.skillgate(arguments).output().map_err(|error| error.to_string())?;
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        if !ended.status.success() && said.contains(expected) {
            return Ok(());
        }
        Err(format!("`skillgate {}` should fail with `{expected}`: {said}", arguments.join(" ")))
    }
}

fn exchange(world: &World, address: &str) -> Outcome {
    let text = |words: &str| format!("---\ndescription: Greets.\n---\n{words}\n");
    let skill = world.place.join("team/greet/SKILL.md");
    let write = |words: &str| fs::write(&skill, text(words)).map_err(|error| error.to_string());
    let (first, second) = (format!("oci://{address}/team/manners:1"), format!("oci://{address}/team/manners:2"));
    let build = |version: &str| {
        let arguments = ["pack", "build", "team", "-o", "team.skillpack", "--pack-version", version];
        run_command(world.skillgate(&arguments).stdout(Stdio::null()))
    };
    write("Say hello.")?;
    build("1.0.0")?;
    run_command(world.skillgate(&["pack", "keygen", "-o", "key"]).stdout(Stdio::null()))?;
    run_command(world.skillgate(&["pack", "sign", "team.skillpack", "--key", "key"]).stdout(Stdio::null()))?;
    world.says(&["pack", "push", "team.skillpack", &first], "is published")?;
    world.says(&["pack", "inspect", &first], "skill greet")?;
    world.says(&["pack", "install", &first], "installed")?;
    world.says(&["run", "greet"], "Say hello.")?;
    world.says(&["pack", "outdated"], "is what its source has")?;
    // The tag is moved to something else that nobody signed.
    write("Say something else.")?;
    build("1.0.0")?;
    world.says(&["pack", "push", "team.skillpack", &first], "is published")?;
    world.fails(&["pack", "update", "team"], "is not signed")?;
    world.says(&["run", "greet"], "Say hello.")?;
    world.fails(&["pack", "install", &second], "manifest unknown")?;
    println!("    pushed, inspected, installed, run; a tag that was moved is refused");
    Ok(())
}
