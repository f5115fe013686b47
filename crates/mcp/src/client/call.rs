//! Calls of prompts whose text a server makes of their arguments.

use super::connection::Connection;
use super::prompt;
use super::servers::{McpServers, Shared};
use super::skill::RemoteArgument;
use crate::finding::shown;
use rmcp::ServiceError;
use rmcp::model::{GetPromptRequestParams, GetPromptResponse, JsonObject};
use rmcp::service::{Peer, RoleClient};
use serde_json::Value;
use skillgate_format::split_words;
use skillgate_runtime::{BodyCall, CallBody, CallBodyError};
use std::collections::BTreeMap;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The longest time without a look at whether the call was taken back.
const GLANCE: Duration = Duration::from_millis(20);

/// The servers that can be asked now, by the names of their entries.
#[derive(Debug, Default)]
pub(super) struct Callers(Mutex<BTreeMap<String, Caller>>);

/// A connection, as far as a call needs it.
#[derive(Clone, Debug)]
pub(super) struct Caller {
    peer: Peer<RoleClient>,
    flooded: CancellationToken,
    within: Duration,
    text_bytes: usize,
}

impl Callers {
    /// The server can be asked until the guard is dropped.
    pub(super) fn put<'c>(&'c self, server: &'c str, connection: &Connection) -> Reachable<'c> {
        let caller = Caller {
            peer: connection.peer.clone(),
            flooded: connection.flooded(),
            within: connection.limits.request,
            text_bytes: connection.limits.skill_bytes,
        };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(server.to_owned(), caller);
        Reachable { callers: self, server }
    }

    fn of(&self, server: &str) -> Option<Caller> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(server).cloned()
    }
}

/// While it is there, a server can be asked.
#[derive(Debug)]
pub(super) struct Reachable<'c> {
    callers: &'c Callers,
    server: &'c str,
}

impl Drop for Reachable<'_> {
    fn drop(&mut self) {
        self.callers.0.lock().unwrap_or_else(PoisonError::into_inner).remove(self.server);
    }
}

/// What makes the text of a prompt: its server, asked with the arguments of the call. `keeps` is what has to be there for it.
pub(super) fn body(
    shared: Arc<Shared>,
    keeps: Option<Arc<McpServers>>,
    server: String,
    prompt: String,
    declared: Vec<RemoteArgument>,
) -> CallBody {
    CallBody::new(move |call: &BodyCall<'_>| {
        let _kept = &keeps;
        let not_made = |reason: String| CallBodyError::NotMade { reason: format!("the server `{server}`: {reason}") };
        let given = assigned(&declared, call.arguments)?;
        let caller = shared.callers.of(&server).ok_or_else(|| not_made("it is not connected".to_owned()))?;
        let (tell, told) = sync_channel(1);
        let wanted = prompt.clone();
        let asking = shared.runtime.spawn(async move {
            let _nobody_waits = tell.send(caller.text(wanted, given).await);
        });
        loop {
            match told.recv_timeout(GLANCE) {
                Ok(text) => return text.map_err(not_made),
                Err(RecvTimeoutError::Timeout) if (call.is_cancelled)() => {
                    asking.abort();
                    return Err(CallBodyError::Cancelled);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(not_made("it is not connected".to_owned())),
            }
        }
    })
}

impl Caller {
    /// The text that the server makes, or why there is none.
    async fn text(&self, prompt: String, given: JsonObject) -> Result<String, String> {
        let mut params = GetPromptRequestParams::new(prompt);
        params.arguments = Some(given);
        let answer = tokio::select! {
            biased;
            () = self.flooded.cancelled() => return Err("it was left".to_owned()),
            answer = tokio::time::timeout(self.within, self.peer.get_prompt_once(params)) => answer,
        };
        match answer {
            Err(_) => Err(format!("it did not answer within {} ms", self.within.as_millis())),
            Ok(Ok(GetPromptResponse::Complete(result))) => {
                prompt::assembled(result, self.text_bytes).map_err(|(_, message)| message)
            }
            Ok(Ok(_)) => Err("it asks something before it answers, and nobody is asked for a server".to_owned()),
            Ok(Err(ServiceError::McpError(error))) => Err(shown(&error.message)),
            Ok(Err(_)) => Err("it is gone, or its answer is none".to_owned()),
        }
    }
}

/// The arguments by their names: words of the form `NAME=value` of a declared name, and the others in the order of the
/// declaration. An empty word is an argument that is not given.
fn assigned(declared: &[RemoteArgument], typed: Option<&str>) -> Result<JsonObject, CallBodyError> {
    let form = || RemoteArgument::form(declared);
    let wrong = |reason: String| CallBodyError::Arguments { reason, form: form() };
    let words = split_words(typed.unwrap_or_default());
    if words.unbalanced.is_some() {
        return Err(wrong("the arguments hold a quote that is never closed".to_owned()));
    }
    let mut given: BTreeMap<&str, String> = BTreeMap::new();
    let mut others = Vec::new();
    for word in words.words {
        let named = word.split_once('=');
        let named = named.and_then(|(name, value)| Some((declared.iter().find(|it| it.name == name)?, value)));
        match named {
            None => others.push(word),
            Some((argument, value)) => {
                if given.insert(&argument.name, value.to_owned()).is_some() {
                    return Err(wrong(format!("the argument `{}` is given twice", argument.name)));
                }
            }
        }
    }
    let mut others = others.into_iter();
    for argument in declared {
        if !given.contains_key(argument.name.as_str())
            && let Some(word) = others.next()
        {
            given.insert(&argument.name, word);
        }
    }
    if others.next().is_some() {
        return Err(wrong("there are more words than the prompt has arguments".to_owned()));
    }
    given.retain(|_, value| !value.is_empty());
    let missing = declared.iter().find(|argument| argument.required && !given.contains_key(argument.name.as_str()));
    if let Some(missing) = missing {
        return Err(CallBodyError::ArgumentMissing { argument: missing.name.clone(), form: form() });
    }
    Ok(given.into_iter().map(|(name, value)| (name.to_owned(), Value::from(value))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn declared() -> Vec<RemoteArgument> {
        let argument = |name: &str, required| RemoteArgument { name: name.to_owned(), required, description: None };
        vec![argument("number", true), argument("style", false), argument("lang", false)]
    }

    #[test]
    fn arguments_are_given_by_place_or_by_name() {
        for (typed, expected) in [
            ("7", json!({"number": "7"})),
            ("7 terse", json!({"number": "7", "style": "terse"})),
            ("7 'very terse' de", json!({"number": "7", "style": "very terse", "lang": "de"})),
            ("lang=de 7", json!({"number": "7", "lang": "de"})),
            ("style=a=b number=7", json!({"number": "7", "style": "a=b"})),
            ("7 '' de", json!({"number": "7", "lang": "de"})),
            ("other=7", json!({"number": "other=7"})),
        ] {
            let given = assigned(&declared(), Some(typed));
            assert_eq!(given.map(Value::Object), Ok(expected), "{typed}");
        }
    }

    #[test]
    fn what_is_wrong_with_arguments_is_named_with_the_form() {
        for (typed, expected) in [
            (None, "the argument `number` is missing"),
            (Some(" "), "the argument `number` is missing"),
            (Some("style=x"), "the argument `number` is missing"),
            (Some("number= x"), "the argument `number` is missing"),
            (Some("1 2 3 4"), "more words"),
            (Some("number=1 number=2"), "given twice"),
            (Some("it's"), "never closed"),
        ] {
            let error = assigned(&declared(), typed).expect_err("it is wrong");
            assert!(error.to_string().contains(expected), "{typed:?}: {error}");
            assert!(error.form().is_some_and(|form| form.contains("<number> [style] [lang]")), "{error:?}");
        }
    }
}
