//! The text of scripts: the arguments of `-e` and the files of `-f`, one after the other.

/// A part of the script, and where it comes from.
#[derive(Debug)]
pub(super) struct Chunk {
    pub(super) text: String,
    pub(super) origin: Origin,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Origin {
    /// The n-th `-e`, counted from one.
    Expression(usize),
    File(String),
}

/// Reads characters of one chunk after the other.
#[derive(Debug)]
pub(super) struct Source {
    chunks: Vec<(Vec<char>, Origin)>,
    chunk: usize,
    at: usize,
}

impl Source {
    pub(super) fn new(chunks: Vec<Chunk>) -> Self {
        let chunks = chunks.into_iter().map(|chunk| (chunk.text.chars().collect(), chunk.origin)).collect();
        Self { chunks, chunk: 0, at: 0 }
    }

    /// The next character of this chunk.
    pub(super) fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.chunks.get(self.chunk)?.0.get(self.at).copied()
    }

    /// The next character that is no blank; it is taken.
    pub(super) fn next_nonblank(&mut self) -> Option<char> {
        self.skip_blanks();
        self.next()
    }

    pub(super) fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(' ' | '\t')) {
            self.at += 1;
        }
    }

    /// What is left of this chunk.
    pub(super) fn rest(&self) -> &[char] {
        self.chunks.get(self.chunk).and_then(|(text, _)| text.get(self.at..)).unwrap_or_default()
    }

    pub(super) fn skip(&mut self, count: usize) {
        self.at += count;
    }

    /// The place in this chunk, to come back to.
    pub(super) fn place(&self) -> usize {
        self.at
    }

    pub(super) fn go_to(&mut self, place: usize) {
        self.at = place;
    }

    /// Takes back what was taken last.
    pub(super) fn back(&mut self) {
        self.at = self.at.saturating_sub(1);
    }

    /// Goes on to the next chunk, if there is one.
    pub(super) fn next_chunk(&mut self) -> bool {
        if self.chunk + 1 >= self.chunks.len() {
            return false;
        }
        self.chunk += 1;
        self.at = 0;
        true
    }

    /// Whether the script begins with the comment that is an option `-n`.
    pub(super) fn begins_with_quiet_mark(&self) -> bool {
        self.chunks.first().is_some_and(|(text, _)| text.starts_with(&['#', 'n']))
    }

    /// A complaint about the place that was reached, as GNU words it.
    pub(super) fn complaint(&self, message: &str) -> String {
        let Some((text, origin)) = self.chunks.get(self.chunk) else { return format!("sed: {message}") };
        let before = &text[..self.at.min(text.len())];
        match origin {
            Origin::Expression(number) => {
                let bytes: usize = before.iter().map(|c| c.len_utf8()).sum();
                format!("sed: -e expression #{number}, char {bytes}: {message}")
            }
            Origin::File(name) => {
                let line = before.iter().filter(|c| **c == '\n').count() + 1;
                format!("sed: file {name} line {line}: {message}")
            }
        }
    }
}
