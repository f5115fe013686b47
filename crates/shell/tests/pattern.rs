//! Patterns: matching, removal, replacement.

use proptest::prelude::*;
use skillgate_shell::pattern::{MAX_PATTERN, Pattern, PatternError, PatternPiece};
use skillgate_shell::{RemoveSide, ReplaceScope};

fn active(text: &str) -> Pattern {
    Pattern::compile(&[PatternPiece::Active(text)]).expect("a pattern that compiles")
}

#[test]
fn whole_texts_match() {
    for (pattern, yes, no) in [
        ("", vec![""], vec!["a"]),
        ("abc", vec!["abc"], vec!["ab", "abcd", ""]),
        ("*", vec!["", "a", "a/b", ".x"], vec![]),
        ("a*", vec!["a", "ab", "aé"], vec!["", "ba"]),
        ("*b*", vec!["b", "abc", "bb"], vec!["", "ac"]),
        ("a*b*c", vec!["abc", "aXbYc", "abbcc", "abcbc"], vec!["ab", "acb"]),
        ("?", vec!["a", "é", "日"], vec!["", "ab"]),
        ("[abc]", vec!["a", "c"], vec!["d", "", "ab"]),
        ("[a-cx]", vec!["b", "x"], vec!["d", "-"]),
        ("[!a-c]", vec!["d", "é"], vec!["a", ""]),
        ("[^a]", vec!["b"], vec!["a"]),
        ("[]a]", vec!["]", "a"], vec!["b"]),
        ("[!]a]", vec!["b"], vec!["]", "a"]),
        ("[a-]", vec!["a", "-"], vec!["b"]),
        ("[-a]", vec!["a", "-"], vec!["b"]),
        ("[c-a]", vec![], vec!["a", "b", "c"]),
        ("[[:digit:][:upper:]_]", vec!["5", "A", "_"], vec!["a", ":"]),
        ("[![:space:]]", vec!["a"], vec![" ", "\t"]),
        ("[a", vec!["[a"], vec!["a"]),
        ("[", vec!["["], vec![""]),
        ("a[", vec!["a["], vec!["a"]),
        ("[a]*", vec!["a", "ab"], vec!["b"]),
        ("\\*", vec!["*"], vec!["a", "\\*"]),
        ("a\\", vec!["a\\"], vec!["a"]),
        ("[\\]]", vec!["]"], vec!["\\"]),
        ("**", vec!["", "ab"], vec![]),
        ("日*", vec!["日本"], vec!["本日"]),
    ] {
        let compiled = active(pattern);
        for text in yes {
            assert!(compiled.matches(text), "{pattern:?} matches {text:?}");
        }
        for text in no {
            assert!(!compiled.matches(text), "{pattern:?} does not match {text:?}");
        }
    }
}

#[test]
fn quoted_characters_stand_for_themselves() {
    let pattern = Pattern::compile(&[PatternPiece::Quoted("*["), PatternPiece::Active("*")]).expect("a pattern");
    assert!(pattern.matches("*[x") && !pattern.matches("ax"));
    let plain = Pattern::compile(&[PatternPiece::Quoted("a*\\"), PatternPiece::Active("b")]).expect("a pattern");
    assert_eq!(plain.as_text(), Some("a*\\b"));
    let set = Pattern::compile(&[
        PatternPiece::Active("[a"),
        PatternPiece::Quoted("-"),
        PatternPiece::Active("c"),
        PatternPiece::Quoted("]"),
        PatternPiece::Active("]"),
    ]);
    let set = set.expect("a pattern");
    assert!(set.matches("-") && set.matches("]") && !set.matches("b"));
}

#[test]
fn matches_are_removed_from_either_end() {
    use RemoveSide::{Prefix, Suffix};
    for (text, pattern, side, longest, expected) in [
        ("a/b/c", "*/", Prefix, false, "b/c"),
        ("a/b/c", "*/", Prefix, true, "c"),
        ("a.b.c", ".*", Suffix, false, "a.b"),
        ("a.b.c", ".*", Suffix, true, "a"),
        ("abc", "x", Prefix, true, "abc"),
        ("abc", "ab", Prefix, false, "c"),
        ("abc", "bc", Suffix, false, "a"),
        ("abc", "*", Prefix, false, "abc"),
        ("abc", "*", Prefix, true, ""),
        ("abc", "*", Suffix, true, ""),
        ("éa", "?", Prefix, false, "a"),
        ("aé", "?", Suffix, true, "a"),
        ("", "*", Suffix, true, ""),
    ] {
        assert_eq!(active(pattern).remove(text, side, longest), expected, "{text} {pattern} {side:?} {longest}");
    }
}

#[test]
fn matches_are_replaced() {
    use ReplaceScope::{All, First, Prefix, Suffix};
    for (text, pattern, scope, expected) in [
        ("abab", "b", First, "aXab"),
        ("abab", "b", All, "aXaX"),
        ("abab", "a?", All, "XX"),
        ("abab", "b*a", All, "aXb"),
        ("abab", "a", Prefix, "Xbab"),
        ("abab", "b", Prefix, "abab"),
        ("abab", "b", Suffix, "abaX"),
        ("abab", "", Prefix, "Xabab"),
        ("abab", "", Suffix, "ababX"),
        ("abab", "", All, "abab"),
        ("aaa", "a", All, "XXX"),
        ("aaa", "*", All, "X"),
        ("a b  c", "[[:space:]]", All, "aXbXXc"),
        ("xaybz", "a*b", First, "xXz"),
        ("xaybzb", "a*b", All, "xX"),
        ("日本", "本", All, "日X"),
    ] {
        assert_eq!(active(pattern).replace(text, "X", scope), expected, "{text} {pattern} {scope:?}");
    }
}

#[test]
fn what_does_not_compile_says_why() {
    let compile = |text: &str| Pattern::compile(&[PatternPiece::Active(text)]);
    assert_eq!(compile("[[:foo:]]"), Err(PatternError::UnknownClass("foo".to_owned())));
    assert_eq!(compile("[[.a.]]"), Err(PatternError::Collating));
    assert_eq!(compile("[[=a=]]"), Err(PatternError::Collating));
    let long = "*a".repeat(MAX_PATTERN);
    assert_eq!(compile(&long), Err(PatternError::TooLong { length: 2 * MAX_PATTERN }));
    assert!(compile(&"a".repeat(100_000)).is_ok(), "text has no limit");
}

#[test]
fn stars_do_not_backtrack_exponentially() {
    // With exponential backtracking this would not end.
    let pattern = active(&format!("{}b", "*a".repeat(100)));
    let text = "a".repeat(5000);
    assert!(!pattern.matches(&text));
    assert_eq!(pattern.prefix_end(&text, true), None);
    assert_eq!(pattern.find(&text), None);
    assert_eq!(pattern.replace(&text, "x", ReplaceScope::All), text);
}

/// The definition, straight from the words: exponential, so only for short texts.
fn naive(pattern: &[char], text: &[char]) -> bool {
    match pattern {
        [] => text.is_empty(),
        ['*', rest @ ..] => (0..=text.len()).any(|skip| naive(rest, &text[skip..])),
        ['?', rest @ ..] => !text.is_empty() && naive(rest, &text[1..]),
        [c, rest @ ..] => text.first() == Some(c) && naive(rest, &text[1..]),
    }
}

proptest! {
    #[test]
    fn matching_agrees_with_the_definition(pattern in "[ab?*é]{0,7}", text in "[abé]{0,8}") {
        let chars: Vec<char> = pattern.chars().collect();
        let matches = |text: &str| naive(&chars, &text.chars().collect::<Vec<_>>());
        let compiled = active(&pattern);
        prop_assert_eq!(compiled.matches(&text), matches(&text));
        let cuts: Vec<usize> = (0..=text.len()).filter(|cut| text.is_char_boundary(*cut)).collect();
        let ends: Vec<usize> = cuts.iter().copied().filter(|end| matches(&text[..*end])).collect();
        prop_assert_eq!(compiled.prefix_end(&text, false), ends.first().copied());
        prop_assert_eq!(compiled.prefix_end(&text, true), ends.last().copied());
        let starts: Vec<usize> = cuts.iter().copied().filter(|start| matches(&text[*start..])).collect();
        prop_assert_eq!(compiled.suffix_start(&text, true), starts.first().copied());
        prop_assert_eq!(compiled.suffix_start(&text, false), starts.last().copied());
        let found = cuts.iter().find_map(|start| {
            let end = cuts.iter().rev().find(|end| *end >= start && matches(&text[*start..**end]))?;
            Some(*start..*end)
        });
        // A match of nothing is only found where the search begins.
        prop_assert_eq!(compiled.find(&text), found);
    }

    #[test]
    fn anything_compiles_or_says_why(pattern in "[\\[\\]!^:a-c*?\\\\.=-]{0,20}", text in "[a-c\\]-]{0,10}") {
        if let Ok(compiled) = Pattern::compile(&[PatternPiece::Active(&pattern)]) {
            let whole = compiled.prefix_end(&text, true) == Some(text.len());
            prop_assert_eq!(compiled.matches(&text), whole);
        }
    }
}
