//! `skillgate sandbox run -- PROGRAM`

use crate::args::{BackendArg, Format, Global, SandboxRunVerb};
use crate::audit;
use crate::components;
use crate::context;
use crate::exit::{Failure, Status};
use crate::native;
use crate::output::{CommandOutput, OfferedCommandOutput, PlaceOutput, SandboxCommandsOutput, SandboxRunOutput};
use crate::policy;
use crate::sink::{PassThrough, standard_input};
use crate::text;
use skillgate_exec::{
    AuditContext, CapabilityShell, Completion, Executor as _, Mounts, Output, Program, Run, Scene, Streams, Trail,
};
use skillgate_exec_wasm::Origin;
use skillgate_loader::project_ambient;
use skillgate_policy::{Authority, Gate, Invoker};
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

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

/// `skillgate sandbox commands`
pub(crate) fn commands(global: &Global) -> Result<Status, Failure> {
    let policy = policy::in_force(global)?.policy;
    let mut offered: BTreeMap<String, OfferedCommandOutput> = BTreeMap::new();
    for component in components::of_policy(&policy)? {
        let place = policy.components.get(component.name()).map(|setting| &setting.place);
        for name in component.commands() {
            // The first that offers a command is the one that runs it.
            offered.entry(name.to_owned()).or_insert_with(|| OfferedCommandOutput {
                name: name.to_owned(),
                provider: match component.origin() {
                    Origin::Shipped => "shipped",
                    Origin::ThirdParty => "third-party",
                },
                component: component.name().to_owned(),
                digest: component.digest().to_string(),
                origin: place.filter(|_| component.origin() == Origin::ThirdParty).map(PlaceOutput::of),
            });
        }
    }
    let commands: Vec<_> = offered.into_values().collect();
    if global.format == Format::Json {
        text::json(&SandboxCommandsOutput { commands })?;
        return Ok(Status::Done);
    }
    let mut table = String::new();
    for command in &commands {
        let from = match policy.components.get(&command.name).filter(|_| command.provider == "third-party") {
            Some(setting) => format!("third party, {} ({})", setting.value.path.value, setting.place),
            None => format!("shipped, {}", command.component),
        };
        table.push_str(&format!("{:<12} {}\n", command.name, text::escaped_line(&from)));
    }
    text::human(&table);
    Ok(Status::Done)
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
    let shell = CapabilityShell::new(match verb.backend() {
        BackendArg::Wasm => vec![context::wasm(global, &policy)?],
        BackendArg::Host => {
            let native = native::backend(global, &policy, &verb.native, &verb.write);
            vec![Arc::new(native), context::wasm(global, &policy)?]
        }
    });
    let run = Run::start(limits);
    let streams = Streams {
        stdin: standard_input(&run),
        stdout: Output::Sink(PassThrough::new(io::stdout(), run.limits().output_bytes)),
        stderr: Output::Sink(PassThrough::new(io::stderr(), run.limits().output_bytes)),
    };
    Ok(shell.execute(&program, &gate, &scene, &run, streams)?)
}
