//! `cargo xtask bench`: what Skillgate costs beside a floor that is measured in the same run.
//!
//! The result is a ratio of medians, never a time: samples of the subject and of its floor alternate, so that whatever else
//! the machine does meets both. A line with a limit fails the program when it is above it. Must not: measure anything cold
//! (every line is warmed up first), or compare outputs that differ (every line checks its own).

#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for a terminal")]

mod catalogue;
mod commands;
mod corpus;
mod decision;
mod hooks;
mod load;
mod mcp;
mod measure;
mod memory;
mod native;
mod options;
mod packs;
mod search;
mod session;

use measure::Measured;
use options::{Format, Options};
use std::path::PathBuf;
use std::process::ExitCode;

/// One benchmark.
struct Line {
    name: &'static str,
    subject: &'static str,
    floor: &'static str,
    /// The highest ratio that is accepted.
    limit: Option<f64>,
    samples: usize,
    /// Whether it takes minutes, so that it runs only when it is named.
    long: bool,
    measure: fn(usize) -> Result<Measured, String>,
}

const LINES: &[Line] = &[
    Line {
        name: "no-op",
        subject: "`true` as a guest: gate, backend, component",
        floor: "`sh -c :`",
        limit: Some(0.15),
        samples: 400,
        long: false,
        measure: commands::no_op,
    },
    Line {
        name: "wasm-hook",
        subject: "a call of a wasm hook: a fresh instance reads the event as JSON and denies",
        floor: "`sh -c :`",
        limit: Some(0.15),
        samples: 400,
        long: false,
        measure: hooks::wasm_call,
    },
    Line {
        name: "wc",
        subject: "`wc -l FILE` in the capability shell: open, parse, plan, gate, run",
        floor: "`sh -c 'wc -l FILE'`",
        limit: Some(0.4),
        samples: 400,
        long: false,
        measure: commands::wc,
    },
    Line {
        name: "ls",
        subject: "`ls` in the capability shell",
        floor: "`sh -c ls`",
        limit: Some(0.4),
        samples: 400,
        long: false,
        measure: commands::ls,
    },
    Line {
        name: "pipeline",
        subject: "`ls | wc -l` in the capability shell",
        floor: "`sh -c 'ls | wc -l'`",
        limit: Some(0.4),
        samples: 400,
        long: false,
        measure: commands::pipeline,
    },
    Line {
        name: "stream",
        subject: "30 MB through `cat FILE | cat | wc -c` in the capability shell",
        floor: "`sh -c` of the same",
        limit: Some(5.0),
        samples: 10,
        long: false,
        measure: commands::stream,
    },
    Line {
        name: "git-log",
        subject: "`git log --oneline -10` in the capability shell",
        floor: "git itself",
        limit: Some(1.0),
        samples: 200,
        long: false,
        measure: commands::git_log,
    },
    Line {
        name: "git-status",
        subject: "`git status --short` in the capability shell",
        floor: "git itself",
        limit: Some(1.0),
        samples: 200,
        long: false,
        measure: commands::git_status,
    },
    Line {
        name: "git-many",
        subject: "`git status --short` in a repository of 5,000 files",
        floor: "git itself",
        limit: Some(3.0),
        samples: 30,
        long: false,
        measure: commands::git_status_of_many,
    },
    Line {
        name: "host-run",
        subject: "a program of the machine in the host sandbox: gate, backend, every stage",
        floor: "`unshare` of every namespace, with a /proc",
        limit: Some(1.3),
        samples: 200,
        long: false,
        measure: native::beside_unshare,
    },
    Line {
        name: "host-bwrap",
        subject: "the same",
        floor: "bubblewrap with every namespace",
        limit: Some(0.75),
        samples: 200,
        // Where bubblewrap is installed.
        long: true,
        measure: native::beside_bubblewrap,
    },
    Line {
        name: "decide",
        subject: "a gate's decision under 1,000 rules and 50 caveats",
        floor: "comparing the vector with every pattern of the same",
        limit: Some(0.1),
        samples: 400,
        long: false,
        measure: decision::decide,
    },
    Line {
        name: "search",
        subject: "the slowest of 100 queries over 10,000 skills",
        floor: "scoring every skill by itself",
        limit: Some(0.02),
        samples: 200,
        long: false,
        measure: search::search,
    },
    Line {
        name: "pack-extract",
        subject: "1,000 files of a pack to disk: names, modes and owners checked, no link followed",
        floor: "`tar -x` of the same files",
        limit: Some(1.3),
        samples: 40,
        long: false,
        measure: packs::extract,
    },
    Line {
        name: "pack-verify",
        subject: "a pack of 100 MiB read and checked: every digest, the manifest, the signatures",
        floor: "`sha256sum` of the file",
        limit: Some(1.2),
        samples: 20,
        long: false,
        measure: packs::verify,
    },
    Line {
        name: "load",
        subject: "10,000 generated skills through the loader, in two threads",
        floor: "reading the same files in one",
        limit: Some(1.2),
        samples: 10,
        long: false,
        measure: load::load,
    },
    Line {
        name: "warm",
        subject: "the same again, their headers kept in the index",
        floor: "the status of the same files",
        limit: Some(1.2),
        samples: 20,
        long: false,
        measure: catalogue::warm,
    },
    Line {
        name: "listing",
        subject: "the listing of the same skills, of which few fit",
        floor: "reading the beginnings of their files",
        limit: Some(0.1),
        samples: 40,
        long: false,
        measure: catalogue::listing,
    },
    Line {
        name: "touch",
        subject: "touching one file that one of 10,000 waiting skills names",
        floor: "matching the patterns of every one",
        limit: Some(0.05),
        samples: 100,
        long: false,
        measure: catalogue::touch,
    },
    Line {
        name: "load-100",
        subject: "100 of them",
        floor: "reading the same files in one thread",
        limit: None,
        samples: 200,
        long: false,
        measure: load::load_hundred,
    },
    Line {
        name: "load-1k",
        subject: "1,000 of them",
        floor: "reading the same files in one thread",
        limit: None,
        samples: 50,
        long: false,
        measure: load::load_thousand,
    },
    Line {
        name: "load-100k",
        subject: "100,000 such skills",
        floor: "reading the same files in one thread",
        limit: None,
        samples: 3,
        long: true,
        measure: load::load_hundred_thousand,
    },
    Line {
        name: "memory",
        subject: "what a process that loads 10,000 skills takes at its peak, and one that loads none does not",
        floor: "10 KiB a skill",
        limit: Some(1.0),
        samples: 3,
        long: false,
        measure: memory::memory,
    },
    Line {
        name: "headers",
        subject: "the headers of the same skills, from memory, in one thread",
        floor: "reading the same files",
        limit: Some(0.5),
        samples: 20,
        long: false,
        measure: load::headers,
    },
    Line {
        name: "check",
        subject: "reading, parsing and scanning the same skills as `check` does, in one thread",
        floor: "reading the same files",
        limit: Some(3.0),
        samples: 10,
        long: false,
        measure: load::check,
    },
    Line {
        name: "invoke",
        subject: "a call of an inline skill of 7 KB without injections in a conversation, with other arguments each time",
        floor: "reading its file",
        limit: Some(2.0),
        samples: 200,
        long: false,
        measure: session::inline,
    },
    Line {
        name: "inject-warm",
        subject: "a call of a skill with three injections of git in a conversation",
        floor: "`bash -c` of the same three commands",
        limit: Some(1.0),
        samples: 200,
        long: false,
        measure: session::injections_warm,
    },
    Line {
        name: "inject-cold",
        subject: "the same as `skillgate run`, its components compiled before",
        floor: "`bash -c` of the same three commands",
        limit: Some(2.0),
        samples: 60,
        long: false,
        measure: session::injections_cold,
    },
    Line {
        name: "sessions",
        subject: "what 99 more conversations on one runtime of 1,000 skills take of memory, each with three skills called",
        floor: "what the runtime takes",
        limit: Some(1.0),
        samples: 5,
        long: false,
        measure: session::shared,
    },
    Line {
        name: "mcp-call",
        subject: "the tool `Skill` of `skillgate mcp serve`, over standard streams",
        floor: "a call of a tool that gives back its name over the same streams, and the same invocation in this process",
        limit: Some(1.2),
        samples: 400,
        long: false,
        measure: mcp::call,
    },
    Line {
        name: "mcp-list",
        subject: "1,000 skills listed in pages by `skillgate mcp serve`",
        floor: "as many empty requests over the same streams",
        limit: None,
        samples: 40,
        long: false,
        measure: mcp::list,
    },
];

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("bench: {message}");
            ExitCode::from(2)
        }
    }
}

/// Measures and prints; whether every line is within its limit.
fn run() -> Result<bool, String> {
    if let Some(sampled) = sample()? {
        println!("{sampled}");
        return Ok(true);
    }
    let names: Vec<&str> = LINES.iter().map(|line| line.name).collect();
    let options = Options::parse(std::env::args().skip(1), &names)?;
    let mut rows = Vec::new();
    let is_meant = |line: &&Line| options.only.as_deref().map_or(!line.long, |only| only == line.name);
    for line in LINES.iter().filter(is_meant) {
        let samples = options.samples.unwrap_or(line.samples);
        let measured = (line.measure)(samples).map_err(|error| format!("{}: {error}", line.name))?;
        if options.format == Format::Human {
            println!("{}", human(line, &measured));
        }
        rows.push((line, measured));
    }
    let within = rows.iter().all(|(line, measured)| is_within(line, measured));
    if options.format == Format::Json {
        let rows: Vec<_> = rows.iter().map(|(line, measured)| json(line, measured)).collect();
        println!("{:#}", serde_json::json!({ "benchmarks": rows, "within": within }));
    }
    Ok(within)
}

/// What this process is to say as a sample of another one, when that is what it is started for.
fn sample() -> Result<Option<String>, String> {
    let mut arguments = std::env::args_os().skip(1);
    let Some(first) = arguments.next() else { return Ok(None) };
    let mut directory = || arguments.next().map(PathBuf::from).ok_or("a sample of memory needs a directory");
    if first == memory::SAMPLE {
        return memory::sample(directory()?).map(Some);
    }
    if first == session::SAMPLE {
        let home = directory()?;
        let sessions = arguments.next().and_then(|number| number.to_str()?.parse().ok());
        return session::sample(&home, sessions.ok_or("a sample of conversations needs their number")?).map(Some);
    }
    Ok(None)
}

fn is_within(line: &Line, measured: &Measured) -> bool {
    line.limit.is_none_or(|limit| measured.ratio <= limit)
}

fn human(line: &Line, measured: &Measured) -> String {
    let verdict = match line.limit {
        None => String::new(),
        Some(limit) if is_within(line, measured) => format!(", within {limit}"),
        Some(limit) => format!(", ABOVE {limit}"),
    };
    format!(
        "{:<9} {:>6.3} of {} [{:.3} to {:.3}]{verdict}\n          {}; medians of {} samples each, and the middle half of their pairs",
        line.name, measured.ratio, line.floor, measured.low, measured.high, line.subject, measured.samples,
    )
}

fn json(line: &Line, measured: &Measured) -> serde_json::Value {
    serde_json::json!({
        "name": line.name,
        "subject": line.subject,
        "floor": line.floor,
        "ratio": measured.ratio,
        "low": measured.low,
        "high": measured.high,
        "limit": line.limit,
        "samples": measured.samples,
        "within": is_within(line, measured),
    })
}
