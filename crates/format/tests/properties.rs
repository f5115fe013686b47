//! Properties of reading, fixing and filling that hold for every input.

use proptest::prelude::*;
use skillgate_core::{Profile, Span, Value, ValueKind};
use skillgate_format::{
    Document, InjectionMode, ReadOptions, Template, TemplateOptions, Values, apply_fixes, expand_variables,
    export_standard, fix_all, split_list, split_words,
};

/// Texts that look like skills more often than random bytes do.
fn skill_text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("name".to_owned()),
        Just("description".to_owned()),
        Just("allowed-tools".to_owned()),
        Just("allowedTools".to_owned()),
        Just("argument-hint".to_owned()),
        Just("metadata".to_owned()),
        Just("hooks".to_owned()),
        Just("paths".to_owned()),
        "[a-z]{1,6}",
    ];
    let value = prop_oneof![
        "[ -~]{0,20}",
        Just("[a] [b]".to_owned()),
        Just("a: b".to_owned()),
        Just("*x, @y".to_owned()),
        Just("x #1 y".to_owned()),
        Just("\"a\" b".to_owned()),
        Just("\"open".to_owned()),
        Just("[x: {y".to_owned()),
        Just("{{X}}".to_owned()),
        Just("|\n  text: here\n  more".to_owned()),
        Just("\n  - a\n  - *b".to_owned()),
        Just("\n\tk: v".to_owned()),
        Just("&a b".to_owned()),
        Just("*a".to_owned()),
        Just("x\u{200b}y".to_owned()),
        Just("text\nwrapped: words\nhere".to_owned()),
    ];
    let line = (word, value).prop_map(|(key, value)| format!("{key}: {value}"));
    let body = prop_oneof!["[ -~\n]{0,60}", Just("# T\n\nText `x` !`ls $1` $ARGUMENTS\n".to_owned())];
    let before = prop_oneof![4 => Just(""), 1 => Just("# T\n\n"), 1 => Just("\u{feff}"), 1 => Just("```md\n")];
    let end = prop_oneof![3 => Just("\n"), 1 => Just("\r\n"), 1 => Just("\r")];
    (before, prop::collection::vec(line, 0..6), body, end).prop_map(|(before, lines, body, end)| {
        format!("{before}---\n{}\n---\n{body}", lines.join("\n")).replace('\n', end)
    })
}

/// A failing input is written into the test's own file as a named case.
fn config() -> ProptestConfig {
    ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() }
}

fn options(profile: Profile) -> ReadOptions {
    ReadOptions { profile, directory_name: Some("dir".into()), ..ReadOptions::default() }
}

/// Checks what every document promises.
fn sound(document: &Document) {
    let source = document.source();
    let inside = |span: Span| span.slice(source).is_some();
    for found in document.diagnostics() {
        assert!(found.span.is_none_or(inside), "{found:?}");
        assert!(found.fix.as_ref().is_none_or(|fix| inside(fix.span)), "{found:?}");
    }
    let mut pending: Vec<&Value> = Vec::new();
    for entry in document.entries() {
        assert!(inside(entry.key_span) && inside(entry.value.span), "{entry:?}");
        pending.push(&entry.value);
    }
    while let Some(value) = pending.pop() {
        assert!(inside(value.span), "{value:?}");
        match &value.kind {
            ValueKind::List(items) => pending.extend(items),
            ValueKind::Map(entries) => pending.extend(entries.iter().map(|entry| &entry.value)),
            ValueKind::Null | ValueKind::Scalar(_) => {}
        }
    }
    let body = document.body();
    for offset in 0..=body.len() {
        if body.is_char_boundary(offset) {
            assert!(source.is_char_boundary(document.source_offset(offset)), "{offset}");
        }
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_bytes_can_be_read(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        for profile in [Profile::Safe, Profile::Claude, Profile::Strict] {
            let document = Document::read(&bytes, &options(profile));
            sound(&document);
            let _ = export_standard(&document);
            let _ = Document::read_prefix(&bytes, &options(profile));
        }
    }

    #[test]
    fn any_text_can_be_expanded(body in "\\PC{0,80}", arguments in "\\PC{0,20}") {
        for profile in [Profile::Safe, Profile::Claude, Profile::Strict] {
            let template = Template::parse(&body, &TemplateOptions { profile, arguments: vec!["a".into(), "b-c".into()] });
            for site in template.injections() {
                prop_assert_eq!(site.span.slice(&body).map(|text| text.contains(&site.source)), Some(true));
                for hole in &site.holes {
                    prop_assert!(hole.span.slice(&site.source).is_some_and(|text| text.starts_with('$')));
                }
            }
            let _ = template.fill(&Values { arguments: Some(&arguments), ..Values::default() }).assemble::<&str>(&[]);
        }
        let _ = split_words(&arguments);
        let _ = expand_variables(&body, &Values::default());
        for (entry, span) in split_list(&body) {
            prop_assert_eq!(span.slice(&body), Some(entry.as_str()));
        }
    }

    #[test]
    fn skills_are_sound_and_every_key_is_accounted_for(text in skill_text()) {
        let document = Document::read(text.as_bytes(), &options(Profile::Safe));
        sound(&document);
        // A line at the margin of a header that reads as `key: ` is an entry, or lies inside of what a diagnostic or
        // another entry's value covers.
        let Some(header) = document.header_span() else { return Ok(()) };
        let mut at = header.start;
        for line in text[header.range()].split_inclusive(['\n', '\r']) {
            let place = Span::at(at);
            let key = line.split_once(": ").map(|(key, _)| key).filter(|key| key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'));
            if let Some(key) = key.filter(|key| !key.is_empty()) {
                let entry = document.entries().iter().any(|entry| entry.key == key);
                let covered = document.entries().iter().any(|entry| entry.value.span.contains(place));
                let reported = document.diagnostics().iter().any(|found| found.span.is_some_and(|span| span.contains(place)))
                    || document.failed_closed();
                prop_assert!(entry || covered || reported, "{key} in {text:?}: {:?}", document.entries());
            }
            at += line.len();
        }
    }

    #[test]
    fn fixing_twice_changes_nothing_more(text in skill_text()) {
        let fixed = fix_all(text.as_bytes(), &options(Profile::Safe));
        prop_assert!(fixed.diagnostics().iter().all(|found| found.fix.is_none()), "{:?}", fixed.diagnostics());
        let again = fix_all(fixed.source().as_bytes(), &options(Profile::Safe));
        prop_assert_eq!(again.source(), fixed.source());
    }

    #[test]
    fn a_repair_reads_as_what_the_fix_writes(text in skill_text()) {
        let document = Document::read(text.as_bytes(), &options(Profile::Safe));
        let fixed = apply_fixes(document.source(), document.diagnostics().iter().filter(|found| found.code.rule() == "yaml-recovered"));
        let again = Document::read(fixed.as_bytes(), &options(Profile::Safe));
        let values = |document: &Document| document.entries().iter().map(|entry| (entry.key.clone(), entry.value.text().map(str::to_owned))).collect::<Vec<_>>();
        if !document.failed_closed() {
            prop_assert_eq!(values(&again), values(&document), "{:?}", fixed);
        }
    }

    #[test]
    fn a_prefix_reads_as_the_whole(text in skill_text()) {
        let whole = Document::read(text.as_bytes(), &options(Profile::Safe));
        for length in [10, 40, 80, text.len()] {
            let prefix = &text.as_bytes()[..length.min(text.len())];
            if let Some(head) = Document::read_prefix(prefix, &options(Profile::Safe)) {
                prop_assert_eq!(head.frontmatter(), whole.frontmatter());
                prop_assert_eq!(head.header_state(), whole.header_state());
                prop_assert_eq!(head.label(), whole.label());
                prop_assert_eq!(head.description(), whole.description());
                prop_assert!(head.diagnostics().iter().all(|found| whole.diagnostics().contains(found)));
            }
        }
    }

    #[test]
    fn the_standard_form_is_standard(text in skill_text()) {
        let document = Document::read(text.as_bytes(), &ReadOptions { directory_name: Some("a-skill".into()), ..ReadOptions::default() });
        let form = export_standard(&document);
        let again = Document::read(form.as_bytes(), &ReadOptions {
            directory_name: Some("a-skill".into()), profile: Profile::Strict, ..ReadOptions::default()
        });
        let wrong: Vec<_> = again.diagnostics().iter().filter(|found| found.code.rule() == "not-standard")
            .filter(|found| document.description().is_some() || !found.message.contains("description")).collect();
        prop_assert!(wrong.is_empty(), "{wrong:?} in {form}");
    }

    #[test]
    fn values_never_decide_what_is_an_injection(body in "[ a!`$1\n{}']{0,60}", first in "\\PC{0,20}", second in "[ !`$;&|\"'\n\\\\]{0,20}") {
        let template = Template::parse(&body, &TemplateOptions::default());
        let fill = |arguments: &str| template.fill(&Values { arguments: Some(arguments), ..Values::default() });
        let (one, two) = (fill(&first), fill(&second));
        prop_assert_eq!(one.injections().len(), two.injections().len());
        for (one, two) in one.injections().iter().zip(two.injections()) {
            prop_assert_eq!(&one.source, &two.source);
            prop_assert_eq!(one.holes.len(), two.holes.len());
        }
        let literal = template.fill(&Values { arguments: Some(&first), injections: InjectionMode::Literal, ..Values::default() });
        prop_assert_eq!(literal.injections().len(), 0);
    }

    #[test]
    fn filling_never_reads_a_value_again(value in "[ -~]{0,30}") {
        let template = Template::parse("<$ARGUMENTS|!`x`>", &TemplateOptions::default());
        let filled = template.fill(&Values { arguments: Some(&value), ..Values::default() });
        prop_assert_eq!(filled.assemble::<&str>(&[]), format!("<{value}|!`x`>"));
        let template = Template::parse("<$ARGUMENTS| !`x`>", &TemplateOptions::default());
        let filled = template.fill(&Values { arguments: Some("a"), ..Values::default() });
        prop_assert_eq!(filled.assemble(&[&value]), format!("<a| {value}>"));
    }

    #[test]
    fn quoted_words_split_into_themselves(words in prop::collection::vec("[ -~]{0,8}", 0..5)) {
        let text: Vec<String> = words.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''"))).collect();
        prop_assert_eq!(split_words(&text.join(" ")).words, words);
    }
}
