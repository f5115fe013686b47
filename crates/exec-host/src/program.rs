use skillgate_core::RelPath;

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

    /// Memory of each of its processes, bytes; the run's bound unless set.
    #[must_use]
    pub fn memory_bytes(mut self, bytes: Option<u64>) -> Self {
        self.memory_bytes = bytes;
        self
    }

    /// Its processes together; the run's bound unless set.
    #[must_use]
    pub fn processes(mut self, count: Option<u32>) -> Self {
        self.processes = count;
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

    pub(crate) fn own_memory_bytes(&self) -> Option<u64> {
        self.memory_bytes
    }

    pub(crate) fn own_processes(&self) -> Option<u32> {
        self.processes
    }
}
