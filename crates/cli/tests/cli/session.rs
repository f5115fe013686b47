//! `skillgate session`: the protocol, and the example in Python that uses all of it.

use crate::fixture::{World, schema, schemas, validate};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const HELLO: &str = "{\"op\":\"hello\",\"version\":1}\n";

/// The lines that come back for these, each valid.
fn talk(world: &World, options: &[&str], input: &str) -> Vec<Value> {
    let mut child = world
        .command(&[options, &["session"]].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    child.stdin.take().expect("it is piped").write_all(input.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    let text = String::from_utf8(output.stdout).expect("JSON is UTF-8");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect();
    lines.iter().for_each(|line| validate("session-response", line));
    lines
}

/// The codes of the errors, by the ids of their lines.
fn codes(lines: &[Value]) -> Vec<(Value, String)> {
    let code = |line: &Value| Some((line["id"].clone(), line["error"]["code"].as_str()?.to_owned()));
    lines.iter().filter_map(code).collect()
}

fn python() -> PathBuf {
    // What is not there fails the test: a client in another language is what the protocol is for.
    let known = ["/usr/bin/python3", "/usr/local/bin/python3"].map(PathBuf::from);
    known.into_iter().find(|path| path.exists()).unwrap_or_else(|| PathBuf::from("python3"))
}

#[test]
fn the_example_in_python_uses_every_operation_and_every_line_is_as_the_schema_says() {
    let world = World::new("");
    let binary = env!("CARGO_BIN_EXE_skillgate");
    let example = schemas().join("../examples/session.py");
    let store = world.path("store");
    world.own_store();
    let mut python = Command::new(python());
    python.env_clear().env("PATH", "/usr/bin:/bin").env("TMPDIR", world.path("")).arg(example).arg(binary);
    python.args(["--managed", "/nonexistent", "--store"]).arg(store).stdin(Stdio::null());
    let output = python.output().expect("python3 is installed");
    let text = String::from_utf8_lossy(&output.stdout);
    let transcript: Vec<(&str, Value)> = text
        .lines()
        .map(|line| {
            let (direction, line) = line.split_at(1);
            (direction, serde_json::from_str(line).expect("a line is JSON"))
        })
        .collect();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}\n{text}");
    let mut used = BTreeSet::new();
    for (direction, line) in &transcript {
        match *direction {
            ">" => {
                validate("session-request", line);
                used.insert(line["op"].as_str().expect("a request has one").to_owned());
            }
            _ => validate("session-response", line),
        }
    }
    let request = schema("session-request");
    let all: BTreeSet<String> = request["oneOf"]
        .as_array()
        .expect("one schema for each operation")
        .iter()
        .map(|one| one["properties"]["op"]["const"].as_str().expect("its name").to_owned())
        .collect();
    assert_eq!(used, all);
    // Each request but `cancel` is answered once, with its own id.
    let ids = |wanted: &str, of: &dyn Fn(&Value) -> bool| -> Vec<String> {
        let lines = transcript.iter().filter(|(direction, line)| *direction == wanted && of(line));
        let mut ids: Vec<String> = lines.map(|(_, line)| line["id"].to_string()).collect();
        ids.sort();
        ids
    };
    let asked = ids(">", &|line| line["op"] != "hello" && line["op"] != "cancel");
    assert_eq!(ids("<", &|line| line.get("ok").is_some() && line.get("version").is_none()), asked);
}

#[test]
fn nothing_is_answered_before_hello_and_another_version_is_an_error() {
    let world = World::new("");
    let lines = talk(
        &world,
        &[],
        &format!(
            "{{\"op\":\"list\",\"id\":1}}\n{{\"op\":\"hello\",\"version\":2}}\n{{\"op\":\"tools\",\"id\":2}}\n{HELLO}{HELLO}"
        ),
    );
    let expected =
        [(json!(1), "no-hello"), (Value::Null, "version"), (json!(2), "no-hello"), (Value::Null, "bad-request")];
    assert_eq!(codes(&lines), expected.map(|(id, code)| (id, code.to_owned())));
    assert_eq!(lines[3], json!({"ok": true, "version": 1, "skillgate": env!("CARGO_PKG_VERSION")}));
}

#[test]
fn what_is_no_request_is_an_error_and_what_follows_is_answered() {
    let world = World::new("");
    let long = "x".repeat(4 * 1024 * 1024);
    let bad = [
        "{".to_owned(),
        "{\"id\":1,\"op\":\"fly\"}".to_owned(),
        "{\"id\":2,\"op\":\"list\",\"colour\":\"red\"}".to_owned(),
        format!("{{\"id\":3,\"op\":\"user_message\",\"text\":\"{long}\"}}"),
        "{\"id\":4,\"op\":\"cancel\"}".to_owned(),
        "{\"id\":\"ask-1\",\"op\":\"answer\",\"decision\":\"once\"}".to_owned(),
        "{\"id\":5,\"op\":\"event\",\"event\":\"Sunrise\"}".to_owned(),
        "{\"id\":6,\"op\":\"stop\",\"agent\":\"\"}".to_owned(),
        "{\"id\":7,\"op\":\"restore\"}".to_owned(),
        "{\"id\":8,\"op\":\"restore\",\"data\":{}}".to_owned(),
        "{\"id\":9,\"op\":\"restore\",\"path\":\"nowhere/x.json\"}".to_owned(),
        "{\"id\":10,\"op\":\"fork_result\",\"fork\":\"fork-9\",\"text\":\"\"}".to_owned(),
        "{\"id\":11,\"op\":\"unload\",\"skill\":\"nope\"}".to_owned(),
        "{\"id\":12,\"op\":\"invoke\",\"skill\":\"nope\",\"caller\":\"model\"}".to_owned(),
    ];
    let mut input = HELLO.to_owned();
    for line in &bad {
        input.push_str(line);
        input.push('\n');
    }
    input.push_str("{\"id\":99,\"op\":\"tools\"}\n");
    let lines = talk(&world, &[], &input);
    let mut found = codes(&lines);
    found.sort_by_key(|(id, code)| (id.as_u64().unwrap_or_default(), code.clone()));
    let expected = [
        (Value::Null, "bad-json"),
        (Value::Null, "line-too-long"),
        (json!("ask-1"), "no-such-ask"),
        (json!(1), "unknown-op"),
        (json!(2), "bad-request"),
        (json!(4), "not-running"),
        (json!(5), "bad-request"),
        (json!(6), "bad-request"),
        (json!(7), "bad-request"),
        (json!(8), "not-a-save"),
        (json!(9), "save-missing"),
        (json!(10), "no-such-fork"),
        (json!(11), "not-found"),
        (json!(12), "not-found"),
    ];
    assert_eq!(found, expected.map(|(id, code)| (id, code.to_owned())));
    assert!(lines.iter().any(|line| line["id"] == 99 && line["ok"] == true), "{lines:?}");
    for line in lines.iter().filter(|line| line["ok"] == false) {
        let error = &line["error"];
        assert!(error["message"].as_str().is_some_and(|it| !it.is_empty()), "{line}");
        assert!(error["help"].as_array().is_some_and(|help| !help.is_empty()), "there is a way out: {line}");
    }
}

const ASKING: &str = "@ home/.claude/skills/asking/SKILL.md\n---\ndescription: A.\nshell: bash\n---\nHello.\n";

#[test]
fn what_nobody_answers_is_refused_at_the_end_of_the_input_and_without_input() {
    let world = World::new(ASKING);
    let invoke = format!("{HELLO}{{\"id\":1,\"op\":\"invoke\",\"skill\":\"asking\",\"caller\":\"user\"}}\n");
    for (options, asks) in [(&[] as &[&str], true), (&["--no-input"], false)] {
        let lines = talk(&world, options, &invoke);
        let events: Vec<&Value> = lines.iter().filter(|line| line.get("event").is_some()).collect();
        assert_eq!(codes(&lines), [(json!(1), "denied".to_owned())], "{lines:?}");
        // The input may end before it is asked, which is a no as well.
        assert!(asks || events.is_empty(), "{events:?}");
        for event in events {
            assert_eq!(event["event"]["suggestions"], json!(["Skill(asking)"]));
        }
    }
    let allowed = talk(&world, &["--allow", "Skill(asking)"], &invoke);
    let content = allowed[1]["result"]["messages"][1]["content"].as_str().expect("a message");
    assert!(content.trim_end().ends_with("Hello."), "{content}");
}

#[test]
fn requests_that_overlap_have_ids_of_their_own_and_are_bounded() {
    let world = World::new(ASKING);
    let invoke = |id: u64| format!("{{\"id\":{id},\"op\":\"invoke\",\"skill\":\"asking\",\"caller\":\"user\"}}\n");
    // Each waits for its ask, which nobody answers before the end of the input.
    let twice = codes(&talk(&world, &[], &format!("{HELLO}{}{}", invoke(1), invoke(1))));
    assert_eq!(twice, [(Value::Null, "id-in-use".to_owned()), (json!(1), "denied".to_owned())]);
    let many: String = (1..=65).map(invoke).collect();
    let found = codes(&talk(&world, &[], &format!("{HELLO}{many}")));
    assert_eq!(found[0], (Value::Null, "busy".to_owned()));
    assert_eq!(found.iter().filter(|(_, code)| code == "denied").count(), 64);
}

#[test]
fn an_agent_that_is_a_program_gives_the_result_and_its_lines_are_progress() {
    let world = World::new(
        "@ home/.claude/skills/deep/SKILL.md\n---\ndescription: D.\ncontext: fork\n---\nThink of $ARGUMENTS.\n",
    );
    let invoke =
        format!("{HELLO}{{\"id\":1,\"op\":\"invoke\",\"skill\":\"deep\",\"args\":\"tea\",\"caller\":\"user\"}}\n");
    let script = "printf 'thought: '; tail -n 1; echo \"$SKILLGATE_SKILL_CHAIN $WORD $HOME\"";
    let mut options = vec!["--agent", "/bin/sh", "--agent-arg", "-c", "--agent-arg", script, "--agent-env", "PATH"];
    options.insert(0, "session");
    let mut child = world
        .command(&options)
        .env("PATH", "/usr/bin:/bin")
        .env("WORD", "secret")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command starts");
    child.stdin.take().expect("it is piped").write_all(invoke.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    lines.iter().for_each(|line| validate("session-response", line));
    let result = &lines.last().expect("an answer")["result"];
    assert_eq!(result["status"], "forked", "{text}");
    assert_eq!(result["tool_result"], "thought: Think of tea.\n[\"user:deep\"]", "{text}");
    let progress: Vec<&str> = lines.iter().filter_map(|line| line["event"]["progress"]["kind"].as_str()).collect();
    assert_eq!(progress.first(), Some(&"started"));
    assert!(progress.contains(&"message"), "{progress:?}");

    let refused = world.run(&["session", "--agent", "agent"]);
    assert_eq!(refused.status, 2);
    assert!(
        refused.stderr.contains("not an absolute path") && refused.stderr.contains("--agent /"),
        "{}",
        refused.stderr
    );
}

#[test]
fn the_documentation_names_every_operation() {
    let page = std::fs::read_to_string(schemas().join("../session.md")).expect("the page");
    for one in schema("session-request")["oneOf"].as_array().expect("one schema for each operation") {
        let op = one["properties"]["op"]["const"].as_str().expect("its name");
        assert!(page.contains(&format!("`{op}`")), "{op}");
    }
}

/// A conversation over several runs of `skillgate run`.
#[test]
fn a_conversation_is_kept_in_a_file_and_a_file_that_is_not_one_is_refused() {
    let world = World::new("@ home/.claude/skills/review/SKILL.md\n---\ndescription: R.\n---\nReview $0.\n");
    let file = world.path("kept/c.json").display().to_string();
    let run = |arguments: &[&str]| world.run(&[&["run", "review", "--session", &file], arguments].concat());
    let first = run(&["a"]);
    assert_eq!((first.status, first.stderr.as_str()), (0, ""));
    assert!(first.stdout.ends_with("Review a.\n"), "{}", first.stdout);
    let again = run(&["a"]);
    assert_eq!((again.status, again.stdout.as_str()), (0, ""));
    assert!(again.stderr.contains("loaded already and its text is unchanged"), "{}", again.stderr);
    assert!(run(&["b"]).stdout.ends_with("Review b.\n"), "other arguments, another text");
    let (status, output) = world.json("run", &["run", "review", "--session", &file, "c"]);
    assert_eq!((status, output["skill"].as_str()), (0, Some("user:review")));
    let before = std::fs::read(world.path("kept/c.json")).expect("it is there");
    assert_eq!(run(&["--dry-run", "d"]).status, 0);
    assert_eq!(std::fs::read(world.path("kept/c.json")).expect("it is there"), before, "a plan changes nothing");

    let half = before.get(..before.len() / 2).expect("it is long");
    std::fs::write(world.path("kept/c.json"), half).expect("a file");
    let truncated = run(&["a"]);
    assert_eq!(truncated.status, 1);
    assert!(
        truncated.stderr.contains("ends in the middle") && truncated.stderr.contains("begin a new"),
        "{}",
        truncated.stderr
    );
    assert_eq!(
        std::fs::read(world.path("kept/c.json")).expect("it is there"),
        half,
        "what cannot be read is not replaced"
    );
}

/// The Skill tool's numbers are in the protocol, and a line with two names calls both or neither.
#[test]
fn refusals_have_their_numbers_and_stacked_names_are_called_together() {
    let skill = |name: &str, header: &str| {
        format!(
            "@ home/.claude/skills/{name}/SKILL.md\n---\ndescription: A.\n{header}---\nText of {name}: $ARGUMENTS\n"
        )
    };
    let world = World::new(
        &[
            skill("a", ""),
            skill("b", ""),
            skill("yours", "disable-model-invocation: true\n"),
            skill("mine", "user-invocable: false\n"),
            skill("denied", ""),
            skill("asking", "shell: bash\n"),
        ]
        .join("\n"),
    );
    let invoke = |id: u8, skill: &str, caller: &str| {
        format!("{{\"id\":{id},\"op\":\"invoke\",\"skill\":\"{skill}\",\"caller\":\"{caller}\"}}\n")
    };
    let input = [
        HELLO.to_owned(),
        invoke(1, "nosuch", "model"),
        invoke(2, "denied", "model"),
        invoke(3, "asking", "user"),
        invoke(4, "yours", "model"),
        invoke(6, "mine", "user"),
        "{\"id\":7,\"op\":\"unload\",\"skill\":\"a\"}\n".to_owned(),
    ];
    let lines = talk(&world, &["--no-input", "--deny", "Skill(denied)"], &input.concat());
    let mut numbers: Vec<(u64, Value)> =
        lines.iter().filter_map(|line| Some((line["id"].as_u64()?, line.get("error")?["number"].clone()))).collect();
    numbers.sort_by_key(|(id, _)| *id);
    assert_eq!(numbers, [(1, json!(1)), (2, json!(2)), (3, json!(3)), (4, json!(4)), (6, json!(6)), (7, Value::Null)]);

    let typed = |line: &str| {
        let input = format!("{HELLO}{{\"id\":1,\"op\":\"typed\",\"line\":\"{line}\"}}\n");
        talk(&world, &["--no-input", "--deny", "Skill(denied)"], &input).remove(1)
    };
    let both = typed("/a /b one two");
    let texts: Vec<&str> = both["result"]["results"]
        .as_array()
        .expect("two results")
        .iter()
        .map(|result| result["messages"][1]["content"].as_str().expect("a text").trim_end())
        .collect();
    assert_eq!(both["result"]["typed"], "skills");
    assert!(texts[0].ends_with("Text of a: one two") && texts[1].ends_with("Text of b: one two"), "{texts:?}");
    assert_eq!(typed("no command")["result"], json!({"typed": "text"}));
    assert_eq!(typed("/a /denied x")["error"]["number"], 2);
}
