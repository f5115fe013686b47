//! Group H: what a conversation may do after it was saved, changed by somebody, and restored under another host.

use super::narrowing::WIDE;
use crate::case::{Act, Case, Group, Target};
use crate::random::Random;
use crate::skills::{Skills, bash, begin, call, called, decisions, within, words};
use crate::trial::{Trial, Trouble};
use serde_json::{Value, json};
use skillgate_policy::Effect;
use skillgate_runtime::{AgentId, CompactBudget, Runtime, Save, SaveError, Session, SessionOptions};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

const LIBRARY: &[Target] = &[Target::Library];

pub(super) const CASES: &[Case] = &[
    Case {
        id: 80,
        title: "a conversation that comes back under another host",
        group: Group::Narrowing,
        targets: LIBRARY,
        attempt: "save under a wide host and restore under a narrow one; save under a narrow host with a skill that narrows further, \
                  and restore under a wide one",
        control: "the first save under the wide host again, and the second after the turn has ended",
        denial: "what the narrow host denies stays denied, and what the skill took away stays taken away",
        sources: &["class: a grant that a history brings along"],
        limit: Duration::from_secs(20),
        act: Act::Here(other_host),
    },
    Case {
        id: 81,
        title: "a history that somebody changed",
        group: Group::Narrowing,
        targets: LIBRARY,
        attempt: "saves without their caveats, with wider ones, other digests, approvals, in another order, cut, of another version, \
                  or with a byte changed; with the digest computed anew and without",
        control: "the save as it was written, and with its digest computed anew, is restored with what its skills took away",
        denial: "refused, or never more than the host grants now; nothing runs",
        sources: &["class: a history that is trusted"],
        limit: Duration::from_secs(30),
        act: Act::Here(changed),
    },
    Case {
        id: 82,
        title: "any order of events",
        group: Group::Narrowing,
        targets: LIBRARY,
        attempt: "two thousand steps in an order of chance: call, unload, revoke, fork, end of a turn or an agent, compact, clear, \
                  save and restore under another host",
        control: "with no skill in use every decision is the host's own, and the steps have calls and restores among them",
        denial: "after each step no agent may more than the host grants now, and what a skill in use took away is denied",
        sources: &["class: a state that nobody thought of"],
        limit: Duration::from_secs(60),
        act: Act::Here(interleavings),
    },
];

/// Grants one command and reading.
const NARROW: &[(Effect, &str)] = &[(Effect::Allow, "Bash(args:*)"), (Effect::Allow, "Read"), (Effect::Allow, "Skill")];
/// Grants nothing but the use of skills.
const NOTHING: &[(Effect, &str)] = &[(Effect::Allow, "Skill")];

fn saved(session: &Session) -> Result<Save, Trouble> {
    session.save().map_err(|error| Trouble::Broken(format!("a conversation is not saved: {error}")))
}

fn write_skills(trial: &Trial<'_>) -> Result<(), Trouble> {
    trial.write_skill("plain", "", "Plain.")?;
    trial.write_skill("only-args", "allowed-tools: Bash(args:*)\n", "Only args.")?;
    trial.write_skill("no-canary", "disallowed-tools: Bash(canary)\n", "No canary.")?;
    trial.write_skill("forking", "context: fork\nallowed-tools: Bash(args:*)\n", "Look.")
}

fn other_host(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    write_skills(trial)?;
    let skills = trial.skills();
    let wide = skills.session(WIDE)?;
    let plain = called(&wide, "plain");
    trial.control("a skill is called under the wide host", "called", plain);
    let save = saved(&wide)?;
    let narrow = skills.session(NARROW)?;
    let own = decisions(&narrow, &AgentId::MAIN);
    let restored = narrow.restore(&save).restored.len();
    trial.control("skills that come back", "1", restored);
    let now = words(&decisions(&narrow, &AgentId::MAIN));
    trial.denied("decisions of the narrow host after the restore", &words(&own), now);
    trial.denied("a command of the wide host", "deny", bash(&narrow, &AgentId::MAIN, "canary"));
    let again = skills.session(WIDE)?;
    again.restore(&save);
    trial.control("the command under the wide host again", "allow", bash(&again, &AgentId::MAIN, "canary"));

    let narrow = skills.session(NARROW)?;
    let only = called(&narrow, "only-args");
    trial.control("a skill that narrows is called under the narrow host", "called", only);
    let wide = skills.session(WIDE)?;
    wide.restore(&saved(&narrow)?);
    trial.denied("what it takes away, under the wide host", "deny", bash(&wide, &AgentId::MAIN, "canary"));
    trial.control("what it leaves", "allow", bash(&wide, &AgentId::MAIN, "args x"));
    let _no_hooks = wide.user_message("go on");
    trial.control("what it took away, after its turn", "allow", bash(&wide, &AgentId::MAIN, "canary"));
    trial.denied("what ran", "", skills.ran());
    Ok(())
}

/// What somebody does to a save.
type Change = fn(&mut Value);

/// Every list of one name in a save, however deep.
fn each(value: &mut Value, name: &str, change: &dyn Fn(&mut Value)) {
    match value {
        Value::Object(members) => {
            for (key, value) in members.iter_mut() {
                if key == name {
                    change(value);
                }
                each(value, name, change);
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| each(value, name, change)),
        _ => {}
    }
}

fn reversed(value: &mut Value) {
    if let Some(list) = value.as_array_mut() {
        list.reverse();
    }
}

fn shortened(value: &mut Value) {
    if let Some(list) = value.as_array_mut() {
        list.pop();
    }
}

fn doubled(value: &mut Value) {
    if let Some(list) = value.as_array_mut() {
        list.extend(list.clone());
    }
}

const CHANGES: &[(&str, Change)] = &[
    ("without caveats", |save| each(save, "caveats", &|caveats| *caveats = json!([]))),
    ("without scopes", |save| save["scopes"] = json!([])),
    ("without histories", |save| each(save, "history", &|history| *history = Value::Null)),
    ("with wider patterns", |save| each(save, "patterns", &|patterns| *patterns = json!(["Bash", "Read", "Write"]))),
    ("with other digests", |save| each(save, "digest", &|digest| *digest = json!("0".repeat(64)))),
    ("with approvals", |save| save["approved"] = json!([["canary"], {"pattern": "Bash"}])),
    ("with approvals in its scopes", |save| {
        each(save, "own", &|own| {
            own.as_array_mut().into_iter().flatten().for_each(|it| it["approved"] = json!(["Bash"]))
        });
    }),
    ("with a host of its own", |save| save["host"] = json!({"allow": ["Bash"]})),
    ("with its scopes in another order", |save| each(save, "scopes", &reversed)),
    ("with its skills in another order", |save| each(save, "invoked", &reversed)),
    ("with its caveats in another order", |save| each(save, "caveats", &reversed)),
    ("with its scopes cut", |save| each(save, "scopes", &shortened)),
    ("with its skills cut", |save| each(save, "invoked", &shortened)),
    ("with its skills in use cut", |save| each(save, "own", &shortened)),
    ("with its skills twice", |save| each(save, "invoked", &doubled)),
    ("with its skills in use twice", |save| each(save, "own", &doubled)),
    ("of another agent", |save| each(save, "agent", &|agent| *agent = json!("main"))),
    ("of a later version", |save| save["version"] = json!(2)),
    ("that needs what nobody knows", |save| save["must_understand"] = json!(["grants"])),
];

/// The save after somebody changed it and computed its digest anew: anybody can, it says which save it is and not who wrote it.
fn forged(save: &Save, change: Change) -> Result<Save, SaveError> {
    let mut value = save.value().clone();
    let stated = value["digest"].take();
    change(&mut value);
    value["digest"] = stated;
    match Save::from_value(value.clone()) {
        Err(SaveError::Changed { found, .. }) => {
            value["digest"] = json!(found.to_string());
            Save::from_value(value)
        }
        other => other,
    }
}

/// Restores a save under the narrow host, and says whether that gave it more than the host grants.
fn outcome(skills: &Skills, save: Result<Save, SaveError>) -> Result<String, Trouble> {
    let save = match save {
        Ok(save) => save,
        Err(error) => return Ok(error.code().to_owned()),
    };
    let session = skills.session(NARROW)?;
    let own = decisions(&session, &AgentId::MAIN);
    session.restore(&save);
    let agents: Vec<AgentId> = [Ok(AgentId::MAIN), AgentId::new("fork-1")].into_iter().flatten().collect();
    let wider = agents.iter().find(|agent| !within(&decisions(&session, agent), &own));
    Ok(match wider {
        Some(agent) => format!("more than the host: {}", words(&decisions(&session, agent))),
        None => "within the host".to_owned(),
    })
}

fn changed(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    write_skills(trial)?;
    let skills = trial.skills();
    let session = skills.session(WIDE)?;
    for skill in ["plain", "only-args", "no-canary", "forking"] {
        let result = called(&session, skill);
        trial.control(format!("`{skill}` is called"), "called", result);
    }
    let save = saved(&session)?;
    let wide = skills.session(WIDE)?;
    let restored = forged(&save, |_| {}).map(|save| wide.restore(&save).restored.len());
    trial.control("skills of a save whose digest was computed anew", "Ok(4)", format!("{restored:?}"));
    trial.control("what they took away", "deny", bash(&wide, &AgentId::MAIN, "canary"));
    trial.control("what they left", "allow", bash(&wide, &AgentId::MAIN, "args x"));
    for (what, change) in CHANGES {
        let found = outcome(&skills, forged(&save, *change))?;
        let denied = found == "within the host" || found.contains("save");
        trial.denied_when(format!("a save {what}"), "refused, or within the host", denied, found);
        let mut value = save.value().clone();
        change(&mut value);
        if value != *save.value() {
            let found = Save::from_value(value).map_or_else(|error| error.code(), |_| "taken");
            let denied = found.contains("save");
            trial.denied_when(format!("a save {what}, with its old digest"), "refused", denied, found);
        }
    }
    let bytes = save.to_bytes().map_err(|error| Trouble::Broken(error.to_string()))?;
    let mut taken = 0;
    let mut random = Random::new(81);
    for _ in 0..500 {
        let cut = random.below(bytes.len() - 1);
        taken += usize::from(Save::parse(&bytes[..cut]).is_ok());
        let (mut other, at) = (bytes.clone(), random.below(bytes.len() - 1));
        other[at] = other[at].wrapping_add(1 + u8::try_from(random.below(254)).unwrap_or(0));
        taken += usize::from(Save::parse(&other).is_ok());
    }
    trial.denied("saves that are taken of 500 that were cut and 500 with another byte", "0", taken);
    trial.control("the save as it was written", "taken", Save::parse(&bytes).map_or("refused", |_| "taken"));
    trial.denied("what ran", "", skills.ran());
    Ok(())
}

/// What case 82 keeps beside the conversation: which skills the main agent has in use.
struct Walk {
    runtimes: Vec<(Arc<Runtime>, Vec<Effect>)>,
    host: usize,
    session: Arc<Session>,
    in_use: BTreeSet<&'static str>,
    agents: Vec<AgentId>,
    calls: u32,
    restores: u32,
    as_the_host: u32,
}

const WALKED: &[&str] = &["plain", "only-args", "no-canary"];
const STEPS: usize = 2_000;
/// Agents at once; more would only be like these.
const MOST_AGENTS: usize = 4;

impl Walk {
    fn new(skills: &Skills) -> Result<Self, Trouble> {
        let mut runtimes = Vec::new();
        for rules in [WIDE, NARROW, NOTHING] {
            let runtime = skills.runtime(rules)?.open().map_err(|error| Trouble::Broken(error.to_string()))?;
            let own = decisions(&runtime.session(SessionOptions::default()), &AgentId::MAIN);
            runtimes.push((runtime, own));
        }
        let session = begin(skills.runtime(WIDE)?)?;
        let (in_use, agents) = (BTreeSet::new(), Vec::new());
        Ok(Self { runtimes, host: 0, session, in_use, agents, calls: 0, restores: 0, as_the_host: 0 })
    }

    fn agent(&self, random: &mut Random) -> AgentId {
        let at = random.below(self.agents.len() + 1);
        self.agents.get(at).cloned().unwrap_or(AgentId::MAIN)
    }

    /// One step; what it was.
    fn step(&mut self, random: &mut Random) -> Result<&'static str, Trouble> {
        let skill = WALKED[random.below(WALKED.len())];
        let agent = self.agent(random);
        match random.below(12) {
            0..=3 => {
                if call(&self.session, skill, &agent).is_ok() {
                    self.calls += 1;
                    if agent.is_main() {
                        self.in_use.insert(skill);
                    }
                }
                Ok("call")
            }
            4 => {
                let _mark = self.session.unload(&agent, skill);
                if agent.is_main() {
                    self.in_use.remove(skill);
                }
                Ok("unload")
            }
            5 => {
                let _marks = self.session.revoke(skill);
                self.in_use.remove(skill);
                Ok("revoke")
            }
            6 => {
                let _no_hooks = self.session.user_message("go on");
                self.in_use.clear();
                Ok("the end of a turn")
            }
            7 => {
                if self.agents.len() < MOST_AGENTS
                    && let Ok(result) = call(&self.session, "forking", &agent)
                    && let Some(request) = result.fork_request
                {
                    self.agents.push(request.agent);
                }
                Ok("a fork")
            }
            8 => {
                if !self.agents.is_empty() {
                    let ended = self.agents.swap_remove(random.below(self.agents.len()));
                    let fork = ended.to_string();
                    // Where it was begun in the conversation that this one was restored from, it only ends.
                    if self.session.deliver_fork(&fork, "done").is_err() {
                        self.session.end_agent(&ended);
                    }
                }
                Ok("the end of an agent")
            }
            9 => {
                let options = self.session.listing_options(2_000);
                let _text = self.session.compact(&agent, CompactBudget::default(), &options);
                Ok("a compaction")
            }
            10 => {
                self.session.clear(&[]);
                self.in_use.clear();
                self.agents.clear();
                Ok("a new conversation")
            }
            _ => {
                let save = saved(&self.session)?;
                self.host = random.below(self.runtimes.len());
                let options = SessionOptions::default().host_runs_forks(true);
                self.session = self.runtimes[self.host].0.session(options);
                self.session.restore(&save);
                self.restores += 1;
                Ok("a restore")
            }
        }
    }

    /// What is wrong after a step, if anything is.
    fn wrong(&mut self) -> Option<String> {
        let host = &self.runtimes[self.host].1;
        for agent in self.agents.iter().chain([&AgentId::MAIN]) {
            let now = decisions(&self.session, agent);
            if !within(&now, host) {
                return Some(format!("{agent} may {}, and the host says {}", words(&now), words(host)));
            }
        }
        let main = decisions(&self.session, &AgentId::MAIN);
        if self.in_use.iter().all(|skill| *skill == "plain") {
            self.as_the_host += 1;
            return (main != *host).then(|| format!("with nothing taken away, main may {}", words(&main)));
        }
        let canary = bash(&self.session, &AgentId::MAIN, "canary");
        (canary != Effect::Deny).then(|| format!("`canary` is {canary} with {:?} in use", self.in_use))
    }
}

fn interleavings(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    write_skills(trial)?;
    let skills = trial.skills();
    let mut walk = Walk::new(&skills)?;
    let mut random = Random::new(82);
    let mut wrong = None;
    for at in 0..STEPS {
        let step = walk.step(&mut random)?;
        if let Some(found) = walk.wrong() {
            wrong = Some(format!("after step {at}, {step}: {found}"));
            break;
        }
    }
    let found = wrong.unwrap_or_else(|| "none".to_owned());
    trial.denied("a step after which somebody may more", "none", found);
    trial.denied("what ran", "", skills.ran());
    for (what, count) in [
        ("calls", walk.calls),
        ("restores", walk.restores),
        ("times that main may what the host grants", walk.as_the_host),
    ] {
        trial.control_when(format!("{what} among the steps"), "at least 50", count >= 50, count);
    }
    Ok(())
}
