//! Nothing that a program holds can exhaust the stack or pass the limits.

use skillgate_shell::{MAX_NESTING, ParseOptions, SyntaxErrorKind, parse, simple_commands};

/// Runs on a stack of 2 MiB, the default of threads.
fn on_a_small_stack(run: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(2 * 1024 * 1024).spawn(run);
    thread.expect("a thread can start").join().expect("the thread ends well");
}

/// What opens a level, something that may stand in the middle, and what closes the level.
const LEVELS: &[(&str, &str, &str)] = &[
    ("(", "a", ")"),
    ("( ", "a", " )"),
    ("{ ", "a;", " };"),
    ("if ", "a;", "; then b; fi;"),
    ("if a; then ", "b;", " fi;"),
    ("while a; do ", "b;", " done;"),
    ("until ", "a;", " do b; done;"),
    ("for x in a; do ", "b;", " done;"),
    ("case a in a) ", "b", ";; esac"),
    ("f() { ", "a;", " };"),
    ("function f { ", "a;", " };"),
    ("echo $(", "a", ")"),
    ("$(", "a", ")"),
    ("echo \"$(", "a", ")\""),
    ("echo ${x:-", "a", "}"),
    ("${x:-\"", "a", "\"}"),
    ("${x#", "a", "}"),
    ("${x/a/", "a", "}"),
    ("${x:$((", "1", "))}"),
    ("$((1+", "1", "))"),
    ("$((", "1", "))"),
    ("(( ", "1", " ))"),
    ("x=$(", "a", ")"),
    ("cat <<<$(", "a", ")"),
    ("cat <$(", "a", ")"),
    ("[[ a && ", "a", " ]]"),
    ("[[ $(", "a", ") ]]"),
    ("! ", "a", ""),
    ("a | ", "a", ""),
    ("a && ", "a", ""),
    ("a\n", "a", ""),
    ("<(", "a", ")"),
    ("`", "a", "`"),
    ("'", "a", "'"),
    ("\"", "a", "\""),
    ("cat <<E $(", "a", ")"),
    ("cat <<E\n$(", "a", ")\nE\n"),
    ("a=(", "a", ")"),
    ("[", "a", "]"),
    ("{", "a", "}"),
];

/// The same inside arithmetic and inside a condition.
const INNER_LEVELS: &[(&str, &str, &str, &str, &str)] = &[
    ("echo $((", "(", "1", ")", "))"),
    ("echo $((", "-", "1", "", "))"),
    ("echo $((", "- ", "1", "", "))"),
    ("echo $((", "!", "1", "", "))"),
    ("echo $((", "1+", "1", "", "))"),
    ("echo $((", "2**", "1", "", "))"),
    ("echo $((", "a=", "1", "", "))"),
    ("echo $((", "1?2:", "1", "", "))"),
    ("echo $((", "1?", "1", ":2", "))"),
    ("echo $((", "1,", "1", "", "))"),
    ("echo $((", "1||1&&1|1^1&1==1<1<<1+1*(", "1", ")", "))"),
    ("echo $((", "$((", "1", "))", "))"),
    ("echo $((", "${x:-$((", "1", "))}", "))"),
    ("[[ ", "( ", "a", " )", " ]]"),
    ("[[ ", "! ", "a", "", " ]]"),
    ("[[ ", "a || ( b && ", "a", " )", " ]]"),
    ("[[ a =~ ", "(", "a", ")", " ]]"),
];

fn sources(depth: usize, closed: bool) -> Vec<String> {
    let mut sources = Vec::new();
    for (open, middle, close) in LEVELS {
        let close = if closed { close.repeat(depth) } else { String::new() };
        sources.push(format!("{}{middle}{close}", open.repeat(depth)));
    }
    for (before, open, middle, close, after) in INNER_LEVELS {
        let close = if closed { format!("{}{after}", close.repeat(depth)) } else { String::new() };
        sources.push(format!("{before}{}{middle}{close}", open.repeat(depth)));
    }
    sources
}

#[test]
fn a_hundred_thousand_levels_end_without_a_stack_overflow() {
    on_a_small_stack(|| {
        let options = ParseOptions::new(64 << 20, usize::MAX);
        for closed in [false, true] {
            for source in sources(100_000, closed) {
                // Some of these are flat, and parse; what matters is that each ends, and that its tree can be dropped.
                let parsed = parse(&source, &[], &options);
                let commands = parsed.map(|program| simple_commands(&program).count());
                let flat = source.starts_with("[[");
                assert!(flat || commands != Ok(0), "{}: a program without a command", &source[..20]);
            }
        }
    });
}

#[test]
fn the_deepest_trees_that_are_allowed_fit_a_small_stack() {
    on_a_small_stack(|| {
        let options = ParseOptions::new(64 << 20, MAX_NESTING);
        let mut deepest = 0;
        for depth in 1..=MAX_NESTING {
            for source in sources(depth, true) {
                if let Ok(program) = parse(&source, &[], &options) {
                    let copy = program.clone();
                    assert_eq!(copy, program);
                    assert!(!format!("{copy:?}").is_empty());
                    deepest = depth;
                }
            }
        }
        assert_eq!(deepest, MAX_NESTING, "the limit is reached by some construct");
    });
}

#[test]
fn nesting_stops_at_the_limit_of_the_caller() {
    let nested = |depth: usize| format!("{}a{}", "( ".repeat(depth), " )".repeat(depth));
    let options = ParseOptions::new(1000, 8);
    assert!(parse(&nested(8), &[], &options).is_ok());
    let error = parse(&nested(9), &[], &options).expect_err("nine levels");
    assert_eq!((error.kind, error.span.start), (SyntaxErrorKind::TooDeep { limit: 8 }, 16));
    assert_eq!(ParseOptions::new(1, usize::MAX).max_depth(), MAX_NESTING);
}

#[test]
fn a_source_over_the_limit_is_refused_unread() {
    let source = "(".repeat(1 << 20);
    let error = parse(&source, &[], &ParseOptions::new(256 * 1024, 64)).expect_err("one MiB");
    assert_eq!(error.kind, SyntaxErrorKind::TooLarge { bytes: 1 << 20, limit: 256 * 1024 });
    assert!(parse("a", &[], &ParseOptions::new(1, 64)).is_ok(), "the control");
}

#[test]
fn forty_thousand_here_documents_parse() {
    let source = "cat <<E\na $x\nE\n".repeat(40_000);
    let program = parse(&source, &[], &ParseOptions::new(source.len(), 64)).expect("here-documents");
    assert_eq!(simple_commands(&program).count(), 40_000);
}

#[test]
fn the_place_of_an_error_cuts_no_character() {
    for source in ["${x[é", "${x[日]}", "$((x[é]))", "${x^é}", "${!é}", "${x@é}", "<<Eé$(x)\n", "a=(é)"] {
        let error = parse(source, &[], &ParseOptions::new(1 << 10, 8)).expect_err(source);
        assert!(error.span.slice(source).is_some(), "{source}: {error:?}");
    }
}
