use crate::authority::{Authority, Caveat, CaveatKind};
use crate::carrier::carrier;
use crate::command::{CommandPattern, Match};
use crate::filter::is_pure_filter;
use crate::host::Decided;
use crate::paths::{PathRules, is_protected};
use crate::refusal::{Refusal, RefusalReason};
use crate::request::{CommandRequest, Known, Provenance, Provider, Sketch};
use crate::rule::{Effect, Rule};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What an approved command sees of the file system.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sight {
    /// The project and the skill's own directory.
    Granted,
    /// Nothing: standard streams only. To name a path refuses the run.
    StreamsOnly,
}

/// The decision on a command before its vector exists.
#[derive(Clone, PartialEq, Debug)]
pub struct Verdict {
    /// Whether the decision holds for every value of the unknown words.
    pub certain: bool,
    /// The rule that decided, for people.
    pub rule: String,
    /// What the command will see.
    pub sight: Sight,
}

/// Takes back every approval of a gate that has not been redeemed.
#[derive(Clone, Debug, Default)]
pub struct Revocation(Arc<AtomicBool>);

impl Revocation {
    /// Takes back.
    pub fn revoke(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether the approvals were taken back.
    #[must_use]
    pub fn is_revoked(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// Decides over commands under one authority. The only maker of [`Approved`].
#[derive(Debug)]
pub struct Gate {
    authority: Authority,
    paths: Arc<PathRules>,
    revocation: Revocation,
}

/// One command that may run once: the vector that was checked, and what it may see.
///
/// Only [`Gate::approve`] makes one; it cannot be cloned, and its vector cannot be changed.
#[derive(Debug)]
pub struct Approved {
    vector: Vec<String>,
    provider: Provider,
    sight: Sight,
    rule: String,
    paths: Arc<PathRules>,
    revocation: Revocation,
}

impl Approved {
    /// The vector that was checked, the command's name first.
    #[must_use]
    pub fn vector(&self) -> &[String] {
        &self.vector
    }

    /// Who runs it.
    #[must_use]
    pub fn provider(&self) -> Provider {
        self.provider
    }

    /// What the command sees.
    #[must_use]
    pub fn sight(&self) -> Sight {
        self.sight
    }

    /// The rule that approved it, for people.
    #[must_use]
    pub fn rule(&self) -> &str {
        &self.rule
    }

    /// What may be read and written below the project.
    #[must_use]
    pub fn paths(&self) -> &Arc<PathRules> {
        &self.paths
    }

    /// Uses the approval up, at the moment the command starts.
    ///
    /// # Errors
    /// A [`Refusal`] when the grant was revoked since.
    pub fn redeem(self) -> Result<Vec<String>, Refusal> {
        if self.revocation.is_revoked() {
            return Err(Refusal::new(show(&self.vector), RefusalReason::Revoked, None));
        }
        Ok(self.vector)
    }

    /// The refusal for a command that, while it runs, tries to change `path`: relative to the project, or absolute outside it,
    /// where no grant reaches.
    #[must_use]
    pub fn write_refusal(vector: &[String], path: &str) -> Refusal {
        let grantable = !path.starts_with('/') && !is_protected(path);
        let remedy = grantable.then(|| format!("Write({})", path.trim_start_matches("./")));
        Refusal::new(show(vector), RefusalReason::Write { path: path.to_owned() }, remedy)
    }

    /// The refusal for a command whose argument would become a program that nobody wrote.
    #[must_use]
    pub fn produced_program_refusal(vector: &[String]) -> Refusal {
        Refusal::new(show(vector), RefusalReason::ProducedProgram, Some("Bash".to_owned()))
    }

    /// The refusal for a command that sees streams only and, while it runs, names `path`.
    #[must_use]
    pub fn unmounted_refusal(vector: &[String], path: &str) -> Refusal {
        Refusal::new(show(vector), RefusalReason::Unmounted { path: path.to_owned() }, Some(suggestion(vector)))
    }
}

impl Gate {
    /// A gate for one authority.
    #[must_use]
    pub fn new(authority: Authority) -> Self {
        let paths = Arc::new(authority.path_rules());
        Self { authority, paths, revocation: Revocation::default() }
    }

    /// The authority the gate decides under.
    #[must_use]
    pub fn authority(&self) -> &Authority {
        &self.authority
    }

    /// What may be read and written below the project.
    #[must_use]
    pub fn paths(&self) -> &Arc<PathRules> {
        &self.paths
    }

    /// A handle that takes back every approval not yet redeemed.
    #[must_use]
    pub fn revocation(&self) -> Revocation {
        self.revocation.clone()
    }

    /// Decides a command before anything runs, as far as its words are known. An `Ok` that is not certain is decided again
    /// by [`Gate::approve`] when the vector exists.
    ///
    /// # Errors
    /// A [`Refusal`] when no value of the unknown words could be permitted.
    pub fn check(&self, sketch: &Sketch) -> Result<Verdict, Refusal> {
        let known = sketch.known();
        let certain = !known.contains(&Known::Unknown);
        let action = || {
            let words: Vec<&str> = sketch.words.iter().map(|word| word.as_deref().unwrap_or("…")).collect();
            show(&words)
        };
        if sketch.provider == Some(Provider::Nobody) {
            // The shell answers 127 whatever the grant.
            return Ok(Verdict { certain, rule: "no such command".to_owned(), sight: Sight::StreamsOnly });
        }
        let (rule, sight) = self.decide(&known, sketch.provider, &action)?;
        Ok(Verdict { certain, rule, sight })
    }

    /// Decides a command whose vector exists.
    ///
    /// # Errors
    /// A [`Refusal`] that says which member of the authority refused and what would allow it.
    pub fn approve(&self, request: CommandRequest) -> Result<Approved, Refusal> {
        let vector: Vec<String> = request.words.iter().map(|word| word.text.clone()).collect();
        if self.revocation.is_revoked() {
            return Err(Refusal::new(show(&vector), RefusalReason::Revoked, None));
        }
        let (rule, sight) = self.decide(&request.known(), Some(request.provider), &|| show(&vector))?;
        if let Some(word) = self.produced_option(&request) {
            let reason = RefusalReason::ProducedOption { word };
            return Err(Refusal::new(show(&vector), reason, Some("Bash".to_owned())));
        }
        Ok(Approved {
            vector,
            provider: request.provider,
            sight,
            rule,
            paths: Arc::clone(&self.paths),
            revocation: self.revocation.clone(),
        })
    }

    fn decide(
        &self,
        vector: &[Known<'_>],
        provider: Option<Provider>,
        action: &dyn Fn() -> String,
    ) -> Result<(String, Sight), Refusal> {
        let refuse = |reason, remedy| Err(Refusal::new(action(), reason, remedy));
        let remedy = || {
            let texts: Vec<String> = vector
                .iter()
                .map_while(|word| match word {
                    Known::Text(text) => Some((*text).to_owned()),
                    Known::Unknown => None,
                })
                .collect();
            Some(suggestion(&texts))
        };
        if !self.authority.permits_some_command() {
            // Each member by itself may permit something, and have nothing in common with the others; then it is the host that
            // does not grant this command, or the list that does not have it.
            let caveats = self.authority.caveats();
            let granted = self.authority.host().decide_command(vector, provider).effect == Effect::Allow;
            let narrowing = caveats.iter().find(|caveat| !caveat.permits_some_command());
            let narrowing =
                narrowing.or_else(|| caveats.iter().find(|caveat| granted && !caveat.permits_command(vector)));
            return match narrowing {
                Some(caveat) => refuse(narrowed(caveat), None),
                None => refuse(RefusalReason::NotGranted, remedy()),
            };
        }
        let host = self.authority.host().decide_command(vector, provider);
        let by_default = host.rule.as_ref().is_none_or(|rule| *rule.place() == crate::Place::BuiltIn);
        match (&host, by_default) {
            (Decided { effect: Effect::Deny, rule: Some(rule) }, _) => {
                return refuse(RefusalReason::Denied(rule.clone()), None);
            }
            (Decided { effect: Effect::Ask, rule: Some(rule) }, false) => {
                return refuse(RefusalReason::Unanswered(rule.clone()), remedy());
            }
            _ => {}
        }
        if let Some(caveat) = self.authority.caveats().iter().find(|caveat| caveat.forbids_command(vector)) {
            return refuse(narrowed(caveat), None);
        }
        let narrowing = self.authority.caveats().iter().find(|caveat| !caveat.permits_command(vector));
        if host.effect == Effect::Allow && narrowing.is_none() {
            let rule = host.rule.as_ref().map(Rule::to_string).unwrap_or_default();
            return Ok((rule, Sight::Granted));
        }
        if provider == Some(Provider::BuiltIn) {
            let sight = if self.authority.shell_may_read() { Sight::Granted } else { Sight::StreamsOnly };
            return Ok(("shell built-ins need no grant of their own".to_owned(), sight));
        }
        if is_pure_filter(vector) {
            return Ok(("stream filters need no grant of their own".to_owned(), Sight::StreamsOnly));
        }
        match (narrowing, host) {
            (Some(caveat), Decided { effect: Effect::Allow, .. }) => refuse(narrowed(caveat), None),
            (_, Decided { effect: Effect::Ask, rule: Some(rule) }) => refuse(RefusalReason::Unanswered(rule), remedy()),
            _ => match self.carrier_under_prefix(vector) {
                Some(does) => refuse(RefusalReason::Carrier { does }, exact_suggestion(vector)),
                None => refuse(RefusalReason::NotGranted, remedy()),
            },
        }
    }

    /// What the command does, when a prefix pattern of the host would match were it not a carrier.
    fn carrier_under_prefix(&self, vector: &[Known<'_>]) -> Option<&'static str> {
        let matched = self.authority.host().rules().iter().any(|rule| {
            rule.effect() == Effect::Allow
                && rule.pattern().command().is_some_and(|pattern| pattern.matches(vector) != Match::No)
        });
        if matched { carrier(vector).map(|carrier| carrier.does) } else { None }
    }

    /// Whether every member of the authority permits every command, so that not even a text that nobody wrote before can do
    /// more than is granted.
    #[must_use]
    pub fn is_unrestricted(&self) -> bool {
        self.authority.everywhere(&|pattern| pattern.command() == Some(&CommandPattern::Any))
    }

    /// A word that nobody wrote and that would be an option, unless every member of the authority permits every command.
    fn produced_option(&self, request: &CommandRequest) -> Option<String> {
        if request.provider == Provider::BuiltIn {
            return None;
        }
        if self.is_unrestricted() {
            return None;
        }
        let produced = |word: &&crate::Word| word.provenance == Provenance::Expansion && word.text.starts_with('-');
        request.words.iter().skip(1).find(produced).map(|word| word.text.clone())
    }
}

fn narrowed(caveat: &Caveat) -> RefusalReason {
    let says = match &caveat.kind {
        CaveatKind::Nothing { reason } => reason.clone(),
        CaveatKind::Only { patterns, unreadable } if patterns.is_empty() && unreadable.is_empty() => {
            "its `allowed-tools` is empty".to_owned()
        }
        CaveatKind::Only { .. } => {
            format!("its `allowed-tools` lists only {}", caveat.pattern_texts().join(", "))
        }
        CaveatKind::Without(patterns) => {
            let texts: Vec<&str> = patterns.iter().map(crate::ToolPattern::text).collect();
            format!("its `disallowed-tools` lists {}", texts.join(", "))
        }
    };
    RefusalReason::Narrowed { skill: caveat.skill.clone(), says }
}

/// A pattern that would grant the vector: its name and, for commands that have subcommands, the second word.
fn suggestion(vector: &[String]) -> String {
    const WITH_SUBCOMMANDS: [&str; 8] = ["cargo", "docker", "gh", "git", "go", "kubectl", "npm", "pnpm"];
    let words = match vector {
        [] => return "Bash".to_owned(),
        [name, subcommand, ..] if WITH_SUBCOMMANDS.contains(&name.as_str()) && !subcommand.starts_with('-') => {
            &vector[..2]
        }
        [..] => &vector[..1],
    };
    format!("Bash({}:*)", show(words))
}

/// The exact vector as a pattern; `None` while a word is unknown.
fn exact_suggestion(vector: &[Known<'_>]) -> Option<String> {
    let words: Option<Vec<&str>> = vector
        .iter()
        .map(|word| match word {
            Known::Text(text) => Some(*text),
            Known::Unknown => None,
        })
        .collect();
    Some(format!("Bash({})", show(&words?)))
}

/// A vector as a person would type it, with nothing in it that a terminal would act on.
fn show<T: AsRef<str>>(words: &[T]) -> String {
    let quoted = |word: &T| {
        let word = word.as_ref();
        let plain = |c: char| c.is_alphanumeric() || "-_./:=+,@%…".contains(c);
        if !word.is_empty() && word.chars().all(plain) {
            word.to_owned()
        } else if word.chars().any(char::is_control) {
            let escape = |c: char| match c {
                '\'' | '\\' => format!("\\{c}"),
                c if c.is_control() => format!("\\x{:02x}", u32::from(c)),
                c => c.to_string(),
            };
            format!("$'{}'", word.chars().map(escape).collect::<String>())
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}
