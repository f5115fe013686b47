//! Options on the command line.

use crate::failure::{Failure, Outcome};

/// The arguments of a command, taken one by one.
#[derive(Debug)]
pub(crate) struct Arguments {
    rest: std::collections::VecDeque<String>,
    command: &'static str,
}

impl Iterator for Arguments {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        self.rest.pop_front()
    }
}

impl Arguments {
    pub(crate) fn new(command: &'static str, arguments: impl IntoIterator<Item = String>) -> Self {
        Self { rest: arguments.into_iter().collect(), command }
    }

    /// The value of an option: behind its `=`, or the next argument.
    pub(crate) fn value(&mut self, name: &str, given: Option<&str>) -> Outcome<String> {
        match given {
            Some(given) => Ok(given.to_owned()),
            None => self.next().ok_or_else(|| {
                Failure::Error(format!("option `{}' requires a value", name.trim_start_matches('-')), 129)
            }),
        }
    }

    /// Everything that is left.
    pub(crate) fn remaining(&mut self) -> Vec<String> {
        self.rest.drain(..).collect()
    }

    /// The refusal of an option.
    pub(crate) fn unknown(&self, option: &str) -> Failure {
        Failure::Unsupported(format!(
            "{}: {} is not supported",
            self.command,
            option.split('=').next().unwrap_or(option)
        ))
    }
}

/// Divides `--name=value`.
pub(crate) fn divide(argument: &str) -> (&str, Option<&str>) {
    match argument.split_once('=') {
        Some((name, value)) if name.starts_with("--") => (name, Some(value)),
        _ => (argument, None),
    }
}

/// A number, or git's words that it is none.
pub(crate) fn number<T: std::str::FromStr>(name: &str, value: &str) -> Outcome<T> {
    value.parse().map_err(|_| Failure::Fatal(format!("'{value}': not an integer for {name}")))
}
