//! What observers are told through `tracing` (docs/telemetry.md). The names are stable.

use crate::hook::HookReport;
use crate::tool::ToolDecision;

/// How much observers are told.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Telemetry {
    /// Names, decisions, sizes and times; nothing that somebody typed or a command printed.
    #[default]
    Names,
    /// Arguments, programs and inputs of tools as well.
    Contents,
}

impl Telemetry {
    /// A content, when observers are told of contents.
    pub(crate) fn content(self, text: Option<&str>) -> Option<&str> {
        text.filter(|_| self == Telemetry::Contents)
    }
}

pub(crate) fn hooks_called(reports: &[HookReport]) {
    for report in reports {
        tracing::info!(
            name: "skillgate.hook.call",
            skill = %report.key.skill,
            agent = %report.key.scope,
            event = report.called_for.name(),
            handler = %report.key.id,
            outcome = report.outcome.name(),
            duration_us = report.duration_us,
        );
    }
}

pub(crate) fn tool_decided(tool: &str, agent: &str, decision: &ToolDecision, input: Option<&str>) {
    tracing::info!(
        name: "skillgate.tool.decide",
        tool,
        agent,
        decision = %decision.effect,
        rule = decision.rule.as_deref(),
        rewritten = decision.rewritten_input.is_some(),
        input,
    );
}
