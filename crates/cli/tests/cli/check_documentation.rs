//! `docs/check.md` says what the command can find.

use serde_json::Value;
use skillgate_core::Code;
use std::fmt::Write as _;
use std::path::Path;

/// A rule as a code: those about a key are written with one.
fn code(rule: &str) -> Code {
    let read = |text: String| serde_json::from_value::<Code>(Value::String(text));
    read(rule.to_owned())
        .or_else(|_| read(format!("{rule}:KEY")))
        .unwrap_or_else(|error| unreachable!("{rule}: {error}"))
}

#[test]
fn every_code_is_documented_with_its_level_and_meaning() {
    let mut table = "| code | level | meaning |\n|---|---|---|\n".to_owned();
    for (rule, about) in Code::RULES {
        let code = code(rule);
        let _infallible = writeln!(table, "| `{code}` | {} | {} |", code.severity(), about.trim());
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/check.md");
    let documentation = std::fs::read_to_string(path).expect("docs/check.md");
    assert!(documentation.contains(&table), "docs/check.md has to hold this table:\n{table}");
}
