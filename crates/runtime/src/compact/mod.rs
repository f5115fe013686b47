//! What a compacted conversation is given of the skills that were invoked in it.

mod cut;

use crate::invoked::{AgentId, InvokedSkill, InvokedSkills, Presence};
use cut::{CutText, cut};
use serde::Serialize;
use std::fmt::Write as _;

/// Characters that count as one token.
const CHARS_PER_TOKEN: usize = 4;

/// Characters of arguments that are shown.
const MAX_ARGUMENT_CHARS: usize = 200;

/// How much of the invoked skills fits into a compacted conversation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CompactBudget {
    /// Tokens of all skills' texts together, at four characters each.
    pub tokens: usize,
    /// Tokens of one skill's text.
    pub per_skill_tokens: usize,
}

impl Default for CompactBudget {
    /// 25,000 tokens, 5,000 for one skill.
    fn default() -> Self {
        Self { tokens: 25_000, per_skill_tokens: 5_000 }
    }
}

/// What became of a skill's text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum CompactOutcome {
    /// All of it is there.
    Whole,
    /// Its beginning is there, with a mark that says what is not.
    Cut,
    /// It did not fit, and is named.
    Omitted,
    /// It was unloaded before, which is said again.
    Unloaded,
}

/// One skill of a compacted conversation.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompactedSkill {
    /// The skill, as `source:name`.
    pub skill: String,
    /// Its file.
    pub path: String,
    /// What became of its text.
    pub outcome: CompactOutcome,
    /// Characters of its text.
    pub chars: usize,
    /// Characters of it that are there.
    pub kept_chars: usize,
    /// Headings of sections that are not there, or not whole.
    pub left_out: Vec<String>,
}

/// What a compacted conversation is given of its skills. Nothing was run to make it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Compacted {
    /// The text to put into the conversation; empty when no skill was invoked.
    pub text: String,
    /// The listing of skills, which the conversation has lost too; for the host to put where listings go.
    pub listing: String,
    /// Every skill that was invoked, the newest first.
    pub skills: Vec<CompactedSkill>,
    /// Tokens of the skills' texts that are there, marks included.
    pub tokens: usize,
}

const INTRODUCTION: &str = "\
The conversation was compacted. Below are the skills that were invoked in it before, the newest first. They are given again \
for reference: nothing of them was run again, their arguments are used up, and no task of theirs is to be begun again unless \
the user asks for it now.
";

impl InvokedSkills {
    /// What a compacted conversation of an agent is given: the newest skills first, each within its own budget and all within
    /// the whole one. One that does not fit is named, and those after it that fit are still given.
    ///
    /// The listing is passed on, because it is lost with everything else. From now on a call of a skill of which not all is
    /// there gives its whole text again.
    pub fn compact(&mut self, agent: &AgentId, budget: CompactBudget, listing: String) -> Compacted {
        let mut left = budget.tokens.saturating_mul(CHARS_PER_TOKEN);
        let most = budget.per_skill_tokens.saturating_mul(CHARS_PER_TOKEN);
        let (mut given, mut omitted, mut skills, mut presences) =
            (String::new(), String::new(), Vec::new(), Vec::new());
        let mut used = 0;
        for skill in self.of(agent) {
            let chars = skill.text.chars().count();
            let kept = cut(&skill.text, chars, most, &skill.path).filter(|kept| kept.chars <= left);
            let (outcome, presence) = match &kept {
                Some(kept) if kept.is_whole() => (CompactOutcome::Whole, Presence::Whole),
                Some(_) => (CompactOutcome::Cut, Presence::Cut),
                None => (CompactOutcome::Omitted, Presence::Omitted),
            };
            match &kept {
                Some(kept) => {
                    left -= kept.chars;
                    used += kept.chars;
                    give(&mut given, skill, kept);
                }
                None => name(&mut omitted, skill, chars),
            }
            presences.push((skill.skill.clone(), presence));
            skills.push(CompactedSkill {
                skill: skill.skill.to_string(),
                path: skill.path.clone(),
                outcome,
                chars,
                kept_chars: kept.as_ref().map_or(0, |kept| kept.head_chars),
                left_out: kept.map_or_else(Vec::new, |kept| kept.left_out),
            });
        }
        let mut unloaded = String::new();
        for skill in self.unloaded(agent) {
            unloaded.push_str(&skill.mark());
            unloaded.push('\n');
            skills.push(CompactedSkill {
                skill: skill.skill.to_string(),
                path: skill.path.clone(),
                outcome: CompactOutcome::Unloaded,
                chars: 0,
                kept_chars: 0,
                left_out: Vec::new(),
            });
        }
        for (skill, presence) in presences {
            self.set_presence(agent, &skill, presence);
        }
        let mut text = String::new();
        if !skills.is_empty() {
            text.push_str(INTRODUCTION);
            text.push_str(&given);
            if !omitted.is_empty() {
                text.push_str(
                    "\n# Skills that were invoked and did not fit\nCall the Skill tool again for one of them.\n",
                );
                text.push_str(&omitted);
            }
            if !unloaded.is_empty() {
                text.push_str("\n# Skills that are not loaded any more\n");
                text.push_str(&unloaded);
            }
        }
        Compacted { text, listing, skills, tokens: used.div_ceil(CHARS_PER_TOKEN) }
    }
}

fn give(out: &mut String, skill: &InvokedSkill, kept: &CutText<'_>) {
    let _infallible = writeln!(out, "\n# Skill `{}` ({})", skill.skill.called(), skill.path);
    if let Some(arguments) = skill.arguments.as_deref().filter(|arguments| !arguments.trim().is_empty()) {
        let _infallible = writeln!(out, "Its arguments, used up: {}", shown(arguments));
    }
    let _infallible = writeln!(out, "\n{}{}", kept.head, kept.mark);
}

fn name(out: &mut String, skill: &InvokedSkill, chars: usize) {
    let _infallible = writeln!(out, "- `{}` ({}), {chars} characters", skill.skill.called(), skill.path);
}

/// Arguments in one line, whatever they hold: what looks like a heading of ours must not be one.
fn shown(arguments: &str) -> String {
    let short: String = arguments.chars().take(MAX_ARGUMENT_CHARS).collect();
    let more = if short.len() < arguments.len() { "…" } else { "" };
    format!("{short:?}{more}")
}

#[cfg(test)]
mod tests;
