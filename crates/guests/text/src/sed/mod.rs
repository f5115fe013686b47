//! `sed`, as GNU sed 4.9 answers in a UTF-8 locale. What would run a program is refused by its name.

mod arguments;
mod escape;
mod input;
mod parse;
mod replace;
mod request;
mod run;
mod script;
mod select;
mod show;
mod sink;
mod source;

/// The statuses of GNU's sed, and the one with which this one refuses.
const STATUS_USAGE: i32 = 1;
const STATUS_MISSING: i32 = 2;
const STATUS_PANIC: i32 = 4;
const STATUS_UNSUPPORTED: i32 = 2;

pub(crate) fn main(_: &str, arguments: Vec<Vec<u8>>) -> i32 {
    let (request, script) = match request::read(arguments) {
        Ok(read) => read,
        Err(request::Refusal::Usage(message)) => {
            if !message.is_empty() {
                eprintln!("sed: {message}");
            }
            eprintln!("Usage: sed [OPTION]... {{script-only-if-no-other-script}} [input-file]...");
            return STATUS_USAGE;
        }
        Err(request::Refusal::Wrong(message, status)) => {
            eprintln!("{message}");
            return status;
        }
        Err(request::Refusal::Unsupported(what)) => return unsupported(&what),
        Err(request::Refusal::Version) => {
            println!("sed (GNU sed) 4.9\nThis is Skillgate's own, which answers as that one does.");
            return 0;
        }
    };
    let settings =
        parse::Settings { extended: request.extended, null_data: request.null_data, sandbox: request.sandbox };
    let script = match parse::parse(script, settings) {
        Ok(script) => script,
        Err(parse::Refusal::Wrong(message, status)) => {
            eprintln!("{message}");
            return status;
        }
        Err(parse::Refusal::Unsupported(what)) => return unsupported(&what),
    };
    match run::run(&script, &request) {
        Ok(status) => status,
        Err(run::Fault::Wrong(message, status)) => {
            eprintln!("{message}");
            status
        }
        Err(run::Fault::TooComplex) => unsupported("a pattern that takes so many steps on a line"),
    }
}

fn unsupported(what: &str) -> i32 {
    eprintln!("skillgate: sed: {what} is not supported");
    STATUS_UNSUPPORTED
}
