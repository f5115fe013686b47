//! A call over the Model Context Protocol beside the call itself and a call of a tool that does nothing over the same streams.

use crate::commands::prepared;
use crate::measure::{Measured, in_turns};
use serde_json::{Value, json};
use skillgate_exec::CapabilityShell;
use skillgate_policy::{Defaults, Host, Invoker};
use skillgate_runtime::{InvokeRequest, Runtime, Session, SessionOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;

const SKILLS: usize = 1_000;
/// Pages of a list of that many, the index and the skills that Skillgate brings.
const PAGES: usize = 11;

/// `skillgate mcp serve`, and this program as its client.
struct Server {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    id: u64,
}

impl Server {
    fn start(home: &Path) -> Result<Self, String> {
        let own = std::env::current_exe().map_err(|error| error.to_string())?;
        let program = own.with_file_name(format!("skillgate{}", std::env::consts::EXE_SUFFIX));
        #[expect(clippy::disallowed_methods, reason = "the benchmark's own subject")]
        let mut command = Command::new(&program);
        command.env_clear().env("HOME", home).current_dir(home);
        command.args(["--managed", "/nonexistent", "mcp", "serve"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| format!("{}: {error}", program.display()))?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("the server has no streams".to_owned());
        };
        let mut server = Self { child, stdin, stdout: BufReader::new(stdout), id: 0 };
        server.ask(
            "initialize",
            &json!({
                "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"},
            }),
        )?;
        server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(server)
    }

    fn send(&mut self, message: &Value) -> Result<(), String> {
        writeln!(self.stdin, "{message}").and_then(|()| self.stdin.flush()).map_err(|error| error.to_string())
    }

    fn ask(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        let mut answer = self.answer(method, params)?;
        answer.get_mut("result").map(Value::take).ok_or_else(|| answer.to_string())
    }

    /// The whole answer, which may be an error.
    fn answer(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        self.id += 1;
        let id = self.id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        loop {
            let mut line = String::new();
            self.stdout.read_line(&mut line).map_err(|error| error.to_string())?;
            let answer: Value = serde_json::from_str(&line).map_err(|error| format!("{error}: {line}"))?;
            if answer["id"] == id {
                return Ok(answer);
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _status = self.child.wait();
    }
}

fn skill(home: &Path, name: &str, body: &str) -> Result<(), String> {
    let directory = home.join(".claude/skills").join(name);
    let text = format!("---\nname: {name}\ndescription: Skill {name}.\n---\n{body}\n");
    #[expect(clippy::disallowed_methods, reason = "the benchmark's own files")]
    let written = std::fs::create_dir_all(&directory).and_then(|()| std::fs::write(directory.join("SKILL.md"), text));
    written.map_err(|error| error.to_string())
}

/// A conversation as the server has one: its home is the project as well, and it offers the shipped commands.
fn in_process(home: &Path) -> Result<Arc<Session>, String> {
    let host = Host::new([], Defaults::BuiltIn);
    let shell = CapabilityShell::new(vec![prepared()?]);
    let runtime = Runtime::builder(host, Arc::new(shell)).home(home).project(home).open();
    Ok(runtime.map_err(|error| error.to_string())?.session(SessionOptions::default()))
}

fn expect(holds: bool, found: &impl std::fmt::Debug) -> Result<(), String> {
    if holds { Ok(()) } else { Err(format!("the output differs: {found:?}")) }
}

/// A call of the tool `Skill` beside a call of a tool that gives nothing but its own name back, and the same invocation in this
/// process. The server has no such tool, so that the answer is an error with the name: less than an echo would cost.
pub(crate) fn call(samples: usize) -> Result<Measured, String> {
    let home = tempfile::tempdir().map_err(|error| error.to_string())?;
    skill(home.path(), "greet", "Hello $ARGUMENTS: !`for i in 1 2 3; do echo $i; done`")?;
    let mut server = Server::start(home.path())?;
    let mut floor = Server::start(home.path())?;
    let session = in_process(home.path())?;
    let arguments = json!({"name": "Skill", "arguments": {"skill": "greet", "args": "Ada"}});
    let echo = json!({"name": "echo", "arguments": {"skill": "greet", "args": "Ada"}});
    in_turns(
        samples,
        || {
            let result = server.ask("tools/call", &arguments)?;
            let text = result["content"][0]["text"].as_str().unwrap_or_default();
            expect(text.ends_with("Hello Ada: 1\n2\n3\n"), &result)
        },
        || {
            let echoed = floor.answer("tools/call", &echo)?;
            let said = echoed["error"]["message"].as_str().unwrap_or_default();
            expect(said.contains("`echo`"), &echoed)?;
            let invoked = session.invoke(&InvokeRequest::new("greet", Invoker::Model).arguments("Ada"));
            let text = invoked.map_err(|error| error.to_string())?.text();
            expect(text.ends_with("Hello Ada: 1\n2\n3\n"), &text)
        },
    )
}

/// All pages of a list of skills beside as many empty requests.
pub(crate) fn list(samples: usize) -> Result<Measured, String> {
    let home = tempfile::tempdir().map_err(|error| error.to_string())?;
    for number in 0..SKILLS {
        skill(home.path(), &format!("skill-{number:04}"), "Text.")?;
    }
    let mut server = Server::start(home.path())?;
    let mut floor = Server::start(home.path())?;
    in_turns(
        samples,
        || {
            let (mut cursor, mut listed) = (Value::Null, 0);
            loop {
                let params = if cursor.is_null() { json!({}) } else { json!({"cursor": cursor}) };
                let page = server.ask("resources/list", &params)?;
                // The index and the skills that Skillgate brings are listed too.
                let ours =
                    |resource: &&Value| resource["uri"].as_str().is_some_and(|uri| uri.starts_with("skill://skill-"));
                listed += page["resources"].as_array().map_or(0, |all| all.iter().filter(ours).count());
                cursor = page["nextCursor"].clone();
                if cursor.is_null() {
                    return expect(listed == SKILLS, &listed);
                }
            }
        },
        || (0..PAGES).try_for_each(|_| floor.ask("ping", &json!({})).map(drop)),
    )
}
