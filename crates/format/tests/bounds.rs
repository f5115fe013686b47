//! Headers that are made to be expensive: each ends with its own code, nothing of it is used, and the body can be read.
//!
//! How many steps each takes is counted beside the parser, in `src/yaml.rs`; here stands what a host sees.

use skillgate_core::Guarded;
use skillgate_format::{Document, ReadOptions, export_standard, fix_all};

/// Reads with room for every header of this file, or with the default bound of a header.
fn read(header: &str, raised: bool) -> Document {
    let options = if raised {
        ReadOptions { max_file_bytes: 16 << 20, max_header_bytes: 16 << 20, ..ReadOptions::default() }
    } else {
        ReadOptions { max_file_bytes: 16 << 20, ..ReadOptions::default() }
    };
    Document::read(format!("---\nallowed-tools: Read\n{header}\n---\nThe body.\n").as_bytes(), &options)
}

fn hostile() -> Vec<(&'static str, String)> {
    let mut bomb = String::from("a0: &a0 x\n");
    for i in 1..200 {
        bomb.push_str(&format!("a{i}: &a{i} [{}]\n", vec![format!("*a{}", i - 1); 9].join(", ")));
    }
    vec![
        ("a bomb", bomb),
        ("deep brackets", format!("a: {}", "[".repeat(100_000))),
        ("deep closed brackets", format!("a: {}{}", "[".repeat(100_000), "]".repeat(100_000))),
        ("deep braces", format!("a: {}", "{b: ".repeat(100_000))),
        ("deep dashes", format!("a:\n{}", "- ".repeat(100_000))),
        ("deep keys", format!("a:\n{}", "? ".repeat(100_000))),
        ("deep indentation", (0..2_000).map(|i| format!("{}k:\n", " ".repeat(i))).collect()),
        ("many keys", (0..100_000).map(|i| format!("k{i}: v\n")).collect()),
        ("many aliases", format!("a: &a x\nb: [{}]", "*a, ".repeat(100_000))),
        ("many items", format!("a: [{}]", "x, ".repeat(100_000))),
    ]
}

#[test]
fn what_is_too_complex_fails_closed_with_room_for_it() {
    for (name, header) in hostile() {
        let document = read(&header, true);
        let codes: Vec<String> = document.diagnostics().iter().map(|found| found.code.to_string()).collect();
        assert_eq!(codes, ["yaml-too-complex"], "{name}");
        fails_closed(name, &document);
    }
}

#[test]
fn what_is_too_large_is_refused_before_it_is_parsed() {
    let large = hostile().into_iter().filter(|(_, header)| header.len() > 64 * 1024);
    let long = [("a long value", format!("description: {}", "word ".repeat(20_000)))];
    let mut seen = 0;
    for (name, header) in large.chain(long) {
        let document = read(&header, false);
        let codes: Vec<String> = document.diagnostics().iter().map(|found| found.code.to_string()).collect();
        assert_eq!(codes, ["header-too-large"], "{name}");
        fails_closed(name, &document);
        seen += 1;
    }
    assert!(seen > 5, "{seen} texts are larger than the bound");
}

fn fails_closed(name: &str, document: &Document) {
    assert!(document.failed_closed() && document.entries().is_empty(), "{name}");
    assert!(matches!(document.frontmatter().allowed_tools, Guarded::Unreadable(_)), "{name}");
    assert_eq!((document.description(), document.body().as_ref()), (None, "The body.\n"), "{name}");
}

#[test]
fn a_long_line_is_read_whole() {
    let value = "word ".repeat(1 << 18);
    let document = read(&format!("license: {value}"), true);
    let license = document.frontmatter().license.as_ref().map(|field| field.value.as_str());
    assert_eq!(license, Some(value.trim_end()));
}

/// Every value of a header of the largest size fails, so that each is repaired by itself or the whole is given up.
#[test]
fn repairs_are_bounded() {
    for (name, line) in [
        ("colons", "k: a: b\n"),
        ("brackets", "k: [a] [b]\n"),
        ("quotes", "k: \"a\" b\n"),
        ("open", "k: [\n"),
        ("open quote", "k: \"\n"),
        ("stray", "stray\n"),
    ] {
        let header = line.repeat(60 * 1024 / line.len());
        let document = read(&header, false);
        assert!(!document.diagnostics().is_empty(), "{name}");
        assert!(export_standard(&document).ends_with("---\nThe body.\n"), "{name}");
        let fixed = fix_all(document.source().as_bytes(), &ReadOptions::default());
        assert!(fixed.diagnostics().iter().all(|found| found.fix.is_none()), "{name}");
    }
}
