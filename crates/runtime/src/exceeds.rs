//! What a skill's list names and the host does not grant.

use skillgate_core::{Code, Diagnostic, Frontmatter, Guarded};
use skillgate_policy::{CommandPattern, Defaults, Effect, Host, Known, Match, Rule, ToolPattern};

/// A finding that names the entries of `allowed-tools` about commands that grant nothing under this host. They take nothing
/// away either: the host's grant decides, and the list only narrows it.
pub(crate) fn exceeding(header: &Frontmatter, host: &Host) -> Option<Diagnostic> {
    let Guarded::Present(entries) = &header.allowed_tools else { return None };
    let empty: Vec<&str> = entries
        .value
        .iter()
        .filter(|entry| ToolPattern::parse(&entry.value).is_ok_and(|pattern| grants_nothing(&pattern, host)))
        .map(|entry| entry.value.as_str())
        .collect();
    if empty.is_empty() {
        return None;
    }
    let quoted: Vec<String> = empty.iter().map(|entry| format!("`{entry}`")).collect();
    let message = format!("`allowed-tools` lists {}, which the host does not grant", quoted.join(", "));
    let help = "a list only narrows what the host grants; `skillgate policy explain` says which rule decides";
    Some(Diagnostic::new(Code::AllowedToolsExceedsGrant, message).at(entries.span).help(help))
}

/// Whether the host grants no command that the pattern permits.
fn grants_nothing(pattern: &ToolPattern, host: &Host) -> bool {
    let Some(wanted) = pattern.command() else { return false };
    let allowing = |rules: &[Rule]| {
        let allowed = rules.iter().filter(|rule| rule.effect() == Effect::Allow);
        allowed.filter_map(|rule| rule.pattern().command()).any(|allowed| allowed.meet(wanted).is_some())
    };
    let granted = host.defaults() == Defaults::BuiltIn || allowing(host.rules());
    let listed = host.ceilings().iter().filter(|ceiling| ceiling.is_closed()).all(|ceiling| allowing(ceiling.rules()));
    let vector = vector_of(wanted);
    // What a rule asks about is granted by an answer, and not by the list.
    let withheld = host.all_rules().any(|rule| {
        rule.effect() != Effect::Allow
            && rule.pattern().command().is_some_and(|withheld| withheld.matches(&vector) == Match::Yes)
    });
    !granted || !listed || withheld
}

/// The vectors that a pattern is about: its words, and behind a prefix anything.
fn vector_of(pattern: &CommandPattern) -> Vec<Known<'_>> {
    let (words, open): (&[String], bool) = match pattern {
        CommandPattern::Any => (&[], true),
        CommandPattern::Exact(words) => (words, false),
        CommandPattern::Prefix(words) | CommandPattern::PrefixOfWord(words, _) => (words, true),
    };
    let known = words.iter().map(|word| Known::Text(word));
    known.chain(open.then_some(Known::Unknown)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillgate_policy::{Ceiling, Place};

    fn rule(effect: Effect, text: &str) -> Rule {
        Rule::parse(effect, text, Place::Host).expect("a rule")
    }

    #[test]
    fn an_entry_exceeds_when_nothing_of_it_can_be_allowed() {
        let granting = |text| Host::granting([rule(Effect::Allow, text)]);
        let denying = |text| Host::new([rule(Effect::Deny, text)], Defaults::BuiltIn);
        let asking = |text| Host::new([rule(Effect::Ask, text)], Defaults::BuiltIn);
        let under = |text| Host::new([], Defaults::BuiltIn).under(Ceiling::new(vec![rule(Effect::Allow, text)], true));
        for (host, entry, exceeds) in [
            (granting("Bash(git:*)"), "Bash(git log:*)", false),
            (granting("Bash(git log:*)"), "Bash(git:*)", false),
            (granting("Bash(git:*)"), "Bash(gh:*)", true),
            (granting("Bash(git:*)"), "Bash", false),
            (granting("Read(a)"), "Bash", true),
            (granting("Bash(git:*)"), "Read(x)", false),
            (under("Bash(git:*)"), "Bash(gh:*)", true),
            (under("Bash(git:*)"), "Bash(git log)", false),
            (denying("Bash(gh:*)"), "Bash(gh pr:*)", true),
            (denying("Bash(gh pr:*)"), "Bash(gh:*)", false),
            (denying("Bash"), "Bash(ls)", true),
            (asking("Bash(git push:*)"), "Bash(git push origin)", true),
            (asking("Bash(git push:*)"), "Bash(git:*)", false),
        ] {
            let pattern = ToolPattern::parse(entry).expect("a pattern");
            assert_eq!(grants_nothing(&pattern, &host), exceeds, "{entry} under {host:?}");
        }
    }
}
