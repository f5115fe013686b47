//! Calls that no toolchain makes: wrong addresses, wrong handles, wrong sizes.

use crate::support::{Setting, backend, lowered, run_on};
use proptest::prelude::*;
use skillgate_exec::RunError;
use skillgate_exec_wasm::WasmBackend;
use skillgate_exec_wasm::attack::{Argument, Calls, Operation, caller};
use std::sync::OnceLock;

const NOWHERE: Argument<'_> = Argument::Number(0xefff_fff0);
const TOO_LONG: Argument<'_> = Argument::Number(u32::MAX);
const ONE: Argument<'_> = Argument::Number(1);
const NONE: Argument<'_> = Argument::Number(0);

fn guest() -> &'static WasmBackend {
    static BACKEND: OnceLock<WasmBackend> = OnceLock::new();
    BACKEND.get_or_init(|| backend(caller()))
}

#[test]
fn an_address_outside_memory_or_a_handle_of_nothing_is_the_guests_fault() {
    use Argument::{Number, Root, Stdin, Stdout, Text};
    use Operation as Op;
    let bad: &[(Operation, &[Argument<'_>])] = &[
        (Op::OpenAt, &[Root, ONE, NOWHERE, ONE, NONE, ONE]),
        (Op::OpenAt, &[Root, ONE, ONE, TOO_LONG, NONE, ONE]),
        (Op::OpenAt, &[Number(77), ONE, Text("x"), NONE, ONE]),
        (Op::OpenAt, &[Stdout, ONE, Text("x"), NONE, ONE]),
        (Op::StatAt, &[Root, ONE, NOWHERE, TOO_LONG]),
        (Op::RenameAt, &[Root, Text("a"), Root, NOWHERE, ONE]),
        (Op::RenameAt, &[Root, Text("a"), Number(77), Text("b")]),
        (Op::LinkAt, &[Root, NONE, NOWHERE, ONE, Root, Text("b")]),
        (Op::SymlinkAt, &[Root, NOWHERE, ONE, Text("b")]),
        (Op::UnlinkFileAt, &[Root, NOWHERE, ONE]),
        (Op::SetTimesAt, &[Root, ONE, Text("x"), Number(9)]),
        (Op::StreamWrite, &[Stdout, NOWHERE, ONE]),
        (Op::StreamWrite, &[Stdout, ONE, TOO_LONG]),
        (Op::StreamWrite, &[Stdin, ONE, ONE]),
        (Op::StreamWrite, &[Number(77), ONE, ONE]),
        (Op::StreamWriteZeroes, &[Stdout, TOO_LONG]),
        (Op::StreamSplice, &[Stdout, Stdout, ONE]),
        (Op::Poll, &[NOWHERE, ONE]),
        (Op::Poll, &[NONE, NONE]),
        (Op::Poll, &[Number(0x1_0000), Number(100_000)]),
        (Op::RandomBytes, &[TOO_LONG]),
        (Op::DropDescriptor, &[Stdout]),
        (Op::DropOutputStream, &[Number(0)]),
        (Op::DropPollable, &[Number(77)]),
        (Op::ReadDirectoryEntry, &[Root]),
    ];
    for (operation, arguments) in bad {
        let mut calls = Calls::default();
        calls.add(*operation, arguments);
        let ran = run_on(guest(), Setting { stdin: calls.bytes(), ..Setting::default() });
        assert!(!ran.fault().is_empty(), "{operation:?} {arguments:?}");
    }
    let good: &[(Operation, &[Argument<'_>])] = &[
        (Op::OpenAt, &[Root, ONE, Text("dev/null"), NONE, ONE]),
        (Op::StatAt, &[Root, ONE, Text("dev/null")]),
        (Op::StreamWrite, &[Stdout, ONE, ONE]),
        (Op::StreamWriteZeroes, &[Stdout, Number(65_536)]),
        (Op::RandomBytes, &[Number(65_536)]),
        (Op::DropDescriptor, &[Root]),
    ];
    for (operation, arguments) in good {
        let mut calls = Calls::default();
        calls.add(*operation, arguments);
        let ran = run_on(guest(), Setting { stdin: calls.bytes(), ..Setting::default() });
        assert_eq!(ran.result, Ok(0), "{operation:?} {arguments:?}");
    }
}

#[test]
fn a_handle_that_was_given_back_is_gone() {
    let mut calls = Calls::default();
    let null = calls.add(Operation::OpenAt, &[Argument::Root, ONE, Argument::Text("dev/null"), NONE, ONE]);
    calls.add(Operation::DropDescriptor, &[Argument::Value(null)]);
    let once = calls.clone();
    calls.add(Operation::DropDescriptor, &[Argument::Value(null)]);
    let run = |calls: &Calls| run_on(guest(), Setting { stdin: calls.bytes(), ..Setting::default() });
    assert_eq!(run(&once).result, Ok(0));
    assert!(!run(&calls).fault().is_empty());
}

/// Arguments with a meaning often enough that calls get somewhere, and without one otherwise.
fn argument() -> impl Strategy<Value = u32> {
    prop_oneof![
        4 => 0xf000_0000_u32..0xf000_0010,
        3 => 0_u32..8,
        2 => 0x1_0000_u32..0x1_0400,
        1 => prop_oneof![Just(u32::MAX), Just(i32::MAX.cast_unsigned()), Just(65_536), Just(0x1f_ffff), Just(0x20_0000)],
        1 => any::<u32>(),
    ]
}

proptest! {
    /// Whatever a guest calls with whatever arguments: it ends, by itself or by a typed outcome, and the project it was shown
    /// read-only is as it was.
    #[test]
    fn any_calls_end_in_a_typed_outcome(
        records in prop::collection::vec((1_u32..42, prop::collection::vec(argument(), 10)), 0..24),
        text in "[a-z/.\u{0}é:\\\\]{0,64}",
    ) {
        let root = tempfile::tempdir().expect("a directory");
        std::fs::write(root.path().join("file"), "text").expect("a file");
        let mut stdin = Vec::new();
        for (operation, arguments) in &records {
            stdin.extend(operation.to_le_bytes());
            stdin.extend(arguments.iter().flat_map(|argument| argument.to_le_bytes()));
        }
        stdin.extend([0; 44]);
        stdin.extend(text.as_bytes());
        let limits = lowered("wall_ms_injection", 500);
        let ran = run_on(guest(), Setting { stdin, limits, ..Setting::of_project(root.path(), &[]) });
        match &ran.result {
            Ok(_) | Err(RunError::Fault { .. } | RunError::Stopped { .. } | RunError::Refused(_)) => {}
            other => prop_assert!(false, "{other:?}"),
        }
        let names: Vec<_> = std::fs::read_dir(root.path()).expect("lists").flatten().map(|entry| entry.file_name()).collect();
        prop_assert_eq!(names, ["file"]);
        prop_assert_eq!(std::fs::read_to_string(root.path().join("file")).expect("is there"), "text");
    }
}
