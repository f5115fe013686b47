//! Which skills a touched file activates.

use ignore::gitignore::GitignoreBuilder;
use proptest::prelude::*;
use skillgate_core::{
    CommandName, Digest, Field, Frontmatter, Guarded, HeaderState, LoadedFrom, Profile, Skill, SkillId, Source, Span,
};
use skillgate_registry::{Catalogue, CatalogueOptions, Lookup, PathActivation, PatternFault, State};

fn waiting(name: &str, paths: &[&str]) -> Skill {
    let paths = paths.iter().map(|path| Field::new((*path).to_owned(), Span::default())).collect();
    Skill {
        id: SkillId::new(Source::User, CommandName::new(name).expect("a name")),
        loaded_from: LoadedFrom::Skills,
        path: format!("/{name}/SKILL.md").into(),
        directory: None,
        plugin: None,
        frontmatter: Box::new(Frontmatter {
            paths: Guarded::Present(Field::new(paths, Span::default())),
            ..Frontmatter::default()
        })
        .into(),
        header: HeaderState::Parsed,
        label: name.into(),
        description: Some("Waits.".into()),
        head_digest: Digest::of(name.as_bytes()),
        bytes: 0,
        diagnostics: Vec::new(),
    }
}

fn catalogue(skills: Vec<Skill>) -> Catalogue {
    Catalogue::build(skills, Vec::new(), &CatalogueOptions::default())
}

fn matching(paths: &[&str], profile: Profile, file: &str) -> bool {
    let activation = PathActivation::of(&catalogue(vec![waiting("a", paths)]), profile);
    !activation.matching(file).is_empty()
}

#[test]
fn the_safe_profile_reads_lines_of_a_gitignore() {
    for (paths, yes, no) in [
        (&["*.md"][..], "docs/a.md", "a.txt"),
        (&["/*.md"], "a.md", "docs/a.md"),
        (&["src/**"], "src/a/b.rs", "lib/src/a.rs"),
        (&["docs/"], "x/docs/a", "docs"),
        (&["docs"], "docs/a/b", "docsx"),
        (&["*.rs", "!gen.rs"], "a.rs", "x/gen.rs"),
        (&["!gen.rs", "*.rs"], "gen.rs", "gen.py"),
        (&["a\\ "], "a ", "a"),
        (&["\\#a", "#b"], "#a", "#b"),
    ] {
        assert!(matching(paths, Profile::Safe, yes), "{paths:?} match {yes}");
        assert!(!matching(paths, Profile::Safe, no), "{paths:?} do not match {no}");
    }
}

#[test]
fn the_claude_profile_reads_globs_from_the_root() {
    assert!(matching(&["*.md"], Profile::Claude, "a.md"));
    assert!(!matching(&["*.md"], Profile::Claude, "docs/a.md"));
    assert!(matching(&["**/*.{ts,tsx}"], Profile::Claude, "src/a.tsx"));
    assert!(!matching(&["src"], Profile::Claude, "src/a"));
}

#[test]
fn a_file_outside_the_project_activates_nothing() {
    for file in ["../a.md", "/a.md", "a//b.md", "", "./a.md"] {
        assert!(!matching(&["**/*.md", "**"], Profile::Safe, file), "{file}");
    }
}

#[test]
fn one_bad_entry_matches_nothing_and_spoils_no_other() {
    let skills = vec![waiting("a", &["[1/**", "src/**"]), waiting("b", &["src/**"])];
    let activation = PathActivation::of(&catalogue(skills), Profile::Safe);
    assert_eq!(activation.matching("src/x"), ["user:a", "user:b"]);
    let [fault] = activation.faults() else { unreachable!("one fault: {:?}", activation.faults()) };
    assert_eq!((fault.qualified_name.as_str(), fault.pattern.as_str()), ("user:a", "[1/**"));
    assert_eq!(fault.reason, PatternFault::Unreadable);
}

#[test]
fn an_activated_skill_is_active_and_waits_no_more() {
    let mut catalogue = catalogue(vec![waiting("a", &["src/**"])]);
    assert!(!catalogue.activate("user:b"));
    assert!(catalogue.activate("user:a"));
    assert!(!catalogue.activate("user:a"));
    let Lookup::Found(entry) = catalogue.lookup("a") else { unreachable!("it is there") };
    assert_eq!(*entry.state(), State::Active);
    assert!(PathActivation::of(&catalogue, Profile::Safe).is_empty());
}

fn pattern() -> impl Strategy<Value = String> {
    let part =
        prop_oneof![Just("**".to_owned()), Just("*".to_owned()), "[ab]{1,2}\\*?", "\\*[ab]", "[ab]\\?", "\\[ab\\]"];
    ("(!|/|)", prop::collection::vec(part, 1..4), "(/|)")
        .prop_map(|(before, parts, after)| format!("{before}{}{after}", parts.join("/")))
}

proptest! {
    #[test]
    fn patterns_mean_what_they_mean_to_git(
        patterns in prop::collection::vec(pattern(), 1..4),
        file in prop::collection::vec("[ab]{1,2}", 1..5),
    ) {
        let file = file.join("/");
        let mut git = GitignoreBuilder::new("");
        for pattern in &patterns {
            git.add_line(None, pattern).expect("a pattern");
        }
        // Each parent is asked too, as a walk would: what is inside a named directory is named.
        let git = git.build().expect("patterns");
        let parents = file.match_indices('/').map(|(at, _)| &file[..at]);
        let expected = git.matched(&file, false).is_ignore() || parents.into_iter().any(|parent| git.matched(parent, true).is_ignore());
        let lines: Vec<&str> = patterns.iter().map(String::as_str).collect();
        // A pattern that takes back a file inside a named directory works here and not in git, which never looks inside.
        prop_assume!(!lines.iter().any(|line| line.starts_with('!')));
        // Nothing but `**` means that the skill does not wait at all.
        prop_assume!(lines.iter().any(|line| *line != "**"));
        prop_assert_eq!(matching(&lines, Profile::Safe, &file), expected, "{:?} and {}", lines, file);
    }

    #[test]
    fn many_skills_answer_like_each_alone(
        patterns in prop::collection::vec(pattern(), 1..20),
        file in prop::collection::vec("[ab]{1,2}", 1..5),
    ) {
        let file = file.join("/");
        let names: Vec<String> = (0..patterns.len()).map(|at| format!("s{at:02}")).collect();
        let skills = names.iter().zip(&patterns).map(|(name, pattern)| waiting(name, &[pattern])).collect();
        let activation = PathActivation::of(&catalogue(skills), Profile::Safe);
        let alone: Vec<String> = names
            .iter()
            .zip(&patterns)
            .filter(|(_, pattern)| matching(&[pattern], Profile::Safe, &file))
            .map(|(name, _)| format!("user:{name}"))
            .collect();
        prop_assert_eq!(activation.matching(&file), alone);
    }
}
