//! A command of one's own: `today` prints a date that the program gives. Rules decide over it as over every command.
//!
//! ```text
//! cargo run -p skillgate --example custom_backend --no-default-features
//! ```

use skillgate::exec::{Backend, Exit, Job, RunError};
use skillgate::policy::{Approved, Provider};
use skillgate::prelude::*;
use std::error::Error;

#[derive(Debug)]
struct Today {
    date: String,
}

impl Backend for Today {
    fn name(&self) -> &'static str {
        "calendar"
    }

    fn provider(&self, command: &str) -> Option<Provider> {
        // A third party's: the built-in default asks about it, so a rule has to allow it.
        (command == "today").then_some(Provider::ThirdParty)
    }

    fn run(&self, approved: Approved, job: Job<'_>) -> Result<Exit, RunError> {
        // Used up here, at the moment it runs; a grant that was taken back meanwhile refuses.
        let vector = approved.redeem()?;
        let (stream, text, code) = match vector.as_slice() {
            [_] => (&job.stdout, format!("{}\n", self.date), 0),
            _ => (&job.stderr, "today: takes no argument\n".to_owned(), 2),
        };
        // Whoever reads may have enough; that is no failure.
        let _reader_gone = stream.write(text.as_bytes());
        Ok(Exit { code })
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let tree = tempfile::tempdir()?;
    let skill = tree.path().join(".claude/skills/plan");
    make(&skill, "---\ndescription: Plans the day.\n---\nIt is !`today`. Plan the day.\n")?;
    let shell = || Arc::new(CapabilityShell::new(vec![Arc::new(Today { date: "2030-01-02".to_owned() })]));
    let open = |rules: Vec<Rule>| {
        let host = Host::new(rules, Defaults::BuiltIn);
        Runtime::builder(host, shell()).project(tree.path()).trust_project(true).open()
    };

    let asked = open(Vec::new())?.session(SessionOptions::default());
    let refusal = asked.call_skill(&SkillCall::new("plan", Invoker::User));
    assert!(matches!(refusal, Err(InvokeError::Refused(_))), "nobody allowed it");

    let allowed =
        open(vec![Rule::parse(Effect::Allow, "Bash(today)", Place::Host)?])?.session(SessionOptions::default());
    let result = allowed.call_skill(&SkillCall::new("plan", Invoker::User))?;
    say(&result.messages[1].content);
    assert!(result.messages[1].content.contains("It is 2030-01-02. Plan the day."));
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "the example makes the skill that it runs")]
fn make(skill: &std::path::Path, text: &str) -> std::io::Result<()> {
    std::fs::create_dir_all(skill)?;
    std::fs::write(skill.join("SKILL.md"), text)
}

fn say(line: &str) {
    use std::io::Write as _;
    let _nobody_reads = writeln!(std::io::stdout(), "{line}");
}
