//! The shipped `git` beside the native one: the same lines in the same repository give the same output and status. And what it
//! must never do: write, or run what a repository's configuration names.
#![expect(clippy::disallowed_methods, reason = "tests make the repositories that commands see")]

use skillgate_exec::{Capture, Executor, Input, Mounts, Output, Overflow, Program, Run, Scene, Streams};
use skillgate_policy::{Authority, Effect, Gate, builtin_limits};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Makes a repository with branches, tags, a merge, renames, links, odd names and changes of every kind.
const SCRIPT: &str = r#"
set -e
git init -q -b main .
git config user.name Ada; git config user.email ada@example.org
mkdir src 'sp ace'
for i in $(seq 40); do echo "line $i"; done > src/a.txt
printf 'fn main() {\n    a();\n}\n' > src/main.rs
printf 'bin\0ary' > bin.dat; echo hi > 'sp ace/f ile'; echo u > 'ümlaut'; ln -s src/a.txt link
printf '#!/bin/sh\n' > run.sh; chmod +x run.sh; echo '*.o' > .gitignore
git add .; git commit -q -m 'first

body'
git tag light; git tag -a v1.0 -m 'one'
sed -i 's/line 5$/line five/;s/line 30/line thirty/' src/a.txt; git add .; git commit -q -m 'change lines'
git switch -q -c side; echo side > side.txt; git add .; git commit -q -m 'side work'
git switch -q main; git mv src/a.txt src/b.txt; chmod -x run.sh; git add .; git commit -q -m 'rename'
git merge -q --no-ff -m 'merge side' side
git update-ref refs/remotes/origin/main HEAD~1
git config remote.origin.url https://example.org/x.git
git config remote.origin.fetch '+refs/heads/*:refs/remotes/origin/*'
git config branch.main.remote origin; git config branch.main.merge refs/heads/main
echo more >> src/main.rs; git add src/main.rs; echo unstaged >> src/main.rs
rm link; echo new > untracked; echo o > x.o; chmod +x src/b.txt
"#;

fn sh(directory: &Path, script: &str) -> (i32, String) {
    let output = Command::new("sh")
        .args(["-c", script])
        .current_dir(directory)
        .env_clear()
        .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
        .envs([
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_COMMITTER_DATE", "1767225600 +0100"),
            ("GIT_AUTHOR_DATE", "1767222000 -0330"),
            ("TZ", "UTC"),
            ("LC_ALL", "C.UTF-8"),
        ])
        .output()
        .expect("sh runs");
    assert!(output.stderr.is_empty() || !script.contains("set -e"), "{}", String::from_utf8_lossy(&output.stderr));
    (output.status.code().unwrap_or(-1), String::from_utf8(output.stdout).expect("tests print UTF-8"))
}

fn repository() -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a directory");
    assert_eq!(sh(root.path(), SCRIPT).0, 0);
    root
}

/// A line in the sandbox: its status, its output and what it complained of.
fn sandboxed(root: &Path, line: &str) -> (i32, String, String) {
    let limits = builtin_limits();
    let gate = Gate::new(Authority::of(skillgate_tests::host(&[(Effect::Allow, "Bash")])));
    let program = Program::from_text(line, &limits).expect(line);
    let mounts = Mounts::open_ambient(Some(root), &[]).expect("the project opens");
    let directory = root.to_str().expect("UTF-8").to_owned();
    let environment = vec![("LANG".into(), "C.UTF-8".into()), ("TZ".into(), "UTC".into())];
    let scene = Scene::new(mounts, directory, environment);
    let (out, err) = (Capture::new(1 << 20, Overflow::Drop), Capture::new(1 << 20, Overflow::Drop));
    let streams =
        Streams { stdin: Input::Empty, stdout: Output::Capture(out.clone()), stderr: Output::Capture(err.clone()) };
    let shell = skillgate_tests::shell(env!("CARGO_TARGET_TMPDIR"));
    let result = shell.execute(&program, &gate, &scene, &Run::start(limits), streams).expect(line);
    let text = |capture: &Capture| String::from_utf8(capture.take().0).expect("tests print UTF-8");
    (i32::from(result.status), text(&out), text(&err))
}

#[test]
fn lines_print_what_the_native_git_prints() {
    let root = repository();
    for line in [
        "git status",
        "git status -sb",
        "git status --porcelain=v2 --branch",
        "git status --porcelain -z",
        "git status -s --ignored -uall",
        "git diff",
        "git diff --cached",
        "git diff HEAD --stat",
        "git diff --name-status HEAD~2",
        "git diff light..main --numstat",
        "git diff side...main",
        "git diff --exit-code --name-only",
        "git log",
        "git log --oneline --decorate",
        "git log -2 --stat",
        "git log --format='%h|%an|%ae|%ad|%s|%b|%d|%D|%p|%T%x00' --date=iso",
        "git log --oneline --first-parent --no-merges",
        "git log --oneline -- src/b.txt",
        "git log --oneline v1.0..main",
        "git log --grep='side\\|lines' --format=%s",
        "git log --oneline --since=2020-01-01 --author=Ada",
        "git show",
        "git show v1.0 --stat",
        "git show HEAD~1 --name-only --format=",
        "git branch -vv",
        "git branch -a",
        "git branch --show-current",
        "git tag -n",
        "git tag --sort=-version:refname",
        "git describe --tags --always --dirty",
        "git rev-parse HEAD --abbrev-ref @{u}",
        "git rev-parse --show-toplevel --is-inside-work-tree --git-dir",
        "git rev-parse --verify nosuch",
        "git rev-parse nosuch",
        "git rev-list --count main..side",
        "git rev-list --left-right --count side...main",
        "git ls-files -s",
        "git ls-files -m -o --exclude-standard",
        "git ls-files -d",
        "git remote -v",
        "git config --get user.name",
        "git config --list",
        "git stash list",
        "git worktree list",
        "git merge-base main side",
        "git merge-base --is-ancestor main side",
        "git for-each-ref --format='%(refname:short) %(objecttype) %(upstream:track)'",
        "git symbolic-ref --short HEAD",
        "git shortlog -sn HEAD",
        "git cat-file -p HEAD",
        "git ls-tree -r --name-only HEAD",
        "git grep -n line -- src",
        "git check-ignore -v x.o",
        "git log nosuch",
        "git -C src status -s",
        "cd src && git diff --stat HEAD -- .",
        "git log --oneline | head -2",
    ] {
        let (status, stdout) = sh(root.path(), line);
        let (status_here, stdout_here, stderr) = sandboxed(root.path(), line);
        assert_eq!((status_here, stdout_here), (status, stdout), "{line}\n{stderr}");
    }
}

#[test]
fn a_packed_repository_reads_the_same() {
    let root = repository();
    sh(root.path(), "set -e; git gc -q");
    for line in
        ["git log --stat --format=fuller", "git status -s", "git show-ref -d", "git show HEAD:src/b.txt | tail -1"]
    {
        let (status, stdout) = sh(root.path(), line);
        let (status_here, stdout_here, stderr) = sandboxed(root.path(), line);
        assert_eq!((status_here, stdout_here), (status, stdout), "{line}\n{stderr}");
    }
}

#[test]
fn what_is_not_supported_says_so() {
    let root = repository();
    for (line, complaint) in [
        ("git commit -m x", "skillgate: git: commit is not supported: this git only reads\n"),
        ("git push", "skillgate: git: push is not supported: this git only reads\n"),
        ("git checkout main", "skillgate: git: checkout is not supported: this git only reads\n"),
        ("git stash", "skillgate: git: stash push is not supported: this git only reads\n"),
        ("git branch new", "skillgate: git: branch with a name is not supported: this git only reads\n"),
        ("git config user.name Eve", "skillgate: git: config with a value is not supported: this git only reads\n"),
        ("git log --graph", "skillgate: git: log: --graph is not supported\n"),
        ("git blame run.sh", "skillgate: git: blame is not supported\n"),
    ] {
        assert_eq!(sandboxed(root.path(), line), (2, String::new(), complaint.to_owned()), "{line}");
    }
}

#[test]
fn outside_of_a_repository_it_says_what_git_says() {
    let root = tempfile::tempdir().expect("a directory");
    let complaint = "fatal: not a git repository (or any of the parent directories): .git\n";
    for line in ["git status", "git log", "git rev-parse HEAD"] {
        assert_eq!(sandboxed(root.path(), line), (128, String::new(), complaint.to_owned()), "{line}");
    }
}

/// Every file below a directory with its content.
fn snapshot(directory: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(directory).expect("it lists") {
        let path = entry.expect("an entry").path();
        if path.is_dir() && !path.is_symlink() {
            snapshot(&path, found);
        } else {
            found.insert(path.display().to_string(), std::fs::read(&path).unwrap_or_default());
        }
    }
}

#[test]
fn nothing_that_the_repository_names_is_run_and_nothing_is_written() {
    let root = repository();
    let hostile = r#"
set -e
printf '#!/bin/sh\necho ran >> "$(git rev-parse --show-toplevel)/../ran" 2>/dev/null; touch ran; echo HOSTILE\n' > .git/evil; chmod +x .git/evil
E="$PWD/.git/evil"
for key in core.fsmonitor core.pager core.editor diff.external core.sshCommand pager.log pager.diff filter.x.clean filter.x.smudge filter.x.process diff.x.textconv diff.x.command credential.helper core.hooksPath gpg.program; do
  git config "$key" "$E"
done
git config alias.log "!$E"; git config alias.st "!$E"; git config alias.status "!$E"
cp .git/evil .git/hooks/post-index-change; cp .git/evil .git/hooks/pre-commit
echo '*.txt filter=x diff=x' > .gitattributes
"#;
    sh(root.path(), hostile);
    // Other times, so that contents have to be looked at.
    sh(root.path(), "touch -d 2020-01-01 src/b.txt side.txt");
    let mut before = BTreeMap::new();
    snapshot(root.path(), &mut before);
    for line in [
        "git status",
        "git diff",
        "git diff HEAD",
        "git log -p",
        "git show --stat",
        "git log -1",
        "git grep line",
        "git ls-files -m",
    ] {
        let (status, stdout, stderr) = sandboxed(root.path(), line);
        assert_eq!(status, 0, "{line}: {stderr}");
        assert!(!stdout.contains("HOSTILE"), "{line}: {stdout}");
    }
    let (status, _, stderr) = sandboxed(root.path(), "git st");
    assert_eq!((status, stderr.as_str()), (1, "git: 'st' is not a git command. See 'git --help'.\n"));
    let mut after = BTreeMap::new();
    snapshot(root.path(), &mut after);
    assert_eq!(before, after);
    // The control: the native git does run it.
    assert!(sh(root.path(), "git st").1.contains("HOSTILE"));
}
