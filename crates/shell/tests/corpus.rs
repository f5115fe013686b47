//! The 224 lines that published skills inject.

use skillgate_shell::{Node, ParseOptions, WordPart, parse, simple_commands, walk};

const LINES: &str = include_str!("data/injected-lines.txt");

#[test]
fn every_line_parses() {
    let mut lines = 0;
    for line in LINES.lines() {
        let commands = parse(line, &[], &ParseOptions::new(4096, 16)).map(|program| simple_commands(&program).count());
        assert!(matches!(commands, Ok(1..)), "{line:?}: {commands:?}");
        lines += 1;
    }
    assert_eq!(lines, 224);
}

#[test]
fn the_literals_of_every_line_are_its_text() {
    for line in LINES.lines() {
        let program = parse(line, &[], &ParseOptions::new(4096, 16)).expect("tested above");
        for node in walk(&program) {
            if let Node::Part(WordPart::Literal { text, span }) = node {
                assert_eq!(span.slice(line), Some(text.as_str()), "in {line:?}");
            }
        }
    }
}

#[test]
fn the_commands_of_some_lines_are_found() {
    for (line, names) in [
        ("git branch --show-current 2>/dev/null || echo \"none\"", vec!["git", "echo"]),
        (
            "git log --since=\"$(git log -1 --format=%ai docs/architecture.md)\" --oneline --name-only | head -30",
            vec!["git", "git", "head"],
        ),
        ("basename $(pwd)", vec!["basename", "pwd"]),
        ("[ -f package.json ] && grep -o '\"react\"' package.json || echo \"none\"", vec!["[", "grep", "echo"]),
    ] {
        let program = parse(line, &[], &ParseOptions::new(4096, 16)).expect("a program");
        let found: Vec<String> =
            simple_commands(&program).filter_map(|command| command.words.first()?.as_literal()).collect();
        assert_eq!(found, names, "{line}");
    }
}
