//! Files over TLS, from a server of the test's own on this machine. Its certificate is made for these tests alone, and no system
//! trusts who signed it.
#![cfg(feature = "network")]

mod server;

use server::{Answer, Server};
use skillgate_bundle::{
    Consent, FetchError, FetchLimits, Fetched, ImportOptions, Pack, PackFile, PackInfo, PackSource, PackStore,
    SecretKey, fetch, import_bytes,
};

const AUTHORITY: &str = include_str!("ca.pem");

fn limits() -> FetchLimits {
    FetchLimits { bytes: 2_000, redirects: 3, roots: vec![AUTHORITY.to_owned()], ..FetchLimits::default() }
}

/// What comes from a server that answers by path.
fn fetched(
    path: &str,
    limits: &FetchLimits,
    answer: impl Fn(&str) -> Answer + Send + 'static,
) -> Result<Fetched, FetchError> {
    let server = Server::start(answer);
    fetch(&server.address(path), limits)
}

#[test]
fn a_file_comes_with_its_name() {
    let got = fetched("/a/team.zip", &limits(), |_| Answer::file(b"bytes")).expect("it comes");
    assert_eq!(got, Fetched { name: "team.zip".to_owned(), bytes: b"bytes".to_vec() });
}

/// From the server to the store: what came is what was published, whatever the address is called, and one flipped byte is refused.
#[cfg(unix)]
#[test]
fn what_comes_is_installed_as_what_was_published_and_nothing_else_is() {
    let key = SecretKey::generate().expect("a key");
    let files = vec![PackFile::new("greet/SKILL.md", "Say hello.\n"), PackFile::new("greet/names.txt", "Ada\n")];
    let mut pack = Pack::build(PackInfo::new("team", "1.0.0").expect("a name"), files).expect("a pack");
    pack.sign(key.sign(pack.digest()));
    let whole = pack.to_bytes();
    let mut flipped = whole.clone();
    let last = flipped.len() - 2;
    flipped[last] ^= 1;
    let server = Server::start(move |path| match path {
        "/download?name=team" => Answer::file(&whole),
        _ => Answer::file(&flipped),
    });
    let tree = tempfile::tempdir().expect("a directory");
    let store = PackStore::open_ambient(tree.path().join("packs")).expect("a store");
    let import = |path: &str| {
        let got = fetch(&server.address(path), &limits()).expect("it comes");
        import_bytes(&got.name, &got.bytes, &ImportOptions::default())
    };
    let error = import("/team.skillpack").expect_err("one byte is another").to_string();
    assert!(error.contains("`greet/names.txt`"), "{error}");
    let imported = import("/download?name=team").expect("it is the pack");
    let location = server.address("/download?name=team");
    let source = PackSource { kind: "https-pack".to_owned(), location, digest: imported.digest, commit: None };
    store.install(&imported.pack, source, Consent::default()).expect("it is signed");
    let installed = store.get("team").expect("it is there");
    assert_eq!((installed.pack.expect("it holds"), installed.locked.keys), (pack, vec![key.public()]));
}

#[test]
fn a_server_that_nobody_vouches_for_is_refused() {
    let strangers = FetchLimits { roots: Vec::new(), ..limits() };
    let error = fetched("/a", &strangers, |_| Answer::file(b"bytes")).expect_err("it is refused");
    assert!(matches!(&error, FetchError::Transport { reason, .. } if reason.contains("certificate")), "{error}");
}

#[test]
fn a_page_of_a_forge_is_asked_for_as_the_file() {
    let got = fetched("/o/r/blob/main/SKILL.md", &limits(), |path| match path {
        "/o/r/raw/main/SKILL.md" => Answer::file(b"text"),
        _ => Answer::page(),
    });
    assert_eq!(got.expect("it comes").bytes, b"text");
    let error = fetched("/o/r", &limits(), |_| Answer::page()).expect_err("a page");
    assert!(matches!(error, FetchError::Page { .. }), "{error}");
}

#[test]
fn a_download_ends_at_the_limit_whatever_its_length_is_said_to_be() {
    let honest = fetched("/a", &limits(), |_| Answer::file(&[b'x'; 4_000])).expect_err("too large");
    assert!(matches!(honest, FetchError::TooLarge { limit: 2_000, .. }), "{honest}");
    let silent = fetched("/a", &limits(), |_| Answer::endless()).expect_err("too large");
    assert!(matches!(silent, FetchError::TooLarge { limit: 2_000, .. }), "{silent}");
}

#[test]
fn redirects_are_followed_a_few_times_and_never_to_an_open_connection() {
    let steps = |last: u8| {
        move |path: &str| match path.trim_start_matches('/').parse::<u8>() {
            Ok(step) if step < last => Answer::redirect(&format!("/{}", step + 1)),
            _ => Answer::file(b"bytes"),
        }
    };
    assert_eq!(fetched("/0", &limits(), steps(3)).expect("it comes").bytes, b"bytes");
    let error = fetched("/0", &limits(), steps(9)).expect_err("too often");
    assert!(matches!(error, FetchError::Transport { .. }), "{error}");
    let error = fetched("/0", &limits(), |_| Answer::redirect("http://127.0.0.1:9/x")).expect_err("an open connection");
    assert!(matches!(&error, FetchError::Transport { reason, .. } if reason.contains("scheme")), "{error}");
}

#[test]
fn what_is_not_there_is_said() {
    let error = fetched("/a", &limits(), |_| Answer::status(404)).expect_err("not there");
    assert!(matches!(error, FetchError::Status { status: 404, .. }), "{error}");
    for (address, words) in [
        ("http://127.0.0.1/x", "not encrypted"),
        ("ftp://x/y", "not encrypted"),
        ("https://", "empty host"),
        ("x", "relative URL"),
    ] {
        let error = fetch(address, &limits()).expect_err(address);
        assert!(matches!(&error, FetchError::Address { reason, .. } if reason.contains(words)), "{address}: {error}");
        assert!(error.help().is_some());
    }
    for (reference, words) in [
        ("team:1", "no registry"),
        ("a/b:1", "no registry"),
        ("registry.test/A:1", "invalid reference format"),
        ("registry.test/a:not a tag", "invalid reference format"),
        ("registry.test/a@sha256:12", "invalid"),
    ] {
        let error = skillgate_bundle::pull(reference, &limits()).expect_err(reference);
        assert!(
            matches!(&error, FetchError::Reference { reason, .. } if reason.contains(words)),
            "{reference}: {error}"
        );
        assert!(error.help().is_some());
    }
}
