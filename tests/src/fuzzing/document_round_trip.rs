//! A document to text and back: fixes end and are final, and the standard form says what the document says.

use skillgate_core::{Field, Guarded, Profile};
use skillgate_format::{Document, ReadOptions, apply_fixes, export_standard, fix_all};

/// Fixes and exports `data`, and reads the results.
pub fn document_round_trip(data: &[u8]) {
    let options = ReadOptions { directory_name: Some("a-skill".to_owned()), ..ReadOptions::default() };
    let document = Document::read(data, &options);
    fixes_are_final(data, &options);
    a_repair_reads_as_what_its_fix_writes(&document, &options);
    the_standard_form_says_the_same(&document, &options);
}

fn fixes_are_final(data: &[u8], options: &ReadOptions) {
    let fixed = fix_all(data, options);
    let left: Vec<_> = fixed.diagnostics().iter().filter(|found| found.fix.is_some()).collect();
    assert!(left.is_empty(), "{left:?} in {:?}", fixed.source());
    assert_eq!(apply_fixes(fixed.source(), fixed.diagnostics()), fixed.source());
    // The lossy text of a file that is not UTF-8 has no fixes; written out it is another file, which has.
    if std::str::from_utf8(data).is_ok() {
        let again = fix_all(fixed.source().as_bytes(), options);
        assert_eq!(again.source(), fixed.source());
    }
}

fn a_repair_reads_as_what_its_fix_writes(document: &Document, options: &ReadOptions) {
    if document.failed_closed() {
        return;
    }
    let repairs = document.diagnostics().iter().filter(|found| found.code.rule() == "yaml-recovered");
    let fixed = apply_fixes(document.source(), repairs);
    let again = Document::read(fixed.as_bytes(), options);
    let values = |document: &Document| -> Vec<(String, Option<String>)> {
        let entries = document.entries().iter();
        entries.map(|entry| (entry.key.clone(), entry.value.text().map(str::to_owned))).collect()
    };
    assert_eq!(values(&again), values(document), "{fixed:?}");
}

fn the_standard_form_says_the_same(document: &Document, options: &ReadOptions) {
    let form = export_standard(document);
    let read = |profile| {
        // The form may be longer than what it was made of: quotes are added.
        let options = ReadOptions { profile, max_file_bytes: u64::MAX, max_header_bytes: u64::MAX, ..options.clone() };
        Document::read(form.as_bytes(), &options)
    };
    let strict = read(Profile::Strict);
    let wrong: Vec<_> = strict
        .diagnostics()
        .iter()
        .filter(|found| found.code.rule() == "not-standard")
        .filter(|found| document.description().is_some() || !found.message.contains("description"))
        .collect();
    assert!(wrong.is_empty(), "{wrong:?} in {form:?}");
    let again = read(Profile::Safe);
    assert_eq!(again.body(), document.body(), "{form:?}");
    let text = |field: &Option<Field<String>>| field.as_ref().map(|field| field.value.clone());
    let (front, front_again) = (document.frontmatter(), again.frontmatter());
    assert_eq!(text(&front_again.license), text(&front.license), "{form:?}");
    narrows_as_much(&front.allowed_tools, &front_again.allowed_tools, &form);
    // The form of the form is the form; without a description the body gives one, which the form then has.
    if document.description().is_some_and(|description| !description.text.is_empty()) {
        assert_eq!(export_standard(&again), form);
    }
}

/// The exported list has no tool that the document's has not, and a list that could not be read permits nothing.
fn narrows_as_much(before: &Guarded<Vec<Field<String>>>, after: &Guarded<Vec<Field<String>>>, form: &str) {
    let texts = |list: &[Field<String>]| list.iter().map(|tool| tool.value.clone()).collect::<Vec<_>>();
    match (before, after) {
        (Guarded::Absent, Guarded::Absent) => {}
        (Guarded::Unreadable(_), Guarded::Present(list)) => assert!(list.value.is_empty(), "{list:?} in {form:?}"),
        (Guarded::Present(before), Guarded::Present(after)) => {
            let before = texts(&before.value);
            for tool in texts(&after.value) {
                assert!(before.contains(&tool), "`{tool}` is not among {before:?} in {form:?}");
            }
        }
        (_, after) => assert!(matches!(after, Guarded::Unreadable(_)), "{before:?} became {after:?} in {form:?}"),
    }
}
