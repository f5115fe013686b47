//! What users of other skill systems ran into, where it is the policy that answers.

use skillgate_core::{CommandName, Digest, Field, Frontmatter, Guarded, SkillId, Source, Span};
use skillgate_policy::{
    Action, Authority, Caveat, Ceiling, CommandRequest, Conjunct, Defaults, Effect, Explanation, Gate, Host, Place,
    PreApproval, Provider, RefusalReason, Restriction, Rule, ToolPattern,
};

fn rule(effect: Effect, text: &str) -> Rule {
    Rule::parse(effect, text, Place::Host).expect(text)
}

fn pattern(text: &str) -> ToolPattern {
    ToolPattern::parse(text).expect(text)
}

fn list(entries: &[&str]) -> Guarded<Vec<Field<String>>> {
    let fields = entries.iter().map(|entry| Field::new((*entry).to_owned(), Span::default())).collect();
    Guarded::Present(Field::new(fields, Span::default()))
}

fn skill(source: Source) -> SkillId {
    SkillId::new(source, CommandName::new("s").expect("a name"))
}

/// The authority of a skill that is active, with its pre-approval where the host gives one.
fn active(host: Host, source: Source, allowed: Option<&[&str]>, disallowed: &[&str]) -> Authority {
    let mut header = Frontmatter::default();
    if let Some(allowed) = allowed {
        header.allowed_tools = list(allowed);
    }
    if !disallowed.is_empty() {
        header.disallowed_tools = list(disallowed);
    }
    let caveats = Caveat::of_header(&skill(source), Digest::of(b""), &header, false);
    caveats.into_iter().fold(Authority::of(host), Authority::with).pre_approved_by(&skill(source), &header)
}

fn command(line: &str) -> Action {
    Action::command(line.split(' '), Provider::Shipped)
}

fn pre_approving(host: Host, tools: &[&str]) -> Host {
    let tools = tools.iter().map(|text| pattern(text)).collect();
    host.pre_approve(PreApproval { sources: vec![Source::Managed], tools })
}

#[test]
fn complaint_49_a_list_of_tools_narrows_and_says_so() {
    let host = Host::granting([rule(Effect::Allow, "Read"), rule(Effect::Allow, "Write(out/**)")]);
    let write = Action::of_tool("Write", Some("out/x"));
    assert_eq!(Authority::of(host.clone()).decide(&write).effect, Effect::Allow);
    let decision = active(host, Source::User, Some(&["Read"]), &[]).decide(&write);
    assert_eq!(decision.effect, Effect::Deny);
    assert!(decision.reasons[0].says.contains("`allowed-tools` lists only Read"), "{decision:?}");
}

#[test]
fn complaint_50_the_command_that_fails_the_rule_is_named() {
    let authority = Authority::of(Host::granting([rule(Effect::Allow, "Bash(mkdir:*)")]));
    let parts = ["mkdir a", "rm a"].map(|line| authority.explain(&command(line)));
    let whole = Explanation::of_parts("mkdir a && rm a", parts.into());
    assert_eq!(whole.effect, Effect::Deny);
    assert!(whole.because.starts_with("command 2 of 2, `rm a`: "), "{}", whole.because);
    assert_eq!(whole.remedy.as_deref(), Some("Bash(rm:*)"));
    assert!(whole.to_string().contains("mkdir a: allow"), "{whole}");
}

#[test]
fn complaint_51_what_a_skill_may_do_ends_with_the_skill() {
    let host = pre_approving(Host::granting([rule(Effect::Ask, "Bash(gh:*)")]), &["Bash"]);
    let deploy = active(host.clone(), Source::Managed, Some(&["Bash(gh:*)"]), &[]);
    assert_eq!(deploy.decide(&command("gh pr")).effect, Effect::Allow);
    assert_eq!(deploy.decide(&command("git log")).effect, Effect::Deny);
    assert_eq!(Authority::of(host).decide(&command("gh pr")).effect, Effect::Ask);
}

#[test]
fn complaint_55_a_removal_wins_over_every_grant() {
    let host = pre_approving(Host::granting([rule(Effect::Allow, "Edit")]), &["Edit"]);
    let edit = Action::of_tool("Edit", Some("src/x"));
    assert_eq!(Authority::of(host.clone()).decide(&edit).effect, Effect::Allow);
    let authority = active(host, Source::Managed, Some(&["Edit"]), &["Edit"]);
    assert_eq!(authority.decide(&edit).effect, Effect::Deny);
    assert!(!authority.path_rules().may_write("src/x"));
}

#[test]
fn complaint_56_nobody_answers_for_the_user_in_advance() {
    let host = pre_approving(
        Host::granting([rule(Effect::Ask, "AskUserQuestion"), rule(Effect::Ask, "WebSearch")]),
        &["AskUserQuestion", "WebSearch"],
    );
    let authority = active(host, Source::Managed, Some(&["AskUserQuestion", "WebSearch"]), &[]);
    assert_eq!(authority.decide(&Action::of_tool("WebSearch", None)).effect, Effect::Allow, "the control");
    assert_eq!(authority.decide(&Action::of_tool("AskUserQuestion", None)).effect, Effect::Ask);
}

#[test]
fn complaint_57_a_managed_ask_goes_before_a_skills_list() {
    let own = [rule(Effect::Allow, "Bash(rm:*)"), rule(Effect::Ask, "Bash(mv:*)")];
    let host = Host::granting(own).under(Ceiling::new(vec![rule(Effect::Ask, "Bash(rm *)")], false));
    let authority = active(pre_approving(host, &["Bash"]), Source::Managed, Some(&["Bash(rm:*)", "Bash(mv:*)"]), &[]);
    assert_eq!(authority.decide(&command("mv a b")).effect, Effect::Allow, "the host's own ask is answered");
    let decision = authority.decide(&command("rm x"));
    assert_eq!(decision.effect, Effect::Ask);
    assert_eq!(decision.reasons[0].conjunct, Conjunct::Managed);
    let refused = Gate::new(authority).approve(CommandRequest::from_author(&["rm", "x"], Provider::Shipped));
    assert!(matches!(refused.map_err(|refusal| refusal.reason), Err(RefusalReason::Unanswered(_))));
}

#[test]
fn complaint_58_what_a_list_leaves_out_is_refused_for_every_kind_of_action() {
    let everything = ["Bash", "Read", "Write", "WebFetch", "mcp__a__*", "Skill"].map(|text| rule(Effect::Allow, text));
    let host = Host::granting(everything);
    let network = Action::Network { host: "example.com".to_owned(), url: None };
    let nested = Action::Skill { source: Source::User, name: "x".to_owned() };
    for action in [
        command("ls"),
        Action::of_tool("Read", Some("a")),
        Action::of_tool("Write", Some("a")),
        network,
        Action::of_tool("mcp__a__b", None),
        nested,
    ] {
        assert_eq!(Authority::of(host.clone()).decide(&action).effect, Effect::Allow, "{action}");
        let narrowed = active(host.clone(), Source::User, Some(&["Glob"]), &[]);
        assert_eq!(narrowed.decide(&action).effect, Effect::Deny, "{action}");
        assert_eq!(narrowed.explain(&action).effect, Effect::Deny, "{action}");
    }
}

#[test]
fn a_pre_approval_stays_inside_its_sources_its_tools_and_its_parents() {
    let asks = Host::granting([rule(Effect::Ask, "Bash")]);
    let host = pre_approving(asks.clone(), &["Bash(git:*)"]);
    let effect = |authority: &Authority, line: &str| authority.decide(&command(line)).effect;
    let list: Option<&[&str]> = Some(&["Bash(git:*)", "Bash(gh:*)"]);
    let managed = active(host.clone(), Source::Managed, list, &[]);
    assert_eq!(effect(&managed, "git log"), Effect::Allow);
    assert_eq!(effect(&managed, "gh pr"), Effect::Ask, "the host names git alone");
    assert_eq!(effect(&managed, "git -c a=b log"), Effect::Deny, "a prefix does not list what carries");
    assert_eq!(effect(&active(host.clone(), Source::User, list, &[]), "git log"), Effect::Ask, "another source");
    assert_eq!(effect(&active(asks, Source::Managed, list, &[]), "git log"), Effect::Ask, "no such host");
    let denied = host.restricted([Restriction::deny(pattern("Bash(git push:*)"), Place::Host)]);
    let denied = active(denied, Source::Managed, list, &[]);
    assert_eq!(effect(&denied, "git push"), Effect::Deny);
    // A skill that another invokes gains nothing its parent did not have.
    let parent = active(pre_approving(Host::granting([rule(Effect::Ask, "Bash")]), &["Bash"]), Source::User, list, &[]);
    assert_eq!(effect(&parent, "git log"), Effect::Ask);
    let header = Frontmatter { allowed_tools: self::list(&["Bash(git:*)"]), ..Frontmatter::default() };
    let id = skill(Source::Managed);
    let child = Caveat::of_header(&id, Digest::of(b""), &header, false).into_iter().fold(parent, Authority::with);
    assert_eq!(effect(&child.pre_approved_by(&id, &header), "git log"), Effect::Ask);
}

#[test]
fn an_account_names_the_rules_that_matched_and_those_that_were_near() {
    let host = Host::new(
        [rule(Effect::Allow, "Bash(git status:*)"), rule(Effect::Deny, "Bash(git push:*)")],
        Defaults::Nothing,
    );
    let host = host.under(Ceiling::new(vec![rule(Effect::Allow, "Bash(git:*)")], true));
    let explained = active(host, Source::User, Some(&["Bash(git:*)"]), &[]).explain(&command("git push origin"));
    assert_eq!(explained.effect, Effect::Deny);
    let text = explained.to_string();
    for expected in [
        "matches: deny Bash(git push:*) (host)",
        "near: allow Bash(git status:*) (host) wants `status` as word 2, not `push`",
        "managed policy: -: it leaves the decision to those below",
        "skill user:s: -: it does not take this away",
    ] {
        assert!(text.contains(expected), "{expected} in\n{text}");
    }
    let json = serde_json::to_value(&explained).expect("plain data");
    assert_eq!(json["accounts"].as_array().map(Vec::len), Some(4));
}
