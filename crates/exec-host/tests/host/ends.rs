//! How runs end, each in its own way.

use crate::support::{backend, native, run, run_within, tests_as_both};
use skillgate_exec::{Bound, RunError, Stop};
use skillgate_exec_host::NativeProgram;
use std::sync::Arc;

fn project() -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a directory");
    std::fs::write(root.path().join("a"), "one\ntwo\n").expect("a file");
    std::fs::write(root.path().join(".env"), "TOKEN").expect("a file");
    root
}

tests_as_both! {
    fn a_status_and_a_signal_are_what_a_shell_makes_of_them() {
        let project = project();
        let host = Arc::new(backend([native("perl"), native("env")]).build());
        let run = |line: &str| run(&host, project.path(), &["Bash"], line);
        assert_eq!(run("perl -e 'exit 3'").status(), 3);
        assert_eq!(run("perl -e 'kill 15, $$'").status(), 143);
        assert_eq!(run("perl -e 'exit 3' || echo no").stdout, "no\n");
    }

    fn streams_go_through_the_shell() {
        let project = project();
        let host = Arc::new(backend([native("sort"), native("perl")]).build());
        let run = |line: &str| run(&host, project.path(), &["Bash"], line);
        assert_eq!(run("echo b | sort").stdout, "b\n");
        assert_eq!(run("sort -r < a").stdout, "two\none\n");
        assert_eq!(run("x=$(sort -r a); echo \"$x\"").stdout, "two\none\n");
        // The reader leaves, and the writer is ended by it.
        let ran = run("perl -e 'print \"x\\n\" while 1' | perl -e 'print scalar <STDIN>'");
        assert_eq!((ran.status(), ran.stdout.as_str()), (0, "x\n"), "{ran:?}");
    }

    fn the_environment_is_the_fixed_list_and_what_the_policy_passes() {
        let project = project();
        let host = Arc::new(backend([native("env").environment("GH_HOST", "example.org")]).build());
        let ran = run(&host, project.path(), &["Bash"], "export LD_PRELOAD=x GIT_DIR=y BASH_ENV=z PATH=/evil; env");
        assert_eq!(
            ran.stdout,
            "PATH=/usr/local/bin:/usr/bin:/bin\nHOME=/home/skillgate\nLANG=C.UTF-8\nTZ=UTC\nGH_HOST=example.org\n"
        );
    }

    fn the_deadline_kills_everything() {
        let project = project();
        let host = Arc::new(backend([native("perl")]).build());
        let line = "perl -e '$SIG{TERM} = $SIG{HUP} = \"IGNORE\"; fork; 1 while 1'";
        let ran = run_within(&host, project.path(), &["Bash"], line, |limits| limits.wall_ms_injection = 1_500);
        assert!(matches!(ran.result, Err(RunError::Stopped { stop: Stop::Bound(Bound::WallTime(1_500)), .. })), "{ran:?}");
    }

    fn a_programs_own_time_ends_it_before_the_runs() {
        let project = project();
        let host = Arc::new(backend([native("perl").wall_ms(Some(700)), native("sort").wall_ms(Some(700))]).build());
        let ran = run(&host, project.path(), &["Bash"], "perl -e '1 while 1'");
        assert!(matches!(ran.result, Err(RunError::Stopped { stop: Stop::Bound(Bound::WallTime(700)), .. })), "{ran:?}");
        // Each of its runs has as much.
        assert_eq!(run(&host, project.path(), &["Bash"], "sort -r a").stdout, "two\none\n");
    }

    fn a_program_has_the_memory_that_its_entry_gives_it() {
        let project = project();
        let line = "perl -e '$x = \"x\" x 400_000_000; print length $x'";
        let run = |bytes| run(&Arc::new(backend([native("perl").memory_bytes(bytes)]).build()), project.path(), &["Bash"], line);
        assert_ne!(run(None).status(), 0);
        assert_eq!(run(Some(2 << 30)).stdout, "400000000");
    }

    fn too_much_output_ends_the_run() {
        let project = project();
        let host = Arc::new(backend([native("perl")]).build());
        let line = "perl -e 'print \"x\" x 65536 while 1'";
        let ran = run_within(&host, project.path(), &["Bash"], line, |limits| limits.output_bytes = 65_536);
        assert!(matches!(ran.result, Err(RunError::Stopped { stop: Stop::Bound(Bound::Output(_)), .. })), "{ran:?}");
    }

    fn a_denied_file_is_not_read() {
        let project = project();
        let host = Arc::new(backend([native("perl")]).build());
        let line = "perl -e 'open(F, \"<.env\") and print <F>; open(F, \"<a\") and print <F>'";
        assert_eq!(run(&host, project.path(), &["Bash"], line).stdout, "TOKENone\ntwo\n");
        assert_eq!(run(&host, project.path(), &["Bash", "deny Read(.env)"], line).stdout, "one\ntwo\n");
    }

    fn what_cannot_be_run_is_unavailable_with_the_reason() {
        let project = project();
        let script = project.path().join("script");
        std::fs::write(&script, "#!/bin/sh\necho ran\n").expect("a file");
        std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("ours");
        let replaced = project.path().join("replaced");
        std::fs::copy(native("env").path(), &replaced).expect("a copy");
        let host = backend([
            NativeProgram::new("script", script.to_str().expect("UTF-8")),
            NativeProgram::new("none", "/not/there"),
            NativeProgram::new("replaced", replaced.to_str().expect("UTF-8")),
            native("env").network(true),
        ]);
        let host = Arc::new(host.build());
        std::fs::remove_file(&replaced).expect("ours");
        std::fs::copy(native("sort").path(), &replaced).expect("a copy");
        for (line, stage, words) in [
            ("script", "program", "name its interpreter `/bin/sh`"),
            ("none", "program", "/not/there"),
            ("env", "helper", "needs the network"),
        ] {
            let ran = run(&host, project.path(), &["Bash"], line);
            match &ran.result {
                Err(RunError::Unavailable { backend: "host", stage: found, reason }) => {
                    assert_eq!(*found, stage, "{line}");
                    assert!(reason.contains(words), "{line}: {reason}");
                }
                other => unreachable!("{line}: {other:?}"),
            }
        }
        let ran = run(&host, project.path(), &["Bash"], "replaced");
        match ran.result {
            Err(RunError::Unavailable { reason, .. } | RunError::Host { reason, .. }) => {
                assert!(reason.contains("not the one that was approved"), "{reason}");
            }
            other => unreachable!("{other:?}"),
        }
    }

    fn the_doctor_names_every_stage() {
        let host = backend([native("env"), NativeProgram::new("none", "/not/there")]).build();
        let report = host.doctor();
        assert_eq!(report.unavailable, None);
        let stages: Vec<_> = report.stages.iter().map(|report| report.stage).collect();
        assert!(skillgate_sandbox::Stage::ALL.iter().all(|stage| stages.contains(stage) || *stage == skillgate_sandbox::Stage::Program), "{stages:?}");
        assert_eq!(report.programs.iter().map(|program| program.fault.is_none()).collect::<Vec<_>>(), [true, false]);
    }
}
