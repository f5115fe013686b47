//! Whether one pattern says all that another says. For findings such as "this entry adds nothing"; no decision rests on it.

use crate::carrier::carrier;
use crate::command::{CommandPattern, Match};
use crate::paths::{PathBase, PathSet, READS, WRITES};
use crate::pattern::{SkillPattern, ToolPattern, ToolSpec};
use crate::request::Known;

impl ToolPattern {
    /// Whether the pattern permits everything that `other` permits. A yes is certain; a no may only mean that it is not plain.
    #[must_use]
    pub fn covers(&self, other: &ToolPattern) -> bool {
        let tool = match self.tool().strip_suffix('*') {
            Some(prefix) => other.tool().starts_with(prefix),
            None => self.tool() == other.tool() || same_family(self.tool(), other.tool()),
        };
        tool && match (self.spec(), other.spec()) {
            (ToolSpec::Any, _) => true,
            (ToolSpec::Command(a), ToolSpec::Command(b)) => a.covers(b),
            (ToolSpec::Path(a), ToolSpec::Path(b)) => a == b || covers_path(a, b),
            (ToolSpec::Skill(a), ToolSpec::Skill(b)) => covers_skill(a, b),
            (ToolSpec::Exact(a), ToolSpec::Exact(b)) => a == b,
            _ => false,
        }
    }
}

/// Tools whose patterns are about the same actions.
fn same_family(a: &str, b: &str) -> bool {
    [READS, WRITES].iter().any(|family| family.contains(&a) && family.contains(&b))
}

impl CommandPattern {
    fn covers(&self, other: &CommandPattern) -> bool {
        use CommandPattern::{Any, Exact, Prefix, PrefixOfWord};
        match (self, other) {
            (Any, _) => true,
            (_, Any) => false,
            (Exact(a), Exact(b)) => a == b,
            (Exact(_), _) => false,
            (prefix, Exact(words)) => {
                let vector: Vec<Known<'_>> = words.iter().map(|word| Known::Text(word)).collect();
                // An exact pattern permits a carrier, and a prefix never does.
                prefix.matches(&vector) == Match::Yes && carrier(&vector).is_none()
            }
            (Prefix(a), Prefix(b) | PrefixOfWord(b, _)) => b.starts_with(a),
            (PrefixOfWord(a, start), Prefix(b)) => {
                b.starts_with(a) && b.get(a.len()).is_some_and(|word| word.starts_with(start.as_str()))
            }
            (PrefixOfWord(a, a_start), PrefixOfWord(b, b_start)) => {
                let next = b.get(a.len()).unwrap_or(b_start);
                b.starts_with(a) && next.starts_with(a_start.as_str())
            }
        }
    }
}

/// Whether every path that `b` is about is one that `a` is about: certain only where `b` names one path from the root.
fn covers_path(a: &str, b: &str) -> bool {
    let plain = b.trim_end_matches('/').contains('/')
        && !b.starts_with("//")
        && !b.contains(['*', '?', '[', ']', '\\', '!', '~', '{'])
        && !b.ends_with('/')
        && !b.split('/').any(|part| part == "..");
    let base = PathBase::default().folds_case(false);
    plain && PathSet::granting(&[a.to_owned()], &base).matches(b.strip_prefix("./").unwrap_or(b), false)
}

fn covers_skill(a: &SkillPattern, b: &SkillPattern) -> bool {
    match (a, b) {
        (SkillPattern::Any, _) => true,
        (_, SkillPattern::Any) => false,
        (SkillPattern::Name(a), SkillPattern::Name(b)) => a == b,
        (SkillPattern::Name(_), SkillPattern::Prefix(_)) => false,
        (SkillPattern::Prefix(a), SkillPattern::Name(b) | SkillPattern::Prefix(b)) => {
            b.strip_prefix(a.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with(SkillPattern::BOUNDARIES))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_covers_what_it_surely_permits() {
        for (a, b, covers) in [
            ("Bash", "Bash(git:*)", true),
            ("Bash(git:*)", "Bash", false),
            ("Bash(git:*)", "Bash(git log:*)", true),
            ("Bash(git:*)", "Bash(git l*)", true),
            ("Bash(git:*)", "Bash(git log)", true),
            ("Bash(git:*)", "Bash(git -c x=y log)", false),
            ("Bash(git l*)", "Bash(git log *)", true),
            ("Bash(git l*)", "Bash(git lo*)", true),
            ("Bash(git lo*)", "Bash(git l*)", false),
            ("Bash(git log)", "Bash(git log:*)", false),
            ("Read", "Read(src/**)", true),
            ("Write(src/**)", "Edit(src/a)", true),
            ("Read(src/**)", "Read(src/a)", true),
            ("Read(*.rs)", "Read(a.rs)", false),
            ("Read(src/**)", "Write(src/a)", false),
            ("mcp__notes__*", "mcp__notes__list", true),
            ("mcp__notes__*", "mcp__note__list", false),
            ("Skill(review:*)", "Skill(review-pr)", true),
            ("Skill(review:*)", "Skill(reviewer)", false),
            ("Skill", "Skill(review:*)", true),
            ("WebFetch", "WebFetch(domain:x)", true),
        ] {
            let pattern = |text| ToolPattern::parse(text).expect("a pattern");
            assert_eq!(pattern(a).covers(&pattern(b)), covers, "{a} and {b}");
        }
    }
}
