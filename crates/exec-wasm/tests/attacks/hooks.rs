//! Handlers of hooks: what is loaded, what a call can do, and what it costs.

use crate::components::child;
use crate::support::lowered;
use skillgate_core::{Digest, Limits};
use skillgate_exec::{Bound, HookCall, HookLoadError, HookLoader as _, HookReply, Run, RunError, Stop};
use skillgate_exec_wasm::attack::{Attack, HookGuest};
use skillgate_exec_wasm::{HOOK_VERSION, WasmHooks};
use skillgate_policy::builtin_limits;
use std::sync::Arc;

fn hooks() -> WasmHooks {
    WasmHooks::new(None, Arc::new(child())).expect("the engine starts")
}

fn call_within(guest: &HookGuest, limits: Limits) -> Result<HookReply, RunError> {
    let handler = hooks()
        .load("guard.wasm", &guest.component())
        .map_err(|error| format!("{guest:?}: {error}"))
        .expect("it loads");
    handler.call(HookCall { event: "PreToolUse", input: br#"{"a":1}"#, run: &Run::start(limits) })
}

fn call(guest: &HookGuest) -> Result<HookReply, RunError> {
    call_within(guest, builtin_limits())
}

fn refusal(wasm: &[u8]) -> HookLoadError {
    hooks().load("guard.wasm", wasm).map(drop).expect_err("it is refused")
}

#[test]
fn each_verdict_arrives() {
    for (guest, reply) in [
        (HookGuest::Pass, HookReply::Pass),
        (HookGuest::Deny("no ⛔"), HookReply::Deny("no ⛔".to_owned())),
        (HookGuest::Ask("sure?"), HookReply::Ask("sure?".to_owned())),
        (HookGuest::Context("mind the gap"), HookReply::Context("mind the gap".to_owned())),
        (HookGuest::Echo, HookReply::Context(r#"{"a":1}"#.to_owned())),
        (HookGuest::Rewrite("{}"), HookReply::Rewrite(b"{}".to_vec())),
        (HookGuest::VerdictNumber(0), HookReply::Pass),
        (HookGuest::Flood(1_000), HookReply::Context("\0".repeat(1_000))),
    ] {
        assert_eq!(call(&guest), Ok(reply), "{guest:?}");
    }
}

#[test]
fn a_component_of_another_world_is_refused_with_both_versions() {
    for (guest, found, reason) in [
        (HookGuest::Version(None), None, "does not say"),
        (HookGuest::Version(Some("0.2")), Some("0.2"), "0.2"),
        (HookGuest::Version(Some("0.10")), Some("0.10"), "0.10"),
        (HookGuest::Version(Some("1.0.0")), Some("1.0.0"), "1.0.0"),
    ] {
        let error = refusal(&guest.component());
        assert_eq!(error, HookLoadError::Version { found: found.map(str::to_owned), here: HOOK_VERSION });
        let text = error.to_string();
        assert!(text.contains(reason) && text.contains(HOOK_VERSION), "{text}");
    }
    for (guest, reason) in [
        (HookGuest::AnotherVerdict("allow"), "its verdict has `allow`; there are pass, deny, ask, context, rewrite"),
        (HookGuest::FewerVerdicts, "type of `handle`"),
        (HookGuest::NoExport, "does not export"),
        (HookGuest::Import("wasi:clocks/wall-clock@0.2.0"), "imports `wasi:clocks/wall-clock@0.2.0`"),
        (HookGuest::Import("env"), "imports `env`"),
    ] {
        match refusal(&guest.component()) {
            HookLoadError::World { found, here, reason: said } => {
                assert_eq!((found.as_str(), here), ("0.1", HOOK_VERSION));
                assert!(said.contains(reason), "{guest:?}: {said}");
            }
            other => unreachable!("{guest:?}: {other:?}"),
        }
    }
    // The same with the version and the world that are here: the control.
    assert_eq!(call(&HookGuest::Version(Some("0.1"))), Ok(HookReply::Pass));
    assert_eq!(call(&HookGuest::Version(Some("0.1.0"))), Ok(HookReply::Pass));
}

#[test]
fn what_no_component_may_have_no_handler_has() {
    let command = Attack::Nothing.component();
    assert!(matches!(refusal(&command), HookLoadError::Version { found: None, .. }));
    assert!(
        matches!(refusal(b"\0asm\x01\0\0\0"), HookLoadError::Unusable { reason } if reason.contains("core module"))
    );
    assert!(matches!(refusal(b"not wasm"), HookLoadError::Unusable { .. }));
    let cut = HookGuest::Pass.component();
    assert!(matches!(refusal(&cut[..cut.len() - 9]), HookLoadError::Unusable { .. }));
}

#[test]
fn a_call_ends_at_its_limits() {
    let stop = |bound| Err(RunError::Stopped { command: "guard.wasm".to_owned(), stop: Stop::Bound(bound) });
    let fuel = lowered("fuel", 1_000_000);
    assert_eq!(call_within(&HookGuest::Spin, fuel), stop(Bound::Fuel(1_000_000)));
    let time = lowered("wall_ms_injection", 50);
    assert_eq!(call_within(&HookGuest::Spin, time), stop(Bound::WallTime(50)));
    let memory = lowered("memory_bytes", 1 << 20);
    assert_eq!(call_within(&HookGuest::GrowMemory, memory.clone()), stop(Bound::Memory(1 << 20)));
    assert_eq!(call_within(&HookGuest::Pass, memory), Ok(HookReply::Pass));
}

#[test]
fn a_cancelled_run_calls_nothing() {
    let handler = hooks().load("guard.wasm", &HookGuest::Pass.component()).expect("it loads");
    let run = Run::start(builtin_limits());
    run.cancel();
    let called = handler.call(HookCall { event: "Stop", input: b"{}", run: &run });
    assert_eq!(called, Err(RunError::Stopped { command: "guard.wasm".to_owned(), stop: Stop::Cancelled }));
}

#[test]
fn what_breaks_the_interface_is_a_fault_of_the_handler() {
    for guest in [
        HookGuest::Trap,
        HookGuest::OutOfMemory(0xffff_fff0, 16),
        HookGuest::OutOfMemory(0, 1 << 20),
        HookGuest::OutOfMemory(16, u32::MAX),
        HookGuest::VerdictNumber(5),
        HookGuest::VerdictNumber(255),
        // More than the host takes for an answer.
        HookGuest::Flood(8 << 20),
    ] {
        assert!(matches!(call(&guest), Err(RunError::Fault { .. })), "{guest:?}: {:?}", call(&guest));
    }
}

#[test]
fn nothing_of_a_call_is_left_for_the_next() {
    let handler = hooks().load("guard.wasm", &HookGuest::Remember.component()).expect("it loads");
    for _ in 0..3 {
        let run = Run::start(builtin_limits());
        assert_eq!(handler.call(HookCall { event: "Stop", input: b"{}", run: &run }), Ok(HookReply::Pass));
    }
}

#[test]
fn the_world_of_a_track_is_frozen() {
    let frozen = "8858877bfb00c4c95a033f2d129b729670b4214e09ab84b10b285beef9940f94";
    assert_eq!(
        Digest::of(include_bytes!("../../../../wit/hook/0.1/hook.wit")).to_string(),
        frozen,
        "a change is a new track: leave wit/hook/0.1 as it is and add wit/hook/0.2"
    );
}
