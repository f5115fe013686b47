//! Group E: what a program uses up.

use crate::case::{Act, Case, Group, Target};
use crate::memory::{growth, mebibytes};
use crate::trial::{Trial, Trouble, milliseconds};
use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::Path;
use std::process::Stdio;
use std::sync::Mutex;
use std::time::{Duration, Instant};

const HOST: &[Target] = &[Target::Host];
/// The wall time of a program that does not end by itself.
const WALL: Duration = Duration::from_millis(700);
/// How much later than its deadline a program may end.
const LATE: Duration = Duration::from_millis(500);
/// Runs one after another, and at once.
const SEQUENTIAL: usize = 1_000;
const CONCURRENT: usize = 50;

pub(super) const CASES: &[Case] = &[
    Case {
        id: 58,
        title: "fork bomb",
        group: Group::Resources,
        targets: HOST,
        attempt: "start 400 processes that wait for each other, under a bound of 32",
        control: "without a sandbox 100 are started; the machine can still start others meanwhile",
        denial: "EAGAIN at the bound at most",
        sources: &["class: process limits that root escapes"],
        limit: Duration::from_secs(30),
        act: Act::Here(fork_bomb),
    },
    Case {
        id: 59,
        title: "memory bomb",
        group: Group::Resources,
        targets: HOST,
        attempt: "take and touch twice the bound in one process, under a bound of 128 MiB",
        control: "without a sandbox the same is taken",
        denial: "ENOMEM, or the process is ended, below the bound",
        sources: &["class: memory exhaustion"],
        limit: Duration::from_secs(60),
        act: Act::Here(memory_bomb),
    },
    Case {
        id: 60,
        title: "filling the private directories",
        group: Group::Resources,
        targets: HOST,
        attempt: "fill /tmp and the home with a gibibyte, and with a hundred thousand files",
        control: "in the sandbox a mebibyte fits; without one, more than the sandbox gives",
        denial: "ENOSPC, by bytes and by files",
        sources: &["class: disk and inode exhaustion"],
        limit: Duration::from_secs(120),
        act: Act::Here(filling),
    },
    Case {
        id: 61,
        title: "busy processors",
        group: Group::Resources,
        targets: HOST,
        attempt: "keep four processes busy past the deadline",
        control: "the same for no time ends well in the sandbox",
        denial: "stopped by wall time at most 0.5 s after the deadline",
        sources: &["class: processor exhaustion"],
        limit: Duration::from_secs(30),
        act: Act::Here(busy),
    },
    Case {
        id: 62,
        title: "output flood",
        group: Group::Resources,
        targets: HOST,
        attempt: "write 10 GiB to standard output, to standard error and to both by turns, without a line's end",
        control: "a mebibyte is kept up to the bound, and all of it counted",
        denial: "no more than the bound is kept; the host's memory grows by less than 32 MiB",
        sources: &["class: unbounded output"],
        limit: Duration::from_secs(180),
        act: Act::Here(flood),
    },
    Case {
        id: 63,
        title: "output that is held open",
        group: Group::Resources,
        targets: HOST,
        attempt: "end, while a process of another session holds the output open for twenty seconds",
        control: "without a sandbox the output ends only when that process does",
        denial: "the call returns within two seconds",
        sources: &["class: held pipe"],
        limit: Duration::from_secs(60),
        act: Act::Here(held_open),
    },
    Case {
        id: 64,
        title: "large files, many files, memory images",
        group: Group::Resources,
        targets: HOST,
        attempt: "write a file of 512 MiB; open a hundred thousand files; look at the limit of memory images",
        control: "without a sandbox a larger file than the bound is written; in it, ten files are opened",
        denial: "EFBIG or ENOSPC; EMFILE; no memory image",
        sources: &["class: descriptor exhaustion"],
        limit: Duration::from_secs(60),
        act: Act::Here(files),
    },
    Case {
        id: 65,
        title: "what a thousand runs leave behind",
        group: Group::Resources,
        targets: HOST,
        attempt: "a thousand runs one after another, and fifty at once",
        control: "a descriptor, a child and a directory that are left behind are counted",
        denial: "as many descriptors, mounts, children and temporary directories as before",
        sources: &["class: leaks of the sandbox itself"],
        limit: Duration::from_secs(300),
        act: Act::Here(leaks),
    },
];

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn fork_bomb(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let bound = trial.ground.limits.native_processes.min(32);
    let setting = trial.with_probes()?.lower("native_processes", bound.into());
    let inside = trial.inside_with(&["forks", "400"], &setting)?;
    trial.denied("start 400 processes", "EAGAIN", inside.answers.of("forks"));
    let made: u32 = inside.answers.value("made").parse().unwrap_or(u32::MAX);
    trial.denied_when("processes that were started", &format!("at most {bound}"), made <= bound, made);
    let outside = trial.outside(&["forks", "100"])?;
    trial.control("start 100 processes without a sandbox", "ok", outside.of("forks"));
    trial.control("and their number", "ok:100", outside.of("made"));
    Ok(())
}

fn memory_bomb(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let bound = trial.ground.limits.memory_bytes.min(128 << 20);
    let twice = ((bound >> 20) * 2).to_string();
    let setting = trial.with_probes()?.lower("memory_bytes", bound);
    let inside = trial.inside_with(&["allocate", "1", &twice], &setting)?;
    let answer = inside.answers.of("allocate").to_owned();
    let ended = inside.ran.ended.to_string();
    let denied = answer == "ENOMEM" || ended == "exit 137" || ended == "stopped: memory";
    trial.denied_when("take twice the bound", "ENOMEM, or ended", denied, format!("{answer} ({ended})"));
    let taken: u64 = inside.answers.value("taken").parse().unwrap_or(0);
    trial.denied_when("taken", &format!("less than {}", mebibytes(bound)), taken < bound >> 20, format!("{taken} MiB"));
    let outside = trial.outside(&["allocate", "1", &twice])?;
    trial.control("the same without a sandbox", "ok", outside.of("allocate"));
    Ok(())
}

fn filling(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let mut most = 0u64;
    for directory in ["/tmp", "/home/skillgate"] {
        let inside = trial.inside(&["fill", directory, "1024"])?;
        trial.denied(format!("fill {directory} with bytes"), "ENOSPC", inside.answers.of("fill"));
        most = most.max(inside.answers.value("filled").parse().unwrap_or(0));
        let inside = trial.inside(&["inodes", directory, "100000"])?;
        trial.denied(format!("fill {directory} with files"), "ENOSPC", inside.answers.of("inodes"));
    }
    let small = trial.inside(&["fill", "/tmp", "1"])?;
    trial.control("a mebibyte in the sandbox", "ok", small.answers.of("fill"));
    let directory = trial.field.text("outside");
    let outside = trial.outside(&["fill", &directory, &(most + 8).min(256).to_string()])?;
    trial.control("more than the sandbox gives, without one", "ok", outside.of("fill"));
    Ok(())
}

fn busy(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let hurried = trial.with_probes()?.lower("wall_ms_injection", millis(WALL));
    let inside = trial.inside_with(&["spin", "4", "30"], &hurried)?;
    trial.denied("four busy processes", "stopped: wall time", &inside.ran.ended);
    let most = WALL + LATE;
    let took = inside.ran.took;
    trial.denied_when("time", &format!("at most {}", milliseconds(most)), took <= most, milliseconds(took));
    let brief = trial.inside(&["spin", "4", "0"])?;
    trial.control("busy for no time", "exit 0", brief.ran.ended);
    Ok(())
}

fn flood(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    const KEPT: u64 = 64 << 10;
    const GROWTH: u64 = 32 << 20;
    for stream in ["stdout", "stderr", "both"] {
        let setting = trial.with_probes()?.lower("output_bytes", KEPT);
        let (inside, grown) = growth(|| trial.inside_with(&["flood", stream, "10240"], &setting));
        let inside = inside?;
        let kept = inside.ran.stdout.len().max(inside.ran.stderr.len()) as u64;
        trial.denied_when(format!("kept of {stream}"), &format!("at most {KEPT} bytes"), kept <= KEPT, kept);
        let ended = inside.ran.ended.to_string();
        let known = matches!(ended.as_str(), "exit 0" | "stopped: output" | "stopped: wall time");
        trial.denied_when(format!("{stream}: end"), "exit 0 or stopped", known, ended);
        trial.denied_when(
            format!("{stream}: growth of the host"),
            "less than 32 MiB",
            grown < GROWTH,
            mebibytes(grown),
        );
    }
    let setting = trial.with_probes()?.lower("output_bytes", KEPT);
    let inside = trial.inside_with(&["flood", "stdout", "1"], &setting)?;
    trial.control("a mebibyte", "exit 0", &inside.ran.ended);
    trial.control("kept of it", &KEPT.to_string(), inside.ran.stdout.len());
    trial.control("counted of it", &(1u64 << 20).to_string(), inside.ran.written);
    Ok(())
}

fn held_open(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let token = trial.field.token().to_owned();
    let inside = trial.inside(&["leave", &token, "20", "hold"])?;
    let most = Duration::from_secs(2);
    let took = inside.ran.took;
    trial.denied("end with the output held open", "exit 0", &inside.ran.ended);
    trial.denied_when("time", &format!("at most {}", milliseconds(most)), took <= most, milliseconds(took));
    let started = Instant::now();
    let mut child = trial.unconfined(&["leave", &token, "2", "hold"])?.stdout(Stdio::piped()).spawn()?;
    let mut output = child.stdout.take().ok_or_else(|| Trouble::Broken("a probe has no output".to_owned()))?;
    child.wait()?;
    output.read_to_end(&mut Vec::new())?;
    let held = started.elapsed() >= Duration::from_secs(2);
    trial.control_when(
        "without a sandbox the output ends",
        "with the process that holds it",
        held,
        milliseconds(started.elapsed()),
    );
    Ok(())
}

fn files(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let setting = trial.with_probes()?.lower("native_file_bytes", 16 << 20);
    let inside = trial.inside_with(&["large-file", "/tmp/large", "512"], &setting)?;
    let answer = inside.answers.of("large-file");
    trial.denied_when("a file of 512 MiB", "EFBIG or ENOSPC", matches!(answer, "EFBIG" | "ENOSPC"), answer);
    let written: u64 = inside.answers.value("written").parse().unwrap_or(u64::MAX);
    trial.denied_when("written of it", "at most 16 MiB", written <= 16, format!("{written} MiB"));
    let inside = trial.inside(&["many-files", "100000"])?;
    trial.denied("open a hundred thousand files", "EMFILE", inside.answers.of("many-files"));
    let core = trial.inside(&["core"])?;
    trial.denied("the limit of memory images", "ok:0 0", core.answers.of("core-limit"));
    let path = trial.field.text("outside/large");
    trial.control("32 MiB without a sandbox", "ok", trial.outside(&["large-file", &path, "32"])?.of("large-file"));
    trial.control("ten files in the sandbox", "ok", trial.inside(&["many-files", "10"])?.answers.of("many-files"));
    Ok(())
}

/// What a sandbox that does not clean up leaves.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Left {
    descriptors: usize,
    mounts: usize,
    children: usize,
    /// Names in the machine's temporary directory. Other processes use it too, so that only what appeared and stays counts.
    temporary: BTreeSet<String>,
}

/// How long what appeared may be another process's, which takes it away again.
const SETTLE: Duration = Duration::from_secs(3);

impl Left {
    fn now() -> Self {
        let count = |path: &str| std::fs::read_dir(path).map_or(0, Iterator::count);
        let names = |path: &Path| -> Vec<String> {
            let entries = std::fs::read_dir(path).into_iter().flatten();
            entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect()
        };
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").map_or(0, |text| text.lines().count());
        let own = std::process::id();
        let parent = |pid: &String| {
            let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
            crate::environment::status_field(&status, "PPid")?.parse::<u32>().ok()
        };
        let pids = names(Path::new("/proc")).into_iter().filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
        // Fields are those of other runs of the suite.
        let is_ours = |name: &String| name.contains("skillgate") && !name.starts_with("skillgate-audit-");
        Self {
            descriptors: count("/proc/self/fd"),
            mounts,
            children: pids.filter(|pid| parent(pid) == Some(own)).count(),
            temporary: names(&std::env::temp_dir()).into_iter().filter(is_ours).collect(),
        }
    }

    /// What there is more than before, once it stays.
    fn more_than(before: &Self) -> String {
        let end = Instant::now() + SETTLE;
        loop {
            let more = Self::now().beyond(before);
            if more == NOTHING || Instant::now() >= end {
                return more;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn beyond(&self, before: &Self) -> String {
        let counts = [
            ("descriptors", self.descriptors.saturating_sub(before.descriptors)),
            ("mounts", self.mounts.saturating_sub(before.mounts)),
            ("children", self.children.saturating_sub(before.children)),
            ("temporary directories", self.temporary.difference(&before.temporary).count()),
        ];
        let more: Vec<String> =
            counts.iter().filter(|(_, count)| *count > 0).map(|(what, count)| format!("{count} {what}")).collect();
        if more.is_empty() { NOTHING.to_owned() } else { more.join(", ") }
    }
}

const NOTHING: &str = "nothing more";

fn leaks(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let setting = trial.with_probes()?;
    let backend = trial.backend(&setting)?;
    let vector = [crate::native::PROBES, "nothing"];
    let once =
        |trial: &Trial<'_>| trial.vector_on(backend.as_ref(), &vector, &setting).map(|ran| ran.ended.to_string());
    // The first run may open what all later ones share.
    let first = once(trial)?;
    trial.control("one run", "exit 0", first);
    let before = Left::now();
    let mut failed = 0usize;
    for _ in 0..SEQUENTIAL {
        failed += usize::from(once(trial)? != "exit 0");
    }
    trial.denied(format!("failures of {SEQUENTIAL} runs"), "0", failed);
    trial.denied(format!("left after {SEQUENTIAL} runs"), NOTHING, Left::more_than(&before));
    let ends = Mutex::new(Vec::new());
    {
        let trial = &*trial;
        std::thread::scope(|scope| {
            for _ in 0..CONCURRENT {
                scope.spawn(|| {
                    let end = once(trial).unwrap_or_else(|trouble| format!("{trouble:?}"));
                    ends.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(end);
                });
            }
        });
    }
    let ends = ends.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    let failed: Vec<&String> = ends.iter().filter(|end| *end != "exit 0").collect();
    let found = failed.first().map_or_else(|| "0".to_owned(), |first| format!("{}: {first}", failed.len()));
    trial.denied(format!("failures of {CONCURRENT} runs at once"), "0", found);
    trial.denied(format!("left after {CONCURRENT} runs at once"), NOTHING, Left::more_than(&before));
    counted_control(trial, &before)
}

/// That each kind of leak is seen.
fn counted_control(trial: &mut Trial<'_>, before: &Left) -> Result<(), Trouble> {
    let file = std::fs::File::open(trial.field.path("project/README.md"))?;
    let child = crate::native::Ending(trial.unconfined(&["hang", "30"])?.stdout(Stdio::null()).spawn()?);
    let directory = tempfile::Builder::new().prefix("skillgate-").tempdir()?;
    let more = Left::now().beyond(before);
    let seen = ["descriptors", "children", "temporary directories"].iter().all(|what| more.contains(what));
    trial.control_when("a descriptor, a child and a directory more", "are counted", seen, more);
    drop((file, child));
    Ok(directory.close()?)
}
