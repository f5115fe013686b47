//! Policy files: every mistake has a place in the text, a project's file only takes away, and adding a rule adds that rule.

use skillgate_policy::file::{Level, PolicyError, PolicyFile, with_rules};
use skillgate_policy::{Effect, ToolPattern};

/// Reads `data` as the policy of every level.
pub fn policy_file(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for level in [Level::Managed, Level::User, Level::Project] {
        match PolicyFile::parse(&text, level, "policy.toml") {
            Ok(file) => {
                assert_eq!(
                    PolicyFile::parse(&text, level, "policy.toml").as_ref(),
                    Ok(&file),
                    "the same text, once more"
                );
                if level == Level::Project {
                    let allows = file.permissions.rules.iter().any(|rule| rule.effect() == Effect::Allow);
                    assert!(!allows && file.pre_approve.is_none() && file.programs.is_empty() && file.keys.is_empty());
                }
            }
            Err(errors) => {
                assert!(!errors.is_empty());
                errors.iter().for_each(|error| has_a_place(error, &text));
            }
        }
    }
    let Ok(pattern) = ToolPattern::parse("Bash(ls -l:*)") else { unreachable!("it is a pattern") };
    let rules = [(Effect::Allow, pattern)];
    if let Ok(edited) = with_rules(&text, &rules) {
        let Ok(file) = PolicyFile::parse(&edited, Level::User, "policy.toml") else { unreachable!("{edited:?}") };
        let has = |rule: &skillgate_policy::Rule| rule.effect() == rules[0].0 && *rule.pattern() == rules[0].1;
        assert!(file.permissions.rules.iter().any(has), "{edited:?}");
        assert_eq!(with_rules(&edited, &rules).as_ref(), Ok(&edited), "a rule that is there is not written twice");
    }
}

fn has_a_place(error: &PolicyError, text: &str) {
    assert!(!error.message.is_empty() && !error.excerpt().to_string().is_empty());
    assert!(error.span.slice(text).is_some(), "{error:?}");
    assert!(error.position.line >= 1 && error.position.column >= 1, "{error:?}");
}
