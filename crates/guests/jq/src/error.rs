//! How a run can stop.

use crate::value::Value;

/// What a program raises.
#[derive(Clone, Debug)]
pub(crate) enum Stop {
    /// An error with its value.
    Error(Value),
    /// `halt` and `halt_error`: nothing more is done, and the status is this.
    Halt(i32),
    /// jq does it, and this one does not.
    Unsupported(String),
}

impl From<String> for Stop {
    fn from(message: String) -> Self {
        Self::Error(Value::from(message))
    }
}

impl From<&str> for Stop {
    fn from(message: &str) -> Self {
        Self::Error(Value::from(message))
    }
}

/// A value or what stopped it.
pub(crate) type Valued = Result<Value, Stop>;
