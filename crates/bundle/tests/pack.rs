//! Packs: one form, every byte counted.

use proptest::prelude::*;
use skillgate_bundle::{Pack, PackError, PackFile, PackInfo, PackLimits, RequestedAuthority, SecretKey};

fn info() -> PackInfo {
    PackInfo::new("greetings", "1.0.0").expect("a name and a version")
}

fn files() -> Vec<PackFile> {
    vec![
        PackFile::new("greet/SKILL.md", "---\ndescription: Greets.\n---\nSay hello.\n"),
        PackFile::new("greet/names.txt", "Ada\n"),
        PackFile::new("leave/SKILL.md", "Say goodbye.\n"),
    ]
}

fn pack() -> Pack {
    Pack::build(info(), files()).expect("a pack")
}

#[test]
fn the_same_files_in_any_order_give_the_same_bytes() {
    let mut reversed = files();
    reversed.reverse();
    assert_eq!(Pack::build(info(), reversed).expect("a pack").to_bytes(), pack().to_bytes());
}

/// The test vector of docs/pack-format.md: another implementation has to give the same.
#[test]
fn the_documented_vector_is_the_pack() {
    let documented = include_str!("../../../docs/pack-format.md");
    let hex: String = pack().to_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    let lines: Vec<&str> = hex.as_bytes().chunks(100).map(|line| std::str::from_utf8(line).expect("digits")).collect();
    let vector = format!("```text\n{}\n```", lines.join("\n"));
    assert!(documented.contains(&vector), "docs/pack-format.md does not have this vector:\n{vector}");
    assert!(documented.contains(&pack().digest().to_string()), "nor the digest {}", pack().digest());
}

#[test]
fn what_was_packed_is_read() {
    let read = Pack::read(&pack().to_bytes()).expect("it reads");
    let found: Vec<(&str, &[u8])> = read.files().collect();
    let packed = files();
    let packed: Vec<(&str, &[u8])> = packed.iter().map(|file| (file.path.as_str(), file.bytes.as_slice())).collect();
    assert_eq!(found, packed);
    let names: Vec<&str> = read.manifest().skills.iter().map(|skill| skill.name.as_str()).collect();
    assert_eq!(names, ["greet", "leave"]);
}

#[test]
fn a_skill_at_the_top_has_the_packs_name() {
    let pack = Pack::build(info(), vec![PackFile::new("SKILL.md", "x")]).expect("a pack");
    assert_eq!(pack.manifest().skills[0].name, "greetings");
}

#[test]
fn what_a_skill_asks_for_is_in_the_manifest() {
    let asks = |_: &str, text: &[u8]| RequestedAuthority {
        tools: Some(vec![format!("Bash({})", text.len())]),
        ..RequestedAuthority::default()
    };
    let pack = Pack::build_with(info(), files(), asks).expect("a pack");
    let (manifest, _) = Pack::inspect(&pack.to_bytes(), &PackLimits::default()).expect("a head");
    assert_eq!(manifest.skills[1].requests.tools.as_deref(), Some(["Bash(13)".to_owned()].as_slice()));
}

#[test]
fn any_flipped_bit_is_seen() {
    let key = SecretKey::generate().expect("a key");
    let mut pack = pack();
    pack.sign(key.sign(pack.digest()));
    let whole = pack.to_bytes();
    for at in 0..whole.len() {
        for bit in [1_u8, 128] {
            let mut flipped = whole.clone();
            flipped[at] ^= bit;
            let Ok(read) = Pack::read(&flipped) else { continue };
            // What a pack says of itself can be another's word, and then it is another pack; else only a signature can differ. No
            // signature holds in either case.
            assert!(read.digest() != pack.digest() || read.signatures() != pack.signatures(), "byte {at}");
            assert!(read.signatures().iter().all(|signature| signature.verify(read.digest()).is_err()), "byte {at}");
        }
    }
}

#[test]
fn a_flipped_content_is_named() {
    let mut bytes = pack().to_bytes();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    assert!(matches!(Pack::read(&bytes), Err(PackError::Digest { path, .. }) if path == "leave/SKILL.md"));
}

#[test]
fn a_pack_cut_anywhere_is_refused_and_so_is_more() {
    let whole = pack().to_bytes();
    for end in 0..whole.len() {
        let error = Pack::read(&whole[..end]).expect_err("it is cut");
        assert!(matches!(error, PackError::Truncated { .. } | PackError::NotAPack(_)), "{end}: {error}");
    }
    let more = [whole.as_slice(), b"x"].concat();
    assert!(matches!(Pack::read(&more), Err(PackError::Trailing(1))));
}

#[test]
fn lengths_are_not_believed() {
    for lengths in [[u64::MAX, 0], [0, u64::MAX], [u64::MAX, u64::MAX], [1 << 40, 1 << 40]] {
        let mut bytes = b"SKLPACK\n".to_vec();
        bytes.extend(lengths.iter().flat_map(|length| length.to_le_bytes()));
        assert!(matches!(Pack::read(&bytes), Err(PackError::TooLarge { .. } | PackError::Truncated { .. })));
    }
}

#[test]
fn limits_hold_before_anything_is_built() {
    let limits = |change: fn(&mut PackLimits)| {
        let mut limits = PackLimits::default();
        change(&mut limits);
        Pack::read_within(&pack().to_bytes(), &limits)
    };
    assert!(limits(|limits| limits.files = 3).is_ok());
    assert!(matches!(limits(|limits| limits.files = 2), Err(PackError::TooLarge { .. })));
    assert!(matches!(limits(|limits| limits.file_bytes = 37), Err(PackError::TooLarge { .. })));
    assert!(matches!(limits(|limits| limits.total_bytes = 50), Err(PackError::TooLarge { .. })));
    assert!(matches!(limits(|limits| limits.manifest_bytes = 50), Err(PackError::TooLarge { .. })));
}

#[test]
fn bad_names_and_packs_without_skills_are_not_built() {
    for path in ["../SKILL.md", "/SKILL.md", "a/../SKILL.md", "a\\SKILL.md", "con/SKILL.md"] {
        assert!(matches!(Pack::build(info(), vec![PackFile::new(path, "x")]), Err(PackError::Name(_))), "{path}");
    }
    let twice = vec![PackFile::new("a/SKILL.md", "x"), PackFile::new("A/SKILL.md", "x")];
    assert!(matches!(Pack::build(info(), twice), Err(PackError::Name(_))));
    assert!(matches!(Pack::build(info(), vec![PackFile::new("README.md", "x")]), Err(PackError::NoSkill)));
    let skill = |name: &str| PackFile::new(format!("{name}/SKILL.md"), "x");
    let Err(PackError::Skill { path, reason }) = Pack::build(info(), vec![skill("p\u{430}ypal")]) else {
        unreachable!("a word in two alphabets");
    };
    assert!(path.starts_with('p') && reason.contains("U+0430 as character 2"), "{path}: {reason}");
    let twins = vec![skill("x/scope"), skill("y/\u{455}\u{441}\u{43e}\u{440}\u{435}")];
    let Err(PackError::Skill { reason, .. }) = Pack::build(info(), twins) else {
        unreachable!("names that look alike")
    };
    assert!(reason.contains("looks like it"), "{reason}");
    assert!(Pack::build(info(), vec![skill("x/scope"), skill("y/отчет")]).is_ok());
    for (name, version) in
        [("", "1.0.0"), ("A", "1.0.0"), ("-a", "1.0.0"), ("a", "1.0"), ("a", "1.0.x"), ("a", "01.0.0"), ("a", "1.0.0-")]
    {
        assert!(PackInfo::new(name, version).is_err(), "{name} {version}");
    }
    assert!(PackInfo::new("a-1", "1.20.3-beta.1").is_ok());
}

#[test]
fn a_signature_can_be_added_and_replaced_and_does_not_change_the_digest() {
    let (first, second) = (SecretKey::generate().expect("a key"), SecretKey::generate().expect("a key"));
    let mut pack = pack();
    let digest = pack.digest();
    for key in [&first, &second, &first] {
        pack.sign(key.sign(digest));
    }
    let read = Pack::read(&pack.to_bytes()).expect("it reads");
    assert_eq!((read.signatures().len(), read.digest()), (2, digest));
    assert!(read.signatures().iter().all(|signature| signature.verify(digest).is_ok()));
}

#[test]
fn a_manifest_in_another_form_is_refused() {
    let whole = pack().to_bytes();
    let length = usize::try_from(u64::from_le_bytes(whole[8..16].try_into().expect("8 bytes"))).expect("small");
    let manifest = String::from_utf8(whole[24..24 + length].to_vec()).expect("text");
    for (form, changed) in [
        ("with blanks", manifest.replacen(':', ": ", 1)),
        ("with another key", manifest.replacen("{\"format\"", "{\"other\":1,\"format\"", 1)),
        ("of a newer format", manifest.replacen("\"format\":1", "\"format\":2", 1)),
        ("with a key twice", manifest.replacen("{\"format\":1", "{\"format\":1,\"format\":1", 1)),
    ] {
        let mut bytes = whole[..8].to_vec();
        bytes.extend((changed.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&whole[16..24]);
        bytes.extend_from_slice(changed.as_bytes());
        bytes.extend_from_slice(&whole[24 + length..]);
        let error = Pack::read(&bytes).expect_err(form);
        assert!(matches!(error, PackError::Manifest(_) | PackError::Format { found: 2, .. }), "{form}: {error}");
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_are_refused_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), magic: bool) {
        let bytes = if magic { [b"SKLPACK\n".as_slice(), &bytes].concat() } else { bytes };
        prop_assert!(Pack::read(&bytes).is_err());
    }

    #[test]
    fn packing_and_reading_give_the_same_files(contents in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..50), 1..10)) {
        let mut files: Vec<PackFile> =
            contents.into_iter().enumerate().map(|(at, bytes)| PackFile::new(format!("d{at}/f"), bytes)).collect();
        files.push(PackFile::new("s/SKILL.md", "x"));
        let read = Pack::read(&Pack::build(info(), files.clone()).expect("a pack").to_bytes()).expect("it reads");
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let found: Vec<PackFile> = read.files().map(|(path, bytes)| PackFile::new(path, bytes)).collect();
        prop_assert_eq!(found, files);
    }
}
