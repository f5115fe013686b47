//! The 224 lines that published skills inject: each is parsed, supported and planned, and what a grant in the style of
//! published skills does not cover is listed line by line.

use skillgate_exec::{Backend, CapabilityShell, Executor, Exit, Job, Program, RunError};
use skillgate_policy::{Approved, Authority, Effect, Gate, Host, Provider, RefusalReason, builtin_limits};
use skillgate_tests::rules;
use std::collections::BTreeSet;
use std::sync::Arc;

const LINES: &str = include_str!("../../crates/shell/tests/data/injected-lines.txt");

/// Lines that the capability shell does not take, with its reason.
const UNSUPPORTED: &[(&str, &str)] = &[];

/// Lines that are refused although each of their commands is granted by name (`Bash(NAME:*)`): a command in them runs other
/// programs.
const CARRIERS: &[(&str, &str)] = &[];

/// Offers every command and runs none.
#[derive(Debug)]
struct Everything;

impl Backend for Everything {
    fn name(&self) -> &'static str {
        "everything"
    }

    fn provider(&self, _: &str) -> Option<Provider> {
        Some(Provider::Shipped)
    }

    fn run(&self, approved: Approved, _: Job<'_>) -> Result<Exit, RunError> {
        unreachable!("planning runs nothing: {:?}", approved.vector())
    }
}

fn shell() -> CapabilityShell {
    CapabilityShell::new(vec![Arc::new(Everything)])
}

fn programs() -> Vec<(&'static str, Result<Program, String>)> {
    let limits = builtin_limits();
    let lines: Vec<_> = LINES
        .lines()
        .map(|line| (line, Program::from_text(line, &limits).map_err(|error| error.to_string())))
        .collect();
    assert_eq!(lines.len(), 224);
    lines
}

#[test]
fn every_line_is_supported_but_those_that_are_listed() {
    let refused: Vec<(&str, String)> =
        programs().into_iter().filter_map(|(line, program)| Some((line, program.err()?))).collect();
    let refused: Vec<(&str, &str)> = refused.iter().map(|(line, reason)| (*line, reason.as_str())).collect();
    assert_eq!(refused, UNSUPPORTED);
}

#[test]
fn every_command_of_every_line_is_planned_under_bash() {
    let gate = Gate::new(Authority::of(Host::granting(rules(&[(Effect::Allow, "Bash")]))));
    for (line, program) in programs() {
        let Ok(program) = program else { continue };
        let commands = shell().plan(&program, &gate);
        assert!(!commands.is_empty(), "{line}");
        for command in commands {
            assert!(command.span.slice(line).is_some_and(|text| !text.is_empty()), "{line}: {command:?}");
            assert!(command.words.first().is_some_and(Result::is_ok), "{line}: {command:?}");
            assert!(command.verdict.is_ok(), "{line}: {command:?}");
        }
    }
}

#[test]
fn a_grant_for_each_name_covers_every_line_but_those_that_are_listed() {
    let nothing = Gate::new(Authority::of(Host::granting([])));
    let mut refused = Vec::new();
    for (line, program) in programs() {
        let Ok(program) = program else { continue };
        // The names come from the plan itself, which refuses everything here.
        let planned = shell().plan(&program, &nothing);
        assert!(planned.iter().all(|command| command.verdict.is_err()), "{line}");
        let names: BTreeSet<String> =
            planned.iter().filter_map(|command| command.words.first()?.clone().ok()).collect();
        let patterns: Vec<String> = names.iter().map(|name| format!("Bash({name}:*)")).collect();
        let patterns: Vec<(Effect, &str)> = patterns.iter().map(|pattern| (Effect::Allow, pattern.as_str())).collect();
        let gate = Gate::new(Authority::of(Host::granting(rules(&patterns))));
        for command in shell().plan(&program, &gate) {
            match command.verdict.map_err(|refusal| refusal.reason) {
                Ok(_) => {}
                Err(RefusalReason::Carrier { .. }) => {
                    refused.push((line, command.words[0].clone().expect("it is known")));
                }
                Err(other) => unreachable!("{line}: {other}"),
            }
        }
    }
    let refused: Vec<(&str, &str)> = refused.iter().map(|(line, name)| (*line, name.as_str())).collect();
    assert_eq!(refused, CARRIERS);
}
