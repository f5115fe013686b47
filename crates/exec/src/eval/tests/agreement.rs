//! What the comparison of generated programs with bash found, each as a program of its own.

use super::check;
use crate::mounts::Mounts;
use crate::program::Program;
use crate::testing::{limits, run_with};

#[test]
fn fields_are_those_of_bash() {
    check(&[
        ("e=; args \"$@$e\"; args \"$e$@\"; args \"$@\"\"\"; args \"x$@\"", "\n\n[]\n[x]\n", 0),
        ("args \"${@:+}\"; args \"${@:-}\"; args \"${*:+}\"", "\n[]\n[]\n", 0),
        ("set -- ''; args ${@-a}; args ${@:-a}", "\n[a]\n", 0),
        ("set -- p '' s; IFS=,; args $@; args x$*y", "[p][][s]\n[xp][][sy]\n", 0),
        ("set -- p '' s; IFS=; args $@; args \"$*\"", "[p][s]\n[ps]\n", 0),
        ("set -- a b; IFS=:; cat <<E\n$* \"$*\"\nE", "a b \"a b\"\n", 0),
        ("export x={a,b}; args $x", "[b]\n", 0),
        ("export x; args \"${x-unset}\"; x=1", "[unset]\n", 0),
        ("x=abc; args \"${x:0:-1}\" \"${x:3}\" \"${x:4}\"", "[ab][][]\n", 0),
        ("x=; args \"${x:0:-1}\"; args no", "", 1),
        ("u=; args ${u#${v:=set}} \"${v-unset}\"", "[unset]\n", 0),
        ("cat <<< a:~; cat <<< x=~", "a:/home/s\nx=~\n", 0),
        ("args \"${u:-'a'}\" \"${u:-a\\}b}\"", "['a'][a}b]\n", 0),
    ]);
}

#[test]
fn statuses_are_those_of_bash() {
    check(&[
        ("false; for i in a; do args $?; done; for i in; do :; done; args $?", "[1]\n[0]\n", 0),
        ("false; case a in a) args $?; esac; false; case a in b) ;; esac; args $?", "[1]\n[0]\n", 0),
        ("if false; then :; else args $?; fi; false; eval 'args $?'; false; eval ''; args $?", "[1]\n[1]\n[0]\n", 0),
        (
            "x=$(false) < /dev/null; args $?; x=$(false) <<< a; args $?; x=$(fail 3) 2>/dev/null; args $?",
            "[0]\n[1]\n[3]\n",
            0,
        ),
        ("f() { ! return 4; }; f; args $?", "[4]\n", 0),
        ("(( 1 / 0 )); args $?; [[ 1 -eq 1/0 ]]; args $?", "[1]\n[1]\n", 0),
        (
            "r='('; [[ a =~ $r || b == b ]]; args $?; [[ a =~ $r ]]; args $?; ! [[ a =~ $r ]]; args $?",
            "[0]\n[2]\n[0]\n",
            0,
        ),
        ("for i in 1; do (break; args x); { break; args z; } | cat; done", "[x]\n[z]\n", 0),
        ("[ -d \"\" ] || args none; [[ -e \"\" ]] || args none", "[none]\n[none]\n", 0),
        ("cd -; args $?", "[1]\n", 0),
    ]);
}

#[test]
fn errors_end_a_shell_where_they_do_in_bash() {
    check(&[
        ("set -e; for i in 1 2; do ! true; done; args on", "[on]\n", 0),
        ("set -e; if true; then ! true; fi; { ! true; }; args on", "[on]\n", 0),
        ("set -e; (! true; false); args no", "", 1),
        ("set -e; f() { fail 3; args in; }; if f | cat; then args then; fi", "[in]\n[then]\n", 0),
        ("set -u; args $((m + 1)); args no", "", 1),
        ("set -u; x=$(args $m); args on", "[on]\n", 0),
    ]);
}

#[test]
fn reading_splits_as_bash_does() {
    check(&[
        ("IFS=,; read a <<< 'x,'; args \"$a\"; read a <<< 'x,,'; args \"$a\"", "[x]\n[x,,]\n", 0),
        ("read a b <<< 'x\\ y z'; args \"$a\" \"$b\"; read a <<< 'x\\\\y'; args \"$a\"", "[x y][z]\n[x\\y]\n", 0),
        (
            "read -r a <<< 'x\\y'; args \"$a\"; printf_missing || read <<< '  l  '; args \"$REPLY\"",
            "[x\\y]\n[  l  ]\n",
            0,
        ),
    ]);
}

#[test]
fn descriptors_above_two_carry_output() {
    check(&[
        ("{ args out; fail; } 3>&1 1>&2 2>&3 | cat", "fail: told to\n", 0),
        ("{ args a >&4; } 4>/dev/null; args b", "[b]\n", 0),
        ("args a >&5 || args closed; { args b 3>&-; } 3>&1", "[closed]\n[b]\n", 0),
        ("{ args a 3>&- >&3 || args closed; } 3>&1", "[closed]\n", 0),
    ]);
}

#[test]
fn what_shells_read_in_different_ways_is_refused() {
    for (source, at) in [
        ("args \"${x:-it's}\"", 11),
        ("args \"${x:-$y\"z\"}\"", 13),
        ("args {a},b}", 5),
        ("args {a,$x}{1..3}", 5),
        ("args {x,~}:", 5),
        ("x=${y:-a:~}", 9),
        ("x=${y:-~:a}", 7),
        ("args ${y:-\\\n~}", 12),
        ("args ~{1..3}", 5),
    ] {
        let error = Program::from_text(source, &limits()).expect_err(source);
        assert_eq!(error.span.start, at, "{source}: {error}");
    }
}

#[test]
fn files_are_found_as_bash_finds_them() {
    let root = tempfile::tempdir().expect("a directory");
    for (name, text) in
        [("*", ""), ("a.md", "one\ntwo\n\n"), ("sub/c.md", ""), ("s.sh", "args s \"$@\"; x=set; return 3; args no\n")]
    {
        let path = root.path().join(name);
        std::fs::create_dir_all(path.parent().expect("below the root")).expect("a directory");
        std::fs::write(path, text).expect("a file");
    }
    let mounts = Mounts::open_ambient(Some(root.path()), &[]).expect("opens");
    for (source, stdout) in [
        ("[ -e '*/' ] || args none; [ -d sub/ ] && args yes; [ -f a.md/ ] || args none", "[none]\n[yes]\n[none]\n"),
        ("args */x/ sub/*/ su*/", "[*/x/][sub/*/][sub/]\n"),
        ("x='\\*'; args $x; x='su\\b/*'; args $x", "[\\*]\n[sub/c.md]\n"),
        ("cd nosuch/.. || args none; cd sub/.. && args yes", "[none]\n[yes]\n"),
        ("[ -f nosuch/../a.md ] || args none; cat < nosuch/../a.md || args none", "[none]\n[none]\n"),
        (
            "cd sub; cd - >/dev/null; args *.md; cd sub && args \"${PWD##*/}\" \"${OLDPWD##*/sub}\" | cat > /dev/null",
            "[a.md]\n",
        ),
        ("x=$(< a.md); args \"$x\" $(< a.md); args \"$(< nosuch)\" $?", "[one\ntwo][one][two]\n[][1]\n"),
        (". ./s.sh p q; args $? $x $#", "[s][p][q]\n[3][set][0]\n"),
        ("source s.sh; args $?; source nosuch || args none; . || args usage", "[s]\n[3]\n[none]\n[usage]\n"),
        ("f() { . ./s.sh; args after; }; f; for i in 1; do . ./s.sh i; done", "[s]\n[after]\n[s][i]\n"),
    ] {
        let ran = run_with(source, &["Bash"], &mounts, limits());
        assert_eq!(ran.stdout, stdout, "{source}: {:?} {}", ran.result, ran.stderr);
    }
}
