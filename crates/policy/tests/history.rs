//! Saved histories, whole and forged: what comes back is never more than the host allows now.

use skillgate_core::{CommandName, Digest, SkillId, Source};
use skillgate_policy::{
    Action, Authority, Caveat, CaveatKind, Effect, History, HistoryChange, Host, Place, PresentSkill, Provider, Rule,
    ToolPattern,
};

fn skill() -> SkillId {
    SkillId::new(Source::User, CommandName::new("s").expect("a name"))
}

fn only(digest: &[u8], texts: &[&str]) -> Caveat {
    let patterns = texts.iter().map(|text| ToolPattern::parse(text).expect("a pattern")).collect();
    let kind = CaveatKind::Only { patterns, unreadable: Vec::new() };
    Caveat { skill: skill(), digest: Digest::of(digest), kind }
}

fn host(texts: &[&str]) -> Host {
    Host::granting(texts.iter().map(|text| Rule::parse(Effect::Allow, text, Place::Host).expect("a rule")))
}

fn allowed(authority: &Authority, line: &str) -> bool {
    authority.decide(&Action::command(line.split(' '), Provider::Shipped)).effect == Effect::Allow
}

fn present(caveat: &Caveat) -> Option<PresentSkill> {
    Some(PresentSkill { digest: caveat.digest, caveats: vec![caveat.clone()] })
}

fn history(texts: &[&str]) -> History {
    History::of(&Authority::of(host(&["Bash"])).with(only(b"1", texts)))
}

#[test]
fn a_history_is_read_as_it_was_written() {
    let history = history(&["Bash(ls:*)"]);
    let text = serde_json::to_string(&history).expect("plain data");
    assert_eq!(serde_json::from_str::<History>(&text).expect("the same form"), history);
    assert!(!text.contains("allow") && !text.contains("host"), "no grant is saved: {text}");
}

#[test]
fn the_host_now_and_the_skill_then_both_hold() {
    let now = only(b"1", &["Bash(ls:*)"]);
    let wide = history(&["Bash(ls:*)"]).restore(host(&["Bash"]), |_| present(&now));
    assert!(allowed(&wide.authority, "ls -l") && !allowed(&wide.authority, "git log"));
    assert_eq!(wide.changes, []);
    let narrow = history(&["Bash(ls:*)"]).restore(host(&["Bash(git:*)"]), |_| present(&now));
    assert!(!allowed(&narrow.authority, "ls -l") && !allowed(&narrow.authority, "git log"));
}

#[test]
fn another_content_keeps_the_old_caveat_and_adds_the_new() {
    let now = only(b"2", &["Bash(ls:*)", "Bash(git:*)"]);
    let restored = history(&["Bash(ls:*)", "Bash(cp:*)"]).restore(host(&["Bash"]), |_| present(&now));
    let changed = HistoryChange::Edited { skill: skill(), saved: Digest::of(b"1"), present: Digest::of(b"2") };
    assert_eq!(restored.changes, [changed]);
    for (line, may) in [("ls", true), ("git log", false), ("cp a b", false)] {
        assert_eq!(allowed(&restored.authority, line), may, "{line}");
    }
    let gone = history(&["Bash(ls:*)"]).restore(host(&["Bash"]), |_| None);
    assert_eq!(gone.changes, [HistoryChange::Gone { skill: skill() }]);
    assert!(allowed(&gone.authority, "ls") && !allowed(&gone.authority, "cp a b"));
}

#[test]
fn a_widened_caveat_of_a_skill_that_is_there_is_found_and_changes_nothing() {
    let now = only(b"1", &["Bash(ls:*)"]);
    let restored = history(&["Bash"]).restore(host(&["Bash"]), |_| present(&now));
    assert_eq!(restored.changes, [HistoryChange::Altered { skill: skill() }]);
    assert!(allowed(&restored.authority, "ls") && !allowed(&restored.authority, "cp a b"));
}

#[test]
fn what_is_no_history_says_why() {
    let good = serde_json::to_value(history(&["Bash(ls:*)"])).expect("plain data");
    let with = |key: &str, value: serde_json::Value| {
        let mut changed = good.clone();
        changed[key] = value;
        serde_json::from_value::<History>(changed).map_err(|error| error.to_string())
    };
    assert!(with("version", 1.into()).is_ok(), "the control");
    let many = vec![good["caveats"][0].clone(); 4_097];
    for (key, value, reason) in [
        ("version", 2.into(), "version 2"),
        ("caveats", many.into(), "4097 caveats"),
        ("grants", serde_json::json!(["Bash"]), "unknown field `grants`"),
        ("caveats", serde_json::json!([{ "approved": true }]), "unknown field `approved`"),
    ] {
        let error = with(key, value).expect_err(reason);
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn what_cannot_be_read_takes_away() {
    let mut saved = serde_json::to_value(history(&["Bash(ls:*)", "Bash(cp:*)"])).expect("plain data");
    saved["caveats"][0]["kind"]["only"]["patterns"][0] = "Bash(ls".into();
    let read = serde_json::from_value::<History>(saved.clone()).expect("a history");
    let restored = read.restore(host(&["Bash"]), |_| None).authority;
    assert!(!allowed(&restored, "ls") && allowed(&restored, "cp a b"));
    saved["caveats"][0]["kind"] = serde_json::json!({ "without": { "patterns": ["Bash(ls"] } });
    let read = serde_json::from_value::<History>(saved).expect("a history");
    assert!(!allowed(&read.restore(host(&["Bash"]), |_| None).authority, "cp a b"));
}
