//! Archives from elsewhere: what is taken stays below its directory and is one file each on every system, and a pack made of it is
//! read back as it is.

use skillgate_bundle::{ImportOptions, Pack, PackLimits, PathSet, import_bytes};

/// Reads `data` as a pack, a zip, a tar, a compressed tar or a skill, under limits that small inputs can reach.
pub fn archive_to_files(data: &[u8]) {
    let limits = PackLimits { files: 64, file_bytes: 1 << 16, total_bytes: 1 << 18, ..PackLimits::default() };
    let options = ImportOptions { name: Some("fuzzed".to_owned()), limits, ..ImportOptions::default() };
    match import_bytes("fuzzed.md", data, &options) {
        Ok(imported) => {
            let pack = imported.pack;
            let mut set = PathSet::default();
            let mut total = 0;
            for (path, bytes) in pack.files() {
                assert!(set.insert(path).is_ok(), "{path:?}");
                assert!(bytes.len() as u64 <= limits.file_bytes, "{path:?}");
                total += bytes.len() as u64;
            }
            assert!(total <= limits.total_bytes && pack.manifest().files.len() <= limits.files);
            let Ok(read) = Pack::read_owned(pack.to_bytes(), &limits) else {
                unreachable!("it was a pack a moment ago")
            };
            assert_eq!(read.digest(), pack.digest());
            assert!(read.files().eq(pack.files()));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
