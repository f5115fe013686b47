use super::activate::Prepared;
use super::answer::{CommandEnd, HookAnswer};
use super::event::{HookEvent, Power};
use super::input::HookInput;
use super::set::{HookKey, RegisteredHook};
use super::verdict::{HandlerOutcome, HookOutcome, HookReport, HookText, HookVerdict};
use serde_json::{Map, Value};
use skillgate_core::Limits;
use skillgate_exec::{
    AuditEvent, Buffer, Capture, Executor, HookCall, Input, Output, Overflow, Run, RunError, Scene, Streams,
};
use skillgate_policy::{Gate, PathBase};
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

/// Bytes of standard output and of standard error of one command hook that are kept.
const MAX_OUTPUT: u64 = 256 << 10;
/// Bytes of an event's data.
const MAX_INPUT: usize = 16 << 20;
/// How often hooks may give each other another input for one use of a tool.
const MAX_REWRITES: usize = 8;

/// What the hooks of one skill run under. It is made anew at every event, so that what the host takes back is gone at once.
#[derive(Debug)]
pub struct HookGrant {
    /// Decides their commands: the host's rules and the caveats of the skill and of the skills and agents above it.
    pub gate: Gate,
    /// Directories and environment. [`with_hook_environment`](super::with_hook_environment) adds what hooks are told.
    pub scene: Scene,
}

/// Gives what a hook runs under at this moment, or why it must not run any more, as a sentence.
pub type GrantFn<'a> = dyn Fn(&RegisteredHook) -> Result<HookGrant, String> + Sync + 'a;
/// Is told of a run that begins, so that it can be cancelled.
pub type StartedFn<'a> = dyn Fn(&HookKey, &Arc<Run>) + Sync + 'a;

/// Runs hooks. It needs no lock of whoever keeps them.
pub struct HookRunner<'a> {
    /// What runs commands.
    pub executor: &'a dyn Executor,
    /// The bounds of every run but its time.
    pub limits: &'a Limits,
    /// The most that one handler may take, milliseconds (`hooks.timeout_ms` of the policy).
    pub timeout_ms: u64,
    /// The project's place, for the paths in an `if`.
    pub base: PathBase,
    /// What every event tells beside its own data: `session_id`, `cwd`, `transcript_path`, `permission_mode`.
    pub common: Map<String, Value>,
    /// What a hook runs under now.
    pub grant: &'a GrantFn<'a>,
    /// Who is told of runs that begin.
    pub started: Option<&'a StartedFn<'a>>,
}

impl fmt::Debug for HookRunner<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HookRunner")
            .field("executor", &self.executor)
            .field("timeout_ms", &self.timeout_ms)
            .finish_non_exhaustive()
    }
}

/// One call that ended.
struct Called {
    answer: HookAnswer,
    duration_us: u64,
}

impl HookRunner<'_> {
    /// Runs the hooks that match an event, one after the other, and puts together what they say. When one of them gives another
    /// input for the tool, every other hook that is for that input sees it too before this ends, whatever its place in the order;
    /// the first refusal ends it.
    ///
    /// `hooks` are those of [`HookSet::matching`](super::HookSet::matching); the outcome goes to
    /// [`HookSet::settle`](super::HookSet::settle).
    pub fn run(&self, hooks: &[Arc<RegisteredHook>], input: &HookInput) -> HookOutcome {
        let began = Instant::now();
        let mut outcome = HookOutcome::default();
        let mut input = input.clone().with_missing(&self.common);
        // Which version of the input each hook saw or made.
        let mut seen: Vec<Option<usize>> = vec![None; hooks.len()];
        let mut version = 0;
        while let Some(at) = seen.iter().position(|seen| *seen != Some(version)) {
            seen[at] = Some(version);
            let hook = &hooks[at];
            if !hook.spec.condition.holds(&input, self.executor, self.limits, &self.base) {
                continue;
            }
            let Called { answer, duration_us } = self.call(hook, &input, began);
            if let Some(rewritten) = &answer.rewritten_input
                && !answer.verdict.is_denied()
                && input.tool_input() != Some(rewritten)
            {
                version += 1;
                seen[at] = Some(version);
                input = input.with("tool_input", rewritten.clone());
                outcome.rewritten_input = Some(rewritten.clone());
            }
            outcome.add(hook, &input, answer, duration_us);
            if version > MAX_REWRITES {
                let reason = "hooks give each other one input after the other, without an end".to_owned();
                outcome.verdict = HookVerdict::Deny(reason);
            }
            if outcome.verdict.is_denied() {
                break;
            }
        }
        if outcome.verdict.is_denied() {
            outcome.rewritten_input = None;
        }
        outcome
    }

    fn call(&self, hook: &RegisteredHook, input: &HookInput, began: Instant) -> Called {
        let started = Instant::now();
        let power = hook.spec.power().min(input.event().power());
        let answer = self.answer(hook, input, power, began);
        Called { answer, duration_us: u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX) }
    }

    fn answer(&self, hook: &RegisteredHook, input: &HookInput, power: Power, began: Instant) -> HookAnswer {
        let event = input.event();
        let grant = match (self.grant)(hook) {
            Ok(grant) => grant,
            Err(reason) => return HookAnswer::failed(power, format!("it must not run: {reason}")),
        };
        let json = input.json();
        if json.len() > MAX_INPUT {
            return HookAnswer::failed(power, format!("the event has more than {MAX_INPUT} bytes"));
        }
        let run = Run::start(self.limits_of(hook, event, began));
        if let Some(started) = self.started {
            started(&hook.key, &run);
        }
        let at = Instant::now();
        let answer = match &hook.prepared {
            Prepared::Command(program) => {
                let (out, err) = (Capture::new(MAX_OUTPUT, Overflow::Drop), Capture::new(MAX_OUTPUT, Overflow::Drop));
                let streams = Streams {
                    stdin: Input::Buffer(Buffer::new(json)),
                    stdout: Output::Capture(Arc::clone(&out)),
                    stderr: Output::Capture(Arc::clone(&err)),
                };
                match self.executor.execute(program, &grant.gate, &grant.scene, &run, streams) {
                    Ok(completion) => {
                        let ((stdout, total), (stderr, _)) = (out.take(), err.take());
                        let lost = total - stdout.len() as u64;
                        let end = CommandEnd { status: completion.status, stdout: &stdout, lost, stderr: &stderr };
                        HookAnswer::of_command(event, power, &end)
                    }
                    Err(error) => failed(power, &error),
                }
            }
            Prepared::Wasm(handler) => {
                // A grant that was taken back since ends here, as an approval would.
                if grant.gate.revocation().is_revoked() {
                    return HookAnswer::failed(power, "its grant was revoked");
                }
                match handler.call(HookCall { event: event.name(), input: &json, run: &run }) {
                    Ok(reply) => HookAnswer::of_reply(event, power, reply),
                    Err(error) => failed(power, &error),
                }
            }
        };
        let recorded = grant.scene.trail.record(&AuditEvent::Hook {
            event: event.name().to_owned(),
            handler: hook.spec.handler.kind().to_owned(),
            verdict: outcome_of(&answer).name().to_owned(),
            duration_us: u64::try_from(at.elapsed().as_micros()).unwrap_or(u64::MAX),
        });
        match recorded {
            Ok(()) => answer,
            Err(error) => HookAnswer::failed(power, error.to_string()),
        }
    }

    fn limits_of(&self, hook: &RegisteredHook, event: HookEvent, began: Instant) -> Limits {
        let spent = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let time = time_of(event, self.timeout_ms, hook.spec.timeout_ms, spent);
        Limits { wall_ms_injection: time, ..self.limits.clone() }
    }
}

/// How long one call may take, milliseconds: the least of the policy's time, the author's, the event's own, and what is left of
/// what all hooks of the event have together.
fn time_of(event: HookEvent, policy: u64, author: Option<u64>, spent: u64) -> u64 {
    let left = event.total_timeout_ms().map(|total| total.saturating_sub(spent));
    [author, event.own_timeout_ms(), left].into_iter().flatten().fold(policy, u64::min)
}

fn failed(power: Power, error: &RunError) -> HookAnswer {
    HookAnswer::failed(power, error.to_string())
}

fn outcome_of(answer: &HookAnswer) -> HandlerOutcome {
    match (&answer.failure, &answer.verdict) {
        (Some(_), HookVerdict::Deny(_)) => HandlerOutcome::FailedAndDenied,
        (Some(_), _) => HandlerOutcome::Failed,
        (None, HookVerdict::Deny(_)) => HandlerOutcome::Denied,
        (None, HookVerdict::Ask(_)) => HandlerOutcome::Asked,
        (None, HookVerdict::Pass) => HandlerOutcome::Passed,
    }
}

impl HookOutcome {
    fn add(&mut self, hook: &RegisteredHook, input: &HookInput, answer: HookAnswer, duration_us: u64) {
        let outcome = outcome_of(&answer);
        let skill = &hook.key.skill;
        let detail = match &answer.verdict {
            _ if answer.failure.is_some() => answer.failure.clone(),
            HookVerdict::Deny(reason) => Some(reason.clone()),
            HookVerdict::Ask(reasons) => reasons.first().cloned(),
            HookVerdict::Pass => None,
        };
        let said = |text: String| HookText { skill: skill.clone(), text };
        for text in answer.context.into_iter().map(said) {
            // A hook that saw several inputs says the same once.
            if !self.context.contains(&text) {
                self.context.push(text);
            }
        }
        if let Some(text) = answer.message.map(said)
            && !self.messages.contains(&text)
        {
            self.messages.push(text);
        }
        self.stop = self.stop.take().or(answer.stop.map(said));
        if answer.rewritten_output.is_some() {
            self.rewritten_output = answer.rewritten_output;
        }
        let verdict = match answer.verdict {
            HookVerdict::Deny(reason) => HookVerdict::Deny(format!("{reason} (hook of `{}`)", skill.called())),
            verdict => verdict,
        };
        self.verdict = std::mem::take(&mut self.verdict).meet(verdict);
        self.reports.push(HookReport {
            key: hook.key.clone(),
            called_for: input.event(),
            handler: hook.spec.handler.to_string(),
            outcome,
            detail,
            duration_us,
            diagnostics: answer.diagnostics,
        });
    }

    /// The hooks that did what they were meant to do.
    pub fn succeeded(&self) -> impl Iterator<Item = &HookKey> {
        self.reports.iter().filter(|report| report.outcome.is_success()).map(|report| &report.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_time_holds_and_the_end_is_shared() {
        for (event, policy, author, spent, time) in [
            (HookEvent::PreToolUse, 60_000, None, 50_000, 60_000),
            (HookEvent::PreToolUse, 60_000, Some(5_000), 0, 5_000),
            (HookEvent::PreToolUse, 60_000, Some(600_000), 0, 60_000),
            (HookEvent::UserPromptSubmit, 60_000, None, 0, 30_000),
            (HookEvent::UserPromptSubmit, 10_000, None, 0, 10_000),
            (HookEvent::SessionEnd, 60_000, None, 0, 1_500),
            (HookEvent::SessionEnd, 60_000, Some(1_000), 900, 600),
            (HookEvent::SessionEnd, 60_000, None, 2_000, 0),
        ] {
            assert_eq!(time_of(event, policy, author, spent), time, "{event}");
        }
    }
}
