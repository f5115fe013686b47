use crate::cancel::CancelToken;
use crate::error::InvokeError;
use crate::fire::ReadyHooks;
use crate::invocation::AuthorityReport;
use crate::invoked::AgentId;
use crate::texts::SkillText;
use crate::trust::Bound;
use skillgate_core::{Diagnostic, Digest, Frontmatter, Injection, LineIndex, Position, Skill, Span};
use skillgate_exec::{PlannedCommand, Program, ProgramError, Trail};
use skillgate_format::FilledTemplate;
use skillgate_policy::{Answers, Authority, Caveat, Gate, Invoker, Refusal, SkillDecision, SkillRefusal};
use std::sync::Arc;

/// One injection as it is decided before anything runs.
#[derive(Debug)]
pub struct InjectionPlan {
    /// The injection with its values.
    pub injection: Injection,
    /// The parsed program, or why it cannot be run.
    pub program: Result<Program, ProgramError>,
    /// Its commands as far as they are known.
    pub commands: Vec<PlannedCommand>,
}

/// A skill with its arguments, decided as far as it can be before anything runs. Only the session makes one.
#[derive(Debug)]
pub struct InvocationPlan {
    /// The skill.
    pub skill: Arc<Skill>,
    /// Digest of the text that is decided on.
    pub digest: Digest,
    /// Its injections in order.
    pub injections: Vec<InjectionPlan>,
    /// The decision on the skill itself.
    pub decision: Result<SkillDecision, SkillRefusal>,
    /// Findings on the way.
    pub diagnostics: Vec<Diagnostic>,
    pub(crate) gate: Gate,
    pub(crate) bound: Bound,
    pub(crate) text: Arc<SkillText>,
    pub(crate) filled: FilledTemplate,
    pub(crate) invoker: Invoker,
    pub(crate) arguments: Option<String>,
    pub(crate) agent: AgentId,
    pub(crate) cancel: CancelToken,
    /// What the skill itself takes away: while it is in use, also from the tools of the host.
    pub(crate) caveats: Vec<Caveat>,
    /// The header whose list may answer what asks.
    pub(crate) pre_approval: Option<Arc<Frontmatter>>,
    pub(crate) trail: Trail,
    /// What was agreed to for this invocation.
    pub(crate) own: Answers,
    /// Whether everything that needs an answer was asked, and the decisions were recorded.
    pub(crate) settled: bool,
    /// The skill's hooks, once they were looked at.
    pub(crate) hooks: Option<ReadyHooks>,
    /// How often the skill was taken back when this was decided.
    pub(crate) revocations: u64,
}

/// Maps offsets in a skill's file to positions.
#[derive(Clone, Debug)]
pub struct Positions(Arc<SkillText>);

impl PartialEq for Positions {
    fn eq(&self, other: &Self) -> bool {
        self.source() == other.source()
    }
}

impl Eq for Positions {}

impl Positions {
    /// The position of a byte of the file; `None` past its end.
    #[must_use]
    pub fn at(&self, offset: usize) -> Option<Position> {
        let source = self.source();
        (offset <= source.len()).then(|| LineIndex::new(source).position(offset))
    }

    fn source(&self) -> &str {
        self.0.document.source()
    }
}

impl InvocationPlan {
    /// The authority the invocation would run under.
    #[must_use]
    pub fn authority(&self) -> AuthorityReport {
        AuthorityReport::of(self.gate.authority())
    }

    /// What the host grants less what the skill takes away.
    #[must_use]
    pub fn authority_in_force(&self) -> &Authority {
        self.gate.authority()
    }

    /// Line and column for the offsets in this plan's diagnostics, also after the plan is used up.
    #[must_use]
    pub fn positions(&self) -> Positions {
        Positions(Arc::clone(&self.text))
    }

    /// Where a span of an injection's source stands in the skill's file.
    #[must_use]
    pub fn file_span(&self, injection: &Injection, span: Span) -> Span {
        self.text.document.source_span(span.shifted(injection.source_start))
    }

    /// The first refusal of a command.
    #[must_use]
    pub fn refusal(&self) -> Option<&Refusal> {
        let commands = self.injections.iter().flat_map(|injection| &injection.commands);
        commands.filter_map(|command| command.verdict.as_ref().err()).map(AsRef::as_ref).next()
    }

    /// Why the invocation would fail before anything runs; `None` when nothing stands against it yet.
    #[must_use]
    pub fn objection(&self) -> Option<InvokeError> {
        // Who would be asked for an agreement learns first that it would not help.
        let decided = || self.decision.as_ref().err().map(|refusal| InvokeError::Skill(refusal.clone()));
        let refused =
            || self.refusal().map(|refusal| self.bound.explain(InvokeError::Refused(Box::new(refusal.clone()))));
        self.objection_but_asks().or_else(decided).or_else(refused)
    }

    /// What stands against the invocation whatever somebody answers, apart from single commands.
    pub(crate) fn objection_but_asks(&self) -> Option<InvokeError> {
        match &self.decision {
            Ok(_) | Err(SkillRefusal::Unanswered { .. }) => {}
            Err(refusal) => return Some(InvokeError::Skill(refusal.clone())),
        }
        for plan in &self.injections {
            if let Err(error) = &plan.program {
                return Some(InvokeError::Program {
                    span: self.file_span(&plan.injection, error.span),
                    error: error.clone(),
                    source_text: plan.injection.source.clone(),
                    path: self.skill.path.clone(),
                });
            }
        }
        None
    }
}
