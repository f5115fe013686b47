//! Where the value of a placeholder is data, and where it is refused.
//!
//! A hole is written `⟦$1⟧`; `⟦*$1⟧` may become several words; `⟦=$1⟧` is put in between single quotes too.

mod dump;

use skillgate_core::Span;
use skillgate_shell::{
    Hole, HoleKind, HolePlace, ParseOptions, Program, SingleQuoteRule, SyntaxError, SyntaxErrorKind, parse,
};

fn parse_marked(marked: &str) -> Result<Program, SyntaxError> {
    let mut source = String::new();
    let mut holes = Vec::new();
    let mut rest = marked;
    while let Some((before, after)) = rest.split_once('⟦') {
        source.push_str(before);
        let (inside, after) = after.split_once('⟧').expect("a mark is closed");
        let (kind, inside) = inside.strip_prefix('*').map_or((HoleKind::Word, inside), |it| (HoleKind::Words, it));
        let (rule, inside) =
            inside.strip_prefix('=').map_or((SingleQuoteRule::Literal, inside), |it| (SingleQuoteRule::Substitute, it));
        let start = source.len();
        source.push_str(inside);
        holes.push(Hole { span: Span::new(start, source.len()), kind, in_single_quotes: rule });
        rest = after;
    }
    source.push_str(rest);
    parse(&source, &holes, &ParseOptions::new(4096, 64))
}

#[test]
fn holes_are_data_where_a_word_is_data() {
    for (marked, tree) in [
        ("echo ⟦$1⟧", "(echo <0>)"),
        ("echo ⟦*$ARGUMENTS⟧ b", "(echo <0> b)"),
        ("echo a⟦$1⟧b⟦$2⟧", "(echo a+<0>+b+<1>)"),
        ("echo \"⟦$1⟧\" \"a ⟦$2⟧ b\"", "(echo \"<0q>\" \"'a '+<1q>+' b'\")"),
        ("awk '{print ⟦$1⟧}'", "(awk '{print $1}')"),
        ("echo 'a ⟦=$1⟧ b'", "(echo 'a '+<0q>+' b')"),
        ("echo '⟦=$1⟧'", "(echo ''+<0q>+'')"),
        ("echo $⟦$1⟧", "(echo $+<0>)"),
        ("echo ~⟦$1⟧", "(echo ~+<0>)"),
        ("x=⟦$1⟧ y=a:⟦$2⟧ echo", "(x=<0q> y=a:+<1q> echo)"),
        ("echo x=⟦$1⟧", "(echo x=+<0>)"),
        ("echo ${x:-⟦$1⟧}", "(echo ${x:Default <0>})"),
        ("echo \"${x:-⟦$1⟧}\"", "(echo \"${x:Default <0q>}\")"),
        ("echo ${x#⟦$1⟧} ${x/⟦$2⟧/⟦$3⟧}", "(echo ${x Prefix <0q>} ${x First <1q> <2q>})"),
        ("echo $(cat ⟦$1⟧)", "(echo $[(cat <0>)])"),
        ("echo `cat ⟦$1⟧`", "(echo $[(cat <0>)])"),
        ("cat <⟦$1⟧ >\"⟦$2⟧\"", "(cat Read:<0q> Write:\"<1q>\")"),
        ("cat <<<⟦$1⟧", "(cat HereString:<0q>)"),
        ("cat <<E\na ⟦$1⟧\nE\n", "(cat HereDocument:'a '+<0q>+'\\n')"),
        ("cat <<E\n⟦E⟧\nE\n", "(cat HereDocument:<0q>+'\\n')"),
        ("for x in ⟦*$1⟧ a; do b; done", "for x in <0> a do[(b)]"),
        ("case ⟦$1⟧ in ⟦$2⟧|b*) c;; esac", "case <0q> (<1q> b*)Break[(c)]"),
        ("[[ ⟦$1⟧ == a* && -f ⟦$2⟧ && x == ⟦$3⟧ ]]", "[[(<0q> Matches a* && RegularFile <1q> && x Matches <2q>)]]"),
        ("[ ⟦$1⟧ -eq 1 ]", "([ <0> -eq 1 ])"),
        ("echo {a,⟦$1⟧}", "(echo {a,+<0>+})"),
        ("a # ⟦$1⟧\nb", "(a); (b)"),
        ("a ⟦; rm -rf /⟧ b", "(a <0> b)"),
        ("a ⟦\n⟧ b", "(a <0> b)"),
        ("a ⟦`⟧ `b ⟦`⟧`", "(a <0> $[(b <1>)])"),
        ("a '⟦x⟧' ⟦'⟧", "(a 'x' <1>)"),
        ("a ⟦#⟧", "(a <0>)"),
        ("a ⟦$1⟧>b", "(a <0> Write:b)"),
    ] {
        assert_eq!(parse_marked(marked).map(|program| dump::list(&program)), Ok(tree.to_owned()), "{marked}");
    }
}

#[test]
fn holes_are_refused_where_a_value_would_be_syntax() {
    for (marked, place) in [
        ("⟦$1⟧", HolePlace::Command),
        ("⟦$1⟧ a", HolePlace::Command),
        ("\"⟦$1⟧\"", HolePlace::Command),
        ("a⟦$1⟧", HolePlace::Command),
        ("\"a ⟦$1⟧\" b", HolePlace::Command),
        ("'⟦=$1⟧'", HolePlace::Command),
        ("${x:-⟦$1⟧}", HolePlace::Command),
        ("$(echo ⟦$1⟧)", HolePlace::Command),
        ("`echo ⟦$1⟧` a", HolePlace::Command),
        ("x=1 ⟦$1⟧", HolePlace::Command),
        (">x ⟦$1⟧", HolePlace::Command),
        ("! ⟦$1⟧", HolePlace::Command),
        ("a | ⟦$1⟧", HolePlace::Command),
        ("a && ⟦$1⟧", HolePlace::Command),
        ("a\n⟦$1⟧", HolePlace::Command),
        ("{ ⟦$1⟧; }", HolePlace::Command),
        ("(⟦$1⟧)", HolePlace::Command),
        ("if ⟦$1⟧; then a; fi", HolePlace::Command),
        ("if a; then ⟦$1⟧; fi", HolePlace::Command),
        ("while ⟦$1⟧; do a; done", HolePlace::Command),
        ("case a in b) ⟦$1⟧;; esac", HolePlace::Command),
        ("echo $(⟦$1⟧)", HolePlace::Command),
        ("echo \"$(⟦$1⟧)\"", HolePlace::Command),
        ("echo `⟦$1⟧`", HolePlace::Command),
        ("f() ⟦$1⟧", HolePlace::Command),
        ("(a) ⟦$1⟧", HolePlace::Command),
        ("⟦$1⟧=a", HolePlace::Command),
        ("x⟦$1⟧=a b", HolePlace::Command),
        ("if⟦$1⟧ a", HolePlace::Command),
        ("⟦$1⟧() { a; }", HolePlace::Command),
        ("f⟦$1⟧() { a; }", HolePlace::Command),
        ("function ⟦$1⟧ { a; }", HolePlace::Function),
        ("function f⟦$1⟧ { a; }", HolePlace::Function),
        ("f(⟦$1⟧) { a; }", HolePlace::Function),
        ("for ⟦$1⟧ in a; do b; done", HolePlace::Name),
        ("for x⟦$1⟧ in a; do b; done", HolePlace::Name),
        ("echo ${⟦$1⟧}", HolePlace::Name),
        ("echo ${x⟦$1⟧}", HolePlace::Name),
        ("echo ${#⟦$1⟧}", HolePlace::Name),
        ("echo $((⟦$1⟧))", HolePlace::Arithmetic),
        ("echo $((1 + ⟦$1⟧))", HolePlace::Arithmetic),
        ("echo $((1⟦$1⟧))", HolePlace::Arithmetic),
        ("echo $((x⟦$1⟧ + 1))", HolePlace::Arithmetic),
        ("echo $((${x:-⟦$1⟧}))", HolePlace::Arithmetic),
        ("echo $(($(echo ⟦$1⟧)))", HolePlace::Arithmetic),
        ("((⟦$1⟧ > 1))", HolePlace::Arithmetic),
        ("((x > 1 ⟦$1⟧))", HolePlace::Arithmetic),
        ("echo ${x:⟦$1⟧}", HolePlace::Arithmetic),
        ("echo ${x:1:⟦$1⟧}", HolePlace::Arithmetic),
        ("echo ${x[⟦$1⟧]}", HolePlace::Arithmetic),
        ("[[ ⟦$1⟧ -eq 1 ]]", HolePlace::Arithmetic),
        ("[[ 1 -lt \"⟦$1⟧\" ]]", HolePlace::Arithmetic),
        ("[[ a ⟦$1⟧ b ]]", HolePlace::Operator),
        ("a >&⟦$1⟧", HolePlace::Redirection),
        ("a 2>&⟦$1⟧", HolePlace::Redirection),
        ("a <&⟦$1⟧", HolePlace::Redirection),
        ("cat <<⟦$1⟧\na\n", HolePlace::Delimiter),
        ("cat <<E⟦$1⟧\na\n", HolePlace::Delimiter),
        ("cat <<'⟦$1⟧'\na\n", HolePlace::Delimiter),
        ("cat <<'E'\n⟦$1⟧\nE\n", HolePlace::QuotedHereDocument),
        ("echo `cat \\$x ⟦$1⟧`", HolePlace::Backquotes),
        ("echo \"`cat \\\"⟦$1⟧\\\"`\"", HolePlace::Backquotes),
        ("echo $'⟦$1⟧'", HolePlace::Escape),
        ("echo $'\\⟦$1⟧'", HolePlace::Escape),
        ("echo \\⟦$1⟧", HolePlace::Escape),
        ("echo \"\\⟦$1⟧\"", HolePlace::Escape),
        ("echo \"${x:-\\⟦$1⟧}\"", HolePlace::Escape),
    ] {
        let refused =
            parse_marked(marked).map(|program| dump::list(&program)).map_err(|error| (error.kind, error.span.start));
        let start = marked.find('⟦').expect("every case has a hole");
        assert_eq!(refused, Err((SyntaxErrorKind::UnsafeHole { index: 0, place }, start)), "{marked}");
    }
}

#[test]
fn holes_must_be_sorted_apart_and_inside() {
    let hole = |start, end| Hole {
        span: Span { start, end },
        kind: HoleKind::Word,
        in_single_quotes: SingleQuoteRule::Literal,
    };
    let source = "echo é bcd";
    let options = ParseOptions::new(100, 8);
    assert!(parse(source, &[hole(8, 9), hole(9, 10)], &options).is_ok(), "the control: side by side");
    for holes in [
        vec![hole(9, 10), hole(8, 9)],
        vec![hole(8, 10), hole(9, 11)],
        vec![hole(8, 8)],
        vec![hole(9, 8)],
        vec![hole(5, 6)],
        vec![hole(10, 12)],
    ] {
        let error = parse(source, &holes, &options).expect_err("invalid holes");
        assert_eq!(error.kind, SyntaxErrorKind::InvalidHoles, "{holes:?}");
    }
}
