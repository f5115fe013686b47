//! Group C: other processes and the kernel.

use crate::case::{Act, Case, Group, Target};
use crate::ended::Ended;
use crate::native::{Ending, PROBES, UNAVAILABLE, processes_with};
use crate::trial::{Setting, Trial, Trouble, milliseconds};
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

const HOST: &[Target] = &[Target::Host];
const LIMIT: Duration = Duration::from_secs(30);
/// The wall time of a program that does not end by itself.
const WALL: Duration = Duration::from_millis(700);
/// How long what a run left behind may live after it.
const SURVIVAL: Duration = Duration::from_secs(1);
/// A user that owns nothing.
const NOBODY: u32 = 65_534;

pub(super) const CASES: &[Case] = &[
    Case {
        id: 39,
        title: "processes of the machine",
        group: Group::Processes,
        targets: HOST,
        attempt: "list the processes, and ask whether a process of the machine may be signalled",
        control: "without a sandbox the process is there and may be",
        denial: "only the sandbox's own processes; ESRCH",
        sources: &["class: process list and signals"],
        limit: LIMIT,
        act: Act::Here(seen_processes),
    },
    Case {
        id: 40,
        title: "another process's memory and environment",
        group: Group::Processes,
        targets: HOST,
        attempt: "read environ, maps, cmdline and mem of the process that started the run",
        control: "without a sandbox its environment and its maps are readable",
        denial: "ENOENT or EACCES each",
        sources: &["CVE-2024-21626", "class: secrets in the parent's environment"],
        limit: LIMIT,
        act: Act::Here(parents_memory),
    },
    Case {
        id: 41,
        title: "privileges",
        group: Group::Processes,
        targets: HOST,
        attempt: "look at one's own capabilities; as root, also run a set-user-id program of the project",
        control: "without a sandbox there are capabilities to lose; as root, the set-user-id program gives another user root",
        denial: "every set of capabilities is empty, no new privileges, filters in force, the effective user unchanged",
        sources: &["CVE-2026-41163"],
        limit: LIMIT,
        act: Act::Here(privileges),
    },
    Case {
        id: 42,
        title: "namespaces",
        group: Group::Processes,
        targets: HOST,
        attempt: "unshare, setns, clone with a new user namespace, clone3",
        control: "without a sandbox the kernel answers otherwise, or the calls are seen to arrive",
        denial: "EPERM; ENOSYS for clone3, whose flags no filter sees",
        sources: &["CVE-2024-1086", "CVE-2026-23111"],
        limit: LIMIT,
        act: Act::Here(namespaces),
    },
    Case {
        id: 43,
        title: "tracing and reading other processes",
        group: Group::Processes,
        targets: HOST,
        attempt: "ptrace, process_vm_readv, process_vm_writev, pidfd_getfd",
        control: "without a sandbox the kernel answers otherwise, or the calls are seen to arrive",
        denial: "EPERM each",
        sources: &["CVE-2026-41163"],
        limit: LIMIT,
        act: Act::Here(tracing),
    },
    Case {
        id: 44,
        title: "io_uring",
        group: Group::Processes,
        targets: HOST,
        attempt: "io_uring_setup, io_uring_enter, io_uring_register",
        control: "without a sandbox the kernel answers otherwise, or the calls are seen to arrive",
        denial: "EPERM each",
        sources: &["class: operations that no filter sees"],
        limit: LIMIT,
        act: Act::Here(io_uring),
    },
    Case {
        id: 45,
        title: "calls of another architecture",
        group: Group::Processes,
        targets: HOST,
        attempt: "getpid by interrupt 0x80, and by a number of x32",
        control: "without a sandbox the process is not killed by SIGSYS",
        denial: "killed by SIGSYS",
        sources: &["class: a filter that does not look at the architecture"],
        limit: LIMIT,
        act: Act::Here(architectures),
    },
    Case {
        id: 46,
        title: "the kernel's surface",
        group: Group::Processes,
        targets: HOST,
        attempt: "bpf, perf_event_open, userfaultfd, keys, open_by_handle_at, kexec, modules, swap, the clock, the name of the host",
        control: "without a sandbox the kernel answers otherwise, or the calls are seen to arrive",
        denial: "EPERM each",
        sources: &["CVE-2026-43403", "CVE-2026-43391", "CVE-2026-43390", "CVE-2026-89766"],
        limit: LIMIT,
        act: Act::Here(kernel_surface),
    },
    Case {
        id: 47,
        title: "typing into a terminal",
        group: Group::Processes,
        targets: HOST,
        attempt: "TIOCSTI, also with bits that the kernel does not look at, and TIOCLINUX on descriptor 0; open /dev/tty",
        control: "on a terminal of its own, without a sandbox, TIOCSTI is not refused for want of permission",
        denial: "EPERM each; there is no terminal",
        sources: &["CVE-2017-5226"],
        limit: LIMIT,
        act: Act::Here(terminals),
    },
    Case {
        id: 48,
        title: "programs without a name",
        group: Group::Processes,
        targets: HOST,
        attempt: "run a copy of the program from a memory file",
        control: "without a sandbox it runs",
        denial: "refused, or the copy has exactly the rights of the file",
        sources: &["class: execution past rules about files"],
        limit: LIMIT,
        act: Act::Here(memory_files),
    },
    Case {
        id: 49,
        title: "processes that stay behind",
        group: Group::Processes,
        targets: HOST,
        attempt: "leave a process of another session behind, and end well, by the deadline, and while flooding the output",
        control: "without a sandbox that process is there after the program ended",
        denial: "no such process one second after the call ended",
        sources: &["class: daemon past the kill"],
        limit: LIMIT,
        act: Act::Here(left_behind),
    },
    Case {
        id: 50,
        title: "death of the host's process",
        group: Group::Processes,
        targets: HOST,
        attempt: "kill the process that holds the sandbox, while a program and one that it left behind run in it",
        control: "both run before",
        denial: "no process of the run one second later",
        sources: &["class: orphaned sandbox"],
        limit: LIMIT,
        act: Act::BelowAParent(death_of_the_host),
    },
    Case {
        id: 51,
        title: "processes that do not want to end",
        group: Group::Processes,
        targets: HOST,
        attempt: "ignore every signal that can be ignored, with a stopped child, past the deadline",
        control: "without a sandbox the process stays",
        denial: "stopped by wall time, and no such process one second later",
        sources: &["class: signals that are ignored"],
        limit: LIMIT,
        act: Act::Here(stubborn),
    },
];

fn seen_processes(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let own = std::process::id().to_string();
    let inside = trial.inside(&["pids"])?;
    let pids: Vec<&str> = inside.answers.value("pids").split(' ').collect();
    let few = pids.len() <= 4 && !pids.contains(&own.as_str());
    trial.denied_when("processes", "the sandbox's own, at most four", few, inside.answers.of("pids"));
    let asked = trial.inside(&["signal", &own])?;
    trial.denied("signal a process of the machine", "ESRCH", asked.answers.of("signal"));
    let outside = trial.outside(&["pids"])?;
    let there = outside.value("pids").split(' ').any(|pid| pid == own);
    trial.control_when("processes without a sandbox", "this one is among them", there, there);
    trial.control("signal it without a sandbox", "ok", trial.outside(&["signal", &own])?.of("signal"));
    Ok(())
}

fn parents_memory(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let own = std::process::id().to_string();
    let inside = trial.inside(&["look", &own])?;
    for file in ["environ", "maps", "cmdline", "mem"] {
        let answer = inside.answers.of(file);
        trial.denied_when(file, "ENOENT or EACCES", matches!(answer, "ENOENT" | "EACCES"), answer);
    }
    let outside = trial.outside(&["look", &own])?;
    for file in ["environ", "maps"] {
        trial.control(format!("{file} without a sandbox"), "ok", outside.of(file));
    }
    Ok(())
}

fn privileges(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let inside = trial.inside(&["identity"])?;
    for set in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
        trial.denied(set, "ok:0000000000000000", inside.answers.of(set));
    }
    trial.denied("no new privileges", "ok:1", inside.answers.of("NoNewPrivs"));
    trial.denied("filters", "ok:2", inside.answers.of("Seccomp"));
    let outside = trial.outside(&["identity"])?;
    let some = outside.value("CapBnd") != "0000000000000000";
    trial.control_when("capabilities without a sandbox", "some that can be had", some, outside.of("CapBnd"));
    let is_root = outside.value("ids").starts_with("0 0 ");
    if is_root { set_user_id(trial, inside.answers.of("ids")) } else { Ok(()) }
}

/// A set-user-id program of root in the project, which only root can put there.
fn set_user_id(trial: &mut Trial<'_>, ids: &str) -> Result<(), Trouble> {
    let helper = trial.field.path("project/helper");
    std::fs::copy(trial.probes()?, &helper)?;
    std::fs::set_permissions(&helper, std::fs::Permissions::from_mode(0o4755))?;
    let path = helper.display().to_string();
    let inside = trial.inside(&["exec", &path, "identity"])?;
    // A project whose programs may not be executed denies it earlier.
    let denied = inside.answers.of("ids") == ids || matches!(inside.answers.of("exec"), "EACCES" | "EPERM");
    let found = format!("{} {}", inside.answers.of("ids"), inside.answers.of("exec"));
    trial.denied_when("a set-user-id program of root", &format!("{ids}, or not executable"), denied, found);
    let mut command = trial.unconfined(&["exec", &path, "identity"])?;
    let output = command.uid(NOBODY).gid(NOBODY).output();
    match output {
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let root = text.contains(&format!("ok:{NOBODY} 0 "));
            trial.control_when("the same as another user without a sandbox", "becomes root", root, text);
        }
        // The program may lie where another user cannot reach it; then a copy in the field is run.
        Err(error) => {
            let mut copy = other_users_probe(trial)?;
            let output = copy.args(["exec", &path, "identity"]).uid(NOBODY).gid(NOBODY).output()?;
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let root = text.contains(&format!("ok:{NOBODY} 0 "));
            let found = format!("{text} (a copy, because the program is not reachable: {error})");
            trial.control_when("the same as another user without a sandbox", "becomes root", root, found);
        }
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "the suite's own program, in a place that another user can reach")]
fn other_users_probe(trial: &Trial<'_>) -> Result<std::process::Command, Trouble> {
    let path = trial.field.path("project/probe");
    std::fs::copy(trial.probes()?, &path)?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))?;
    Ok(std::process::Command::new(path))
}

fn namespaces(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    trial.calls(&["unshare-user", "unshare-mount", "unshare-net", "unshare-pid", "setns", "clone-user"], "EPERM")?;
    trial.calls(&["clone3"], "ENOSYS")
}

fn tracing(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    trial.calls(&["ptrace", "process-vm-readv", "process-vm-writev", "pidfd-getfd"], "EPERM")
}

fn io_uring(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    trial.calls(&["io-uring-setup", "io-uring-enter", "io-uring-register"], "EPERM")
}

fn architectures(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let inside = trial.inside(&["abi"])?;
    if inside.ran.ended == Ended::Exit(2) {
        return Err(Trouble::Unavailable {
            stage: "architecture".to_owned(),
            reason: format!("{} has no second interface to try", std::env::consts::ARCH),
        });
    }
    let outside = trial.outside(&["abi"])?;
    for interface in ["i386", "x32"] {
        trial.denied(interface, "ok:killed by SIGSYS", inside.answers.of(interface));
        let answer = outside.of(interface);
        let otherwise = answer != "ok:killed by SIGSYS" && answer != "no answer";
        trial.control_when(format!("{interface} without a sandbox"), "not killed by SIGSYS", otherwise, answer);
    }
    Ok(())
}

fn kernel_surface(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    trial.calls(
        &[
            "bpf",
            "perf-event-open",
            "userfaultfd",
            "keyctl",
            "add-key",
            "request-key",
            "open-by-handle-at",
            "kexec-load",
            "kexec-file-load",
            "init-module",
            "finit-module",
            "delete-module",
            "swapon",
            "swapoff",
            "mount-setattr",
            "fsopen",
            "quotactl",
            "acct",
            "reboot",
            "settimeofday",
            "clock-settime",
            "adjtimex",
            "sethostname",
            "personality",
        ],
        "EPERM",
    )
}

fn terminals(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let inside = trial.inside(&["terminal"])?;
    for request in ["TIOCSTI", "TIOCLINUX", "TIOCSTI-with-high-bits"] {
        trial.denied(request, "EPERM", inside.answers.of(request));
    }
    let terminal = inside.answers.of("/dev/tty");
    trial.denied_when("/dev/tty", "ENOENT or ENXIO", matches!(terminal, "ENOENT" | "ENXIO"), terminal);
    let own = trial.outside(&["terminal-of-our-own"])?;
    let answer = own.of("TIOCSTI");
    trial.control_when(
        "TIOCSTI on a terminal of its own",
        "not EPERM",
        !matches!(answer, "EPERM" | "no answer"),
        answer,
    );
    Ok(())
}

fn memory_files(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let inside = trial.inside(&["memfd", "identity"])?;
    let refused = inside.answers.of("memfd");
    if matches!(refused, "EPERM" | "EACCES" | "ENOSYS") {
        trial.denied_when("a program from a memory file", "refused", true, refused);
    } else {
        let plain = trial.inside(&["identity"])?;
        for fact in ["ids", "CapPrm", "CapEff", "CapBnd", "NoNewPrivs", "Seccomp", "Seccomp_filters"] {
            trial.denied(format!("{fact} of the copy"), plain.answers.of(fact), inside.answers.of(fact));
        }
    }
    let outside = trial.outside(&["memfd", "identity"])?;
    let ran = outside.of("ids").starts_with("ok:");
    trial.control_when("without a sandbox", "it runs", ran, format!("{} {}", outside.of("memfd"), outside.of("ids")));
    Ok(())
}

/// Waits until no process has a word in its command line, and says how many had when the patience was over.
fn survivors(token: &str, patience: Duration) -> usize {
    let end = Instant::now() + patience;
    loop {
        let left = processes_with(token).len();
        if left == 0 || Instant::now() >= end {
            return left;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

impl Trial<'_> {
    /// Runs a probe that leaves something behind, and looks for it.
    fn leaves_nothing(
        &mut self,
        what: &str,
        words: &[&str],
        setting: &Setting,
        expected: &[&str],
    ) -> Result<(), Trouble> {
        let token = self.field.token().to_owned();
        let inside = self.inside_with(words, setting)?;
        let ended = inside.ran.ended.to_string();
        self.denied_when(what, &expected.join(" or "), expected.contains(&ended.as_str()), &ended);
        let left = survivors(&token, SURVIVAL);
        self.denied(format!("{what}: processes after {}", milliseconds(SURVIVAL)), "0", left);
        Ok(())
    }
}

fn left_behind(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let token = trial.field.token().to_owned();
    let setting = trial.with_probes()?;
    let hurried = trial.with_probes()?.lower("wall_ms_injection", millis(WALL));
    let small = trial.with_probes()?.lower("output_bytes", 4096).lower("wall_ms_injection", 3 * millis(WALL));
    trial.leaves_nothing("a program that ends well", &["leave", &token, "20"], &setting, &["exit 0"])?;
    trial.leaves_nothing(
        "a program at its deadline",
        &["leave", &token, "20", "hang"],
        &hurried,
        &["stopped: wall time"],
    )?;
    let flooded = ["exit 0", "stopped: wall time", "stopped: output"];
    trial.leaves_nothing("a program that floods", &["leave", &token, "20", "flood"], &small, &flooded)?;
    trial.outside(&["leave", &token, "2"])?;
    let there = processes_with(&token).len();
    trial.control_when("without a sandbox", "the process is there", there > 0, there);
    // It ends by itself; the field is not left before it did.
    let left = survivors(&token, Duration::from_secs(10));
    trial.control("the control's own process, in the end", "0", left);
    Ok(())
}

fn death_of_the_host(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let token = trial.field.token().to_owned();
    let words = ["leave", &token, "20", "hang"];
    let Some(mut command) = trial.subject.process(trial.probes()?, &trial.field.project(), &words) else {
        return Err(Trouble::Broken("the backend cannot be run in a process of its own".to_owned()));
    };
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let own = child.id();
    let mut child = Ending(child);
    let patience = Instant::now() + LIMIT / 3;
    // The host's process has the word in its command line too; the program and the one that it left behind are two more.
    let mut inside = 0;
    while inside < 2 && Instant::now() < patience && matches!(child.0.try_wait(), Ok(None)) {
        inside = processes_with(&token).iter().filter(|pid| **pid != own).count();
        std::thread::sleep(Duration::from_millis(20));
    }
    if matches!(child.0.try_wait(), Ok(Some(status)) if status.code() == Some(UNAVAILABLE)) {
        let mut reason = String::new();
        if let Some(mut messages) = child.0.stderr.take() {
            messages.read_to_string(&mut reason)?;
        }
        return Err(Trouble::Unavailable { stage: "run".to_owned(), reason });
    }
    trial.control_when("processes before", "at least two", inside >= 2, inside);
    // Dropping kills it, with the one signal that it cannot act on.
    drop(child);
    let left = survivors(&token, SURVIVAL);
    trial.denied(format!("processes after {}", milliseconds(SURVIVAL)), "0", left);
    Ok(())
}

fn stubborn(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let token = trial.field.token().to_owned();
    let hurried = trial.with_probes()?.lower("wall_ms_injection", millis(WALL));
    let started = Instant::now();
    trial.leaves_nothing(
        "a program that ignores signals",
        &["stubborn", &token, "20"],
        &hurried,
        &["stopped: wall time"],
    )?;
    let most = WALL + SURVIVAL + SURVIVAL;
    let took = started.elapsed();
    trial.denied_when(
        "time until nothing is left",
        &format!("at most {}", milliseconds(most)),
        took <= most,
        milliseconds(took),
    );
    let child = trial.unconfined(&["stubborn", &token, "3"])?.stdout(Stdio::null()).spawn()?;
    let child = Ending(child);
    let alive = Instant::now() + SURVIVAL;
    let mut seen = 0;
    while seen < 2 && Instant::now() < alive {
        seen = processes_with(&token).len();
    }
    trial.control_when(format!("{PROBES} without a sandbox"), "it and its child are there", seen >= 2, seen);
    drop(child);
    // The stopped child is not ended with its parent: it waits for a signal, which none but the kernel may have to send.
    resume(&token);
    let left = survivors(&token, Duration::from_secs(10));
    trial.control("the control's own processes, in the end", "0", left);
    Ok(())
}

/// Ends what a control left stopped.
fn resume(token: &str) {
    for pid in processes_with(token) {
        #[expect(clippy::disallowed_methods, reason = "ends a stopped process of the suite's own, by its number")]
        let _already_gone = std::process::Command::new("/bin/kill").args(["-KILL", &pid.to_string()]).status();
    }
}
