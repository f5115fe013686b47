use crate::cancel::CancelToken;
use crate::consent::LateAsker;
use crate::error::{FailedCommand, InvokeError};
use crate::exceeds::exceeding;
use crate::invocation::{AuthorityReport, InjectionReport, Invocation, Message, MessageKind, Role};
use crate::invoked::AgentId;
use crate::plan::{InjectionPlan, InvocationPlan};
use crate::session::Session;
use skillgate_core::{Code, Context, Diagnostic, Digest, Frontmatter, Guarded, Injection, Profile, Right, Skill, Span};
use skillgate_exec::{
    Asker, Capture, Completion, Input, Mounts, Output, Overflow, Program, ProgramError, Run, RunError, Scene, Streams,
    Trail, cut, sanitise,
};
use skillgate_format::{InjectionMode, Template, TemplateOptions, Values, expand_variables, with_base_directory};
use skillgate_loader::BodyCall;
use skillgate_policy::file::OnFailure;
use skillgate_policy::{
    Answers, Authority, Caveat, Gate, Invoker, Place, SkillCeiling, SkillDecision, SkillRefusal, SkillRequest,
    decide_skill,
};
use skillgate_registry::{Lookup, State};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// A wish to invoke a skill.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InvokeRequest {
    name: String,
    arguments: Option<String>,
    invoker: Invoker,
    agent: AgentId,
    cancel: CancelToken,
}

impl InvokeRequest {
    /// A wish to invoke the skill of this name, which may be qualified or begin with a slash.
    #[must_use]
    pub fn new(name: impl Into<String>, invoker: Invoker) -> Self {
        let (agent, cancel) = (AgentId::MAIN, CancelToken::new());
        Self { name: name.into(), arguments: None, invoker, agent, cancel }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn invoker(&self) -> Invoker {
        self.invoker
    }

    /// The arguments as typed.
    #[must_use]
    pub fn arguments(mut self, text: impl Into<String>) -> Self {
        self.arguments = Some(text.into());
        self
    }

    /// The agent that wants it, when it is not the main one: the skills it has in use narrow what this one can do.
    #[must_use]
    pub fn agent(mut self, agent: AgentId) -> Self {
        self.agent = agent;
        self
    }

    /// What takes the invocation back while it runs.
    #[must_use]
    pub fn cancel(mut self, token: CancelToken) -> Self {
        self.cancel = token;
        self
    }
}

/// A plan that was carried out.
pub(crate) struct Expanded {
    pub(crate) plan: InvocationPlan,
    /// The prompt.
    pub(crate) text: String,
    pub(crate) injections: Vec<InjectionReport>,
}

impl Session {
    /// Decides an invocation as far as possible before anything runs.
    ///
    /// # Errors
    /// [`InvokeError`] when there is no such skill, or it cannot be used or read. A decision against it is part of the plan.
    pub fn plan(&self, request: &InvokeRequest) -> Result<InvocationPlan, InvokeError> {
        self.plan_of(&self.find(&request.name)?, request)
    }

    /// Decides an invocation of this skill, whatever its state, so that a person can look at what it would do.
    ///
    /// # Errors
    /// [`InvokeError::Body`] when its file is not what was loaded.
    pub fn plan_of(&self, skill: &Arc<Skill>, request: &InvokeRequest) -> Result<InvocationPlan, InvokeError> {
        let read = self.text_of(skill)?;
        let digest = read.digest;
        let rights = self.held_rights(skill);
        let ceiling = self.ceiling(skill, &rights);
        let directory = skill.directory.as_deref().map(text);
        let project = self.runtime.project.as_ref().map(|project| text(&project.root));
        let plugin_root = skill.plugin.as_ref().map(|plugin| text(&plugin.root));
        let plugin_data = skill.plugin.as_ref().and_then(|plugin| plugin.data.as_deref()).map(text);
        let values = Values {
            arguments: request.arguments.as_deref(),
            skill_dir: directory.as_deref(),
            session_id: self.id.as_deref(),
            // What comes from elsewhere is not told where anything of this machine is.
            project_dir: project.as_deref().filter(|_| ceiling != SkillCeiling::TextOnly),
            effort: None,
            plugin_root: plugin_root.as_deref(),
            plugin_data: plugin_data.as_deref(),
            injections: match self.runtime.policy.injections_off(skill.id.source) {
                Some(_) => InjectionMode::DisabledByPolicy,
                None if ceiling == SkillCeiling::TextOnly => InjectionMode::Literal,
                None => InjectionMode::Run,
            },
        };
        let filled = read.template.fill(&values);

        let narrowed = with_variables(&read.header, &values);
        let caveats = Caveat::of_header(&skill.id, digest, &narrowed, read.skill.header.is_lost());
        // What the agent's other skills take away is taken from this one too.
        let scope = self.conversation().scopes.authority(&request.agent, self.runtime.host.clone());
        let mut authority = caveats.iter().cloned().fold(scope, Authority::with);
        let pre_approval = ceiling.permits(Right::PreApprove).then(|| Arc::clone(&narrowed));
        if let Some(header) = &pre_approval {
            authority = authority.pre_approved_by(&skill.id, header);
        }
        let (authority, bound) = self.bounded(authority, (skill, digest), ceiling, &rights);
        let own = Answers::default();
        // A pattern that names the project by its whole path means the project.
        let gate = Gate::within(authority, self.runtime.path_base())
            .with_answers(self.consent.commands().clone())
            .with_answers(own.clone());
        let injections: Vec<InjectionPlan> =
            filled.injections().iter().map(|injection| self.plan_injection(injection, &narrowed, &gate)).collect();
        let decision = decide_skill(
            &self.runtime.host,
            SkillRequest {
                skill: &read.skill,
                invoker: request.invoker,
                // A command that the gate refuses is reported as such, which says more than that the skill needs a rule.
                injections_allowed: true,
            },
        );
        let decision = self.with_agreement(skill, digest, decision);
        let mut diagnostics: Vec<Diagnostic> = read.template.diagnostics().to_vec();
        diagnostics.extend(filled.diagnostics().iter().cloned());
        for diagnostic in &mut diagnostics {
            diagnostic.span = diagnostic.span.map(|span| read.document.source_span(span));
        }
        diagnostics.extend(exceeding(&narrowed, &self.runtime.host));
        Ok(InvocationPlan {
            skill: Arc::clone(skill),
            digest,
            injections,
            decision,
            diagnostics,
            gate,
            bound,
            text: read,
            filled,
            invoker: request.invoker,
            arguments: request.arguments.clone(),
            agent: request.agent.clone(),
            cancel: request.cancel.clone(),
            caveats,
            pre_approval,
            trail: self.trail(Some(skill), Some(digest), request.invoker),
            own,
            settled: false,
            hooks: None,
            revocations: self.conversation().revocations(&skill.id),
        })
    }

    /// The decision on a skill, with what was agreed to earlier in the session.
    pub(crate) fn with_agreement(
        &self,
        skill: &Skill,
        digest: Digest,
        decision: Result<SkillDecision, SkillRefusal>,
    ) -> Result<SkillDecision, SkillRefusal> {
        match decision {
            Err(SkillRefusal::Unanswered { because, .. }) if self.consent.agreed_skill(&skill.id, digest, &because) => {
                Ok(SkillDecision::Agreed { because })
            }
            decision => decision,
        }
    }

    fn plan_injection(&self, injection: &Injection, header: &Frontmatter, gate: &Gate) -> InjectionPlan {
        let program = match &header.shell {
            Guarded::Unreadable(_) => Err(cannot_run(injection, "the skill's `shell` cannot be read")),
            Guarded::Present(shell) if !matches!(shell.value.as_str(), "bash" | "sh") => {
                Err(cannot_run(injection, &format!("the skill wants the shell `{}`, which is not there", shell.value)))
            }
            _ => Program::of_injection(injection, &self.runtime.limits),
        };
        let commands = match &program {
            Ok(program) => self.runtime.executor.plan(program, gate),
            Err(_) => Vec::new(),
        };
        InjectionPlan { injection: injection.clone(), program, commands }
    }

    /// Invokes a skill: plans it, asks what needs an answer, and when nothing stands against it runs its injections and puts the prompt together.
    ///
    /// # Errors
    /// [`InvokeError`]; nothing of the skill may then enter a prompt.
    pub fn invoke(&self, request: &InvokeRequest) -> Result<Invocation, InvokeError> {
        let plan = self.prepare(request)?;
        self.run(plan)
    }

    /// Runs what was planned; what needs an answer is asked if it was not yet ([`Session::prepare`]). A plan that was made of a skill in a state in which it cannot be used is refused.
    ///
    /// # Errors
    /// [`InvokeError`]: the plan's own objection, or what happened while an injection ran.
    pub fn run(&self, plan: InvocationPlan) -> Result<Invocation, InvokeError> {
        let Expanded { plan, text, injections } = self.expand(plan)?;
        let header = plan.text.document.frontmatter();
        Ok(Invocation {
            skill: plan.skill.id.clone(),
            mode: header.context.as_ref().map_or(Context::Inline, |context| context.value),
            messages: vec![Message {
                role: Role::User,
                kind: MessageKind::Prompt,
                is_meta: true,
                content: text,
                tool_use_id: None,
            }],
            authority: AuthorityReport::of(plan.gate.authority()),
            agent: header.agent.as_ref().map(|agent| agent.value.clone()),
            model: header.model.as_ref().map(|model| model.value.0.clone()),
            effort: header.effort.as_ref().map(|effort| effort.value.clone()),
            injections,
            diagnostics: plan.diagnostics,
        })
    }

    /// [`Session::run`] without what only its callers want to know; the plan's findings are those of the run as well.
    pub(crate) fn expand(&self, plan: InvocationPlan) -> Result<Expanded, InvokeError> {
        self.usable(&plan.skill)?;
        let mut plan = self.settle(plan)?;
        let skill = &plan.skill;
        if self.conversation().revocations(&skill.id) != plan.revocations {
            return Err(InvokeError::Revoked { name: skill.id.command.to_string() });
        }
        // Before the prompt or a command names its directory.
        self.runtime.materialise(skill)?;
        let _listed = self.on_its_way(&skill.id, plan.gate.revocation(), plan.cancel.clone());
        let scene = if plan.injections.is_empty() {
            None
        } else {
            Some(self.scene_of(skill, plan.trail.clone(), &plan.own)?)
        };
        let started = Instant::now();
        let mut diagnostics = Vec::new();
        let (mut outputs, mut reports) = (Vec::new(), Vec::new());
        for InjectionPlan { injection, program, .. } in &plan.injections {
            let (Ok(program), Some(scene)) = (program, &scene) else { continue };
            let spent = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
            let left = self.runtime.limits.wall_ms_invocation.saturating_sub(spent);
            let (output, report, diagnostic) = self
                .run_injection(injection, program, &plan.gate, scene, &plan.cancel, left)
                .map_err(|error| plan.bound.explain(error))?;
            diagnostics.extend(diagnostic.map(|found| {
                let span = plan.text.document.source_span(injection.span);
                found.at(span)
            }));
            outputs.push(output);
            reports.push(report);
        }
        let directory = skill.directory.as_ref().map(text);
        let content = match self.roots_of(skill, |roots| roots.call_body(skill).cloned()) {
            None => match &directory {
                Some(directory) => plan.filled.assemble_with_base_directory(directory, &outputs),
                None => plan.filled.assemble(&outputs),
            },
            Some(call) => {
                let is_cancelled = || plan.cancel.is_cancelled();
                let call = call.make(&BodyCall { arguments: plan.arguments.as_deref(), is_cancelled: &is_cancelled });
                let text = call.map_err(|error| InvokeError::CallBody { name: skill.id.command.to_string(), error })?;
                diagnostics.extend(stays_text(&text, self.runtime.profile));
                match &directory {
                    Some(directory) => with_base_directory(directory, &text),
                    None => text,
                }
            }
        };
        plan.diagnostics.append(&mut diagnostics);
        Ok(Expanded { plan, text: content, injections: reports })
    }

    fn run_injection(
        &self,
        injection: &Injection,
        program: &Program,
        gate: &Gate,
        scene: &Scene,
        cancel: &CancelToken,
        left_ms: u64,
    ) -> Result<(String, InjectionReport, Option<Diagnostic>), InvokeError> {
        let source_text = || injection.source.clone();
        let run = Run::start_within(self.runtime.limits.clone(), left_ms);
        let ends = Arc::downgrade(&run);
        cancel.on_cancel(move || ends.upgrade().iter().for_each(|run| run.cancel()));
        // Both streams in the order in which they are written.
        let capture = Capture::new(self.runtime.limits.output_bytes, Overflow::Drop);
        let streams = Streams {
            stdin: Input::Empty,
            stdout: Output::Capture(Arc::clone(&capture)),
            stderr: Output::Capture(Arc::clone(&capture)),
        };
        let program_text = self.runtime.telemetry.content(Some(&injection.source));
        let span =
            tracing::info_span!("skillgate.injection.run", program = program_text, status = tracing::field::Empty);
        let _entered = span.enter();
        let started = Instant::now();
        let completion =
            self.runtime.executor.execute(program, gate, scene, &run, streams).map_err(|error| match error {
                RunError::Refused(refusal) => InvokeError::Refused(refusal),
                RunError::Unrecorded(error) => InvokeError::Unrecorded(error),
                error => InvokeError::Run { error, source_text: source_text() },
            })?;
        span.record("status", completion.status);
        let duration_us = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
        let (bytes, total) = capture.take();
        let lost = total - bytes.len() as u64;
        let clean = sanitise(&bytes);
        let clean = clean.strip_suffix('\n').unwrap_or(&clean);
        let mut output = cut(clean, self.runtime.limits.prompt_chars, lost);
        let truncated = lost > 0 || clean.chars().count() as u64 > self.runtime.limits.prompt_chars;
        let diagnostic = match outcome(&completion) {
            Outcome::Done => None,
            Outcome::NothingFound => Some(Diagnostic::new(
                Code::CommandStatusOne,
                format!(
                    "`{}` ended with status 1, which for this command means that nothing was found",
                    injection.source
                ),
            )),
            Outcome::Failed => {
                let command = completion.decided_by.as_deref().unwrap_or_default().join(" ");
                let command = if command.is_empty() { source_text() } else { command };
                let failed = FailedCommand { source_text: source_text(), command, status: completion.status, output };
                match self.runtime.policy.on_failure.value {
                    OnFailure::Abort => return Err(InvokeError::Failed(Box::new(failed))),
                    OnFailure::Inline => {
                        output = failed.mark();
                        Some(Diagnostic::new(Code::CommandFailed, failed.to_string()))
                    }
                }
            }
        };
        let report = InjectionReport {
            source: source_text(),
            commands: completion.commands,
            exit_code: completion.status,
            stdout_bytes: total,
            truncated,
            duration_us,
        };
        Ok((output, report, diagnostic))
    }

    /// The directories and the environment of a skill's commands.
    pub(crate) fn scene_of(&self, skill: &Skill, trail: Trail, own: &Answers) -> Result<Scene, InvokeError> {
        self.runtime.materialise(skill)?;
        let project = self.runtime.project.as_ref();
        let plugin = skill.plugin.as_ref().map(|plugin| plugin.root.as_path());
        let directories: Vec<&Path> = skill.directory.as_deref().into_iter().chain(plugin).collect();
        let mounts = Mounts::open_ambient(project.map(|project| project.root.as_path()), &directories)
            .map_err(|(path, error)| InvokeError::Mount { path, reason: error.to_string() })?;
        let directory = project.map(|project| project.path.as_path()).or(skill.directory.as_deref());
        let directory = directory.map_or_else(|| "/".to_owned(), text);
        let mut environment = vec![
            ("PATH".to_owned(), "/usr/bin:/bin".to_owned()),
            ("HOME".to_owned(), "/home/skillgate".to_owned()),
            ("LANG".to_owned(), "C.UTF-8".to_owned()),
            ("TZ".to_owned(), "UTC".to_owned()),
        ];
        if let Some(project) = project {
            environment.push(("CLAUDE_PROJECT_DIR".to_owned(), text(&project.root)));
        }
        if let Some(own) = &skill.directory {
            environment.push(("CLAUDE_SKILL_DIR".to_owned(), text(own)));
        }
        if let Some(root) = plugin {
            environment.push(("CLAUDE_PLUGIN_ROOT".to_owned(), text(root)));
        }
        let asker = LateAsker { consent: Arc::clone(&self.consent), own: own.clone(), trail: trail.clone() };
        let asker = self.consent.is_attended().then(|| Arc::new(asker) as Arc<dyn Asker>);
        Ok(Scene { trail, asker, ..Scene::new(mounts, directory, environment) })
    }

    /// That the policy switches all skills off, when it does: nothing is listed, found or invoked.
    #[must_use]
    pub fn skills_off(&self) -> Option<InvokeError> {
        let setting = &self.runtime.policy.skills_enabled;
        (!setting.value).then(|| InvokeError::SkillsOff { place: setting.place.clone() })
    }

    fn find(&self, name: &str) -> Result<Arc<Skill>, InvokeError> {
        if let Some(off) = self.skills_off() {
            return Err(off);
        }
        match self.catalogue().lookup(name) {
            Lookup::Found(entry) => self.usable(entry.skill()).map(|()| Arc::clone(entry.skill())),
            Lookup::Broken(failure) => Err(InvokeError::Unreadable(Box::new(failure.clone()))),
            Lookup::Unknown { nearest } => Err(InvokeError::Unknown {
                name: name.to_owned(),
                nearest: nearest.into_iter().map(str::to_owned).collect(),
            }),
            _ => Err(InvokeError::Unknown { name: name.to_owned(), nearest: Vec::new() }),
        }
    }

    /// Whether the skill's state in the catalogue lets it be invoked.
    pub(crate) fn usable(&self, skill: &Arc<Skill>) -> Result<(), InvokeError> {
        let name = || skill.id.command.to_string();
        let catalogue = self.catalogue();
        let entry = catalogue.named(skill.id.command.as_str()).iter().find(|entry| entry.skill() == skill);
        match entry.map(|entry| entry.state()) {
            Some(State::Untrusted) => Err(InvokeError::Untrusted {
                name: name(),
                project: self.runtime.project.as_ref().map_or_else(PathBuf::new, |project| project.root.clone()),
            }),
            Some(State::UntrustedPlugin) => Err(InvokeError::UntrustedPlugin {
                name: name(),
                root: skill.plugin.as_ref().map_or_else(PathBuf::new, |plugin| plugin.root.clone()),
            }),
            Some(State::Disabled { pattern }) => {
                let setting =
                    self.runtime.policy.disable.iter().find(|setting| setting.value.trim_start_matches('/') == pattern);
                let place = setting.map_or(Place::Host, |setting| setting.place.clone());
                Err(InvokeError::Disabled { name: name(), pattern: pattern.clone(), place })
            }
            Some(State::LeftOut { list }) => {
                let only = self.runtime.policy.only.get(*list);
                let place = only.map_or(Place::Host, |only| only.place.clone());
                Err(InvokeError::LeftOut { name: name(), place })
            }
            Some(State::Broken) => Err(InvokeError::Broken {
                name: name(),
                findings: skill
                    .diagnostics
                    .iter()
                    .filter(|found| found.severity == skillgate_core::Severity::Error)
                    .map(ToString::to_string)
                    .collect(),
            }),
            Some(_) => match entry.and_then(|entry| entry.unmet()) {
                Some(unmet) => Err(InvokeError::Unavailable { name: name(), unmet: unmet.clone() }),
                None => Ok(()),
            },
            // What was decided on was loaded again since, and is another text.
            None if self.skill_of(&skill.id).is_some() => Err(InvokeError::Revoked { name: name() }),
            None => Err(InvokeError::Unknown { name: name(), nearest: Vec::new() }),
        }
    }
}

/// Says that commands in a text that was made for a call do not run.
fn stays_text(text: &str, profile: Profile) -> Option<Diagnostic> {
    let template = Template::parse(text, &TemplateOptions { profile, arguments: Vec::new() });
    let count = template.injections().len();
    let commands = if count == 1 { "a command".to_owned() } else { format!("{count} commands") };
    let message =
        format!("{commands} in its text did not run: the text comes from elsewhere and is delivered as it stands");
    (count > 0).then(|| Diagnostic::new(Code::ShellDisabled, message))
}

/// The header with the variables in its tool patterns filled in.
fn with_variables(header: &Arc<Frontmatter>, values: &Values<'_>) -> Arc<Frontmatter> {
    let lists = [&header.allowed_tools, &header.disallowed_tools];
    let mut entries = lists.iter().filter_map(|list| list.present()).flatten();
    if !entries.any(|entry| entry.value.contains("${")) {
        return Arc::clone(header);
    }
    let mut header = Frontmatter::clone(header);
    for list in [&mut header.allowed_tools, &mut header.disallowed_tools] {
        if let Guarded::Present(field) = list {
            for entry in &mut field.value {
                entry.value = expand_variables(&entry.value, values);
            }
        }
    }
    Arc::new(header)
}

fn cannot_run(injection: &Injection, reason: &str) -> ProgramError {
    ProgramError::new(reason, Span::new(0, injection.source.len()))
}

fn text(path: impl AsRef<Path>) -> String {
    path.as_ref().to_string_lossy().replace('\\', "/")
}

enum Outcome {
    Done,
    NothingFound,
    Failed,
}

/// What the status means: 1 of a command that looks for something is "nothing found" (format.md).
fn outcome(completion: &Completion) -> Outcome {
    const SEEKERS: [&str; 10] = ["[", "[[", "cmp", "diff", "egrep", "fgrep", "find", "grep", "rg", "test"];
    let vector = completion.decided_by.as_deref().unwrap_or_default();
    let seeks = match vector {
        [name, ..] if SEEKERS.contains(&name.as_str()) => true,
        [git, subcommand, ..] => git == "git" && matches!(subcommand.as_str(), "diff" | "grep"),
        _ => false,
    };
    match completion.status {
        0 => Outcome::Done,
        1 if seeks => Outcome::NothingFound,
        _ => Outcome::Failed,
    }
}
