//! Words to fields: parameters, substitutions, arithmetic, field splitting, and where every character came from.

use super::{Abort, Eval, Io, Shell, function, stopped};
use crate::backend::RunError;
use crate::run::{Bound, Stop};
use crate::stream::{Capture, Output, Overflow};
use skillgate_core::HoleValue;
use skillgate_policy::{Provenance, Word as VectorWord};
use skillgate_shell::arithmetic::{self, ArithmeticError, ArithmeticExpr, Variables};
use skillgate_shell::braces::{self, BraceLimits};
use skillgate_shell::pattern::{Pattern, PatternPiece};
use skillgate_shell::{
    Command, List, Parameter, ParameterName, ParameterOperation, Redirect, RedirectOperator, Special, UnsetRule, Word,
    WordPart,
};
use std::sync::Arc;

/// Steps that one match of a pattern may take: the length of the text times that of the pattern.
const PATTERN_STEPS: u64 = 1 << 26;
/// How often over a stream's bound a replacement may grow while it is made.
const REPLACED_TIMES: u64 = 16;

/// A run of text that is either quoted or active.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Piece {
    pub(super) text: String,
    pub(super) quoted: bool,
}

/// One field while it is put together.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Field {
    pub(super) pieces: Vec<Piece>,
    /// Where the word's beginning came from, which decides whether it may be an option.
    pub(super) provenance: Provenance,
    /// Whether any of it was produced.
    produced: bool,
}

impl Field {
    fn new() -> Self {
        Self { pieces: Vec::new(), provenance: Provenance::Author, produced: false }
    }

    /// Where the text as a whole came from: a variable's value may be split later, and then any part of it begins a word.
    pub(super) fn whole_provenance(&self) -> Provenance {
        if self.produced { Provenance::Expansion } else { self.provenance }
    }

    fn push(&mut self, text: &str, quoted: bool, provenance: Provenance) {
        if provenance == Provenance::Expansion && !text.is_empty() {
            self.produced = true;
            // What stands before the first produced character decides: `--since=$(…)` is the author's option, `$(…)` and
            // `-$(…)` are nobody's.
            let dashes_only = self.pieces.iter().all(|piece| piece.text.chars().all(|c| c == '-'));
            if dashes_only {
                self.provenance = Provenance::Expansion;
            }
        } else if provenance == Provenance::Argument && self.provenance == Provenance::Author {
            self.provenance = Provenance::Argument;
        }
        match self.pieces.last_mut() {
            Some(last) if last.quoted == quoted => last.text.push_str(text),
            _ => self.pieces.push(Piece { text: text.to_owned(), quoted }),
        }
    }

    /// Adds another field as quoted text, piece by piece, so that what it says of its beginning is kept.
    fn append(&mut self, field: Field) {
        let (text, produced) = (field.text(), field.produced);
        self.push(&text, true, field.provenance);
        self.produced |= produced;
    }

    fn len(&self) -> usize {
        self.pieces.iter().map(|piece| piece.text.len()).sum()
    }

    pub(super) fn text(&self) -> String {
        self.pieces.iter().map(|piece| piece.text.as_str()).collect()
    }
}

/// One word of a vector, and whether any of it was produced.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Expanded {
    pub(super) word: VectorWord,
    pub(super) produced: bool,
}

impl Expanded {
    /// A word of which it is not known which part was produced.
    pub(super) fn whole(word: VectorWord) -> Self {
        let produced = word.provenance == Provenance::Expansion;
        Self { word, produced }
    }

    /// What the word is as a positional parameter: it may be split later, and then any part of it begins a word.
    pub(super) fn into_positional(self) -> VectorWord {
        let provenance = if self.produced { Provenance::Expansion } else { self.word.provenance };
        VectorWord { text: self.word.text, provenance }
    }

    pub(super) fn of(field: &Field) -> Self {
        let word = VectorWord { text: field.text(), provenance: field.provenance };
        Self { word, produced: field.produced }
    }
}

/// The fields of one word. What goes beyond the bound is left out and noted.
struct Fields {
    done: Vec<Field>,
    current: Option<Field>,
    room: usize,
    overflow: bool,
    /// Whether a `$@` had no positional parameters to give.
    no_positionals: bool,
}

impl Fields {
    fn push(&mut self, text: &str, quoted: bool, provenance: Provenance) {
        match self.room.checked_sub(text.len()) {
            Some(room) => self.room = room,
            None => {
                self.overflow = true;
                return;
            }
        }
        if quoted || !text.is_empty() {
            self.current.get_or_insert_with(Field::new).push(text, quoted, provenance);
        }
    }

    fn end_field(&mut self) {
        self.done.extend(self.current.take());
    }

    /// Adds text that nobody quoted, splitting it at the characters of IFS.
    fn split(&mut self, text: &str, ifs: &str, provenance: Provenance) {
        let white = |c: char| ifs.contains(c) && matches!(c, ' ' | '\t' | '\n');
        let mut chars = text.chars().peekable();
        let mut piece = String::new();
        while let Some(c) = chars.next() {
            if !ifs.contains(c) {
                piece.push(c);
                continue;
            }
            self.push(&piece, false, provenance);
            piece.clear();
            let mut separators = usize::from(!white(c));
            while let Some(next) = chars.next_if(|next| white(*next) || (separators == 0 && ifs.contains(*next))) {
                separators += usize::from(!white(next));
            }
            if separators > 0 && self.current.is_none() {
                // A separator that is not white space makes an empty field.
                self.current = Some(Field::new());
            }
            self.end_field();
        }
        self.push(&piece, false, provenance);
    }
}

impl<'a> Shell<'a> {
    /// Expands words to the words of a vector.
    pub(super) fn words(&mut self, words: &[Word], io: &Io) -> Eval<Vec<Expanded>> {
        let limits = self.shared.run.limits();
        let max_words = usize::try_from(limits.glob_results).unwrap_or(usize::MAX);
        let max_bytes = usize::try_from(limits.output_bytes).unwrap_or(usize::MAX);
        let mut vector: Vec<Expanded> = Vec::new();
        let mut bytes = 0;
        for word in words {
            let declares = vector.first().is_some_and(|name| function::declares(&name.word.text));
            let alternatives = braces::expand(word, &BraceLimits { max_words, max_bytes })
                .map_err(|_| RunError::from_bound("brace expansion", Bound::GlobResults(max_words as u64)))?;
            for word in &alternatives {
                let before = vector.len();
                if declares && alternatives.len() == 1 && function::is_assignment(word) {
                    // As an assignment: neither split nor globbed.
                    let field = self.pieces(word, io)?;
                    vector.push(Expanded::of(&field));
                } else {
                    for field in self.fields(word, io)? {
                        self.globbed(field, &mut vector)?;
                    }
                }
                bytes += vector[before..].iter().map(|expanded: &Expanded| expanded.word.text.len()).sum::<usize>();
                self.shared.run.check().map_err(|stop| stopped("expansion", stop))?;
                if bytes > max_bytes {
                    return Err(RunError::from_bound("expansion", Bound::Output(max_bytes as u64)).into());
                }
                if vector.len() > max_words {
                    return Err(RunError::from_bound("expansion", Bound::GlobResults(max_words as u64)).into());
                }
            }
        }
        Ok(vector)
    }

    fn fields(&mut self, word: &Word, io: &Io) -> Eval<Vec<Field>> {
        let mut fields = self.no_fields();
        for part in &word.parts {
            self.part(part, false, &mut fields, io)?;
        }
        self.finished(fields)
    }

    /// Expands a word to one text, without splitting and without pathname expansion.
    pub(super) fn text(&mut self, word: &Word, io: &Io) -> Eval<String> {
        Ok(self.pieces(word, io)?.text())
    }

    /// As [`Shell::text`], keeping what was quoted.
    pub(super) fn pieces(&mut self, word: &Word, io: &Io) -> Eval<Field> {
        self.parts_as_one(&word.parts, io)
    }

    pub(super) fn parts_as_one(&mut self, parts: &[WordPart], io: &Io) -> Eval<Field> {
        let limit = usize::try_from(self.shared.run.limits().output_bytes).unwrap_or(usize::MAX);
        let mut one = Field::new();
        for part in parts {
            if one.len() > limit {
                return Err(RunError::from_bound("expansion", Bound::Output(limit as u64)).into());
            }
            match part {
                WordPart::Literal { text, .. } => one.push(text, false, Provenance::Author),
                WordPart::Parameter(_) | WordPart::Substitution { .. } | WordPart::Arithmetic { .. } => {
                    // Quoted while it is expanded, so that it is not split; active afterwards, as in a `case` pattern.
                    let mut fields = self.no_fields();
                    self.part(part, true, &mut fields, io)?;
                    for (index, field) in self.finished(fields)?.into_iter().enumerate() {
                        if index > 0 {
                            one.push(" ", false, Provenance::Author);
                        }
                        one.push(&field.text(), false, field.whole_provenance());
                    }
                }
                part => {
                    let mut fields = self.no_fields();
                    self.part(part, true, &mut fields, io)?;
                    for (index, field) in self.finished(fields)?.into_iter().enumerate() {
                        if index > 0 {
                            // `"$@"` where only one text can stand.
                            one.push(" ", true, Provenance::Author);
                        }
                        one.append(field);
                    }
                }
            }
        }
        Ok(one)
    }

    /// No field yet, and room for as many bytes as a stream may keep.
    fn no_fields(&self) -> Fields {
        let room = usize::try_from(self.shared.run.limits().output_bytes).unwrap_or(usize::MAX);
        Fields { done: Vec::new(), current: None, room, overflow: false, no_positionals: false }
    }

    fn finished(&self, mut fields: Fields) -> Eval<Vec<Field>> {
        if fields.overflow {
            let limit = self.shared.run.limits().output_bytes;
            return Err(RunError::from_bound("expansion", Bound::Output(limit)).into());
        }
        fields.end_field();
        Ok(fields.done)
    }

    fn part(&mut self, part: &WordPart, quoted: bool, fields: &mut Fields, io: &Io) -> Eval<()> {
        match part {
            WordPart::Literal { text, .. } => fields.push(text, quoted, Provenance::Author),
            WordPart::Quoted { text, .. } => fields.push(text, true, Provenance::Author),
            WordPart::DoubleQuoted { parts, .. } => {
                let (done, before) = (fields.done.len(), fields.current.clone());
                let outer = std::mem::take(&mut fields.no_positionals);
                for part in parts {
                    self.part(part, true, fields, io)?;
                }
                let text = |field: &Option<Field>| field.as_ref().map(Field::text).unwrap_or_default();
                if !std::mem::replace(&mut fields.no_positionals, outer) {
                    fields.push("", true, Provenance::Author);
                } else if fields.done.len() == done && text(&fields.current) == text(&before) {
                    // `"$@"` without positional parameters is no field, also beside other expansions that give nothing.
                    fields.current = before;
                }
            }
            WordPart::Parameter(parameter) => self.parameter(parameter, quoted, fields, io)?,
            WordPart::Substitution { list, .. } => {
                let text = self.substitution(list, io)?;
                self.insert(&text, quoted, Provenance::Expansion, fields);
            }
            WordPart::Arithmetic { expr, .. } => {
                let value = self.arithmetic(expr, io)?;
                // A number below zero would be an option that nobody wrote.
                self.insert(&value.to_string(), quoted, Provenance::Expansion, fields);
            }
            WordPart::Tilde { user: None, .. } => {
                let home = self.variables.get("HOME").map(|home| (home.value.clone(), home.provenance));
                let (home, provenance) = home.unwrap_or((String::new(), Provenance::Author));
                fields.push(&home, true, provenance);
            }
            WordPart::Tilde { user: Some(user), .. } => fields.push(&format!("~{user}"), true, Provenance::Author),
            WordPart::Hole { index, quoted: in_quotes, .. } => {
                let hole = self.shared.holes.get(*index).map(|hole| hole.value.clone());
                match hole {
                    Some(HoleValue::Words { text, .. }) if quoted || *in_quotes => {
                        fields.push(&text, true, Provenance::Argument);
                    }
                    Some(HoleValue::Words { words, .. }) => {
                        for (i, word) in words.iter().enumerate() {
                            if i > 0 {
                                fields.end_field();
                            }
                            fields.push(word, true, Provenance::Argument);
                        }
                    }
                    Some(HoleValue::Word(word)) => fields.push(&word, true, Provenance::Argument),
                    Some(HoleValue::Missing) | None => {
                        if quoted || *in_quotes {
                            fields.push("", true, Provenance::Argument);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn insert(&self, text: &str, quoted: bool, provenance: Provenance, fields: &mut Fields) {
        if quoted {
            fields.push(text, true, provenance);
        } else {
            let ifs = self.variables.get("IFS").map_or(" \t\n", |ifs| ifs.value.as_str());
            fields.split(text, ifs, provenance);
        }
    }

    fn value(&self, name: &ParameterName) -> Option<(String, Provenance)> {
        let author = |text: String| Some((text, Provenance::Author));
        match name {
            ParameterName::Variable(name) => {
                self.variables.get(name).map(|variable| (variable.value.clone(), variable.provenance))
            }
            ParameterName::Positional(0) => author(self.zero.to_string()),
            ParameterName::Positional(number) => {
                let index = usize::try_from(*number).ok()?.checked_sub(1)?;
                self.positional.get(index).map(|word| (word.text.clone(), word.provenance))
            }
            ParameterName::Special(special) => match special {
                Special::Status => author(self.status.to_string()),
                Special::Count => author(self.positional.len().to_string()),
                Special::Process => author("1".to_owned()),
                Special::Options => author(String::new()),
                Special::At | Special::Star => Some(joined(&self.positional, " ")),
                Special::Background => None,
            },
        }
    }

    fn parameter(&mut self, parameter: &Parameter, quoted: bool, fields: &mut Fields, io: &Io) -> Eval<()> {
        let many = matches!(parameter.name, ParameterName::Special(Special::At | Special::Star));
        let value = self.value(&parameter.name);
        let (text, provenance) = match &parameter.operation {
            ParameterOperation::Unset { rule, or_empty, word } => {
                let absent = match &value {
                    _ if many && !or_empty => self.positional.is_empty(),
                    value => value.as_ref().is_none_or(|(text, _)| *or_empty && text.is_empty()),
                };
                match (rule, absent, value) {
                    (UnsetRule::Default, true, _) | (UnsetRule::Alternative, false, _) => {
                        for part in &word.parts {
                            match part {
                                WordPart::Literal { text, .. } if !quoted => {
                                    self.insert(text, false, Provenance::Author, fields);
                                }
                                part => self.part(part, quoted, fields, io)?,
                            }
                        }
                        return Ok(());
                    }
                    (UnsetRule::Alternative, true, _) => {
                        fields.no_positionals |= parameter.name == ParameterName::Special(Special::At);
                        (String::new(), Provenance::Author)
                    }
                    (UnsetRule::Assign, true, _) => {
                        let field = self.pieces(word, io)?;
                        if let ParameterName::Variable(name) = &parameter.name {
                            self.assign(name, field.text(), field.whole_provenance())?;
                        }
                        (field.text(), field.whole_provenance())
                    }
                    (UnsetRule::Fail, true, _) => {
                        let message = self.text(word, io)?;
                        let message = if message.is_empty() { "parameter not set".to_owned() } else { message };
                        self.complain(io, &message)?;
                        return Err(Abort::Exit(1));
                    }
                    (_, false, Some(_)) if many => return self.positionals(parameter, quoted, fields, io),
                    (_, false, Some(value)) => value,
                    (_, false, None) => return Ok(()),
                }
            }
            operation => {
                let Some((text, provenance)) = value else {
                    if self.fail_on_unset {
                        self.complain(io, "unbound variable")?;
                        return Err(Abort::Exit(1));
                    }
                    let length = matches!(operation, ParameterOperation::Length);
                    let text = if length { "0" } else { "" };
                    self.insert(text, quoted, Provenance::Author, fields);
                    return Ok(());
                };
                if many && matches!(operation, ParameterOperation::Length) {
                    let count = self.positional.len().to_string();
                    self.insert(&count, quoted, Provenance::Author, fields);
                    return Ok(());
                }
                if many {
                    return self.positionals(parameter, quoted, fields, io);
                }
                let (text, produced) = self.operate(operation, &text, io)?;
                (text, if produced { Provenance::Expansion } else { provenance })
            }
        };
        self.insert(&text, quoted, provenance, fields);
        Ok(())
    }

    /// `$@` and `$*`: one field for each positional parameter, or one for all of them.
    fn positionals(&mut self, parameter: &Parameter, quoted: bool, fields: &mut Fields, io: &Io) -> Eval<()> {
        let words = match &parameter.operation {
            ParameterOperation::Substring { offset, length } => {
                self.slice_of_positionals(offset, length.as_ref(), io)?
            }
            operation => {
                let words = Arc::clone(&self.positional);
                let mut changed = Vec::with_capacity(words.len());
                for word in words.iter() {
                    let (text, produced) = self.operate(operation, &word.text, io)?;
                    let provenance = if produced { Provenance::Expansion } else { word.provenance };
                    changed.push(VectorWord { text, provenance });
                }
                changed
            }
        };
        let ifs = self.variables.get("IFS").map_or(" \t\n".to_owned(), |ifs| ifs.value.clone());
        if quoted && parameter.name == ParameterName::Special(Special::Star) {
            // In a here-document bash joins them with blanks.
            let separator: String = if self.in_document { " ".to_owned() } else { ifs.chars().take(1).collect() };
            let (text, provenance) = joined(&words, &separator);
            fields.push(&text, true, provenance);
            return Ok(());
        }
        fields.no_positionals |= words.is_empty();
        // Outside quotes they are joined and split again, so a separator that is not white space keeps empty ones.
        let separator = ifs.get(..ifs.chars().next().map_or(0, char::len_utf8)).unwrap_or_default();
        let splits = !quoted && !matches!(separator, "" | " " | "\t" | "\n");
        for (index, word) in words.iter().enumerate() {
            match index {
                0 => {}
                _ if splits => fields.split(separator, &ifs, Provenance::Author),
                _ => fields.end_field(),
            }
            self.insert(&word.text, quoted, word.provenance, fields);
        }
        Ok(())
    }

    /// `${@:offset:length}`, where 0 is `$0`.
    fn slice_of_positionals(
        &mut self,
        offset: &ArithmeticExpr,
        length: Option<&ArithmeticExpr>,
        io: &Io,
    ) -> Eval<Vec<VectorWord>> {
        let zero = VectorWord { text: self.zero.to_string(), provenance: Provenance::Author };
        let all: Vec<VectorWord> = std::iter::once(zero).chain(self.positional.iter().cloned()).collect();
        let size = i64::try_from(all.len()).unwrap_or(i64::MAX);
        let offset = self.arithmetic(offset, io)?;
        let start = if offset < 0 { size.saturating_add(offset) } else { offset };
        let count = match length {
            None => size,
            Some(length) => self.arithmetic(length, io)?,
        };
        if count < 0 {
            return self.negative_length(io);
        }
        let (Ok(start), Ok(count)) = (usize::try_from(start), usize::try_from(count)) else { return Ok(Vec::new()) };
        Ok(all.into_iter().skip(start).take(count).collect())
    }

    /// A substring that would end before it begins.
    fn negative_length<T>(&self, io: &Io) -> Eval<T> {
        self.complain(io, "the length of a substring is less than 0")?;
        Err(Abort::Exit(1))
    }

    /// The value after an operation, and whether the operation put something produced into it.
    fn operate(&mut self, operation: &ParameterOperation, text: &str, io: &Io) -> Eval<(String, bool)> {
        let mut produced = false;
        let text = match operation {
            ParameterOperation::Value | ParameterOperation::Unset { .. } => text.to_owned(),
            ParameterOperation::Length => text.chars().count().to_string(),
            // As bash does it, the pattern is not even expanded.
            ParameterOperation::Remove { .. } if text.is_empty() => String::new(),
            ParameterOperation::Remove { side, longest, pattern } => {
                let pattern = self.pieces(pattern, io)?;
                self.affordable(&pattern, text)?;
                self.compile(&pattern, io)?.remove(text, *side, *longest).to_owned()
            }
            ParameterOperation::Replace { scope, pattern, replacement } => {
                let replacement = self.pieces(replacement, io)?;
                produced = replacement.whole_provenance() == Provenance::Expansion;
                let pattern = self.pieces(pattern, io)?;
                self.affordable(&pattern, text)?;
                // Before it is built: at worst, every character is replaced.
                let limit = self.shared.run.limits().output_bytes;
                let worst = (text.len() as u64 + 1).saturating_mul(replacement.len() as u64);
                if worst > REPLACED_TIMES * limit {
                    return Err(RunError::from_bound("expansion", Bound::Output(limit)).into());
                }
                self.compile(&pattern, io)?.replace(text, &replacement.text(), *scope)
            }
            ParameterOperation::Substring { offset, length } => {
                let chars: Vec<char> = text.chars().collect();
                let size = i64::try_from(chars.len()).unwrap_or(i64::MAX);
                let offset = self.arithmetic(offset, io)?;
                let start = if offset < 0 { size.saturating_add(offset) } else { offset };
                let length = match length {
                    None => size,
                    Some(length) => self.arithmetic(length, io)?,
                };
                if !(0..=size).contains(&start) {
                    return Ok((String::new(), false));
                }
                let end = if length < 0 { size.saturating_add(length) } else { start.saturating_add(length).min(size) };
                if end < start {
                    return self.negative_length(io);
                }
                let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
                range.and_then(|(start, end)| chars.get(start..end)).unwrap_or_default().iter().collect()
            }
            ParameterOperation::Case { upper, all } => {
                let change = |c: char| -> String {
                    if *upper { c.to_uppercase().collect() } else { c.to_lowercase().collect() }
                };
                let mut chars = text.chars();
                if *all {
                    chars.map(change).collect()
                } else {
                    chars.next().map(change).into_iter().chain(std::iter::once(chars.collect())).collect()
                }
            }
        };
        Ok((text, produced))
    }

    /// Whether a text can be matched against a pattern in a bounded number of steps.
    pub(super) fn affordable(&self, pattern: &Field, text: &str) -> Eval<()> {
        let steps = (pattern.len() as u64 + 1).saturating_mul(text.len() as u64 + 1);
        if steps > PATTERN_STEPS {
            return Err(RunError::from_bound("a pattern", Bound::PatternSteps(PATTERN_STEPS)).into());
        }
        Ok(())
    }

    /// Runs a list in a subshell and takes its output, without the newlines at its end.
    pub(super) fn substitution(&mut self, list: &List, io: &Io) -> Eval<String> {
        if let Some(redirect) = file_substitution(list) {
            self.substituted = true;
            let bytes = self.file_text(redirect, io)?.unwrap_or_default();
            return Ok(substituted_text(bytes));
        }
        let capture = Capture::new(self.shared.run.limits().output_bytes, Overflow::Stop);
        let inner_io = Io { stdout: Output::Capture(Arc::clone(&capture)), ..io.clone() };
        let mut inner = self.clone();
        inner.exit_on_error = false;
        inner.in_document = false;
        inner.finish(|shell| shell.nested(|shell| shell.list(list, &inner_io, false)))?;
        self.status = inner.status;
        self.substituted = true;
        self.decided_by = inner.decided_by;
        Ok(substituted_text(capture.take().0))
    }

    /// The value of an expression whose error ends the shell, as in an expansion.
    pub(super) fn arithmetic(&mut self, expr: &ArithmeticExpr, io: &Io) -> Eval<i64> {
        self.arithmetic_or_complaint(expr, io)?.ok_or(Abort::Exit(1))
    }

    /// The value of an expression; `None` when it has none, which has been said.
    pub(super) fn arithmetic_or_complaint(&mut self, expr: &ArithmeticExpr, io: &Io) -> Eval<Option<i64>> {
        let mut texts = Vec::new();
        for part in &expr.expansions {
            texts.push(self.parts_as_one(std::slice::from_ref(part), io)?.text());
        }
        let mut names = Names { shell: self, unset: None };
        let value = arithmetic::evaluate(expr, &texts, &mut names);
        if let Some(name) = names.unset.filter(|_| self.fail_on_unset) {
            self.complain(io, &format!("{name}: unbound variable"))?;
            return Err(Abort::Exit(1));
        }
        match value {
            Ok(value) => Ok(Some(value)),
            Err(error) => {
                self.complain(io, &error.to_string())?;
                Ok(None)
            }
        }
    }

    pub(super) fn compile(&mut self, field: &Field, io: &Io) -> Eval<Pattern> {
        match compile(&field.pieces) {
            Ok(pattern) => Ok(pattern),
            Err(error) => {
                self.complain(io, &error)?;
                Err(Abort::Exit(1))
            }
        }
    }
}

/// `$(< file)` is the file's text.
fn file_substitution(list: &List) -> Option<&Redirect> {
    let [item] = list.items.as_slice() else { return None };
    let [Command::Simple(command)] = item.and_or.first.stages.as_slice() else { return None };
    let [redirect] = command.redirects.as_slice() else { return None };
    let alone = item.and_or.rest.is_empty() && !item.and_or.first.negated && item.background.is_none();
    let bare = command.words.is_empty() && command.assignments.is_empty();
    let reads = redirect.operator == RedirectOperator::Read && redirect.fd.is_none_or(|fd| fd == 0);
    (alone && bare && reads).then_some(redirect)
}

/// What a substitution gives: no NUL, and no newlines at the end.
fn substituted_text(mut bytes: Vec<u8>) -> String {
    bytes.retain(|byte| *byte != 0);
    String::from_utf8_lossy(&bytes).trim_end_matches('\n').to_owned()
}

/// All of the words as one text.
fn joined(words: &[VectorWord], separator: &str) -> (String, Provenance) {
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    let any = |provenance| words.iter().any(|word| word.provenance == provenance);
    let provenance = match () {
        () if any(Provenance::Expansion) => Provenance::Expansion,
        () if any(Provenance::Argument) => Provenance::Argument,
        () => Provenance::Author,
    };
    (texts.join(separator), provenance)
}

pub(super) fn compile(pieces: &[Piece]) -> Result<Pattern, String> {
    let pieces: Vec<PatternPiece<'_>> = pieces
        .iter()
        .map(|piece| if piece.quoted { PatternPiece::Quoted(&piece.text) } else { PatternPiece::Active(&piece.text) })
        .collect();
    Pattern::compile(&pieces).map_err(|error| error.to_string())
}

struct Names<'s, 'a> {
    shell: &'s mut Shell<'a>,
    /// The first variable that was read and is not set.
    unset: Option<String>,
}

impl Variables for Names<'_, '_> {
    fn get(&mut self, name: &str) -> Option<String> {
        let value = self.shell.variables.get(name).map(|variable| variable.value.clone());
        if value.is_none() {
            self.unset.get_or_insert_with(|| name.to_owned());
        }
        value
    }

    fn set(&mut self, name: &str, value: i64) -> Result<(), ArithmeticError> {
        // Whatever the number was computed from.
        let assigned = self.shell.assign(name, value.to_string(), Provenance::Expansion);
        assigned.map_err(|_| ArithmeticError::NotAssignable(name.to_owned()))
    }
}

impl RunError {
    fn from_bound(command: &str, bound: Bound) -> Self {
        stopped(command, Stop::Bound(bound))
    }
}
