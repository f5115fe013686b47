use crate::canary;
use crate::doctor::{DoctorReport, ProgramReport};
use crate::examine::{Examined, ProgramFault, examine_ambient};
use crate::hidden::hidden;
use crate::plan::{self, PlanRequest, SeenDirectory};
use crate::program::{Bounds, NativeProgram};
use crate::run::{self, HostOutcome};
use crate::system::System;
use crate::writeback::{ChangeObserver, Copies, WriteBackError};
use skillgate_exec::{Backend, Bound, Exit, Job, RunError, Stop};
use skillgate_policy::{Approved, PathRules, Provider, Sight};
use skillgate_sandbox::{Helper, Identity, Plan, Stage, StageReport, Unavailable};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The backend's name in reports.
const NAME: &str = "host";

/// Makes a [`HostBackend`].
#[derive(Debug)]
pub struct HostBackendBuilder {
    helper: Result<Helper, Unavailable>,
    programs: Vec<NativeProgram>,
    fault: Option<Stage>,
    observer: Option<Arc<dyn ChangeObserver>>,
}

impl HostBackendBuilder {
    /// The helper to start; the one beside the running program unless set.
    #[must_use]
    pub fn helper(mut self, helper: Helper) -> Self {
        self.helper = Ok(helper);
        self
    }

    /// Adds a program. Of two with one name, the later holds.
    #[must_use]
    pub fn program(mut self, program: NativeProgram) -> Self {
        self.programs.retain(|known| known.name() != program.name());
        self.programs.push(program);
        self
    }

    /// Tells somebody what programs changed in the project.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn ChangeObserver>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Makes a stage fail, in a build that can (see [`skillgate_sandbox::FAULT_INJECTION`]); nothing in others.
    #[must_use]
    pub fn fault(mut self, stage: Option<Stage>) -> Self {
        self.fault = stage;
        self
    }

    /// Makes the backend. Each program's file is looked at now: what runs later is that file or nothing.
    #[must_use]
    pub fn build(self) -> HostBackend {
        let examine = |program: NativeProgram| {
            let examined = examine_ambient(program.path());
            (program, examined)
        };
        let random = RandomState::new().build_hasher().finish();
        HostBackend {
            helper: self.helper,
            programs: self.programs.into_iter().map(examine).collect(),
            system: OnceLock::new(),
            tested: Mutex::new(Vec::new()),
            number: AtomicU32::new(u32::try_from(random >> 32).unwrap_or_default()),
            fault: self.fault,
            observer: self.observer,
        }
    }
}

/// Runs programs of the machine in the Linux sandbox.
#[derive(Debug)]
pub struct HostBackend {
    pub(crate) helper: Result<Helper, Unavailable>,
    programs: Vec<(NativeProgram, Result<Examined, ProgramFault>)>,
    system: OnceLock<Result<System, Unavailable>>,
    /// The shapes of plans that a self-test was run for, with what it gave.
    tested: Mutex<Vec<Tested>>,
    number: AtomicU32,
    pub(crate) fault: Option<Stage>,
    observer: Option<Arc<dyn ChangeObserver>>,
}

/// A shape of plans, and what its self-test gave.
type Tested = (Plan, Result<Vec<StageReport>, Unavailable>);

/// Shapes whose self-test is remembered. One is forgotten for each that comes after.
const MAX_SHAPES: usize = 64;

impl HostBackend {
    /// A backend without programs, with the helper beside the running program.
    #[must_use]
    pub fn builder() -> HostBackendBuilder {
        HostBackendBuilder { helper: Helper::beside_ambient(), programs: Vec::new(), fault: None, observer: None }
    }

    /// What the sandbox can enforce on this machine, found out by a self-test.
    #[must_use]
    pub fn doctor(&self) -> DoctorReport {
        let programs = self.programs.iter().map(|(program, examined)| ProgramReport {
            name: program.name().to_owned(),
            path: program.path().to_owned(),
            fault: examined.as_ref().err().map(ProgramFault::to_string),
        });
        let result = self.self_test();
        DoctorReport {
            stages: result.as_ref().cloned().unwrap_or_default(),
            unavailable: result.err(),
            programs: programs.collect(),
            fault_injection: skillgate_sandbox::FAULT_INJECTION,
        }
    }

    /// Goes through every stage with nothing but the system to see.
    ///
    /// # Errors
    /// The stage that failed.
    pub fn self_test(&self) -> Result<Vec<StageReport>, Unavailable> {
        let (helper, system) = (self.helper.clone()?, self.system()?);
        let mut plan = Plan::new("self-test", "/usr");
        plan.user.uid = system.users.pick(self.next_number());
        plan.user.gid = plan.user.uid;
        plan.mounts = system.directories.iter().map(|path| skillgate_sandbox::Mount::system(path)).collect();
        plan.fault = self.fault;
        canary::test(&helper, &plan)
    }

    pub(crate) fn system(&self) -> Result<&System, Unavailable> {
        self.system.get_or_init(System::detect_ambient).as_ref().map_err(Clone::clone)
    }

    /// A number that is another one for each run.
    pub(crate) fn next_number(&self) -> u32 {
        self.number.fetch_add(1, Ordering::Relaxed)
    }

    fn program(&self, command: &str) -> Option<&(NativeProgram, Result<Examined, ProgramFault>)> {
        self.programs.iter().find(|(program, _)| program.name() == command)
    }

    /// Runs the self-test for this shape of plan, unless it was run before.
    pub(crate) fn ensure_tested(&self, helper: &Helper, plan: &Plan) -> Result<(), Unavailable> {
        let shape = plan.shape();
        let known = |tested: &[Tested]| {
            tested.iter().find(|(known, _)| *known == shape).map(|(_, result)| result.clone().map(drop))
        };
        let lock = || self.tested.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(result) = known(&lock()) {
            return result;
        }
        // Outside the lock: two threads may test one shape, which costs time and nothing else.
        let result = canary::test(helper, plan);
        let mut tested = lock();
        if tested.len() >= MAX_SHAPES {
            drop(tested.remove(0));
        }
        tested.push((shape, result.clone()));
        result.map(drop)
    }

    fn plan(
        &self,
        (program, examined): (&NativeProgram, &Examined),
        vector: Vec<String>,
        sees: &Sees,
        writable: Vec<String>,
        job: &Job<'_>,
    ) -> Result<Plan, RunError> {
        let mut seen = Vec::new();
        if sees.sight == Sight::Granted {
            // The longest paths come first, and what is mounted below something has to come later.
            for mount in job.mounts.directories() {
                let host = |error: std::io::Error| RunError::Host {
                    doing: format!("looking at `{}`", mount.path()),
                    reason: error.to_string(),
                };
                let identity = identity(mount).map_err(host)?;
                let hidden = hidden(mount, &sees.rules).map_err(host)?;
                seen.push(SeenDirectory { path: mount.path().to_owned(), identity, hidden });
            }
            seen.reverse();
        }
        let request = PlanRequest {
            system: self.system().map_err(unavailable)?,
            program,
            vector,
            directory: job.directory,
            seen,
            writable,
            environment: job.environment,
            limits: job.run.limits(),
            number: self.next_number(),
        };
        let mut plan = plan::plan(request, examined).map_err(|fault| RunError::Unavailable {
            backend: NAME,
            stage: Stage::Helper.as_str(),
            reason: fault.to_string(),
        })?;
        plan.fault = self.fault;
        Ok(plan)
    }
}

/// What an approval lets its command see.
struct Sees {
    sight: Sight,
    rules: Arc<PathRules>,
}

impl Backend for HostBackend {
    fn name(&self) -> &'static str {
        NAME
    }

    fn provider(&self, command: &str) -> Option<Provider> {
        self.program(command).map(|_| Provider::Native)
    }

    fn run(&self, approved: Approved, job: Job<'_>) -> Result<Exit, RunError> {
        let command = approved.vector().first().cloned().unwrap_or_default();
        let stage = |stage: Stage, reason: String| unavailable(Unavailable::new(stage, reason));
        let (program, examined) = self
            .program(&command)
            .ok_or_else(|| stage(Stage::Program, format!("the policy names no program `{command}`")))?;
        let examined = examined.as_ref().map_err(|fault| stage(Stage::Program, fault.to_string()))?;
        let helper = self.helper.as_ref().map_err(|why| unavailable(why.clone()))?;
        let sees = Sees { sight: approved.sight(), rules: Arc::clone(approved.paths()) };
        let vector = approved.vector().to_vec();
        let wrote = |error| not_written(error, &command, &vector);
        let project = job.mounts.directories().find(|mount| mount.is_project());
        let project = project.filter(|_| sees.sight == Sight::Granted && sees.rules.grants_writing());
        let copies = project.map(|project| Copies::prepare(project, program.writes(), &sees.rules));
        let copies = copies.transpose().map_err(wrote)?;
        let writable = copies.as_ref().map(Copies::paths).unwrap_or_default();
        let plan = self.plan((program, examined), vector.clone(), &sees, writable, &job)?;
        self.ensure_tested(helper, &plan).map_err(unavailable)?;
        // The grant may have been taken back meanwhile.
        let vector = approved.redeem()?;
        let bounds = program.bounds(job.run.limits());
        let mut running = helper.start(&plan, run::has_input(&job.stdin)).map_err(unavailable)?;
        let ran = run::drive(&mut running, &job, bounds.wall_ms)
            .map_err(|error| RunError::Host { doing: format!("running `{command}`"), reason: error.to_string() })?;
        let ended = matches!(ran.outcome, HostOutcome::Exited(_) | HostOutcome::Signalled(_));
        if let (true, Some(copies), Some(scratch)) = (ended, &copies, ran.scratch) {
            let changes = copies.carry_over(scratch, job.run).map_err(wrote)?;
            if let Some(observer) = self.observer.as_ref().filter(|_| !changes.is_empty()) {
                observer.changed(&vector, &changes);
            }
        }
        conclude(ran.outcome, command, bounds)
    }
}

/// What could not be carried over, as the end of the run.
fn not_written(error: WriteBackError, command: &str, vector: &[String]) -> RunError {
    match error {
        WriteBackError::Refused(path) => Approved::write_refusal(vector, &path).into(),
        WriteBackError::Stopped(stop) => RunError::Stopped { command: command.to_owned(), stop },
        error => RunError::Host { doing: format!("carrying over what `{command}` wrote"), reason: error.to_string() },
    }
}

fn unavailable(why: Unavailable) -> RunError {
    RunError::Unavailable { backend: NAME, stage: why.stage.as_str(), reason: why.reason }
}

#[cfg(target_os = "linux")]
fn identity(mount: &skillgate_exec::Mount) -> std::io::Result<Identity> {
    use rustix::fs::fstat;
    let stat = fstat(mount.handle())?;
    Ok(Identity { device: stat.st_dev, inode: stat.st_ino, content: None })
}

#[cfg(not(target_os = "linux"))]
fn identity(_: &skillgate_exec::Mount) -> std::io::Result<Identity> {
    Err(std::io::Error::from(std::io::ErrorKind::Unsupported))
}

/// What a shell calls the status of a program that a signal ended: the signal's number above this.
const SIGNALLED: i32 = 128;
const SIGXCPU: i32 = 24;
const SIGXFSZ: i32 = 25;
const SIGSYS: i32 = 31;

fn conclude(outcome: HostOutcome, command: String, bounds: Bounds) -> Result<Exit, RunError> {
    let stopped = |command, bound| Err(RunError::Stopped { command, stop: Stop::Bound(bound) });
    match outcome {
        HostOutcome::Exited(code) => Ok(Exit { code }),
        HostOutcome::Signalled(SIGXCPU) => stopped(command, Bound::WallTime(bounds.wall_ms)),
        HostOutcome::Signalled(SIGXFSZ) => stopped(command, Bound::Written(bounds.file_bytes)),
        HostOutcome::Signalled(SIGSYS) => {
            Err(RunError::Fault { command, fault: "it made a system call of another architecture".to_owned() })
        }
        HostOutcome::Signalled(signal) => Ok(Exit { code: u8::try_from(SIGNALLED + signal).unwrap_or(u8::MAX) }),
        HostOutcome::Stopped(stop) => Err(RunError::Stopped { command, stop }),
        HostOutcome::OutputCapped(limit) => stopped(command, Bound::Output(limit)),
        HostOutcome::Refused(refused) => Err(RunError::Host {
            doing: format!("confining `{command}` (stage {})", refused.stage),
            reason: refused.reason,
        }),
        HostOutcome::Unavailable(why) => Err(unavailable(why)),
    }
}
