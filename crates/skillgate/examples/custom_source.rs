//! Skills from a place of one's own: here a table in the program; a database or a server would be read the same way.
//!
//! ```text
//! cargo run -p skillgate --example custom_source --no-default-features
//! ```

use skillgate::core::Source;
use skillgate::loader::{HeldSkill, SkillSource};
use skillgate::prelude::*;
use std::error::Error;

/// Rows as a database would give them.
const ROWS: [(&str, &str); 2] = [
    ("greet", "---\ndescription: Greets somebody by name.\nargument-hint: NAME\n---\nGreet $0 warmly.\n"),
    ("part", "---\ndescription: Says goodbye.\n---\nSay goodbye.\n"),
];

/// The table as a source. What a source says of itself decides how far its skills are trusted: these come with the program.
#[derive(Debug)]
struct Table;

impl SkillSource for Table {
    fn source(&self) -> Source {
        Source::Bundled
    }

    fn texts(&self) -> Vec<HeldSkill> {
        let held = |(name, text): (&str, &'static str)| HeldSkill {
            name: name.to_owned(),
            text: text.into(),
            // Shown where a file's path would be.
            origin: format!("table/{name}"),
        };
        ROWS.map(held).into()
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // Nothing runs on behalf of these skills, so the shell has no command but its own.
    let shell = Arc::new(CapabilityShell::new(Vec::new()));
    let runtime = Runtime::builder(Host::new([], Defaults::BuiltIn), shell).source(Arc::new(Table)).open()?;
    let session = runtime.session(SessionOptions::default());
    for entry in session.catalogue().entries() {
        let skill = entry.skill();
        assert_eq!(skill.id.source, Source::Bundled);
        say(&format!("{}: {}", skill.id, skill.description.as_deref().unwrap_or_default()));
    }
    let result = session.call_skill(&SkillCall::new("greet", Invoker::Model).args("Ada"))?;
    say(&result.messages[1].content);
    assert!(result.messages[1].content.contains("Greet Ada warmly."));
    Ok(())
}

fn say(line: &str) {
    use std::io::Write as _;
    let _nobody_reads = writeln!(std::io::stdout(), "{line}");
}
