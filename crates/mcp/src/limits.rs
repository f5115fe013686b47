use std::time::Duration;

/// What one server may cost. Each bound has its own finding, so that a person sees which one was reached.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct McpLimits {
    /// Time for starting a server or reaching it, and for the handshake.
    pub connect: Duration,
    /// Time for one request.
    pub request: Duration,
    /// Time for everything that is asked of a server to learn its skills.
    pub fetch: Duration,
    /// The longest message that is read, bytes.
    pub message_bytes: usize,
    /// Pages of one listing.
    pub pages: usize,
    /// Resources or prompts of one listing that are looked at.
    pub listed: usize,
    /// Skills of one server.
    pub skills: usize,
    /// One skill's text, bytes.
    pub skill_bytes: usize,
    /// The texts of one server together, bytes.
    pub total_bytes: usize,
    /// Findings about one server and what it offers; the worst are kept.
    pub findings: usize,
    /// Requests that wait for one server at once.
    pub requests_at_once: usize,
    /// Notifications of one server within a second. A server that sends more is left.
    pub notifications: u32,
    /// The shortest time between two looks at a server whose lists changed.
    pub refresh: Duration,
    /// The first wait before a server that is gone is tried again; doubled each time, up to a minute.
    pub retry: Duration,
}

impl Default for McpLimits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            request: Duration::from_secs(30),
            fetch: Duration::from_secs(60),
            message_bytes: 8 << 20,
            pages: 100,
            listed: 10_000,
            skills: 1_000,
            skill_bytes: 1 << 20,
            total_bytes: 32 << 20,
            findings: 100,
            requests_at_once: 8,
            notifications: 1_000,
            refresh: Duration::from_secs(1),
            retry: Duration::from_secs(1),
        }
    }
}
