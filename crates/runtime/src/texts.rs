//! Texts of skills that were read and parsed, kept while their files stay as they are.

use crate::error::InvokeError;
use crate::session::Session;
use skillgate_core::{Digest, Frontmatter, Profile, Skill};
use skillgate_format::{Document, Template, TemplateOptions};
use skillgate_loader::{DecidedText, TextStamp};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Texts that are kept at most; a conversation calls fewer skills.
const MAX_TEXTS: usize = 64;
/// Bytes of them at most: a few of the largest, or hundreds of usual ones.
const MAX_BYTES: usize = 4 << 20;

/// A skill's text, parsed: all of an invocation that does not depend on its arguments.
#[derive(Debug)]
pub(crate) struct SkillText {
    /// The skill with the header that stands in its file, which is what is decided on. What was loaded may come out of an index.
    pub(crate) skill: Arc<Skill>,
    pub(crate) document: Document,
    /// Digest of the whole file.
    pub(crate) digest: Digest,
    pub(crate) header: Arc<Frontmatter>,
    pub(crate) template: Template,
}

impl SkillText {
    fn of(skill: &Arc<Skill>, DecidedText { document, digest }: DecidedText, profile: Profile) -> Self {
        let header = Arc::new(document.frontmatter().clone());
        let template = Template::parse(&document.body(), &TemplateOptions::new(profile, &header));
        let is_as_loaded = *skill.frontmatter == *header && skill.header == document.header_state();
        let skill = if is_as_loaded {
            Arc::clone(skill)
        } else {
            let frontmatter = Frontmatter::clone(&header).into();
            Arc::new(Skill { frontmatter, header: document.header_state(), ..Skill::clone(skill) })
        };
        Self { skill, document, digest, header, template }
    }
}

/// The texts that were used last.
#[derive(Debug, Default)]
pub(crate) struct TextCache {
    /// The latest first.
    kept: Mutex<VecDeque<KeptText>>,
}

#[derive(Debug)]
struct KeptText {
    /// The very skill it was read for: one that is loaded anew is another one.
    skill: Arc<Skill>,
    stamp: TextStamp,
    text: Arc<SkillText>,
}

impl TextCache {
    fn kept(&self) -> MutexGuard<'_, VecDeque<KeptText>> {
        // Every change of it leaves it whole.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The text that was read of this skill when its file had this stamp.
    fn get(&self, skill: &Arc<Skill>, stamp: &TextStamp) -> Option<Arc<SkillText>> {
        let mut kept = self.kept();
        let at = kept.iter().position(|kept| Arc::ptr_eq(&kept.skill, skill))?;
        let found = kept.remove(at).filter(|found| found.stamp == *stamp)?;
        let text = Arc::clone(&found.text);
        kept.push_front(found);
        Some(text)
    }

    fn keep(&self, skill: &Arc<Skill>, stamp: TextStamp, text: &Arc<SkillText>) {
        let mut kept = self.kept();
        kept.retain(|kept| !Arc::ptr_eq(&kept.skill, skill));
        kept.push_front(KeptText { skill: Arc::clone(skill), stamp, text: Arc::clone(text) });
        let mut bytes = 0;
        let fit = kept.iter().take(MAX_TEXTS).take_while(|kept| {
            bytes += kept.text.document.source().len();
            bytes <= MAX_BYTES
        });
        let fit = fit.count();
        kept.truncate(fit);
    }
}

impl Session {
    /// The skill's text as its file is now. It is read again where the file is not surely the one that was read before.
    pub(crate) fn text_of(&self, skill: &Arc<Skill>) -> Result<Arc<SkillText>, InvokeError> {
        self.roots_of(skill, |roots| {
            let texts = &self.runtime.texts;
            if let Some(kept) = roots.text_stamp(skill).and_then(|stamp| texts.get(skill, &stamp)) {
                return Ok(kept);
            }
            let (text, stamp) = roots.stamped_text(skill, &self.runtime.load_options)?;
            let text = Arc::new(SkillText::of(skill, text, self.runtime.profile));
            if let Some(stamp) = stamp {
                texts.keep(skill, stamp, &text);
            }
            Ok(text)
        })
    }
}

#[cfg(all(test, unix))]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "a fixture is made with `std::fs`, not through the code under test")]

    use super::*;
    use crate::{InvokeRequest, Runtime, SessionOptions};
    use skillgate_exec::CapabilityShell;
    use skillgate_policy::{Defaults, Host, Invoker};
    use skillgate_registry::Lookup;
    use std::fs;
    use std::path::PathBuf;

    struct Place {
        _tree: tempfile::TempDir,
        file: PathBuf,
        session: Arc<Session>,
        skill: Arc<Skill>,
    }

    const HEADER: &str = "---\ndescription: A skill.\n---\n";

    impl Place {
        fn new() -> Self {
            let tree = tempfile::tempdir().expect("temporary directory");
            let file = tree.path().canonicalize().expect("the tree").join(".claude/skills/one/SKILL.md");
            fs::create_dir_all(file.parent().expect("below the tree")).expect("directories");
            fs::write(&file, format!("{HEADER}First.")).expect("file");
            let host = Host::new([], Defaults::BuiltIn);
            let builder = Runtime::builder(host, Arc::new(CapabilityShell::new(Vec::new())));
            let runtime = builder.home(tree.path()).open().expect("runtime");
            let session = runtime.session(SessionOptions::default());
            let catalogue = session.catalogue();
            let Lookup::Found(entry) = catalogue.lookup("one") else { unreachable!("the skill is there") };
            let skill = Arc::clone(entry.skill());
            drop(catalogue);
            Self { _tree: tree, file, session, skill }
        }

        fn read(&self) -> Arc<SkillText> {
            self.session.text_of(&self.skill).expect("it can be read")
        }

        /// Reads until the file is old enough to be trusted, which takes milliseconds.
        fn kept(&self) -> Arc<SkillText> {
            let mut last = self.read();
            for _ in 0..1_000_000 {
                let next = self.read();
                if Arc::ptr_eq(&last, &next) {
                    return next;
                }
                last = next;
            }
            unreachable!("an old file is read again and again")
        }

        fn prompt(&self) -> String {
            let invocation = self.session.invoke(&InvokeRequest::new("one", Invoker::User)).expect("it may");
            invocation.text()
        }
    }

    #[test]
    fn what_is_kept_is_what_is_read() {
        let place = Place::new();
        let (first, kept) = (place.read(), place.kept());
        assert_eq!(first.document.source(), kept.document.source());
        assert_eq!((first.digest, &first.template), (kept.digest, &kept.template));
        assert_eq!(kept.digest, Digest::of(&fs::read(&place.file).expect("file")));
    }

    #[test]
    fn a_text_of_the_same_size_and_time_is_another_one() {
        let place = Place::new();
        place.kept();
        let before = place.file.metadata().and_then(|metadata| metadata.modified()).expect("a time");
        fs::write(&place.file, format!("{HEADER}Other.")).expect("file");
        fs::File::options().write(true).open(&place.file).and_then(|file| file.set_modified(before)).expect("time");
        assert!(place.prompt().ends_with("Other."));
        assert_eq!(place.kept().digest, Digest::of(&fs::read(&place.file).expect("file")));
    }

    #[test]
    fn another_file_in_its_place_is_read() {
        let place = Place::new();
        place.kept();
        let other = place.file.with_file_name("other");
        fs::write(&other, format!("{HEADER}Moved.")).expect("file");
        fs::rename(&other, &place.file).expect("rename");
        assert!(place.prompt().ends_with("Moved."));
    }

    #[test]
    fn a_kept_text_is_no_answer_for_a_file_that_is_gone_or_closed() {
        let place = Place::new();
        place.kept();
        fs::remove_file(&place.file).expect("remove");
        let error = place.session.text_of(&place.skill).expect_err("it is gone");
        assert!(error.to_string().contains("is gone since it was loaded"), "{error}");
        fs::write(&place.file, "---\ndescription: Another header.\n---\n").expect("file");
        let error = place.session.text_of(&place.skill).expect_err("it is not what was loaded");
        assert!(error.to_string().contains("changed since it was loaded"), "{error}");
    }

    #[test]
    fn what_is_decided_on_is_the_header_in_the_file_whatever_was_loaded() {
        let place = Place::new();
        let loaded = Skill { frontmatter: Frontmatter::default().into(), ..Skill::clone(&place.skill) };
        let text = place.session.text_of(&Arc::new(loaded)).expect("it can be read");
        assert_eq!(text.skill.frontmatter, place.skill.frontmatter);
        assert!(Arc::ptr_eq(&place.read().skill, &place.skill), "control");
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let place = Place::new();
        let (cache, stamp) = (TextCache::default(), {
            let roots = place.session.roots();
            roots.text_stamp(&place.skill).expect("a file")
        });
        let text = place.read();
        let skills: Vec<Arc<Skill>> = (0..MAX_TEXTS + 9).map(|_| Arc::new(Skill::clone(&place.skill))).collect();
        for skill in &skills {
            cache.keep(skill, stamp, &text);
        }
        assert_eq!(cache.kept().len(), MAX_TEXTS);
        assert!(cache.get(&skills[0], &stamp).is_none() && cache.get(&skills[9], &stamp).is_some());
        assert!(cache.get(&Arc::new(Skill::clone(&place.skill)), &stamp).is_none(), "another load's");

        fs::write(&place.file, format!("{HEADER}{}", "x".repeat(1_000_000))).expect("file");
        let large = place.read();
        for skill in &skills {
            cache.keep(skill, stamp, &large);
        }
        assert_eq!(cache.kept().len(), MAX_BYTES / large.document.source().len());
    }
}
