//! Values into a template, and the prompt out of it.

use crate::placeholder::{PlaceholderKind, Variable};
use crate::template::{InjectionSite, Segment, Template};
use crate::words::{Words, split_words};
use skillgate_core::{Code, Diagnostic, Hole, HoleValue, Injection, Span};
use std::sync::Arc;

/// What stands in the prompt for an injection that policy does not run.
const DISABLED: &str = "[shell command execution disabled by policy]";

/// What stands before a skill's directory, in front of its prompt.
const BASE_DIRECTORY: &str = "Base directory for this skill: ";

/// What becomes of injections.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum InjectionMode {
    /// They are handed out to be run.
    #[default]
    Run,
    /// Each becomes the text that says so.
    DisabledByPolicy,
    /// They are text, as from an MCP server.
    Literal,
}

/// The values of one invocation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Values<'a> {
    /// The arguments as typed; `None` and a blank text are the same.
    pub arguments: Option<&'a str>,
    /// The skill's directory.
    pub skill_dir: Option<&'a str>,
    /// The conversation.
    pub session_id: Option<&'a str>,
    /// The project's directory.
    pub project_dir: Option<&'a str>,
    /// The effort in force.
    pub effort: Option<&'a str>,
    /// The plugin's directory, for a skill of a plugin.
    pub plugin_root: Option<&'a str>,
    /// The plugin's data directory, for a skill of a plugin.
    pub plugin_data: Option<&'a str>,
    /// What becomes of injections.
    pub injections: InjectionMode,
}

impl Values<'_> {
    /// A variable's text; directories with forward slashes.
    fn variable(&self, variable: Variable) -> Option<String> {
        match variable {
            Variable::SkillDir => self.skill_dir.map(forward_slashes),
            Variable::ProjectDir => self.project_dir.map(forward_slashes),
            Variable::PluginRoot => self.plugin_root.map(forward_slashes),
            Variable::PluginData => self.plugin_data.map(forward_slashes),
            Variable::SessionId => self.session_id.map(str::to_owned),
            Variable::Effort => self.effort.map(str::to_owned),
        }
    }
}

/// A Windows path with forward slashes; a backslash in another path is part of a name.
fn forward_slashes(path: &str) -> String {
    let windows = path.starts_with("\\\\") || path.as_bytes().get(1) == Some(&b':');
    if windows { path.replace('\\', "/") } else { path.to_owned() }
}

/// A part of the prompt.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Piece {
    /// Of the template's body.
    Written(Span),
    Text(String),
    Output(usize),
}

/// A template with its values, waiting for the outputs of its injections.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FilledTemplate {
    body: Arc<str>,
    pieces: Vec<Piece>,
    injections: Vec<Injection>,
    appended: Option<String>,
    diagnostics: Vec<Diagnostic>,
}

impl Template {
    /// Puts values in. Nothing that comes from a value is read again: not as a placeholder, not as an injection, not as
    /// shell syntax.
    #[must_use]
    pub fn fill(&self, values: &Values<'_>) -> FilledTemplate {
        let text = values.arguments.unwrap_or_default();
        let mut filling =
            Filling { template: self, values, text, words: split_words(text), consumed: false, words_used: false };
        let mut pieces: Vec<Piece> = Vec::new();
        let mut injections = Vec::new();
        let mut diagnostics = self.diagnostics.clone();
        for segment in &self.segments {
            match segment {
                Segment::Text(span) => pieces.push(Piece::Written(*span)),
                Segment::Placeholder { span, kind } => {
                    pieces.push(filling.text_value(kind).map_or(Piece::Written(*span), Piece::Text));
                }
                Segment::Injection(index) => {
                    let Some(site) = self.injections.get(*index) else { continue };
                    match values.injections {
                        InjectionMode::Run => {
                            pieces.push(Piece::Output(injections.len()));
                            injections.push(filling.injection(site));
                        }
                        InjectionMode::DisabledByPolicy => {
                            pieces.push(Piece::Text(DISABLED.to_owned()));
                            diagnostics.push(
                                Diagnostic::new(
                                    Code::ShellDisabled,
                                    format!("`{}` was not run: {DISABLED}", site.source),
                                )
                                .at(site.span),
                            );
                        }
                        InjectionMode::Literal => {
                            pieces.push(Piece::Written(site.span));
                            diagnostics.push(
                                Diagnostic::new(
                                    Code::ShellDisabled,
                                    format!("`{}` was not run: a skill of this source is text only", site.source),
                                )
                                .at(site.span),
                            );
                        }
                    }
                }
            }
        }
        if filling.words_used && filling.words.unbalanced.is_some() {
            diagnostics.push(
                Diagnostic::new(
                    Code::ArgumentsUnbalanced,
                    "the arguments hold a quote that is never closed; it was taken literally",
                )
                .help("close the quote, or put a backslash before it"),
            );
        }
        let appended = (!filling.consumed && !text.trim().is_empty()).then(|| text.to_owned());
        FilledTemplate { body: Arc::clone(&self.body), pieces, injections, appended, diagnostics }
    }
}

struct Filling<'a> {
    template: &'a Template,
    values: &'a Values<'a>,
    text: &'a str,
    words: Words,
    consumed: bool,
    words_used: bool,
}

impl Filling<'_> {
    /// The word at a number as written in the text.
    fn word(&mut self, number: usize, base: usize) -> Option<String> {
        self.words_used = true;
        let word = number.checked_sub(base).and_then(|index| self.words.words.get(index)).cloned();
        self.consumed |= word.is_some();
        word
    }

    /// A value in text; `None` leaves the placeholder as it is.
    fn text_value(&mut self, kind: &PlaceholderKind) -> Option<String> {
        match kind {
            PlaceholderKind::Arguments => {
                self.consumed = true;
                Some(self.text.to_owned())
            }
            PlaceholderKind::Indexed(number) | PlaceholderKind::Position(number) => {
                self.word(*number, self.template.base)
            }
            PlaceholderKind::Name(index) => Some(self.word(*index, 0).unwrap_or_default()),
            PlaceholderKind::Variable(variable) => self.values.variable(*variable),
        }
    }

    fn injection(&mut self, site: &InjectionSite) -> Injection {
        let mut holes = Vec::new();
        for hole in &site.holes {
            let position = matches!(hole.kind, PlaceholderKind::Position(_));
            let stays = position && self.template.quoted_positions_stay;
            let consumed = (self.consumed, self.words_used);
            let value = match &hole.kind {
                PlaceholderKind::Arguments => {
                    self.consumed = true;
                    self.words_used = true;
                    HoleValue::Words { words: self.words.words.clone(), text: self.text.to_owned() }
                }
                kind => self.text_value(kind).map_or(HoleValue::Missing, HoleValue::Word),
            };
            let value = match (&hole.kind, value) {
                // A declared name without a value is nothing, as an unset parameter.
                (PlaceholderKind::Name(index), _) if self.words.words.get(*index).is_none() => HoleValue::Missing,
                (_, value) => value,
            };
            if stays && hole.in_single_quotes {
                (self.consumed, self.words_used) = consumed;
            }
            holes.push(Hole { span: hole.span, value, literal_in_single_quotes: stays });
        }
        Injection {
            source: site.source.clone(),
            span: site.span,
            source_start: site.source_start,
            form: site.form,
            holes,
        }
    }
}

impl FilledTemplate {
    /// The programs to run, in order.
    #[must_use]
    pub fn injections(&self) -> &[Injection] {
        &self.injections
    }

    /// What was found; spans are offsets in the body.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The arguments that no placeholder took and that are therefore appended.
    #[must_use]
    pub fn appended_arguments(&self) -> Option<&str> {
        self.appended.as_deref()
    }

    /// The text with each injection's output in its place; an output that is missing leaves nothing. Outputs are not read
    /// again.
    #[must_use]
    pub fn assemble<S: AsRef<str>>(&self, outputs: &[S]) -> String {
        self.assemble_behind("", "", outputs)
    }

    /// The same behind the line that names the skill's directory ([`with_base_directory`]).
    #[must_use]
    pub fn assemble_with_base_directory<S: AsRef<str>>(&self, directory: &str, outputs: &[S]) -> String {
        self.assemble_behind(BASE_DIRECTORY, &(forward_slashes(directory) + "\n\n"), outputs)
    }

    fn assemble_behind<S: AsRef<str>>(&self, said: &str, line: &str, outputs: &[S]) -> String {
        let text = |piece| match piece {
            &Piece::Written(span) => span.slice(&self.body).unwrap_or_default(),
            Piece::Text(text) => text,
            Piece::Output(index) => outputs.get(*index).map_or("", AsRef::as_ref),
        };
        let start = said.len() + line.len();
        let size: usize = self.pieces.iter().map(|piece| text(piece).len()).sum();
        let mut out = String::with_capacity(start + size);
        out.extend([said, line]);
        self.pieces.iter().for_each(|piece| out.push_str(text(piece)));
        if let Some(arguments) = &self.appended {
            out.truncate(start + out[start..].trim_end_matches(['\n', '\r']).len());
            if out.len() > start {
                out.push_str("\n\n");
            }
            out.push_str("ARGUMENTS: ");
            out.push_str(arguments);
            out.push('\n');
        }
        out
    }
}

/// The prompt of a skill that has a directory: the directory's name, a blank line, the text.
#[must_use]
pub fn with_base_directory(directory: &str, text: &str) -> String {
    [BASE_DIRECTORY, &forward_slashes(directory), "\n\n", text].concat()
}

/// A tool or path pattern with its `${CLAUDE_…}` variables replaced; one without a value stays as written.
#[must_use]
pub fn expand_variables(pattern: &str, values: &Values<'_>) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut rest = pattern;
    while let Some(start) = rest.find("${") {
        let inner = &rest[start + 2..];
        let value = inner
            .find('}')
            .and_then(|end| Variable::from_name(&inner[..end]).map(|variable| (end, variable)))
            .and_then(|(end, variable)| values.variable(variable).map(|value| (end, value)));
        match value {
            Some((end, value)) => {
                out.push_str(&rest[..start]);
                out.push_str(&value);
                rest = &inner[end + 1..];
            }
            None => {
                out.push_str(&rest[..start + 2]);
                rest = inner;
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::TemplateOptions;
    use skillgate_core::Profile;

    /// Fills `body` under `safe` with `arguments`, names `first second`, and checks the text.
    fn check(body: &str, arguments: &str, expected: &str) {
        let options = TemplateOptions { profile: Profile::Safe, arguments: vec!["first".into(), "second".into()] };
        let values = Values { arguments: Some(arguments), skill_dir: Some("/S"), ..Values::default() };
        let filled = Template::parse(body, &options).fill(&values);
        assert_eq!(filled.assemble::<&str>(&[]), expected, "{body:?} with {arguments:?}");
    }

    #[test]
    fn values_take_their_places() {
        for (body, arguments, expected) in [
            ("a $ARGUMENTS b", " x  y ", "a  x  y  b"),
            ("$1 and $2", "x y", "x and y"),
            ("$0 and $1", "x y", "x and y"),
            ("$1 and $3", "x", "x and $3"),
            ("$first $second!", "x", "x !"),
            ("$firsts", "x", "$firsts\n\nARGUMENTS: x\n"),
            ("\\$1 \\\\$1 \\$first \\$other", "x", "$1 \\\\x $first \\$other"),
            ("\\${CLAUDE_SKILL_DIR}", "", "\\/S"),
            ("`$1` `$first` `$ARGUMENTS`", "x", "`$1` `x` `x`"),
            ("```\necho \"\\$1\" $1\n```\n$1", "x", "```\necho \"\\$1\" $1\n```\nx"),
            ("nothing", "", "nothing"),
            ("nothing", "  ", "nothing"),
            ("", "x", "ARGUMENTS: x\n"),
            ("$ARGUMENTS", "", ""),
            ("$ARGUMENTS[1]", "x", "x"),
            ("it $1", "it's fine", "it it's"),
        ] {
            check(body, arguments, expected);
        }
    }

    #[test]
    fn variables_in_patterns_are_replaced_once() {
        let values =
            Values { skill_dir: Some("C:\\s\\${CLAUDE_PROJECT_DIR}"), project_dir: Some("/p\\q"), ..Values::default() };
        for (pattern, expected) in [
            ("Bash(${CLAUDE_PROJECT_DIR}/x *)", "Bash(/p\\q/x *)"),
            ("${SKILLGATE_SKILL_DIR}", "C:/s/${CLAUDE_PROJECT_DIR}"),
            ("${CLAUDE_PLUGIN_ROOT} ${X} ${", "${CLAUDE_PLUGIN_ROOT} ${X} ${"),
        ] {
            assert_eq!(expand_variables(pattern, &values), expected);
        }
    }
}
