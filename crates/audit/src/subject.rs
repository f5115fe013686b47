use crate::case::{Case, Target};
use crate::record::RecordingBackend;
use skillgate_core::{Digest, RelPath};
use skillgate_exec::{Backend, HookLoader, RunError};
use skillgate_exec_host::{HostBackend, HostBackendBuilder, NativeProgram};
use skillgate_exec_wasm::{ComponentCompiler, GuestComponent, WasmBackend, WasmHooks};
use skillgate_sandbox::Helper;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

/// A program of the suite that a backend is asked to offer as a command.
#[derive(Clone, Debug)]
pub struct Probe {
    /// The command's name.
    pub command: String,
    /// What it is.
    pub form: ProbeForm,
}

/// What a probe is.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ProbeForm {
    /// A component of the world `wasi:cli/command`, or bytes that only claim to be one.
    Component {
        /// The bytes that are there when it is to run.
        bytes: Arc<[u8]>,
        /// The digest that was recorded when it was chosen.
        digest: Digest,
    },
    /// A program of the machine.
    Program {
        /// Where it is.
        path: PathBuf,
        /// The directories of the project that it may write, as far as the run's grant lets it.
        writes: Vec<String>,
    },
}

/// Makes a backend that offers these probes, with everything else as it is in use.
type Make = dyn Fn(&[Probe]) -> Result<Arc<dyn Backend>, RunError> + Send + Sync;

/// Gives the command of a process that runs a probe in the backend: from the program, the project and the probe's words.
type Process = dyn Fn(&Path, &Path, &[&str]) -> Command + Send + Sync;

/// Makes what loads handlers of hooks, as it is in use.
type MakeHooks = dyn Fn() -> Result<Arc<dyn HookLoader>, RunError> + Send + Sync;

/// A backend under test.
///
/// The suite never makes a backend of its own choosing: whoever runs it hands one in, set up exactly as it is in use, so that
/// what is tested is what runs.
#[derive(Clone)]
pub struct Subject {
    name: String,
    target: Target,
    make: Arc<Make>,
    process: Option<Arc<Process>>,
    hooks: Option<Arc<MakeHooks>>,
}

impl Subject {
    /// A backend under test. `make` is asked for a backend that offers some probes beside its usual commands; an
    /// [`RunError::Unavailable`] from it, or from running, says that this machine cannot enforce what the backend promises, and
    /// then the suite asserts that nothing ran.
    pub fn new(
        name: impl Into<String>,
        target: Target,
        make: impl Fn(&[Probe]) -> Result<Arc<dyn Backend>, RunError> + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), target, make: Arc::new(make), process: None, hooks: None }
    }

    /// The same backend in processes of its own: `process` gives the command that runs the probe at a path in a project, with
    /// some words and everything granted. Cases about what a parent hands down need it, and exist only where there is one.
    #[must_use]
    pub fn in_process(mut self, process: impl Fn(&Path, &Path, &[&str]) -> Command + Send + Sync + 'static) -> Self {
        self.process = Some(Arc::new(process));
        self
    }

    /// The wasm backend of Skillgate. `shipped` runs its usual commands; the guests of the suite are run as what a third party
    /// made, compiled by `compiler` and without a cache.
    #[must_use]
    pub fn wasm(shipped: Arc<dyn Backend>, compiler: Arc<dyn ComponentCompiler>) -> Self {
        let compile = Arc::clone(&compiler);
        let hooks = move || {
            let hooks = WasmHooks::new(None, Arc::clone(&compile)).map_err(|error| RunError::Unavailable {
                backend: "wasm",
                stage: "engine",
                reason: error.to_string(),
            })?;
            Ok(Arc::new(hooks) as Arc<dyn HookLoader>)
        };
        let subject = Self::new("wasm", Target::Wasm, move |probes| {
            if probes.is_empty() {
                return Ok(Arc::clone(&shipped));
            }
            let guests = probes.iter().filter_map(component);
            let backend = WasmBackend::builder(guests).compiler(Arc::clone(&compiler)).build();
            let backend = backend.map_err(|error| RunError::Unavailable {
                backend: "wasm",
                stage: "engine",
                reason: error.to_string(),
            })?;
            Ok(Arc::new(backend))
        });
        subject.hooks(hooks)
    }

    /// The same backend with what loads handlers of hooks. Without one, the cases about hooks fail.
    #[must_use]
    pub fn hooks(mut self, hooks: impl Fn() -> Result<Arc<dyn HookLoader>, RunError> + Send + Sync + 'static) -> Self {
        self.hooks = Some(Arc::new(hooks));
        self
    }

    /// The Linux sandbox of Skillgate, with the helper that stands beside the running program or is named.
    #[must_use]
    pub fn host(helper: Option<Helper>) -> Self {
        Self::new("host", Target::Host, move |probes| {
            let mut builder = HostBackend::builder();
            if let Some(helper) = &helper {
                builder = builder.helper(helper.clone());
            }
            Ok(Arc::new(probes.iter().filter_map(program).fold(builder, HostBackendBuilder::program).build()))
        })
    }

    /// What Skillgate does itself, whatever runs the commands.
    #[must_use]
    pub fn library() -> Self {
        Self::new("library", Target::Library, |_| Ok(Arc::new(RecordingBackend::default())))
    }

    /// Its name in reports.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Which column of the matrix holds for it.
    #[must_use]
    pub fn target(&self) -> Target {
        self.target
    }

    /// Whether a case can be tried: one that needs a parent of its own needs a process for it.
    pub(crate) fn takes(&self, case: &Case) -> bool {
        case.applies_to(self.target)
            && (self.process.is_some() || self.target == Target::Library || !case.needs_a_process())
    }

    pub(crate) fn process(&self, probes: &Path, project: &Path, words: &[&str]) -> Option<Command> {
        self.process.as_ref().map(|process| process(probes, project, words))
    }

    pub(crate) fn hook_loader(&self) -> Option<Result<Arc<dyn HookLoader>, RunError>> {
        self.hooks.as_ref().map(|hooks| hooks())
    }

    pub(crate) fn backend(&self, probes: &[Probe]) -> Result<Arc<dyn Backend>, RunError> {
        (self.make)(probes)
    }
}

impl fmt::Debug for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subject").field("name", &self.name).field("target", &self.target).finish_non_exhaustive()
    }
}

fn component(probe: &Probe) -> Option<GuestComponent> {
    let ProbeForm::Component { bytes, digest } = &probe.form else { return None };
    let load = {
        let bytes = Arc::clone(bytes);
        move || Ok::<_, String>(bytes.to_vec())
    };
    Some(GuestComponent::third_party(&probe.command, *digest, load))
}

fn program(probe: &Probe) -> Option<NativeProgram> {
    let ProbeForm::Program { path, writes } = &probe.form else { return None };
    let writes = writes.iter().filter_map(|directory| RelPath::new(directory.as_str()).ok());
    Some(NativeProgram::new(&probe.command, path.display().to_string()).write(writes))
}
