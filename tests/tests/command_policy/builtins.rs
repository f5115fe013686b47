//! Assignments before commands, and commands of the shell that change what later ones do.

use super::{Place, canary_is_refused_early, canary_is_refused_late, is_no_program, is_text};
use skillgate_policy::RefusalReason;

/// Variables that make programs run others. A command is found by its name among what the backends offer, and none of them
/// starts a program.
#[test]
fn an_assignment_changes_no_command() {
    is_text(&[
        ("PATH=/canary args a", &[&["args", "a"]]),
        ("PATH=.; args a", &[&["args", "a"]]),
        ("export PATH=./canary:.; args a", &[&["args", "a"]]),
        ("GIT_PAGER=canary args log", &[&["args", "log"]]),
        ("LD_PRELOAD=./canary.so args a", &[&["args", "a"]]),
        ("BASH_ENV=canary args a", &[&["args", "a"]]),
        ("PROMPT_COMMAND=canary args a", &[&["args", "a"]]),
        ("PS4='$(canary)' args a", &[&["args", "a"]]),
        ("IFS=x; argsxcanary || args none", &[&["args", "none"]]),
        ("IFS=_; x=a_canary; args $x", &[&["args", "a", "canary"]]),
        ("SHELL=canary ENV=canary args a", &[&["args", "a"]]),
        ("unset PATH; args a", &[&["args", "a"]]),
        ("a=canary args a", &[&["args", "a"]]),
    ]);
}

#[test]
fn what_redefines_commands_is_not_there() {
    is_no_program(&[
        ("alias args=canary; args a", "args a"),
        ("trap canary EXIT", "args a"),
        ("trap 'canary' 0", "args a"),
        ("exec canary", "args a"),
        ("exec -a args canary", "args a"),
        ("hash -p /canary args; args a", "args a"),
        ("enable -n args", "args a"),
        ("builtin args a", "args a"),
        ("shopt -s expand_aliases", "args a"),
        ("declare -f args", "args a"),
        ("typeset x=1", "x=1 args"),
        ("readonly PATH", "args a"),
        ("let 'x=1'", "args a"),
        ("mapfile -C canary x", "args a"),
        ("getopts a x", "args a"),
        ("ulimit -f 0", "args a"),
        ("umask 0", "args a"),
        ("wait", "args a"),
        ("x=(canary)", "x=canary; args"),
        ("x[$(canary)]=1", "args x"),
    ]);
}

#[test]
fn what_becomes_a_program_is_decided_command_by_command() {
    canary_is_refused_late(&[
        "sh -c canary",
        "sh -ec canary",
        "bash -c 'args a; canary'",
        "sh -c 'sh -c canary'",
        "sh -c '$0' canary",
        "sh -c '\"$@\"' x canary",
        "x=canary; $x",
        "x=can; ${x}ary",
        "set -- canary; \"$@\"",
        "f() { \"$@\"; }; f canary",
        "for i in canary; do $i; done",
        "read x <<< canary; $x",
        "${x:-canary}",
        "$(args canary | cat) || x=canary; $x",
    ]);
    let place = Place::of("");
    for source in ["eval canary", "eval 'args a; canary'", "x=canary; eval $x", "eval 'x=canary; $x'"] {
        let ended = place.run(source, &["Bash(args:*)"], &[]);
        assert_eq!(ended.refusal(), Some(&RefusalReason::ProducedProgram), "{source}: {ended:?}");
        assert!(place.run(source, &["Bash"], &[]).ran("canary"), "{source}: the control");
    }
}

#[test]
fn a_script_runs_what_the_grant_lets_it_run() {
    let place = Place::of("=== evil.sh\nargs from script\ncanary\n=== sub/evil.sh\ncanary\n");
    for source in [
        "./evil.sh",
        "sh evil.sh",
        "bash ./evil.sh",
        "source evil.sh",
        ". ./evil.sh",
        "cd sub && ./evil.sh",
        "cd sub; . evil.sh",
        "x=evil.sh; . $x",
        "args $(./evil.sh)",
        "./evil.sh | cat",
    ] {
        let ended = place.run(source, &["Bash(args:*)"], &[]);
        assert!(ended.refusal().is_some() && !ended.ran("canary"), "{source}: {ended:?}");
        assert!(place.run(source, &["Bash"], &[]).ran("canary"), "{source}: the control");
    }
}

#[test]
fn command_and_type_name_and_do_not_run() {
    is_text(&[
        ("command -v canary; args a", &[&["args", "a"]]),
        ("type canary; args a", &[&["args", "a"]]),
        ("which canary; args a", &[&["args", "a"]]),
        ("args() { :; }; command args a", &[&["args", "a"]]),
    ]);
    canary_is_refused_early(&["command canary", "command command canary", "command -v canary && canary"]);
}
