//! What is known of a word before it is expanded, and brace expansion.

mod dump;

use skillgate_core::Span;
use skillgate_shell::braces::{BraceError, BraceLimits, expand, has_braces};
use skillgate_shell::{Command, Hole, HoleKind, ParseOptions, SingleQuoteRule, Word, parse};

const LIMITS: BraceLimits = BraceLimits { max_words: 1000, max_bytes: 100_000 };

/// The first argument of `echo`, which is `source`.
fn word(source: &str, holes: &[Hole]) -> Word {
    let program = parse(&format!("echo {source}"), holes, &ParseOptions::new(1 << 20, 64)).expect("a word");
    match &program.items[0].and_or.first.stages[0] {
        Command::Simple(command) => command.words[1].clone(),
        other => unreachable!("{other:?} is not a simple command"),
    }
}

#[test]
fn known_text_is_the_text_after_quote_removal() {
    for (source, known, literal, glob) in [
        ("a", Some("a"), Some("a"), false),
        ("a'b c'\"d\"\\ e$'\\t'", Some("ab cd e\t"), Some("ab cd e\t"), false),
        ("\"\"", Some(""), Some(""), false),
        ("a*", Some("a*"), None, true),
        ("a?", Some("a?"), None, true),
        ("[a]", Some("[a]"), None, true),
        ("[a", Some("[a"), Some("[a"), false),
        ("a]", Some("a]"), Some("a]"), false),
        ("'*'\\?\"[a]\"", Some("*?[a]"), Some("*?[a]"), false),
        ("$x", None, None, false),
        ("\"a$x\"", None, None, false),
        ("$(a)", None, None, false),
        ("$((1))", None, None, false),
        ("~/a", None, None, false),
        ("{a,b}", None, None, false),
        ("{1..3}", None, None, false),
        ("{}", Some("{}"), Some("{}"), false),
        ("{a}", Some("{a}"), Some("{a}"), false),
        ("'{a,b}'", Some("{a,b}"), Some("{a,b}"), false),
        ("a\\\nb", Some("ab"), Some("ab"), false),
    ] {
        let word = word(source, &[]);
        assert_eq!(word.known_text().as_deref(), known, "known text of {source}");
        assert_eq!(word.as_literal().as_deref(), literal, "literal of {source}");
        assert_eq!(word.has_glob(), glob, "glob of {source}");
    }
}

#[test]
fn braces_expand_as_in_bash() {
    for (source, expected) in [
        ("a", "a"),
        ("{a,b}", "a b"),
        ("x{a,b}y{1,2}z", "x+a+y+1+z x+a+y+2+z x+b+y+1+z x+b+y+2+z"),
        ("{a,b{c,d}}", "a b+c b+d"),
        ("{a,{b,c}", "{a,+b {a,+c"),
        ("{a,b}}", "a+} b+}"),
        ("a{b}c", "a{b}c"),
        ("{a{b,c}}", "{a+b+} {a+c+}"),
        ("{{},a}", "{} a"),
        ("{},a}", "{},a}"),
        ("{a,}", "a -"),
        ("{,}x", "x x"),
        ("{a,b\\,c}", "a b+','+c"),
        ("{\"a,b\",c}", "\"'a,b'\" c"),
        ("{a,$x}", "a $x"),
        ("{a,${x:-b,c}}", "a ${x:Default b,c}"),
        ("{1..3}", "'1' '2' '3'"),
        ("{3..1}", "'3' '2' '1'"),
        ("{1..10..3}", "'1' '4' '7' '10'"),
        ("{5..1..2}", "'5' '3' '1'"),
        ("{1..5..-2}", "'1' '3' '5'"),
        ("{1..3..0}", "'1' '2' '3'"),
        ("{01..10..3}", "'01' '04' '07' '10'"),
        ("{-01..3}", "'-01' '000' '001' '002' '003'"),
        ("{1..-2}", "'1' '0' '-1' '-2'"),
        ("{a..e..2}", "'a' 'c' 'e'"),
        ("{C..A}", "'C' 'B' 'A'"),
        ("{a..1}", "{a..1}"),
        ("{1..}", "{1..}"),
        ("{1..2..x}", "{1..2..x}"),
        ("{1..99999999999999999999}", "{1..99999999999999999999}"),
        ("{1..'2'}", "{1..+'2'+}"),
        ("{~,x}/{a,b}", "~~+/+a ~~+/+b x+/+a x+/+b"),
        ("~{a,b}/c", "~a~+/c ~b~+/c"),
        ("{~a,~/b}", "~a~ ~~+/b"),
        ("{~,x}$y", "~+$y x+$y"),
        ("{~,x}'/'", "~+'/' x+'/'"),
        ("~/{a,b}", "~~+/+a ~~+/+b"),
        ("n=~/{a,b}", "n=+~+/+a n=+~+/+b"),
        ("{a,b", "{a,b"),
        ("a,b", "a,b"),
    ] {
        let word = word(source, &[]);
        let words = expand(&word, &LIMITS).expect("within the limits");
        let found = words.iter().map(dump::word).collect::<Vec<_>>().join(" ");
        assert_eq!(found, expected, "{source}");
        assert_eq!(has_braces(&word), words != [word.clone()], "{source}");
    }
}

#[test]
fn the_bytes_of_a_hole_hold_no_braces() {
    let hole = |start, end| Hole {
        span: Span::new(start, end),
        kind: HoleKind::Word,
        in_single_quotes: SingleQuoteRule::Literal,
    };
    let expanded = expand(&word("{a,b}", &[hole(6, 9)]), &LIMITS).expect("one word");
    assert_eq!(expanded.iter().map(dump::word).collect::<Vec<_>>(), ["{+<0>+}"]);
    let expanded = expand(&word("{a,XX}", &[hole(8, 10)]), &LIMITS).expect("two words");
    assert_eq!(expanded.iter().map(dump::word).collect::<Vec<_>>(), ["a", "<0>"]);
}

#[test]
fn brace_expansion_is_bounded_before_it_builds_anything() {
    let limits = BraceLimits { max_words: 100, max_bytes: 1000 };
    for (source, expected) in [
        ("{1..100}".to_owned(), None),
        ("{1..101}".to_owned(), Some(101)),
        ("{a,b}".repeat(6), None),
        ("{a,b}".repeat(7), Some(128)),
        ("{a,b}".repeat(500), Some(usize::MAX)),
        ("{1..9223372036854775807}".to_owned(), Some(9_223_372_036_854_775_807)),
        ("{-9223372036854775808..9223372036854775807}".to_owned(), Some(usize::MAX)),
        (format!("{{a,b}}{}", "x".repeat(500)), Some(2)),
    ] {
        let found = match expand(&word(&source, &[]), &limits) {
            Err(BraceError::TooMany { words, .. }) => Some(words),
            other => {
                assert!(other.expect("no other error").len() <= 100, "{source}");
                None
            }
        };
        assert_eq!(found, expected, "{source}");
    }
    let deep = format!("{}a{}", "{a,".repeat(100), "}".repeat(100));
    assert_eq!(expand(&word(&deep, &[]), &limits), Err(BraceError::TooDeep));
    assert!(has_braces(&word(&deep, &[])));
    assert!(matches!(expand(&word("{Z..b}", &[]), &limits), Err(BraceError::MixedCase(_))));
    assert!(matches!(expand(&word("{a,$}x", &[]), &limits), Err(BraceError::LooseDollar(_))));
    assert!(expand(&word("{a}$.", &[]), &limits).is_ok(), "the control: nothing expands");
}
