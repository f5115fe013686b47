//! `skillgate run NAME`

use crate::args::{Format, Global, RunVerb};
use crate::command::kept;
use crate::context;
use crate::exit::{Failure, Status};
use crate::output::{
    AuthorityOutput, CommandOutput, DiagnosticOutput, InjectionOutput, MessageOutput, RunOutput, WordOutput,
};
use crate::text::{self, Style};
use skillgate_core::{Context, Diagnostic, Effort, Severity};
use skillgate_policy::{Invoker, SkillDecision};
use skillgate_registry::Lookup;
use skillgate_runtime::{InjectionPlan, Invocation, InvocationPlan, InvokeRequest, Session};
use std::fmt::Write as _;

/// Takes in the skills of a directory inside the project that the name names, as a touched file in it would: who calls a skill by
/// its whole name need not touch a file first.
fn bring(session: &Session, name: &str) {
    if !matches!(session.catalogue().lookup(name), Lookup::Unknown { .. }) {
        return;
    }
    let name = name.trim().trim_start_matches('/');
    if let (Some((directory, _)), Some(project)) = (name.rsplit_once(':'), session.project()) {
        let _found = session.touch([project.root.join(directory).join("SKILL.md")]);
    }
}

pub(crate) fn run(global: &Global, verb: &RunVerb) -> Result<Status, Failure> {
    let mut options = context::options(global);
    if let Some(id) = &verb.session_id {
        options = options.id(id);
    }
    // Where the skill has an agent of its own, its prompt is printed.
    let session = context::runtime(global)?.open()?.session(options.host_runs_forks(true));
    if let Some(file) = &verb.session {
        let _begins_or_goes_on = kept::take_up(&session, file)?;
    }
    bring(&session, &verb.name);
    let mut request = InvokeRequest::new(&verb.name, Invoker::User);
    let arguments = match &verb.args {
        Some(text) => Some(text.clone()),
        None => (!verb.arguments.is_empty()).then(|| quoted(&verb.arguments)),
    };
    if let Some(text) = &arguments {
        request = request.arguments(text);
    }
    if verb.dry_run {
        let plan = session.plan(&request)?;
        let hooks = session.hooks_of(&plan);
        let mut output = planned(&plan);
        let objection = match hooks {
            Ok(hooks) => {
                output.hooks = hooks;
                plan.objection()
            }
            Err(error) => plan.objection().or(Some(error)),
        };
        if global.format == Format::Json {
            text::json(&output)?;
        } else {
            text::human(&explain(&output));
        }
        return objection.map_or(Ok(Status::Done), |objection| Err(objection.into()));
    }
    if verb.session.is_some() {
        let decision = decision(&session.plan(&request)?);
        return kept::call(global, &session, verb, arguments, decision);
    }
    let plan = session.prepare(&request)?;
    let position = plan.positions();
    let decision = decision(&plan);
    let hooks = session.hooks_of(&plan)?;
    let invocation = session.run(plan)?;
    session.count_use(&invocation.skill);
    if global.format == Format::Json {
        text::json(&invoked(&invocation, (decision, hooks), &position))?;
    } else {
        if global.verbose {
            let output = invoked(&invocation, (decision, hooks), &position);
            text::complain(text::safe(&explain(&output)).trim_end());
        }
        report(global, &invocation.diagnostics);
        text::human(&invocation.text());
    }
    Ok(Status::Done)
}

/// Words as a shell would have to be given them.
fn quoted(words: &[String]) -> String {
    let quote = |word: &String| {
        let plain = |c: char| c.is_alphanumeric() || "-_./:=+,@%".contains(c);
        if !word.is_empty() && word.chars().all(plain) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}

fn report(global: &Global, diagnostics: &[Diagnostic]) {
    let style = Style::of(global);
    for found in diagnostics.iter().filter(|found| found.severity > Severity::Info || global.verbose) {
        let severity = format!("{}:", found.severity);
        text::complain(&format!("{} {} [{}]", style.warning(&severity), text::safe(&found.message), found.code));
    }
}

fn decision(plan: &InvocationPlan) -> String {
    match &plan.decision {
        Ok(SkillDecision::ByRule(rule)) => rule.to_string(),
        Ok(SkillDecision::Agreed { because }) => format!("allow ({because}, agreed to)"),
        Ok(SkillDecision::OnlySafeProperties) => "allow (only safe properties)".to_owned(),
        Err(refusal) => format!("deny ({refusal})"),
    }
}

pub(crate) fn effort(effort: &Effort) -> String {
    match serde_json::to_value(effort) {
        Ok(serde_json::Value::String(word)) => word,
        Ok(value) => value.to_string(),
        Err(_) => String::new(),
    }
}

fn mode(context: Context) -> String {
    match context {
        Context::Inline => "inline".to_owned(),
        Context::Fork => "fork".to_owned(),
    }
}

pub(crate) fn injection_plan(plan: &InjectionPlan) -> InjectionOutput {
    InjectionOutput {
        source: plan.injection.source.clone(),
        commands: plan.commands.iter().map(CommandOutput::planned).collect(),
        error: plan.program.as_ref().err().map(ToString::to_string),
        exit_code: None,
        stdout_bytes: None,
        truncated: false,
        duration_us: None,
    }
}

fn planned(plan: &InvocationPlan) -> RunOutput {
    let header = &plan.skill.frontmatter;
    let position = plan.positions();
    RunOutput {
        skill: plan.skill.id.to_string(),
        mode: mode(header.context.as_ref().map_or(Context::Inline, |context| context.value)),
        dry_run: true,
        decision: decision(plan),
        messages: Vec::new(),
        authority: AuthorityOutput::of(&plan.authority()),
        model: header.model.as_ref().map(|model| model.value.0.clone()),
        effort: header.effort.as_ref().map(|field| effort(&field.value)),
        hooks: Vec::new(),
        injections: plan.injections.iter().map(injection_plan).collect(),
        diagnostics: plan.diagnostics.iter().map(|found| DiagnosticOutput::new(found, |at| position.at(at))).collect(),
    }
}

fn invoked(
    invocation: &Invocation,
    (decision, hooks): (String, Vec<String>),
    position: &skillgate_runtime::Positions,
) -> RunOutput {
    RunOutput {
        skill: invocation.skill.to_string(),
        mode: mode(invocation.mode),
        dry_run: false,
        decision,
        messages: invocation.messages.iter().map(MessageOutput::of).collect(),
        authority: AuthorityOutput::of(&invocation.authority),
        model: invocation.model.clone(),
        effort: invocation.effort.as_ref().map(effort),
        hooks,
        injections: invocation.injections.iter().map(InjectionOutput::ran).collect(),
        diagnostics: invocation
            .diagnostics
            .iter()
            .map(|found| DiagnosticOutput::new(found, |at| position.at(at)))
            .collect(),
    }
}

/// The plan or the report in words: what was asked, which rule decided, what ran where.
fn explain(output: &RunOutput) -> String {
    let mut out = String::new();
    let _infallible = writeln!(out, "skill        {} ({})", output.skill, output.mode);
    let _infallible = writeln!(out, "decision     {}", output.decision);
    for rule in &output.authority.host {
        let _infallible = writeln!(out, "host         {rule}");
    }
    for caveat in &output.authority.caveats {
        let patterns = if caveat.patterns.is_empty() { "nothing".to_owned() } else { caveat.patterns.join(", ") };
        let _infallible = writeln!(out, "narrowed to  {}", text::shown(&patterns));
    }
    print_injections(&mut out, &output.injections);
    out
}

pub(crate) fn print_injections(out: &mut String, injections: &[InjectionOutput]) {
    for injection in injections {
        let _infallible = writeln!(out, "injection    {}", text::shown(&injection.source));
        if let Some(error) = &injection.error {
            let _infallible = writeln!(out, "             cannot run: {error}");
        }
        for command in &injection.commands {
            let words: Vec<String> = command
                .argv
                .iter()
                .map(|word| match word {
                    WordOutput::Known(text) => quoted(std::slice::from_ref(&text::shown(text))),
                    WordOutput::Unknown { .. } => "…".to_owned(),
                })
                .collect();
            let backend = command.backend.as_deref().unwrap_or("?");
            let status = command.status.map(|status| format!(", status {status}")).unwrap_or_default();
            let _infallible = writeln!(
                out,
                "  {:<6} {:<40} in {backend}{status}: {}",
                command.decision,
                words.join(" "),
                command.rule
            );
        }
        if let Some(status) = injection.exit_code {
            let bytes = injection.stdout_bytes.unwrap_or(0);
            let cut = if injection.truncated { ", cut" } else { "" };
            let _infallible = writeln!(out, "  status {status}, {bytes} bytes{cut}");
        }
    }
}
