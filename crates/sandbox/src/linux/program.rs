//! Stage `program`: what is executed is the file that was approved, by its descriptor.

use super::failure::{Failure, OrCannot as _, describe};
use super::sources::identity_of;
use super::sys;
use crate::message::SourceFault;
use crate::plan::Program;
use crate::stage::Stage;
use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat2};
use rustix::io::Errno;
use std::ffi::CString;
use std::os::fd::AsFd as _;

/// Executes the program. Returns only with why it cannot.
pub(super) fn execute(program: &Program) -> Failure {
    match prepare(program) {
        Ok(failure) | Err(failure) => failure,
    }
}

fn prepare(program: &Program) -> Result<Failure, Failure> {
    let path = &program.path;
    let file = openat2(CWD, path.as_str(), OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::NO_MAGICLINKS)
        .map_err(|errno| match errno {
            Errno::NOENT | Errno::NOTDIR => Failure::source(Stage::Program, &SourceFault::Vanished(path.clone())),
            errno => Failure::refused(Stage::Program, format!("`{path}` cannot be opened: {}", describe(errno))),
        })?;
    let stat = fstat(&file).or_cannot(Stage::Program, format!("looking at `{path}`"))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(Failure::source(Stage::Program, &SourceFault::Kind(path.clone(), "a file")));
    }
    if program.identity.is_some_and(|approved| !approved.is_met_by(&identity_of(&stat))) {
        return Err(Failure::source(Stage::Program, &SourceFault::Replaced(path.clone())));
    }
    let vector: Vec<CString> = program.vector.iter().map(|word| sys::c_text(word)).collect();
    let environment: Vec<CString> =
        program.environment.iter().map(|(name, value)| sys::c_text(&format!("{name}={value}"))).collect();
    sys::close_on_exec_from(3).or_cannot(Stage::Program, "closing descriptors on execution")?;
    sys::reset_signals();
    let errno = sys::execute(file.as_fd(), &vector, &environment);
    let why = match errno {
        Errno::NOENT => "its loader or interpreter is not there in the sandbox".to_owned(),
        Errno::NOEXEC => "it is no program of this machine".to_owned(),
        Errno::ACCESS => "it may not be executed by an unprivileged user, or lies where nothing may be".to_owned(),
        errno => describe(errno),
    };
    Ok(Failure::refused(Stage::Program, format!("`{path}` cannot be executed: {why}")))
}
