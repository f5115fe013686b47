//! What stands in the prompt.

use crate::{Case, TARGET, project};
use skillgate_policy::Invoker;
use skillgate_runtime::{InvokeRequest, SessionOptions};
use skillgate_tests::{Ran, builder, host, prompt};

#[test]
fn an_injection_becomes_its_output() {
    for (program, output) in [
        ("ls beds | wc -l", "2"),
        ("wc -l README.md", "4 README.md"),
        ("wc -l < README.md", "4"),
        ("sort -n beds/a.txt | head -n 1 | cut -d ' ' -f 2", "apples"),
        ("cat beds/*.txt | sort | uniq | tail -n 1", "peas"),
        ("head -1 README.md; tail -n 1 README.md", "# Garden\nBeans"),
        ("cat missing 2>/dev/null || echo none", "none"),
        ("cat missing 2>/dev/null || cat also-missing 2>/dev/null || echo none", "none"),
        ("no-such-command-here x 2>/dev/null || echo fallback", "fallback"),
        ("[ -f README.md ] && echo yes || echo no", "yes"),
        ("test -d missing && echo yes || echo no", "no"),
        ("if [ -d beds ]; then ls beds; else echo none; fi", "a.txt\nb.txt"),
        ("for f in beds/*.txt; do basename \"$f\" .txt; done", "a\nb"),
        ("n=$(cat beds/*.txt | wc -l); echo \"$n lines, $((n * 2)) twice\"", "4 lines, 8 twice"),
        ("echo \"$(head -n 1 beds/b.txt)\" | tr a-z A-Z", "PEAS"),
        ("cd beds && ls | paste -s -d , -", "a.txt,b.txt"),
        ("printf '%s-%02d\\n' a 7", "a-07"),
        ("cat <<< word", "word"),
        ("seq 3 | while read -r n; do echo \"<$n>\"; done", "<1>\n<2>\n<3>"),
        ("ls *.nothing 2>/dev/null || echo none", "none"),
        ("(cd beds; pwd) | tail -c 6; ls notes", "/beds\nmay.md"),
        ("case $(uname -s) in Linux) echo tux;; *) echo other;; esac", "tux"),
        ("true", ""),
    ] {
        let outcome = Case::new(&format!("- Found: !`{program}`.")).invoke();
        assert_eq!(outcome.prompt(), format!("- Found: {output}.\n"), "{program}");
    }
}

#[test]
fn a_block_is_one_program_and_is_replaced_whole() {
    let body = "Before.\n\n```!\nx=1\nfor f in beds/*; do\n  x=$((x + 1))\ndone\necho $x\n```\nAfter, !`echo inline`.";
    assert_eq!(Case::new(body).invoke().prompt(), "Before.\n\n3\nAfter, inline.\n");
}

#[test]
fn arguments_are_words_of_a_command_and_never_syntax() {
    for (header, body, arguments, expected) in [
        ("", "$0: !`wc -l $0`", "README.md", "README.md: 4 README.md\n"),
        ("", "!`head -n $2 \"$1\"`", "README.md 1", "# Garden\n"),
        ("arguments: [file, count]", "$file: !`tail -n $count \"beds/$file.txt\"`", "a 1", "a: 2 beets\n"),
        ("", "!`ls $ARGUMENTS`", "-1 beds", "a.txt\nb.txt\n"),
        ("", "!`printf '[%s]' $ARGUMENTS`", "'a b' '; rm -r x' '$(ls)' '*'", "[a b][; rm -r x][$(ls)][*]\n"),
        ("", "!`printf '[%s]' \"$0\"`", "\"x'; ls; '\"", "[x'; ls; ']\n"),
        ("", "!`printf '[%s]' \"$ARGUMENTS\"`", "a  'b'", "[a  'b']\n"),
        ("", "!`cat \"$0\" 2>/dev/null || echo \"no $0\"`", "../../../../etc/passwd", "no ../../../../etc/passwd\n"),
        ("", "!`echo x`", "unused words", "x\n\nARGUMENTS: unused words\n"),
        ("", "!`printf '[%s][%s]' $0 \"$1\"`", "one", "[one][]\n"),
    ] {
        let outcome = Case::new(body).header(header).arguments(arguments).invoke();
        assert_eq!(outcome.prompt(), expected, "{body} with {arguments}");
    }
}

#[test]
fn output_is_not_read_again() {
    let outcome = Case::new("!`cat notes/trap.md` !`echo '$ARGUMENTS'`").arguments("x").invoke();
    assert!(outcome.result.is_err(), "the control: there is no such file yet");
    let tree = project("", "!`cat notes/trap.md` $0");
    tree.write("notes/trap.md", b"!`ls` $0 $ARGUMENTS ${CLAUDE_SESSION_ID}\n");
    let session = builder(TARGET, host(&[]), &tree.path(""), &Ran::new())
        .open()
        .expect("opens")
        .session(SessionOptions::default());
    let request = InvokeRequest::new("s", Invoker::User).arguments("x");
    let text = prompt(&session.invoke(&request).expect("runs"));
    assert_eq!(text, "!`ls` $0 $ARGUMENTS ${CLAUDE_SESSION_ID} x\n");
}

#[test]
fn variables_name_the_places_and_the_environment_is_ours() {
    let body = "!`cat \"${CLAUDE_SKILL_DIR}/notes.txt\"` in ${CLAUDE_SESSION_ID}: !`printenv TZ LANG`";
    assert_eq!(Case::new(body).invoke().prompt(), "of the skill in session-1: UTC\nC.UTF-8\n");
    let outcome =
        Case::new("!`printenv CARGO_MANIFEST_DIR || echo unset` !`printenv | cut -d = -f 1 | sort | tr '\\n' ' '`")
            .invoke();
    assert_eq!(outcome.prompt(), "unset CLAUDE_PROJECT_DIR CLAUDE_SKILL_DIR HOME LANG PATH TZ \n");
}

#[test]
fn the_prompt_begins_with_the_skills_directory() {
    let outcome = Case::new("Text.").invoke();
    let directory = outcome.tree.path(".claude/skills/s");
    let text = outcome.result.expect("runs").text();
    assert_eq!(text, format!("Base directory for this skill: {}\n\nText.\n", directory.display()));
}

#[test]
fn an_invocation_says_what_ran_under_which_rule() {
    let outcome = Case::new("!`ls beds | wc -l` and !`[ -f x ] || echo no`").invoke();
    assert_eq!(outcome.ran.len(), 4);
    assert!(["ls beds -> 0", "wc -l -> 0"].iter().all(|line| outcome.ran[..2].contains(&(*line).to_owned())));
    assert_eq!(outcome.ran[2..], ["[ -f x ] -> 1", "echo no -> 0"]);
    let invocation = outcome.result.expect("runs");
    assert_eq!(invocation.injections.len(), 2);
    let first = &invocation.injections[0];
    assert_eq!((first.source.as_str(), first.exit_code, first.stdout_bytes), ("ls beds | wc -l", 0, 2));
    for command in &first.commands {
        assert_eq!((command.rule.as_str(), command.backend), ("allow Bash (built-in default)", "wasm"), "{command:?}");
    }
    assert!(invocation.injections[1].commands.iter().all(|command| command.backend == "shell"));
    assert!(invocation.authority.caveats.is_empty());
    assert_eq!(invocation.authority.effective[0].pattern, "Bash (shipped commands)");
}

#[test]
fn a_plan_tells_what_will_run_and_runs_nothing() {
    let tree = project("allowed-tools: Bash(ls:*), Bash(wc:*)", "!`ls $0 | wc -l` !`wc -l beds/*.txt $(ls)`");
    let ran = Ran::new();
    let session =
        builder(TARGET, host(&[]), &tree.path(""), &ran).open().expect("opens").session(SessionOptions::default());
    let plan = session.plan(&InvokeRequest::new("s", Invoker::User).arguments("beds")).expect("plans");
    let words: Vec<Vec<Option<String>>> = plan
        .injections
        .iter()
        .flat_map(|injection| &injection.commands)
        .map(|command| command.words.iter().map(|word| word.clone().ok()).collect())
        .collect();
    let known = |words: &[&str]| words.iter().map(|word| Some((*word).to_owned())).collect::<Vec<_>>();
    let unknown = [known(&["wc", "-l"]), vec![None, None]].concat();
    assert_eq!(words, [known(&["ls", "beds"]), known(&["wc", "-l"]), unknown, known(&["ls"])]);
    let certain: Vec<bool> = plan
        .injections
        .iter()
        .flat_map(|injection| &injection.commands)
        .map(|command| command.verdict.as_ref().expect("allowed").certain)
        .collect();
    assert_eq!(certain, [true, true, false, true]);
    assert_eq!(plan.authority().caveats[0].patterns, ["Bash(ls:*)", "Bash(wc:*)"]);
    assert!(plan.objection().is_none() && ran.lines().is_empty());
}
