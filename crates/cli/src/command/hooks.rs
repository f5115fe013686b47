//! `skillgate hooks list` and `skillgate hooks test EVENT`

use crate::args::{Format, Global, HooksListVerb, HooksTestVerb, HooksVerb};
use crate::context;
use crate::exit::{Failure, Status};
use crate::output::{
    CalledHookOutput, DiagnosticOutput, HookOutput, HookSkillOutput, HooksListOutput, HooksTestOutput,
};
use crate::text;
use serde_json::{Map, Value};
use skillgate_core::{Guarded, Skill};
use skillgate_loader::read_file_ambient;
use skillgate_policy::{Invoker, SkillRefusal};
use skillgate_runtime::hook::{HookEvent, HookFault, HookInput, HookSpec, HookVerdict, Power};
use skillgate_runtime::{InvocationPlan, InvokeError, InvokeRequest, Positions, Session};
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

/// Bytes of an event's data.
const MAX_INPUT: u64 = 4 << 20;

pub(crate) fn run(global: &Global, verb: &HooksVerb) -> Result<Status, Failure> {
    match verb {
        HooksVerb::List(verb) => list(global, verb),
        HooksVerb::Test(verb) => test(global, verb),
    }
}

/// The skills with hooks: all of them, or those of these names.
fn skills_with_hooks(session: &Session, names: &[String]) -> Result<Vec<Arc<Skill>>, Failure> {
    if let Some(off) = session.skills_off() {
        return Err(off.into());
    }
    let catalogue = session.catalogue();
    for name in names {
        // An unknown name is a mistake, not a skill without hooks.
        catalogue.explain(name).map_err(|nearest| InvokeError::Unknown {
            name: name.clone(),
            nearest: nearest.into_iter().map(str::to_owned).collect(),
        })?;
    }
    let wanted = |skill: &Skill| {
        let own = skill.id.command.as_str();
        names.is_empty()
            || names.iter().any(|name| name.trim_start_matches('/') == own || *name == skill.id.to_string())
    };
    let skills = catalogue.entries().iter().map(|entry| Arc::clone(entry.skill()));
    Ok(skills.filter(|skill| wanted(skill) && !matches!(skill.frontmatter.hooks, Guarded::Absent)).collect())
}

fn plan(session: &Session, skill: &Arc<Skill>) -> Result<InvocationPlan, InvokeError> {
    session.plan_of(skill, &InvokeRequest::new(skill.id.command.as_str(), Invoker::User))
}

fn list(global: &Global, verb: &HooksListVerb) -> Result<Status, Failure> {
    let session = context::session(global)?;
    let mut output = HooksListOutput { hooks: Vec::new(), skills: Vec::new() };
    for skill in skills_with_hooks(&session, &verb.skill)? {
        survey(&session, &skill, &mut output);
    }
    if global.format == Format::Json {
        text::json(&output)?;
    } else {
        text::human(&listed(&output));
    }
    Ok(Status::Done)
}

/// Looks at the hooks of one skill.
fn survey(session: &Session, skill: &Arc<Skill>, output: &mut HooksListOutput) {
    let about = |activates, reason, diagnostics| HookSkillOutput {
        skill: skill.id.to_string(),
        path: skill.path.display().to_string(),
        activates,
        reason,
        diagnostics,
    };
    let surveyed = plan(session, skill).and_then(|plan| Ok((session.survey_hooks(&plan)?, plan)));
    let (survey, plan) = match surveyed {
        Ok((Some(survey), plan)) => (survey, plan),
        Ok((None, _)) => return,
        Err(error) => return output.skills.push(about(false, Some(error.to_string()), Vec::new())),
    };
    let positions = plan.positions();
    let runs = survey.hooks.specs().map(|spec| (spec, None));
    let cannot = survey.cannot_run.iter().map(|it| (&it.spec, Some(&it.fault)));
    let mut all: Vec<(&HookSpec, Option<&HookFault>)> = runs.chain(cannot).collect();
    all.sort_by_key(|(spec, _)| spec.span);
    output.hooks.extend(all.into_iter().map(|(spec, fault)| hook(skill, spec, fault, &positions)));
    let reason = survey.faults.first().map(|fault| format!("its hook on {} {}", fault.event, fault.reason));
    let faults = survey.faults.iter().map(HookFault::diagnostic);
    let found: Vec<DiagnosticOutput> = faults
        .chain(survey.hooks.diagnostics.iter().cloned())
        .map(|found| DiagnosticOutput::new(&found, |offset| positions.at(offset)))
        .collect();
    if reason.is_some() || !found.is_empty() {
        output.skills.push(about(reason.is_none(), reason, found));
    }
}

fn hook(skill: &Skill, spec: &HookSpec, fault: Option<&HookFault>, positions: &Positions) -> HookOutput {
    HookOutput {
        skill: skill.id.to_string(),
        source: skill.id.source.to_string(),
        path: skill.path.display().to_string(),
        line: positions.at(spec.span.start).map(|position| position.line),
        event: spec.event.name().to_owned(),
        power: match spec.power() {
            Power::Gate => "gate",
            Power::Hold => "hold",
            Power::Observe => "observe",
        },
        matcher: spec.matcher.to_string(),
        condition: spec.condition_text.clone(),
        kind: spec.handler.kind().to_owned(),
        handler: spec.handler.to_string(),
        id: spec.id().to_string(),
        once: spec.once,
        can_run: fault.is_none(),
        reason: fault.map(|fault| fault.reason.clone()),
        help: fault.and_then(|fault| fault.help.clone()),
    }
}

fn listed(output: &HooksListOutput) -> String {
    let mut out = String::new();
    let mut skill = None;
    for hook in &output.hooks {
        if skill != Some(&hook.skill) {
            let _infallible = writeln!(out, "{}  {}", text::shown(&hook.skill), text::shown(&hook.path));
            skill = Some(&hook.skill);
        }
        let condition = hook.condition.as_ref().map(|text| format!(" if {text}")).unwrap_or_default();
        let once = if hook.once { " once" } else { "" };
        let _infallible = writeln!(
            out,
            "  {:<18} {:<16} {}",
            hook.event,
            text::shown(&format!("{}{condition}{once}", hook.matcher)),
            text::shown(&hook.handler)
        );
        if let Some(reason) = &hook.reason {
            let _infallible = writeln!(out, "      {}", text::shown(reason));
        }
        if let Some(help) = &hook.help {
            let _infallible = writeln!(out, "      help: {}", text::shown(help));
        }
    }
    for skill in &output.skills {
        let _infallible = match (&skill.reason, skill.activates) {
            (Some(reason), false) => {
                writeln!(out, "{} is not activated: {}", text::shown(&skill.skill), text::shown(reason))
            }
            (Some(reason), true) => writeln!(out, "{}: {}", text::shown(&skill.skill), text::shown(reason)),
            (None, _) => writeln!(out, "{}:", text::shown(&skill.skill)),
        };
        findings(&mut out, &skill.diagnostics);
    }
    if out.is_empty() { "no skill has hooks\n".to_owned() } else { out }
}

fn findings(out: &mut String, diagnostics: &[DiagnosticOutput]) {
    for found in diagnostics {
        let place = found.line.map(|line| format!("{line}: ")).unwrap_or_default();
        let _infallible =
            writeln!(out, "      {place}{}[{}]: {}", found.severity, found.code, text::shown(&found.message));
        if let Some(help) = &found.help {
            let _infallible = writeln!(out, "        help: {}", text::shown(help));
        }
    }
}

fn test(global: &Global, verb: &HooksTestVerb) -> Result<Status, Failure> {
    let event = HookEvent::parse(&verb.event).map_err(|error| Failure::HookEvent { error })?;
    let data = match &verb.input {
        Some(path) => data(path)?,
        None => Map::new(),
    };
    let session = context::session(global)?;
    let mut left_out = Vec::new();
    for skill in skills_with_hooks(&session, &verb.skill)? {
        if let Some(reason) = load(&session, &skill) {
            left_out.push(HookSkillOutput {
                skill: skill.id.to_string(),
                path: skill.path.display().to_string(),
                activates: false,
                reason: Some(reason),
                diagnostics: Vec::new(),
            });
        }
    }
    let outcome = session.try_hooks(&HookInput::new(event, data));
    let hooks = outcome.reports.iter().map(|report| CalledHookOutput {
        skill: report.key.skill.to_string(),
        handler: report.handler.clone(),
        id: report.key.id.to_string(),
        outcome: report.outcome.name(),
        detail: report.detail.clone(),
        duration_us: report.duration_us,
        diagnostics: report.diagnostics.iter().map(|found| DiagnosticOutput::new(found, |_| None)).collect(),
    });
    let hooks = hooks.collect();
    let verdict = outcome.verdict.name();
    let output = HooksTestOutput {
        event: event.name().to_owned(),
        verdict,
        reasons: match outcome.verdict {
            HookVerdict::Pass => Vec::new(),
            HookVerdict::Ask(reasons) => reasons,
            HookVerdict::Deny(reason) => vec![reason],
        },
        rewritten_input: outcome.rewritten_input,
        rewritten_output: outcome.rewritten_output,
        context: outcome.context.into_iter().map(|said| said.text).collect(),
        messages: outcome.messages.into_iter().map(|said| said.text).collect(),
        stop: outcome.stop.map(|said| said.text),
        hooks,
        left_out,
    };
    if global.format == Format::Json {
        text::json(&output)?;
    } else {
        text::human(&tested(&output));
    }
    Ok(Status::Done)
}

/// Has the hooks of a skill wait for the event, as its invocation would. Gives why they do not.
fn load(session: &Session, skill: &Arc<Skill>) -> Option<String> {
    let plan = match plan(session, skill) {
        Ok(plan) => plan,
        Err(error) => return Some(error.to_string()),
    };
    match plan.objection() {
        // Who raises the event wants the hooks to be called; their commands are decided as ever.
        None | Some(InvokeError::Skill(SkillRefusal::Unanswered { .. })) => {}
        Some(objection) => return Some(objection.to_string()),
    }
    session.load_hooks(&plan).err().map(|error| error.to_string())
}

/// The event's data.
fn data(path: &Path) -> Result<Map<String, Value>, Failure> {
    let shown = path.display().to_string();
    let refused = |reason: String| Failure::HookInput { path: shown.clone(), reason };
    let bytes = if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin()
            .lock()
            .take(MAX_INPUT + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| refused(error.to_string()))?;
        bytes
    } else {
        read_file_ambient(path, MAX_INPUT).map_err(|fault| refused(fault.to_string()))?
    };
    if bytes.len() as u64 > MAX_INPUT {
        return Err(refused(format!("it has more than {MAX_INPUT} bytes")));
    }
    match serde_json::from_slice(&bytes) {
        Ok(Value::Object(members)) => Ok(members),
        Ok(_) => Err(refused("it is no JSON object".to_owned())),
        Err(error) => Err(refused(format!("it is no JSON: {error}"))),
    }
}

fn tested(output: &HooksTestOutput) -> String {
    let mut out = String::new();
    for hook in &output.hooks {
        let _infallible =
            writeln!(out, "{:<18} {}  {}", hook.outcome, text::shown(&hook.skill), text::shown(&hook.handler));
        if let Some(detail) = &hook.detail {
            let _infallible = writeln!(out, "      {}", text::shown(detail));
        }
        findings(&mut out, &hook.diagnostics);
    }
    for skill in &output.left_out {
        let reason = skill.reason.as_deref().unwrap_or_default();
        let _infallible = writeln!(out, "{:<18} {}  {}", "left out", text::shown(&skill.skill), text::shown(reason));
    }
    if output.hooks.is_empty() {
        out.push_str("no hook matches\n");
    }
    let _infallible = writeln!(out, "\n{}: {}", output.event, output.verdict);
    for reason in &output.reasons {
        let _infallible = writeln!(out, "  {}", text::shown(reason));
    }
    if let Some(input) = &output.rewritten_input {
        let _infallible = writeln!(out, "  another input: {}", text::shown(&input.to_string()));
    }
    if let Some(value) = &output.rewritten_output {
        let _infallible = writeln!(out, "  another output: {}", text::shown(&value.to_string()));
    }
    for (what, texts) in [("for the model", &output.context), ("for the user", &output.messages)] {
        for said in texts {
            let _infallible = writeln!(out, "  {what}: {}", text::shown(said));
        }
    }
    if let Some(stop) = &output.stop {
        let _infallible = writeln!(out, "  everything would end: {}", text::shown(stop));
    }
    out
}
