//! Words for people.
#![expect(clippy::print_stderr, reason = "the one place that writes to the terminal")]

use crate::args::{Color, Global};
use serde::Serialize;
use skillgate_core::without_invisible;
use std::io::{self, IsTerminal as _, Write as _};

/// Prints data. A reader that is gone is no failure.
pub(crate) fn data(text: &str) {
    let mut out = io::stdout().lock();
    // `head` and its like stop reading when they have enough.
    let _reader_may_be_gone = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Prints a value as JSON.
pub(crate) fn json(value: &impl Serialize) -> Result<(), serde_json::Error> {
    data(&format!("{}\n", serde_json::to_string_pretty(value)?));
    Ok(())
}

/// Says something on standard error.
pub(crate) fn complain(text: &str) {
    eprintln!("{text}");
}

pub(crate) fn complain_json(value: &impl Serialize) {
    match serde_json::to_string(value) {
        Ok(text) => eprintln!("{text}"),
        Err(error) => eprintln!("{error}"),
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
