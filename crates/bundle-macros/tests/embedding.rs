//! What is embedded is what is in the directory, with its digest.

use sha2::{Digest as _, Sha256};
use skillgate_bundle_macros::include_skills;

#[test]
fn each_directory_is_a_skill_with_its_files_and_their_digests() {
    let skills = include_skills!("tests/skills");
    let listed: Vec<(&str, Vec<&str>)> =
        skills.iter().map(|(name, files)| (*name, files.iter().map(|(path, ..)| *path).collect())).collect();
    assert_eq!(listed, [("greet", vec!["SKILL.md", "texts/names.txt"]), ("leave", vec!["SKILL.md"])]);
    for (name, files) in skills {
        for (path, bytes, digest) in *files {
            assert_eq!(<[u8; 32]>::from(Sha256::digest(bytes)), *digest, "{name}/{path}");
        }
    }
    assert_eq!(skills[0].1[1].1, b"Ada\n");
}
