//! Skills of installed packs, and skills that a program embeds.

use crate::fixture::{World, host, invoke};
use skillgate_bundle::{
    Consent, LazyExtraction, Pack, PackFile, PackInfo, PackSource, PackStore, SecretKey, requested_authority,
};
use skillgate_core::Source;
use skillgate_loader::SkillSource;
use skillgate_policy::file::{Layers, Level, Policy, PolicyFile};
use skillgate_policy::{Effect, Invoker};
use skillgate_runtime::{
    BundledPlace, EmbeddedSkills, InstalledPacks, InvokeError, InvokeRequest, SessionOptions, embedded_skills,
};
use std::path::PathBuf;
use std::sync::Arc;

const NOTE: &[(Effect, &str)] = &[(Effect::Allow, "Bash(note:*)")];
const TEXT: &str = "---\ndescription: Greets.\nallowed-tools: Bash(note:*)\n---\nState: !`note ${CLAUDE_SKILL_DIR}`\n";

fn typed(name: &str) -> InvokeRequest {
    InvokeRequest::new(name, Invoker::User)
}

fn pack(key: Option<&SecretKey>) -> Pack {
    let files = vec![PackFile::new("greet/SKILL.md", TEXT), PackFile::new("greet/names.txt", "Ada\n")];
    let info = PackInfo::new("team", "1.0.0").expect("a name");
    let mut pack = Pack::build_with(info, files, |_, text| requested_authority(text)).expect("a pack");
    if let Some(key) = key {
        pack.sign(key.sign(pack.digest()));
    }
    pack
}

/// A store with one pack.
fn store(world: &World, pack: &Pack) -> Arc<PackStore> {
    let store = PackStore::open_ambient(world.path("store")).expect("a store");
    let source = PackSource { kind: "pack".to_owned(), location: "/x".to_owned(), digest: None, commit: None };
    store.install(pack, source, Consent { unsigned: true, ..Consent::default() }).expect("installed");
    Arc::new(store)
}

fn policy(text: &str) -> Policy {
    let user = PolicyFile::parse(text, Level::User, "policy.toml").expect("a policy");
    Policy::of(Layers { user: Some(user), ..Layers::default() })
}

fn key_entry(key: &SecretKey, allow: &str, more: &str) -> String {
    format!("[[keys]]\nid = \"acme\"\npublic = \"{}\"\nallow = [{allow}]\n{more}\n", key.public())
}

/// The last line of the prompt of `greet` under a policy.
fn prompt(world: &World, store: &Arc<PackStore>, policy_text: &str) -> Result<String, InvokeError> {
    let builder = world.builder(host(NOTE)).policy(policy(policy_text));
    let runtime = builder.source(Arc::new(InstalledPacks::new(Arc::clone(store)))).open().expect("opens");
    invoke(&runtime.session(SessionOptions::default()), &typed("greet"))
}

#[test]
fn a_skill_of_a_pack_runs_what_the_policy_grants_its_signer_and_is_text_otherwise() {
    let (world, key, other) =
        (World::new("", "x"), SecretKey::generate().expect("a key"), SecretKey::generate().expect("a key"));
    let store = store(&world, &pack(Some(&key)));
    let tree = store.tree_of(pack(None).digest()).join("greet");
    let allow = "\"Bash(note:*)\"";
    let ran = format!("State: [{}]", tree.display());
    assert_eq!(prompt(&world, &store, &key_entry(&key, allow, "")).expect("it runs"), ran);
    assert_eq!(std::fs::read_to_string(tree.join("names.txt")).expect("it is on the disk"), "Ada\n");
    for (what, policy) in [
        ("no policy names the key", String::new()),
        ("another key", key_entry(&other, allow, "")),
        ("expired", key_entry(&key, allow, "expires = 2001-01-01")),
        ("revoked", key_entry(&key, allow, "revoked = true")),
    ] {
        let text = prompt(&world, &store, &policy).expect("its text");
        assert!(text.contains("!`note"), "{what}: {text}");
    }
    let narrower = prompt(&world, &store, &key_entry(&key, "\"Bash(ls:*)\"", ""));
    assert!(matches!(narrower, Err(InvokeError::Refused(_))), "{narrower:?}");
    assert_eq!(world.notes.ran().len(), 1, "it ran once, under the one policy that lets it");
}

#[test]
fn an_unsigned_pack_is_text_only() {
    let world = World::new("", "x");
    let store = store(&world, &pack(None));
    let text = prompt(&world, &store, "").expect("its text");
    assert!(text.contains("!`note"), "{text}");
    assert_eq!(world.notes.ran(), Vec::<String>::new());
}

#[test]
fn a_pack_that_does_not_hold_is_listed_as_broken_with_its_reason() {
    let world = World::new("", "x");
    let pack = pack(None);
    let store = store(&world, &pack);
    let object = store.object_path(pack.digest());
    let mut bytes = pack.to_bytes();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(object, bytes).expect("changed");
    let runtime = world.builder(host(NOTE)).source(Arc::new(InstalledPacks::new(store))).open().expect("opens");
    let session = runtime.session(SessionOptions::default());
    let broken = session.catalogue().broken().to_vec();
    assert_eq!((broken[0].name.as_str(), broken[0].source), ("greet", Source::Pack));
    assert!(broken[0].diagnostic.message.contains("`greet/names.txt`"), "{}", broken[0].diagnostic.message);
    assert!(matches!(session.invoke(&typed("greet")), Err(InvokeError::Unreadable(_))));
}

#[test]
fn each_change_of_what_is_installed_is_another_mark_and_the_next_load_has_it() {
    let world = World::new("", "x");
    let key = SecretKey::generate().expect("a key");
    let packs = Arc::new(InstalledPacks::inside(world.path("store")));
    let marks = || -> Vec<(String, String)> {
        packs.marks().into_iter().map(|mark| (mark.origin, mark.digest.to_string())).collect()
    };
    let skills = || {
        let source: Arc<dyn SkillSource> = packs.clone();
        let runtime = world.builder(host(NOTE)).source(source).open().expect("opens");
        let session = runtime.session(SessionOptions::default());
        let catalogue = session.catalogue();
        let names = catalogue.entries().iter().map(|entry| entry.qualified_name().to_owned());
        names.filter(|name| name.starts_with("pack:")).collect::<Vec<_>>()
    };
    let mut found = skillgate_loader::discover_sources_ambient(&Default::default(), &[]).expect("no places");
    packs.roots_ambient(&Default::default(), &mut found).expect("it names nothing that has to be there");
    assert_eq!(found.deciding, [world.path("store/skills.lock")]);
    assert_eq!((marks(), skills()), (vec![], vec![]));
    assert!(!world.path("store").exists(), "looking makes no store");

    let store = store(&world, &pack(None));
    let installed = marks();
    assert_eq!((installed[0].0.as_str(), skills()), ("pack:team/greet", vec!["pack:greet".to_owned()]));
    store.set_enabled("team", false).expect("switched off");
    assert_eq!((marks(), skills()), (vec![], vec![]));
    store.set_enabled("team", true).expect("switched on");
    assert_eq!((marks(), skills().len()), (installed.clone(), 1));
    let source = store.get("team").expect("it is there").locked.source;
    store.install(&pack(Some(&key)), source, Consent::default()).expect("the same, signed");
    let signed = marks();
    assert_eq!(signed[0].0, installed[0].0);
    assert_ne!(signed[0].1, installed[0].1, "who signed it decides what it may do");
    store.remove("team").expect("removed");
    assert_eq!((marks(), skills()), (vec![], vec![]));
    std::fs::write(world.path("store/skills.lock"), "nonsense").expect("written");
    assert_eq!(marks()[0].0, world.path("store/skills.lock").display().to_string());
}

#[test]
fn a_hundred_embedded_skills_are_listed_found_and_planned_without_a_store() {
    let world = World::new("", "x");
    let files = EMBEDDED[0].1;
    let skills: Vec<_> =
        (0..100).map(|number| (&*Box::leak(format!("tell-{number}").into_boxed_str()), files)).collect();
    let bundled = embedded_skills(Box::leak(skills.into_boxed_slice()), &BundledPlace::Store(world.path("store")));
    let packs = InstalledPacks::inside(world.path("store"));
    let builder = world.builder(host(NOTE)).source(Arc::new(bundled)).source(Arc::new(packs));
    let runtime = builder.open().expect("opens");
    let session = runtime.session(SessionOptions::default());
    let embedded = |entry: &&skillgate_registry::Entry| entry.skill().id.source == Source::Bundled;
    assert_eq!(session.catalogue().offered_to_model().filter(embedded).count(), 100);
    session.plan(&typed("tell-42")).expect("planned");
    assert!(!world.path("store").exists(), "it stays absent");
    // The control: the first use is what makes it.
    let prompt = invoke(&session, &typed("tell-42")).expect("invoked");
    assert_eq!(std::fs::read_to_string(named(&prompt)).expect("it is there"), "abc");
    assert!(world.path("store").exists());
}

const EMBEDDED: EmbeddedSkills = &[(
    "tell",
    &[
        ("SKILL.md", b"---\ndescription: Tells.\n---\nRead ${CLAUDE_SKILL_DIR}/a.txt\n", DIGEST_OF_TEXT),
        ("a.txt", b"abc", DIGEST_OF_ABC),
    ],
)];

/// FIPS 180-2: the digest of `abc`.
const DIGEST_OF_ABC: [u8; 32] = [
    0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea, 0x41, 0x41, 0x40, 0xde, 0x5d, 0xae, 0x22, 0x23, 0xb0, 0x03, 0x61,
    0xa3, 0x96, 0x17, 0x7a, 0x9c, 0xb4, 0x10, 0xff, 0x61, 0xf2, 0x00, 0x15, 0xad,
];

/// That of the text above, as the build would have found it.
const DIGEST_OF_TEXT: [u8; 32] = [
    0x95, 0x0c, 0x70, 0xfd, 0x50, 0xed, 0x78, 0x84, 0x6a, 0x98, 0x2d, 0x31, 0x0f, 0x80, 0x16, 0x54, 0x4f, 0x48, 0x21,
    0xcf, 0x44, 0x2a, 0xd4, 0x13, 0xa1, 0x30, 0xf9, 0xaa, 0xcc, 0x62, 0x8d, 0x03,
];

fn tell(world: &World, place: &BundledPlace) -> (Result<String, InvokeError>, Arc<skillgate_runtime::Runtime>) {
    let bundled = embedded_skills(EMBEDDED, place);
    let runtime = world.builder(host(NOTE)).source(Arc::new(bundled)).open().expect("opens");
    (invoke(&runtime.session(SessionOptions::default()), &typed("tell")), runtime)
}

/// What a prompt says to read.
fn named(prompt: &str) -> PathBuf {
    PathBuf::from(prompt.strip_prefix("Read ").expect("the prompt"))
}

#[test]
fn files_of_embedded_skills_are_there_when_a_prompt_names_them_and_not_before() {
    let world = World::new("", "x");
    let parent = world.path("tmp");
    std::fs::create_dir(&parent).expect("a directory");
    let extraction = Arc::new(LazyExtraction::inside(&parent).expect("a name"));
    let bundled = embedded_skills(EMBEDDED, &BundledPlace::Process(Arc::clone(&extraction)));
    let runtime = world.builder(host(NOTE)).source(Arc::new(bundled)).open().expect("opens");
    let session = runtime.session(SessionOptions::default());
    session.plan(&typed("tell")).expect("planned");
    assert_eq!(std::fs::read_dir(&parent).expect("a directory").count(), 0, "looking takes nothing to disk");
    let prompt = invoke(&session, &typed("tell")).expect("invoked");
    assert_eq!(std::fs::read_to_string(named(&prompt)).expect("it is there"), "abc");
    drop((session, runtime, extraction));
    assert_eq!(std::fs::read_dir(&parent).expect("a directory").count(), 0, "it goes with its process");
}

#[test]
fn files_that_stay_are_there_when_the_program_has_ended() {
    let world = World::new("", "x");
    let place = BundledPlace::Store(world.path("store"));
    let bundled = embedded_skills(EMBEDDED, &place);
    let opened = world.builder(host(NOTE)).source(Arc::new(bundled)).open().expect("opens");
    drop(opened);
    assert!(!world.path("store").exists(), "starting makes no store");
    let (prompt, runtime) = tell(&world, &place);
    drop(runtime);
    assert_eq!(std::fs::read_to_string(named(&prompt.expect("invoked"))).expect("it is there"), "abc");
}

#[test]
fn a_prompt_never_names_files_that_could_not_be_taken_to_disk() {
    let world = World::new("", "x");
    let nowhere = LazyExtraction::inside(&world.path("nowhere")).expect("a name");
    let (refused, _runtime) = tell(&world, &BundledPlace::Process(Arc::new(nowhere)));
    let Err(InvokeError::Files { error, .. }) = refused else { unreachable!("it is refused: {refused:?}") };
    assert!(error.message.contains("open-parent") && error.message.contains("nowhere"), "{error}");
    assert!(error.help.is_some());
    std::fs::write(world.path("file"), "").expect("a file");
    let (refused, _runtime) = tell(&world, &BundledPlace::Store(world.path("file")));
    assert!(matches!(refused, Err(InvokeError::Files { .. })));
}
