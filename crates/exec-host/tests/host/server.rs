//! Programs that the host starts and goes on speaking with.

use crate::support::{backend, helper, native, tests_as_both};
use skillgate_exec_host::{HostBackend, HostOutcome, ProgramFault, ServerFault, ServerProcess, ServerProgram};
use skillgate_policy::builtin_limits;
use skillgate_sandbox::{Helper, Stage};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::time::Duration;

fn shell(program: &str) -> ServerProgram {
    ServerProgram {
        path: native("sh").path().to_owned(),
        arguments: vec!["-c".to_owned(), program.to_owned()],
        environment: vec![("LISTED".to_owned(), "yes".to_owned())],
        show: Vec::new(),
        limits: builtin_limits(),
        memory_bytes: None,
    }
}

fn started(program: &ServerProgram) -> ServerProcess {
    backend([]).build().start_server(program).expect("it is started")
}

/// What a server writes until it is over.
fn said(mut process: ServerProcess) -> String {
    drop(process.stdin());
    let mut text = String::new();
    process.stdout().expect("once").read_to_string(&mut text).expect("text");
    text
}

tests_as_both! {
    fn a_server_answers_for_as_long_as_it_is_asked() {
        let mut process = started(&shell("while read -r line; do echo \"got $line\"; done; exit 7"));
        let mut stdin = process.stdin().expect("once");
        let mut answers = BufReader::new(process.stdout().expect("once")).lines();
        assert!(process.stdin().is_none() && process.stdout().is_none(), "an end is given once");
        for number in 0..100 {
            writeln!(stdin, "{number}").expect("it reads");
            assert_eq!(answers.next().expect("a line").expect("text"), format!("got {number}"));
        }
        assert_eq!(process.outcome(Duration::ZERO), None, "it runs");
        drop(stdin);
        assert_eq!(process.outcome(Duration::from_secs(60)), Some(HostOutcome::Exited(7)));
    }

    fn its_environment_is_exactly_what_it_was_given() {
        let program = ServerProgram { path: native("env").path().to_owned(), arguments: Vec::new(), ..shell("") };
        assert_eq!(said(started(&program)), "LISTED=yes\n");
    }

    fn nothing_of_the_host_is_there_to_be_read_or_written() {
        let outside = tempfile::tempdir().expect("a directory");
        let (secret, canary) = (outside.path().join("secret"), outside.path().join("canary"));
        std::fs::write(&secret, "the host's").expect("a file");
        std::fs::set_permissions(outside.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("ours");
        let program = format!(
            "cat '{0}' 2>&1; echo x > '{1}'; mkdir -p '{2}' && echo x > '{1}' && echo wrote; echo \"home=$HOME\"; ls -A / | tr '\\n' ' '",
            secret.display(),
            canary.display(),
            outside.path().display()
        );
        let text = said(started(&shell(&program)));
        assert!(!text.contains("the host's") && text.contains("home=\n"), "{text}");
        assert!(!text.contains(" root ") && !text.contains(" srv "), "{text}");
        assert!(!canary.exists(), "{text}");

        // The control: the same directory, shown.
        let show = vec![outside.path().to_str().expect("UTF-8").to_owned()];
        let text = said(started(&ServerProgram { show, ..shell(&program) }));
        assert!(text.starts_with("the host's") && !text.contains("wrote"), "{text}");
        assert!(!canary.exists(), "{text}");
    }

    fn everything_that_it_started_ends_when_it_is_dropped() {
        let mut process = started(&shell("sleep 1000 & trap '' TERM HUP; echo ready; while :; do sleep 1000; done"));
        let mut stdout = BufReader::new(process.stdout().expect("once"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("a line");
        assert_eq!((line.as_str(), process.outcome(Duration::ZERO)), ("ready\n", None), "the control: it runs");
        drop(process);
        // The pipe ends with the last process that could write to it.
        let mut rest = String::new();
        assert_eq!(stdout.read_to_string(&mut rest).expect("the end"), 0);
    }

    fn what_cannot_be_confined_or_run_is_not_started() {
        let nowhere = HostBackend::builder().helper(Helper::at("/not/there")).build();
        match nowhere.start_server(&shell("echo ran")) {
            Err(ServerFault::Unavailable(why)) => assert_eq!(why.stage, Stage::Helper),
            other => unreachable!("{other:?}"),
        }
        assert!(helper().exists());
        let host = backend([]).build();
        let at = |path: &str| ServerProgram { path: path.to_owned(), ..shell("") };
        assert!(matches!(
            host.start_server(&at("/not/there")),
            Err(ServerFault::Program(ProgramFault::Unreadable { .. }))
        ));
        assert!(matches!(
            host.start_server(&at("sh")),
            Err(ServerFault::Program(ProgramFault::NotAbsolute(_)))
        ));
        let shown = ServerProgram { show: vec!["/home".to_owned()], ..shell("") };
        assert!(matches!(host.start_server(&shown), Err(ServerFault::Plan(_))), "its own home lies there");
    }
}
