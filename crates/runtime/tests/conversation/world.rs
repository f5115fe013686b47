use serde_json::{Value, json};
use skillgate_exec::{Backend, CapabilityShell, Exit, Job, RunError};
use skillgate_policy::{Approved, Defaults, Effect, Host, Invoker, Place, Provider, Rule};
use skillgate_runtime::{
    Clock, InvokeError, Runtime, RuntimeBuilder, Session, SessionOptions, SkillCall, SkillResult, ToolCall,
    ToolDecision,
};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

/// Offers `note`, which prints its words in brackets; `deny`, which says why on its messages and ends with 2; and `linger`, which
/// runs until its run is over.
#[derive(Debug)]
pub(crate) struct Commands {
    ran: Mutex<Vec<String>>,
    waiting: Mutex<Option<Sender<()>>>,
}

impl Backend for Commands {
    fn name(&self) -> &'static str {
        "commands"
    }

    fn provider(&self, command: &str) -> Option<Provider> {
        matches!(command, "note" | "deny" | "linger").then_some(Provider::Shipped)
    }

    fn run(&self, approved: Approved, job: Job<'_>) -> Result<Exit, RunError> {
        let vector = approved.redeem()?;
        self.ran.lock().expect("no test panics while it holds this").push(vector.join(" "));
        match vector[0].as_str() {
            "note" => {
                let text: String = vector[1..].iter().map(|word| format!("[{word}]")).collect();
                let _reader_may_be_gone = job.stdout.write(text.as_bytes());
                Ok(Exit { code: 0 })
            }
            "deny" => {
                let _reader_may_be_gone = job.stderr.write(vector[1..].join(" ").as_bytes());
                Ok(Exit { code: 2 })
            }
            _ => {
                if let Some(waiting) = self.waiting.lock().expect("no test panics while it holds this").take() {
                    waiting.send(()).expect("the test waits for it");
                }
                loop {
                    job.run.check().map_err(|stop| RunError::Stopped { command: vector.join(" "), stop })?;
                    std::thread::yield_now();
                }
            }
        }
    }
}

/// A project with skills.
pub(crate) struct World {
    tree: tempfile::TempDir,
    commands: Arc<Commands>,
}

impl World {
    pub(crate) fn new() -> Self {
        let tree = tempfile::tempdir().expect("a directory");
        std::fs::create_dir_all(tree.path().join("p")).expect("a directory");
        Self { tree, commands: Arc::new(Commands { ran: Mutex::default(), waiting: Mutex::default() }) }
    }

    /// Writes a skill of the project; `header` holds further lines.
    pub(crate) fn skill(self, name: &str, header: &str, body: &str) -> Self {
        self.write_skill(name, header, body);
        self
    }

    pub(crate) fn write_skill(&self, name: &str, header: &str, body: &str) {
        let directory = self.path("p/.claude/skills").join(name);
        std::fs::create_dir_all(&directory).expect("a directory");
        let text = format!("---\ndescription: About {name}.\n{header}---\n{body}\n");
        // As editors save: the file is another one each time, however soon after the last.
        std::fs::write(directory.join("new"), text).expect("a file");
        std::fs::rename(directory.join("new"), directory.join("SKILL.md")).expect("a file");
    }

    pub(crate) fn path(&self, name: &str) -> std::path::PathBuf {
        self.tree.path().join(name)
    }

    pub(crate) fn builder(&self, rules: &[(Effect, &str)]) -> RuntimeBuilder {
        let rules = rules.iter().map(|(effect, text)| Rule::parse(*effect, text, Place::Host).expect("a rule"));
        // Skills with hooks need a rule; nobody is there to be asked.
        let skills = Rule::parse(Effect::Allow, "Skill", Place::Host).expect("a rule");
        let host = Host::new(rules.chain([skills]), Defaults::BuiltIn);
        let shell = CapabilityShell::new(vec![self.commands.clone()]);
        Runtime::builder(host, Arc::new(shell)).project(self.path("p")).trust_project(true).clock(Clock::new(|| 7))
    }

    pub(crate) fn session(&self, rules: &[(Effect, &str)]) -> Arc<Session> {
        self.builder(rules).open().expect("opens").session(SessionOptions::default().id("c1"))
    }

    /// Every vector that ran so far.
    pub(crate) fn ran(&self) -> Vec<String> {
        self.commands.ran.lock().expect("no test panics while it holds this").clone()
    }

    /// Says when the next `linger` runs.
    pub(crate) fn when_waiting(&self) -> Receiver<()> {
        let (waiting, begun) = channel();
        *self.commands.waiting.lock().expect("no test panics while it holds this") = Some(waiting);
        begun
    }
}

pub(crate) fn call(session: &Session, skill: &str) -> Result<SkillResult, InvokeError> {
    session.call_skill(&SkillCall::new(skill, Invoker::Model))
}

/// The text that the call put into the conversation, without the line that names the skill's directory.
pub(crate) fn prompt(result: &SkillResult) -> String {
    let text = result.messages.last().map(|message| message.content.clone()).unwrap_or_default();
    text.split_once("\n\n").map_or(text.clone(), |(_, rest)| rest.trim_end().to_owned())
}

pub(crate) fn bash(session: &Session, command: &str) -> ToolDecision {
    decide(session, "Bash", json!({"command": command}))
}

pub(crate) fn decide(session: &Session, tool: &str, input: Value) -> ToolDecision {
    session.before_tool(&ToolCall::new(tool, input)).expect("nothing has to be recorded")
}

/// A hook of one event that runs a program.
pub(crate) fn hook(event: &str, matcher: &str, program: &str) -> String {
    format!(
        "hooks:\n  {event}:\n    - matcher: {matcher:?}\n      hooks:\n        - type: command\n          command: {program:?}\n"
    )
}
