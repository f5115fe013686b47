//! What a program may write, and what comes of it.

use crate::support::{Ran, backend, native, run, tests_as_both};
use skillgate_core::RelPath;
use skillgate_exec::RunError;
use skillgate_exec_host::{Change, ChangeObserver, HostBackend};
use std::path::Path;
use std::sync::{Arc, Mutex};

#[derive(Debug, Default)]
struct Heard(Mutex<Vec<String>>);

impl ChangeObserver for Heard {
    fn changed(&self, vector: &[String], changes: &[Change]) {
        let mut heard = self.0.lock().expect("no panic");
        heard.extend(changes.iter().map(|change| format!("{} {change}", vector[0])));
    }
}

struct World {
    root: tempfile::TempDir,
    host: Arc<HostBackend>,
    heard: Arc<Heard>,
}

impl World {
    /// A project in which `sh` may write below `out`.
    fn new() -> Self {
        let root = tempfile::tempdir().expect("a directory");
        for directory in ["out/sub", "src"] {
            std::fs::create_dir_all(root.path().join(directory)).expect("a directory");
        }
        for file in ["out/keep", "out/change", "out/sub/remove", "src/code"] {
            std::fs::write(root.path().join(file), "old").expect("a file");
        }
        let write = ["out", "new"].map(|path| RelPath::new(path).expect("a path"));
        let heard = Arc::new(Heard::default());
        let observer: Arc<dyn ChangeObserver> = heard.clone();
        let host = Arc::new(backend([native("perl").write(write)]).observer(observer).build());
        Self { root, host, heard }
    }

    fn run(&self, allow: &[&str], script: &str) -> Ran {
        run(&self.host, self.root.path(), allow, &format!("perl -e '{script}'"))
    }

    fn text(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.root.path().join(path)).ok()
    }
}

const WRITE: &str = "sub w { open(F, \">$_[0]\") or print \"no $_[0]\\n\"; print F $_[1]; close F } ";

fn mode(path: &Path) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(path).expect("it is there").permissions()) & 0o777
}

tests_as_both! {
    fn granted_changes_are_carried_over_and_told() {
        let world = World::new();
        let script = format!(
            "{WRITE} w(\"out/new\", \"n\"); chmod 0755, \"out/new\"; w(\"out/change\", \"changed\"); unlink \"out/sub/remove\"; \
             rmdir \"out/sub\"; mkdir \"out/d\"; w(\"out/d/deep\", \"deep\"); w(\"src/code\", \"x\"); w(\"new/one\", 1)"
        );
        let ran = world.run(&["Bash", "Write(/out)", "Write(/new)"], &script);
        assert_eq!((ran.status(), ran.stdout.as_str()), (0, "no src/code\n"), "{ran:?}");
        for (path, text) in [
            ("out/new", Some("n")),
            ("out/change", Some("changed")),
            ("out/keep", Some("old")),
            ("out/sub/remove", None),
            ("out/d/deep", Some("deep")),
            ("src/code", Some("old")),
            ("new/one", Some("1")),
        ] {
            assert_eq!(world.text(path).as_deref(), text, "{path}");
        }
        assert!(!world.root.path().join("out/sub").exists());
        assert_eq!(mode(&world.root.path().join("out/new")) & 0o111, mode(&world.root.path().join("out/new")) >> 2 & 0o111);
        let heard = world.heard.0.lock().expect("no panic").clone();
        assert_eq!(
            heard,
            [
                "perl changed `out/change` (7 bytes)",
                "perl made the directory `out/d`",
                "perl made `out/d/deep` (4 bytes)",
                "perl made `out/new` (1 bytes)",
                "perl removed `out/sub/remove`",
                "perl removed the directory `out/sub`",
                "perl made `new/one` (1 bytes)",
            ]
        );
    }

    fn one_change_without_a_grant_refuses_all() {
        for (script, path) in [
            ("w(\"out/.envrc\", \"x\"); w(\"out/new\", \"n\")", "out/.envrc"),
            ("mkdir \"out/.git\"; mkdir \"out/.git/hooks\"; w(\"out/.git/hooks/x\", \"x\")", "out/.git"),
            ("w(\"out/new\", \"n\"); w(\"out/sub/other\", \"n\")", "out/sub/other"),
        ] {
            let world = World::new();
            let ran = world.run(&["Bash", "Write(/out)", "deny Write(/out/sub/other)"], &format!("{WRITE} {script}"));
            match &ran.result {
                Err(RunError::Refused(refusal)) => assert!(refusal.to_string().contains(path), "{refusal}"),
                other => unreachable!("{script}: {other:?}"),
            }
            assert_eq!(world.text("out/new"), None);
            assert!(!world.root.path().join(path).exists(), "{path}");
            assert!(world.heard.0.lock().expect("no panic").is_empty());
        }
    }

    fn without_a_grant_the_project_is_read_only() {
        let world = World::new();
        for allow in [&["Bash"][..], &["Bash", "Write(/out)", "deny Write(/out/**)", "deny Write(/new)"]] {
            let ran = world.run(allow, &format!("{WRITE} w(\"src/code\", \"x\"); w(\"other\", \"x\")"));
            assert!(ran.stdout.contains("no src/code\nno other\n") || ran.result.is_err(), "{ran:?}");
            assert_eq!(world.text("src/code").as_deref(), Some("old"));
            assert!(!world.root.path().join("new").exists(), "nothing is left of what was prepared");
        }
    }

    fn links_and_other_things_are_not_carried_over() {
        for script in ["symlink \"/etc/passwd\", \"out/link\"", "unlink \"out/keep\"; symlink \"/etc/passwd\", \"out/keep\""] {
            let world = World::new();
            let ran = world.run(&["Bash", "Write(/out)"], script);
            assert!(matches!(ran.result, Err(RunError::Host { .. })), "{script}: {ran:?}");
            assert_eq!(world.text("out/keep").as_deref(), Some("old"));
        }
    }
}
