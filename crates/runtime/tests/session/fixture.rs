use skillgate_exec::{Backend, CapabilityShell, Exit, Job, RunError};
use skillgate_policy::{Approved, Defaults, Effect, Host, Place, Provider, Rule};
use skillgate_runtime::{
    Answer, Answerer, InvokeError, InvokeRequest, Question, Runtime, RuntimeBuilder, Session, SessionOptions,
};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// Offers `note`, which prints its words in brackets, and keeps every vector it ran.
#[derive(Debug, Default)]
pub(crate) struct Notes(Mutex<Vec<String>>);

impl Notes {
    pub(crate) fn ran(&self) -> Vec<String> {
        self.0.lock().expect("no test panics while it holds this").clone()
    }
}

impl Backend for Notes {
    fn name(&self) -> &'static str {
        "notes"
    }

    fn provider(&self, command: &str) -> Option<Provider> {
        (command == "note").then_some(Provider::Shipped)
    }

    fn run(&self, approved: Approved, job: Job<'_>) -> Result<Exit, RunError> {
        let vector = approved.redeem()?;
        self.0.lock().expect("no test panics while it holds this").push(vector.join(" "));
        let text: String = vector[1..].iter().map(|word| format!("[{word}]")).collect();
        let _reader_may_be_gone = job.stdout.write(text.as_bytes());
        Ok(Exit { code: 0 })
    }
}

/// Gives answers from a list, and keeps the questions.
#[derive(Debug)]
pub(crate) struct Script {
    answers: Mutex<VecDeque<Answer>>,
    pub(crate) announced: Mutex<Vec<usize>>,
    pub(crate) asked: Mutex<Vec<Question>>,
}

impl Script {
    pub(crate) fn new(answers: &[Answer]) -> Arc<Self> {
        let answers = Mutex::new(answers.iter().copied().collect());
        Arc::new(Self { answers, announced: Mutex::default(), asked: Mutex::default() })
    }

    pub(crate) fn asked(&self) -> Vec<Question> {
        self.asked.lock().expect("no test panics while it holds this").clone()
    }
}

impl Answerer for Script {
    fn announce(&self, questions: &[Question]) {
        self.announced.lock().expect("no test panics while it holds this").push(questions.len());
    }

    fn answer(&self, question: &Question) -> Answer {
        self.asked.lock().expect("no test panics while it holds this").push(question.clone());
        let next = self.answers.lock().expect("no test panics while it holds this").pop_front();
        next.expect("the test has an answer for each question")
    }
}

/// A project with one skill, `s`.
pub(crate) struct World {
    tree: tempfile::TempDir,
    pub(crate) notes: Arc<Notes>,
}

impl World {
    pub(crate) fn new(header: &str, body: &str) -> Self {
        let tree = tempfile::tempdir().expect("a directory");
        let skill = tree.path().join("p/.claude/skills/s");
        std::fs::create_dir_all(&skill).expect("a directory");
        std::fs::write(skill.join("SKILL.md"), format!("---\ndescription: S.\n{header}---\n{body}")).expect("a file");
        Self { tree, notes: Arc::default() }
    }

    pub(crate) fn path(&self, name: &str) -> std::path::PathBuf {
        self.tree.path().join(name)
    }

    pub(crate) fn builder(&self, host: Host) -> RuntimeBuilder {
        let shell = CapabilityShell::new(vec![self.notes.clone()]);
        Runtime::builder(host, Arc::new(shell)).project(self.path("p")).trust_project(true)
    }

    /// A session whose questions the script answers.
    pub(crate) fn session(&self, host: Host, script: &Arc<Script>) -> std::sync::Arc<Session> {
        self.builder(host).open().expect("opens").session(SessionOptions::default().answerer(script.clone()))
    }
}

pub(crate) fn rule(effect: Effect, text: &str) -> Rule {
    Rule::parse(effect, text, Place::Host).expect("a rule")
}

/// The built-in default with these rules.
pub(crate) fn host(rules: &[(Effect, &str)]) -> Host {
    Host::new(rules.iter().map(|(effect, text)| rule(*effect, text)), Defaults::BuiltIn)
}

/// The last line of the prompt.
pub(crate) fn invoke(session: &Session, request: &InvokeRequest) -> Result<String, InvokeError> {
    session.invoke(request).map(|done| done.text().lines().last().unwrap_or_default().to_owned())
}
