//! Ten thousand skills as people write them, the same ones in every run.
//!
//! The sizes are those of published skills. The mixture of forms is made, not measured: descriptions of 200 to 600 characters,
//! plain, quoted, in blocks and wrapped; two to six keys; tools as a text and as lists; one skill in a hundred that needs a
//! repair, one without a header, one with an injection, one in twenty-five with CRLF, four bodies in ten with text beyond ASCII.

use std::fmt::Write as _;

pub(crate) const SKILLS: u32 = 10_000;
/// Sizes of published skills: half are smaller than this, bytes.
const MEDIAN: f64 = 7.0 * 1024.0;
/// One in a hundred is larger than this, bytes.
const P99: f64 = 45.0 * 1024.0;
/// The largest that was met, bytes.
const LARGEST: f64 = 294.0 * 1024.0;

/// The name of a skill and of its directory.
pub(crate) fn name(number: u32) -> String {
    format!("{}-{}-{number}", word(number.wrapping_mul(31)), word(number.wrapping_mul(17)))
}

/// The whole text of a skill.
pub(crate) fn skill(number: u32) -> String {
    let mut dice = Dice(number);
    let mut text = String::new();
    if !dice.in_hundred(1) {
        header(number, &mut dice, &mut text);
    }
    let wanted = size(number).max(text.len());
    body(number, &mut dice, &mut text, wanted);
    if dice.in_hundred(4) {
        text = text.replace('\n', "\r\n");
    }
    text.truncate(text.floor_char_boundary(wanted.max(text.find("\n\n#").unwrap_or(wanted))));
    text
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

/// A linear congruential generator; its upper bits choose.
struct Dice(u32);

impl Dice {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 16) % bound
    }

    fn in_hundred(&mut self, chance: u32) -> bool {
        self.below(100) < chance
    }

    /// Words that are `length` bytes long or a little longer.
    fn sentence(&mut self, length: usize) -> String {
        let mut text = String::from("Helps");
        while text.len() < length {
            text.push_str(match self.below(24) {
                0 => ", ",
                1 => ". Use when ",
                2 => " (for example) ",
                3 => "'s ",
                _ => " ",
            });
            text.push_str(word(self.below(u32::MAX)));
        }
        text.push('.');
        text
    }
}

fn word(number: u32) -> &'static str {
    const WORDS: [&str; 24] = [
        "review", "the", "change", "before", "it", "lands", "and", "write", "down", "what", "was", "found", "in",
        "one", "short", "list", "with", "file", "line", "reason", "then", "run", "tests", "again",
    ];
    let mixed = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223) >> 16;
    WORDS[mixed as usize % WORDS.len()]
}

fn header(number: u32, dice: &mut Dice, text: &mut String) {
    let name = name(number);
    let _ = write!(text, "---\nname: {name}\ndescription: ");
    description(dice, text);
    text.push_str(match dice.below(20) {
        0..8 => "",
        8..15 => "allowed-tools: Bash(git status:*), Bash(git diff:*), Read\n",
        15..17 => "allowed-tools: [Read, \"Bash(git log:*)\", Grep]\n",
        _ => "allowed-tools:\n  - Read\n  - Bash(git log:*)\n  - 'Grep'\n",
    });
    let _ = match dice.below(4) {
        0 => writeln!(text, "version: 1.{}", number % 20),
        1 => writeln!(text, "metadata:\n  author: example\n  version: \"1.{}\"", number % 20),
        2 => writeln!(text, "argument-hint: \"[file] [mode]\"\ndisable-model-invocation: true"),
        _ => Ok(()),
    };
    if dice.in_hundred(60) {
        text.push_str("license: MIT\n");
    }
    text.push_str("---\n");
}

fn description(dice: &mut Dice, text: &mut String) {
    let length = 200 + dice.below(400) as usize;
    let mut said = dice.sentence(length);
    if dice.in_hundred(15) {
        said = said.replacen(", ", " \u{2014} ", 2);
    }
    let lines = |start: &str, text: &mut String| {
        let mut end = start.to_owned();
        for (at, word) in said.split(' ').enumerate() {
            text.push_str(&end);
            text.push_str(word);
            end = if at % 12 == 11 { "\n  ".to_owned() } else { " ".to_owned() };
        }
        text.push('\n');
    };
    // Writing into a String cannot fail.
    match dice.below(100) {
        0..53 => drop(writeln!(text, "{said}")),
        53..66 => drop(writeln!(text, "\"{said}\"")),
        66..73 => drop(writeln!(text, "\"Says \\\"done\\\": {said}\"")),
        73..78 => drop(writeln!(text, "'{}'", said.replace('\'', "''"))),
        78..83 => lines("|\n  ", text),
        83..86 => lines(">\n  ", text),
        86..90 => lines(">-\n  ", text),
        90..99 => lines("", text),
        _ => drop(writeln!(text, "Does this: {said}")),
    }
}

fn body(number: u32, dice: &mut Dice, text: &mut String, wanted: usize) {
    let beyond_ascii = dice.in_hundred(40);
    let _ = write!(text, "\n\n# {}\n\n", name(number));
    if dice.in_hundred(1) {
        text.push_str("State: !`git status --short`\n");
    }
    while text.len() < wanted {
        text.push_str(match dice.below(40) {
            0 => "\n\n## A step\n\n",
            1..5 => "\n- ",
            5 => "\n\n```bash\ngit log --oneline -5 | head -n 3\nnpm run build -- --watch\n```\n\n",
            6 => "\n\n| name | meaning |\n|---|---|\n| `--all` | every file |\n| `--fix` | (default) |\n\n",
            7 => " `git diff --stat` ",
            8 => " [the guide](references/guide.md) ",
            9 => "\n\n```json\n{\n  \"name\": \"x\",\n  \"count\": [1, 2, 3]\n}\n```\n\n",
            10 if beyond_ascii => " \u{2192} ",
            11 if beyond_ascii => "\n- \u{2705} ",
            12..16 => ", ",
            16..19 => ".\n\n",
            19 => " (see **below**) ",
            _ => " ",
        });
        for _ in 0..8 {
            text.push_str(word(dice.below(u32::MAX)));
            text.push(' ');
        }
    }
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
    }
}
