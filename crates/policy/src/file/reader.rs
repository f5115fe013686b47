//! TOML text to tables whose keys are known and permitted, with every mistake on the way.

use super::error::Findings;
use super::keys::{Key, SECTIONS, Section, Shape};
use super::level::{Level, Setter};
use crate::rule::Place;
use skillgate_core::{Span, nearest};
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use toml_parser::Source;
use toml_parser::lexer::TokenKind;

/// Parts of one dotted key. No key of a policy has more than three; far more would make tables that are nested as deep.
const MAX_KEY_PARTS: usize = 16;

/// Reads one text at one level.
#[derive(Debug)]
pub(super) struct Reader<'t> {
    pub(super) findings: Findings<'t>,
    pub(super) level: Level,
}

/// One table of a known section: its known keys that a file of this level may hold.
#[derive(Debug)]
pub(super) struct Fields<'d, 't> {
    /// The table's name in messages: `skills`, `programs.gh`.
    pub(super) name: String,
    /// Where it begins.
    pub(super) span: Span,
    fields: Vec<(&'static Key, Field<'d, 't>)>,
    /// The names of keys that are there and may not be.
    rejected: Vec<&'static str>,
}

/// A key's place and its value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field<'d, 't> {
    pub(super) key: Span,
    pub(super) value: &'d Spanned<DeValue<'t>>,
}

impl Field<'_, '_> {
    pub(super) fn span(&self) -> Span {
        self.value.span().into()
    }
}

impl<'t> Reader<'t> {
    /// Parses the text; `None` when it is not TOML far enough to be looked at.
    pub(super) fn document(&mut self) -> Option<DeTable<'t>> {
        let source = self.findings.text();
        if let Some(span) = long_key(source) {
            let help = format!("a key has at most {MAX_KEY_PARTS} parts");
            self.findings.add(span, "this key has too many parts", Some(help));
            return None;
        }
        let (document, errors) = DeTable::parse_recoverable(source);
        for error in errors {
            let span = error.span().map_or_else(|| Span::at(0), Span::from);
            let (message, help) = syntax_message(error.message());
            self.findings.add_syntax(span, message, help);
        }
        Some(document.into_inner())
    }

    /// The place of something in this file.
    pub(super) fn place(&self, span: Span) -> Place {
        Place::File { path: self.findings.path().to_path_buf(), line: self.findings.line(span) }
    }

    /// Looks at the names at the top; gives the sections that are known.
    pub(super) fn sections<'d>(&mut self, document: &'d DeTable<'t>) -> Vec<(&'static Section, Field<'d, 't>)> {
        let mut sections = Vec::new();
        for (key, value) in document.iter() {
            let span = Span::from(key.span());
            let name = key.get_ref().as_ref();
            match SECTIONS.iter().find(|section| section.name == name) {
                Some(section) => sections.push((section, Field { key: span, value })),
                None => {
                    let near = nearest(name, SECTIONS.iter().map(|section| section.name));
                    let help = section_of(name, None).or_else(|| did_you_mean(&near)).unwrap_or_else(|| {
                        let names: Vec<_> = SECTIONS.iter().map(|section| format!("[{}]", section.name)).collect();
                        format!("the tables of a policy are {}", names.join(", "))
                    });
                    self.findings.add(span, format!("there is no `{name}` in a policy"), Some(help));
                }
            }
        }
        sections
    }

    /// The tables of a section, each under its name where it has one.
    pub(super) fn tables<'d>(
        &mut self,
        section: &'static Section,
        field: Field<'d, 't>,
    ) -> Vec<(String, Fields<'d, 't>)> {
        let value = field.value.get_ref();
        match section.shape {
            Shape::Table => match value.as_table() {
                Some(table) => vec![(String::new(), self.fields(section, section.name.to_owned(), field.key, table))],
                None => self.no_table(field, section.name, &format!("[{}]", section.name)),
            },
            Shape::Named => {
                let form = format!("[{}.NAME]", section.name);
                let Some(tables) = value.as_table() else { return self.no_table(field, section.name, &form) };
                let mut named = Vec::new();
                for (key, value) in tables.iter() {
                    let full = format!("{}.{}", section.name, key.get_ref());
                    let span = Span::from(key.span());
                    match value.get_ref().as_table() {
                        Some(table) => {
                            named.push((key.get_ref().to_string(), self.fields(section, full, span, table)));
                        }
                        None => {
                            let field = Field { key: span, value };
                            named.extend(self.no_table(field, &full, &form));
                        }
                    }
                }
                named
            }
            Shape::List => {
                let form = format!("[[{}]]", section.name);
                let Some(items) = value.as_array() else { return self.no_table(field, section.name, &form) };
                let mut listed = Vec::new();
                for value in items.iter() {
                    let span = Span::from(value.span());
                    match value.get_ref().as_table() {
                        Some(table) => {
                            listed.push((String::new(), self.fields(section, section.name.to_owned(), span, table)));
                        }
                        None => listed.extend(self.no_table(Field { key: span, value }, section.name, &form)),
                    }
                }
                listed
            }
        }
    }

    fn no_table<'d>(&mut self, field: Field<'d, 't>, name: &str, form: &str) -> Vec<(String, Fields<'d, 't>)> {
        let found = kind_of(field.value.get_ref());
        let help = Some(format!("write it as {form}"));
        self.findings.add(field.span(), format!("`{name}` is a table, and this is {found}"), help);
        Vec::new()
    }

    fn fields<'d>(
        &mut self,
        section: &'static Section,
        name: String,
        span: Span,
        table: &'d DeTable<'t>,
    ) -> Fields<'d, 't> {
        let mut fields = Fields { name, span, fields: Vec::new(), rejected: Vec::new() };
        for (key, value) in table.iter() {
            let place = Span::from(key.span());
            let written = key.get_ref().as_ref();
            let Some(known) = section.keys.iter().find(|known| known.name == written) else {
                let near = nearest(written, section.keys.iter().map(|key| key.name));
                let help = did_you_mean(&near).or_else(|| section_of(written, Some(section))).unwrap_or_else(|| {
                    let names: Vec<_> = section.keys.iter().map(|key| format!("`{}`", key.name)).collect();
                    format!("its keys are {}", names.join(", "))
                });
                self.findings.add(place, format!("there is no `{written}` in [{}]", fields.name), Some(help));
                continue;
            };
            if known.setter.includes(self.level) {
                fields.fields.push((known, Field { key: place, value }));
            } else {
                fields.rejected.push(known.name);
                let (message, help) = wrong_level(self.level, &fields.name, known);
                self.findings.add(place, message, Some(help));
            }
        }
        fields
    }

    /// Reports a value of another type than its key has.
    pub(super) fn wrong_type(&mut self, span: Span, name: &str, wanted: &str, found: &DeValue<'_>, example: &str) {
        let message = format!("`{name}` is {wanted}, and this is {}", kind_of(found));
        self.findings.add(span, message, Some(format!("write `{example}`")));
    }
}

impl<'d, 't> Fields<'d, 't> {
    /// The field of a key.
    pub(super) fn get(&self, name: &str) -> Option<Field<'d, 't>> {
        self.fields.iter().find(|(key, _)| key.name == name).map(|(_, field)| *field)
    }

    /// The field of a key that has to be there.
    pub(super) fn required(&self, reader: &mut Reader<'t>, name: &str, example: &str) -> Option<Field<'d, 't>> {
        let field = self.get(name);
        if field.is_none() && !self.rejected.contains(&name) {
            let message = format!("[{}] has no `{name}`", self.name);
            reader.findings.add(self.span, message, Some(format!("write `{name} = {example}`")));
        }
        field
    }

    /// Every field with its key.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'static Key, Field<'d, 't>)> {
        self.fields.iter().copied()
    }
}

/// The first key with too many parts.
fn long_key(text: &str) -> Option<Span> {
    let mut dots = 0;
    let mut start = 0;
    for token in Source::new(text).lex() {
        match token.kind() {
            TokenKind::Dot => {
                dots += 1;
                if dots >= MAX_KEY_PARTS {
                    return Some(Span::new(start, token.span().end()));
                }
            }
            TokenKind::Newline
            | TokenKind::Equals
            | TokenKind::Comma
            | TokenKind::LeftSquareBracket
            | TokenKind::LeftCurlyBracket => {
                dots = 0;
                start = token.span().end();
            }
            _ => {}
        }
    }
    None
}

/// The parser's words as a sentence of ours, with the way out where it is not the words themselves.
fn syntax_message(message: &str) -> (String, Option<String>) {
    match message {
        "duplicate key" => (
            "this is already set above".to_owned(),
            Some("keep one of the two; a table is also written once".to_owned()),
        ),
        message => (format!("this is not TOML: {message}"), None),
    }
}

fn wrong_level(level: Level, table: &str, key: &Key) -> (String, String) {
    let name = format!("{table}.{}", key.name);
    let place = key.setter.belongs_in();
    let message = match level {
        Level::Project => {
            format!("`{name}` is not for a project to set: a project only takes away")
        }
        Level::Managed | Level::User => format!("`{name}` is only for the {place} policy"),
    };
    let only = match (level, key.setter) {
        (Level::Project, Setter::Host | Setter::Managed) => {
            "; a project's holds `permissions.deny`, `permissions.ask`, `skills.disable`, `skills.only`, `[limits]` and the times of `[mcp]`"
        }
        _ => "",
    };
    (message, format!("it belongs in the {place} policy, {}{only}", place.usual_place()))
}

fn did_you_mean(near: &[&str]) -> Option<String> {
    near.first().map(|name| format!("did you mean `{name}`?"))
}

/// The sections that a key is in, when it stands in none of them.
fn section_of(key: &str, besides: Option<&Section>) -> Option<String> {
    let holding = SECTIONS.iter().filter(|section| besides != Some(*section));
    let mut holding = holding.filter(|section| section.keys.iter().any(|known| known.name == key));
    holding.next().map(|section| format!("`{key}` belongs in [{}]", section.name))
}

/// The type of a value, as a person reads it.
pub(super) fn kind_of(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a number",
        DeValue::Float(_) => "a number with a point",
        DeValue::Boolean(_) => "`true` or `false`",
        DeValue::Datetime(_) => "a date or a time",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
