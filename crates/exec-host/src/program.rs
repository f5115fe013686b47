use skillgate_core::{Limits, RelPath};
use skillgate_policy::builtin_limits;

/// A program of the machine that the host's policy names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NativeProgram {
    name: String,
    path: String,
    environment: Vec<(String, String)>,
    write: Vec<RelPath>,
    runs_project_files: bool,
    network: bool,
    memory_bytes: Option<u64>,
    processes: Option<u32>,
    file_bytes: Option<u64>,
    wall_ms: Option<u64>,
}

impl NativeProgram {
    /// The program at an absolute path, under the name by which commands call it.
    #[must_use]
    pub fn new(name: impl Into<String>, path: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            path: path.into(),
            environment: Vec::new(),
            write: Vec::new(),
            runs_project_files: false,
            network: false,
            memory_bytes: None,
            processes: None,
            file_bytes: None,
            wall_ms: None,
        }
    }

    /// Passes an environment variable, with the value that the host has for it.
    #[must_use]
    pub fn environment(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Where it may write, below the project, as far as the run's grant lets it.
    #[must_use]
    pub fn write(mut self, directories: impl IntoIterator<Item = RelPath>) -> Self {
        self.write.extend(directories);
        self
    }

    /// Whether files of the project may be executed, by it and by what it starts. Without it they cannot, whatever their mode.
    #[must_use]
    pub fn runs_project_files(mut self, runs: bool) -> Self {
        self.runs_project_files = runs;
        self
    }

    /// Whether it is of no use without a network, which there is none of: it is then refused with that reason.
    #[must_use]
    pub fn network(mut self, needs: bool) -> Self {
        self.network = needs;
        self
    }

    /// Address space of each of its processes, bytes; the run's `memory_bytes` unless set. It may be more than the built-in number
    /// of that limit, because programs with a runtime of their own reserve much that they never use; not more than a lower number
    /// that the host sets for every run.
    #[must_use]
    pub fn memory_bytes(mut self, bytes: Option<u64>) -> Self {
        self.memory_bytes = bytes;
        self
    }

    /// Its processes together; the run's bound where that is lower, or nothing is set.
    #[must_use]
    pub fn processes(mut self, count: Option<u32>) -> Self {
        self.processes = count;
        self
    }

    /// Bytes that it may write, in one file and in all; the run's bound where that is lower, or nothing is set.
    #[must_use]
    pub fn file_bytes(mut self, bytes: Option<u64>) -> Self {
        self.file_bytes = bytes;
        self
    }

    /// How long each of its runs may last, milliseconds; what is left of the whole run's time where that is less, or nothing is
    /// set.
    #[must_use]
    pub fn wall_ms(mut self, milliseconds: Option<u64>) -> Self {
        self.wall_ms = milliseconds;
        self
    }

    /// The name by which commands call it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its absolute path.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    pub(crate) fn passed(&self) -> &[(String, String)] {
        &self.environment
    }

    pub(crate) fn writes(&self) -> &[RelPath] {
        &self.write
    }

    pub(crate) fn may_run_project_files(&self) -> bool {
        self.runs_project_files
    }

    pub(crate) fn needs_network(&self) -> bool {
        self.network
    }

    /// The bounds of its runs, where those of every run are these.
    pub(crate) fn bounds(&self, limits: &Limits) -> Bounds {
        // Lower than the built-in number is only what the host wrote.
        let most_memory =
            if limits.memory_bytes < builtin_limits().memory_bytes { limits.memory_bytes } else { u64::MAX };
        Bounds {
            memory_bytes: self.memory_bytes.map_or(limits.memory_bytes, |own| own.min(most_memory)),
            processes: self.processes.map_or(limits.native_processes, |own| own.min(limits.native_processes)),
            file_bytes: self.file_bytes.map_or(limits.native_file_bytes, |own| own.min(limits.native_file_bytes)),
            wall_ms: self.wall_ms.map_or(limits.wall_ms_injection, |own| own.min(limits.wall_ms_injection)),
        }
    }
}

/// The bounds of one program's runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Bounds {
    pub(crate) memory_bytes: u64,
    pub(crate) processes: u32,
    pub(crate) file_bytes: u64,
    pub(crate) wall_ms: u64,
}
