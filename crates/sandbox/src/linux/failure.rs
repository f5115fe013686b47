use crate::message::{Reply, SourceFault};
use crate::stage::{Refused, Stage, Unavailable};
use rustix::io::Errno;

/// Why the helper stops.
#[derive(Debug)]
pub(super) enum Failure {
    Unavailable(Unavailable),
    Refused(Refused),
}

impl Failure {
    /// This machine cannot do it.
    pub(super) fn cannot(stage: Stage, doing: impl std::fmt::Display, errno: Errno) -> Self {
        Failure::Unavailable(Unavailable::new(stage, format!("{doing}: {}", describe(errno))))
    }

    pub(super) fn source(stage: Stage, fault: &SourceFault) -> Self {
        Failure::Refused(Refused { stage, reason: fault.to_string() })
    }

    pub(super) fn refused(stage: Stage, reason: impl Into<String>) -> Self {
        Failure::Refused(Refused { stage, reason: reason.into() })
    }

    pub(super) fn into_reply(self) -> Reply {
        match self {
            Failure::Unavailable(unavailable) => Reply::Unavailable(unavailable),
            Failure::Refused(refused) => Reply::Refused(refused),
        }
    }
}

impl From<Unavailable> for Failure {
    fn from(unavailable: Unavailable) -> Self {
        Failure::Unavailable(unavailable)
    }
}

/// The system's words for an error, with its number.
pub(super) fn describe(errno: Errno) -> String {
    std::io::Error::from(errno).to_string()
}

/// Turns the system's answer into a failure of this stage.
pub(super) trait OrCannot<T> {
    fn or_cannot(self, stage: Stage, doing: impl std::fmt::Display) -> Result<T, Failure>;
}

impl<T> OrCannot<T> for Result<T, Errno> {
    fn or_cannot(self, stage: Stage, doing: impl std::fmt::Display) -> Result<T, Failure> {
        self.map_err(|errno| Failure::cannot(stage, doing, errno))
    }
}
