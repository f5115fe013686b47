use super::{FetchError, FetchLimits, block_on, certificates, with_causes};
use reqwest::header::CONTENT_TYPE;
use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use std::time::Duration;

/// A file that came.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fetched {
    /// The last part of its address.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Fetches a file, over encrypted connections alone. The page that a forge shows of a file is taken for the file.
///
/// # Errors
/// A [`FetchError`].
pub fn fetch(address: &str, limits: &FetchLimits) -> Result<Fetched, FetchError> {
    let url = raw(parse(address)?);
    let client = client(limits)?;
    block_on(download(client, url, limits))
}

fn parse(address: &str) -> Result<Url, FetchError> {
    let refused = |reason: String| FetchError::Address { address: address.to_owned(), reason };
    let url = Url::parse(address).map_err(|error| refused(error.to_string()))?;
    match (url.scheme(), url.host()) {
        ("https", Some(_)) => Ok(url),
        ("https", None) => Err(refused("it names no host".to_owned())),
        _ => Err(refused("it is not encrypted".to_owned())),
    }
}

fn client(limits: &FetchLimits) -> Result<Client, FetchError> {
    // The client chooses its cryptography when it is built.
    let _chosen_already = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder()
        .https_only(true)
        .redirect(Policy::limited(limits.redirects))
        .connect_timeout(Duration::from_secs(30))
        .timeout(limits.time)
        .user_agent(concat!("skillgate/", env!("CARGO_PKG_VERSION")))
        .tls_certs_merge(certificates(&limits.roots)?);
    builder.build().map_err(|error| FetchError::Start(with_causes(&error)))
}

async fn download(client: Client, url: Url, limits: &FetchLimits) -> Result<Fetched, FetchError> {
    let address = url.to_string();
    let transport =
        |error: reqwest::Error| FetchError::Transport { address: address.clone(), reason: with_causes(&error) };
    let mut response = client.get(url).send().await.map_err(transport)?;
    if !response.status().is_success() {
        return Err(FetchError::Status { address, status: response.status().as_u16() });
    }
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if kind.trim_start().to_ascii_lowercase().starts_with("text/html") {
        return Err(FetchError::Page { address });
    }
    let too_large = || FetchError::TooLarge { address: address.clone(), limit: limits.bytes };
    // What the server says of the length saves a download, and is not believed otherwise.
    if response.content_length().is_some_and(|length| length > limits.bytes) {
        return Err(too_large());
    }
    let name = response.url().path_segments().and_then(|mut parts| parts.next_back().map(str::to_owned));
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(transport)? {
        if bytes.len() as u64 + chunk.len() as u64 > limits.bytes {
            return Err(too_large());
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(Fetched { name: name.unwrap_or_default(), bytes })
}

/// The address of a file itself, for that of the page that a forge shows of it: `…/blob/…` and `…/src/branch/…` are pages, and
/// `…/raw/…` is the file.
fn raw(mut url: Url) -> Url {
    let parts: Vec<&str> = url.path().split('/').collect();
    let page = parts.iter().enumerate().skip(3).find(|(at, part)| match **part {
        "blob" => parts.len() > at + 2,
        "src" => matches!(parts.get(at + 1), Some(&("branch" | "commit" | "tag"))),
        _ => false,
    });
    let Some((at, _)) = page else { return url };
    let mut parts: Vec<&str> = parts.clone();
    if let Some(part) = parts.get_mut(at) {
        *part = "raw";
    }
    let path = parts.join("/");
    url.set_path(&path);
    url.set_fragment(None);
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_of_a_forge_is_the_file_it_shows() {
        for (page, file) in [
            ("https://forge.test/o/r/blob/main/skills/a/SKILL.md", "https://forge.test/o/r/raw/main/skills/a/SKILL.md"),
            ("https://forge.test/g/s/r/-/blob/v1/SKILL.md#L3", "https://forge.test/g/s/r/-/raw/v1/SKILL.md"),
            ("https://forge.test/o/r/src/branch/main/a.zip", "https://forge.test/o/r/raw/branch/main/a.zip"),
            ("https://forge.test/o/r/src/main.md", "https://forge.test/o/r/src/main.md"),
            ("https://forge.test/blob/a/b.zip", "https://forge.test/blob/a/b.zip"),
        ] {
            assert_eq!(raw(Url::parse(page).expect("an address")).as_str(), file);
        }
    }
}
