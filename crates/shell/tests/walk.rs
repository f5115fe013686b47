//! Every command of a program is found, wherever it stands.

use skillgate_shell::{ParseOptions, parse, simple_commands};

#[test]
fn commands_are_found_in_every_place() {
    for (source, count) in [
        ("c1; c2 & c3\nc4", 4),
        ("c1 | c2 |& c3", 3),
        ("c1 && c2 || ! c3", 3),
        ("{ c1; c2; } >$(c3)", 3),
        ("(c1; c2) <$(c3)", 3),
        ("if c1; then c2; elif c3; then c4; else c5; fi 2>$(c6)", 6),
        ("for x in $(c1) \"$(c2)\"; do c3; done", 3),
        ("for x; do c1; done", 1),
        ("while c1; do c2; done", 2),
        ("until c1; do c2; done", 2),
        ("case $(c1) in $(c2)|$(c3)) c4;; *) c5;; esac", 5),
        ("f() { c1; } >$(c2)", 2),
        ("function f { c1; }", 1),
        ("c1 $(c2) \"$(c3 `c4`)\" `c5`", 5),
        ("c1 \"`c2 \\`c3\\``\"", 3),
        ("c1 ${x:-$(c2)} ${x#$(c3)} ${x/$(c4)/$(c5)} ${x:$(c6):$(c7)} \"${x:+`c8`}\"", 8),
        ("c1 $(( $(c2) + ${x:-$(c3)} + $((`c4`)) ))", 4),
        ("(( $(c1) )) >$(c2)", 2),
        ("[[ -f $(c1) && ! ( $(c2) == $(c3) || $(c4) =~ $(c5) ) ]] <$(c6)", 6),
        ("x=$(c1) y+=$(c2) c3", 3),
        ("c1 >$(c2) 2>>\"$(c3)\" <<<$(c4) &>$(c5)", 5),
        ("c1 <<E\n$(c2) ${x:-$(c3)} $(($(c4)))\nE\n", 4),
        ("c1 $(c2 <<F\n$(c3)\nF\n)", 3),
        ("c1 {a,$(c2)}", 2),
    ] {
        let program = parse(source, &[], &ParseOptions::new(4096, 64)).expect("a program");
        let mut found: Vec<String> =
            simple_commands(&program).filter_map(|command| command.words.first()?.as_literal()).collect();
        found.sort();
        let expected: Vec<String> = (1..=count).map(|number| format!("c{number}")).collect();
        assert_eq!(found, expected, "{source}");
    }
}

#[test]
fn a_command_without_words_is_a_command() {
    for source in [">x", "x=1", "x=$(a) >y"] {
        let program = parse(source, &[], &ParseOptions::new(4096, 64)).expect("a program");
        assert!(simple_commands(&program).any(|command| command.words.is_empty()), "{source}");
    }
}
