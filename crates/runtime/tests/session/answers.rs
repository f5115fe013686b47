use crate::fixture::{Script, World, host, invoke, rule};
use skillgate_exec::Asked;
use skillgate_policy::{Ceiling, Defaults, Effect, Host, Invoker, RefusalReason, SkillRefusal};
use skillgate_runtime::{Always, Answer, InvokeError, InvokeRequest, SessionOptions};

const ASK: &[(Effect, &str)] = &[(Effect::Ask, "Bash(note:*)")];

fn typed() -> InvokeRequest {
    InvokeRequest::new("s", Invoker::User)
}

fn command(words: &[&str]) -> Asked {
    Asked::Command(words.iter().map(|word| (*word).to_owned()).collect())
}

#[test]
fn an_ask_without_anybody_is_a_refusal_with_the_line_to_add() {
    let world = World::new("", "!`note a`");
    let session = world.builder(host(ASK)).open().expect("opens").session(SessionOptions::default());
    let Err(InvokeError::Refused(refusal)) = session.invoke(&typed()) else { unreachable!("it is refused") };
    assert!(matches!(refusal.reason, RefusalReason::Unanswered(_)), "{refusal}");
    assert!(refusal.to_string().contains("there is nobody to ask"), "{refusal}");
    assert_eq!(refusal.remedy.as_deref(), Some("Bash(note:*)"));
    assert_eq!(world.notes.ran(), Vec::<String>::new());
}

#[test]
fn a_no_refuses_everything_and_says_that_it_was_a_no() {
    let world = World::new("", "!`note a` !`note b`");
    let script = Script::new(&[Answer::Once, Answer::No]);
    let session = world.session(host(ASK), &script);
    let Err(InvokeError::Refused(refusal)) = session.invoke(&typed()) else { unreachable!("it is refused") };
    assert!(matches!(refusal.reason, RefusalReason::Declined(_)), "{refusal}");
    assert!(refusal.to_string().contains("the answer was no"), "{refusal}");
    let asked: Vec<Asked> = script.asked().into_iter().map(|question| question.asked).collect();
    assert_eq!(asked, [command(&["note", "a"]), command(&["note", "b"])]);
    assert_eq!(*script.announced.lock().expect("no panic"), [2], "both are shown before the first is asked");
    assert_eq!(world.notes.ran(), Vec::<String>::new());
}

#[test]
fn once_holds_for_one_invocation_and_exactly_what_was_asked() {
    let world = World::new("", "!`for i in 1 2; do note a; done; note a`");
    let script = Script::new(&[Answer::Once, Answer::Once, Answer::No]);
    let session = world.session(host(ASK), &script);
    for _ in 0..2 {
        assert_eq!(invoke(&session, &typed()).expect("it was agreed to"), "[a][a][a]");
    }
    assert_eq!((script.asked().len(), world.notes.ran().len()), (2, 6));
    assert!(session.invoke(&typed()).is_err());
}

#[test]
fn always_holds_for_the_session_as_far_as_the_question_said() {
    let world = World::new("", "!`note $0`");
    let script = Script::new(&[Answer::Always]);
    let session = world.session(host(ASK), &script);
    for word in ["a", "b"] {
        assert_eq!(invoke(&session, &typed().arguments(word)).expect("it was agreed to"), format!("[{word}]"));
    }
    let question = &script.asked()[0];
    assert_eq!(question.always, Always::Session, "no allowing rule stands over an asking one");
    assert!(question.because.contains("ask Bash(note:*) (host)"), "{}", question.because);
    let other = Script::new(&[Answer::No]);
    assert!(world.session(host(ASK), &other).invoke(&typed().arguments("a")).is_err(), "another session asks again");
}

#[test]
fn a_managed_ask_is_answered_each_time() {
    let world = World::new("", "!`note a`");
    let managed = Host::new([], Defaults::BuiltIn).under(Ceiling::new(vec![rule(Effect::Ask, "Bash(note:*)")], false));
    let script = Script::new(&[Answer::Always, Answer::Always, Answer::No]);
    let session = world.session(managed, &script);
    for _ in 0..2 {
        assert_eq!(invoke(&session, &typed()).expect("it was agreed to"), "[a]");
    }
    assert!(session.invoke(&typed()).is_err());
    assert!(script.asked().iter().all(|question| question.always == Always::Never));
}

#[test]
fn nobody_is_asked_about_what_does_not_run_anyway() {
    for (header, body, rules) in [
        ("", "!`note a` !`note b`", &[(Effect::Ask, "Bash(note a)"), (Effect::Deny, "Bash(note b)")][..]),
        ("allowed-tools: Bash(pwd)\n", "!`note a`", ASK),
        ("", "!`note a` !`sleep 1 &`", ASK),
        ("hooks: {PreToolUse: [{hooks: [{type: command, command: nosuchprogram}]}]}\n", "!`note a`", ASK),
    ] {
        let world = World::new(header, body);
        let script = Script::new(&[]);
        let error = world.session(host(rules), &script).invoke(&typed()).expect_err(body);
        assert!(!error.to_string().contains("wants an answer"), "{header}{body}: {error}");
        assert_eq!((script.asked(), world.notes.ran()), (vec![], vec![]), "{header}{body}");
    }
}

#[test]
fn a_plan_asks_nobody() {
    let world = World::new("", "!`note a`");
    let script = Script::new(&[]);
    let session = world.session(host(ASK), &script);
    let plan = session.plan(&typed()).expect("a plan");
    assert!(plan.objection().is_some());
    assert_eq!(script.asked(), vec![]);
}

#[test]
fn a_vector_that_was_not_known_is_asked_about_when_it_is() {
    for (last, ran) in [(Answer::Once, 2), (Answer::No, 1)] {
        let world = World::new("", "!`note $(note b)`");
        let script = Script::new(&[Answer::Once, Answer::Once, last]);
        let result = invoke(&world.session(host(ASK), &script), &typed());
        let asked: Vec<_> = script.asked().into_iter().map(|question| (question.asked, question.open)).collect();
        let inner = (command(&["note", "b"]), false);
        let outer = [(command(&["note"]), true), (command(&["note", "[b]"]), false)];
        assert!(asked[..2].contains(&inner) && asked[..2].contains(&outer[0]), "{asked:?}");
        assert_eq!(asked[2], outer[1]);
        assert_eq!(world.notes.ran().len(), ran);
        match result {
            Ok(text) => assert_eq!((last, text.as_str()), (Answer::Once, "[[b]]")),
            Err(InvokeError::Refused(refusal)) => {
                assert_eq!(last, Answer::No);
                assert!(matches!(refusal.reason, RefusalReason::Declined(_)), "{refusal}");
                assert_eq!(refusal.already_ran, [["note", "b"]]);
            }
            Err(error) => unreachable!("{error}"),
        }
    }
}

#[test]
fn a_skill_is_asked_about_once_always_or_not() {
    for (header, rules, always) in [
        ("", &[(Effect::Ask, "Skill(s)")][..], Always::Session),
        ("shell: bash\n", &[], Always::Rule("Skill(s)".to_owned())),
    ] {
        let world = World::new(header, "!`note a`");
        let script = Script::new(&[Answer::No, Answer::Once, Answer::Always]);
        let session = world.session(host(rules), &script);
        let error = session.invoke(&typed()).expect_err("the answer was no");
        let InvokeError::Skill(refusal @ SkillRefusal::Declined { .. }) = &error else { unreachable!("{error}") };
        assert_eq!(refusal.number(), 3);
        assert!(error.to_string().contains("the answer was no"), "{error}");
        for _ in 0..4 {
            assert_eq!(invoke(&session, &typed()).expect("it was agreed to"), "[a]");
        }
        assert_eq!(script.asked().len(), 3);
        assert!(script.asked().iter().all(|question| question.asked == Asked::Skill && question.always == always));
    }
}
