//! Words for people.

use crate::args::{Color, Global};
use serde::Serialize;
use skillgate_core::{classify_invisible, without_invisible};
use skillgate_exec::sanitise;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use terminal_size::{Height, Width, terminal_size_of};

/// Columns below which nothing is wrapped more narrowly.
const MIN_WIDTH: usize = 40;

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

/// Text with all that is invisible, or would act on a terminal, spelled out.
pub(crate) fn escaped(text: &str) -> String {
    escaped_but(text, |_| false)
}

/// The same for a line, whose tabs are shown as blanks by whoever draws it.
pub(crate) fn escaped_line(text: &str) -> String {
    escaped_but(text, |c| c == '\t')
}

/// The same for several lines.
pub(crate) fn escaped_lines(text: &str) -> String {
    escaped_but(text, |c| matches!(c, '\n' | '\t'))
}

/// A number of things: `1 file`, `2 files`.
pub(crate) fn counted(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

fn escaped_but(text: &str, stays: impl Fn(char) -> bool) -> String {
    // Line and paragraph separators are neither controls nor listed as invisible.
    let acts = |c: char| c.is_control() || classify_invisible(c).is_some() || matches!(c, '\u{2028}' | '\u{2029}');
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if acts(c) && !stays(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}

/// How output for people looks: colours, when they are wanted, which never carry meaning alone; lines that are drawn; the
/// width that is filled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    pub(crate) on: bool,
    pub(crate) unicode: bool,
    /// Columns of the terminal; elsewhere nothing is wrapped.
    pub(crate) width: Option<usize>,
}

impl Style {
    /// For messages, on standard error.
    pub(crate) fn of(global: &Global) -> Self {
        Self::on(global, io::stderr().is_terminal(), terminal_size_of(io::stderr()))
    }

    /// For data, on standard output.
    pub(crate) fn of_data(global: &Global) -> Self {
        Self::on(global, io::stdout().is_terminal(), terminal_size_of(io::stdout()))
    }

    /// No colours and no drawn lines but those of ASCII.
    #[cfg(test)]
    pub(crate) fn plain() -> Self {
        Self { on: false, unicode: false, width: None }
    }

    fn on(global: &Global, terminal: bool, size: Option<(Width, Height)>) -> Self {
        let on = match global.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => global.no_color.is_none() && terminal,
        };
        Self { on, unicode: has_unicode(), width: size.map(|(width, _)| usize::from(width.0).max(MIN_WIDTH)) }
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

/// Whether what is printed may hold more than ASCII, as the locale says; the Linux console has no glyphs for the lines.
fn has_unicode() -> bool {
    if cfg!(windows) {
        return true;
    }
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    if set("TERM").is_some_and(|terminal| terminal == "linux") {
        return false;
    }
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set).unwrap_or_default().to_ascii_uppercase();
    locale.contains("UTF-8") || locale.contains("UTF8")
}
