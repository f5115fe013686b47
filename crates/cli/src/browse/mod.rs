//! `skillgate browse`: the catalogue on a terminal.
//!
//! What is shown and what a key does is pure ([`state`]), what is drawn is a function of it ([`draw`]); this module owns the
//! terminal and gives it back however the browser ends.

mod draw;
mod markdown;
mod state;

use crate::args::Global;
use crate::context;
use crate::exit::{Failure, Status};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyEvent, KeyEventKind};
use skillgate_runtime::Session;
use state::{Browser, Flow, Row};
use std::io::{self, IsTerminal as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long a wait for a key may last before the signals are looked at.
const TICK: Duration = Duration::from_millis(200);

pub(crate) fn run(global: &Global) -> Result<Status, Failure> {
    if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        return Err(Failure::NoTerminal);
    }
    let session = context::session_ended_by_verb(global)?;
    let mut browser = Browser::new(Row::all(&session));
    let ended = ended_from_outside();
    let terminal = ratatui::try_init().map_err(failed)?;
    // Whatever comes, also a panic, the terminal is given back: `try_init` sets the hook for that, and this the rest.
    let outcome = show(terminal, &session, &mut browser, &ended);
    ratatui::restore();
    outcome.map_err(failed)?;
    Ok(Status::Done)
}

fn failed(error: io::Error) -> Failure {
    Failure::Io { doing: "using the terminal".to_owned(), error }
}

fn show(mut terminal: DefaultTerminal, session: &Session, browser: &mut Browser, ended: &AtomicBool) -> io::Result<()> {
    loop {
        browser.read_body(|row| row.read(session));
        terminal.draw(|frame| draw::draw(frame, browser))?;
        let Some(key) = next_key(ended)? else { return Ok(()) };
        if browser.on_key(key) == Flow::Quit {
            return Ok(());
        }
    }
}

/// The next key; `None` when the browser is ended from outside. A change of the terminal's size counts as a key that does nothing.
fn next_key(ended: &AtomicBool) -> io::Result<Option<KeyEvent>> {
    loop {
        if ended.load(Ordering::Relaxed) {
            return Ok(None);
        }
        if event::poll(TICK)? {
            match event::read()? {
                Event::Key(key) if key.kind != KeyEventKind::Release => return Ok(Some(key)),
                Event::Resize(..) => return Ok(Some(KeyEvent::from(event::KeyCode::Null))),
                _ => {}
            }
        }
    }
}

/// Becomes true when the process is asked to end. Without it the terminal would stay as the browser needs it.
fn ended_from_outside() -> Arc<AtomicBool> {
    let ended = Arc::new(AtomicBool::new(false));
    #[cfg(unix)]
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
        // Where the signal cannot be caught it ends the process as it always does.
        let _uncaught = signal_hook::flag::register(signal, Arc::clone(&ended));
    }
    ended
}
