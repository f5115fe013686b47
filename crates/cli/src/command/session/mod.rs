//! `skillgate session`: the runtime as JSON lines, for programs in other languages. docs/session.md describes it.

mod client;
mod lines;
mod operations;
mod protocol;
mod serve;

pub(crate) use protocol::{Line, Request};

use crate::args::{Global, SessionVerb};
use crate::exit::{Failure, Status};
use crate::output::SkillsChangedOutput;
use crate::{context, mcp};
use client::Client;
use protocol::Event;
use skillgate_loader::WatchOptions;
use skillgate_runtime::{AgentRunner, ProcessRunner, RuntimeWatch, SessionOptions, SkillsChange};
use std::io;
use std::sync::Arc;

pub(crate) fn run(global: &Global, verb: &SessionVerb) -> Result<Status, Failure> {
    let client = Arc::new(Client::new(io::stdout()));
    // What nobody follows has to be there at the start; else no server is waited for, and its skills come when it answers.
    let servers = if verb.no_watch { None } else { mcp::begun_by_command_line(global)? };
    let mut builder = if verb.no_watch { context::runtime(global)? } else { context::local_runtime(global)? };
    if let Some(servers) = &servers {
        builder = builder.source(servers.skills());
    }
    let mut options = SessionOptions::default();
    match agents(verb)? {
        Some(runner) => builder = builder.agents(runner),
        None => options = options.host_runs_forks(true),
    }
    if let Some(id) = &verb.session_id {
        options = options.id(id);
    }
    if !global.no_input {
        options = options.answerer(client.clone());
    }
    let runtime = builder.open()?;
    let session = runtime.session(options);
    let told = Arc::clone(&client);
    session.subscribe(move |change| {
        if let SkillsChange::Reloaded(reloaded) = change {
            told.event(None, Event::SkillsChanged(SkillsChangedOutput::from(reloaded)));
        }
    });
    let watch = if verb.no_watch { None } else { Some(runtime.watch(WatchOptions::default())?) };
    if let (Some(servers), Some(watch)) = (&servers, &watch) {
        mcp::follow(servers, watch.asker());
    }
    let served = serve::serve(&session, &client, &mut io::stdin().lock());
    watch.into_iter().for_each(RuntimeWatch::end);
    served.map_err(|error| Failure::Io { doing: "reading requests".to_owned(), error })?;
    Ok(Status::Done)
}

/// The program that runs the agents of skills, when the command line names one.
fn agents(verb: &SessionVerb) -> Result<Option<Arc<dyn AgentRunner>>, Failure> {
    let Some(program) = &verb.agent else { return Ok(None) };
    let unusable = |error| Failure::AgentProgram { error };
    let mut runner = ProcessRunner::new(program).map_err(unusable)?;
    for word in &verb.agent_arg {
        runner = runner.argument(word);
    }
    for name in &verb.agent_env {
        if let Some(value) = std::env::var_os(name) {
            runner = runner.variable(name, value);
        }
    }
    Ok(Some(Arc::new(runner)))
}
