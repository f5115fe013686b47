//! The values of keys, each of its type.

use super::edit::quoted;
use super::keys::{Key, Kind, greatest};
use super::reader::{Field, Fields, Reader};
use super::settings::{Day, PublicKey, Setting};
use crate::pattern::ToolPattern;
use skillgate_core::{Digest, RelPath, Span, nearest};
use std::collections::HashMap;
use toml::de::DeValue;

/// A text with its place.
pub(super) struct Text {
    pub(super) text: String,
    pub(super) span: Span,
}

impl<'t> Reader<'t> {
    /// `true` or `false`.
    pub(super) fn switch(&mut self, fields: &Fields<'_, 't>, name: &str) -> Option<Setting<bool>> {
        let field = fields.get(name)?;
        let value = field.value.get_ref();
        if let Some(on) = value.as_bool() {
            return Some(Setting::new(on, self.place(field.key)));
        }
        // The nearest mistake is the word in quotes.
        let example = match value.as_str() {
            Some(word @ ("true" | "false")) => format!("{name} = {word}"),
            _ => format!("{name} = true"),
        };
        self.wrong_type(field.span(), &full(fields, name), "`true` or `false`", value, &example);
        None
    }

    /// A text.
    fn text(&mut self, fields: &Fields<'_, 't>, name: &str, field: Field<'_, 't>, example: &str) -> Option<Text> {
        let value = field.value.get_ref();
        if let Some(text) = value.as_str() {
            return Some(Text { text: text.to_owned(), span: field.span() });
        }
        self.wrong_type(field.span(), &full(fields, name), "a text", value, &format!("{name} = {example}"));
        None
    }

    /// One of the words that the key knows.
    pub(super) fn word(&mut self, fields: &Fields<'_, 't>, name: &str) -> Option<Setting<String>> {
        let (key, field) = fields.iter().find(|(key, _)| key.name == name)?;
        let words = words_of(key);
        let example = format!("\"{}\"", words.first().copied().unwrap_or_default());
        let text = self.text(fields, name, field, &example)?;
        self.known_word(fields, name, words, &text)?;
        Some(Setting::new(text.text, self.place(field.key)))
    }

    /// Any of the words that the key knows.
    pub(super) fn words(&mut self, fields: &Fields<'_, 't>, name: &str) -> Vec<Text> {
        let Some((key, _)) = fields.iter().find(|(key, _)| key.name == name) else { return Vec::new() };
        let words = words_of(key);
        let mut known = self.texts(fields, name, &format!("[\"{}\"]", words.first().copied().unwrap_or_default()));
        known.retain(|text| self.known_word(fields, name, words, text).is_some());
        known
    }

    fn known_word(&mut self, fields: &Fields<'_, 't>, name: &str, words: &[&str], text: &Text) -> Option<()> {
        if words.contains(&text.text.as_str()) {
            return Some(());
        }
        let quoted: Vec<_> = words.iter().map(|word| format!("\"{word}\"")).collect();
        let near = nearest(&text.text, words.iter().copied());
        let help = match near.first() {
            Some(near) => format!("did you mean \"{near}\"? It is one of {}", quoted.join(", ")),
            None => format!("write one of {}", quoted.join(", ")),
        };
        let message = format!("`{}` has no value \"{}\"", full(fields, name), text.text);
        self.findings.add(text.span, message, Some(help));
        None
    }

    /// A list of texts, none of them twice.
    pub(super) fn texts(&mut self, fields: &Fields<'_, 't>, name: &str, example: &str) -> Vec<Text> {
        let Some(field) = fields.get(name) else { return Vec::new() };
        self.list(&full(fields, name), name, field, example)
    }

    /// The texts of a field that is a list.
    pub(super) fn list(&mut self, full: &str, name: &str, field: Field<'_, 't>, example: &str) -> Vec<Text> {
        let example = format!("{name} = {example}");
        let value = field.value.get_ref();
        let Some(items) = value.as_array() else {
            let example = match value.as_str() {
                Some(text) => format!("{name} = [{}]", quoted(text)),
                None => example,
            };
            self.wrong_type(field.span(), full, "a list of texts", value, &example);
            return Vec::new();
        };
        let mut texts: Vec<Text> = Vec::new();
        let mut seen: HashMap<String, Span> = HashMap::new();
        for item in items.iter() {
            let span = Span::from(item.span());
            let DeValue::String(text) = item.get_ref() else {
                let message = format!("each entry of `{full}` is a text");
                self.wrong_entry(span, &message, item.get_ref(), &example);
                continue;
            };
            if let Some(first) = seen.get(text.as_ref()) {
                let message = format!("{} is in this list already", quoted(text));
                let help = format!("it stands at line {}; keep one of the two", self.findings.line(*first));
                self.findings.add(span, message, Some(help));
                continue;
            }
            seen.insert(text.to_string(), span);
            texts.push(Text { text: text.to_string(), span });
        }
        texts
    }

    fn wrong_entry(&mut self, span: Span, message: &str, found: &DeValue<'_>, example: &str) {
        let message = format!("{message}, and this is {}", super::reader::kind_of(found));
        self.findings.add(span, message, Some(format!("write `{example}`")));
    }

    /// A list of tool patterns.
    pub(super) fn patterns(&mut self, fields: &Fields<'_, 't>, name: &str) -> Vec<(ToolPattern, Span)> {
        let texts = self.texts(fields, name, "[\"Bash(git status:*)\"]");
        let mut patterns = Vec::new();
        for text in texts {
            if let Some(pattern) = self.pattern(&text) {
                patterns.push((pattern, text.span));
            }
        }
        patterns
    }

    fn pattern(&mut self, text: &Text) -> Option<ToolPattern> {
        match ToolPattern::parse(&text.text) {
            Ok(pattern) => Some(pattern),
            Err(error) => {
                self.findings.add(text.span, error.to_string(), None);
                None
            }
        }
    }

    /// A list of names of skills.
    pub(super) fn skill_names(&mut self, fields: &Fields<'_, 't>, name: &str) -> Vec<Setting<String>> {
        let texts = self.texts(fields, name, "[\"review\", \"old-*\"]");
        self.names_of_skills(texts).into_iter().map(|text| Setting::new(text.text, self.place(text.span))).collect()
    }

    /// The texts that can be names of skills; the others are reported.
    pub(super) fn names_of_skills(&mut self, mut texts: Vec<Text>) -> Vec<Text> {
        texts.retain(|text| {
            let name = text.text.strip_prefix('/').unwrap_or(&text.text);
            let possible = !name.is_empty() && !name.chars().any(|c| c.is_whitespace() || c.is_control());
            if !possible {
                let help = "write a skill's name, `source:name`, or a pattern such as `old-*`".to_owned();
                self.findings.add(text.span, format!("{} names no skill", quoted(&text.text)), Some(help));
            }
            possible
        });
        texts
    }

    /// A path: absolute, or below the home where the key allows it.
    pub(super) fn path(&mut self, fields: &Fields<'_, 't>, name: &str) -> Option<Setting<String>> {
        let (key, field) = fields.iter().find(|(key, _)| key.name == name)?;
        let home = key.kind == Kind::Path;
        let example = if home { "\"~/.local/share/skillgate\"" } else { "\"/usr/bin/gh\"" };
        let text = self.text(fields, name, field, example)?;
        self.is_path(fields, name, &text, home).then(|| Setting::new(text.text, self.place(field.key)))
    }

    /// Absolute paths, without a slash at their end.
    pub(super) fn absolute_paths(&mut self, fields: &Fields<'_, 't>, name: &str) -> Option<Setting<Vec<String>>> {
        let field = fields.get(name)?;
        let mut paths = Vec::new();
        for text in self.texts(fields, name, "[\"/opt/servers\"]") {
            if !self.is_path(fields, name, &text, false) {
                continue;
            }
            let path = text.text.trim_end_matches('/');
            if path.is_empty() {
                let message = format!("`{}` would be the whole machine", full(fields, name));
                self.findings.add(text.span, message, Some("name the directories that are needed".to_owned()));
            } else {
                paths.push(path.to_owned());
            }
        }
        Some(Setting::new(paths, self.place(field.key)))
    }

    /// Whether a text is an absolute path, or one below the home where that may be.
    fn is_path(&mut self, fields: &Fields<'_, 't>, name: &str, text: &Text, home: bool) -> bool {
        let absolute = text.text.starts_with('/') || home && text.text.starts_with("~/");
        if !absolute {
            let message = format!("`{}` is not an absolute path", full(fields, name));
            let or_home =
                if home { ", or with `~/`" } else { "; a relative one would depend on where Skillgate is started" };
            self.findings.add(text.span, message, Some(format!("begin it with `/`{or_home}")));
            return false;
        }
        if text.text.contains('\0') || text.text.split('/').any(|component| component == "..") {
            let message = format!("`{}` holds `..` or a NUL", full(fields, name));
            self.findings.add(text.span, message, Some("write the path that is meant".to_owned()));
            return false;
        }
        true
    }

    /// Paths below the project.
    pub(super) fn project_paths(&mut self, fields: &Fields<'_, 't>, name: &str) -> Vec<RelPath> {
        let mut paths = Vec::new();
        for text in self.texts(fields, name, "[\"build\"]") {
            let written = text.text.strip_suffix('/').unwrap_or(&text.text);
            match RelPath::new(written) {
                Ok(path) => paths.push(path),
                Err(error) => {
                    let help = "write a path below the project, such as `build`".to_owned();
                    self.findings.add(text.span, error.to_string(), Some(help));
                }
            }
        }
        paths
    }

    /// Names of environment variables.
    pub(super) fn variables(&mut self, fields: &Fields<'_, 't>, name: &str) -> Vec<String> {
        let mut names = Vec::new();
        for text in self.texts(fields, name, "[\"GH_HOST\"]") {
            let mut characters = text.text.chars();
            let first = characters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
            if first && characters.all(|c| c.is_ascii_alphanumeric() || c == '_') {
                names.push(text.text);
            } else {
                let help = match text.text.split_once('=') {
                    Some((name, _)) => format!("only the name is written here: \"{name}\""),
                    None => "a name holds letters, digits and `_`, and does not begin with a digit".to_owned(),
                };
                let message = format!("{} is not the name of an environment variable", quoted(&text.text));
                self.findings.add(text.span, message, Some(help));
            }
        }
        names
    }

    /// A SHA-256 digest that has to be there.
    pub(super) fn digest(&mut self, fields: &Fields<'_, 't>, name: &str) -> Option<Setting<Digest>> {
        let example = "\"<64 hexadecimal digits>\"";
        let field = fields.required(self, name, example)?;
        let text = self.text(fields, name, field, example)?;
        let digest = text.text.parse().ok();
        if digest.is_none() {
            let message = format!("`{}` is not a SHA-256 digest", full(fields, name));
            let help = match text.text.len() {
                64 => "a digest holds the digits 0 to 9 and a to f in lower case".to_owned(),
                length => format!(
                    "a digest has 64 hexadecimal digits, and this has {length} characters; `sha256sum FILE` prints it"
                ),
            };
            self.findings.add(text.span, message, Some(help));
        }
        digest.map(|digest| Setting::new(digest, self.place(field.key)))
    }

    /// A public key that has to be there.
    pub(super) fn public_key(&mut self, fields: &Fields<'_, 't>, name: &str) -> Option<PublicKey> {
        let example = "\"<44 characters of base64>\"";
        let field = fields.required(self, name, example)?;
        let text = self.text(fields, name, field, example)?;
        let key = PublicKey::parse(&text.text);
        if key.is_none() {
            let message = format!("`{}` is not an Ed25519 public key", full(fields, name));
            let help = "write its 32 bytes as 44 characters of base64 or as 64 hexadecimal digits".to_owned();
            self.findings.add(text.span, message, Some(help));
        }
        key
    }

    /// A name that has to be there.
    pub(super) fn name(&mut self, fields: &Fields<'_, 't>, name: &str) -> Option<Text> {
        let field = fields.required(self, name, "\"acme\"")?;
        let text = self.text(fields, name, field, "\"acme\"")?;
        if text.text.is_empty() || text.text.chars().any(|c| c.is_whitespace() || c.is_control()) {
            let message = format!("`{}` is not a name", full(fields, name));
            let help = "a name is not empty and holds no white space and no control characters".to_owned();
            self.findings.add(text.span, message, Some(help));
            return None;
        }
        Some(text)
    }

    /// A day.
    pub(super) fn day(&mut self, fields: &Fields<'_, 't>, name: &str) -> Option<Day> {
        let field = fields.get(name)?;
        let value = field.value.get_ref();
        let example = format!("{name} = 2027-12-31");
        match value.as_datetime() {
            Some(moment) if moment.time.is_none() && moment.offset.is_none() => {
                moment.date.map(|date| Day { year: date.year, month: date.month, day: date.day })
            }
            Some(_) => {
                let message = format!("`{}` is a day, and this has a time", full(fields, name));
                self.findings.add(field.span(), message, Some(format!("write `{example}`")));
                None
            }
            None => {
                self.wrong_type(field.span(), &full(fields, name), "a day, without quotes", value, &example);
                None
            }
        }
    }

    /// A number from 1 to the built-in one.
    pub(super) fn number(&mut self, section: &str, key: &Key, field: Field<'_, 't>) -> Option<Setting<u64>> {
        let full = format!("{section}.{}", key.name);
        let most = greatest(section, key.name)?;
        let value = field.value.get_ref();
        let Some(integer) = value.as_integer() else {
            self.wrong_type(field.span(), &full, "a whole number", value, &format!("{} = {most}", key.name));
            return None;
        };
        let number = u64::from_str_radix(integer.as_str(), integer.radix());
        let help = format!("write a number from 1 to {most}, or leave the line out");
        let message = match number {
            Ok(number) if (1..=most).contains(&number) => return Some(Setting::new(number, self.place(field.key))),
            Ok(0) => format!("`{full}` is above 0, and this is 0"),
            Err(_) if integer.as_str().starts_with('-') => format!("`{full}` is above 0, and this is {integer}"),
            _ if section == "skills" => format!("`{full}` is at most {most}, and this is {integer}"),
            _ => format!("`{full}` would be raised from {most} to {integer}; a policy can only lower it"),
        };
        self.findings.add(field.span(), message, Some(help));
        None
    }
}

fn words_of(key: &Key) -> &'static [&'static str] {
    match key.kind {
        Kind::Word(words) | Kind::Words(words) => words,
        _ => &[],
    }
}

fn full(fields: &Fields<'_, '_>, name: &str) -> String {
    format!("{}.{name}", fields.name)
}
