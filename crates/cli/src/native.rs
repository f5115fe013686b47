//! The programs of this machine that the host names.

use crate::args::{Global, NamedProgram};
use crate::text;
use skillgate_core::RelPath;
use skillgate_exec_host::{Change, ChangeObserver, HostBackend, HostBackendBuilder, NativeProgram};
use skillgate_policy::file::Policy;
use skillgate_sandbox::Helper;
use std::sync::Arc;

/// Which stage of the host sandbox fails, in a build for tests of exactly that.
const FAULT: &str = "SKILLGATE_FAULT";

/// The host sandbox without programs.
pub(crate) fn sandbox() -> HostBackendBuilder {
    let mut builder = HostBackend::builder();
    if let Ok(helper) = Helper::beside_ambient().or_else(|_| Helper::this_program_ambient()) {
        builder = builder.helper(helper);
    }
    if skillgate_sandbox::FAULT_INJECTION {
        let stage = std::env::var(FAULT).ok().and_then(|name| skillgate_sandbox::Stage::named(&name));
        builder = builder.fault(stage);
    }
    builder
}

/// The host sandbox with the policy's programs and those of the command line, which may write below these directories.
pub(crate) fn backend(global: &Global, policy: &Policy, named: &[NamedProgram], write: &[String]) -> HostBackend {
    let mut builder = sandbox();
    if global.verbose {
        builder = builder.observer(Arc::new(Told));
    }
    for (name, setting) in &policy.programs {
        let settings = &setting.value;
        let mut program = NativeProgram::new(name, &settings.path)
            .write(settings.write.iter().cloned())
            .runs_project_files(settings.run_project_files)
            .network(settings.network)
            .memory_bytes(settings.limits.memory_bytes)
            .processes(settings.limits.native_processes.map(|count| u32::try_from(count).unwrap_or(u32::MAX)))
            .file_bytes(settings.limits.native_file_bytes)
            .wall_ms(settings.limits.wall_ms);
        for variable in &settings.env {
            if let Ok(value) = std::env::var(variable) {
                program = program.environment(variable, value);
            }
        }
        builder = builder.program(program);
    }
    for NamedProgram { name, path } in named {
        let write = write.iter().filter_map(|directory| RelPath::new(directory.trim_matches('/')).ok());
        builder = builder.program(NativeProgram::new(name, path).write(write));
    }
    builder.build()
}

/// Says on standard error what a program changed in the project.
#[derive(Debug)]
struct Told;

impl ChangeObserver for Told {
    fn changed(&self, vector: &[String], changes: &[Change]) {
        let command = vector.first().map(String::as_str).unwrap_or_default();
        for change in changes {
            text::complain(&format!("skillgate: {}", text::escaped_line(&format!("`{command}` {change}"))));
        }
    }
}
