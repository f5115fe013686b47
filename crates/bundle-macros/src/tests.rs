use super::{MAX_DEPTH, embed};
use std::fs;
use std::path::Path;

/// A crate with one good skill in `skills`.
fn crate_with_a_skill() -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a directory");
    fs::create_dir_all(root.path().join("skills/greet/texts")).expect("directories");
    fs::write(root.path().join("skills/greet/SKILL.md"), "Say hello.\n").expect("a file");
    fs::write(root.path().join("skills/greet/texts/names.txt"), "Ada\n").expect("a file");
    root
}

#[test]
fn what_is_embedded_names_each_file_so_that_the_compiler_follows_it() {
    let root = crate_with_a_skill();
    let expanded = embed(root.path(), "skills").expect("it is embedded");
    for file in ["skills/greet/SKILL.md", "skills/greet/texts/names.txt"] {
        let tracked = format!("include_bytes!({:?})", root.path().join(file).to_str().expect("UTF-8"));
        assert!(expanded.contains(&tracked), "{file}: {expanded}");
    }
}

#[test]
fn what_is_no_skill_is_refused_with_its_place_in_the_crate() {
    type Spoil = fn(&Path);
    let spoils: &[(&str, &str, Spoil)] = &[
        ("nothing is there", "`skills` cannot be read", |skills| fs::remove_dir_all(skills).expect("removed")),
        ("a file among the skills", "`skills/notes.txt` is no skill", |skills| {
            fs::write(skills.join("notes.txt"), "x").expect("a file");
        }),
        ("a directory without a SKILL.md", "`skills/empty` has no SKILL.md", |skills| {
            fs::create_dir(skills.join("empty")).expect("a directory");
        }),
        ("a SKILL.md further down alone", "`skills/deep` has no SKILL.md", |skills| {
            fs::create_dir_all(skills.join("deep/er")).expect("directories");
            fs::write(skills.join("deep/er/SKILL.md"), "x").expect("a file");
        }),
    ];
    for (what, words, spoil) in spoils {
        let root = crate_with_a_skill();
        assert!(embed(root.path(), "skills").is_ok(), "the control of {what}");
        spoil(&root.path().join("skills"));
        let error = embed(root.path(), "skills").expect_err(what);
        assert!(error.starts_with(words), "{what}: {error}");
    }
}

#[test]
#[cfg(unix)]
fn what_is_no_file_of_its_own_is_refused() {
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;
    type Plant = fn(&Path);
    let plants: &[(&str, &str, Plant)] = &[
        ("a link to a file", "neither a file nor a directory", |greet| {
            symlink("SKILL.md", greet.join("link")).expect("a link");
        }),
        ("a link to a directory", "neither a file nor a directory", |greet| {
            symlink("/", greet.join("link")).expect("a link");
        }),
        ("a skill that is a link", "neither a file nor a directory", |greet| {
            symlink("greet", greet.with_file_name("again")).expect("a link");
        }),
        ("a socket", "neither a file nor a directory", |greet| {
            drop(UnixListener::bind(greet.join("socket")).expect("a socket"));
        }),
        ("a name that is no text", "is not UTF-8", |greet| {
            fs::write(greet.join(std::ffi::OsStr::from_bytes(b"\xff")), "x").expect("a file");
        }),
        ("too deep", "is deeper than", |greet| {
            fs::create_dir_all(greet.join("x/".repeat(MAX_DEPTH + 1))).expect("directories");
        }),
    ];
    for (what, words, plant) in plants {
        let root = crate_with_a_skill();
        plant(&root.path().join("skills/greet"));
        let error = embed(root.path(), "skills").expect_err(what);
        assert!(error.contains(words) && error.starts_with("`skills/"), "{what}: {error}");
    }
}
