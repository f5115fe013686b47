//! Other systems: there is no sandbox, and the host is told so.

use crate::plan::Plan;
use crate::stage::{Stage, Unavailable};
use crate::start::{Event, Helper, Stream};
use std::fs::File;
use std::io;
use std::time::Duration;

const REASON: &str = "programs of the machine are confined on Linux only; the wasm commands work everywhere";

/// The helper's process, which there is none of.
#[derive(Debug, Default)]
pub(crate) struct Server;

/// A helper that was started, which there is none of.
#[derive(Debug)]
pub(crate) enum Started {}

impl Started {
    pub(crate) fn next(&mut self, _: Duration) -> io::Result<Event> {
        match *self {}
    }

    pub(crate) fn input(&mut self) -> Option<File> {
        match *self {}
    }

    pub(crate) fn output(&mut self, _: Stream) -> Option<File> {
        match *self {}
    }

    pub(crate) fn scratch(&mut self) -> Option<File> {
        match *self {}
    }

    pub(crate) fn close(&mut self, _: Stream) {
        match *self {}
    }

    pub(crate) fn kill(&mut self) {
        match *self {}
    }

    pub(crate) fn reap(&mut self) {
        match *self {}
    }
}

pub(crate) fn start(_: &Helper, _: &Plan, _: bool) -> Result<Started, Unavailable> {
    Err(Unavailable::new(Stage::Helper, REASON))
}

#[expect(clippy::exit, reason = "the helper's whole work is to end here")]
pub(crate) fn run_main() -> ! {
    std::process::exit(71)
}
