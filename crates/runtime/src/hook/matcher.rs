use super::event::HookEvent;
use super::input::HookInput;
use regex::{Regex, RegexBuilder};
use std::fmt;

/// Bytes that the automaton of one matcher may take.
const MAX_AUTOMATON: usize = 256 << 10;
/// Bytes of a matcher.
const MAX_TEXT: usize = 4_096;

/// What a matcher group is about.
#[derive(Clone, Debug)]
pub enum Matcher {
    /// Everything: the author wrote nothing, an empty text or `*`.
    All,
    /// One of these names exactly.
    Names(Vec<String>),
    /// What this expression is found in, anywhere.
    Expression(Regex),
}

impl Matcher {
    /// Reads a matcher: a text of letters, digits, `_`, `-`, spaces, `,` and `|` is a list of names, any other an expression that
    /// is matched in linear time.
    ///
    /// # Errors
    /// Why it is no expression, as a sentence.
    pub fn parse(text: &str) -> Result<Self, String> {
        let trimmed = text.trim();
        if trimmed.is_empty() || trimmed == "*" {
            return Ok(Matcher::All);
        }
        if text.len() > MAX_TEXT {
            return Err(format!("it has more than {MAX_TEXT} bytes"));
        }
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | ',' | '|' | ' ');
        if trimmed.chars().all(plain) {
            let names: Vec<String> =
                trimmed.split(['|', ',']).map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect();
            return if names.is_empty() { Err("it names nothing".to_owned()) } else { Ok(Matcher::Names(names)) };
        }
        let built = RegexBuilder::new(trimmed).size_limit(MAX_AUTOMATON).dfa_size_limit(MAX_AUTOMATON).build();
        built.map(Matcher::Expression).map_err(|error| {
            // The first lines of a syntax error draw the place; the last one says what is wrong.
            let text = error.to_string();
            text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
        })
    }

    /// Whether the matcher is about an event. Where the host does not say what the event is about, it is.
    #[must_use]
    pub fn matches(&self, input: &HookInput) -> bool {
        let Some(text) = matched_text(input) else { return true };
        match self {
            Matcher::All => true,
            Matcher::Names(names) => names.iter().any(|name| name == text),
            Matcher::Expression(expression) => expression.is_match(text),
        }
    }
}

/// What a matcher is compared with; a changed file by its name.
fn matched_text(input: &HookInput) -> Option<&str> {
    let text = input.text(input.event().matched_key()?)?;
    Some(match input.event() {
        HookEvent::FileChanged => text.rsplit('/').next().unwrap_or(text),
        _ => text,
    })
}

/// As an author would write it.
impl fmt::Display for Matcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Matcher::All => f.write_str("*"),
            Matcher::Names(names) => f.write_str(&names.join("|")),
            Matcher::Expression(expression) => f.write_str(expression.as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tool(name: &str) -> HookInput {
        HookInput::tool(HookEvent::PreToolUse, name, json!({}))
    }

    #[test]
    fn names_are_exact_and_everything_else_is_an_expression() {
        for (matcher, yes, no) in [
            ("", "Bash", None),
            ("*", "Bash", None),
            (" * ", "Bash", None),
            ("Bash", "Bash", Some("BashOutput")),
            ("Edit|Write", "Write", Some("MultiEdit")),
            ("Edit, Write", "Edit", Some("edit")),
            ("my tool", "my tool", Some("my")),
            ("mcp__memory__.*", "mcp__memory__read", Some("mcp__files__read")),
            ("Edit.?", "MultiEdit", Some("Bash")),
            ("^Edit$", "Edit", Some("MultiEdit")),
        ] {
            let matcher = Matcher::parse(matcher).expect(matcher);
            assert!(matcher.matches(&tool(yes)), "{matcher} {yes}");
            assert!(no.is_none_or(|no| !matcher.matches(&tool(no))), "{matcher} {no:?}");
        }
    }

    #[test]
    fn what_is_no_expression_says_why() {
        for (text, reason) in [
            ("Bash(", "unclosed group"),
            ("(?!x)", "look-around"),
            ("|", "names nothing"),
            ("(a{999}){999}", "size limit"),
        ] {
            let error = Matcher::parse(text).expect_err(text);
            assert!(error.contains(reason), "{text}: {error}");
        }
    }

    #[test]
    fn an_event_is_compared_with_what_it_is_about() {
        let input = |event, key: &str, value: &str| {
            HookInput::new(event, [(key.to_owned(), json!(value))].into_iter().collect())
        };
        let names = |text| Matcher::parse(text).expect("a matcher");
        assert!(names("startup").matches(&input(HookEvent::SessionStart, "source", "startup")));
        assert!(!names("resume").matches(&input(HookEvent::SessionStart, "source", "startup")));
        assert!(names("^\\.envrc$").matches(&input(HookEvent::FileChanged, "file_path", "/a/.envrc")));
        // No matcher is about a stop.
        assert!(names("anything").matches(&input(HookEvent::Stop, "tool_name", "Bash")));
        // What the host does not tell may be what the matcher is about.
        assert!(names("Bash").matches(&HookInput::new(HookEvent::PreToolUse, serde_json::Map::new())));
    }
}
