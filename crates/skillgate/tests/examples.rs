//! The examples are whole programs; what the chat loop says is kept as it is.
#![expect(clippy::disallowed_methods, reason = "the test starts the examples")]

use std::path::PathBuf;
use std::process::Command;

/// The examples stand beside the directory of the test's own program.
fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the test's own program");
    let built = test.ancestors().nth(2).expect("the build's directory").join("examples").join(name);
    built.with_extension(std::env::consts::EXE_EXTENSION)
}

fn run(name: &str) -> String {
    let done = Command::new(example(name)).output().expect("it was built with the tests");
    let messages = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{name}: {messages}");
    String::from_utf8(done.stdout).expect("text")
}

#[test]
fn skills_come_from_a_place_of_the_programs_own() {
    assert!(run("custom_source").contains("Greet Ada warmly."));
}

#[test]
fn a_command_of_the_programs_own_runs_where_a_rule_allows_it() {
    assert!(run("custom_backend").contains("It is 2030-01-02."));
}

#[test]
fn the_chat_loop_says_what_it_said() {
    insta::assert_snapshot!(run("chat_loop"));
}
