//! A shell program to a tree: sound spans, bounded expansion, and holes that are never syntax.
//!
//! In the input `@1`, `@2` and `@3` are placeholders: one word that single quotes keep literal, one word, and several words.

use skillgate_core::Span;
use skillgate_shell::braces::{BraceLimits, expand};
use skillgate_shell::pattern::{Pattern, PatternPiece};
use skillgate_shell::{
    ArithmeticError, Command, Hole, HoleKind, Node, ParseOptions, Program, RedirectTarget, SingleQuoteRule, Variables,
    WordPart, arithmetic, parse, simple_commands, walk,
};

const OPTIONS: ParseOptions = ParseOptions::new(1 << 16, 32);
const BRACES: BraceLimits = BraceLimits { max_words: 64, max_bytes: 4096 };
/// Spellings that would change the program if they were read; each is as long as `@1`.
const HOSTILE: [&str; 6] = [";x", "$(", "\"'", "| ", "&&", "}#"];

/// Parses `data` as a program, an arithmetic expression and a pattern.
pub fn program_to_tree(data: &[u8]) {
    let source = String::from_utf8_lossy(data);
    let holes = holes(&source);
    match parse(&source, &holes, &OPTIONS) {
        Err(error) => assert!(error.span.slice(&source).is_some(), "{error:?}"),
        Ok(program) => {
            spans_are_sound(&program, &source);
            holes_are_data(&program, &source, &holes);
            expansion_is_bounded(&program);
            assert!(simple_commands(&program).count() <= source.len());
        }
    }
    the_bytes_of_a_hole_change_nothing(&source, &holes);
    arithmetic_ends(&source);
    a_pattern_agrees_with_itself(&source);
}

fn holes(source: &str) -> Vec<Hole> {
    let kinds = [
        ("@1", HoleKind::Word, SingleQuoteRule::Literal),
        ("@2", HoleKind::Word, SingleQuoteRule::Substitute),
        ("@3", HoleKind::Words, SingleQuoteRule::Substitute),
    ];
    let mut holes: Vec<Hole> = Vec::new();
    for (spelling, kind, in_single_quotes) in kinds {
        let places = source.match_indices(spelling);
        holes.extend(places.map(|(at, text)| Hole { span: Span::new(at, at + text.len()), kind, in_single_quotes }));
    }
    holes.sort_by_key(|hole| hole.span.start);
    holes
}

fn span_of(node: &Node<'_>) -> Span {
    match node {
        Node::List(list) => list.span,
        Node::Command(command) => command.span(),
        Node::Redirect(redirect) => redirect.span,
        Node::Conditional(conditional) => conditional.span,
        Node::Arithmetic(expr) => expr.span,
        Node::Word(word) => word.span,
        Node::Part(part) => part.span(),
    }
}

/// Spans lie in the source, and a literal is what stands there.
fn spans_are_sound(program: &Program, source: &str) {
    // Inside backquotes with backslashes every span is that of the substitution.
    let rewritten: Vec<Span> = walk(program)
        .filter_map(|node| match node {
            Node::Part(WordPart::Substitution { list, span }) if list.span == *span => Some(*span),
            _ => None,
        })
        .collect();
    for node in walk(program) {
        let span = span_of(&node);
        assert!(span.slice(source).is_some(), "{node:?}");
        if let Node::Part(WordPart::Literal { text, span }) = node
            && !rewritten.contains(span)
        {
            assert_eq!(span.slice(source), Some(text.as_str()));
        }
    }
}

fn has_hole(part: &impl std::fmt::Debug) -> bool {
    format!("{part:?}").contains("Hole {")
}

/// No hole names a command, is computed with, or stands in literal text; each keeps its place.
fn holes_are_data(program: &Program, source: &str, holes: &[Hole]) {
    for node in walk(program) {
        match node {
            Node::Command(Command::Simple(command)) => {
                assert!(command.words.first().is_none_or(|name| !has_hole(name)), "{source:?}");
            }
            Node::Arithmetic(expr) => assert!(!has_hole(expr), "{source:?}"),
            Node::Redirect(redirect) => {
                if let RedirectTarget::HereDocument(document) = &redirect.target {
                    assert!(!document.quoted || !has_hole(&document.body()), "{source:?}");
                }
            }
            Node::Part(WordPart::Hole { index, span, .. }) => {
                assert_eq!(holes.get(*index).map(|hole| hole.span), Some(*span));
            }
            _ => {}
        }
    }
}

fn expansion_is_bounded(program: &Program) {
    for node in walk(program) {
        if let Node::Word(word) = node
            && let Ok(words) = expand(word, &BRACES)
        {
            assert!(words.len() <= BRACES.max_words, "{word:?}");
        }
    }
}

/// Another spelling of the placeholders, as long, gives the same tree or the same error.
fn the_bytes_of_a_hole_change_nothing(source: &str, holes: &[Hole]) {
    // What is literal between single quotes is meant to keep its spelling.
    if holes.iter().any(|hole| hole.in_single_quotes == SingleQuoteRule::Literal) {
        return;
    }
    let tree = |source: &str| match parse(source, holes, &OPTIONS) {
        Ok(program) => format!("{program:?}"),
        Err(error) => format!("{:?} at {:?}", std::mem::discriminant(&error.kind), error.span),
    };
    if holes.is_empty() {
        return;
    }
    let expected = tree(source);
    for spelling in HOSTILE {
        let other = source.replace("@2", spelling).replace("@3", spelling);
        assert_eq!(tree(&other), expected, "{spelling:?} for the placeholders of {source:?}");
    }
}

fn arithmetic_ends(source: &str) {
    struct Three;
    impl Variables for Three {
        fn get(&mut self, _: &str) -> Option<String> {
            Some("3".to_owned())
        }
        fn set(&mut self, _: &str, _: i64) -> Result<(), ArithmeticError> {
            Ok(())
        }
    }
    if let Ok(expr) = arithmetic::parse(source, 32) {
        let texts = vec!["3".to_owned(); expr.expansions.len()];
        let _any_value_or_error = arithmetic::evaluate(&expr, &texts, &mut Three);
    }
}

/// The first line as a pattern on the rest: `*` around it matches where it is found, and quoted text matches itself.
fn a_pattern_agrees_with_itself(source: &str) {
    let (first, rest) = source.split_once('\n').unwrap_or((source, source));
    let (first, rest) = (beginning(first, 64), beginning(rest, 256));
    let exact = Pattern::compile(&[PatternPiece::Quoted(first)]);
    assert!(exact.is_ok_and(|pattern| pattern.matches(first)), "{first:?}");
    let Ok(pattern) = Pattern::compile(&[PatternPiece::Active(first)]) else { return };
    let found = pattern.find(rest);
    assert!(found.as_ref().is_none_or(|range| rest.get(range.clone()).is_some()), "{first:?} in {rest:?}");
    if let Some(text) = found.and_then(|range| rest.get(range)) {
        assert!(pattern.matches(text), "{first:?} on {text:?}");
    }
    for longest in [false, true] {
        if let Some(end) = pattern.prefix_end(rest, longest) {
            assert!(rest.get(..end).is_some_and(|text| pattern.matches(text)), "{first:?} before {end} of {rest:?}");
        }
        if let Some(start) = pattern.suffix_start(rest, longest) {
            assert!(rest.get(start..).is_some_and(|text| pattern.matches(text)), "{first:?} from {start} of {rest:?}");
        }
    }
}

/// At most so many bytes, at the boundary of a character.
fn beginning(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or_default()
}
