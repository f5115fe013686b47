//! `skillgate sandbox doctor`

use crate::args::{Format, Global};
use crate::context;
use crate::exit::{Failure, Status};
use crate::native;
use crate::output::{BackendOutput, ProgramOutput, SandboxDoctorOutput, StageFailureOutput, StageOutput};
use crate::policy;
use crate::text;
use skillgate_exec_host::DoctorReport;

pub(crate) fn run(global: &Global) -> Result<Status, Failure> {
    let policy = policy::in_force(global)?.policy;
    let output = SandboxDoctorOutput {
        backends: vec![wasm(context::wasm(global, &policy)), host(native::backend(global, &policy, &[], &[]).doctor())],
    };
    if global.format == Format::Json {
        text::json(&output)?;
    } else {
        let drawn: Vec<String> = output.backends.iter().map(draw).collect();
        text::human(&drawn.join("\n"));
    }
    Ok(Status::Done)
}

fn wasm<T>(backend: Result<T, Failure>) -> BackendOutput {
    let stages = [
        (
            "engine",
            "a memory of its own for each command, bounded over all of a run; no native code but the compiler's",
        ),
        ("interfaces", "files beneath approved handles, bounded streams, coarse clocks; no network, no process"),
    ];
    let unavailable =
        backend.err().map(|failure| StageFailureOutput { stage: "engine".to_owned(), reason: failure.to_string() });
    let stages =
        stages.iter().map(|(name, detail)| StageOutput { name: (*name).to_owned(), detail: (*detail).to_owned() });
    BackendOutput {
        name: "wasm",
        available: unavailable.is_none(),
        stages: if unavailable.is_none() { stages.collect() } else { Vec::new() },
        unavailable,
        programs: Vec::new(),
        fault_injection: false,
    }
}

fn host(report: DoctorReport) -> BackendOutput {
    BackendOutput {
        name: "host",
        available: report.unavailable.is_none(),
        stages: report
            .stages
            .into_iter()
            .map(|stage| StageOutput { name: stage.stage.to_string(), detail: stage.detail })
            .collect(),
        unavailable: report
            .unavailable
            .map(|why| StageFailureOutput { stage: why.stage.to_string(), reason: why.reason }),
        programs: report
            .programs
            .into_iter()
            .map(|program| ProgramOutput { name: program.name, path: program.path, fault: program.fault })
            .collect(),
        fault_injection: report.fault_injection,
    }
}

fn draw(backend: &BackendOutput) -> String {
    let mut drawn = format!("{}: {}\n", backend.name, if backend.available { "available" } else { "not available" });
    if backend.fault_injection {
        drawn.push_str("  this build can be told to fail a stage; it is for tests and not to be used\n");
    }
    for stage in &backend.stages {
        drawn.push_str(&format!("  {:<12} {}\n", stage.name, text::escaped_line(&stage.detail)));
    }
    if let Some(failure) = &backend.unavailable {
        drawn.push_str(&format!("  {:<12} failed: {}\n", failure.stage, text::escaped_line(&failure.reason)));
    }
    for program in &backend.programs {
        let state = program.fault.as_deref().unwrap_or("can be run");
        drawn.push_str(&format!("  program {} ({}): {}\n", program.name, program.path, text::escaped_line(state)));
    }
    drawn
}
