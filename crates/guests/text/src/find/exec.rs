//! `-exec`, `-execdir`, `-ok` and `-okdir`. The host is asked to run each command, and decides it as a command of its own.

use super::expression::{Effects, base_name};
use guest_run::Ended;
use std::io::Write as _;

/// Bytes of one command with many files, as a system counts them.
const MAX_SIZE: usize = 128 << 10;
/// What a file's name takes the place of.
const MARK: &[u8] = b"{}";

/// An action that runs a command.
#[derive(Debug)]
pub(super) struct Exec {
    pub(super) words: Vec<Vec<u8>>,
    /// In the file's directory, with its name there.
    pub(super) in_directory: bool,
    /// Only when a person says so.
    pub(super) asks: bool,
    /// With as many files as fit; the number of the batch that collects them.
    pub(super) batch: Option<usize>,
}

/// The files that wait for a command with many of them.
#[derive(Debug, Default)]
pub(super) struct Batches {
    waiting: Vec<Batch>,
    /// Whether a command with many files ended with another status than 0.
    pub(super) failed: bool,
}

#[derive(Debug)]
struct Batch {
    words: Vec<Vec<u8>>,
    directory: Option<Vec<u8>>,
    files: Vec<Vec<u8>>,
}

impl Batches {
    /// Makes room for one more batch and gives its number.
    pub(super) fn add(&mut self, words: Vec<Vec<u8>>) -> usize {
        self.waiting.push(Batch { words, directory: None, files: Vec::new() });
        self.waiting.len() - 1
    }
}

impl Exec {
    pub(super) fn evaluate(&self, path: &[u8], effects: &mut Effects) -> bool {
        let (directory, file) = if self.in_directory { place(path) } else { (None, path.to_vec()) };
        if let Some(number) = self.batch {
            collect(number, directory, file, effects);
            return true;
        }
        let vector: Vec<Vec<u8>> = self.words.iter().map(|word| replaced(word, &file)).collect();
        if self.asks && !agreed(&self.words, path, effects) {
            return false;
        }
        run(&vector, directory.as_deref(), !self.asks, effects) == Some(0)
    }
}

/// The directory of a path and the name of the file there.
fn place(path: &[u8]) -> (Option<Vec<u8>>, Vec<u8>) {
    let name = base_name(path);
    if name == b"/" {
        return (Some(b"/".to_vec()), b"/".to_vec());
    }
    let trimmed = path.iter().rposition(|byte| *byte != b'/').map_or(0, |at| at + 1);
    let directory = match &path[..trimmed - name.len()] {
        [] => b".".to_vec(),
        directory => directory.to_vec(),
    };
    let name = if matches!(name, b"." | b"..") { name.to_vec() } else { [b"./", name].concat() };
    (Some(directory), name)
}

fn collect(number: usize, directory: Option<Vec<u8>>, file: Vec<u8>, effects: &mut Effects) {
    let Some(batch) = effects.batches.waiting.get(number) else { return };
    let held: usize = batch.words.iter().chain(&batch.files).map(|word| word.len() + 1).sum();
    let elsewhere = !batch.files.is_empty() && batch.directory != directory;
    if elsewhere || held + file.len() + 1 > MAX_SIZE {
        run_batch(number, effects);
    }
    if let Some(batch) = effects.batches.waiting.get_mut(number) {
        batch.directory = directory;
        batch.files.push(file);
    }
}

/// Runs what still waits, at the end.
pub(super) fn finish(effects: &mut Effects) {
    for number in 0..effects.batches.waiting.len() {
        run_batch(number, effects);
    }
}

fn run_batch(number: usize, effects: &mut Effects) {
    let Some(batch) = effects.batches.waiting.get_mut(number).filter(|batch| !batch.files.is_empty()) else { return };
    let files = std::mem::take(&mut batch.files);
    let directory = batch.directory.take();
    let vector: Vec<Vec<u8>> = batch.words.iter().cloned().chain(files).collect();
    if run(&vector, directory.as_deref(), true, effects) != Some(0) {
        effects.batches.failed = true;
    }
}

/// Runs a command; `None` when there is none, which was said.
fn run(vector: &[Vec<u8>], directory: Option<&[u8]>, reads: bool, effects: &mut Effects) -> Option<u8> {
    effects.output.flush();
    let name = vector.first().map(|name| String::from_utf8_lossy(name)).unwrap_or_default();
    match guest_run::run(vector, directory, reads) {
        Ended::Exited(status) => Some(status),
        Ended::NotFound => {
            eprintln!("find: ‘{name}’: No such file or directory");
            None
        }
        Ended::CannotRun => {
            eprintln!("find: ‘{name}’: Permission denied");
            None
        }
    }
}

/// Asks a person, who answers on standard input.
fn agreed(words: &[Vec<u8>], path: &[u8], effects: &mut Effects) -> bool {
    effects.output.flush();
    let name = words.first().map(|name| String::from_utf8_lossy(name)).unwrap_or_default();
    eprint!("< {name} ... {} > ? ", String::from_utf8_lossy(path));
    let _nobody_reads = std::io::stderr().flush();
    let mut line = String::new();
    let read = std::io::stdin().read_line(&mut line);
    read.is_ok() && line.trim_start().starts_with(['y', 'Y'])
}

fn replaced(word: &[u8], file: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(word.len());
    let mut rest = word;
    while let Some((first, after)) = rest.split_first() {
        if rest.starts_with(MARK) {
            out.extend_from_slice(file);
            rest = &rest[MARK.len()..];
        } else {
            out.push(*first);
            rest = after;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_from_its_directory() {
        for (path, directory, name) in [
            ("./a/b", "./a/", "./b"),
            ("a", ".", "./a"),
            (".", ".", "."),
            ("/", "/", "/"),
            ("a/b/", "a/", "./b"),
            ("/etc", "/", "./etc"),
        ] {
            let expected = (Some(directory.as_bytes().to_vec()), name.as_bytes().to_vec());
            assert_eq!(place(path.as_bytes()), expected, "{path}");
        }
        assert_eq!(replaced(b"x{}y{}{", b"F"), b"xFyF{");
    }
}
