use super::condition::Condition;
use super::event::{HookEvent, Power};
use super::matcher::Matcher;
use serde::Serialize;
use skillgate_core::{Code, Diagnostic, Digest, RelPath, Span};
use std::fmt;

/// One handler of a skill's hooks, as its author wrote it.
#[derive(Clone, Debug)]
pub struct HookSpec {
    /// What it waits for.
    pub event: HookEvent,
    /// What the event has to be about.
    pub matcher: Matcher,
    /// What is run.
    pub handler: Handler,
    /// When it is started.
    pub condition: Condition,
    /// The `if` as written.
    pub condition_text: Option<String>,
    /// The most it may take, as its author says, milliseconds.
    pub timeout_ms: Option<u64>,
    /// Whether it is gone after its first success.
    pub once: bool,
    /// Whether its author does not wait for it, so that it decides nothing.
    pub background: bool,
    /// What the host may show while it runs.
    pub status_message: Option<String>,
    /// Where it stands in the skill's file.
    pub span: Span,
}

/// What a hook runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Handler {
    /// A program of the capability shell.
    Shell(String),
    /// One command with its arguments, which no shell looks at.
    Vector(Vec<String>),
    /// A component of the world `skillgate:hook`, below the skill's own directory.
    Wasm(RelPath),
}

impl Handler {
    /// `command` or `wasm`.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Handler::Shell(_) | Handler::Vector(_) => "command",
            Handler::Wasm(_) => "wasm",
        }
    }
}

/// As a person would write it.
impl fmt::Display for Handler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Handler::Shell(program) => f.write_str(program),
            Handler::Vector(words) => f.write_str(&quoted(words)),
            Handler::Wasm(path) => write!(f, "wasm: {path}"),
        }
    }
}

/// The program that is exactly this vector.
pub(super) fn quoted(words: &[String]) -> String {
    let plain =
        |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c));
    let quote = |(at, word): (usize, &String)| match word.as_str() {
        // In front, a word with `=` would be an assignment, and some plain words belong to the shell's own grammar.
        word if at > 0 && plain(word) => word.to_owned(),
        word => format!("'{}'", word.replace('\'', r"'\''")),
    };
    words.iter().enumerate().map(quote).collect::<Vec<_>>().join(" ")
}

/// Tells handlers of one skill and event apart: digest of matcher, `if` and what is run. How long it may take does not matter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
pub struct HandlerId(Digest);

impl HandlerId {
    /// The digest.
    #[must_use]
    pub const fn digest(self) -> Digest {
        self.0
    }
}

impl fmt::Display for HandlerId {
    /// The first eight digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.8}", self.0.to_string())
    }
}

impl HookSpec {
    /// What tells it from the other handlers of its skill and event.
    #[must_use]
    pub fn id(&self) -> HandlerId {
        let (matcher, handler) = (self.matcher.to_string(), self.handler.to_string());
        let condition = self.condition_text.as_deref().unwrap_or_default();
        let parts = [matcher.as_str(), condition, self.handler.kind(), handler.as_str()];
        // With each length before its part, so that no two lists of parts are one text.
        let lengths: Vec<String> = parts.iter().map(|part| format!("{}:", part.len())).collect();
        let pieces = lengths.iter().zip(parts).flat_map(|(length, part)| [length.as_bytes(), part.as_bytes()]);
        HandlerId(Digest::of_parts(pieces))
    }

    /// What it can do: nothing beyond watching when nobody waits for it.
    #[must_use]
    pub fn power(&self) -> Power {
        if self.background { Power::Observe } else { self.event.power() }
    }
}

/// Why a hook keeps its skill from being activated: it can block, and it cannot be run as its author meant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HookFault {
    /// The event it is for.
    pub event: HookEvent,
    /// The rule that a diagnostic about it would come from.
    pub code: Code,
    /// What is wrong, a sentence without a full stop.
    pub reason: String,
    /// The way out.
    pub help: Option<String>,
    /// Where in the skill's file.
    pub span: Span,
}

impl HookFault {
    /// As a finding about the file.
    #[must_use]
    pub fn diagnostic(&self) -> Diagnostic {
        let found = Diagnostic::new(self.code.clone(), format!("{}: {}", self.event, self.reason)).at(self.span);
        match &self.help {
            Some(help) => found.help(help.clone()),
            None => found,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_becomes_the_program_that_runs_it() {
        for (words, program) in [
            (&["./x.sh"][..], "'./x.sh'"),
            (&["a", "b c", "", "d'e", "$HOME", "plain-1"], r#"'a' 'b c' '' 'd'\''e' '$HOME' plain-1"#),
        ] {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(quoted(&words), program);
        }
    }
}
