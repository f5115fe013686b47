//! `docs/policy.md` says what the parser knows.
#![expect(clippy::disallowed_methods, reason = "the test reads the documentation")]

use skillgate_policy::file::{Key, Kind, Level, PolicyFile, SECTIONS, Section, Setter, Unit, greatest};
use std::fmt::Write as _;

fn documentation() -> String {
    std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/policy.md")).expect("docs/policy.md")
}

fn kind(key: &Key) -> String {
    let words = |words: &[&str]| words.iter().map(|word| format!("`\"{word}\"`")).collect::<Vec<_>>().join(", ");
    match key.kind {
        Kind::Switch => "`true` or `false`".to_owned(),
        Kind::Word(known) => words(known),
        Kind::Words(known) => format!("list of {}", words(known)),
        Kind::Patterns => "list of tool patterns".to_owned(),
        Kind::SkillNames => "list of skill names".to_owned(),
        Kind::SkillSets => "lists of skill names, by name".to_owned(),
        Kind::Path => "path, `/…` or `~/…`".to_owned(),
        Kind::AbsolutePath => "path, `/…`".to_owned(),
        Kind::AbsolutePaths => "list of paths, `/…`".to_owned(),
        Kind::ProjectPaths => "list of paths below the project".to_owned(),
        Kind::Variables => "list of variable names".to_owned(),
        Kind::Digest => "64 hexadecimal digits".to_owned(),
        Kind::PublicKey => "32 bytes, base64 or hexadecimal".to_owned(),
        Kind::Name => "text without white space".to_owned(),
        Kind::Date => "date".to_owned(),
        Kind::Number(Unit::Count) => "number".to_owned(),
        Kind::Number(unit) => format!("number, {}", unit.as_str()),
    }
}

fn table(section: &Section) -> String {
    let mut table = "| key | value | default | set by | what it does |\n|---|---|---|---|---|\n".to_owned();
    for key in section.keys {
        let own = key.default.parse().ok();
        let default = match own.or(greatest(section.name, key.name)).filter(|_| !key.default.starts_with("limits.")) {
            Some(number) => number.to_string(),
            None if key.default.is_empty() => "has to be there".to_owned(),
            None => format!("`{}`", key.default),
        };
        let setter = match key.setter {
            Setter::Everybody => "managed, user, project",
            Setter::Host => "managed, user",
            Setter::Managed => "managed",
        };
        let _infallible = writeln!(table, "| `{}` | {} | {default} | {setter} | {} |", key.name, kind(key), key.about);
    }
    table
}

#[test]
fn every_key_is_documented_as_the_parser_knows_it() {
    let documentation = documentation();
    for section in SECTIONS {
        let table = table(section);
        assert!(
            documentation.contains(&table),
            "docs/policy.md has to hold this table of [{}]:\n{table}",
            section.name
        );
        assert!(documentation.contains(section.about), "docs/policy.md has to say: {}", section.about);
    }
}

#[test]
fn the_examples_are_policies() {
    let documentation = documentation();
    let mut examples = 0;
    for part in documentation.split("```toml\n").skip(1) {
        let text = part.split("```").next().expect("the block ends");
        PolicyFile::parse(text, Level::Managed, "docs/policy.md").unwrap_or_else(|errors| unreachable!("{errors:#?}"));
        examples += 1;
    }
    assert!(examples > 0);
}
