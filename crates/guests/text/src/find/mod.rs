//! `find`, as GNU findutils 4.9 answers without a terminal. What writes a file is refused by its name; what deletes one is let by the
//! host or ends the run; what runs a command asks the host for it, which decides it as a command of its own.

mod exec;
mod expression;
mod format;
mod listing;
mod parse;
mod path_expression;
mod permissions;
mod time;
mod walk;

use crate::output::Output;
use exec::Batches;
use expression::{Effects, Expression};
use listing::Widths;

/// What the command line asks for.
#[derive(Debug)]
struct Request {
    roots: Vec<Vec<u8>>,
    settings: Settings,
    expression: Expression,
    batches: Batches,
}

/// Options that hold for the whole search.
#[derive(Clone, Debug)]
struct Settings {
    max_depth: usize,
    min_depth: usize,
    depth_first: bool,
    links: Links,
}

/// Which symbolic links are followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Links {
    /// `-P`.
    None,
    /// `-H`: those of the command line.
    Roots,
    /// `-L`.
    All,
}

pub(crate) fn main(_: &str, arguments: Vec<Vec<u8>>) -> i32 {
    match parse::parse(&arguments) {
        Ok(mut request) => {
            let batches = std::mem::take(&mut request.batches);
            let widths = Widths::default();
            let mut effects =
                Effects { output: Output::new(), batches, widths, prune: false, quit: false, failed: false };
            let status = walk::search(&request, &mut effects);
            effects.output.flush();
            status
        }
        Err(parse::Refusal::Wrong(message)) => {
            eprintln!("find: {message}");
            1
        }
        Err(parse::Refusal::Unsupported(name)) => {
            eprintln!("skillgate: find: {name} is not supported");
            2
        }
    }
}
