//! `du`, as GNU coreutils 9.1 answers.

use crate::human::Unit;
use crate::quote::quoted;
use guest_command::glob;
use guest_command::options::{self, Argument, Spec, Takes};
use guest_command::output::{Output, path, reason};
use guest_files::{Kind, Status};
use std::collections::HashSet;

const OPTIONS: &[Spec] = &[
    Spec { short: Some(b'0'), long: "null", takes: Takes::Nothing },
    Spec { short: Some(b'a'), long: "all", takes: Takes::Nothing },
    Spec { short: None, long: "apparent-size", takes: Takes::Nothing },
    Spec { short: Some(b'B'), long: "block-size", takes: Takes::Value },
    Spec { short: Some(b'b'), long: "bytes", takes: Takes::Nothing },
    Spec { short: Some(b'c'), long: "total", takes: Takes::Nothing },
    Spec { short: Some(b'd'), long: "max-depth", takes: Takes::Value },
    Spec { short: None, long: "exclude", takes: Takes::Value },
    Spec { short: Some(b'h'), long: "human-readable", takes: Takes::Nothing },
    Spec { short: None, long: "inodes", takes: Takes::Nothing },
    Spec { short: Some(b'k'), long: "kibibytes", takes: Takes::Nothing },
    Spec { short: Some(b'L'), long: "dereference", takes: Takes::Nothing },
    Spec { short: Some(b'l'), long: "count-links", takes: Takes::Nothing },
    Spec { short: Some(b'm'), long: "mebibytes", takes: Takes::Nothing },
    Spec { short: Some(b'P'), long: "no-dereference", takes: Takes::Nothing },
    Spec { short: Some(b'S'), long: "separate-dirs", takes: Takes::Nothing },
    Spec { short: None, long: "si", takes: Takes::Nothing },
    Spec { short: Some(b's'), long: "summarize", takes: Takes::Nothing },
    Spec { short: Some(b'x'), long: "one-file-system", takes: Takes::Nothing },
    Spec { short: Some(b'D'), long: "dereference-args", takes: Takes::Nothing },
    Spec { short: Some(b't'), long: "threshold", takes: Takes::Value },
    Spec { short: Some(b'X'), long: "exclude-from", takes: Takes::Value },
    Spec { short: None, long: "files0-from", takes: Takes::Value },
    Spec { short: None, long: "time", takes: Takes::MaybeValue },
    Spec { short: None, long: "time-style", takes: Takes::Value },
];

/// Directories inside each other that are still walked.
const MAX_DEPTH: usize = 2048;

#[derive(Debug)]
struct Request {
    all: bool,
    apparent: bool,
    inodes: bool,
    unit: Unit,
    total: bool,
    depth: usize,
    excluded: Vec<Vec<u8>>,
    follow: bool,
    follow_operands: bool,
    count_links: bool,
    separate: bool,
    end: u8,
}

pub(crate) fn main(_: &str, arguments: Vec<Vec<u8>>) -> i32 {
    match parse(arguments) {
        Ok((request, operands)) => Usage::new(&request, operands.len() > 1).run(&operands),
        Err((message, status)) => {
            eprintln!("{message}");
            status
        }
    }
}

fn parse(arguments: Vec<Vec<u8>>) -> Result<(Request, Vec<Vec<u8>>), (String, i32)> {
    let wrong = |message: String| (format!("du: {message}\nTry 'du --help' for more information."), 1);
    let mut request = Request {
        all: false,
        apparent: false,
        inodes: false,
        unit: Unit::Block(1024, String::new()),
        total: false,
        depth: usize::MAX,
        excluded: Vec::new(),
        follow: false,
        follow_operands: false,
        count_links: false,
        separate: false,
        end: b'\n',
    };
    let (mut summarize, mut operands, mut depth) = (false, Vec::new(), None);
    for argument in options::read(arguments, OPTIONS, false).map_err(wrong)? {
        match argument {
            Argument::Operand(operand) => operands.push(operand),
            Argument::Digit(_) => {}
            Argument::Option("null", _) => request.end = 0,
            Argument::Option("all", _) => request.all = true,
            Argument::Option("apparent-size", _) => request.apparent = true,
            Argument::Option("bytes", _) => {
                (request.apparent, request.unit) = (true, Unit::Block(1, String::new()));
            }
            Argument::Option("block-size", Some(value)) => {
                let unit = Unit::parse(&String::from_utf8_lossy(&value));
                request.unit = unit.ok_or_else(|| (format!("du: invalid -B argument {}", quoted(&value)), 1))?;
            }
            Argument::Option("human-readable", _) => request.unit = Unit::Binary,
            Argument::Option("si", _) => request.unit = Unit::Decimal,
            Argument::Option("kibibytes", _) => request.unit = Unit::Block(1024, String::new()),
            Argument::Option("mebibytes", _) => request.unit = Unit::Block(1 << 20, String::new()),
            Argument::Option("inodes", _) => request.inodes = true,
            Argument::Option("total", _) => request.total = true,
            Argument::Option("summarize", _) => summarize = true,
            Argument::Option("separate-dirs", _) => request.separate = true,
            Argument::Option("count-links", _) => request.count_links = true,
            Argument::Option("dereference", _) => request.follow = true,
            Argument::Option("no-dereference", _) => (request.follow, request.follow_operands) = (false, false),
            Argument::Option("dereference-args", _) => request.follow_operands = true,
            // The sandbox shows one file system.
            Argument::Option("one-file-system", _) => {}
            Argument::Option("exclude", Some(value)) => request.excluded.push(value),
            Argument::Option("max-depth", Some(value)) => {
                let level = std::str::from_utf8(&value).ok().and_then(|text| text.parse().ok());
                depth =
                    Some(level.ok_or_else(|| {
                        wrong(format!("invalid maximum depth ‘{}’", String::from_utf8_lossy(&value)))
                    })?);
            }
            Argument::Option(name, _) => return Err((format!("skillgate: du: --{name} is not supported"), 2)),
        }
    }
    if summarize && request.all {
        return Err(wrong("cannot both summarize and show all entries".to_owned()));
    }
    match (summarize, depth) {
        (true, Some(0)) => eprintln!("du: warning: summarizing is the same as using --max-depth=0"),
        (true, Some(depth)) => return Err(wrong(format!("warning: summarizing conflicts with --max-depth={depth}"))),
        _ => {}
    }
    request.depth = if summarize { 0 } else { depth.unwrap_or(usize::MAX) };
    if operands.is_empty() {
        operands.push(b".".to_vec());
    }
    Ok((request, operands))
}

struct Usage<'r> {
    request: &'r Request,
    output: Output,
    /// Files that were counted, by device and inode.
    seen: HashSet<(u64, u64)>,
    /// Whether every file may come up twice, not only those with several names.
    remember_all: bool,
    total: u64,
    status: i32,
}

impl<'r> Usage<'r> {
    fn new(request: &'r Request, several: bool) -> Self {
        let remember_all = several || request.follow;
        Self { request, output: Output::new(), seen: HashSet::new(), remember_all, total: 0, status: 0 }
    }

    fn run(mut self, operands: &[Vec<u8>]) -> i32 {
        for operand in operands {
            let follow = self.request.follow || self.request.follow_operands;
            match guest_files::status(&path(operand), follow) {
                Ok(status) => {
                    let (whole, _) = self.count(operand, &status, 0);
                    self.total += whole;
                }
                Err(error) => self.complain("cannot access", operand, &error),
            }
        }
        if self.request.total {
            let total = self.total;
            self.put(total, b"total");
        }
        self.output.flush();
        self.status
    }

    fn complain(&mut self, what: &str, name: &[u8], error: &std::io::Error) {
        self.output.flush();
        eprintln!("du: {what} {}: {}", quoted(name), reason(error));
        self.status = 1;
    }

    fn put(&mut self, amount: u64, name: &[u8]) {
        let shown = if self.request.inodes {
            match &self.request.unit {
                unit @ (Unit::Binary | Unit::Decimal) => unit.shown(amount),
                Unit::Block(..) => amount.to_string(),
            }
        } else {
            self.request.unit.shown(amount)
        };
        self.output.put(shown.as_bytes());
        self.output.put(b"\t");
        self.output.put(name);
        self.output.put(&[self.request.end]);
    }

    /// Counts a file and what is below it: the whole, and without the directories below.
    fn count(&mut self, name: &[u8], status: &Status, depth: usize) -> (u64, u64) {
        let excluded = |pattern: &Vec<u8>| excludes(pattern, name);
        if self.request.excluded.iter().any(excluded) {
            return (0, 0);
        }
        let is_directory = status.kind() == Kind::Directory;
        let repeats = self.remember_all || (!is_directory && status.links > 1);
        if !self.request.count_links && repeats && !self.seen.insert((status.device, status.inode)) {
            return (0, 0);
        }
        let own = if self.request.inodes {
            1
        } else if self.request.apparent {
            status.size
        } else {
            status.blocks * 512
        };
        if !is_directory {
            if depth == 0 || (self.request.all && depth <= self.request.depth) {
                self.put(own, name);
            }
            return (own, own);
        }
        let (below, files) = self.below(name, depth);
        let (whole, alone) = (own + below, own + files);
        if depth <= self.request.depth {
            self.put(if self.request.separate { alone } else { whole }, name);
        }
        (whole, 0)
    }

    fn below(&mut self, directory: &[u8], depth: usize) -> (u64, u64) {
        if depth >= MAX_DEPTH {
            self.complain("cannot read directory", directory, &std::io::Error::other("File name too long"));
            return (0, 0);
        }
        let entries = match guest_files::list(&path(directory)) {
            Ok(entries) => entries,
            Err(error) => {
                self.complain("cannot read directory", directory, &error);
                return (0, 0);
            }
        };
        let (mut whole, mut files) = (0, 0);
        for (name, own) in entries {
            let slash: &[u8] = if directory.ends_with(b"/") { b"" } else { b"/" };
            let child = [directory, slash, name.as_slice()].concat();
            let status = if self.request.follow && own.kind() == Kind::Link {
                match guest_files::status(&path(&child), true) {
                    Ok(status) => status,
                    Err(error) => {
                        self.complain("cannot access", &child, &error);
                        continue;
                    }
                }
            } else {
                own
            };
            let (all, alone) = self.count(&child, &status, depth + 1);
            whole += all;
            files += alone;
        }
        (whole, files)
    }
}

/// Whether a pattern is that of the name or of one of its ends.
fn excludes(pattern: &[u8], name: &[u8]) -> bool {
    let name = name.strip_suffix(b"/").unwrap_or(name);
    let ends = name.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| &name[at + 1..]);
    std::iter::once(name).chain(ends).any(|end| glob::matches(pattern, end, false))
}
