//! `cargo xtask peers`: generated programs in the capability shell and in bash. The argument vectors, the output and the status
//! are the same, or the capability shell refuses the program before anything runs.
//!
//! A program that differs is made smaller before it is shown. Must not: skip. Where bash cannot be started, it fails.

#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for a terminal")]

mod bash;
mod compare;

use compare::{Comparison, Seen, Totals};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use skillgate_tests::generated::program;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

/// Programs that one process of bash evaluates.
const BATCH: u64 = 250;
/// Threads that compare.
const WORKERS: usize = 2;
/// Steps in which a program that differs is made smaller.
const SHRINKING: usize = 150;
/// Differences that are shown; each takes some hundred runs to be made small.
const SHOWN: usize = 12;
/// The share of the programs that has to be compared: were more refused, the comparison would say little.
const COMPARED: f64 = 0.6;

const USAGE: &str = "usage: differential [--programs N] [--seed N]";

struct Request {
    programs: u64,
    seed: u64,
}

fn main() -> ExitCode {
    match request(std::env::args().skip(1)).and_then(|request| run(&request)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("differential: {message}");
            ExitCode::from(2)
        }
    }
}

fn request(arguments: impl Iterator<Item = String>) -> Result<Request, String> {
    let mut request = Request { programs: 10_000, seed: 1 };
    let mut arguments = arguments;
    while let Some(name) = arguments.next() {
        let value = arguments.next().and_then(|value| value.parse().ok());
        let (number, least) = match name.as_str() {
            "--programs" => (&mut request.programs, 1),
            "--seed" => (&mut request.seed, 0),
            _ => return Err(format!("there is no option `{name}`\n{USAGE}")),
        };
        *number = value.filter(|value| *value >= least).ok_or_else(|| format!("{name} needs a number\n{USAGE}"))?;
    }
    Ok(request)
}

fn run(request: &Request) -> Result<bool, String> {
    println!(
        "seed {}: {} generated programs in the capability shell and in {}",
        request.seed,
        request.programs,
        bash::version()?
    );
    let next = AtomicU64::new(0);
    let work = || -> Result<Totals, String> {
        let comparison = Comparison::prepare()?;
        let mut totals = Totals::default();
        loop {
            let from = next.fetch_add(BATCH, Ordering::Relaxed);
            let count = BATCH.min(request.programs.saturating_sub(from));
            if count == 0 || totals.differences.len() >= SHOWN {
                return Ok(totals);
            }
            batch(&comparison, request.seed, from, count, &mut totals)?;
        }
    };
    let totals = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_fold(Totals::default(), |sum, worker| {
            let part = worker.join().map_err(|_| "a thread that compares panicked".to_owned())??;
            Ok::<_, String>(sum.plus(part))
        })
    })?;
    for difference in totals.differences.iter().take(SHOWN) {
        println!("{difference}");
    }
    let seen = totals.same + totals.refused;
    println!(
        "{} programs are the same, {} were refused before anything ran, {} differ; {} argument vectors",
        totals.same,
        totals.refused,
        totals.differences.len(),
        totals.vectors
    );
    for (reason, count) in totals.common_reasons(8) {
        println!("    {count:>6} {reason}");
    }
    let enough = totals.same as f64 >= COMPARED * seen as f64;
    if !enough {
        println!("too many were refused: at least {:.0} % have to be compared", COMPARED * 100.0);
    }
    Ok(totals.differences.is_empty() && enough)
}

/// Compares the programs of one batch; which they are depends on the seed and the number of the first alone.
fn batch(comparison: &Comparison, seed: u64, from: u64, count: u64, totals: &mut Totals) -> Result<(), String> {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..16].copy_from_slice(&from.to_le_bytes());
    let mut runner = TestRunner::new_with_rng(Config::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let strategy = program();
    let trees = (0..count).map(|_| strategy.new_tree(&mut runner).map_err(|reason| reason.to_string()));
    let mut trees = trees.collect::<Result<Vec<_>, _>>()?;
    let programs: Vec<String> = trees.iter().map(ValueTree::current).collect();
    for (at, seen) in comparison.compare(&programs)?.into_iter().enumerate() {
        match seen {
            Seen::Same { vectors } => {
                totals.same += 1;
                totals.vectors += vectors;
            }
            Seen::Refused { reason } => totals.refuse(reason),
            Seen::Different(_) if totals.differences.len() >= SHOWN => {}
            Seen::Different(mut difference) => {
                let tree = &mut trees[at];
                let mut simpler = tree.simplify();
                for _ in 0..SHRINKING {
                    if !simpler {
                        break;
                    }
                    match comparison.compare(&[tree.current()])?.pop() {
                        Some(Seen::Different(smaller)) => {
                            difference = smaller;
                            simpler = tree.simplify();
                        }
                        _ => simpler = tree.complicate(),
                    }
                }
                totals.differences.push(format!("\n{difference}\nprogram {} of seed {seed}", from + at as u64));
            }
        }
    }
    Ok(())
}
