//! Group A: what a guest does with time, memory and its stack.

use crate::case::{Act, Case, Group, Target};
use crate::guest::{self, Entry, component};
use crate::memory::{SLACK, growth, mebibytes};
use crate::trial::{Setting, Trial, Trouble, milliseconds};
use std::time::Duration;

const WASM: &[Target] = &[Target::Wasm];
/// The wall time of a guest that does not end by itself.
const WALL: Duration = Duration::from_millis(500);
/// How much later than its deadline a guest may end.
const LATE: Duration = Duration::from_millis(500);
/// The memory of a guest that takes all it gets, bytes.
const CAP: u64 = 64 << 20;

pub(super) const CASES: &[Case] = &[
    Case {
        id: 1,
        title: "endless loop",
        group: Group::Guests,
        targets: WASM,
        attempt: "a guest loops without an end, under a wall time of 500 ms",
        control: "the same guest loops a thousand times and ends well",
        denial: "stopped by wall time or fuel, at most 0.5 s after the deadline, and the thread is free again",
        sources: &["class: endless loop", "class: a host call that circumvents the bound"],
        limit: Duration::from_secs(20),
        act: Act::Here(endless_loop),
    },
    Case {
        id: 2,
        title: "endless loop before the entry",
        group: Group::Guests,
        targets: WASM,
        attempt: "the start section of a module loops without an end",
        control: "a start section that returns, and an entry that sees that it ran",
        denial: "stopped by wall time or fuel, at most 0.5 s after the deadline",
        sources: &["class: work at instantiation"],
        limit: Duration::from_secs(20),
        act: Act::Here(loop_in_start),
    },
    Case {
        id: 3,
        title: "counted instructions",
        group: Group::Guests,
        targets: WASM,
        attempt: "the same guest on the same input, five times, and once more under a bound of half of what it needs",
        control: "the guest needs some instructions, and ends well under that bound and one more",
        denial: "the same count and the same result each time; stopped by fuel under half of it",
        sources: &["class: work that no clock measures twice alike"],
        limit: Duration::from_secs(20),
        act: Act::Here(counted),
    },
    Case {
        id: 4,
        title: "memory bomb",
        group: Group::Guests,
        targets: WASM,
        attempt: "a guest grows its memory and touches it until growing fails, under a bound of 64 MiB",
        control: "the same guest takes 2 MiB",
        denial: "growing fails or the guest is stopped; the host's memory grows by less than the bound and 8 MiB",
        sources: &["class: memory exhaustion", "RUSTSEC-2026-0020"],
        limit: Duration::from_secs(30),
        act: Act::Here(memory_bomb),
    },
    Case {
        id: 5,
        title: "many memories below the bound of one",
        group: Group::Guests,
        targets: WASM,
        attempt: "one module with eight memories of 16 MiB; one component with four modules of 100 MiB each, under 256 MiB",
        control: "one memory of 16 MiB",
        denial: "the module is refused as it is, and the component by the bound on all memories together",
        sources: &["GHSA-q554-3cjc-rx7p", "class: limits per memory instead of in all"],
        limit: Duration::from_secs(30),
        act: Act::Here(many_memories),
    },
    Case {
        id: 6,
        title: "table bomb",
        group: Group::Guests,
        targets: WASM,
        attempt: "a guest grows a table to a hundred million elements",
        control: "the same guest grows it to a thousand",
        denial: "growing fails or the guest is stopped; the host's memory stays as it is",
        sources: &["RUSTSEC-2026-0114", "class: memory exhaustion"],
        limit: Duration::from_secs(30),
        act: Act::Here(table_bomb),
    },
    Case {
        id: 7,
        title: "endless recursion",
        group: Group::Guests,
        targets: WASM,
        attempt: "a function calls itself for ever",
        control: "the same function calls itself ten times",
        denial: "stopped by the bound on the guest's stack; the process goes on",
        sources: &["class: stack exhaustion"],
        limit: Duration::from_secs(20),
        act: Act::Here(recursion),
    },
    Case {
        id: 8,
        title: "long instructions",
        group: Group::Guests,
        targets: WASM,
        attempt: "a guest fills 32 MiB in one instruction, again and again",
        control: "the same instruction once",
        denial: "stopped by wall time or fuel, at most 0.5 s after the deadline",
        sources: &["RUSTSEC-2026-0223: preemption within bulk operations"],
        limit: Duration::from_secs(20),
        act: Act::Here(bulk_operations),
    },
    Case {
        id: 9,
        title: "a host call that waits",
        group: Group::Guests,
        targets: WASM,
        attempt: "a guest reads a stream that nobody writes to, and sleeps for ten minutes",
        control: "the same commands on a stream that ends, and for no time",
        denial: "stopped by wall time or fuel, at most 0.5 s after the deadline",
        sources: &["class: blocking host call"],
        // The commands may have to be compiled first.
        limit: Duration::from_secs(180),
        act: Act::Here(blocking_call),
    },
];

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// A guest around one entry of a module, under the wall time of this group.
fn guest(module: &[u8], entry: Entry) -> Setting {
    Setting::new().guest("probe", component(module, entry)).lower("wall_ms_injection", millis(WALL))
}

/// The same under no other limits than those in force.
fn unhurried(module: &[u8], entry: Entry) -> Setting {
    Setting::new().guest("probe", component(module, entry))
}

impl Trial<'_> {
    /// What had to be stopped by its deadline was, and soon after it.
    fn stopped_in_time(&mut self, what: &str, words: &[&str], setting: &Setting) -> Result<(), Trouble> {
        // Compiling is not the guest's time: a first run under the usual limits would not end.
        let ran = self.vector(words, setting)?;
        let ended = ran.ended.to_string();
        let stopped = matches!(ended.as_str(), "stopped: wall time" | "stopped: fuel");
        self.denied_when(what, "stopped: wall time, or stopped: fuel", stopped, ended);
        let most = WALL + LATE;
        let expected = format!("at most {}", milliseconds(most));
        self.denied_when(format!("{what}: time"), &expected, ran.took <= most, milliseconds(ran.took));
        Ok(())
    }
}

fn endless_loop(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    trial.stopped_in_time("loop for ever", &["probe"], &guest(guest::LOOP, Entry::Attack))?;
    let ran = trial.vector(&["probe"], &unhurried(guest::LOOP, Entry::Control))?;
    trial.control("loop a thousand times", "exit 0", ran.ended);
    Ok(())
}

fn counted(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let setting = unhurried(guest::LOOP, Entry::Control);
    let backend = trial.backend(&setting)?;
    let first = trial.vector_on(backend.as_ref(), &["probe"], &setting)?;
    trial.control("the first run", "exit 0", &first.ended);
    trial.control_when("instructions of the first run", "some", first.fuel > 0, first.fuel);
    for run in ["second", "third", "fourth", "fifth"] {
        let again = trial.vector_on(backend.as_ref(), &["probe"], &setting)?;
        trial.denied(format!("the {run} run"), &first.ended.to_string(), &again.ended);
        trial.denied(format!("instructions of the {run} run"), &first.fuel.to_string(), again.fuel);
    }
    let half = trial.vector_on(backend.as_ref(), &["probe"], &setting.clone().lower("fuel", first.fuel / 2))?;
    trial.denied("under a bound of half", "stopped: fuel", half.ended);
    let enough = trial.vector_on(backend.as_ref(), &["probe"], &setting.lower("fuel", first.fuel + 1))?;
    trial.control("under a bound that is enough", "exit 0", enough.ended);
    Ok(())
}

fn loop_in_start(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    trial.stopped_in_time("loop in the start section", &["probe"], &guest(guest::START_LOOP, Entry::Attack))?;
    let ran = trial.vector(&["probe"], &unhurried(guest::START_ENDS, Entry::Control))?;
    trial.control("a start section that returns", "exit 0", ran.ended);
    Ok(())
}

fn memory_bomb(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let setting = unhurried(guest::GROW, Entry::Attack).lower("memory_bytes", CAP);
    let backend = trial.backend(&setting)?;
    let (ran, grown) = growth(|| trial.vector_on(backend.as_ref(), &["probe"], &setting));
    let ended = ran?.ended.to_string();
    let denied = matches!(ended.as_str(), "exit 1" | "stopped: memory");
    trial.denied_when("take all memory", "exit 1 (growing gave -1) or stopped: memory", denied, ended);
    let expected = format!("less than {}", mebibytes(CAP + SLACK));
    trial.denied_when("growth of the host", &expected, grown < CAP + SLACK, mebibytes(grown));
    let ran = trial.vector(&["probe"], &unhurried(guest::GROW, Entry::Control).lower("memory_bytes", CAP))?;
    trial.control("take 2 MiB", "exit 0", ran.ended);
    Ok(())
}

fn many_memories(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let ran = trial.vector(&["probe"], &unhurried(guest::EIGHT_MEMORIES, Entry::Attack))?;
    trial.denied("eight memories in one module", "unavailable: component", ran.ended);
    let setting = Setting::new().guest("probe", guest::MANY_INSTANCES).lower("memory_bytes", 256 << 20);
    let ran = trial.vector(&["probe"], &setting)?;
    trial.denied("four modules with a memory each", "stopped: memory", ran.ended);
    let ran = trial.vector(&["probe"], &unhurried(guest::ONE_MEMORY, Entry::Control))?;
    trial.control("one memory", "exit 0", ran.ended);
    Ok(())
}

fn table_bomb(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let setting = unhurried(guest::TABLE, Entry::Attack);
    let backend = trial.backend(&setting)?;
    let (ran, grown) = growth(|| trial.vector_on(backend.as_ref(), &["probe"], &setting));
    let ended = ran?.ended.to_string();
    let denied = matches!(ended.as_str(), "exit 1" | "stopped: memory");
    trial.denied_when("a hundred million elements", "exit 1 (growing gave -1) or stopped: memory", denied, ended);
    let expected = format!("less than {}", mebibytes(SLACK));
    trial.denied_when("growth of the host", &expected, grown < SLACK, mebibytes(grown));
    let ran = trial.vector(&["probe"], &unhurried(guest::TABLE, Entry::Control))?;
    trial.control("a thousand elements", "exit 0", ran.ended);
    Ok(())
}

fn recursion(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let ran = trial.vector(&["probe"], &unhurried(guest::RECURSION, Entry::Attack))?;
    trial.denied("call itself for ever", "stopped: stack", ran.ended);
    let ran = trial.vector(&["probe"], &unhurried(guest::RECURSION, Entry::Control))?;
    trial.control("call itself ten times", "exit 0", ran.ended);
    Ok(())
}

fn bulk_operations(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    trial.stopped_in_time("fill memory for ever", &["probe"], &guest(guest::FILL, Entry::Attack))?;
    let ran = trial.vector(&["probe"], &unhurried(guest::FILL, Entry::Control))?;
    trial.control("fill memory once", "exit 0", ran.ended);
    Ok(())
}

fn blocking_call(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let waiting = Setting::new().lower("wall_ms_injection", millis(WALL)).endless_input();
    let controls = [("read a stream that ends", "cat"), ("sleep for no time", "sleep 0")];
    // The controls come first: they compile the commands, which is nobody's deadline.
    for (what, line) in controls {
        let ran = trial.shell(line, &Setting::new())?;
        trial.control(what, "exit 0", ran.ended);
    }
    trial.stopped_in_time("read a stream without an end", &["cat"], &waiting)?;
    let sleeping = Setting::new().lower("wall_ms_injection", millis(WALL));
    trial.stopped_in_time("sleep for ten minutes", &["sleep", "600"], &sleeping)
}
