use serde::{Deserialize, Serialize};

/// One confined run as plain data. It goes to the helper through a socket, never through the environment or arguments.
///
/// Paths are absolute, without `.`, `..` and empty components. [`Plan::validate`] says what else has to hold.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Who the helper becomes when it starts as root; ignored otherwise.
    pub user: RunUser,
    /// Private directories that may be written and are gone afterwards: `/tmp`, the home.
    pub private: Vec<String>,
    /// What of the host is seen, each before what is mounted below it. Everything is read-only.
    pub mounts: Vec<Mount>,
    /// Symbolic links of the new root, such as `/bin`.
    pub links: Vec<Link>,
    /// Small files of the new root or of a private directory, such as `/etc/passwd`.
    pub files: Vec<GeneratedFile>,
    /// Directories of mounts that may be written: the program gets a copy, which the host reads afterwards.
    pub writable: Vec<WritableDirectory>,
    /// Bounds of everything that is written.
    pub scratch: ScratchLimits,
    /// Where the program starts.
    pub directory: String,
    /// Bounds of its processes.
    pub limits: ProcessLimits,
    /// What is done inside.
    pub action: Action,
    /// The stage that is made to fail, in builds that can.
    pub fault: Option<crate::Stage>,
}

/// The user that a helper started as root becomes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RunUser {
    /// The user's id; owns nothing on the machine.
    pub uid: u32,
    /// The group's id.
    pub gid: u32,
}

/// One directory or file of the host, seen read-only.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mount {
    /// Its path on the host.
    pub source: String,
    /// Its path inside.
    pub target: String,
    /// What it is.
    pub kind: MountKind,
    /// Which file it was when it was approved; another one is refused.
    pub identity: Option<Identity>,
    /// Whether files in it may be executed.
    pub executable: bool,
    /// Whether it is the user's and may be closed to others: as root it is shown with its owner mapped to the run's user.
    pub owned: bool,
    /// Paths below it that are not to be read, relative to it.
    pub hidden: Vec<String>,
}

/// What a [`Mount`] shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MountKind {
    /// A directory with everything below it.
    Directory,
    /// One regular file.
    File,
}

/// Which file it is, and of a regular file whether it is as it was.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Identity {
    /// The device it lies on.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
    /// Size and time of change in nanoseconds, of a file whose content counts.
    pub content: Option<(u64, i128)>,
}

/// A symbolic link.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Where it is.
    pub path: String,
    /// Where it leads.
    pub to: String,
}

/// A file that exists in the sandbox only.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GeneratedFile {
    /// Where it is.
    pub path: String,
    /// What is in it.
    pub content: String,
}

/// A directory of a mount that the program may change, in a copy.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WritableDirectory {
    /// Where it is, inside.
    pub path: String,
    /// Whether files in it may be executed.
    pub executable: bool,
}

/// Bounds of what is written, all of it together. It is kept in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScratchLimits {
    /// Bytes.
    pub bytes: u64,
    /// Files and directories.
    pub inodes: u64,
}

/// Resource limits. Each holds for one process, but for `processes`, which holds for the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessLimits {
    /// Address space, bytes.
    pub memory_bytes: u64,
    /// Time on a processor, seconds.
    pub cpu_seconds: u64,
    /// Size of one file, bytes.
    pub file_bytes: u64,
    /// Open descriptors.
    pub open_files: u64,
    /// Processes and threads of the run.
    pub processes: u64,
    /// Stack, bytes.
    pub stack_bytes: u64,
}

/// What is done inside.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Run a program.
    Run(Program),
    /// Try to reach what must not be reached.
    SelfTest(SelfTest),
}

/// The program that runs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// Its path, inside.
    pub path: String,
    /// Which file it was when it was approved; another one is refused.
    pub identity: Option<Identity>,
    /// Its argument vector, the name first.
    pub vector: Vec<String>,
    /// Its whole environment.
    pub environment: Vec<(String, String)>,
}

/// What a self-test tries to reach. All of it exists on the host, and can be reached from outside.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelfTest {
    /// A file of the host.
    pub file: String,
    /// A listening unix socket with a path.
    pub socket: String,
    /// The name of a listening abstract unix socket.
    pub abstract_socket: String,
    /// A port on the host's loopback that listens.
    pub port: u16,
    /// A process of the host.
    pub process: u32,
}

impl Plan {
    /// A plan that shows nothing and runs `path` under the name `name`, with limits that fit a small program.
    #[must_use]
    pub fn new(name: &str, path: &str) -> Self {
        Self {
            user: RunUser { uid: 65_534, gid: 65_534 },
            mounts: Vec::new(),
            links: Vec::new(),
            files: Vec::new(),
            private: vec!["/tmp".to_owned()],
            writable: Vec::new(),
            scratch: ScratchLimits { bytes: 64 << 20, inodes: 8192 },
            directory: "/".to_owned(),
            limits: ProcessLimits {
                memory_bytes: 256 << 20,
                cpu_seconds: 30,
                file_bytes: 64 << 20,
                open_files: 64,
                processes: 64,
                stack_bytes: 8 << 20,
            },
            action: Action::Run(Program {
                path: path.to_owned(),
                identity: None,
                vector: vec![name.to_owned()],
                environment: Vec::new(),
            }),
            fault: None,
        }
    }

    /// The same plan, in whose place the self-test runs.
    #[must_use]
    pub fn testing(&self, test: SelfTest) -> Self {
        Self { action: Action::SelfTest(test), ..self.clone() }
    }

    /// What of the plan decides over what can be reached: equal for two runs that one self-test covers.
    #[must_use]
    pub fn shape(&self) -> Self {
        let mut shape = self.clone();
        shape.user = RunUser { uid: 0, gid: 0 };
        shape.action = Action::SelfTest(SelfTest::default());
        for mount in &mut shape.mounts {
            mount.identity = None;
        }
        shape
    }
}

impl WritableDirectory {
    /// What the copy of the plan's `index`-th writable directory is called in the run's private file system.
    #[must_use]
    pub fn copy_name(index: usize) -> String {
        format!("writable-{index}")
    }
}

impl Mount {
    /// A directory of the system at its own path.
    #[must_use]
    pub fn system(path: &str) -> Self {
        Self {
            source: path.to_owned(),
            target: path.to_owned(),
            kind: MountKind::Directory,
            identity: None,
            executable: true,
            owned: false,
            hidden: Vec::new(),
        }
    }
}
