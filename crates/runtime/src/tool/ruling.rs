//! What the rules say about the use of a tool that is the host's own, and that it runs outside of our sandboxes.

use serde_json::Value;
use skillgate_core::{Limits, Span};
use skillgate_exec::{Program, WrittenCommand, WrittenProgram};
use skillgate_policy::{
    Action, Authority, Caveat, CaveatKind, Conjunct, Effect, Gate, Known, PathBase, PathRules, Place, Provider, Reason,
    RefusalReason, Rule, Sight, Sketch, carrier,
};

/// Built-ins that change nothing but what they print, or where the program goes on.
const HARMLESS: &[&str] =
    &[":", "[", "[[", "break", "continue", "echo", "exit", "false", "printf", "pwd", "return", "test", "true"];

/// What is decided on one use of a tool, before hooks.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct ToolRuling {
    pub(crate) effect: Effect,
    pub(crate) because: String,
    /// The rule that decided, with its place.
    pub(crate) rule: Option<String>,
    /// A pattern that would allow it, when a rule of the host's would.
    pub(crate) remedy: Option<String>,
}

impl ToolRuling {
    pub(super) fn new(effect: Effect, because: impl Into<String>) -> Self {
        Self { effect, because: because.into(), rule: None, remedy: None }
    }
}

/// Decides over everything that a use of a tool would do.
pub(crate) struct ToolRules<'a> {
    pub(crate) authority: &'a Authority,
    pub(crate) base: &'a PathBase,
    pub(crate) limits: &'a Limits,
}

impl ToolRules<'_> {
    /// The decision on a tool with its input.
    pub(crate) fn rule_on(&self, tool: &str, input: &Value) -> ToolRuling {
        match tool {
            "Bash" => match input.get("command").and_then(Value::as_str) {
                Some(source) => self.program(source),
                None => ToolRuling::new(Effect::Deny, "the input of `Bash` has no text `command`"),
            },
            "Glob" | "Grep" | "LS" => self.search(tool, input),
            _ => self.action(&action(tool, input)),
        }
    }

    /// A tool that looks into files. Where no rule is about the tool itself, it may do what reading may.
    fn search(&self, tool: &str, input: &Value) -> ToolRuling {
        // The root itself is no path that rules are about: a file in it stands for it, which no rule names.
        let path = input.get("path").and_then(Value::as_str).filter(|path| !matches!(*path, "" | "." | "./"));
        let path = path.unwrap_or("\u{1}").to_owned();
        let own = self.action(&Action::Tool { name: tool.to_owned(), input: Some(path.clone()) });
        if own.effect == Effect::Deny || own.rule.is_some() {
            return own;
        }
        let host = Authority::of(self.authority.host().clone());
        let reading = ToolRules { authority: &host, ..*self }.action(&Action::Read { path });
        if reading.effect == Effect::Ask { own } else { reading }
    }

    fn action(&self, action: &Action) -> ToolRuling {
        let decision = self.authority.decide_in(action, self.base);
        let because = |reason: &Reason| match &reason.conjunct {
            Conjunct::Skill { skill, .. } => format!("the skill {skill} narrows it away: {}", reason.says),
            _ => reason.says.clone(),
        };
        let because = decision.reasons.iter().map(because).collect::<Vec<_>>().join("; ");
        let written = decision.reasons.iter().filter(|reason| reason.place != Some(Place::BuiltIn));
        let rule = written.into_iter().find_map(|reason| {
            let place = reason.place.as_ref().map(|place| format!(" ({place})")).unwrap_or_default();
            Some(format!("{} {}{place}", reason.effect, reason.pattern.as_ref()?))
        });
        let remedy = if decision.effect == Effect::Allow { None } else { decision.remedy };
        ToolRuling { effect: decision.effect, because, rule, remedy }
    }

    /// A program for the host's shell. Every command is taken for a program of the machine, because that is what it would be:
    /// what needs no grant in a sandbox needs one here.
    fn program(&self, source: &str) -> ToolRuling {
        let gate = Gate::within(self.authority.clone(), self.base);
        let written = match Program::from_text(source, self.limits) {
            Ok(program) => program.written(),
            Err(_) if self.grants_all(&gate) => {
                return ToolRuling::new(Effect::Allow, "every command is granted");
            }
            Err(error) => {
                return ToolRuling::new(
                    Effect::Deny,
                    format!("the program cannot be taken apart into its commands: {error}"),
                );
            }
        };
        let moves = written.commands.iter().any(|command| {
            // What is known only when it runs may be one of them.
            name_of(command).is_none_or(|name| matches!(name, "cd" | "pushd" | "popd"))
        });
        let commands = written.commands.iter().map(|command| self.command(&gate, command));
        let files = self.files(&written, moves);
        let rulings: Vec<ToolRuling> = commands.chain(files).collect();
        // The strictest decides, and of equal ones the first.
        let strictest = rulings.into_iter().rev().max_by_key(|ruling| ruling.effect);
        strictest.unwrap_or_else(|| ToolRuling::new(Effect::Allow, "it runs no command"))
    }

    /// Whether every command of the machine is granted, by every member, and no rule is about a single one.
    fn grants_all(&self, gate: &Gate) -> bool {
        // A name that no rule names, so that only a grant of everything covers it.
        let words = vec![Ok("\0".to_owned())];
        let sketch = Sketch { words, provider: Some(Provider::Native), span: Span::new(0, 0) };
        let takes = |rule: &Rule| rule.effect() != Effect::Allow && rule.pattern().command().is_some();
        let removes = |caveat: &Caveat| match &caveat.kind {
            CaveatKind::Without(patterns) => patterns.iter().any(|pattern| pattern.command().is_some()),
            CaveatKind::Only { .. } | CaveatKind::Nothing { .. } => false,
        };
        !self.authority.host().all_rules().any(takes)
            && !self.authority.caveats().iter().any(removes)
            && gate.check(&sketch).is_ok_and(|verdict| verdict.sight == Sight::Granted)
    }

    fn files<'w>(&'w self, written: &'w WrittenProgram, moves: bool) -> impl Iterator<Item = ToolRuling> + 'w {
        written.files.iter().map(move |file| match &file.path {
            Some(path) if !moves || path.starts_with('/') => {
                let path = path.clone();
                self.action(&if file.writes { Action::Write { path } } else { Action::Read { path } })
            }
            _ => ToolRuling::new(Effect::Ask, "which file a redirection opens is known only when it runs"),
        })
    }

    fn command(&self, gate: &Gate, command: &WrittenCommand) -> ToolRuling {
        if command.words.is_empty() {
            return ToolRuling::new(Effect::Allow, "it only sets variables");
        }
        if command.assigned.is_empty() && self.is_harmless(command, gate.paths()) {
            return ToolRuling::new(Effect::Allow, "it is a built-in that changes nothing");
        }
        let words = carried(&command.words).to_vec();
        let sketch = Sketch { words, provider: Some(Provider::Native), span: command.span };
        match gate.check(&sketch) {
            Err(refusal) => ToolRuling {
                effect: refusal.reason.effect(),
                because: format!("`{}`: {}", refusal.action, refusal.reason),
                rule: match &refusal.reason {
                    RefusalReason::Denied(rule) | RefusalReason::Unanswered(rule)
                        if *rule.place() != Place::BuiltIn =>
                    {
                        Some(rule.to_string())
                    }
                    _ => None,
                },
                remedy: refusal.remedy,
            },
            Ok(_) if self.grants_all(gate) => self.unhidden(command, "every command is granted"),
            Ok(verdict) if verdict.sight == Sight::StreamsOnly => {
                ToolRuling::new(Effect::Ask, format!("no rule grants `{}` outside a sandbox", shown(command)))
            }
            // What it runs is not among the commands that were decided, and some of those may be denied.
            Ok(_) if self.carries(command) => {
                ToolRuling::new(Effect::Ask, format!("`{}` runs what its arguments say", shown(command)))
            }
            // Variables such as `LD_PRELOAD` make another program of a command.
            Ok(_) if !command.assigned.is_empty() => {
                let names = command.assigned.join(", ");
                ToolRuling::new(Effect::Ask, format!("`{}` runs with variables set for it: {names}", shown(command)))
            }
            Ok(verdict) if !verdict.certain => {
                ToolRuling::new(Effect::Ask, format!("words of `{}` are known only when it runs", shown(command)))
            }
            Ok(verdict) => self.unhidden(command, &verdict.rule),
        }
    }

    /// An allowed command, unless it names a file that a rule hides: outside a sandbox nothing else would keep it from it.
    fn unhidden(&self, command: &WrittenCommand, rule: &str) -> ToolRuling {
        let words = command.words.iter().skip(1).filter_map(|word| word.as_deref().ok());
        let mut hidden = words.filter_map(|word| {
            let path = word.rsplit_once('=').map_or(word, |(_, value)| value).trim_start_matches('@');
            let reading = self.action(&Action::Read { path: path.to_owned() });
            Some((path, reading.rule.filter(|_| reading.effect == Effect::Deny)?))
        });
        match hidden.next() {
            Some((path, by)) => ToolRuling {
                effect: Effect::Deny,
                because: format!("`{}` names `{path}`, which the rule `{by}` hides", shown(command)),
                rule: Some(by),
                remedy: None,
            },
            None => ToolRuling {
                effect: Effect::Allow,
                because: format!("`{}`: {rule}", shown(command)),
                rule: Some(rule.to_owned()),
                remedy: None,
            },
        }
    }

    fn carries(&self, command: &WrittenCommand) -> bool {
        let words = carried(&command.words).iter();
        let vector: Vec<Known<'_>> = words.map(|word| word.as_deref().map_or(Known::Unknown, Known::Text)).collect();
        carrier(&vector).is_some()
    }

    fn is_harmless(&self, command: &WrittenCommand, paths: &PathRules) -> bool {
        let known = || command.words.iter().skip(1).map(|word| word.as_deref().ok());
        // What is known only when it runs may be a variable of the host's own environment.
        if known().any(|word| word.is_none()) {
            return false;
        }
        match name_of(command) {
            // Below the project, and never up.
            Some("cd") => {
                let mut to = known();
                matches!((to.next(), to.next()), (Some(Some(path)), None) if below(path) && paths.may_read(path, true))
            }
            // `printf -v` sets a variable.
            Some("printf") => known().next().flatten().is_some_and(|first| !first.starts_with('-')),
            Some(name) => HARMLESS.contains(&name),
            None => false,
        }
    }
}

/// The words without `command` in front, which runs the rest as it stands.
fn carried(words: &[Result<String, Span>]) -> &[Result<String, Span>] {
    let mut words = words;
    while let [Ok(first), rest @ ..] = words
        && first == "command"
        && rest.first().is_some_and(|next| next.as_deref().is_ok_and(|next| !next.starts_with('-')))
    {
        words = rest;
    }
    words
}

fn name_of(command: &WrittenCommand) -> Option<&str> {
    command.words.first()?.as_deref().ok()
}

fn below(path: &str) -> bool {
    !path.starts_with(['/', '~', '-']) && path.split('/').all(|part| part != "..")
}

fn shown(command: &WrittenCommand) -> String {
    let words: Vec<&str> = command.words.iter().map(|word| word.as_deref().unwrap_or("…")).collect();
    words.join(" ").chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The action that a use of another tool is.
fn action(tool: &str, input: &Value) -> Action {
    let text = |names: &[&str]| names.iter().find_map(|name| input.get(name)?.as_str()).map(str::to_owned);
    match tool {
        "WebFetch" => {
            let url = text(&["url"]);
            // An address that cannot be read is no host's; rules about a domain are not about it.
            let host = url.as_deref().and_then(|url| url::Url::parse(url).ok()?.host_str().map(str::to_owned));
            match host {
                Some(host) => Action::Network { host, url },
                None => Action::Tool { name: tool.to_owned(), input: url },
            }
        }
        "Read" | "Write" | "Edit" | "MultiEdit" | "NotebookEdit" => {
            let path = text(&["file_path", "notebook_path", "path"]);
            // Without a path it is not known what it would touch: the whole project.
            Action::of_tool(tool, Some(path.as_deref().unwrap_or(".")))
        }
        _ => {
            let members = input.as_object();
            let sole = members.filter(|members| members.len() == 1).and_then(|members| members.values().next());
            Action::of_tool(tool, sole.and_then(Value::as_str))
        }
    }
}
