//! Expansions: parameters, arithmetic, substitutions.

use super::Text;
use super::command::List;
use super::word::joined;
use proptest::prelude::*;
use proptest::sample::select;

/// A parameter with or without an operation. `operand` is what may stand as its word.
pub(super) fn parameter(operand: &Text, quoted: bool) -> Text {
    let name = || select(&["x", "y", "e", "u", "n", "1", "2", "10", "@", "*"][..]);
    // With other operations on `$@` that give nothing, bash 5.2 has a field in some words and none in others.
    let variable = || select(&["x", "y", "e", "u", "1"][..]);
    let simple = select(
        &[
            "$x", "$y", "$e", "${n}", "${x}", "$1", "$2", "${10}", "$#", "$@", "$*", "$?", "${#x}", "${#@}", "${#*}",
            "${#u}", "$u",
        ][..],
    );
    let unset = (name(), select(&[":-", "-", ":+", "+"][..]), operand.clone());
    // `=` assigns, which positional parameters cannot.
    let assign = (select(&["x", "e", "u"][..]), select(&[":=", "="][..]), operand.clone());
    let remove = (variable(), select(&["#", "##", "%", "%%"][..]), pattern());
    let replace = (
        select(&["x", "y", "e", "u", "1"][..]),
        select(&["/", "//", "/#", "/%"][..]),
        pattern_without_quoted_stars(),
        replacement(quoted),
    );
    let slice =
        (variable(), select(&[":1", ":0:1", ": -1", ":1:1", ":2:3", ": -2:1", ":0", ":9", ":n-2", ":0:-1"][..]));
    let case = (select(&["x", "y", "e", "1"][..]), select(&["^", "^^", ",", ",,"][..]));
    prop_oneof![
        8 => simple.prop_map(str::to_owned),
        3 => unset.prop_map(|(name, operator, word)| format!("${{{name}{operator}{word}}}")),
        1 => assign.prop_map(|(name, operator, word)| format!("${{{name}{operator}{word}}}")),
        2 => remove.prop_map(|(name, operator, pattern)| format!("${{{name}{operator}{pattern}}}")),
        2 => replace.prop_map(|(name, operator, pattern, text)| format!("${{{name}{operator}{pattern}/{text}}}")),
        1 => slice.prop_map(|(name, slice)| format!("${{{name}{slice}}}")),
        1 => case.prop_map(|(name, case)| format!("${{{name}{case}}}")),
    ]
    .boxed()
}

/// A pattern without a slash.
pub(super) fn pattern() -> Text {
    prop_oneof![4 => pattern_without_quoted_stars(), 1 => select(
        &[
            "'*'", "\\*", "*'*'", "a\\*", "'*'*",
        ][..],
    )
    .prop_map(str::to_owned)]
    .boxed()
}

/// What `${x/…}` may search for: bash 5.2 takes a quoted star at the end of a pattern for one that matches anything.
fn pattern_without_quoted_stars() -> Text {
    let piece =
        select(&["a", "b", "*", "?", "[ab]", "[!a]", ".", ":", "\"$y\"", "-", " ", "[[:alpha:]]", "$y", "o"][..]);
    joined(piece.prop_map(str::to_owned).boxed(), 1..4)
}

fn replacement(quoted: bool) -> Text {
    let texts: &[&str] = if quoted { &["", "X", "$y", "a b"] } else { &["", "X", "$y", "'a b'", "\"$y\"", "*"] };
    select(texts.to_vec()).prop_map(str::to_owned).boxed()
}

/// `$(…)`, or backquotes around what has none of its own.
pub(super) fn substitution(inner: &BoxedStrategy<List>) -> Text {
    (inner.clone(), any::<bool>())
        .prop_map(|(list, backquotes)| {
            // bash 5.2 prints a substitution and reads it again, and loses a `;` behind a here-document on the way.
            let text = if list.has_documents_within() { "args h".to_owned() } else { list.ended("") };
            if backquotes && !text.contains(['`', '\\', '$', '"']) { format!("`{text}`") } else { format!("$({text})") }
        })
        .boxed()
}

/// `$((…))`.
pub(super) fn arithmetic() -> Text {
    expression().prop_map(|text| format!("$(({text}))")).boxed()
}

/// An arithmetic expression over `n` and `m`.
pub(super) fn expression() -> Text {
    let leaf = select(&["1", "2", "0", "n", "$n", "m", "0x1f", "010", "2#101", "7", "(n)", "${n}", "16#fF", "-3"][..])
        .prop_map(str::to_owned)
        .boxed();
    let level = |inner: Text| -> Text {
        let binary = select(
            &["+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!=", "&&", "||", "&", "|", "^", " + ", " - ", ","]
                [..],
        );
        prop_oneof![
            2 => inner.clone(),
            4 => (inner.clone(), binary, inner.clone())
                .prop_map(|(left, operator, right)| format!("{left} {operator} {right}")),
            1 => (select(
                &[
                    "-", "+", "!", "~", "- ",
                ][..],
            ), inner.clone()).prop_map(|(operator, text)| format!("{operator} {text}")),
            1 => inner.clone().prop_map(|text| format!("({text})")),
            1 => (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(test, yes, no)| format!("{test} ? {yes} : {no}")),
            1 => (select(&["n", "m"][..]), select(&["=", "+=", "-=", "*=", "|="][..]), inner.clone())
                .prop_map(|(name, operator, text)| format!("({name} {operator} {text})")),
            1 => select(
                &[
                    "n++", "++n", "n--", "--m", "n << 2", "n >> 1", "2 ** 3", "n ** 2", "3 ** 0",
                ][..],
            )
            .prop_map(|text| format!("({text})")),
        ]
        .boxed()
    };
    level(level(leaf))
}
