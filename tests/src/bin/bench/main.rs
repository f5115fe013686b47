//! `cargo xtask bench`: what Skillgate costs beside a floor that is measured in the same run.
//!
//! The result is a ratio of medians, never a time: samples of the subject and of its floor alternate, so that whatever else
//! the machine does meets both. A line with a limit fails the program when it is above it. Must not: measure anything cold
//! (every line is warmed up first), or compare outputs that differ (every line checks its own).

#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for a terminal")]

mod commands;
mod corpus;
mod decision;
mod load;
mod measure;
mod options;

use measure::Measured;
use options::{Format, Options};
use std::process::ExitCode;

/// One benchmark.
struct Line {
    name: &'static str,
    subject: &'static str,
    floor: &'static str,
    /// The highest ratio that is accepted.
    limit: Option<f64>,
    samples: usize,
    measure: fn(usize) -> Result<Measured, String>,
}

const LINES: &[Line] = &[
    Line {
        name: "no-op",
        subject: "`true` as a guest: gate, backend, component",
        floor: "`sh -c :`",
        limit: Some(0.3),
        samples: 400,
        measure: commands::no_op,
    },
    Line {
        name: "wc",
        subject: "`wc -l FILE` in the capability shell: parse, plan, gate, run",
        floor: "`sh -c 'wc -l FILE'`",
        limit: Some(1.0),
        samples: 400,
        measure: commands::wc,
    },
    Line {
        name: "decide",
        subject: "a gate's decision under 1,000 rules and 50 caveats",
        floor: "comparing the vector with every pattern of the same",
        limit: Some(0.1),
        samples: 400,
        measure: decision::decide,
    },
    Line {
        name: "load",
        subject: "10,000 generated skills through the loader",
        floor: "reading the same files",
        limit: None,
        samples: 10,
        measure: load::load,
    },
    Line {
        name: "headers",
        subject: "the headers of the same skills, from memory, in one thread",
        floor: "reading the same files",
        limit: None,
        samples: 20,
        measure: load::headers,
    },
    Line {
        name: "check",
        subject: "reading, parsing and scanning the same skills as `check` does, in one thread",
        floor: "reading the same files",
        limit: None,
        samples: 10,
        measure: load::check,
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
    let names: Vec<&str> = LINES.iter().map(|line| line.name).collect();
    let options = Options::parse(std::env::args().skip(1), &names)?;
    let mut rows = Vec::new();
    for line in LINES.iter().filter(|line| options.only.as_deref().is_none_or(|only| only == line.name)) {
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
        "{:<7} {:>6.3} of {} [{:.3} to {:.3}]{verdict}\n        {}; medians of {} samples each, and the middle half of their pairs",
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
