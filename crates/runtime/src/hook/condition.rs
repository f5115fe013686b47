//! The `if` of a handler: a tool pattern that is compared with what a tool is asked to do. It can only spare a hook its start,
//! so whatever cannot be told counts as matching.

use super::input::HookInput;
use serde_json::Value;
use skillgate_core::Limits;
use skillgate_exec::{Executor, Program};
use skillgate_policy::{
    Action, Authority, CommandPattern, Gate, Host, Known, Match, PathBase, SkillPattern, ToolPattern, ToolSpec,
};

/// An `if`.
#[derive(Clone, PartialEq, Debug)]
pub enum Condition {
    /// There is none, or it cannot be read.
    Always,
    /// What the tool is asked has to be what this pattern is about.
    Pattern(Box<ToolPattern>),
}

impl Condition {
    /// Whether the handler is to be started for an event.
    #[must_use]
    pub fn holds(&self, input: &HookInput, executor: &dyn Executor, limits: &Limits, base: &PathBase) -> bool {
        let Condition::Pattern(pattern) = self else { return true };
        let Some(tool) = input.tool_name().filter(|_| input.event().is_about_a_tool()) else { return true };
        let field = |key: &str| input.tool_input().and_then(|input| input.get(key)).and_then(Value::as_str);
        match pattern.spec() {
            ToolSpec::Command(command) => {
                tool == "Bash" && field("command").is_none_or(|text| runs(command, text, executor, limits))
            }
            ToolSpec::Skill(skill) => tool == "Skill" && field("skill").is_none_or(|name| names(skill, name)),
            ToolSpec::Path(_) => {
                let path = field("file_path").or_else(|| field("notebook_path")).or_else(|| field("path"));
                match Action::of_tool(tool, path) {
                    // Another tool, or one that does not say which file it is about.
                    Action::Tool { name, .. } => name == pattern.tool() && path.is_none(),
                    action => action.is_about(pattern, base),
                }
            }
            ToolSpec::Exact(wanted) => {
                pattern.matches_tool(tool, Some(wanted))
                    && main_member(tool, input).is_none_or(|given| given == *wanted)
            }
            ToolSpec::Any => pattern.matches_tool(tool, None),
        }
    }
}

/// Whether one of the commands of a program is, or may become, one that the pattern is about.
fn runs(pattern: &CommandPattern, text: &str, executor: &dyn Executor, limits: &Limits) -> bool {
    if *pattern == CommandPattern::Any {
        return true;
    }
    let Ok(program) = Program::from_text(text, limits) else { return true };
    // The plan is asked for the vectors; nothing is granted and nothing runs.
    let gate = Gate::new(Authority::of(Host::granting([])));
    executor.plan(&program, &gate).iter().any(|command| {
        let vector: Vec<Known<'_>> =
            command.words.iter().map(|word| word.as_deref().map_or(Known::Unknown, Known::Text)).collect();
        pattern.matches(&vector) != Match::No
    })
}

/// Whether the Skill tool is asked for a skill that the pattern names, with or without what stands before its own name.
fn names(pattern: &SkillPattern, called: &str) -> bool {
    let called = called.trim().trim_start_matches('/');
    let (source, own) = called.rsplit_once(':').unwrap_or(("", called));
    pattern.matches("", called) || pattern.matches(source, own)
}

/// The member that an exact pattern is about, for tools that are known to have one.
fn main_member<'i>(tool: &str, input: &'i HookInput) -> Option<&'i str> {
    let key = match tool {
        "Agent" | "Task" => "subagent_type",
        "WebSearch" => "query",
        _ => return None,
    };
    input.tool_input()?.get(key)?.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hook::HookEvent;
    use serde_json::json;
    use skillgate_exec::CapabilityShell;
    use skillgate_policy::builtin_limits;

    #[test]
    fn a_pattern_is_compared_with_what_the_tool_is_asked() {
        let bash = |command: &str| ("Bash", json!({"command": command}));
        for (pattern, (tool, input), holds) in [
            ("Bash(git push:*)", bash("git push origin"), true),
            ("Bash(git push:*)", bash("git status"), false),
            ("Bash(git push:*)", bash("git status && git push"), true),
            ("Bash(git push:*)", bash("echo $(git push)"), true),
            ("Bash(git push:*)", bash("$x push"), true),
            ("Bash(git push:*)", bash("echo 'unbalanced"), true),
            ("Bash(git push:*)", ("Read", json!({"file_path": "a"})), false),
            ("Bash", bash("ls"), true),
            ("Bash(git push:*)", ("Bash", json!({})), true),
            ("Edit(*.rs)", ("Edit", json!({"file_path": "src/a.rs"})), true),
            ("Edit(*.rs)", ("Edit", json!({"file_path": "src/a.py"})), false),
            ("Edit(*.rs)", ("Bash", json!({"command": "ls"})), false),
            ("Skill(review)", ("Skill", json!({"skill": "review"})), true),
            ("Skill(review)", ("Skill", json!({"skill": "/review"})), true),
            ("Skill(review)", ("Skill", json!({"skill": "kit:review"})), true),
            ("Skill(review)", ("Skill", json!({"skill": "reviewer"})), false),
            ("Skill(review:*)", ("Skill", json!({"skill": "review-pr"})), true),
            ("Skill(review)", ("Bash", json!({"command": "review"})), false),
            ("Agent(explore)", ("Agent", json!({"subagent_type": "explore"})), true),
            ("Agent(explore)", ("Agent", json!({"subagent_type": "other"})), false),
            ("WebFetch(domain:x.org)", ("WebFetch", json!({"url": "https://y.org"})), true),
            ("mcp__a__*", ("mcp__a__read", json!({})), true),
            ("mcp__a__*", ("mcp__b__read", json!({})), false),
        ] {
            let condition = Condition::Pattern(Box::new(ToolPattern::parse(pattern).expect(pattern)));
            let event = HookInput::tool(HookEvent::PreToolUse, tool, input.clone());
            let shell = CapabilityShell::new(Vec::new());
            let found = condition.holds(&event, &shell, &builtin_limits(), &PathBase::default());
            assert_eq!(found, holds, "{pattern} on {tool} {input}");
        }
    }

    #[test]
    fn an_event_that_is_about_no_tool_holds() {
        let condition = Condition::Pattern(Box::new(ToolPattern::parse("Bash(ls)").expect("a pattern")));
        let stop = HookInput::new(HookEvent::Stop, serde_json::Map::new());
        assert!(condition.holds(&stop, &CapabilityShell::new(Vec::new()), &builtin_limits(), &PathBase::default()));
    }
}
