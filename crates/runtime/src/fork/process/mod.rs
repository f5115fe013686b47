//! An agent that is a program: the prompt on its standard input, the result on its standard output.

#[cfg(unix)]
mod child;
#[cfg(unix)]
mod group;

use super::{AgentError, AgentOutput, AgentRunner, ForkProgress, ForkRequest, check_kind};
use crate::cancel::CancelToken;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;
#[cfg(unix)]
use std::{ffi::OsStr, path::Path};

/// How long an agent may run, unless the host says otherwise.
const DEADLINE: Duration = Duration::from_secs(600);

/// How long an agent has to end by itself after it was told to.
const GRACE: Duration = Duration::from_secs(2);

/// Bytes that an agent may write to each stream.
const MAX_OUTPUT_BYTES: u64 = 4 * 1024 * 1024;

/// Runs a program of the host's as an agent: any that reads a prompt on its standard input and prints its result.
///
/// **It is not confined.** The program has all rights of the host's process, whatever the skill's authority is: the host chose
/// it and trusts it, as it trusts itself. Where the host wants it confined it names what does it
/// ([`ProcessRunner::confined_by`]). A skill never chooses the program or its words.
///
/// It sees the environment that the host gives it and nothing of the host's own, and of the request
/// `SKILLGATE_AGENT` (the kind of agent), `SKILLGATE_MODEL` and `SKILLGATE_EFFORT`, each where the skill asks for one, and
/// `SKILLGATE_SKILL_CHAIN`, a JSON list of the skills whose agents stand in each other, itself the last.
///
/// It leads a process group of its own, which is gone when the run is over: told to end first, and killed after a time. What
/// left the group by itself is not reached; on systems other than Unix no program is run.
///
/// ```
/// use skillgate_runtime::ProcessRunner;
///
/// let runner = ProcessRunner::new("/usr/local/bin/my-agent")?.argument("--print").variable("HOME", "/home/me");
/// assert!(ProcessRunner::new("my-agent").is_err(), "it is not looked for in any PATH");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ProcessRunner {
    #[cfg_attr(
        not(unix),
        expect(dead_code, reason = "programs are started in a group of their own, which only Unix has")
    )]
    program: PathBuf,
    arguments: Vec<OsString>,
    confinement: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    directory: Option<PathBuf>,
    kinds: Option<Vec<String>>,
    deadline: Duration,
    grace: Duration,
    max_output_bytes: u64,
}

/// Why a program cannot be an agent.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProcessRunnerError {
    /// Which program it is would depend on where it is looked for.
    #[error("`{}` is not an absolute path", .path.display())]
    NotAbsolute {
        /// The path as given.
        path: PathBuf,
    },
}

impl ProcessRunner {
    /// A runner of this program, without arguments and with an empty environment.
    ///
    /// # Errors
    /// [`ProcessRunnerError::NotAbsolute`].
    pub fn new(program: impl Into<PathBuf>) -> Result<Self, ProcessRunnerError> {
        Ok(Self {
            program: absolute(program.into())?,
            arguments: Vec::new(),
            confinement: Vec::new(),
            environment: Vec::new(),
            directory: None,
            kinds: None,
            deadline: DEADLINE,
            grace: GRACE,
            max_output_bytes: MAX_OUTPUT_BYTES,
        })
    }

    /// One more argument.
    #[must_use]
    pub fn argument(mut self, word: impl Into<OsString>) -> Self {
        self.arguments.push(word.into());
        self
    }

    /// One more variable of its environment, which is empty otherwise.
    #[must_use]
    pub fn variable(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// The directory that it begins in; that of the host's process unless set.
    #[must_use]
    pub fn directory(mut self, path: impl Into<PathBuf>) -> Self {
        self.directory = Some(path.into());
        self
    }

    /// A program that confines what it starts, with its own words; the agent's program and arguments come behind them. Whether
    /// that is a wall is for the host to know.
    ///
    /// # Errors
    /// [`ProcessRunnerError::NotAbsolute`].
    pub fn confined_by(
        mut self,
        program: impl Into<PathBuf>,
        words: impl IntoIterator<Item = impl Into<OsString>>,
    ) -> Result<Self, ProcessRunnerError> {
        self.confinement = vec![absolute(program.into())?.into_os_string()];
        self.confinement.extend(words.into_iter().map(Into::into));
        Ok(self)
    }

    /// The kinds of agents that the program knows; any unless set.
    #[must_use]
    pub fn kinds(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.kinds = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// How long it may run; ten minutes unless set.
    #[must_use]
    pub fn deadline(mut self, limit: Duration) -> Self {
        self.deadline = limit;
        self
    }

    /// How long it has to end by itself after it was told to; two seconds unless set.
    #[must_use]
    pub fn grace(mut self, limit: Duration) -> Self {
        self.grace = limit;
        self
    }

    /// Bytes that it may write to each stream; 4 MiB unless set.
    #[must_use]
    pub fn max_output_bytes(mut self, limit: u64) -> Self {
        self.max_output_bytes = limit;
        self
    }

    /// The program that is started and its words: those of the confinement before those of the agent.
    #[cfg(unix)]
    fn words(&self) -> (&Path, Vec<&OsStr>) {
        let agent = [self.program.as_os_str()].into_iter().chain(self.arguments.iter().map(OsString::as_os_str));
        let mut words = self.confinement.iter().map(OsString::as_os_str).chain(agent);
        // The chain holds the agent's own program at least.
        let program = words.next().unwrap_or(self.program.as_os_str());
        (Path::new(program), words.collect())
    }

    #[cfg(unix)]
    fn variables(&self, request: &ForkRequest) -> Vec<(OsString, OsString)> {
        let mut variables = self.environment.clone();
        let mut tell = |name: &str, value: String| variables.push((name.into(), value.into()));
        if let Some(kind) = &request.kind {
            tell("SKILLGATE_AGENT", kind.clone());
        }
        if let Some(model) = &request.model {
            tell("SKILLGATE_MODEL", model.clone());
        }
        if let Some(effort) = &request.effort {
            let text = serde_json::to_value(effort).unwrap_or_default();
            let number = text.get("number").unwrap_or(&text);
            tell("SKILLGATE_EFFORT", number.as_str().map_or_else(|| number.to_string(), str::to_owned));
        }
        let chain: Vec<String> = request.chain.skills().iter().map(ToString::to_string).collect();
        tell("SKILLGATE_SKILL_CHAIN", serde_json::Value::from(chain).to_string());
        variables
    }
}

fn absolute(path: PathBuf) -> Result<PathBuf, ProcessRunnerError> {
    if path.is_absolute() { Ok(path) } else { Err(ProcessRunnerError::NotAbsolute { path }) }
}

impl AgentRunner for ProcessRunner {
    fn kinds(&self) -> Option<Vec<String>> {
        self.kinds.clone()
    }

    fn run(
        &self,
        request: &ForkRequest,
        progress: &(dyn Fn(ForkProgress) + Sync),
        cancel: &CancelToken,
    ) -> Result<AgentOutput, AgentError> {
        check_kind(self, request.kind.as_deref())?;
        self.run_program(request, progress, cancel)
    }
}

#[cfg(not(unix))]
impl ProcessRunner {
    fn run_program(
        &self,
        _: &ForkRequest,
        _: &(dyn Fn(ForkProgress) + Sync),
        _: &CancelToken,
    ) -> Result<AgentOutput, AgentError> {
        Err(AgentError::Unavailable { reason: "programs are run as agents on Unix systems only".to_owned() })
    }
}
