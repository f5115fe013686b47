use crate::{Entry, Field, GivenKeys, Guarded, Value};
use serde::Serialize;
use std::fmt;

/// What became of the header block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum HeaderState {
    /// Read as it stands.
    Parsed,
    /// Read after a repair, or from another place than the start.
    Recovered,
    /// There is none.
    Absent,
    /// Two delimiters and nothing between.
    Empty,
    /// Never closed; nothing of it is used.
    Unclosed,
    /// Cannot be read; nothing of it is used.
    Unparseable,
}

impl HeaderState {
    /// Whether the header's loss means that the skill keeps no authority and is not offered to a model.
    #[must_use]
    pub const fn is_lost(self) -> bool {
        matches!(self, HeaderState::Unclosed | HeaderState::Unparseable)
    }
}

/// Where a skill runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Context {
    /// In the conversation that invoked it.
    #[default]
    Inline,
    /// In an agent of its own.
    Fork,
}

/// The model a skill asks for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(transparent)]
pub struct ModelChoice(pub String);

/// How much thinking a skill asks for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// `low`
    Low,
    /// `medium`
    Medium,
    /// `high`
    High,
    /// `xhigh`
    Xhigh,
    /// `max`
    Max,
    /// A number, which some authors write; accepted with a diagnostic.
    Number(u64),
}

/// What a skill needs to be there.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Requires {
    /// Other skills, by name.
    pub skills: Vec<Field<String>>,
    /// Tools of the host.
    pub tools: Vec<Field<String>>,
    /// Commands that its injections and scripts run.
    pub programs: Vec<Field<String>>,
    /// The least version of Skillgate.
    pub version: Option<Field<Version>>,
}

/// A version of Skillgate: major, minor and patch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize)]
pub struct Version(pub [u32; 3]);

impl Version {
    /// Reads one to three numbers with dots between; `>=` may stand before, and what is left out is 0.
    ///
    /// ```
    /// use skillgate_core::Version;
    ///
    /// assert_eq!(Version::parse(">= 1.2"), Some(Version([1, 2, 0])));
    /// assert_eq!(Version::parse("1.x"), None);
    /// ```
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let text = text.strip_prefix(">=").unwrap_or(text).trim_start();
        let mut version = [0; 3];
        for (index, part) in text.split('.').enumerate() {
            let is_number = part.bytes().all(|byte| byte.is_ascii_digit());
            *version.get_mut(index)? = part.parse().ok().filter(|_| is_number)?;
        }
        Some(Self(version))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.0;
        write!(f, "{major}.{minor}.{patch}")
    }
}

/// The header's keys as typed values. A missing key is `None` or [`Guarded::Absent`], never a default.
///
/// Keys that decide over authority are [`Guarded`]: what cannot be read there fails closed.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Frontmatter {
    /// The label; the command is the directory's name.
    pub name: Option<Field<String>>,
    /// What the skill does, for the listing.
    pub description: Option<Field<String>>,
    /// When to use it, appended to the description in the listing.
    pub when_to_use: Option<Field<String>>,
    /// The tools the skill is content with: narrows, entry by entry.
    pub allowed_tools: Guarded<Vec<Field<String>>>,
    /// The tools the skill gives up.
    pub disallowed_tools: Guarded<Vec<Field<String>>>,
    /// Text shown while arguments are typed.
    pub argument_hint: Option<Field<String>>,
    /// Names of the arguments, by position.
    pub arguments: Vec<Field<String>>,
    /// The author's version, as written.
    pub version: Option<Field<String>>,
    /// The model the skill asks for; `inherit` is no wish.
    pub model: Option<Field<ModelChoice>>,
    /// Whether a model may not invoke the skill.
    pub disable_model_invocation: Guarded<bool>,
    /// Whether a user may invoke the skill.
    pub user_invocable: Guarded<bool>,
    /// Hooks, unresolved.
    pub hooks: Guarded<Value>,
    /// Inline or forked.
    pub context: Option<Field<Context>>,
    /// The kind of agent a fork runs in.
    pub agent: Option<Field<String>>,
    /// Whether a fork runs in the background.
    pub background: Option<Field<bool>>,
    /// Whether a listing names the skill without its description, which a search finds.
    pub deferred: Option<Field<bool>>,
    /// How much thinking the skill asks for.
    pub effort: Option<Field<Effort>>,
    /// The shell the author expects.
    pub shell: Guarded<String>,
    /// Path patterns that activate the skill.
    pub paths: Guarded<Vec<Field<String>>>,
    /// What has to be there for the skill to be used.
    pub requires: Option<Requires>,
    /// The licence, as written.
    pub license: Option<Field<String>>,
    /// What the skill needs to work, as written.
    pub compatibility: Option<Field<String>>,
    /// Free data of the author.
    pub metadata: Option<Value>,
    /// Every other key, as written.
    #[serde(serialize_with = "as_map")]
    pub other: Vec<Entry>,
}

/// A value that is absent when its key is not given.
trait Given {
    fn is_given(&self) -> bool;
}

impl<T> Given for Option<T> {
    fn is_given(&self) -> bool {
        self.is_some()
    }
}

impl<T> Given for Vec<T> {
    fn is_given(&self) -> bool {
        !self.is_empty()
    }
}

impl<T> Given for Guarded<T> {
    fn is_given(&self) -> bool {
        !self.is_absent()
    }
}

/// The fields in their order, so that each has its bit.
macro_rules! fields {
    ($($field:ident),+ $(,)?) => {
        impl Frontmatter {
            /// The fields' names in their order, the key of which a bit of [`GivenKeys`] stands for.
            const FIELDS: &[&str] = &[$(stringify!($field)),+];

            /// Which keys the header gives a value to.
            #[must_use]
            pub fn given(&self) -> GivenKeys {
                let Self { $($field),+ } = self;
                let given = [$($field.is_given()),+];
                GivenKeys::from_bits(given.iter().rev().fold(0, |bits, given| bits << 1 | u32::from(*given)))
            }
        }
    };
}

fields! {
    name, description, when_to_use, allowed_tools, disallowed_tools, argument_hint, arguments, version, model,
    disable_model_invocation, user_invocable, hooks, context, agent, background, deferred, effort, shell, paths, requires,
    license, compatibility, metadata, other,
}

impl GivenKeys {
    /// The bit of the key that this field is for.
    #[must_use]
    pub(crate) const fn of_field(name: &str) -> Self {
        let mut at = 0;
        while at < Frontmatter::FIELDS.len() {
            if is_same(Frontmatter::FIELDS[at], name) {
                return Self::from_bits(1 << at);
            }
            at += 1;
        }
        Self::from_bits(u32::MAX)
    }
}

const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

fn as_map<S: serde::Serializer>(entries: &[Entry], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(entries.iter().map(|entry| (&entry.key, &entry.value)))
}
