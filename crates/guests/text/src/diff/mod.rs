//! `diff`: how files and directories differ, as GNU diffutils 3.8 tells it, in the normal, unified and context format.

mod compare;
mod header;
mod print;
mod request;

use crate::output::{Output, bytes, path, reason};
use request::{Form, Refusal, Settings, request};
use std::collections::{BTreeSet, HashMap};
use std::io::Read as _;

const STATUS_SAME: i32 = 0;
const STATUS_DIFFERENT: i32 = 1;
const STATUS_TROUBLE: i32 = 2;
/// What a file is looked at for a NUL, which makes it binary.
const LOOKED_AT: usize = 4096;

pub(crate) fn main(_: &str, arguments: Vec<Vec<u8>>) -> i32 {
    match request(arguments) {
        Ok((settings, [one, other])) => {
            let mut run = Run { settings, out: Output::new() };
            let status = run.top(&one, &other);
            run.out.flush();
            status
        }
        Err(Refusal::Version) => {
            println!("diff (GNU diffutils) 3.8\nThis is Skillgate's own, which answers as that one does.");
            STATUS_SAME
        }
        Err(Refusal::Wrong(text)) => {
            eprintln!("{text}");
            STATUS_TROUBLE
        }
    }
}

/// One side of a comparison.
#[derive(Debug)]
struct Side {
    name: Vec<u8>,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Missing,
    File,
    EmptyFile,
    Directory,
}

impl Kind {
    fn words(self) -> &'static [u8] {
        match self {
            Self::Directory => b"directory",
            Self::EmptyFile => b"regular empty file",
            Self::File | Self::Missing => b"regular file",
        }
    }
}

struct Run {
    settings: Settings,
    out: Output,
}

fn joined(directory: &[u8], name: &[u8]) -> Vec<u8> {
    let slash: &[u8] = if directory.ends_with(b"/") { b"" } else { b"/" };
    [directory, slash, name].concat()
}

fn base(name: &[u8]) -> &[u8] {
    let end = name.iter().rposition(|byte| *byte != b'/').map_or(0, |at| at + 1);
    name[..end].rsplit(|byte| *byte == b'/').next().unwrap_or_default()
}

impl Run {
    fn top(&mut self, one: &[u8], other: &[u8]) -> i32 {
        let (mut one, mut other) = (one.to_vec(), other.to_vec());
        let is_file = |kind: &std::io::Result<Kind>| kind.as_ref().is_ok_and(|kind| *kind != Kind::Directory);
        let is_directory = |kind: &std::io::Result<Kind>| matches!(kind, Ok(Kind::Directory));
        let kinds = [kind(&one), kind(&other)];
        if is_directory(&kinds[0]) && is_file(&kinds[1]) && other != b"-" {
            one = joined(&one, base(&other));
        } else if is_file(&kinds[0]) && is_directory(&kinds[1]) && one != b"-" {
            other = joined(&other, base(&one));
        } else if kinds.iter().any(is_directory) && (one == b"-" || other == b"-") {
            return self.trouble("diff: cannot compare '-' to a directory");
        }
        self.pair(one, other, true)
    }

    fn trouble(&mut self, text: &str) -> i32 {
        self.out.flush();
        eprintln!("{text}");
        STATUS_TROUBLE
    }

    fn complain(&mut self, name: &[u8], error: &std::io::Error) -> i32 {
        self.trouble(&format!("diff: {}: {}", String::from_utf8_lossy(name), reason(error)))
    }

    fn say(&mut self, parts: &[&[u8]]) {
        parts.iter().for_each(|part| self.out.put(part));
        self.out.put(b"\n");
    }

    fn pair(&mut self, one: Vec<u8>, other: Vec<u8>, top: bool) -> i32 {
        let kinds = [kind(&one), kind(&other)];
        let present = kinds.iter().any(Result::is_ok);
        let mut status = STATUS_SAME;
        let mut sides = Vec::new();
        for (name, kind) in [one, other].into_iter().zip(kinds) {
            let kind = match kind {
                Ok(kind) => kind,
                Err(error) if self.settings.new_file && present && error.kind() == std::io::ErrorKind::NotFound => {
                    Kind::Missing
                }
                Err(error) => {
                    status = self.complain(&name, &error);
                    Kind::Missing
                }
            };
            sides.push(Side { name, kind });
        }
        if status != STATUS_SAME {
            return status;
        }
        let [one, other] = [&sides[0], &sides[1]];
        match (one.kind, other.kind) {
            (Kind::Directory, Kind::Directory | Kind::Missing) | (Kind::Missing, Kind::Directory) => {
                if top || self.settings.recursive {
                    return self.directories(&one.name, &other.name);
                }
                self.say(&[b"Common subdirectories: ", &one.name, b" and ", &other.name]);
                STATUS_SAME
            }
            (Kind::Directory, _) | (_, Kind::Directory) => {
                let (first, second) = (one.kind.words(), other.kind.words());
                self.say(&[b"File ", &one.name, b" is a ", first, b" while file ", &other.name, b" is a ", second]);
                STATUS_DIFFERENT
            }
            _ => self.files(one, other, top),
        }
    }

    fn directories(&mut self, one: &[u8], other: &[u8]) -> i32 {
        let (mut status, mut listed) = (STATUS_SAME, Vec::new());
        for directory in [one, other] {
            match self.names(directory) {
                Ok(names) => listed.push(names),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound && self.settings.new_file => {
                    listed.push(BTreeSet::new());
                }
                Err(error) => return self.complain(directory, &error),
            }
        }
        let all: BTreeSet<&Vec<u8>> = listed[0].union(&listed[1]).collect();
        for name in all {
            let here = [listed[0].contains(name), listed[1].contains(name)];
            let found = if here != [true, true] && !self.settings.new_file {
                self.say(&[b"Only in ", if here[0] { one } else { other }, b": ", name]);
                STATUS_DIFFERENT
            } else {
                self.pair(joined(one, name), joined(other, name), false)
            };
            status = status.max(found);
        }
        status
    }

    fn names(&self, directory: &[u8]) -> std::io::Result<BTreeSet<Vec<u8>>> {
        let mut names = BTreeSet::new();
        for entry in std::fs::read_dir(path(directory))? {
            let name = bytes(entry?.file_name().as_ref()).to_vec();
            if !self.settings.exclude.iter().any(|pattern| crate::glob::matches(pattern, &name, false)) {
                names.insert(name);
            }
        }
        Ok(names)
    }

    fn files(&mut self, one: &Side, other: &Side, top: bool) -> i32 {
        let mut contents = Vec::new();
        for side in [one, other] {
            match self.content(side) {
                Ok(read) => contents.push(read),
                Err(error) => return self.complain(&side.name, &error),
            }
        }
        if contents[0] == contents[1] {
            return self.equal(one, other);
        }
        let is_binary = |content: &Vec<u8>| content[..content.len().min(LOOKED_AT)].contains(&0);
        let binary = !self.settings.text && contents.iter().any(is_binary);
        if binary || (self.settings.brief && !self.settings.ignores()) {
            return self.differ(one, other, binary);
        }
        let lines = [0, 1].map(|file: usize| contents[file].split_inclusive(|byte| *byte == b'\n').collect::<Vec<_>>());
        let changes = self.changes(&lines);
        if changes.iter().all(|change| change.is_ignored(&lines, &self.settings)) {
            return self.equal(one, other);
        }
        if self.settings.brief {
            return self.differ(one, other, false);
        }
        if !top {
            let given = self.settings.given.clone();
            let [first, second] = [one, other].map(|side| header::escaped(&side.name));
            self.say(&[b"diff", given.as_bytes(), b" ", &first, b" ", &second]);
        }
        let marks: [&[u8]; 2] = if self.settings.form == Form::Unified { [b"---", b"+++"] } else { [b"***", b"---"] };
        if self.settings.form != Form::Normal {
            for (index, (mark, side)) in marks.into_iter().zip([one, other]).enumerate() {
                self.header(mark, side, index);
            }
        }
        match self.settings.form {
            Form::Normal => print::normal(&mut self.out, &lines, &changes, &self.settings),
            Form::Unified => print::unified(&mut self.out, &lines, &changes, &self.settings),
            Form::Context => print::context(&mut self.out, &lines, &changes, &self.settings),
        }
        STATUS_DIFFERENT
    }

    fn content(&self, side: &Side) -> std::io::Result<Vec<u8>> {
        let mut content = Vec::new();
        match side.kind {
            Kind::Missing => {}
            _ if side.name == b"-" => drop(std::io::stdin().lock().read_to_end(&mut content)?),
            _ => content = std::fs::read(path(&side.name))?,
        }
        if self.settings.strip_cr {
            let mut at = 0;
            content.retain({
                let before = content.clone();
                move |byte| {
                    at += 1;
                    *byte != b'\r' || before.get(at) != Some(&b'\n')
                }
            });
        }
        Ok(content)
    }

    /// The changes between two files, the ends that are the same left out as far as they cannot matter.
    fn changes(&self, lines: &print::Lines<'_>) -> Vec<compare::Change> {
        let same = compare::same_ends([&lines[0], &lines[1]], self.settings.horizon);
        let mut classes = HashMap::new();
        let numbers = lines.each_ref().map(|lines| {
            let number = |line: &&[u8]| {
                let next = classes.len();
                *classes.entry(self.settings.key(line)).or_insert(next)
            };
            lines.iter().map(number).collect::<Vec<usize>>()
        });
        compare::changes([&numbers[0], &numbers[1]], same, self.settings.minimal)
    }

    fn equal(&mut self, one: &Side, other: &Side) -> i32 {
        if self.settings.identical {
            self.say(&[b"Files ", &one.name, b" and ", &other.name, b" are identical"]);
        }
        STATUS_SAME
    }

    fn differ(&mut self, one: &Side, other: &Side, binary: bool) -> i32 {
        let binary = binary && !self.settings.brief;
        self.say(&[if binary { b"Binary files " } else { b"Files " }, &one.name, b" and ", &other.name, b" differ"]);
        // GNU's counts binary files whose differences it cannot show as trouble.
        STATUS_DIFFERENT
    }

    fn header(&mut self, mark: &[u8], side: &Side, index: usize) {
        if let Some(label) = self.settings.labels.get(index).cloned() {
            return self.say(&[mark, b" ", &label]);
        }
        let time = header::modified(side);
        self.say(&[mark, b" ", &header::escaped(&side.name), b"\t", time.as_bytes()]);
    }
}

fn kind(name: &[u8]) -> std::io::Result<Kind> {
    if name == b"-" {
        return Ok(Kind::File);
    }
    let metadata = std::fs::metadata(path(name))?;
    Ok(match () {
        () if metadata.is_dir() => Kind::Directory,
        () if metadata.is_file() && metadata.len() == 0 => Kind::EmptyFile,
        () => Kind::File,
    })
}
