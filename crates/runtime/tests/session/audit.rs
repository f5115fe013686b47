use crate::fixture::{Script, World, host, invoke};
use skillgate_exec::{AuditContext, AuditError, AuditEvent, AuditSink};
use skillgate_policy::{Effect, Invoker};
use skillgate_runtime::{
    Answer, AuditRecord, FileAudit, InvokeError, InvokeRequest, RecordEvent, SessionOptions, verify_log,
};
use skillgate_state::Durability;
use std::sync::{Arc, Mutex};

/// Records up to a number of events, then fails.
#[derive(Debug)]
struct Full {
    room: usize,
    events: Mutex<Vec<AuditEvent>>,
}

impl Full {
    fn after(room: usize) -> Arc<Self> {
        Arc::new(Self { room, events: Mutex::default() })
    }
}

impl AuditSink for Full {
    fn record(&self, _: &AuditContext, event: &AuditEvent) -> Result<(), AuditError> {
        let mut events = self.events.lock().expect("no test panics while it holds this");
        if events.len() >= self.room {
            return Err(AuditError { reason: "no space".to_owned() });
        }
        events.push(event.clone());
        Ok(())
    }
}

fn typed() -> InvokeRequest {
    InvokeRequest::new("s", Invoker::User)
}

/// The records of a log, which holds.
fn records(world: &World) -> Vec<AuditRecord> {
    let bytes = std::fs::read(world.path("log")).expect("it is there");
    let mut records = Vec::new();
    let verdict = verify_log(&mut bytes.as_slice(), None, &mut |record| records.push(record)).expect("memory");
    assert_eq!(verdict.fault, None);
    records
}

fn file(world: &World, contents: bool) -> Arc<FileAudit> {
    let log = FileAudit::open_ambient(world.path("log"), Durability::Process).expect("opens");
    Arc::new(log.with_contents(contents))
}

fn names(records: &[AuditRecord]) -> Vec<String> {
    let name = |record: &AuditRecord| match serde_json::to_value(&record.members) {
        Ok(value) => value["event"].as_str().unwrap_or_default().to_owned(),
        Err(error) => error.to_string(),
    };
    records.iter().map(name).collect()
}

#[test]
fn an_invocation_is_recorded_from_its_decision_to_its_end() {
    let world = World::new("", "!`note a`");
    let session = world
        .builder(host(&[]))
        .audit(file(&world, false))
        .open()
        .expect("opens")
        .session(SessionOptions::default().id("c1"));
    session.invoke(&typed()).expect("it runs");
    session.invoke(&InvokeRequest::new("s", Invoker::Model)).expect("it runs");
    let records = records(&world);
    let run = ["run-start", "command", "command-end", "run-end"];
    let expected: Vec<&str> = ["skill-typed"].into_iter().chain(run).chain(["skill-called"]).chain(run).collect();
    assert_eq!(names(&records), expected);
    for (index, record) in records.iter().enumerate() {
        let members = &record.members;
        assert_eq!(members.invoker.as_deref(), Some(if index < 5 { "user" } else { "model" }));
        assert_eq!((members.session.as_deref(), members.skill.as_deref()), (Some("c1"), Some("project:s")));
        assert_eq!(members.digest.as_ref().map(String::len), Some(64));
    }
    let RecordEvent::Command { decision, rule, vector_digest, .. } = &records[2].members.event else {
        unreachable!("{:?}", records[2])
    };
    assert_eq!((decision.as_str(), rule.as_str()), ("allow", "allow Bash (built-in default)"));
    let digest = skillgate_core::Digest::of_parts([b"note".as_slice(), b"a"]);
    assert_eq!(*vector_digest, digest.to_string());
    let RecordEvent::RunEnd { status, output_bytes, .. } = &records[4].members.event else {
        unreachable!("{:?}", records[4])
    };
    assert_eq!((*status, *output_bytes), (Some(0), 3));
}

#[test]
fn contents_are_recorded_only_when_asked_for() {
    for contents in [false, true] {
        let world = World::new("", "!`note $ARGUMENTS`");
        let host = host(&[(Effect::Deny, "Bash(note s3cret no)")]);
        let session =
            world.builder(host).audit(file(&world, contents)).open().expect("opens").session(SessionOptions::default());
        session.invoke(&typed().arguments("s3cret yes")).expect("it runs");
        session.invoke(&typed().arguments("s3cret no")).expect_err("it is denied");
        let text = std::fs::read_to_string(world.path("log")).expect("it is there");
        // The rule that denied is the host's own text.
        let text = text.replace("Bash(note s3cret no)", "");
        assert_eq!(text.contains("s3cret"), contents, "{text}");
        assert_eq!(records(&world).len(), 7);
    }
}

#[test]
fn what_is_recorded_cannot_forge_a_line_or_act_on_a_terminal() {
    let world = World::new("", "!`note \"$0\"`");
    let session =
        world.builder(host(&[])).audit(file(&world, true)).open().expect("opens").session(SessionOptions::default());
    let evil = "\"},\n{\"seq\":9}\u{85}\u{202e}\x1b[2J\u{e0041}";
    session.invoke(&typed().arguments(format!("'{evil}'"))).expect("it runs");
    let text = std::fs::read_to_string(world.path("log")).expect("it is there");
    assert!(!text.contains(['\x1b', '\u{85}', '\u{202e}', '\u{e0041}']), "{text}");
    let records = records(&world);
    assert_eq!(text.lines().count(), records.len());
    let RecordEvent::Command { argv: Some(argv), .. } = &records[2].members.event else { unreachable!("{records:?}") };
    assert_eq!(argv[1], evil, "what was recorded reads back as it was");
    let long = "x".repeat(100_000);
    session.invoke(&typed().arguments(long)).expect("what does not fit is recorded as its digest");
    let later = &crate::audit::records(&world)[records.len()..];
    assert!(matches!(&later[2].members.event, RecordEvent::Command { argv: None, .. }), "{:?}", later[2]);
}

#[test]
fn refusals_and_answers_are_recorded() {
    let world = World::new("", "!`note a`");
    let ask = host(&[(Effect::Ask, "Bash(note:*)")]);
    let script = Script::new(&[Answer::No, Answer::Once]);
    let session = world
        .builder(ask)
        .audit(file(&world, false))
        .open()
        .expect("opens")
        .session(SessionOptions::default().answerer(script));
    session.invoke(&typed()).expect_err("the answer was no");
    invoke(&session, &typed()).expect("it was agreed to");
    session.invoke(&InvokeRequest::new("nosuch", Invoker::Model)).expect_err("there is none");
    let records = records(&world);
    let names = names(&records);
    assert_eq!(names[..3], ["answer", "skill-typed", "command"]);
    assert_eq!(names[3..], ["answer", "skill-typed", "run-start", "command", "command-end", "run-end", "refusal"]);
    let RecordEvent::Answer { answer, rule, .. } = &records[0].members.event else { unreachable!("{:?}", records[0]) };
    assert_eq!((answer.as_str(), rule.as_str()), ("no", "ask Bash(note:*) (host)"));
    let RecordEvent::Command { decision, rule, .. } = &records[6].members.event else {
        unreachable!("{:?}", records[6])
    };
    assert_eq!((decision.as_str(), rule.as_str()), ("allow", "ask Bash(note:*) (host), agreed to"));
}

#[test]
fn what_cannot_be_recorded_does_not_run() {
    // The decision on the skill, the start of the run, the decision on the command.
    for room in 0..3 {
        let world = World::new("", "!`note a`");
        let sink = Full::after(room);
        let session =
            world.builder(host(&[])).audit(sink.clone()).open().expect("opens").session(SessionOptions::default());
        let error = session.invoke(&typed()).expect_err("it cannot be recorded");
        assert!(matches!(error, InvokeError::Unrecorded(_)), "{room}: {error}");
        assert_eq!(world.notes.ran(), Vec::<String>::new(), "{room}");
    }
    // Its end: the command ran, and nothing of it is used.
    let world = World::new("", "!`note a`");
    let session =
        world.builder(host(&[])).audit(Full::after(3)).open().expect("opens").session(SessionOptions::default());
    assert!(matches!(session.invoke(&typed()), Err(InvokeError::Unrecorded(_))));
    assert_eq!(world.notes.ran(), ["note a"]);
}

#[test]
fn a_plan_is_not_recorded() {
    let world = World::new("", "!`note a`");
    let sink = Full::after(0);
    let session = world.builder(host(&[])).audit(sink).open().expect("opens").session(SessionOptions::default());
    let plan = session.plan(&typed()).expect("nothing happened that has to be recorded");
    assert!(matches!(session.run(plan), Err(InvokeError::Unrecorded(_))), "running it is recorded");
}
