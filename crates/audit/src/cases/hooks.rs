//! Groups A and H: handlers of hooks, which are components of a world of their own.

use crate::case::{Act, Case, Group, Target};
use crate::guest;
use crate::memory::{SLACK, growth, mebibytes};
use crate::skills::{begin, called};
use crate::trial::{Trial, Trouble, milliseconds};
use serde_json::json;
use skillgate_core::Limits;
use skillgate_exec::{HookCall, HookHandler, HookLoadError, HookReply, Run, RunError};
use skillgate_policy::Effect;
use skillgate_runtime::ToolCall;
use skillgate_runtime::hook::{HookAnswer, HookEvent, HookVerdict, Power};
use std::sync::Arc;
use std::time::{Duration, Instant};

const WASM: &[Target] = &[Target::Wasm];
/// What a handler is asked about.
const EVENT: &[u8] = br#"{"tool_name":"Bash","tool_input":{"command":"ls"}}"#;
/// Wall time of a handler that never ends, milliseconds.
const WALL: u64 = 300;
/// How much later it may end.
const LATE: Duration = Duration::from_millis(500);

pub(super) const CASES: &[Case] = &[
    Case {
        id: 10,
        title: "a hook that floods",
        group: Group::Guests,
        targets: WASM,
        attempt: "a handler of a hook answers with a text of 64 MiB",
        control: "a handler answers with the event that it was given",
        denial: "a fault of the handler, and the host takes no more memory than the handler's own and a few MiB",
        sources: &["class: output without a bound"],
        limit: Duration::from_secs(30),
        act: Act::Here(flood),
    },
    Case {
        id: 11,
        title: "a hook that writes a log",
        group: Group::Guests,
        targets: &[Target::Wasm, Target::Library],
        attempt: "wasm: handlers that import a log and the standard error, and one that answers with 512 KiB of text; library: a \
                  command hook that writes without an end, and one that writes 64 MiB and blocks",
        control: "a handler answers with the event, and a command hook blocks with a line that is told",
        denial: "no log is there to be imported; of a text 10,000 characters are kept, which is said; the host takes a few MiB",
        sources: &["class: a log without a bound"],
        limit: Duration::from_secs(60),
        act: Act::Here(log),
    },
    Case {
        id: 12,
        title: "pointers of a hook",
        group: Group::Guests,
        targets: WASM,
        attempt: "a handler answers with texts that end where numbers do, are longer than its memory, or overflow",
        control: "a handler answers with a text of its memory",
        denial: "a fault of the handler each time; never a failure of the host",
        sources: &["class: lengths and pointers of a guest"],
        limit: Duration::from_secs(30),
        act: Act::Here(pointers),
    },
    Case {
        id: 13,
        title: "imports of a hook",
        group: Group::Guests,
        targets: WASM,
        attempt: "handlers that import sockets, the commands of a command, and a name that nobody has",
        control: "a handler that imports nothing is loaded",
        denial: "each is refused before it is instantiated, with the name of the import",
        sources: &["class: a capability by its name"],
        limit: Duration::from_secs(30),
        act: Act::Here(imports),
    },
    Case {
        id: 14,
        title: "version of a hook's world",
        group: Group::Guests,
        targets: WASM,
        attempt: "a handler for a version that there is not, and one that does not say for which",
        control: "the same handler for the version that there is",
        denial: "each is refused before it is compiled, with both versions",
        sources: &["class: interfaces that only look alike"],
        limit: Duration::from_secs(30),
        act: Act::Here(versions),
    },
    Case {
        id: 15,
        title: "what a hook can find out",
        group: Group::Guests,
        targets: WASM,
        attempt: "handlers that import a clock, randomness and the environment",
        control: "a handler sees the event that it is given, byte for byte",
        denial: "each is refused; there is nothing to ask",
        sources: &["class: fingerprint of the host"],
        limit: Duration::from_secs(30),
        act: Act::Here(observations),
    },
    Case {
        id: 23,
        title: "a hook that allows",
        group: Group::Guests,
        targets: WASM,
        attempt: "a handler of a world with a verdict more, and a command hook that prints that it is allowed",
        control: "a handler that denies is loaded, and denies",
        denial: "the handler is refused with both versions; what the command prints counts as no opinion",
        sources: &["class: a hook's verdict over a denying rule"],
        limit: Duration::from_secs(30),
        act: Act::Here(allows),
    },
    Case {
        id: 24,
        title: "a hook that fails",
        group: Group::Guests,
        targets: WASM,
        attempt: "handlers that trap, never end, or answer with a verdict that is none; a command hook that prints rubbish",
        control: "a handler without an opinion passes, on a gate and elsewhere",
        denial: "on a gate each failure denies; where a hook only watches it changes nothing, and is said",
        sources: &["class: a guard that fails open"],
        limit: Duration::from_secs(30),
        act: Act::Here(failures),
    },
];

fn load(trial: &Trial<'_>, wasm: &[u8]) -> Result<Result<Arc<dyn HookHandler>, HookLoadError>, Trouble> {
    Ok(trial.hooks()?.load("hook", wasm))
}

/// Calls a handler that has to load.
fn call(trial: &Trial<'_>, wasm: &[u8], limits: Limits) -> Result<Result<HookReply, RunError>, Trouble> {
    let handler = load(trial, wasm)?.map_err(|error| Trouble::Broken(format!("a handler is not loaded: {error}")))?;
    Ok(handler.call(HookCall { event: "PreToolUse", input: EVENT, run: &Run::start(limits) }))
}

fn shown(reply: &Result<HookReply, RunError>) -> String {
    match reply {
        Ok(HookReply::Context(text)) => format!("a text of {} bytes", text.len()),
        Ok(reply) => format!("{reply:?}").to_lowercase(),
        Err(error) => error.code().to_owned(),
    }
}

fn flood(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let limits = trial.ground.limits.clone();
    let echoed = call(trial, guest::HOOK_ECHO, limits.clone())?;
    trial.control("the event", &format!("a text of {} bytes", EVENT.len()), shown(&echoed));
    let (reply, grown) = growth(|| call(trial, guest::HOOK_FLOOD, limits));
    trial.denied("64 MiB as an answer", "fault", shown(&reply?));
    // An engine of its own is part of it.
    trial.denied_when("memory of the host", "at most 32 MiB more", grown < 32 << 20, mebibytes(grown));
    Ok(())
}

fn log(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    if trial.subject.target() == Target::Library {
        return command_log(trial);
    }
    let limits = trial.ground.limits.clone();
    let echoed = call(trial, guest::HOOK_ECHO, limits.clone())?;
    trial.control("the event", &format!("a text of {} bytes", EVENT.len()), shown(&echoed));
    refused(trial, "a log", guest::HOOK_IMPORTS_LOGGING, &["wasi:logging/logging@0.1.0"])?;
    refused(trial, "the standard error", guest::HOOK_IMPORTS_STDERR, &["wasi:cli/stderr@0.2.0"])?;
    let reply = call(trial, guest::HOOK_TALKS, limits)?;
    trial.control("a text that the handler gives", "a text of 524288 bytes", shown(&reply));
    let answer = match reply {
        Ok(reply) => HookAnswer::of_reply(HookEvent::PreToolUse, Power::Gate, reply),
        Err(error) => HookAnswer::failed(Power::Gate, error.to_string()),
    };
    let kept: usize = answer.context.iter().map(|text| text.chars().count()).sum();
    trial.denied_when("characters of it that are kept", KEPT, kept <= MOST_KEPT, kept);
    let said = answer.diagnostics.iter().any(|found| found.code.to_string() == "hook-text-cut");
    trial.denied_when("that is said", "hook-text-cut", said, said);
    Ok(())
}

/// What a denied check of a text says.
const KEPT: &str = "10,000 at most, and a mark";
/// Characters of a text of a hook, with the mark of what was cut and whose it is.
const MOST_KEPT: usize = 10_200;

fn command_log(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let line = "x".repeat(1_000);
    let gate = |program: &str| {
        format!("hooks:\n  PreToolUse:\n    - hooks:\n        - type: command\n          command: {program:?}\n")
    };
    let many = format!("i=0; while [ $i -lt 64000 ]; do echo {line} >&2; i=$((i+1)); done; exit 2");
    for (skill, program) in [
        ("brief", "echo not this >&2; exit 2".to_owned()),
        ("long", many),
        ("endless", format!("while :; do echo {line} >&2; done")),
    ] {
        trial.write_skill(skill, &gate(&program), "Guard.")?;
    }
    let turns = trial.ground.limits.loop_turns.min(100_000);
    let limits = trial.ground.limits.clone().lowered_by("loop_turns", turns);
    let limits = limits.map_err(|error| Trouble::Broken(error.to_string()))?;
    let rules = [(Effect::Allow, "Bash(args:*)"), (Effect::Allow, "Skill")];
    let used = ToolCall::new("Bash", json!({"command": "args x"}));
    for (skill, expected) in [("brief", "not this"), ("long", "bytes cut"), ("endless", "failed")] {
        let skills = trial.skills();
        let session = begin(skills.runtime(&rules)?.limits(limits.clone()))?;
        let result = called(&session, skill);
        trial.control(format!("the skill `{skill}` is called"), "called", result);
        let (decision, grown) = growth(|| session.before_tool(&used));
        let decision = decision.map_err(|error| Trouble::Broken(error.to_string()))?;
        let what = format!("what the hook of `{skill}` guards");
        let chars = decision.because.chars().count();
        if skill == "brief" {
            let holds = decision.effect == Effect::Deny && decision.because.contains(expected);
            trial.control_when(what, "denied with its line", holds, decision.because);
            continue;
        }
        let said = decision.effect == Effect::Deny && decision.because.contains(expected);
        trial.denied_when(what, &format!("denied, with `{expected}`"), said, decision.effect);
        trial.denied_when(format!("characters that are kept of `{skill}`"), KEPT, chars <= MOST_KEPT, chars);
        trial.denied_when(format!("memory of the host for `{skill}`"), "a few MiB", grown < SLACK, mebibytes(grown));
    }
    Ok(())
}

fn pointers(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let limits = trial.ground.limits.clone();
    let echoed = call(trial, guest::HOOK_ECHO, limits.clone())?;
    trial.control("a text of its memory", &format!("a text of {} bytes", EVENT.len()), shown(&echoed));
    for (what, wasm) in [
        ("a text that ends where numbers do", guest::HOOK_BEFORE_MEMORY),
        ("a text longer than the memory", guest::HOOK_PAST_MEMORY),
        ("a text that overflows", guest::HOOK_OVERFLOW),
    ] {
        let reply = call(trial, wasm, limits.clone())?;
        trial.denied(what, "fault", shown(&reply));
    }
    Ok(())
}

/// That a handler is refused for this reason.
fn refused(trial: &mut Trial<'_>, what: &str, wasm: &[u8], reasons: &[&str]) -> Result<(), Trouble> {
    let found = match load(trial, wasm)? {
        Ok(_) => "loaded".to_owned(),
        Err(error) => error.to_string(),
    };
    let says = found != "loaded" && reasons.iter().all(|reason| found.contains(reason));
    trial.denied_when(what, &format!("refused with {}", reasons.join(" and ")), says, found);
    Ok(())
}

fn loads(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let passed = call(trial, guest::HOOK_PASS, trial.ground.limits.clone())?;
    trial.control("the same world without it", "pass", shown(&passed));
    Ok(())
}

fn imports(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    loads(trial)?;
    refused(trial, "sockets", guest::HOOK_IMPORTS_SOCKETS, &["wasi:sockets/tcp@0.2.0"])?;
    refused(trial, "commands", guest::HOOK_IMPORTS_COMMANDS, &["skillgate:command/run@0.1.0"])?;
    refused(trial, "a name that nobody has", guest::HOOK_IMPORTS_UNKNOWN, &["`env`"])
}

fn versions(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    loads(trial)?;
    refused(trial, "a version that there is not", guest::HOOK_NEWER, &["0.2", "0.1"])?;
    refused(trial, "no version", guest::HOOK_UNVERSIONED, &["does not say", "0.1"])
}

fn observations(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let echoed = call(trial, guest::HOOK_ECHO, trial.ground.limits.clone())?;
    let same = matches!(&echoed, Ok(HookReply::Context(text)) if text.as_bytes() == EVENT);
    trial.control_when("the event", "byte for byte", same, shown(&echoed));
    refused(trial, "a clock", guest::HOOK_IMPORTS_CLOCK, &["wasi:clocks/wall-clock@0.2.0"])?;
    refused(trial, "randomness", guest::HOOK_IMPORTS_RANDOM, &["wasi:random/random@0.2.0"])?;
    refused(trial, "the environment", guest::HOOK_IMPORTS_ENVIRONMENT, &["wasi:cli/environment@0.2.0"])
}

fn verdict(answer: &HookAnswer) -> &'static str {
    match &answer.verdict {
        HookVerdict::Pass => "pass",
        HookVerdict::Ask(_) => "ask",
        HookVerdict::Deny(_) => "deny",
    }
}

fn printed(power: Power, stdout: &[u8]) -> HookAnswer {
    let end = skillgate_runtime::hook::CommandEnd { status: 0, stdout, lost: 0, stderr: b"" };
    HookAnswer::of_command(HookEvent::PreToolUse, power, &end)
}

fn allows(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let denied = call(trial, guest::HOOK_DENY, trial.ground.limits.clone())?;
    trial.control("a handler that denies", "deny(\"no\")", shown(&denied));
    refused(trial, "a verdict more", guest::HOOK_ALLOW, &["`allow`", "version 0.1", "0.1 here"])?;
    let allowed = printed(Power::Gate, br#"{"hookSpecificOutput":{"permissionDecision":"allow"}}"#);
    trial.denied("a command that prints it", "pass", verdict(&allowed));
    let said = allowed.diagnostics.iter().any(|found| found.code.to_string() == "hook-allow-ignored");
    trial.denied_when("that is said", "hook-allow-ignored", said, said);
    Ok(())
}

fn failures(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let limits = trial.ground.limits.clone();
    let answer = |power, reply: Result<HookReply, RunError>| match reply {
        Ok(reply) => HookAnswer::of_reply(HookEvent::PreToolUse, power, reply),
        Err(error) => HookAnswer::failed(power, error.to_string()),
    };
    for power in [Power::Gate, Power::Observe] {
        let passed = answer(power, call(trial, guest::HOOK_PASS, limits.clone())?);
        trial.control("a handler without an opinion", "pass", verdict(&passed));
    }
    for (what, wasm) in
        [("a trap", guest::HOOK_TRAP), ("a verdict that is none", guest::HOOK_GARBAGE), ("no end", guest::HOOK_LOOP)]
    {
        let short = Limits { wall_ms_injection: WALL, ..limits.clone() };
        let started = Instant::now();
        let reply = call(trial, wasm, short)?;
        if what == "no end" {
            // Compiling does not count, and takes a part of it.
            let took = started.elapsed();
            let in_time = took < Duration::from_millis(WALL) + LATE + Duration::from_secs(5);
            trial.denied_when("the time of one without an end", "its wall time", in_time, milliseconds(took));
        }
        trial.denied(format!("{what}, on a gate"), "deny", verdict(&answer(Power::Gate, reply.clone())));
        let watched = answer(Power::Observe, reply);
        trial.denied(format!("{what}, of one that watches"), "pass", verdict(&watched));
        trial.denied_when(format!("{what} is said"), "a failure", watched.failure.is_some(), watched.failure.is_some());
    }
    trial.denied("rubbish, on a gate", "deny", verdict(&printed(Power::Gate, b"{ rubbish")));
    trial.denied("rubbish, of one that watches", "pass", verdict(&printed(Power::Observe, b"{ rubbish")));
    Ok(())
}
