//! What third parties bring: what is taken, what is not, and what it may cost to find out.

use crate::support::{Setting, run_on, run_third_party};
use proptest::prelude::*;
use skillgate_core::Digest;
use skillgate_exec::{Backend as _, RunError};
use skillgate_exec_wasm::attack::{Attack, CompileBomb, Proposal, caller};
use skillgate_exec_wasm::{
    BackendError, ChildCompiler, CompileBudget, CompileFault, ComponentCaps, ComponentFault, GuestComponent,
    WasmBackend, inspect,
};
use skillgate_policy::Provider;
use skillgate_state::OwnerDir;
use std::path::PathBuf;
use std::sync::Arc;

/// The helper that compiles; it is built with the crate.
pub(crate) fn child() -> ChildCompiler {
    ChildCompiler::new(PathBuf::from(env!("CARGO_BIN_EXE_skillgate-compile")), [] as [&str; 0])
}

fn third_party(wasm: Vec<u8>) -> GuestComponent {
    GuestComponent::third_party("guest", Digest::of(&wasm), move || Ok::<_, String>(wasm.clone()))
}

fn compiled_by(wasm: Vec<u8>, compiler: ChildCompiler) -> Result<WasmBackend, Arc<BackendError>> {
    let backend =
        WasmBackend::builder([third_party(wasm)]).compiler(Arc::new(compiler)).build().expect("the engine starts");
    backend.prepare().map(|()| backend)
}

fn fault_of(wasm: Vec<u8>) -> ComponentFault {
    match compiled_by(wasm, child()).map(drop).map_err(|error| Arc::into_inner(error).expect("nobody else has it")) {
        Err(BackendError::Component { component, fault }) => {
            assert_eq!(component, "guest");
            fault
        }
        other => unreachable!("{other:?}"),
    }
}

fn compile_fault(wasm: Vec<u8>, budget: CompileBudget) -> CompileFault {
    match compiled_by(wasm, child().budget(budget)).map(drop).map_err(|error| Arc::into_inner(error).expect("ours")) {
        Err(BackendError::ThirdParty { fault, .. }) => fault,
        other => unreachable!("{other:?}"),
    }
}

#[test]
fn a_third_partys_component_is_compiled_elsewhere_and_runs_here() {
    let backend = compiled_by(Attack::Spin(1_000).component(), child()).expect("it compiles");
    assert_eq!(backend.provider("guest"), Some(Provider::ThirdParty));
    assert_eq!(run_third_party(&backend, Setting::default()).result, Ok(0));
}

#[test]
fn without_a_compiler_it_is_unavailable_and_a_shipped_one_is_not() {
    let backend = WasmBackend::builder([third_party(Attack::Nothing.component())]).build().expect("the engine starts");
    let ran = run_third_party(&backend, Setting::default());
    assert!(
        matches!(&ran.result, Err(RunError::Unavailable { backend: "wasm", stage: "component", reason }) if reason.contains("no compiler")),
        "{:?}",
        ran.result
    );
    let missing = ChildCompiler::new(PathBuf::from("/nonexistent/compiler"), [] as [&str; 0]);
    match compiled_by(Attack::Nothing.component(), missing)
        .map(drop)
        .map_err(|error| Arc::into_inner(error).expect("ours"))
    {
        Err(BackendError::ThirdParty { fault: CompileFault::Unavailable { .. }, .. }) => {}
        other => unreachable!("{other:?}"),
    }
    assert_eq!(crate::support::run(&Attack::Nothing, Setting::default()).result, Ok(0));
}

#[test]
fn bytes_of_another_digest_are_not_loaded() {
    let wasm = Attack::Nothing.component();
    let other = Attack::Spin(1).component();
    let (wanted, found) = (Digest::of(&wasm), Digest::of(&other));
    let changed = GuestComponent::third_party("guest", wanted, move || Ok::<_, String>(other.clone()));
    let backend = WasmBackend::builder([changed]).compiler(Arc::new(child())).build().expect("the engine starts");
    let error = backend.prepare().expect_err("the digest does not hold");
    match &*error {
        BackendError::Component { fault, .. } => assert_eq!(*fault, ComponentFault::Digest { wanted, found }),
        other => unreachable!("{other:?}"),
    }
    assert!(compiled_by(wasm, child()).is_ok());
}

/// A file that changes after its code was kept is looked at again in the next process, and its old code is not used for it.
#[test]
fn kept_code_does_not_stand_for_a_changed_file() {
    let home = tempfile::tempdir().expect("a directory");
    let wasm = Attack::Nothing.component();
    let digest = Digest::of(&wasm);
    let with = |bytes: Vec<u8>| {
        let cache = OwnerDir::open_ambient(home.path().join("cache")).expect("a directory of our own");
        let component = GuestComponent::third_party("guest", digest, move || Ok::<_, String>(bytes.clone()));
        WasmBackend::builder([component]).compiler(Arc::new(child())).cache(cache).build().expect("the engine starts")
    };
    assert!(with(wasm.clone()).prepare().is_ok());
    // From the cache, without a compiler's work.
    assert!(with(wasm).prepare().is_ok());
    let error = with(Attack::Trap.component()).prepare().expect_err("the digest does not hold");
    assert!(matches!(&*error, BackendError::Component { fault: ComponentFault::Digest { .. }, .. }), "{error}");
}

#[test]
fn compiled_code_from_outside_is_never_loaded() {
    let home = tempfile::tempdir().expect("a directory");
    let cache = || OwnerDir::open_ambient(home.path().join("cache")).expect("a directory of our own");
    let wasm = Attack::Nothing.component();
    let digest = Digest::of(&wasm);
    let component = GuestComponent::new("guest", digest, ["guest"], move || Ok::<_, String>(wasm.clone()));
    WasmBackend::builder([component])
        .cache(cache())
        .build()
        .expect("the engine starts")
        .prepare()
        .expect("it compiles");
    let names = cache().list().expect("lists");
    let [name] = names.as_slice() else { unreachable!("one file was kept: {names:?}") };
    // The very code that this engine made itself.
    let code = cache().read(name, 1 << 30).expect("reads").expect("is there");
    assert_eq!(inspect(&code), Err(ComponentFault::Precompiled));
    assert_eq!(fault_of(code.clone()), ComponentFault::Precompiled);
    let shipped = GuestComponent::new("guest", Digest::of(&code), ["guest"], move || Ok::<_, String>(code.clone()));
    let backend = WasmBackend::builder([shipped]).build().expect("the engine starts");
    let error = backend.prepare().expect_err("it is no WebAssembly");
    assert!(matches!(&*error, BackendError::Compile { .. }), "{error}");
}

#[test]
#[cfg(unix)]
fn kept_code_that_others_could_have_written_is_made_again() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = tempfile::tempdir().expect("a directory");
    let path = home.path().join("cache");
    let cache = || OwnerDir::open_ambient(&path).expect("a directory of our own");
    let prepared = || {
        let wasm = Attack::Nothing.component();
        let component =
            GuestComponent::new("guest", Digest::of(&wasm), ["guest"], move || Ok::<_, String>(wasm.clone()));
        let backend = WasmBackend::builder([component]).cache(cache()).build().expect("the engine starts");
        backend.prepare().expect("it compiles");
        run_on(&backend, Setting::default()).result
    };
    assert_eq!(prepared(), Ok(0));
    let name = cache().list().expect("lists").remove(0);
    let file = path.join(&name);
    let whole = std::fs::read(&file).expect("reads");
    let mode = |mode| std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).expect("a mode");
    for damage in ["open to others", "cut", "foreign"] {
        match damage {
            "open to others" => mode(0o666),
            "cut" => std::fs::write(&file, &whole[..whole.len() / 2]).expect("writes"),
            _ => std::fs::write(&file, b"something else").expect("writes"),
        }
        assert_eq!(prepared(), Ok(0), "{damage}");
        assert_eq!(std::fs::read(&file).expect("reads"), whole, "{damage}: it was made again");
        assert_eq!(std::fs::metadata(&file).expect("is there").permissions().mode() & 0o777, 0o600, "{damage}");
    }
}

#[test]
fn what_is_no_component_is_refused_before_anything_compiles_it() {
    let core = b"\0asm\x01\0\0\0".to_vec();
    assert_eq!(fault_of(core), ComponentFault::CoreModule);
    for wasm in [Vec::new(), b"#!/bin/sh\n".to_vec(), b"\0asm".to_vec(), vec![0x7f, b'E', b'L', b'F']] {
        assert!(matches!(fault_of(wasm.clone()), ComponentFault::Malformed { .. }), "{wasm:?}");
    }
    assert_eq!(fault_of(Attack::OwnResources.component()), ComponentFault::OwnResources);
}

#[test]
fn every_cap_holds_and_just_below_it_a_component_is_looked_at_further() {
    let caps = ComponentCaps::THIRD_PARTY;
    let too_large = |bomb: CompileBomb| match inspect(&Attack::CompileBomb(bomb).component()) {
        Err(ComponentFault::TooLarge { what, cap, .. }) => (what, cap),
        other => unreachable!("{bomb:?}: {other:?}"),
    };
    let number = |cap: usize| u32::try_from(cap).expect("a small number");
    for (bomb, what, cap) in [
        (CompileBomb::Size(number(caps.bytes)), "a size in bytes", caps.bytes as u64),
        (CompileBomb::Body(number(caps.body_bytes) + 8), "a function body in bytes", caps.body_bytes as u64),
        (CompileBomb::Functions(number(caps.functions)), "a number of functions", caps.functions as u64),
        (CompileBomb::Nesting(number(caps.nesting) + 1), "a nesting of blocks", caps.nesting as u64),
        (
            CompileBomb::BranchTargets(caps.branch_targets + 2),
            "a number of branch targets",
            u64::from(caps.branch_targets),
        ),
        (CompileBomb::Locals(5_001, 10), "a number of locals in a function", caps.locals),
        (CompileBomb::Depth(number(caps.depth) + 1), "a depth of components", caps.depth as u64),
    ] {
        assert_eq!(too_large(bomb), (what, cap), "{bomb:?}");
    }
    for bomb in [
        CompileBomb::Body(number(caps.body_bytes) - 64),
        CompileBomb::Functions(number(caps.functions) - 2),
        CompileBomb::Nesting(number(caps.nesting)),
        CompileBomb::BranchTargets(caps.branch_targets - 1),
        CompileBomb::Locals(5_000, 10),
        CompileBomb::Depth(number(caps.depth)),
    ] {
        assert_eq!(inspect(&Attack::CompileBomb(bomb).component()), Ok(()), "{bomb:?}");
    }
}

/// What the engine has switched off does not compile, wherever the component comes from.
#[test]
fn proposals_that_are_switched_off_are_refused() {
    for proposal in Proposal::ALL {
        let attack = Attack::Proposal(*proposal);
        let ran = crate::support::run(&attack, Setting::default());
        assert!(
            matches!(&ran.result, Err(RunError::Unavailable { backend: "wasm", stage: "component", .. })),
            "{proposal:?}: {:?}",
            ran.result
        );
        let fault = compile_fault(attack.component(), CompileBudget::default());
        assert!(matches!(fault, CompileFault::Refused { .. }), "{proposal:?}: {fault:?}");
    }
}

/// What no cap finds, the system ends: each bound of the budget, with the same component compiled under a usual budget.
#[test]
#[cfg(target_os = "linux")]
fn a_compiler_that_takes_too_much_is_ended() {
    // Within every cap, and some seconds of work.
    let bomb = || Attack::CompileBomb(CompileBomb::Locals(4_000, 25_000)).component();
    let usual = CompileBudget::default();
    assert_eq!(compile_fault(bomb(), CompileBudget { wall_ms: 1, ..usual }), CompileFault::Wall(1));
    let memory_bytes = 64 << 20;
    let fault = compile_fault(bomb(), CompileBudget { memory_bytes, ..usual });
    assert!(
        matches!(&fault, CompileFault::Died { .. } | CompileFault::Unavailable { .. }),
        "{fault:?}: a compiler without memory gives no code"
    );
    assert!(compiled_by(Attack::Nothing.component(), child()).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A component with bits flipped or its end cut off: an error, or a guest that ends like any other.
    #[test]
    fn a_damaged_component_is_an_error_or_a_guest(
        flips in prop::collection::vec((any::<prop::sample::Index>(), 0_u8..8), 1..4),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut wasm = caller();
        for (at, bit) in &flips {
            let at = at.index(wasm.len());
            wasm[at] ^= 1 << bit;
        }
        if let Some(cut) = cut {
            wasm.truncate(cut.index(wasm.len()));
        }
        if inspect(&wasm).is_err() {
            return Ok(());
        }
        let ran = run_on(&crate::support::backend(wasm), Setting::limited("wall_ms_injection", 200));
        match ran.result {
            Ok(_)
            | Err(
                RunError::Fault { .. } | RunError::Stopped { .. } | RunError::Refused(_) | RunError::Unavailable { .. },
            ) => {}
            other => prop_assert!(false, "{other:?}"),
        }
    }

    #[test]
    fn any_bytes_are_looked_at_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..512), component in any::<bool>()) {
        let head: &[u8] = if component { b"\0asm\x0d\0\x01\0" } else { b"" };
        let _looked_at = inspect(&[head, &bytes].concat());
    }
}
