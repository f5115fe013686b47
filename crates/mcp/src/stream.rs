use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, ReadBuf};

/// Ends a stream at the first line that is longer than a message may be. The transport alone would pass over such a line, and
/// whoever waits for it would wait for its whole time.
#[derive(Debug)]
pub(crate) struct LineBound<R> {
    inner: R,
    bound: usize,
    line: usize,
    oversized: Arc<AtomicBool>,
}

impl<R> LineBound<R> {
    pub(crate) fn new(inner: R, bound: usize) -> Self {
        Self { inner, bound, line: 0, oversized: Arc::new(AtomicBool::new(false)) }
    }

    /// Whether a line was too long, also after the stream is given away.
    pub(crate) fn oversized(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.oversized)
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for LineBound<R> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<std::io::Result<()>> {
        if self.oversized.load(Ordering::Relaxed) {
            return Poll::Ready(Ok(()));
        }
        let before = buf.filled().len();
        let read = Pin::new(&mut self.inner).poll_read(cx, buf);
        let new = buf.filled().get(before..).unwrap_or_default();
        let mut line = self.line;
        let mut longest = 0;
        for part in new.split_inclusive(|byte| *byte == b'\n') {
            line += part.len();
            longest = longest.max(line);
            if part.ends_with(b"\n") {
                line = 0;
            }
        }
        self.line = line;
        if longest > self.bound {
            self.oversized.store(true, Ordering::Relaxed);
            buf.set_filled(before);
        }
        read
    }
}
