use crate::answers::Answers;
use crate::authority::Authority;
use crate::command::CommandPattern;
use crate::paths::{PathBase, PathRules, is_protected};
use crate::refusal::{Refusal, RefusalReason};
use crate::request::{CommandRequest, Known, Provenance, Provider, Sketch};
use crate::rule::Rule;
use crate::ruling::{Ruling, show, suggestion};
use skillgate_core::SkillId;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

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
    /// Why it will see no files, when it will see none.
    pub withheld: Withheld,
}

/// Why a command sees streams only: no rule grants it, or a skill narrowed it away. What would let it see files depends on it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Withheld {
    pub(crate) narrowed_by: Option<SkillId>,
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
    paths: Arc<Paths>,
    revocation: Revocation,
    answers: Vec<Answers>,
}

/// What the authority says about paths, made of it when a command first needs it: most invocations run none.
#[derive(Debug)]
struct Paths {
    base: PathBase,
    rules: OnceLock<Arc<PathRules>>,
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
    withheld: Withheld,
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

    /// The refusal for a command whose argument would become a program that nobody wrote. `grantable`: a grant of every command
    /// would change it, as it does not for text that could be an argument of the invocation.
    #[must_use]
    pub fn produced_program_refusal(vector: &[String], grantable: bool) -> Refusal {
        Refusal::new(show(vector), RefusalReason::ProducedProgram, grantable.then(|| "Bash".to_owned()))
    }

    /// Why the command sees no files, when it sees none.
    #[must_use]
    pub fn withheld(&self) -> &Withheld {
        &self.withheld
    }

    /// The refusal for a command that names a file which `rule` hides from it.
    #[must_use]
    pub fn hidden_refusal(vector: &[String], path: &str, rule: &Rule) -> Refusal {
        let reason = RefusalReason::Hidden { path: path.to_owned(), rule: rule.clone() };
        Refusal::new(show(vector), reason, None)
    }

    /// The refusal for a command that sees streams only and, while it runs, names `path`.
    #[must_use]
    pub fn unmounted_refusal(vector: &[String], path: &str, withheld: &Withheld) -> Refusal {
        let narrowed_by = withheld.narrowed_by.clone();
        // A rule of the host would change nothing where it is the skill's own list that leaves the command out.
        let remedy = if narrowed_by.is_none() { suggestion(vector) } else { None };
        Refusal::new(show(vector), RefusalReason::Unmounted { path: path.to_owned(), narrowed_by }, remedy)
    }
}

impl Gate {
    /// A gate for one authority.
    #[must_use]
    pub fn new(authority: Authority) -> Self {
        Self::within(authority, &PathBase::default())
    }

    /// A gate for one authority over a project whose place is known.
    #[must_use]
    pub fn within(authority: Authority, base: &PathBase) -> Self {
        let paths = Arc::new(Paths { base: base.clone(), rules: OnceLock::new() });
        Self { authority, paths, revocation: Revocation::default(), answers: Vec::new() }
    }

    /// Takes what somebody agreed to for the answer to the asks of the host. It answers nothing else.
    #[must_use]
    pub fn with_answers(mut self, answers: Answers) -> Self {
        self.answers.push(answers);
        self
    }

    /// A gate that decides as this one would if these asks were agreed to as well, to find out whether that would be enough.
    #[must_use]
    pub fn supposing(&self, answers: Answers) -> Self {
        Self {
            authority: self.authority.clone(),
            paths: Arc::clone(&self.paths),
            revocation: self.revocation.clone(),
            answers: self.answers.iter().cloned().chain([answers]).collect(),
        }
    }

    /// The authority the gate decides under.
    #[must_use]
    pub fn authority(&self) -> &Authority {
        &self.authority
    }

    /// What may be read and written below the project.
    #[must_use]
    pub fn paths(&self) -> &Arc<PathRules> {
        self.paths.rules.get_or_init(|| Arc::new(self.authority.path_rules_in(&self.paths.base)))
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
            let rule = "no such command".to_owned();
            return Ok(Verdict { certain, rule, sight: Sight::StreamsOnly, withheld: Withheld::default() });
        }
        let Ruling { rule, sight, withheld } = self.decide(&known, sketch.provider, &action)?;
        Ok(Verdict { certain, rule, sight, withheld })
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
        let ruling = self.decide(&request.known(), Some(request.provider), &|| show(&vector))?;
        if let Some(word) = self.produced_option(&request) {
            let reason = RefusalReason::ProducedOption { word };
            return Err(Refusal::new(show(&vector), reason, Some("Bash".to_owned())));
        }
        Ok(Approved {
            vector,
            provider: request.provider,
            sight: ruling.sight,
            rule: ruling.rule,
            withheld: ruling.withheld,
            paths: Arc::clone(self.paths()),
            revocation: self.revocation.clone(),
        })
    }

    fn decide(
        &self,
        vector: &[Known<'_>],
        provider: Option<Provider>,
        action: &dyn Fn() -> String,
    ) -> Result<Ruling, Refusal> {
        self.authority.rule_on(vector, provider, &self.answers, action)
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
