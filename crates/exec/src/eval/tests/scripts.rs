//! Functions, positional parameters, and text that becomes a program while a program runs.

use super::check;
use crate::backend::RunError;
use crate::mounts::Mounts;
use crate::run::{Bound, Stop};
use crate::testing::{Ran, limits, run, run_with};
use skillgate_core::Limits;
use skillgate_policy::RefusalReason;

#[test]
fn functions_take_arguments_and_give_a_status() {
    check(&[
        ("f() { args \"$1\" $# \"$@\"; }; f 'a b' c; args $#", "[a b][2][a b][c]\n[0]\n", 0),
        ("f() { return 3; args no; }; f; args $?", "[3]\n", 0),
        ("f() { fail 4; }; f", "", 4),
        ("f() { fail 4; return; }; f", "", 4),
        ("f() { for x in 1 2; do return 5; done; }; f; args $?", "[5]\n", 0),
        ("f() { exit 6; }; f; args no", "", 6),
        ("f() ( exit 6 ); f; args $?", "[6]\n", 0),
        ("f() { args out; }; f > /dev/null; f | cat", "[out]\n", 0),
        ("f() { args err >&2; } 2>&1; f", "[err]\n", 0),
        ("function g { args g $1; }; g x", "[g][x]\n", 0),
        ("f() { args one; }; f() { args two; }; f", "[two]\n", 0),
        ("x=1; f() { args $x; }; x=2 f; args $x", "[2]\n[1]\n", 0),
        ("args() { command args wrapped \"$@\"; }; args x", "[wrapped][x]\n", 0),
        ("f() { break; }; for x in 1 2; do f; args $x; done", "[1]\n[2]\n", 0),
        ("set -e; f() { fail 1; args after; }; f || args caught", "[after]\n", 0),
        ("set -e; f() { fail 7; args no; }; f; args no", "", 7),
        ("f() { args x; }; unset -f f; f", "", 127),
        ("command -v f || args none; f() { :; }; command -v f", "[none]\nf\n", 0),
        ("return 3; args $?", "[2]\n", 0),
    ]);
}

#[test]
fn local_variables_end_with_their_function() {
    check(&[
        ("x=1; f() { local x=2; g; args $x; }; g() { args $x; }; f; args $x", "[2]\n[2]\n[1]\n", 0),
        ("f() { local x; args \"${x-unset}\"; x=3; }; x=1; f; args $x", "[unset]\n[1]\n", 0),
        ("f() { local x=1 y=2; }; f; args \"${x-u}\" \"${y-u}\"", "[u][u]\n", 0),
        ("f() { local x=$1; args \"$x\"; }; f 'a  b'", "[a  b]\n", 0),
        ("local x=1 || args refused", "[refused]\n", 0),
        ("export x='a b'; y=$x; export z=$y; args \"$z\"", "[a b]\n", 0),
    ]);
}

#[test]
fn positional_parameters_are_set_shifted_and_sliced() {
    check(&[
        ("set -- a 'b c' d; args $# $1 \"$2\" $2; shift; args \"$@\"", "[3][a][b c][b][c]\n[b c][d]\n", 0),
        ("set -- a b c; args \"${@:2}\" \"${@:1:1}\" \"${@: -1}\" \"${@:0:1}\"", "[b][c][a][c][skillgate]\n", 0),
        ("set -- a b; args \"$*\" $*; IFS=,; args \"$*\"", "[a b][a][b]\n[a,b]\n", 0),
        ("set -- a b; x=\"$@\"; args \"$x\"; args \"pre$@post\"", "[a b]\n[prea][bpost]\n", 0),
        ("set -- x.md y.md; args \"${@%.md}\" ${#@} ${#}", "[x][y][2][2]\n", 0),
        ("set -- a b; for x; do args $x; done", "[a]\n[b]\n", 0),
        ("set -- a; shift 2; args $? $1", "[1][a]\n", 0),
        ("set -eu -- a b; args $2; args \"${3-none}\"", "[b]\n[none]\n", 0),
        ("set -u; args \"$@\" $#; args $1", "[0]\n", 1),
        ("set --; args \"$@\" \"${1:-d}\" \"${@:-e}\"", "[d][e]\n", 0),
        ("case b in a) args 1;; b) args 2;& c) args 3;; d) args 4;; esac", "[2]\n[3]\n", 0),
        ("case b in b) args 1;;& a) args 2;; [a-c]) args 3;; esac", "[1]\n[3]\n", 0),
    ]);
}

#[test]
fn nesting_is_counted_through_functions_scripts_and_eval() {
    for source in ["f() { f; }; f", "f() { eval f; }; f", "x='eval \"$x\"'; eval \"$x\"", "f() { args $(f); }; f"] {
        let ran = run(source);
        assert!(
            matches!(ran.result, Err(RunError::Stopped { stop: Stop::Bound(Bound::Depth(64)), .. })),
            "{source}: {:?}",
            ran.result
        );
    }
    let few = Limits { depth: 4, ..limits() };
    let ran = run_with("f() { args in; }; f", &["Bash"], &Mounts::none(), few);
    assert_eq!(ran.stdout, "[in]\n");
}

/// A project with scripts, in which programs run.
fn in_project(source: &str, allow: &[&str]) -> Ran {
    let tree = tempfile::tempdir().expect("a temporary directory");
    for (name, text) in [
        (
            "greet.sh",
            "args hello \"$1\" $#\nx=inner\nreturn_value=$(args sub)\nargs \"$return_value\" \"${y-unexported}\"\nexit 3\n",
        ),
        ("tool", "#!/usr/bin/env bash\nargs tool \"$0\" \"$@\"\n"),
        ("noext", "args no\n"),
        ("main.py", "#!/usr/bin/env python3\nprint(1)\n"),
        ("loop.sh", "./loop.sh\n"),
        ("broken.sh", "echo 'x\n"),
        ("touches.sh", "args first\ntouch x\n"),
        ("wrap.sh", "set -e\nfail 9\nargs no\n"),
    ] {
        std::fs::write(tree.path().join(name), text).expect("a file");
    }
    std::fs::create_dir(tree.path().join("dir.sh")).expect("a directory");
    let mounts = Mounts::open_ambient(Some(tree.path()), &[]).expect("a mount");
    run_with(source, allow, &mounts, limits())
}

#[test]
fn scripts_are_run_by_the_shell_itself() {
    for (source, stdout, status) in [
        ("y=1; ./greet.sh 'a b' c; args $? \"${x-none}\"", "[hello][a b][2]\n[[sub]][unexported]\n[3][none]\n", 0),
        ("export y=1; sh greet.sh z", "[hello][z][1]\n[[sub]][1]\n", 3),
        ("./tool a; /bin/sh tool b", "[tool][./tool][a]\n[tool][tool][b]\n", 0),
        ("bash -c 'args \"$0\" \"$@\"' zero one two", "[zero][one][two]\n", 0),
        ("sh -ec 'fail 8; args no'", "", 8),
        ("./wrap.sh || args $?", "[9]\n", 0),
        ("./nosuch.sh || args $?", "[127]\n", 0),
        ("./noext || args $?", "[126]\n", 0),
        ("./dir.sh || args $?", "[126]\n", 0),
        ("./main.py || args $?", "[126]\n", 0),
        ("./broken.sh || args $?", "[2]\n", 0),
        ("sh || args $?", "[2]\n", 0),
        ("sh -x greet.sh || args $?", "[2]\n", 0),
        ("eval 'x=4; args'  '$x'; args $x", "[4]\n[4]\n", 0),
        ("eval 'f() { args in f; }'; f", "[in][f]\n", 0),
        ("command -v ./tool ./nosuch", "./tool\n", 0),
    ] {
        let ran = in_project(source, &["Bash"]);
        let completion = ran.result.as_ref().unwrap_or_else(|error| unreachable!("{source}: {error}"));
        assert_eq!((ran.stdout.as_str(), completion.status), (stdout, status), "{source}\n{}", ran.stderr);
    }
    let ran = in_project("./loop.sh", &["Bash"]);
    assert!(matches!(ran.result, Err(RunError::Stopped { stop: Stop::Bound(Bound::Depth(64)), .. })));
}

#[test]
fn every_command_of_a_script_is_decided_by_itself() {
    let ran = in_project("./touches.sh", &["Bash(args:*)"]);
    let Err(RunError::Refused(refusal)) = ran.result else { unreachable!("`touch` is not granted") };
    assert_eq!(refusal.already_ran, [["args", "first"]]);
    // A function does not lend its name's grant, and a path of the system is the command itself.
    for source in ["args() { touch x; }; args", "sh -c 'touch x'", "/usr/bin/touch x", "command touch x"] {
        let ran = in_project(source, &["Bash(args:*)", "Bash(sh:*)", "Bash(command:*)"]);
        assert!(matches!(ran.result, Err(RunError::Refused(_))), "{source}: {:?}", ran.result);
        assert_eq!(ran.vectors, Vec::<Vec<String>>::new(), "{source}");
    }
    let ran = in_project("/usr/bin/args x; args() { :; }; command args y", &["Bash(args:*)"]);
    assert_eq!(ran.stdout, "[x]\n[y]\n");
}

#[test]
fn produced_text_becomes_a_program_only_where_everything_is_permitted() {
    for source in ["eval 'args x'", "sh -c \"$(args 'args x')\"", "x='args y'; eval \"$x\""] {
        let ran = in_project(source, &["Bash(args:*)"]);
        let Err(RunError::Refused(refusal)) = ran.result else { unreachable!("{source} is refused") };
        assert_eq!(refusal.reason, RefusalReason::ProducedProgram, "{source}");
        assert!(in_project(source, &["Bash"]).result.is_ok(), "{source}");
    }
}
