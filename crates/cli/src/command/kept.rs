//! `skillgate run NAME --session FILE`: one conversation over several runs.

use crate::args::{Format, Global, RunVerb};
use crate::exit::{Failure, Status};
use crate::output::{AuthorityOutput, DiagnosticOutput, InjectionOutput, MessageOutput, RunOutput};
use crate::text;
use skillgate_policy::Invoker;
use skillgate_runtime::{Save, Session, SkillCall, SkillResult, SkillStatus};
use std::path::Path;

/// Takes up the conversation that a file holds; says whether there is one.
pub(crate) fn take_up(session: &Session, file: &Path) -> Result<bool, Failure> {
    let Some(save) = Save::read_ambient(file)? else { return Ok(false) };
    let report = session.restore(&save);
    for narrowed in &report.narrowed {
        text::complain(&text::safe(&format!("skillgate: {}: {}", narrowed.skill, narrowed.because)));
    }
    for refused in &report.refused {
        text::complain(&text::safe(&format!("skillgate: {} did not come back: {}", refused.skill, refused.because)));
    }
    Ok(true)
}

/// Calls the skill in the conversation, prints its prompt, and keeps the conversation in the file.
pub(crate) fn call(
    global: &Global,
    session: &Session,
    verb: &RunVerb,
    arguments: Option<String>,
    decision: String,
) -> Result<Status, Failure> {
    let line = format!("/{}", verb.name.trim().trim_start_matches('/'));
    let line = arguments.iter().fold(line, |line, text| format!("{line} {text}"));
    // Somebody typed it, so what the last turn left ends here.
    let said = session.user_message(&line);
    if let Some(reason) = said.held {
        return Err(Failure::Held { reason });
    }
    let mut call = SkillCall::new(&verb.name, Invoker::User);
    call.args = arguments;
    let result = session.call_skill(&call)?;
    if let Some(file) = &verb.session {
        session.save()?.write_ambient(file)?;
    }
    let output = output(&result, decision);
    if global.format == Format::Json {
        text::json(&output)?;
        return Ok(Status::Done);
    }
    for text in said.context.iter().chain(&result.context) {
        text::human(&format!("{}\n", text.text));
    }
    match result.status {
        SkillStatus::Unchanged => text::complain(&result.tool_result),
        _ => text::human(&prompt(&output)),
    }
    Ok(Status::Done)
}

/// What a model is given: for an agent of the skill's own its prompt.
fn prompt(output: &RunOutput) -> String {
    output.messages.iter().filter(|message| message.is_meta).map(|message| message.content.as_str()).collect()
}

fn output(result: &SkillResult, decision: String) -> RunOutput {
    let position = |at| result.positions.as_ref().and_then(|positions| positions.at(at));
    let forked = result.fork_request.iter().map(|request| MessageOutput {
        role: "user".to_owned(),
        is_meta: true,
        content: request.prompt.clone(),
    });
    RunOutput {
        skill: result.skill.as_ref().map_or_else(|| result.command.clone(), ToString::to_string),
        mode: if result.fork.is_some() { "fork".to_owned() } else { "inline".to_owned() },
        dry_run: false,
        decision,
        messages: result.messages.iter().map(MessageOutput::of).chain(forked).collect(),
        authority: AuthorityOutput::of(&result.authority),
        model: result.permissions.model.clone(),
        effort: result.permissions.effort.as_ref().map(crate::command::run::effort),
        hooks: result.registered.clone(),
        injections: result.injections.iter().map(InjectionOutput::ran).collect(),
        diagnostics: result.diagnostics.iter().map(|found| DiagnosticOutput::new(found, position)).collect(),
    }
}
