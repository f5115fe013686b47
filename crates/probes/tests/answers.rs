//! The probes as the suite runs them: what they print, and that they end by themselves.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "tests start the program they test")]

use std::process::Command;

fn answers(words: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_skillgate-probes")).args(words).output().expect("it starts");
    (output.status.code(), String::from_utf8(output.stdout).expect("UTF-8"))
}

#[test]
fn every_act_has_one_line() {
    let (code, text) = answers(&["acts", "stat=/", "read=/nowhere", "create=/nowhere/x", "chmod=/nowhere"]);
    assert_eq!(code, Some(0));
    assert_eq!(text, "stat=/\tok\nread=/nowhere\tENOENT\ncreate=/nowhere/x\tENOENT\nchmod=/nowhere\tENOENT\n");
}

#[test]
fn what_it_does_not_know_is_wrong_usage_and_does_nothing() {
    for words in [&["acts", "melt=/"][..], &["calls", "none"], &["forks", "many"], &[], &["connect", "tcp=here"]] {
        assert_eq!(answers(words), (Some(2), String::new()), "{words:?}");
    }
}

#[test]
fn a_call_is_seen_to_arrive_whoever_makes_it() {
    let (code, text) = answers(&["arrive", "kexec-load", "mount", "unshare-user", "clone3"]);
    assert_eq!(code, Some(0));
    assert_eq!(text, "kexec-load\tok:arrived\nmount\tok:arrived\nunshare-user\tok:arrived\nclone3\tok:arrived\n");
}

#[test]
fn bombs_end_by_themselves() {
    assert_eq!(answers(&["forks", "4"]).1, "forks\tok\nmade\tok:4\n");
    assert_eq!(answers(&["allocate", "1", "4"]).1, "allocate\tok\ntaken\tok:4\n");
    assert_eq!(answers(&["spin", "2", "0"]).1, "spinning\tok:2\n");
    assert_eq!(answers(&["flood", "stdout", "1"]).1.len(), 1 << 20);
}
