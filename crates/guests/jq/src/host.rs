//! What a program reaches outside of its values: the inputs and the standard error output.

use crate::error::Stop;
use crate::input::Inputs;
use crate::value::Value;
use std::io::Write as _;

/// The outside of one run.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) inputs: Inputs,
}

impl Host {
    /// The next input.
    pub(crate) fn next_input(&mut self) -> Result<Option<Value>, Stop> {
        match self.inputs.next() {
            None => Ok(None),
            Some(Ok(value)) => Ok(Some(value)),
            Some(Err(message)) => Err(message.into()),
        }
    }

    pub(crate) fn file_name(&self) -> Option<String> {
        self.inputs.file_name()
    }

    pub(crate) fn line(&self) -> usize {
        self.inputs.line()
    }

    /// Writes to the standard error output, as far as that is possible.
    pub(crate) fn tell(&mut self, text: &str) {
        let _ = std::io::stderr().write_all(text.as_bytes());
    }
}
