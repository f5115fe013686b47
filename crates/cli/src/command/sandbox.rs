//! `skillgate sandbox run -- PROGRAM`

use crate::args::{Global, SandboxRunVerb};
use crate::audit;
use crate::context;
use crate::exit::{Failure, Status};
use crate::output::{CommandOutput, SandboxRunOutput};
use crate::policy;
use crate::sink::{PassThrough, standard_input};
use crate::text;
use skillgate_exec::{AuditContext, Completion, Executor as _, Mounts, Output, Program, Run, Scene, Streams, Trail};
use skillgate_loader::project_ambient;
use skillgate_policy::{Authority, Gate, Invoker};
use std::io;

pub(crate) fn run(global: &Global, verb: &SandboxRunVerb) -> Result<Status, Failure> {
    let result = execute(global, verb);
    let status = match &result {
        Ok(completion) => Status::Program(completion.status),
        Err(failure) => failure.status(),
    };
    if let Some(path) = &verb.status_file {
        let output = SandboxRunOutput {
            kind: match &result {
                Ok(_) => "exit".to_owned(),
                Err(failure) => failure.code().to_owned(),
            },
            status: status.code(),
            commands: result.iter().flat_map(|done| &done.commands).map(CommandOutput::ran).collect(),
        };
        let report = serde_json::to_string_pretty(&output)?;
        #[expect(clippy::disallowed_methods, reason = "a file that the user named on the command line")]
        let written = std::fs::write(path, format!("{report}\n"));
        // What the program did is the answer, whether or not the note about it could be written.
        if let Err(error) = written {
            text::complain(&format!("skillgate: the status cannot be written to `{}`: {error}", path.display()));
        }
    }
    result.map(|_| status)
}

fn execute(global: &Global, verb: &SandboxRunVerb) -> Result<Completion, Failure> {
    let policy = policy::in_force(global)?.policy;
    let limits = policy.limits();
    let source = match verb.program.as_slice() {
        [program] => program.clone(),
        words => words.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''"))).collect::<Vec<_>>().join(" "),
    };
    let gate = Gate::new(Authority::of(policy.host_of_run(context::writing(&verb.write)?)));
    let program = Program::from_text(&source, &limits).map_err(|error| Failure::Program {
        reason: error.reason,
        source_text: source.clone(),
        offset: error.span.start,
    })?;
    let project =
        project_ambient(&global.project, global.home().as_deref()).map_err(skillgate_runtime::OpenError::from)?;
    let mounts = Mounts::open_ambient(Some(&project.root), &[])
        .map_err(|(path, error)| Failure::Io { doing: format!("opening `{}`", path.display()), error })?;
    let root = project.root.to_string_lossy().into_owned();
    let environment = [
        ("PATH", "/usr/bin:/bin"),
        ("HOME", "/home/skillgate"),
        ("LANG", "C.UTF-8"),
        ("TZ", "UTC"),
        ("CLAUDE_PROJECT_DIR", &root),
    ];
    let typed = AuditContext { invoker: Some(Invoker::User), ..AuditContext::default() };
    let scene = Scene {
        mounts,
        directory: project.path.to_string_lossy().into_owned(),
        environment: environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        trail: Trail::new(audit::sink(global, &policy)?, typed),
        asker: None,
    };
    let shell = context::shell(global, &policy)?;
    let run = Run::start(limits);
    let streams = Streams {
        stdin: standard_input(&run),
        stdout: Output::Sink(PassThrough::new(io::stdout(), run.limits().output_bytes)),
        stderr: Output::Sink(PassThrough::new(io::stderr(), run.limits().output_bytes)),
    };
    Ok(shell.execute(&program, &gate, &scene, &run, streams)?)
}
