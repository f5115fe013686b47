//! Words for people.

use crate::args::{Color, Global};
use serde::Serialize;
use skillgate_core::without_invisible;
use skillgate_exec::sanitise;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether data could not be written, which no status of the verb itself would tell.
static LOST: AtomicBool = AtomicBool::new(false);

/// Whether data was lost on its way out.
pub(crate) fn output_was_lost() -> bool {
    LOST.load(Ordering::Relaxed)
}

/// Prints data. A reader that is gone is no failure.
pub(crate) fn data(text: &str) {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => {}
        // `head` and its like stop reading when they have enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        Err(error) => {
            LOST.store(true, Ordering::Relaxed);
            complain(&format!("skillgate: the output cannot be written: {error}"));
        }
    }
}

/// Prints a value as JSON.
pub(crate) fn json(value: &impl Serialize) -> Result<(), serde_json::Error> {
    data(&format!("{}\n", serde_json::to_string_pretty(value)?));
    Ok(())
}

/// Text for people on standard output: what a terminal would act on is taken out where there is one.
pub(crate) fn human(text: &str) {
    if io::stdout().is_terminal() { data(&sanitise(text.as_bytes())) } else { data(text) }
}

/// Text that may hold anything, as a person may be shown it.
pub(crate) fn safe(text: &str) -> String {
    sanitise(text.as_bytes())
}

/// Says something on standard error.
pub(crate) fn complain(text: &str) {
    // There is nobody left to tell when this fails.
    let _nobody_listens = writeln!(io::stderr(), "{text}");
}

pub(crate) fn complain_json(value: &impl Serialize) {
    match serde_json::to_string(value) {
        Ok(text) => complain(&text),
        Err(error) => complain(&error.to_string()),
    }
}

/// Text of a skill as a person is shown it: without invisible characters and controls.
pub(crate) fn shown(text: &str) -> String {
    without_invisible(text).chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Colours, when the terminal wants them. They never carry meaning alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    on: bool,
}

impl Style {
    pub(crate) fn of(global: &Global) -> Self {
        let on = match global.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => global.no_color.is_none() && io::stderr().is_terminal(),
        };
        Self { on }
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.on { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    pub(crate) fn error(self, text: &str) -> String {
        self.paint("1;31", text)
    }

    pub(crate) fn warning(self, text: &str) -> String {
        self.paint("1;33", text)
    }

    pub(crate) fn help(self, text: &str) -> String {
        self.paint("36", text)
    }
}
