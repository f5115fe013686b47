//! Progress of work that takes seconds.

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use skillgate_audit::{Case, CaseReport, Progress, Subject};
use skillgate_exec_wasm::CompileProgress;
use std::fmt;
use std::io::IsTerminal as _;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Files from which on a bar is worth its lines.
const MANY: usize = 200;

/// A bar for many files; it shows nothing when they are few, or when nobody watches.
pub(crate) fn of_files(count: usize) -> ProgressBar {
    if count <= MANY || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(count as u64);
    let rate = |state: &ProgressState, out: &mut dyn fmt::Write| {
        // A rate that cannot be written is only not shown.
        let _shown = write!(out, "{:.0} a second", state.per_sec());
    };
    match ProgressStyle::with_template("{bar:40} {pos}/{len} files, {rate} [{elapsed}]") {
        Ok(style) => bar.with_style(style.with_key("rate", rate)),
        Err(_) => bar,
    }
}

/// Directories from which on a walk is worth a line.
const MANY_DIRECTORIES: u64 = 500;

/// A walk through directories: a spinner when there are many and somebody watches. It is gone when this is dropped.
#[derive(Debug, Default)]
pub(crate) struct Walk {
    directories: u64,
    bar: Option<ProgressBar>,
}

impl Walk {
    /// One more directory is looked into.
    pub(crate) fn directory(&mut self) {
        self.directories += 1;
        if self.directories == MANY_DIRECTORIES && std::io::stderr().is_terminal() {
            let bar = ProgressBar::new_spinner();
            let style = ProgressStyle::with_template("{spinner} looking for skills in {pos} directories [{elapsed}]");
            self.bar = Some(style.map(|style| bar.clone().with_style(style)).unwrap_or(bar));
        }
        if let Some(bar) = &self.bar {
            bar.set_position(self.directories);
        }
    }
}

impl Drop for Walk {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Says that a component is being compiled: a spinner on a terminal, one line elsewhere.
#[derive(Debug, Default)]
pub(crate) struct Compiling {
    bar: Mutex<Option<ProgressBar>>,
}

impl CompileProgress for Compiling {
    fn started(&self, component: &str, bytes: usize) {
        let message =
            format!("compiling the component `{component}` ({} MB of wasm), once for this machine", bytes / 1_000_000);
        if !std::io::stderr().is_terminal() {
            crate::text::complain(&format!("skillgate: {message}"));
            return;
        }
        let style = ProgressStyle::with_template("{spinner} {msg} [{elapsed}]");
        let bar = ProgressBar::new_spinner().with_message(message);
        let bar = style.map(|style| bar.clone().with_style(style)).unwrap_or(bar);
        bar.enable_steady_tick(Duration::from_millis(100));
        *self.bar.lock().unwrap_or_else(PoisonError::into_inner) = Some(bar);
    }

    fn finished(&self, _component: &str) {
        if let Some(bar) = self.bar.lock().unwrap_or_else(PoisonError::into_inner).take() {
            bar.finish_and_clear();
        }
    }
}

/// A bar for the cases of the suite, on a terminal.
#[derive(Debug, Default)]
pub(crate) struct Auditing {
    bar: Mutex<Option<ProgressBar>>,
}

impl Progress for Auditing {
    fn started(&self, index: usize, total: usize, case: &Case, subject: &Subject) {
        if !std::io::stderr().is_terminal() {
            return;
        }
        let mut bar = self.bar.lock().unwrap_or_else(PoisonError::into_inner);
        let bar = bar.get_or_insert_with(|| {
            let bar = ProgressBar::new(total as u64);
            let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg} [{elapsed}]");
            bar.enable_steady_tick(Duration::from_millis(100));
            style.map(|style| bar.clone().with_style(style)).unwrap_or(bar)
        });
        bar.set_position(index as u64 - 1);
        bar.set_message(format!("{} {}: {}", subject.name(), case.id, case.title));
    }

    fn finished(&self, _report: &CaseReport) {
        let bar = self.bar.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bar) = bar.as_ref() {
            bar.inc(1);
            if bar.length() == Some(bar.position()) {
                bar.finish_and_clear();
            }
        }
    }
}
