use skillgate_core::SkillId;
use skillgate_exec::Asked;
use std::fmt;

/// How far an `always` reaches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Always {
    /// It cannot be given: the administrator wants to be asked each time. It counts as once.
    Never,
    /// To the end of the session. No allowing rule stands over the rule that asks, so none can be suggested.
    Session,
    /// To the end of the session, and longer when the host keeps this line among its allowing rules.
    Rule(String),
}

/// Something that needs somebody's agreement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Question {
    /// The skill it is about, or on whose behalf a command would run.
    pub skill: Option<SkillId>,
    /// Whether the skill itself is asked about or a command of it. Words that are known only later are missing at the end, and
    /// [`Question::open`] is set.
    pub asked: Asked,
    /// Whether the command has words that are known only later; it is asked about again when they are.
    pub open: bool,
    /// The rule that asks, with its place; for a skill without one, what makes it need an agreement.
    pub because: String,
    /// How far an `always` reaches.
    pub always: Always,
}

/// What somebody says to a question.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// It does not run, and neither does the invocation.
    No,
    /// It may run, in this invocation, exactly as it was asked.
    Once,
    /// It may run as far as the question's [`Always`] says.
    Always,
}

impl Answer {
    /// The answer as it is written in records.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Answer::No => "no",
            Answer::Once => "once",
            Answer::Always => "always",
        }
    }
}

/// Somebody whom the host lets answer for it. A session without one is unattended: what needs an answer is refused, with the
/// rule that would allow it.
pub trait Answerer: Send + Sync + fmt::Debug {
    /// Is given all questions that are known before anything runs, in the order in which they will be asked. None is asked when
    /// something else stands against the invocation.
    fn announce(&self, questions: &[Question]) {
        let _ = questions;
    }

    /// Answers one question. Questions of one session are asked one after the other; while a program runs they come from the
    /// thread that wants to run the command.
    fn answer(&self, question: &Question) -> Answer;
}
