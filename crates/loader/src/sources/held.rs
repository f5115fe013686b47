//! Skills that are no files, and what belongs to them.

use skillgate_core::{Digest, RelPath};
use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

/// A skill that is no file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeldSkill {
    /// The name that it is invoked by.
    pub name: String,
    /// The whole of its `SKILL.md`; of one with a [`LazyBody`], the header alone.
    pub text: Cow<'static, str>,
    /// Where it comes from, for people: an address, or what else names it.
    pub origin: String,
}

/// What tells a skill that is no file from what it was before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeldMark {
    /// The name that it is invoked by.
    pub name: String,
    /// Where it comes from, for people.
    pub origin: String,
    /// Another one when the skill may be another.
    pub digest: Digest,
}

/// What belongs to a skill that is no file besides its text.
#[derive(Clone, Debug, Default)]
pub struct HeldExtras {
    /// The files beside it.
    pub files: Option<Arc<dyn SkillFiles>>,
    /// What makes its body.
    pub body: Option<LazyBody>,
    /// What makes the text of each call out of its arguments, in place of the body.
    pub call: Option<CallBody>,
    /// The ed25519 keys whose signatures it has. Whether they count, the host's policy says.
    pub signers: Vec<[u8; 32]>,
}

/// The files beside a skill that is no file. They are on the disk from its first use on.
pub trait SkillFiles: fmt::Debug + Send + Sync {
    /// The directory in which they will be. Nothing need be there yet.
    fn directory(&self) -> PathBuf;

    /// Their paths below it and their bytes, the skill's own file left out.
    fn contents(&self) -> Vec<(RelPath, Cow<'_, [u8]>)>;

    /// Takes them to disk, the first time. Whoever names the directory to anybody has called this before.
    ///
    /// # Errors
    /// A [`FilesError`]; nothing half-made is then in use.
    fn materialise(&self) -> Result<(), FilesError>;
}

/// Why the files of a skill are not on the disk.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct FilesError {
    /// What failed, with the step and the path.
    pub message: String,
    /// The way out.
    pub help: Option<String>,
}

/// What makes the body of a skill each time it is used, and never when it is only listed.
#[derive(Clone)]
pub struct LazyBody(Arc<dyn Fn() -> Result<String, String> + Send + Sync>);

impl LazyBody {
    /// A body that a function gives, or says why it cannot.
    #[must_use]
    pub fn new(body: impl Fn() -> Result<String, String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(body))
    }

    /// A body that comes later. It is waited for on the thread that uses the skill; what needs the reactor of a runtime enters
    /// that itself.
    #[must_use]
    pub fn from_future<F>(body: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<String, String>>,
    {
        Self::new(move || wait_for(body()))
    }

    pub(crate) fn make(&self) -> Result<String, String> {
        (self.0)()
    }
}

impl fmt::Debug for LazyBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LazyBody")
    }
}

/// One call of a skill whose text is made for it.
#[derive(Clone, Copy)]
pub struct BodyCall<'a> {
    /// The arguments as typed.
    pub arguments: Option<&'a str>,
    /// Whether the call was taken back meanwhile.
    pub is_cancelled: &'a dyn Fn() -> bool,
}

impl fmt::Debug for BodyCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BodyCall").field("arguments", &self.arguments).finish_non_exhaustive()
    }
}

/// What makes the text of a skill out of the arguments of one call, such as a server's prompt. It is asked when the call is
/// decided and nothing stands against it. What it gives is text and nothing else: no header, no placeholder, no injection.
#[derive(Clone)]
pub struct CallBody(Arc<MakesBody>);

type MakesBody = dyn Fn(&BodyCall<'_>) -> Result<String, CallBodyError> + Send + Sync;

impl CallBody {
    /// A text that a function makes, or says why it does not.
    #[must_use]
    pub fn new(body: impl Fn(&BodyCall<'_>) -> Result<String, CallBodyError> + Send + Sync + 'static) -> Self {
        Self(Arc::new(body))
    }

    /// Makes the text of one call.
    ///
    /// # Errors
    /// A [`CallBodyError`].
    pub fn make(&self, call: &BodyCall<'_>) -> Result<String, CallBodyError> {
        (self.0)(call)
    }
}

impl fmt::Debug for CallBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CallBody")
    }
}

/// Why a call has no text.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallBodyError {
    /// An argument that has to be given is not.
    #[error("the argument `{argument}` is missing")]
    ArgumentMissing {
        /// Its name.
        argument: String,
        /// How the arguments are written.
        form: String,
    },
    /// The arguments cannot be told apart.
    #[error("{reason}")]
    Arguments {
        /// What is wrong.
        reason: String,
        /// How the arguments are written.
        form: String,
    },
    /// The call was taken back.
    #[error("the call was taken back")]
    Cancelled,
    /// Whoever makes the text did not.
    #[error("{reason}")]
    NotMade {
        /// Why not.
        reason: String,
    },
}

impl CallBodyError {
    /// How the arguments are written, where it is they that are wrong.
    #[must_use]
    pub fn form(&self) -> Option<&str> {
        match self {
            CallBodyError::ArgumentMissing { form, .. } | CallBodyError::Arguments { form, .. } => Some(form),
            CallBodyError::Cancelled | CallBodyError::NotMade { .. } => None,
        }
    }

    /// A short, stable name of the kind.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            CallBodyError::ArgumentMissing { .. } => "argument-missing",
            CallBodyError::Arguments { .. } => "arguments-invalid",
            CallBodyError::Cancelled => "cancelled",
            CallBodyError::NotMade { .. } => "text-not-made",
        }
    }
}

struct Unpark(std::thread::Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn wait_for<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(value) => return value,
            Poll::Pending => std::thread::park(),
        }
    }
}
