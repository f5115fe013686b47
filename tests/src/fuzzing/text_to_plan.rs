//! A body and its arguments to a prompt: one pass over the author's bytes, and every value stays a value.
//!
//! The input is three fields with form feeds between them: names of arguments, the arguments as typed, the body.

use skillgate_core::{HoleValue, Profile, Span};
use skillgate_format::{
    FilledTemplate, InjectionMode, Template, TemplateOptions, Values, expand_variables, split_list, split_words,
    with_base_directory,
};

/// Begins a marker that stands for a word; an input that holds it says nothing.
const OPEN: char = '\u{f0000}';
/// Ends a marker.
const CLOSE: char = '\u{f0001}';

/// Plans the body in `data` in every profile, with its arguments and with markers in their place.
pub fn text_to_plan(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if text.contains([OPEN, CLOSE]) {
        return;
    }
    let mut fields = text.splitn(3, '\u{c}');
    let (names, arguments) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
    let body = fields.next().unwrap_or_default();
    let names: Vec<String> = names.split_whitespace().map(str::to_owned).collect();
    for profile in [Profile::Safe, Profile::Claude, Profile::Strict] {
        let template = Template::parse(body, &TemplateOptions { profile, arguments: names.clone() });
        places_are_sound(&template, body);
        values_stay_values(&template, arguments);
        outputs_stay_outputs(&template, arguments);
        injections_follow_their_mode(&template, arguments);
        if profile == Profile::Strict {
            let filled = template.fill(&Values::default());
            assert_eq!(filled.assemble::<&str>(&[]), body);
        }
    }
    words_are_sound(arguments);
    for (entry, span) in split_list(body) {
        assert_eq!(span.slice(body), Some(entry.as_str()));
    }
    let values = values(arguments);
    assert!(expand_variables(body, &values).len() <= body.len() + body.len() / 4 * arguments.len());
    assert!(with_base_directory("/s", body).ends_with(body));
}

fn values(arguments: &str) -> Values<'_> {
    Values { arguments: Some(arguments), skill_dir: Some("/skill"), project_dir: Some("/project"), ..Values::default() }
}

/// Placeholders and injections are apart, in order, and where they say they are.
fn places_are_sound(template: &Template, body: &str) {
    let mut spans: Vec<Span> = template.placeholders().map(|(span, _)| span).collect();
    assert!(spans.iter().all(|span| span.slice(body).is_some_and(|text| text.starts_with('$'))));
    for site in template.injections() {
        let source = Span::new(site.source_start, site.source_start + site.source.len());
        assert_eq!(source.slice(body), Some(site.source.as_str()));
        assert!(site.span.start <= source.start && source.end <= site.span.end && site.span.slice(body).is_some());
        let mut free = 0;
        for hole in &site.holes {
            assert!(hole.span.start >= free && hole.span.slice(&site.source).is_some_and(|text| text.starts_with('$')));
            free = hole.span.end;
        }
        spans.push(site.span);
    }
    spans.sort_by_key(|span| span.start);
    assert!(spans.windows(2).all(|pair| pair[0].end <= pair[1].start), "{spans:?}");
    assert!(template.diagnostics().iter().all(|found| found.span.is_none_or(|span| span.slice(body).is_some())));
}

/// The arguments with a marker for each word. It splits into as many words; the text as typed is told from the words by the
/// quotes that splitting takes away.
struct Markers {
    typed: String,
    words: Vec<(String, String)>,
    arguments: String,
}

impl Markers {
    fn of(arguments: &str) -> Self {
        let words = split_words(arguments).words;
        let typed: Vec<String> = (0..words.len()).map(|at| format!("{OPEN}''{at}{CLOSE}")).collect();
        let marked = words.into_iter().enumerate().map(|(at, word)| (format!("{OPEN}{at}{CLOSE}"), word)).collect();
        Self { typed: typed.join(" "), words: marked, arguments: arguments.to_owned() }
    }

    /// A text that holds markers, with the values in their place.
    fn resolve(&self, text: &str) -> String {
        let text = if self.typed.is_empty() { text.to_owned() } else { text.replace(&self.typed, &self.arguments) };
        self.words.iter().fold(text, |text, (marker, word)| text.replace(marker, word))
    }
}

/// Filling with markers and then putting the values in gives what filling with the values gives. If a value were read again,
/// as a placeholder, an injection or an escape, the two would differ.
fn values_stay_values(template: &Template, arguments: &str) {
    let markers = Markers::of(arguments);
    if markers.words.is_empty() {
        return;
    }
    let plain = template.fill(&values(arguments));
    let marked = template.fill(&values(&markers.typed));
    assert_eq!(markers.resolve(&prompt(&marked)), prompt(&plain));
    assert_eq!(marked.injections().len(), plain.injections().len());
    for (marked, plain) in marked.injections().iter().zip(plain.injections()) {
        assert_eq!((&marked.source, marked.span, marked.form), (&plain.source, plain.span, plain.form));
        assert_eq!(marked.holes.len(), plain.holes.len());
        for (marked, plain) in marked.holes.iter().zip(&plain.holes) {
            assert_eq!(marked.span, plain.span);
            assert_eq!(resolved(&marked.value, &markers), plain.value);
        }
    }
}

fn prompt(filled: &FilledTemplate) -> String {
    let outputs: Vec<String> = (0..filled.injections().len()).map(|at| format!("<output {at}>")).collect();
    filled.assemble(&outputs)
}

fn resolved(value: &HoleValue, markers: &Markers) -> HoleValue {
    match value {
        HoleValue::Words { words, text } => HoleValue::Words {
            words: words.iter().map(|word| markers.resolve(word)).collect(),
            text: markers.resolve(text),
        },
        HoleValue::Word(word) => HoleValue::Word(markers.resolve(word)),
        HoleValue::Missing => HoleValue::Missing,
    }
}

/// Every output stands once, in order, and is not read again.
fn outputs_stay_outputs(template: &Template, arguments: &str) {
    let filled = template.fill(&values(arguments));
    let count = filled.injections().len();
    let markers: Vec<String> = (0..count).map(|at| format!("{OPEN}{at}{CLOSE}")).collect();
    let hostile: Vec<String> = (0..count).map(|at| format!("{arguments}$ARGUMENTS $1 !`x` {at}")).collect();
    let marked = filled.assemble(&markers);
    let mut from = 0;
    for marker in &markers {
        assert_eq!(marked.matches(marker.as_str()).count(), 1, "{marked:?}");
        let at = marked.find(marker.as_str()).unwrap_or_default();
        assert!(at >= from, "{marked:?}");
        from = at;
    }
    let expected = markers.iter().zip(&hostile).fold(marked, |text, (marker, output)| text.replace(marker, output));
    assert_eq!(filled.assemble(&hostile), expected);
}

fn injections_follow_their_mode(template: &Template, arguments: &str) {
    for mode in [InjectionMode::DisabledByPolicy, InjectionMode::Literal] {
        let filled = template.fill(&Values { injections: mode, ..values(arguments) });
        assert!(filled.injections().is_empty(), "{mode:?}");
    }
}

/// Words in quotes are split into themselves.
fn words_are_sound(arguments: &str) {
    let words = split_words(arguments);
    assert!(words.unbalanced.is_none_or(|span| span.slice(arguments).is_some()));
    let quoted: Vec<String> = words.words.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''"))).collect();
    let again = split_words(&quoted.join(" "));
    assert_eq!((again.words, again.unbalanced), (words.words, None));
}
