/// A skill below this score is not loaded by itself.
pub const AUTO_LOAD_THRESHOLD: f32 = 0.30;

/// How many skills are loaded by themselves for one message.
pub const AUTO_LOAD_LIMIT: usize = 2;

/// How many characters all skills that are loaded by themselves for one message may have together.
pub const AUTO_LOAD_MAX_CHARS: usize = 12_000;

/// How much of the last message of the user goes into a query, in characters.
const FROM_MESSAGE: usize = 500;

/// The query that a turn asks by itself: what was typed, and the beginning of the user's last message.
#[must_use]
pub fn prefetch_query(input: Option<&str>, last_user_message: Option<&str>) -> String {
    let mut query = input.unwrap_or_default().trim().to_owned();
    if let Some(message) = last_user_message {
        let beginning: String = message.trim().chars().take(FROM_MESSAGE).collect();
        if !query.is_empty() && !beginning.is_empty() {
            query.push(' ');
        }
        query.push_str(&beginning);
    }
    query
}

#[cfg(test)]
mod tests {
    use super::prefetch_query;

    #[test]
    fn the_input_comes_first_and_the_message_is_cut() {
        assert_eq!(prefetch_query(Some(" deploy "), Some("now")), "deploy now");
        assert_eq!(prefetch_query(None, Some("now")), "now");
        assert_eq!(prefetch_query(Some("deploy"), None), "deploy");
        assert_eq!(prefetch_query(None, None), "");
        assert_eq!(prefetch_query(None, Some(&"界".repeat(600))).chars().count(), 500);
    }
}
