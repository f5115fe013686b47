//! What hooks answer: no bytes allow anything, a gate that cannot be understood denies, and every text is short and printable.

use skillgate_exec::{HookReply, sanitise};
use skillgate_runtime::hook::{CommandEnd, HookAnswer, HookEvent, HookVerdict, MAX_TEXT_CHARS, Power};

/// Characters that say how much of a text was cut, and what is put before one.
const AROUND: usize = 200;

/// Reads the rest of `data` as the output and the messages of a command hook, and as the answer of a wasm hook. The first bytes
/// say for which event, with which status, and what was lost.
pub fn bytes_to_hook_reply(data: &[u8]) {
    let (head, rest) = data.split_at_checked(3).unwrap_or((&[0, 0, 0], data));
    let event = HookEvent::ALL[usize::from(head[0]) % HookEvent::ALL.len()];
    let (stdout, stderr) = match rest.iter().position(|byte| *byte == 0xff) {
        Some(at) => (&rest[..at], &rest[at + 1..]),
        None => (rest, &[][..]),
    };
    let end = CommandEnd { status: head[1], stdout, lost: u64::from(head[2] / 0x80), stderr };
    for power in [Power::Gate, Power::Hold, Power::Observe] {
        let power = power.min(event.power());
        let answer = HookAnswer::of_command(event, power, &end);
        assert_eq!(HookAnswer::of_command(event, power, &end), answer, "the same bytes, once more");
        keeps_to_its_power(event, power, &answer);
        if end.status == 0 && power == Power::Gate && stdout.trim_ascii().starts_with(b"{") {
            understood_or_denied(&end, &answer);
        }
        if !matches!(end.status, 0 | 2) {
            assert!(answer.failure.is_some() && answer.rewritten_input.is_none(), "{answer:?}");
        }
        let text = String::from_utf8_lossy(rest).into_owned();
        let replies = [
            HookReply::Pass,
            HookReply::Deny(text.clone()),
            HookReply::Ask(text.clone()),
            HookReply::Context(text),
            HookReply::Rewrite(rest.to_vec()),
        ];
        let reply = replies.into_iter().nth(usize::from(head[1]) % 5).unwrap_or(HookReply::Pass);
        keeps_to_its_power(event, power, &HookAnswer::of_reply(event, power, reply));
    }
}

/// What holds for every answer. That none allows is what its type says.
fn keeps_to_its_power(event: HookEvent, power: Power, answer: &HookAnswer) {
    assert!(power != Power::Observe || answer.verdict == HookVerdict::Pass, "{event}: {answer:?}");
    if answer.failure.is_some() {
        assert_eq!(answer.verdict.is_denied(), power == Power::Gate, "{event}: {answer:?}");
        assert!(answer.rewritten_input.is_none() && answer.rewritten_output.is_none(), "{event}: {answer:?}");
        assert!(!answer.diagnostics.is_empty(), "{event}: {answer:?}");
    }
    if let Some(input) = &answer.rewritten_input {
        assert!(event == HookEvent::PreToolUse && input.is_object(), "{event}: {answer:?}");
    }
    assert!(answer.rewritten_output.is_none() || event == HookEvent::PostToolUse, "{event}: {answer:?}");
    let reasons = match &answer.verdict {
        HookVerdict::Pass => &[][..],
        HookVerdict::Ask(reasons) => reasons,
        HookVerdict::Deny(reason) => std::slice::from_ref(reason),
    };
    assert!(reasons.iter().all(|reason| !reason.trim().is_empty()), "{event}: {answer:?}");
    let texts = answer.context.iter().chain(&answer.message).chain(&answer.stop).chain(&answer.failure).chain(reasons);
    let most = usize::try_from(MAX_TEXT_CHARS).unwrap_or(usize::MAX).saturating_add(AROUND);
    for text in texts {
        assert!(text.chars().count() <= most, "{} characters", text.chars().count());
        assert_eq!(sanitise(text.as_bytes()), *text, "it holds what deceives a reader");
    }
}

/// A gate whose output begins as JSON denies, unless it is one object that was read whole.
fn understood_or_denied(end: &CommandEnd<'_>, answer: &HookAnswer) {
    let object = serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(end.stdout.trim_ascii());
    match object {
        Ok(members) if end.lost == 0 => {
            let is_wrong = |key: &str| members.get(key).is_some_and(|value| !value.is_boolean());
            assert!(!is_wrong("continue") || answer.verdict.is_denied(), "{answer:?}");
            let stops = members.get("continue") == Some(&serde_json::Value::Bool(false));
            assert!(!stops || answer.verdict.is_denied(), "{answer:?}");
            let denies = members.get("decision").and_then(serde_json::Value::as_str) == Some("block");
            assert!(!denies || answer.verdict.is_denied(), "{answer:?}");
        }
        _ => assert!(answer.verdict.is_denied() && answer.failure.is_some(), "{answer:?}"),
    }
}
