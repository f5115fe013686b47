//! Skills over streamable HTTP, on this machine only.

use super::serve::{ServeError, SkillServer};
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use skillgate_core::Digest;
use std::fmt;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Where requests go.
pub(super) const PATH: &str = "/mcp";
/// The shortest token, characters.
const MIN_TOKEN: usize = 32;

/// How many clients there may be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HttpOptions {
    /// Conversations at once. A further client is told to come back.
    pub sessions: usize,
    /// Requests at once.
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
    sessions: Arc<LocalSessionManager>,
    most_sessions: usize,
    requests: Semaphore,
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
        sessions,
        most_sessions: options.sessions.max(1),
        requests: Semaphore::new(options.requests.max(1)),
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
    let Ok(_turn) = guard.requests.try_acquire() else {
        return (StatusCode::SERVICE_UNAVAILABLE, "too many requests at once\n").into_response();
    };
    let begins = !request.headers().contains_key("mcp-session-id");
    if begins && guard.sessions.sessions.read().await.len() >= guard.most_sessions {
        return (
            StatusCode::SERVICE_UNAVAILABLE,
            [(header::RETRY_AFTER, "30")],
            "there are as many conversations as there may be\n",
        )
            .into_response();
    }
    next.run(request).await
}
