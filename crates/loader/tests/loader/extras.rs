//! What belongs to skills that are no files: files beside them, bodies that are made late, and what a source cannot give.

use crate::tree::options;
use skillgate_core::{Code, Diagnostic, LoadFailure, RelPath, Source};
use skillgate_loader::{
    BodyError, BundledSkill, BundledSkills, FilesError, HeldExtras, HeldSkill, LazyBody, SkillFiles, SkillRoots,
    SkillSource,
};
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const HEADER: &str = "---\ndescription: Reports.\n---\n";

/// Files that count how often they are taken to disk, and fail when they are told to.
#[derive(Debug, Default)]
struct Files {
    taken: AtomicUsize,
    fails: bool,
}

impl SkillFiles for Files {
    fn directory(&self) -> PathBuf {
        PathBuf::from("/nowhere/report")
    }

    fn contents(&self) -> Vec<(RelPath, Cow<'_, [u8]>)> {
        vec![(RelPath::new("texts/a.txt").expect("a path"), Cow::Borrowed(b"abc"))]
    }

    fn materialise(&self) -> Result<(), FilesError> {
        self.taken.fetch_add(1, Ordering::Relaxed);
        if self.fails {
            return Err(FilesError { message: "write-file failed at `/nowhere/x`".to_owned(), help: None });
        }
        Ok(())
    }
}

#[test]
fn files_are_known_before_they_are_on_the_disk_and_taken_there_on_demand() {
    let files = Arc::new(Files::default());
    let skill =
        BundledSkill::new("report", format!("{HEADER}Report.\n")).files(Arc::clone(&files) as Arc<dyn SkillFiles>);
    let roots = SkillRoots::open_ambient([]).with_texts_of(&BundledSkills::default().register_bundled(skill));
    let loaded = roots.load(&options());
    let skill = &loaded.skills[0];
    assert_eq!(skill.directory.as_deref(), Some(std::path::Path::new("/nowhere/report")));
    let path = RelPath::new("texts/a.txt").expect("a path");
    assert_eq!(roots.companions(skill), [(path, 3)]);
    let content = roots.content(skill, &options()).expect("all of it");
    assert_eq!(content.files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["SKILL.md", "texts/a.txt"]);
    assert_eq!(files.taken.load(Ordering::Relaxed), 0, "looking takes nothing to disk");
    roots.materialise(skill).expect("taken");
    assert_eq!(files.taken.load(Ordering::Relaxed), 1);
}

#[test]
fn files_that_cannot_be_taken_to_disk_say_why() {
    let files = Files { fails: true, ..Files::default() };
    let skill = BundledSkill::new("report", HEADER).files(Arc::new(files));
    let roots = SkillRoots::open_ambient([]).with_texts_of(&BundledSkills::default().register_bundled(skill));
    let error = roots.materialise(&roots.load(&options()).skills[0]).expect_err("it fails");
    assert_eq!(error.to_string(), "write-file failed at `/nowhere/x`");
}

#[test]
fn a_body_is_made_when_it_is_read_and_not_before() {
    static MADE: AtomicUsize = AtomicUsize::new(0);
    let body = LazyBody::from_future(|| async {
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        // Whoever is waited for wakes from another thread.
        let (send, receive) = std::sync::mpsc::channel();
        std::thread::spawn(move || send.send(number));
        receive.recv().map(|number| format!("Report {number}.\n")).map_err(|error| error.to_string())
    });
    let bundled = BundledSkills::default()
        .register_bundled(BundledSkill::lazy("report", HEADER, body))
        .register_bundled(BundledSkill::lazy("never", HEADER, LazyBody::new(|| Err("the server is gone".to_owned()))));
    let roots = SkillRoots::open_ambient([]).with_texts_of(&bundled);
    let loaded = roots.load(&options());
    let of = |name: &str| loaded.skills.iter().find(|skill| skill.id.command.as_str() == name).expect("it is there");
    assert_eq!(of("report").description.as_deref(), Some("Reports."));
    assert_eq!(MADE.load(Ordering::Relaxed), 0);
    for number in 0..2 {
        let document = roots.document(of("report"), &options()).expect("read");
        assert_eq!(document.body(), format!("Report {number}.\n"));
    }
    let Err(BodyError::Unreadable { diagnostic, .. }) = roots.read(of("never"), &options()) else {
        unreachable!("its text cannot be made");
    };
    assert!(diagnostic.message.contains("the server is gone"));
}

/// A source of which one skill is broken.
#[derive(Debug)]
struct Half;

impl SkillSource for Half {
    fn source(&self) -> Source {
        Source::Pack
    }

    fn texts(&self) -> Vec<HeldSkill> {
        vec![HeldSkill { name: "good".to_owned(), text: HEADER.into(), origin: "pack:x/good".to_owned() }]
    }

    fn extras(&self, name: &str) -> HeldExtras {
        assert_eq!(name, "good");
        HeldExtras { signers: vec![[7; 32]], ..HeldExtras::default() }
    }

    fn failures(&self) -> Vec<LoadFailure> {
        let diagnostic = Diagnostic::new(Code::FileUnreadable, "`bad/SKILL.md` is not what the manifest says");
        vec![LoadFailure { source: Source::Pack, name: "bad".to_owned(), path: PathBuf::from("/x"), diagnostic }]
    }
}

#[test]
fn what_a_source_cannot_give_is_a_failure_and_the_rest_has_its_signers() {
    let roots = SkillRoots::open_ambient([]).with_texts_of(&Half);
    let loaded = roots.load(&options());
    assert_eq!(loaded.failures.len(), 1);
    assert_eq!(roots.signers(&loaded.skills[0]), [[7; 32]]);
}
