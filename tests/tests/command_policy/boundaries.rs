//! Where a prefix pattern ends.

use super::{Ended, Place};

fn run(place: &Place, source: &str, allow: &str) -> Ended {
    place.run(source, &[allow], &["git", "git-status", "gitstatus", "gitx", "GIT"])
}

#[test]
fn a_prefix_is_of_words() {
    let place = Place::of("=== git\n#!/bin/sh\ncanary\n=== sub/git\n#!/bin/sh\ncanary\n");
    for source in ["git status", "git status -s", "git  status", "git 'status'", "git st\\atus", "\"git\" status"] {
        assert!(run(&place, source, "Bash(git status:*)").ran("git"), "{source}: the control");
    }
    for source in [
        "git statusx",
        "git status-x",
        "git stat",
        "git-status",
        "gitstatus",
        "gitx status",
        "GIT status",
        "git",
        "git log status",
        "git -C . status",
        "git 'status x'",
        "git \" status\"",
        "git '' status",
        "git $x",
        "git $(args statusx)",
        "'git status'",
    ] {
        let ended = run(&place, source, "Bash(git status:*)");
        assert!(!ended.ran("git") && !ended.ran("git-status") && !ended.ran("gitstatus"), "{source}: {ended:?}");
    }
}

/// A path is a script of its own and never the command whose name it ends with.
#[test]
fn a_path_is_not_the_command() {
    let place = Place::of("=== git\n#!/bin/sh\ncanary\n=== sub/git\n#!/bin/sh\ncanary\n");
    for source in [
        "./git status",
        "sub/git status",
        "\"$PWD/git\" status",
        "/tmp/git status",
        "sub/../git status",
        "cd sub && ./git status",
    ] {
        let ended = run(&place, source, "Bash(git status:*)");
        assert!(!ended.ran("git") && !ended.ran("canary"), "{source}: {ended:?}");
    }
    assert!(run(&place, "./git status", "Bash").ran("canary"), "the control");
    // Where the system keeps its programs, a path means the command.
    assert!(run(&place, "/usr/bin/git status", "Bash(git status:*)").ran("git"));
    assert!(!run(&place, "/usr/bin/git log", "Bash(git status:*)").ran("git"));
    // Whatever lies first in PATH, the name means the command.
    assert!(run(&place, "PATH=.:sub git status", "Bash(git status:*)").ran("git"));
}

#[test]
fn an_exact_pattern_is_of_the_whole_vector() {
    let place = Place::of("");
    assert!(run(&place, "git status", "Bash(git status)").ran("git"), "the control");
    for source in ["git status -s", "git status ''", "git", "git status; git log"] {
        assert!(!run(&place, source, "Bash(git status)").ran("git"), "{source}");
    }
}
