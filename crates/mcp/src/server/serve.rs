use super::call::Parked;
use super::conversation::Conversation;
#[cfg(target_os = "linux")]
use super::direct::{AtOnce, Direct, Passing};
use super::http::{self, BearerToken, HttpOptions};
use super::turns::Turns;
use crate::stream::LineBound;
use rmcp::service::{RoleServer, ServerInitializeError, Service, serve_server};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::{Transport, stdio_pipes};
use skillgate_runtime::{Runtime, Subscription};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, Weak};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// How skills are served.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ServeOptions {
    /// Whether the client's user is asked what a rule asks. Otherwise it is refused, with what would allow it.
    pub ask: bool,
    /// How long somebody may think about a question.
    pub ask_within: Duration,
    /// Calls of skills that run at once, of all clients together; others wait.
    pub calls_at_once: usize,
    /// Requests of one client that are open at once, those that wait for their turn among them. A further one is refused as
    /// `busy`.
    pub requests_of_one: usize,
    /// How often a client that wants to know is told that its call still runs.
    pub progress: Duration,
    /// The longest message that is read, bytes.
    pub message_bytes: usize,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            ask: true,
            ask_within: Duration::from_secs(300),
            calls_at_once: 16,
            requests_of_one: 64,
            progress: Duration::from_secs(1),
            message_bytes: 4 << 20,
        }
    }
}

/// Why skills are not served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The system gives no threads or no port.
    #[error("the server cannot run: {0}")]
    Io(#[from] std::io::Error),
    /// The client did not begin as the protocol says.
    #[error("the client did not begin as the protocol says: {0}")]
    Handshake(String),
    /// The client sent a message that is longer than is read; what comes after it has no beginning.
    #[error("the client sent a message of more than {bytes} bytes, which ends the connection")]
    TooLarge {
        /// The most.
        bytes: usize,
    },
    /// The address can be reached from other machines.
    #[error("`{0}` can be reached from other machines; skills are served on this machine only")]
    NotLoopback(SocketAddr),
}

/// What all conversations share.
#[derive(Debug)]
pub(super) struct Served {
    following: RwLock<Following>,
    pub(super) options: ServeOptions,
    pub(super) turns: Turns,
    /// Counts changes of the catalogue.
    pub(super) changes: watch::Sender<u64>,
}

/// The runtime whose skills are served.
#[derive(Debug)]
struct Following {
    /// Counts runtimes.
    number: u64,
    runtime: Arc<Runtime>,
    /// What tells of its reloads.
    subscription: Subscription,
}

impl Following {
    fn new(number: u64, runtime: Arc<Runtime>, served: &Weak<Served>) -> Self {
        let served = Weak::clone(served);
        let subscription = runtime.subscribe(move |_| served.upgrade().iter().for_each(|served| served.changed()));
        Self { number, runtime, subscription }
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        self.runtime.unsubscribe(self.subscription);
    }
}

impl Served {
    /// The runtime now, and its number.
    pub(super) fn runtime(&self) -> (u64, Arc<Runtime>) {
        let following = self.following.read().unwrap_or_else(PoisonError::into_inner);
        (following.number, Arc::clone(&following.runtime))
    }

    fn changed(&self) {
        self.changes.send_modify(|count| *count = count.wrapping_add(1));
    }
}

/// Serves the skills of a runtime to clients of the protocol, and tells them when it is reloaded. The gate, the sandbox and the audit
/// record are the runtime's own.
#[derive(Clone, Debug)]
pub struct SkillServer {
    served: Arc<Served>,
    stop: CancellationToken,
}

impl SkillServer {
    /// A server of this runtime's skills.
    #[must_use]
    pub fn new(runtime: Arc<Runtime>, options: ServeOptions) -> Self {
        let turns = Turns::new(options.calls_at_once);
        let served = Arc::new_cyclic(|served| Served {
            following: RwLock::new(Following::new(0, runtime, served)),
            options,
            turns,
            changes: watch::Sender::new(0),
        });
        Self { served, stop: CancellationToken::new() }
    }

    /// Serves the skills of another runtime from now on, one under another policy, and tells every client. What runs goes on as it
    /// began; what somebody agreed to for a conversation is asked again. Skills that come and go need no other runtime:
    /// [`Runtime::reload`] is enough.
    pub fn replace(&self, runtime: Arc<Runtime>) {
        let before = {
            let mut following = self.served.following.write().unwrap_or_else(PoisonError::into_inner);
            let next = Following::new(following.number + 1, runtime, &Arc::downgrade(&self.served));
            std::mem::replace(&mut *following, next)
        };
        drop(before);
        self.served.changed();
    }

    /// Ends every connection. What runs for them is stopped.
    pub fn stop(&self) {
        self.stop.cancel();
    }

    /// Serves the client on this process's standard streams until it is gone.
    ///
    /// # Errors
    /// A [`ServeError`] when the client does not begin as the protocol says, or sends a message that is too long.
    pub fn serve_stdio(&self) -> Result<(), ServeError> {
        let runtime = runtime()?;
        let served = runtime.block_on(async {
            #[cfg(target_os = "linux")]
            if let Some((input, output, direct)) = super::direct::standard_pipes() {
                return self.serve_pipes(input, output, direct).await;
            }
            let (input, output) = stdio_pipes();
            self.serve_streams(input, output).await
        });
        // A read of standard input that nothing ends is not waited for.
        runtime.shutdown_timeout(Duration::from_millis(100));
        served
    }

    /// Serves clients over HTTP on `listener`, which has to be of this machine, until [`SkillServer::stop`]. Each request has to
    /// carry the token.
    ///
    /// # Errors
    /// A [`ServeError`].
    pub fn serve_http(
        &self,
        listener: std::net::TcpListener,
        token: &BearerToken,
        options: &HttpOptions,
    ) -> Result<(), ServeError> {
        let runtime = runtime()?;
        let served = runtime.block_on(http::serve(self, listener, token, options));
        runtime.shutdown_timeout(Duration::from_secs(2));
        served
    }

    /// Serves one client over a pair of streams until it is gone.
    pub(crate) async fn serve_streams<R, W>(&self, input: R, output: W) -> Result<(), ServeError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let (transport, oversized) = self.transport(input, output);
        // What waits for this client ends with its connection.
        self.serve_over(self.conversation(&self.parked()), transport, &oversized).await
    }

    /// The same over pipes that can be written to from two sides.
    #[cfg(target_os = "linux")]
    async fn serve_pipes<R, W>(&self, input: R, output: W, direct: Arc<Direct>) -> Result<(), ServeError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let (transport, oversized) = self.transport(input, output);
        let transport = Passing { transport, direct: Arc::clone(&direct) };
        self.serve_over(AtOnce { service: self.conversation(&self.parked()), direct }, transport, &oversized).await
    }

    /// Messages over a pair of streams, and whether one of them was too long.
    fn transport<R, W>(&self, input: R, output: W) -> (AsyncRwTransport<RoleServer, LineBound<R>, W>, Arc<AtomicBool>)
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let bound = self.message_bytes();
        let input = LineBound::new(input, bound);
        let oversized = input.oversized();
        (AsyncRwTransport::new_server(input, output).with_max_line_length(bound), oversized)
    }

    /// `oversized`: whether a message was too long, which ends the stream of messages.
    async fn serve_over<S, T>(&self, service: S, transport: T, oversized: &AtomicBool) -> Result<(), ServeError>
    where
        S: Service<RoleServer>,
        T: Transport<RoleServer> + 'static,
    {
        let ended = || {
            let too_large = oversized.load(Ordering::Relaxed);
            if too_large { Err(ServeError::TooLarge { bytes: self.message_bytes() }) } else { Ok(()) }
        };
        let service = tokio::select! {
            service = serve_server(service, transport) => service,
            () = self.stop.cancelled() => return Ok(()),
        };
        let service = match service {
            Ok(service) => service,
            // A client that is gone before it began wanted nothing.
            Err(ServerInitializeError::ConnectionClosed(_)) => return ended(),
            Err(error) => return Err(ServeError::Handshake(crate::finding::shown(&error.to_string()))),
        };
        let cancel = service.cancellation_token();
        tokio::select! {
            _quit = service.waiting() => ended(),
            () = self.stop.cancelled() => {
                cancel.cancel();
                Ok(())
            }
        }
    }

    pub(super) fn conversation(&self, parked: &Arc<Parked>) -> Conversation {
        Conversation::new(Arc::clone(&self.served), Arc::clone(parked))
    }

    /// A place for calls whose client has to come back.
    pub(super) fn parked(&self) -> Arc<Parked> {
        Parked::new(self.served.options.calls_at_once, self.served.options.ask_within)
    }

    pub(super) fn stopped(&self) -> CancellationToken {
        self.stop.clone()
    }

    pub(super) fn message_bytes(&self) -> usize {
        self.served.options.message_bytes
    }
}

fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    // A call leaves its thread to itself and another takes its place, so that one at a time is enough.
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).thread_name("skillgate-mcp").enable_all().build()
}
