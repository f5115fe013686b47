//! The sample project that the demo runs: its three skills, and the exact prompt of each.

use skillgate_policy::Invoker;
use skillgate_runtime::{InvokeError, InvokeRequest, Session, SessionOptions};
use skillgate_tests::{Ran, builder, host};
use std::path::{Path, PathBuf};

fn garden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/garden").canonicalize().expect("the sample project is there")
}

fn open() -> std::sync::Arc<Session> {
    builder(env!("CARGO_TARGET_TMPDIR"), host(&[]), &garden(), &Ran::new())
        .open()
        .expect("it is a project")
        .session(SessionOptions::default())
}

#[track_caller]
fn check(name: &str, arguments: &str, expected: &str) {
    let request = InvokeRequest::new(name, Invoker::User).arguments(arguments);
    let invocation = open().invoke(&request).expect("every command of it is allowed and shipped");
    let directory = garden().join(".claude/skills").join(name);
    let expected = format!("Base directory for this skill: {}\n\n{expected}", directory.display());
    assert_eq!(invocation.text(), expected);
    for injection in &invocation.injections {
        assert!(!injection.commands.is_empty(), "{}", injection.source);
    }
}

#[test]
fn it_has_three_skills_without_a_finding() {
    let session = open();
    let own = garden().join(".claude/skills");
    let catalogue = session.catalogue();
    let entries: Vec<_> = catalogue.entries().iter().filter(|entry| entry.skill().path.starts_with(&own)).collect();
    let names: Vec<_> = entries.iter().map(|entry| entry.skill().id.command.as_str()).collect();
    assert_eq!(names, ["almanac", "beds", "harvest"]);
    for entry in entries {
        assert!(entry.is_offered_to_model(), "{}", entry.qualified_name());
        assert_eq!(entry.skill().diagnostics, [], "{}", entry.qualified_name());
    }
}

#[test]
fn beds_are_counted_by_pipelines() {
    check(
        "beds",
        "",
        "\
# What stands in the beds

There are 3 beds with 141 plants:

- herbs: 3 kinds
- north: 3 kinds
- south: 4 kinds

The largest plantings:

```
40 onion
30 carrot
24 bean
```

Standing in more than one bed: tomato 

Say where there is room for one more row, and what should not follow on itself next year.
",
    );
}

#[test]
fn a_harvest_is_told_by_its_arguments() {
    check(
        "harvest",
        "2026 tomato",
        "\
# tomato in 2026

Month and kilograms:

07 4
08 13
09 5

Years on record for all crops: 2025 2026 

What we noted about it:

> Keep the leaves dry; blight came in the wet week of August 2025.
Tie up at every second truss.

Compare 2026 with the year before, and name the best month.
",
    );
    check(
        "harvest",
        "2025 \"late pumpkin'; touch x\"",
        "\
# late pumpkin'; touch x in 2025

Month and kilograms:



Years on record for all crops: 2025 2026 

What we noted about it:

> nothing about late pumpkin'; touch x yet

Compare 2025 with the year before, and name the best month.
",
    );
}

#[test]
fn the_almanac_falls_back_where_something_is_missing() {
    check(
        "almanac",
        "",
        "\
# The almanac

- Frost: the last frost falls before the middle of May in nine years of ten
- Forecast: none is kept here
- Moon: no lunar tables on this machine
- Seasons with notes: 2, the last line of the latest: Slugs came with the rain: sow the lettuce in pots.
- Cold frame: not built yet
- Ended beds: none

The table of the almanac:

March 11 days
April 4 days
May 1 day
October 3 days

Name the three tasks of this week, the most urgent first.
",
    );
}

#[test]
fn without_trust_it_is_refused() {
    let session = builder(env!("CARGO_TARGET_TMPDIR"), host(&[]), &garden(), &Ran::new())
        .trust_project(false)
        .open()
        .expect("it is a project")
        .session(SessionOptions::default());
    let refused = session.invoke(&InvokeRequest::new("beds", Invoker::User));
    assert!(matches!(refused, Err(InvokeError::Untrusted { .. })), "{refused:?}");
}
