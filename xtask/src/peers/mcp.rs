//! The Model Context Protocol beside its official implementations: the Python SDK as client and as server, and the inspector's
//! command line. What is installed for it stands below `target/peers`.

use super::{Peer, require};
use crate::process::{output, run as run_command};
use crate::{Outcome, Root};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The versions that are driven; another one may name things differently.
const PYTHON_SDK: &str = "mcp==2.3.0";
const INSPECTOR: &str = "@modelcontextprotocol/inspector@0.15.0";

const INTERPRETERS: &[Peer] = &[
    Peer { program: "python3", package: "python3-venv" },
    Peer { program: "node", package: "nodejs" },
    Peer { program: "npm", package: "npm" },
];

pub(super) fn run(root: &Root, skillgate: &Path) -> Outcome {
    println!("==> mcp: the official Python SDK and the inspector (about a minute the first time, for installing them)");
    require(INTERPRETERS)?;
    let peers = root.target.join("peers");
    let python = python(&peers)?;
    let inspector = inspector(&peers)?;
    let fixtures = root.join("tests/fixtures/mcp");
    run_command(
        Command::new(&python).arg(fixtures.join("client.py")).arg(skillgate).args(["--managed", "/nonexistent"]),
    )?;
    inspect(root, skillgate, &inspector)?;
    stranger(skillgate, &python, &fixtures.join("server.py"), &peers)
}

/// The SDK in an environment of its own.
fn python(peers: &Path) -> Outcome<PathBuf> {
    let environment = peers.join("python");
    let python = environment.join("bin/python");
    if !python.exists() {
        run_command(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
    }
    let mut install = Command::new(&python);
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", PYTHON_SDK]);
    run_command(&mut install)?;
    Ok(python)
}

fn inspector(peers: &Path) -> Outcome<PathBuf> {
    let node = peers.join("node");
    let inspector = node.join("node_modules/.bin/mcp-inspector");
    if !inspector.exists() {
        let mut install = Command::new("npm");
        install.args(["install", "--silent", "--no-audit", "--no-fund", "--prefix"]).arg(&node).arg(INSPECTOR);
        run_command(&mut install)?;
    }
    Ok(inspector)
}

/// The inspector's command line lists the tools and calls one, over standard streams.
fn inspect(root: &Root, skillgate: &Path, inspector: &Path) -> Outcome {
    let project = root.join("tests/fixtures/garden");
    let asked = |arguments: &[&str]| {
        let mut command = Command::new(inspector);
        command.arg("--cli").arg(skillgate).args(["--trust", "mcp", "serve"]).args(arguments).current_dir(&project);
        output(&mut command).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    };
    let tools = asked(&["--method", "tools/list"])?;
    expect(
        tools.contains("\"DiscoverSkills\"") && tools.contains("\"Skill\""),
        "the inspector lists the tools",
        &tools,
    )?;
    let found = ["--method", "tools/call", "--tool-name", "DiscoverSkills", "--tool-arg", "description=plant next"];
    let found = asked(&found)?;
    expect(found.contains("\"results\""), "the inspector calls a tool", &found)?;
    let prompts = asked(&["--method", "prompts/list"])?;
    expect(prompts.contains("\"prompts\""), "the inspector lists the prompts", &prompts)?;
    println!("the inspector's command line: as expected");
    Ok(())
}

/// The skills of a server that somebody else wrote: text and nothing else.
fn stranger(skillgate: &Path, python: &Path, server: &Path, peers: &Path) -> Outcome {
    let config = peers.join("mcp.json");
    let json = format!(
        "{{\"mcpServers\": {{\"stranger\": {{\"command\": {:?}, \"args\": [{:?}]}}}}}}\n",
        python.display().to_string(),
        server.display().to_string()
    );
    std::fs::write(&config, json).map_err(|error| format!("cannot write {}: {error}", config.display()))?;
    let mark = Path::new("/tmp/skillgate-was-here");
    if mark.exists() {
        std::fs::remove_file(mark).map_err(|error| format!("cannot remove {}: {error}", mark.display()))?;
    }
    let asked = |arguments: &[&str]| {
        let mut command = Command::new(skillgate);
        command.args(["--managed", "/nonexistent", "--mcp-config"]).arg(&config).args(arguments).current_dir(peers);
        output(&mut command).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    };
    let listed = asked(&["--format", "json", "mcp", "list"])?;
    for part in [
        "mcp__stranger__tidy",
        "mcp__stranger__helper",
        "mcp__stranger__standup",
        "injections-literal",
        "hooks-ignored",
        "tools-not-granted",
        "prompt-needs-arguments",
    ] {
        expect(listed.contains(part), &format!("`mcp list` says {part}"), &listed)?;
    }
    // The host allows all it can, and still nothing of the text runs.
    let run = ["--allow", "Bash", "--allow", "Skill(mcp__stranger__helper)", "run", "mcp__stranger__helper"];
    let text = asked(&run)?;
    for part in ["!`touch /tmp/skillgate-was-here`", "```!\ntouch /tmp/skillgate-was-here\n```"] {
        expect(text.contains(part), "a remote text is delivered as it stands", &text)?;
    }
    expect(!text.contains(&*peers.to_string_lossy()), "no directory of this machine is named in it", &text)?;
    expect(!mark.exists(), "nothing of it ran", &text)?;
    let issue = "mcp__stranger__issue";
    let text = asked(&["--allow", "Skill(mcp__stranger__issue)", "run", issue, "42"])?;
    expect(text.contains("Look at issue 42."), "a prompt takes its argument", &text)?;
    confined(&asked, python, server, peers)?;
    println!("a server written with the official Python SDK: as expected");
    Ok(())
}

/// The same server in the host sandbox, shown its own files, its interpreter's, and nothing else.
fn confined(asked: &dyn Fn(&[&str]) -> Outcome<String>, python: &Path, server: &Path, peers: &Path) -> Outcome {
    let prefix = output(Command::new(python).args(["-c", "import sys; print(sys.base_prefix, end='')"]))?;
    let prefix = PathBuf::from(String::from_utf8_lossy(&prefix).into_owned());
    let directory = server.parent().unwrap_or(server);
    let policy = peers.join("mcp-sandbox.toml");
    let show = [peers.join("python"), prefix, directory.to_path_buf()];
    let show = show.map(|path| format!("{:?}", path.display().to_string()));
    let text = format!("[mcp]\nsandbox = true\nshow = [{}]\nmemory_bytes = 4_294_967_296\n", show.join(", "));
    std::fs::write(&policy, text).map_err(|error| format!("cannot write {}: {error}", policy.display()))?;
    let policy = policy.display().to_string();
    let listed = asked(&["--policy", &policy, "--format", "json", "mcp", "list"])?;
    expect(listed.contains("mcp__stranger__tidy"), "the server runs in the host sandbox", &listed)
}

fn expect(holds: bool, what: &str, found: &str) -> Outcome {
    if holds { Ok(()) } else { Err(format!("{what}: it does not. There is:\n{found}")) }
}
