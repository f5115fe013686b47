//! Progress of work that takes seconds.

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
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
