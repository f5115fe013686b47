//! A chat loop around a model, with everything a skill's life has: the model is told of skills, calls them, a skill's hook denies
//! a tool, a skill runs in an agent of its own, the conversation is compacted, saved and restored.
//!
//! The model is a script, so that the program says the same each time; `Model::answer` is where a real one is called.
//!
//! ```text
//! cargo run -p skillgate --example chat_loop
//! ```

use serde_json::{Value, json};
use skillgate::prelude::*;
use skillgate::registry::ListingOptions;
use skillgate::runtime::{AgentError, AgentOutput, CancelToken, Clock, ForkProgress, ForkRequest};
use std::error::Error;
use std::io::Write as _;
use std::path::Path;

/// What a model answers: text, or the call of a tool.
enum Answered {
    Text(&'static str),
    Tool(&'static str, Value),
}

/// A model that answers from a script.
struct Model(std::vec::IntoIter<Answered>);

impl Model {
    fn script(answers: Vec<Answered>) -> Self {
        Self(answers.into_iter())
    }

    fn answer(&mut self, _conversation: &[String]) -> Answered {
        self.0.next().unwrap_or(Answered::Text("(the script is over)"))
    }
}

/// Runs the agents of skills: a second loop with the same model in a real host; one answer here.
#[derive(Debug)]
struct Agents;

impl AgentRunner for Agents {
    fn run(
        &self,
        request: &ForkRequest,
        progress: &(dyn Fn(ForkProgress) + Sync),
        _: &CancelToken,
    ) -> Result<AgentOutput, AgentError> {
        progress(ForkProgress::Message { text: "looking".to_owned() });
        let lines = request.prompt.lines().filter(|line| line.contains("TODO")).count();
        Ok(AgentOutput { messages: vec![format!("There is {lines} open task.")] })
    }
}

struct Chat<'o> {
    session: AsyncSession,
    conversation: Vec<String>,
    out: &'o mut dyn std::io::Write,
}

impl Chat<'_> {
    fn say(&mut self, line: String) -> std::io::Result<()> {
        writeln!(self.out, "{line}")?;
        self.conversation.push(line);
        Ok(())
    }

    /// One turn: the user says something, and the model answers until it has nothing to call any more.
    async fn turn(&mut self, user: &str, model: &mut Model) -> Result<(), Box<dyn Error>> {
        self.say(format!("user: {user}"))?;
        if let Some(reason) = self.session.user_message(user.to_owned()).await.held {
            self.say(format!("(not sent: {reason})"))?;
            return Ok(());
        }
        loop {
            let (tool, input) = match model.answer(&self.conversation) {
                Answered::Text(text) => {
                    self.say(format!("model: {text}"))?;
                    let end = self.session.stop(AgentId::MAIN, false).await;
                    match end.held {
                        Some(reason) => self.say(format!("(goes on: {reason})"))?,
                        None => return Ok(()),
                    }
                    continue;
                }
                Answered::Tool(tool, input) => (tool, input),
            };
            self.say(format!("model calls {tool} {input}"))?;
            if tool == "Skill" {
                self.skill(&input).await?;
            } else {
                self.tool(tool, input).await?;
            }
        }
    }

    async fn skill(&mut self, input: &Value) -> Result<(), Box<dyn Error>> {
        let text = |name: &str| input.get(name).and_then(Value::as_str).map(str::to_owned);
        let mut call = SkillCall::new(text("skill").unwrap_or_default(), Invoker::Model);
        call.args = text("args");
        match self.session.call_skill(call).await {
            Ok(result) => {
                self.say(format!("  result: {}", result.tool_result))?;
                for message in result.messages {
                    // The first line names a directory of this machine.
                    let shown = message.content.split_once("\n\n").map_or(message.content.as_str(), |(_, text)| text);
                    self.say(format!("  message: {}", shown.trim_end()))?;
                }
                for handler in result.registered {
                    self.say(format!("  waits: {handler}"))?;
                }
            }
            // A real host gives the number and the text to the model as the tool's error.
            Err(error) => self.say(format!("  error {:?}: {error}", error.number()))?,
        }
        Ok(())
    }

    /// A tool of the host's own. Nothing runs that was not decided.
    async fn tool(&mut self, tool: &str, input: Value) -> Result<(), Box<dyn Error>> {
        let call = ToolCall::new(tool, input);
        let decision = self.session.before_tool(call.clone()).await?;
        if decision.effect != Effect::Allow {
            return Ok(self.say(format!("  {}: {}", decision.effect, decision.because))?);
        }
        let output = json!("(what the tool printed)");
        self.say(format!("  ran: {}", decision.because))?;
        let after = self.session.after_tool(call, output, false).await;
        for said in after.context {
            self.say(format!("  hook: {}", said.text))?;
        }
        Ok(())
    }
}

/// Writes what is said to `out`.
async fn chat(project: &Path, out: &mut dyn std::io::Write) -> Result<(), Box<dyn Error>> {
    let cache = skillgate::state::OwnerDir::open_ambient(std::env::temp_dir().join("skillgate-examples"))?;
    let shell = Arc::new(CapabilityShell::new(vec![skillgate::shipped_commands(Some(cache))?]));
    let rule = |effect, text| Rule::parse(effect, text, Place::Host);
    let host =
        Host::new([rule(Effect::Allow, "Skill")?, rule(Effect::Allow, "Bash(cargo test:*)")?], Defaults::BuiltIn);
    let runtime = Runtime::builder(host, shell)
        .project(project)
        .trust_project(true)
        .agents(Arc::new(Agents))
        // So that the save says the same each time.
        .clock(Clock::new(|| 1_900_000_000_000))
        .open()?;
    let session = runtime.session(SessionOptions::default().id("example"));
    let mut chat = Chat { session: AsyncSession::from(session), conversation: Vec::new(), out };

    let listing = chat.session.session().listing(&ListingOptions::default());
    chat.say(format!("# What the model is told of skills\n{}", listing.text.trim_end()))?;

    let mut model = Model::script(vec![
        Answered::Tool("Skill", json!({"skill": "careful"})),
        Answered::Tool("Bash", json!({"command": "cargo test"})),
        Answered::Tool("Bash", json!({"command": "cargo test --release"})),
        Answered::Text("The tests pass."),
        Answered::Tool("Skill", json!({"skill": "tasks"})),
        Answered::Tool("Skill", json!({"skill": "summary", "args": "notes.md"})),
        Answered::Text("One task is open."),
    ]);
    chat.say("# A hook of a skill denies one use of a tool".to_owned())?;
    chat.turn("Run the tests, with care.", &mut model).await?;
    chat.say("# A skill runs in an agent of its own".to_owned())?;
    chat.turn("What is left to do?", &mut model).await?;

    chat.say("# The conversation is compacted".to_owned())?;
    let compacted = chat.session.compact(AgentId::MAIN, CompactBudget::default(), ListingOptions::default()).await?;
    chat.conversation = vec![compacted.text, compacted.listing];
    for skill in &compacted.skills {
        chat.say(format!("{}: {:?}", skill.skill, skill.outcome))?;
    }

    chat.say("# It is saved, and goes on in another session".to_owned())?;
    let save = chat.session.save().await?;
    chat.session = AsyncSession::from(runtime.session(SessionOptions::default().id("example")));
    let report = chat.session.restore(save).await;
    chat.say(format!("{} skills came back, {} were refused", report.restored.len(), report.refused.len()))?;
    let mut model = Model::script(vec![
        Answered::Tool("Bash", json!({"command": "cargo test --release"})),
        Answered::Tool("Skill", json!({"skill": "summary", "args": "notes.md"})),
        Answered::Text("As before."),
    ]);
    chat.turn("Again, please.", &mut model).await
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let project = tempfile::tempdir()?;
    make(project.path())?;
    let mut said = Vec::new();
    let ended = chat(project.path(), &mut said).await;
    std::io::stdout().write_all(&said)?;
    ended
}

/// A project with three skills.
#[expect(clippy::disallowed_methods, reason = "the example makes the project that it works on")]
fn make(project: &Path) -> std::io::Result<()> {
    let skills = [
        (
            "careful",
            "description: Keeps slow builds from running.\nhooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          \
             command: if grep -q -e --release; then echo 'no slow builds' >&2; exit 2; fi\n",
            "Prefer quick checks.",
        ),
        ("tasks", "description: Finds what is left to do.\ncontext: fork\n", "Count these:\n!`grep TODO notes.md`"),
        (
            "summary",
            "description: Sums a file up.\nallowed-tools: Bash(wc:*)\n",
            "$0 has !`wc -l < $0` lines. Sum it up.",
        ),
    ];
    for (name, header, body) in skills {
        let directory = project.join(".claude/skills").join(name);
        std::fs::create_dir_all(&directory)?;
        std::fs::write(directory.join("SKILL.md"), format!("---\n{header}---\n{body}\n"))?;
    }
    std::fs::write(project.join("notes.md"), "# Notes\nTODO: write the rest\nDone: this\n")
}
