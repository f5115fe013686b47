use crate::world::{World, call, hook};
use serde_json::json;
use skillgate_policy::{Effect, Invoker};
use skillgate_runtime::{
    AgentError, AgentId, AgentOutput, AgentRunner, CancelToken, DeliveryError, ForkProgress, ForkRequest, InvokeError,
    Session, SessionOptions, SkillCall, SkillStatus, ToolCall, WaitReason,
};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, OnceLock, Weak};

type Act = dyn Fn(&ForkRequest, &CancelToken) -> Result<AgentOutput, AgentError> + Send + Sync;

/// An agent that does what the test says.
struct Agent {
    later: bool,
    act: Box<Act>,
}

impl std::fmt::Debug for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Agent")
    }
}

impl AgentRunner for Agent {
    fn kinds(&self) -> Option<Vec<String>> {
        Some(vec!["explore".to_owned()])
    }

    fn delivers_later(&self) -> bool {
        self.later
    }

    fn run(
        &self,
        request: &ForkRequest,
        progress: &(dyn Fn(ForkProgress) + Sync),
        cancel: &CancelToken,
    ) -> Result<AgentOutput, AgentError> {
        progress(ForkProgress::Started);
        (self.act)(request, cancel)
    }
}

fn agent(
    act: impl Fn(&ForkRequest, &CancelToken) -> Result<AgentOutput, AgentError> + Send + Sync + 'static,
) -> Arc<Agent> {
    Arc::new(Agent { later: false, act: Box::new(act) })
}

fn said(text: &str) -> Result<AgentOutput, AgentError> {
    Ok(AgentOutput { messages: vec![text.to_owned()] })
}

#[test]
fn a_fork_has_the_text_as_its_prompt_and_its_result_is_the_tools() {
    let header = "context: fork\nagent: explore\nmodel: small\nallowed-tools: Bash(note:*), Bash(git log:*)\n";
    let world = World::new().skill("look", header, "Look at !`note 1`.");
    let session: Arc<OnceLock<Weak<Session>>> = Arc::default();
    let inside = Arc::clone(&session);
    let runner = agent(move |request, _| {
        assert!(request.prompt.contains("Look at [1]."), "{}", request.prompt);
        assert_eq!((request.kind.as_deref(), request.model.as_deref()), (Some("explore"), Some("small")));
        let session = inside.get().and_then(Weak::upgrade).expect("the session is there");
        let may = |agent: &AgentId, program: &str| {
            let call = ToolCall::new("Bash", json!({"command": program})).by(agent.clone());
            session.before_tool(&call).expect("recorded").effect
        };
        // The fork has what its parent has, less what the skill leaves; the parent keeps all of it.
        assert_eq!((may(&request.agent, "git log"), may(&request.agent, "git status")), (Effect::Allow, Effect::Deny));
        assert_eq!(may(&AgentId::MAIN, "git status"), Effect::Allow);
        said("found it")
    });
    let told = Arc::new(Mutex::new(Vec::new()));
    let tell = Arc::clone(&told);
    let runtime = world.builder(&[(Effect::Allow, "Bash(git:*)")]).agents(runner).open().expect("opens");
    let conversation = runtime.session(SessionOptions::default());
    session.set(Arc::downgrade(&conversation)).expect("once");
    let call = SkillCall::new("look", Invoker::Model)
        .on_progress(move |progress| tell.lock().expect("nobody panics").push(progress));
    let result = conversation.call_skill(&call).expect("it runs");
    assert_eq!((result.status, result.tool_result.as_str()), (SkillStatus::Forked, "found it"));
    assert_eq!((result.messages.len(), result.waited), (0, Some(WaitReason::HostCannotDeliver)));
    assert_eq!(*told.lock().expect("nobody panics"), [ForkProgress::Started]);
    assert!(conversation.forks().is_empty());
}

/// Complaint 74: a skill whose text names itself is called again and again.
#[test]
fn row_74_a_fork_cannot_call_itself() {
    let world = World::new().skill("loop", "context: fork\n", "Call loop.");
    let session: Arc<OnceLock<Weak<Session>>> = Arc::default();
    let inside = Arc::clone(&session);
    let runner = agent(move |request, _| {
        let session = inside.get().and_then(Weak::upgrade).expect("the session is there");
        let again = SkillCall::new("loop", Invoker::Model).agent(request.agent.clone());
        match session.call_skill(&again) {
            Err(error @ InvokeError::Recursion(_)) => said(&error.to_string()),
            other => unreachable!("{other:?}"),
        }
    });
    let conversation = world.builder(&[]).agents(runner).open().expect("opens").session(SessionOptions::default());
    session.set(Arc::downgrade(&conversation)).expect("once");
    let result = call(&conversation, "loop").expect("the first one runs");
    assert!(result.tool_result.contains("is running already"), "{}", result.tool_result);
}

/// Complaint 75: a fork that cannot be one is not run in the conversation instead.
#[test]
fn row_75_a_fork_is_a_fork_or_an_error() {
    let world = World::new().skill("f", "context: fork\n", "x").skill("g", "context: fork\nagent: nope\n", "x");
    assert!(matches!(call(&world.session(&[]), "f"), Err(InvokeError::NoAgents { .. })));
    let runner = agent(|_, _| Err(AgentError::Failed { status: "status 3".to_owned(), said: None }));
    let session = world.builder(&[]).agents(runner).open().expect("opens").session(SessionOptions::default());
    assert!(matches!(call(&session, "f"), Err(InvokeError::Agent { error: AgentError::Failed { .. }, .. })));
    match call(&session, "g") {
        Err(InvokeError::Agent { error: AgentError::UnknownKind { kind, known }, .. }) => {
            assert_eq!((kind.as_str(), known), ("nope", vec!["explore".to_owned()]));
        }
        other => unreachable!("{other:?}"),
    }
    assert!(session.forks().is_empty());
}

/// Complaint 71: the hooks of a skill that is forked hold in its fork.
#[test]
fn row_71_a_forks_hooks_hold_in_the_fork_and_end_with_it() {
    let header = format!("context: fork\n{}", hook("Stop", "", "note over"));
    let world = World::new().skill("f", &header, "x");
    let runner = agent(|_, _| said("done"));
    let session = world.builder(&[]).agents(runner).open().expect("opens").session(SessionOptions::default());
    let result = call(&session, "f").expect("it runs");
    assert_eq!(world.ran(), ["note over"]);
    assert!(result.hooks.iter().any(|report| report.called_for.name() == "SubagentStop"), "{:?}", result.hooks);
    let _none_left = session.stop(&AgentId::MAIN, false);
    assert_eq!(world.ran().len(), 1);
}

#[test]
fn a_fork_that_never_ends_is_stopped_by_its_token_by_a_revocation_and_with_the_session() {
    let world = World::new().skill("f", "context: fork\n", "x");
    for how in ["token", "revoke", "drop"] {
        let (begun, hears) = channel();
        let begun = Mutex::new(begun);
        let act = move |_: &ForkRequest, cancel: &CancelToken| {
            let (stop, stopped) = channel();
            cancel.on_cancel(move || stop.send(()).expect("the agent waits"));
            begun.lock().expect("nobody panics").send(()).expect("the test waits");
            stopped.recv().expect("the token outlives the agent");
            Err(AgentError::Cancelled)
        };
        let later = how == "drop";
        let runner = Arc::new(Agent { later, act: Box::new(act) });
        let (deliver, delivered) = channel();
        let options = SessionOptions::default().on_fork_end(move |end| deliver.send(end.fork).expect("the test waits"));
        let session = world.builder(&[]).agents(runner).open().expect("opens").session(options);
        let token = CancelToken::new();
        let call = SkillCall::new("f", Invoker::Model).cancel(token.clone());
        if later {
            let result = session.call_skill(&call).expect("it runs in the background");
            assert_eq!((result.status, result.fork.as_deref()), (SkillStatus::Background, Some("fork-1")));
            hears.recv().expect("it begins");
            drop(session);
            assert!(delivered.recv().is_err(), "a conversation that is over hears nothing");
            continue;
        }
        let inside = Arc::clone(&session);
        let waits = std::thread::spawn(move || inside.call_skill(&call));
        hears.recv().expect("it begins");
        match how {
            "token" => token.cancel(),
            _ => drop(session.revoke("f")),
        }
        let ended = waits.join().expect("it does not panic");
        assert!(matches!(ended, Err(InvokeError::Agent { error: AgentError::Cancelled, .. })), "{how}: {ended:?}");
        assert!(session.forks().is_empty());
    }
}

#[test]
fn a_result_from_the_background_is_delivered_once() {
    let world = World::new().skill("f", "context: fork\n", "x");
    let runner = Arc::new(Agent { later: true, act: Box::new(|_, _| said("found")) });
    let (deliver, delivered) = channel();
    let options = SessionOptions::default()
        .on_fork_end(move |end| deliver.send((end.fork, end.result.expect("it worked"))).expect("the test waits"));
    let session = world.builder(&[]).agents(runner).open().expect("opens").session(options);
    assert_eq!(call(&session, "f").expect("it begins").status, SkillStatus::Background);
    assert_eq!(delivered.recv().expect("it ends"), ("fork-1".to_owned(), "found".to_owned()));
    assert!(matches!(session.deliver_fork("fork-1", "x"), Err(DeliveryError::Ended { .. })));
}

#[test]
fn a_host_that_runs_forks_itself_delivers_their_results() {
    let world = World::new().skill("f", "context: fork\n", "Do it.");
    let options = SessionOptions::default().host_runs_forks(true);
    let session = world.builder(&[]).open().expect("opens").session(options);
    let result = call(&session, "f").expect("it begins");
    assert_eq!(result.status, SkillStatus::HostFork);
    let request = result.fork_request.expect("the host begins it with this");
    assert!(request.prompt.contains("Do it."));
    assert_eq!(session.forks(), std::slice::from_ref(&request.agent));
    assert_eq!(session.deliver_fork(&request.id, " done ").expect("it is delivered").result.expect("text"), "done");
    assert!(session.forks().is_empty());
    assert!(matches!(session.deliver_fork(&request.id, "x"), Err(DeliveryError::Ended { .. })));
    assert!(matches!(session.deliver_fork("fork-9", "x"), Err(DeliveryError::Unknown { .. })));
}
