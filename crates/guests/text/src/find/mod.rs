//! `find`, as GNU findutils 4.9 answers without a terminal: tests of names, kinds, sizes and times; `-print`, `-print0`,
//! `-printf`, `-prune`, `-quit`. What would run a program or change a file is refused by its name.

mod expression;
mod format;
mod parse;
mod walk;

use crate::output::Output;
use expression::Expression;

/// What the command line asks for.
#[derive(Debug)]
struct Request {
    roots: Vec<Vec<u8>>,
    settings: Settings,
    expression: Expression,
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
        Ok(request) => {
            let mut output = Output::new();
            let status = walk::search(&request, &mut output);
            output.flush();
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
