//! What a load of skills takes of memory.
//!
//! The peak of a process never falls, so every sample is a process of its own: this program, told to load a directory or
//! nothing, says what its peak was.

#![expect(clippy::disallowed_methods, reason = "the program starts itself, and the system says in a file what it took")]

use crate::corpus::SKILLS;
use crate::load::Corpus;
use crate::measure::{Measured, of_ratios};
use skillgate_core::Source;
use skillgate_loader::{LoadOptions, RootKind, SkillRoot, load_root_ambient};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The argument that makes a sample of a run of this program; the directory follows it.
pub(crate) const SAMPLE: &str = "--peak-of-load";

/// What a skill may take at the peak, bytes.
const PER_SKILL: f64 = 10.0 * 1024.0;

pub(crate) fn memory(samples: usize) -> Result<Measured, String> {
    let corpus = Corpus::write(SKILLS);
    let (directory, nothing) = (corpus.directory(), corpus.empty_directory());
    let mut ratios = Vec::with_capacity(samples);
    for _ in 0..samples {
        let taken = peak_of(&directory, SKILLS)? - peak_of(&nothing, 0)?;
        ratios.push(taken / f64::from(SKILLS) / PER_SKILL);
    }
    Ok(of_ratios(ratios))
}

/// The peak of a process that loads the directory, bytes.
fn peak_of(directory: &Path, expected: u32) -> Result<f64, String> {
    let said = sampled(&[SAMPLE.as_ref(), directory.as_os_str()])?;
    let numbers = |(skills, peak): (&str, &str)| Some((skills.parse::<u32>().ok()?, peak.trim().parse::<f64>().ok()?));
    match said.split_once(' ').and_then(numbers) {
        Some((skills, peak)) if skills == expected => Ok(peak),
        Some((skills, _)) => Err(format!("{skills} of {expected} skills load")),
        None => Err(format!("a sample says `{said}`")),
    }
}

/// What this program prints with other arguments.
pub(crate) fn sampled(arguments: &[&OsStr]) -> Result<String, String> {
    let program = std::env::current_exe().map_err(|error| format!("where is this program: {error}"))?;
    let output = Command::new(program).args(arguments).output();
    let output = output.map_err(|error| format!("this program cannot be started: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(format!("a sample ends with {}: {}", output.status, String::from_utf8_lossy(&output.stderr)))
    }
}

/// Loads the directory; how many skills there are, and this process's peak in bytes.
pub(crate) fn sample(directory: PathBuf) -> Result<String, String> {
    let root = SkillRoot::new(Source::User, RootKind::Skills, directory);
    let loaded = load_root_ambient(&root, &LoadOptions::default());
    Ok(format!("{} {}", loaded.skills.len(), own_peak()?))
}

/// This process's peak, bytes.
pub(crate) fn own_peak() -> Result<u64, String> {
    let status = std::fs::read_to_string("/proc/self/status");
    let status = status.map_err(|error| format!("the peak of memory is only known on Linux: {error}"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("the system does not say the peak")?;
    let kilobytes = line.trim().strip_suffix("kB").and_then(|number| number.trim().parse::<u64>().ok());
    Ok(kilobytes.ok_or_else(|| format!("the peak is `{line}`"))? * 1024)
}
