//! A real conversation beside a simple model of it: skills are called, used up, taken back and forked, the conversation is
//! compacted, saved and restored under other hosts. After every step each agent may do exactly what the model says, and as many
//! commands have run.
//!
//! `SKILLGATE_LONG` makes it many more steps, `SKILLGATE_SEED` repeats a run.

use crate::model::{ACTIONS, Agent, Expected, FORKS, GIT, GUARD, HOSTS, Model, NOTE, PUSH, RUNS, SKILLS, WATCH};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};
use skillgate_exec::{Backend, CapabilityShell, Exit, Job, RunError};
use skillgate_policy::{Approved, Effect, Host, Invoker, Place, Provider, Rule};
use skillgate_runtime::{
    AgentId, CompactBudget, Runtime, Save, Session, SessionOptions, SkillCall, SkillStatus, ToolCall,
};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher as _, Hasher as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Agents at once; more would only be like these.
const MOST_AGENTS: usize = 5;

/// Agents are counted among those there are, from the start again where there are fewer.
#[derive(Clone, Debug)]
enum Step {
    Call { agent: usize, skill: usize, by_model: bool },
    ToolWasUsed { agent: usize },
    UserMessage,
    Stop { agent: usize },
    Unload { agent: usize, skill: usize },
    Revoke { skill: usize },
    Deliver { agent: usize },
    Compact { agent: usize },
    Clear { preserve: Option<usize> },
    SaveAndRestore { host: Option<usize> },
}

fn step() -> impl Strategy<Value = Step> {
    let (agent, skill, host) = (|| 0..MOST_AGENTS, || 0..SKILLS.len(), || 0..HOSTS.len());
    prop_oneof![
        8 => (agent(), skill(), any::<bool>())
            .prop_map(|(agent, skill, by_model)| Step::Call { agent, skill, by_model }),
        2 => agent().prop_map(|agent| Step::ToolWasUsed { agent }),
        2 => Just(Step::UserMessage),
        1 => agent().prop_map(|agent| Step::Stop { agent }),
        2 => (agent(), skill()).prop_map(|(agent, skill)| Step::Unload { agent, skill }),
        1 => skill().prop_map(|skill| Step::Revoke { skill }),
        1 => agent().prop_map(|agent| Step::Deliver { agent }),
        1 => agent().prop_map(|agent| Step::Compact { agent }),
        1 => prop::option::of(agent()).prop_map(|preserve| Step::Clear { preserve }),
        2 => prop::option::of(host()).prop_map(|host| Step::SaveAndRestore { host }),
    ]
}

/// Offers `note`, and counts how often it ran.
#[derive(Debug, Default)]
struct Notes(AtomicUsize);

impl Backend for Notes {
    fn name(&self) -> &'static str {
        "notes"
    }

    fn provider(&self, command: &str) -> Option<Provider> {
        (command == "note").then_some(Provider::Shipped)
    }

    fn run(&self, approved: Approved, job: Job<'_>) -> Result<Exit, RunError> {
        let vector = approved.redeem()?;
        self.0.fetch_add(1, Ordering::SeqCst);
        let _reader_may_be_gone = job.stdout.write(vector[1..].join(" ").as_bytes());
        Ok(Exit { code: 0 })
    }
}

fn host(rules: &[&str]) -> Host {
    let rule = |text: &str| Rule::parse(Effect::Allow, text, Place::Host).expect("a rule");
    // Skills with hooks need a rule; nobody is there to be asked.
    Host::granting(rules.iter().map(|text| rule(text)).chain([rule("Skill")]))
}

/// A runtime for each host over the same skills, and the program that they run.
struct World {
    _tree: tempfile::TempDir,
    notes: Arc<Notes>,
    runtimes: Vec<Arc<Runtime>>,
}

impl World {
    fn new() -> Self {
        let tree = tempfile::tempdir().expect("a directory");
        for skill in &SKILLS {
            let directory = tree.path().join("p/.claude/skills").join(skill.name);
            std::fs::create_dir_all(&directory).expect("a directory");
            let text = format!("---\ndescription: About {}.\n{}---\n{}\n", skill.name, skill.header, skill.body);
            std::fs::write(directory.join("SKILL.md"), text).expect("a file");
        }
        let notes = Arc::new(Notes::default());
        let runtime = |(rules, _): &(&[&str], [bool; ACTIONS])| {
            let shell = CapabilityShell::new(vec![notes.clone()]);
            let builder = Runtime::builder(host(rules), Arc::new(shell)).project(tree.path().join("p"));
            builder.trust_project(true).open().expect("opens")
        };
        let runtimes = HOSTS.iter().map(runtime).collect();
        Self { notes, runtimes, _tree: tree }
    }

    fn begin(&self, host: usize) -> Arc<Session> {
        self.runtimes[host].session(SessionOptions::default().id("c").host_runs_forks(true))
    }
}

/// A conversation and its model, step by step.
struct Walk<'w> {
    world: &'w World,
    session: Arc<Session>,
    model: Model,
    names: BTreeMap<Agent, AgentId>,
    before: usize,
}

impl<'w> Walk<'w> {
    fn new(world: &'w World) -> Self {
        let before = world.notes.0.load(Ordering::SeqCst);
        let names = BTreeMap::from([(0, AgentId::MAIN)]);
        Self { world, session: world.begin(0), model: Model::new(), names, before }
    }

    fn agent(&self, number: usize) -> Agent {
        let agents = self.model.agents();
        agents[number % agents.len()]
    }

    fn take(&mut self, step: &Step) {
        match *step {
            Step::Call { agent, skill, by_model } => self.call(self.agent(agent), skill, by_model),
            Step::ToolWasUsed { agent } => {
                let agent = self.agent(agent);
                let used = ToolCall::new("Bash", json!({"command": "git log"})).by(self.names[&agent].clone());
                let _said = self.session.after_tool(&used, &json!("a commit"), false);
                self.model.tool_was_used(agent);
            }
            Step::UserMessage => {
                assert_eq!(self.session.user_message("go on").held, None);
                self.model.turn_ends();
            }
            Step::Stop { agent } => {
                let name = &self.names[&self.agent(agent)];
                assert_eq!(self.session.stop(name, false).held, None);
            }
            Step::Unload { agent, skill } => {
                let agent = self.agent(agent);
                let mark = self.session.unload(&self.names[&agent], SKILLS[skill].name);
                assert_eq!(mark.is_some(), self.model.unload(agent, skill));
            }
            Step::Revoke { skill } => {
                let _marks = self.session.revoke(SKILLS[skill].name);
                self.model.revoke(skill);
            }
            Step::Deliver { agent } => self.deliver(self.agent(agent)),
            Step::Compact { agent } => self.compact(self.agent(agent)),
            Step::Clear { preserve } => {
                let preserve: Vec<Agent> = preserve.into_iter().map(|number| self.agent(number)).collect();
                let names: Vec<AgentId> = preserve.iter().map(|agent| self.names[agent].clone()).collect();
                self.session.clear(&names);
                self.model.clear(&preserve);
            }
            Step::SaveAndRestore { host } => self.save_and_restore(host),
        }
    }

    fn call(&mut self, agent: Agent, skill: usize, by_model: bool) {
        if FORKS.contains(&skill) && self.model.agents().len() >= MOST_AGENTS {
            return;
        }
        let caller = if by_model { Invoker::Model } else { Invoker::User };
        let call = SkillCall::new(SKILLS[skill].name, caller).agent(self.names[&agent].clone());
        let result = self.session.call_skill(&call);
        match (self.model.call(agent, skill, by_model), result) {
            (Expected::Refused, Err(_)) => {}
            (Expected::Inline, Ok(result)) => {
                assert!(matches!(result.status, SkillStatus::Inline | SkillStatus::Unchanged), "{result:?}");
            }
            (Expected::Fork(child), Ok(result)) => {
                let request = result.fork_request.expect("the host runs it");
                let known = self.names.insert(child, request.agent.clone());
                assert!(known.is_none());
                let alike = self.model.agents().into_iter().filter(|other| self.names[other] == request.agent).count();
                assert_eq!(alike, 1, "an agent is named like one that is there: {}", request.agent);
            }
            (expected, result) => unreachable!("{expected:?} is expected, and it gives {result:?}"),
        }
    }

    fn deliver(&mut self, agent: Agent) {
        if agent == 0 {
            return;
        }
        let name = &self.names[&agent];
        // A fork of the conversation that this one was restored from only ends.
        if self.session.deliver_fork(name.as_str(), "done").is_err() {
            self.session.end_agent(name);
        }
        self.model.end(agent);
    }

    fn compact(&mut self, agent: Agent) {
        let options = self.session.listing_options(4_000);
        let compacted = self.session.compact(&self.names[&agent], CompactBudget::default(), &options);
        let compacted = compacted.expect("no hook holds it");
        let named: BTreeSet<&str> = compacted.skills.iter().map(|skill| skill.skill.as_str()).collect();
        for skill in self.model.loaded(agent) {
            let name = format!("project:{}", SKILLS[skill].name);
            assert!(named.contains(name.as_str()), "{name} is in none of {named:?}");
        }
    }

    fn save_and_restore(&mut self, host: Option<usize>) {
        let bytes = self.session.save().expect("it can be written").to_bytes().expect("it is small");
        let save = Save::parse(&bytes).expect("it was written a moment ago");
        if let Some(host) = host {
            self.session = self.world.begin(host);
        }
        let _report = self.session.restore(&save);
        self.model.restore(host.unwrap_or(self.model.host));
    }

    /// Compares everything that every agent may do, and what has run.
    fn check(&self, after: &Step) {
        let own = self.world.begin(self.model.host);
        for agent in self.model.agents() {
            let name = &self.names[&agent];
            for action in 0..ACTIONS {
                let found = effect(&self.session, name, action);
                let of_host = effect(&own, &AgentId::MAIN, action);
                assert!(found >= of_host, "{name} may more than the host after {after:?}: action {action}");
                let expected = self.model.may(agent, action);
                assert_eq!(
                    found == Effect::Allow,
                    expected,
                    "{name}, action {action} after {after:?}: {found} under host {}",
                    self.model.host
                );
            }
        }
        let ran = self.world.notes.0.load(Ordering::SeqCst) - self.before;
        assert_eq!(ran, self.model.notes, "commands that ran after {after:?}");
    }
}

fn effect(session: &Session, agent: &AgentId, action: usize) -> Effect {
    let (tool, input): (&str, Value) = match action {
        PUSH => ("Bash", json!({"command": "git push origin"})),
        NOTE => ("Bash", json!({"command": "note x"})),
        0 => ("Bash", json!({"command": "git log"})),
        _ => ("Read", json!({"file_path": "README.md"})),
    };
    session.before_tool(&ToolCall::new(tool, input).by(agent.clone())).expect("nothing has to be recorded").effect
}

#[test]
fn a_conversation_permits_and_runs_what_a_simple_model_says() {
    const STEPS: usize = 40;
    let long = std::env::var_os("SKILLGATE_LONG").is_some();
    let cases: u32 = if long { 10_000 } else { 60 };
    let seed = std::env::var("SKILLGATE_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed: u64 = seed.unwrap_or_else(|| std::collections::hash_map::RandomState::new().build_hasher().finish());
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let world = World::new();
    let outcome = runner.run(&prop::collection::vec(step(), STEPS), |steps| {
        let mut walk = Walk::new(&world);
        for step in &steps {
            walk.take(step);
            walk.check(step);
        }
        Ok(())
    });
    assert!(outcome.is_ok(), "SKILLGATE_SEED={seed}: {}", outcome.err().map_or_else(String::new, |e| e.to_string()));
}

/// What the steps are about, each once, so that a run in which chance avoids it proves something too.
#[test]
fn the_steps_reach_what_the_model_is_about() {
    let world = World::new();
    let mut walk = Walk::new(&world);
    let call = |skill| Step::Call { agent: 0, skill, by_model: true };
    for step in [
        call(RUNS),
        call(GUARD),
        call(WATCH),
        Step::ToolWasUsed { agent: 0 },
        call(FORKS[0]),
        Step::Call { agent: 1, skill: GUARD, by_model: true },
        Step::SaveAndRestore { host: Some(1) },
        call(GIT),
        Step::UserMessage,
        Step::Clear { preserve: Some(1) },
        Step::SaveAndRestore { host: Some(2) },
    ] {
        walk.take(&step);
        walk.check(&step);
    }
    // One ran in the text and one as a hook; the guard could not come back under the last host.
    assert_eq!((walk.model.notes, walk.model.loaded(1)), (2, vec![FORKS[0]]), "{:?}", walk.model);
}
