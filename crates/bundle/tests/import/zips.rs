use crate::{SKILL, files, import, import_within, refused};
use skillgate_bundle::{PackLimits, SourceForm};
use std::io::{Cursor, Write as _};

/// An entry as it is written, with what is wrong with it.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) name: Vec<u8>,
    pub(crate) data: Vec<u8>,
    pub(crate) method: u16,
    pub(crate) flags: u16,
    /// Type and permissions of Unix.
    pub(crate) mode: u32,
    /// The name in the local header, where it is another.
    pub(crate) local_name: Option<Vec<u8>>,
    /// What both headers say of the size.
    pub(crate) size: u32,
    pub(crate) crc: u32,
    pub(crate) extra: Vec<u8>,
    /// Whether the sizes stand behind the data.
    pub(crate) behind: bool,
}

impl Entry {
    pub(crate) fn stored(name: &str, text: impl AsRef<[u8]>) -> Self {
        let data = text.as_ref().to_vec();
        let mut crc = flate2::Crc::new();
        crc.update(&data);
        Self {
            name: name.as_bytes().to_vec(),
            size: u32::try_from(data.len()).expect("small"),
            crc: crc.sum(),
            data,
            method: 0,
            flags: 1 << 11,
            mode: 0o100_644,
            local_name: None,
            extra: Vec::new(),
            behind: false,
        }
    }

    pub(crate) fn deflated(name: &str, text: impl AsRef<[u8]>) -> Self {
        let mut entry = Self::stored(name, &text);
        let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(text.as_ref()).expect("in memory");
        entry.data = encoder.finish().expect("in memory");
        entry.method = 8;
        entry
    }
}

fn skill() -> Entry {
    Entry::stored("greet/SKILL.md", SKILL)
}

fn header(entry: &Entry, name: &[u8], local: bool) -> Vec<u8> {
    let flags = entry.flags | if entry.behind { 1 << 3 } else { 0 };
    let mut bytes = Vec::new();
    bytes.extend([20, 0]);
    bytes.extend(flags.to_le_bytes());
    bytes.extend(entry.method.to_le_bytes());
    bytes.extend([0; 4]);
    let stored = u32::try_from(entry.data.len()).expect("small");
    for number in [entry.crc, stored, entry.size] {
        bytes.extend(if local && entry.behind { 0 } else { number }.to_le_bytes());
    }
    bytes.extend(u16::try_from(name.len()).expect("short").to_le_bytes());
    bytes.extend(u16::try_from(entry.extra.len()).expect("short").to_le_bytes());
    bytes
}

/// A zip of these entries, in this order.
pub(crate) fn zip(entries: &[Entry]) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for entry in entries {
        let at = u32::try_from(bytes.len()).expect("small");
        let local_name = entry.local_name.as_ref().unwrap_or(&entry.name);
        bytes.extend(b"PK\x03\x04");
        bytes.extend(header(entry, local_name, true));
        bytes.extend(local_name);
        bytes.extend(&entry.extra);
        bytes.extend(&entry.data);
        if entry.behind {
            bytes.extend(b"PK\x07\x08");
            for number in [entry.crc, u32::try_from(entry.data.len()).expect("small"), entry.size] {
                bytes.extend(number.to_le_bytes());
            }
        }
        directory.extend(b"PK\x01\x02");
        directory.extend([20, 3]);
        directory.extend(header(entry, &entry.name, false));
        directory.extend([0; 6]);
        directory.extend((entry.mode << 16).to_le_bytes());
        directory.extend(at.to_le_bytes());
        directory.extend(&entry.name);
        directory.extend(&entry.extra);
    }
    with_end(bytes, &directory, entries.len(), &[])
}

fn with_end(mut bytes: Vec<u8>, directory: &[u8], count: usize, comment: &[u8]) -> Vec<u8> {
    let at = u32::try_from(bytes.len()).expect("small");
    let count = u16::try_from(count).expect("few").to_le_bytes();
    bytes.extend(directory);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    bytes.extend(count);
    bytes.extend(count);
    bytes.extend(u32::try_from(directory.len()).expect("small").to_le_bytes());
    bytes.extend(at.to_le_bytes());
    bytes.extend(u16::try_from(comment.len()).expect("short").to_le_bytes());
    bytes.extend(comment);
    bytes
}

#[test]
fn what_another_program_zipped_is_taken() {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().unix_permissions(0o755);
    writer.add_directory("greet/", options).expect("a directory");
    writer.start_file("greet/SKILL.md", options).expect("a file");
    writer.write_all(SKILL.as_bytes()).expect("in memory");
    writer.start_file("greet/naïve.txt", options.compression_method(zip::CompressionMethod::Stored)).expect("a file");
    writer.write_all(b"x\n").expect("in memory");
    let bytes = writer.finish().expect("in memory").into_inner();
    let imported = import(&bytes).expect("it is taken");
    assert_eq!(imported.form, SourceForm::Zip);
    let expected = [("greet/SKILL.md", SKILL), ("greet/naïve.txt", "x\n")];
    assert_eq!(files(&imported), expected.map(|(path, text)| (path.to_owned(), text.to_owned())));
}

#[test]
fn what_the_tricks_are_made_of_is_taken() {
    let behind = Entry { behind: true, ..Entry::deflated("greet/more.txt", "more\n") };
    let imported = import(&zip(&[skill(), behind, Entry::deflated("greet/a.txt", "a".repeat(5_000))]));
    assert_eq!(imported.expect("it is taken").pack.manifest().files.len(), 3);
    // A comment, and a directory of its own.
    let folder = Entry { mode: 0o040_755, ..Entry::stored("greet/", "") };
    let mut bytes = zip(&[folder, skill()]);
    let end = bytes.len();
    bytes[end - 2] = 5;
    bytes.extend(b"hello");
    assert!(import(&bytes).is_ok());
}

#[test]
fn names_that_leave_or_meet_are_refused() {
    let with = |name: &str| zip(&[skill(), Entry::stored(name, "x")]);
    refused(&[
        ("upwards", with("../x"), "does not stay below"),
        ("upwards inside", with("greet/../../x"), "does not stay below"),
        ("absolute", with("/x"), "does not stay below"),
        ("backslash", with("..\\x"), "does not stay below"),
        ("drive", with("C:x"), "character"),
        ("device", with("greet/NUL.txt"), "device"),
        ("twice", zip(&[skill(), skill()]), "one file"),
        ("another case", with("greet/skill.MD"), "one file"),
        ("another form", zip(&[skill(), Entry::stored("é", ""), Entry::stored("e\u{301}", "")]), "one file"),
        ("a file as a directory", zip(&[skill(), Entry::stored("greet", "x")]), "directory"),
        ("zero byte", with("a\0b"), "does not stay below"),
        (
            "upwards directory",
            zip(&[skill(), Entry { mode: 0o040_755, ..Entry::stored("../", "") }]),
            "does not stay below",
        ),
    ]);
}

#[test]
fn what_is_no_file_is_refused() {
    let with = |mode| zip(&[skill(), Entry { mode, ..Entry::stored("greet/x", "/etc/passwd") }]);
    refused(&[
        ("link", with(0o120_777), "a link"),
        ("device", with(0o020_644), "a device"),
        ("pipe", with(0o010_644), "a pipe"),
        ("socket", with(0o140_644), "a socket"),
        ("setuid", with(0o104_755), "setuid"),
        ("setgid", with(0o102_755), "setuid"),
        ("a directory by mode", with(0o040_755), "a directory that is named as a file"),
    ]);
    assert!(import(&with(0o100_755)).is_ok());
}

#[test]
fn an_archive_that_two_readers_take_differently_is_refused() {
    let good = zip(&[skill()]);
    let other = zip(&[Entry::stored("evil/SKILL.md", SKILL)]);
    let local_name = Some(b"evil/SKILL.md".to_vec());
    let mut prepended = b"#!/bin/sh\n".to_vec();
    prepended.extend(&good);
    let mut appended = good.clone();
    appended.extend(b"more");
    let mut in_comment = good.clone();
    let end = in_comment.len();
    in_comment[end - 2] = u8::try_from(other.len()).expect("short");
    in_comment.extend(&other);
    let unicode = [&0x7075_u16.to_le_bytes()[..], &9_u16.to_le_bytes(), &[1, 0, 0, 0, 0], b"evil"].concat();
    let flags = |flags| zip(&[Entry { flags, ..skill() }]);
    let mut one_more = good.clone();
    let end = one_more.len();
    for at in [end - 14, end - 12] {
        one_more[at] = 2;
    }
    let mut gap = zip(&[]);
    gap.truncate(0);
    gap.extend(b"PK\x03\x04 a hidden entry ");
    refused(&[
        ("names differ", zip(&[Entry { local_name, ..skill() }]), "do not say the same"),
        ("prepended", with_prefix(&good), "not where its end says"),
        ("a program before it", prepended, "no .skillpack"),
        ("appended", appended, "not where it says"),
        ("an archive in the comment", in_comment, "its end"),
        ("two archives", [good.clone(), other.clone()].concat(), "its end says"),
        ("a second name", zip(&[Entry { extra: unicode, ..skill() }]), "two names"),
        ("encrypted", flags(1 << 11 | 1), "encrypted"),
        ("no letters said", zip(&[skill(), Entry { flags: 0, ..Entry::stored("ü", "") }]), "different letters"),
        ("no letters at all", zip(&[skill(), Entry { name: vec![b'a', 0xff], ..skill() }]), "UTF-8"),
        ("more entries than said", one_more, "damaged"),
        ("another method", zip(&[Entry { method: 12, ..skill() }]), "compressed in a way"),
    ]);
}

/// The same archive with a hidden entry before it, and every place in it as it was.
fn with_prefix(good: &[u8]) -> Vec<u8> {
    let hidden = zip(&[Entry::stored("evil/SKILL.md", SKILL)]);
    [&hidden, good].concat()
}

#[test]
fn sizes_and_sums_that_lie_are_refused() {
    let with = |entry| zip(&[skill(), entry]);
    let long = Entry::deflated("greet/a", "a".repeat(1_000));
    refused(&[
        ("larger than said", with(Entry { size: 10, ..long.clone() }), "size"),
        ("smaller than said", with(Entry { size: 2_000, ..long.clone() }), "size"),
        ("stored size", with(Entry { size: 2, ..Entry::stored("greet/a", "abc") }), "size"),
        ("sum", with(Entry { crc: 1, ..long.clone() }), "check sum"),
        ("damaged", with(Entry { data: vec![0xff; 40], ..long.clone() }), "damaged"),
        ("data behind", with(Entry { data: [long.data.clone(), vec![0; 9]].concat(), ..long.clone() }), "size"),
        ("directory with data", with(Entry { mode: 0o040_755, ..Entry::stored("greet/d/", "x") }), "directory"),
        ("cut", zip(&[skill()])[..40].to_vec(), "no end"),
    ]);
}

#[test]
fn a_bomb_ends_at_the_limit_and_not_at_its_size() {
    // 32 MiB in about 32 KiB, each file said to be small; a nested archive is a file like any other.
    let bomb = Entry { size: 1, ..Entry::deflated("greet/bomb", vec![0; 32 << 20]) };
    let refusal = import(&zip(&[skill(), bomb])).expect_err("it is refused");
    assert!(refusal.to_string().contains("size"), "{refusal}");
    let honest = Entry::deflated("greet/bomb", vec![0; 32 << 20]);
    let refusal = import(&zip(&[skill(), honest])).expect_err("it is refused").to_string();
    assert!(refusal.contains("200 times"), "{refusal}");
    let nested = zip(&[Entry::deflated("inner", vec![0; 1 << 19])]);
    assert!(import(&zip(&[skill(), Entry::stored("greet/nested.zip", nested)])).is_ok());
    let few = PackLimits { files: 3, ..PackLimits::default() };
    let many: Vec<Entry> = (0..4).map(|number| Entry::stored(&format!("greet/{number}"), "")).collect();
    assert!(import_within(&zip(&many), few).expect_err("too many").to_string().contains("number of files"));
    let folders: Vec<Entry> =
        (0..9).map(|n| Entry { mode: 0o040_755, ..Entry::stored(&format!("{n}/"), "") }).collect();
    assert!(import_within(&zip(&folders), few).expect_err("too many").to_string().contains("number of entries"));
    let small = PackLimits { file_bytes: 8, ..PackLimits::default() };
    assert!(import_within(&zip(&[skill()]), small).expect_err("too large").to_string().contains("limit of 8"));
    let little = PackLimits { total_bytes: 50, ..PackLimits::default() };
    let two = zip(&[skill(), Entry::stored("greet/b", "x".repeat(20))]);
    assert!(import_within(&two, little).expect_err("too large").to_string().contains("all files"));
}

#[test]
fn a_skill_that_cannot_be_read_is_named_with_its_place() {
    let broken = "---\ndescription: x\nname: [unclosed\n";
    let refusal = import(&zip(&[skill(), Entry::stored("bad/SKILL.md", broken)])).expect_err("it is refused");
    let refusal = refusal.to_string();
    assert!(refusal.starts_with("bad/SKILL.md:"), "{refusal}");
    assert!(import(&zip(&[Entry::stored("readme.txt", "x")])).expect_err("nothing").to_string().contains("SKILL.md"));
}
