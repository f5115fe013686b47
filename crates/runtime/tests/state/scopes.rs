use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::Value;
use skillgate_core::{CommandName, Digest, SkillId, Source};
use skillgate_policy::{
    Action, Caveat, CaveatKind, Defaults, Effect, Host, Place, PresentSkill, Provider, Rule, ToolPattern,
};
use skillgate_runtime::{ActiveSkill, AgentId, Save, SavedConversation, Standing};

const PATTERNS: [&str; 7] =
    ["Bash", "Bash(git:*)", "Bash(git log:*)", "Bash(ls:*)", "Read", "Write(out/**)", "mcp__notes__*"];

const AGENTS: usize = 3;
const SKILLS: usize = 4;

#[derive(Clone, Debug)]
enum Step {
    Enter { agent: Index, skill: Index },
    Leave { agent: Index, skill: Index },
    EndTurn(Index),
    Fork { parent: Index, child: Index },
    EndAgent(Index),
    Edit { skill: Index, kinds: Vec<CaveatKind> },
    Host { rules: Vec<&'static str>, builtin: bool },
    SaveAndRestore(Change),
}

/// What is done to a save before it comes back. Its digest is computed again, as somebody who wants something would.
#[derive(Clone, Debug)]
enum Change {
    Nothing,
    DropCaveats,
    DropScopes,
    SwapAgents,
    Byte(Index, u8),
}

#[derive(Clone, Debug)]
struct SkillState {
    id: SkillId,
    revision: u8,
    kinds: Vec<CaveatKind>,
}

impl SkillState {
    fn digest(&self) -> Digest {
        Digest::of_parts([self.id.command.as_str().as_bytes(), &[self.revision]])
    }

    fn caveats(&self) -> Vec<Caveat> {
        let caveat = |kind: &CaveatKind| Caveat { skill: self.id.clone(), digest: self.digest(), kind: kind.clone() };
        self.kinds.iter().map(caveat).collect()
    }

    fn active(&self) -> ActiveSkill {
        ActiveSkill { caveats: self.caveats(), ..ActiveSkill::new(self.id.clone(), self.digest()) }
    }
}

fn kinds() -> impl Strategy<Value = Vec<CaveatKind>> {
    let patterns = || {
        let pattern = select(&PATTERNS[..]).prop_map(|text| ToolPattern::parse(text).expect("a pattern"));
        prop::collection::vec(pattern, 0..4)
    };
    let kind = prop_oneof![
        4 => patterns().prop_map(|patterns| CaveatKind::Only { patterns, unreadable: Vec::new() }),
        2 => patterns().prop_map(CaveatKind::Without),
        1 => Just(CaveatKind::Nothing { reason: "it cannot be read".to_owned() }),
    ];
    prop::collection::vec(kind, 0..3)
}

fn step() -> impl Strategy<Value = Step> {
    let index = any::<Index>;
    let change = prop_oneof![
        3 => Just(Change::Nothing),
        1 => Just(Change::DropCaveats),
        1 => Just(Change::DropScopes),
        1 => Just(Change::SwapAgents),
        2 => (index(), any::<u8>()).prop_map(|(at, byte)| Change::Byte(at, byte)),
    ];
    prop_oneof![
        4 => (index(), index()).prop_map(|(agent, skill)| Step::Enter { agent, skill }),
        2 => (index(), index()).prop_map(|(agent, skill)| Step::Leave { agent, skill }),
        1 => index().prop_map(Step::EndTurn),
        2 => (index(), index()).prop_map(|(parent, child)| Step::Fork { parent, child }),
        1 => index().prop_map(Step::EndAgent),
        1 => (index(), kinds()).prop_map(|(skill, kinds)| Step::Edit { skill, kinds }),
        1 => (prop::collection::vec(select(&PATTERNS[..]), 0..5), any::<bool>())
            .prop_map(|(rules, builtin)| Step::Host { rules, builtin }),
        3 => change.prop_map(Step::SaveAndRestore),
    ]
}

fn actions() -> Vec<Action> {
    let command = |line: &str| Action::command(line.split(' '), Provider::Shipped);
    let tool = |name: &str| Action::Tool { name: name.to_owned(), input: None };
    vec![
        command("git log"),
        command("git push"),
        command("ls"),
        command("rm x"),
        Action::Read { path: "src/a".to_owned() },
        Action::Write { path: "out/a".to_owned() },
        tool("mcp__notes__add"),
    ]
}

fn agent(at: usize) -> AgentId {
    if at == 0 { AgentId::MAIN } else { AgentId::new(format!("fork-{at}")).expect("a name") }
}

struct World {
    skills: Vec<SkillState>,
    host: Host,
    conversation: SavedConversation,
}

impl World {
    fn new() -> Self {
        let skill = |at: usize| SkillState {
            id: SkillId::new(Source::User, CommandName::new(format!("s{at}")).expect("a name")),
            revision: 0,
            kinds: Vec::new(),
        };
        let host = Host::new([], Defaults::BuiltIn);
        Self { skills: (0..SKILLS).map(skill).collect(), host, conversation: SavedConversation::default() }
    }

    fn effects(&self, of: &AgentId) -> Vec<Effect> {
        let authority = self.conversation.scopes.authority(of, self.host.clone());
        actions().iter().map(|action| authority.decide(action).effect).collect()
    }

    fn apply(&mut self, step: Step) {
        let scopes = &mut self.conversation.scopes;
        match step {
            Step::Enter { agent: of, skill } => {
                let skill = skill.get(&self.skills).active();
                scopes.enter(&agent(of.index(AGENTS)), skill);
            }
            Step::Leave { agent: of, skill } => {
                scopes.leave(&agent(of.index(AGENTS)), &skill.get(&self.skills).id);
            }
            Step::EndTurn(of) => drop(scopes.end_turn(&agent(of.index(AGENTS)))),
            Step::Fork { parent, child } => {
                let (parent, child) = (agent(parent.index(AGENTS)), agent(1 + child.index(AGENTS - 1)));
                if parent != child {
                    scopes.fork(&parent, child.clone());
                    assert_eq!(self.effects(&parent), self.effects(&child));
                }
            }
            Step::EndAgent(of) => scopes.end_agent(&agent(of.index(AGENTS))),
            Step::Edit { skill, kinds } => {
                let at = skill.index(SKILLS);
                self.skills[at].revision = self.skills[at].revision.wrapping_add(1);
                self.skills[at].kinds = kinds;
            }
            Step::Host { rules, builtin } => {
                let rule = |text: &str| Rule::parse(Effect::Allow, text, Place::Host).expect("a rule");
                let defaults = if builtin { Defaults::BuiltIn } else { Defaults::Nothing };
                self.host = Host::new(rules.into_iter().map(rule), defaults);
            }
            Step::SaveAndRestore(change) => self.save_and_restore(change),
        }
    }

    fn save_and_restore(&mut self, change: Change) {
        let before: Vec<Vec<Effect>> = (0..AGENTS).map(|at| self.effects(&agent(at))).collect();
        let unchanged = matches!(change, Change::Nothing);
        let save = self.conversation.save(0).expect("it can be written");
        let Some(save) = changed(&save, change) else { return };
        let standing = |id: &SkillId| match self.skills.iter().find(|skill| skill.id == *id) {
            Some(skill) => Standing::Present(PresentSkill { digest: skill.digest(), caveats: skill.caveats() }),
            None => Standing::Gone,
        };
        self.conversation = save.restore(&standing).0;
        if unchanged {
            for (at, before) in before.iter().enumerate() {
                for (now, before) in self.effects(&agent(at)).iter().zip(before) {
                    assert!(now >= before, "restoring what was saved gives nothing");
                }
            }
        }
    }
}

/// The save after somebody changed it; `None` when it is no save any more.
fn changed(save: &Save, change: Change) -> Option<Save> {
    let mut value = save.value().clone();
    match change {
        Change::Nothing => return Some(save.clone()),
        Change::Byte(at, byte) => {
            let mut bytes = save.to_bytes().expect("small");
            let at = at.index(bytes.len());
            bytes[at] = byte;
            let read = Save::parse(&bytes).ok();
            // A save has a digest, so a change that is not one of the spaces at its end is found.
            assert!(read.as_ref().is_none_or(|read| read == save), "{}", String::from_utf8_lossy(&bytes));
            return read;
        }
        Change::DropCaveats => {
            for scope in value["scopes"].as_array_mut().into_iter().flatten() {
                for part in ["own", "inherited"] {
                    for active in scope[part].as_array_mut().into_iter().flatten() {
                        active["history"]["caveats"] = Value::Array(Vec::new());
                    }
                }
            }
        }
        Change::DropScopes => value["scopes"] = Value::Array(Vec::new()),
        Change::SwapAgents => {
            for scope in value["scopes"].as_array_mut().into_iter().flatten() {
                scope["agent"] = if scope["agent"] == "main" { "fork-1".into() } else { "main".into() };
            }
        }
    }
    value.as_object_mut()?.remove("digest");
    // Anybody can compute it: it says which save it is, not who wrote it.
    let refused = Save::from_value(value.clone()).expect_err("it states no digest").to_string();
    let digest = refused.split("its digest is ").nth(1)?.split(',').next()?.to_owned();
    value["digest"] = Value::String(digest);
    Some(Save::from_value(value).expect("its digest is right"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_interleaving_gives_more_than_the_host_gives_now(steps in prop::collection::vec(step(), 1..30)) {
        let mut world = World::new();
        for step in steps {
            let described = format!("{step:?}");
            world.apply(step);
            let host = skillgate_policy::Authority::of(world.host.clone());
            for at in 0..AGENTS {
                for (action, effect) in actions().iter().zip(world.effects(&agent(at))) {
                    let of_host = host.decide(action).effect;
                    prop_assert!(effect >= of_host, "{action:?} of {} is {effect:?} after {described}, and {of_host:?} of the host", agent(at));
                }
            }
        }
    }
}
