//! A wasm handler of a hook beside the machine's shell.

#![expect(
    clippy::disallowed_methods,
    reason = "the floor is a process of the machine's shell, and the handler was built before"
)]

use crate::measure::{Measured, in_turns};
use skillgate_exec::{HookCall, HookLoader as _, HookReply, Run};
use skillgate_exec_wasm::{ChildCompiler, WasmHooks};
use skillgate_policy::builtin_limits;
use std::process::{Command, Stdio};
use std::sync::Arc;

/// What a host tells a hook before a tool is used, at about its usual size.
fn event() -> String {
    let description = "Pushes the branch. ".repeat(20);
    format!(
        r#"{{"session_id":"s","cwd":"/project","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{{"command":"git push --force origin main","description":"{description}"}}}}"#
    )
}

/// The example that `cargo xtask guests` builds: it reads the event as JSON and denies.
pub(crate) fn wasm_call(samples: usize) -> Result<Measured, String> {
    let program = std::env::current_exe().map_err(|error| format!("where is this program: {error}"))?;
    let directory = program.parent().ok_or("the program has no directory")?;
    let built = directory.join("../guest-examples/wasm32-unknown-unknown/release/no_force_push.wasm");
    let wasm = std::fs::read(&built).map_err(|error| format!("{error}: run `cargo xtask guests`"))?;
    let compiler = ChildCompiler::new(directory.join("skillgate-compile"), [] as [&str; 0]);
    let hooks = WasmHooks::new(None, Arc::new(compiler)).map_err(|error| error.to_string())?;
    let handler = hooks.load("no_force_push.wasm", &wasm).map_err(|error| error.to_string())?;
    let event = event();
    let call = || {
        let run = Run::start(builtin_limits());
        match handler.call(HookCall { event: "PreToolUse", input: event.as_bytes(), run: &run }) {
            Ok(HookReply::Deny(_)) => Ok(()),
            other => Err(format!("the handler answered {other:?}")),
        }
    };
    let shell = || {
        let mut command = Command::new("sh");
        command.args(["-c", ":"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        match command.status() {
            Ok(status) if status.success() => Ok(()),
            other => Err(format!("`sh -c :`: {other:?}")),
        }
    };
    in_turns(samples, call, shell)
}
