//! What holds for every input.

mod dump;

use proptest::prelude::*;
use skillgate_core::Span;
use skillgate_shell::arithmetic;
use skillgate_shell::braces::{BraceLimits, expand};
use skillgate_shell::{
    Command, Hole, HoleKind, Node, ParseOptions, Program, RedirectTarget, SingleQuoteRule, Word, WordPart, parse, walk,
};

const OPTIONS: ParseOptions = ParseOptions::new(1 << 16, 32);

/// Pieces that programs are made of, so that random texts reach deep into the grammar.
fn program() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "a",
        "b1",
        "echo",
        " ",
        " ",
        " ",
        "\n",
        "\r\n",
        ";",
        ";;",
        ";&",
        "&",
        "&&",
        "|",
        "||",
        "|&",
        "(",
        ")",
        "((",
        "))",
        "{ ",
        " }",
        "{",
        "}",
        "[[ ",
        " ]]",
        "if ",
        "then ",
        "elif ",
        "else ",
        "fi",
        "for x in ",
        "for x",
        "do ",
        "done",
        "while ",
        "until ",
        "case a in ",
        "esac",
        "f() ",
        "function f ",
        "!",
        "! ",
        "$",
        "$x",
        "${x",
        "${x:-",
        "${x#",
        "${x/",
        "${#x}",
        "${x:",
        "$(",
        "$((",
        "`",
        "\\`",
        "'",
        "\"",
        "\\",
        "\\\n",
        "$'",
        "\\x41",
        "<",
        ">",
        ">>",
        ">&",
        "<<",
        "<<-",
        "<<<",
        "<<E",
        "<<'E'",
        "\nE\n",
        "E",
        "\t",
        "2>",
        "&>",
        "1",
        "+",
        "*",
        "?",
        "[",
        "]",
        "~",
        "~/",
        "=",
        "x=",
        "x+=",
        ":",
        ",",
        "..",
        "-",
        "-f ",
        " == ",
        " =~ ",
        " -eq ",
        "#",
        "%",
        "/",
        "^",
        "@",
        "é",
        "日",
        "=(",
        "<(",
    ]);
    prop::collection::vec(pieces, 0..40).prop_map(|pieces| pieces.concat())
}

/// A program and holes in it, at any character.
fn program_with_holes() -> impl Strategy<Value = (String, Vec<Hole>)> {
    (program(), prop::collection::vec((any::<prop::sample::Index>(), 1usize..4, any::<bool>(), any::<bool>()), 0..4))
        .prop_map(|(source, wanted)| {
            let mut holes = Vec::new();
            for (index, length, words, literal) in wanted {
                if source.is_empty() {
                    break;
                }
                let boundary = |mut at: usize| {
                    at = at.min(source.len());
                    while !source.is_char_boundary(at) {
                        at += 1;
                    }
                    at
                };
                let start = boundary(index.index(source.len()));
                holes.push(Hole {
                    span: Span::new(start, boundary(start + length)),
                    kind: if words { HoleKind::Words } else { HoleKind::Word },
                    in_single_quotes: if literal { SingleQuoteRule::Literal } else { SingleQuoteRule::Substitute },
                });
            }
            holes.sort_by_key(|hole| hole.span.start);
            let mut free = 0;
            holes.retain(|hole| {
                let fits = hole.span.start >= free && !hole.span.is_empty();
                if fits {
                    free = hole.span.end;
                }
                fits
            });
            (source, holes)
        })
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

/// The substitutions whose inner spans are all their own span: backquotes with backslashes.
fn rewritten(program: &Program) -> Vec<Span> {
    let spans = walk(program).filter_map(|node| match node {
        Node::Part(WordPart::Substitution { list, span }) if list.span == *span => Some(*span),
        _ => None,
    });
    spans.collect()
}

fn holes_in(word: &Word) -> usize {
    format!("{word:?}").matches("Hole {").count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_text_parses_or_is_refused_inside_itself(source in "\\PC*|[ -~\\n]{0,60}") {
        if let Err(error) = parse(&source, &[], &OPTIONS) {
            prop_assert!(error.span.slice(&source).is_some(), "{:?} of {:?}", error, source);
        }
    }

    #[test]
    fn spans_lie_inside_and_literals_are_the_source((source, holes) in program_with_holes()) {
        match parse(&source, &holes, &OPTIONS) {
            Err(error) => prop_assert!(error.span.slice(&source).is_some(), "{:?}", error),
            Ok(program) => {
                let rewritten = rewritten(&program);
                for node in walk(&program) {
                    let span = span_of(&node);
                    prop_assert!(span.slice(&source).is_some(), "{:?}", node);
                    if let Node::Part(WordPart::Literal { text, span }) = node
                        && !rewritten.contains(span)
                    {
                        prop_assert_eq!(span.slice(&source), Some(text.as_str()));
                    }
                }
            }
        }
    }

    #[test]
    fn holes_are_never_syntax((source, holes) in program_with_holes()) {
        let Ok(program) = parse(&source, &holes, &OPTIONS) else { return Ok(()) };
        for node in walk(&program) {
            match node {
                Node::Command(Command::Simple(command)) => {
                    if let Some(name) = command.words.first() {
                        prop_assert_eq!(holes_in(name), 0, "in the name of a command");
                    }
                }
                Node::Arithmetic(expr) => {
                    prop_assert!(!format!("{:?}", expr).contains("Hole {"), "in arithmetic");
                }
                Node::Redirect(redirect) => {
                    if let RedirectTarget::HereDocument(document) = &redirect.target {
                        let inside = format!("{:?}", document.body()).contains("Hole {");
                        prop_assert!(!document.quoted || !inside, "in a quoted here-document");
                    }
                }
                Node::Part(WordPart::Hole { index, span, .. }) => {
                    prop_assert_eq!(holes[*index].span, *span);
                }
                _ => {}
            }
        }
    }

    #[test]
    fn the_bytes_of_a_hole_change_nothing(before in program(), after in program(), value in program()) {
        // The same program with another spelling of the placeholder has the same tree or the same error.
        let tree = |spelling: &str| {
            let hole = Hole {
                span: Span::new(before.len(), before.len() + spelling.len()),
                kind: HoleKind::Word,
                in_single_quotes: SingleQuoteRule::Substitute,
            };
            match parse(&format!("{before}{spelling}{after}"), &[hole], &OPTIONS) {
                Ok(program) => dump::list(&program),
                Err(error) => format!("{:?}", error.kind),
            }
        };
        prop_assume!(!value.is_empty() && !value.ends_with('\\') && !before.ends_with('\r'));
        prop_assert_eq!(tree("X"), tree(&value));
    }

    #[test]
    fn every_word_expands_its_braces_or_is_bounded(source in "echo [a-c{},.1-9$'\\\\]{0,30}") {
        let Ok(program) = parse(&source, &[], &OPTIONS) else { return Ok(()) };
        let limits = BraceLimits { max_words: 50, max_bytes: 5000 };
        for node in walk(&program) {
            if let Node::Word(word) = node
                && let Ok(words) = expand(word, &limits)
            {
                prop_assert!(words.len() <= 50);
            }
        }
    }

    #[test]
    fn any_arithmetic_parses_or_is_refused(source in "[0-9a-c+*/%<>=!&|^~?:(), \\n-]{0,30}") {
        struct Nothing;
        impl skillgate_shell::Variables for Nothing {
            fn get(&mut self, _: &str) -> Option<String> {
                Some("3".to_owned())
            }
            fn set(&mut self, _: &str, _: i64) -> Result<(), skillgate_shell::ArithmeticError> {
                Ok(())
            }
        }
        if let Ok(expr) = arithmetic::parse(&source, 32) {
            let _value = arithmetic::evaluate(&expr, &[], &mut Nothing);
        }
    }
}
