//! A file of which pieces are read as they are needed, and kept for a while.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The size of a piece.
const PIECE: u64 = 1 << 16;
/// Pieces of one file that are kept.
const KEPT_PIECES: usize = 128;

/// A file in pieces.
#[derive(Debug)]
pub(super) struct Window {
    path: PathBuf,
    state: RefCell<State>,
}

#[derive(Debug, Default)]
struct State {
    file: Option<File>,
    pieces: HashMap<u64, Rc<[u8]>>,
}

impl Window {
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), state: RefCell::default() }
    }

    /// The rest of the piece that holds this offset: the piece and where the offset is in it. Empty behind the end.
    pub(super) fn piece(&self, offset: u64) -> io::Result<(Rc<[u8]>, usize)> {
        let number = offset / PIECE;
        let at = usize::try_from(offset % PIECE).map_err(io::Error::other)?;
        let mut state = self.state.borrow_mut();
        if let Some(piece) = state.pieces.get(&number) {
            return Ok((Rc::clone(piece), at.min(piece.len())));
        }
        if state.file.is_none() {
            state.file = Some(File::open(&self.path)?);
        }
        let Some(file) = state.file.as_mut() else { return Err(io::ErrorKind::NotFound.into()) };
        file.seek(SeekFrom::Start(number * PIECE))?;
        let mut piece = Vec::new();
        file.take(PIECE).read_to_end(&mut piece)?;
        let piece: Rc<[u8]> = piece.into();
        if state.pieces.len() >= KEPT_PIECES {
            state.pieces.clear();
        }
        state.pieces.insert(number, Rc::clone(&piece));
        let at = at.min(piece.len());
        Ok((piece, at))
    }

    /// Exactly these bytes.
    pub(super) fn read(&self, mut offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut out = Vec::with_capacity(length.min(1 << 20));
        while out.len() < length {
            let (piece, at) = self.piece(offset)?;
            let part = &piece[at..];
            if part.is_empty() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let part = &part[..part.len().min(length - out.len())];
            out.extend_from_slice(part);
            offset += part.len() as u64;
        }
        Ok(out)
    }
}
