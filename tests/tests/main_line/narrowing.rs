//! What a skill's header takes away, and that it never gives.

use crate::Case;
use skillgate_policy::{Effect, RefusalReason};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Answer {
    Runs,
    Narrowed,
    NotGranted,
    Denied,
    Unmounted,
    Carrier,
}
use Answer::{Carrier, Denied, Narrowed, NotGranted, Runs, Unmounted};

fn check(header: &str, rules: &[(Effect, &str)], program: &str, expected: Answer) {
    let outcome = Case::new(&format!("!`{program}`")).header(header).rules(rules).invoke();
    let answer = match &outcome.result {
        Ok(_) => Runs,
        Err(_) => match outcome.refusal().reason {
            RefusalReason::Narrowed { .. } => Narrowed,
            RefusalReason::NotGranted => NotGranted,
            RefusalReason::Denied(_) => Denied,
            RefusalReason::Unmounted { .. } => Unmounted,
            RefusalReason::Carrier { .. } => Carrier,
            ref other => unreachable!("{header} {program}: {other}"),
        },
    };
    assert_eq!(answer, expected, "{header} under {rules:?}: {program}");
    let granted = outcome.result.is_ok();
    assert!(granted || expected == Unmounted || outcome.ran.is_empty(), "{program}: {:?}", outcome.ran);
}

#[test]
fn a_list_of_tools_narrows_what_the_built_in_default_allows() {
    for (header, program, expected) in [
        // Absent, or nothing: as the host says.
        ("", "date", Runs),
        ("allowed-tools:", "date", Runs),
        ("allowed-tools: ~", "date", Runs),
        // What it lists, and nothing else.
        ("allowed-tools: Bash(ls:*)", "ls", Runs),
        ("allowed-tools: Bash(ls:*)", "ls beds", Runs),
        ("allowed-tools: Bash(ls)", "ls beds", Narrowed),
        ("allowed-tools: Bash(ls:*)", "date", Narrowed),
        ("allowed-tools: Bash(ls:*), Bash(date:*)", "ls; date", Runs),
        ("allowed-tools: [\"Bash(ls *)\", Read]", "ls beds", Runs),
        ("allowed-tools: Bash", "date", Runs),
        ("allowed_tools: Bash(ls:*)", "date", Narrowed),
        // Built-ins and filters need no entry of their own, as long as there is one for a command.
        ("allowed-tools: Bash(ls:*)", "ls | sort -r | head -1 || echo none", Runs),
        ("allowed-tools: Bash(ls:*)", "sort README.md", Unmounted),
        ("allowed-tools: Bash(ls:*)", "cat < README.md", Unmounted),
        ("allowed-tools: Bash(ls:*)", "cat README.md || echo hidden", Unmounted),
        ("allowed-tools: Bash(ls:*)", "{ cat; } < README.md", Unmounted),
        ("allowed-tools: Bash(ls:*)", "if true; then cat; fi < README.md || echo hidden", Unmounted),
        // No entry for a command, or an empty list: not even `echo`.
        ("allowed-tools: []", "echo x", Narrowed),
        ("allowed-tools: \"\"", "echo x", Narrowed),
        ("allowed-tools: Read, WebFetch", "echo x", Narrowed),
        ("allowed-tools: Read, WebFetch", "echo x | cat", Narrowed),
        // One entry that cannot be read permits nothing; the others hold.
        ("allowed-tools: [\"Bash(ls:*)\", \"Bash(git * x)\"]", "ls", Runs),
        ("allowed-tools: [\"Bash(ls:*)\", \"Bash(git * x)\"]", "date", Narrowed),
        ("allowed-tools: [\"Bash(git * x)\"]", "echo x", Narrowed),
        // A list that cannot be read, or stands twice, is no list.
        ("allowed-tools: {a: b}", "echo x", Narrowed),
        ("allowed-tools: [[a], {b: c}]", "echo x", Narrowed),
        ("allowed-tools: Bash\nallowed-tools: Bash", "echo x", Narrowed),
        // The other list takes away.
        ("disallowed-tools: Bash(date:*)", "date", Narrowed),
        ("disallowed-tools: Bash(date:*)", "ls", Runs),
        ("disallowed-tools: Bash", "echo x", Narrowed),
        ("disallowed-tools: Bash(cat:*)", "ls | cat", Narrowed),
        ("allowed-tools: Bash(ls:*)\ndisallowed-tools: Bash(ls beds:*)", "ls beds", Narrowed),
        ("allowed-tools: Bash(ls:*)\ndisallowed-tools: Bash(ls beds:*)", "ls", Runs),
        ("disallowed-tools: [\"Bash(git * x)\"]", "echo x", Narrowed),
        ("disallowed-tools: {a: b}", "echo x", Narrowed),
        // A carrier needs its exact vector, or every command.
        ("allowed-tools: Bash(sort:*)", "sort -o x README.md", Narrowed),
    ] {
        check(header, &[], program, expected);
    }
}

#[test]
fn a_list_of_tools_never_gives_more_than_the_host_grants() {
    let ls: &[(Effect, &str)] = &[(Effect::Allow, "Bash(ls:*)")];
    let not_date: &[(Effect, &str)] = &[(Effect::Allow, "Bash"), (Effect::Deny, "Bash(date:*)")];
    let sort: &[(Effect, &str)] = &[(Effect::Allow, "Bash(sort:*)")];
    for (header, rules, program, expected) in [
        ("allowed-tools: Bash", ls, "ls", Runs),
        ("allowed-tools: Bash", ls, "date", NotGranted),
        ("allowed-tools: Bash(date:*)", ls, "date", NotGranted),
        ("allowed-tools: Bash(date:*)", ls, "ls", Narrowed),
        ("", not_date, "ls", Runs),
        ("", not_date, "date", Denied),
        ("allowed-tools: Bash(date:*)", not_date, "date", Denied),
        ("allowed-tools: Bash(date)", not_date, "date || echo hidden", Denied),
        ("allowed-tools: Bash", sort, "sort README.md", Runs),
        ("allowed-tools: Bash", sort, "sort -o x README.md", Carrier),
        ("allowed-tools: Read", &[(Effect::Allow, "Read")], "echo x", Narrowed),
        ("", &[(Effect::Allow, "Read")], "echo x", NotGranted),
    ] {
        check(header, rules, program, expected);
    }
}

#[test]
fn a_filter_without_a_grant_transforms_streams_and_sees_no_file() {
    let header = "allowed-tools: Bash(ls:*)";
    let outcome = Case::new("!`ls beds | tr a-z A-Z | sort -r | head -n 1 | lolcat`").header(header).invoke();
    assert!(outcome.result.is_err(), "`lolcat` is not shipped, and the status is the last command's");
    let outcome = Case::new("!`ls beds | tr a-z A-Z | sort -r | head -n 1`").header(header).invoke();
    assert_eq!(outcome.prompt(), "B.TXT\n");
    for (program, path) in [
        ("ls; sort README.md", "README.md"),
        ("ls; cat < README.md", "README.md"),
        ("ls | wc -l beds/a.txt", "beds/a.txt"),
    ] {
        let outcome = Case::new(&format!("!`{program}`")).header(header).invoke();
        match &outcome.refusal().reason {
            RefusalReason::Unmounted { path: named, narrowed_by } => {
                assert!(named.ends_with(path) && narrowed_by.is_some(), "{program}: {named}");
            }
            other => unreachable!("{program}: {other}"),
        }
        // It is the skill's own list that does not have the command, which no rule of the host changes.
        assert_eq!(outcome.refusal().remedy, None, "{program}");
    }
}

#[test]
fn path_patterns_bind_every_command() {
    let deny: &[(Effect, &str)] =
        &[(Effect::Allow, "Bash"), (Effect::Deny, "Read(notes/**)"), (Effect::Deny, "Read(b.txt)")];
    for (program, hidden) in [
        ("cat notes/may.md 2>/dev/null || echo none", "notes/may.md"),
        ("cat 2>/dev/null < notes/may.md || echo none", "notes/may.md"),
        ("cd beds && cat ../beds/./b.txt 2>/dev/null || echo none", "../beds/./b.txt"),
    ] {
        // Who names a hidden file learns why it is not there, and no `||` hides that.
        let outcome = Case::new(&format!("!`{program}`")).rules(deny).invoke();
        match &outcome.refusal().reason {
            RefusalReason::Hidden { path, .. } => assert_eq!(path, hidden, "{program}"),
            other => unreachable!("{program}: {other}"),
        }
        let control = Case::new(&format!("!`{program}`")).rules(&deny[..1]).invoke();
        assert_ne!(control.prompt(), "none\n", "{program}");
    }
    for (program, output) in
        [("ls beds", "a.txt"), ("echo beds/*", "beds/a.txt"), ("[ -f beds/b.txt ] && echo there || echo none", "none")]
    {
        assert_eq!(
            Case::new(&format!("!`{program}`")).rules(deny).invoke().prompt(),
            format!("{output}\n"),
            "{program}"
        );
        let control = Case::new(&format!("!`{program}`")).rules(&deny[..1]).invoke();
        assert_ne!(control.prompt(), format!("{output}\n"), "{program}");
    }
    let header = "allowed-tools: Bash(cat:*), Bash(ls:*), Read(beds/**)";
    let outcome = Case::new("!`ls; cat beds/b.txt; cat README.md 2>/dev/null || echo hidden`").header(header).invoke();
    assert_eq!(outcome.prompt(), "beds\nnotes\npeas\nhidden\n");
}

#[test]
fn the_authority_is_reported() {
    let outcome = Case::new("!`ls beds`")
        .header("allowed-tools: Bash(ls:*), Bash(git * x)\ndisallowed-tools: Bash(ls -R:*)")
        .rules(&[(Effect::Allow, "Bash(ls:*)"), (Effect::Deny, "Bash(rm:*)")])
        .invoke();
    let authority = outcome.result.expect("runs").authority;
    assert_eq!(authority.host, ["allow Bash(ls:*) (host)", "deny Bash(rm:*) (host)"]);
    let patterns: Vec<_> = authority.caveats.iter().map(|caveat| caveat.patterns.clone()).collect();
    assert_eq!(patterns, [vec!["Bash(ls:*)"], vec!["not Bash(ls -R:*)"]]);
    assert_eq!(authority.effective.len(), 1);
    assert_eq!(authority.effective[0].pattern, "Bash(ls:*)");
    assert_eq!(authority.effective[0].narrowed_by, patterns);
}
