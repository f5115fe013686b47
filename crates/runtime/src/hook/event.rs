use serde::{Serialize, Serializer};
use skillgate_core::nearest;
use std::fmt;

/// What a hook can do to what its event is about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Power {
    /// Nothing: it watches, and may add text. A failure is reported and nothing else.
    Observe,
    /// It can keep the agent going, or a step from being taken. A failure changes nothing, because a broken hook would else keep
    /// an agent going for ever.
    Hold,
    /// It can keep the act from happening. A failure denies.
    Gate,
}

/// Defines [`HookEvent`] from one table: name, power, and the key of the input that a matcher is about.
macro_rules! events {
    ($( $(#[doc = $doc:literal])+ $name:ident, $power:ident, $matched:expr; )+) => {
        /// The events of the format, all of them.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum HookEvent { $( $(#[doc = $doc])+ $name, )+ }

        impl HookEvent {
            /// All of them, in the order of the documentation.
            pub const ALL: &'static [HookEvent] = &[ $( HookEvent::$name, )+ ];

            /// The name, as authors write it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $( HookEvent::$name => stringify!($name), )+ }
            }

            /// What its hooks can do.
            #[must_use]
            pub const fn power(self) -> Power {
                match self { $( HookEvent::$name => Power::$power, )+ }
            }

            /// The key of the event's input that a matcher is compared with; `None` for an event that matchers say nothing about.
            #[must_use]
            pub const fn matched_key(self) -> Option<&'static str> {
                match self { $( HookEvent::$name => $matched, )+ }
            }
        }
    };
}

events! {
    /// A conversation begins or goes on.
    SessionStart, Observe, Some("source");
    /// The host is set up or maintained.
    Setup, Observe, Some("trigger");
    /// The user sent a message.
    UserPromptSubmit, Gate, None;
    /// A typed command is about to become its text.
    UserPromptExpansion, Gate, Some("command_name");
    /// A tool is about to be used.
    PreToolUse, Gate, Some("tool_name");
    /// Somebody is about to be asked for a permission.
    PermissionRequest, Gate, Some("tool_name");
    /// A permission was not given.
    PermissionDenied, Observe, Some("tool_name");
    /// A tool was used.
    PostToolUse, Observe, Some("tool_name");
    /// The use of a tool failed.
    PostToolUseFailure, Observe, Some("tool_name");
    /// All tools of one answer were used.
    PostToolBatch, Hold, None;
    /// The user is notified.
    Notification, Observe, Some("notification_type");
    /// A message is shown.
    MessageDisplay, Observe, None;
    /// An agent below begins.
    SubagentStart, Observe, Some("agent_type");
    /// An agent below is about to end.
    SubagentStop, Hold, Some("agent_type");
    /// A task is about to be made.
    TaskCreated, Gate, None;
    /// A task is about to be completed.
    TaskCompleted, Hold, None;
    /// The agent is about to end its turn.
    Stop, Hold, None;
    /// A turn ended because of an error.
    StopFailure, Observe, Some("error");
    /// A member of a team is about to be idle.
    TeammateIdle, Hold, None;
    /// Instructions were read.
    InstructionsLoaded, Observe, Some("load_reason");
    /// Settings are about to change.
    ConfigChange, Gate, Some("source");
    /// The directory changed.
    CwdChanged, Observe, None;
    /// A directory was added.
    DirectoryAdded, Observe, None;
    /// A watched file changed.
    FileChanged, Observe, Some("file_path");
    /// A worktree is about to be made.
    WorktreeCreate, Gate, None;
    /// A worktree was removed.
    WorktreeRemove, Observe, None;
    /// The conversation is about to be compacted.
    PreCompact, Hold, Some("trigger");
    /// The conversation was compacted.
    PostCompact, Observe, Some("trigger");
    /// A server is about to ask the user.
    Elicitation, Gate, Some("mcp_server_name");
    /// The user's answer is about to go to a server.
    ElicitationResult, Gate, Some("mcp_server_name");
    /// A conversation ended.
    SessionEnd, Observe, Some("reason");
}

impl HookEvent {
    /// The event of a name, exactly as it is written.
    ///
    /// # Errors
    /// [`UnknownEvent`] with the names like it.
    pub fn parse(name: &str) -> Result<Self, UnknownEvent> {
        let found = HookEvent::ALL.iter().copied().find(|event| event.name() == name);
        found.ok_or_else(|| UnknownEvent {
            name: name.to_owned(),
            nearest: nearest(name, HookEvent::ALL.iter().map(|event| event.name())),
        })
    }

    /// Whether a hook can block what the event is about.
    #[must_use]
    pub const fn can_block(self) -> bool {
        !matches!(self.power(), Power::Observe)
    }

    /// Whether the event is about the use of a tool, which an `if` can be compared with.
    #[must_use]
    pub const fn is_about_a_tool(self) -> bool {
        matches!(
            self,
            HookEvent::PreToolUse
                | HookEvent::PostToolUse
                | HookEvent::PostToolUseFailure
                | HookEvent::PermissionRequest
                | HookEvent::PermissionDenied
        )
    }

    /// The event under which a hook of a skill runs in an agent below: its turn ends as that of an agent below.
    #[must_use]
    pub const fn in_agent_below(self) -> Self {
        match self {
            HookEvent::Stop => HookEvent::SubagentStop,
            other => other,
        }
    }

    /// The most that one hook of the event may take, milliseconds, where the format says less than usual.
    #[must_use]
    pub const fn own_timeout_ms(self) -> Option<u64> {
        match self {
            HookEvent::UserPromptSubmit => Some(30_000),
            HookEvent::SessionEnd => Some(1_500),
            _ => None,
        }
    }

    /// The most that all hooks of the event may take together, milliseconds.
    #[must_use]
    pub const fn total_timeout_ms(self) -> Option<u64> {
        match self {
            HookEvent::SessionEnd => Some(1_500),
            _ => None,
        }
    }
}

impl fmt::Display for HookEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for HookEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// A name that is no event's.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is no hook event `{name}`")]
pub struct UnknownEvent {
    /// The name.
    pub name: String,
    /// Names like it, the nearest first.
    pub nearest: Vec<&'static str>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_thirty_one_and_each_is_found_by_its_name() {
        assert_eq!(HookEvent::ALL.len(), 31);
        for event in HookEvent::ALL {
            assert_eq!(HookEvent::parse(event.name()), Ok(*event));
        }
        let unknown = HookEvent::parse("PreToolUSe").expect_err("case matters");
        assert_eq!(unknown.nearest.first(), Some(&"PreToolUse"));
    }

    #[test]
    fn what_can_be_blocked_is_what_the_format_says() {
        let blocking = "UserPromptSubmit UserPromptExpansion PreToolUse PermissionRequest PostToolBatch SubagentStop TaskCreated \
             TaskCompleted Stop TeammateIdle ConfigChange WorktreeCreate PreCompact Elicitation ElicitationResult";
        let found: Vec<&str> =
            HookEvent::ALL.iter().filter(|event| event.can_block()).map(|event| event.name()).collect();
        assert_eq!(found.join(" "), blocking);
    }
}
