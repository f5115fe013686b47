//! Who runs it.

#[cfg(target_os = "wasi")]
pub(crate) use sandbox::run;
#[cfg(not(target_os = "wasi"))]
pub(crate) use unix::run;

#[cfg(target_os = "wasi")]
mod sandbox {
    use crate::Ended;
    use bindings::skillgate::command::run as host;

    mod bindings {
        wit_bindgen::generate!({ path: "../../../wit/command", world: "commands" });
    }

    /// The number of the error for what is not there.
    const ENOENT: u32 = 2;

    pub(crate) fn run(
        vector: &[Vec<u8>],
        directory: Option<&[u8]>,
        environment: Option<&[(String, String)]>,
        reads: bool,
    ) -> Ended {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let vector: Vec<String> = vector.iter().map(|word| text(word)).collect();
        match host::run(&vector, directory.map(text).as_deref(), environment, reads) {
            Ok(status) => Ended::Exited(status),
            Err(ENOENT) => Ended::NotFound,
            Err(_) => Ended::CannotRun,
        }
    }
}

#[cfg(not(target_os = "wasi"))]
mod unix {
    use crate::Ended;
    use std::ffi::OsStr;
    use std::io::ErrorKind;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::{Command, Stdio};

    pub(crate) fn run(
        vector: &[Vec<u8>],
        directory: Option<&[u8]>,
        environment: Option<&[(String, String)]>,
        reads: bool,
    ) -> Ended {
        let Some((name, arguments)) = vector.split_first() else { return Ended::NotFound };
        let mut command = Command::new(OsStr::from_bytes(name));
        command.args(arguments.iter().map(|argument| OsStr::from_bytes(argument)));
        command.stdin(if reads { Stdio::inherit() } else { Stdio::null() });
        if let Some(environment) = environment {
            command.env_clear().envs(environment.iter().map(|(name, value)| (name, value)));
        }
        if let Some(directory) = directory {
            command.current_dir(OsStr::from_bytes(directory));
        }
        match command.status() {
            Ok(status) => {
                let signal = status.signal().map_or(1, |signal| 128 + signal);
                Ended::Exited(u8::try_from(status.code().unwrap_or(signal)).unwrap_or(1))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ended::NotFound,
            Err(_) => Ended::CannotRun,
        }
    }
}
