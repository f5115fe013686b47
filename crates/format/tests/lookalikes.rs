//! A name with letters of two alphabets in one word is told of with the letter and its place.

use skillgate_core::Severity;
use skillgate_format::{Document, ReadOptions};

/// The findings about letters that look alike: severity, message and the text they are about.
fn found(directory: &str, header: &str) -> Vec<String> {
    let options = ReadOptions { directory_name: Some(directory.to_owned()), ..ReadOptions::default() };
    let document = Document::read(format!("---\ndescription: x\n{header}---\nx\n").as_bytes(), &options);
    let of_names = document.diagnostics().iter().filter(|found| found.code.rule() == "name-lookalike");
    of_names
        .map(|found| {
            assert!(found.severity == Severity::Warning && found.help.is_some());
            let place = found.span.and_then(|span| span.slice(document.source())).unwrap_or("no place");
            format!("{}; {place}", found.message)
        })
        .collect()
}

#[test]
fn a_name_in_two_alphabets_is_told_of_with_its_place() {
    let twin = "p\u{430}ypal";
    let words = "U+0430 as character 2, which looks like `a`";
    assert_eq!(found("paypal", &format!("name: {twin}\n")), [format!("the name has {words}; {twin}")]);
    assert_eq!(found(twin, ""), [format!("what the skill is called by has {words}; no place")]);
    assert_eq!(found(twin, &format!("name: {twin}\n")), [format!("the name has {words}; {twin}")]);
    assert_eq!(found(twin, "name: pay\u{440}al\n").len(), 2);
}

#[test]
fn names_of_one_alphabet_a_word_are_ordinary() {
    for name in ["paypal", "отчет", "отчет-pdf", "β-release", "yazılım", "日本語"] {
        assert_eq!(found(name, &format!("name: {name}\n")), [""; 0], "{name}");
        assert_eq!(found(name, ""), [""; 0], "{name}");
    }
}
