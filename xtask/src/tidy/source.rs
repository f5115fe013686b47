//! Rules about single source files.

use super::code::code_only;
use super::{Finding, finding};

/// Longer files have a second subject.
const LINES: usize = 800;
/// Files that may be longer, each with its reason.
const LONG_FILES: &[(&str, &str)] = &[];
/// Crates in which unsafe code exists, each block with the invariant that makes it sound.
/// The examples of hooks export what is generated for them.
const UNSAFE_CRATES: &[&str] = &[
    "crates/sandbox/",
    "crates/exec-wasm/",
    "crates/probes/",
    "crates/guests/",
    "guest-examples/hook-guest/",
    "guest-examples/no-force-push/",
];

pub(super) fn rules(path: &str, text: &str) -> Vec<Finding> {
    let code = code_only(text);
    let mut findings = Vec::new();
    findings.extend(header(path, text));
    findings.extend(forbids_unsafe(path, &code));
    findings.extend(length(path, text));
    findings.extend(reasons(path, text, &code));
    findings.extend(tests(path, &code));
    findings
}

/// A crate says what it is in its first line.
fn header(path: &str, text: &str) -> Option<Finding> {
    (is_crate_root(path) && !text.starts_with("//!"))
        .then(|| finding(path, 1, "header", "begin with `//!`: what the crate is, what it must not do, where to start"))
}

fn forbids_unsafe(path: &str, code: &str) -> Option<Finding> {
    let applies = is_crate_root(path)
        && !path.ends_with("/src/main.rs")
        && !UNSAFE_CRATES.iter().any(|beginning| path.starts_with(beginning));
    (applies && !code.contains("#![forbid(unsafe_code)]"))
        .then(|| finding(path, 1, "unsafe", "add `#![forbid(unsafe_code)]`"))
}

fn is_crate_root(path: &str) -> bool {
    let is_root = path.ends_with("/src/lib.rs") || path.ends_with("/src/main.rs");
    is_root && !path.contains("/fixtures/")
}

fn length(path: &str, text: &str) -> Option<Finding> {
    let lines = text.lines().count();
    (lines > LINES && !LONG_FILES.iter().any(|(long, _)| *long == path)).then(|| {
        let message = format!("{lines} lines: look for the second subject, or list the file with a reason");
        finding(path, LINES + 1, "length", message)
    })
}

/// `allow` and `expect` say why.
fn reasons(path: &str, text: &str, code: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (start, opened) in ["allow(", "expect("].iter().flat_map(|word| code.match_indices(*word)) {
        let before = code.get(..start).unwrap_or_default();
        let is_attribute = ["#[", "#!["].iter().any(|open| before.ends_with(open)) || before.ends_with("cfg_attr(");
        let rest = code.get(start + opened.len()..).unwrap_or_default();
        let inside = rest.find(')').and_then(|end| rest.get(..end)).unwrap_or(rest);
        if is_attribute && !inside.contains("reason") {
            let line = text.get(..start).unwrap_or_default().lines().count().max(1);
            findings.push(finding(path, line, "reason", "say why: `#[expect(lint, reason = \"…\")]`"));
        }
    }
    findings
}

/// A test is not ignored, and does not wait for a clock.
fn tests(path: &str, code: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut in_tests = path.starts_with("tests/") || path.contains("/tests/");
    for (at, line) in code.lines().enumerate() {
        // Test modules stand at the end of a file.
        in_tests |= line.trim_start().starts_with("#[cfg(test)]");
        if line.contains("#[ignore") {
            findings.push(finding(path, at + 1, "ignore", "no test is ignored: repair it or delete it"));
        }
        if in_tests && (line.contains("thread::sleep(") || line.contains("time::sleep(")) {
            findings.push(finding(path, at + 1, "sleep", "no test sleeps: wait for the event itself"));
        }
    }
    findings
}

#[cfg(test)]
mod tests_of_the_rules {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<(usize, &'static str)> {
        rules(path, text).into_iter().map(|found| (found.line, found.rule)).collect()
    }

    #[test]
    fn good_files_have_no_finding() {
        for (path, text) in [
            ("crates/core/src/lib.rs", "//! Core.\n#![forbid(unsafe_code)]\n"),
            ("crates/sandbox/src/lib.rs", "//! Sandbox.\n"),
            ("crates/cli/src/main.rs", "//! The binary.\n"),
            ("crates/core/src/a.rs", "#[expect(dead_code, reason = \"why\")]\nfn f() { x.expect(\"invariant\") }\n"),
            ("crates/core/src/a.rs", "#[expect(\n    dead_code,\n    reason = \"why\"\n)]\nfn f() {}\n"),
            ("crates/core/src/a.rs", "// #[ignore] #[allow(x)]\nconst A: &str = \"#[ignore] #[allow(x)]\";\n"),
            ("crates/core/src/a.rs", "fn wait() { std::thread::sleep(d) }\n"),
        ] {
            assert_eq!(found(path, text), [], "{text}");
        }
    }

    #[test]
    fn each_rule_can_fail() {
        let long = "\n".repeat(LINES + 1);
        for (path, text, expected) in [
            ("crates/core/src/lib.rs", "#![forbid(unsafe_code)]\n", (1, "header")),
            ("crates/core/src/lib.rs", "//! Core, // #![forbid(unsafe_code)]\n", (1, "unsafe")),
            ("crates/core/src/a.rs", long.as_str(), (LINES + 1, "length")),
            ("crates/core/src/a.rs", "fn f() {}\n#[allow(dead_code)]\nfn g() {}\n", (2, "reason")),
            ("crates/core/src/a.rs", "#![expect(dead_code)]\n", (1, "reason")),
            ("crates/core/src/a.rs", "#[test]\n#[ignore]\nfn t() {}\n", (2, "ignore")),
            ("crates/core/src/a.rs", "#[test]\n#[ignore = \"later\"]\nfn t() {}\n", (2, "ignore")),
            ("crates/core/src/a.rs", "#[cfg(test)]\nmod tests { fn t() { std::thread::sleep(d) } }\n", (2, "sleep")),
            ("crates/core/tests/a.rs", "async fn t() { tokio::time::sleep(d).await }\n", (1, "sleep")),
            ("tests/src/a.rs", "fn t() { thread::sleep(d) }\n", (1, "sleep")),
        ] {
            assert_eq!(found(path, text), [expected], "{path}");
        }
    }
}
