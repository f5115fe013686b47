//! Searching, and what is printed of it.

use crate::request::{self, Binary, Case, Output, Refusal, Request};
use crate::walk;
use grep_printer::{Standard, StandardBuilder, Summary, SummaryBuilder, SummaryKind};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, MmapChoice, Searcher, SearcherBuilder};
use guest_command::output::{self, path};
use std::io::{self, BufRead as _, Read as _, Write};
use std::path::Path;
use termcolor::NoColor;

const FOUND: i32 = 0;
const NOTHING: i32 = 1;
const TROUBLE: i32 = 2;
/// What standard input is called.
const STDIN: &str = "<stdin>";

pub(crate) fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let request = match request::read(arguments) {
        Ok(request) => request,
        Err(Refusal::Wrong(message)) => {
            eprintln!("error: {message}");
            return TROUBLE;
        }
        Err(Refusal::Unsupported(what)) => {
            eprintln!("skillgate: rg: {what} is not supported");
            return TROUBLE;
        }
    };
    let mut out = Out(output::Output::new());
    let ended = match request.output {
        Output::Types => {
            out.0.put(walk::type_list().as_bytes());
            Ok(FOUND)
        }
        Output::Files => files(&request, &mut out),
        _ => search(&request, &mut out),
    };
    out.0.flush();
    ended.unwrap_or_else(|message| {
        eprintln!("{message}");
        TROUBLE
    })
}

/// Standard output as ripgrep's printers want it. A reader that went away has ended the command before an error is seen.
#[derive(Debug)]
struct Out(output::Output);

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.put(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush();
        Ok(())
    }
}

/// Prints the files that would be searched.
fn files(request: &Request, out: &mut Out) -> Result<i32, String> {
    let mut status = NOTHING;
    let mut trouble = Trouble { quiet: request.no_messages, any: false };
    for entry in walk::walk(request).map_err(|error| error.to_string())? {
        match entry {
            Ok(entry) => {
                entry.error().into_iter().for_each(|error| trouble.ignored(error));
                if entry.file_type().is_some_and(|kind| kind.is_file()) || (entry.depth() == 0 && !is_directory(&entry))
                {
                    status = FOUND;
                    out.0.put(output::bytes(walk::shown(request, entry.path())));
                    out.0.put(if request.layout.null { b"\0" } else { b"\n" });
                }
            }
            Err(error) => trouble.say(&error.to_string()),
        }
    }
    Ok(if trouble.any { TROUBLE } else { status })
}

fn is_directory(entry: &ignore::DirEntry) -> bool {
    entry.file_type().is_some_and(|kind| kind.is_dir())
}

/// What went wrong on the way.
#[derive(Debug)]
struct Trouble {
    quiet: bool,
    any: bool,
}

impl Trouble {
    fn say(&mut self, message: &str) {
        self.any = true;
        if !self.quiet {
            eprintln!("{message}");
        }
    }

    /// A file of patterns that could not be read in whole: said, and no reason for another status.
    fn ignored(&self, error: &ignore::Error) {
        if !self.quiet {
            eprintln!("{error}");
        }
    }
}

enum Printer<'o> {
    Standard(Standard<NoColor<&'o mut Out>>),
    Summary(Summary<NoColor<&'o mut Out>>),
}

fn search(request: &Request, out: &mut Out) -> Result<i32, String> {
    let matcher = matcher(request).map_err(|error| error.to_string())?;
    let reads_stdin = request.paths.is_empty() && has_input();
    let explicit = |named: &[u8]| named == b"-" || !path(named).is_dir();
    let single = reads_stdin || matches!(request.paths.as_slice(), [one] if explicit(one));
    let names = request.layout.names.unwrap_or(!single);
    let mut search = Search {
        request,
        matcher,
        searcher: searcher(request),
        printer: printer(request, names, out),
        found: false,
        searched: false,
        trouble: Trouble { quiet: request.no_messages, any: false },
    };
    if reads_stdin {
        search.standard_input();
    } else if request.paths.iter().any(|named| named == b"-") {
        // Standard input is no place to walk.
        for named in &request.paths {
            if named == b"-" { search.standard_input() } else { search.walk(&one(request, named))? }
        }
    } else {
        search.walk(request)?;
    }
    if request.paths.is_empty() && !search.searched {
        search.trouble.say(
            "No files were searched, which means ripgrep probably applied a filter you didn't expect.\n\
             Running with --debug will show why files are being skipped.",
        );
    }
    Ok(match (search.found, search.trouble.any) {
        (true, false) => FOUND,
        (true, true) if request.output == Output::Quiet => FOUND,
        (_, true) => TROUBLE,
        (false, false) => NOTHING,
    })
}

/// The request for one of its paths alone.
fn one(request: &Request, named: &[u8]) -> Request {
    let filter = &request.filter;
    Request {
        paths: vec![named.to_vec()],
        filter: request::Filter { globs: filter.globs.clone(), types: filter.types.clone(), ..*filter },
        ..Request::default()
    }
}

/// Whether there is something on standard input. Without it there is nothing to tell a pipe that is empty from no pipe.
fn has_input() -> bool {
    io::stdin().lock().fill_buf().is_ok_and(|bytes| !bytes.is_empty())
}

struct Search<'r, 'o> {
    request: &'r Request,
    matcher: RegexMatcher,
    searcher: Searcher,
    printer: Printer<'o>,
    found: bool,
    searched: bool,
    trouble: Trouble,
}

impl Search<'_, '_> {
    fn walk(&mut self, request: &Request) -> Result<(), String> {
        for entry in walk::walk(request).map_err(|error| error.to_string())? {
            match entry {
                Ok(entry) => {
                    entry.error().into_iter().for_each(|error| self.trouble.ignored(error));
                    let named = entry.depth() == 0;
                    if is_directory(&entry) || (!named && !entry.file_type().is_some_and(|kind| kind.is_file())) {
                        continue;
                    }
                    self.file(entry.path(), walk::shown(request, entry.path()), named);
                }
                Err(error) => self.trouble.say(&said(&error)),
            }
            if self.found && self.request.output == Output::Quiet {
                break;
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path, shown: &Path, named: bool) {
        self.searched = true;
        self.searcher.set_binary_detection(detection(self.request.binary, named));
        let (matcher, searcher) = (&self.matcher, &mut self.searcher);
        let found = match &mut self.printer {
            Printer::Standard(printer) => {
                let mut sink = printer.sink_with_path(matcher, shown);
                searcher.search_path(matcher, path, &mut sink).map(|()| sink.has_match())
            }
            Printer::Summary(printer) => {
                let mut sink = printer.sink_with_path(matcher, shown);
                searcher.search_path(matcher, path, &mut sink).map(|()| sink.has_match())
            }
        };
        match found {
            Ok(found) => self.found |= found,
            Err(error) => self.trouble.say(&format!("{}: {}", shown.display(), numbered(&error))),
        }
    }

    fn standard_input(&mut self) {
        self.searched = true;
        self.searcher.set_binary_detection(detection(self.request.binary, true));
        let mut text = Vec::new();
        if let Err(error) = io::stdin().lock().read_to_end(&mut text) {
            return self.trouble.say(&format!("{STDIN}: {}", numbered(&error)));
        }
        let (matcher, searcher) = (&self.matcher, &mut self.searcher);
        let found = match &mut self.printer {
            Printer::Standard(printer) => {
                let mut sink = printer.sink_with_path(matcher, STDIN);
                searcher.search_reader(matcher, text.as_slice(), &mut sink).map(|()| sink.has_match())
            }
            Printer::Summary(printer) => {
                let mut sink = printer.sink_with_path(matcher, STDIN);
                searcher.search_reader(matcher, text.as_slice(), &mut sink).map(|()| sink.has_match())
            }
        };
        match found {
            Ok(found) => self.found |= found,
            Err(error) => self.trouble.say(&format!("{STDIN}: {}", numbered(&error))),
        }
    }
}

/// What is not there, by the number of WASI and by that of Linux.
const NOT_THERE: (&str, &str) = ("(os error 44)", "(os error 2)");

/// An error as the libraries write it on Linux.
fn numbered(error: &impl std::fmt::Display) -> String {
    error.to_string().replace(NOT_THERE.0, NOT_THERE.1)
}

/// An error of the walk, with the path before it.
fn said(error: &ignore::Error) -> String {
    match error {
        ignore::Error::WithPath { path, err } => format!("{}: {}", path.display(), said(err)),
        ignore::Error::WithDepth { err, .. } => said(err),
        error => numbered(error),
    }
}

fn detection(binary: Binary, named: bool) -> BinaryDetection {
    match binary {
        Binary::Text => BinaryDetection::none(),
        Binary::Auto if !named => BinaryDetection::quit(0),
        Binary::Auto | Binary::Named => BinaryDetection::convert(0),
    }
}

fn matcher(request: &Request) -> Result<RegexMatcher, grep_regex::Error> {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .multi_line(true)
        .case_smart(request.case == Case::Smart)
        .case_insensitive(request.case == Case::Insensitive)
        .word(request.words)
        .whole_line(request.whole_lines)
        .fixed_strings(request.fixed)
        .line_terminator(Some(b'\n'));
    builder.build_many(&request.patterns)
}

/// Whether lines have numbers; nothing here is a terminal, so that it has to be asked for.
fn numbers_lines(request: &Request) -> bool {
    let layout = &request.layout;
    layout.line_numbers.unwrap_or(layout.columns || layout.per_match)
}

fn searcher(request: &Request) -> Searcher {
    let layout = &request.layout;
    let shows_lines = request.output == Output::Lines;
    SearcherBuilder::new()
        .invert_match(request.invert)
        .line_number(numbers_lines(request))
        .before_context(if shows_lines { layout.before } else { 0 })
        .after_context(if shows_lines { layout.after } else { 0 })
        .max_matches(layout.max_count)
        .memory_map(MmapChoice::never())
        .build()
}

fn printer<'o>(request: &Request, names: bool, out: &'o mut Out) -> Printer<'o> {
    let layout = &request.layout;
    let terminator = layout.null.then_some(0);
    let kind = match request.output {
        Output::Count => SummaryKind::Count,
        Output::CountMatches => SummaryKind::CountMatches,
        Output::PathsWithMatch => SummaryKind::PathWithMatch,
        Output::PathsWithoutMatch => SummaryKind::PathWithoutMatch,
        Output::Quiet => SummaryKind::QuietWithMatch,
        Output::Lines | Output::Files | Output::Types => {
            let context = layout.before > 0 || layout.after > 0;
            let between = match (layout.heading, context) {
                (true, _) => Some(Vec::new()),
                (false, true) => layout.separator.clone(),
                (false, false) => None,
            };
            let printer = StandardBuilder::new()
                .heading(layout.heading)
                .path(names)
                .only_matching(layout.only_matching)
                .per_match(layout.per_match)
                .per_match_one_line(true)
                .replacement(layout.replacement.clone())
                .max_columns(layout.max_columns)
                .column(layout.columns)
                .byte_offset(layout.offsets)
                .trim_ascii(layout.trim)
                .separator_search(between)
                .separator_context(layout.separator.clone())
                .path_terminator(terminator)
                .build_no_color(out);
            return Printer::Standard(printer);
        }
    };
    let printer = SummaryBuilder::new()
        .kind(kind)
        .path(names)
        .exclude_zero(!layout.include_zero)
        .path_terminator(terminator)
        .build_no_color(out);
    Printer::Summary(printer)
}
