//! Words and their quotes.

use super::Text;
use super::command::List;
use super::expansion;
use proptest::prelude::*;
use proptest::sample::select;

/// One or several pieces that touch each other. `inner` are the lists of its substitutions.
pub(super) fn words(inner: &BoxedStrategy<List>) -> Text {
    let operand = joined(bare(), 0..3);
    let piece = piece(&operand, inner);
    prop_oneof![5 => piece.clone(), 3 => joined(piece, 1..4)].boxed()
}

/// Words without substitutions of commands.
pub(super) fn plain_words() -> Text {
    let operand = joined(bare(), 0..3);
    let piece = prop_oneof![3 => bare(), 2 => quoted(), 3 => expansion::parameter(&operand, false)].boxed();
    prop_oneof![5 => piece.clone(), 2 => joined(piece, 1..3)].boxed()
}

/// Several pieces as one text.
pub(super) fn joined(piece: Text, count: std::ops::Range<usize>) -> Text {
    prop::collection::vec(piece, count).prop_map(|pieces| pieces.concat()).boxed()
}

fn piece(operand: &Text, inner: &BoxedStrategy<List>) -> Text {
    prop_oneof![
        4 => bare(),
        2 => braces(),
        1 => ansi_c(),
        3 => quoted(),
        4 => expansion::parameter(operand, false),
        1 => expansion::substitution(inner),
        1 => expansion::arithmetic(),
        1 => quoted_substitution(inner),
    ]
    .boxed()
}

/// Text without double quotes or expansions.
fn bare() -> Text {
    prop_oneof![
        5 => select(
            &[
                "a", "b", "foo", "a.md", "-n", "a=b", "=", ":", "%", "@", "+", ",", "é", "x/", "./a", "--", "1",
                "a#b", "^",
            ][..],
        ),
        2 => select(&["'a b'", "'$x'", "'*'", "'\\'", "'\"'", "''", "'a\nb'", "'`'", "'~'", "'{a,b}'", "'é'"][..]),
        2 => select(
            &[
                "\\ ", "\\*", "\\$", "\\\\", "\\a", "\\\"", "\\'", "\\\n", "\\#", "\\~", "\\{", "\\-", "\\;",
            ][..],
        ),
        2 => select(
            &[
                "*", "?", "*.md", "[ab]*", "[!a]*", "./sub/*", "*/", "[[:alpha:]]", ".*.md", "[x]", "*\\*", "a?b",
                "nosuch*", "./*", "su[b]/c*",
            ][..],
        ),
        1 => select(&["~", "~/a", "x=~", "a:~"][..]),
    ]
    .prop_map(str::to_owned)
    .boxed()
}

/// `$'…'`. bash 5.2 reads it wrongly as the word of an expansion in a substitution, so it stands by itself.
fn ansi_c() -> Text {
    select(&["$'a\\tb'", "$'\\x41'", "$'\\''", "$'\\u00e9'", "$'\\101\\n'", "$'\\\\'", "$'\\q'", "$'a\"b'"][..])
        .prop_map(str::to_owned)
        .boxed()
}

fn braces() -> Text {
    select(
        &[
            "{a,b}",
            "{1..3}",
            "{c..a}",
            "{1..9..3}",
            "{,x}",
            "a{b,c}d",
            "{a,{b,c}}",
            "{a}",
            "{01..3}",
            "{a,'b c'}",
            "{a,$x}",
            "{1..a}",
            "{-1..1}",
            "\\{a,b}",
            "{a\\,b,c}",
            "\"{a,b}\"",
            "{a,b}{1,2}",
            "{*,x}",
            "{x,~}",
            "${x}{a,b}",
            "{a..c..2}",
            "{}",
            "{a,b",
        ][..],
    )
    .prop_map(str::to_owned)
    .boxed()
}

/// A text between double quotes.
fn quoted() -> Text {
    let text = select(
        &[
            "a b", "  ", "*", "'", "\\\"", "\\$x", "\\a", "\\\\", "$ ", "~", "{a,b}", "#", "\\\n", "\n", "é", "}", "-",
            "\\`", "a",
        ][..],
    );
    let piece = prop_oneof![
        3 => text.prop_map(str::to_owned),
        4 => expansion::parameter(&in_quotes(), true),
        1 => expansion::arithmetic(),
    ];
    prop::collection::vec(piece, 0..4).prop_map(|pieces| format!("\"{}\"", pieces.concat())).boxed()
}

fn quoted_substitution(inner: &BoxedStrategy<List>) -> Text {
    (expansion::substitution(inner), select(&["", " ", "a"][..]))
        .prop_map(|(text, end)| format!("\"{text}{end}\""))
        .boxed()
}

/// What may stand as the word of `"${x:-word}"`, where single quotes are text.
fn in_quotes() -> Text {
    let text = select(&["a", "a b", "'a'", "\\$", "*", "\"q r\"", "\\}", "~", "$y"][..]).prop_map(str::to_owned);
    joined(text.boxed(), 0..3)
}
