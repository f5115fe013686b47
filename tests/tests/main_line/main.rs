//! The main line on temporary projects: a `SKILL.md` becomes a prompt through the shipped components, or nothing of it does.

#![expect(
    clippy::disallowed_methods,
    reason = "a fixture is made and looked at with `std::fs`, not through the code under test"
)]

mod broken;
mod endings;
mod narrowing;
mod prompts;
mod refusals;

use skillgate_core::Limits;
use skillgate_policy::{Effect, Invoker, Refusal, builtin_limits};
use skillgate_runtime::{Invocation, InvokeError, InvokeRequest, SessionOptions};
use skillgate_tests::{Ran, Tree, builder, host, prompt};

const TARGET: &str = env!("CARGO_TARGET_TMPDIR");

/// A project of a few files; tests add the skill `s`.
const PROJECT: &str = "\
=== README.md
# Garden

Tomatoes
Beans
=== beds/a.txt
3 carrots
1 apples
2 beets
=== beds/b.txt
peas
=== notes/may.md
sow
";

/// A project with the skill `s`.
fn project(header: &str, body: &str) -> Tree {
    let tree = Tree::new(PROJECT);
    let header = if header.is_empty() { String::new() } else { format!("{header}\n") };
    let text = format!("---\ndescription: A skill of the test.\n{header}---\n{body}\n");
    tree.write(".claude/skills/s/SKILL.md", text.as_bytes());
    tree.write(".claude/skills/s/notes.txt", b"of the skill\n");
    tree
}

/// What came of an invocation, and what ran for it.
struct Outcome {
    result: Result<Invocation, InvokeError>,
    ran: Vec<String>,
    tree: Tree,
}

impl Outcome {
    fn prompt(&self) -> String {
        match &self.result {
            Ok(invocation) => prompt(invocation),
            Err(error) => unreachable!("{error}; ran {:?}", self.ran),
        }
    }

    fn refusal(&self) -> &Refusal {
        match &self.result {
            Err(InvokeError::Refused(refusal)) => refusal,
            other => unreachable!("not refused: {other:?}; ran {:?}", self.ran),
        }
    }
}

/// Everything about an invocation that a case may set.
struct Case<'a> {
    header: &'a str,
    body: &'a str,
    arguments: Option<&'a str>,
    rules: &'a [(Effect, &'a str)],
    limits: Limits,
}

impl<'a> Case<'a> {
    fn new(body: &'a str) -> Self {
        Self { header: "", body, arguments: None, rules: &[], limits: builtin_limits() }
    }

    fn header(self, header: &'a str) -> Self {
        Self { header, ..self }
    }

    fn arguments(self, arguments: &'a str) -> Self {
        Self { arguments: Some(arguments), ..self }
    }

    fn rules(self, rules: &'a [(Effect, &'a str)]) -> Self {
        Self { rules, ..self }
    }

    fn limit(self, name: &str, value: u64) -> Self {
        Self { limits: self.limits.lowered_by(name, value).expect("a lower limit"), ..self }
    }

    fn invoke(self) -> Outcome {
        let tree = project(self.header, self.body);
        let ran = Ran::new();
        let session = builder(TARGET, host(self.rules), &tree.path(""), &ran)
            .limits(self.limits)
            .open()
            .expect("the project is there")
            .session(SessionOptions::default().id("session-1"));
        let mut request = InvokeRequest::new("s", Invoker::User);
        if let Some(arguments) = self.arguments {
            request = request.arguments(arguments);
        }
        let result = session.invoke(&request);
        Outcome { result, ran: ran.lines(), tree }
    }
}
