use super::keys::{HOOK_TIMEOUT_MS, MCP_CONNECT_MS, MCP_REQUEST_MS};
use super::sections::PolicyFile;
use super::settings::{
    ComponentSettings, Day, KeyStanding, McpPolicy, OnFailure, PolicySkills, PreApproveSettings, ProgramSettings,
    PublicKey, Setting, SignerSettings,
};
use crate::builtin_limits;
use crate::host::{Defaults, Host};
use crate::level::{Ceiling, PreApproval, Restriction};
use crate::rule::{Effect, Place, Rule};
use crate::trust::SignerGrant;
use skillgate_core::{Limits, Profile, Source};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What the command line, or the program that embeds Skillgate, says on top of the files.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Options {
    /// Rules for this run.
    pub rules: Vec<Rule>,
    /// The profile.
    pub profile: Option<Setting<Profile>>,
    /// The only names of skills that are not switched off.
    pub only: Option<Setting<Vec<String>>>,
    /// Where Skillgate keeps its own files.
    pub store: Option<Setting<String>>,
    /// The file that gets the record.
    pub audit_log: Option<Setting<String>>,
}

/// The files and options of one run, from the ceiling to what only takes away.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Layers {
    /// The administrator's file: the ceiling.
    pub managed: Option<PolicyFile>,
    /// The user's file.
    pub user: Option<PolicyFile>,
    /// A file for this run.
    pub run: Option<PolicyFile>,
    /// Options for this run.
    pub options: Options,
    /// The project's file: it only takes away.
    pub project: Option<PolicyFile>,
}

/// The policy in force: built-in default, then the user's file, then a file and options for this run; all of it inside the
/// managed file, and narrowed by the project's. Each setting keeps where it comes from.
///
/// A setting that only takes away holds when any level says it. Any other setting of the managed file is final.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Policy {
    /// Whether there are skills at all.
    pub skills_enabled: Setting<bool>,
    /// Names of skills that are switched off.
    pub disable: Vec<Setting<String>>,
    /// The only names of skills that are not switched off; a skill has to be in each of these lists. A `set:NAME` stands there only
    /// when there is no such set, and then it is no skill's name.
    pub only: Vec<Setting<Vec<String>>>,
    /// Names that a listing never cuts.
    pub pin: Vec<Setting<String>>,
    /// Several names under one.
    pub sets: BTreeMap<String, Setting<Vec<String>>>,
    /// Whether the environment may turn managed skills off.
    pub policy_skills: Setting<PolicySkills>,
    /// How many directories lead from a directory of skills to a skill.
    pub skill_depth: Setting<u8>,
    /// Where Skillgate keeps its own files, when something says so.
    pub store: Option<Setting<String>>,
    /// The description of the format that is followed.
    pub profile: Setting<Profile>,
    /// Whether injections run, for skills that are neither managed nor bundled.
    pub shell: Setting<bool>,
    /// The same for managed and bundled skills.
    pub managed_shell: Setting<bool>,
    /// What a failed injection does.
    pub on_failure: Setting<OnFailure>,
    /// What turns ask into allow.
    pub pre_approve: Option<Setting<PreApproveSettings>>,
    /// Programs of the machine, by name.
    pub programs: BTreeMap<String, Setting<ProgramSettings>>,
    /// Commands of third parties, by name.
    pub components: BTreeMap<String, Setting<ComponentSettings>>,
    /// Who signs packs, by id.
    pub keys: BTreeMap<String, Setting<SignerSettings>>,
    /// The keys that a file revokes; they count for none.
    pub revoked: BTreeSet<PublicKey>,
    /// Every limit with its number.
    pub limits: Vec<(&'static str, Setting<u64>)>,
    /// Wall time of one hook, milliseconds.
    pub hook_timeout_ms: Setting<u64>,
    /// What holds for servers of skills.
    pub mcp: McpPolicy,
    /// The file that gets the record.
    pub audit_log: Option<Setting<String>>,
    /// Whether a run whose record cannot be written is refused.
    pub audit_required: Setting<bool>,
    rules: Rules,
}

/// The names, with those of a set in place of `set:NAME`.
fn with_sets(names: &[String], sets: &BTreeMap<String, Setting<Vec<String>>>) -> Vec<String> {
    let known = |name: &str| sets.get(name.strip_prefix("set:")?).map(|set| set.value.clone());
    names.iter().flat_map(|name| known(name).unwrap_or_else(|| vec![name.clone()])).collect()
}

/// Whose a rule is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RuleLevel {
    /// The managed file's.
    Managed,
    /// The user's file's.
    User,
    /// That of a file or an option for this run.
    Run,
    /// The project's file's.
    Project,
}

impl fmt::Display for RuleLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RuleLevel::Managed => "managed",
            RuleLevel::User => "user",
            RuleLevel::Run => "run",
            RuleLevel::Project => "project",
        })
    }
}

/// The rules by what they can do.
#[derive(Clone, PartialEq, Debug, Default)]
struct Rules {
    managed: Vec<Rule>,
    /// Where the managed file says what is the most that can be granted.
    closed: Option<Place>,
    user: Vec<Rule>,
    run: Vec<Rule>,
    project: Vec<Rule>,
}

impl Policy {
    /// The policy that these make together.
    #[must_use]
    pub fn of(layers: Layers) -> Self {
        let Layers { managed, user, run, options, project } = layers;
        let host: Vec<&PolicyFile> = [&user, &run].into_iter().flatten().collect();
        let all: Vec<&PolicyFile> = [&managed, &user, &run, &project].into_iter().flatten().collect();
        let choice = Choice { managed: managed.as_ref(), host: &host };
        let profile = choice.of(|file| file.profile.name.as_ref(), options.profile.as_ref());
        let off = |setting: Option<&Setting<bool>>| setting.is_some_and(|setting| !setting.value);
        let sets = choice.named(|file| file.skills.sets.clone().into_iter());
        let only = all.iter().filter_map(|file| file.skills.only.as_ref()).chain(&options.only);
        let only = only.map(|list| Setting::new(with_sets(&list.value, &sets), list.place.clone())).collect();
        let managed_shell = managed.as_ref().and_then(|file| file.profile.shell.clone()).filter(|on| off(Some(on)));

        Self {
            skills_enabled: choice.restricted(|file| file.skills.enabled.as_ref(), &false, true),
            disable: all.iter().flat_map(|file| file.skills.disable.iter().cloned()).collect(),
            pin: choice.files().flat_map(|file| file.skills.pin.iter().cloned()).collect(),
            only,
            sets,
            policy_skills: choice.of(|file| file.skills.policy_skills.as_ref(), None).unwrap_or_else(builtin),
            skill_depth: choice.of(|file| file.skills.depth.as_ref(), None).unwrap_or(Setting::new(1, Place::BuiltIn)),
            store: choice.of(|file| file.skills.store.as_ref(), options.store.as_ref()),
            profile: profile.unwrap_or_else(builtin),
            shell: choice.restricted(|file| file.profile.shell.as_ref(), &false, true),
            managed_shell: managed_shell.unwrap_or(Setting::new(true, Place::BuiltIn)),
            on_failure: choice.restricted(|file| file.profile.on_failure.as_ref(), &OnFailure::Abort, OnFailure::Abort),
            pre_approve: choice.of(|file| file.pre_approve.as_ref(), None),
            programs: choice.named(|file| file.programs.clone().into_iter()),
            components: choice.named(|file| file.components.clone().into_iter()),
            revoked: all
                .iter()
                .flat_map(|file| &file.keys)
                .filter(|key| key.value.revoked)
                .map(|key| key.value.public)
                .collect(),
            keys: choice.named(|file| file.keys.iter().map(|key| (key.value.id.clone(), key.clone()))),
            limits: lowest_limits(&all),
            hook_timeout_ms: lowest(
                Setting::new(HOOK_TIMEOUT_MS, Place::BuiltIn),
                all.iter().filter_map(|file| file.hook_timeout_ms.as_ref()),
            ),
            mcp: McpPolicy {
                connect_ms: lowest(
                    Setting::new(MCP_CONNECT_MS, Place::BuiltIn),
                    all.iter().filter_map(|file| file.mcp.connect_ms.as_ref()),
                ),
                request_ms: lowest(
                    Setting::new(MCP_REQUEST_MS, Place::BuiltIn),
                    all.iter().filter_map(|file| file.mcp.request_ms.as_ref()),
                ),
                sandbox: choice.restricted(|file| file.mcp.sandbox.as_ref(), &true, false),
                show: choice.of(|file| file.mcp.show.as_ref(), None),
                memory_bytes: choice.of(|file| file.mcp.memory_bytes.as_ref(), None),
            },
            audit_log: choice.of(|file| file.audit.log.as_ref(), options.audit_log.as_ref()),
            audit_required: choice.restricted(|file| file.audit.required.as_ref(), &true, false),
            rules: Rules {
                closed: managed.as_ref().and_then(|file| file.permissions.allow.clone()),
                managed: managed.map(|file| file.permissions.rules).unwrap_or_default(),
                user: user.map(|file| file.permissions.rules).unwrap_or_default(),
                run: run.into_iter().flat_map(|file| file.permissions.rules).chain(options.rules).collect(),
                project: project.map(|file| file.permissions.rules).unwrap_or_default(),
            },
        }
    }

    /// The bounds of every run.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.limits.iter().fold(builtin_limits(), |limits, (name, setting)| {
            // Every number is at or below the built-in one; one that is not leaves the built-in one in force.
            limits.clone().lowered_by(name, setting.value).unwrap_or(limits)
        })
    }

    /// Whether the signatures of a key count on a day.
    #[must_use]
    pub fn standing(&self, key: &PublicKey, today: Day) -> KeyStanding {
        if self.revoked.contains(key) {
            return KeyStanding::Revoked;
        }
        let mut named = self.keys.values().filter(|signer| signer.value.public == *key).peekable();
        if named.peek().is_none() {
            return KeyStanding::Unknown;
        }
        // A key that is named twice expires with its first entry to do so.
        match named.filter_map(|signer| signer.value.expires).min() {
            Some(last) if last < today => KeyStanding::Expired(last),
            _ => KeyStanding::Counts,
        }
    }

    /// What a pack may do that these keys signed: what any of those that count grants. `None` when none counts, so that the
    /// pack is text only.
    #[must_use]
    pub fn granted_to_signers(&self, keys: &[PublicKey], today: Day) -> Option<SignerGrant> {
        let counts = |signer: &&Setting<SignerSettings>| {
            keys.contains(&signer.value.public) && self.standing(&signer.value.public, today) == KeyStanding::Counts
        };
        let signers: Vec<_> = self.keys.values().filter(counts).collect();
        let allow = signers.iter().flat_map(|signer| signer.value.allow.iter().cloned()).collect();
        let hooks = signers.iter().any(|signer| signer.value.hooks);
        (!signers.is_empty()).then_some(SignerGrant { allow, hooks })
    }

    /// Where it is said that the injections of this source's skills do not run; `None` when they do.
    #[must_use]
    pub fn injections_off(&self, source: Source) -> Option<&Place> {
        let setting = match source {
            Source::Managed | Source::Bundled => &self.managed_shell,
            _ if !self.managed_shell.value => &self.managed_shell,
            _ => &self.shell,
        };
        (!setting.value).then_some(&setting.place)
    }

    /// What the host grants: the built-in default, the user's rules and those of this run, inside the managed ones and narrowed
    /// by the project's.
    #[must_use]
    pub fn host(&self) -> Host {
        let granting = self.rules.user.iter().chain(&self.rules.run).cloned();
        self.bounded(Host::new(granting, Defaults::BuiltIn))
    }

    /// A host that grants what this run's file, its options and these rules allow and nothing else. What the user's rules
    /// deny or ask about stays so.
    #[must_use]
    pub fn host_of_run(&self, more: impl IntoIterator<Item = Rule>) -> Host {
        let restricting = self.rules.user.iter().filter(|rule| rule.effect() != Effect::Allow);
        let granting = restricting.chain(&self.rules.run).cloned().chain(more);
        self.bounded(Host::new(granting, Defaults::Nothing))
    }

    /// The host inside the managed rules and narrowed by the project's.
    fn bounded(&self, mut host: Host) -> Host {
        if self.rules.closed.is_some() || !self.rules.managed.is_empty() {
            host = host.under(Ceiling::new(self.rules.managed.clone(), self.rules.closed.is_some()));
        }
        if let Some(Setting { value: PreApproveSettings { sources, tools }, .. }) = &self.pre_approve {
            host = host.pre_approve(PreApproval { sources: sources.clone(), tools: tools.clone() });
        }
        // A project's file with a rule that allows is a mistake and gives nothing; what a program puts together itself is held
        // to the same.
        host.restricted(self.rules.project.iter().filter_map(|rule| Restriction::try_from(rule.clone()).ok()))
    }

    /// Every rule with the level that gives it: the managed ones, the user's, this run's, the project's. What one can do
    /// depends on the level.
    pub fn rules(&self) -> impl Iterator<Item = (RuleLevel, &Rule)> {
        let Rules { managed, closed: _, user, run, project } = &self.rules;
        let levels = [
            (RuleLevel::Managed, managed),
            (RuleLevel::User, user),
            (RuleLevel::Run, run),
            (RuleLevel::Project, project),
        ];
        levels.into_iter().flat_map(|(level, rules)| rules.iter().map(move |rule| (level, rule)))
    }

    /// Where the managed file says what is the most that can be granted; `None` when it only takes away.
    #[must_use]
    pub fn closed_by(&self) -> Option<&Place> {
        self.rules.closed.as_ref()
    }
}

fn builtin<T: Default>() -> Setting<T> {
    Setting::new(T::default(), Place::BuiltIn)
}

/// How one setting is chosen among the files of the host.
struct Choice<'a> {
    managed: Option<&'a PolicyFile>,
    /// From the weakest.
    host: &'a [&'a PolicyFile],
}

impl<'a> Choice<'a> {
    /// The managed file's, else the option, else that of the strongest file.
    fn of<T: Clone + 'a>(
        &self,
        setting: impl Fn(&'a PolicyFile) -> Option<&'a Setting<T>>,
        option: Option<&'a Setting<T>>,
    ) -> Option<Setting<T>> {
        let files = self.host.iter().rev().find_map(|file| setting(file));
        self.managed.and_then(&setting).or(option).or(files).cloned()
    }

    /// For a setting that takes away when it has the value `strict`: the managed file's when it takes away, else that of the
    /// strongest file.
    fn restricted<T: Clone + PartialEq + 'a>(
        &self,
        setting: impl Fn(&'a PolicyFile) -> Option<&'a Setting<T>>,
        strict: &T,
        otherwise: T,
    ) -> Setting<T> {
        let managed = self.managed.and_then(&setting).filter(|setting| setting.value == *strict);
        let files = || self.host.iter().rev().find_map(|file| setting(file));
        managed.or_else(files).cloned().unwrap_or(Setting::new(otherwise, Place::BuiltIn))
    }

    /// Settings by name: the managed file's before those of the strongest file.
    fn named<T, I: Iterator<Item = (String, Setting<T>)>>(
        &self,
        settings: impl Fn(&'a PolicyFile) -> I,
    ) -> BTreeMap<String, Setting<T>> {
        self.host.iter().copied().chain(self.managed).flat_map(settings).collect()
    }

    fn files(&self) -> impl Iterator<Item = &'a PolicyFile> {
        self.managed.into_iter().chain(self.host.iter().copied())
    }
}

fn lowest_limits(files: &[&PolicyFile]) -> Vec<(&'static str, Setting<u64>)> {
    let builtin = builtin_limits().entries().into_iter();
    builtin
        .map(|(name, number)| {
            let settings = files.iter().flat_map(|file| &file.limits).filter(|(limit, _)| *limit == name);
            let start = Setting::new(number, Place::BuiltIn);
            (name, lowest(start, settings.map(|(_, setting)| setting)))
        })
        .collect()
}

fn lowest<'a>(start: Setting<u64>, settings: impl Iterator<Item = &'a Setting<u64>>) -> Setting<u64> {
    settings.fold(start, |lowest, setting| if setting.value < lowest.value { setting.clone() } else { lowest })
}
