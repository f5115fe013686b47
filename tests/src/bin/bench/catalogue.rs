//! The catalogue of ten thousand skills: loaded again, listed, and asked what a touched file activates.

#![expect(clippy::disallowed_methods, reason = "the floors are plain calls of the system")]

use crate::corpus::{SKILLS, name};
use crate::load::Corpus;
use crate::measure::{Measured, in_turns};
use globset::{Glob, GlobMatcher};
use skillgate_core::Source;
use skillgate_exec::CapabilityShell;
use skillgate_loader::{HeaderIndex, LoadOptions, RootKind, SkillRoot, SkillRoots};
use skillgate_policy::{Defaults, Host};
use skillgate_registry::{Catalogue, CatalogueOptions, ListingOptions};
use skillgate_runtime::{Runtime, Session, SessionOptions};
use skillgate_state::OwnerDir;
use skillgate_tests::Tree;
use std::hint::black_box;
use std::io::Read as _;
use std::sync::Arc;

/// Loads again what was loaded before, whose headers the index has.
pub(crate) fn warm(samples: usize) -> Result<Measured, String> {
    let corpus = Corpus::write(SKILLS);
    let said = |error: &dyn std::fmt::Display| format!("the index: {error}");
    let place = corpus.empty_directory().join("index");
    let open = || {
        let dir = OwnerDir::open_ambient(&place).map_err(|error| said(&error))?;
        HeaderIndex::open(dir).map_err(|error| said(&error))
    };
    let root = SkillRoot::new(Source::User, RootKind::Skills, corpus.directory());
    let load = |index: &mut HeaderIndex| {
        let loaded = SkillRoots::open_ambient([root.clone()]).load_indexed(&LoadOptions::default(), index);
        let loads = loaded.skills.len();
        if loads == SKILLS as usize { Ok(()) } else { Err(format!("{loads} of {SKILLS} skills load")) }
    };
    // A file that was just written is not trusted; the last of them is old when all are written and read once.
    for _ in 0..2 {
        let mut index = open()?;
        load(&mut index)?;
        index.save().map_err(|error| said(&error))?;
    }
    let subject = || load(&mut open()?);
    in_turns(samples, subject, || {
        for path in corpus.paths() {
            black_box(std::fs::metadata(path).map_err(|error| format!("{}: {error}", path.display()))?);
        }
        Ok(())
    })
}

/// The listing of all of them, of which a small part fits.
pub(crate) fn listing(samples: usize) -> Result<Measured, String> {
    let corpus = Corpus::write(SKILLS);
    let root = SkillRoot::new(Source::User, RootKind::Skills, corpus.directory());
    let loaded = SkillRoots::open_ambient([root]).load(&LoadOptions::default());
    let catalogue = Catalogue::build(loaded.skills, loaded.failures, &CatalogueOptions::default());
    let subject = || {
        let listing = catalogue.listing(&ListingOptions::default());
        let counted = listing.cut.whole + listing.cut.short + listing.cut.name_only + listing.cut.deferred;
        let offered = catalogue.offered_to_model().count();
        if counted == offered { Ok(()) } else { Err(format!("the listing counts {counted} of {offered} skills")) }
    };
    let mut beginning = vec![0; 4096];
    in_turns(samples, subject, || {
        for path in corpus.paths() {
            let read = std::fs::File::open(path).and_then(|mut file| file.read(&mut beginning));
            black_box(read.map_err(|error| format!("{}: {error}", path.display()))?);
        }
        Ok(())
    })
}

/// Patterns of one of the skills that wait for a file: each is met by files of its own.
fn patterns(number: u32) -> [String; 2] {
    [format!("crates/{}/**/*.rs", name(number)), format!("docs/part-{number}/**")]
}

/// Touches a file that one of ten thousand waiting skills names.
pub(crate) fn touch(samples: usize) -> Result<Measured, String> {
    let tree = Tree::new("");
    for number in 0..SKILLS {
        let [code, docs] = patterns(number);
        let text =
            format!("---\ndescription: Helps with part {number}.\npaths: [\"{code}\", \"{docs}\"]\n---\nText.\n");
        tree.write(&format!("project/.claude/skills/{}/SKILL.md", name(number)), text.as_bytes());
    }
    let host = Host::new([], Defaults::BuiltIn);
    let runtime = Runtime::builder(host, Arc::new(CapabilityShell::new(Vec::new())));
    let runtime =
        runtime.project(tree.path("project")).trust_project(true).open().map_err(|error| error.to_string())?;
    let waiting: Vec<[GlobMatcher; 2]> =
        (0..SKILLS).map(|number| patterns(number).map(|text| matcher(&text))).collect();
    let path = |number: u32| format!("crates/{}/src/deep/in/lib.rs", name(number));
    let session: Arc<Session> = runtime.session(SessionOptions::default());
    // Not each time another one: then it would be the activation that is measured, which happens once.
    let mut number = 0;
    let subject = || {
        number = (number + 1) % 10;
        session.touch([path(number)]);
        match session.catalogue().offered_to_model().next() {
            Some(_) => Ok(()),
            None => Err("nothing was activated".to_owned()),
        }
    };
    let floor = || {
        let path = path(7);
        let found = waiting.iter().filter(|patterns| patterns.iter().any(|pattern| pattern.is_match(&path))).count();
        if found == 1 { Ok(()) } else { Err(format!("{found} skills wait for the file")) }
    };
    in_turns(samples, subject, floor)
}

fn matcher(text: &str) -> GlobMatcher {
    Glob::new(text).expect("a pattern of the benchmark").compile_matcher()
}
