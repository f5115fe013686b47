//! Archives and directories from elsewhere: what is taken is what everybody finds in them, and everything else is refused.

mod directories;
mod generated;
mod tars;
mod zips;

use skillgate_bundle::{ImportError, ImportOptions, Imported, PackLimits, import_bytes};

const SKILL: &str = "---\ndescription: Greets.\n---\nSay hello.\n";

fn import(bytes: &[u8]) -> Result<Imported, ImportError> {
    import_bytes("/somewhere/team.bin", bytes, &ImportOptions::default())
}

fn import_within(bytes: &[u8], limits: PackLimits) -> Result<Imported, ImportError> {
    import_bytes("/somewhere/team.bin", bytes, &ImportOptions { limits, ..ImportOptions::default() })
}

/// The files that were taken, with their texts.
fn files(imported: &Imported) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    imported.pack.files().map(|(path, bytes)| (path.to_owned(), text(bytes))).collect()
}

/// Each is refused, and the words say why.
fn refused(cases: &[(&str, Vec<u8>, &str)]) {
    for (what, bytes, words) in cases {
        match import(bytes) {
            Ok(imported) => unreachable!("{what}: it was taken: {:?}", files(&imported)),
            Err(error) => assert!(error.to_string().contains(words), "{what}: {error}"),
        }
    }
}
