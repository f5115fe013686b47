//! Skills with `context: fork`. Their text is for an agent of its own, which the client begins: a server has none, and the protocol
//! has no way to ask for one but to say so.

use serde::Serialize;
use skillgate_core::{Context, Effort};
use skillgate_runtime::Invocation;

/// What the client is to begin, for a program that does it by itself.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub(super) struct WantedAgent<'i> {
    /// The prompt. The agent knows nothing else of the conversation.
    prompt: String,
    /// The kind of agent that the skill asks for.
    agent: Option<&'i str>,
    model: Option<&'i str>,
    effort: Option<&'i Effort>,
    /// The most that it may do here: the host's patterns that survive.
    allowed_tools: Vec<&'i str>,
}

/// What is to be begun; `None` for a skill whose text is for the conversation.
pub(super) fn wanted(invocation: &Invocation) -> Option<WantedAgent<'_>> {
    (invocation.mode == Context::Fork).then(|| WantedAgent {
        prompt: invocation.text(),
        agent: invocation.agent.as_deref(),
        model: invocation.model.as_deref(),
        effort: invocation.effort.as_ref(),
        allowed_tools: invocation.authority.effective.iter().map(|entry| entry.pattern.as_str()).collect(),
    })
}

/// The same for a model, as the text before the prompt.
pub(super) fn instruction(invocation: &Invocation) -> Option<String> {
    let wanted = wanted(invocation)?;
    let mut kind = String::from("an agent");
    for (what, value) in [("kind", wanted.agent), ("model", wanted.model)] {
        if let Some(value) = value {
            kind.push_str(&format!(" of the {what} `{value}`"));
        }
    }
    Some(format!(
        "The skill `{}` runs in an agent of its own, which has not begun. Begin {kind} with the text after this one as its whole prompt, \
         tell it nothing else of this conversation, and take what it says last as the result. That text is not for this \
         conversation: where no agent can be begun, say so to the user instead of following it.",
        invocation.skill.command
    ))
}
