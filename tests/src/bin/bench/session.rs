//! What a conversation costs: a skill that is called, its injections, and a hundred conversations beside one.

#![expect(
    clippy::disallowed_methods,
    reason = "the floors are `std::fs::read` and processes of the machine's shell, and one subject is the command itself"
)]

use crate::commands::{fixture, native, plain, prepared};
use crate::corpus::{name, skill};
use crate::measure::{Measured, in_turns, of_ratios};
use crate::memory::{own_peak, sampled};
use skillgate_exec::CapabilityShell;
use skillgate_policy::{Defaults, Host, Invoker};
use skillgate_runtime::{Runtime, Session, SessionOptions, SkillCall};
use skillgate_tests::Tree;
use std::ffi::OsStr;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// Bytes of a skill's text, as in the middle of published ones.
const TEXT: usize = 7_000;
/// Calls of one sample: a single one is too short for a clock.
const CALLS: usize = 50;
/// Skills of the runtime that conversations share.
const SKILLS: u32 = 1_000;
/// Conversations that share it.
const SESSIONS: usize = 100;
/// Skills that each of them calls.
const CALLED: usize = 3;

/// The argument that makes a sample of a run of this program; a home and a number of conversations follow it.
pub(crate) const SAMPLE: &str = "--peak-of-sessions";

/// The commands of the skill with injections, which are also what is run beside it.
const COMMANDS: [&str; 3] = ["git branch --show-current", "git status --short", "git log --oneline -5"];

fn skill_file(name: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: The skill {name} of the benchmark.\n---\n{body}\n")
}

/// A text without anything that is filled in but `$0` at its end.
fn text() -> String {
    let line = "- Look at what changed, say what it is for, and name what is missing.\n";
    format!("# Steps\n\n{}\nNumber $0.", line.repeat(TEXT / line.len()))
}

fn call(session: &Session, name: &str, number: usize) -> Result<String, String> {
    let call = SkillCall::new(name, Invoker::User).args(number.to_string());
    let result = session.call_skill(&call).map_err(|error| error.to_string())?;
    let prompt = result.messages.into_iter().next_back().ok_or("the call gives no text")?;
    Ok(prompt.content)
}

/// A call of an inline skill without injections beside reading its file.
pub(crate) fn inline(samples: usize) -> Result<Measured, String> {
    let tree = Tree::new("");
    tree.write(".claude/skills/steps/SKILL.md", skill_file("steps", &text()).as_bytes());
    let file = tree.path(".claude/skills/steps/SKILL.md");
    let host = Host::new([], Defaults::BuiltIn);
    let runtime = Runtime::builder(host, Arc::new(CapabilityShell::new(Vec::new()))).home(tree.path("")).open();
    let session = runtime.map_err(|error| error.to_string())?.session(SessionOptions::default());
    let mut number = 0;
    let calls = || {
        for _ in 0..CALLS {
            // With other arguments it is another text, which the conversation does not have yet.
            number += 1;
            let prompt = call(&session, "steps", number)?;
            if !prompt.ends_with(&format!("Number {number}.\n")) {
                return Err(format!("the text ends otherwise: {prompt}"));
            }
        }
        Ok(())
    };
    let reads = || {
        for _ in 0..CALLS {
            black_box(std::fs::read(&file).map_err(|error| error.to_string())?);
        }
        Ok(())
    };
    in_turns(samples, calls, reads)
}

/// A project with a repository, and a home with a skill of three injections.
struct Injecting {
    tree: Tree,
    /// What each of the commands prints, without the last line end.
    outputs: Vec<String>,
}

impl Injecting {
    fn new() -> Result<Self, String> {
        let tree = fixture()?;
        let body: String = COMMANDS.iter().map(|command| format!("!`{command}`\n\n")).collect();
        let text = skill_file("commit", &format!("{body}Number $0."));
        tree.write("home/.claude/skills/commit/SKILL.md", text.as_bytes());
        let work = tree.path("fixture/work");
        let output = |line: &&str| -> Result<String, String> {
            let printed = native(plain("bash").args(["-c", line]).current_dir(&work))?;
            Ok(String::from_utf8_lossy(&printed).trim_end_matches('\n').to_owned())
        };
        let outputs = COMMANDS.iter().map(output).collect::<Result<_, _>>()?;
        Ok(Self { tree, outputs })
    }

    /// One bash that runs the three.
    fn bash(&self) -> Result<(), String> {
        let program = COMMANDS.join("; ");
        let printed = native(plain("bash").args(["-c", &program]).current_dir(self.tree.path("fixture/work")))?;
        let expected = self.outputs.join("\n");
        let printed = String::from_utf8_lossy(&printed);
        if printed.trim_end_matches('\n') == expected { Ok(()) } else { Err(format!("bash prints {printed:?}")) }
    }

    fn check(&self, prompt: &str, number: usize) -> Result<(), String> {
        let expected = format!("{}\n\nNumber {number}.\n", self.outputs.join("\n\n"));
        if prompt.ends_with(&expected) { Ok(()) } else { Err(format!("{prompt:?} does not end with {expected:?}")) }
    }
}

/// Three injections in a conversation that goes on beside one bash.
pub(crate) fn injections_warm(samples: usize) -> Result<Measured, String> {
    let injecting = Injecting::new()?;
    let host = Host::new([], Defaults::BuiltIn);
    let runtime = Runtime::builder(host, Arc::new(CapabilityShell::new(vec![prepared()?])))
        .home(injecting.tree.path("home"))
        .project(injecting.tree.path("fixture/work"))
        .open();
    let session = runtime.map_err(|error| error.to_string())?.session(SessionOptions::default());
    let mut number = 0;
    let called = || {
        number += 1;
        injecting.check(&call(&session, "commit", number)?, number)
    };
    in_turns(samples, called, || injecting.bash())
}

/// The same as a whole run of the command, whose components were compiled before.
pub(crate) fn injections_cold(samples: usize) -> Result<Measured, String> {
    let injecting = Injecting::new()?;
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let program = own.with_file_name(format!("skillgate{}", std::env::consts::EXE_SUFFIX));
    // Kept for the next time: compiling takes longer than the benchmark.
    let store = own.with_file_name("bench-store");
    let mut number = 0;
    let run = || {
        number += 1;
        let mut command = Command::new(&program);
        command.env_clear().env("HOME", injecting.tree.path("home")).current_dir(injecting.tree.path("fixture/work"));
        command.args(["--managed", "/nonexistent", "--no-input", "--store"]).arg(&store);
        command.args(["run", "commit", &number.to_string()]);
        injecting.check(&String::from_utf8_lossy(&native(&mut command)?), number)
    };
    in_turns(samples, run, || injecting.bash())
}

/// What a hundred conversations take of memory beside the runtime that they share.
pub(crate) fn shared(samples: usize) -> Result<Measured, String> {
    let tree = Tree::new("=== empty/\n");
    for number in 0..SKILLS {
        tree.write(&format!("home/.claude/skills/{}/SKILL.md", name(number)), skill(number).as_bytes());
    }
    for number in 0..CALLED {
        let name = format!("steps-{number}");
        tree.write(&format!("home/.claude/skills/{name}/SKILL.md"), skill_file(&name, &text()).as_bytes());
    }
    let peak = |home: &Path, sessions: usize| -> Result<f64, String> {
        let said = sampled(&[SAMPLE.as_ref(), home.as_os_str(), OsStr::new(&sessions.to_string())])?;
        said.trim().parse().map_err(|_| format!("a sample says `{said}`"))
    };
    let (home, empty) = (tree.path("home"), tree.path("empty"));
    let mut ratios = Vec::with_capacity(samples);
    for _ in 0..samples {
        let (none, one, many) = (peak(&empty, 0)?, peak(&home, 1)?, peak(&home, SESSIONS)?);
        if one <= none {
            return Err(format!("a runtime takes no memory: {one} bytes beside {none}"));
        }
        ratios.push((many - one) / (one - none));
    }
    Ok(of_ratios(ratios))
}

/// Opens a runtime and as many conversations, each of which calls skills; the peak of the process.
pub(crate) fn sample(home: &Path, sessions: usize) -> Result<String, String> {
    let host = Host::new([], Defaults::BuiltIn);
    let runtime = Runtime::builder(host, Arc::new(CapabilityShell::new(Vec::new()))).home(home).open();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let open: Vec<Arc<Session>> = (0..sessions).map(|_| runtime.session(SessionOptions::default())).collect();
    for (at, session) in open.iter().enumerate() {
        for number in 0..CALLED {
            call(session, &format!("steps-{number}"), at)?;
        }
    }
    own_peak().map(|peak| peak.to_string())
}
