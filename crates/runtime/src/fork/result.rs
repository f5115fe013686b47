use super::AgentOutput;

/// The result of an agent that said nothing.
pub const COMPLETED: &str = "Skill execution completed";

/// Characters of a result; what is longer is cut, which is said.
pub const MAX_RESULT_CHARS: usize = 100_000;

/// The text that the caller gets: the last thing the agent said, or [`COMPLETED`].
#[must_use]
pub fn result_text(output: &AgentOutput) -> String {
    let said = output.messages.iter().rev().map(|message| message.trim()).find(|message| !message.is_empty());
    let Some(said) = said else { return COMPLETED.to_owned() };
    let chars = said.chars().count();
    if chars <= MAX_RESULT_CHARS {
        return said.to_owned();
    }
    let mark = format!("\n\n[Cut here: a result has at most {MAX_RESULT_CHARS} characters, and this one has {chars}.]");
    let kept: String = said.chars().take(MAX_RESULT_CHARS - mark.chars().count()).collect();
    kept + &mark
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_message_with_text_is_the_result() {
        let of = |messages: &[&str]| {
            result_text(&AgentOutput { messages: messages.iter().map(|&message| message.to_owned()).collect() })
        };
        assert_eq!(of(&[]), COMPLETED);
        assert_eq!(of(&[" \n", ""]), COMPLETED);
        assert_eq!(of(&["first", "last\n", "  "]), "last");
        let whole = "ä".repeat(MAX_RESULT_CHARS);
        assert_eq!(of(&[&whole]), whole);
        let cut = of(&[&format!("{whole}x")]);
        assert!(cut.chars().count() == MAX_RESULT_CHARS && cut.ends_with("and this one has 100001.]"), "{}", cut.len());
    }
}
