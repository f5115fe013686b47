use serde::{Deserialize, Serialize};
use std::fmt;

/// A step of the set-up. The order is the order in which they are gone through; as an unprivileged user, what is mounted is
/// opened after the namespaces exist, because only then may it be.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Find the helper, start it, give it the plan.
    Helper,
    /// Close every descriptor but the three standard ones and the control socket.
    Descriptors,
    /// Open what is mounted, and compare it with what was approved.
    Sources,
    /// As root: become a user that owns nothing.
    User,
    /// User, mount, pid, net, ipc, uts and cgroup namespaces.
    Namespaces,
    /// The new root: system directories, project, /proc, /dev, private directories.
    Mounts,
    /// Make it the root, and take the old one away.
    Root,
    /// A second user and mount namespace, so that no mount can be changed from within.
    Lock,
    /// Process 1 of the namespace: session, umask, held to the life of its parent.
    Init,
    /// Resource limits.
    Limits,
    /// No capabilities, no new privileges, not dumpable.
    Privileges,
    /// Landlock, fully enforced.
    Landlock,
    /// The system call filter.
    Seccomp,
    /// Open the program, compare it with what was approved, execute it by descriptor.
    Program,
    /// The self-test: from inside, nothing of the host can be reached.
    Canary,
}

impl Stage {
    /// Every stage in order.
    pub const ALL: [Stage; 15] = [
        Stage::Helper,
        Stage::Descriptors,
        Stage::Sources,
        Stage::User,
        Stage::Namespaces,
        Stage::Mounts,
        Stage::Root,
        Stage::Lock,
        Stage::Init,
        Stage::Limits,
        Stage::Privileges,
        Stage::Landlock,
        Stage::Seccomp,
        Stage::Program,
        Stage::Canary,
    ];

    /// The stage's name in reports and messages.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Stage::Helper => "helper",
            Stage::Descriptors => "descriptors",
            Stage::Sources => "sources",
            Stage::User => "user",
            Stage::Namespaces => "namespaces",
            Stage::Mounts => "mounts",
            Stage::Root => "root",
            Stage::Lock => "lock",
            Stage::Init => "init",
            Stage::Limits => "limits",
            Stage::Privileges => "privileges",
            Stage::Landlock => "landlock",
            Stage::Seccomp => "seccomp",
            Stage::Program => "program",
            Stage::Canary => "canary",
        }
    }

    /// The stage of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|stage| stage.as_str() == name)
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a stage enforced in one run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StageReport {
    /// The stage.
    pub stage: Stage,
    /// What holds from then on, for people.
    pub detail: String,
}

/// This machine cannot do all of a stage's part, so nothing ran.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, thiserror::Error)]
#[error("the host sandbox is not available (stage {stage}): {reason}")]
pub struct Unavailable {
    /// The stage that failed.
    pub stage: Stage,
    /// Why.
    pub reason: String,
}

impl Unavailable {
    /// What failed, and why.
    #[must_use]
    pub fn new(stage: Stage, reason: impl Into<String>) -> Self {
        Self { stage, reason: reason.into() }
    }
}

/// The plan does not fit what the stage found, so nothing ran: a path vanished or was replaced, a program is none.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, thiserror::Error)]
#[error("refused (stage {stage}): {reason}")]
pub struct Refused {
    /// The stage that found it.
    pub stage: Stage,
    /// What is wrong, and with which path.
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_is_found_by_its_name_and_written_by_it() {
        for stage in Stage::ALL {
            assert_eq!(Stage::named(stage.as_str()), Some(stage));
            assert_eq!(serde_json::to_value(stage).expect("serializes"), stage.as_str());
        }
        assert_eq!(Stage::named("none"), None);
        assert!(Stage::ALL.is_sorted());
    }
}
