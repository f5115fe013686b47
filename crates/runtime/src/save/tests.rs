use super::*;
use crate::invoked::{InvokedSkill, Presence, Recorded, UnloadReason};
use crate::scope::ActiveSkill;
use serde_json::json;
use skillgate_core::{CommandName, Effort, SkillId, Source};
use skillgate_policy::{
    Action, Caveat, CaveatKind, Defaults, Effect, Host, Place, PresentSkill, Provider, Rule, ToolPattern,
};

fn id(name: &str) -> SkillId {
    SkillId::new(Source::Project, CommandName::new(name).expect("a name"))
}

fn only(skill: &SkillId, digest: Digest, patterns: &[&str]) -> Caveat {
    let patterns = patterns.iter().map(|text| ToolPattern::parse(text).expect("a pattern")).collect();
    Caveat { skill: skill.clone(), digest, kind: CaveatKind::Only { patterns, unreadable: Vec::new() } }
}

/// The content of every skill of these tests.
fn content() -> Digest {
    Digest::of(b"content")
}

fn child() -> AgentId {
    AgentId::new("fork-1").expect("a name")
}

/// A conversation with something of everything.
fn conversation() -> SavedConversation {
    let mut conversation = SavedConversation { session_id: Some("c1".to_owned()), ..SavedConversation::default() };
    let caveat = only(&id("review"), content(), &["Bash(git log:*)"]);
    let review = InvokedSkill::new(id("review"), "/p/review/SKILL.md", "Review prod.", content(), 5);
    let review = review.with_caveats([caveat.clone()]).with_arguments(Some("prod".to_owned()));
    for skill in [
        InvokedSkill::new(id("old"), "/p/old/SKILL.md", "Old.", content(), 3),
        review,
        InvokedSkill::new(id("deep"), "/p/deep/SKILL.md", "Deep.", content(), 4).by(child()),
    ] {
        let _new = conversation.invoked.record(skill);
    }
    conversation.invoked.unload(&AgentId::MAIN, &id("old"), UnloadReason::Asked).expect("it is loaded");
    conversation.invoked.set_presence(&AgentId::MAIN, &id("review"), Presence::Cut);
    conversation.scopes.enter(
        &AgentId::MAIN,
        ActiveSkill {
            caveats: vec![caveat],
            model: Some("small".to_owned()),
            effort: Some(Effort::Number(3)),
            ..ActiveSkill::new(id("review"), content())
        },
    );
    conversation.scopes.fork(&AgentId::MAIN, child());
    conversation.activation.skills.insert("project:waiting".to_owned());
    conversation.activation.directories.insert("/p/sub/.claude/skills".to_owned());
    conversation.usage.insert("project:review".to_owned(), 7);
    conversation.spent_hooks.insert(SpentHook {
        agent: AgentId::MAIN,
        skill: "project:review".to_owned(),
        event: "Stop".to_owned(),
        handler: content(),
    });
    conversation
}

/// Every skill as it was, `review` with its caveat.
fn unchanged(skill: &SkillId) -> Standing {
    let caveats = if *skill == id("review") { vec![only(skill, content(), &["Bash(git log:*)"])] } else { Vec::new() };
    Standing::Present(PresentSkill { digest: content(), caveats })
}

fn saved() -> Save {
    conversation().save(99).expect("it can be written")
}

fn reparsed(save: &Save) -> Save {
    Save::parse(&save.to_bytes().expect("small")).expect("it is a save")
}

fn host() -> Host {
    Host::granting([Rule::parse(Effect::Allow, "Bash(git:*)", Place::Host).expect("a rule")])
}

fn may(conversation: &SavedConversation, agent: &AgentId, host: Host, line: &str) -> Effect {
    let action = Action::command(line.split(' '), Provider::Shipped);
    conversation.scopes.authority(agent, host).decide(&action).effect
}

/// A save after somebody changed it and computed its digest again.
fn forged(change: impl FnOnce(&mut Value)) -> Result<Save, SaveError> {
    let mut value = saved().value().clone();
    change(&mut value);
    value.as_object_mut().expect("an object").remove("digest");
    let digest = canonical::digest(&value);
    Save::from_value(with_digest(value, digest))
}

#[test]
fn what_was_saved_comes_back() {
    let before = conversation();
    let (after, report) = reparsed(&saved()).restore(&unchanged);
    // The numbers of invocations are given again, in the same order.
    let named = |conversation: &SavedConversation| -> Vec<(String, Option<String>, Presence)> {
        let of = conversation.invoked.of(&AgentId::MAIN);
        of.iter().map(|skill| (skill.text.clone(), skill.arguments.clone(), skill.presence())).collect()
    };
    assert_eq!(named(&after), named(&before));
    assert_eq!(after.invoked.unloaded(&AgentId::MAIN)[0].mark(), before.invoked.unloaded(&AgentId::MAIN)[0].mark());
    assert_eq!((&after.scopes, &after.activation), (&before.scopes, &before.activation));
    assert_eq!(
        (&after.usage, &after.spent_hooks, &after.session_id),
        (&before.usage, &before.spent_hooks, &before.session_id)
    );
    assert_eq!(report.digest, saved().digest().to_string());
    assert_eq!((report.saved_at_ms, report.restored.len()), (99, 2));
    assert!(report.narrowed.is_empty() && report.refused.is_empty() && report.unknown_fields.is_empty(), "{report:?}");
    assert_eq!(after.save(99).expect("again").restore(&unchanged).0, after);
    for (agent, line, expected) in [
        (AgentId::MAIN, "git log", Effect::Allow),
        (AgentId::MAIN, "git push", Effect::Deny),
        (child(), "git push", Effect::Deny),
    ] {
        assert_eq!(may(&after, &agent, host(), line), expected, "{agent}: {line}");
    }
    assert_eq!(may(&after, &AgentId::MAIN, Host::granting([]), "git log"), Effect::Deny, "the host is the one of now");
}

#[test]
fn a_skill_that_changed_keeps_what_it_took_away_and_takes_away_what_it_does_now() {
    let edited = |skill: &SkillId| {
        let digest = Digest::of(b"edited");
        Standing::Present(PresentSkill {
            digest,
            caveats: vec![only(skill, digest, &["Bash(git log:*)", "Bash(git push:*)"])],
        })
    };
    let (after, report) = saved().restore(&edited);
    assert_eq!(may(&after, &AgentId::MAIN, host(), "git push"), Effect::Deny);
    assert_eq!(may(&after, &AgentId::MAIN, host(), "git log"), Effect::Allow);
    let narrowed: Vec<&str> = report.narrowed.iter().map(|it| it.skill.as_str()).collect();
    assert!(narrowed.contains(&"project:review") && narrowed.contains(&"project:deep"), "{report:?}");
    assert!(report.narrowed[0].because.starts_with("its content changed from"), "{report:?}");
    // `deep` took nothing away when it was saved.
    let deep = after.invoked.get(&child(), &id("deep")).expect("it came back");
    assert_eq!(deep.caveats.len(), 1);
    let mut after = after;
    let again = InvokedSkill::new(id("review"), "", "Review prod.", Digest::of(b"edited"), 0);
    assert_eq!(after.invoked.record(again), Recorded::New);
}

#[test]
fn what_is_gone_or_may_not_be_used_does_not_come_back_and_still_narrows() {
    let because = "its project is not trusted".to_owned();
    for (standing, expected) in
        [(Standing::Gone, "it is not there any more"), (Standing::Refused(because), "its project is not trusted")]
    {
        let (after, report) = saved().restore(&|_| standing.clone());
        assert!(after.invoked.is_empty());
        let refused: Vec<(&str, &str)> =
            report.refused.iter().map(|it| (it.skill.as_str(), it.because.as_str())).collect();
        assert_eq!(refused.len(), 2, "{refused:?}");
        assert!(refused.contains(&("project:review", expected)));
        let marks: Vec<String> = after.invoked.unloaded(&AgentId::MAIN).iter().map(|skill| skill.mark()).collect();
        assert!(marks.iter().any(|mark| mark.contains(expected)), "{marks:?}");
        assert_eq!(may(&after, &AgentId::MAIN, host(), "git push"), Effect::Deny, "its caveat stays");
        let active = after.scopes.of(&AgentId::MAIN);
        assert_eq!((active.model(), active.effort()), (None, None), "and its wishes do not");
    }
}

#[test]
fn a_forged_save_gives_no_more_than_the_host_gives_now() {
    let widened = |value: &mut Value| {
        for scope in value["scopes"].as_array_mut().expect("scopes") {
            for active in ["own", "inherited"] {
                for skill in scope[active].as_array_mut().expect("skills") {
                    skill["history"] = json!({"version": 1, "caveats": []});
                }
            }
        }
    };
    let (after, report) = forged(widened).expect("its digest is right").restore(&unchanged);
    assert_eq!(may(&after, &AgentId::MAIN, host(), "git push"), Effect::Deny, "the skill still says so itself");
    assert_eq!(report.narrowed[0].because, "the save leaves out what the skill takes away");
    let dropped = |value: &mut Value| value["scopes"] = json!([]);
    let (after, _) = forged(dropped).expect("its digest is right").restore(&unchanged);
    assert_eq!(may(&after, &AgentId::MAIN, host(), "rm x"), Effect::Deny, "the host does not grant it");
    let wished = Host::new([], Defaults::Nothing);
    assert_eq!(may(&after, &AgentId::MAIN, wished, "git log"), Effect::Deny);
    let renumbered = |value: &mut Value| value["invoked"][0]["sequence"] = json!(u64::MAX);
    let (mut after, _) = forged(renumbered).expect("its digest is right").restore(&unchanged);
    let next = InvokedSkill::new(id("next"), "", "", content(), 0);
    assert_eq!(after.invoked.record(next), Recorded::New);
    let grant = |value: &mut Value| value["scopes"][0]["own"][0]["allow"] = json!(["Bash"]);
    assert_eq!(forged(grant).expect_err("a scope has no such key").code(), "save-malformed");
}

#[test]
fn each_way_in_which_a_save_is_wrong_has_its_answer() {
    let bytes = saved().to_bytes().expect("small");
    let text = String::from_utf8(bytes.clone()).expect("JSON");
    let parse = |text: &str| Save::parse(text.as_bytes()).expect_err("it is no save");
    let code = |text: &str| parse(text).code();
    for end in (0..text.trim_end().len()).step_by(97) {
        assert_eq!(code(&text[..end]), "save-truncated", "{end}");
    }
    assert_eq!(code(&text.replace("Review prod", "Rewrite prod")), "save-changed");
    assert_eq!(code(&text.replacen("\"digest\":", "\"digests\":", 1)), "save-changed");
    assert_eq!(
        code(&text.replace("\"version\":1,", "\"version\":2,").replace("\"version\":1}", "\"version\":2}")),
        "save-from-the-future"
    );
    assert_eq!(
        code("{\"format\":\"skillgate-conversation\",\"version\":9,\"whole\":[\"other\"]}"),
        "save-from-the-future"
    );
    for other in ["{}", "[]", "7", "{\"format\":\"skillgate-conversation\"}", "{\"format\":\"x\",\"version\":1}"] {
        assert_eq!(code(other), "not-a-save", "{other}");
    }
    assert_eq!(code("{\"format\": skill"), "save-malformed");
    assert_eq!(code(&"[".repeat(100_000)), "save-malformed", "deeper than anything is read");
    let needs = |value: &mut Value| value["must_understand"] = json!(["leases"]);
    let error = forged(needs).expect_err("it is not understood");
    assert_eq!(error.to_string(), "the save needs a reader that knows `leases`, which this version does not");
    let many = |value: &mut Value| {
        value["usage"] = (0..10_001).map(|at| (at.to_string(), json!(1))).collect::<serde_json::Map<_, _>>().into();
    };
    assert_eq!(forged(many).expect_err("too many").code(), "save-too-many");
    for (field, wrong) in [("agent", json!("a\nb")), ("command", json!("../x")), ("source", json!("nowhere"))] {
        let error = forged(|value| value["invoked"][0][field] = wrong).expect_err("it is no name");
        assert_eq!(error.code(), "save-malformed", "{field}");
    }
    let future_history = |value: &mut Value| value["scopes"][0]["own"][0]["history"]["version"] = json!(2);
    assert!(forged(future_history).expect_err("unknown").to_string().contains("version 2"));
    for error in [parse("{"), parse("{}"), parse(&text.replace("prod", "x")), forged(needs).expect_err("unknown")] {
        assert!(error.help().is_some(), "{error}");
    }
}

/// A reader of today and a save of a later version that did not need another number: what is new is kept, and named.
#[test]
fn old_reader_new_data_and_old_writer_keep_what_they_do_not_know() {
    let later = |value: &mut Value| {
        value["mood"] = json!({"calm": true, "of": [1, "two"]});
        value["invoked"][1]["weight"] = json!(0.5);
        value["activation"]["since"] = json!(12);
    };
    let new = forged(later).expect("it is read");
    let (mut conversation, report) = new.restore(&unchanged);
    assert_eq!(report.unknown_fields, ["mood", "activation.since", "invoked[1].weight"]);
    // The old writer changes what it knows and writes the rest as it was.
    conversation.usage.insert("project:review".to_owned(), 8);
    let written = reparsed(&conversation.save(100).expect("it can be written"));
    assert_eq!(written.value()["mood"], new.value()["mood"]);
    assert_eq!(written.value()["activation"]["since"], json!(12));
    assert_eq!(written.restore(&unchanged).1.unknown_fields, report.unknown_fields);
    assert_eq!(written.value()["usage"]["project:review"], json!(8));
}

/// A reader of today and the least that the first version ever wrote. The digest is what another program gives for it.
#[test]
fn new_reader_old_data_takes_what_is_missing_as_nothing() {
    let old = json!({
        "format": "skillgate-conversation", "version": 1,
        "digest": "505977317b33246e2fcea12310062012356f3964a56447cf3425bc8daa4d805c",
        "invoked": [{
            "agent": "main", "source": "project", "command": "review", "path": "/p/review/SKILL.md", "sequence": 1,
            "loaded": {
                "text": "Review.", "digest": content().to_string(), "at_ms": 5, "history": {"version": 1, "caveats": []}
            }
        }]
    });
    let save = Save::from_value(old).expect("it is read");
    let (conversation, report) = save.restore(&unchanged);
    assert_eq!(conversation.invoked.of(&AgentId::MAIN)[0].text, "Review.");
    assert_eq!(conversation.invoked.of(&AgentId::MAIN)[0].presence(), Presence::Whole);
    assert_eq!((conversation.session_id, report.saved_by.as_str()), (None, ""));
    assert!(conversation.scopes.of(&AgentId::MAIN).is_empty() && conversation.usage.is_empty());
}

#[cfg(unix)]
#[test]
fn a_save_is_written_whole_for_its_owner_alone_and_read_back() {
    let home = tempfile::tempdir().expect("a directory");
    let path = home.path().join("saves/c1.json");
    assert!(Save::read_ambient(&path).expect("nothing is no error").is_none());
    saved().write_ambient(&path).expect("it is written");
    assert_eq!(Save::read_ambient(&path).expect("it is read"), Some(saved()));
    let mut later = conversation();
    later.usage.clear();
    later.save(100).expect("it can be written").write_ambient(&path).expect("it is replaced");
    assert_eq!(
        Save::read_ambient(&path).expect("it is read").expect("it is there").restore(&unchanged).0.usage,
        BTreeMap::new()
    );
    assert!(matches!(Save::read_ambient(Path::new("/")), Err(SaveError::State(StateError::PathNotUsable { .. }))));
    use std::os::unix::fs::PermissionsExt as _;
    #[expect(clippy::disallowed_methods, reason = "the test opens the directory to others")]
    std::fs::set_permissions(home.path().join("saves"), std::fs::Permissions::from_mode(0o755)).expect("a mode");
    let error = Save::read_ambient(&path).expect_err("others can reach it");
    assert!(error.code() == "save-file" && error.help().is_some(), "{error}");
}
