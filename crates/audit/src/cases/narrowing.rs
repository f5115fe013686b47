//! Group H: what a skill's header takes away, that it gives nothing, and that what is taken back does not run.

use crate::case::{Act, Case, Group, Target};
use crate::guest::{self, Entry, component};
use crate::native::PROBES;
use crate::skills::{bash, call, called, decisions, shown, words};
use crate::trial::{Setting, Trial, Trouble};
use serde_json::json;
use skillgate_core::Severity;
use skillgate_policy::{Effect, Invoker};
use skillgate_runtime::{AgentId, InvokeRequest, Session, ToolCall};
use std::time::Duration;

const LIBRARY: &[Target] = &[Target::Library];
const LIMIT: Duration = Duration::from_secs(20);
const ALL: &[Target] = &[Target::Wasm, Target::Host, Target::Library];

pub(super) const CASES: &[Case] = &[
    Case {
        id: 77,
        title: "a skill that lists more than the host grants",
        group: Group::Narrowing,
        targets: LIBRARY,
        attempt: "skills list every command, writing and the network, under a host that grants one command and asks about another",
        control: "the same skills under a host that grants all of it",
        denial: "what tools may do is what it was before, a command that only the list names is refused, and the skill is told",
        sources: &["class: authority from a file that the attacker writes"],
        limit: LIMIT,
        act: Act::Here(more_than_granted),
    },
    Case {
        id: 78,
        title: "a skill that lists less",
        group: Group::Narrowing,
        targets: LIBRARY,
        attempt: "a skill lists one command; another one is tried by its injection, its hooks, a host's tool, a nested skill, the hook \
                  of a skill that was there before, and an agent of its own",
        control: "the same acts without the list",
        denial: "each is refused, and the command does not run",
        sources: &["class: a restriction that covers one way only"],
        limit: LIMIT,
        act: Act::Here(less_than_granted),
    },
    Case {
        id: 79,
        title: "lists that are absent, empty, malformed, or there twice",
        group: Group::Narrowing,
        targets: LIBRARY,
        attempt: "skills whose list is empty, an empty text, a map, a list of lists, there twice, or has no entry that can be read",
        control: "without a list a command runs, and the host's tools may do what the host grants",
        denial: "nothing is permitted, to injections and to the host's tools; what cannot be read as a whole is an error",
        sources: &["class: a restriction that fails open"],
        limit: LIMIT,
        act: Act::Here(lists),
    },
    Case {
        id: 83,
        title: "what is taken back between the decision and the run",
        group: Group::Narrowing,
        targets: ALL,
        attempt: "a command is approved, its grant is taken back, and it is run; library: also a skill that was decided on, and the \
                  hook of a skill",
        control: "the same without taking it back",
        denial: "refused as revoked, and nothing ran",
        sources: &["class: time of check and time of use"],
        limit: Duration::from_secs(30),
        act: Act::Here(revoked),
    },
];

/// Everything that the cases try.
pub(super) const WIDE: &[(Effect, &str)] = &[
    (Effect::Allow, "Bash"),
    (Effect::Allow, "Read"),
    (Effect::Allow, "Write"),
    (Effect::Allow, "WebFetch"),
    (Effect::Allow, "mcp__notes__*"),
    (Effect::Allow, "Skill"),
];

/// What a command gives that no rule grants.
const UNGRANTED: &str = "refused: no rule grants it";

fn more_than_granted(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let everything = "allowed-tools: Bash, Read, Write, WebFetch, mcp__notes__*\n";
    trial.write_skill("greedy", everything, "Take it.")?;
    trial.write_skill("running", everything, "!`canary`")?;
    trial.write_skill("beyond", "allowed-tools: Bash(canary)\n", "Take it.")?;
    let narrow = [
        (Effect::Allow, "Bash(args:*)"),
        (Effect::Ask, "Bash(git:*)"),
        (Effect::Allow, "Read"),
        (Effect::Allow, "Skill"),
    ];
    let skills = trial.skills();
    let session = skills.session(&narrow)?;
    let before = decisions(&session, &AgentId::MAIN);
    let greedy = called(&session, "greedy");
    trial.control("a skill with a long list is called", "called", greedy);
    let after = decisions(&session, &AgentId::MAIN);
    trial.denied("what the host's tools may do with it in use", &words(&before), words(&after));
    trial.denied("a command that only its list names", UNGRANTED, called(&session, "running"));
    trial.denied("what ran", "", skills.ran());
    let told = call(&session, "beyond", &AgentId::MAIN).map(|result| result.diagnostics).unwrap_or_default();
    let told = told.iter().any(|found| found.code.to_string() == "allowed-tools-exceeds-grant");
    trial.denied_when("a list of which nothing is granted", "allowed-tools-exceeds-grant", told, told);

    let session = skills.session(WIDE)?;
    trial.control("the command where the host grants it", "called", called(&session, "running"));
    trial.control("and it ran", "canary", skills.ran());
    let all = vec![Effect::Allow; before.len()];
    trial.control("what tools may do there", &words(&all), words(&decisions(&session, &AgentId::MAIN)));
    Ok(())
}

/// One hook that runs a program.
fn hook(event: &str, program: &str) -> String {
    format!(
        "hooks:\n  {event}:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: {program:?}\n"
    )
}

/// Tells the hooks of a tool's output.
fn tool_was_used(session: &Session) {
    let used = ToolCall::new("Bash", json!({"command": "args x"}));
    let _said = session.after_tool(&used, &json!("x"), false);
}

fn less_than_granted(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let list = "allowed-tools: Bash(args:*)\n";
    for (suffix, list) in [("", list), ("-wide", "")] {
        trial.write_skill(&format!("injecting{suffix}"), list, "!`canary`")?;
        trial.write_skill(
            &format!("guarding{suffix}"),
            &format!("{list}{}", hook("PreToolUse", "canary")),
            "Guard.",
        )?;
        trial.write_skill(
            &format!("watching{suffix}"),
            &format!("{list}{}", hook("PostToolUse", "canary")),
            "Watch.",
        )?;
        trial.write_skill(&format!("forking{suffix}"), &format!("{list}context: fork\n"), "Look.")?;
        trial.write_skill(&format!("narrow{suffix}"), list, "Be narrow.")?;
    }
    for (suffix, granted) in [("", false), ("-wide", true)] {
        let name = |skill: &str| format!("{skill}{suffix}");
        let note = |trial: &mut Trial<'_>, what: &str, denied: &str, allowed: &str, found: String| {
            if granted { trial.control(what, allowed, found) } else { trial.denied(what, denied, found) }
        };
        // Its own.
        let skills = trial.skills();
        let session = skills.session(WIDE)?;
        let injecting = head(&called(&session, &name("injecting")));
        note(trial, "its injection", "refused: project:injecting", "called", injecting);
        let guarding = called(&session, &name("guarding"));
        note(trial, "its hook that can block", "hooks", "called", guarding);
        let session = skills.session(WIDE)?;
        let ran = skills.ran();
        let watching = called(&session, &name("watching"));
        trial.control(format!("the skill `{}` is called", name("watching")), "called", watching);
        tool_was_used(&session);
        let added = skills.ran().strip_prefix(&ran).unwrap_or_default().trim().to_owned();
        note(trial, "its hook that watches", "", "canary", added);

        // What comes after it and what was there before.
        let skills = trial.skills();
        let session = skills.session(WIDE)?;
        let watching = called(&session, "watching-wide");
        trial.control("a skill with a hook is called first", "called", watching);
        let narrow = called(&session, &name("narrow"));
        trial.control(format!("then `{}`", name("narrow")), "called", narrow);
        tool_was_used(&session);
        note(trial, "the hook of the first", "", "canary", skills.ran());
        let nested = head(&called(&session, "injecting-wide"));
        note(trial, "a nested skill", "refused: project:narrow", "called", nested);
        let tool = bash(&session, &AgentId::MAIN, "canary").to_string();
        note(trial, "a tool of the host", "deny", "allow", tool);

        // Agents of skills.
        for (first, fork) in [(None, "forking"), (Some("narrow"), "forking-wide")] {
            let skills = trial.skills();
            let session = skills.session(WIDE)?;
            let fork = if first.is_some() { fork.to_owned() } else { name(fork) };
            if let Some(first) = first {
                let first = called(&session, &name(first));
                trial.control("the skill that the agent begins below", "called", first);
            }
            let request = call(&session, &fork, &AgentId::MAIN).ok().and_then(|result| result.fork_request);
            let Some(request) = request else { return Err(Trouble::Broken(format!("`{fork}` gives no agent"))) };
            let tool = bash(&session, &request.agent, "canary").to_string();
            note(trial, &format!("a tool of an agent of `{fork}`"), "deny", "allow", tool);
            let nested = head(&shown(&call(&session, "injecting-wide", &request.agent)));
            let by = if first.is_some() { "refused: project:narrow" } else { "refused: project:forking" };
            note(trial, &format!("a nested skill in an agent of `{fork}`"), by, "called", nested);
            note(trial, &format!("what ran for an agent of `{fork}`"), "", "canary", skills.ran());
        }
    }
    Ok(())
}

/// A refusal without what the header says: by which skill it is.
fn head(shown: &str) -> String {
    let mut parts = shown.splitn(4, ':');
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some("refused"), Some(source), Some(skill), Some(_)) => format!("refused:{source}:{skill}"),
        _ => shown.to_owned(),
    }
}

fn lists(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    const ABSENT: &str = "absent";
    let forms = [
        (ABSENT, "", false),
        ("empty", "allowed-tools: []\n", false),
        ("an-empty-text", "allowed-tools: \"\"\n", false),
        ("a-map", "allowed-tools: {Bash: true}\n", true),
        ("lists-of-lists", "allowed-tools: [[Bash], {Bash: b}]\n", false),
        ("there-twice", "allowed-tools: Bash\nallowed-tools: Bash\n", true),
        ("nothing-readable", "allowed-tools: [\"Bash(args * x)\"]\n", false),
    ];
    for (form, header, _) in forms {
        trial.write_skill(&format!("{form}-running"), header, "!`args x`")?;
        trial.write_skill(form, header, "Text.")?;
    }
    for (form, _, is_error) in forms {
        let skills = trial.skills();
        let running = head(&called(&*skills.session(WIDE)?, &format!("{form}-running")));
        let session = skills.session(WIDE)?;
        let text = called(&session, form);
        trial.control(format!("a skill of text whose list is `{form}`"), "called", text);
        let tools = words(&decisions(&session, &AgentId::MAIN));
        let count = tools.split(' ').count();
        if form == ABSENT {
            trial.control("an injection without a list", "called", running);
            trial.control("the host's tools without a list", &words(&vec![Effect::Allow; count]), tools);
            trial.control("what ran", "args", skills.ran());
            continue;
        }
        let by = format!("refused: project:{form}-running");
        trial.denied(format!("an injection, the list `{form}`"), &by, running);
        let nothing = words(&vec![Effect::Deny; count]);
        trial.denied(format!("the host's tools, the list `{form}`"), &nothing, tools);
        trial.denied(format!("what ran, the list `{form}`"), "", skills.ran());
        if is_error {
            let catalogue = session.catalogue();
            let mut found = catalogue.named(form).iter().flat_map(|entry| &entry.skill().diagnostics);
            let said = found.any(|found| found.severity == Severity::Error);
            trial.denied_when(format!("that is said of the list `{form}`"), "an error", said, said);
        }
    }
    Ok(())
}

fn revoked(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let (setting, vector): (Setting, &[&str]) = match trial.subject.target() {
        Target::Wasm => (Setting::new().guest("probe", component(guest::PLAIN, Entry::Control)), &["probe"]),
        Target::Host => (trial.with_probes()?, &[PROBES, "nothing"]),
        Target::Library => (Setting::new(), &["canary"]),
    };
    let backend = trial.backend(&setting)?;
    let quiet = trial.vector_on(backend.as_ref(), vector, &setting)?;
    trial.control("a command that is not taken back", "exit 0", &quiet.ended);
    let late = trial.vector_after(backend.as_ref(), vector, &setting, |gate| gate.revocation().revoke())?;
    trial.denied("a command that is taken back after it was approved", "refused: revoked", &late.ended);
    trial.denied("bytes that it wrote", "0", late.written);
    if trial.subject.target() == Target::Library { revoked_skills(trial) } else { Ok(()) }
}

fn revoked_skills(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    trial.write_skill("running", "", "!`canary`")?;
    trial.write_skill("watching", &hook("PostToolUse", "canary"), "Watch.")?;
    for revoked in [false, true] {
        let skills = trial.skills();
        let session = skills.session(WIDE)?;
        let plan = session.prepare(&InvokeRequest::new("running", Invoker::Model));
        let plan = plan.map_err(|error| Trouble::Broken(format!("a skill is not decided on: {error}")))?;
        let watching = called(&session, "watching");
        trial.control("a skill with a hook is called", "called", watching);
        if revoked {
            for skill in ["running", "watching"] {
                let _marks = session.revoke(skill);
            }
        }
        let run = shown(&session.run(plan));
        tool_was_used(&session);
        if revoked {
            trial.denied("a skill that is taken back after it was decided on", "revoked", run);
            trial.denied("what ran", "", skills.ran());
        } else {
            trial.control("a skill that is not taken back", "called", run);
            trial.control("what ran with its hook", "canary canary", skills.ran());
        }
    }
    Ok(())
}
