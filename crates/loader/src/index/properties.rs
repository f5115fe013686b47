//! What is kept of a header is the header: for those of the cases, for generated ones, and for bytes that were changed.

#![expect(
    clippy::disallowed_methods,
    reason = "the cases are read from the repository, not through the code under test"
)]

use super::codec::Writer;
use super::header::{self, Context, Header, HeaderBytes};
use crate::{HeaderIndex, LoadOptions, RootKind, SkillRoot, SkillRoots, stamp};
use proptest::prelude::*;
use skillgate_core::{Digest, Frontmatter, FrontmatterStore, LoadedFrom, Profile, Source};
use skillgate_format::{Document, ReadOptions};
use skillgate_state::OwnerDir;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const PROFILES: [Profile; 3] = [Profile::Safe, Profile::Claude, Profile::Strict];

/// The directories of the cases.
fn cases() -> Vec<PathBuf> {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/format");
    let entries = fs::read_dir(cases).expect("the cases are there");
    entries.map(|entry| entry.expect("an entry").path()).collect()
}

fn options(profile: Profile, loaded_from: LoadedFrom) -> ReadOptions {
    let (directory_name, file_name) = (Some("review".into()), Some("SKILL.md".into()));
    ReadOptions { profile, loaded_from, directory_name, file_name, ..ReadOptions::default() }
}

fn context(options: &ReadOptions) -> Context {
    let mut context = Context::default();
    context.set(options);
    context
}

/// What the bytes are taken for.
fn taken(bytes: &[u8], context: &Context) -> Option<Header> {
    let store: Arc<dyn FrontmatterStore> = Arc::new(HeaderBytes(bytes.to_vec()));
    Header::of_bytes(bytes, context, &store, 0, 0)
}

/// Checks that the header of `text` is what is kept of it; the bytes.
fn check(text: &[u8], options: &ReadOptions) -> Vec<u8> {
    let document = Document::read(text, options);
    let digest = Digest::of(text);
    let context = context(options);
    let bytes = header::to_bytes(&document, digest, &context, &mut Writer::default()).expect("it can be kept");
    let header = taken(&bytes, &context).expect("it is what was kept");
    let (values, given) = (header.frontmatter.clone(), document.frontmatter().given());
    assert_eq!(header.frontmatter.gives_description(), document.frontmatter().description.is_some());
    let Frontmatter { when_to_use, disable_model_invocation, user_invocable, paths, requires, .. } =
        document.frontmatter();
    // Before anything is made of the bytes, and after.
    assert_eq!(header.frontmatter.when_to_use(), when_to_use);
    assert_eq!(header.frontmatter.disable_model_invocation(), disable_model_invocation);
    assert_eq!(header.frontmatter.user_invocable(), user_invocable);
    assert_eq!(header.frontmatter.paths(), paths);
    assert_eq!(header.frontmatter.requires(), requires);
    assert_eq!((values.given(), &*values), (given, document.frontmatter()));
    assert_eq!(header, Header::of_document(document, digest));
    for other in [Profile::Safe, Profile::Claude, Profile::Strict].into_iter().filter(|other| *other != options.profile)
    {
        let mut options = options.clone();
        options.profile = other;
        assert_eq!(taken(&bytes, &self::context(&options)), None, "it was read by another profile");
    }
    bytes
}

#[test]
fn the_headers_of_all_cases_are_kept_as_they_are() {
    let mut checked = 0;
    for case in cases() {
        let text = fs::read(case.join("SKILL.md")).expect("a case");
        for profile in PROFILES {
            for loaded_from in [LoadedFrom::Skills, LoadedFrom::Commands] {
                check(&text, &options(profile, loaded_from));
                checked += 1;
            }
        }
    }
    assert!(checked >= 25 * 6, "{checked}");
}

#[test]
fn a_load_of_all_cases_with_the_index_is_the_load_without() {
    let tree = tempfile::tempdir().expect("temporary directory");
    let root = tree.path().canonicalize().expect("it is there");
    for case in cases() {
        let directory = root.join("skills").join(case.file_name().expect("a name"));
        fs::create_dir_all(&directory).expect("directory");
        fs::copy(case.join("SKILL.md"), directory.join("SKILL.md")).expect("copied");
    }
    fs::create_dir(root.join("index")).expect("directory");
    fs::set_permissions(root.join("index"), fs::Permissions::from_mode(0o700)).expect("mode");
    let index = || {
        let dir = OwnerDir::open_ambient(root.join("index")).expect("it is the user's");
        HeaderIndex::open(dir).expect("it can be opened")
    };
    let roots = || SkillRoots::open_ambient([SkillRoot::new(Source::User, RootKind::Skills, root.join("skills"))]);
    for profile in PROFILES {
        let options = LoadOptions { profile, ..LoadOptions::default() };
        let cold = roots().load(&options);
        assert!(cold.skills.len() >= 25, "{cold:?}");
        let mut first = index();
        // So late that the times of the files say all.
        let load = |index: &mut HeaderIndex| roots().load_with(&options, Some(index), stamp::now() + 1_000_000_000);
        assert_eq!(load(&mut first), cold);
        assert!(first.save().expect("it can be written"));
        let mut second = index();
        assert_eq!(load(&mut second), cold);
        assert!(second.used.iter().filter(|used| **used).count() > 10, "{:?}", second.used);
    }
}

/// A line of a header, or a few.
fn line() -> impl Strategy<Value = String> {
    let text = prop_oneof![
        Just("Reviews a change: before it lands.".to_owned()),
        Just("'quoted, # and all'".to_owned()),
        Just("|\n  Several\n  lines \u{2014} of them.".to_owned()),
        Just("[Read, \"Bash(git log:*)\", 'Grep']".to_owned()),
        Just("{a: [1, {b: c}], d: ~}".to_owned()),
        Just("&anchor *alias".to_owned()),
        Just("true".to_owned()),
        Just("12".to_owned()),
        Just("{{NAME}}".to_owned()),
        "[ -~\u{e9}\u{200b}\u{1f600}]{0,40}",
    ];
    let key = prop_oneof![
        prop::sample::select(skillgate_format::known_keys().collect::<Vec<_>>()).prop_map(str::to_owned),
        "[a-zA-Z_-]{1,12}",
    ];
    prop_oneof![
        4 => (key, text).prop_map(|(key, text)| format!("{key}: {text}")),
        1 => Just("requires:\n  skills: [a, b]\n  programs: git\n  version: 1.2".to_owned()),
        1 => Just("effort: 7".to_owned()),
        1 => Just("hooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks: [{type: command, command: x}]".to_owned()),
        1 => "[ -~]{0,30}",
    ]
}

proptest! {
    #[test]
    fn generated_headers_are_kept_as_they_are(
        lines in prop::collection::vec(line(), 0..12),
        profile in prop::sample::select(&PROFILES[..]),
        commands in any::<bool>(),
    ) {
        let text = format!("---\n{}\n---\nThe text.\n", lines.join("\n"));
        check(text.as_bytes(), &options(profile, if commands { LoadedFrom::Commands } else { LoadedFrom::Skills }));
    }

    #[test]
    fn bytes_that_were_changed_are_refused_or_something_that_can_be_made(
        lines in prop::collection::vec(line(), 0..6),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let text = format!("---\nname: review\ndescription: Reviews.\n{}\n---\n", lines.join("\n"));
        let options = options(Profile::Safe, LoadedFrom::Skills);
        let mut bytes = check(text.as_bytes(), &options);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Some(header) = taken(&bytes, &context(&options)) {
            prop_assert!(header::frontmatter_of(&bytes).is_some(), "what is passed over can be read");
            let all = String::from_utf8_lossy(&bytes);
            let texts = [Some(header.label.as_str()), header.description.as_deref()];
            prop_assert!(texts.into_iter().flatten().all(|text| all.contains(text)), "a text is a part of what was taken");
        }
    }
}
