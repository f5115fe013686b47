//! Answers that the thread which made them writes itself.
//!
//! An answer goes through the queue of its connection to the task that writes. A call that ran commands ends on a thread that left
//! the runtime for it, so that another thread has to wake up for the answer: a quarter of what a short call takes. A pipe takes up
//! to `PIPE_BUF` bytes whole or not at all, so that such an answer can be written at once, between two messages of that task. One
//! that cannot goes the usual way.

use rmcp::ErrorData;
use rmcp::model::{ClientRequest, JsonRpcMessage, RequestId, ServerResult};
use rmcp::service::{
    NotificationContext, RequestContext, RoleServer, RxJsonRpcMessage, Service, ServiceRole, TxJsonRpcMessage,
};
use rmcp::transport::Transport;
use rustix::fs::{FileType, Mode, OFlags};
use std::collections::HashSet;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use tokio::io::AsyncWrite;
use tokio::net::unix::pipe;

/// What a pipe takes whole or not at all; POSIX allows less elsewhere, and Linux has this.
const PIPE_BUF: usize = 4096;

/// The most answers that are written and did not come through the queue yet. One that never does, because its request was taken
/// back meanwhile, keeps its place until the client uses its number again.
const MOST_WRITTEN: usize = 1024;

/// The pipe to a client, for those who write a whole answer beside the task that writes everything else.
#[derive(Debug)]
pub(super) struct Direct {
    pipe: OwnedFd,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Whether a message is begun and not yet ended.
    in_message: bool,
    /// Whether the pipe is given up.
    is_closed: bool,
    /// The requests whose answer is written.
    written: HashSet<RequestId>,
}

/// This process's standard streams when both are pipes, with the second way to write.
pub(super) fn standard_pipes() -> Option<(pipe::Receiver, Writer<pipe::Sender>, Arc<Direct>)> {
    let input = reopened("/proc/self/fd/0", OFlags::RDONLY)?;
    let output = reopened("/proc/self/fd/1", OFlags::WRONLY)?;
    let direct = Arc::new(Direct::new(output.try_clone().ok()?));
    let input = pipe::Receiver::from_owned_fd(input).ok()?;
    let output = pipe::Sender::from_owned_fd(output).ok()?;
    Some((input, Writer { inner: output, direct: Arc::clone(&direct) }, direct))
}

/// The pipe behind a descriptor, opened once more, so that no other process sees that its calls do not wait.
fn reopened(path: &str, access: OFlags) -> Option<OwnedFd> {
    let file = rustix::fs::open(path, access | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let metadata = rustix::fs::fstat(&file).ok()?;
    (FileType::from_raw_mode(metadata.st_mode) == FileType::Fifo).then_some(file)
}

impl Direct {
    fn new(pipe: OwnedFd) -> Self {
        Self { pipe, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes an answer now, when it can be written whole.
    fn write(&self, id: &RequestId, message: &TxJsonRpcMessage<RoleServer>) {
        let Ok(mut line) = serde_json::to_vec(message) else { return };
        line.push(b'\n');
        let mut state = self.state();
        if line.len() > PIPE_BUF || state.in_message || state.is_closed || state.written.len() >= MOST_WRITTEN {
            return;
        }
        // Whoever gets less than the whole, which no pipe gives, has begun a message that the other side cannot read.
        match rustix::io::write(self.pipe.as_fd(), &line) {
            Ok(count) if count == line.len() => {
                state.written.insert(id.clone());
            }
            Ok(_) => state.is_closed = true,
            Err(_) => {}
        }
    }
}

/// The other way to the same pipe. It notes where messages end.
#[derive(Debug)]
pub(super) struct Writer<W> {
    inner: W,
    direct: Arc<Direct>,
}

impl<W: AsyncWrite + Unpin> AsyncWrite for Writer<W> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        let mut state = this.direct.state();
        if state.is_closed {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let written = Pin::new(&mut this.inner).poll_write(cx, bytes);
        if let Poll::Ready(Ok(count)) = written
            && let Some(last) = bytes.get(..count).and_then(<[u8]>::last)
        {
            state.in_message = *last != b'\n';
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.direct.state().is_closed = true;
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

/// A service whose answers to calls are written at once where that is possible.
#[derive(Debug)]
pub(super) struct AtOnce<S> {
    pub(super) service: S,
    pub(super) direct: Arc<Direct>,
}

impl<S: Service<RoleServer>> Service<RoleServer> for AtOnce<S> {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        // The protocol's own requests change the connection with their answer, and long lists do not fit anyway.
        if !matches!(request, ClientRequest::CallToolRequest(_)) {
            return self.service.handle_request(request, context).await;
        }
        let (id, taken_back) = (context.id.clone(), context.ct.clone());
        let result = self.service.handle_request(request, context).await;
        if taken_back.is_cancelled() {
            return result;
        }
        let message = match result {
            Ok(result) => JsonRpcMessage::response(result, id.clone()),
            Err(error) => JsonRpcMessage::error(error, Some(id.clone())),
        };
        self.direct.write(&id, &message);
        match message {
            JsonRpcMessage::Response(response) => Ok(response.result),
            JsonRpcMessage::Error(error) => Err(error.error),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => {
                Err(ErrorData::internal_error("the answer is none", None))
            }
        }
    }

    async fn handle_notification(
        &self,
        notification: <RoleServer as ServiceRole>::PeerNot,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.service.handle_notification(notification, context).await
    }

    fn get_info(&self) -> <RoleServer as ServiceRole>::Info {
        self.service.get_info()
    }

    fn supported_protocol_versions(&self) -> std::borrow::Cow<'static, [rmcp::model::ProtocolVersion]> {
        self.service.supported_protocol_versions()
    }
}

/// A transport that passes over answers that are written already.
#[derive(Debug)]
pub(super) struct Passing<T> {
    pub(super) transport: T,
    pub(super) direct: Arc<Direct>,
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Passing<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let answered = match &message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        let is_written = answered.is_some_and(|id| self.direct.state().written.remove(id));
        let sends = (!is_written).then(|| self.transport.send(message));
        async move {
            match sends {
                Some(sends) => sends.await,
                None => Ok(()),
            }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let message = self.transport.receive().await;
        if let Some(JsonRpcMessage::Request(request)) = &message {
            // A number that is used again stands for another request.
            self.direct.state().written.remove(&request.id);
        }
        message
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.direct.state().is_closed = true;
        self.transport.close().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::{CallToolResult, ContentBlock};
    use rustix::pipe::{PipeFlags, pipe_with};
    use std::io::Read as _;
    use tokio::io::AsyncWriteExt as _;

    struct Ends {
        client: std::fs::File,
        direct: Arc<Direct>,
    }

    fn ends() -> Ends {
        let (client, server) = pipe_with(PipeFlags::NONBLOCK | PipeFlags::CLOEXEC).expect("a pipe");
        Ends { client: client.into(), direct: Arc::new(Direct::new(server)) }
    }

    impl Ends {
        fn read(&mut self) -> String {
            let mut bytes = vec![0; 65_536];
            let count = self.client.read(&mut bytes).unwrap_or(0);
            String::from_utf8_lossy(&bytes[..count]).into_owned()
        }
    }

    fn answer(id: i64, text: &str) -> TxJsonRpcMessage<RoleServer> {
        let result = CallToolResult::success(vec![ContentBlock::text(text)]);
        JsonRpcMessage::response(ServerResult::CallToolResult(result), RequestId::Number(id))
    }

    /// A transport that counts what it sends.
    #[derive(Default)]
    struct Counting(Arc<Mutex<usize>>);

    impl Transport<RoleServer> for Counting {
        type Error = io::Error;

        fn send(
            &mut self,
            _message: TxJsonRpcMessage<RoleServer>,
        ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) += 1;
            async { Ok(()) }
        }

        async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
            let ping = r#"{"jsonrpc": "2.0", "id": 1, "method": "ping"}"#;
            serde_json::from_str(ping).ok()
        }

        async fn close(&mut self) -> Result<(), io::Error> {
            Ok(())
        }
    }

    #[tokio::test]
    async fn an_answer_that_is_written_is_not_sent_again() {
        let mut ends = ends();
        let sent = Arc::new(Mutex::new(0));
        let mut passing = Passing { transport: Counting(Arc::clone(&sent)), direct: Arc::clone(&ends.direct) };
        ends.direct.write(&RequestId::Number(1), &answer(1, "once"));
        assert!(ends.read().ends_with("}\n"));
        passing.send(answer(1, "once")).await.expect("it is passed over");
        assert_eq!(*sent.lock().expect("a number"), 0);
        passing.send(answer(1, "twice")).await.expect("it is sent");
        assert_eq!(*sent.lock().expect("a number"), 1);
        // The request was taken back, so its answer never came; the client uses its number again.
        ends.direct.write(&RequestId::Number(1), &answer(1, "taken back"));
        assert!(passing.receive().await.is_some());
        passing.send(answer(1, "another request")).await.expect("it is sent");
        assert_eq!(*sent.lock().expect("a number"), 2);
        passing.close().await.expect("it closes");
        let _before = ends.read();
        ends.direct.write(&RequestId::Number(2), &answer(2, "late"));
        assert_eq!(ends.read(), "");
    }

    #[tokio::test]
    async fn nothing_is_written_into_a_message_or_in_parts() {
        let mut ends = ends();
        let mut writer = Writer { inner: tokio::io::sink(), direct: Arc::clone(&ends.direct) };
        writer.write_all(b"{\"begun\":").await.expect("a sink takes all");
        ends.direct.write(&RequestId::Number(1), &answer(1, "inside"));
        assert_eq!(ends.read(), "");
        writer.write_all(b"1}\n").await.expect("a sink takes all");
        ends.direct.write(&RequestId::Number(1), &answer(1, "between"));
        assert!(ends.read().contains("between"));
        ends.direct.write(&RequestId::Number(2), &answer(2, &"x".repeat(PIPE_BUF)));
        assert_eq!(ends.read(), "");
        // A client that reads nothing: what fits no more is left to the other way, whole.
        let mut id = 3;
        while ends.direct.state().written.contains(&RequestId::Number(id - 1)) || id == 3 {
            ends.direct.write(&RequestId::Number(id), &answer(id, &"y".repeat(2_000)));
            id += 1;
        }
        let read = ends.read();
        assert!(read.ends_with("}\n") && read.lines().count() > 10);
        assert!(read.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()));
    }
}
