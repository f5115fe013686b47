//! Adding rules to a policy's text, which keeps everything else as it was written.

use super::level::Level;
use super::sections::PolicyFile;
use crate::pattern::ToolPattern;
use crate::rule::{Effect, Rule};
use skillgate_core::Span;
use std::fmt::Write as _;
use toml::de::DeTable;
use toml_parser::Source;
use toml_parser::lexer::TokenKind;

/// A text that rules cannot be added to by program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AddRulesError {
    /// The text has mistakes.
    #[error("the policy has mistakes, and is not written to before they are mended")]
    Mistakes,
    /// The rules are written in a form that has no place for more.
    #[error("its `permissions` are written in a form that rules can only be added to by hand")]
    ByHand,
}

/// The text of a user's policy with these rules in it; one that it has already is not written twice.
///
/// # Errors
/// [`AddRulesError`]; nothing is guessed.
pub fn with_rules(text: &str, rules: &[(Effect, ToolPattern)]) -> Result<String, AddRulesError> {
    let parse = |text: &str| PolicyFile::parse(text, Level::User, "policy.toml").ok();
    let before = parse(text).ok_or(AddRulesError::Mistakes)?.permissions.rules;
    let has = |rules: &[Rule], wanted: &(Effect, ToolPattern)| {
        rules.iter().any(|rule| rule.effect() == wanted.0 && *rule.pattern() == wanted.1)
    };
    let new: Vec<_> = rules.iter().filter(|rule| !has(&before, rule)).cloned().collect();
    let mut edited = text.to_owned();
    // A list that is not there yet goes right behind the header, so the one that is to stand first comes last.
    for (effect, key) in [(Effect::Deny, "deny"), (Effect::Ask, "ask"), (Effect::Allow, "allow")] {
        let mut patterns: Vec<&str> = Vec::new();
        for (_, pattern) in new.iter().filter(|(of, _)| *of == effect) {
            if !patterns.contains(&pattern.text()) {
                patterns.push(pattern.text());
            }
        }
        if !patterns.is_empty() {
            edited = with_entries(&edited, key, &patterns).ok_or(AddRulesError::ByHand)?;
        }
    }
    // What was made is read again: it has the old rules and the new ones, and no other.
    let after = parse(&edited).ok_or(AddRulesError::ByHand)?.permissions.rules;
    let kept = before.iter().all(|rule| has(&after, &(rule.effect(), rule.pattern().clone())));
    let added = rules.iter().all(|rule| has(&after, rule));
    if kept && added && after.len() <= before.len() + new.len() { Ok(edited) } else { Err(AddRulesError::ByHand) }
}

fn with_entries(text: &str, key: &str, patterns: &[&str]) -> Option<String> {
    let document = DeTable::parse(text).ok()?;
    let Some((header, permissions)) = document.get_ref().get_key_value("permissions") else {
        let gap = if text.is_empty() || text.ends_with("\n\n") {
            ""
        } else if text.ends_with('\n') {
            "\n"
        } else {
            "\n\n"
        };
        return Some(format!("{text}{gap}[permissions]\n{}", list(key, patterns)));
    };
    let table = permissions.get_ref().as_table()?;
    match table.get(key) {
        Some(entries) => {
            entries.get_ref().as_array()?;
            extended(text, entries.span().into(), patterns)
        }
        None => {
            // A header of its own: the list goes on the line after it.
            let line_end = text[header.span().end..].find('\n').map(|at| header.span().end + at + 1);
            let line = text.get(..header.span().start)?.rsplit('\n').next()?;
            if line.trim() != "[" {
                return None;
            }
            Some(match line_end {
                Some(at) => format!("{}{}{}", &text[..at], list(key, patterns), &text[at..]),
                None => format!("{text}\n{}", list(key, patterns)),
            })
        }
    }
}

/// The text with entries at the end of the list at `span`.
fn extended(text: &str, span: Span, patterns: &[&str]) -> Option<String> {
    let array = span.slice(text)?;
    let close = array.rfind(']')?;
    let tokens = Source::new(&array[..close]).lex();
    let silent = [TokenKind::Whitespace, TokenKind::Newline, TokenKind::Comment, TokenKind::Eof];
    let last = tokens.filter(|token| !silent.contains(&token.kind())).last()?;
    let comma = if matches!(last.kind(), TokenKind::Comma | TokenKind::LeftSquareBracket) { "" } else { "," };
    let entries: String = patterns.iter().map(|pattern| format!("    {},\n", quoted(pattern))).collect();
    let (inside, rest) = (&array[..last.span().end()], &array[last.span().end()..close]);
    let rest = rest.trim_end();
    Some(format!("{}{inside}{comma}{rest}\n{entries}]{}", &text[..span.start], &text[span.end..]))
}

fn list(key: &str, patterns: &[&str]) -> String {
    let entries: String = patterns.iter().map(|pattern| format!("    {},\n", quoted(pattern))).collect();
    format!("{key} = [\n{entries}]\n")
}

/// A text as TOML takes it.
#[must_use]
pub fn quoted(text: &str) -> String {
    let mut quoted = "\"".to_owned();
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                let _infallible = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(texts: &[(Effect, &str)]) -> Vec<(Effect, ToolPattern)> {
        texts.iter().map(|(effect, text)| (*effect, ToolPattern::parse(text).expect("a pattern"))).collect()
    }

    #[test]
    fn rules_are_added_and_the_rest_stays() {
        let (allow, deny) = ((Effect::Allow, "Bash(ls:*)"), (Effect::Deny, "Read(\"q\".env)"));
        let added = rules(&[allow, deny, allow]);
        let both = "[permissions]\nallow = [\n    \"Bash(ls:*)\",\n]\ndeny = [\n    \"Read(\\\"q\\\".env)\",\n]\n";
        for (text, expected) in [
            ("", both.to_owned()),
            ("# mine\n[skills]\nenabled = true", format!("# mine\n[skills]\nenabled = true\n\n{both}")),
            (
                "[permissions] # rules\nallow = []\ndeny = [\"Bash(rm:*)\", # never\n]\n[limits]\ndepth = 3\n",
                "[permissions] # rules\nallow = [\n    \"Bash(ls:*)\",\n]\ndeny = [\"Bash(rm:*)\", # never\n    \
                 \"Read(\\\"q\\\".env)\",\n]\n[limits]\ndepth = 3\n"
                    .to_owned(),
            ),
            (
                "[permissions]\nallow = [\"Bash(ls:*)\", 'Bash(a)']\n",
                "[permissions]\ndeny = [\n    \"Read(\\\"q\\\".env)\",\n]\nallow = [\"Bash(ls:*)\", 'Bash(a)']\n".to_owned(),
            ),
            (
                "permissions.allow = ['Bash(b)'] # x\npermissions.deny = []",
                "permissions.allow = ['Bash(b)',\n    \"Bash(ls:*)\",\n] # x\npermissions.deny = [\n    \"Read(\\\"q\\\".env)\",\n]"
                    .to_owned(),
            ),
        ] {
            assert_eq!(with_rules(text, &added).as_deref(), Ok(expected.as_str()), "{text}");
            assert_eq!(with_rules(&expected, &added).as_deref(), Ok(expected.as_str()), "adding again changes nothing");
        }
    }

    #[test]
    fn what_has_no_place_for_more_is_left_to_a_person() {
        let added = rules(&[(Effect::Allow, "Bash(ls:*)")]);
        assert_eq!(with_rules("permissions = { deny = [] }", &added), Err(AddRulesError::ByHand));
        assert_eq!(with_rules("permissions.deny = []", &added), Err(AddRulesError::ByHand));
        assert_eq!(with_rules("[permission]", &added), Err(AddRulesError::Mistakes));
    }
}
