//! Servers that are processes.

use super::script::limits;
use crate::client::{ClientOptions, McpServers, ServerState};
use crate::config::{ServerEntry, ServerTransport};
use crate::finding::FindingCode;
use crate::limits::McpLimits;
use skillgate_runtime::SkillSource as _;
use std::collections::BTreeMap;
use std::sync::mpsc;
use std::time::Duration;

/// A server that is this shell program, with one variable.
pub(super) fn server(name: &str, program: &str) -> ServerEntry {
    ServerEntry {
        name: name.to_owned(),
        key: name.to_owned(),
        transport: ServerTransport::Stdio {
            command: "/bin/sh".to_owned(),
            args: vec!["-c".to_owned(), program.to_owned()],
            env: BTreeMap::from([("LISTED".to_owned(), "yes".to_owned())]),
        },
    }
}

/// Answers each request by its method, as long as there are any. The only resource is a skill with this text.
pub(super) fn shell_server(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!(
        r#"
skill='skill://greet/SKILL.md'
while read -r line; do
  id=${{line#*\"id\":}}; id=${{id%%[,\}}]*}}
  case $line in
    *'"initialize"'*) printf '{{"jsonrpc":"2.0","id":%s,"result":{{"protocolVersion":"2025-06-18","capabilities":{{"resources":{{}}}},"serverInfo":{{"name":"sh","version":"1"}}}}}}\n' "$id" ;;
    *'"resources/list"'*) printf '{{"jsonrpc":"2.0","id":%s,"result":{{"resources":[{{"uri":"%s","name":"greet"}}]}}}}\n' "$id" "$skill" ;;
    *index.json*) printf '{{"jsonrpc":"2.0","id":%s,"error":{{"code":-32002,"message":"none"}}}}\n' "$id" ;;
    *'"resources/read"'*) printf '{{"jsonrpc":"2.0","id":%s,"result":{{"contents":[{{"uri":"%s","text":"%s"}}]}}}}\n' "$id" "$skill" "{text}" ;;
  esac
done
"#
    )
}

pub(super) fn patient() -> ClientOptions {
    within(McpLimits { connect: Duration::from_secs(20), ..limits() })
}

fn within(limits: McpLimits) -> ClientOptions {
    ClientOptions { limits, ..ClientOptions::default() }
}

#[test]
fn a_started_server_has_exactly_the_environment_of_its_entry() {
    let program = shell_server("home=${HOME:-none} listed=$LISTED cargo=${CARGO_MANIFEST_DIR:-none}");
    let servers = McpServers::connect(vec![server("local", &program)], &patient()).expect("threads");
    let reports = servers.reports();
    assert_eq!(reports[0].state, ServerState::Connected, "{reports:?}");
    let texts = servers.skills().texts();
    assert_eq!(texts.len(), 1);
    assert_eq!(texts[0].name, "mcp__local__greet");
    assert_eq!(texts[0].text, "home=none listed=yes cargo=none");
    assert_eq!(texts[0].origin, "mcp local: skill://greet/SKILL.md");
}

#[test]
fn servers_that_hang_die_or_are_not_there_cost_only_their_own_skills() {
    let quick = McpLimits { connect: Duration::from_secs(2), retry: Duration::from_secs(3600), ..limits() };
    let not_there = ServerEntry {
        transport: ServerTransport::Stdio {
            command: "/nonexistent/server".to_owned(),
            args: Vec::new(),
            env: BTreeMap::new(),
        },
        ..server("absent", "")
    };
    let entries = vec![
        server("good", &shell_server("Hello.")),
        server("hangs", "sleep 1000"),
        server("dies", "read -r line; echo 'no licence' >&2; exit 3"),
        not_there,
    ];
    let servers = McpServers::connect(entries, &within(quick)).expect("threads");
    let found: Vec<(String, ServerState, Option<FindingCode>)> = servers
        .reports()
        .into_iter()
        .map(|report| (report.name, report.state, report.findings.first().map(|finding| finding.code)))
        .collect();
    assert_eq!(
        found,
        [
            ("absent".to_owned(), ServerState::Failed, Some(FindingCode::Unreachable)),
            ("dies".to_owned(), ServerState::Failed, Some(FindingCode::Closed)),
            ("good".to_owned(), ServerState::Connected, None),
            ("hangs".to_owned(), ServerState::Failed, Some(FindingCode::TimedOut)),
        ]
    );
    let dies = servers.reports().into_iter().find(|report| report.name == "dies").expect("reported");
    let help = dies.findings[0].help.clone().expect("a way out");
    assert!(help.starts_with("it wrote: no licence"), "{help}");
    assert_eq!(servers.skills().texts().len(), 1);
}

#[test]
fn a_server_that_hangs_holds_nothing_up_and_each_is_told_of_as_it_answers_or_fails() {
    let quick = McpLimits { connect: Duration::from_secs(2), retry: Duration::from_secs(3600), ..limits() };
    // Its standard error stays open for as long as it is there.
    let entries = vec![server("good", &shell_server("Hello.")), server("hangs", "echo 'no key' >&2; exec sleep 1000")];
    let servers = McpServers::begin(entries, &within(quick)).expect("threads");
    let (tell, told) = mpsc::channel();
    servers.subscribe(move |report| {
        let _nobody_waits = tell.send(report.clone());
    });
    let mut reports: Vec<_> = (0..2).map(|_| told.recv_timeout(Duration::from_secs(60)).expect("told")).collect();
    reports.sort_by(|a, b| a.name.cmp(&b.name));
    let states: Vec<_> = reports.iter().map(|report| (report.name.as_str(), report.state)).collect();
    assert_eq!(states, [("good", ServerState::Connected), ("hangs", ServerState::Failed)]);
    assert_eq!(reports[0].skills.len(), 1);
    let lost = &reports[1].findings[0];
    assert_eq!(lost.code, FindingCode::TimedOut);
    assert!(lost.help.as_ref().is_some_and(|help| help.starts_with("it wrote: no key")), "{lost:?}");
}

#[test]
fn a_late_subscriber_is_told_of_what_is_known() {
    let servers = McpServers::connect(vec![server("good", &shell_server("Hello."))], &patient()).expect("threads");
    let (tell, told) = mpsc::channel();
    servers.subscribe(move |report| {
        let _nobody_waits = tell.send(report.state);
    });
    assert_eq!(told.try_recv(), Ok(ServerState::Connected));
}

#[cfg(target_os = "linux")]
#[test]
fn what_was_started_ends_when_the_host_is_ended_and_drops_nothing() {
    let program = format!("sleep 1000 & LISTED=$!\n{}", shell_server("$LISTED"));
    let servers = McpServers::connect(vec![server("local", &program)], &patient()).expect("threads");
    let child: i32 = servers.skills().texts()[0].text.parse().expect("the number of a process");
    let child = rustix::process::Pid::from_raw(child).expect("a process");
    let child = rustix::process::pidfd_open(child, rustix::process::PidfdFlags::empty()).expect("it runs");
    servers.end().end();
    assert!(has_ended(&child, Duration::from_secs(60)));
}

#[test]
fn a_server_that_is_gone_is_tried_again_and_its_skills_come_back() {
    let directory = tempfile::tempdir().expect("a directory");
    let mark = directory.path().join("was-here");
    // Serves once and ends; every later time it stays.
    let program = format!(
        "if [ -e '{0}' ]; then text=second; else : > '{0}'; fi\n{1}",
        mark.display(),
        shell_server("${text:-first}")
            .replace("*'\"resources/read\"'*)", "*'\"resources/read\"'*) if [ -z \"$text\" ]; then last=1; fi;")
            .replace("  esac\n", "  esac\n  if [ -n \"$last\" ]; then exit 0; fi\n")
    );
    let (tell, told) = mpsc::channel();
    let servers = McpServers::connect(vec![server("local", &program)], &patient()).expect("threads");
    let skills = servers.skills();
    servers.subscribe(move |_| {
        let _nobody_waits = tell.send(());
    });
    let text = || skills.texts().first().map(|skill| skill.text.clone().into_owned());
    while text().as_deref() != Some("second") {
        // Each change is told; one that came before the subscription is seen at once.
        if told.recv_timeout(Duration::from_secs(60)).is_err() {
            assert_eq!(text().as_deref(), Some("second"), "{:?}", servers.reports());
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn nothing_that_a_server_started_outlives_the_host() {
    let program = format!("sleep 1000 & LISTED=$!\n{}", shell_server("$LISTED"));
    let servers = McpServers::connect(vec![server("local", &program)], &patient()).expect("threads");
    let child: i32 = servers.skills().texts()[0].text.parse().expect("the number of a process");
    let child = rustix::process::Pid::from_raw(child).expect("a process");
    let child = rustix::process::pidfd_open(child, rustix::process::PidfdFlags::empty()).expect("it runs");
    assert!(!has_ended(&child, Duration::ZERO), "the control: it runs while the host does");
    drop(servers);
    assert!(has_ended(&child, Duration::from_secs(60)));
}

#[cfg(target_os = "linux")]
fn has_ended(process: &rustix::fd::OwnedFd, within: Duration) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let limit = Timespec::try_from(within).expect("a time");
    poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&limit)).expect("it can be asked") == 1
}
