//! Servers that are reached over HTTP.

use crate::finding::{Finding, FindingCode};
use crate::limits::McpLimits;
use axum::http::{HeaderName, HeaderValue};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use std::collections::{BTreeMap, HashMap};

/// A transport to this address. Redirects are not followed: the headers are for the host that the file names.
pub(super) fn transport(
    url: &str,
    headers: &BTreeMap<String, String>,
    limits: &McpLimits,
) -> Result<StreamableHttpClientTransport<reqwest::Client>, Finding> {
    // Another part of the program may have chosen one already, which is as good.
    let _already = rustls::crypto::ring::default_provider().install_default();
    let builder = reqwest::Client::builder();
    // Without TLS only this machine is reached, and a proxy would be told the headers.
    let builder = if url.starts_with("https:") { builder } else { builder.no_proxy() };
    let client = builder
        .connect_timeout(limits.connect)
        .pool_max_idle_per_host(0)
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("skillgate/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| Finding::new(FindingCode::Unreachable, format!("no connection can be made: {error}")))?;
    let mut custom = HashMap::new();
    for (name, value) in headers {
        // What cannot be a header is refused where the file is read.
        if let (Ok(name), Ok(mut value)) = (HeaderName::try_from(name.as_str()), HeaderValue::try_from(value.as_str()))
        {
            value.set_sensitive(true);
            custom.insert(name, value);
        }
    }
    let config = StreamableHttpClientTransportConfig::with_uri(url)
        .custom_headers(custom)
        .max_sse_event_size(limits.message_bytes)
        .max_json_response_size(limits.message_bytes)
        .control_request_timeout(limits.connect);
    Ok(StreamableHttpClientTransport::with_client(client, config))
}
