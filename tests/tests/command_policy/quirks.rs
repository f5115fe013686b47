//! What shells read in their own ways: line ends, quotes, white space, patterns that meet odd names, look-alikes, comments.

use super::{Ended, Place, canary_is_refused_early, canary_is_refused_late, is_no_program, is_text};
use skillgate_policy::RefusalReason;

#[test]
fn a_name_in_any_spelling_is_the_command() {
    canary_is_refused_early(&[
        "'canary'",
        "\"canary\"",
        "c\\anary",
        "can''ary",
        "can\"\"ary",
        "$'can\\x61ry'",
        "$'\\143anary'",
        "\\canary",
        "args a;\tcanary",
        "args a; \\\ncanary",
        "{ \\\n canary\n}",
        "  canary",
        "\n\ncanary",
        "canary # args",
        "args a # b\ncanary",
        "args a #'\ncanary #'",
    ]);
    canary_is_refused_late(&["{canary,}", "${x}canary", "c${x}anary", "can{ary,x} y"]);
}

#[test]
fn white_space_and_look_alikes_separate_nothing() {
    is_text(&[
        ("args\tcanary", &[&["args", "canary"]]),
        ("args${IFS}canary", &[&["args", "canary"]]),
        ("args$IFS'canary'", &[&["args", "canary"]]),
        ("args a\u{ff1b} canary", &[&["args", "a\u{ff1b}", "canary"]]),
        ("args a \u{ff5c} canary", &[&["args", "a", "\u{ff5c}", "canary"]]),
        ("args a\u{2028}canary", &[&["args", "a\u{2028}canary"]]),
        ("args a\u{a0}canary", &[&["args", "a\u{a0}canary"]]),
        ("args a\u{85}canary", &[&["args", "a\u{85}canary"]]),
        ("args a \u{ff06}\u{ff06} canary", &[&["args", "a", "\u{ff06}\u{ff06}", "canary"]]),
        ("args \u{2018}; args canary\u{2019}", &[&["args", "\u{2018}"], &["args", "canary\u{2019}"]]),
        ("args a # ; canary", &[&["args", "a"]]),
        ("args a#b; args canary", &[&["args", "a#b"], &["args", "canary"]]),
        ("# canary\nargs a", &[&["args", "a"]]),
        ("args a\\\nb", &[&["args", "ab"]]),
        ("args a \\\n  b", &[&["args", "a", "b"]]),
        ("args 'a\\\nb'", &[&["args", "a\\\nb"]]),
        ("args a\r\nargs b\r\n", &[&["args", "a"], &["args", "b"]]),
        ("args ~nobody/x", &[&["args", "~nobody/x"]]),
        ("args {a,b}canary", &[&["args", "acanary", "bcanary"]]),
        ("args '~' \\~", &[&["args", "~", "~"]]),
    ]);
}

#[test]
fn bytes_that_hide_text_are_refused() {
    is_no_program(&[
        ("args a\rcanary", "args a"),
        ("args a\r", "args a"),
        ("args a\0canary", "args a"),
        ("args $'a\\0canary'", "args a"),
        ("args $'\\x00'", "args a"),
        ("args 'a", "args a"),
        ("args \"a", "args a"),
        ("args `a", "args a"),
        ("args $(a", "args a"),
        ("args ${a", "args a"),
        ("args $((1", "args a"),
        ("args ~+1", "args a"),
        ("args a; can\\\nary", "canary"),
    ]);
}

/// Names that a pattern finds and text that a command gives are never options, unless every command is granted.
#[test]
fn a_file_named_like_an_option_is_none() {
    let place = Place::of("=== -delete\n=== -exec\n=== a.md\n");
    for source in [
        "find *",
        "find -*",
        "find ?delete",
        "find [-]delete",
        "args *",
        "find $(printf %s -delete | cat)",
        "printf '%s\\n' -delete | { read -r x; find $x; }",
        "for f in *; do find $f; done",
        "x=*; find $x",
    ] {
        let ended = place.run(source, &["Bash(find:*)", "Bash(args:*)", "Bash(printf:*)"], &["find"]);
        // Where the vector runs other programs, that is said first.
        let reason = ended.refusal();
        let refused = matches!(reason, Some(RefusalReason::ProducedOption { .. } | RefusalReason::Carrier { .. }));
        assert!(refused && !ended.ran("find"), "{source}: {ended:?}");
        let control = place.run(source, &["Bash"], &["find"]);
        assert!(control.refusal().is_none(), "{source}: {control:?}");
    }
    // Written out by the author it is his option, and then a carrier by itself.
    for source in ["find . \\-delete", "find . '-delete'", "find . -d'elete'"] {
        let ended = place.run(source, &["Bash(find:*)"], &["find"]);
        assert!(matches!(ended.refusal(), Some(RefusalReason::Carrier { .. })), "{source}: {ended:?}");
    }
    let behind = place.run("args ./*", &["Bash(args:*)"], &[]);
    assert_eq!(behind.vectors(), [["args", "./-delete", "./-exec", "./a.md"]], "{behind:?}");
}

/// One mebibyte, and nesting of every kind: refused before anything is read deeply, with the place.
#[test]
fn a_huge_or_deep_program_is_refused_with_its_place() {
    let place = Place::of("");
    let long = format!("args {}", "a ".repeat(1 << 19));
    let Ended::NoProgram(error) = place.run(&long, &["Bash"], &[]) else { unreachable!("it is too long") };
    assert!(error.reason.contains("the limit is 262144"), "{error}");
    for open in ["(", "((", "$(", "${x:-", "[[ ( ", "{ ", "\"$(", "$((", "if ", "case a in a) ", "f() { "] {
        let source = format!("args; {}", open.repeat(200_000 / open.len()));
        let Ended::NoProgram(error) = place.run(&source, &["Bash"], &[]) else { unreachable!("{open:?} is nested") };
        assert!(error.span.start < source.len() && !error.reason.is_empty(), "{open:?}: {error:?}");
    }
    assert!(place.run("args a", &["Bash"], &[]).ran("args"), "the control");
}
