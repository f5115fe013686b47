//! `skillgate log verify FILE`

use crate::args::{Format, Global, LogVerb, LogVerifyVerb};
use crate::exit::{Failure, Status};
use crate::output::LogVerifyOutput;
use crate::text;
use skillgate_runtime::verify_log;
use std::fmt::Write as _;
use std::io::{self, BufReader};

pub(crate) fn run(global: &Global, verb: &LogVerb) -> Result<Status, Failure> {
    match verb {
        LogVerb::Verify(verb) => verify(global, verb),
    }
}

fn verify(global: &Global, verb: &LogVerifyVerb) -> Result<Status, Failure> {
    let path = verb.file.display();
    #[expect(clippy::disallowed_methods, reason = "a file that the user named on the command line")]
    let file = std::fs::File::open(&verb.file).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Failure::NoSuchPath(path.to_string()),
        _ => Failure::Io { doing: format!("opening `{path}`"), error },
    })?;
    let verdict = verify_log(&mut BufReader::new(file), verb.expect, &mut |_| {})
        .map_err(|error| Failure::Io { doing: format!("reading `{path}`"), error })?;
    let output = LogVerifyOutput::new(&verb.file, &verdict, verb.expect.is_some());
    if global.format == Format::Json {
        text::json(&output)?;
    } else {
        text::human(&explain(&output));
    }
    Ok(if output.holds { Status::Done } else { Status::Findings })
}

fn explain(output: &LogVerifyOutput) -> String {
    let mut out = String::new();
    for cut in &output.cut {
        let _infallible = writeln!(
            out,
            "line {}: its writer was stopped in the middle of it ({} bytes are there); the next line says so",
            cut.line, cut.bytes
        );
    }
    match &output.fault {
        Some(fault) => {
            let _infallible = writeln!(out, "line {}: {} [{}]", fault.line, text::shown(&fault.message), fault.code);
            let _infallible = writeln!(
                out,
                "{} before it hold",
                text::counted(output.lines.try_into().unwrap_or(usize::MAX), "line")
            );
        }
        None => {
            let _infallible = writeln!(
                out,
                "{}, each follows from the one before it",
                text::counted(output.lines.try_into().unwrap_or(usize::MAX), "line")
            );
        }
    }
    if let Some(head) = &output.head {
        let _infallible = writeln!(out, "head {head}");
    }
    if output.holds && !output.expected {
        out.push_str(
            "A chain cannot show that lines are missing at its end, or that all of it was written anew: keep the head \
             elsewhere, and give it with --expect.\n",
        );
    }
    out
}
