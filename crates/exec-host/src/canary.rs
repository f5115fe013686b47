//! The self-test, from outside: things of the host that can be reached here and must not be from inside.

use crate::run::{HostOutcome, listen};
#[cfg(not(target_os = "linux"))]
use skillgate_sandbox::SelfTest;
use skillgate_sandbox::{Helper, Plan, Stage, StageReport, Unavailable};
use std::time::Duration;

/// How long a self-test may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Runs the self-test for plans of this shape, and gives what each stage enforced.
pub(crate) fn test(helper: &Helper, plan: &Plan) -> Result<Vec<StageReport>, Unavailable> {
    let unavailable = |reason: String| Unavailable::new(Stage::Canary, reason);
    if skillgate_sandbox::FAULT_INJECTION && plan.fault == Some(Stage::Canary) {
        return Err(unavailable("made to fail by a test".to_owned()));
    }
    let canaries = Canaries::place(plan).map_err(|error| unavailable(format!("the canaries: {error}")))?;
    let mut running = helper.start(&plan.testing(canaries.test.clone()), false)?;
    let heard = listen(&mut running, PATIENCE).map_err(|error| unavailable(format!("the self-test: {error}")))?;
    match (heard.outcome, heard.reached) {
        (Some(HostOutcome::Unavailable(why)), _) => Err(why),
        (Some(HostOutcome::Refused(why)), _) => Err(Unavailable::new(why.stage, why.reason)),
        (_, Some(reached)) if reached.is_empty() => {
            let mut reports = heard.reports;
            reports.push(StageReport {
                stage: Stage::Canary,
                detail: "from inside: no file, socket, port or process of the host, nothing to write, nothing to gain"
                    .to_owned(),
            });
            Ok(reports)
        }
        (_, Some(reached)) => Err(unavailable(format!("from inside could be reached: {}", reached.join(", ")))),
        (ended, None) => Err(unavailable(format!("the self-test did not answer ({ended:?})"))),
    }
}

#[cfg(not(target_os = "linux"))]
struct Canaries {
    test: SelfTest,
}

#[cfg(not(target_os = "linux"))]
impl Canaries {
    fn place(_: &Plan) -> std::io::Result<Self> {
        Ok(Self { test: SelfTest::default() })
    }
}

#[cfg(target_os = "linux")]
use placed::Canaries;

#[cfg(target_os = "linux")]
mod placed {
    use skillgate_sandbox::{Plan, SelfTest};
    use std::hash::{BuildHasher as _, Hasher as _, RandomState};
    use std::io;
    use std::net::{Ipv4Addr, TcpListener, TcpStream};
    use std::os::linux::net::SocketAddrExt as _;
    use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
    use std::path::{Path, PathBuf};
    use tempfile::TempDir;

    /// What is placed on the host for a self-test. It is gone with this.
    pub(super) struct Canaries {
        pub(super) test: SelfTest,
        _directory: TempDir,
        _listeners: (UnixListener, UnixListener, TcpListener),
    }

    impl Canaries {
        /// Places them where the plan shows nothing, and sees that they can be reached from here: a test that nothing could
        /// fail proves nothing.
        pub(super) fn place(plan: &Plan) -> io::Result<Self> {
            let directory = directory(plan)?;
            let path = |name: &str| -> io::Result<String> {
                let path = directory.path().join(name);
                path.to_str().map(str::to_owned).ok_or_else(|| io::Error::other("a path that is not UTF-8"))
            };
            let (file, socket) = (path("file")?, path("socket")?);
            #[expect(clippy::disallowed_methods, reason = "a directory that was just made for it")]
            std::fs::write(&file, "canary")?;
            let name = format!("skillgate-canary-{:016x}", RandomState::new().build_hasher().finish());
            let address = SocketAddr::from_abstract_name(&name)?;
            let listeners = (
                UnixListener::bind(&socket)?,
                UnixListener::bind_addr(&address)?,
                TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?,
            );
            let port = listeners.2.local_addr()?.port();
            UnixStream::connect(&socket)?;
            UnixStream::connect_addr(&address)?;
            TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
            let test = SelfTest { file, socket, abstract_socket: name, port, process: std::process::id() };
            Ok(Self { test, _directory: directory, _listeners: listeners })
        }
    }

    /// A directory outside of everything that the plan shows.
    fn directory(plan: &Plan) -> io::Result<TempDir> {
        let places =
            [std::env::temp_dir(), PathBuf::from("/dev/shm"), PathBuf::from("/var/tmp"), PathBuf::from("/run")];
        let shown = |place: &Path| plan.mounts.iter().any(|mount| place.starts_with(&mount.source));
        let mut failure = io::Error::other("every place for one is shown to the program");
        for place in places.iter().filter(|place| !shown(place)) {
            match TempDir::with_prefix_in("skillgate-canary-", place) {
                Ok(directory) => return Ok(directory),
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }
}
