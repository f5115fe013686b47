//! The published shapes of `tests/cases/expand`, through everything but a real backend: file, template, values, parser, gate,
//! capability shell. A case's `fake_outputs` stand for the commands, and every vector that would run is recorded.
//!
//! Every key of a case is honoured; one that is not known fails the runner.

#![expect(clippy::disallowed_methods, reason = "the cases are read with `std::fs`, not through the code under test")]

use serde_json::{Map, Value};
use skillgate_core::{Code, CommandName, Digest, Injection, Profile, SkillId, Source};
use skillgate_exec::{
    Backend, CapabilityShell, Capture, Completion, Executor, Exit, Input, Job, Mounts, Output, Overflow, Program, Run,
    RunError, Scene, Streams, sanitise,
};
use skillgate_format::{Document, ReadOptions, Template, TemplateOptions, Values};
use skillgate_policy::{Approved, Authority, Caveat, Defaults, Gate, Host, Provider, builtin_limits};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

#[test]
fn every_case_expands_as_expected() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/expand");
    let mut paths: Vec<PathBuf> =
        fs::read_dir(cases).expect("the cases are in the project").map(|entry| entry.expect("a case").path()).collect();
    paths.sort();
    assert_eq!(paths.len(), 17);
    let failures: Vec<String> = paths.iter().flat_map(|path| run(path)).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The control: a runner that took anything would let these pass.
#[test]
fn the_runner_is_strict() {
    let expansion = Expansion {
        body: "a\n".to_owned(),
        sources: vec!["ls x".to_owned()],
        heads: vec!["ls".to_owned()],
        vectors: vec![vec!["ls".to_owned(), "x".to_owned()]],
        text: Ok("b\n".to_owned()),
    };
    for (expect, holds) in [
        (r#"{"commands": ["ls x"], "commands_argv": [["ls", "x"]], "text": "b\n", "contains": ["b"]}"#, true),
        (r#"{"must_not_run": ["rm"], "not_contains": ["c"], "permission_heads": ["ls"], "note": "x"}"#, true),
        (r#"{"any_of": [{"text": "c\n"}, {"text": "b\n"}], "note_x": "x"}"#, true),
        (r#"{"commands": []}"#, false),
        (r#"{"commands": ["ls"]}"#, false),
        (r#"{"commands_argv": [["ls x"]]}"#, false),
        (r#"{"commands_argv": []}"#, false),
        (r#"{"must_not_run": ["ls"]}"#, false),
        (r#"{"text": "b"}"#, false),
        (r#"{"contains": ["b", "c"]}"#, false),
        (r#"{"not_contains": ["c", "b"]}"#, false),
        (r#"{"unchanged": true}"#, false),
        (r#"{"permission_heads": []}"#, false),
        (r#"{"error": "denied"}"#, false),
        (r#"{"any_of": [{"text": "c\n"}, {"error": "denied"}]}"#, false),
        (r#"{"something": "else"}"#, false),
    ] {
        let expect: Map<String, Value> = serde_json::from_str(expect).expect("an object");
        assert_eq!(compare(&expansion, &expect).is_empty(), holds, "{expect:?}");
    }
    let unexpected = Expansion { text: Err("denied".to_owned()), ..expansion };
    let error: Map<String, Value> = serde_json::from_str(r#"{"error": "denied"}"#).expect("an object");
    assert_eq!(compare(&unexpected, &error), Vec::<String>::new());
    assert_eq!(compare(&unexpected, &Map::new()).len(), 1, "an error that nobody expects is a failure");
}

/// A case under one profile.
struct Expansion {
    body: String,
    /// The injections as written.
    sources: Vec<String>,
    /// The commands that were put to the gate before anything ran, as far as their names are known.
    heads: Vec<String>,
    /// What ran.
    vectors: Vec<Vec<String>>,
    /// The prompt, or the code of what stopped it.
    text: Result<String, String>,
}

fn run(directory: &Path) -> Vec<String> {
    let case = directory.file_name().expect("a case has a name").to_string_lossy().into_owned();
    let expected: Map<String, Value> =
        serde_json::from_slice(&fs::read(directory.join("expected.json")).expect("expected.json"))
            .expect("expected.json is an object");
    let mut failures = Vec::new();
    if expected["case"].as_str() != Some(&case) {
        failures.push(format!("{case}: it calls itself {}", expected["case"]));
    }
    for (key, value) in &expected {
        let profile = match key.as_str() {
            "expect" => Profile::Safe,
            "expect_claude" => Profile::Claude,
            "case" | "file" | "about" | "seen" | "args" | "context" | "fake_outputs" => continue,
            key if is_note(key) => continue,
            _ => {
                failures.push(format!("{case}: the runner does not know the key `{key}`"));
                continue;
            }
        };
        let expansion = expand(directory, &expected, profile);
        let found = compare(&expansion, value.as_object().expect("an object"));
        failures.extend(found.into_iter().map(|failure| format!("{case} under {profile}: {failure}")));
    }
    failures
}

fn is_note(key: &str) -> bool {
    key == "note" || key.starts_with("note_")
}

fn compare(expansion: &Expansion, expect: &Map<String, Value>) -> Vec<String> {
    let mut failures = Vec::new();
    let text = &expansion.text;
    let list = |value: &Value| value.as_array().expect("a list").clone();
    let word = |value: &Value| value.as_str().expect("a text").to_owned();
    let holds = |part: &Value| text.as_ref().is_ok_and(|text| text.contains(&word(part)));
    let ran = |name: &Value| {
        expansion.vectors.iter().any(|vector| vector.first() == name.as_str().map(str::to_owned).as_ref())
    };
    let expects_error = expect.contains_key("error") || expect.contains_key("any_of");
    if let (Err(code), false) = (text, expects_error) {
        failures.push(format!("it ends with `{code}`"));
    }
    for (key, wanted) in expect {
        let right = match key.as_str() {
            "commands" => Value::from(expansion.sources.clone()) == *wanted,
            "commands_argv" => Value::from(expansion.vectors.clone()) == *wanted,
            "permission_heads" => Value::from(expansion.heads.clone()) == *wanted,
            "must_not_run" => !list(wanted).iter().any(ran),
            "text" => text.as_deref().ok() == wanted.as_str(),
            "contains" => list(wanted).iter().all(holds),
            "not_contains" => text.is_ok() && !list(wanted).iter().any(holds),
            "unchanged" => (text.as_deref() == Ok(expansion.body.as_str())) == (*wanted == Value::Bool(true)),
            "error" => text.as_ref().err() == Some(&word(wanted)),
            "any_of" => {
                let alternatives = list(wanted);
                alternatives.iter().any(|it| compare(expansion, it.as_object().expect("an object")).is_empty())
            }
            key if is_note(key) => true,
            _ => {
                failures.push(format!("the runner does not know the key `{key}`"));
                continue;
            }
        };
        if !right {
            let Expansion { sources, heads, vectors, .. } = expansion;
            failures.push(format!("`{key}` should be {wanted}: {text:?}, {sources:?}, {heads:?}, {vectors:?}"));
        }
    }
    failures
}

fn expand(directory: &Path, expected: &Map<String, Value>, profile: Profile) -> Expansion {
    let file = expected.get("file").map_or("SKILL.md", |file| file.as_str().expect("a name"));
    let bytes = fs::read(directory.join(file)).expect("the case's file");
    let document = Document::read(&bytes, &ReadOptions { profile, ..ReadOptions::default() });
    let header = document.frontmatter();
    let body = document.body().into_owned();
    let template = Template::parse(&body, &TemplateOptions::new(profile, header));
    let context = expected["context"].as_object().expect("an object");
    for key in context.keys() {
        assert!(["skill_dir", "project_dir", "session_id", "plugin_root", "cwd"].contains(&key.as_str()), "{key}");
    }
    let filled = template.fill(&Values {
        arguments: expected["args"].as_str(),
        skill_dir: context["skill_dir"].as_str(),
        project_dir: context["project_dir"].as_str(),
        session_id: context["session_id"].as_str(),
        plugin_root: context["plugin_root"].as_str(),
        ..Values::default()
    });

    let id = SkillId::new(Source::User, CommandName::new("case").expect("a name"));
    let caveats = Caveat::of_header(&id, Digest::of(&bytes), header, document.failed_closed());
    let authority = caveats.into_iter().fold(Authority::of(Host::new([], Defaults::BuiltIn)), Authority::with);
    let fakes = Fakes::read(expected["fake_outputs"].as_object().expect("an object"));
    let executor = FakeExecutor::new(fakes);
    let scene = Scene::new(Mounts::none(), context["cwd"].as_str().expect("a directory"), Vec::new());
    let mut expansion = Expansion {
        body: body.clone(),
        sources: filled.injections().iter().map(|injection| injection.source.clone()).collect(),
        heads: Vec::new(),
        vectors: Vec::new(),
        text: Ok(String::new()),
    };
    let gate = Gate::new(authority);
    let outputs = run_all(&executor, &gate, &scene, filled.injections(), &mut expansion.heads);
    expansion.vectors = executor.fakes.ran.lock().expect("nobody panics with it").clone();
    expansion.text = outputs.map(|outputs| filled.assemble(&outputs)).map_err(|code| code.to_string());
    if expansion.text.is_ok() {
        let unused = executor.fakes.unused();
        assert!(unused.is_empty(), "{}: these fake outputs answer nothing: {unused:?}", directory.display());
    }
    expansion
}

/// All programs are parsed and decided before the first one runs, as a session does it.
fn run_all(
    executor: &FakeExecutor,
    gate: &Gate,
    scene: &Scene,
    injections: &[Injection],
    heads: &mut Vec<String>,
) -> Result<Vec<String>, Code> {
    let limits = builtin_limits();
    let programs: Result<Vec<Program>, Code> = injections
        .iter()
        .map(|injection| {
            Program::of_injection(injection, &limits).map_err(|error| match error.unsafe_argument {
                true => Code::ArgumentNotSafeInCommand,
                false => Code::UnsupportedShell,
            })
        })
        .collect();
    let programs = programs?;
    let planned: Vec<_> = programs.iter().flat_map(|program| executor.plan(program, gate)).collect();
    heads.extend(planned.iter().filter_map(|command| command.words.first()?.clone().ok()));
    if planned.iter().any(|command| command.verdict.is_err()) {
        return Err(Code::Denied);
    }
    programs.iter().map(|program| run_one(executor, gate, scene, program)).collect()
}

fn run_one(executor: &FakeExecutor, gate: &Gate, scene: &Scene, program: &Program) -> Result<String, Code> {
    let limits = builtin_limits();
    let capture = Capture::new(limits.output_bytes, Overflow::Drop);
    let streams = Streams {
        stdin: Input::Empty,
        stdout: Output::Capture(Arc::clone(&capture)),
        stderr: Output::Capture(Arc::clone(&capture)),
    };
    let completion =
        executor.execute(program, gate, scene, &Run::start(limits), streams).map_err(|error| match error {
            RunError::Refused(_) => Code::Denied,
            RunError::Stopped { .. } => Code::LimitExceeded,
            _ => Code::CommandFailed,
        })?;
    if completion.status != 0 {
        return Err(Code::CommandFailed);
    }
    let text = sanitise(&capture.take().0);
    Ok(text.strip_suffix('\n').unwrap_or(&text).to_owned())
}

/// What a case gives for one command or program.
#[derive(Debug)]
struct Fake {
    key: Key,
    stdout: String,
    exit: u8,
}

#[derive(Debug, PartialEq)]
enum Key {
    /// One word: every command of that name.
    Name(String),
    /// A command: this vector.
    Vector(Vec<String>),
    /// Several commands: the program of this source as a whole.
    Source(String),
}

/// The case's answers as a backend. It offers every command, so that what must not run could run; a vector without an answer
/// has status 127.
#[derive(Debug)]
struct Fakes {
    fakes: Vec<Fake>,
    ran: Mutex<Vec<Vec<String>>>,
    used: Mutex<BTreeSet<usize>>,
}

impl Fakes {
    fn read(outputs: &Map<String, Value>) -> Arc<Self> {
        let fake = |(key, value): (&String, &Value)| {
            let (stdout, exit) = match value {
                Value::String(stdout) => (stdout.clone(), 0),
                Value::Object(value) => {
                    assert!(value.keys().all(|key| matches!(key.as_str(), "exit" | "stdout")), "{value:?}");
                    let exit = value.get("exit").map_or(0, |exit| exit.as_u64().expect("a status"));
                    let stdout = value.get("stdout").map_or("", |stdout| stdout.as_str().expect("a text"));
                    (stdout.to_owned(), u8::try_from(exit).expect("a status"))
                }
                other => unreachable!("neither an output nor a status: {other}"),
            };
            Fake { key: key_of(key), stdout, exit }
        };
        Arc::new(Self { fakes: outputs.iter().map(fake).collect(), ran: Mutex::default(), used: Mutex::default() })
    }

    /// The answer to `wanted`; the longest key that fits.
    fn answer(&self, wanted: &[Key]) -> Option<&Fake> {
        let at = wanted.iter().find_map(|key| self.fakes.iter().position(|fake| fake.key == *key))?;
        self.used.lock().expect("nobody panics with it").insert(at);
        self.fakes.get(at)
    }

    fn record(&self, vectors: impl IntoIterator<Item = Vec<String>>) {
        self.ran.lock().expect("nobody panics with it").extend(vectors);
    }

    fn unused(&self) -> Vec<&Fake> {
        let used = self.used.lock().expect("nobody panics with it");
        self.fakes.iter().enumerate().filter(|(at, _)| !used.contains(at)).map(|(_, fake)| fake).collect()
    }
}

/// A key is read by the parser itself: the words of one command, or a program.
fn key_of(text: &str) -> Key {
    if !text.contains(char::is_whitespace) {
        return Key::Name(text.to_owned());
    }
    let program = Program::from_text(text, &builtin_limits()).expect("a key of `fake_outputs` is a program");
    let gate = Gate::new(Authority::of(Host::new([], Defaults::BuiltIn)));
    let mut commands = CapabilityShell::new(Vec::new()).plan(&program, &gate);
    match (commands.pop(), commands.is_empty()) {
        (Some(only), true) => {
            let words: Result<Vec<String>, _> = only.words.into_iter().collect();
            Key::Vector(words.expect("the words of a key are known"))
        }
        _ => Key::Source(text.to_owned()),
    }
}

impl Backend for Fakes {
    fn name(&self) -> &'static str {
        "fake"
    }

    fn provider(&self, _: &str) -> Option<Provider> {
        Some(Provider::Shipped)
    }

    fn run(&self, approved: Approved, job: Job<'_>) -> Result<Exit, RunError> {
        let vector = approved.redeem()?;
        let wanted = [Key::Vector(vector.clone()), Key::Name(vector[0].clone())];
        self.record([vector]);
        let Some(fake) = self.answer(&wanted) else { return Ok(Exit { code: 127 }) };
        let _reader_may_be_gone = job.stdout.write(fake.stdout.as_bytes());
        Ok(Exit { code: fake.exit })
    }
}

/// The capability shell, but for programs whose output the case gives as a whole: those are planned, each of their commands
/// has to be approved as it stands, and the case's output takes the place of theirs.
#[derive(Debug)]
struct FakeExecutor {
    shell: CapabilityShell,
    fakes: Arc<Fakes>,
}

impl FakeExecutor {
    fn new(fakes: Arc<Fakes>) -> Self {
        Self { shell: CapabilityShell::new(vec![Arc::clone(&fakes) as Arc<dyn Backend>]), fakes }
    }
}

impl Executor for FakeExecutor {
    fn plan(&self, program: &Program, gate: &Gate) -> Vec<skillgate_exec::PlannedCommand> {
        self.shell.plan(program, gate)
    }

    fn execute(
        &self,
        program: &Program,
        gate: &Gate,
        scene: &Scene,
        run: &Arc<Run>,
        streams: Streams,
    ) -> Result<Completion, RunError> {
        let Some(fake) = self.fakes.answer(&[Key::Source(program.source().to_owned())]) else {
            return self.shell.execute(program, gate, scene, run, streams);
        };
        let mut vectors = Vec::new();
        for command in self.plan(program, gate) {
            let verdict = command.verdict.map_err(RunError::Refused)?;
            assert!(verdict.certain, "a program whose output is given as a whole has known words only");
            vectors.push(command.words.into_iter().filter_map(Result::ok).collect());
        }
        self.fakes.record(vectors);
        let _reader_may_be_gone = streams.stdout.write(fake.stdout.as_bytes());
        Ok(Completion { status: fake.exit, decided_by: None, commands: Vec::new() })
    }
}
