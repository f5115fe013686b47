use proptest::prelude::*;
use proptest::sample::select;
use skillgate_core::{CommandName, Digest, SkillId, Source};
use skillgate_runtime::{
    AgentId, CompactBudget, CompactOutcome, Compacted, InvokedSkill, InvokedSkills, Recorded, UnloadReason,
};
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
enum Step {
    Invoke { agent: u8, skill: u8, text: String },
    Unload { agent: u8, skill: u8 },
    EndAgent(u8),
    Clear { preserve: Option<u8> },
    Compact { agent: u8, tokens: usize, per_skill: usize },
}

/// What has to be known of a skill that was invoked: its text, or nothing after it was unloaded.
type Model = BTreeMap<(u8, u8), Option<String>>;

fn agent(number: u8) -> AgentId {
    if number == 0 { AgentId::MAIN } else { AgentId::new(format!("fork-{number}")).expect("a name") }
}

fn id(number: u8) -> SkillId {
    SkillId::new(Source::Project, CommandName::new(format!("skill-{number}")).expect("a name"))
}

/// Texts with sections, fences, long lines, and signs of several bytes, of up to some thousand characters.
fn text() -> impl Strategy<Value = String> {
    let part = select(vec![
        "# One\n",
        "## Two\n\n",
        "```\n",
        "word ",
        "ä",
        "e\u{301}",
        "👩\u{200d}👧",
        "\n\n",
        "\r\n",
        "[Cut here",
        "~~~\n",
    ]);
    (prop::collection::vec(part, 0..40), 1..40_usize).prop_map(|(parts, times)| parts.concat().repeat(times))
}

fn step() -> impl Strategy<Value = Step> {
    let (agent, skill) = (0..3_u8, 0..5_u8);
    let tokens = || prop_oneof![0..60_usize, 60..3_000_usize, Just(usize::MAX)];
    prop_oneof![
        6 => (agent.clone(), skill.clone(), text()).prop_map(|(agent, skill, text)| Step::Invoke { agent, skill, text }),
        1 => (agent.clone(), skill).prop_map(|(agent, skill)| Step::Unload { agent, skill }),
        1 => agent.clone().prop_map(Step::EndAgent),
        1 => prop::option::of(agent.clone()).prop_map(|preserve| Step::Clear { preserve }),
        3 => (agent, tokens(), tokens()).prop_map(|(agent, tokens, per_skill)| Step::Compact { agent, tokens, per_skill }),
    ]
}

/// Every skill of the agent is there, cut with a mark, named, or said to be unloaded; and no other.
fn check(compacted: &Compacted, known: &BTreeMap<u8, &Option<String>>, budget: CompactBudget) {
    let mut names: Vec<&str> = compacted.skills.iter().map(|skill| skill.skill.as_str()).collect();
    names.sort_unstable();
    let expected: Vec<String> = known.keys().map(|skill| id(*skill).to_string()).collect();
    assert_eq!(names, expected);
    let mut kept = 0;
    for skill in &compacted.skills {
        let (number, text) =
            known.iter().find(|(number, _)| id(**number).to_string() == skill.skill).expect("it is known");
        let name = id(*number).command;
        let text = text.as_deref();
        let given = format!("\n# Skill `{name}` (");
        match skill.outcome {
            CompactOutcome::Whole => {
                let text = text.expect("it is loaded");
                assert!(compacted.text.contains(&given) && compacted.text.contains(text));
                kept += text.chars().count();
            }
            CompactOutcome::Cut => {
                let text = text.expect("it is loaded");
                let head: String = text.chars().take(skill.kept_chars).collect();
                let mark =
                    format!("{head}\n\n[Cut here for want of room: {} of {} characters", skill.kept_chars, skill.chars);
                assert!(
                    compacted.text.contains(&given) && compacted.text.contains(&mark),
                    "{mark:?} in {:?}",
                    compacted.text
                );
                assert!(skill.kept_chars < skill.chars && skill.chars == text.chars().count());
                assert!(skill.kept_chars <= budget.per_skill_tokens.saturating_mul(4));
                kept += skill.kept_chars;
            }
            CompactOutcome::Omitted => {
                assert!(text.is_some() && !compacted.text.contains(&given));
                assert!(compacted.text.contains(&format!("\n- `{name}` (")), "{}", compacted.text);
            }
            CompactOutcome::Unloaded => {
                assert!(text.is_none() && compacted.text.contains(&format!("[The skill `{name}` was unloaded")));
            }
            other => unreachable!("{other:?}"),
        }
    }
    assert!(compacted.tokens <= budget.tokens && kept <= budget.tokens.saturating_mul(4));
    assert_eq!(compacted.text.is_empty(), known.is_empty());
}

fn run(steps: Vec<Step>) {
    let (mut store, mut model) = (InvokedSkills::new(), Model::new());
    for step in steps {
        match step {
            Step::Invoke { agent: of, skill, text } => {
                let invoked =
                    InvokedSkill::new(id(skill), format!("/p/{skill}/SKILL.md"), text.clone(), Digest::ZERO, 0);
                let recorded = store.record(invoked.by(agent(of)));
                let known = model.insert((of, skill), Some(text.clone())).flatten();
                assert!(recorded == Recorded::New || known == Some(text), "only what is known is not said again");
            }
            Step::Unload { agent: of, skill } => {
                let known = model.get_mut(&(of, skill));
                let loaded = known.as_ref().is_some_and(|text| text.is_some());
                assert_eq!(store.unload(&agent(of), &id(skill), UnloadReason::Asked).is_some(), loaded);
                if let Some(text) = known {
                    *text = None;
                }
            }
            Step::EndAgent(of) => {
                store.end_agent(&agent(of));
                model.retain(|(agent, _), _| of == 0 || *agent != of);
            }
            Step::Clear { preserve } => {
                let kept: Vec<AgentId> = preserve.into_iter().map(agent).collect();
                store.clear(&kept);
                model.retain(|(agent, _), _| Some(*agent) == preserve);
            }
            Step::Compact { agent: of, tokens, per_skill } => {
                let budget = CompactBudget { tokens, per_skill_tokens: per_skill };
                let compacted = store.compact(&agent(of), budget, "listing".to_owned());
                let known =
                    model.iter().filter(|((agent, _), _)| *agent == of).map(|((_, skill), text)| (*skill, text));
                check(&compacted, &known.collect(), budget);
                assert_eq!(compacted.listing, "listing");
                // What is not whole is said again when it is called again, and only that.
                for skill in &compacted.skills {
                    let number =
                        (0..5).find(|number| id(*number).to_string() == skill.skill).expect("it is one of them");
                    let Some(text) = model[&(of, number)].clone() else { continue };
                    let again = InvokedSkill::new(id(number), format!("/p/{number}/SKILL.md"), text, Digest::ZERO, 0);
                    let mut probe = store.clone();
                    let new = probe.record(again.by(agent(of))) == Recorded::New;
                    assert_eq!(new, skill.outcome != CompactOutcome::Whole, "{skill:?}");
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn after_a_compaction_every_invoked_skill_is_there_cut_with_a_mark_or_named(steps in prop::collection::vec(step(), 1..25)) {
        run(steps);
    }
}
