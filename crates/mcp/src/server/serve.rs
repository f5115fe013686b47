use super::call::Parked;
use super::conversation::Conversation;
use super::http::{self, BearerToken, HttpOptions};
use crate::stream::LineBound;
use rmcp::service::{RoleServer, ServerInitializeError, serve_server};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::stdio_pipes;
use skillgate_runtime::Runtime;
use std::net::SocketAddr;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Semaphore, watch};
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
    /// The address can be reached from other machines.
    #[error("`{0}` can be reached from other machines; skills are served on this machine only")]
    NotLoopback(SocketAddr),
}

/// What all conversations share.
#[derive(Debug)]
pub(super) struct Served {
    runtime: RwLock<Arc<Runtime>>,
    pub(super) options: ServeOptions,
    pub(super) turns: Semaphore,
    /// Counts changes of the catalogue.
    pub(super) changes: watch::Sender<u64>,
}

impl Served {
    /// The runtime now, and the number of the change that brought it.
    pub(super) fn runtime(&self) -> (u64, Arc<Runtime>) {
        let runtime = self.runtime.read().unwrap_or_else(PoisonError::into_inner);
        (*self.changes.borrow(), Arc::clone(&runtime))
    }
}

/// Serves the skills of a runtime to clients of the protocol. The gate, the sandbox and the audit record are the runtime's own.
#[derive(Clone, Debug)]
pub struct SkillServer {
    served: Arc<Served>,
    stop: CancellationToken,
}

impl SkillServer {
    /// A server of this runtime's skills.
    #[must_use]
    pub fn new(runtime: Arc<Runtime>, options: ServeOptions) -> Self {
        let turns = Semaphore::new(options.calls_at_once.max(1));
        let served = Served { runtime: RwLock::new(runtime), options, turns, changes: watch::Sender::new(0) };
        Self { served: Arc::new(served), stop: CancellationToken::new() }
    }

    /// Serves the skills of another runtime from now on, and tells every client. What runs goes on as it began; what somebody
    /// agreed to for a conversation was about the skills as they were, and is asked again.
    pub fn replace(&self, runtime: Arc<Runtime>) {
        let mut served = self.served.runtime.write().unwrap_or_else(PoisonError::into_inner);
        *served = runtime;
        // Counted while the lock is held, so that nobody sees the new runtime with the old number.
        self.served.changes.send_modify(|count| *count = count.wrapping_add(1));
    }

    /// Ends every connection. What runs for them is stopped.
    pub fn stop(&self) {
        self.stop.cancel();
    }

    /// Serves the client on this process's standard streams until it is gone.
    ///
    /// # Errors
    /// A [`ServeError`] when the client does not begin as the protocol says.
    pub fn serve_stdio(&self) -> Result<(), ServeError> {
        let runtime = runtime()?;
        let served = runtime.block_on(async {
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
        let bound = self.served.options.message_bytes;
        let input = LineBound::new(input, bound);
        let transport = AsyncRwTransport::<RoleServer, _, _>::new_server(input, output).with_max_line_length(bound);
        let service = tokio::select! {
            // What waits for this client ends with its connection.
            service = serve_server(self.conversation(&self.parked()), transport) => service,
            () = self.stop.cancelled() => return Ok(()),
        };
        let service = match service {
            Ok(service) => service,
            // A client that is gone before it began wanted nothing.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(ServeError::Handshake(crate::finding::shown(&error.to_string()))),
        };
        let cancel = service.cancellation_token();
        tokio::select! {
            _quit = service.waiting() => {}
            () = self.stop.cancelled() => cancel.cancel(),
        }
        Ok(())
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
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).thread_name("skillgate-mcp").enable_all().build()
}
