use crate::{SKILL, files, import, import_within, refused};
use skillgate_bundle::{PackLimits, SourceForm};
use std::io::Write as _;
use tar::EntryType;

/// One entry behind the other, without an end.
fn entry(kind: EntryType, name: &[u8], data: &[u8], change: impl FnOnce(&mut tar::Header)) -> Vec<u8> {
    let mut header = tar::Header::new_ustar();
    header.as_old_mut().name[..name.len()].copy_from_slice(name);
    header.set_entry_type(kind);
    header.set_mode(0o644);
    header.set_size(data.len() as u64);
    header.set_cksum();
    change(&mut header);
    let mut bytes = header.as_bytes().to_vec();
    bytes.extend(data);
    bytes.resize(bytes.len().next_multiple_of(512), 0);
    bytes
}

pub(crate) fn file(name: &str, text: &str) -> Vec<u8> {
    entry(EntryType::Regular, name.as_bytes(), text.as_bytes(), |_| {})
}

fn skill() -> Vec<u8> {
    file("greet/SKILL.md", SKILL)
}

pub(crate) fn tar(entries: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = entries.concat();
    bytes.resize(bytes.len() + 1024, 0);
    bytes
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).expect("in memory");
    encoder.finish().expect("in memory")
}

fn pax(records: &[(&str, &str)], kind: EntryType) -> Vec<u8> {
    let mut text = String::new();
    for (key, value) in records {
        // The length counts its own digits.
        let rest = key.len() + value.len() + 3;
        let length = (rest + 1..).find(|length| rest + length.to_string().len() == *length).expect("one");
        text.push_str(&format!("{length} {key}={value}\n"));
    }
    entry(kind, b"pax", text.as_bytes(), |_| {})
}

#[test]
fn what_another_program_packed_is_taken() {
    let mut builder = tar::Builder::new(Vec::new());
    let long = format!("greet/{}/{}.txt", "d".repeat(90), "f".repeat(90));
    for (path, text) in [("./greet/SKILL.md", SKILL), (long.as_str(), "long\n")] {
        let mut header = tar::Header::new_gnu();
        header.set_mode(0o755);
        header.set_size(text.len() as u64);
        builder.append_data(&mut header, path, text.as_bytes()).expect("in memory");
    }
    let bytes = builder.into_inner().expect("in memory");
    for bytes in [gz(&bytes), bytes] {
        let imported = import(&bytes).expect("it is taken");
        assert_eq!(imported.form, SourceForm::Tar);
        let expected = [("greet/SKILL.md", SKILL), (long.as_str(), "long\n")];
        assert_eq!(files(&imported), expected.map(|(path, text)| (path.to_owned(), text.to_owned())));
    }
}

#[test]
fn long_names_of_pax_are_taken_and_comments_are_not_names() {
    let long = format!("greet/{}", "x".repeat(150));
    let global = pax(&[("comment", "0123456789012345678901234567890123456789")], EntryType::XGlobalHeader);
    let named = pax(&[("mtime", "1.5"), ("path", long.as_str()), ("size", "2")], EntryType::XHeader);
    let folder = entry(EntryType::Directory, b"greet/", b"", |_| {});
    let imported = import(&tar(&[global, folder, skill(), named, file("short", "x\n")])).expect("it is taken");
    assert_eq!(files(&imported)[1], (long, "x\n".to_owned()));
}

#[test]
fn names_that_leave_or_meet_are_refused() {
    let with = |name: &str| tar(&[skill(), file(name, "x")]);
    refused(&[
        ("upwards", with("../x"), "does not stay below"),
        ("upwards behind the dot", with("./../x"), "does not stay below"),
        ("absolute", with("/x"), "does not stay below"),
        ("twice", tar(&[skill(), skill()]), "one file"),
        ("another case", with("greet/skill.MD"), "one file"),
        ("a file as a directory", with("greet"), "directory"),
        ("by a long name", tar(&[skill(), pax(&[("path", "../x")], EntryType::XHeader), file("y", "")]), "stay below"),
        ("device", with("aux"), "device"),
        ("no letters", tar(&[skill(), entry(EntryType::Regular, b"a\xff", b"", |_| {})]), "UTF-8"),
    ]);
}

#[test]
fn what_is_no_file_is_refused() {
    let with = |kind| {
        tar(&[
            skill(),
            entry(kind, b"greet/x", b"", |header| {
                header.set_link_name("/etc/passwd").expect("short");
                header.set_cksum();
            }),
            file("greet/x/y", "written through the link"),
        ])
    };
    let mode = |mode| {
        let change = |header: &mut tar::Header| {
            header.set_mode(mode);
            header.set_cksum();
        };
        tar(&[skill(), entry(EntryType::Regular, b"greet/x", b"", change)])
    };
    refused(&[
        ("link", with(EntryType::Symlink), "a link"),
        ("hard link", with(EntryType::Link), "hard link"),
        ("character device", with(EntryType::Char), "a device"),
        ("block device", with(EntryType::Block), "a device"),
        ("pipe", with(EntryType::Fifo), "a pipe"),
        ("sparse", with(EntryType::GNUSparse), "sparse"),
        ("long link", with(EntryType::GNULongLink), "link"),
        ("unknown", with(EntryType::new(b'V')), "no kind"),
        ("setuid", mode(0o4755), "setuid"),
    ]);
    assert!(import(&mode(0o755)).is_ok());
}

#[test]
fn an_archive_that_two_readers_take_differently_is_refused() {
    let good = tar(&[skill()]);
    let wrong_sum = |header: &mut tar::Header| header.as_old_mut().cksum[0] = b'7';
    let base_256 = |header: &mut tar::Header| {
        header.as_old_mut().size[0] = 0x80;
        header.set_cksum();
    };
    let two_names = [pax(&[("path", "a")], EntryType::XHeader), entry(EntryType::GNULongName, b"L", b"b\0", |_| {})];
    let [first, second] = two_names;
    refused(&[
        ("an archive behind it", [good.clone(), tar(&[file("evil/SKILL.md", SKILL)])].concat(), "behind its end"),
        ("a compressed one behind it", [gz(&good), gz(&good)].concat(), "behind the compressed data"),
        ("rubbish behind it", [gz(&good), b"x".to_vec()].concat(), "behind the compressed data"),
        ("two sizes", tar(&[skill(), pax(&[("size", "1")], EntryType::XHeader), file("greet/x", "ab")]), "two sizes"),
        ("two names", tar(&[skill(), first, second, file("c", "")]), "two names"),
        ("sum", tar(&[entry(EntryType::Regular, b"SKILL.md", b"x", wrong_sum)]), "check sum"),
        ("size in base 256", tar(&[skill(), entry(EntryType::Regular, b"x", b"", base_256)]), "octal"),
        ("a name for all", tar(&[pax(&[("path", "a")], EntryType::XGlobalHeader), skill()]), "global"),
        ("sparse by pax", tar(&[pax(&[("GNU.sparse.name", "a")], EntryType::XHeader), skill()]), "sparse"),
        ("no entry", tar(&[skill(), pax(&[("path", "a")], EntryType::XHeader)]), "no entry"),
        ("no end", skill(), "cut off"),
        ("half an end", [skill(), vec![0; 512]].concat(), "cut off"),
        ("cut", skill()[..700].to_vec(), "cut off"),
        ("cut in the compressed data", gz(&good)[..60].to_vec(), "damaged"),
    ]);
}

#[test]
fn a_bomb_ends_at_the_limit_and_not_at_its_size() {
    let bomb = entry(EntryType::Regular, b"greet/bomb", &vec![0; 32 << 20], |_| {});
    let refusal = import(&gz(&tar(&[skill(), bomb]))).expect_err("it is refused").to_string();
    assert!(refusal.contains("200 times"), "{refusal}");
    let zeros = gz(&[tar(&[skill()]), vec![0; 64 << 20]].concat());
    let refusal = import(&zeros).expect_err("it is refused").to_string();
    assert!(refusal.contains("behind its end"), "{refusal}");
    // A size that is said and not there.
    let lie = |header: &mut tar::Header| {
        header.set_size(4 << 30);
        header.set_cksum();
    };
    let lying = [skill(), entry(EntryType::Regular, b"greet/x", b"", lie)].concat();
    assert!(import(&lying).expect_err("it is refused").to_string().contains("cut off"));
    let few = PackLimits { files: 2, ..PackLimits::default() };
    let many: Vec<Vec<u8>> = (0..6).map(|number| file(&format!("greet/{number}"), "")).collect();
    assert!(import_within(&tar(&many), few).expect_err("too many").to_string().contains("the number of"));
}
