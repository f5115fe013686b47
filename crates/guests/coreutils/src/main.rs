//! The component `coreutils`: the uutils commands behind one entry that looks at the name it was called by.
//!
//! `commands.txt` lists what it offers; a build script makes the table from it. What a command prints and how it ends is
//! uutils' own. `uname`, `hostname`, `id`, `whoami` and `pwd` are ours, because WASI has neither a system nor users to ask, nor the
//! directories above a mount; and `env`, which asks the host to run its command. Nothing here needs a network or a preopened
//! directory.

mod env;
mod identity;
mod pwd;
mod uname;

use std::ffi::OsString;
use std::path::Path;
use std::vec::IntoIter;

/// One command: its name, the uutils message catalogue it needs, and its entry.
#[derive(Debug)]
struct Applet {
    name: &'static str,
    catalogue: Option<&'static str>,
    main: fn(IntoIter<OsString>) -> i32,
}

include!(concat!(env!("OUT_DIR"), "/applets.rs"));

/// Status of a name that this component does not offer, as in a shell.
const STATUS_NOT_FOUND: i32 = 127;

fn main() {
    guest_start::run(dispatch);
}

/// Where commands look for room for temporary files. It is absent unless the host shows it, and they do without; without a
/// name they would ask the standard library, which has none on WASI and panics.
const TEMPORARY: &str = "/tmp";
/// A place that is never there.
const NOWHERE: &str = "/dev/nowhere";

fn dispatch() -> i32 {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let called = arguments.first().map(OsString::as_os_str).unwrap_or_default();
    let name = Path::new(called).file_name().unwrap_or(called);
    // These two print nothing but what an option asks for, so they need neither messages nor a parser of options.
    match name.to_str() {
        Some("true") if arguments.len() == 1 => return 0,
        Some("false") if arguments.len() == 1 => return 1,
        _ => {}
    }
    // `tac` would map its temporary file into memory, which WASI has no call for; without one it reads its input as it is.
    let temporary = if name == "tac" { NOWHERE } else { TEMPORARY };
    if tempfile::env::override_temp_dir(Path::new(temporary)).is_err() {
        eprintln!("coreutils: the place for temporary files is set twice");
        return 1;
    }
    let found = name.to_str().and_then(|name| APPLETS.binary_search_by(|applet| applet.name.cmp(name)).ok());
    let Some(applet) = found.and_then(|at| APPLETS.get(at)) else {
        eprintln!("coreutils: {}: command not found", name.display());
        return STATUS_NOT_FOUND;
    };
    if let Some(catalogue) = applet.catalogue
        && let Err(error) = uucore::locale::setup_localization(catalogue)
    {
        eprintln!("{}: cannot load its messages: {error}", applet.name);
        return 1;
    }
    (applet.main)(arguments.into_iter())
}
