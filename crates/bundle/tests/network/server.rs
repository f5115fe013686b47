use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;

/// What the server says to a request.
pub(crate) struct Answer {
    head: String,
    body: Vec<u8>,
    endless: bool,
}

impl Answer {
    fn new(status: u16, headers: &str, body: &[u8]) -> Self {
        let head = format!("HTTP/1.1 {status} x\r\nConnection: close\r\n{headers}");
        Self { head, body: body.to_vec(), endless: false }
    }

    pub(crate) fn file(body: &[u8]) -> Self {
        let headers = format!("Content-Type: application/octet-stream\r\nContent-Length: {}\r\n", body.len());
        Self::new(200, &headers, body)
    }

    pub(crate) fn page() -> Self {
        Self::new(200, "Content-Type: text/html; charset=utf-8\r\nContent-Length: 2\r\n", b"<>")
    }

    pub(crate) fn status(status: u16) -> Self {
        Self::new(status, "Content-Length: 0\r\n", b"")
    }

    pub(crate) fn redirect(to: &str) -> Self {
        Self::new(302, &format!("Location: {to}\r\nContent-Length: 0\r\n"), b"")
    }

    /// A body without a length that goes on until the other side has enough.
    pub(crate) fn endless() -> Self {
        Self { endless: true, ..Self::new(200, "Content-Type: text/plain\r\n", b"") }
    }
}

/// A TLS server on this machine. It ends with the process: each connection is one request.
pub(crate) struct Server {
    at: SocketAddr,
}

impl Server {
    pub(crate) fn start(answer: impl Fn(&str) -> Answer + Send + 'static) -> Self {
        let chain = vec![CertificateDer::from_pem_slice(include_bytes!("server.pem")).expect("a certificate")];
        let key = PrivateKeyDer::from_pem_slice(include_bytes!("server.key")).expect("a key");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .expect("a certificate with its key");
        let config = Arc::new(config);
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let at = listener.local_addr().expect("an address");
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A client that does not like the certificate goes away in the middle.
                let _gone = serve(&config, stream, &answer);
            }
        });
        Self { at }
    }

    pub(crate) fn address(&self, path: &str) -> String {
        format!("https://{}{path}", self.at)
    }
}

fn serve(config: &Arc<ServerConfig>, stream: TcpStream, answer: &dyn Fn(&str) -> Answer) -> std::io::Result<()> {
    let connection = ServerConnection::new(Arc::clone(config)).map_err(std::io::Error::other)?;
    let mut reader = BufReader::new(StreamOwned::new(connection, stream));
    let mut request = String::new();
    reader.read_line(&mut request)?;
    let mut line = String::new();
    while reader.read_line(&mut line)? > 2 {
        line.clear();
    }
    let path = request.split(' ').nth(1).unwrap_or_default();
    let answer = answer(path);
    let stream = reader.get_mut();
    stream.write_all(format!("{}\r\n", answer.head).as_bytes())?;
    stream.write_all(&answer.body)?;
    if answer.endless {
        // Until whoever reads has had enough and closes.
        loop {
            stream.write_all(&[b'x'; 512])?;
        }
    }
    stream.conn.send_close_notify();
    stream.flush()
}
