use skillgate_core::Limits;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A bound of [`Limits`] that a run reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Bound {
    /// The wall time is over, milliseconds.
    WallTime(u64),
    /// The guests of the run hold as much memory as they may together, bytes.
    Memory(u64),
    /// The guests of the run executed as much as they may together, about instructions.
    Fuel(u64),
    /// A stream that must arrive whole is longer than may be kept, bytes.
    Output(u64),
    /// The run started as many commands as it may.
    Commands(u64),
    /// Loops turned as often as they may.
    LoopTurns(u64),
    /// Substitutions, functions or groups nest as deep as they may.
    Depth(u32),
    /// A pipeline has more stages than it may.
    PipelineStages(u32),
    /// A command has as many files open as it may.
    OpenFiles(u32),
    /// A pathname expansion gives more names than it may.
    GlobResults(u64),
    /// A pattern and a text are too long to be matched, steps.
    PatternSteps(u64),
    /// The shell's variables hold more than they may, bytes.
    Variables(u64),
    /// The run wrote as much into files as it may, bytes.
    Written(u64),
    /// A script that a program runs is longer than may be parsed, bytes.
    Source(u64),
    /// A guest's own stack is used up.
    Stack,
    /// A guest holds as many handles at once as it may.
    Handles(u32),
    /// A guest wrote nothing as often as it may.
    EmptyWrites(u64),
    /// The run made as many files and directories in `/tmp` as it may.
    TemporaryFiles(u64),
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::WallTime(n) => write!(f, "it ran longer than {n} ms"),
            Bound::Memory(n) => write!(f, "its commands wanted more than {n} bytes of memory (memory_bytes)"),
            Bound::Fuel(n) => write!(f, "its commands executed more than {n} instructions (fuel)"),
            Bound::Output(n) => write!(f, "it wrote more than {n} bytes (output_bytes)"),
            Bound::Commands(n) => write!(f, "it started more than {n} commands (commands)"),
            Bound::LoopTurns(n) => write!(f, "its loops turned more than {n} times (loop_turns)"),
            Bound::Depth(n) => write!(f, "it nests deeper than {n} levels (depth)"),
            Bound::PipelineStages(n) => {
                write!(
                    f,
                    "a pipeline has more than {n} stages, or several in each other have too many (pipeline_stages)"
                )
            }
            Bound::OpenFiles(n) => write!(f, "a command opened more than {n} files at once (open_files)"),
            Bound::GlobResults(n) => write!(f, "a pattern matched more than {n} names (glob_results)"),
            Bound::PatternSteps(n) => write!(f, "matching a pattern would take more than {n} steps"),
            Bound::Variables(n) => write!(f, "its variables hold more than {n} bytes"),
            Bound::Written(n) => write!(f, "it wrote more than {n} bytes into files (native_file_bytes)"),
            Bound::Source(n) => write!(f, "a script has more than {n} bytes (source_bytes)"),
            Bound::Stack => f.write_str("a command used up its stack"),
            Bound::Handles(n) => write!(f, "a command held more than {n} handles at once"),
            Bound::EmptyWrites(n) => write!(f, "a command wrote nothing more than {n} times"),
            Bound::TemporaryFiles(n) => write!(f, "it made more than {n} files and directories in /tmp"),
        }
    }
}

/// Why a run has to end now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Stop {
    /// A bound was reached.
    Bound(Bound),
    /// Somebody outside took the run back.
    Cancelled,
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::Bound(bound) => bound.fmt(f),
            Stop::Cancelled => f.write_str("it was cancelled"),
        }
    }
}

/// The shared state of one run: its limits, its deadline and what it has used. Every stage of every pipeline of the run looks
/// at the same one.
#[derive(Debug)]
pub struct Run {
    limits: Limits,
    wall_ms: u64,
    deadline: Instant,
    /// How much later than `deadline` the run has to end, because time was not counted, microseconds.
    later: AtomicU64,
    cancelled: AtomicBool,
    memory: AtomicU64,
    fuel: AtomicU64,
    commands: AtomicU64,
    loop_turns: AtomicU64,
    written: AtomicU64,
    stages: AtomicU64,
}

/// Stages of all pipelines of a run that are alive at once, as a multiple of those of one pipeline.
const LIVE_PIPELINES: u64 = 8;

/// Stages that are alive; they are given back when this is dropped.
#[derive(Debug)]
pub(crate) struct LiveStages<'a> {
    run: &'a Run,
    count: u64,
}

impl Drop for LiveStages<'_> {
    fn drop(&mut self) {
        self.run.stages.fetch_sub(self.count, Ordering::Relaxed);
    }
}

impl Run {
    /// A run that begins now and may take the wall time of one injection.
    #[must_use]
    pub fn start(limits: Limits) -> Arc<Self> {
        let wall_ms = limits.wall_ms_injection;
        Self::start_within(limits, wall_ms)
    }

    /// A run that begins now and may take `wall_ms` milliseconds, or the wall time of one injection if that is less.
    #[must_use]
    pub fn start_within(limits: Limits, wall_ms: u64) -> Arc<Self> {
        let wall_ms = wall_ms.min(limits.wall_ms_injection);
        Arc::new(Self {
            deadline: Instant::now() + Duration::from_millis(wall_ms),
            later: AtomicU64::new(0),
            limits,
            wall_ms,
            cancelled: AtomicBool::new(false),
            memory: AtomicU64::new(0),
            fuel: AtomicU64::new(0),
            commands: AtomicU64::new(0),
            loop_turns: AtomicU64::new(0),
            written: AtomicU64::new(0),
            stages: AtomicU64::new(0),
        })
    }

    /// The bounds of the run.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Ends the run at the next moment anybody looks.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
    }

    /// Whether the run may go on.
    ///
    /// # Errors
    /// Why it may not.
    pub fn check(&self) -> Result<(), Stop> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(Stop::Cancelled);
        }
        if Instant::now() >= self.deadline() {
            return Err(Stop::Bound(Bound::WallTime(self.wall_ms)));
        }
        Ok(())
    }

    /// The time that is left; zero when the deadline has passed.
    #[must_use]
    pub fn remaining(&self) -> Duration {
        self.deadline().saturating_duration_since(Instant::now())
    }

    fn deadline(&self) -> Instant {
        self.deadline + Duration::from_micros(self.later.load(Ordering::Relaxed))
    }

    /// Does something whose time does not count for the run, such as waiting for a person. What else the run does at that time
    /// is still held to the deadline as it was before.
    pub fn not_counting<T>(&self, act: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let value = act();
        let took = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
        // A day is as good as for ever, and added often it still is a time.
        let most = Duration::from_secs(86_400).as_micros();
        self.later.fetch_add(took.min(u64::try_from(most).unwrap_or(u64::MAX)), Ordering::Relaxed);
        value
    }

    /// Counts one more command.
    ///
    /// # Errors
    /// The bound, when it is one too many, or why the run may not go on.
    pub fn count_command(&self) -> Result<(), Stop> {
        if self.commands.fetch_add(1, Ordering::Relaxed) >= self.limits.commands {
            return Err(Stop::Bound(Bound::Commands(self.limits.commands)));
        }
        self.check()
    }

    /// Counts one more turn of a loop.
    ///
    /// # Errors
    /// The bound, when it is one too many, or why the run may not go on.
    pub fn count_loop_turn(&self) -> Result<(), Stop> {
        if self.loop_turns.fetch_add(1, Ordering::Relaxed) >= self.limits.loop_turns {
            return Err(Stop::Bound(Bound::LoopTurns(self.limits.loop_turns)));
        }
        self.check()
    }

    /// Takes the threads of one more pipeline.
    pub(crate) fn take_stages(&self, count: usize) -> Result<LiveStages<'_>, Stop> {
        let limit = self.limits.pipeline_stages;
        let stages = LiveStages { run: self, count: count as u64 };
        let alive = self.stages.fetch_add(stages.count, Ordering::Relaxed) + stages.count;
        if count as u64 > u64::from(limit) || alive > u64::from(limit).saturating_mul(LIVE_PIPELINES) {
            return Err(Stop::Bound(Bound::PipelineStages(limit)));
        }
        Ok(stages)
    }

    /// Counts bytes that are about to be written into files.
    ///
    /// # Errors
    /// The bound, when they are too many, or why the run may not go on.
    pub fn count_written(&self, bytes: u64) -> Result<(), Stop> {
        let limit = self.limits.native_file_bytes;
        if self.written.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) > limit {
            return Err(Stop::Bound(Bound::Written(limit)));
        }
        self.check()
    }

    /// Takes `bytes` of the memory that all guests of the run share; `false` when there is not as much left.
    #[must_use]
    pub fn take_memory(&self, bytes: u64) -> bool {
        let taken = self.memory.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
            used.checked_add(bytes).filter(|used| *used <= self.limits.memory_bytes)
        });
        taken.is_ok()
    }

    /// Gives back what [`Run::take_memory`] took.
    pub fn give_memory(&self, bytes: u64) {
        self.memory.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// The fuel that the guests of the run have left. Guests that run at once each see what was left when they began; what they
    /// used is counted when they end.
    #[must_use]
    pub fn fuel_left(&self) -> u64 {
        self.limits.fuel.saturating_sub(self.fuel.load(Ordering::Relaxed))
    }

    /// Counts fuel that a guest used.
    pub fn use_fuel(&self, amount: u64) {
        self.fuel.fetch_add(amount, Ordering::Relaxed);
    }
}
