use serde::{Deserialize, Serialize};
use std::fmt;

/// Whose policy file it is. It decides what the file may say.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The administrator's: the ceiling of everything below.
    Managed,
    /// The user's, and a file that is named for one run: what the host grants.
    User,
    /// The project's: it only takes away.
    Project,
}

impl Level {
    /// Where the file of the level is, as a person is told.
    #[must_use]
    pub const fn usual_place(self) -> &'static str {
        match self {
            Level::Managed => "/etc/skillgate/policy.toml",
            Level::User => "~/.config/skillgate/policy.toml",
            Level::Project => ".skillgate/policy.toml",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Level::Managed => "managed",
            Level::User => "user",
            Level::Project => "project",
        })
    }
}

/// The levels whose files may hold a key.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Setter {
    /// Every file: the key only takes away.
    Everybody,
    /// The managed file and the user's.
    Host,
    /// The managed file alone.
    Managed,
}

impl Setter {
    /// Whether a file of this level may hold the key.
    #[must_use]
    pub const fn includes(self, level: Level) -> bool {
        match (self, level) {
            (Setter::Everybody, _) | (Setter::Host, Level::Managed | Level::User) => true,
            (Setter::Managed, level) => matches!(level, Level::Managed),
            (Setter::Host, Level::Project) => false,
        }
    }

    /// The file that the key belongs in, when it is found in one that may not hold it.
    #[must_use]
    pub const fn belongs_in(self) -> Level {
        match self {
            Setter::Everybody | Setter::Host => Level::User,
            Setter::Managed => Level::Managed,
        }
    }
}
