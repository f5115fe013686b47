//! `git status` in the sandbox says what it says outside, and what a repository wants to run leaves no trace.

use crate::support::{backend, native, run, tests_as_both};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

fn git(project: &Path, arguments: &[&str]) -> String {
    let output = Command::new(native("git").path())
        .current_dir(project)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("LANG", "C.UTF-8")
        .args(["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "init.defaultBranch=main"])
        .args(arguments)
        .output()
        .expect("git starts");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// A repository with a commit, a change, and a new file; closed to everybody but its owner.
fn repository() -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a directory");
    git(root.path(), &["init", "--quiet"]);
    std::fs::write(root.path().join("a"), "one\n").expect("a file");
    git(root.path(), &["add", "a"]);
    git(root.path(), &["commit", "--quiet", "-m", "first"]);
    std::fs::write(root.path().join("a"), "two\n").expect("a file");
    std::fs::write(root.path().join("b"), "new\n").expect("a file");
    root
}

tests_as_both! {
    fn git_says_what_it_says_outside() {
        let project = repository();
        let host = Arc::new(backend([native("git")]).build());
        for arguments in [&["status"][..], &["status", "--short"], &["log", "--oneline"], &["diff"], &["rev-parse", "--show-toplevel"]] {
            let ran = run(&host, project.path(), &["Bash"], &format!("git {}", arguments.join(" ")));
            assert_eq!(ran.status(), 0, "{ran:?}");
            assert_eq!(ran.stdout, git(project.path(), arguments), "{arguments:?}");
            assert_eq!(ran.stderr, "");
        }
    }

    fn what_a_repository_wants_to_run_leaves_no_trace_outside() {
        let project = repository();
        let outside = tempfile::tempdir().expect("a directory");
        let canary = outside.path().join("canary");
        let script = project.path().join("run.sh");
        let touch = format!("touch {} {}/in-project", canary.display(), project.path().display());
        std::fs::write(&script, format!("#!/bin/sh\n{touch}\n")).expect("a script");
        std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("ours");
        let expected = git(project.path(), &["status", "--short"]);
        let value = format!("sh {}", script.display());
        for name in ["core.fsmonitor", "core.pager", "diff.external", "core.sshCommand"] {
            git(project.path(), &["config", name, &value]);
        }
        let host = Arc::new(backend([native("git")]).build());
        for line in ["git status --short", "git diff"] {
            let ran = run(&host, project.path(), &["Bash"], line);
            if line.contains("status") {
                assert_eq!((ran.status(), ran.stdout.as_str()), (0, expected.as_str()), "{ran:?}");
            }
            assert!(!canary.exists() && !project.path().join("in-project").exists(), "{line}: {ran:?}");
        }
        // The control: outside, git runs it.
        let _any = Command::new(native("git").path()).current_dir(project.path()).arg("status").output().expect("git starts");
        assert!(canary.exists());
    }
}
