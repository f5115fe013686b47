//! `skillgate why NAME [PATH…]`

use crate::args::{Format, Global, WhyVerb};
use crate::command::kept;
use crate::context;
use crate::exit::{Failure, Status};
use crate::output::{NESTED, ReasonOutput, TriedPathOutput, WhyOutput, brought_by};
use crate::{text, trust};
use skillgate_core::{Code, Guarded, Severity};
use skillgate_registry::{Entry, Lookup, PathActivation, State};
use skillgate_runtime::{InvokeError, SaveError, Session};
use std::fmt::Write as _;

pub(crate) fn run(global: &Global, verb: &WhyVerb) -> Result<Status, Failure> {
    let session = context::session(global)?;
    if let Some(off) = session.skills_off() {
        return Err(off.into());
    }
    if let Some(file) = &verb.session {
        let taken = kept::take_up(&session, file)?;
        if !taken {
            return Err(SaveError::Missing { path: file.clone() }.into());
        }
    }
    // One deeper in the project is there only when a file beside it is touched, which is then the answer.
    let unknown = matches!(session.catalogue().lookup(&verb.name), Lookup::Unknown { .. });
    if unknown {
        let _all = session.touch_everything();
    }
    let catalogue = session.catalogue();
    let entry = match catalogue.lookup(&verb.name) {
        Lookup::Found(entry) => entry,
        Lookup::Broken(failure) => return Err(InvokeError::Unreadable(Box::new(failure.clone())).into()),
        Lookup::Unknown { nearest } => {
            let nearest = nearest.into_iter().map(str::to_owned).collect();
            return Err(InvokeError::Unknown { name: verb.name.clone(), nearest }.into());
        }
        _ => return Err(InvokeError::Unknown { name: verb.name.clone(), nearest: Vec::new() }.into()),
    };
    let output = WhyOutput {
        name: verb.name.clone(),
        qualified_name: entry.qualified_name().to_owned(),
        path: entry.skill().path.display().to_string(),
        state: if unknown { NESTED } else { entry.state().as_str() }.to_owned(),
        model_invocable: !unknown && entry.is_offered_to_model(),
        user_invocable: entry.is_open_to_user(),
        reasons: unknown.then(|| nested(entry)).into_iter().chain(reasons(&session, entry)).collect(),
        patterns: entry
            .skill()
            .frontmatter
            .paths()
            .present()
            .map(|paths| paths.iter().map(|path| path.value.clone()).collect())
            .unwrap_or_default(),
        root: session.project().map(|project| project.root.display().to_string()),
        paths: tried(&session, entry, &verb.paths),
    };
    if global.format == Format::Json {
        text::json(&output)?;
    } else {
        text::human(&human(&output));
    }
    Ok(Status::Done)
}

/// Why a skill deeper in the project is not there.
fn nested(entry: &Entry) -> ReasonOutput {
    let name = entry.qualified_name();
    let help = format!("a host tells of touched files; `skillgate run {name}` calls it at any time");
    let message = brought_by(name);
    ReasonOutput { code: NESTED.to_owned(), message, help: Some(help) }
}

/// What keeps the skill from somebody, the state first.
fn reasons(session: &Session, entry: &Entry) -> Vec<ReasonOutput> {
    let skill = entry.skill();
    let mut reasons = Vec::new();
    let mut add = |code: &str, message: String, help: Option<String>| {
        reasons.push(ReasonOutput { code: code.to_owned(), message, help });
    };
    let state = entry.state();
    let name = entry.qualified_name();
    if *state != State::Active {
        add(state.as_str(), state.to_string(), way_out(session, entry));
    }
    if let (State::Shadowed { .. }, Some(unmet)) = (state, entry.unmet()) {
        add("unavailable", unmet.to_string(), None);
    }
    match skill.frontmatter.disable_model_invocation() {
        Guarded::Present(field) if field.value => {
            let help = format!("a user invokes it: `skillgate run {name}`");
            add("not-for-models", "its author keeps it from models: `disable-model-invocation`".to_owned(), Some(help));
        }
        Guarded::Unreadable(_) if *state != State::Broken => {
            let message = "`disable-model-invocation` cannot be read, so no model may invoke it";
            add("not-for-models", message.to_owned(), Some("write `true` or `false`".to_owned()));
        }
        _ => {}
    }
    let described = skill.frontmatter.gives_description() || skill.frontmatter.when_to_use().is_some();
    if *state == State::Active && !entry.is_offered_to_model() && skill.model_invocable() && !described {
        let message = "a skill of a plugin or a server is offered only with a description of its own";
        add("no-description", message.to_owned(), Some("write `description` in its header".to_owned()));
    } else if *state == State::Active && skill.description.is_none() {
        add("no-description", "it has no description".to_owned(), Some("write `description` in its header".to_owned()));
    }
    for found in skill.diagnostics.iter().filter(|found| found.code == Code::PathPatternInvalid) {
        add("path-pattern-invalid", found.message.clone(), found.help.clone());
    }
    reasons
}

fn way_out(session: &Session, entry: &Entry) -> Option<String> {
    let name = entry.qualified_name();
    match entry.state() {
        State::Conditional => Some(format!("a user can invoke it at any time: `skillgate run {name}`")),
        State::Shadowed { .. } => Some(format!("call it in full: `{name}`")),
        State::Disabled { pattern } => {
            let mut settings = session.policy().disable.iter();
            let setting = settings.find(|setting| setting.value.trim_start_matches('/') == pattern)?;
            Some(format!("`skills.disable` says so: {}", setting.place))
        }
        State::LeftOut { list } => {
            let only = session.policy().only.get(*list)?;
            let names: Vec<String> = only.value.iter().map(|name| format!("`{name}`")).collect();
            let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            Some(format!("{}: only {names}", only.place))
        }
        State::Untrusted => {
            let project = session.project()?;
            Some(format!("look at it first; then: {}", trust::add_command(&project.root)))
        }
        State::UntrustedPlugin => {
            let plugin = entry.skill().plugin.as_ref()?;
            Some(format!("look at it first; then: {}", trust::add_command(&plugin.root)))
        }
        State::Broken => {
            let errors = entry.skill().diagnostics.iter().filter(|found| found.severity == Severity::Error);
            let found: Vec<String> = errors.map(|found| found.message.clone()).collect();
            Some(format!("{}; `skillgate check` says more", found.join("; ")))
        }
        _ => None,
    }
}

/// Whether touching these files would make the skill active, and those that were touched last did.
fn tried(session: &Session, entry: &Entry, paths: &[std::path::PathBuf]) -> Vec<TriedPathOutput> {
    let activation = PathActivation::explaining(entry, session.load_options().profile);
    let matches = |path: &str| !activation.matching(path).is_empty();
    let given = paths.iter().map(|path| {
        // As touching it asks.
        let inside = session.project().map(|project| project.paths_inside_ambient(path)).unwrap_or_default();
        TriedPathOutput {
            matches: inside.iter().any(|path| matches(path)),
            outside: inside.is_empty(),
            path: inside.into_iter().next().unwrap_or_else(|| path.display().to_string()),
            touched: false,
        }
    });
    let touched = session.recently_touched().into_iter();
    let touched = touched.map(|path| TriedPathOutput { matches: matches(&path), outside: false, path, touched: true });
    let has_paths = !matches!(entry.skill().frontmatter.paths, Guarded::Absent);
    given.chain(touched.filter(|_| has_paths)).collect()
}

fn human(output: &WhyOutput) -> String {
    let mut out = String::new();
    let name = text::shown(&output.qualified_name);
    let whom = match (output.user_invocable, output.model_invocable) {
        (true, true) => "users and models",
        (true, false) => "users",
        (false, true) => "models",
        (false, false) => "nobody",
    };
    let _infallible = writeln!(out, "{name} is {}; it can be invoked by {whom}", output.state);
    let _infallible = writeln!(out, "  {}", text::shown(&output.path));
    for reason in &output.reasons {
        let _infallible = writeln!(out, "  {}", text::shown(&reason.message));
        if let Some(help) = &reason.help {
            let _infallible = writeln!(out, "      {}", text::shown(help));
        }
    }
    if !output.patterns.is_empty() {
        let root = output.root.as_deref().map(|root| format!(", from {root}")).unwrap_or_default();
        let patterns = output.patterns.join(", ");
        let _infallible = writeln!(out, "  paths: {}{}", text::shown(&patterns), text::shown(&root));
    }
    for path in &output.paths {
        let answer = match (path.touched, path.matches) {
            (false, _) if path.outside => "is outside of the project",
            (false, true) => "makes it active",
            (false, false) => "does not match",
            (true, true) => "was touched and makes it active",
            (true, false) => "was touched and does not match",
        };
        let _infallible = writeln!(out, "  {} {answer}", text::shown(&path.path));
    }
    out
}
