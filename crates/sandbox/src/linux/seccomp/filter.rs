//! From rules to one program for the kernel, applied with `seccompiler`.
//!
//! The program is put together here and not by the crate's generator: when a filter is installed, the kernel translates it and
//! walks it once for every system call there is. A generated program has a chain for each rule, and a filter of its own for
//! each answer; that cost a third of everything else in a run. This one is four lines for each rule at most, and finds a call's
//! number by halves.

use super::table::{Architecture, CLONE3, RULES, When};
use seccompiler::{BpfProgram, SeccompAction, apply_filter, sock_filter};
use std::collections::BTreeMap;

/// Numbers with this bit are those of x32, another architecture that the kernel tells apart by the number only.
const X32: u32 = 0x4000_0000;

/// What the lines are made of; see the kernel's description of classic BPF.
const LOAD: u16 = 0x20;
const AND: u16 = 0x54;
const JUMP_IF_EQUAL: u16 = 0x15;
const JUMP_IF_AT_LEAST: u16 = 0x35;
const JUMP_IF_ANY_BIT: u16 = 0x45;
const RETURN: u16 = 0x06;
/// Where in the call's description its number is, its architecture, and the lower half of its first argument.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const ARGUMENTS: u32 = 16;
const ARGUMENT_BYTES: u32 = 8;
/// Numbers that are compared one after the other, when halves are that small.
const COMPARED: usize = 3;

/// The answers, in the order in which they stand at the program's end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Answer {
    Allow,
    Refuse,
    NoSuchCall,
    Kill,
}

/// Where a line goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Target {
    Next,
    Line(usize),
    /// The lines about the arguments of a call, by its place among those that have some.
    Call(usize),
    Answer(Answer),
}

#[derive(Clone, Copy, Debug)]
struct Line {
    code: u16,
    k: u32,
    matched: Target,
    other: Target,
}

impl Line {
    const fn load(offset: u32) -> Self {
        Self { code: LOAD, k: offset, matched: Target::Next, other: Target::Next }
    }

    const fn when(code: u16, k: u32, answer: Answer) -> Self {
        Self { code, k, matched: Target::Answer(answer), other: Target::Next }
    }
}

/// The program of one architecture, which answers `errno` to what a rule refuses.
pub(super) fn program(architecture: Architecture, errno: u32) -> Result<BpfProgram, String> {
    let mut lines = vec![Line::load(ARCHITECTURE)];
    let own = Target::Next;
    let number = architecture.audit_number();
    lines.push(Line { code: JUMP_IF_EQUAL, k: number, matched: own, other: Target::Answer(Answer::Kill) });
    lines.push(Line::load(NUMBER));
    if architecture == Architecture::X86_64 {
        lines.push(Line::when(JUMP_IF_AT_LEAST, X32, Answer::Kill));
    }
    let mut by_number: BTreeMap<u32, Vec<When>> = BTreeMap::new();
    for rule in RULES {
        if let Some(number) = rule.number(architecture) {
            by_number.entry(number).or_default().push(rule.when);
        }
    }
    let mut conditional = Vec::new();
    let mut targets: BTreeMap<u32, Target> = BTreeMap::new();
    targets.extend(CLONE3.number(architecture).map(|number| (number, Target::Answer(Answer::NoSuchCall))));
    for (number, conditions) in by_number {
        let target = if conditions.contains(&When::Always) {
            Target::Answer(Answer::Refuse)
        } else {
            conditional.push(conditions);
            Target::Call(conditional.len() - 1)
        };
        targets.insert(number, target);
    }
    let targets: Vec<(u32, Target)> = targets.into_iter().collect();
    find(&targets, &mut lines);
    let mut calls = Vec::new();
    for conditions in conditional {
        calls.push(lines.len());
        conditions.into_iter().for_each(|condition| refuse_when(condition, &mut lines));
        lines.push(leave(Answer::Allow));
    }
    assemble(&lines, &calls, errno)
}

/// Lines that find the loaded number among these, which are in order; any other is allowed.
fn find(targets: &[(u32, Target)], lines: &mut Vec<Line>) {
    if targets.len() > COMPARED {
        let (low, high) = targets.split_at(targets.len() / 2);
        let at = lines.len();
        lines.push(Line { code: JUMP_IF_AT_LEAST, k: high[0].0, matched: Target::Next, other: Target::Next });
        find(low, lines);
        lines[at].matched = Target::Line(lines.len());
        find(high, lines);
        return;
    }
    for (at, (number, matched)) in targets.iter().enumerate() {
        let other = if at + 1 == targets.len() { Target::Answer(Answer::Allow) } else { Target::Next };
        lines.push(Line { code: JUMP_IF_EQUAL, k: *number, matched: *matched, other });
    }
}

/// A line that gives an answer whatever is loaded.
const fn leave(answer: Answer) -> Line {
    Line { code: JUMP_IF_AT_LEAST, k: 0, matched: Target::Answer(answer), other: Target::Answer(answer) }
}

/// Lines that refuse when the condition holds, and go on behind them when it does not.
fn refuse_when(condition: When, lines: &mut Vec<Line>) {
    let argument = |argument: u8| Line::load(ARGUMENTS + ARGUMENT_BYTES * u32::from(argument));
    match condition {
        When::Always => lines.push(leave(Answer::Refuse)),
        When::Is { argument: at, value } => {
            lines.extend([argument(at), Line::when(JUMP_IF_EQUAL, value, Answer::Refuse)]);
        }
        When::AnyBit { argument: at, bits } => {
            let all = bits.iter().fold(0, |all, bit| all | bit);
            lines.extend([argument(at), Line::when(JUMP_IF_ANY_BIT, all, Answer::Refuse)]);
        }
        When::Masked { argument: at, mask, values } => {
            lines.extend([argument(at), Line { code: AND, ..Line::load(mask) }]);
            lines.extend(values.iter().map(|value| Line::when(JUMP_IF_EQUAL, *value, Answer::Refuse)));
        }
        When::IsNone { argument: at, values } => {
            lines.push(argument(at));
            let behind = Target::Line(lines.len() + values.len() + 1);
            lines.extend(
                values.iter().map(|value| Line { matched: behind, ..Line::when(JUMP_IF_EQUAL, *value, Answer::Allow) }),
            );
            lines.push(leave(Answer::Refuse));
        }
    }
}

/// Resolves where lines go on, and puts the answers behind them.
fn assemble(lines: &[Line], calls: &[usize], errno: u32) -> Result<BpfProgram, String> {
    let answers = [
        SeccompAction::Allow,
        SeccompAction::Errno(errno),
        SeccompAction::Errno(libc::ENOSYS.unsigned_abs()),
        SeccompAction::KillProcess,
    ];
    let mut program = Vec::with_capacity(lines.len() + answers.len());
    for (at, line) in lines.iter().enumerate() {
        let jump = |target| {
            let to = match target {
                Target::Next => at + 1,
                Target::Line(line) => line,
                Target::Call(call) => *calls.get(call).ok_or("a call without lines")?,
                Target::Answer(answer) => lines.len() + answer as usize,
            };
            to.checked_sub(at + 1).and_then(|by| u8::try_from(by).ok()).ok_or("the rules are too many for one jump")
        };
        program.push(sock_filter { code: line.code, jt: jump(line.matched)?, jf: jump(line.other)?, k: line.k });
    }
    program.extend(answers.map(|answer| sock_filter { code: RETURN, jt: 0, jf: 0, k: u32::from(answer) }));
    Ok(program)
}

/// Applies the program to this thread and all that it starts.
pub(super) fn apply(program: &BpfProgram) -> Result<(), String> {
    apply_filter(program).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests;
