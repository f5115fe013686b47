//! Skills that are looked for before anybody asks.

use crate::fixture::{World, host};
use skillgate_policy::Effect;
use skillgate_runtime::{Prefetch, PrefetchSource, Prefetched, Session, SessionOptions};
use std::sync::Arc;

const NOTE: &[(Effect, &str)] = &[(Effect::Allow, "Bash(note:*)")];

fn session(world: &World, skills: &[(&str, &str, &str)], rules: &[(Effect, &str)]) -> Arc<Session> {
    for (name, header, body) in skills {
        let directory = world.path("p/.claude/skills").join(name);
        std::fs::create_dir_all(&directory).expect("a directory");
        std::fs::write(directory.join("SKILL.md"), format!("---\n{header}\n---\n{body}\n")).expect("a file");
    }
    world.builder(host(rules)).open().expect("opens").session(SessionOptions::default())
}

fn told(prefetched: &Prefetched) -> Vec<&str> {
    let attachment = prefetched.attachment.iter();
    attachment.flat_map(|told| &told.skills).map(|skill| skill.name.as_str()).collect()
}

fn loaded(prefetched: &Prefetched) -> Vec<&str> {
    prefetched.loaded.iter().map(|result| result.command.as_str()).collect()
}

fn ask<'a>(input: &'a str) -> Prefetch<'a> {
    Prefetch::new(PrefetchSource::TurnZero, Some(input), None)
}

const TRANSLATE: (&str, &str, &str) = ("translate", "description: Translates a letter into French.", "The text.");

#[test]
fn what_fits_is_told_and_nothing_is_loaded_by_default() {
    let world = World::new("", "x");
    let session = session(&world, &[TRANSLATE], NOTE);
    let prefetched = session.prefetch(&ask("translate this letter into French"));
    assert_eq!((told(&prefetched), loaded(&prefetched)), (vec!["translate"], vec![]));
    let attachment = serde_json::to_value(prefetched.attachment.expect("something fits")).expect("JSON");
    assert_eq!((&attachment["type"], &attachment["source"]), (&"skill_discovery".into(), &"turn_zero".into()));
    let between = Prefetch::new(PrefetchSource::BetweenTurns, None, Some("a letter in French"));
    assert_eq!(told(&session.prefetch(&between)), ["translate"]);
    assert!(session.prefetch(&ask("zzz")).attachment.is_none());
    assert!(session.prefetch(&ask("  ")).attachment.is_none());
}

#[test]
fn only_text_that_may_be_used_is_loaded_and_is_then_kept() {
    let world = World::new("", "x");
    let session = session(&world, &[TRANSLATE], NOTE);
    let wanted = ask("translate this letter into French").auto_load(true);
    let prefetched = session.prefetch(&wanted);
    assert_eq!((told(&prefetched), loaded(&prefetched)), (vec![], vec!["translate"]));
    assert!(prefetched.loaded[0].messages.iter().any(|message| message.content.contains("The text.")));
    // It is in the conversation already, so it is told of and not given again.
    let again = session.prefetch(&wanted);
    assert_eq!((told(&again), loaded(&again)), (vec!["translate"], vec![]));
}

#[test]
fn what_runs_or_asks_or_is_too_long_is_told_and_not_loaded() {
    let description = "description: Translates a letter into French.";
    let long = "word ".repeat(3_000);
    let hooks = "hooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: note x";
    for (header, body, rules) in [
        (description.to_owned(), "Runs !`note a`.", NOTE),
        (format!("{description}\n{hooks}"), "Text.", NOTE),
        (format!("{description}\ncontext: fork"), "Text.", NOTE),
        (description.to_owned(), long.as_str(), NOTE),
        (description.to_owned(), "Text.", &[(Effect::Ask, "Skill(translate)")][..]),
        (description.to_owned(), "Text.", &[(Effect::Deny, "Skill(translate)")][..]),
    ] {
        let world = World::new("", "x");
        let session = session(&world, &[("translate", &header, body)], rules);
        let prefetched = session.prefetch(&ask("translate this letter into French").auto_load(true));
        assert_eq!((told(&prefetched), loaded(&prefetched)), (vec!["translate"], vec![]), "{header}");
        assert!(world.notes.ran().is_empty());
    }
}

#[test]
fn at_most_two_are_loaded_and_only_within_their_bound() {
    let world = World::new("", "x");
    let header = "description: Translates a letter into French.";
    let half = "word ".repeat(1_300);
    let skills = [("translate-a", header, "A."), ("translate-b", header, half.as_str()), ("translate-c", header, "C.")];
    let one = session(&world, &skills, NOTE);
    let prefetched = one.prefetch(&ask("translate this letter into French").auto_load(true));
    assert_eq!((told(&prefetched).len(), loaded(&prefetched).len()), (1, 2));
    let skills = [("translate-a", header, half.as_str()), ("translate-c", header, half.as_str())];
    let world = World::new("", "x");
    let two = session(&world, &skills, NOTE);
    let prefetched = two.prefetch(&ask("translate this letter into French").auto_load(true));
    assert_eq!((told(&prefetched).len(), loaded(&prefetched).len()), (1, 1), "13,000 characters are too many");
}
