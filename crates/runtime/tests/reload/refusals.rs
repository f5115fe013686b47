//! Calls that were decided before the skills were loaded again, and what was agreed to.

use crate::again;
use crate::world::{World, call};
use skillgate_policy::{Effect, Invoker};
use skillgate_runtime::{
    Answer, Answerer, InvokeError, InvokeRequest, Question, Session, SessionOptions, SkillCall, SkillStatus,
};
use std::sync::{Arc, Mutex};

fn prepared(session: &Session, name: &str) -> skillgate_runtime::InvocationPlan {
    session.prepare(&InvokeRequest::new(name, Invoker::User)).expect("it may run")
}

#[test]
fn what_was_decided_on_another_text_does_not_run() {
    let world = World::new().skill("s", "", "!`note 1`").skill("other", "", "!`note 2`");
    let runtime = world.builder(&[]).open().expect("opens");
    let session = runtime.session(SessionOptions::default());
    for (header, body) in [("", "!`note 3`"), ("model: small\n", "!`note 3`")] {
        let (plan, of_other) = (prepared(&session, "s"), prepared(&session, "other"));
        world.write_skill("s", header, body);
        again(&runtime);
        match session.run(plan) {
            Err(error @ InvokeError::Revoked { .. }) => assert_eq!(error.number(), Some(2)),
            other => unreachable!("{header:?}: {other:?}"),
        }
        session.run(of_other).expect("nobody touched it");
        world.write_skill("s", "", "!`note 1`");
        again(&runtime);
    }
    assert_eq!(world.ran(), ["note 2", "note 2"]);
    assert!(call(&session, "s").is_ok(), "it is decided anew");
}

#[test]
fn what_runs_for_a_skill_that_goes_ends_and_gives_nothing() {
    let world = World::new().skill("slow", "", "!`linger`").skill("quick", "", "!`note 1`");
    let runtime = world.builder(&[]).open().expect("opens");
    let session = runtime.session(SessionOptions::default());
    let begun = world.when_waiting();
    std::thread::scope(|scope| {
        let calling = scope.spawn(|| call(&session, "slow"));
        begun.recv().expect("it runs");
        std::fs::remove_dir_all(world.path("p/.claude/skills/slow")).expect("it is there");
        assert_eq!(again(&runtime).changes.removed, ["project:slow"]);
        let ended = calling.join().expect("the call returns");
        assert!(ended.is_err(), "{ended:?}");
    });
    assert!(matches!(call(&session, "slow"), Err(InvokeError::Unknown { .. })));
    let compacted = session.compact(&skillgate_runtime::AgentId::MAIN, Default::default(), &Default::default());
    assert_eq!(compacted.expect("no hook holds it").skills, []);
    assert_eq!(call(&session, "quick").expect("nobody touched it").status, SkillStatus::Inline);
}

/// Says the same to every question, and counts them.
#[derive(Debug)]
struct Says(Answer, Mutex<u32>);

impl Answerer for Says {
    fn answer(&self, _: &Question) -> Answer {
        *self.1.lock().expect("nobody panics") += 1;
        self.0
    }
}

#[test]
fn what_was_agreed_to_was_about_one_content() {
    let world = World::new().skill("s", "", "One.");
    let rules = [(Effect::Ask, "Skill(s)")];
    let says = Arc::new(Says(Answer::Always, Mutex::new(0)));
    let runtime = world.builder(&rules).open().expect("opens");
    let session = runtime.session(SessionOptions::default().answerer(says.clone()));
    let asked = || *says.1.lock().expect("nobody panics");
    let called = || session.call_skill(&SkillCall::new("s", Invoker::Model)).expect("somebody agrees");
    called();
    called();
    assert_eq!(asked(), 1);
    again(&runtime);
    called();
    assert_eq!(asked(), 1, "nothing changed");
    world.write_skill("s", "", "Two.");
    again(&runtime);
    called();
    called();
    assert_eq!(asked(), 2, "it was about another text");
    world.write_skill("s", "", "One.");
    again(&runtime);
    called();
    assert_eq!(asked(), 2, "this one was agreed to");
    // What goes is forgotten, whatever it says when it comes back.
    std::fs::remove_dir_all(world.path("p/.claude/skills/s")).expect("it is there");
    again(&runtime);
    world.write_skill("s", "", "One.");
    again(&runtime);
    called();
    assert_eq!(asked(), 3);
}
