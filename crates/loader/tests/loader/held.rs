//! Skills that a source holds itself: those of the program, and those of a server.

use crate::tree::options;
use skillgate_core::{LoadedFrom, Source};
use skillgate_loader::{BundledSkills, HeldSkill, SkillRoots, SkillSource};

const TEXT: &str = "---\ndescription: Checks the work.\n---\nCheck it.\n";

fn roots(source: &dyn SkillSource) -> SkillRoots {
    SkillRoots::open_ambient([]).with_texts_of(source)
}

#[test]
fn a_bundled_skill_is_loaded_and_read_like_a_file_while_it_is_enabled() {
    let bundled = BundledSkills::default().with("verify", TEXT).with_if("never", TEXT, || false);
    let roots = roots(&bundled);
    let loaded = roots.load(&options());
    let [skill] = loaded.skills.as_slice() else { unreachable!("{loaded:?}") };
    assert_eq!((skill.id.to_string().as_str(), skill.loaded_from), ("bundled:verify", LoadedFrom::Skills));
    assert_eq!(skill.description.as_deref(), Some("Checks the work."));
    assert_eq!(skill.path.display().to_string(), "bundled/verify/SKILL.md");
    assert_eq!(roots.read(skill, &options()).expect("read"), TEXT.as_bytes());
    assert_eq!(roots.document(skill, &options()).expect("read").body(), "Check it.\n");
    assert_eq!(roots.text(skill, &options()).expect("read").document.label(), skill.label);
    assert_eq!(roots.companions(skill), []);
    // Others have no such text.
    let others = SkillRoots::open_ambient([]).with_texts_of(&BundledSkills::default().with("verify", "other"));
    assert!(others.read(skill, &options()).is_err());
    assert!(SkillRoots::open_ambient([]).read(skill, &options()).is_err());
}

/// A server as its client hands it over: what was fetched.
#[derive(Debug)]
struct Server;

impl SkillSource for Server {
    fn source(&self) -> Source {
        Source::Mcp
    }

    fn texts(&self) -> Vec<HeldSkill> {
        let skill = |name: &str, text: String| HeldSkill {
            origin: format!("skill://server/{name}"),
            name: name.to_owned(),
            text: text.into(),
        };
        vec![
            skill("mcp__server__a", TEXT.to_owned()),
            skill("../../etc/passwd", TEXT.to_owned()),
            skill("mcp__server__big", "x".repeat(2 << 20)),
        ]
    }
}

#[test]
fn a_server_is_a_source_like_any_other_and_its_names_are_checked() {
    let loaded = roots(&Server).load(&options());
    let names: Vec<String> = loaded.skills.iter().map(|skill| skill.id.to_string()).collect();
    assert_eq!(names, ["mcp:mcp__server__a"]);
    let failed: Vec<_> =
        loaded.failures.iter().map(|failure| (failure.name.as_str(), failure.diagnostic.code.rule())).collect();
    assert_eq!(failed, [("../../etc/passwd", "command-name-invalid"), ("mcp__server__big", "file-too-large")]);
}
