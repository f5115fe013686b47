use super::*;
use skillgate_core::{CommandName, Digest, Source};

fn id(name: &str) -> SkillId {
    SkillId::new(Source::User, CommandName::new(name).expect("a name"))
}

fn invoked(name: &str, text: &str) -> InvokedSkill {
    InvokedSkill::new(id(name), format!("/skills/{name}/SKILL.md"), text, Digest::of(name.as_bytes()), 7)
}

fn agent(name: &str) -> AgentId {
    AgentId::new(name).expect("a name")
}

fn names(store: &InvokedSkills, of: &AgentId) -> Vec<String> {
    store.of(of).iter().map(|skill| skill.skill.command.to_string()).collect()
}

#[test]
fn only_an_unchanged_text_that_stands_whole_in_the_conversation_is_not_said_again() {
    let mut store = InvokedSkills::new();
    assert_eq!(store.record(invoked("review", "a")), Recorded::New);
    let Recorded::Unchanged { note } = store.record(invoked("review", "a")) else {
        unreachable!("the same text is known");
    };
    assert!(note.contains("`review`") && !note.contains('\n'), "{note}");
    assert_eq!(store.record(invoked("review", "b")), Recorded::New, "other arguments, another text");
    let mut edited = invoked("review", "b");
    edited.digest = Digest::of(b"edited");
    assert_eq!(store.record(edited.clone()), Recorded::New, "the file changed, whatever it expands to");
    for presence in [Presence::Cut, Presence::Omitted] {
        store.set_presence(&AgentId::MAIN, &id("review"), presence);
        assert_eq!(store.record(edited.clone()), Recorded::New, "{presence:?}: the text is not there any more");
        assert_ne!(store.record(edited.clone()), Recorded::New, "and now it is");
    }
    assert!(store.unload(&AgentId::MAIN, &id("review"), UnloadReason::Asked).is_some());
    assert_eq!(store.record(edited), Recorded::New, "unloaded, and called again");
    assert_eq!(store.len(), 1);
}

#[test]
fn the_latest_invocation_is_the_newest_and_agents_see_their_own_only() {
    let mut store = InvokedSkills::new();
    for name in ["a", "b", "c", "a"] {
        let _new_or_not = store.record(invoked(name, name));
    }
    assert_eq!(store.record(invoked("a", "a").by(agent("x"))), Recorded::New, "another agent never saw it");
    assert_eq!(names(&store, &AgentId::MAIN), ["a", "c", "b"]);
    assert_eq!(names(&store, &agent("x")), ["a"]);
    assert_eq!(names(&store, &agent("y")), [""; 0]);
    store.end_agent(&AgentId::MAIN);
    store.end_agent(&agent("x"));
    assert_eq!((store.agents(), store.len()), (vec![&AgentId::MAIN], 3));
}

/// Complaint 81: an activated skill cannot be unloaded.
#[test]
fn row_81_unloading_leaves_a_line_and_nothing_of_the_text() {
    let mut store = InvokedSkills::new();
    let _new = store.record(invoked("deploy", "long instructions"));
    let mark = store.unload(&AgentId::MAIN, &id("deploy"), UnloadReason::Asked).expect("it is loaded");
    assert!(mark.contains("`deploy`") && mark.contains("unloaded") && mark.lines().count() == 1, "{mark}");
    assert_eq!(store.get(&AgentId::MAIN, &id("deploy")), None);
    assert_eq!(store.unload(&AgentId::MAIN, &id("deploy"), UnloadReason::Asked), None, "once");
    assert_eq!(store.unloaded(&AgentId::MAIN)[0].mark(), mark);
    let because = "its project\nis not trusted".to_owned();
    let refused = UnloadedSkill::of(&invoked("x", ""), UnloadReason::Refused { because });
    assert_eq!(refused.mark().lines().count(), 1);
}

#[test]
fn clearing_keeps_the_agents_that_are_named_and_no_other() {
    let mut store = InvokedSkills::new();
    for of in [AgentId::MAIN, agent("x"), agent("y")] {
        let _new = store.record(invoked("a", "a").by(of));
    }
    store.clear(&[agent("x")]);
    assert_eq!(store.agents(), [&agent("x")]);
    store.clear(&[]);
    assert!(store.is_empty() && store.agents().is_empty());
    let _new = store.record(invoked("a", "a"));
    assert_eq!(store.of(&AgentId::MAIN)[0].sequence(), 4, "numbers are not used twice");
}
