//! Skills over streamable HTTP, on this machine only.

use super::serve::{ServeError, SkillServer};
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use http_body::{Frame, SizeHint};
use rmcp::transport::streamable_http_server::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use skillgate_core::Digest;
use std::collections::HashMap;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};

/// Where requests go.
pub(super) const PATH: &str = "/mcp";
/// The shortest token, characters.
const MIN_TOKEN: usize = 32;

/// How many clients there may be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HttpOptions {
    /// Conversations at once. A further client is told to come back.
    pub sessions: usize,
    /// Requests at once, each until all of its answer is sent.
    pub requests: usize,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self { sessions: 32, requests: 128 }
    }
}

/// The secret that each request has to carry as `Authorization: Bearer …`. It is kept as its digest.
#[derive(Clone, PartialEq, Eq)]
pub struct BearerToken(Digest);

impl fmt::Debug for BearerToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BearerToken")
    }
}

/// Why a text is no token.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a token has at least {MIN_TOKEN} characters, which are letters, digits, `-`, `.`, `_`, `~`, `+`, `/` and `=`")]
pub struct TokenError;

impl BearerToken {
    /// Takes a token.
    ///
    /// # Errors
    /// [`TokenError`] for one that is short, or cannot stand in a header.
    pub fn new(text: &str) -> Result<Self, TokenError> {
        let stands = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
        let fits = text.len() >= MIN_TOKEN && text.bytes().all(stands);
        if fits { Ok(Self(Digest::of(text.as_bytes()))) } else { Err(TokenError) }
    }

    /// Compares digests, whose common beginning says nothing about the token.
    fn is_carried_by(&self, request: &Request) -> bool {
        let carried = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let token = carried.and_then(|value| {
            let (scheme, token) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
        });
        token.is_some_and(|token| Digest::of(token.as_bytes()) == self.0)
    }
}

struct Guard {
    token: BearerToken,
    places: Places,
    requests: Arc<Semaphore>,
}

/// The places of conversations.
struct Places {
    sessions: Arc<LocalSessionManager>,
    free: Arc<Semaphore>,
    /// By the conversation's id, as it stands in the header.
    taken: Mutex<HashMap<Vec<u8>, OwnedSemaphorePermit>>,
}

/// The header that names a conversation.
const SESSION: &str = "mcp-session-id";

impl Places {
    fn new(sessions: Arc<LocalSessionManager>, most: usize) -> Self {
        Self { sessions, free: Arc::new(Semaphore::new(most.max(1))), taken: Mutex::default() }
    }

    /// A place, when there is one; those of conversations that have ended are free.
    async fn place(&self) -> Option<OwnedSemaphorePermit> {
        if let Ok(place) = Arc::clone(&self.free).try_acquire_owned() {
            return Some(place);
        }
        let mut taken = self.taken.lock().await;
        let sessions = self.sessions.sessions.read().await;
        taken.retain(|id, _| sessions.keys().any(|known| known.as_bytes() == id.as_slice()));
        Arc::clone(&self.free).try_acquire_owned().ok()
    }

    /// Takes a place for the conversation that a request began. Without one it is ended, before its client knows of it.
    async fn seat(&self, id: &[u8]) -> bool {
        if let Some(place) = self.place().await {
            self.taken.lock().await.insert(id.to_vec(), place);
            return true;
        }
        let known = self.sessions.sessions.read().await.keys().find(|known| known.as_bytes() == id).cloned();
        if let Some(known) = known
            && let Err(error) = self.sessions.close_session(&known).await
        {
            tracing::warn!(%error, "a conversation for which there is no place does not end");
        }
        false
    }
}

/// An answer that counts as a request until all of it is sent.
struct Counted {
    body: Body,
    _turn: OwnedSemaphorePermit,
}

impl HttpBody for Counted {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

pub(super) async fn serve(
    server: &SkillServer,
    listener: std::net::TcpListener,
    token: &BearerToken,
    options: &HttpOptions,
) -> Result<(), ServeError> {
    let address = listener.local_addr()?;
    if !address.ip().is_loopback() {
        return Err(ServeError::NotLoopback(address));
    }
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let sessions = Arc::new(LocalSessionManager::default());
    let stop = server.stopped();
    let config = StreamableHttpServerConfig::default()
        .with_cancellation_token(stop.clone())
        .with_max_request_body_bytes(server.message_bytes())
        // A browser's page has no business here, whatever it is called.
        .enforce_origin_validation();
    // Each request of the newest protocol is a conversation of its own, so what waits for a client is kept for all of them.
    let (maker, parked) = (server.clone(), server.parked());
    let service = StreamableHttpService::new(move || Ok(maker.conversation(&parked)), Arc::clone(&sessions), config);
    let guard = Arc::new(Guard {
        token: token.clone(),
        places: Places::new(sessions, options.sessions),
        requests: Arc::new(Semaphore::new(options.requests.max(1))),
    });
    let router = axum::Router::new()
        .route_service(PATH, service)
        .fallback(|| async { StatusCode::NOT_FOUND })
        .layer(middleware::from_fn_with_state(guard, guarded));
    axum::serve(listener, router).with_graceful_shutdown(stop.cancelled_owned()).await?;
    Ok(())
}

/// Lets a request through that carries the token, as long as there is room for it.
async fn guarded(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    if !guard.token.is_carried_by(&request) {
        return (
            StatusCode::UNAUTHORIZED,
            [(header::WWW_AUTHENTICATE, "Bearer realm=\"skillgate\"")],
            "the request does not carry the server's token as `Authorization: Bearer …`\n",
        )
            .into_response();
    }
    let Ok(turn) = Arc::clone(&guard.requests).try_acquire_owned() else {
        return full("1", "too many requests at once\n");
    };
    let begins = !request.headers().contains_key(SESSION);
    let response = next.run(request).await;
    // Only a handshake begins a conversation; in the newest protocol there are none, and its requests stand alone.
    let begun = response.headers().get(SESSION).filter(|_| begins);
    if let Some(id) = begun
        && !guard.places.seat(id.as_bytes()).await
    {
        return full("30", "there are as many conversations as there may be\n");
    }
    response.map(|body| Body::new(Counted { body, _turn: turn }))
}

fn full(seconds: &'static str, message: &'static str) -> Response {
    (StatusCode::SERVICE_UNAVAILABLE, [(header::RETRY_AFTER, seconds)], message).into_response()
}
