//! `rg`, and what of `find` is about patterns and removing, in the sandbox: the outputs are those of ripgrep 13 and GNU findutils
//! 4.9, recorded once.
#![expect(clippy::disallowed_methods, reason = "tests make the files that commands see")]

use skillgate_exec::RunError;
use skillgate_policy::{Effect, RefusalReason, builtin_limits};
use skillgate_tests::{Sandboxed, sandboxed};
use std::path::Path;

const FILES: &[(&str, &str)] = &[
    (".git/HEAD", "ref: refs/heads/main\n"),
    (".gitignore", "target/\n*.log\n"),
    (".hidden", "a TODO that is hidden\n"),
    ("src/main.js", "// TODO one\nconst a = 1;\n\n// todo two\nconst b = 2;\n"),
    ("src/deep/util.ts", "export const TODO = 'x.y';\n"),
    ("target/out.js", "// TODO built\n"),
    ("run.log", "TODO logged\n"),
    ("NOTES.md", "nothing\nTODO\n"),
];

fn project() -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a directory");
    for (name, text) in FILES {
        let path = root.path().join(name);
        std::fs::create_dir_all(path.parent().expect("below the root")).expect("a directory");
        std::fs::write(path, text).expect("a file");
    }
    root
}

fn run_in(root: &Path, source: &str, rules: &[(Effect, &str)]) -> Sandboxed {
    sandboxed(env!("CARGO_TARGET_TMPDIR"), root, source, rules, builtin_limits())
}

fn check(table: &[(&str, &str, u8)]) {
    let root = project();
    for (source, stdout, status) in table {
        let ran = run_in(root.path(), source, &[(Effect::Allow, "Bash")]);
        let status_ran = ran.result.as_ref().map(|completion| completion.status);
        assert_eq!((ran.stdout.as_str(), status_ran), (*stdout, Ok(*status)), "{source}\n{}", ran.stderr);
    }
}

#[test]
fn rg_prints_what_ripgrep_prints() {
    check(&[
        (
            "rg --sort path TODO",
            "NOTES.md:TODO\nsrc/deep/util.ts:export const TODO = 'x.y';\nsrc/main.js:// TODO one\n",
            0,
        ),
        ("rg -n TODO src/main.js", "1:// TODO one\n", 0),
        ("rg -ni todo src/main.js", "1:// TODO one\n4:// todo two\n", 0),
        ("rg -n -A1 -B1 'todo two' src", "src/main.js-3-\nsrc/main.js:4:// todo two\nsrc/main.js-5-const b = 2;\n", 0),
        ("rg -l TODO . --sort path", "./NOTES.md\n./src/deep/util.ts\n./src/main.js\n", 0),
        ("rg -c TODO -g '*.js'", "src/main.js:1\n", 0),
        ("rg -t ts -o 'TODO' ", "src/deep/util.ts:TODO\n", 0),
        ("rg -F x.y -N", "src/deep/util.ts:export const TODO = 'x.y';\n", 0),
        ("rg -w -e one -e two src/main.js", "// TODO one\n// todo two\n", 0),
        ("rg -v TODO NOTES.md", "nothing\n", 0),
        ("rg --hidden -l hidden", ".hidden\n", 0),
        ("rg -u -l logged", "run.log\n", 0),
        ("rg --files -g '!*.md' --sort path", "src/deep/util.ts\nsrc/main.js\n", 0),
        ("cd src && rg -l TODO --sort path", "deep/util.ts\nmain.js\n", 0),
        ("cat NOTES.md | rg -n TODO", "2:TODO\n", 0),
        ("rg -r done 'TODO (.*)' src/main.js", "// done\n", 0),
        ("rg nosuchword", "", 1),
        ("rg x nofile", "", 2),
        ("rg '('", "", 2),
    ]);
    let root = project();
    for (source, message) in [
        ("rg -P x", "skillgate: rg: --pcre2 is not supported\n"),
        ("rg --json x", "skillgate: rg: --json is not supported\n"),
        ("rg x nofile", "nofile: IO error for operation on nofile: No such file or directory (os error 2)\n"),
    ] {
        assert_eq!(run_in(root.path(), source, &[(Effect::Allow, "Bash")]).stderr, message, "{source}");
    }
}

#[test]
fn find_takes_patterns_of_paths() {
    check(&[
        ("find . -regex '.*/.*\\.\\(js\\|ts\\)' | sort", "./src/deep/util.ts\n./src/main.js\n./target/out.js\n", 0),
        (
            "find . -regextype posix-extended -regex './(src|target)/[a-z]+[.]js' | sort",
            "./src/main.js\n./target/out.js\n",
            0,
        ),
        ("find . -iregex '.*notes.*'", "./NOTES.md\n", 0),
        ("find src -name '*.js' -readable ! -executable -daystart -mtime 0", "src/main.js\n", 0),
    ]);
}

#[test]
fn find_removes_what_a_grant_lets_it_write() {
    let root = project();
    let ran = run_in(root.path(), "find target -delete || echo hidden", &[(Effect::Allow, "Bash")]);
    match ran.result {
        Err(RunError::Refused(refusal)) => {
            assert!(matches!(refusal.reason, RefusalReason::Write { .. }), "{refusal:?}");
        }
        other => unreachable!("{other:?}"),
    }
    assert!(root.path().join("target/out.js").exists());
    let rules = [(Effect::Allow, "Bash"), (Effect::Allow, "Write(target)")];
    let ran = run_in(root.path(), "find target -name '*.js' -delete; find target", &rules);
    assert_eq!((ran.stdout.as_str(), ran.result.map(|c| c.status)), ("target\n", Ok(0)), "{}", ran.stderr);
    assert!(!root.path().join("target/out.js").exists() && root.path().join("src/main.js").exists());
}
