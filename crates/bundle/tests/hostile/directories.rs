//! Links, owners, modes and limits.

use crate::support::{FILES, begin, is_empty, is_root, tests_as_both};
use skillgate_bundle::{ExtractError, LazyExtraction, Step};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
}

tests_as_both! {
    fn places_that_others_can_change_are_refused_and_left_alone() {
        let tree = tempfile::tempdir().expect("a directory");
        let parent = tree.path().join("parent");
        fs::create_dir(&parent).expect("a directory");
        for mode in [0o777, 0o775, 0o722] {
            set_mode(&parent, mode);
            let error = begin(&parent).expect_err("it is refused");
            assert!(matches!(error, ExtractError::UnsafeParent { .. }), "{mode:o}: {error}");
            assert!(error.help().is_some_and(|help| help.contains("TMPDIR")));
            assert!(is_empty(&parent), "{mode:o}");
        }
        set_mode(&parent, 0o700);
        drop(begin(&parent).expect("the control"));
        assert!(is_empty(&parent));
    }

    fn a_place_that_is_a_link_is_the_place_it_leads_to_with_its_rules() {
        let tree = tempfile::tempdir().expect("a directory");
        let (real, link) = (tree.path().join("real"), tree.path().join("link"));
        fs::create_dir(&real).expect("a directory");
        symlink(&real, &link).expect("a link");
        // Who names a directory by a link means where it leads.
        set_mode(&real, 0o777);
        assert!(matches!(begin(&link), Err(ExtractError::UnsafeParent { .. })));
        set_mode(&real, 0o700);
        let extraction = begin(&link).expect("begins");
        let skill = extraction.extract("skill", FILES).expect("extracts");
        assert_eq!(fs::read(skill.join("a/b.txt")).expect("a file"), b"more");
        for (what, target) in [("dangling", "nowhere"), ("in a circle", "circle")] {
            let path = tree.path().join(if what == "dangling" { "dangling" } else { "circle" });
            symlink(target, &path).expect("a link");
            let error = begin(&path).expect_err(what);
            assert!(
                matches!(
                    &error,
                    ExtractError::Io { step: Step::OpenParent, .. } | ExtractError::Foreign { step: Step::OpenParent, .. }
                ),
                "{what}: {error}"
            );
        }
    }

    fn a_place_of_another_user_is_refused() {
        // Only root can make one.
        if !is_root() {
            let error = begin(Path::new("/usr")).expect_err("it is another user's");
            assert!(matches!(&error, ExtractError::Io { step: Step::MakeRoot, .. }), "{error}");
            assert!(error.help().is_some_and(|help| help.contains("TMPDIR")));
            return;
        }
        let tree = tempfile::tempdir().expect("a directory");
        let parent = tree.path().join("parent");
        fs::create_dir(&parent).expect("a directory");
        std::os::unix::fs::chown(&parent, Some(65_534), Some(65_534)).expect("another owner");
        let error = begin(&parent).expect_err("it is another user's");
        assert!(matches!(error, ExtractError::UnsafeParent { .. }), "{error}");
        assert!(is_empty(&parent));
    }

    fn a_place_that_cannot_be_written_is_said_with_the_step() {
        // What nobody can write to, root included.
        for parent in ["/proc/self", "/sys"] {
            let error = begin(Path::new(parent)).expect_err(parent);
            assert!(matches!(error, ExtractError::Io { .. } | ExtractError::UnsafeParent { .. }), "{parent}: {error}");
            assert!(error.help().is_some());
        }
        let tree = tempfile::tempdir().expect("a directory");
        let lazy = LazyExtraction::inside(&tree.path().join("nowhere")).expect("a name");
        for _ in 0..2 {
            let error = lazy.extract("skill", FILES).expect_err("the place is not there");
            assert!(matches!(error, ExtractError::Io { step: Step::OpenParent, .. }), "{error}");
        }
        // When the reason is gone, the same one works.
        fs::create_dir(tree.path().join("nowhere")).expect("a directory");
        assert_eq!(lazy.extract("skill", FILES).expect("now it works"), lazy.path_of("skill"));
    }
}
