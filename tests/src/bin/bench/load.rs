//! Ten thousand skills through the loader beside reading their files.

#![expect(clippy::disallowed_methods, reason = "the floor is `std::fs::read` itself")]

use crate::measure::{Measured, in_turns};
use skillgate_core::Source;
use skillgate_loader::{LoadOptions, RootKind, SkillRoot, load_root_ambient};
use skillgate_tests::Tree;
use std::hint::black_box;
use std::path::PathBuf;

const SKILLS: u32 = 10_000;
/// Sizes of published skills: half are smaller than this, bytes.
const MEDIAN: f64 = 7.0 * 1024.0;
/// One in a hundred is larger than this, bytes.
const P99: f64 = 45.0 * 1024.0;
/// The largest that was met, bytes.
const LARGEST: f64 = 294.0 * 1024.0;

pub(crate) fn load(samples: usize) -> Result<Measured, String> {
    let tree = Tree::new("");
    let paths: Vec<PathBuf> = (0..SKILLS)
        .map(|number| {
            let path = format!("skills/{}/SKILL.md", name(number));
            tree.write(&path, skill(number).as_bytes());
            tree.path(&path)
        })
        .collect();
    let root = SkillRoot::new(Source::User, RootKind::Skills, tree.path("skills"));
    let loader = || {
        let loaded = load_root_ambient(&root, &LoadOptions::default());
        let broken = loaded.failures.len() + loaded.diagnostics.len();
        match (loaded.skills.len() == SKILLS as usize, broken) {
            (true, 0) => Ok(()),
            (_, broken) => Err(format!("{} of {SKILLS} skills load, {broken} findings", loaded.skills.len())),
        }
    };
    let floor = || {
        for path in &paths {
            black_box(std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?);
        }
        Ok(())
    };
    in_turns(samples, loader, floor)
}

fn name(number: u32) -> String {
    format!("{}-{}-{number}", word(number.wrapping_mul(31)), word(number.wrapping_mul(17)))
}

/// The size of one of the skills: the quantiles of a log-logistic distribution with the median and the 99th percentile of
/// published skills, in an order that has nothing to do with the names.
fn size(number: u32) -> usize {
    // A prime that does not divide the count, so that every quantile comes once.
    let place = (u64::from(number) * 7_919) % u64::from(SKILLS);
    let quantile = (place as f64 + 0.5) / f64::from(SKILLS);
    let spread = (P99 / MEDIAN).ln() / 99f64.ln();
    let bytes = MEDIAN * (quantile / (1.0 - quantile)).powf(spread);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 100 and 301,056 by construction"
    )]
    let bytes = bytes.clamp(100.0, LARGEST) as usize;
    bytes
}

fn word(number: u32) -> &'static str {
    const WORDS: [&str; 24] = [
        "review", "the", "change", "before", "it", "lands", "and", "write", "down", "what", "was", "found", "in",
        "one", "short", "list", "with", "file", "line", "reason", "then", "run", "tests", "again",
    ];
    // A step of a linear congruential generator; its upper bits choose.
    let mixed = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223) >> 16;
    WORDS[mixed as usize % WORDS.len()]
}

/// A skill as it is usually written: a header of five keys, headings, paragraphs, a list and a fence here and there.
fn skill(number: u32) -> String {
    let name = name(number);
    let mut text = format!(
        "---\nname: {name}\ndescription: Helps to {} {} and {} {}. Use when a person asks for {name}.\nallowed-tools: Bash(git \
         status:*), Bash(git diff:*), Read\nversion: 1.{}\nlicense: MIT\n---\n\n# {name}\n\nState: !`git status --short`\n",
        word(number),
        word(number + 1),
        word(number + 2),
        word(number + 3),
        number % 20,
    );
    let wanted = size(number);
    let mut state = number;
    while text.len() < wanted {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        text.push_str(match state >> 28 {
            0 => "\n\n## A step\n\n",
            1 | 2 => "\n- ",
            3 => "\n\n```bash\ngit log --oneline -5\n```\n\n",
            4 => ", ",
            _ => " ",
        });
        for at in 0..8 {
            text.push_str(word(state.wrapping_add(at)));
            text.push(' ');
        }
    }
    text.truncate(wanted.max(text.find("\nState").unwrap_or(wanted)));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sizes_are_those_of_published_skills() {
        let mut sizes: Vec<usize> = (0..SKILLS).map(size).collect();
        sizes.sort_unstable();
        let kilobytes = |at: usize| sizes[at] / 1024;
        assert_eq!((kilobytes(5_000), kilobytes(9_900), kilobytes(9_999)), (7, 45, 294));
        assert_eq!(skill(3), skill(3));
        assert_eq!(skill(3).len(), size(3));
    }
}
