//! Notices when headers are read otherwise than before, for whoever keeps what they were read as.

#![expect(clippy::disallowed_methods, reason = "the cases are files")]

use skillgate_core::{Digest, LoadedFrom, Profile};
use skillgate_format::{Document, READER, ReadOptions};
use std::fmt::Write as _;
use std::path::Path;

/// The reader and the digest of all that it makes of the texts here.
const KNOWN: (u32, &str) = (2, "10ef1919ffeeb63fa881400ef292b52a5725fd3bc2991edb68cbed26c78d9391");

/// Texts beside those of the cases: each rule that reads a header has something to say in one of them.
const TEXTS: &[&str] = &[
    "---\nname: review\ndescription: Reviews a change: before it lands.\nallowed-tools: Read, Bash(git log:*)\n---\n",
    "---\nname: Review It\ndescription: [a, b]\nallowed_tools: [Read, {a: b}]\ntools: Read\neffort: 7\n---\n",
    "---\ndescription: &a text\nmodel: inherit\nuser-invocable: maybe\ndisable-model-invocation: yes\n---\n",
    "---\ndescription: x\npaths: ['src/**', '[']\nrequires: {skills: [a], programs: git, version: 1.x}\nhooks: 3\n---\n",
    "---\ndescription: x\ndescription: y\nallowed-tools: Read\nallowed-tools: Edit\ncontext: forked\nshell: [a]\n---\n",
    "---\nname: p\u{430}ypal\ndescription: \"zero\u{200b}width\"\narguments: a b 1c\nargument-hint: [x]\n---\n",
    "\u{feff}---\r\nname: a/b\r\ndescription: |\r\n  Two\r\n  lines\r\nmetadata: {a: [1, ~]}\r\nbackground: on\r\ndeferred: yes\r\n---\r\n",
    "---\ndescription: {{DESCRIPTION}}\nwhen_to_use: when # cut\nversion: 1.10\nlicence: MIT\nagent: a\n---\n",
];

fn texts() -> Vec<Vec<u8>> {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/format");
    let mut cases: Vec<_> = std::fs::read_dir(cases)
        .expect("the cases are there")
        .map(|case| case.expect("an entry").path().join("SKILL.md"))
        .collect();
    cases.sort();
    let cases = cases.into_iter().map(|case| std::fs::read(case).expect("a case"));
    cases.chain(TEXTS.iter().map(|text| text.as_bytes().to_vec())).collect()
}

#[test]
fn what_reads_otherwise_is_another_reader() {
    let mut read = String::new();
    for text in texts() {
        for profile in [Profile::Safe, Profile::Claude, Profile::Strict] {
            for loaded_from in [LoadedFrom::Skills, LoadedFrom::Commands] {
                let (directory_name, file_name) = (Some("review".into()), Some("SKILL.md".into()));
                let options = ReadOptions { profile, loaded_from, directory_name, file_name, ..ReadOptions::default() };
                let document = Document::read(&text, &options);
                let (label, description) = (document.label(), document.description());
                let (state, header, found) = (document.header_state(), document.frontmatter(), document.diagnostics());
                writeln!(read, "{state:?} {label:?} {description:?} {header:?} {found:?}").expect("a text takes all");
            }
        }
    }
    let digest = Digest::of(read.as_bytes()).to_string();
    assert_eq!(
        (READER, digest.as_str()),
        KNOWN,
        "headers are read otherwise than before: raise `READER`, then write its number and the digest here"
    );
}
