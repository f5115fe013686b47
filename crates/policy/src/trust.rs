//! How much a skill may do at most, by where it comes from and what the host said about that place (docs/design: trust).

use crate::caveat::{Caveat, CaveatKind};
use crate::pattern::ToolPattern;
use skillgate_core::{Digest, Right, Rights, SkillId, Source};

/// What the host said about the place a skill comes from.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Trust<'h> {
    /// Nothing.
    Unknown,
    /// The project's folder, or the plugin's marketplace or directory, is trusted; beyond text and read-only commands the
    /// skill has these rights, which were granted for its present content.
    Folder(&'h Rights),
    /// The host trusts the project as it is in front of it, for one session.
    Session,
    /// The pack is signed by a key that the policy names, and whose packs are granted this.
    Key(&'h SignerGrant),
}

/// What the policy grants packs for the keys that signed them.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SignerGrant {
    /// Their commands: what the host grants and one of these permits.
    pub allow: Vec<ToolPattern>,
    /// Whether their hooks run.
    pub hooks: bool,
}

/// What a skill may do at most, whatever the host grants otherwise.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum SkillCeiling<'h> {
    /// All that the host grants.
    Host,
    /// Text, commands that only read, and what these rights name.
    Folder(&'h Rights),
    /// What the host grants and this permits.
    Signed(&'h SignerGrant),
    /// Its text, in which nothing runs: no injection, no grant, no hook.
    TextOnly,
    /// Nothing: it is shown to the user, and to nobody else.
    Nothing,
}

/// The ceiling of a skill. Trust of a kind that has no meaning for a source is none.
#[must_use]
pub fn skill_ceiling(source: Source, trust: Trust<'_>) -> SkillCeiling<'_> {
    match source {
        Source::Managed | Source::Bundled | Source::User | Source::Additional => SkillCeiling::Host,
        Source::Project => match trust {
            Trust::Session => SkillCeiling::Host,
            Trust::Folder(rights) => SkillCeiling::Folder(rights),
            Trust::Unknown | Trust::Key(_) => SkillCeiling::Nothing,
        },
        // A session is of one project; a plugin is not part of it.
        Source::Plugin => match trust {
            Trust::Folder(rights) => SkillCeiling::Folder(rights),
            Trust::Unknown | Trust::Session | Trust::Key(_) => SkillCeiling::Nothing,
        },
        Source::Pack => match trust {
            Trust::Key(grant) => SkillCeiling::Signed(grant),
            Trust::Unknown | Trust::Session | Trust::Folder(_) => SkillCeiling::TextOnly,
        },
        Source::Mcp => SkillCeiling::TextOnly,
    }
}

impl SkillCeiling<'_> {
    /// Whether the skill may be invoked, offered to a model and shadow another.
    #[must_use]
    pub fn permits_use(&self) -> bool {
        !matches!(self, SkillCeiling::Nothing)
    }

    /// Whether commands in its text may run.
    #[must_use]
    pub fn permits_injections(&self) -> bool {
        match self {
            SkillCeiling::Host | SkillCeiling::Folder(_) | SkillCeiling::Signed(_) => true,
            SkillCeiling::TextOnly | SkillCeiling::Nothing => false,
        }
    }

    /// Whether the ceiling leaves a right; the host has to grant what it is about all the same.
    #[must_use]
    pub fn permits(&self, right: Right) -> bool {
        match self {
            SkillCeiling::Host => true,
            SkillCeiling::Folder(rights) => rights.contains(right),
            // Patterns are about tools, so they say where it may write and which programs it may run.
            SkillCeiling::Signed(grant) => match right {
                Right::Write | Right::Native => true,
                Right::Hooks => grant.hooks,
                Right::PreApprove => false,
            },
            SkillCeiling::TextOnly | SkillCeiling::Nothing => false,
        }
    }

    /// The ceiling as conditions on the skill's commands.
    #[must_use]
    pub fn caveats(&self, skill: &SkillId, digest: Digest) -> Vec<Caveat> {
        let nothing = |reason: &str| CaveatKind::Nothing { reason: reason.to_owned() };
        let kind = match self {
            SkillCeiling::Host => None,
            SkillCeiling::Folder(rights) if rights.contains(Right::Write) => None,
            SkillCeiling::Folder(_) => {
                let writing = ["Write", "Edit", "MultiEdit"].into_iter();
                // A bare tool name is a pattern; were one not, the skill would have nothing rather than too much.
                let patterns: Result<Vec<_>, _> = writing.map(ToolPattern::parse).collect();
                Some(patterns.map_or_else(|_| nothing("it may not write"), CaveatKind::Without))
            }
            SkillCeiling::Signed(grant) => {
                Some(CaveatKind::Only { patterns: grant.allow.clone(), unreadable: Vec::new() })
            }
            SkillCeiling::TextOnly => Some(nothing("skills of its source are text only")),
            SkillCeiling::Nothing => Some(nothing("the place it comes from is not trusted")),
        };
        kind.map(|kind| Caveat { skill: skill.clone(), digest, kind }).into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Authority, CommandRequest, Effect, Gate, Host, Place, Provider, Rule};
    use skillgate_core::CommandName;

    /// What the table of the design says, in one word for each kind of trust.
    fn in_a_word(ceiling: SkillCeiling<'_>) -> &'static str {
        match ceiling {
            SkillCeiling::Host => "host",
            SkillCeiling::Folder(_) => "folder",
            SkillCeiling::Signed(_) => "signed",
            SkillCeiling::TextOnly => "text",
            SkillCeiling::Nothing => "nothing",
        }
    }

    #[test]
    fn each_source_has_the_ceiling_of_the_table() {
        let (rights, grant) = (Rights::NONE, SignerGrant::default());
        let trusts = [Trust::Unknown, Trust::Folder(&rights), Trust::Session, Trust::Key(&grant)];
        let table = |source| match source {
            Source::Managed | Source::Bundled | Source::User | Source::Additional => ["host"; 4],
            Source::Project => ["nothing", "folder", "host", "nothing"],
            Source::Plugin => ["nothing", "folder", "nothing", "nothing"],
            Source::Pack => ["text", "text", "text", "signed"],
            Source::Mcp => ["text"; 4],
        };
        for source in Source::ALL {
            let found = trusts.map(|trust| in_a_word(skill_ceiling(source, trust)));
            assert_eq!(found, table(source), "{source}");
        }
    }

    #[test]
    fn rights_are_what_was_granted_and_nothing_below_a_folder_has_any() {
        let hooks = Rights::from_iter([Right::Hooks]);
        for right in Right::ALL {
            assert!(SkillCeiling::Host.permits(right));
            assert_eq!(SkillCeiling::Folder(&hooks).permits(right), right == Right::Hooks);
            assert!(!SkillCeiling::TextOnly.permits(right) && !SkillCeiling::Nothing.permits(right));
            for hooks in [false, true] {
                let grant = SignerGrant { allow: Vec::new(), hooks };
                let expected = match right {
                    Right::Write | Right::Native => true,
                    Right::Hooks => hooks,
                    Right::PreApprove => false,
                };
                assert_eq!(SkillCeiling::Signed(&grant).permits(right), expected, "{right} {hooks}");
            }
        }
        assert!(!SkillCeiling::TextOnly.permits_injections() && SkillCeiling::TextOnly.permits_use());
        assert!(!SkillCeiling::Nothing.permits_use());
    }

    #[test]
    fn a_ceiling_only_takes_away_from_what_the_host_grants() {
        let rules = ["Bash(ls:*)", "Bash(wc:*)", "Write(/out)"];
        let rules = rules.map(|text| Rule::parse(Effect::Allow, text, Place::Host).expect("a rule"));
        let host = Host::granting(rules);
        let id = SkillId::new(Source::Project, CommandName::new("x").expect("a name"));
        let write = Rights::from_iter([Right::Write]);
        let patterns = ["Bash(ls:*)", "Bash(rm:*)"].map(|text| ToolPattern::parse(text).expect("a pattern"));
        let only = SignerGrant { allow: patterns.to_vec(), hooks: false };
        for (ceiling, expected) in [
            (SkillCeiling::Host, [true, true, false, true]),
            (SkillCeiling::Folder(&Rights::NONE), [true, true, false, false]),
            (SkillCeiling::Folder(&write), [true, true, false, true]),
            (SkillCeiling::Signed(&only), [true, false, false, false]),
            (SkillCeiling::TextOnly, [false; 4]),
            (SkillCeiling::Nothing, [false; 4]),
        ] {
            let caveats = ceiling.caveats(&id, Digest::of(b"x"));
            let gate = Gate::new(caveats.into_iter().fold(Authority::of(host.clone()), Authority::with));
            let runs = |name: &str| gate.approve(CommandRequest::from_author(&[name, "-l"], Provider::Shipped)).is_ok();
            // `wc` is a stream filter, which may run without files; what it sees tells the two apart.
            let sees = |name: &str| {
                gate.approve(CommandRequest::from_author(&[name, "-l"], Provider::Shipped))
                    .is_ok_and(|approved| approved.sight() == crate::Sight::Granted)
            };
            let found = [runs("ls"), sees("wc"), runs("rm"), gate.paths().may_write("out/file")];
            assert_eq!(found, expected, "{}", in_a_word(ceiling));
        }
    }
}
