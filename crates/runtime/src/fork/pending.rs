use super::ForkRequest;
use crate::cancel::CancelToken;
use crate::invoked::AgentId;
use skillgate_core::SkillId;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// What ids begin with.
const PREFIX: &str = "fork-";

/// Forks that ended and are remembered, so that a second delivery is told from an unknown one.
const MAX_ENDED: usize = 1_024;

/// The agents of a conversation that were begun and have not ended, whoever runs them. Each ends once.
#[derive(Debug, Default)]
pub struct PendingForks {
    running: BTreeMap<String, (ForkRequest, CancelToken)>,
    ended: BTreeSet<String>,
    order: VecDeque<String>,
    number: u64,
}

/// A result that nobody waits for.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeliveryError {
    /// No fork of this id was begun.
    #[error("there is no fork `{id}`")]
    Unknown {
        /// The id.
        id: String,
    },
    /// It ended before: its result was delivered, or it was stopped.
    #[error("the fork `{id}` has ended already; a result is delivered once")]
    Ended {
        /// The id.
        id: String,
    },
}

impl PendingForks {
    /// None.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An id that no fork of the conversation had, and the agent that is named after it.
    pub fn next_id(&mut self) -> (String, AgentId) {
        self.number += 1;
        let id = format!("{PREFIX}{}", self.number);
        // The name is plain text, so it is one of an agent.
        let agent = AgentId::new(id.as_str()).unwrap_or_default();
        (id, agent)
    }

    /// Leaves out the names of these agents from now on: they were begun in a conversation that was saved.
    pub fn leave_out<'a>(&mut self, agents: impl IntoIterator<Item = &'a AgentId>) {
        let number = |agent: &AgentId| agent.as_str().strip_prefix(PREFIX)?.parse::<u32>().ok();
        let highest = agents.into_iter().filter_map(number).max().unwrap_or_default();
        self.number = self.number.max(u64::from(highest));
    }

    /// Begins one. The token is set when the fork is stopped.
    pub fn begin(&mut self, request: ForkRequest, cancel: CancelToken) {
        self.running.insert(request.id.clone(), (request, cancel));
    }

    /// Ends one because its result is there. The caller then forgets the agent's skills and hooks.
    ///
    /// # Errors
    /// A [`DeliveryError`] when it is not running: a result is delivered once.
    pub fn deliver(&mut self, id: &str) -> Result<ForkRequest, DeliveryError> {
        match self.running.remove(id) {
            Some((request, _)) => {
                self.remember(id);
                Ok(request)
            }
            None if self.ended.contains(id) => Err(DeliveryError::Ended { id: id.to_owned() }),
            None => Err(DeliveryError::Unknown { id: id.to_owned() }),
        }
    }

    /// Stops those that run a skill, directly or further in. Gives what they were.
    pub fn stop(&mut self, skill: &SkillId) -> Vec<ForkRequest> {
        self.stop_where(|request| request.chain.holds(skill) || request.skill == *skill)
    }

    /// Stops all but those of these agents. Gives what they were.
    pub fn clear(&mut self, preserve: &[AgentId]) -> Vec<ForkRequest> {
        self.stop_where(|request| !preserve.contains(&request.agent))
    }

    /// Whether a skill runs in an agent of its own.
    #[must_use]
    pub fn runs(&self, skill: &SkillId) -> bool {
        self.running.values().any(|(request, _)| request.skill == *skill)
    }

    /// The fork of this id, while it runs.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&ForkRequest> {
        self.running.get(id).map(|(request, _)| request)
    }

    /// The fork whose agent this is, while it runs.
    #[must_use]
    pub fn of_agent(&self, agent: &AgentId) -> Option<&ForkRequest> {
        self.running.values().map(|(request, _)| request).find(|request| request.agent == *agent)
    }

    /// How many run.
    #[must_use]
    pub fn len(&self) -> usize {
        self.running.len()
    }

    /// Whether none runs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    fn stop_where(&mut self, stop: impl Fn(&ForkRequest) -> bool) -> Vec<ForkRequest> {
        let ids: Vec<String> =
            self.running.iter().filter(|(_, (request, _))| stop(request)).map(|(id, _)| id.clone()).collect();
        let mut stopped = Vec::new();
        for id in ids {
            if let Some((request, cancel)) = self.running.remove(&id) {
                self.remember(&id);
                cancel.cancel();
                stopped.push(request);
            }
        }
        stopped
    }

    fn remember(&mut self, id: &str) {
        self.ended.insert(id.to_owned());
        self.order.push_back(id.to_owned());
        if self.order.len() > MAX_ENDED
            && let Some(oldest) = self.order.pop_front()
        {
            self.ended.remove(&oldest);
        }
    }
}
