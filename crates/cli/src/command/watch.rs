//! `skillgate watch`

use crate::args::{Format, Global};
use crate::context;
use crate::exit::{Failure, Status};
use crate::output::{WatchOutput, WatchedFileOutput};
use crate::text;
use skillgate_loader::{ChangeKind, PathDiagnostic, SkillChange, WatchStop};
use std::io::{self, Write as _};

pub(crate) fn run(global: &Global) -> Result<Status, Failure> {
    // Only files are watched, so no server is started for it.
    let session = context::local_runtime(global)?.open()?.session(context::options(global));
    if let Some(off) = session.skills_off() {
        return Err(off.into());
    }
    let mut watch = context::watch(global, session.policy())?;
    drop(session);
    stop_on_signals(&watch.stopper());
    let mut lines = vec![WatchOutput::Watching { files: watch.files() }];
    loop {
        lines.extend(watch.take_diagnostics().iter().map(finding));
        if !print(global, &lines)? {
            return Ok(Status::Done);
        }
        match watch.next_changes() {
            Some(changes) => lines = changes.iter().map(line).collect(),
            None => return Ok(Status::Done),
        }
    }
}

fn line(change: &SkillChange) -> WatchOutput {
    let file = WatchedFileOutput::of(change);
    match change.kind {
        ChangeKind::Added => WatchOutput::Added(file),
        ChangeKind::Changed => WatchOutput::Changed(file),
        ChangeKind::Removed => WatchOutput::Removed(file),
    }
}

fn finding(found: &PathDiagnostic) -> WatchOutput {
    WatchOutput::Finding {
        path: found.path.display().to_string(),
        message: found.diagnostic.message.clone(),
        help: found.diagnostic.help.clone(),
    }
}

/// Prints the lines at once; whether somebody still reads them.
fn print(global: &Global, lines: &[WatchOutput]) -> Result<bool, Failure> {
    let mut out = io::stdout().lock();
    for line in lines {
        let written = match global.format {
            Format::Json => {
                let line = serde_json::to_string(line)?;
                writeln!(out, "{line}")
            }
            // Only `check` prints SARIF, which reading the command line made sure of.
            Format::Human | Format::Sarif => match human(line) {
                Said::Data(line) => writeln!(out, "{line}"),
                Said::Message(message) => {
                    text::complain(&message);
                    Ok(())
                }
            },
        };
        match written.and_then(|()| out.flush()) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(false),
            Err(error) => return Err(Failure::Io { doing: "writing the changes".to_owned(), error }),
        }
    }
    Ok(true)
}

/// Where a line goes for people.
enum Said {
    Data(String),
    Message(String),
}

fn human(line: &WatchOutput) -> Said {
    let data = |event: &str, file: &WatchedFileOutput| {
        Said::Data(format!("{event:<8} {}:{}  {}", file.source, text::shown(&file.name), text::shown(&file.path)))
    };
    match line {
        WatchOutput::Watching { files } => Said::Message(format!(
            "skillgate: watching {} of skills and commands; Ctrl-C ends it",
            text::counted(*files, "file")
        )),
        WatchOutput::Added(file) => data("added", file),
        WatchOutput::Changed(file) => data("changed", file),
        WatchOutput::Removed(file) => data("removed", file),
        WatchOutput::Finding { path, message, help } => {
            let help = help.as_ref().map(|help| format!("\nhelp: {help}")).unwrap_or_default();
            Said::Message(format!("skillgate: {}: {message}{help}", text::shown(path)))
        }
    }
}

/// Ends the watch when the process is asked to end. A signal that cannot be caught ends the process as it always does.
#[cfg(unix)]
fn stop_on_signals(stop: &WatchStop) {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use std::io::Read as _;
    use std::os::unix::net::UnixStream;
    let Ok((mut hears, says)) = UnixStream::pair() else { return };
    for signal in [SIGHUP, SIGINT, SIGTERM] {
        if let Ok(says) = says.try_clone() {
            let _uncaught = signal_hook::low_level::pipe::register(signal, says);
        }
    }
    let stop = stop.clone();
    std::thread::spawn(move || {
        // One byte for a signal, and the end when nobody can send one.
        let _asked = hears.read(&mut [0]);
        stop.stop();
    });
}

#[cfg(not(unix))]
fn stop_on_signals(_stop: &WatchStop) {}
