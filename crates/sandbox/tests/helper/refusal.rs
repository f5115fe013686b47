//! Plans that do not fit the machine: nothing runs, and the stage says why.

use crate::support::{directory, helper, run, shell, shell_in, tests_as_both};
use skillgate_sandbox::{Action, Helper, Mount, MountKind, Plan, Stage};
use std::path::Path;

/// The stage that refuses a plan, and what it says.
fn refused(plan: &Plan) -> (Stage, String) {
    let outcome = run(plan);
    assert_eq!((outcome.stdout.as_str(), outcome.ending), ("", outcome.ending), "{outcome:?}");
    let refused = outcome.refused.expect("it is refused");
    (refused.stage, refused.reason)
}

fn program(path: &Path) -> Plan {
    let path = path.to_str().expect("UTF-8");
    let mut plan = shell("echo ran");
    plan.mounts.push(Mount { kind: MountKind::File, ..Mount::system(path) });
    if let Action::Run(program) = &mut plan.action {
        program.path = path.to_owned();
    }
    plan
}

tests_as_both! {
    fn a_plan_that_contradicts_itself_is_refused_by_the_helper_too() {
        let mut plan = shell("echo ran");
        plan.limits.processes = 0;
        let (stage, reason) = refused(&plan);
        assert_eq!(stage, Stage::Helper);
        assert!(reason.contains("processes"), "{reason}");
    }

    fn what_vanished_or_was_replaced_is_not_mounted() {
        let root = directory();
        let project = root.path().join("project");
        std::fs::create_dir(&project).expect("a directory");
        let plan = shell_in(&project, "echo ran");
        assert_eq!(run(&plan).text(), "ran\n");
        std::fs::rename(&project, root.path().join("other")).expect("ours");
        assert_eq!(refused(&plan), (Stage::Sources, format!("`{}` is not there any more", project.display())));
        std::fs::create_dir(&project).expect("a directory");
        let (stage, reason) = refused(&plan);
        assert_eq!(stage, Stage::Sources);
        assert!(reason.contains("not the one that was approved"), "{reason}");
        std::fs::remove_dir(&project).expect("ours");
        std::fs::write(&project, "").expect("ours");
        let (_, reason) = refused(&plan);
        assert!(reason.contains("is not a directory"), "{reason}");
    }

    fn a_link_in_the_place_of_a_system_directory_is_not_followed() {
        let root = directory();
        std::os::unix::fs::symlink("/etc", root.path().join("link")).expect("a link");
        let link = root.path().join("link");
        let mut plan = shell("echo ran");
        plan.mounts.push(Mount::system(link.to_str().expect("UTF-8")));
        assert_eq!(refused(&plan).0, Stage::Sources);
    }

    fn a_program_that_is_none_is_refused() {
        let root = directory();
        let path = |name: &str| root.path().join(name);
        let make = |name: &str, content: &[u8]| {
            std::fs::write(path(name), content).expect("a file");
            let mode = <std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755);
            std::fs::set_permissions(path(name), mode).expect("ours");
        };
        make("empty", b"");
        make("text", b"not a program");
        make("script", b"#!/not/there\n");
        for (name, words) in [("empty", "no program"), ("text", "no program"), ("script", "loader or interpreter")] {
            let (stage, reason) = refused(&program(&path(name)));
            assert_eq!(stage, Stage::Program, "{name}");
            assert!(reason.contains(words), "{name}: {reason}");
        }
        std::fs::write(path("data"), "").expect("a file");
        let (stage, reason) = refused(&program(&path("data")));
        assert_eq!(stage, Stage::Program);
        assert!(reason.contains("may not be executed"), "{reason}");
    }

    fn a_program_that_is_not_there_is_refused() {
        let mut plan = shell("echo ran");
        if let Action::Run(program) = &mut plan.action {
            program.path = "/usr/bin/not-there".to_owned();
        }
        assert_eq!(refused(&plan), (Stage::Program, "`/usr/bin/not-there` is not there any more".to_owned()));
        if let Action::Run(program) = &mut plan.action {
            program.path = "/usr/bin".to_owned();
        }
        assert_eq!(refused(&plan), (Stage::Program, "`/usr/bin` is not a file".to_owned()));
    }

    fn a_copy_that_does_not_fit_is_refused() {
        let root = directory();
        std::fs::write(root.path().join("big"), vec![0; 1 << 20]).expect("a file");
        let mut plan = shell_in(root.path(), "echo ran");
        plan.writable = vec![skillgate_sandbox::WritableDirectory { path: plan.directory.clone(), executable: false }];
        assert_eq!(run(&plan).text(), "ran\n");
        plan.scratch.bytes = 1 << 18;
        let (stage, reason) = refused(&plan);
        assert_eq!(stage, Stage::Sources);
        assert!(reason.contains("does not fit"), "{reason}");
    }

    fn what_a_link_leads_to_is_not_copied() {
        let root = directory();
        let project = root.path().join("project");
        std::fs::create_dir_all(root.path().join("outside/inner")).expect("directories");
        std::fs::write(root.path().join("outside/inner/secret"), "s").expect("a file");
        std::fs::create_dir(&project).expect("a directory");
        std::os::unix::fs::symlink("../outside", project.join("way")).expect("a link");
        let mut plan = shell_in(&project, "cat way/inner/secret");
        for below in ["way/inner", "way"] {
            let path = format!("{}/{below}", plan.directory);
            plan.writable = vec![skillgate_sandbox::WritableDirectory { path, executable: false }];
            let (stage, reason) = refused(&plan);
            assert_eq!(stage, Stage::Sources, "{below}");
            assert!(reason.contains("is not a directory without a link on its way"), "{reason}");
        }
    }

    fn without_a_helper_nothing_starts() {
        let failure = Helper::at("/not/there").start(&shell(""), false).expect_err("there is no helper");
        assert_eq!(failure.stage, Stage::Helper);
        assert!(helper().start(&shell(""), false).is_ok());
    }
}
