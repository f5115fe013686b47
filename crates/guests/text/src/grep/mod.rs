//! `grep`, `egrep` and `fgrep`, as GNU grep 3.8 answers in a UTF-8 locale.

mod input;
mod matcher;
mod print;
mod request;

use crate::output::Output;
use crate::posix::ExpressionError;

/// Status when lines were selected, when none were, and when something went wrong.
const SELECTED: i32 = 0;
const NOTHING: i32 = 1;
const TROUBLE: i32 = 2;

pub(crate) fn main(name: &str, arguments: Vec<Vec<u8>>) -> i32 {
    let request = match request::read(name, arguments) {
        Ok(request) => request,
        Err(request::Refusal::Usage(message)) => {
            if !message.is_empty() {
                eprintln!("{name}: {message}");
            }
            eprintln!("Usage: {name} [OPTION]... PATTERNS [FILE]...\nTry '{name} --help' for more information.");
            return TROUBLE;
        }
        Err(request::Refusal::Wrong(message)) => {
            eprintln!("{name}: {message}");
            return TROUBLE;
        }
        Err(request::Refusal::Unsupported(option)) => {
            eprintln!("skillgate: {name}: {option} is not supported");
            return TROUBLE;
        }
    };
    let matcher = match matcher::Matcher::new(&request.patterns, &request.matching) {
        Ok(matcher) => matcher,
        Err(ExpressionError::Wrong(message)) => {
            eprintln!("{name}: {message}");
            return TROUBLE;
        }
        Err(ExpressionError::Unsupported(what)) => {
            eprintln!("skillgate: {name}: {what} is not supported");
            return TROUBLE;
        }
    };
    let mut output = Output::new();
    let status = input::search(name, &request, &matcher, &mut output);
    output.flush();
    status
}
