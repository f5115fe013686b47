use crate::trial::{Trial, Trouble};
use std::fmt;
use std::time::Duration;

/// What a case is run against.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Target {
    /// A backend that runs wasm components.
    Wasm,
    /// A backend that runs programs of the machine.
    Host,
    /// What Skillgate does itself before a backend is handed anything: the gate, the capability shell, the loader, the store.
    Library,
}

impl Target {
    /// All of them, in the order of the columns of the matrix.
    pub const ALL: [Target; 3] = [Target::Wasm, Target::Host, Target::Library];

    /// The name, as on the command line and in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Target::Wasm => "wasm",
            Target::Host => "host",
            Target::Library => "library",
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a case is about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Group {
    /// A: what a wasm guest can do to its host.
    Guests,
    /// B: files outside what is granted.
    Files,
    /// C: other processes and the kernel.
    Processes,
    /// D: the network, and ways to talk to other processes.
    Network,
    /// E: time, memory, output, disk.
    Resources,
    /// F: environment variables and open files.
    Environment,
    /// G: what a command line can hide.
    Commands,
    /// H: who may widen what was narrowed.
    Narrowing,
    /// I: what a skill's files can do to whoever reads them.
    Loader,
    /// J: trust, and machines that lack something.
    Trust,
}

impl Group {
    /// All of them, in order.
    pub const ALL: [Group; 10] = [
        Group::Guests,
        Group::Files,
        Group::Processes,
        Group::Network,
        Group::Resources,
        Group::Environment,
        Group::Commands,
        Group::Narrowing,
        Group::Loader,
        Group::Trust,
    ];

    /// The letter, as on the command line and in reports.
    #[must_use]
    pub fn letter(self) -> char {
        match self {
            Group::Guests => 'A',
            Group::Files => 'B',
            Group::Processes => 'C',
            Group::Network => 'D',
            Group::Resources => 'E',
            Group::Environment => 'F',
            Group::Commands => 'G',
            Group::Narrowing => 'H',
            Group::Loader => 'I',
            Group::Trust => 'J',
        }
    }

    /// The heading.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Group::Guests => "Wasm guests",
            Group::Files => "Files of the machine",
            Group::Processes => "Processes and the kernel",
            Group::Network => "Network and other processes' doors",
            Group::Resources => "Resources",
            Group::Environment => "Environment and descriptors",
            Group::Commands => "Command policy",
            Group::Narrowing => "Narrowing and history",
            Group::Loader => "Loader",
            Group::Trust => "Trust and degradation",
        }
    }
}

/// One attack on a sandbox: what is tried, what the same act does where nothing stands in its way, and the exact denial.
#[derive(Clone, Copy)]
pub struct Case {
    /// Its number, which never changes and is never given to another case.
    pub id: u16,
    /// What it is about, in a few words.
    pub title: &'static str,
    /// Its group.
    pub group: Group,
    /// What it applies to. Against other targets it does not exist; it is never skipped.
    pub targets: &'static [Target],
    /// What is tried.
    pub attempt: &'static str,
    /// What shows that the attempt would succeed where nothing denies it.
    pub control: &'static str,
    /// What has to happen.
    pub denial: &'static str,
    /// Published incidents of this class of attack: CVE, GHSA and RUSTSEC numbers, or the name of the class.
    pub sources: &'static [&'static str],
    /// How long it may take in all.
    pub limit: Duration,
    pub(crate) act: Act,
}

/// Makes the attempts and the controls of a case.
type Run = fn(&mut Trial<'_>) -> Result<(), Trouble>;

/// How a case is run.
#[derive(Clone, Copy)]
pub(crate) enum Act {
    /// In this process.
    Here(Run),
    /// With the backend in a process of its own, whose parent the case makes.
    BelowAParent(Run),
}

impl Act {
    pub(crate) fn run(self, trial: &mut Trial<'_>) -> Result<(), Trouble> {
        match self {
            Act::Here(run) | Act::BelowAParent(run) => run(trial),
        }
    }
}

impl Case {
    /// Whether the case needs the backend in a process of its own; see [`Subject::in_process`](crate::Subject::in_process).
    #[must_use]
    pub fn needs_a_process(&self) -> bool {
        matches!(self.act, Act::BelowAParent(_))
    }

    /// Whether the case exists against a target.
    #[must_use]
    pub fn applies_to(&self, target: Target) -> bool {
        self.targets.contains(&target)
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Case").field("id", &self.id).field("title", &self.title).finish_non_exhaustive()
    }
}
