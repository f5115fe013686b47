//! `tree`, as version 2.1 draws in a UTF-8 locale: names in the order of their bytes.

use crate::glob;
use crate::options::{self, Argument, Spec, Takes};
use crate::output::{Output, bytes, path};
use std::fs;

const OPTIONS: &[Spec] = &[
    Spec { short: Some(b'a'), long: "all", takes: Takes::Nothing },
    Spec { short: Some(b'd'), long: "directories", takes: Takes::Nothing },
    Spec { short: Some(b'f'), long: "full-path", takes: Takes::Nothing },
    Spec { short: Some(b'n'), long: "no-colour", takes: Takes::Nothing },
    Spec { short: Some(b'L'), long: "level", takes: Takes::Value },
    Spec { short: Some(b'I'), long: "ignore", takes: Takes::Value },
    Spec { short: Some(b'P'), long: "pattern", takes: Takes::Value },
    Spec { short: None, long: "noreport", takes: Takes::Nothing },
    Spec { short: None, long: "dirsfirst", takes: Takes::Nothing },
];

#[derive(Debug)]
struct Settings {
    all: bool,
    directories_only: bool,
    full_path: bool,
    directories_first: bool,
    report: bool,
    level: usize,
    ignored: Vec<Vec<u8>>,
    wanted: Vec<Vec<u8>>,
}

pub(crate) fn main(_: &str, arguments: Vec<Vec<u8>>) -> i32 {
    match run(arguments) {
        Ok(status) => status,
        Err(message) => {
            eprintln!("{message}");
            2
        }
    }
}

fn run(arguments: Vec<Vec<u8>>) -> Result<i32, String> {
    let mut settings = Settings {
        all: false,
        directories_only: false,
        full_path: false,
        directories_first: false,
        report: true,
        level: usize::MAX,
        ignored: Vec::new(),
        wanted: Vec::new(),
    };
    let mut roots = Vec::new();
    for argument in options::read(arguments, OPTIONS, false)
        .map_err(|message| format!("skillgate: tree: {message}; it is not supported"))?
    {
        match argument {
            Argument::Option("all", _) => settings.all = true,
            Argument::Option("directories", _) => settings.directories_only = true,
            Argument::Option("full-path", _) => settings.full_path = true,
            Argument::Option("dirsfirst", _) => settings.directories_first = true,
            Argument::Option("noreport", _) => settings.report = false,
            Argument::Option("level", Some(value)) => {
                let level = String::from_utf8_lossy(&value).parse().ok().filter(|level| *level > 0);
                settings.level = level.ok_or("tree: Invalid level, must be greater than 0.")?;
            }
            Argument::Option("ignore", Some(value)) => settings.ignored.extend(alternatives(&value)),
            Argument::Option("pattern", Some(value)) => settings.wanted.extend(alternatives(&value)),
            Argument::Option(..) | Argument::Digit(_) => {}
            Argument::Operand(operand) => roots.push(operand),
        }
    }
    if roots.is_empty() {
        roots.push(b".".to_vec());
    }
    let mut tree = Tree { settings, output: Output::new(), directories: 0, files: 0, status: 0 };
    for root in &roots {
        tree.root(root);
    }
    if tree.settings.report {
        let plural = |count: u64, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
        let mut report = format!("\n{}", plural(tree.directories, "directory", "directories"));
        if !tree.settings.directories_only {
            report.push_str(&format!(", {}", plural(tree.files, "file", "files")));
        }
        tree.output.put(report.as_bytes());
        tree.output.put(b"\n");
    }
    tree.output.flush();
    Ok(tree.status)
}

/// The patterns of `a|b`.
fn alternatives(value: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    value.split(|byte| *byte == b'|').map(<[u8]>::to_vec)
}

struct Tree {
    settings: Settings,
    output: Output,
    directories: u64,
    files: u64,
    status: i32,
}

#[derive(Debug)]
struct Entry {
    name: Vec<u8>,
    directory: bool,
    link: Option<Vec<u8>>,
}

impl Tree {
    fn root(&mut self, root: &[u8]) {
        self.output.put(root);
        if !path(root).is_dir() {
            self.output.put(b"  [error opening dir]\n");
            if path(root).exists() {
                self.files += 1;
            } else {
                self.status = 2;
            }
            return;
        }
        self.output.put(b"\n");
        self.directories += 1;
        self.below(root, "", 1);
    }

    fn below(&mut self, directory: &[u8], indent: &str, level: usize) {
        if level > self.settings.level {
            return;
        }
        let Ok(entries) = self.entries(directory) else { return };
        let count = entries.len();
        for (index, entry) in entries.into_iter().enumerate() {
            let last = index + 1 == count;
            let mut child = directory.to_vec();
            if !child.ends_with(b"/") {
                child.push(b'/');
            }
            child.extend_from_slice(&entry.name);
            self.output.put(indent.as_bytes());
            self.output.put(if last { "└── " } else { "├── " }.as_bytes());
            self.output.put(if self.settings.full_path { &child } else { &entry.name });
            if let Some(target) = &entry.link {
                self.output.put(b" -> ");
                self.output.put(target);
            }
            self.output.put(b"\n");
            if entry.directory {
                self.directories += 1;
                if entry.link.is_none() {
                    let inner = format!("{indent}{}", if last { "    " } else { "│\u{a0}\u{a0} " });
                    self.below(&child, &inner, level + 1);
                }
            } else {
                self.files += 1;
            }
        }
    }

    fn entries(&self, directory: &[u8]) -> std::io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(path(directory))? {
            let entry = entry?;
            let name = entry.file_name().into_encoded_bytes();
            if !self.settings.all && name.starts_with(b".") {
                continue;
            }
            let file_type = entry.file_type()?;
            let link =
                file_type.is_symlink().then(|| fs::read_link(entry.path()).map(|target| bytes(&target).to_vec()));
            let directory = if file_type.is_symlink() { entry.path().is_dir() } else { file_type.is_dir() };
            let matches = |patterns: &[Vec<u8>]| patterns.iter().any(|pattern| glob::matches(pattern, &name, false));
            if matches(&self.settings.ignored)
                || (!directory && !self.settings.wanted.is_empty() && !matches(&self.settings.wanted))
                || (!directory && self.settings.directories_only)
            {
                continue;
            }
            entries.push(Entry { name, directory, link: link.transpose()? });
        }
        let first = self.settings.directories_first;
        entries.sort_by(|a, b| (first && !a.directory).cmp(&(first && !b.directory)).then_with(|| a.name.cmp(&b.name)));
        Ok(entries)
    }
}
