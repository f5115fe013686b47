//! What a conversation is expected to permit and to run, in a few sets: nothing of it is computed as the runtime computes it.

use std::collections::{BTreeMap, BTreeSet};

/// What hosts and skills differ in: the commands of the host's shell `git log`, `git push`, `note`, and reading a file.
pub(crate) const ACTIONS: usize = 4;
pub(crate) const PUSH: usize = 1;
pub(crate) const NOTE: usize = 2;

/// A host: its rules, and which of the actions they grant.
pub(crate) const HOSTS: [(&[&str], [bool; ACTIONS]); 3] = [
    (&["Bash(git:*)", "Bash(note:*)", "Read"], [true; ACTIONS]),
    (&["Bash(git log:*)", "Bash(note:*)"], [true, false, true, false]),
    (&[], [false; ACTIONS]),
];

/// A skill of the test.
pub(crate) struct Spec {
    pub(crate) name: &'static str,
    pub(crate) header: &'static str,
    pub(crate) body: &'static str,
    /// Which actions it leaves.
    pub(crate) leaves: [bool; ACTIONS],
}

const ALL: [bool; ACTIONS] = [true; ACTIONS];
const fn plain(name: &'static str, header: &'static str, leaves: [bool; ACTIONS]) -> Spec {
    Spec { name, header, body: "Text.", leaves }
}

pub(crate) const GIT: usize = 1;
pub(crate) const NOTHING: usize = 4;
pub(crate) const RUNS: usize = 5;
pub(crate) const GUARD: usize = 6;
pub(crate) const WATCH: usize = 7;
pub(crate) const FORKS: [usize; 2] = [8, 9];

/// The skills. Each that takes something away leaves `git log` or nothing, so that any of them together leave a command, unless
/// `nothing` is among them.
pub(crate) const SKILLS: [Spec; 10] = [
    plain("plain", "", ALL),
    plain("git", "allowed-tools: Bash(git:*)\n", [true, true, false, false]),
    plain("log", "allowed-tools: Bash(git log:*), Read\n", [true, false, false, true]),
    plain("no-push", "disallowed-tools: Bash(git push:*)\n", [true, false, true, true]),
    plain("nothing", "allowed-tools: []\n", [false; ACTIONS]),
    Spec { body: "Says !`note run`.", ..plain("runs", "", ALL) },
    plain(
        "guard",
        "hooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          if: Bash(git push:*)\n          command: exit 2\n",
        ALL,
    ),
    plain(
        "watch",
        "hooks:\n  PostToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: note seen\n",
        ALL,
    ),
    plain("fork-log", "context: fork\nallowed-tools: Bash(git log:*), Read\n", [true, false, false, true]),
    plain("fork-all", "context: fork\n", ALL),
];

/// Names an agent in the model; the first is the main one.
pub(crate) type Agent = usize;

#[derive(Clone, Default, Debug)]
struct Scope {
    inherited: Vec<usize>,
    own: BTreeSet<usize>,
    /// Whose text the conversation has.
    loaded: BTreeSet<usize>,
    /// The agents that it stands below, itself the last; nobody for the main one.
    path: Vec<Agent>,
    /// The skills of the forks that it stands in.
    chain: BTreeSet<usize>,
}

/// A conversation.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) host: usize,
    agents: BTreeMap<Agent, Scope>,
    /// Hooks that wait: of which skill, and the agent that invoked it with the agents it stood below.
    hooks: BTreeSet<(usize, Agent, Vec<Agent>)>,
    /// How often `note` ran.
    pub(crate) notes: usize,
    next: Agent,
}

/// What a call is expected to give.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Expected {
    Inline,
    /// An agent of its own.
    Fork(Agent),
    Refused,
}

impl Model {
    pub(crate) fn new() -> Self {
        let agents = BTreeMap::from([(0, Scope::default())]);
        Self { host: 0, agents, hooks: BTreeSet::new(), notes: 0, next: 1 }
    }

    /// The agents there are, the main one first.
    pub(crate) fn agents(&self) -> Vec<Agent> {
        self.agents.keys().copied().collect()
    }

    /// The skills whose text an agent has.
    pub(crate) fn loaded(&self, agent: Agent) -> Vec<usize> {
        self.agents[&agent].loaded.iter().copied().collect()
    }

    fn in_use(&self, agent: Agent) -> impl Iterator<Item = usize> {
        let scope = &self.agents[&agent];
        scope.inherited.iter().chain(&scope.own).copied()
    }

    /// What the host grants less what the skills in use take away.
    fn granted(&self, agent: Agent, action: usize) -> bool {
        HOSTS[self.host].1[action] && self.in_use(agent).all(|skill| SKILLS[skill].leaves[action])
    }

    /// Whether a tool of the host may do it.
    pub(crate) fn may(&self, agent: Agent, action: usize) -> bool {
        let guarded = action == PUSH && self.waiting(GUARD, agent).next().is_some();
        self.granted(agent, action) && !guarded
    }

    /// Whether any command is granted at all, so that a program of the shell may run.
    fn has_shell(&self, agent: Agent) -> bool {
        HOSTS[self.host].1[0] && self.in_use(agent).all(|skill| skill != NOTHING)
    }

    /// The agents whose hook of a skill sees what an agent does.
    fn waiting(&self, skill: usize, agent: Agent) -> impl Iterator<Item = Agent> {
        let path = &self.agents[&agent].path;
        self.hooks.iter().filter(move |(of, _, above)| *of == skill && path.starts_with(above)).map(|(_, by, _)| *by)
    }

    pub(crate) fn call(&mut self, agent: Agent, skill: usize, by_model: bool) -> Expected {
        // An empty list takes the Skill tool away too, which a person does not use.
        if by_model && self.in_use(agent).any(|skill| skill == NOTHING) {
            return Expected::Refused;
        }
        match skill {
            RUNS if !self.granted(agent, NOTE) => return Expected::Refused,
            RUNS => self.notes += 1,
            // A guard that could not guard keeps its skill away.
            GUARD if !self.has_shell(agent) => return Expected::Refused,
            _ => {}
        }
        if FORKS.contains(&skill) {
            return self.fork(agent, skill);
        }
        self.wait(agent, skill);
        let Some(scope) = self.agents.get_mut(&agent) else { return Expected::Refused };
        scope.own.insert(skill);
        scope.loaded.insert(skill);
        Expected::Inline
    }

    /// Has the hook of a skill wait, where it can run.
    fn wait(&mut self, agent: Agent, skill: usize) {
        let can_run = match skill {
            GUARD => self.has_shell(agent),
            WATCH => self.granted(agent, NOTE),
            _ => false,
        };
        if can_run {
            self.hooks.insert((skill, agent, self.agents[&agent].path.clone()));
        }
    }

    fn fork(&mut self, parent: Agent, skill: usize) -> Expected {
        let above = self.agents[&parent].clone();
        if above.chain.contains(&skill) {
            return Expected::Refused;
        }
        let child = self.next;
        self.next += 1;
        let scope = Scope {
            inherited: self.in_use(parent).collect(),
            own: BTreeSet::from([skill]),
            loaded: BTreeSet::from([skill]),
            path: above.path.iter().copied().chain([child]).collect(),
            chain: above.chain.iter().copied().chain([skill]).collect(),
        };
        self.agents.insert(child, scope);
        Expected::Fork(child)
    }

    /// An agent ended, and with it those below it.
    pub(crate) fn end(&mut self, agent: Agent) {
        self.agents.retain(|_, scope| !scope.path.contains(&agent));
        self.hooks.retain(|(_, _, path)| !path.contains(&agent));
    }

    pub(crate) fn turn_ends(&mut self) {
        self.agents.entry(0).or_default().own.clear();
    }

    pub(crate) fn tool_was_used(&mut self, agent: Agent) {
        self.notes += self.waiting(WATCH, agent).filter(|by| self.granted(*by, NOTE)).count();
    }

    pub(crate) fn unload(&mut self, agent: Agent, skill: usize) -> bool {
        let scope = self.agents.entry(agent).or_default();
        if !scope.loaded.remove(&skill) {
            return false;
        }
        scope.own.remove(&skill);
        self.hooks.retain(|(of, by, _)| *of != skill || *by != agent);
        true
    }

    /// Gives the agents that ended.
    pub(crate) fn revoke(&mut self, skill: usize) {
        let ended: Vec<Agent> =
            self.agents.iter().filter(|(_, scope)| scope.chain.contains(&skill)).map(|(agent, _)| *agent).collect();
        for agent in self.agents() {
            self.unload(agent, skill);
        }
        self.hooks.retain(|(of, _, _)| *of != skill);
        ended.into_iter().for_each(|agent| self.end(agent));
    }

    /// A new conversation, with what belongs to these agents.
    pub(crate) fn clear(&mut self, preserve: &[Agent]) {
        self.agents.retain(|agent, _| preserve.contains(agent));
        self.agents.entry(0).or_default();
        self.hooks.retain(|(_, by, _)| preserve.contains(by));
    }

    /// It was saved, and comes back under a host. Agents stand below the main one then, and in no fork.
    pub(crate) fn restore(&mut self, host: usize) {
        self.host = host;
        self.hooks.clear();
        for (agent, scope) in &mut self.agents {
            scope.path = if *agent == 0 { Vec::new() } else { vec![*agent] };
            scope.chain.clear();
        }
        for agent in self.agents() {
            for skill in self.loaded(agent) {
                if skill == GUARD && !self.has_shell(agent) {
                    // It takes nothing away, so that nothing stays of it.
                    self.agents.entry(agent).or_default().loaded.remove(&skill);
                } else {
                    self.wait(agent, skill);
                }
            }
        }
    }
}
