//! A handler for `PreToolUse`: denies `git push` with `--force` or `-f`, suggests the careful form, and has no opinion on anything
//! else. In a skill:
//!
//! ```yaml
//! hooks:
//!   PreToolUse:
//!     - matcher: Bash
//!       hooks:
//!         - type: wasm
//!           path: hooks/no_force_push.wasm
//! ```

use hook_guest::{Handler, Verdict};
use serde_json::Value;

#[derive(Debug)]
struct NoForcePush;

impl Handler for NoForcePush {
    fn handle(event: String, input: Vec<u8>) -> Verdict {
        if event != "PreToolUse" {
            return Verdict::Pass;
        }
        let Ok(input) = serde_json::from_slice::<Value>(&input) else {
            return Verdict::Deny("the event is not JSON".into());
        };
        // Another tool has no command.
        let command = input.pointer("/tool_input/command").and_then(Value::as_str).unwrap_or_default();
        if forces(command) {
            Verdict::Deny("this push would throw away history: use `git push --force-with-lease`".into())
        } else {
            Verdict::Pass
        }
    }
}

/// Whether one of the commands pushes with force. Reads words, not a shell's grammar: it may deny too much, never too little of
/// what is written plainly.
fn forces(command: &str) -> bool {
    let mut words = command.split(|c: char| c.is_whitespace() || ";|&()".contains(c)).filter(|word| !word.is_empty());
    let is_push = words.by_ref().any(|word| word == "git") && words.by_ref().any(|word| word == "push");
    is_push && words.any(|word| word == "--force" || word == "-f")
}

hook_guest::handler!(NoForcePush);
