//! Every separator, every place of a command, and every substitution.

use super::{canary_is_refused_early, is_no_program, is_text};

#[test]
fn every_separator_begins_a_command_that_is_decided() {
    canary_is_refused_early(&[
        "args a; canary",
        "args a;canary",
        "args a\ncanary",
        "args a\r\ncanary",
        "args a && canary",
        "false || canary",
        "args a | canary",
        "args a |& canary",
        "canary | cat",
        "! canary",
        "{ args a; canary; }",
        "(args a; canary)",
        "args a &&\ncanary",
        "args a |\n# a comment\ncanary",
        "args 'a'; canary #'",
        "args \"a\"; canary #\"",
        "args a\\\\; canary",
    ]);
    is_no_program(&[
        ("args a & canary", "args a; args canary"),
        ("canary &", "canary"),
        ("args a &\ncanary", "args a"),
        ("coproc canary", "canary"),
        ("time canary", "canary"),
        ("select x in a; do canary; done", "canary"),
    ]);
}

#[test]
fn every_place_of_a_command_is_decided() {
    canary_is_refused_early(&[
        "if canary; then args a; fi",
        "if true; then canary; fi",
        "if false; then args a; elif canary; then args b; fi",
        "if false; then args a; else canary; fi",
        "while canary; do break; done",
        "until false; do canary; break; done",
        "for i in 1; do canary; done",
        "case a in a) canary;; esac",
        "case a in a) ;& b) canary;; esac",
        "f() { canary; }; f",
        "function f { canary; }; f",
        "f() ( canary ); f | cat",
        "args() { canary; }; args a",
        "{ canary; } > /dev/null 2>&1",
        "command canary",
    ]);
}

#[test]
fn every_substitution_is_decided() {
    canary_is_refused_early(&[
        "args $(canary)",
        "args `canary`",
        "args \"$(canary)\"",
        "args \"`canary`\"",
        "args a$(canary)b",
        "args $(args $(canary))",
        "args `args \\`canary\\``",
        "args ${x:-$(canary)}",
        "args \"${x:-$(canary)}\"",
        "x=a; args ${x#$(canary)}",
        "x=a; args ${x/$(canary)/b}",
        "x=a; args ${x/a/$(canary)}",
        "args $(( 1 + $(canary; args 1) ))",
        "x=abc; args ${x:$(canary; args 1)}",
        "(( $(canary; args 1) ))",
        "args {a,$(canary)}",
        "x=$(canary)",
        "x=$(canary) args",
        "export x=$(canary)",
        "cat <<E\n$(canary)\nE",
        "cat <<E\n`canary`\nE",
        "cat <<-E\n\t${x:-$(canary)}\nE",
        "cat <<< $(canary)",
        "cat <<< \"$(canary)\"",
        "cat < $(canary; args a.md)",
        "for i in $(canary); do args; done; args",
        "case $(canary) in *) args;; esac",
        "case a in $(canary)) args;; *) ;; esac",
        "[ $(canary) ]",
        "[ -n \"$(canary)\" ]",
        "[[ $(canary) ]]",
        "[[ a == $(canary) ]]",
        "[[ a =~ $(canary) ]]",
        "[[ a -eq $(canary) ]] || true",
        "set -- $(canary)",
        "echo $(canary)",
        ": $(canary)",
        "read -r x <<< $(canary)",
        "args > /dev/null $(canary)",
    ]);
    is_no_program(&[
        ("args <(canary)", "args canary"),
        ("args >(canary)", "args canary"),
        ("cat < <(canary)", "args canary"),
        ("args $[ canary ]", "args canary"),
        ("args ${x@P}", "args x"),
        ("args ${!x}", "args x"),
    ]);
}

#[test]
fn quoted_text_is_no_substitution() {
    is_text(&[
        ("args '$(canary)'", &[&["args", "$(canary)"]]),
        ("args \"\\$(canary)\"", &[&["args", "$(canary)"]]),
        ("args '`canary`'", &[&["args", "`canary`"]]),
        ("args \\`canary\\`", &[&["args", "`canary`"]]),
        ("args $'$(canary)'", &[&["args", "$(canary)"]]),
        ("args 'a;canary'", &[&["args", "a;canary"]]),
        ("args a\\;canary", &[&["args", "a;canary"]]),
        ("args \"a\ncanary\"", &[&["args", "a\ncanary"]]),
        ("cat <<'E'\n$(canary)\nE", &[&["cat"]]),
        ("cat <<\\E\n`canary`\nE", &[&["cat"]]),
        ("x='$(canary)'; args $x \"$x\"", &[&["args", "$(canary)", "$(canary)"]]),
        ("x='; canary'; args $x", &[&["args", ";", "canary"]]),
        ("x='`canary`'; y=$x; args \"$y\"", &[&["args", "`canary`"]]),
    ]);
}
