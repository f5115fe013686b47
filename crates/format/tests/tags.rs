//! A `!` in front of a value is a tag of YAML. One that nobody here knows is text where text is wanted, and nothing where authority is
//! decided; it is never left out without a word.

use skillgate_core::Guarded;
use skillgate_format::{Document, ReadOptions};

fn read(header: &str) -> Document {
    Document::read(format!("---\n{header}\n---\nx\n").as_bytes(), &ReadOptions::default())
}

#[test]
fn a_tag_is_part_of_a_text() {
    let document = read("description: !important Deploys. Ask first.");
    let description = document.frontmatter().description.as_ref().map(|field| field.value.as_str());
    assert_eq!(description, Some("!important Deploys. Ask first."));
    assert!(document.diagnostics().iter().any(|found| found.code.to_string() == "yaml-recovered:description"));
}

#[test]
fn a_tag_on_a_list_of_tools_permits_nothing() {
    for tools in ["!!python/object:os.system Bash", "!tools [Bash]", "[!x Bash]"] {
        let document = read(&format!("description: x\nallowed-tools: {tools}"));
        assert!(matches!(document.frontmatter().allowed_tools, Guarded::Unreadable(_)), "{tools}: {document:?}");
        assert!(!document.diagnostics().is_empty(), "{tools}");
    }
}

#[test]
fn the_tags_of_yaml_itself_are_read() {
    let document = read("description: !!str 12\nallowed-tools: !!seq [Bash]");
    assert_eq!(document.frontmatter().description.as_ref().map(|field| field.value.as_str()), Some("12"));
    assert_eq!(document.frontmatter().allowed_tools.present().map(Vec::len), Some(1));
    assert!(document.diagnostics().is_empty(), "{:?}", document.diagnostics());
}
