//! Servers of skills in the host sandbox.

use crate::native;
use skillgate_core::Limits;
use skillgate_exec_host::{HostBackend, HostOutcome, ServerFault, ServerProcess};
use skillgate_mcp::{LaunchError, LaunchedProcess, LaunchedServer, ServerLauncher, ServerProgram};
use skillgate_policy::file::Policy;
use std::sync::Arc;
use std::time::Duration;

/// How long is waited for how a server ended, once its streams did.
const MOMENT: Duration = Duration::from_millis(200);

/// What starts the servers of this policy; `None` where it leaves them unconfined.
pub(crate) fn launcher(policy: &Policy) -> Option<Arc<dyn ServerLauncher>> {
    let mcp = &policy.mcp;
    let confined = || Confined {
        host: native::sandbox().build(),
        show: mcp.show.as_ref().map(|paths| paths.value.clone()).unwrap_or_default(),
        limits: policy.limits(),
        memory_bytes: mcp.memory_bytes.as_ref().map(|bytes| bytes.value),
    };
    mcp.sandbox.value.then(|| Arc::new(confined()) as Arc<dyn ServerLauncher>)
}

#[derive(Debug)]
struct Confined {
    host: HostBackend,
    show: Vec<String>,
    limits: Limits,
    memory_bytes: Option<u64>,
}

impl ServerLauncher for Confined {
    fn launch(&self, program: &ServerProgram) -> Result<LaunchedServer, LaunchError> {
        let program = skillgate_exec_host::ServerProgram {
            path: program.command.clone(),
            arguments: program.args.clone(),
            environment: program.env.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
            show: self.show.clone(),
            limits: self.limits.clone(),
            memory_bytes: self.memory_bytes,
        };
        let mut process = self.host.start_server(&program).map_err(|fault| refused(&fault))?;
        let streams = (process.stdin(), process.stdout(), process.stderr());
        let (Some(stdin), Some(stdout), Some(stderr)) = streams else {
            let reason = "its standard streams are not there".to_owned();
            return Err(LaunchError::Program { reason, help: None });
        };
        Ok(LaunchedServer { stdin, stdout, stderr, process: Box::new(Running(process)) })
    }
}

/// Why nothing was started, with the way out.
fn refused(fault: &ServerFault) -> LaunchError {
    let (reason, help) = (fault.to_string(), |help: &str| Some(help.to_owned()));
    match fault {
        ServerFault::Unavailable(_) => {
            let help = help(
                "`skillgate sandbox doctor` says what this machine can enforce; without `mcp.sandbox = true` in the policy servers are started unconfined",
            );
            LaunchError::Unconfined { reason, help }
        }
        ServerFault::Shown { .. } => LaunchError::Unconfined {
            reason,
            help: help("`show` of `[mcp]` in the policy lists directories that are there"),
        },
        ServerFault::Program(_) => LaunchError::Program {
            reason,
            help: help("name the program itself by its whole path, and a script as its argument"),
        },
        _ => LaunchError::Program {
            reason,
            help: help("`show` of `[mcp]` in the policy lists the directories that it needs"),
        },
    }
}

#[derive(Debug)]
struct Running(ServerProcess);

impl LaunchedProcess for Running {
    fn fault(&mut self) -> Option<String> {
        match self.0.outcome(MOMENT)? {
            HostOutcome::Refused(refused) => Some(refused.reason),
            HostOutcome::Unavailable(why) => Some(why.to_string()),
            HostOutcome::Signalled(signal) => Some(format!("it was ended by signal {signal}")),
            HostOutcome::Exited(status) if status != 0 => Some(format!("it ended with status {status}")),
            _ => None,
        }
    }
}
