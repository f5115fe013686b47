//! Skills that are broken, or change between the decision and the use, do not stop the others and do not slip through.

use crate::{Case, TARGET, project};
use skillgate_loader::BodyError;
use skillgate_policy::Invoker;
use skillgate_runtime::{InvokeError, InvokeRequest, Session, SessionOptions};
use skillgate_tests::{Ran, Tree, builder, host, prompt};
use std::sync::Arc;

fn open(tree: &Tree, ran: &Arc<Ran>) -> std::sync::Arc<Session> {
    builder(TARGET, host(&[]), &tree.path(""), ran)
        .open()
        .expect("the project is there")
        .session(SessionOptions::default())
}

fn invoke(session: &Session, name: &str) -> Result<String, Box<InvokeError>> {
    let invocation = session.invoke(&InvokeRequest::new(name, Invoker::User)).map_err(Box::new)?;
    Ok(prompt(&invocation))
}

#[test]
#[cfg(unix)]
fn broken_skills_are_kept_with_their_reason_and_stop_no_other() {
    let tree = project("", "Works, !`echo really`.");
    tree.add("=== .claude/skills/directory/SKILL.md/\n=== .claude/skills/fifo/SKILL.md |\n=== .claude/skills/empty/\n");
    let mut large = b"---\ndescription: Large.\n---\n".to_vec();
    large.resize(5 << 20, b'x');
    tree.write(".claude/skills/large/SKILL.md", &large);
    tree.write(".claude/skills/latin/SKILL.md", b"---\ndescription: caf\xe9\n---\nCaf\xe9, !`echo runs`.\n");
    tree.write(".claude/skills/unclosed/SKILL.md", b"---\ndescription: Never closed.\n\n!`echo runs`\n");
    tree.write(".claude/skills/nothing/SKILL.md", b"");
    std::os::unix::fs::symlink("/etc/passwd", tree.path(".claude/skills/link.md")).expect("a link");

    let ran = Ran::new();
    let session = open(&tree, &ran);
    let broken: Vec<(String, String)> = session
        .catalogue()
        .broken()
        .iter()
        .map(|failure| (failure.name.clone(), failure.diagnostic.code.to_string()))
        .collect();
    let broken: Vec<(&str, &str)> = broken.iter().map(|(name, code)| (name.as_str(), code.as_str())).collect();
    assert_eq!(
        broken,
        [
            ("directory", "file-not-regular"),
            ("fifo", "file-not-regular"),
            ("large", "file-too-large"),
            ("link.md", "file-unreadable")
        ]
    );
    for (name, code) in broken {
        match invoke(&session, name).map_err(|error| *error) {
            Err(InvokeError::Unreadable(failure)) => assert_eq!(failure.diagnostic.code.to_string(), code),
            other => unreachable!("{name}: {other:?}"),
        }
    }
    assert!(matches!(invoke(&session, "empty").map_err(|error| *error), Err(InvokeError::Unknown { .. })));
    // Its header is lost, so it keeps no shell.
    assert!(invoke(&session, "unclosed").is_err());
    assert_eq!(ran.lines(), Vec::<String>::new());
    assert_eq!(invoke(&session, "s").expect("it stands beside them"), "Works, really.\n");
    assert_eq!(invoke(&session, "latin").expect("it is read lossily"), "Caf\u{fffd}, runs.\n");
    let catalogue = session.catalogue();
    let latin = catalogue.named("latin")[0].skill();
    assert!(latin.diagnostics.iter().any(|found| found.code.to_string() == "not-utf8"));
    assert_eq!(invoke(&session, "nothing").expect("an empty file is a text"), "");
}

#[test]
fn a_text_that_changed_since_it_was_decided_on_is_refused() {
    let tree = project("allowed-tools: Bash(ls:*)", "!`ls beds`");
    let ran = Ran::new();
    let session = open(&tree, &ran);
    assert_eq!(invoke(&session, "s").expect("the control"), "a.txt\nb.txt\n");
    let before = ran.lines();

    let file = tree.path(".claude/skills/s/SKILL.md");
    let original = std::fs::read(&file).expect("the file");
    let wider = String::from_utf8(original.clone())
        .expect("UTF-8")
        .replace("Bash(ls:*)", "Bash")
        .replace("!`ls beds`", "!`date`");
    tree.write(".claude/skills/s/SKILL.md", wider.as_bytes());
    match invoke(&session, "s").map_err(|error| *error) {
        Err(InvokeError::Body(BodyError::Changed { path, expected, found })) => {
            assert_eq!(path, file);
            assert_ne!(expected, found);
        }
        other => unreachable!("{other:?}"),
    }
    tree.remove(".claude/skills/s/SKILL.md");
    let gone = invoke(&session, "s").map_err(|error| *error);
    assert!(matches!(gone, Err(InvokeError::Body(BodyError::Gone { .. }))), "{gone:?}");
    assert_eq!(ran.lines(), before, "nothing ran");

    tree.write(".claude/skills/s/SKILL.md", &original);
    assert_eq!(invoke(&session, "s").expect("the same bytes again"), "a.txt\nb.txt\n");
    tree.write(".claude/skills/s/SKILL.md", wider.as_bytes());
    assert!(invoke(&open(&tree, &ran), "s").is_ok(), "a new session decides on the new text");
}

#[test]
fn a_project_that_is_not_there_is_said_so() {
    let tree = Tree::new("=== file\nx\n");
    for (path, message) in [("missing", "there is no directory"), ("file", "is not a directory")] {
        let error = builder(TARGET, host(&[]), &tree.path(path), &Ran::new()).open().expect_err(path);
        assert!(error.to_string().contains(message), "{error}");
    }
}

#[test]
fn a_skill_that_wants_another_shell_runs_no_injection() {
    for (header, runs) in [
        ("shell: bash", true),
        ("shell: sh", true),
        ("shell: powershell", false),
        ("shell: [bash]", false),
        ("shell: bash\nshell: bash", false),
    ] {
        let rules = [(skillgate_policy::Effect::Allow, "Bash"), (skillgate_policy::Effect::Allow, "Skill(s)")];
        let outcome = Case::new("!`echo x`").header(header).rules(&rules).invoke();
        assert_eq!(outcome.result.is_ok(), runs, "{header}: {:?}", outcome.result);
        assert_eq!(outcome.ran.is_empty(), !runs, "{header}");
    }
}
