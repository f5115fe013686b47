//! `skillgate policy import [FILE]`: the permissions of another tool's settings, as rules of ours.
//!
//! Nothing holds by being imported: the rules are printed, and hold when the user puts them into a policy.

use crate::args::{Format, Global, PolicyImportVerb};
use crate::exit::{Failure, Status};
use crate::output::{ImportNoteOutput, ImportedOutput, PolicyImportOutput};
use crate::policy::{self, user_path};
use crate::text;
use serde_json::Value;
use skillgate_core::{LineIndex, Position};
use skillgate_loader::{ReadFault, read_file_ambient};
use skillgate_policy::file::{MAX_POLICY_BYTES, quoted, with_rules};
use skillgate_policy::{CommandPattern, Effect, Known, ToolPattern, ToolSpec, carrier};
use std::fmt::Write as _;
use std::io::{self, BufRead as _, IsTerminal as _};
use std::path::Path;

/// Keys of `permissions` that hold rules.
const EFFECTS: [(Effect, &str); 3] = [(Effect::Allow, "allow"), (Effect::Ask, "ask"), (Effect::Deny, "deny")];

pub(crate) fn run(global: &Global, verb: &PolicyImportVerb) -> Result<Status, Failure> {
    let bytes = read_file_ambient(&verb.file, MAX_POLICY_BYTES as u64).map_err(|fault| match fault {
        ReadFault::NotFound => Failure::NoSuchPath(verb.file.display().to_string()),
        fault => Failure::Settings { path: verb.file.clone(), reason: fault.to_string() },
    })?;
    let broken = |reason: String| Failure::Settings { path: verb.file.clone(), reason };
    let source = String::from_utf8(bytes).map_err(|error| broken(error.to_string()))?;
    let settings: Value = serde_json::from_str(&source).map_err(|error| broken(error.to_string()))?;
    let mut import = Import::new(&source);
    import.permissions(&settings);

    let written = if verb.write && !import.rules.is_empty() { write(global, verb, &import)? } else { None };
    let fragment = import.fragment(&verb.file);
    if global.format == Format::Json {
        text::json(&PolicyImportOutput {
            path: verb.file.display().to_string(),
            rules: import.rules.iter().map(Imported::output).collect(),
            notes: import.notes.iter().map(Note::output).collect(),
            policy: fragment,
            written,
        })?;
        return Ok(Status::Done);
    }
    import.report(&verb.file);
    match written {
        Some(path) => text::complain(&format!("written to `{path}`")),
        None if !verb.write => text::human(&fragment),
        None => {}
    }
    Ok(Status::Done)
}

/// A rule that has an equal here.
struct Imported {
    effect: Effect,
    pattern: ToolPattern,
    at: Position,
}

impl Imported {
    fn output(&self) -> ImportedOutput {
        ImportedOutput { effect: self.effect.to_string(), pattern: self.pattern.to_string(), line: self.at.line }
    }
}

/// An entry that was not taken as it is.
struct Note {
    at: Position,
    entry: String,
    message: String,
}

impl Note {
    fn output(&self) -> ImportNoteOutput {
        let Note { at, entry, message } = self;
        ImportNoteOutput { line: at.line, column: at.column, entry: entry.clone(), message: message.clone() }
    }
}

struct Import<'s> {
    source: &'s str,
    lines: LineIndex<'s>,
    rules: Vec<Imported>,
    notes: Vec<Note>,
}

impl<'s> Import<'s> {
    fn new(source: &'s str) -> Self {
        Self { source, lines: LineIndex::new(source), rules: Vec::new(), notes: Vec::new() }
    }

    fn permissions(&mut self, settings: &Value) {
        let Some(permissions) = settings.get("permissions") else {
            self.note("permissions", 0, "there is no `permissions` in these settings");
            return;
        };
        let start = self.find("\"permissions\"", 0);
        let Some(permissions) = permissions.as_object() else {
            self.note("permissions", start, "`permissions` is not an object");
            return;
        };
        for (key, value) in permissions {
            let at = self.find(&Value::from(key.as_str()).to_string(), start);
            match EFFECTS.iter().find(|(_, name)| name == key) {
                Some((effect, _)) => self.entries(*effect, value, at),
                None => self.note(key, at, no_equal(key)),
            }
        }
    }

    fn entries(&mut self, effect: Effect, value: &Value, start: usize) {
        let Some(entries) = value.as_array() else {
            return self.note(&effect.to_string(), start, "it is not a list");
        };
        let mut from = start;
        for entry in entries {
            let shown = entry.to_string();
            let at = self.find(&shown, from);
            from = at;
            match entry.as_str() {
                Some(text) => self.entry(effect, text, at),
                None => self.note(&shown, at, "it is not a text"),
            }
        }
    }

    fn entry(&mut self, effect: Effect, entry: &str, offset: usize) {
        let pattern = match ToolPattern::parse(entry) {
            Ok(pattern) => pattern,
            Err(error) => {
                let what = match effect {
                    Effect::Allow => "it grants nothing here and was left out",
                    Effect::Ask | Effect::Deny => "it would restrict nothing here; write what it means yourself",
                };
                return self.note(entry, offset, &format!("{error}; {what}"));
            }
        };
        if let Some(message) = meaning_differs(effect, &pattern) {
            self.note(entry, offset, message);
        }
        if !self.rules.iter().any(|rule| rule.effect == effect && rule.pattern == pattern) {
            self.rules.push(Imported { effect, pattern, at: self.lines.position(offset) });
        }
    }

    fn note(&mut self, entry: &str, offset: usize, message: &str) {
        let at = self.lines.position(offset);
        self.notes.push(Note { at, entry: entry.to_owned(), message: message.to_owned() });
    }

    /// Where a JSON text stands, from an offset on. Written with escapes of its own it is not found; then the list's place has
    /// to do.
    fn find(&self, text: &str, from: usize) -> usize {
        self.source.get(from..).and_then(|rest| rest.find(text)).map_or(from, |at| from + at)
    }

    /// The rules as a policy.
    fn fragment(&self, from: &Path) -> String {
        let mut out = format!("# from {}\n[permissions]\n", text::shown(&from.display().to_string()));
        for (effect, key) in EFFECTS {
            let rules: Vec<_> = self.rules.iter().filter(|rule| rule.effect == effect).collect();
            if !rules.is_empty() {
                let _infallible = writeln!(out, "{key} = [");
                for rule in rules {
                    let _infallible = writeln!(out, "    {},", quoted(rule.pattern.text()));
                }
                out.push_str("]\n");
            }
        }
        out
    }

    fn report(&self, path: &Path) {
        for Note { at, entry, message } in &self.notes {
            let place = format!("{}:{at}", path.display());
            text::complain(&text::safe(&format!("note: {place}: `{}`: {message}", text::shown(entry))));
        }
    }
}

/// What is different about a setting that is no list of rules.
fn no_equal(key: &str) -> &'static str {
    match key {
        "defaultMode" => "there are no modes here: the built-in default reads the project and asks for the rest",
        "additionalDirectories" => "directories are named for each run: `--add-dir`",
        "disableBypassPermissionsMode" => {
            "there is no mode that goes around the rules, so nothing is left to switch off"
        }
        _ => "it has no equal here and was left out",
    }
}

/// What is different about a rule that is taken.
fn meaning_differs(effect: Effect, pattern: &ToolPattern) -> Option<&'static str> {
    match (effect, pattern.tool(), pattern.spec()) {
        (_, "Read" | "Write" | "Edit", ToolSpec::Path(path)) if path.starts_with("//") || path.starts_with('~') => {
            Some(
                "paths here are relative to the project, and nothing outside it is ever shown; the rule matches nothing",
            )
        }
        (Effect::Allow, "WebFetch" | "WebSearch", _) => {
            Some("commands have no network here; the rule only answers for the tool itself")
        }
        (
            Effect::Allow,
            "Bash",
            ToolSpec::Command(CommandPattern::Prefix(words) | CommandPattern::PrefixOfWord(words, _)),
        ) => {
            let words: Vec<_> = words.iter().map(|word| Known::Text(word)).collect();
            carrier(&words).map(|_| "the command runs other programs, and a prefix does not cover that here")
        }
        _ => None,
    }
}

/// Adds the rules to the user's policy, when that is agreed to. Gives the file; `None` when it was not.
fn write(global: &Global, verb: &PolicyImportVerb, import: &Import<'_>) -> Result<Option<String>, Failure> {
    let path = user_path(global).ok_or(Failure::NoHome)?;
    let refused = |reason: String| Failure::PolicyNotWritten { path: path.clone(), reason };
    let before = policy::read_guarded(&path)?;
    let rules: Vec<_> = import.rules.iter().map(|rule| (rule.effect, rule.pattern.clone())).collect();
    let after =
        with_rules(before.as_deref().unwrap_or_default(), &rules).map_err(|error| refused(error.to_string()))?;
    if before.as_ref() == Some(&after) {
        text::complain(&format!("`{}` has these rules already", path.display()));
        return Ok(None);
    }
    if !verb.yes {
        if !io::stdin().is_terminal() {
            return Err(refused("there is nobody to ask; `--yes` agrees".to_owned()));
        }
        text::complain(&text::safe(&import.fragment(&verb.file)));
        text::complain(&format!("Add these rules to `{}`? [y/N]", path.display()));
        let mut answer = String::new();
        let read = io::stdin().lock().read_line(&mut answer);
        if read.is_err() || !matches!(answer.trim(), "y" | "yes") {
            text::complain("nothing was written");
            return Ok(None);
        }
    }
    policy::write(&path, before.is_none(), &after)?;
    Ok(Some(path.display().to_string()))
}
