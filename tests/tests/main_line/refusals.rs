//! What is refused, before anything runs or when it comes to light, and that nothing of it reaches a prompt.

use crate::{Case, TARGET, project};
use skillgate_policy::{Effect, Invoker, RefusalReason};
use skillgate_runtime::{InvokeError, InvokeRequest, SessionOptions};
use skillgate_tests::{Ran, Tree, builder, host, prompt};

/// Refused before anything ran: the action as shown, and the line that would allow it.
#[test]
fn one_refusal_refuses_everything_before_anything_runs() {
    let ls_and_wc: &[(Effect, &str)] = &[(Effect::Allow, "Bash(ls:*)"), (Effect::Allow, "Bash(wc:*)")];
    for (body, action, remedy) in [
        ("!`ls` !`date`", "date", Some("Bash(date:*)")),
        ("!`ls; date -u`", "date -u", Some("Bash(date:*)")),
        ("!`ls | wc -l; echo $(date)`", "date", Some("Bash(date:*)")),
        ("!`ls || date`", "date", Some("Bash(date:*)")),
        ("!`if false; then date; fi`", "date", Some("Bash(date:*)")),
        ("!`ls $(date +%F)`", "date +%F", Some("Bash(date:*)")),
        ("```!\ncat <<E\n$(date)\nE\n```", "date", Some("Bash(date:*)")),
        ("!`seq $0 | wc -l`", "seq 3", Some("Bash(seq:*)")),
        ("!`ls > out.txt`", "'>' out.txt", Some("Write(out.txt)")),
        ("!`ls >> notes/may.md || true`", "'>' notes/may.md", Some("Write(notes/may.md)")),
    ] {
        let outcome = Case::new(body).rules(ls_and_wc).arguments("3").invoke();
        let refusal = outcome.refusal();
        assert_eq!((refusal.action.as_str(), refusal.remedy.as_deref()), (action, remedy), "{body}");
        assert_eq!(outcome.ran, Vec::<String>::new(), "{body}");
    }
    let control = Case::new("!`ls beds` !`ls | wc -l`").rules(ls_and_wc).invoke();
    assert_eq!(control.prompt(), "a.txt\nb.txt 3\n");
}

#[test]
fn what_the_shell_does_not_have_refuses_before_anything_runs() {
    for (body, reason) in [
        ("!`ls` !`sleep 1 & echo x`", "background"),
        ("!`ls; exec ls`", "not supported"),
        ("!`ls; trap ls EXIT`", "not supported"),
        ("!`ls; echo \"unclosed`", "quote"),
        ("!`ls` !`diff <(ls) README.md`", "process substitution"),
    ] {
        let outcome = Case::new(body).invoke();
        match outcome.result {
            Err(InvokeError::Program { error, path, span, .. }) => {
                assert!(error.reason.contains(reason), "{body}: {}", error.reason);
                let file = std::fs::read_to_string(&path).expect("the skill's file");
                assert!(
                    span.start > file.find("!`").expect("an injection") && span.end <= file.len(),
                    "{body}: {span:?}"
                );
            }
            other => unreachable!("{body}: {other:?}"),
        }
        assert_eq!(outcome.ran, Vec::<String>::new(), "{body}");
    }
}

#[test]
fn an_argument_where_it_could_become_syntax_refuses_before_anything_runs() {
    for (body, arguments) in [("!`ls` !`$0 x`", "rm"), ("!`ls; echo $(( $0 ))`", "a[$(rm)]")] {
        let outcome = Case::new(body).arguments(arguments).invoke();
        assert!(
            matches!(&outcome.result, Err(InvokeError::Program { error, .. }) if error.unsafe_argument),
            "{body}: {:?}",
            outcome.result
        );
        assert_eq!(outcome.ran, Vec::<String>::new(), "{body}");
    }
}

/// A program that makes a program of its arguments is refused, whatever is granted: arguments are data.
#[test]
fn an_argument_never_becomes_a_program_through_eval_or_sh() {
    for body in [
        "!`eval \"echo $0\"`",
        "!`sh -c \"echo $0\"`",
        "!`x=$0; eval \"echo $x\"`",
        "!`f() { eval \"$1\"; }; f $0`",
        "!`eval \"$(echo echo $0)\"`",
    ] {
        let outcome = Case::new(body).arguments("'a; echo b'").invoke();
        assert!(matches!(outcome.refusal().reason, RefusalReason::ProducedProgram), "{body}");
        assert_eq!(outcome.refusal().remedy, None, "{body}");
    }
    let control = Case::new("!`sh -c 'echo \"$1\"' _ $0`").arguments("'a; echo b'").invoke();
    assert_eq!(control.prompt(), "a; echo b\n");
}

/// What comes to light only while it runs ends the run, and no operator hides it.
#[test]
fn a_late_refusal_ends_the_run_and_nothing_of_it_is_used() {
    let only_ls: &[(Effect, &str)] = &[(Effect::Allow, "Bash(ls:*)")];
    for (program, action) in [
        ("c=$(echo date); ls beds; $c", "date"),
        ("c=$(echo date); ls beds; $c || echo hidden", "date"),
        ("c=$(echo date); ls beds; if $c; then echo x; fi; echo on", "date"),
        ("c=$(echo date); ls beds; echo \"$($c)\" || true", "date"),
        ("c=$(echo date); ls beds; ! $c", "date"),
    ] {
        let outcome = Case::new(&format!("!`{program}`")).rules(only_ls).invoke();
        assert_eq!(outcome.refusal().action, action, "{program}");
        assert!(outcome.ran.contains(&"ls beds -> 0".to_owned()), "{program}: {:?}", outcome.ran);
        assert!(!outcome.ran.iter().any(|line| line.starts_with("date") || line.contains("hidden")), "{program}");
    }
}

#[test]
fn a_word_that_nobody_wrote_is_no_option() {
    let only_ls: &[(Effect, &str)] = &[(Effect::Allow, "Bash(ls:*)")];
    let mut taken = Vec::new();
    for program in [
        "ls $(echo -a)",
        "ls \"$(echo -a)\"",
        "ls -$(echo a)",
        "x=$(echo -a); ls $x",
        "x=; x+=$(echo -a); ls $x",
        "x=$(echo -a); x+=; ls $x",
        "x=$(echo a); ls -${x}",
        "ls ${y:-$(echo -a)}",
        "ls ${y:=$(echo -a)}",
        "x=b; ls ${x/b/$(echo -a)}",
        "x=$(echo b-a); ls ${x#b}",
        "HOME=$(echo -a); ls ~",
        "for f in $(echo -a); do ls $f; done",
        "echo -a | while read -r f; do ls $f; done",
        "echo \"$(ls $(echo beds -a))\" || true",
    ] {
        let outcome = Case::new(&format!("!`{program}`")).rules(only_ls).invoke();
        match &outcome.result {
            Err(InvokeError::Refused(refusal)) => {
                let expected = RefusalReason::ProducedOption { word: "-a".to_owned() };
                assert_eq!(refusal.reason, expected, "{program}");
            }
            other => taken.push(format!("{program}: {other:?}")),
        }
    }
    assert_eq!(taken, Vec::<String>::new());
    for program in ["ls -a", "x=-a; ls $x", "ls --color=$(echo never)", "ls -- $(echo beds)", "ls $(echo beds)"] {
        let outcome = Case::new(&format!("!`{program}`")).rules(only_ls).invoke();
        assert!(outcome.result.is_ok(), "{program}: {:?}", outcome.result);
    }
}

#[test]
fn a_file_that_is_named_like_an_option_is_no_option() {
    let tree = project("", "!`ls *`");
    let invoke = |rules: &[(Effect, &str)]| {
        let session = builder(TARGET, host(rules), &tree.path(""), &Ran::new())
            .open()
            .expect("opens")
            .session(SessionOptions::default());
        session.invoke(&InvokeRequest::new("s", Invoker::User)).map_err(Box::new)
    };
    let only_ls: &[(Effect, &str)] = &[(Effect::Allow, "Bash(ls:*)")];
    assert!(invoke(only_ls).is_ok(), "the control: no file has such a name");
    tree.write("-a", b"");
    match invoke(only_ls).map_err(|error| *error) {
        Err(InvokeError::Refused(refusal)) => {
            assert_eq!(refusal.reason, RefusalReason::ProducedOption { word: "-a".to_owned() });
        }
        other => unreachable!("{other:?}"),
    }
    assert!(invoke(&[(Effect::Allow, "Bash")]).is_ok(), "under bare `Bash` it is what a shell does");
}

#[test]
fn an_attempt_to_change_a_file_refuses_the_run_with_the_path_and_the_remedy() {
    for (program, path) in [
        ("touch x", "x"),
        ("touch x || echo hidden", "x"),
        ("touch beds/new.txt; true", "beds/new.txt"),
        ("mkdir made", "made"),
        ("rm README.md", "README.md"),
        ("rm -rf beds 2>/dev/null || true", "beds/a.txt"),
        ("cp README.md copy.md", "copy.md"),
        ("mv README.md moved.md", "moved.md"),
        ("ln -s README.md link", "link"),
        ("truncate -s 0 README.md", "README.md"),
        ("echo x | tee -a notes/may.md", "notes/may.md"),
        ("cd beds && touch ../x", "x"),
        ("cd beds && touch x", "beds/x"),
        ("seq 9 | sort -o sorted.txt", "sorted.txt"),
        ("f=$(echo late.txt); echo x > \"$f\" || true", "late.txt"),
    ] {
        let outcome = Case::new(&format!("!`{program}`")).rules(&[(Effect::Allow, "Bash")]).invoke();
        let before = project("", "").names();
        let refusal = outcome.refusal();
        match &refusal.reason {
            RefusalReason::Write { path: found } => {
                // `rm -r` begins with whichever entry the directory lists first.
                let either = path == "beds/a.txt" && found == "beds/b.txt";
                assert!(found == path || either, "{program}: {found}");
                assert_eq!(refusal.remedy, Some(format!("Write({found})")), "{program}");
            }
            other => unreachable!("{program}: {other}"),
        }
        assert_eq!(outcome.tree.names(), before, "{program}");
        let readme = std::fs::read_to_string(outcome.tree.path("README.md")).expect("it is still there");
        assert_eq!(readme, "# Garden\n\nTomatoes\nBeans\n", "{program}");
    }
    let control = Case::new("!`echo x > /dev/null; echo y | tee /dev/null; ls missing 2>/dev/null || true`").invoke();
    assert_eq!(control.prompt(), "y\n");
}

#[test]
fn a_file_outside_the_project_is_not_there() {
    for path in ["/etc/passwd", "../../../../../../etc/passwd", "/proc/self/environ", "~/x"] {
        let outcome = Case::new(&format!("!`cat {path} 2>/dev/null || echo none`")).invoke();
        assert_eq!(outcome.prompt(), "none\n", "{path}");
    }
    let outcome = Case::new("!`ls -a / | tr '\\n' ' '`").invoke();
    let root = outcome.tree.path("");
    let first = root.components().nth(1).expect("below the root").as_os_str().to_string_lossy().into_owned();
    let mut names = vec![".", "..", "dev", first.as_str()];
    names.sort_unstable();
    names.dedup();
    assert_eq!(outcome.prompt(), format!("{} \n", names.join(" ")));
}

#[test]
fn an_untrusted_projects_skills_are_listed_and_not_invoked() {
    let tree = project("", "!`ls`");
    tree.add("=== home/.claude/skills/s/SKILL.md\n---\ndescription: The user's.\n---\nThe user's, !`echo run`.\n");
    let ran = Ran::new();
    let session = |trusted, home: bool| {
        let builder = builder(TARGET, host(&[]), &tree.path(""), &ran).trust_project(trusted);
        let builder = if home { builder.home(tree.path("home")) } else { builder };
        builder.open().expect("opens").session(SessionOptions::default())
    };
    let request = InvokeRequest::new("s", Invoker::User);
    match session(false, false).invoke(&request) {
        Err(InvokeError::Untrusted { name, project }) => assert_eq!((name.as_str(), project), ("s", tree.path(""))),
        other => unreachable!("{other:?}"),
    }
    assert_eq!(ran.lines(), Vec::<String>::new());
    let untrusted = session(false, true);
    let catalogue = untrusted.catalogue();
    let states: Vec<_> = catalogue
        .entries()
        .iter()
        .map(|entry| (entry.qualified_name(), entry.state().as_str(), entry.is_offered_to_model()))
        .collect();
    assert_eq!(states, [("user:s", "active", true), ("project:s", "untrusted", false)]);
    // It shadows nothing: the user's skill of the same name is the one that runs.
    assert_eq!(prompt(&untrusted.invoke(&request).expect("the user's")), "The user's, run.\n");
    let qualified = InvokeRequest::new("project:s", Invoker::User);
    assert!(matches!(untrusted.invoke(&qualified), Err(InvokeError::Untrusted { .. })));
    assert!(prompt(&session(true, true).invoke(&request).expect("the control: trusted")).contains("README.md"));
}

#[test]
fn an_unknown_skill_gives_the_nearest_names() {
    let skill = |name: &str| format!("=== .claude/skills/{name}/SKILL.md\n---\ndescription: d\n---\nx\n");
    let tree = Tree::new(&["review", "review-pr", "deploy"].map(skill).concat());
    let session = builder(TARGET, host(&[]), &tree.path(""), &Ran::new())
        .open()
        .expect("opens")
        .session(SessionOptions::default());
    for (name, expected) in
        [("reveiw", vec!["review"]), ("rev", vec!["review", "review-pr"]), ("/deploi", vec!["deploy"]), ("zzz", vec![])]
    {
        match session.invoke(&InvokeRequest::new(name, Invoker::Model)) {
            Err(InvokeError::Unknown { nearest, .. }) => assert_eq!(nearest, expected, "{name}"),
            other => unreachable!("{name}: {other:?}"),
        }
    }
}

#[test]
fn a_rule_on_the_skill_itself_goes_first() {
    let tree = project("", "!`ls`");
    let ran = Ran::new();
    let invoke = |rules: &[(Effect, &str)]| {
        let session = builder(TARGET, host(rules), &tree.path(""), &ran)
            .open()
            .expect("opens")
            .session(SessionOptions::default());
        session.invoke(&InvokeRequest::new("s", Invoker::User)).map_err(Box::new)
    };
    let bash = (Effect::Allow, "Bash");
    for (effect, number) in [(Effect::Deny, 2), (Effect::Ask, 3)] {
        match invoke(&[bash, (effect, "Skill(s)")]).map_err(|error| *error) {
            Err(InvokeError::Skill(refusal)) => assert_eq!(refusal.number(), number),
            other => unreachable!("{other:?}"),
        }
    }
    assert_eq!(ran.lines(), Vec::<String>::new());
    assert!(invoke(&[bash]).is_ok());
}
