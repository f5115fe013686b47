//! What a program gets.

use crate::support::{directory, is_root, project, run, shell, shell_in, tests_as_both};
use skillgate_sandbox::{Action, Ending, Identity, Mount, MountKind, Stage, WritableDirectory};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

tests_as_both! {
    fn a_program_runs_through_every_stage() {
        let outcome = run(&shell("echo out; echo err >&2; exit 7"));
        assert_eq!((outcome.stdout.as_str(), outcome.stderr.as_str()), ("out\n", "err\n"), "{outcome:?}");
        assert_eq!(outcome.ending, Some(Ending::Exited(7)));
        let mut stages: Vec<_> = outcome.reports.iter().map(|report| report.stage).collect();
        stages.sort();
        let all: Vec<_> = Stage::ALL.into_iter().filter(|stage| *stage < Stage::Program).collect();
        assert_eq!(stages, all);
        assert!(outcome.reports.iter().all(|report| !report.detail.is_empty()));
    }

    fn a_signal_is_told_as_one() {
        assert_eq!(run(&shell("kill -TERM $$")).ending, Some(Ending::Signalled(15)));
        // As a program expects to start: nothing ignored, or it would not end with its reader.
        assert_eq!(run(&shell("kill -PIPE $$")).ending, Some(Ending::Signalled(13)));
    }

    fn the_environment_is_that_of_the_plan_and_nothing_else() {
        let mut plan = shell("");
        if let Action::Run(program) = &mut plan.action {
            program.path = "/usr/bin/env".to_owned();
            program.vector = vec!["env".to_owned()];
            program.environment = vec![("A".to_owned(), "1".to_owned()), ("B".to_owned(), "x y".to_owned())];
        }
        assert_eq!(run(&plan).text(), "A=1\nB=x y\n");
    }

    fn a_program_is_one_user_without_a_terminal() {
        let outcome = run(&shell("id -u; id -g; umask; ls /proc/self/fd | wc -l; cat; tty"));
        // The listing itself has a fourth descriptor; the input ends at once.
        assert_eq!(outcome.stdout, "1000\n1000\n0077\n4\nnot a tty\n", "{outcome:?}");
    }

    fn a_project_is_readable_and_nothing_in_it_can_be_changed() {
        let root = directory();
        std::fs::write(root.path().join("a"), "text").expect("a file");
        std::fs::set_permissions(root.path(), std::fs::Permissions::from_mode(0o700)).expect("ours");
        std::fs::set_permissions(root.path().join("a"), std::fs::Permissions::from_mode(0o600)).expect("ours");
        let script = "cat a; for what in 'echo x > a' 'echo x > b' 'mv a c' 'rm a' 'mkdir d' 'chmod 777 a' 'touch a' 'ln a e'; do
            sh -c \"$what\" 2>/dev/null && echo done: $what; done; stat -c ' %u %a' a";
        // The owner is shown as the run's user, so that what asks who owns a repository is satisfied.
        assert_eq!(run(&shell_in(root.path(), script)).stdout, "text 1000 600\n");
        assert_eq!(std::fs::read_to_string(root.path().join("a")).expect("it is there"), "text");
        // The control: without the sandbox the same act succeeds.
        std::fs::write(root.path().join("a"), "x").expect("ours");
    }

    fn private_directories_can_be_written_and_not_executed_in() {
        let outcome = run(&shell("cd /tmp; cp /usr/bin/true t; ./t; echo $?; /usr/bin/true; echo $?"));
        assert_eq!(outcome.stdout, "126\n0\n", "{outcome:?}");
        assert!(!std::path::Path::new("/tmp/t").exists());
    }

    fn project_files_are_executed_where_the_plan_says_so() {
        let root = directory();
        std::fs::copy("/usr/bin/true", root.path().join("t")).expect("a copy");
        let mut plan = shell_in(root.path(), "./t; echo $?");
        assert_eq!(run(&plan).stdout, "126\n");
        plan.mounts.last_mut().expect("the project").executable = true;
        assert_eq!(run(&plan).stdout, "0\n");
    }

    fn a_hidden_file_cannot_be_read_and_the_others_can() {
        let root = directory();
        std::fs::create_dir(root.path().join("keys")).expect("a directory");
        for name in [".env", "open", "keys/one"] {
            std::fs::write(root.path().join(name), name).expect("a file");
        }
        std::os::unix::fs::symlink(".env", root.path().join("way")).expect("a link");
        let script = "for name in .env open keys/one way keys; do echo $(cat $name 2>/dev/null) $(ls $name/ 2>/dev/null); done";
        let mut plan = shell_in(root.path(), script);
        assert_eq!(run(&plan).stdout, ".env\nopen\nkeys/one\n.env\none\n");
        plan.mounts.last_mut().expect("the project").hidden = vec![".env".into(), "keys".into(), "not-there".into()];
        assert_eq!(run(&plan).stdout, "\nopen\n\n\n\n");
    }

    fn a_writable_directory_is_a_copy_that_the_host_gets() {
        let root = directory();
        std::fs::create_dir(root.path().join("out")).expect("a directory");
        std::fs::write(root.path().join("out/old"), "old").expect("a file");
        let mut plan = shell_in(root.path(), "cat out/old; echo new > out/new; rm out/old; echo x > other 2>/dev/null; ls out");
        plan.writable = vec![WritableDirectory { path: format!("{}/out", plan.directory), executable: false }];
        let mut running = crate::support::helper().start(&plan, false).expect("starts");
        let outcome = crate::support::finish(&mut running);
        assert_eq!(outcome.stdout, "oldnew\n", "{outcome:?}");
        assert_eq!(std::fs::read_to_string(root.path().join("out/old")).expect("as it was"), "old");
        assert!(!root.path().join("out/new").exists() && !root.path().join("other").exists());
        let scratch = running.scratch().expect("it was given away");
        let copy = rustix::fs::openat(
            &scratch,
            WritableDirectory::copy_name(0),
            rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::DIRECTORY,
            rustix::fs::Mode::empty(),
        )
        .expect("the copy");
        let names = rustix::fs::Dir::new(copy).expect("a directory").map(|entry| entry.expect("an entry"));
        let names: Vec<String> = names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        assert!(names.contains(&"new".to_owned()) && !names.contains(&"old".to_owned()), "{names:?}");
    }

    fn a_program_elsewhere_is_shown_alone_at_its_own_path() {
        let root = directory();
        let path = root.path().join("tool");
        std::fs::copy("/usr/bin/cat", &path).expect("a copy");
        std::fs::write(root.path().join("secret"), "s").expect("a file");
        let path = path.to_str().expect("UTF-8").to_owned();
        let mut plan = shell(&format!("{path} /etc/name; ls {}", root.path().display()));
        plan.files.push(skillgate_sandbox::GeneratedFile { path: "/etc/name".to_owned(), content: "made\n".to_owned() });
        plan.mounts.push(Mount { kind: MountKind::File, ..Mount::system(&path) });
        assert_eq!(run(&plan).text(), "made\ntool\n");
    }

    fn what_is_executed_is_the_file_that_was_approved() {
        let metadata = std::fs::metadata("/usr/bin/sh").expect("a shell");
        let changed = i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec());
        let identity =
            Identity { device: metadata.dev(), inode: metadata.ino(), content: Some((metadata.len(), changed)) };
        let with = |identity| {
            let mut plan = shell("echo ran");
            if let Action::Run(program) = &mut plan.action {
                program.identity = Some(identity);
            }
            run(&plan)
        };
        assert_eq!(with(identity).text(), "ran\n");
        for other in [
            Identity { inode: identity.inode + 1, ..identity },
            Identity { device: identity.device + 1, ..identity },
            Identity { content: Some((metadata.len() + 1, changed)), ..identity },
            Identity { content: Some((metadata.len(), changed + 1)), ..identity },
        ] {
            let outcome = with(other);
            assert_eq!(outcome.stdout, "");
            assert_eq!(outcome.refused.expect("it is another file").stage, Stage::Program);
        }
    }
}

/// Only root can be somebody else's reader: the project is closed to everybody but its owner.
#[test]
fn a_project_of_another_user_is_shown_to_root_as_its_own() {
    if !is_root() {
        return;
    }
    let root = directory();
    std::fs::write(root.path().join("a"), "text").expect("a file");
    for path in [root.path().to_path_buf(), root.path().join("a")] {
        std::os::unix::fs::chown(&path, Some(4242), Some(4242)).expect("we are root");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).expect("we are root");
    }
    assert_eq!(run(&shell_in(root.path(), "cat a; stat -c ' %u' a")).text(), "text 1000\n");
    assert!(project(root.path()).owned);
}
