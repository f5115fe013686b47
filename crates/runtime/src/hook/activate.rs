//! From what an author wrote to what can be run: every handler is looked at when the skill is invoked, so that one that cannot
//! run is said once and not at every event.

use super::command::{program_of, stands_against};
use super::parse::ParsedHooks;
use super::spec::{Handler, HookFault, HookSpec};
use skillgate_core::{Code, Diagnostic, Digest, Frontmatter, Limits, RelPath, Skill, SkillId};
use skillgate_exec::{Executor, HookHandler, HookLoader, Program};
use skillgate_loader::read_file_below_ambient;
use std::path::PathBuf;
use std::sync::Arc;

/// Bytes of a component that are read at most.
const MAX_COMPONENT: u64 = 32 << 20;

/// Why a skill with hooks is not activated: one of them can block, and cannot do what its author meant it to.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{}` is not activated, because its hook on {} {}", skill.called(), fault.event, fault.reason)]
pub struct HookRefusal {
    /// The skill.
    pub skill: SkillId,
    /// Its file.
    pub path: PathBuf,
    /// The first thing that is wrong.
    pub fault: HookFault,
    /// What else is wrong.
    pub more: Vec<HookFault>,
}

impl HookRefusal {
    /// The ways out.
    #[must_use]
    pub fn help(&self) -> Vec<String> {
        self.fault.help.iter().cloned().collect()
    }
}

/// What the hooks of a skill are prepared with.
#[derive(Debug)]
pub struct Activation<'a> {
    /// The skill.
    pub skill: &'a Skill,
    /// Digest of the text that was decided on.
    pub digest: Digest,
    /// The header of that text.
    pub header: &'a Frontmatter,
    /// What its hooks would run under now.
    pub grant: &'a super::HookGrant,
    /// Whether the host lets the hooks of this skill run at all; else why not, as the rest of a sentence about the hook.
    pub right: Result<(), String>,
    /// What runs commands.
    pub executor: &'a dyn Executor,
    /// What loads components; without one, a wasm handler cannot run.
    pub loader: Option<&'a dyn HookLoader>,
    /// The bounds of every run.
    pub limits: &'a Limits,
}

/// What is run when the event comes.
#[derive(Clone, Debug)]
pub(super) enum Prepared {
    Command(Box<Program>),
    Wasm(Arc<dyn HookHandler>),
}

/// The hooks of one skill, ready to be registered.
#[derive(Clone, Debug)]
pub struct PreparedHooks {
    pub(super) skill: SkillId,
    pub(super) digest: Digest,
    pub(super) hooks: Vec<(HookSpec, Prepared)>,
    /// What was found: about keys, events and hooks that only watch.
    pub diagnostics: Vec<Diagnostic>,
}

impl PreparedHooks {
    /// Whether there is nothing to register.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.hooks.is_empty()
    }

    /// What would be registered.
    pub fn specs(&self) -> impl Iterator<Item = &HookSpec> {
        self.hooks.iter().map(|(spec, _)| spec)
    }
}

/// What stands against one hook.
#[derive(Clone, Debug)]
pub struct CannotRun {
    /// The hook.
    pub spec: HookSpec,
    /// Why it cannot run.
    pub fault: HookFault,
}

/// Looks at every hook of a skill: what would be registered, and what cannot run.
#[derive(Clone, Debug)]
pub struct HookSurvey {
    /// What can run.
    pub hooks: PreparedHooks,
    /// What was read and cannot run, whether it can block or not.
    pub cannot_run: Vec<CannotRun>,
    /// What keeps the skill from being activated.
    pub faults: Vec<HookFault>,
}

impl Activation<'_> {
    /// Looks at every hook. Nothing runs; components are compiled.
    #[must_use]
    pub fn survey(&self) -> HookSurvey {
        let ParsedHooks { specs, mut faults, diagnostics } = ParsedHooks::of(&self.header.hooks);
        let (skill, digest) = (self.skill.id.clone(), self.digest);
        let mut hooks = PreparedHooks { skill, digest, hooks: Vec::new(), diagnostics };
        let mut cannot_run = Vec::new();
        for spec in specs {
            match self.prepare(&spec) {
                Ok(prepared) => hooks.hooks.push((spec, prepared)),
                Err(fault) => {
                    // An author who does not wait for a hook loses nothing that it could have kept from happening.
                    if spec.power() == super::Power::Observe {
                        hooks.diagnostics.push(fault.diagnostic());
                    } else {
                        faults.push(fault.clone());
                    }
                    cannot_run.push(CannotRun { spec, fault });
                }
            }
        }
        HookSurvey { hooks, cannot_run, faults }
    }

    /// Prepares the hooks of a skill that is being invoked.
    ///
    /// # Errors
    /// [`HookRefusal`] when a hook that can block cannot run; the skill is not to be activated then.
    pub fn prepare_all(&self) -> Result<PreparedHooks, HookRefusal> {
        let HookSurvey { hooks, faults, .. } = self.survey();
        let mut faults = faults.into_iter();
        match faults.next() {
            None => Ok(hooks),
            Some(fault) => Err(HookRefusal {
                skill: self.skill.id.clone(),
                path: self.skill.path.clone(),
                fault,
                more: faults.collect(),
            }),
        }
    }

    fn prepare(&self, spec: &HookSpec) -> Result<Prepared, HookFault> {
        let fault = |reason: String, help: Option<String>| HookFault {
            event: spec.event,
            code: Code::HookCannotRun,
            reason,
            help,
            span: spec.span,
        };
        if let Err(reason) = &self.right {
            return Err(fault(format!("must not run: {reason}"), None));
        }
        match &spec.handler {
            Handler::Shell(_) | Handler::Vector(_) => {
                let program = program_of(&spec.handler, self.grant, self.limits)
                    .map_err(|error| fault(format!("cannot run: {error}"), None))?;
                match stands_against(&program, self.grant, self.executor, self.limits) {
                    None => Ok(Prepared::Command(Box::new(program))),
                    Some((reason, help)) => Err(fault(format!("cannot run: {reason}"), help)),
                }
            }
            Handler::Wasm(path) => self.component(path).map(Prepared::Wasm).map_err(|(reason, help)| {
                fault(format!("cannot run its component `{path}`: {reason}"), help.map(str::to_owned))
            }),
        }
    }

    fn component(&self, path: &RelPath) -> Result<Arc<dyn HookHandler>, (String, Option<&'static str>)> {
        let Some(loader) = self.loader else {
            return Err(("the host runs no wasm hooks".to_owned(), Some("write it as `type: command`")));
        };
        let Some(directory) = &self.skill.directory else {
            return Err(("the skill has no directory of its own".to_owned(), None));
        };
        let wasm = read_file_below_ambient(directory, path.as_str(), MAX_COMPONENT).map_err(|read| {
            (read.to_string(), Some("the path is from the skill's own directory, and leads to a file below it"))
        })?;
        loader.load(path.as_str(), &wasm).map_err(|error| {
            let help = match error {
                skillgate_exec::HookLoadError::Version { .. } | skillgate_exec::HookLoadError::World { .. } => {
                    Some("build it with the world of this version: docs/hooks.md")
                }
                _ => None,
            };
            (error.to_string(), help)
        })
    }
}
