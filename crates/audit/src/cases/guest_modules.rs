//! Group A: what a module is, and what is left of one guest for another.

use crate::bomb;
use crate::case::{Act, Case, Group, Target};
use crate::ended::Ended;
use crate::guest::{self, Entry, component};
use crate::memory::{growth, mebibytes};
use crate::subject::{Probe, ProbeForm};
use crate::trial::{Setting, Trial, Trouble, milliseconds};
use skillgate_core::Digest;
use skillgate_exec::{Backend, RunError};
use skillgate_exec_wasm::{GuestComponent, WasmBackend};
use skillgate_state::OwnerDir;
use std::sync::Arc;
use std::time::Duration;

const WASM: &[Target] = &[Target::Wasm];
/// How many broken modules are offered in one run of the suite.
const BROKEN_MODULES: usize = 1_000;

pub(super) const CASES: &[Case] = &[
    Case {
        id: 16,
        title: "modules that need proposals",
        group: Group::Guests,
        targets: WASM,
        attempt: "shared memory, 64-bit memory, objects of a collector, exceptions, tail calls, relaxed SIMD, typed references",
        control: "a module without any of them",
        denial: "each is refused before anything of it runs",
        sources: &["RUSTSEC-2025-0118", "RUSTSEC-2024-0440", "class: corruption of a collector's heap"],
        limit: Duration::from_secs(20),
        act: Act::Here(proposals),
    },
    Case {
        id: 17,
        title: "modules that are costly to compile",
        group: Group::Guests,
        targets: WASM,
        attempt: "64 MiB in one module; a function of 4 MiB; a million functions; 20,000 nested blocks and branch targets; 49,000 \
                  locals that ten thousand branches join",
        control: "a small module goes the same way and runs",
        denial: "each is refused within two seconds, before anything of it runs, and the host takes no more memory than the \
                 module a few times over",
        sources: &["class: compile bomb"],
        limit: Duration::from_secs(60),
        act: Act::Here(compile_bombs),
    },
    Case {
        id: 18,
        title: "broken modules",
        group: Group::Guests,
        targets: WASM,
        attempt: "a thousand modules that are cut off, have a bit changed, or are noise",
        control: "the module that they were made of",
        denial: "an error of the component, a trap or a limit; never a failure of the host",
        sources: &["RUSTSEC-2024-0441", "class: parser of hostile bytes"],
        limit: Duration::from_secs(120),
        act: Act::Here(broken_modules),
    },
    Case {
        id: 19,
        title: "compiled code offered as a module",
        group: Group::Guests,
        targets: WASM,
        attempt: "the compiled form of a harmless component is offered where a component is expected",
        control: "the component itself",
        denial: "refused before anything of it runs; compiled code is never taken from a skill",
        sources: &["class: deserialising untrusted compiled code"],
        limit: Duration::from_secs(30),
        act: Act::Here(compiled_code),
    },
    Case {
        id: 20,
        title: "state after a trap",
        group: Group::Guests,
        targets: WASM,
        attempt: "a guest changes a global and its memory, traps, and is run again",
        control: "the same guest sees its changes within one run",
        denial: "the second run finds nothing of the first, and traps as it did",
        sources: &["RUSTSEC-2026-0223", "RUSTSEC-2026-0088"],
        limit: Duration::from_secs(20),
        act: Act::Here(state_after_a_trap),
    },
    Case {
        id: 21,
        title: "memory of another guest",
        group: Group::Guests,
        targets: WASM,
        attempt: "one guest fills its memory with a marker; another looks for it in all the memory it can get",
        control: "a guest finds a marker that it wrote itself",
        denial: "the marker is not there",
        sources: &["RUSTSEC-2026-0088: leak between pooled instances"],
        limit: Duration::from_secs(30),
        act: Act::Here(memory_of_another),
    },
    Case {
        id: 22,
        title: "module changed after it was chosen",
        group: Group::Guests,
        targets: WASM,
        attempt: "a component whose bytes are not those whose digest was recorded",
        control: "the same bytes with their own digest",
        denial: "refused because of the digest, before anything of it runs",
        sources: &["class: check and use of different bytes"],
        limit: Duration::from_secs(20),
        act: Act::Here(changed_module),
    },
];

fn proposals(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    for (what, module) in [
        ("shared memory", guest::PROPOSAL_THREADS),
        ("64-bit memory", guest::PROPOSAL_MEMORY64),
        ("objects of a collector", guest::PROPOSAL_GC),
        ("exceptions", guest::PROPOSAL_EXCEPTIONS),
        ("tail calls", guest::PROPOSAL_TAIL_CALL),
        ("relaxed SIMD", guest::PROPOSAL_RELAXED_SIMD),
        ("typed function references", guest::PROPOSAL_FUNCTION_REFERENCES),
    ] {
        let ran = trial.vector(&["probe"], &Setting::new().guest("probe", component(module, Entry::Attack)))?;
        trial.denied(what, "unavailable: component", ran.ended);
    }
    plain_control(trial, "none of them")
}

fn plain_control(trial: &mut Trial<'_>, what: &str) -> Result<(), Trouble> {
    let setting = Setting::new().guest("probe", component(guest::PLAIN, Entry::Control));
    let ran = trial.vector(&["probe"], &setting)?;
    trial.control(what, "exit 0", ran.ended);
    Ok(())
}

fn broken_modules(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let whole = component(guest::LOOP, Entry::Control);
    let mut noise = Noise(0x9e37_79b9_7f4a_7c15);
    let mut surprises = Vec::new();
    let mut answered = 0usize;
    // A backend is made for many at once: what a module does to the engine, the next ones would show.
    for batch in 0..BROKEN_MODULES / 250 {
        let mut setting = Setting::new().lower("wall_ms_injection", 100);
        let names: Vec<String> = (0..250).map(|index| format!("broken-{batch}-{index}")).collect();
        for name in &names {
            setting = setting.guest(name, noise.broken(&whole));
        }
        let backend = trial.backend(&setting)?;
        for name in &names {
            let ended = trial.vector_on(backend.as_ref(), &[name.as_str()], &setting)?.ended;
            match &ended {
                Ended::Error(RunError::Host { .. } | RunError::Refused(_)) | Ended::Unsupported(_) => {
                    surprises.push(format!("{name}: {ended}"));
                }
                _ => answered += 1,
            }
        }
    }
    let expected = format!("{BROKEN_MODULES} answers, none of them a failure of the host");
    let found = match surprises.first() {
        None => format!("{answered} answers"),
        Some(first) => format!("{} failures of the host; {first}", surprises.len()),
    };
    let holds = surprises.is_empty() && answered == BROKEN_MODULES;
    trial.denied_when("broken modules", &expected, holds, found);
    let ran = trial.vector(&["probe"], &Setting::new().guest("probe", whole))?;
    trial.control("the module they were made of", "exit 0", ran.ended);
    Ok(())
}

fn compile_bombs(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    const MOST: Duration = Duration::from_secs(2);
    for (what, module) in [
        ("64 MiB", bomb::large(64 << 20)),
        ("a function of 4 MiB", bomb::long_function(4 << 20)),
        ("a million functions", bomb::many_functions(1_000_000)),
        ("20,000 nested blocks", bomb::nested_blocks(20_000)),
        ("49,000 locals", bomb::many_locals(49_000, 10_000)),
    ] {
        let size = module.len() as u64;
        let setting = Setting::new().guest("probe", component(&module, Entry::Control));
        drop(module);
        let backend = trial.backend(&setting)?;
        let (ran, grown) = growth(|| trial.vector_on(backend.as_ref(), &["probe"], &setting));
        let ran = ran?;
        trial.denied(what, "unavailable: component", &ran.ended);
        let expected = format!("at most {}", milliseconds(MOST));
        trial.denied_when(format!("{what}: time"), &expected, ran.took <= MOST, milliseconds(ran.took));
        let most = 3 * size + (16 << 20);
        trial.denied_when(
            format!("{what}: growth of the host"),
            &format!("less than {}", mebibytes(most)),
            grown < most,
            mebibytes(grown),
        );
    }
    plain_control(trial, "a small module")
}

/// Numbers that look random and are the same in every run, so that what is found is found again.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % (bound.max(1) as u64)).unwrap_or(0)
    }

    /// The bytes with something wrong about them.
    fn broken(&mut self, whole: &[u8]) -> Vec<u8> {
        let mut bytes = whole.to_vec();
        match self.below(3) {
            0 => bytes.truncate(self.below(whole.len())),
            1 => {
                let at = self.below(bytes.len());
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << self.below(8);
                }
            }
            _ => {
                // The preamble stays, so that more than the first check is reached.
                for at in 8..bytes.len() {
                    if self.below(8) == 0
                        && let Some(byte) = bytes.get_mut(at)
                    {
                        *byte = self.next().to_le_bytes()[0];
                    }
                }
            }
        }
        bytes
    }
}

fn compiled_code(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let compiled = compile()?;
    let ran = trial.vector(&["probe"], &Setting::new().guest("probe", compiled))?;
    trial.denied("compiled code", "unavailable: component", ran.ended);
    plain_control(trial, "the component itself")
}

/// The compiled form of the plain guest, as the backend keeps it in a cache of its own.
fn compile() -> Result<Vec<u8>, Trouble> {
    let broken = |what: &str, error: &dyn std::fmt::Display| Trouble::Broken(format!("{what}: {error}"));
    let bytes = component(guest::PLAIN, Entry::Control);
    // A directory of our own: the field is open to everybody, where no cache may be.
    let own = tempfile::tempdir()?;
    let kept = own.path().join("compiled");
    let cache = OwnerDir::open_ambient(&kept).map_err(|error| broken("a cache", &error))?;
    let probe = GuestComponent::new("plain", Digest::of(&bytes), ["plain"], move || Ok::<_, String>(bytes.clone()));
    let backend = WasmBackend::builder([probe]).cache(cache).build().map_err(|error| broken("a backend", &error))?;
    backend.prepare().map_err(|error| broken("compiling", &error))?;
    for entry in std::fs::read_dir(&kept)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "cwasm") {
            return Ok(std::fs::read(path)?);
        }
    }
    Err(Trouble::Broken("the cache holds no compiled component".to_owned()))
}

fn state_after_a_trap(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let setting = Setting::new().guest("probe", component(guest::REMEMBER, Entry::Attack));
    let backend: Arc<dyn Backend> = trial.backend(&setting)?;
    let first = trial.vector_on(backend.as_ref(), &["probe"], &setting)?.ended;
    let trapped = matches!(first, Ended::Error(RunError::Fault { .. }));
    trial.control_when("the first run traps", "fault", trapped, &first);
    for what in ["the second run", "the third run"] {
        let again = trial.vector_on(backend.as_ref(), &["probe"], &setting)?.ended;
        trial.denied(what, &first.to_string(), again);
    }
    let setting = Setting::new().guest("probe", component(guest::REMEMBER, Entry::Control));
    let ran = trial.vector(&["probe"], &setting)?;
    trial.control("changes are seen within one run", "exit 0", ran.ended);
    Ok(())
}

fn memory_of_another(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let setting = Setting::new()
        .guest("marker", component(guest::MARKER, Entry::Attack))
        .guest("scan", component(guest::SCAN, Entry::Attack))
        .guest("own", component(guest::SCAN, Entry::Control));
    let backend = trial.backend(&setting)?;
    // Several times, so that a slot which is used again is met.
    for _ in 0..8 {
        let left = trial.vector_on(backend.as_ref(), &["marker"], &setting)?;
        if left.ended != Ended::Exit(0) {
            return Err(Trouble::Broken(format!("the marker was not written: {}", left.ended)));
        }
        let ran = trial.vector_on(backend.as_ref(), &["scan"], &setting)?;
        trial.denied("look for the other's marker", "exit 0", ran.ended);
    }
    let ran = trial.vector_on(backend.as_ref(), &["own"], &setting)?;
    trial.control("look for one's own marker", "exit 0", ran.ended);
    Ok(())
}

fn changed_module(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let bytes: Arc<[u8]> = component(guest::PLAIN, Entry::Control).into();
    let chosen = Digest::of(guest::PLAIN);
    let probe = |digest| Probe {
        command: "probe".to_owned(),
        form: ProbeForm::Component { bytes: Arc::clone(&bytes), digest },
    };
    let ran = trial.vector(&["probe"], &Setting::new().probe(probe(chosen)))?;
    trial.denied("other bytes than those that were chosen", "unavailable: component", &ran.ended);
    let names_both = ran.ended.message().contains(&chosen.to_string());
    trial.denied_when("the reason", "names the digest that was recorded", names_both, ran.ended.message());
    let ran = trial.vector(&["probe"], &Setting::new().probe(probe(Digest::of(&bytes))))?;
    trial.control("the bytes that were chosen", "exit 0", ran.ended);
    Ok(())
}
