//! Every rule on both architectures, by carrying the programs out.

use super::*;
use std::collections::BTreeSet;

const ALLOW: u32 = 0x7fff_0000;
const KILL: u32 = 0x8000_0000;
const ERRNO: u32 = 0x0005_0000;
const REFUSED: u32 = ERRNO | 1;
const NO_SUCH_CALL: u32 = ERRNO | 38;

/// A call as the kernel describes it to a filter.
#[derive(Clone, Copy, Debug)]
struct Call {
    architecture: u32,
    number: u32,
    arguments: [u64; 6],
}

impl Call {
    fn word(&self, offset: u32) -> u32 {
        let half = |value: u64, upper: bool| u32::try_from(if upper { value >> 32 } else { value & 0xffff_ffff });
        match offset {
            0 => self.number,
            4 => self.architecture,
            16..64 => {
                let at = usize::try_from((offset - 16) / 8).expect("six arguments");
                half(self.arguments[at], (offset - 16) % 8 == 4).expect("half of it")
            }
            _ => panic!("no filter of ours looks there: {offset}"),
        }
    }
}

/// Carries a program out; the lines that ours are made of.
fn answer(program: &BpfProgram, call: &Call) -> u32 {
    let (mut accumulator, mut at) = (0, 0);
    loop {
        let line = &program[at];
        let jump = |taken: bool| 1 + usize::from(if taken { line.jt } else { line.jf });
        at += match line.code {
            0x20 => {
                accumulator = call.word(line.k);
                1
            }
            0x54 => {
                accumulator &= line.k;
                1
            }
            0x15 => jump(accumulator == line.k),
            0x35 => jump(accumulator >= line.k),
            0x45 => jump(accumulator & line.k != 0),
            0x06 => return line.k,
            code => panic!("no line of ours: {code:#x}"),
        };
    }
}

const BOTH: [Architecture; 2] = [Architecture::X86_64, Architecture::Aarch64];

fn made(architecture: Architecture) -> BpfProgram {
    program(architecture, 1).expect("it can be made")
}

fn call(architecture: Architecture, number: u32, arguments: [u64; 6]) -> Call {
    Call { architecture: architecture.audit_number(), number, arguments }
}

#[test]
fn every_rule_refuses_what_it_is_about_and_nothing_else() {
    for architecture in BOTH {
        let program = made(architecture);
        let numbers: BTreeSet<u32> =
            RULES.iter().chain([&CLONE3]).filter_map(|rule| rule.number(architecture)).collect();
        for rule in RULES {
            let Some(number) = rule.number(architecture) else { continue };
            let with = |argument: u8, value: u32, upper: u64| {
                let mut arguments = [0; 6];
                arguments[usize::from(argument)] = u64::from(value) | upper << 32;
                answer(&program, &call(architecture, number, arguments))
            };
            // What the kernel does not look at, the filter must not look at either.
            for upper in [0, 0xffff_ffff] {
                let (argument, refused, allowed): (u8, Vec<u32>, Vec<u32>) = match rule.when {
                    When::Always => (0, vec![0, 1, u32::MAX], Vec::new()),
                    When::Is { argument, value } => (argument, vec![value], Vec::new()),
                    When::AnyBit { argument, bits } => {
                        let all = bits.iter().fold(0, |all, bit| all | bit);
                        (argument, bits.iter().flat_map(|bit| [*bit, *bit | !all]).collect(), vec![0, !all])
                    }
                    When::Masked { argument, mask, values } => (
                        argument,
                        values.iter().flat_map(|value| [*value, *value | !mask]).collect(),
                        vec![0, !mask, 0o100_644],
                    ),
                    When::IsNone { argument, values } => (argument, vec![2, 0x1234], values.to_vec()),
                };
                for value in refused {
                    assert_eq!(with(argument, value, upper), REFUSED, "{} {value:#x} {architecture:?}", rule.name);
                }
                for value in allowed {
                    assert_eq!(with(argument, value, upper), ALLOW, "{} {value:#x} {architecture:?}", rule.name);
                }
            }
        }
        for number in (0..600).filter(|number| !numbers.contains(number)) {
            assert_eq!(answer(&program, &call(architecture, number, [u64::MAX; 6])), ALLOW, "{number}");
        }
        let clone3 = CLONE3.number(architecture).expect("both have it");
        assert_eq!(answer(&program, &call(architecture, clone3, [0; 6])), NO_SUCH_CALL);
    }
}

#[test]
fn an_ioctl_that_no_rule_is_about_goes_through() {
    for architecture in BOTH {
        let ioctl = RULES.iter().find(|rule| rule.name == "ioctl").and_then(|rule| rule.number(architecture));
        let tcgets = call(architecture, ioctl.expect("both have it"), [0, 0x5401, 0, 0, 0, 0]);
        assert_eq!(answer(&made(architecture), &tcgets), ALLOW);
    }
}

#[test]
fn calls_of_another_architecture_kill() {
    const I386: u32 = 0x4000_0003;
    const ARM: u32 = 0x4000_0028;
    for architecture in BOTH {
        let program = made(architecture);
        for other in BOTH.into_iter().filter(|other| *other != architecture).map(Architecture::audit_number) {
            for architecture in [other, I386, ARM, 0] {
                // Number 39 is getpid on x86_64, and no rule is about it.
                assert_eq!(answer(&program, &Call { architecture, number: 39, arguments: [0; 6] }), KILL);
            }
        }
    }
    let x32 = made(Architecture::X86_64);
    for number in [X32, X32 | 39, X32 | 56, u32::MAX] {
        assert_eq!(answer(&x32, &call(Architecture::X86_64, number, [0; 6])), KILL, "{number:#x}");
    }
}
