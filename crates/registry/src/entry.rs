use crate::listing::entry::LineLength;
use crate::requires::Unmet;
use skillgate_core::{Guarded, Skill, Source};
use std::fmt;
use std::sync::Arc;

/// One skill of the catalogue, whether or not its name leads to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    pub(crate) skill: Arc<Skill>,
    pub(crate) qualified_name: String,
    pub(crate) state: State,
    pub(crate) unmet: Option<Unmet>,
    /// How many directories deep in the project it was found, when that was after the others.
    pub(crate) nested: Option<usize>,
    /// Whether it is called by its qualified name alone, though nothing hides it.
    pub(crate) in_full: bool,
    /// How long its line of a listing is.
    pub(crate) length: LineLength,
}

impl Entry {
    /// The skill.
    #[must_use]
    pub fn skill(&self) -> &Arc<Skill> {
        &self.skill
    }

    /// The name that always leads to this skill: `source:name`, with `#2`, `#3` … for further ones of the same source. A
    /// plugin's is `plugin:name` with the plugin's own name.
    #[must_use]
    pub fn qualified_name(&self) -> &str {
        &self.qualified_name
    }

    /// The name that users and models call it by: its command's, unless that leads to another skill and both can be used.
    #[must_use]
    pub fn called(&self) -> &str {
        if self.in_full { &self.qualified_name } else { self.skill.id.command.as_str() }
    }

    /// Gives the skill a name of its own, by which it is known everywhere.
    pub(crate) fn set_apart(&mut self, qualified_name: String) {
        Arc::make_mut(&mut self.skill).id.apart = Some(qualified_name.as_str().into());
        self.qualified_name = qualified_name;
    }

    /// Whether the bare name leads to it.
    pub(crate) fn holds_name(&self) -> bool {
        self.state.competes() && !self.in_full && !matches!(self.state, State::Shadowed { .. })
    }

    /// What became of it.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// What the skill requires and does not have. It keeps a skill from being invoked also where another has its name.
    #[must_use]
    pub fn unmet(&self) -> Option<&Unmet> {
        self.unmet.as_ref()
    }

    /// Whether it was found in a directory inside the project.
    #[must_use]
    pub fn is_nested(&self) -> bool {
        self.nested.is_some()
    }

    /// Whether the listing, the search and the Skill tool name it to a model.
    #[must_use]
    pub fn is_offered_to_model(&self) -> bool {
        // A description that was taken from the text is not the author's word for what comes from elsewhere.
        let frontmatter = &self.skill.frontmatter;
        let own_words = frontmatter.gives_description() || frontmatter.when_to_use().is_some();
        let needs_own_words = matches!(self.skill.id.source, Source::Plugin | Source::Mcp);
        matches!(self.state, State::Active | State::Hidden)
            && self.skill.model_invocable()
            && (own_words || !needs_own_words)
    }

    /// Whether a person may invoke it by its qualified name: the bare name leads elsewhere when it is shadowed.
    #[must_use]
    pub fn is_open_to_user(&self) -> bool {
        let usable = match &self.state {
            State::Active | State::Conditional | State::Hidden | State::Shadowed { .. } => true,
            State::Untrusted
            | State::UntrustedPlugin
            | State::Disabled { .. }
            | State::LeftOut { .. }
            | State::Unavailable { .. }
            | State::Broken => false,
        };
        usable && self.unmet.is_none() && self.skill.user_invocable()
    }
}

/// What became of a skill.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum State {
    /// Its name leads to it.
    Active,
    /// Its name leads to it; by itself it becomes active only when a file that its `paths` name is touched.
    Conditional,
    /// Its name leads to it, and its author keeps it out of the user's list (`user-invocable: false`).
    Hidden,
    /// Its name leads to another skill.
    Shadowed {
        /// Qualified name of the skill that took the name.
        by: String,
        /// Why that one.
        reason: ShadowReason,
    },
    /// The policy switches it off.
    Disabled {
        /// The pattern that does.
        pattern: String,
    },
    /// The policy switches off all skills but others.
    LeftOut {
        /// Which of the lists of [`CatalogueOptions::only`](crate::CatalogueOptions::only) it is not in, from 0.
        list: usize,
    },
    /// It is the project's, and the project is not trusted.
    Untrusted,
    /// It is a plugin's, and the plugin's directory is not trusted.
    UntrustedPlugin,
    /// Its name leads to it, and something that it requires is not there. It keeps its name: what a name means does not depend on
    /// what is installed beside it.
    Unavailable {
        /// What is not there.
        unmet: Unmet,
    },
    /// Its header is lost; the text can be read, and nothing else.
    Broken,
}

impl State {
    /// The state in one word, as it is written in output.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            State::Active => "active",
            State::Conditional => "conditional",
            State::Hidden => "hidden",
            State::Shadowed { .. } => "shadowed",
            State::Disabled { .. } | State::LeftOut { .. } => "disabled",
            State::Untrusted | State::UntrustedPlugin => "untrusted",
            State::Unavailable { .. } => "unavailable",
            State::Broken => "broken",
        }
    }

    /// Whether the skill takes part when a name is given.
    pub(crate) fn competes(&self) -> bool {
        !matches!(
            self,
            State::Disabled { .. } | State::LeftOut { .. } | State::Untrusted | State::UntrustedPlugin | State::Broken
        )
    }
}

/// The state with its reason, in words.
impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())?;
        match self {
            State::Active => Ok(()),
            State::Conditional => f.write_str(": becomes active when a file that its `paths` name is touched"),
            State::Hidden => f.write_str(": its author keeps it out of the user's list"),
            State::Shadowed { by, reason } => write!(f, " by `{by}`: {reason}"),
            State::Disabled { pattern } => write!(f, " by the policy: `{pattern}`"),
            State::LeftOut { .. } => f.write_str(" by the policy, which names the only skills that are not"),
            State::Untrusted => f.write_str(": the project is not trusted"),
            State::UntrustedPlugin => f.write_str(": the plugin is not trusted"),
            State::Unavailable { unmet } => write!(f, ": {unmet}"),
            State::Broken => f.write_str(": its header cannot be read"),
        }
    }
}

/// Why one skill of a name goes before another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ShadowReason {
    /// Its source goes before the other's.
    Source {
        /// The source that goes first.
        winner: Source,
        /// The source that stands back.
        loser: Source,
    },
    /// In one source a skill goes before a legacy command.
    SkillBeforeCommand,
    /// In one source the nearer directory goes first.
    NearerRoot,
    /// Nothing else tells them apart: the path decides.
    Path,
}

impl fmt::Display for ShadowReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShadowReason::Source { winner, loser } => write!(f, "{winner} goes before {loser}"),
            ShadowReason::SkillBeforeCommand => f.write_str("a skill goes before a command"),
            ShadowReason::NearerRoot => f.write_str("its directory is nearer"),
            ShadowReason::Path => f.write_str("its path sorts first"),
        }
    }
}

/// Whether the skill waits for a file to be touched. A `paths` that cannot be read waits for ever.
pub(crate) fn is_conditional(skill: &Skill) -> bool {
    match skill.frontmatter.paths() {
        Guarded::Absent => false,
        Guarded::Present(paths) => !paths.value.iter().all(|path| path.value == "**"),
        Guarded::Unreadable(_) => true,
    }
}
