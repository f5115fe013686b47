//! The command line of `ls`.

use super::{STATUS_MINOR, STATUS_SERIOUS};
use crate::escape::Style;
use crate::human::Unit;
use crate::quote::quoted;
use guest_command::glob;
use guest_command::options::{self, Argument, Spec, Takes};
use guest_files::{Moment, Status, civil};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Format {
    OnePerLine,
    Long,
    Columns,
    Rows,
    Commas,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sort {
    Name,
    Time,
    Size,
    Extension,
    Version,
    Width,
    None,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Time {
    Modified,
    Accessed,
    Changed,
}

impl Time {
    pub(super) fn of(self, status: &Status) -> Moment {
        match self {
            Time::Modified => status.modified,
            Time::Accessed => status.accessed,
            Time::Changed => status.changed,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Indicator {
    None,
    Slash,
    FileType,
    Classify,
}

/// Which links are followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Dereference {
    None,
    /// Those of the command line that lead to directories.
    OperandsToDirectories,
    Operands,
    All,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum TimeStyle {
    Locale,
    LongIso,
    FullIso,
    Iso,
    Custom { old: String, recent: String },
}

/// What the command line asks for.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) format: Format,
    pub(super) all: bool,
    almost_all: bool,
    ignored: Vec<Vec<u8>>,
    hidden: Vec<Vec<u8>>,
    pub(super) directories_themselves: bool,
    pub(super) recursive: bool,
    pub(super) sort: Sort,
    pub(super) reverse: bool,
    pub(super) directories_first: bool,
    pub(super) time: Time,
    pub(super) time_style: TimeStyle,
    pub(super) indicator: Indicator,
    pub(super) dereference: Dereference,
    pub(super) style: Style,
    pub(super) inode: bool,
    pub(super) blocks: bool,
    pub(super) size_unit: Unit,
    pub(super) block_unit: Unit,
    pub(super) numeric: bool,
    pub(super) owner: bool,
    pub(super) group: bool,
    pub(super) width: usize,
    pub(super) tab: usize,
    pub(super) zero: bool,
}

impl Request {
    /// Whether more than names is looked at.
    pub(super) fn needs_status(&self) -> bool {
        self.format == Format::Long
            || self.recursive
            || self.directories_first
            || self.inode
            || self.blocks
            || self.indicator != Indicator::None
            || matches!(self.sort, Sort::Time | Sort::Size)
    }

    /// Whether a name in a directory is listed.
    pub(super) fn shows(&self, name: &[u8]) -> bool {
        let every = self.all || self.almost_all;
        let matches = |patterns: &[Vec<u8>]| patterns.iter().any(|pattern| glob::matches(pattern, name, false));
        (every || (name.first() != Some(&b'.') && !matches(&self.hidden))) && !matches(&self.ignored)
    }
}

macro_rules! options {
    ($($short:literal $long:literal $takes:ident),* $(,)?) => {
        &[$(Spec {
            short: if $short == ' ' { None } else { Some($short as u8) },
            long: $long,
            takes: Takes::$takes,
        }),*]
    };
}

const OPTIONS: &[Spec] = options![
    'a' "all" Nothing, 'A' "almost-all" Nothing, 'b' "escape" Nothing, ' ' "block-size" Value,
    'B' "ignore-backups" Nothing, 'c' "-c" Nothing, 'C' "-C" Nothing, ' ' "color" MaybeValue,
    'd' "directory" Nothing, 'f' "-f" Nothing, 'F' "classify" MaybeValue, ' ' "file-type" Nothing,
    ' ' "format" Value, ' ' "full-time" Nothing, 'g' "-g" Nothing, ' ' "group-directories-first" Nothing,
    'G' "no-group" Nothing, 'h' "human-readable" Nothing, ' ' "si" Nothing,
    'H' "dereference-command-line" Nothing, ' ' "dereference-command-line-symlink-to-dir" Nothing,
    ' ' "hide" Value, ' ' "hyperlink" MaybeValue, ' ' "indicator-style" Value, 'i' "inode" Nothing,
    'I' "ignore" Value, 'k' "kibibytes" Nothing, 'l' "-l" Nothing, 'L' "dereference" Nothing, 'm' "-m" Nothing,
    'n' "numeric-uid-gid" Nothing, 'N' "literal" Nothing, 'o' "-o" Nothing, 'p' "-p" Nothing,
    'q' "hide-control-chars" Nothing, ' ' "show-control-chars" Nothing, 'Q' "quote-name" Nothing,
    ' ' "quoting-style" Value, 'r' "reverse" Nothing, 'R' "recursive" Nothing, 's' "size" Nothing,
    'S' "-S" Nothing, ' ' "sort" Value, ' ' "time" Value, ' ' "time-style" Value, 't' "-t" Nothing,
    'T' "tabsize" Value, 'u' "-u" Nothing, 'U' "-U" Nothing, 'v' "-v" Nothing, 'w' "width" Value,
    'x' "-x" Nothing, 'X' "-X" Nothing, ' ' "zero" Nothing, '1' "-1" Nothing,
    'D' "dired" Nothing, 'Z' "context" Nothing, ' ' "author" Nothing, ' ' "help" Nothing, ' ' "version" Nothing,
];

/// Where a line of columns ends when nothing says otherwise.
const WIDTH: usize = 80;
const TAB: usize = 8;

/// What is printed, and the status.
type Failure = (String, i32);

fn unsupported(what: &str) -> Failure {
    (format!("skillgate: ls: {what} is not supported"), STATUS_SERIOUS)
}

/// A value that an option does not take, as GNU's words it.
fn invalid(message: &str) -> Failure {
    (format!("ls: {message}\nTry 'ls --help' for more information."), STATUS_MINOR)
}

/// A word of a list that an option takes, which may be abbreviated.
fn chosen<T: Copy>(option: &str, value: &[u8], words: &[(&str, T)]) -> Result<T, Failure> {
    let text = String::from_utf8_lossy(value);
    let exact = words.iter().find(|(word, _)| *word == text);
    let mut near = words.iter().filter(|(word, _)| word.starts_with(text.as_ref()));
    match (exact, near.next(), near.next()) {
        (Some((_, chosen)), ..) | (None, Some((_, chosen)), None) => Ok(*chosen),
        _ => Err(invalid(&format!("invalid argument {} for ‘--{option}’", typographic(&text)))),
    }
}

fn typographic(text: &str) -> String {
    format!("‘{text}’")
}

/// Reads the command line: what it asks for, and the operands.
///
/// # Errors
/// What is printed, and the status.
pub(super) fn parse(name: &str, arguments: Vec<Vec<u8>>) -> Result<(Request, Vec<Vec<u8>>), Failure> {
    let read = options::read(arguments, OPTIONS, false)
        .map_err(|message| (format!("ls: {message}\nTry 'ls --help' for more information."), STATUS_SERIOUS))?;
    let (format, style) = match name {
        "dir" => (Format::Columns, Style::Escape),
        "vdir" => (Format::Long, Style::Escape),
        _ => (Format::OnePerLine, Style::Literal),
    };
    let mut request = Request {
        format,
        all: false,
        almost_all: false,
        ignored: Vec::new(),
        hidden: Vec::new(),
        directories_themselves: false,
        recursive: false,
        sort: Sort::Name,
        reverse: false,
        directories_first: false,
        time: Time::Modified,
        time_style: TimeStyle::Locale,
        indicator: Indicator::None,
        dereference: Dereference::None,
        style,
        inode: false,
        blocks: false,
        size_unit: Unit::Block(1, String::new()),
        block_unit: Unit::Block(1024, String::new()),
        numeric: false,
        owner: true,
        group: true,
        width: WIDTH,
        tab: TAB,
        zero: false,
    };
    let (mut sort, mut dereference, mut operands, mut explicit_time) = (None, None, Vec::new(), false);
    for argument in read {
        match argument {
            Argument::Operand(operand) => operands.push(operand),
            Argument::Digit(_) => {}
            Argument::Option("-t", _) => sort = Some(Sort::Time),
            Argument::Option("-S", _) => sort = Some(Sort::Size),
            Argument::Option("-X", _) => sort = Some(Sort::Extension),
            Argument::Option("-v", _) => sort = Some(Sort::Version),
            Argument::Option("-U", _) => sort = Some(Sort::None),
            Argument::Option("sort", Some(value)) => {
                sort = Some(chosen(
                    "sort",
                    &value,
                    &[
                        ("none", Sort::None),
                        ("time", Sort::Time),
                        ("size", Sort::Size),
                        ("extension", Sort::Extension),
                        ("version", Sort::Version),
                        ("width", Sort::Width),
                        ("name", Sort::Name),
                    ],
                )?);
            }
            Argument::Option("dereference", _) => dereference = Some(Dereference::All),
            Argument::Option("dereference-command-line", _) => dereference = Some(Dereference::Operands),
            Argument::Option("dereference-command-line-symlink-to-dir", _) => {
                dereference = Some(Dereference::OperandsToDirectories);
            }
            Argument::Option(name @ ("-c" | "-u" | "time"), value) => {
                explicit_time = true;
                request.time = match (name, value) {
                    ("-c", _) => Time::Changed,
                    ("-u", _) => Time::Accessed,
                    (_, value) => chosen(
                        "time",
                        &value.unwrap_or_default(),
                        &[
                            ("atime", Time::Accessed),
                            ("access", Time::Accessed),
                            ("use", Time::Accessed),
                            ("ctime", Time::Changed),
                            ("status", Time::Changed),
                            ("mtime", Time::Modified),
                            ("modification", Time::Modified),
                        ],
                    )
                    .map_err(|_| unsupported("this value of --time"))?,
                };
            }
            Argument::Option(name, value) => plain(&mut request, name, value.as_deref())?,
        }
    }
    let by_time = explicit_time && request.format != Format::Long;
    request.sort = sort.unwrap_or(if by_time { Sort::Time } else { Sort::Name });
    if request.sort == Sort::None && request.all {
        // Where the system lists `.` and `..` is not told.
        return Err(unsupported("-U with -a"));
    }
    let itself =
        request.directories_themselves || request.indicator == Indicator::Classify || request.format == Format::Long;
    request.dereference =
        dereference.unwrap_or(if itself { Dereference::None } else { Dereference::OperandsToDirectories });
    Ok((request, operands))
}

/// The options that set one thing.
fn plain(request: &mut Request, name: &str, value: Option<&[u8]>) -> Result<(), Failure> {
    let given = value.unwrap_or_default();
    match name {
        "all" => request.all = true,
        "almost-all" => (request.all, request.almost_all) = (false, true),
        "escape" => request.style = Style::Escape,
        "literal" | "show-control-chars" => request.style = Style::Literal,
        "hide-control-chars" => request.style = Style::Hidden,
        "quote-name" => request.style = Style::C,
        "quoting-style" => {
            let words = [("literal", Some(Style::Literal)), ("escape", Some(Style::Escape)), ("c", Some(Style::C))];
            let style = words.iter().find(|(word, _)| word.as_bytes() == given).and_then(|(_, style)| *style);
            request.style =
                style.ok_or_else(|| unsupported(&format!("--quoting-style={}", String::from_utf8_lossy(given))))?;
        }
        "block-size" => {
            let unit = Unit::parse(&String::from_utf8_lossy(given));
            let unit =
                unit.ok_or_else(|| (format!("ls: invalid --block-size argument {}", quoted(given)), STATUS_SERIOUS))?;
            (request.size_unit, request.block_unit) = (unit.clone(), unit);
        }
        "human-readable" => (request.size_unit, request.block_unit) = (Unit::Binary, Unit::Binary),
        "si" => (request.size_unit, request.block_unit) = (Unit::Decimal, Unit::Decimal),
        // One kibibyte is the unit of blocks anyway.
        "kibibytes" => {}
        "ignore-backups" => request.ignored.push(b"*~".to_vec()),
        "ignore" => request.ignored.push(given.to_vec()),
        "hide" => request.hidden.push(given.to_vec()),
        "-C" => request.format = Format::Columns,
        "-x" => request.format = Format::Rows,
        "-m" => request.format = Format::Commas,
        "-l" => request.format = Format::Long,
        "-1" if request.format != Format::Long => request.format = Format::OnePerLine,
        "-1" => {}
        "-g" => (request.format, request.owner) = (Format::Long, false),
        "-o" => (request.format, request.group) = (Format::Long, false),
        "no-group" => request.group = false,
        "numeric-uid-gid" => (request.format, request.numeric) = (Format::Long, true),
        "format" => {
            request.format = chosen(
                "format",
                given,
                &[
                    ("verbose", Format::Long),
                    ("long", Format::Long),
                    ("commas", Format::Commas),
                    ("horizontal", Format::Rows),
                    ("across", Format::Rows),
                    ("vertical", Format::Columns),
                    ("single-column", Format::OnePerLine),
                ],
            )?;
        }
        "full-time" => (request.format, request.time_style) = (Format::Long, TimeStyle::FullIso),
        "time-style" => request.time_style = time_style(&String::from_utf8_lossy(given))?,
        // No output of a command here is a terminal.
        "color" | "hyperlink" if matches!(given, b"never" | b"no" | b"none" | b"auto" | b"tty" | b"if-tty") => {}
        "classify" if matches!(given, b"never" | b"no" | b"none" | b"auto" | b"tty" | b"if-tty") => {}
        "classify" => request.indicator = Indicator::Classify,
        "file-type" => request.indicator = Indicator::FileType,
        "-p" => request.indicator = Indicator::Slash,
        "indicator-style" => {
            request.indicator = chosen(
                "indicator-style",
                given,
                &[
                    ("none", Indicator::None),
                    ("slash", Indicator::Slash),
                    ("file-type", Indicator::FileType),
                    ("classify", Indicator::Classify),
                ],
            )?;
        }
        "directory" => request.directories_themselves = true,
        "recursive" => request.recursive = true,
        "reverse" => request.reverse = true,
        "group-directories-first" => request.directories_first = true,
        "inode" => request.inode = true,
        "size" => request.blocks = true,
        "width" => request.width = number("line width", given)?,
        "tabsize" => request.tab = number("tab size", given)?,
        "zero" => {
            request.zero = true;
            if matches!(request.format, Format::Columns | Format::Rows | Format::Commas) {
                request.format = Format::OnePerLine;
            }
        }
        "color" => return Err(unsupported("--color without a terminal")),
        name if name.starts_with('-') => return Err(unsupported(name)),
        name => return Err(unsupported(&format!("--{name}"))),
    }
    Ok(())
}

fn number(what: &str, value: &[u8]) -> Result<usize, Failure> {
    let number = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
    number.ok_or_else(|| (format!("ls: invalid {what}: {}", quoted(value)), STATUS_SERIOUS))
}

fn time_style(text: &str) -> Result<TimeStyle, Failure> {
    let name = text.strip_prefix("posix-").unwrap_or(text);
    Ok(match name {
        // The locale is one in which a `posix-` style is not used.
        _ if name.len() < text.len() => TimeStyle::Locale,
        "locale" => TimeStyle::Locale,
        "long-iso" => TimeStyle::LongIso,
        "full-iso" => TimeStyle::FullIso,
        "iso" => TimeStyle::Iso,
        _ => {
            let Some(format) = text.strip_prefix('+') else {
                return Err((format!("ls: invalid argument {} for ‘time style’", typographic(text)), STATUS_SERIOUS));
            };
            let (old, recent) = format.split_once('\n').unwrap_or((format, format));
            for format in [old, recent] {
                civil::formatted(format, (0, 0)).map_err(|directive| unsupported(&format!("{directive} in a date")))?;
            }
            TimeStyle::Custom { old: old.to_owned(), recent: recent.to_owned() }
        }
    })
}
