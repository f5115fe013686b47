//! Commands that run others: what is checked is what runs, also there.

use crate::backend::RunError;
use crate::mounts::Mounts;
use crate::run::{Bound, Stop};
use crate::testing::{limits, run, run_with};
use skillgate_policy::RefusalReason;

#[test]
fn a_command_that_another_one_runs_is_one_of_its_own() {
    let ran = run("echo 'a b' | xargs args x");
    let completion = ran.result.expect("it runs");
    assert_eq!((ran.stdout.as_str(), completion.status), ("[x][a][b]\n", 0), "{}", ran.stderr);
    let recorded: Vec<_> = completion.commands.iter().map(|command| command.argv.join(" ")).collect();
    assert!(recorded.contains(&"args x a b".to_owned()), "{recorded:?}");
    assert_eq!(ran.vectors, [vec!["xargs", "args", "x"], vec!["args", "x", "a", "b"]]);
    for (source, status) in [
        ("echo 5 | xargs fail", 5),
        ("echo x | xargs nosuch", 127),
        // What only a shell can do to itself is no program.
        ("echo x | xargs cd", 127),
        ("echo x | xargs sh -c 'exit 3'", 3),
    ] {
        assert_eq!(run(source).result.expect(source).status, status, "{source}");
    }
}

#[test]
fn the_gate_decides_the_inner_vector() {
    let inner_granted = ["Bash(xargs)", "Bash(xargs args)", "Bash(args:*)"];
    let outer_only = ["Bash(xargs)", "Bash(xargs args)"];
    for (source, rules, refused) in [
        ("echo x | xargs args", inner_granted.as_slice(), false),
        ("echo x | xargs args", &outer_only, true),
        // The whole command comes from what is read.
        ("echo args x | xargs", &inner_granted, false),
        ("echo touch x | xargs", &inner_granted, true),
        ("echo touch x | xargs || echo hidden", &inner_granted, true),
        // An option that nobody wrote.
        ("echo -x | xargs args", &inner_granted, true),
    ] {
        let ran = run_with(source, rules, &Mounts::none(), limits());
        match (&ran.result, refused) {
            (Ok(completion), false) => assert_eq!((ran.stdout.as_str(), completion.status), ("[x]\n", 0), "{source}"),
            (Err(RunError::Refused(_)), true) => {
                assert!(ran.vectors.iter().all(|vector| vector[0] == "xargs"), "{source}: {:?}", ran.vectors);
            }
            (other, _) => unreachable!("{source}: {other:?}"),
        }
    }
}

#[test]
fn what_the_text_tells_is_decided_before_anything_runs() {
    let rules = ["Bash(xargs head -1)", "Bash(xargs touch)", "Bash(args:*)"];
    let ran = run_with("args first; args x | xargs touch", &rules, &Mounts::none(), limits());
    match ran.result {
        Err(RunError::Refused(refusal)) => {
            assert_eq!(refusal.reason, RefusalReason::NotGranted);
            assert_eq!(refusal.remedy.as_deref(), Some("Bash(touch:*)"));
        }
        other => unreachable!("{other:?}"),
    }
    assert_eq!(ran.vectors, Vec::<Vec<String>>::new());
}

#[test]
fn inner_commands_count() {
    let lowered = limits().lowered_by("commands", 1).expect("lower");
    match run_with("xargs args x", &["Bash"], &Mounts::none(), lowered).result {
        Err(RunError::Stopped { stop: Stop::Bound(found), .. }) => assert_eq!(found, Bound::Commands(1)),
        other => unreachable!("{other:?}"),
    }
}
