//! Time, fuel, memory, stack and output.

use crate::support::{Setting, backend, run, run_on};
use skillgate_exec::{Bound, RunError, Stop};
use skillgate_exec_wasm::attack::Attack;

fn stopped(attack: &Attack, setting: Setting, bound: Bound) {
    assert_eq!(run(attack, setting).stop(), Stop::Bound(bound), "{attack:?}");
}

fn succeeds(attack: &Attack, setting: Setting) {
    assert_eq!(run(attack, setting).result, Ok(0), "{attack:?}");
}

#[test]
fn endless_loops_end_with_the_run_or_with_its_fuel() {
    for endless in [Attack::Spin(u64::MAX), Attack::SpinAtStart(u64::MAX), Attack::Fill(u64::MAX)] {
        stopped(&endless, Setting::limited("wall_ms_injection", 100), Bound::WallTime(100));
    }
    // Filling memory costs by its size, so that one instruction is no way around it.
    for endless in [Attack::Spin(u64::MAX), Attack::SpinAtStart(u64::MAX), Attack::Fill(1)] {
        stopped(&endless, Setting::limited("fuel", 100_000), Bound::Fuel(100_000));
    }
    for harmless in [Attack::Spin(1_000), Attack::SpinAtStart(1_000)] {
        succeeds(&harmless, Setting::limited("fuel", 100_000));
    }
    succeeds(&Attack::Fill(1), Setting::default());
}

#[test]
fn the_same_work_takes_the_same_fuel() {
    let used = |turns: u64| {
        let ran = run(&Attack::Spin(turns), Setting::default());
        assert_eq!(ran.result, Ok(0));
        ran.run.limits().fuel - ran.run.fuel_left()
    };
    let (first, second) = (used(10_000), used(10_000));
    assert_eq!(first, second);
    assert!(first >= 10_000 && used(20_000) > first + 10_000, "{first}");
}

#[test]
fn fuel_is_that_of_all_commands_of_a_run() {
    let backend = backend(Attack::Spin(10_000).component());
    let needed = {
        let ran = run_on(&backend, Setting::default());
        ran.run.limits().fuel - ran.run.fuel_left()
    };
    let ran = run_on(&backend, Setting::limited("fuel", needed + needed / 2));
    assert_eq!((ran.result, ran.run.fuel_left()), (Ok(0), needed / 2));
    assert_eq!(run_on(&backend, Setting::limited("fuel", needed / 2)).stop(), Stop::Bound(Bound::Fuel(needed / 2)));
}

#[test]
fn memories_and_tables_are_bounded_together() {
    let memory = || Setting::limited("memory_bytes", 64 << 20);
    let bound = Bound::Memory(64 << 20);
    // A guest may ask for as much as it likes, and see that it does not get it.
    assert_eq!(run(&Attack::GrowMemory(65_536), memory()).result, Ok(1));
    succeeds(&Attack::GrowMemory(512), memory());
    assert_eq!(run(&Attack::GrowTable(100_000_000), memory()).result, Ok(1));
    succeeds(&Attack::GrowTable(50_000), memory());
    // Each alone is within the bound.
    stopped(&Attack::ManyMemories(4, 512), memory(), bound);
    succeeds(&Attack::ManyMemories(4, 64), memory());
    stopped(&Attack::ManyTables(8, 90_000), Setting::limited("memory_bytes", 4 << 20), Bound::Memory(4 << 20));
    succeeds(&Attack::ManyTables(4, 90_000), Setting::limited("memory_bytes", 4 << 20));
}

#[test]
fn memory_is_given_back_with_the_guest() {
    let ran = run(&Attack::GrowMemory(512), Setting::limited("memory_bytes", 64 << 20));
    assert_eq!(ran.result, Ok(0));
    assert!(ran.run.take_memory(64 << 20));
}

#[test]
fn a_component_of_too_many_parts_is_not_used() {
    for attack in [Attack::ManyInstances(100), Attack::ManyTables(40, 1), Attack::ManyMemories(8, 1)] {
        let ran = run(&attack, Setting::default());
        assert!(
            matches!(&ran.result, Err(RunError::Unavailable { backend: "wasm", stage: "component", .. })),
            "{attack:?}: {:?}",
            ran.result
        );
    }
    for attack in [Attack::ManyInstances(10), Attack::ManyTables(10, 1), Attack::ManyMemories(3, 1)] {
        succeeds(&attack, Setting::default());
    }
}

#[test]
fn recursion_ends_with_the_stack() {
    stopped(&Attack::Recurse(u32::MAX / 2), Setting::default(), Bound::Stack);
    succeeds(&Attack::Recurse(100), Setting::default());
}

#[test]
fn a_wait_in_the_host_ends_with_the_run() {
    // Longer than anything waits, and longer than a clock can say.
    for nanoseconds in [1 << 60, u64::MAX] {
        stopped(&Attack::Wait(nanoseconds), Setting::limited("wall_ms_injection", 100), Bound::WallTime(100));
    }
    succeeds(&Attack::Wait(1_000), Setting::default());
}

#[test]
fn output_is_counted_and_kept_up_to_its_bound() {
    let ran = run(&Attack::Flood(16_384, 65_536), Setting::default());
    assert_eq!((ran.result, ran.stdout.len(), ran.written), (Ok(0), 1 << 20, 1 << 30));
    let ran = run(&Attack::Flood(3, 5), Setting::default());
    assert_eq!((ran.result, ran.stdout.as_slice(), ran.written), (Ok(0), b"xxxxxxxxxxxxxxx".as_slice(), 15));
}

#[test]
fn writing_nothing_is_counted() {
    stopped(&Attack::Flood(10_000_000, 0), Setting::default(), Bound::EmptyWrites(1_000_000));
    succeeds(&Attack::Flood(1_000_000, 0), Setting::default());
}

#[test]
fn handles_are_bounded_and_cost_memory() {
    stopped(&Attack::Handles(100_000), Setting::default(), Bound::Handles(4_096));
    succeeds(&Attack::Handles(4_000), Setting::default());
    // The memory of the guest's own modules is as much as there may be.
    let memory = 32 << 16;
    stopped(&Attack::Handles(4_000), Setting::limited("memory_bytes", memory), Bound::Memory(memory));
    succeeds(&Attack::Handles(4_000), Setting::limited("memory_bytes", memory + (1 << 20)));
}

#[test]
fn a_file_is_open_until_its_last_stream_is_gone() {
    let root = tempfile::tempdir().expect("a directory");
    std::fs::write(root.path().join("kept"), "text").expect("a file");
    let setting = || {
        let path = root.path().join("kept");
        let stdin = path.to_str().expect("UTF-8").trim_start_matches('/').as_bytes().to_vec();
        Setting { stdin, ..Setting::of_project(root.path(), &[]) }
    };
    stopped(&Attack::StreamsBehindClosedDescriptors { keep: true }, setting(), Bound::OpenFiles(64));
    succeeds(&Attack::StreamsBehindClosedDescriptors { keep: false }, setting());
}

#[test]
fn a_guest_finds_nothing_of_the_guest_before_it() {
    let backend = backend(Attack::LeaveMark.component());
    for turn in 0..20 {
        let ran = run_on(&backend, Setting::default());
        // It would have ended by itself, with status 1, had it found the mark.
        assert!(ran.fault().contains("unreachable"), "turn {turn}: {}", ran.fault());
    }
    assert_eq!(run(&Attack::FindOwnMark, Setting::default()).result, Ok(1));
}

#[test]
fn a_trap_is_the_guests_fault_and_ends_only_it() {
    let backend = backend(Attack::Trap.component());
    for _ in 0..3 {
        assert!(run_on(&backend, Setting::default()).fault().contains("unreachable"));
    }
    succeeds(&Attack::Nothing, Setting::default());
}
